"""Running tasks: the answers are right, and the failure of a process affects only its own task."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.campaigns import make_plan, quick_plan, stored, told
from tmverify.asking.answer import decide_task, replayed
from tmverify.campaign import Store, Task, TaskAnswer, workers
from tmverify.campaign.expansion import expand
from tmverify.campaign.run import run_tasks
from tmverify.engines.engine import Deadline
from tmverify.engines.subprocesses.call import call
from tmverify.engines.subprocesses.memory import at_most

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc")


@pytest.fixture
def decider(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """For stand-ins of the decider."""
    monkeypatch.setattr(workers, "_GRACE", 1.0)
    return monkeypatch


def radius_plan(folder: Path, more: str = "", n: int = 3) -> tv.Plan:
    """As many tasks as inputs."""
    files = "[models]\na = 'a.tm'\n[inputs.d]\nfile = 'd.npz'"
    return make_plan(folder, f"engine = 'brute'\n{more}\n{files}\n[[ask]]\nquestion = 'radius'", n)


def children(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # gone meanwhile
            found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@pytest.mark.parametrize("jobs", [1, 2])
def test_answers_are_those_of_the_functions(jobs: int, tmp_path: Path) -> None:
    tally = tv.run_campaign(quick_plan(tmp_path), tmp_path / "s.db", jobs=jobs)
    assert (tally.total, tally.done, tally.unknown) == (25, 25, 0)
    a, b = tv.load(tmp_path / "a.tm"), tv.load(tmp_path / "b.tm")
    models = {a.content_hash: a, b.content_hash: b}
    for row in stored(tmp_path / "s.db"):
        task, found = row.task, row.answer
        assert found is not None
        asked: list[Any] = [models[key] for key in task.models]
        x: Any = task.x
        if task.question == "radius":
            assert found.solved
            assert found.lower == tv.robustness_radius(asked[0], x, engine="brute").radius
            continue
        assert task.epsilon is not None or task.question == "equivalence"
        check = {"robustness": tv.check_robustness, "similarity": tv.check_similarity}.get(task.question)
        expected = (
            tv.check_equivalence(*asked, engine="brute")
            if check is None
            else check(*asked, task.x, task.epsilon, engine="brute")  # type: ignore[operator]
        )
        assert found.status == expected.status
        assert (found.witness is None) == (expected.witness is None)
        assert found.versions["tmverify"] == tv.__version__


def test_running_again_does_only_what_is_missing(tmp_path: Path) -> None:
    plan, path = quick_plan(tmp_path), tmp_path / "s.db"
    campaign = expand(plan)
    with Store.writing(path) as store:
        store.plan(campaign.tasks, [(name, campaign.models[key]) for key, name in campaign.names.items()])
        for done, (task, found) in enumerate(run_tasks(campaign.tasks, campaign.models)):
            store.keep(task, found)
            if done == 10:
                break
    before = {row.task.id: row.answer for row in stored(path) if row.answer is not None}
    assert len(before) == 11
    tally = tv.run_campaign(plan, path)
    after = {row.task.id: row.answer for row in stored(path)}
    assert (tally.done, len(after)) == (25, 25)
    assert {key: after[key] for key in before} == before


def test_certificates_are_written_and_accepted(tmp_path: Path) -> None:
    text = """
        certificates = "evidence"
        [models]
        a = "a.tm"
        [inputs.d]
        file = "d.npz"
        [[ask]]
        question = "radius"
        [[ask]]
        question = "robustness"
    """
    tv.run_campaign(make_plan(tmp_path, text, n=2), tmp_path / "s.db")
    paths = [row.answer.certificate_path for row in stored(tmp_path / "s.db") if row.answer is not None]
    assert len(set(paths)) == 4
    from tmverify.cli import main

    for path in paths:
        assert path is not None
        assert main(["certify", path, str(tmp_path / "a.tm")]) == 0


def test_a_task_that_kills_its_process_is_unknown_and_the_rest_goes_on(
    decider: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    decider.setattr(workers, "_DECIDER", "support.failing_deciders:die")
    tally = tv.run_campaign(radius_plan(tmp_path), tmp_path / "s.db")
    assert (tally.done, tally.unknown) == (3, 1)
    for row in stored(tmp_path / "s.db"):
        assert row.answer is not None
        assert row.answer.solved == (row.task.index != 1)
        if row.task.index == 1:
            assert row.answer.stop_reason == "crashed"
            assert "exit code 9 (tried twice)" in row.answer.detail
            assert row.answer.attempts == 2
            assert row.answer.witness is None


def test_a_process_that_dies_once_costs_a_retry(decider: pytest.MonkeyPatch, tmp_path: Path) -> None:
    decider.setattr(workers, "_DECIDER", "support.failing_deciders:die_once")
    tally = tv.run_campaign(radius_plan(tmp_path, n=1), tmp_path / "s.db")
    assert (tally.done, tally.unknown) == (1, 0)
    assert {row.answer.attempts for row in stored(tmp_path / "s.db") if row.answer is not None} == {2}


@linux
def test_the_memory_limit_holds(decider: pytest.MonkeyPatch, tmp_path: Path) -> None:
    decider.setattr(workers, "_DECIDER", "support.failing_deciders:fill_memory")
    tally = tv.run_campaign(radius_plan(tmp_path, "memory = 300"), tmp_path / "s.db")
    assert (tally.done, tally.unknown) == (3, 1)
    reasons = {row.answer.stop_reason for row in stored(tmp_path / "s.db") if row.answer is not None}
    assert reasons == {None, "out-of-memory"}
    # Allowed more, it is asked again, and only that.
    tally = tv.run_campaign(radius_plan(tmp_path, "memory = 3000"), tmp_path / "s.db")
    assert tally.unknown == 0


def test_the_time_limit_holds_for_whatever_does_not_look_at_the_clock(
    decider: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    decider.setattr(workers, "_DECIDER", "support.failing_deciders:oversleep")
    tv.run_campaign(radius_plan(tmp_path, "timeout = 0.5"), tmp_path / "s.db")
    answers = [row.answer for row in stored(tmp_path / "s.db")]
    assert [answer.stop_reason for answer in answers if answer is not None] == [None, "timeout", None]
    assert answers[1] is not None
    assert (answers[1].lower, answers[1].upper) == (0, float("inf"))


def test_a_bug_is_unknown_with_its_words(decider: pytest.MonkeyPatch, tmp_path: Path) -> None:
    decider.setattr(workers, "_DECIDER", "support.failing_deciders:raise_error")
    tally = tv.run_campaign(radius_plan(tmp_path), tmp_path / "s.db")
    assert tally.unknown == 3
    assert {row.answer.detail for row in stored(tmp_path / "s.db") if row.answer is not None} == {
        "the solver failed: RuntimeError: a bug (tried twice)"
    }


@linux
def test_workers_that_are_killed_cost_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the deciding processes one is shot after some answers, and again after many more."""
    shot: list[int] = []
    first: list[int] = []  # the processes that there were at the first shot
    keep = Store.keep

    def keep_and_shoot(store: Store, task: Task, answer: TaskAnswer) -> TaskAnswer:
        kept = keep(store, task, answer)
        n_kept = sum(row.answer is not None for row in store.rows())
        workers = [pid for pid in children(os.getpid()) if b"_worker import serve" in command(pid)]
        # The second shot is at the other one: a task whose process dies twice is given up.
        alive = [pid for pid in workers if not shot or pid in first]
        if alive and len(shot) < 2 and n_kept >= (8, 45)[len(shot)]:
            first.extend(workers)
            os.kill(alive[0], signal.SIGKILL)
            shot.append(alive[0])
        return kept

    plan = quick_plan(tmp_path, n=12)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "keep", keep_and_shoot)
        tally = tv.run_campaign(plan, tmp_path / "s.db", jobs=2)
    assert shot
    unknown = [row.answer.detail for row in stored(tmp_path / "s.db") if row.answer and not row.answer.solved]
    assert (tally.done, unknown) == (73, [])
    tv.run_campaign(plan, tmp_path / "quiet.db")
    assert told(stored(tmp_path / "s.db")) == told(stored(tmp_path / "quiet.db"))


