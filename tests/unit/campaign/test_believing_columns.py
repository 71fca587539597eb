"""Answers about columns in a store: real ones are believed, forged ones are not."""

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

from support.campaigns import stored
from support.real_stores import SPACE, answer_here, looked_at, table_campaign
from tmverify.asking.bits import pack
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Asked, Store, Task
from tmverify.errors import StoreError
from tmverify.properties.allowed import Rule

ENGINES = ("auto", "search", "sat", "brute")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    for engine in ENGINES:
        answer_here(folder / "s.db", table_campaign(folder, engine))
    answer_here(folder / "open.db", table_campaign(folder, "auto", timeout=1e-6))
    return folder


@pytest.fixture
def store(real: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(real / "s.db", tmp_path / "s.db"))


def test_real_answers_are_all_believed(real: Path) -> None:
    rows = stored(real / "s.db")
    assert [row.refused for row in rows + stored(real / "open.db") if row.refused is not None] == []
    assert all(row.answer is not None and row.answer.solved for row in rows)
    found: dict[object, set[object]] = {}
    for row in rows:
        assert row.answer is not None
        about = replace(row.task, engine="auto").id
        found.setdefault(about, set()).add((row.answer.status, row.answer.upper))
        if row.task.rules.about_bits:
            continue
        assert row.possible(SPACE) in (None, True)
        if row.task.index is not None and row.witness is not None:
            cost = row.cost(SPACE)
            assert cost is not None
            assert cost == row.answer.upper or cost <= (row.task.epsilon or 0)
    assert all(len(told) == 1 for told in found.values())  # the engines agree
    radii = {row.answer.upper for row in rows if row.answer is not None and row.task.question == "radius"}
    assert radii == {0, 1}  # a change that costs nothing, too


def test_what_comes_back_is_what_was_asked(real: Path) -> None:
    campaign = table_campaign(real, "brute")
    with Store.reading(real / "s.db") as opened:
        rows = {row.task.id: row.task for row in opened.rows()}
        assert [rows[task.id] for task in campaign.tasks] == [
            replace(task, timeout=rows[task.id].timeout) for task in campaign.tasks
        ]
        assert opened.due(campaign.tasks) == []


def forge(path: Path, task: str, **columns: Any) -> None:
    database = sqlite3.connect(path)
    changes = ", ".join(f"{column} = ?" for column in columns)
    database.execute(f"UPDATE result SET {changes} WHERE task = ?", (*columns.values(), task))
    database.commit()
    database.close()


def of(question: str, status: str, **more: object) -> Callable[[Asked], bool]:
    def fits(row: Asked) -> bool:
        task = row.task
        told = (task.question, row.found.status, task.engine) == (question, status, "brute")
        return told and all(getattr(task, key) == value for key, value in more.items())

    return fits


COLUMNS = KeptRules("columns")
VIOLATED = of("robustness", "violated", epsilon=2, rules=COLUMNS)
RADIUS = of("radius", "exact", rules=COLUMNS, names=("loan",))


def stepping(row: Asked) -> bool:
    return of("robustness", "violated")(row) and row.task.rules.distance == "steps"


def frozen(row: Asked) -> bool:
    """A radius of a question that freezes the age."""
    return of("radius", "exact")(row) and Rule(0, "keep") in row.task.rules.columns


def with_values(row: Asked, **values: object) -> bytes:
    """The row's input with other values."""
    assert row.task.x is not None
    (now,) = SPACE.decode([row.task.x])
    return pack(SPACE.encode([{**now, **values}])[0])


def with_bits(row: Asked, *bits: int) -> bytes:
    assert row.task.x is not None
    z = row.task.x.copy()
    z[list(bits)] ^= 1
    return pack(z)


def more_columns(row: Asked) -> bytes:
    """Every column of the input changed."""
    assert row.task.x is not None
    z = row.task.x.copy()
    for column in SPACE.columns:
        own = z[column.bits.start : column.bits.stop]
        index = int(column.part.value_indices(own[None, :])[0])
        z[column.bits.start : column.bits.stop] = column.part.patterns[(index + 1) % len(column.values)]
    return pack(z)


