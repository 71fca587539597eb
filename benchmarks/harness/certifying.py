"""Certificates: what recording costs, how large they are, whether the checker accepts them, in what time.

A question is asked once without recording and once with, not counted; then without, with, with, without, and
each side counts as the mean of its two, so that other work falls on both alike. If one of the first two calls
does not decide, those two are what is reported. The certificate of the last call is saved; ``tmcheck`` reads
it and the model file, and must accept it, and its claim must be what was asked and answered. Evenly spread
over the inputs of a row, ``N_PROCESSES`` are checked again as users do: ``python tools/tmcheck.py``.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tmverify as tv
from harness.asking import Answered, at_most, is_solved, ms, start_solver, told
from harness.equivalence import shuffled
from harness.report import Section, stored_sections
from harness.robustness import REVIEWED
from harness.subjects import Subjects
from harness.trained import RECIPES
from tmverify.certificates import tmcheck

CHECKER = Path(__file__).parents[2] / "tools" / "tmcheck.py"


def _digest() -> str:
    return hashlib.sha256(CHECKER.read_bytes()).hexdigest()[:8]


CHECKER_READ = _digest()
COLUMNS = (
    "machine",
    "question",
    "inputs",
    "holds",
    "certified",
    "accepted",
    "mean ms without",
    "with",
    "ratio of means",
    "median of ratios",
    "bytes: median",
    "largest",
    "check ms: median",
    "largest",
    "process ms: median",
)
WANTED_RATIO = 1.5
WANTED_CHECK = 1.0  # seconds, the median
N_PROCESSES = 5
N_LISTED = 20
ACCEPTED, UNDECIDED = "accepted", "undecided"


@dataclass(frozen=True)
class Certifying:
    """What every section is given. Limits are in seconds, counts before a smoke run cuts them down."""

    subjects: Subjects
    stored: Path  # the report's JSON
    folder: Path  # for models and certificates; those that were not accepted stay there
    resume: bool
    quick: bool
    until: float  # by time.monotonic
    images: int  # of each class
    reviews: int
    radius_inputs: int
    sat_inputs: int
    limit: float
    sat_limit: float
    check_limit: float

    def few(self, n: int, quick: int) -> int:
        return min(n, quick) if self.quick else n

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() > self.until

    def model_file(self, model: tv.Model) -> Path:
        """A model as a file; it has one encoding, so this is the trained file byte for byte."""
        path = self.folder / f"{model.content_hash[:16]}.tm"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            model.save(path)
        return path


@dataclass(frozen=True)
class Kind:
    """One row of a table: a machine, a question, the inputs. ``claim`` is what a certificate must say."""

    of: dict[str, Any]
    rows: list[int]
    ask: Callable[[int, bool], Answered]
    models: Callable[[], list[tv.Model]]
    claim: Callable[[int], dict[str, Any]]


class Measured(NamedTuple):
    """One question; times in seconds. Without a certificate, what would be about it is None."""

    row: int
    without: str  # the answer without recording
    recorded: str  # the answer with
    outcome: str
    seconds_without: float
    seconds_with: float
    seconds_saving: float | None = None
    n_bytes: int | None = None
    n_clausal: int | None = None  # refutations that end in a clausal proof
    seconds_checking: float | None = None
    seconds_process: float | None = None
    same_work: bool | None = None  # a search has as many nodes and steps both ways

    @property
    def ratio(self) -> float | None:
        decided = is_solved(self.without) and is_solved(self.recorded)
        return self.seconds_with / self.seconds_without if decided else None


@dataclass
class Group:
    """What was measured of a kind, of ``wanted`` inputs."""

    of: dict[str, Any]
    wanted: int
    columns: tuple[str, ...] = Measured._fields
    measured: list[Measured] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    name: str
    title: str
    kinds: Callable[[Certifying], list[Kind]]
    note: str = ""


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
            _fill(section, groups, opening)
            yield section
        if group.measured:
            print(f"{title}: {' | '.join(_cells(group))}", file=sys.stderr, flush=True)
    _fill(section, groups, opening)
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


# ------------------------------------------------------------------------------------------- one question


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
    if one.without != one.recorded:
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


# ------------------------------------------------------------------------------------------- the questions


def robustness_mnist(bench: Certifying) -> list[Kind]:
    rows = bench.subjects.of_each_class("mnist", bench.few(bench.images, 1))
    return [
        _robustness(bench, "mnist-2000", scope, epsilon, "auto", rows)
        for scope in ("team", "single")
        for epsilon in (1, 3, 5)
    ]


def radius_mnist(bench: Certifying) -> list[Kind]:
    rows = bench.subjects.shuffled("mnist")[: bench.few(bench.radius_inputs, 10)]
    return [_radius(bench, "mnist-2000", rows)]


def sat_mnist(bench: Certifying) -> list[Kind]:
    """Epsilon 1 is settled by bounds, mostly before there is a formula; hence 3 and 5 as well."""
    rows = bench.subjects.of_each_class("mnist", bench.few(bench.images, 1))
    chosen = np.random.default_rng(bench.subjects.seed).permutation(len(rows))
    some = [rows[i] for i in chosen[: bench.few(bench.sat_inputs, 3)]]
    return [_robustness(bench, "mnist-2000", "team", epsilon, "sat", some) for epsilon in (1, 3, 5)]


def imdb(bench: Certifying) -> list[Kind]:
    n = bench.few(bench.reviews, 5)
    rows = bench.subjects.that_all_classify("imdb", REVIEWED, n)
    kinds = [_robustness(bench, "imdb-s2-a", "team", epsilon, "auto", rows) for epsilon in (1, 3)]
    return [*kinds, _radius(bench, "imdb-s2-a", bench.subjects.shuffled("imdb")[:n])]


def equivalence(bench: Certifying) -> list[Kind]:
    kinds = []
    for name in ("imdb-s2-a", "mnist-500", "mnist-2000"):
        for what, copy in {"reordered": shuffled, "split": split}.items():
            other = cache(partial(_copy, bench, name, copy))
            kinds.append(_equivalence(bench, name, what, other))
    return kinds


def split(model: tv.Model, rng: np.random.Generator) -> tv.Model:
    """A tenth of the clauses as two, with and against a feature they do not have; the order shuffled."""
    clauses = [tuple(int(lit) for lit in clause) for clause in model.clauses]
    weights = [model.weights]
    for j in map(int, rng.choice(model.n_clauses, model.n_clauses // 10, replace=False)):
        free = [f for f in range(1, model.n_features + 1) if f not in map(abs, clauses[j])]
        if clauses[j] and free:
            lit = int(rng.choice(free))
            clauses.append((*clauses[j], -lit))
            clauses[j] = (*clauses[j], lit)
            weights.append(model.weights[:, j : j + 1])
    made = tv.Model.from_clauses(
        model.n_features,
        clauses,
        np.concatenate(weights, axis=1),
        bias=model.bias,
        tie=model.tie,
        clamp=model.clamp,
        empty_clause=model.empty_clause,
        classes=model.classes,
        feature_names=model.feature_names,
    )
    return shuffled(made, rng)


def _copy(
    bench: Certifying, name: str, copy: Callable[[tv.Model, np.random.Generator], tv.Model]
) -> tv.Model:
    return copy(bench.subjects.model(name), np.random.default_rng(bench.subjects.seed))


def _robustness(bench: Certifying, name: str, scope: str, epsilon: int, engine: str, rows: list[int]) -> Kind:
    data = RECIPES[name].data
    limit = bench.sat_limit if engine == "sat" else bench.limit

    def scope_at(row: int) -> int | str:
        return scope if scope == "team" else bench.subjects.test_label(data, row)

    def ask(row: int, certificate: bool) -> tv.Verdict:
        return tv.check_robustness(
            bench.subjects.model(name),
            bench.subjects.test_input(data, row),
            epsilon,
            scope=scope_at(row),
            timeout=limit,
            engine=engine,
            certificate=certificate,
        )

    return Kind(
        {
            "machine": name,
            "question": "robustness",
            "scope": scope,
            "epsilon": epsilon,
            "against": None,
            "engine": engine,
        },
        rows,
        ask,
        lambda: [bench.subjects.model(name)],
        lambda row: {"question": "robustness", "scope": scope_at(row), "epsilon": epsilon, "inputs": 1},
    )


def _radius(bench: Certifying, name: str, rows: list[int]) -> Kind:
    def ask(row: int, certificate: bool) -> tv.Radius:
        x = bench.subjects.test_input(RECIPES[name].data, row)
        model = bench.subjects.model(name)
        return tv.robustness_radius(model, x, timeout=bench.limit, certificate=certificate)

    return Kind(
        {
            "machine": name,
            "question": "radius",
            "scope": "team",
            "epsilon": None,
            "against": None,
            "engine": "auto",
        },
        rows,
        ask,
        lambda: [bench.subjects.model(name)],
        lambda row: {"question": "robustness", "scope": "team", "epsilon": None, "inputs": 1},
    )


def _equivalence(bench: Certifying, name: str, what: str, other: Callable[[], tv.Model]) -> Kind:
    def ask(_: int, certificate: bool) -> tv.Verdict:
        model = bench.subjects.model(name)
        return tv.check_equivalence(model, other(), timeout=bench.limit, certificate=certificate)

    return Kind(
        {
            "machine": name,
            "question": "equivalence",
            "scope": "team",
            "epsilon": None,
            "against": f"a copy, {what}",
            "engine": "auto",
        },
        [0],
        ask,
        lambda: [bench.subjects.model(name), other()],
        lambda row: {"question": "equivalence", "scope": "team", "epsilon": None, "inputs": 1},
    )


SAT_NOTE = (
    "With recording, sat goes another way than without (only steps that the checker can follow, and one kind "
    "of counter): the ratio compares the two ways, and is not what writing costs."
)
PLANS = (
    Plan("robustness-mnist", "Robustness: MNIST", robustness_mnist),
    Plan("radius-mnist", "Exact radius: MNIST, team scope", radius_mnist),
    Plan("imdb", "Robustness and exact radius: IMDB", imdb),
    Plan("equivalence", "Equivalence, on every input, with a rewritten copy", equivalence),
    Plan("sat-mnist", "Robustness by SAT alone: MNIST", sat_mnist, SAT_NOTE),
)


# ---------------------------------------------------------------------------------------------- the report


def _fill(section: Section, groups: Sequence[Group], opening: Sequence[str]) -> None:
    section.rows = [_cells(group) for group in groups]
    every = [one for group in groups for one in group.measured]
    section.findings = [*opening, *_findings(section, groups, every)] if every else [*opening]
    missing = [f"{_name(g)} ({g.wanted - len(g.measured)})" for g in groups if len(g.measured) < g.wanted]
    if missing:
        section.findings.append(f"Not reached (inputs that are missing): {'; '.join(missing)}.")


def _name(group: Group) -> str:
    of = group.of
    words = [of["question"], of["against"] or of["scope"]]
    return ", ".join([*words, f"eps {of['epsilon']}"] if of["epsilon"] is not None else words)


def _values(measured: Sequence[Measured], what: str) -> list[float]:
    return [value for one in measured if (value := getattr(one, what)) is not None]


def _compared(measured: Sequence[Measured]) -> list[Measured]:
    """The questions that were decided both ways."""
    return [one for one in measured if one.ratio is not None]


def _ratio_of_means(both: Sequence[Measured]) -> float:
    return sum(one.seconds_with for one in both) / sum(one.seconds_without for one in both)


def _decided(measured: Sequence[Measured]) -> int:
    return sum(is_solved(one.without) or is_solved(one.recorded) for one in measured)


def _cells(group: Group) -> list[str]:
    measured, both = group.measured, _compared(group.measured)
    n = str(len(measured)) if len(measured) == group.wanted else f"{len(measured)} of {group.wanted}"
    sizes, checks = _values(measured, "n_bytes"), _values(measured, "seconds_checking")
    alone = _values(measured, "seconds_process")
    accepted = sum(one.outcome == ACCEPTED for one in measured)
    return [
        group.of["machine"],
        _name(group),
        n,
        "-" if group.of["question"] == "radius" else str(sum(one.recorded == "holds" for one in measured)),
        f"{len(sizes)} of {_decided(measured)}",
        str(accepted),
        ms(float(np.mean([one.seconds_without for one in both]))) if both else "-",
        ms(float(np.mean([one.seconds_with for one in both]))) if both else "-",
        f"{_ratio_of_means(both):.2f}" if both else "-",
        f"{np.median(_values(both, 'ratio')):.2f}" if both else "-",
        f"{np.median(sizes):,.0f}" if sizes else "-",
        f"{max(sizes):,.0f}" if sizes else "-",
        ms(float(np.median(checks))) if checks else "-",
        ms(max(checks)) if checks else "-",
        f"{ms(float(np.median(alone)))} ({len(alone)})" if alone else "-",
    ]


def _findings(section: Section, groups: Sequence[Group], every: Sequence[Measured]) -> list[str]:
    """The whole section against what was wanted."""
    decided, sizes = _decided(every), _values(every, "n_bytes")
    accepted = sum(one.outcome == ACCEPTED for one in every)
    said = [
        f"Decided: {decided} of {len(every)} questions. "
        f"Certified: {len(sizes)} of {decided} verdicts{_percent(len(sizes), decided)}. "
        f"Accepted by the checker: {accepted} of {len(sizes)}{_percent(accepted, len(sizes))}."
    ]
    if lost := sum(is_solved(one.without) and not is_solved(one.recorded) for one in every):
        said.append(f"{lost} decided without recording, but not with; they are in no ratio.")
    if both := _compared(every):
        ratio, median = _ratio_of_means(both), float(np.median(_values(both, "ratio")))
        rows = [
            (_ratio_of_means(b), f"{g.of['machine']}, {_name(g)}")
            for g in groups
            if (b := _compared(g.measured))
        ]
        section.ratios |= {"with over without, of means": ratio, "with over without, median": median}
        said.append(
            f"Recording: ratio of means {at_most(ratio, WANTED_RATIO, 'times')}, median of ratios "
            f"{at_most(median, WANTED_RATIO, 'times')}, over {len(both)} questions that were decided both "
            f"ways; ratio of means in a row at most {max(rows)[0]:.3g} ({max(rows)[1]})."
        )
        said += _same_work(both)
    if sizes:
        checks, saving = _values(every, "seconds_checking"), _values(every, "seconds_saving")
        said += [
            f"Size: median {np.median(sizes):,.0f} bytes, largest {max(sizes):,.0f}. Saving is not counted "
            f"as recording: median {ms(float(np.median(saving)))} ms, largest {ms(max(saving))} ms.",
            _checking(section, checks),
        ]
    if alone := _values(every, "seconds_process"):
        said.append(
            f"As a process of its own, start-up included: median {np.median(alone):.2f} s, largest "
            f"{max(alone):.2f} s, of {len(alone)}."
        )
    n_clausal = sum(n > 0 for n in _values(every, "n_clausal"))
    if n_clausal or any(group.of["engine"] == "sat" for group in groups):
        said.append(f"Certificates that hold clausal proofs (LRAT): {n_clausal} of {len(sizes)}.")
    if _digest() != CHECKER_READ:
        said.append(f"**{CHECKER.name} changed during the run**: processes ran another than was timed here.")
    return said + _unwanted(groups) + [f"Load when this was written: {os.getloadavg()[0]:.2f}."]


def _same_work(both: Sequence[Measured]) -> list[str]:
    """How often the search was the same; where it was not, a ratio is not the cost of writing alone."""
    searched = [one for one in both if one.same_work is not None]
    same = [one for one in searched if one.same_work]
    if not searched:
        return []
    alike = f", ratio of means {_ratio_of_means(same):.3g}" if same else ""
    other = [one for one in searched if not one.same_work]
    others = (
        f"; on {len(other)} recording led to another search, {_ratio_of_means(other):.3g}" if other else ""
    )
    return [
        f"As many nodes and steps with recording as without: {len(same)} of {len(searched)}{alike}{others}."
    ]


def _checking(section: Section, checks: Sequence[float]) -> str:
    median = float(np.median(checks))
    section.ratios |= {"median check in s": median, "largest check in s": max(checks)}
    verdict = "reached" if median < WANTED_CHECK else "missed"
    return (
        f"Checking in plain Python, reading the model included: median {median:.3f} s (wanted: under "
        f"{WANTED_CHECK:g} s, {verdict}), largest {max(checks):.2f} s; "
        f"{sum(t >= WANTED_CHECK for t in checks)} of {len(checks)} took {WANTED_CHECK:g} s or more."
    )


def _percent(n: int, of: int) -> str:
    if not of:
        return ""
    return f", {100 * n / of:.2f} % (wanted: 100 %, {'reached' if n == of else 'missed'})"


def _unwanted(groups: Sequence[Group]) -> list[str]:
    """What has no accepted certificate, each with the reason."""
    found = [
        f"{_name(group)}, test row {one.row}: {one.outcome}"
        for group in groups
        for one in group.measured
        if one.outcome != ACCEPTED
    ]
    more = f"; and {len(found) - N_LISTED} more" if len(found) > N_LISTED else ""
    return [f"No accepted certificate: {'; '.join(found[:N_LISTED])}{more}."] if found else []