@pytest.mark.parametrize("jobs", [0, -2, True])
def test_jobs_are_checked(jobs: int, tmp_path: Path) -> None:
    with pytest.raises(tv.InvalidInputError, match="jobs must be"):
        tv.run_campaign(quick_plan(tmp_path), tmp_path / "s.db", jobs=jobs)


@linux
def test_an_interrupt_waits_for_no_task(decider: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One of three tasks is decided for ever; Ctrl-C ends it, and the process that was at it."""
    decider.setattr(workers, "_DECIDER", "support.failing_deciders:oversleep")
    plan, path, before = radius_plan(tmp_path, "timeout = 500"), tmp_path / "s.db", children(os.getpid())
    keep, kept = Store.keep, []

    def keep_and_wait(store: Store, task: Task, answer: TaskAnswer) -> TaskAnswer:
        kept.append(task.index)
        if len(kept) == 2:
            threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
        return keep(store, task, answer)

    decider.setattr(Store, "keep", keep_and_wait)
    with pytest.raises(KeyboardInterrupt):
        tv.run_campaign(plan, path, jobs=2)
    assert set(children(os.getpid())) <= set(before)
    assert [row.answer is not None for row in stored(path)] == [True, False, True]


def test_few_tasks_are_handed_out_before_they_are_needed(tmp_path: Path) -> None:
    campaign = expand(quick_plan(tmp_path, n=30))
    taken = []

    class Tasks(list[Task]):
        def __iter__(self) -> Iterator[Task]:
            for task in super().__iter__():
                taken.append(task)
                yield task

    with closing(run_tasks(Tasks(campaign.tasks), campaign.models, jobs=2)) as found:
        next(found)
        assert len(taken) == 4


def test_a_foreign_counterexample_is_replayed(tmp_path: Path) -> None:
    campaign = expand(quick_plan(tmp_path, n=3))
    for task in campaign.tasks:
        found = decide_task(task, [campaign.models[key] for key in task.models])
        assert replayed(task, found, campaign.models) == found
        if found.witness is not None and task.bits is not None:
            assert found.decisions is not None
            turned = (found.decisions[1], found.decisions[0])
            for lie in (replace(found, witness=task.bits), replace(found, decisions=turned)):
                seen = replayed(task, lie, campaign.models)
                assert (seen.status, seen.stop_reason, seen.witness) == ("unknown", "answer-rejected", None)


@linux
def test_a_limit_on_memory_is_that_of_its_task_in_every_process() -> None:
    """The process of a solver lives on from task to task, and takes the limit of each."""
    limits = []
    for more in (None, 50 << 20, None):
        with at_most(more):
            limits.append(call("support.failing_deciders:soft_limit", (), Deadline(20.0)))
    assert limits[0] == limits[2]
    assert 50 << 20 < limits[1] < 400 << 20


def test_two_campaigns_at_once_in_threads(tmp_path: Path) -> None:
    """Each has workers of its own, and none waits for the other."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        quick_plan(tmp_path / name, n=8)
    script = f"""
import sys, threading
from pathlib import Path
import tmverify as tv

def run(name):
    folder = Path({str(tmp_path)!r}) / name
    tv.run_campaign(tv.read_plan(folder / "plan.toml"), folder / "s.db", jobs=2)

if __name__ == "__main__":
    threads = [threading.Thread(target=run, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
    (tmp_path / "both.py").write_text(script)
    subprocess.run([sys.executable, str(tmp_path / "both.py")], check=True, timeout=120)
    for name in ("a", "b"):
        rows = stored(tmp_path / name / "s.db")
        assert rows
        assert all(row.answer is not None for row in rows)
