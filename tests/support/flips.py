"""Problems over flips in plain Python: what the kernels of the search compute, straight from the definitions.

A clause is a pair of sets: the features that must flip and those that must not. This is the only place in the
tests that knows how a ``Problem`` stores it in arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.parts import from_python
from tmverify.engines.engine import Deadline
from tmverify.engines.search import _bound, _tree, tree
from tmverify.engines.search._bound import FREE
from tmverify.engines.search.problem import Problem, Solution
from tmverify.engines.search.tree import Budget, Found, Tree

Flips = frozenset[int]
credit_flips = from_python(_bound.credit_flips)


@dataclass(frozen=True, order=True)
class Clause:
    """True iff all of ``wakes`` flip and none of ``stays`` does."""

    wakes: tuple[int, ...]
    stays: tuple[int, ...]

    def true(self, flips: Iterable[int]) -> bool:
        flipped = set(flips)
        return flipped.issuperset(self.wakes) and flipped.isdisjoint(self.stays)

    def literals(self) -> list[tuple[int, bool]]:
        """Each literal, in the order of the arrays: its feature, and whether that must flip."""
        return [(f, True) for f in self.wakes] + [(f, False) for f in self.stays]


@dataclass(frozen=True)
class Toy:
    """Are there at most ``radius`` flips of ``n`` features with enough votes for every constraint?"""

    n: int
    clauses: tuple[Clause, ...]
    votes: tuple[tuple[int, ...], ...]
    needs: tuple[int, ...]
    radius: int

    def sums(self, flips: Iterable[int]) -> list[int]:
        true = [clause.true(flips) for clause in self.clauses]
        return [sum(w for w, t in zip(row, true, strict=True) if t) for row in self.votes]

    def solved_by(self, flips: Iterable[int]) -> bool:
        chosen = set(flips)
        enough = all(s >= need for s, need in zip(self.sums(chosen), self.needs, strict=True))
        return enough and len(chosen) <= self.radius

    def solutions(self) -> list[Flips]:
        return [flips for flips in subsets(self.n, self.radius) if self.solved_by(flips)]

    def problem(self) -> Problem:
        lengths = [len(clause.literals()) for clause in self.clauses]
        offsets = np.cumsum([0, *lengths]).astype(np.int64)
        flat = [f for clause in self.clauses for f, _ in clause.literals()]
        waking = np.array([len(clause.wakes) for clause in self.clauses], np.int64)
        shape = (len(self.needs), len(self.clauses))
        where, owners, wakes = self.index()
        return Problem(
            offsets=offsets,
            middles=offsets[:-1] + waking,
            features=np.array(flat, np.int32),
            votes=np.array(self.votes, np.int64).reshape(shape),
            bounds=np.array(self.needs, np.int64),
            radius=self.radius,
            feature_ids=np.arange(self.n),
            flipped=np.empty(0, np.int64),
            spent=0,
            origin=np.zeros(self.n, np.uint8),
            came_from=np.empty(0, np.int32),
            where=np.array(where, np.int64),
            clauses=np.array(owners, np.int32),
            waking=np.array(wakes, np.bool_),
        )

    def index(self) -> tuple[list[int], list[int], list[bool]]:
        """Where each feature's occurrences begin; the clause of each, and whether the flip wakes it."""
        where, owners, waking = [0], [], []
        for feature in range(self.n):
            for j, clause in enumerate(self.clauses):
                if feature in (*clause.wakes, *clause.stays):
                    owners.append(j)
                    waking.append(feature in clause.wakes)
            where.append(len(owners))
        return where, owners, waking


def toy_of(problem: Problem) -> Toy:
    """A ``Problem`` turned back into a toy, with the problem's own features, 0 to n."""
    clauses = []
    for (start, end), middle in zip(
        pairwise(problem.offsets.tolist()), problem.middles.tolist(), strict=True
    ):
        flat = problem.features.tolist()
        clauses.append(Clause(tuple(flat[start:middle]), tuple(flat[middle:end])))
    votes = tuple(tuple(row) for row in problem.votes.tolist())
    return Toy(
        len(problem.feature_ids), tuple(clauses), votes, tuple(problem.bounds.tolist()), problem.radius
    )


def subsets(n: int, most: int) -> Iterator[Flips]:
    """Every set of at most ``most`` of n features, smallest first."""
    for k in range(min(most, n) + 1):
        yield from (frozenset(flips) for flips in combinations(range(n), k))


def mask(flips: Iterable[int], n: int) -> NDArray[np.bool_]:
    y = np.zeros(n, np.bool_)
    y[list(flips)] = True
    return y


