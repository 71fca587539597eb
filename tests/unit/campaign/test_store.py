"""The store: what it keeps, what it refuses, and who may write."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.campaigns import N_FEATURES, quick_plan, stored, voters
from support.report_stores import answer as stored_answer
from tmverify.asking.bits import pack
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Store, Task, TaskAnswer

MODEL = voters()
NAMED = [("m", MODEL)]


def task(index: int = 0, **more: object) -> Task:
    bits = pack(np.ones(N_FEATURES, np.uint8))
    models = (MODEL.content_hash,)
    base = Task(question="radius", models=models, names=("m",), n_features=9, index=index, bits=bits)
    return replace(base, **more)  # type: ignore[arg-type]


def answer(of: Task, status: str = "exact", **more: Any) -> TaskAnswer:
    """An answer that the task can have; of a radius, an infinite one, or nothing, if not told."""
    if of.question == "radius":
        more = {"lower": math.inf if status == "exact" else 0, "upper": math.inf, **more}
    flips = {"violated": 1, "holds": None}.get(status, more.get("upper"))
    if flips not in (None, math.inf):
        more |= {"witness": [0] * int(flips) + [1] * (9 - int(flips)), "decisions": (1, 0)}
    reason = {"stop_reason": "timeout"} if status == "unknown" else {}
    return stored_answer(of, status, **{"seconds": 0.25, **reason, **more})


def test_everything_comes_back(tmp_path: Path) -> None:
    asked = task(
        7,
        data="d",
        label="seven",
        image=(3, 3),
        scope=1,
        rules=KeptRules(mask=b"\xff\x80", direction="remove"),
        certified=True,
        own=True,
    )
    found = answer(
        asked,
        "unknown",
        lower=3,
        upper=5,
        stop_reason="timeout",
        detail="why",
        attempts=2,
        versions={"tmverify": "9"},
    )
    with Store.writing(tmp_path / "s.db") as store:
        store.plan([asked], NAMED)
        store.keep(asked, found)
        (row,) = store.rows()
        (model,) = store.models().values()
    # Limits belong to an attempt, not to the task.
    assert row.task == replace(asked, timeout=300.0, memory=None)
    assert row.task.id == asked.id
    assert row.answer == found
    assert (model.name, model.n_features, model.classes) == ("m", 9, (0, 1))


def test_what_is_due(tmp_path: Path) -> None:
    tasks = [task(i) for i in range(4)]
    with Store.writing(tmp_path / "s.db") as store:
        store.plan(tasks, NAMED)
        store.keep(tasks[0], answer(tasks[0]))
        store.keep(replace(tasks[1], timeout=5.0, memory=None), answer(tasks[1], "unknown"))
        store.keep(replace(tasks[2], timeout=None, memory=100), answer(tasks[2], "unknown"))

        def due(**limits: object) -> list[int | None]:
            again = [replace(each, **limits) for each in tasks]  # type: ignore[arg-type]
            return [each.index for each in store.due(again)]

        assert due(timeout=5.0, memory=100) == [3]
        assert due(timeout=6.0, memory=100) == [1, 3]
        assert due(timeout=1.0, memory=None) == [2, 3]
        assert [each.index for each in store.due(tasks[:1], retry_unknown=True)] == []
        assert [each.index for each in store.due(lessened(tasks), retry_unknown=True)] == [1, 2, 3]


def lessened(tasks: list[Task]) -> list[Task]:
    return [replace(each, timeout=1.0, memory=1) for each in tasks]


def test_a_plan_run_again_replaces_what_it_asked(tmp_path: Path) -> None:
    tasks = [task(i) for i in range(4)]

    def shown(store: Store) -> list[tuple[int | None, bool]]:
        return [(row.task.index, row.answer is not None) for row in store.rows()]

    with Store.writing(tmp_path / "s.db") as store:
        store.plan(tasks, NAMED, title="mine")
        store.keep(tasks[2], answer(tasks[2]))
        store.plan([tasks[3], tasks[2]], NAMED, title="mine")
        assert shown(store) == [(3, False), (2, True)]
        store.plan([tasks[0]], NAMED, title="yours")
        assert shown(store) == [(3, False), (2, True), (0, False)], "other plans stay as they are"
        store.plan([tasks[1]], NAMED, title="mine")
        assert shown(store) == [(0, False), (1, False)]
        store.plan([tasks[2]], NAMED, title="mine")
        assert shown(store) == [(0, False), (2, True)], "the answer was kept all the time"


def test_one_task_may_be_asked_under_several_names(tmp_path: Path) -> None:
    asked = [task(0, data="few"), task(0, data="all"), task(1, data="all")]
    with Store.writing(tmp_path / "s.db") as store:
        store.plan(asked, NAMED, title="both")
        store.plan(asked[1:], NAMED, title="again")
        assert len(store.due(asked)) == 2
        store.keep(asked[0], answer(asked[0]))
        assert [(row.task.data, row.answer is not None) for row in store.rows()] == [
            ("few", True),
            ("all", True),
            ("all", False),
        ]


def test_what_was_known_is_never_replaced_by_less(tmp_path: Path) -> None:
    asked = task()
    near = answer(asked, "unknown", lower=4, upper=6)
    crashed = answer(asked, "unknown", stop_reason="crashed", detail="why")
    with Store.writing(tmp_path / "s.db") as store:
        store.plan([asked], NAMED)
        store.keep(replace(asked, timeout=9.0), near)
        kept = store.keep(replace(asked, timeout=5.0), crashed)
        assert (kept.lower, kept.upper, kept.witness, kept.stop_reason) == (4, 6, near.witness, "crashed")
        assert store.asked(asked).answer == kept
        met = store.keep(asked, answer(asked, "unknown", lower=6, upper=math.inf))
        assert (met.status, met.lower, met.upper, met.stop_reason) == ("exact", 6, 6, None)
        assert store.keep(asked, crashed) == met


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (("unknown", 4, 6), ("unknown", 7, math.inf)),
        (("unknown", 4, 6), ("exact", 3, 3)),
        (("exact", 5, 5), ("unknown", 6, math.inf)),
        (("exact", 5, 5), ("exact", 6, 6)),
        (("holds", None, None), ("violated", None, None)),
    ],
)
def test_answers_that_contradict_each_other_are_not_believed(
    before: tuple[str, Any, Any], now: tuple[str, Any, Any], tmp_path: Path
) -> None:
    asked = task() if before[1] is not None else task(question="robustness", epsilon=1)
    with Store.writing(tmp_path / "s.db") as store:
        store.plan([asked], NAMED)
        for status, lower, upper in (before, now):
            bounds = {} if lower is None else {"lower": lower, "upper": upper}
            kept = store.keep(asked, answer(asked, status, **bounds))
        assert (kept.status, kept.stop_reason, kept.witness) == ("unknown", "answer-rejected", None)
        assert store.asked(asked).answer == kept


def test_certificates_that_are_not_where_they_are_wanted_are_due(tmp_path: Path) -> None:
    asked, folder = task(certified=True), (tmp_path / "proofs").resolve()
    folder.mkdir()
    path = folder / asked.file_name
    path.touch()
    with Store.writing(tmp_path / "s.db") as store:
        store.plan([asked], NAMED)
        store.keep(asked, answer(asked, certificate_path=str(path)))
        assert store.due([asked], certificates=folder) == []
        assert store.due([asked], certificates=tmp_path) == [asked]
        path.unlink()
        assert store.due([asked], certificates=folder) == [asked]
        assert store.due([asked]) == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE task SET epsilon = 2",
        "UPDATE task SET scope = 'x'",
        "UPDATE task SET models = '[]'",
        "UPDATE input SET bits = x'00'",
        "UPDATE asked SET label = '{'",
        "UPDATE asked SET label = '[]'",
        "UPDATE asked SET task = 'gone'",
        "DELETE FROM task",
        "DELETE FROM input",
    ],
)
def test_a_store_that_does_not_say_what_was_asked_is_mended_by_asking_again(
    damage: str, tmp_path: Path
) -> None:
    path, asked = tmp_path / "s.db", task()
    with Store.writing(path) as store:
        store.plan([asked], NAMED)
        store.keep(asked, answer(asked, lower=1, upper=1))
    connection = sqlite3.connect(path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(tv.StoreError, match=r"damaged.* Run the plan again"):
        stored(path)
    with Store.writing(path) as store:
        store.plan([asked], NAMED)
        assert store.due([asked]) == []
    (row,) = stored(path)
    assert (row.task, row.answer) == (asked, answer(asked, lower=1, upper=1))


def test_a_file_of_two_names_is_not_written_to(tmp_path: Path) -> None:
    with Store.writing(tmp_path / "s.db"):
        pass
    os.link(tmp_path / "s.db", tmp_path / "t.db")
    with pytest.raises(tv.StoreError, match="other names"), Store.writing(tmp_path / "t.db"):
        pass


def test_what_is_in_the_way_of_the_lock_is_left_alone(tmp_path: Path) -> None:
    lock, precious = tmp_path / "s.db-lock", tmp_path / "precious.txt"
    precious.write_text("mine")
    lock.write_text("a diary")
    with pytest.raises(tv.StoreError, match="in the way"), Store.writing(tmp_path / "s.db"):
        pass
    lock.unlink()
    lock.symlink_to(precious)
    with pytest.raises(tv.StoreError, match="no lock can be made"), Store.writing(tmp_path / "s.db"):
        pass
    assert precious.read_text() == "mine"


def test_any_tool_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    tv.run_campaign(quick_plan(tmp_path), path)
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT question, status, seconds FROM answers").fetchall()
    connection.close()
    assert len(rows) == 25
    assert {row[0] for row in rows} == {"robustness", "radius", "similarity", "equivalence"}
    assert not list(tmp_path.glob("s.db-*"))


@pytest.mark.parametrize("content", [b"", b"no database at all, but longer than a header" * 40])
def test_another_file_is_no_store(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)
    with pytest.raises(tv.StoreError, match=r"s\.db"), Store.reading(path):
        pass
    if content:
        with pytest.raises(tv.StoreError, match="not a store"), Store.writing(path):
            pass
        assert path.read_bytes() == content


def test_another_database_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for opening in (Store.reading, Store.writing):
        with pytest.raises(tv.StoreError, match="no store of tmverify's"), opening(path):
            pass


def test_a_store_of_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.writing(path):
        pass
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(tv.StoreError, match="format 99"), Store.reading(path):
        pass


def test_no_such_place(tmp_path: Path) -> None:
    with pytest.raises(tv.StoreError, match="no such store"), Store.reading(tmp_path / "s.db"):
        pass
    with pytest.raises(tv.StoreError, match="make it first"), Store.writing(tmp_path / "none" / "s.db"):
        pass
    assert not list(tmp_path.iterdir())


def test_one_writes_others_read(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.writing(path) as store:
        store.plan([task()], [])
        with pytest.raises(tv.StoreError, match=f"another run .process {os.getpid()}"), Store.writing(path):
            pass
        assert len(stored(path)) == 1
        assert store.writer == os.getpid()
    with Store.writing(path), Store.reading(path):
        pass
    with Store.reading(path) as reader:
        assert reader.writer is None


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    code = (
        "import sys, time; from tmverify.campaign import Store\n"
        f"with Store.writing({str(path)!r}): print('open', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(tv.StoreError, match=f"process {process.pid}"), Store.writing(path):
            pass
        process.send_signal(signal.SIGKILL)
    with Store.writing(path) as store:
        assert list(store.rows()) == []
