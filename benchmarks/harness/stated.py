"""Properties of machines trained on tables: fairness over every category, monotonicity over every number.

*Everywhere*: over all possible inputs, each question by itself. A machine that was not trained to be fair is
not, and a counterexample is found at once; so the third kind of question asks for a proof: the *leverage* of
a column, the most votes that a change of this column alone can move, as the least k that is proved. Each k
that is tried on the way is a question.

*Around rows*: fairness at each test row, one protected column free.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

import tmverify as tv
from harness.against_usual import TEST_SIZE, VERSIONS, tables
from harness.asking import at_most
from harness.report import Section

TABLES = ("German credit, 20 columns", "credit data", "credit card")
SEED = 0
WANTED_MS = 5.0


@dataclass(frozen=True)
class Settings:
    data_dir: Path | None
    clauses: tuple[int, ...]
    rows: int
    limit: float  # seconds a question


@dataclass(frozen=True)
class Subject:
    table: str
    model: tv.Model
    test: np.ndarray


def subjects(settings: Settings, n_clauses: int) -> Iterator[Subject]:
    """A machine of so many clauses for each table, and its test rows."""
    for name, (X, y) in tables(settings.data_dir):
        if name not in TABLES:
            continue
        train, test = train_test_split(np.arange(len(y)), test_size=TEST_SIZE, random_state=SEED, stratify=y)
        gaps_in = [str(column) for column in X if X[column].isna().any()]
        trained = tv.TsetlinMachineClassifier(
            n_clauses=n_clauses,
            random_state=SEED,
            binarize=tv.TableBinarizer(missing=gaps_in) if gaps_in else "auto",
        ).fit(X.iloc[train], y[train])
        model = trained.model_
        yield Subject(name, model, model.space.encode(X.iloc[test[: settings.rows]]))


@dataclass
class Count:
    """The answers to one kind of question."""

    holds: int = 0
    violated: int = 0
    unknown: int = 0
    impossible: int = 0  # witnesses that no row can be

    def __post_init__(self) -> None:
        self.seconds: list[float] = []

    def ask(self, model: tv.Model, question: Callable[[], tv.Verdict]) -> tv.Verdict:
        start = time.perf_counter()
        verdict = question()
        self.seconds.append(float(f"{time.perf_counter() - start:.4g}"))
        setattr(self, verdict.status.value, getattr(self, verdict.status.value) + 1)
        for z in verdict.pair or ():
            self.impossible += not model.space.possible(z[None, :])[0]
        return verdict

    def cells(self) -> list[str]:
        n = len(self.seconds)
        if not n:
            return ["0", *["-"] * 5]
        return [
            *(str(n), str(self.holds), str(self.violated), str(self.unknown)),
            *(f"{1000 * statistics.median(self.seconds):.1f}", f"{max(self.seconds):.2f}"),
        ]


def measure_everywhere(settings: Settings) -> Iterator[Section]:
    """Each column of each table, over all possible inputs."""
    section = Section(
        "Every possible input",
        {
            "limit": f"{settings.limit:g} s a question",
            "fairness": "over each category and flag",
            "monotonicity": "over each number, toward the second class",
            "leverage": "of each column: the least k for which it is proved that no change of this column "
            f"alone moves the lead by more than k votes, with {settings.clauses[0]} clauses; questions on "
            "the way are counted",
        },
        (
            *("table", "clauses", "question", "asked", "holds", "violated", "unknown"),
            *("ms, median", "s, most"),
        ),
        versions=VERSIONS,
    )
    first = settings.clauses[0]
    unknown = impossible = 0
    for n_clauses in settings.clauses:
        for subject in subjects(settings, n_clauses):
            # With more clauses, a leverage is a matter of minutes.
            names = ("fairness", "monotonicity", *(("leverage",) if n_clauses == first else ()))
            counts = {name: Count() for name in names}
            start = len(section.rows)
            for column in subject.model.space.columns:
                _ask_column(subject.model, column.name, column.kind, settings.limit, counts)
                section.rows[start:] = [
                    [subject.table, str(n_clauses), name, *count.cells()] for name, count in counts.items()
                ]
                yield section
            section.raw += [
                {"table": subject.table, "clauses": n_clauses, "question": name, **vars(count)}
                for name, count in counts.items()
            ]
            impossible += sum(count.impossible for count in counts.values())
            if n_clauses == first:
                unknown += counts["fairness"].unknown + counts["monotonicity"].unknown
    section.findings = [
        f"Fairness and monotonicity with {first} clauses: {unknown} undecided within {settings.limit:g} s "
        f"(wanted: none, {'missed' if unknown else 'reached'}).",
        f"Witnesses that no row can be: {impossible}.",
    ]
    section.complete = True
    yield section


def _ask_column(model: tv.Model, name: str, kind: str, limit: float, counts: dict[str, Count]) -> None:
    if kind == "number":
        ask = counts["monotonicity"].ask
        ask(model, lambda: tv.check_monotonicity(model, name, model.classes[1], timeout=limit))
    else:
        counts["fairness"].ask(model, lambda: tv.check_fairness(model, [name], timeout=limit))
    if "leverage" not in counts:
        return
    first, second = (tv.votes(label, "a") - tv.votes(label, "b") for label in model.classes)
    moved = second - first
    low, high = 0, int(np.abs(model.weights).sum())
    while low < high:
        k = (low + high) // 2
        pair = tv.Pair([name])
        verdict = counts["leverage"].ask(model, partial(tv.prove, model, pair, moved <= k, timeout=limit))
        if verdict.status is tv.Status.UNKNOWN:
            return
        low, high = (low, k) if verdict.status is tv.Status.HOLDS else (k + 1, high)


def measure_rows(settings: Settings) -> Iterator[Section]:
    """Fairness at each test row, over each category by itself."""
    section = Section(
        "Around each test row, one protected column free",
        {"rows": f"of the test part, at most {settings.rows}", "limit": f"{settings.limit:g} s a question"},
        ("table", "clauses", "rows", "columns", "asked", "fair", "not", "unknown", "ms, median", "s, most"),
        versions=VERSIONS,
    )
    everything: list[float] = []
    unknown = 0
    for n_clauses in settings.clauses:
        for subject in subjects(settings, n_clauses):
            model = subject.model
            protected = [column.name for column in model.space.columns if column.kind != "number"]
            count = Count()
            tv.check_fairness(model, protected[:1], x=subject.test[0])  # compiles
            for name in protected:
                for x in subject.test:
                    count.ask(model, partial(tv.check_fairness, model, [name], x=x, timeout=settings.limit))
            section.rows.append(
                [subject.table, str(n_clauses), str(len(subject.test)), str(len(protected)), *count.cells()]
            )
            section.raw.append({"table": subject.table, "clauses": n_clauses, **vars(count)})
            everything += count.seconds
            unknown += count.unknown
            yield section
    median = 1000 * statistics.median(everything)
    section.ratios = {"median in ms": median}
    section.findings = [
        f"{unknown} of {len(everything)} questions undecided (wanted: none).",
        f"Median {at_most(median, WANTED_MS, 'ms')}.",
    ]
    section.complete = True
    yield section
