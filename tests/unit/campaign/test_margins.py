"""Margins in campaigns: asked by plans, kept, believed if they can be, exported, reported."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from support.campaigns import N_FEATURES, make_plan, stored, voters
from support.real_stores import answer_here, looked_at
from support.tiny import random_case
from tmverify.asking.answer import decide_task, replayed
from tmverify.asking.bits import pack
from tmverify.asking.rules import KeptRules
from tmverify.bnn import BnnModel
from tmverify.campaign import Asked, Store, Task
from tmverify.campaign.expansion import expand
from tmverify.campaign.export import records
from tmverify.campaign.store.belief import check_task
from tmverify.cli import main
from tmverify.model import Model
from tmverify.properties.summary import by_votes
from tmverify.report import write_report
from tmverify.report.report import collect
from tmverify.report.tiles import tiles_of
from tmverify.report.words import question_text

HEAD = '[models]\na = "a.tm"\nb = "b.tm"\n[inputs.d]\nfile = "d.npz"\n'
ASKS = """
    [[ask]]
    question = "robustness"
    models = ["a"]
    [[ask]]
    question = "robustness"
    models = ["a"]
    margin = 3
    [[ask]]
    question = "robustness"
    models = ["a"]
    margin = 1
    [[ask]]
    question = "radius"
    models = ["a", ["a", "b"]]
    margin = 3
    [[ask]]
    question = "similarity"
    margin = 2
    epsilons = [0, 1]
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Real answers. On inputs with k ones of nine, a's first class leads by 9 - 2k votes."""
    answer_here(tmp_path / "s.db", expand(make_plan(tmp_path, HEAD + ASKS, n=12)))
    return tmp_path / "s.db"


# Plans and tasks.


