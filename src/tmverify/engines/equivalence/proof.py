"""Writing a proof by structure, in the steps that a checker follows.

A checker adds up the clauses of some constraints, merging equal ones, in order of their first appearance.
``_Sum`` does the same here, because steps refer to clauses by their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tmverify.engines.equivalence.normal import Clause, NormalForm, by_feature
from tmverify.engines.equivalence.structure import Argument, subcube
from tmverify.engines.proof_log import Draft, ProofLog, Where, packed_numbers, packed_step
from tmverify.properties.query import Query

Votes = tuple[int, ...]


class Writer:
    """Writes the arguments about one question.

    The normal form comes first, once, for all arguments.
    """

    def __init__(self, query: Query, form: NormalForm, log: ProofLog) -> None:
        self.query, self.log = query, log
        rows = list(zip(*query.votes.tolist(), strict=True))
        whole = _Sum(list(query.clauses), rows)
        log.preamble = b"".join(whole.rewrite(rewritten) for rewritten in form.rounds)
        self._clauses = list(whole.votes)
        self._rows = np.array(list(whole.votes.values()), np.int64).reshape(-1, len(query.votes)).T

    def write(self, argument: Argument) -> None:
        """Write the refutation of the argument's case, if all subcubes that it leaves are refuted."""
        if argument.parts is None:
            return
        n = self.query.region.n_features
        chosen = argument.case if argument.parts else tuple(c for c, _ in argument.multipliers)
        if not argument.parts and self.log.covers(chosen, n) is not None:
            return
        # A checker sees by itself that no possible input makes a clause true.
        possible = [part for part in argument.parts if subcube(self.query.region, part) is not None]
        cubes = [self.log.covers(argument.case, n, Where(by_feature(part))) for part in possible]
        needs = tuple(cube for cube in cubes if cube is not None)
        if len(needs) < len(cubes):
            return
        draft = self.log.draft(chosen, n, Where(bits=True))
        draft.start()
        left = self._added_up(draft, chosen, argument)
        if argument.parts:
            draft.step("cover", *(left.number(part) for part in argument.parts))
        else:
            draft.step("close")
        draft.keep(needs)

    def _added_up(self, draft: Draft, chosen: Sequence[int], argument: Argument) -> _Sum:
        """Write the steps that divide, mix and narrow the sum; return what is left of it."""
        weights = np.array([self.query.constraints[c].weights(self._rows) for c in chosen])
        multipliers = dict(argument.multipliers)
        mix = [multipliers.get(c, 0) for c in chosen]
        divisors = np.maximum(np.gcd.reduce(weights, axis=1, initial=0), 1)
        draft.step("divide")
        draft.step("mix", *mix)
        if not (np.array(mix, object) @ (weights // divisors[:, None])).any():
            return _Sum([], [])  # all of it cancels
        used = np.flatnonzero(weights.any(axis=0))
        divided = (weights[:, used] // divisors[:, None]).T.tolist()
        left = _Sum([self._clauses[j] for j in used], [tuple(votes) for votes in divided])
        for step in argument.narrowed:
            draft.block(left.rewrite([step]))
        draft.block(left.unload(mix))
        return left


class _Sum:
    """Clauses and their votes, for each row or each constraint, in the checker's order."""

    def __init__(self, clauses: Sequence[Clause], votes: Sequence[Votes]) -> None:
        self.votes: dict[Clause, Votes] = {}
        for clause, some in zip(clauses, votes, strict=True):
            self.votes[clause] = _added(self.votes[clause], some) if clause in self.votes else some
        self._number()

    def _number(self) -> None:
        self.votes = {clause: some for clause, some in self.votes.items() if any(some)}
        self._numbers = {clause: j for j, clause in enumerate(self.votes)}

    def number(self, clause: Clause) -> int:
        return self._numbers[by_feature(clause)]

    def rewrite(self, steps: Iterable[tuple[Clause, int]]) -> bytes:
        """Rewrite each of these clauses that is present by its feature; return the step of the proof."""
        present = [(clause, f) for clause, f in steps if clause in self._numbers]
        pairs = [n for clause, f in present for n in (self._numbers[clause], f)]
        for clause, f in present:
            some = self.votes.pop(clause)
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
                    self.votes[other] = _added(self.votes.get(other, (0,) * len(some)), some, sign)
        self._number()
        return packed_step("rewrite", packed_numbers(pairs)) if pairs else b""

    def unload(self, mix: Sequence[int]) -> bytes:
        """Set the load of every clause with a negative sum to 0: the positive clauses then bound the sum."""
        numbers: list[int] = []
        last = -1
        for j, (clause, some) in enumerate(self.votes.items()):
            negative = sum(m * v for m, v in zip(mix, some, strict=True)) < 0
            if negative and sum(lit > 0 for lit in clause) <= 1:  # others start with load 0
                numbers += [j - last - 1, 0]
                last = j
        return packed_step("set", packed_numbers(numbers)) if numbers else b""


def _added(a: Votes, b: Votes, sign: int = 1) -> Votes:
    return tuple(v + sign * w for v, w in zip(a, b, strict=True))
