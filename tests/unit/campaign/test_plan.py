"""Plans: what they expand to, and what is refused before anything runs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.campaigns import make_plan, quick_plan, voters
from tmverify.asking.subject import image_of
from tmverify.campaign import read_plan
from tmverify.campaign.expansion import expand

HEAD = """
[models]
a = "a.tm"
[inputs.d]
file = "d.npz"
"""


def test_tasks_of_a_plan(tmp_path: Path) -> None:
    campaign = expand(quick_plan(tmp_path, n=3))
    assert len(campaign.tasks) == len({task.id for task in campaign.tasks}) == 3 * (4 + 1 + 1) + 1
    first = campaign.tasks[0]
    assert (first.question, first.names, first.data, first.index, first.epsilon) == (
        "robustness",
        ("a",),
        "d",
        0,
        1,
    )
    assert {task.timeout for task in campaign.tasks} == {20.0}
    assert campaign.tasks[-1].question == "equivalence"
    assert campaign.tasks[-1].index is None


def test_ids_are_stable(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (there / "more").mkdir()
    ids = [task.id for task in expand(quick_plan(here)).tasks]
    # An id that a store of an earlier day has: changing it loses every store there is.
    assert ids[0] == "c6f7f56084eb0d13"
    assert [task.id for task in expand(quick_plan(there, more="memory = 500")).tasks] == ids


def test_what_changes_the_question_changes_the_id(tmp_path: Path) -> None:
    base = "[[ask]]\nquestion = 'robustness'\n"
    variants = ["", "epsilons = [2]", "scope = '1'", "direction = 'add'", "features = '0-3'"]
    plans = [make_plan(tmp_path, f"{HEAD}{base}{more}") for more in variants]
    plans.append(make_plan(tmp_path, f"engine = 'sat'\n{HEAD}{base}"))
    plans.append(make_plan(tmp_path, f"certificates = 'c'\n{HEAD}{base}"))
    ids = [expand(plan).tasks[0].id for plan in plans]
    assert len(set(ids)) == len(ids)


def test_draws_and_own_scopes(tmp_path: Path) -> None:
    text = f"{HEAD}n = 6\nseed = 1\n[[ask]]\nquestion = 'radius'\nscope = 'own'"
    tasks = expand(make_plan(tmp_path, text, n=30)).tasks
    assert len(tasks) == 6
    assert all(task.scope == task.label for task in tasks)
    assert sorted(task.label for task in tasks if task.label is not None) == [0, 0, 0, 1, 1, 1]


def test_no_limit(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, f"timeout = inf\n{HEAD}[[ask]]\nquestion = 'radius'")
    assert plan.timeout is None
    assert math.inf not in {task.timeout for task in expand(plan).tasks}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not toml", "not TOML"),
        (HEAD, "asks nothing"),
        ("[[ask]]\nquestion = 'radius'", "no models"),
        (f"{HEAD}[[ask]]\nquestion = 'colour'", "question must be one of robustness"),
        (f"epsilon = 3\n{HEAD}[[ask]]\nquestion = 'radius'", "no 'epsilon'"),
        (f"{HEAD}[[ask]]\nquestion = 'radius'\nepsilons = [1]", "radius takes no epsilons"),
        (f"{HEAD}[[ask]]\nquestion = 'robustness'\nepsilons = [-1]", "from 0 to"),
        (f"{HEAD}[[ask]]\nquestion = 'robustness'\nmodels = ['c']", "there is no 'c'; there are a"),
        (f"{HEAD}[[ask]]\nquestion = 'similarity'", "about two models"),
        (f"{HEAD}[[ask]]\nquestion = 'similarity'\nmodels = ['a']", "must be pairs"),
        (f"timeout = 0\n{HEAD}[[ask]]\nquestion = 'radius'", "timeout must be positive"),
        (f"memory = 'much'\n{HEAD}[[ask]]\nquestion = 'radius'", "memory must be an integer"),
        (f"engine = 'magic'\n{HEAD}[[ask]]\nquestion = 'radius'", "engine must be"),
        (f"engine = 'brute'\ncertificates = 'c'\n{HEAD}[[ask]]\nquestion = 'radius'", "brute"),
        (f"{HEAD}image = [3]\n[[ask]]\nquestion = 'radius'", "[rows, columns]"),
        (f"{HEAD}[[ask]]\nquestion = 'radius'\ndirection = 'up'", "add or remove"),
        (f"{HEAD}[[ask]]\nquestion = 'radius'\nknown_values = 1", "known_values must be true or false"),
    ],
)
def test_a_wrong_plan_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(tv.PlanError, match=r"plan\.toml") as caught:
        make_plan(tmp_path, text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("image = [2, 2]\n[[ask]]\nquestion = 'radius'", "has not 9 pixels"),
        ("n = 40\n[[ask]]\nquestion = 'radius'", "n must be at most the number of inputs"),
        ("[[ask]]\nquestion = 'robustness'\nepsilons = [10]", "epsilon"),
        ("[[ask]]\nquestion = 'radius'\nscope = 'blue'", "scope must be team or a class"),
        ("[[ask]]\nquestion = 'radius'\nfeatures = 'blue'", "features must be"),
    ],
)
def test_what_does_not_fit_the_files_is_refused(more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(tv.PlanError, match="ask number 1") as caught:
        expand(make_plan(tmp_path, f"{HEAD}{more}"))
    assert message in str(caught.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "none.toml")
    plan = make_plan(tmp_path, f"{HEAD}[[ask]]\nquestion = 'radius'")
    (tmp_path / "a.tm").unlink()
    with pytest.raises(FileNotFoundError):
        expand(plan)


def test_pictures_are_recognised_by_the_names_of_their_pixels() -> None:
    names = [f"pixel_{r}_{c} > 5.5" for r in range(3) for c in range(3)]
    model = voters()
    picture = tv.Model.from_clauses(9, [[1]], [1], feature_names=names)
    assert (image_of(model), image_of(picture)) == (None, (3, 3))
    shuffled = tv.Model.from_clauses(9, [[1]], [1], feature_names=[*names[1:], names[0]])
    assert image_of(shuffled) is None
    assert np.prod(image_of(picture) or ()) == 9
