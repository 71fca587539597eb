"""Copies of a model: rewritten without changing any decision, or changed in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tmverify as tv

Rng = np.random.Generator
Copy = Callable[[tv.Model, Rng], tv.Model]


def remade(model: tv.Model, clauses: Any, weights: Any, **options: Any) -> tv.Model:
    """The model with other clauses."""
    same = {"bias": model.bias, "tie": model.tie, "clamp": model.clamp, "empty_clause": model.empty_clause}
    return tv.Model.from_clauses(model.n_features, clauses, weights, **{**same, **options})


def reordered(model: tv.Model, rng: Rng) -> tv.Model:
    order = rng.permutation(model.n_clauses)
    return remade(model, [model.clauses[int(j)] for j in order], model.weights[:, order])


def without_duplicates(model: tv.Model, rng: Rng) -> tv.Model:
    votes: dict[tuple[int, ...], Any] = {}
    for clause, weights in zip(model.clauses, model.weights.T, strict=True):
        votes[clause] = votes.get(clause, 0) + weights
    return remade(model, list(votes), np.array([*votes.values()], int).reshape(-1, model.n_outputs).T)


def repeated(model: tv.Model, rng: Rng) -> tv.Model:
    """Every clause twice, with its weight divided between the two."""
    some = rng.integers(-2, 3, size=model.weights.shape)
    return remade(model, [*model.clauses, *model.clauses], np.hstack([some, model.weights - some]))


def halved(model: tv.Model, rng: Rng) -> tv.Model:
    """Some clauses c, perhaps repeatedly, split into (c and x) + (c and not x)."""
    clauses, votes = [list(clause) for clause in model.clauses], [*model.weights.T]
    silent = model.empty_clause == "silent"
    for _ in range(max(2, len(clauses) // 5)):
        j, feature = int(rng.integers(len(clauses) or 1)), int(rng.integers(model.n_features)) + 1
        if j < len(clauses) and {feature, -feature}.isdisjoint(clauses[j]) and (clauses[j] or not silent):
            clauses.append([*clauses[j], -feature])
            votes.append(votes[j])
            clauses[j] = [*clauses[j], feature]
    return remade(model, clauses, np.array(votes, int).reshape(-1, model.n_outputs).T)


def padded(model: tv.Model, rng: Rng) -> tv.Model:
    """With clauses that have no effect: contradictory, of weight 0, or in pairs for and against."""
    clauses, votes = [*model.clauses], [*model.weights.T]
    for _ in range(5):
        size = int(rng.integers(1, min(model.n_features, 8) + 1))
        clause = (rng.permutation(model.n_features)[:size] + 1) * rng.choice([-1, 1], size)
        vote = rng.integers(-3, 4, size=model.n_outputs)
        clauses += [(*clause, -clause[0]), tuple(clause), tuple(clause), tuple(clause)]
        votes += [vote, 0 * vote, vote, -vote]
    return remade(model, clauses, np.array(votes).T)


def scaled(model: tv.Model, rng: Rng) -> tv.Model:
    k = int(rng.integers(2, 9))
    clamp = None if model.clamp is None else k * model.clamp
    return remade(model, model.clauses, k * model.weights, bias=k * model.bias, clamp=clamp)


def with_constant_clause(model: tv.Model, rng: Rng) -> tv.Model:
    """All constant votes, but for a random bias, moved into a clause that always fires."""
    proper = np.flatnonzero(model.clauses.lengths)
    always = model.bias.copy()
    if model.empty_clause == "fires":
        always += model.weights[:, model.clauses.lengths == 0].sum(axis=1)
    more = rng.integers(-9, 10, size=model.n_outputs)
    clauses = [*(model.clauses[int(j)] for j in proper), []]
    weights = np.hstack([model.weights[:, proper], (always - more)[:, None]])
    return remade(model, clauses, weights, bias=more, empty_clause="fires")


def with_common_votes(model: tv.Model, rng: Rng) -> tv.Model:
    """The same votes added for every class, which do not change an argmax, unless there is a clamp."""
    if model.n_outputs == 1 or model.clamp is not None:
        return model
    clause = (rng.permutation(model.n_features)[:2] + 1).tolist()
    column = np.full((model.n_outputs, 1), int(rng.integers(1, 9)))
    return remade(model, [*model.clauses, clause], np.hstack([model.weights, column]))


def in_two_rows(model: tv.Model, rng: Rng) -> tv.Model:
    """A binary machine rewritten as an argmax, in which class 0 wins a tie."""
    if model.n_outputs != 1:
        return model
    rows = np.concatenate([-model.weights, model.weights])
    bias = [-int(model.bias[0]), int(model.bias[0]) + (model.tie == "positive")]
    return remade(model, model.clauses, rows, bias=bias, clamp=None)


REWRITINGS: tuple[Copy, ...] = (
    reordered,
    without_duplicates,
    repeated,
    halved,
    padded,
    scaled,
    with_constant_clause,
    with_common_votes,
    in_two_rows,
)


def _edited(model: tv.Model, rng: Rng, edit: Callable[[list[int], int, int], None]) -> tv.Model:
    """One clause changed by ``edit(clause, place, new literal)``, if there is one to change."""
    free = model.clauses.lengths < model.n_features
    eligible = np.flatnonzero((model.clauses.lengths > 0) & free & ~model.clauses.contradictory)
    if not len(eligible):
        return model
    j = int(rng.choice(eligible))
    clause = [*model.clauses[j]]
    other = np.setdiff1d(np.arange(1, model.n_features + 1), np.abs(clause))
    edit(clause, int(rng.integers(len(clause))), int(rng.choice(other) * rng.choice([-1, 1])))
    return remade(model, [*model.clauses[:j], clause, *model.clauses[j + 1 :]], model.weights)


def with_literal_dropped(model: tv.Model, rng: Rng) -> tv.Model:
    return _edited(model, rng, lambda clause, place, new: clause.__delitem__(place))


def with_literal_added(model: tv.Model, rng: Rng) -> tv.Model:
    return _edited(model, rng, lambda clause, place, new: clause.append(new))


def with_literal_negated(model: tv.Model, rng: Rng) -> tv.Model:
    return _edited(model, rng, lambda clause, place, new: clause.__setitem__(place, -clause[place]))


def with_literal_swapped(model: tv.Model, rng: Rng) -> tv.Model:
    return _edited(model, rng, lambda clause, place, new: clause.__setitem__(place, new))


def with_weight_changed(model: tv.Model, rng: Rng) -> tv.Model:
    weights = model.weights.copy()
    if weights.size:
        weights[rng.integers(len(weights)), rng.integers(weights.shape[1])] += int(rng.choice([-1, 1]))
    return remade(model, model.clauses, weights)


def with_other_tie(model: tv.Model, rng: Rng) -> tv.Model:
    tie = "negative" if model.tie == "positive" else "positive"
    return remade(model, model.clauses, model.weights, tie=tie)


CHANGES: tuple[Copy, ...] = (
    with_literal_dropped,
    with_literal_added,
    with_literal_negated,
    with_literal_swapped,
    with_weight_changed,
    with_other_tie,
)


def random_large_model(
    rng: Rng, n_features: int, n_clauses: int, n_literals: int, outputs: int = 1
) -> tv.Model:
    """Random clauses of about ``n_literals``, some of them twice, with small weights."""
    clauses = []
    for _ in range(n_clauses):
        size = int(rng.integers(n_literals // 2, 3 * n_literals // 2))
        chosen = rng.choice(n_features, size, replace=False) + 1
        clauses.append((chosen * rng.choice([-1, -1, -1, 1], size)).tolist())
    clauses[::10] = clauses[1::10]
    return tv.Model.from_clauses(n_features, clauses, rng.integers(-3, 4, size=(outputs, n_clauses)))
