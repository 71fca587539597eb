"""Problems over moves: columns with several options, each at a cost, within a budget.

A literal of a clause is a column c and a set S of its options: the literal is true iff the column's value is
in S. It *wakes* the clause if the column's reference, the option at no cost, is not in S, else it *stays*.
Sets are masks, a bit for each option of the column by its place.

The *normal form*, at the start and after ``shrink``: the cheapest option of a column is its reference, and
what that costs is taken from the budget; clauses that can't be true are dropped, literals that can't be false
are left out, equal clauses are one; options that no clause tells apart are one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from tmcheck.flips import FlipProblem, Groups
from tmcheck.multipliers import Key
from tmcheck.region import Options

Literals = Sequence[tuple[int, int]]  # of a clause: column and set of options
Sets = dict[tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], tuple[int, ...]]
# Clauses over moves and their votes: the literals that wake it and those that stay, by column.


def with_references(options: dict[int, Options], budget: int) -> tuple[dict[int, Options], int]:
    """Rule 1: the cheapest option of each column is its reference; what that costs is taken away."""
    found = {}
    for c, (values, costs, reference) in options.items():
        least = min(costs)
        if costs[reference] > least:
            reference = costs.index(least)
        found[c] = Options(values, [cost - least for cost in costs], reference)
        budget -= least
    return found, budget


def simplified(
    clauses: Iterable[tuple[Literals, tuple[int, ...]]], options: dict[int, Options], budget: int, width: int
) -> tuple[Sets, list[int]]:
    """Rules 2 to 5: drop the false, strip what is true, add up the equal.

    Returns the clauses that can still change, in order of their first appearance, and the votes that are
    there in any case.
    """
    groups: Sets = {}
    given = [0] * width
    whole = {c: (1 << len(found.values)) - 1 for c, found in options.items()}
    least: dict[tuple[int, int], int] = {}  # what a literal that wakes costs at least; -1 if it stays
    for literals, votes in clauses:
        wakes, stays, cost = [], [], 0
        for literal in literals:
            c, chosen = literal
            if chosen == whole[c]:
                continue
            if not chosen:
                cost = budget + 1
                break
            if literal not in least:
                _, costs, reference = options[c]
                wake = not chosen >> reference & 1
                least[literal] = min(costs[o] for o in places(chosen)) if wake else -1
            price = least[literal]
            if price < 0:
                stays.append(literal)
            else:
                wakes.append(literal)
                cost += price
        if cost > budget:
            continue
        key = tuple(sorted(wakes)), tuple(sorted(stays))
        if key == ((), ()):
            given = [total + vote for total, vote in zip(given, votes, strict=True)]
        elif key in groups:
            groups[key] = tuple(a + b for a, b in zip(groups[key], votes, strict=True))
        else:
            groups[key] = votes
    return groups, given


def problem_of(
    groups: Sets, options: dict[int, Options], needs: list[int], budget: int
) -> MoveProblem | FlipProblem:
    """Rules 5 and 6: clauses without votes are dropped, options that no clause tells apart are one."""
    kept = {key: votes for key, votes in groups.items() if any(votes)}
    used: dict[int, dict[int, int]] = {}  # of each column: its sets, and what becomes of them
    for wakes, stays in kept:
        for c, chosen in (*wakes, *stays):
            used.setdefault(c, {})[chosen] = 0
    left: dict[int, Options] = {}
    for c in sorted(used):
        kept_options = _told_apart(options[c], used[c])
        values, costs, reference = options[c]
        left[c] = Options(
            [values[o] for o in kept_options],
            [costs[o] for o in kept_options],
            bisect_left(kept_options, reference),
        )
        used[c] = {s: narrowed(s, kept_options) for s in used[c]}
    if all(len(found.values) == 2 and sum(found.costs) == 1 for found in left.values()):
        return _over_flips(kept, left, needs, budget)
    return MoveProblem(
        {
            tuple(tuple((c, used[c][s]) for c, s in part) for part in key): votes  # type: ignore[misc]
            for key, votes in kept.items()
        },
        left,
        needs,
        budget,
    )


def _told_apart(options: Options, sets: Iterable[int]) -> list[int]:
    """The options that stay: of those that lie in the same sets, the reference or the cheapest."""
    values, costs, reference = options
    n = len(values)
    whole = (1 << n) - 1
    label, fresh = [0] * n, 1
    for chosen in sets:
        smaller = chosen if 2 * chosen.bit_count() <= n else whole & ~chosen
        new: dict[int, int] = {}  # members of a class that lie in this set are a class of their own
        for o in places(smaller):
            if label[o] not in new:
                new[label[o]] = fresh
                fresh += 1
            label[o] = new[label[o]]
    best: dict[int, int] = {}
    for o in sorted(range(n), key=lambda o: (o != reference, costs[o], o)):
        best.setdefault(label[o], o)
    return sorted(best.values())


def narrowed(chosen: int, kept: list[int]) -> int:
    """A set over the options that are kept."""
    return sum(1 << i for i, o in enumerate(kept) if chosen >> o & 1)


def _over_flips(kept: Sets, options: dict[int, Options], needs: list[int], budget: int) -> FlipProblem:
    groups: Groups = {
        (tuple(c for c, _ in wakes), tuple(c for c, _ in stays)): votes
        for (wakes, stays), votes in kept.items()
    }
    values = {
        c: (found.values[found.reference], found.values[1 - found.reference]) for c, found in options.items()
    }
    return FlipProblem(groups, needs, budget, values.__getitem__)


def places(chosen: int) -> list[int]:
    """The options in a set."""
    found = []
    while chosen:
        lowest = chosen & -chosen
        found.append(lowest.bit_length() - 1)
        chosen ^= lowest
    return found


class MoveProblem:
    """Can moves of cost at most ``budget`` make  sum_j votes[j][c] * clause_j >= needs[c]  true for every c?

    Columns are numbered by their place in ``columns``, literals by their place in ``literals``, which has the
    column, the set and whether it wakes; keys are made of these numbers.
    """

    def __init__(self, groups: Sets, options: dict[int, Options], needs: list[int], budget: int) -> None:
        self.columns = sorted(options)
        self.options = [options[c] for c in self.columns]
        self.place = {c: i for i, c in enumerate(self.columns)}
        self.needs, self.budget = needs, budget
        self.literals: list[tuple[int, int, bool]] = []
        numbers: dict[tuple[int, int], int] = {}
        self.keys: list[Key] = []
        self.votes = list(groups.values())
        for parts in groups:
            for literals, wakes in zip(parts, (True, False), strict=True):
                for c, chosen in literals:
                    if (c, chosen) not in numbers:
                        numbers[c, chosen] = len(self.literals)
                        self.literals.append((self.place[c], chosen, wakes))
            wake, stay = (tuple([numbers[literal] for literal in literals]) for literals in parts)
            self.keys.append((wake, stay))
