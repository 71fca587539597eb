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

import pytest

import tmverify as tv
from campaigns import quick_plan, stored, voters
from tmverify.campaign import Store, Task, TaskAnswer
from tmverify.campaign.tasks import pack


def task(index: int = 0, **more: object) -> Task:
    bits = pack(voters().weights[0] > 0)
    base = Task(question="radius", models=("m",), names=("m",), n_features=9, index=index, bits=bits)
    return replace(base, **more)  # type: ignore[arg-type]


def answer(of: Task, status: str = "exact", **more: object) -> TaskAnswer:
    base = TaskAnswer(task=of.id, status=status, seconds=0.25, engine="search")
    return replace(base, **more)  # type: ignore[arg-type]


def test_everything_comes_back(tmp_path: Path) -> None:
    asked = task(
        7, data="d", label="seven", image=(3, 3), scope="x", direction="add", mask=b"\xff\x80", certified=True
    )
    found = answer(
        asked,
        lower=math.inf,
        upper=math.inf,
        witness=asked.bits,
        decisions=("a", 1),
        stop_reason="timeout",
        detail="why",
        trusts=("us",),
        certificate_path="c.tmcert",
        attempts=2,
        versions={"tmverify": "9"},
    )
    with Store.writing(tmp_path / "s.db") as store:
        store.plan([asked], [("m", voters())])
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
        store.plan(tasks, [])
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


def test_a_new_plan_keeps_answers_and_forgets_questions(tmp_path: Path) -> None:
    tasks = [task(i) for i in range(4)]
    with Store.writing(tmp_path / "s.db") as store:
        store.plan(tasks, [])
        store.keep(tasks[2], answer(tasks[2]))
        store.plan([tasks[3], tasks[2], tasks[1]], [])
        assert [row.task.index for row in store.rows()] == [3, 2, 1]
        store.plan([tasks[0]], [])
        assert [row.task.index for row in store.rows()] == [2, 0]


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
