"""Certificates: what recording costs, how large they are, whether the checker accepts them, in what time.

A question is asked once without recording and once with, not counted; then without, with, with, without, and
each side counts as the mean of its two, so that other work falls on both alike. If one of the first two calls
does not decide, those two are what is reported. The certificate of the last call is saved; ``tmcheck`` reads
it and the model file, and must accept it, and its claim must be what was asked and answered. Evenly spread
over the inputs of a row, ``N_PROCESSES`` are checked again as users do: ``python src/tmcheck``.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import tmcheck
import tmverify as tv
from harness.asking import Answered, is_solved, start_solver, told
from harness.certified import (
    ACCEPTED,
    CHECKER,
    CHECKER_READ,
    COLUMNS,
    N_PROCESSES,
    UNDECIDED,
    Certifying,
    Group,
    Kind,
    Measured,
    Plan,
)
from harness.certified_report import cells, fill
from harness.report import Section, stored_sections


def measure(bench: Certifying, plan: Plan) -> Iterator[Section]:
    """The section as it grows, one question at a time, until the time is over."""
    kinds = plan.kinds(bench)
    names = dict.fromkeys(kind.of["machine"] for kind in kinds)
    hashes = {name: bench.subjects.model(name).content_hash[:8] for name in names}
    settings = {
        "seed": bench.subjects.seed,
        "machines": ", ".join(f"{name} ({digest})" for name, digest in hashes.items()),
        "engine": ", ".join(dict.fromkeys(kind.of["engine"] for kind in kinds)),
        "limit in seconds": bench.sat_limit if plan.name.startswith("sat") else bench.limit,
        "checker": f"{CHECKER.name} ({CHECKER_READ})",
        "cores": 1,
    }
    title = plan.title + (" (smoke run, small machines)" if bench.quick else "")
    section = Section(title, settings, COLUMNS)
    section.versions = {name: version(name) for name in ("tmverify", "numpy", "numba", "python-sat")}
    known, opening = _known(bench, plan.name, settings)
    opening += [plan.note] if plan.note else []
    groups = [Group(kind.of, len(kind.rows)) for kind in kinds]
    section.raw += groups
    if not bench.out_of_time:
        start_solver()  # or the first questions share the core with its start
        for recording in (False, True):
            kinds[0].ask(kinds[0].rows[0], recording)
    for kind, group in zip(kinds, groups, strict=True):
        processes = set(kind.rows[:: max(1, len(kind.rows) // N_PROCESSES)][:N_PROCESSES])
        for row in kind.rows:
            taken = known.get(repr(kind.of), {}).get(row)
            if taken is None and bench.out_of_time:
                break
            group.measured.append(taken or _measure_one(bench, kind, row, row in processes))
            fill(section, groups, opening)
            yield section
        if group.measured:
            print(f"{title}: {' | '.join(cells(group))}", file=sys.stderr, flush=True)
    fill(section, groups, opening)
    section.complete = all(len(group.measured) == group.wanted for group in groups)
    yield section


def _known(
    bench: Certifying, name: str, settings: dict[str, Any]
) -> tuple[dict[str, dict[int, Measured]], list[str]]:
    """What an unfinished section had measured, if it is to be taken over; a sentence that says so."""
    older = stored_sections(bench.stored).get(name) if bench.resume else None
    if not older or older["complete"] or older["settings"] != settings:
        return {}, []
    known = {}
    for group in older["raw"]:
        measured = [Measured(*values) for values in group["measured"]]
        # What went wrong is asked again: the bug may be gone.
        known[repr(group["of"])] = {m.row: m for m in measured if m.outcome in (ACCEPTED, UNDECIDED)}
    return known, [f"Begun at {older['began']}, stopped, and taken up again."]


def _measure_one(bench: Certifying, kind: Kind, row: int, process: bool) -> Measured:
    without, with_ = partial(kind.ask, row, False), partial(kind.ask, row, True)
    answers: dict[bool, str] = {}
    seconds: dict[bool, list[float]] = {False: [], True: []}
    last: Answered | None = None
    counts: dict[bool, dict[str, float]] = {}

    def ask(recording: bool) -> None:
        nonlocal last
        start = time.perf_counter()
        try:
            answered = with_() if recording else without()
            answers[recording] = told(answered)
            last = answered if recording else last
            stats = answered.stats.items()
            counts[recording] = {key: n for key, n in stats if not key.endswith("seconds")}
        except Exception as error:  # a bug must not cost what follows
            answers[recording] = f"{type(error).__name__}: {error}"
        seconds[recording].append(time.perf_counter() - start)
        if not is_solved(answers[recording]):
            start_solver()  # its process was killed at the limit

    ask(False)
    ask(True)
    if all(map(is_solved, answers.values())):
        seconds = {False: [], True: []}
        for recording in (False, True, True, False):
            ask(recording)
    one = Measured(
        row,
        answers[False],
        answers[True],
        "",
        _short(np.mean(seconds[False])),
        _short(np.mean(seconds[True])),
    )
    if one.ratio is not None and all("nodes" in counted for counted in counts.values()):
        one = one._replace(same_work=counts[False] == counts[True])
    if not is_solved(one.recorded):
        lost = is_solved(one.without)
        return one._replace(outcome=f"undecided when recorded: {one.recorded}" if lost else UNDECIDED)
    assert last is not None
    if last.certificate is None:
        return one._replace(outcome=last.detail or "no certificate")
    return _checked(bench, kind, one, last, process)


def _checked(bench: Certifying, kind: Kind, one: Measured, answered: Answered, process: bool) -> Measured:
    """Save the certificate, check it, and remove it if all is well."""
    models = [bench.model_file(model) for model in kind.models()]
    words = "-".join(str(value) for value in kind.of.values() if value is not None)
    path = bench.folder / f"{words}-{one.row}.cert".replace(" ", "-").replace(",", "")
    assert answered.certificate is not None
    start = time.perf_counter()
    answered.certificate.save(path)
    saving = time.perf_counter() - start
    with open(path, "rb") as file:
        n_clausal = sum(line == b"lrat\n" for line in file)
    start = time.perf_counter()
    outcome = _outcome(path, models, kind.claim(one.row) | _said(answered), bench.check_limit)
    checking = time.perf_counter() - start
    if is_solved(one.without) and one.without != one.recorded:
        outcome = f"**other answer without recording**: {one.without}, not {one.recorded}"
    alone = None
    if process and outcome == ACCEPTED:
        start = time.perf_counter()
        command = [sys.executable, str(CHECKER), str(path), *map(str, models)]
        done = subprocess.run(command, capture_output=True, text=True)
        alone = _short(time.perf_counter() - start)
        outcome = outcome if done.returncode == 0 else f"as a process, {done.stdout.strip() or 'failed'}"
    one = one._replace(
        outcome=outcome,
        seconds_saving=_short(saving),
        n_bytes=path.stat().st_size,
        n_clausal=n_clausal,
        seconds_checking=_short(checking),
        seconds_process=alone,
    )
    if outcome == ACCEPTED:
        path.unlink()
    return one


def _said(answered: Answered) -> dict[str, Any]:
    """What the claim must say of the answer."""
    if isinstance(answered, tv.Radius):
        return {"answer": "radius", "radius": None if answered.lower == float("inf") else answered.lower}
    return {"answer": answered.status.value, "radius": None}


def _outcome(path: Path, models: Sequence[Path], wanted: dict[str, Any], limit: float) -> str:
    """What the checker says of the files; reading the model is part of it."""
    try:
        with _at_most(limit), open(path, "rb") as file:
            claim = tmcheck.check(file, [model.read_bytes() for model in models])
    except tmcheck.Refused as reason:
        return f"refused: {reason}"
    except tmcheck.Unreadable as reason:
        return f"unreadable: {reason}"
    except TimeoutError:
        return f"checking stopped after {limit:g} s"
    except Exception as error:
        return f"the checker failed: {type(error).__name__}: {error}"
    wrong = [key for key, value in wanted.items() if claim[key] != value]
    return f"another claim than asked: {', '.join(wrong)}" if wrong else ACCEPTED


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, where the system has an alarm."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _short(seconds: Any) -> float:
    return float(f"{seconds:.4g}")
