"""What would have to change for another decision: our nearest changes, and the tools that people use.

All are asked about the same test rows of the same tables. DiCE and NICE take any model, and are asked about
the very machine that ours is asked about; DiCE also about gradient boosting (HistGradientBoosting, defaults),
and treecf, which takes trees only, about that.

Every answer is judged here, by the model itself and not by the tool: *valid* if the decision is another one,
*possible* if the table could have the row (categories that occur; numbers within the range of the data, whole
where the column is, up to rounding to single precision; for ours, bits that some row has). *Proved* is what
the tool claims of an answer: that nothing nearer exists, in its own distance.

DiCE rounds its numbers, by default to the decimals of the most frequent value of a column, and what it has
found may be lost by that; so it is also asked with the decimals of the data told.

Rows with missing values are not asked, and gradient boosting is trained without them: DiCE refuses them.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from recourse_table import BOOSTING, CATEGORY, NUMBER, OURS, WHOLE, Subject, Table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import tmverify as tv
from harness.against_usual import TEST_SIZE, VERSIONS, tables
from harness.processes import Contender, start
from harness.report import Section
from tmverify import TableBinarizer, TsetlinMachineClassifier

SEED = 0
ROUNDING = 1e-6  # of a column's range: DiCE keeps numbers in single precision
COLUMNS = (
    *("table", "tool", "model", "rows asked", "answered", "answers", "valid", "possible", "proved optimal"),
    *("columns changed", "fewest", "s a row, median", "most"),
)
ALL = "all tables"
Answers = list[tuple[Any, bool, int]]
"""Bits, whether it is proved that nothing nearer exists, and how many columns changed."""


class Rival(NamedTuple):
    contender: Contender
    subject: str
    two_classes: bool = False


def _dice(method: str, subject: str, decimals: bool) -> Rival:
    name = f"DiCE, {method}" + ", decimals told" * decimals
    return Rival(
        Contender(name, "recourse_dice.py", "dice", {"method": method, "decimals": decimals}), subject
    )


RIVALS = (
    *(_dice(method, OURS, decimals) for method in ("random", "genetic") for decimals in (False, True)),
    Rival(Contender("NICE", "recourse_nice.py", "nice"), OURS),
    _dice("genetic", BOOSTING, True),
    Rival(Contender("treecf, one", "recourse_treecf.py", "treecf", {"several": False}), BOOSTING, True),
    Rival(Contender("treecf, several", "recourse_treecf.py", "treecf", {"several": True}), BOOSTING, True),
)


@dataclass(frozen=True)
class Settings:
    data_dir: Path | None
    peers_dir: Path
    work_dir: Path  # tables and models for the runners
    k: int
    rows: int
    rival_rows: int
    limit: float  # seconds a row
    total: float  # seconds for a tool on a table
    tables: tuple[str, ...] = ()  # all, if none is named


@dataclass
class Tally:
    """What a tool did on the rows of a table, or of all.

    ``changed`` has the number of changed columns of each answer, ``fewest`` the least one of each row.
    """

    asked: int = 0
    answered: int = 0
    valid: int = 0
    possible: int = 0
    proved: int = 0
    changed: list[int] = field(default_factory=list)
    fewest: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)

    def add(self, seconds: float, judged: list[Judged], problem: str | None = None) -> None:
        """Count one row."""
        self.asked += 1
        self.answered += bool(judged)
        self.seconds.append(seconds)
        for answer in judged:
            self.valid += answer.valid
            self.possible += answer.possible
            self.proved += answer.proved
            self.changed.append(answer.changed)
        if judged:
            self.fewest.append(min(answer.changed for answer in judged))
        else:
            self.problems[problem or "none found"] += 1

    def include(self, other: Tally) -> None:
        for name in ("asked", "answered", "valid", "possible", "proved"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.changed += other.changed
        self.fewest += other.fewest
        self.seconds += other.seconds
        if other.asked:  # a table that was not asked about has no rows to count
            self.problems += other.problems

    def raw(self) -> dict[str, Any]:
        return {**vars(self), "problems": dict(self.problems)}

    def cells(self) -> list[str]:
        if not self.asked:
            problem = ", ".join(self.problems) or "-"
            return ["0", problem, *["-"] * 8]
        n = len(self.changed)
        return [
            *(str(self.asked), _share(self.answered, self.asked), str(n)),
            *(_share(count, n) for count in (self.valid, self.possible, self.proved)),
            *(f"{statistics.mean(values):.2f}" if n else "-" for values in (self.changed, self.fewest)),
            *(_seconds(value) for value in (statistics.median(self.seconds), max(self.seconds))),
        ]


class Judged(NamedTuple):
    """An answer as it turned out."""

    valid: bool
    possible: bool
    proved: bool
    changed: int


@dataclass(frozen=True)
class Case:
    """A table, the machine and the trees trained on it, and the files in which runners find them.

    ``test`` has all test rows as bits, those with missing values too.
    """

    name: str
    table: Table
    model: tv.Model
    paths: dict[str, str]
    test: Any


def measure(settings: Settings) -> Iterator[Section]:
    """A line for each table and tool, then one for each tool over all tables."""
    section = Section(
        "Nearest changes, side by side",
        {
            "test part": f"{TEST_SIZE:.0%}, seed {SEED}, rows without missing values",
            "rows of a table": f"at most {settings.rows} for ours, the first {settings.rival_rows} of these "
            f"for the others, as far as they come in {settings.total:g} s",
            "changes wanted": f"{settings.k} a row; NICE and `treecf, one` give one",
            "limit": f"{settings.limit:g} s a row",
            "shares": "answered of rows, the others of answers",
            "columns changed": "mean over the answers; fewest: of each row's answers, mean over the rows",
        },
        COLUMNS,
        versions=dict(VERSIONS),
    )
    overall: dict[tuple[str, str], Tally] = {}
    for case in cases(settings.data_dir, settings.work_dir, settings.tables, settings.rows):
        for who, tally in _tallies(case, settings, section):
            overall.setdefault(who, Tally()).include(tally)
            section.rows.append([case.name, *who, *tally.cells()])
            section.raw.append({"table": case.name, "tool": who[0], "model": who[1], **tally.raw()})
            yield section
    section.rows += [[ALL, *who, *tally.cells()] for who, tally in overall.items()]
    section.findings = [
        f"{tool} on {model}, rows without an answer: {_said(tally.problems)}."
        for (tool, model), tally in overall.items()
        if tally.problems
    ]
    section.complete = True
    yield section


def _tallies(case: Case, settings: Settings, section: Section) -> Iterator[tuple[tuple[str, str], Tally]]:
    yield ("tmverify, radius", OURS), _ask_ours(case, settings, _nearest)
    yield ("tmverify, changes", OURS), _ask_ours(case, settings, _changes)
    for rival in RIVALS:
        who = (rival.contender.name, rival.subject)
        if rival.two_classes and len(set(case.table.labels)) > 2:
            yield who, Tally(problems=Counter(["takes two classes only"]))
        else:
            yield who, _ask_rival(rival, case, settings, section)


def _ask_ours(case: Case, settings: Settings, ask: Callable[[tv.Model, Any, Settings], Answers]) -> Tally:
    tally = Tally()
    rows = case.model.space.encode(case.table.frame([case.table.rows[i] for i in case.table.ask]))
    labels = case.model.predict(rows)
    ask(case.model, rows[0], settings)  # compiles
    for bits, label in zip(rows, labels, strict=True):
        started = time.perf_counter()
        found = ask(case.model, bits, settings)
        seconds = time.perf_counter() - started
        tally.add(seconds, [_judged_bits(case.model, label, *answer) for answer in found])
    return tally


def _nearest(model: tv.Model, bits: Any, settings: Settings) -> Answers:
    """The nearest change alone."""
    radius = tv.robustness_radius(model, bits, timeout=settings.limit)
    return [] if radius.witness is None else [(radius.witness, radius.exact, len(radius.changes))]


def _changes(model: tv.Model, bits: Any, settings: Settings) -> Answers:
    found = tv.nearest_changes(model, bits, settings.k, timeout=settings.limit)
    return [(change.witness, change.optimal, len(change.columns)) for change in found]


def _judged_bits(model: tv.Model, label: Any, bits: Any, proved: bool, n_changed: int) -> Judged:
    row = np.asarray(bits, np.uint8)[None, :]
    possible = bool(model.space.possible(row)[0])
    return Judged(bool(model.predict(row)[0] != label), possible, proved, n_changed)


def _ask_rival(rival: Rival, case: Case, settings: Settings, section: Section) -> Tally:
    job = {
        "table": case.paths["table"],
        "model": case.paths[rival.subject],
        "subject": rival.subject,
        "k": settings.k,
        "limit": settings.limit,
        "rows": settings.rival_rows,
        "total": settings.total,
        "seed": SEED,
    }
    spare = 60.0  # for starting, and for calls that do not end in time
    limit = settings.total + settings.limit + spare
    run = start(rival.contender, job, environments=settings.peers_dir, limit=limit)
    section.versions |= {
        name: number for name, number in run.versions.items() if name not in ("numpy", "pandas")
    }
    subject = Subject(rival.subject, case.paths[rival.subject], case.table)
    tally = Tally()
    for event in run.of("answers"):
        pairs = zip(event["answers"], event["proved"], strict=True)
        judged = [_judged_row(subject, event["row"], values, proved) for values, proved in pairs]
        tally.add(event["seconds"], judged, event["problem"])
    if run.problem:
        tally.problems[run.problem] += 1
    return tally


def _judged_row(subject: Subject, row: int, values: list[Any], proved: bool) -> Judged:
    table = subject.table
    given = table.rows[row]
    pairs = zip(table.kinds, table.values, values, strict=True)
    possible = all(_can_have(kind, known, value) for kind, known, value in pairs)
    try:
        before, after = subject.predict(table.frame([given]))[0], subject.predict(table.frame([values]))[0]
        valid = bool(before != after)
    except tv.TmVerifyError:  # values that the model can't read
        valid = False
    each = zip(table.kinds, table.values, given, values, strict=True)
    return Judged(valid, possible, proved, sum(_differ(*column) for column in each))


def _can_have(kind: str, known: list[Any], value: Any) -> bool:
    if kind == CATEGORY:
        return value in known
    least, most = known
    slack = ROUNDING * (most - least)
    return least - slack <= value <= most + slack and (kind == NUMBER or value % 1 == 0)


def _differ(kind: str, known: list[Any], before: Any, after: Any) -> bool:
    if kind == CATEGORY:
        return bool(before != after)
    return not abs(after - before) <= ROUNDING * (known[1] - known[0])


def cases(data_dir: Path | None, work_dir: Path, wanted: tuple[str, ...], rows: int) -> Iterator[Case]:
    """The tables whose names contain something that is wanted (all, if nothing is), with at most ``rows``."""
    for name, (X, y) in tables(data_dir):
        if wanted and not any(part in name for part in wanted):
            continue
        train, test = train_test_split(np.arange(len(y)), test_size=TEST_SIZE, random_state=SEED, stratify=y)
        gaps_in = [str(column) for column in X if X[column].isna().any()]
        ours = TsetlinMachineClassifier(
            random_state=SEED, binarize=TableBinarizer(missing=gaps_in) if gaps_in else "auto"
        ).fit(X.iloc[train], y[train])
        bits = ours.model_.space.encode(X.iloc[test[:rows]])
        yield _written(name, _table(X, y, train, test, rows), ours.model_, bits, work_dir)


def _table(X: pd.DataFrame, y: Any, train: Any, test: Any, n_asked: int) -> Table:
    complete = X.notna().all(axis=1).to_numpy()
    places = np.cumsum(complete) - 1  # of the complete rows among themselves
    own = X[complete]
    kinds = [_kind(own[column]) for column in own]
    values = [
        sorted(own[column].unique().tolist()) if kind == CATEGORY else [own[column].min(), own[column].max()]
        for column, kind in zip(own, kinds, strict=True)
    ]
    return Table(
        columns=[str(column) for column in own],
        kinds=kinds,
        values=[[v.item() if isinstance(v, np.generic) else v for v in known] for known in values],
        rows=[list(row) for row in zip(*(own[column].tolist() for column in own), strict=True)],
        labels=y[complete].tolist(),
        train=places[[i for i in train if complete[i]]].tolist(),
        ask=places[[i for i in test if complete[i]]][:n_asked].tolist(),
    )


def _kind(column: Any) -> str:
    if not pd.api.types.is_numeric_dtype(column):
        return CATEGORY
    return WHOLE if pd.api.types.is_integer_dtype(column) else NUMBER


def _written(name: str, table: Table, model: tv.Model, test: Any, folder: Path) -> Case:
    codes = table.codes(table.frame(table.rows))
    categories = table.of_kind(CATEGORY)
    boosting = HistGradientBoostingClassifier(categorical_features=categories or None, random_state=SEED)
    boosting.fit(codes[table.train], [table.labels[i] for i in table.train])
    folder.mkdir(parents=True, exist_ok=True)
    start_of = str(folder / name.replace(" ", "_").replace(",", ""))
    paths = {"table": f"{start_of}.json", OURS: f"{start_of}.tm", BOOSTING: f"{start_of}.joblib"}
    model.save(paths[OURS])
    joblib.dump(boosting, paths[BOOSTING])
    table.write(Path(paths["table"]))
    return Case(name, table, model, paths, test)


def _share(count: int, of: int) -> str:
    return f"{math.floor(1000 * count / of) / 10:g} %" if of else "-"  # never 100 % unless it is


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _said(problems: Counter[str]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in problems.most_common())