def test_a_plan_asks_with_a_margin(tmp_path: Path) -> None:
    tasks = expand(make_plan(tmp_path, HEAD + ASKS, n=1)).tasks
    assert [(task.question, task.margin) for task in tasks] == [
        ("robustness", 0), ("robustness", 3), ("robustness", 1), ("radius", 3), ("radius", 3),
        ("similarity", 2), ("similarity", 2),
    ]  # fmt: skip
    plain, by_three = tasks[:2]
    assert plain.id != by_three.id == replace(plain, margin=3).id != replace(plain, margin=2).id
    assert by_three.query([voters()]).margin == 3


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ("question = 'equivalence'\nmargin = 1", "equivalence takes no margin"),
        ("question = 'explanation'\nmargin = 1", "explanation takes no margin"),
        ("question = 'radius'\nmargin = -1", "margin must be an integer from 0"),
        ("question = 'radius'\nmargin = 1.5", "margin must be an integer from 0"),
        ("question = 'radius'\nmargin = true", "margin must be an integer from 0"),
    ],
)
def test_a_wrong_margin_is_refused(ask: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(tv.PlanError, match=message):
        make_plan(tmp_path, f"{HEAD}[[ask]]\n{ask}")


def test_a_margin_that_no_decision_can_have_is_refused_before_anything_runs(tmp_path: Path) -> None:
    network = BnnModel.from_layers([([[1] * N_FEATURES] * 2, [4, 5])], [[1, 1], [-1, 1]])
    for model, message in (
        (replace(voters(), clamp=3), r"ask number 1 \(radius\): margin must be at most 3"),
        (network, "a margin: its outputs are no votes"),
    ):
        plan = make_plan(tmp_path, HEAD + "[[ask]]\nquestion = 'radius'\nmodels = ['a']\nmargin = 4\n")
        model.save(tmp_path / "a.tm")
        with pytest.raises(tv.PlanError, match=message):
            expand(plan)


# Belief.


@few_or_many(300, 6000)
def test_real_answers_are_believed_and_replay(n_cases: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(n_cases)
    seen: Counter[Any] = Counter()
    with Store.writing(tmp_path / "s.db") as opened:
        for place in range(n_cases):
            task, models = random_task(rng, place)
            opened.plan([task], [("m", model) for model in models])
            found = decide_task(task, models)
            assert replayed(task, found, {model.content_hash: model for model in models}) is found
            kept = opened.keep(task, found)
            assert kept == found, kept.detail
            assert opened.asked(task).answer == kept
            alike = None if kept.decisions is None else by_votes(kept.decisions, kept.leads, ("", ""))
            seen[task.question, len(models), kept.status, alike is not None] += 1
            seen["at the input itself"] += kept.witness == task.bits and len(models) == 1
    for kind in (("robustness", 1, "violated"), ("similarity", 2, "violated"), ("radius", 1, "exact")):
        assert min(seen[*kind, True], seen[*kind, False]) > 3, seen
    assert seen["at the input itself"] > 3


def random_task(rng: np.random.Generator, place: int) -> tuple[Task, list[Model]]:
    """A question with a margin about tiny models."""
    case = random_case(rng)
    question = str(rng.choice(["robustness", "radius", "similarity"]))
    two = question == "similarity" or (question == "radius" and place % 3 == 0)
    models = [case.a, case.b][: 1 + two]
    outputs = [min(2, m.n_outputs) if case.scope == "team" else 1 for m in models]
    clamps = [m.clamp * n for m, n in zip(models, outputs, strict=True) if m.clamp is not None]
    most = min(clamps, default=9)
    mask = case.options["features"]
    return Task(
        question=question,
        models=tuple(model.content_hash for model in models),
        names=("m", "n")[: len(models)],
        n_features=case.a.n_features,
        index=place,
        bits=pack(case.x),
        epsilon=None if question == "radius" else case.epsilon,
        margin=min(int(rng.choice([1, 1, 1, 2, 3])), most),
        scope=case.scope,
        rules=KeptRules(mask=None if mask is None else pack(mask), direction=case.options["direction"]),
        engine=str(rng.choice(["auto", "auto", "search", "brute"])),
        timeout=float(rng.choice([20.0, 20.0, 20.0, 1e-6])),
    ), models


def forge(path: Path, table: str, key: str, **columns: Any) -> None:
    database = sqlite3.connect(path)
    changes = ", ".join(f"{column} = ?" for column in columns)
    where = "task" if table == "result" else "id"
    changed = database.execute(f"UPDATE {table} SET {changes} WHERE {where} = ?", (*columns.values(), key))
    assert changed.rowcount == 1
    database.commit()
    database.close()


def alike(row: Asked) -> bool:
    found = row.found
    return row.task.question == "robustness" and found.decisions is not None and len({*found.decisions}) == 1


def differs(row: Asked) -> bool:
    return row.found.decisions is not None and len({*row.found.decisions}) == 2 and row.task.margin > 0


def holds(row: Asked) -> bool:
    return row.found.status == "holds" and row.task.margin > 0


def plain(row: Asked) -> bool:
    return row.found.status == "violated" and not row.task.margin


def two(row: Asked) -> bool:
    return row.found.decisions is not None and len(row.task.models) == 2


ATTACKS: dict[str, tuple[Callable[[Asked], bool], dict[str, Any], str]] = {
    "it stands by enough votes": (alike, {"leads": "[3]"}, "by at least 3 votes"),
    "no votes": (alike, {"leads": None}, "of 0 decisions"),
    "votes of nothing": (alike, {"leads": "[]"}, "of 0 decisions"),
    "votes of two, about one model": (alike, {"leads": "[1, 1]"}, "of 2 decisions"),
    "votes of one, about two models": (two, {"leads": "[1]"}, "of 1 decisions"),
    "two that stand by enough votes": (
        two, {"leads": "[9, 3]", "decisions": "[1, 1]"}, "by at least 3 votes"
    ),
    "fewer votes than none": (alike, {"leads": "[-1]"}, "no decision stands by"),
    "fewer votes than none, though decisions differ": (differs, {"leads": "[-1]"}, "no decision stands by"),
    "half a vote": (alike, {"leads": "[0.5]"}, "its leads can't be"),
    "true votes": (alike, {"leads": "[true]"}, "its leads can't be"),
    "votes in words": (alike, {"leads": '"few"'}, "its leads can't be"),
    "votes of a proof": (holds, {"leads": "[3]"}, "of 1 decisions"),
    "votes that nobody asked for": (plain, {"leads": "[1]"}, "of 1 decisions"),
    "the same decisions without a margin": (plain, {"decisions": "[1, 1]"}, "said to differ"),
    "alike holds": (alike, {"status": "holds"}, "there is a witness"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_no_question_could_have_written_is_not_believed(attack: str, store: Path) -> None:
    fits, changes, message = ATTACKS[attack]
    row = next(row for row in stored(store) if fits(row))
    forge(store, "result", row.task.id, **changes)
    refused = [other for other in stored(store) if other.refused is not None]
    assert [other.task.id for other in refused] == [row.task.id]
    assert message in str(refused[0].refused)
    with Store.reading(store) as opened:
        looked_at(opened)


def test_an_input_is_decided_as_it_is(store: Path) -> None:
    """With a margin it may be its own counterexample, but not with another decision."""
    row = next(row for row in stored(store) if differs(row) and row.task.question == "robustness")
    forge(store, "result", row.task.id, witness=row.task.bits)
    (refused,) = (other.refused for other in stored(store) if other.refused is not None)
    assert "otherwise than itself" in str(refused)
    forge(store, "result", row.task.id, decisions="[0, 0]", leads="[0]")
    assert all(other.refused is None for other in stored(store))


def test_a_margin_that_was_changed_is_an_error(store: Path) -> None:
    """Nobody knows what was asked: the id is that of another question."""
    row = next(row for row in stored(store) if row.task.margin == 3)
    forge(store, "task", row.task.id, margin=2)
    with pytest.raises(tv.StoreError, match="is not what it was"):
        stored(store)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"margin": -1}, "stand by -1 votes"),
        ({"margin": 1 << 31}, "stand by 2147483648 votes"),
        ({"question": "equivalence", "margin": 1, "epsilon": None, "index": None, "bits": None}, "no margin"),
        ({"question": "explanation", "margin": 1}, "explanation has no margin"),
    ],
)
def test_tasks_that_can_not_be_asked(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    task = expand(make_plan(tmp_path, HEAD + ASKS, n=1)).tasks[0]
    if changes.get("question") == "equivalence":
        changes = {**changes, "models": task.models * 2, "names": ("a", "a")}
    with pytest.raises(ValueError, match=message):
        check_task(replace(task, **changes))


# What is said.


def test_the_table_the_export_and_the_view(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = stored(store)
    assert main(["campaign", "status", str(store)]) == 0
    said = capsys.readouterr().out
    assert "robustness of a, d\n" in said
    assert "robustness of a, by at least 3 votes, d\n" in said
    assert "nearest disagreement of a and b, by at least 3 votes, d\n" in said
    assert main(["campaign", "status", str(store), "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [group["margin"] for group in groups] == [0, 3, 1, 3, 3, 2, 2]
    with Store.reading(store) as opened:
        table = {line["task"]: line for line in records(opened)}
    for row in rows:
        line, found = table[row.task.id], row.found
        assert line["margin"] == row.task.margin
        assert line["leads"] == (None if found.leads is None else json.dumps(found.leads))
    assert main(["campaign", "export", str(store), "--csv", str(tmp_path / "out.csv")]) == 0
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        assert {line["margin"] for line in csv.DictReader(file)} == {"0", "1", "2", "3"}
    database = sqlite3.connect(store)
    assert {margin for (margin,) in database.execute("SELECT margin FROM answers")} == {0, 1, 2, 3}
    database.close()


def test_the_report(store: Path, tmp_path: Path) -> None:
    with Store.reading(store) as opened:
        report = collect(list(opened.rows()), opened.models(), title="t", source="s")
    titles = {series.title for series in report.series}
    assert {"a · d", "a · d · by at least 3 votes", "a ↔ b · d · by at least 2 votes"} <= titles
    names = [tile.name for tile in tiles_of(report)]
    assert "robust at ε 1" in names
    assert "robust at ε 1, by at least 3 votes" in names
    assert "median radius, by at least 3 votes" in names
    assert question_text(report.rows[12].task) == "robustness ε 1 by at least 3 votes"
    # A change that answers with a margin is none that answers without.
    assert all(len({report.rows[p].task.margin for p in c.places}) == 1 for c in report.gallery.changes)
    write_report(store, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    weak = next(row for row in report.rows if row.answer is not None and alike(row))
    label, lead = weak.found.decisions, weak.found.leads
    assert label is not None
    assert lead is not None
    said = f"{label[1]} by {lead[0]} vote{'' if lead[0] == 1 else 's'}"
    assert f'<b class="after"><bdi>{said}</bdi></b></p>' in page
    assert f'"{said}"' in page  # in the table of answers
    assert f"{label[0]} → {label[1]}" not in page
    for words in (
        "it stands by fewer votes here already",
        "changes that alter a decision, or leave it too few votes, one for each",
        "decided alike, but by fewer votes",
        "Radius: changes needed to alter the decision, or to fewer than 3 votes",
    ):
        assert words in page, words


def test_a_report_without_margins_does_not_speak_of_them(tmp_path: Path) -> None:
    answer_here(tmp_path / "s.db", expand(make_plan(tmp_path, f"{HEAD}[[ask]]\nquestion = 'radius'\n")))
    write_report(tmp_path / "s.db", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "votes" not in page[page.index("<body>") :]
