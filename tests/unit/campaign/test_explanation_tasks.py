"""Explanations in campaigns: asked by plans, kept, believed if they can be, exported."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmcheck.cli
import tmverify as tv
from support.campaigns import make_plan, stored
from support.real_stores import SPACE, answer_here, looked_at
from support.tiny import random_case
from support.tiny_networks import random_network_case
from tmverify.asking.answer import better, decide_task, unanswered
from tmverify.asking.bits import pack
from tmverify.asking.reason import KeptReason, said
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Asked, Store, Task
from tmverify.campaign.expansion import Campaign, expand
from tmverify.campaign.export import records
from tmverify.cli import main
from tmverify.errors import PlanError
from tmverify.properties import StopReason

ASKS = """
    [[ask]]
    question = "explanation"
    [[ask]]
    question = "explanation"
    epsilons = [1, 2]
    freeze = ["owner"]
    [[ask]]
    question = "explanation"
    distance = "bits"
    [[ask]]
    question = "explanation"
    scope = "good"
"""


def campaign_of(folder: Path, engine: str = "auto", asks: str = ASKS, **options: object) -> Campaign:
    clauses = [[3], [5, -7], [1, -6], [4, 7]]
    model = tv.Model.from_clauses(7, clauses, [-2, 1, 1, 2], bias=-1, space=SPACE, classes=["bad", "good"])
    model.save(folder / "loan.tm")
    (folder / "t.csv").write_text("age,city,owner\n31,Oslo,yes\n70,Bergen,no\n18,,no\n")
    head = f'engine = "{engine}"\n' + "\n".join(f"{key} = {value!r}" for key, value in options.items())
    text = f'{head}\n[models]\nloan = "loan.tm"\n[inputs.t]\nfile = "t.csv"\n{asks}'
    return expand(make_plan(folder, text))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    answer_here(folder / "s.db", campaign_of(folder))
    return folder


@pytest.fixture
def store(real: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(real / "s.db", tmp_path / "s.db"))


@pytest.mark.parametrize("engine", ["auto", "search", "sat", "brute"])
def test_answers_are_believed_and_true(engine: str, tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, engine)
    answer_here(tmp_path / "s.db", campaign)
    with Store.reading(tmp_path / "s.db") as opened:
        rows = looked_at(opened)
        assert opened.due(campaign.tasks) == []
        model = next(iter(opened.models().values()))
    assert len(rows) == 3 * 5
    assert {(row.refused, row.found.status) for row in rows} == {(None, "holds")}
    for row in rows:
        assert row.found.reason is not None
        assert row.task.x is not None
        loaded = tv.load(tmp_path / "loan.tm")
        own = tv.explain(
            loaded,
            row.task.x,
            widen=True,
            within=row.task.epsilon,
            scope=row.task.scope,
            engine=engine,
            distance=row.task.rules.distance,
            freeze=["owner"] if row.task.rules.columns else (),
        )
        facts, rule = said(row.task, row.found.reason, model)
        assert tuple(facts) == own.facts
        assert rule == own.rule


def test_certificates(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, certificates="evidence")
    answer_here(tmp_path / "s.db", campaign)
    rows = stored(tmp_path / "s.db")
    files = [row.found.certificate_path or "" for row in rows]
    assert all(Path(file).name == row.task.file_name for file, row in zip(files, rows, strict=True))
    assert tmcheck.cli.main(["--dir", str(tmp_path / "evidence"), str(tmp_path / "loan.tm")]) == 0


@pytest.mark.parametrize("impatient", [False, True])
def test_random_answers_are_all_believed(
    impatient: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if impatient:
        monkeypatch.setattr("tmverify.engines.auto.NODES", 1)
        monkeypatch.setattr("tmverify.engines.network.engine.LONG", 0.0)
    rng = np.random.default_rng(5)
    statuses = set()
    with Store.writing(tmp_path / "s.db") as opened:
        for place in range(60):
            task, model = random_task(rng, place)
            opened.plan([task], [("m", model)])
            found = decide_task(task, [model])
            if found.certificate is not None:
                written = str(tmp_path / task.file_name)
                found = replace(found, certificate=None, certificate_path=written)
            kept = opened.keep(task, found)
            assert kept == found, kept.detail
            assert opened.asked(task).answer == kept
            statuses.add(kept.status)
    assert statuses == {"holds", "unknown"}


def random_task(rng: np.random.Generator, place: int) -> tuple[Task, Any]:
    network = rng.random() < 0.3
    case: Any = random_network_case(rng) if network else random_case(rng)
    model = case.network if network else case.a
    engine = str(rng.choice(["auto", "auto", "search", "brute"]))
    mask = case.options.get("features")
    task = Task(
        question="explanation",
        models=(model.content_hash,),
        names=("m",),
        n_features=model.n_features,
        scope=case.options.get("scope", "team"),
        engine=engine,
        timeout=float(rng.choice([20.0, 20.0, 1e-6, 1e-3])),
        certified=engine != "brute" and bool(rng.random() < 0.4),
        index=place,
        bits=pack(case.x),
        epsilon=case.epsilon if network or rng.random() < 0.5 else None,
        rules=KeptRules(mask=None if mask is None else pack(mask), direction=case.options.get("direction")),
    )
    return task, model


def test_a_network_of_which_nothing_can_change(tmp_path: Path) -> None:
    """Only its file tells that, so the store believes a reason that rests on no proof."""
    rng = np.random.default_rng(77)
    tasks = [random_task(rng, place) for place in range(300)]
    task, model = next(
        (task, model)
        for task, model in tasks
        if model.n_clauses == 0 and not model.attainable.any() and task.timeout == 20 and not task.certified
    )
    with Store.writing(tmp_path / "s.db") as opened:
        opened.plan([task], [("m", model)])
        kept = opened.keep(task, decide_task(task, [model]))
    assert (kept.status, kept.reason and kept.reason.columns) == ("holds", ())


def test_what_is_open_is_kept_and_asked_again(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, timeout=1e-6)
    answer_here(tmp_path / "s.db", campaign)
    rows = stored(tmp_path / "s.db")
    assert {row.found.status for row in rows} >= {"unknown"}
    for row in rows:
        if row.found.status == "unknown":
            assert row.found.reason is not None
            assert row.found.reason.undecided
            assert row.found.stop_reason == "timeout"
    with Store.reading(tmp_path / "s.db") as opened:
        open_ = [row.task.id for row in rows if row.found.status == "unknown"]
        patient = [replace(task, timeout=20.0) for task in campaign.tasks]
        assert [task.id for task in opened.due(patient)] == open_


def test_two_answers_to_one_task(real: Path) -> None:
    row = next(row for row in stored(real / "s.db") if row.found.reason and row.found.reason.columns)
    solved = row.found
    assert solved.reason is not None
    places = solved.reason.places
    part = replace(solved, status="unknown", reason=replace(solved.reason, undecided=places[:1]))
    none = unanswered(row.task, StopReason.CRASHED, "gone")
    assert better(part, solved) == solved
    assert better(solved, part) == solved
    assert better(part, none) == part
    assert better(none, part) == part
    worse = replace(part, reason=replace(solved.reason, undecided=places))
    assert better(part, worse) == part if len(places) > 1 else True


Forge = Callable[[dict[str, Any]], None]


def forged(change: Forge) -> Callable[[Path, Asked], None]:
    def forge(path: Path, row: Asked) -> None:
        assert row.found.reason is not None
        document = row.found.reason.to_json()
        change(document)
        write(path, row, reason=json.dumps(document))

    return forge


def write(path: Path, row: Asked, **columns: Any) -> None:
    database = sqlite3.connect(path)
    changes = ", ".join(f"{column} = ?" for column in columns)
    database.execute(f"UPDATE result SET {changes} WHERE task = ?", (*columns.values(), row.task.id))
    database.commit()
    database.close()


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (lambda path, row: write(path, row, reason=None), "without the columns that suffice"),
        (lambda path, row: write(path, row, status="violated"), "has no status 'violated'"),
        (lambda path, row: write(path, row, lower=1, upper=1), "has no bounds"),
        (lambda path, row: write(path, row, reason="[]"), "its reason can't be []"),
        (lambda path, row: write(path, row, reason="{}"), "a reason can't be"),
        (lambda path, row: write(path, row, trusts_alone="[]"), "does not rest on"),
        (lambda path, row: write(path, row, engine="hunt"), "does not rest on"),
        (forged(lambda found: found.update(decision="rich")), "there is no decision 'rich'"),
        (forged(lambda found: found.update(more=1)), "a reason can't be"),
        (forged(lambda found: found.update(undecided=["age"])), "a reason can't be"),
        (forged(lambda found: found.update(undecided=[9])), "[9] can't be undecided"),
        (forged(lambda found: found.update(undecided=[found["columns"][0][0]])), "1 undecided columns"),
        (forged(lambda found: found["columns"].append([7, [0]])), "has column 7, which may not change"),
        (forged(lambda found: found["columns"].reverse()), "are not in order"),
        (forged(lambda found: found["columns"][0].append(1)), "a reason can't be"),
        (forged(lambda found: found["columns"][0].__setitem__(1, [])), "has values []"),
        (forged(lambda found: found["columns"][0].__setitem__(1, [-1])), "a reason can't be"),
        (forged(lambda found: found["columns"][0][1].append(99)), "values that it may not have"),
        (
            forged(lambda found: found["columns"][0].__setitem__(1, [v for v in range(4)
                                                                     if v not in found["columns"][0][1]])),
            "has not the value of the input",
        ),
    ],
)  # fmt: skip
def test_forged_reasons_are_not_believed(
    forge: Callable[[Path, Asked], None], reason: str, store: Path
) -> None:
    row = next(
        row
        for row in stored(store)
        if row.task.rules == KeptRules("columns")
        and row.task.scope == "team"
        and row.found.reason is not None
        and len(row.found.reason.columns) > 1
        and row.found.reason.places[0] == 0
    )
    forge(store, row)
    with Store.reading(store) as opened:
        (refused,) = [each for each in looked_at(opened) if each.refused is not None]
        assert refused.task.id == row.task.id
        assert reason in (refused.refused or "")
        assert opened.due([row.task]) == [row.task]


def test_other_questions_have_no_reason(tmp_path: Path) -> None:
    asks = '[[ask]]\nquestion = "robustness"\nepsilons = [0]\n'
    answer_here(tmp_path / "s.db", campaign_of(tmp_path, asks=asks))
    row = stored(tmp_path / "s.db")[0]
    write(tmp_path / "s.db", row, reason=json.dumps(KeptReason("bad", ()).to_json()))
    assert "robustness has no columns that suffice" in (stored(tmp_path / "s.db")[0].refused or "")


def test_export(store: Path) -> None:
    with Store.reading(store) as opened:
        found = list(records(opened))
    first = found[0]
    assert first["question"] == "explanation"
    assert first["status"] == "holds"
    assert first["rule"].startswith("IF ")
    assert json.loads(first["undecided"]) == []
    facts = json.loads(first["facts"])
    assert all(set(fact) == {"column", "value", "text"} for fact in facts)
    assert all(fact["text"] in first["rule"] for fact in facts)
    assert first["epsilon"] is None
    assert sorted({each["epsilon"] for each in found if each["epsilon"]}) == [1, 2]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    campaign_of(tmp_path)
    code = main(["campaign", "run", str(tmp_path / "plan.toml"), "--store", str(tmp_path / "new.db")])
    assert code == 0
    out = capsys.readouterr().out
    assert "explanation of loan, t" in out
    assert "15 of 15 tasks done, 15 solved" in out
    assert main(["campaign", "export", str(tmp_path / "new.db"), "--csv", str(tmp_path / "out.csv")]) == 0
    assert "facts,rule,undecided" in (tmp_path / "out.csv").read_text().splitlines()[0]


def test_plans(tmp_path: Path) -> None:
    assert [task.epsilon for task in campaign_of(tmp_path).tasks][::3] == [None, 1, 2, None, None]
    with pytest.raises(PlanError, match=r"about two|must be names|models of explanation"):
        campaign_of(tmp_path, asks='[[ask]]\nquestion = "explanation"\nmodels = [["loan", "loan"]]\n')
