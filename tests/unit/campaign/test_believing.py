"""A row of a store is believed only if it is a possible answer to its question."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.batteries import few_or_many
from support.campaigns import stored
from support.real_stores import answer_here, kind, looked_at, real_campaign, real_folder, text
from support.tiny import random_case
from support.tiny_networks import random_network_case
from tmverify.asking.answer import decide_task
from tmverify.asking.bits import pack
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Asked, Store, Task, TaskAnswer
from tmverify.campaign.export import records
from tmverify.cli import main
from tmverify.cli.status import status_document
from tmverify.engines import trust_in
from tmverify.model import Classifier
from tmverify.properties.allowed import Rule
from tmverify.properties.trust import CHECKED, NETWORK_REPLAYED, REPLAYED
from tmverify.report.report import collect

Columns = dict[str, Any]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def some(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one answer of each kind."""
    path = Path(shutil.copy(real / "s.db", tmp_path_factory.mktemp("some") / "s.db"))
    seen: dict[object, str] = {}
    for row in stored(path):
        if row.task.engine in ("auto", "brute"):
            seen.setdefault((row.task.engine, row.task.epsilon, row.task.rules, kind(row)), row.task.id)
    change(path, f"DELETE FROM asked WHERE task NOT IN ({', '.join(map(repr, seen.values()))})")
    return path


@pytest.fixture
def store(some: Path, tmp_path: Path) -> Path:
    """A copy, to spoil."""
    return Path(shutil.copy(some, tmp_path / "s.db"))


def change(path: Path, *statements: str) -> None:
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


# Real answers.


def test_real_answers_are_all_believed(real: Path) -> None:
    rows = stored(real / "s.db") + stored(real / "open.db")
    assert [row.refused for row in rows if row.refused is not None] == []
    answers = [(row.task, row.answer) for row in rows if row.answer is not None]
    assert len(answers) == len(rows)
    assert not [found.detail for _, found in answers if found.stop_reason == "answer-rejected"]
    kinds = {(task.question, found.status) for task, found in answers}
    assert kinds == {
        *((question, status) for question in ("robustness", "similarity", "equivalence")
          for status in ("holds", "violated", "unknown")),
        ("radius", "exact"), ("radius", "unknown"),
    }  # fmt: skip
    assert {task.engine for task, _ in answers} == {"auto", "search", "sat", "paper", "brute"}
    assert {found.engine for _, found in answers} >= {"hunt", "structure", "search", "sat", "paper", "brute"}
    assert {found.trusts == CHECKED for task, found in answers if task.certified} == {True}
    radii = {found.upper for task, found in answers if task.question == "radius"}
    assert {1, math.inf} < radii


def test_what_is_believed_is_not_due(real: Path, tmp_path: Path) -> None:
    campaign = real_campaign(real, "auto", n=1, certificates="evidence")
    with Store.reading(real / "s.db") as opened:
        assert opened.due(campaign.tasks, certificates=campaign.certificates) == []
        assert opened.due(campaign.tasks, certificates=tmp_path) == campaign.tasks


