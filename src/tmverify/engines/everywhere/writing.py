"""Writing down a proof by structure, step by step, as a checker follows it.

A checker adds up the clauses of some constraints, equal ones as one, in order of their first appearance. So
does ``_Sum`` here, because steps name clauses by their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import gcd

from tmverify.engines.everywhere.normal import Clause, NormalForm
from tmverify.engines.everywhere.structure import Argument
from tmverify.engines.evidence import Draft, Evidence, packed_numbers
from tmverify.properties.query import Query

Votes = tuple[int, ...]


class Writer:
    """Writes the arguments about one question."""

    def __init__(self, query: Query, form: NormalForm, evidence: Evidence) -> None:
        self.query, self.form, self.evidence = query, form, evidence

    @cached_property
    def _clauses(self) -> list[Clause]:
        return list(self.query.clauses)

    def write(self, argument: Argument) -> None:
        """Write a refutation, if the subcubes that are left are refuted."""
        if argument.parts is None:
            return
        n = self.query.region.n_features
        chosen = argument.case if argument.parts else tuple(c for c, _ in argument.multipliers)
        if not argument.parts and self.evidence.covers(chosen, n) is not None:
            return
        cubes = [self.evidence.covers(argument.case, n, by_feature(part)) for part in argument.parts]
        needs = tuple(cube for cube in cubes if cube is not None)
        if len(needs) < len(cubes):
            return
        draft = self.evidence.draft(chosen, n)
        draft.start()
        left = self._steps(draft, chosen, argument)
        if argument.parts:
            draft.step("cover", *(left.number(part) for part in argument.parts))
        else:
            draft.step("close")
        draft.keep(needs)

    def _steps(self, draft: Draft, chosen: Sequence[int], argument: Argument) -> _Sum:
        constraints = [self.query.constraints[c] for c in chosen]
        weights = [c.weights(self.query.votes).tolist() for c in constraints]
        left = _Sum(self._clauses, list(zip(*weights, strict=True)))
        for rewritten in self.form.rounds:
            left.rewrite(rewritten, draft)
        left.divide(draft)
        multipliers = dict(argument.multipliers)
        mix = [multipliers.get(c, 0) for c in chosen]
        draft.step("mix", *mix)
        for step in argument.narrowed:
            left.rewrite([step], draft)
        left.unload(mix, draft)
        return left


class _Sum:
    """Clauses and their votes for each constraint, as a checker has them."""

    def __init__(self, clauses: Sequence[Clause], weights: Sequence[Votes]) -> None:
        votes: dict[Clause, Votes] = {}
        for clause, some in zip(clauses, weights, strict=True):
            votes[clause] = _added(votes[clause], some) if clause in votes else some
        self._number(votes)

    def _number(self, votes: dict[Clause, Votes]) -> None:
        self._votes = {clause: some for clause, some in votes.items() if any(some)}
        self._numbers = {clause: j for j, clause in enumerate(self._votes)}

    def number(self, clause: Clause) -> int:
        return self._numbers[by_feature(clause)]

    def rewrite(self, steps: Iterable[tuple[Clause, int]], draft: Draft) -> None:
        """Rewrite each of these clauses that is there, by a feature; one step of the proof."""
        present = [(clause, f) for clause, f in steps if clause in self._numbers]
        if not present:
            return
        draft.packed("rewrite", packed_numbers([n for c, f in present for n in (self._numbers[c], f)]))
        votes = self._votes
        for clause, f in present:
            some = votes.pop(clause)
            whole = tuple(lit for lit in clause if abs(lit) != f + 1)
            asleep, awake = by_feature((*whole, -f - 1)), by_feature((*whole, f + 1))
            if f + 1 in clause:
                sums = [(whole, 1), (asleep, -1)]
            elif -f - 1 in clause:
                sums = [(whole, 1), (awake, -1)]
            else:
                sums = [(awake, 1), (asleep, 1)]
            for other, sign in sums:
                if other:
                    votes[other] = _added(votes.get(other, (0,) * len(some)), some, sign)
        self._number(votes)

    def divide(self, draft: Draft) -> None:
        """Divide the votes of each constraint by their common divisor."""
        draft.step("divide")
        divisors = [max(1, gcd(*column)) for column in zip(*self._votes.values(), strict=True)]
        if any(d > 1 for d in divisors):
            self._votes = {
                clause: tuple(v // d for v, d in zip(some, divisors, strict=True))
                for clause, some in self._votes.items()
            }

    def unload(self, mix: Sequence[int], draft: Draft) -> None:
        """Take the load off every clause with a negative sum: what is positive bounds the rest."""
        numbers: list[int] = []
        last = -1
        for j, (clause, some) in enumerate(self._votes.items()):
            negative = sum(m * v for m, v in zip(mix, some, strict=True)) < 0
            if negative and sum(lit > 0 for lit in clause) <= 1:  # others start without a load
                numbers += [j - last - 1, 0]
                last = j
        if numbers:
            draft.packed("set", packed_numbers(numbers))


def _added(a: Votes, b: Votes, sign: int = 1) -> Votes:
    return tuple(v + sign * w for v, w in zip(a, b, strict=True))


def by_feature(clause: Clause) -> Clause:
    """The literals in order of their features."""
    return tuple(sorted(clause, key=abs))
