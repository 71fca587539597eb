"""All clauses of some machines around an input: the problem that a refutation is about.

A clause of the model is about bits. Around an input it becomes one about moves of columns: for every column,
the set of its options that satisfy all of the clause's literals there. Where every column that occurs is a
flag that flips at a cost of 1, or not at all, it is one about flips, and much faster to make.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.flips import FlipProblem, specialised
from tmcheck.model import Machine
from tmcheck.moves import MoveProblem, problem_of, simplified, with_references
from tmcheck.region import Options, Region
from tmcheck.space import FLAG, Column
from tmcheck.ways import Constraint

Place = tuple[int, tuple[int, ...], tuple[int, ...]]  # budget, literals of a subcube, columns that keep


class Pool:
    """The clauses of some machines with their votes for all rows, those of the first machine first."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self._machines = machines
        self.n_rows = sum(len(machine.always) for machine in machines)

    @cached_property
    def clauses(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Literals and votes; witnesses need none of it."""
        found, before = [], 0
        for machine in self._machines:
            after = self.n_rows - before - len(machine.always)
            found += [
                (clause, (0,) * before + votes + (0,) * after)
                for clause, votes in zip(machine.clauses, machine.votes, strict=True)
            ]
            before += len(machine.always)
        return found

    @cached_property
    def occurring(self) -> set[int]:
        """The features that occur, from 1."""
        return set().union(*(machine.occurring for machine in self._machines))

    def over_flips(
        self, true: set[int], budget: int
    ) -> Iterator[tuple[list[int], list[int], tuple[int, ...]]]:
        """Each clause that few enough flips make true: the features to flip, those not to, its votes."""
        for clause, votes in self.clauses:
            wakes = [abs(literal) - 1 for literal in clause if literal not in true]
            if len(wakes) <= budget:  # else it is false, whatever flips
                yield wakes, [abs(literal) - 1 for literal in clause if literal in true], votes


class Voters:
    """Clauses with votes for each row, prepared for taking the sums of constraints."""

    def __init__(self, groups: dict[Any, tuple[int, ...]], given: list[int]) -> None:
        self.keys, self.given = list(groups), given
        self.of_row: list[list[tuple[int, int]]] = [[] for _ in given]
        for i, votes in enumerate(groups.values()):
            for row, vote in enumerate(votes):
                if vote:
                    self.of_row[row].append((i, vote))

    def sums(self, constraints: Sequence[Constraint]) -> tuple[dict[Any, tuple[int, ...]], list[int]]:
        """The votes of each clause for each constraint, and what these need."""
        sums: dict[int, list[int]] = {}
        for c, (terms, _) in enumerate(constraints):
            for row, k in terms:
                for i, vote in self.of_row[row]:
                    if i not in sums:
                        sums[i] = [0] * len(constraints)
                    sums[i][c] += k * vote
        chosen = {self.keys[i]: tuple(sums[i]) for i in sorted(sums)}
        needs = [bound - sum(k * self.given[row] for row, k in terms) for terms, bound in constraints]
        return chosen, needs


class Surroundings:
    """All clauses around an input, over moves of its columns; the last ones made are kept."""

    def __init__(self, pool: Pool, region: Region) -> None:
        self.pool, self.region = pool, region
        space = region.space
        self._column_of = {f - 1: space.column_of(f - 1) for f in pool.occurring}  # by bit
        self._is_bit = all(bit == number for bit, number in self._column_of.items())
        self._made: tuple[Place | None, Any] = (None, None)

    @cached_property
    def _columns(self) -> dict[int, Column]:
        """The columns that occur, by their number."""
        space = self.region.space
        return {number: space.column(number) for number in sorted(set(self._column_of.values()))}

    @cached_property
    def _only_flips(self) -> bool:
        """Whether every column that occurs is a flag that flips at a cost of 1, or not at all."""
        space, rules = self.region.space, self.region.rules
        if space.several and any(column.kind != FLAG for column in self._columns.values()):
            return False
        return all(rule.factor == 1 for number, rule in rules.items() if number in self._columns)

    def problem(self, constraints: Sequence[Constraint], place: Place) -> FlipProblem | MoveProblem:
        """The problem of these constraints within a budget, in a subcube, where some columns keep."""
        if self._made[0] != place:
            self._made = place, self._flips(*place) if self._only_flips else self._moves(*place)
        voters, options, budget = self._made[1]
        groups, needs = voters.sums(constraints)
        if options is None:
            return FlipProblem(groups, needs, budget, self._values)
        return problem_of(groups, options, needs, budget)

    def _values(self, number: int) -> tuple[int, int]:
        present = self.region.present(self._columns[number])
        return present, 1 - present

    def _flips(self, budget: int, inside: tuple[int, ...], keep: tuple[int, ...]) -> tuple[Voters, None, int]:
        """The fast way for flags. Literals of the subcube are made true, and what that flips is paid for."""
        centre, mutable, of = self.region.centre, self.region.mutable, self._column_of
        true = {f if centre[f - 1] else -f for f in self.pool.occurring}
        fixed = {of[f - 1]: False for f in self.pool.occurring if not mutable[f - 1]}
        fixed.update(dict.fromkeys(keep, False))
        for literal in inside:
            true.discard(-literal)
            true.add(literal)
            fixed[self.region.space.column_of(abs(literal) - 1)] = False
        budget = self._left(budget, inside)
        clauses = self.pool.over_flips(true, budget)
        if not self._is_bit:
            clauses = (([of[f] for f in wakes], [of[f] for f in stays], v) for wakes, stays, v in clauses)
        groups, given = specialised(clauses, fixed, budget, self.pool.n_rows)
        return Voters(groups, given), None, budget

    def _by_column(self, inside: Iterable[int]) -> dict[Column, list[int]]:
        """The literals of a subcube, by column, of bits counted within it."""
        found: dict[Column, list[int]] = {}
        space = self.region.space
        for literal in inside:
            column = space.column(space.column_of(abs(literal) - 1))
            place = abs(literal) - column.first_bit
            found.setdefault(column, []).append(place if literal > 0 else -place)
        return found

    def is_possible(self, inside: tuple[int, ...]) -> bool:
        """Whether some input of the region lies in a subcube, whatever it costs."""
        for column, literals in self._by_column(inside).items():
            if column.kind == FLAG or column.number in self.region.rules:
                if not self._agreeing(column, self.region.options(column.number).values, literals):
                    return False
            elif not column.has_value(literals):  # there may be many values
                return False
        return True

    @staticmethod
    def _agreeing(column: Column, values: Sequence[int], literals: Iterable[int]) -> list[int]:
        """The places of the values that agree with literals of bits counted within the column."""
        kept = list(range(len(values)))
        for literal in literals:
            holding = column.holding(abs(literal) - 1)
            kept = [o for o in kept if (values[o] in holding) == (literal > 0)]
        return kept

    def _restricted(self, column: Column, literals: Iterable[int]) -> Options:
        """The options of a column that agree with the literals of a subcube."""
        values, costs, reference = self.region.options(column.number)
        kept = self._agreeing(column, values, literals)
        if not kept:
            raise Refused("'refute' in a subcube without possible inputs")
        left = [costs[o] for o in kept]
        place = kept.index(reference) if reference in kept else left.index(min(left))
        return Options([values[o] for o in kept], left, place)

    def _left(self, budget: int, inside: tuple[int, ...]) -> int:
        """What is left of a budget in a subcube: each of its columns takes its cheapest option at least."""
        for column, literals in self._by_column(inside).items():
            budget -= min(self._restricted(column, literals).costs)
        if budget < 0:
            raise Refused("'refute' in a subcube that lies beyond the radius")
        return budget

    def _moves(
        self, budget: int, inside: tuple[int, ...], keep: tuple[int, ...]
    ) -> tuple[Voters, dict[int, Options], int]:
        budget, by_column = self._left(budget, inside), self._by_column(inside)
        if sum(column.n_values for column in self._columns.values()) > limits.MOST_OPTIONS:
            raise Refused("the columns that the clauses look at have too many values")
        options: dict[int, Options] = {}
        for number, column in self._columns.items():
            if number in keep:
                options[number] = Options([self.region.present(column)], [0], 0)
            else:
                options[number] = self._restricted(column, by_column.get(column, ()))
        options, _ = with_references(options, 0)
        groups, given = simplified(self._over_moves(options), options, budget, self.pool.n_rows)
        return Voters(groups, given), options, budget

    def _over_moves(
        self, options: dict[int, Options]
    ) -> Iterator[tuple[list[tuple[int, int]], tuple[int, ...]]]:
        """Each clause as literals, of a column and the set of its options that satisfy it."""
        left = limits.MOST_PLACES
        known: dict[tuple[int, ...], int] = {}  # the options of a column that satisfy some literals

        def satisfying(number: int, literals: tuple[int, ...]) -> int:
            nonlocal left
            if literals in known:
                return known[literals]
            values, column = options[number].values, self._columns[number]
            left -= len(values)
            if left < 0:
                raise Refused("the columns that the clauses look at have too many values")
            if len(literals) > 1:
                found = satisfying(number, literals[:1])
                for literal in literals[1:]:
                    found &= satisfying(number, (literal,))
            else:
                holding = column.holding(abs(literals[0]) - 1 - column.first_bit)
                found = (1 << bisect_left(values, holding.stop)) - (1 << bisect_left(values, holding.start))
                if literals[0] < 0:
                    found ^= (1 << len(values)) - 1
            known[literals] = found
            return found

        for clause, votes in self.pool.clauses:
            by_column: dict[int, list[int]] = {}
            for literal in clause:
                by_column.setdefault(self._column_of[abs(literal) - 1], []).append(literal)
            yield [(c, satisfying(c, tuple(some))) for c, some in by_column.items()], votes
