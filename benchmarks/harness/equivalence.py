"""Equivalence, over all inputs: two machines, a machine and its copy, rewritten or with one literal changed.

A rewritten copy must be proved equivalent. A changed literal may or may not matter: either way it is to be
decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import tmverify as tv
from harness.asking import start_solver
from harness.proving import Proving
from harness.report import Section

COLUMNS = ("machine", "against", "wanted", "found", "engine", "seconds")
N_CHANGED = 10
Copy = Callable[[tv.Model, np.random.Generator], tv.Model]


def measure(bench: Proving) -> Iterator[Section]:
    """The section as it grows, one question at a time."""
    names = ("imdb-s2-a", "imdb-s2-b", "imdb-s20", "mnist-500")
    settings = {
        "machines": bench.named(*names),
        "scope": "team",
        "limit in seconds": bench.limit,
        "cores": 1,
    }
    sheet = bench.begin("equivalence", "Equivalence", settings, COLUMNS)
    section = sheet.section
    yield section
    a, b = (bench.subjects.model(name) for name in names[:2])
    x = np.zeros(a.n_features, np.uint8)
    sheet.first_use([partial(tv.check_similarity, a, b, x, 3, timeout=10.0), start_solver])
    n_changed = bench.few(N_CHANGED, 2)
    rng = np.random.default_rng(bench.subjects.seed)
    done = as_wanted = 0
    for number, (name, against, wanted, other) in enumerate(_questions(bench, names, n_changed, rng)):
        group = sheet.answers(bench.limit, model=name, against=against, engine="auto")
        engines: list[str] = []
        answer = sheet.ask(
            group, number, partial(_ask, bench.subjects.model(name), other, bench.limit, engines)
        )
        done += 1
        as_wanted += answer in wanted
        engine = engines[0] if engines else "-"
        section.rows.append([name, against, " or ".join(wanted), answer, engine, f"{group.seconds[0]:.3f}"])
        sheet.row_done()
        yield section
    verdict = "reached" if as_wanted == done else "missed"
    section.findings.append(f"As wanted: {as_wanted} of {done} ({verdict}).")
    section.complete = True
    yield section


def _ask(a: tv.Model, b: tv.Model, limit: float, engines: list[str]) -> tv.Verdict:
    verdict = tv.check_equivalence(a, b, timeout=limit)
    engines.append(verdict.engine)
    return verdict


def _questions(
    bench: Proving, names: tuple[str, ...], n_changed: int, rng: np.random.Generator
) -> Iterator[tuple[str, str, tuple[str, ...], tv.Model]]:
    """Machine, against what, the answers wanted, the other machine."""
    machine = bench.subjects.model
    for a, b in (("imdb-s2-a", "imdb-s2-b"), ("imdb-s20", "imdb-s2-a")):
        yield a, b, ("violated",), machine(b)
    for name in names:
        for what, copy in REWRITTEN.items():
            yield name, what, ("holds",), copy(machine(name), rng)
    for name in names:
        for i in range(n_changed):
            yield (
                name,
                f"one literal changed, copy {i + 1}",
                ("violated", "holds"),
                changed(machine(name), rng),
            )


def shuffled(model: tv.Model, rng: np.random.Generator) -> tv.Model:
    """The clauses in another order."""
    order = rng.permutation(model.n_clauses)
    return rebuilt(model, [model.clauses[int(j)] for j in order], model.weights[:, order])


def merged(model: tv.Model, rng: np.random.Generator) -> tv.Model:
    """Equal clauses made one, with the sum of their votes; the order shuffled as well."""
    where: dict[tuple[int, ...], int] = {}
    places = [where.setdefault(tuple(clause), len(where)) for clause in model.clauses]
    weights = np.zeros((model.n_outputs, len(where)), np.int64)
    for j, place in enumerate(places):
        weights[:, place] += model.weights[:, j]
    return shuffled(rebuilt(model, list(where), weights), rng)


def padded(model: tv.Model, rng: np.random.Generator) -> tv.Model:
    """Some of the clauses twice more, once for and once against; the order shuffled as well."""
    some = rng.choice(model.n_clauses, model.n_clauses // 10, replace=False)
    again = [model.clauses[int(j)] for j in some]
    votes = model.weights[:, some]
    weights = np.concatenate([model.weights, votes, -votes], axis=1)
    return shuffled(rebuilt(model, [*model.clauses, *again, *again], weights), rng)


def changed(model: tv.Model, rng: np.random.Generator) -> tv.Model:
    """One literal of one clause negated; the order shuffled as well."""
    clauses = [list(clause) for clause in model.clauses]
    j = int(rng.choice([j for j, clause in enumerate(clauses) if clause]))
    k = int(rng.integers(len(clauses[j])))
    clauses[j][k] *= -1
    return shuffled(rebuilt(model, clauses, model.weights), rng)


REWRITTEN: dict[str, Copy] = {
    "a copy, shuffled": shuffled,
    "a copy, equal clauses merged": merged,
    "a copy, votes added that cancel": padded,
}


def rebuilt(model: tv.Model, clauses: list[list[int]] | list[tuple[int, ...]], weights: object) -> tv.Model:
    """Other clauses and votes, everything else as in ``model``."""
    return tv.Model.from_clauses(
        model.n_features,
        clauses,
        np.asarray(weights),
        bias=model.bias,
        tie=model.tie,
        clamp=model.clamp,
        empty_clause=model.empty_clause,
        classes=model.classes,
        feature_names=model.feature_names,
    )