@pytest.mark.parametrize("impatient", [False, True])
@few_or_many(100, 4000)
def test_random_answers_are_all_believed(
    n_cases: int, impatient: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where one engine leaves the answer to another before it has looked at anything."""
    if impatient:
        monkeypatch.setattr("tmverify.engines.auto.NODES", 1)
        monkeypatch.setattr("tmverify.engines.equivalence.engine.ROUNDS", ((1, 1),))
        monkeypatch.setattr("tmverify.engines.network.engine.LONG", 0.0)
        monkeypatch.setattr("tmverify.engines.network.engine.SMALL", 0)
    rng = np.random.default_rng(n_cases)
    with Store.writing(tmp_path / "s.db") as opened:
        for place in range(n_cases):
            task, models = random_task(rng, place)
            opened.plan([task], [("m", model) for model in models])
            found = decide_task(task, models)
            if found.certificate is not None:
                written = str(tmp_path / task.file_name)
                found = replace(found, certificate=None, certificate_path=written)
            kept = opened.keep(task, found)
            assert kept == found, kept.detail
            assert opened.asked(task).answer == replace(kept, certificate=None)


def random_task(rng: np.random.Generator, place: int) -> tuple[Task, list[Classifier]]:
    """A question about tiny models."""
    network = rng.random() < 0.4
    case: Any = random_network_case(rng) if network else random_case(rng)
    question = str(rng.choice(["robustness", "radius", *(["similarity", "equivalence"] * (not network))]))
    two = not network and (question in ("similarity", "equivalence") or (question == "radius" and place % 2))
    models = [case.network] if network else [case.a, case.b][: 1 + bool(two)]
    engine = str(rng.choice(["auto", "auto", "search", "brute"]))
    asked = Task(
        question=question,
        models=tuple(model.content_hash for model in models),
        names=("m", "n")[: len(models)],
        n_features=models[0].n_features,
        scope=case.options.get("scope", "team"),
        engine=engine,
        timeout=float(rng.choice([20.0, 20.0, 1e-6, 1e-3])),
        certified=engine != "brute" and bool(rng.random() < 0.4),
    )
    if question == "equivalence":
        return asked, models
    mask = case.options.get("features")
    return replace(
        asked,
        index=place,
        bits=pack(case.x),
        epsilon=None if question == "radius" else case.epsilon,
        rules=KeptRules(mask=None if mask is None else pack(mask), direction=case.options.get("direction")),
    ), models


def test_an_answer_that_would_not_be_believed_is_not_written(real: Path, store: Path) -> None:
    campaign = real_campaign(real, "auto")
    task = next(task for task in campaign.tasks if task.question == "robustness")
    lie = TaskAnswer(task=task.id, status="exact", seconds=1.0, engine="auto", lower=1, upper=1)
    forge(store, task.id, status="unknown")  # nothing to compare it with
    with Store.writing(store) as opened:
        kept = opened.keep(task, lie)
        assert (kept.status, kept.stop_reason) == ("unknown", "answer-rejected")
        assert "no status 'exact'" in kept.detail
        assert opened.asked(task) == Asked(task, kept)


# Forged answers: whatever the store says, it is not counted.


def forge(path: Path, task: str, **columns: Any) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA ignore_check_constraints = ON")
    changes = ", ".join(f"{column} = ?" for column in columns)
    changed = database.execute(f"UPDATE result SET {changes} WHERE task = ?", (*columns.values(), task))
    assert changed.rowcount == 1
    database.commit()
    database.close()


def flipped(row: Asked, n: int, *, among: Callable[[int, int], bool] = lambda i, bit: True) -> bytes:
    """The input with the first ``n`` features flipped that ``among`` takes."""
    assert row.task.x is not None
    x = row.task.x.copy()
    x[[i for i, bit in enumerate(x) if among(i, int(bit))][:n]] ^= 1
    return pack(x)


def of(question: str, status: str, engine: str = "brute", **more: object) -> Callable[[Asked], bool]:
    """Which row is forged: a question about machines ``a`` and ``b`` unless told otherwise."""
    wanted: dict[str, object] = {"certified": False, "names": None, "rules": None, **more}

    def fits(row: Asked) -> bool:
        task, found = row.task, row.answer
        if found is None or (task.question, found.status, task.engine) != (question, status, engine):
            return False
        if wanted["names"] is None and not set(task.names) <= {"a", "b"}:
            return False
        return all(getattr(task, key) == value for key, value in wanted.items() if value is not None)

    return fits


def both(*parts: str) -> Columns:
    return {"trusts": text(*parts), "trusts_alone": text(*parts)}


def finite(row: Asked) -> bool:
    return (
        of("radius", "exact", rules=KeptRules())(row)
        and row.answer is not None
        and row.answer.upper != math.inf
    )


def one_model(row: Asked) -> bool:
    return finite(row) and len(row.task.models) == 1


def infinite(row: Asked) -> bool:
    return of("radius", "exact")(row) and row.answer is not None and row.answer.upper == math.inf


VIOLATED = of("robustness", "violated", epsilon=3)
HOLDS = of("robustness", "holds", epsilon=1)
ADDING = of("robustness", "violated", names=("three",), rules=KeptRules("bits", b"\xfe\0", "add"))
NETWORK_HOLDS = of("robustness", "holds", "auto", names=("net",), epsilon=1)
NO_PROOF: Columns = {"witness": None, "decisions": None}
SAT, SEARCH = trust_in(["sat"]), trust_in(["search"])

ATTACKS: dict[str, tuple[Callable[[Asked], bool], Columns | Callable[[Any], Columns]]] = {
    "violated is exact": (VIOLATED, {"status": "exact"}),
    "violated holds": (VIOLATED, {"status": "holds"}),
    "violated holds, without a witness": (
        of("robustness", "violated", "auto", epsilon=3), {"status": "holds", **NO_PROOF}
    ),
    "holds is violated": (HOLDS, {"status": "violated"}),
    "no such status": (HOLDS, {"status": "certainly"}),
    "holds with bounds": (HOLDS, {"lower": 2, "upper": 2}),
    "a radius holds": (finite, {"status": "holds"}),
    "a radius holds, in every column": (
        finite, {"status": "holds", "lower": None, "upper": None, **NO_PROOF}
    ),
    "a negative radius": (finite, {"lower": -5, "upper": -5}),
    "a negative radius without a witness": (infinite, {"lower": -5, "upper": -5}),
    "a radius and a half": (finite, {"lower": 1.5, "upper": 1.5}),
    "a larger radius": (one_model, lambda row: dict.fromkeys(("lower", "upper"), row.answer.upper + 1)),
    "an infinite radius with a witness": (one_model, {"lower": math.inf, "upper": math.inf}),
    "a radius beyond the features": (infinite, {"lower": 10, "upper": math.inf, "status": "unknown"}),
    "bounds in the wrong order": (one_model, {"lower": 9}),
    "exact, but open": (infinite, {"lower": 0}),
    "an exact radius of 0 of one model": (
        one_model, lambda row: {"lower": 0, "upper": 0, "witness": row.task.bits}
    ),
    "no upper bound": (finite, {"upper": None}),
    "another distance": (one_model, lambda row: {"witness": flipped(row, row.answer.upper + 1)}),
    "beyond epsilon": (VIOLATED, lambda row: {"witness": flipped(row, 4)}),
    "not among the features": (ADDING, lambda row: {"witness": flipped(row, 1, among=lambda i, bit: i > 6)}),
    "not in the direction": (
        ADDING, lambda row: {"witness": flipped(row, 1, among=lambda i, bit: i < 7 and bit == 1)}
    ),
    "the input itself": (VIOLATED, lambda row: {"witness": row.task.bits}),
    "a longer witness": (VIOLATED, lambda row: {"witness": row.answer.witness + b"\0"}),
    "more bits than features": (
        VIOLATED, lambda row: {"witness": row.answer.witness[:-1] + bytes([row.answer.witness[-1] | 1])}
    ),
    "decisions that do not differ": (VIOLATED, {"decisions": "[1, 1]"}),
    "decisions of no class": (VIOLATED, {"decisions": "[1, 2]"}),
    "decisions that are true and false": (VIOLATED, {"decisions": "[true, false]"}),
    "three decisions": (VIOLATED, {"decisions": "[1, 0, 1]"}),
    "classes where the scope is one": (ADDING, {"decisions": "[1, 2]"}),
    "decisions without a witness": (HOLDS, {"decisions": "[1, 0]"}),
    "no decisions": (VIOLATED, {"decisions": None}),
    "trust in an engine that was not asked": (HOLDS, both(*SAT)),
    "trust in an engine that does not exist": (HOLDS, both("the engine delphi", "NumPy")),
    "trust in nothing": (HOLDS, both()),
    "trust in too much": (VIOLATED, both(*REPLAYED, *SEARCH[:1])),
    "trust in the same twice": (VIOLATED, both(*REPLAYED, *REPLAYED)),
    "trust in a checker of no certificate": (HOLDS, {"trusts": text(*CHECKED)}),
    "trust in enumeration, of a network that was searched": (NETWORK_HOLDS, both(*NETWORK_REPLAYED)),
    "trust in the evaluator of machines, for a network": (NETWORK_HOLDS, both(*REPLAYED)),
    "trust in no list": (HOLDS, {"trusts": "[[[]]]"}),
    "trust in a word": (HOLDS, both() | {"trusts": '"NumPy"'}),
    "answered by another engine": (HOLDS, {"engine": "sat"}),
    "answered by the whole auto": (of("robustness", "holds", "auto", epsilon=1), {"engine": "auto"}),
    "proved by a hunt": (of("equivalence", "holds", "auto", names=("a", "again")), {"engine": "hunt"}),
    "found by an argument": (of("equivalence", "violated", "auto"), {"engine": "structure"}),
    "a reason to stop a proof": (HOLDS, {"stop_reason": "timeout"}),
    "unknown for no reason": (HOLDS, {"status": "unknown", **both()}),
    "unknown for another reason": (
        HOLDS, {"status": "unknown", "stop_reason": "whim", **both()}
    ),
    "details of a proof": (HOLDS, {"detail": "trust me"}),
    "a certificate that nobody asked for": (
        HOLDS, lambda row: {"certificate": f"/{row.task.file_name}", "trusts": text(*CHECKED)}
    ),
    "the certificate of something else": (
        of("robustness", "holds", "auto", certified=True, epsilon=1), {"certificate": "/other.tmcert"}
    ),
    "a certificate that went without a word": (
        of("robustness", "holds", "auto", certified=True, epsilon=1),
        lambda row: {"certificate": None, "trusts": json.dumps(row.answer.trusts_alone)},
    ),
    "negative time": (HOLDS, {"seconds": -1.0}),
    "endless time": (HOLDS, {"seconds": math.inf}),
    "times that add up to infinity": (HOLDS, {"seconds": 1e308}),
    "no attempt": (HOLDS, {"attempts": 0}),
    "of no version": (HOLDS, {"versions": "{}"}),
    "a limit in words": (HOLDS, {"timeout": "long"}),
    "never finished": (HOLDS, {"finished": "soon"}),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_no_question_could_have_written_is_not_believed(attack: str, store: Path) -> None:
    fits, changes = ATTACKS[attack]
    rows = stored(store)
    row = next(row for row in rows if fits(row))
    forge(store, row.task.id, **(changes(row) if callable(changes) else changes))
    with Store.reading(store) as opened:
        seen = list(opened.rows())
        document = status_document(opened, seen)
        table = {line["task"]: line for line in records(opened)}
        report = collect(seen, opened.models(), title="t", source="s")
        assert (document["tasks"], document["solved"]) == (len(rows), len(rows) - 1)
        assert (report.tally.total, report.tally.solved) == (len(rows), len(rows) - 1)
        assert table[row.task.id]["status"] == "unknown"
        assert table[row.task.id].get("radius") is None
        assert opened.due([other.task for other in rows]) == [row.task]
        assert [each["task"] for each in document["not_believed"]] == [row.task.id]
        assert report.refusals.count == 1


@pytest.mark.parametrize("damage", [
    "DELETE FROM model",
    "UPDATE model SET classes = '[\"x\", \"y\"]'",
    "UPDATE model SET classes = '[0, 0]'",
    "UPDATE model SET classes = '{}'",
    "UPDATE model SET n_features = 8",
    "UPDATE model SET n_clauses = -1",
    "UPDATE model SET space = '{\"parts\": 9, \"target\": null}'",
    "UPDATE model SET space = '{\"parts\": 8, \"target\": \"y\"}'",
    "UPDATE model SET space = '{\"parts\": [], \"target\": null}'",
    "UPDATE model SET space = '{}'",
    "UPDATE model SET space = CAST(X'FF7B7D' AS TEXT)",
])  # fmt: skip
def test_answers_about_models_that_the_store_does_not_know_are_not_believed(
    damage: str, store: Path, real: Path
) -> None:
    change(store, damage)
    refused = [row for row in stored(store) if row.refused is not None]
    with Store.reading(store) as opened:
        looked_at(opened)
    # An answer that names no class can be one about a model of other classes.
    assert refused if "x" in damage else len(refused) == len(stored(store))
    answer_here(store, campaign := real_campaign(real, "brute"))
    with Store.reading(store) as opened:
        assert [task for task in campaign.tasks if opened.asked(task).refused is not None] == []


IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "no question": {"question": "truth"},
    "no models": {"models": (), "names": ()},
    "two models": {"models": ("m", "n"), "names": ("m", "n")},
    "fewer names": {"names": ()},
    "no features": {"n_features": 0},
    "a billion features": {"n_features": 10**9},
    "no input": {"bits": None},
    "a short input": {"bits": b"\0"},
    "bits beyond the features": {"bits": b"\0\1"},
    "no row": {"index": None},
    "a negative row": {"index": -1},
    "no epsilon": {"epsilon": None},
    "a negative epsilon": {"epsilon": -1},
    "a great epsilon": {"epsilon": 10},
    "a scope of lists": {"scope": [[]]},
    "a scope that is true": {"scope": True},
    "a short mask": {"rules": KeptRules(mask=b"\0")},
    "another direction": {"rules": KeptRules(direction="sideways")},  # type: ignore[arg-type]
    "another distance": {"rules": KeptRules("miles")},  # type: ignore[arg-type]
    "rules of bits and columns": {"rules": KeptRules("columns", direction="add")},
    "columns of bits": {"rules": KeptRules("bits", columns=(Rule(0, "keep"),))},
    "columns in disorder": {"rules": KeptRules("columns", columns=(Rule(1, "keep"), Rule(0, "keep")))},
    "a column twice": {"rules": KeptRules("columns", columns=(Rule(1, "up"), Rule(1, "down")))},
    "a rule that says nothing": {"rules": KeptRules("columns", columns=(Rule(1),))},
    "a frozen column with a cost": {"rules": KeptRules("columns", columns=(Rule(1, "keep", None, 2),))},
    "a way sideways": {"rules": KeptRules("columns", columns=(Rule(1, "sideways"),))},  # type: ignore[arg-type]
    "no values": {"rules": KeptRules("columns", columns=(Rule(1, "any", ()),))},
    "values in disorder": {"rules": KeptRules("columns", columns=(Rule(1, "any", (2, 1)),))},
    "a negative cost": {"rules": KeptRules("columns", columns=(Rule(1, "any", None, -1),))},
    "a huge cost": {"rules": KeptRules("columns", columns=(Rule(1, "any", None, 1 << 30),))},
    "a cost that is true": {"rules": KeptRules("columns", columns=(Rule(1, "any", None, True),))},
    "an epsilon of no budget": {"rules": KeptRules("columns"), "epsilon": 1 << 31},
    "no engine": {"engine": "delphi"},
    "certificates of an engine without": {"engine": "brute", "certified": True},
    "an image without pixels": {"image": (0, 4)},
    "a label of lists": {"label": [[]]},
    "names that are numbers": {"names": (1,)},
    "data that is a blob": {"data": b"\xff"},
    "an equivalence at an input": {"question": "equivalence", "models": ("m", "n"), "names": ("m", "n")},
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_a_task_that_nobody_can_ask_is_an_error(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even with the id that it should have."""
    task = Task(
        question="robustness", models=("m",), names=("m",), n_features=9, index=0, bits=bytes(2), epsilon=1
    )
    with Store.writing(tmp_path / "s.db") as opened:
        opened.plan([replace(task, **IMPOSSIBLE[kind])], [])
    for command in ("campaign status", "report"):
        assert main([*command.split(), str(tmp_path / "s.db")]) == 3
        assert "Run the plan again" in capsys.readouterr().err
