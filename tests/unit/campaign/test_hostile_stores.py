"""Stores with arbitrary values in any column: no command fails, and none claims anything new."""

from __future__ import annotations

import csv
import math
import random
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.campaigns import stored
from support.real_stores import kind, looked_at, real_folder, text
from tmverify.campaign import Asked, Store, TaskAnswer
from tmverify.cli import main
from tmverify.engines import trust_in
from tmverify.properties.trust import CHECKED, NETWORK_REPLAYED, REPLAYED


class NoText(bytes):
    """Bytes that the database takes for text."""


HOSTILE: list[Any] = [
    None, 0, 1, 2, 3, -1, 7, 2**63 - 1, -(2**63), 0.0, 0.5, 1.5, -1.0, 1e300, math.inf, -math.inf,
    "", "x", "a\0b", "0", "3", "holds", "violated", "exact", "unknown", "timeout", "auto", "search", "brute",
    b"", b"\0", b"\0\0", b"\xff\x80", b"\xff\xff", bytes(1000), NoText(b"\xff\xfe"), NoText(b"[\"\xff\"]"),
    "[]", "[[[]]]", "{}", "null", "true", "1", "1.5", '"x"', '"team"', "[0, 1]", "[1, 0]", "[1, 2]",
    "[true, false]", "[1.0, 0.0]", '["a", "b"]', '["\\ud800", "b"]', "[NaN, 1]", "[3, 3]", "[2, 0, 1]",
    '{"tmverify": 1}',
    '{"tmverify": "1"}', '{"tmverify": {}}', "[" * 50_000, "[" * 200_000, "9" * 5_000,
    '"' + "x" * 300_000 + '"',
    "[" + '"NumPy", ' * 10_000 + '"NumPy"]', text(*CHECKED), text(*REPLAYED), text(*NETWORK_REPLAYED),
    text(*trust_in(["sat"])), text(*trust_in(["search"])), text("no such thing"), "no certificate: why",
    "/other.tmcert",
    "2024-01-01",
]  # fmt: skip

RESULT = (
    "task", "status", "lower", "upper", "witness", "decisions", "seconds", "engine", "stop_reason", "detail",
    "trusts", "trusts_alone", "certificate", "attempts", "versions", "timeout", "memory", "finished",
)  # fmt: skip
ASKED = {
    "asked": ("plan", "position", "task", "names", "data", "label", "image", "own", "line",
              "row_name", "raw"),
    "task": ("id", "question", "models", "n_features", "index", "input", "epsilon", "scope", "rules",
             "engine", "certified"),
    "input": ("digest", "n_features", "bits"),
    "model": ("hash", "name", "n_features", "n_clauses", "classes", "space"),
}  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def lawless(real: Path) -> Path:
    """One answer of each kind, in tables that take any value as it is."""
    path = Path(shutil.copy(real / "s.db", real / "lawless.db"))
    kinds = {kind(row): row.task.id for row in stored(path)}
    open_kinds = {kind(row): row.task.id for row in stored(real / "open.db")}
    unfinished = [task for key, task in open_kinds.items() if key not in kinds and task not in kinds.values()]
    database = sqlite3.connect(path)
    database.execute("ATTACH ? AS other", (str(real / "open.db"),))
    database.execute("DROP VIEW answers")
    for table in ("result", "task", "asked", "input", "model"):
        database.execute(f"CREATE TABLE new AS SELECT * FROM {table}")
        database.execute(f"DROP TABLE {table}")
        database.execute(f"ALTER TABLE new RENAME TO {table}")
    among = "IN (SELECT value FROM json_each(?))"
    database.execute(f"DELETE FROM asked WHERE NOT task {among}", (text(*kinds.values(), *unfinished),))
    database.execute(f"DELETE FROM result WHERE task {among}", (text(*unfinished),))
    database.execute(
        f"INSERT INTO result SELECT * FROM other.result WHERE task {among}", (text(*unfinished),)
    )
    database.execute("DELETE FROM result WHERE task NOT IN (SELECT task FROM asked)")
    database.execute("DELETE FROM task WHERE id NOT IN (SELECT task FROM asked)")
    database.commit()
    database.close()
    return path


def claim(answer: TaskAnswer | None) -> tuple[object, ...] | None:
    """What is said to be proved."""
    return None if answer is None or not answer.solved else (answer.status, answer.lower, answer.upper)


@pytest.mark.parametrize("column", RESULT)
def test_no_change_of_an_answer_makes_another_claim(column: str, lawless: Path) -> None:
    """One column of an answer of each kind, in each way."""
    place = RESULT.index(column)
    with Store.reading(lawless) as opened:
        database = opened._database
        for row in list(opened.rows()):
            query = f"SELECT * FROM result WHERE task = '{row.task.id}'"
            found = list(database.execute(query).fetchone())
            for value in HOSTILE:
                mutant = opened._asked(row.task, [*found[:place], value, *found[place + 1 :]])
                assert claim(mutant.answer) in (None, claim(row.answer)), (value, row)
                assert (mutant.answer is None) == (mutant.refused is not None)


@pytest.mark.parametrize(("table", "column"), [(table, column) for table in ASKED for column in ASKED[table]])
def test_no_change_of_a_question_makes_another_claim(table: str, column: str, lawless: Path) -> None:
    with Store.writing(lawless) as opened:
        database = opened._database
        true = {row.task.id: claim(row.answer) for row in opened.rows()}
        for value in HOSTILE[len(column) % 3 :: 3]:
            spoil(database, table, column, value)
            rows: list[Asked] = []
            with suppress(tv.StoreError):  # it does not say what was asked
                rows = looked_at(Store(lawless, database))
            for row in rows:
                assert claim(row.answer) in (None, true[row.task.id]), (value, row)
            database.rollback()


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def spoil(database: sqlite3.Connection, table: str, column: str, value: Any, where: str = "") -> None:
    place = "CAST(? AS TEXT)" if isinstance(value, NoText) else "?"
    kept = bytes(value) if isinstance(value, NoText) else value
    database.execute(f'UPDATE {table} SET "{column}" = {place} {where}', (kept,))


@pytest.mark.parametrize("seed", range(3))
def test_the_commands_end_well_whatever_is_in_a_store(
    seed: int, lawless: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every answer is changed in one column, each in another way."""
    path = Path(shutil.copy(lawless, tmp_path / "s.db"))
    chance = random.Random(seed)
    database = sqlite3.connect(path)
    for (place,) in database.execute("SELECT rowid FROM result").fetchall():
        column, value = chance.choice(RESULT[1:]), chance.choice(HOSTILE)
        spoil(database, "result", column, value, f"WHERE rowid = {place}")
    database.commit()
    database.close()
    true = {row.task.id: claim(row.answer) for row in stored(lawless)}
    commands = ["campaign status {}", "campaign status {} --json", "campaign export {} --csv {}.csv"]
    for command in [*commands, "campaign export {} --parquet {}.parquet", "report {} -o {}.html"]:
        assert main(command.replace("{}", str(path)).split()) == 0
        assert "internal error" not in capsys.readouterr().err
    for line in read_csv(tmp_path / "s.db.csv"):
        if line["status"] != "unknown":
            known = true[line["task"]]
            assert known is not None
            assert line["status"] == known[0]