def random_toy(
    rng: np.random.Generator,
    *,
    n: int,
    n_clauses: int,
    n_constraints: int = 1,
    longest: int = 4,
    heaviest: int = 3,
    radius: int | None = None,
) -> Toy:
    """Clauses of random literals, some twice, votes of either sign, needs close to what some flips reach."""
    clauses: list[Clause] = []
    for _ in range(n_clauses):
        if clauses and rng.random() < 0.2:
            clauses.append(clauses[int(rng.integers(len(clauses)))])
            continue
        features = rng.choice(n, size=min(n, int(rng.integers(1, longest + 1))), replace=False).tolist()
        # Few literals must flip: a clause that needs many flips would hardly ever become true.
        wakes = [f for f in features if rng.random() < 0.4]
        clauses.append(Clause(tuple(sorted(wakes)), tuple(sorted(set(features) - set(wakes)))))
    votes = rng.integers(-heaviest, heaviest + 1, size=(n_constraints, n_clauses)).tolist()
    limit = int(rng.integers(0, n + 1)) if radius is None else radius
    toy = Toy(n, tuple(clauses), tuple(map(tuple, votes)), (0,) * n_constraints, limit)
    planted = random_flips(rng, n, limit)
    needs = tuple(s + int(rng.integers(-1, 2)) for s in toy.sums(planted))
    return Toy(n, toy.clauses, toy.votes, needs, limit)


def random_flips(rng: np.random.Generator, n: int, most: int) -> Flips:
    k = int(rng.integers(0, min(n, most) + 1))
    return frozenset(rng.choice(n, size=k, replace=False).tolist())


def random_fixed(
    rng: np.random.Generator, n: int, share: float, flips: Flips | None = None
) -> NDArray[np.int8]:
    """Some features fixed, to what ``flips`` has for them or at random; the others FREE."""
    values = rng.integers(0, 2, size=n) if flips is None else mask(flips, n)
    return np.where(rng.random(n) < share, values, FREE).astype(np.int8)


def dead_under(toy: Toy, fixed: NDArray[np.int8]) -> NDArray[np.int32]:
    """How many literals of each clause are fixed to false."""
    return np.array(
        [
            sum(fixed[f] != FREE and bool(fixed[f]) != wakes for f, wakes in clause.literals())
            for clause in toy.clauses
        ],
        np.int32,
    )


@dataclass
class Multipliers:
    """The arguments of ``credit_flips`` besides the problem; it changes them."""

    share: NDArray[np.float32]
    load: NDArray[np.float32]
    lean: NDArray[np.float32]
    step: float = 0.0
    turn: int = 0
    wide: NDArray[np.bool_] | None = None


def credits_of(
    problem: Problem, total: NDArray[np.int64], dead: NDArray[np.int32], given: Multipliers, unit: int
) -> tuple[int, NDArray[np.int64], float]:
    """The bound's constant, credits and slope, computed by the kernel."""
    n, size = len(problem.feature_ids), len(problem.features)
    wide = np.ones(len(total), np.bool_) if given.wide is None else given.wide
    none, credits = np.empty(0, np.int64), np.empty(n, np.int64)
    multipliers = tree.Multipliers(none, np.empty(0), given.share, given.load, wide, given.lean)
    scratch = tree.Scratch(total, credits, none, np.empty(size, np.float32), none)
    constant, norm = credit_flips(problem.arrays, dead, multipliers, scratch, unit, given.step, given.turn)
    return int(constant), credits, float(norm)


class Walk:
    """A tree that is explored one node at a time, with its state visible."""

    def __init__(self, toy: Toy) -> None:
        self.toy = toy
        self.tree = Tree(toy.problem())
        self.nodes = 0
        self._intact = (self.tree.problem, True)

    def state(self, name: str) -> Any:
        """An argument that the kernel changes, by name."""
        group = self.tree.state if name in tree.State._fields else self.tree.multipliers
        return getattr(group, name)

    def step(self) -> tuple[Found, Solution | None]:
        """Explore one more node."""
        budget = Budget(Deadline(None), 1)
        result = self.tree.search(budget)
        self.nodes += budget.used["nodes"]
        return result

    def trail(self) -> list[tuple[int, int, bool]]:
        """What is fixed, in order: feature, value, and whether the other value is still to be tried."""
        length = int(self.state("counts")[_tree.TRAIL])
        features = self.state("trail")[:length].tolist()
        decisions = self.state("decisions")[:length].tolist()
        values = self.state("fixed")[features].tolist()
        return list(zip(features, values, decisions, strict=True))

    def may_still_find(self, solution: Flips) -> bool:
        """Whether the part of the tree that is not done yet contains a solution.

        That part is the node that the trail leads to, and beside each decision the node with its feature left
        alone.
        """
        if not self._holds(solution):
            return False
        names = self.tree.problem.feature_ids.tolist()
        for feature, value, decision in self.trail():
            if (names[feature] in solution) != bool(value):
                return decision
        return True

    def _holds(self, solution: Flips) -> bool:
        """Whether the problem has the solution, or what is left of it.

        A problem that was rebuilt has lost features: those that every solution flips, those that none does,
        and those that matter no more.
        """
        problem, intact = self._intact
        if problem is not self.tree.problem:
            problem = self.tree.problem
            flipped = frozenset(problem.flipped.tolist())
            left = flipped | (solution & frozenset(problem.feature_ids.tolist()))
            intact = flipped <= solution and self.toy.solved_by(left)
            self._intact = (problem, intact)
        return intact