ATTACKS: dict[str, tuple[Callable[[Asked], bool], Callable[[Any], dict[str, Any]], str]] = {
    "no possible row": (VIOLATED, lambda row: {"witness": with_bits(row, 3)}, "may not change so"),
    "too many columns": (VIOLATED, lambda row: {"witness": more_columns(row)}, "3 columns away, more than"),
    "another distance": (
        RADIUS,
        lambda row: {"witness": more_columns(row)},
        "is 3 columns away, and its upper bound is",
    ),
    "flips for columns": (
        RADIUS,
        lambda row: dict.fromkeys(("lower", "upper"), row.answer.upper + 1),
        "and its upper bound is",
    ),
    "beyond all columns": (
        RADIUS,
        lambda row: {"lower": 4, "upper": math.inf, "status": "unknown", "stop_reason": "timeout"},
        "more than the 3 that all changes together cost",
    ),
    "an exact radius of 0": (
        RADIUS,
        lambda row: {"lower": 0, "upper": 0, "witness": row.task.bits},
        "no model decides an input otherwise than itself",
    ),
    "the input itself": (VIOLATED, lambda row: {"witness": row.task.bits}, "the input itself"),
    "a frozen column": (frozen, lambda row: {"witness": with_values(row, age="over 60")
                        if row.task.index != 1 else with_values(row, age="up to 25")}, "may not change so"),
    "a value that is not allowed": (stepping, lambda row: {"witness": with_values(row, age="over 60",
                                    city="Bergen")}, "may not change so"),
    "an impossible difference": (
        of("equivalence", "violated", rules=COLUMNS),
        lambda row: {"witness": pack(np.array([0, 1, 0, 0, 0, 0, 0]))},
        "no possible input",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ATTACKS)
def test_what_no_question_could_have_written_is_not_believed(kind: str, store: Path) -> None:
    fits, attack, reason = ATTACKS[kind]
    rows = [row for row in stored(store) if row.answer is not None and fits(row)]
    assert rows
    for row in rows:
        forge(store, row.task.id, **attack(row))
    forged = {row.task.id for row in rows}
    with Store.reading(store) as opened:
        told = {row.task.id: row for row in looked_at(opened)}
    refused = [told[key].refused for key in forged]
    assert all(each is not None for each in refused), refused
    assert any(reason in (each or "") for each in refused), refused


def test_a_free_change_may_be_the_witness_of_a_radius_of_0(real: Path) -> None:
    rows = [row for row in stored(real / "s.db") if frozen(row)]
    assert any(row.found.upper == 0 for row in rows)


@pytest.mark.parametrize(
    "rules",
    [
        '{"distance": "columns", "columns": [[7, "keep"]]}',
        '{"distance": "columns", "columns": [[1, "up"]]}',
        '{"distance": "columns", "columns": [[0, "any", [9]]]}',
        "null",
        '{"distance": "steps"}',
        "{}",
        "[1]",
        "columns",
        None,
        7,
        b"\xff",
    ],
)
def test_rules_that_were_changed_make_no_other_claim(rules: object, store: Path) -> None:
    """Without the id that they should have, an error; with it, the answer is not believed or has no task."""
    row = next(row for row in stored(store) if VIOLATED(row))
    database = sqlite3.connect(store)
    database.execute("UPDATE task SET rules = ? WHERE id = ?", (rules, row.task.id))
    database.commit()
    database.close()
    with Store.reading(store) as opened, pytest.raises(StoreError, match="the store is damaged"):
        looked_at(opened)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (KeptRules("columns", columns=(Rule(7, "keep"),)), "there is no column 7"),
        (KeptRules("columns", columns=(Rule(1, "up"),)), "has no order"),
        (KeptRules("columns", columns=(Rule(0, "any", (9,)),)), "has no value 9"),
    ],
)
def test_rules_of_no_column_have_no_answers(rules: KeptRules, reason: str, store: Path) -> None:
    row = next(row for row in stored(store) if VIOLATED(row))
    task = replace(row.task, rules=rules)
    with Store.writing(store) as opened:
        opened.plan([task], [])
        kept = opened.keep(task, replace(row.found, task=task.id))
        assert (kept.status, kept.stop_reason) == ("unknown", "answer-rejected")
        assert reason in kept.detail


def test_an_input_that_is_none_has_no_answers(store: Path) -> None:
    row = next(row for row in stored(store) if VIOLATED(row))
    task: Task = replace(row.task, bits=pack(np.array([0, 1, 0, 1, 0, 0, 0])))
    with Store.writing(store) as opened:
        opened.plan([task], [])
        kept = opened.keep(task, replace(row.found, task=task.id))
        assert "no possible input: its column 'age'" in kept.detail


def test_rules_are_json_for_other_tools(store: Path) -> None:
    database = sqlite3.connect(store)
    found = {text for (text,) in database.execute("SELECT DISTINCT rules FROM answers")}
    database.close()
    assert None in found  # bits
    assert {"distance": "columns"} in [json.loads(text) for text in found if text]
