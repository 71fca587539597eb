"""Which columns matter most to a class, by votes.

A clause that votes on a class asks for facts: a word is there, `city is Oslo`, a number is higher (it must
pass some cut); or for their opposite. The votes of a fact are the weights of the clauses that ask for it,
minus those of the clauses that ask for its opposite: positive if it speaks for the class, negative if it
speaks against it. Clauses that are true of no possible input are left out.

The opposite of a flag or of a number's direction is a fact too: `guarantor is no`, `income lower`. That of a
word, a pixel or a category (it is not there, off, another one) is not: it says little by itself.

This is a summary for reading, not an explanation of a decision: a clause votes only if all that it asks for
is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, shown
from tmverify.model.classifier import Label
from tmverify.model.machine import Model
from tmverify.space import Column
from tmverify.space.parts import Category, Number
from tmverify.space.phrases import Condition, conditions_of, quoted


class FeatureVotes(NamedTuple):
    """A fact about a column, in words, and its votes."""

    column: str
    condition: str
    votes: int


class TopFeatures(NamedTuple):
    """The facts that speak most for a class, and those that speak most against it."""

    supporting: tuple[FeatureVotes, ...]
    opposing: tuple[FeatureVotes, ...]


def top_features(model: Model, c: Label, n: int = 10) -> TopFeatures:
    """The ``n`` facts with the most votes for class ``c``, and the ``n`` with the most against it.

    Raises
    ------
    InvalidInputError
        If ``c`` is no class of the model, or ``n`` is negative.
    """
    if type(n) is not int or n < 0:
        raise InvalidInputError(f"n must be an integer >= 0. Got {shown(n)} instead.")
    index = model.class_index(c)
    row = model.weights[index] if model.n_outputs > 1 else model.weights[0] * (1 if index else -1)
    found = _of_flags(model, row, n) if model.space.only_flags else _of_conditions(model, row)
    ranked = sorted((fact for fact in found if fact.votes), key=lambda fact: -abs(fact.votes))
    supporting = [fact for fact in ranked if fact.votes > 0]
    opposing = [fact for fact in ranked if fact.votes < 0]
    return TopFeatures(tuple(supporting[:n]), tuple(opposing[:n]))


def _of_conditions(model: Model, row: NDArray[np.int64]) -> Iterator[FeatureVotes]:
    """The facts that clauses ask for, by what they leave to each column: literals that say nothing new, as
    "not Bergen" beside "Oslo", do not count."""
    total: dict[tuple[Column, str], int] = defaultdict(int)
    for j in np.flatnonzero(row):
        conditions = conditions_of(model.space, model.clauses[int(j)])
        if model.clauses.contradictory[j] or any(condition.is_impossible for condition in conditions):
            continue
        for condition in conditions:
            for said, sign in _asked(condition):
                total[condition.column, said] += sign * int(row[j])
    for (column, said), votes in total.items():
        yield FeatureVotes(column.name, said, votes)


def _asked(condition: Condition) -> Iterator[tuple[str, int]]:
    """The facts that a condition asks for (1), and those whose opposite it asks for (-1)."""
    column, allowed = condition.column, condition.allowed
    part, kept = column.part, [i for i, value in enumerate(allowed) if value]
    if isinstance(part, Number):
        inside = allowed[: len(part.cuts) + 1]
        name = quoted(column.name)
        if part.missing and (not any(inside) or all(inside)):
            yield f"{name} is missing", -1 if all(inside) else 1
        if any(inside):
            way = inside[-1] - inside[0]  # 1: some cut must be passed, -1: some must not, 0: both or none
            if way:
                yield f"{name} higher", way
                yield f"{name} lower", -way
    elif isinstance(part, Category):
        named = range(len(part.categories) + part.missing)  # all values but "unseen"
        places = [i + (part.other and i == len(part.categories)) for i in named]
        for i in places:
            if kept == [i] or (len(kept) > 1 and not allowed[i]):
                yield _value_text(column, i), 1 if allowed[i] else -1
    else:
        yield from _both(column, 1 if allowed[1] else -1)


def _both(column: Column, sign: int) -> Iterator[tuple[str, int]]:
    """A flag that is asked for, or its opposite; the opposite of a word or a pixel is no fact."""
    yield _value_text(column, 1), sign
    if column.kind == "flag":
        yield _value_text(column, 0), -sign


def _value_text(column: Column, place: int) -> str:
    return str(Condition(column, tuple(i == place for i in range(len(column.values)))))


def _of_flags(model: Model, row: NDArray[np.int64], n: int) -> Iterator[FeatureVotes]:
    """The same where each column is a bit, so that every literal counts: millions take a moment."""
    clauses, space = model.clauses, model.space
    voting = ~clauses.contradictory[clauses.owners]
    signed = np.where(clauses.literals[voting] > 0, 1, -1) * row[clauses.owners[voting]]
    net = np.zeros(model.n_features, np.int64)
    np.add.at(net, clauses.features[voting], signed)
    seen = {True: 0, False: 0}
    for bit in np.argsort(-np.abs(net), kind="stable").tolist():
        votes = int(net[bit])
        if not votes or min(seen.values()) >= n:
            return
        column = space.columns[space.column_of(bit)]
        for said, sign in _both(column, 1):
            seen[votes * sign > 0] += 1
            yield FeatureVotes(column.name, said, votes * sign)
