"""Query: every question is compiled to one; it holds everything that an engine needs to know.

    Is there an input z in the region such that, in at least one case, every constraint holds?

A constraint is linear in the clauses' outputs, in integers:

    sum_t coefficient_t * votes[row_t] . clauses(z)  >=  bound

``votes`` has a row per output of each machine that takes part, over the pool of their clauses. Pool
clauses are proper conjunctions: clauses that are contradictory, silent or without a vote are left out, and
clauses that always fire are counted in the bounds, so engines need not handle these edge cases.

Such a ``z`` refutes the property asked about; ``Query.refuted_by`` checks this with the machines themselves,
through the plain evaluator, without looking at the compiled constraints.

"The model says class c" and "the model says something else" are conditions on scores. A condition is a
disjunction of cases, a case a conjunction of ``(terms, bound)``, each meaning ``sum of coefficient *
score[row] over terms >= bound``. Everything is exact, ties and clamp included.

Binary, with t the least score that means class 1:  says 1 iff s >= t;  says 0 iff -s >= 1 - t.

Argmax, the lowest index winning ties. Row r *beats* c iff s_r > s_c, or s_r = s_c and r < c; that is
s_r - s_c >= [r > c]. The model says c iff no row beats c, and something else iff some row does.

With a clamp T >= 1, q(s) = min(max(s, -T), T) is compared instead:

- q(s_r) >= q(s_c)  iff  s_r >= s_c, or s_r >= T, or s_c <= -T;
- q(s_r) >  q(s_c)  iff  s_r > s_c and s_r > -T and s_c < T;
- c wins in one of three ways: s_c >= T and every lower row is below T; or -T < s_c < T and the plain
  comparison holds with every row; or s_c <= -T, no row is lower in index, and all others are <= -T too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Label, Model
from tmverify.model.clauses import Clauses, concatenate
from tmverify.model.evaluate import least_positive_score, live_clauses
from tmverify.properties.region import Region

# A disagreement of two models has a case per pair of classes, each with a constraint per class.
MAX_COMPARED_CLASSES = 64


@dataclass(frozen=True, slots=True)
class VoteConstraint:
    """sum of ``coefficient * votes[row] . clauses(z)`` over ``terms`` is at least ``bound``."""

    terms: tuple[tuple[int, int], ...]
    bound: int

    def weights(self, votes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The constraint's weight of each clause (column of ``votes``)."""
        total = np.zeros(votes.shape[1], np.int64)
        for row, coefficient in self.terms:
            total += coefficient * votes[row]
        return total

    def __str__(self) -> str:
        return ",".join(f"{row}:{k}" for row, k in self.terms) + f">={self.bound}"


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """What was asked, and about which models; the query itself has only the machines in scope."""

    question: str
    models: tuple[Classifier, ...]
    scope: Label


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnyQuery(ABC):
    """One decision problem about classifiers of any kind; ``Query`` is the one about Tsetlin machines.

    Attributes
    ----------
    region : Region
    machines : tuple of Classifier
        The classifiers whose decisions are compared.
    expected : int or None
        The class index that the decisions are compared with, if that is fixed.
    wanted : int or None
        The class index that a witness must get; None: any other than expected.
    topic : Topic or None
        For the certificate; engines do not use it.
    """

    region: Region
    machines: tuple[Classifier, ...]
    expected: int | None
    wanted: int | None = None
    topic: Topic | None = None

    def about(self, question: str, models: tuple[Classifier, ...], scope: Label) -> Self:
        """The same query with its topic: what was asked, and about which models."""
        return replace(self, topic=Topic(question, models, scope))

    @property
    def cells(self) -> int:
        """The cost of evaluating one input, roughly."""
        return sum(machine.cells for machine in self.machines)

    def decisions(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class indices that should agree, (n, 2), on each row of a checked uint8 matrix."""
        columns = [machine.class_indices(bits) for machine in self.machines]
        if self.expected is not None:
            columns.insert(0, np.full(len(bits), self.expected))
        return np.stack(columns, axis=1)

    def violated(self, decisions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """For each row of ``decisions``, whether they violate the property."""
        if self.wanted is not None:
            return np.asarray(decisions[:, 1] == self.wanted)
        return np.asarray(decisions[:, 0] != decisions[:, 1])

    def refuted_by(self, z: NDArray[np.uint8]) -> bool:
        """Whether ``z`` lies in the region and violates the property, by the plain evaluator."""
        return self.region.contains(z) and bool(self.violated(self.decisions(z[None, :]))[0])

    @abstractmethod
    def proof_header(self) -> tuple[str, ...]:
        """The lines of a certificate that its refutations refer to."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Query(AnyQuery):
    """One decision problem about Tsetlin machines. Built by the questions in this package, never by hand.

    Attributes
    ----------
    clauses : Clauses
        The pool, of all machines, in their order.
    sources : int64 array, (n_clauses, 2)
        For each pool clause, its machine and its index in that machine.
    votes : int64 array, (rows, n_clauses)
    constraints : tuple of VoteConstraint
    cases : tuple of tuples of int
        Each case lists constraints (by index) that must hold together.
    hints : uint8 array, (n, n_features), or None
        Inputs that are worth trying; not part of the question.
    """

    clauses: Clauses
    sources: NDArray[np.int64]
    votes: NDArray[np.int64]
    constraints: tuple[VoteConstraint, ...]
    cases: tuple[tuple[int, ...], ...]
    machines: tuple[Model, ...]
    hints: NDArray[np.uint8] | None = None

    def proof_header(self) -> tuple[str, ...]:
        """The constraints, to which refutations refer by number."""
        return (" ".join(("constraints", *map(str, self.constraints))),)


@singledispatch
def query_change(model: Classifier, expected: int, region: Region, wanted: int | None = None) -> AnyQuery:
    """Is there an input in ``region`` that ``model`` does not put into class index ``expected``?

    With ``wanted``: that it puts into class index ``wanted``. What this compiles to depends on the kind of
    classifier; each kind registers its own function.
    """
    raise NotImplementedError(f"a {model.kind} has no query")


@query_change.register
def query_machine_change(model: Model, expected: int, region: Region, wanted: int | None = None) -> Query:
    """``query_change`` of a Tsetlin machine."""
    cases = differs(model, 0, expected) if wanted is None else decides(model, 0, wanted)
    query = _assemble((model,), [([()], cases)], region, expected)
    return query if wanted is None else replace(query, wanted=wanted)


def query_disagreement(a: Model, b: Model, region: Region) -> Query:
    """Is there an input in ``region`` on which two models with the same classes decide differently?"""
    if len(a.classes) > MAX_COMPARED_CLASSES:
        raise InvalidInputError(
            f"Two models of more than {MAX_COMPARED_CLASSES} classes can be compared only class by class "
            f"(scope=<class>). Got {len(a.classes)} classes instead."
        )
    both = [(decides(a, 0, c), differs(b, a.n_outputs, c)) for c in range(len(a.classes))]
    return _assemble((a, b), both, region, None)


def check_query(query: object, kind: type[AnyQuery] = AnyQuery) -> None:
    """Raise InvalidInputError unless ``query`` is a query of that kind."""
    if not isinstance(query, kind):
        machines = " of Tsetlin machines" if kind is Query else ""
        raise InvalidInputError(
            f"query must be a Query, from robustness_query, similarity_query or equivalence_query{machines}. "
            f"Got {type(query).__name__} instead."
        )


def _assemble(
    machines: tuple[Model, ...],
    products: Sequence[tuple[Sequence[Case], Sequence[Case]]],
    region: Region,
    expected: int | None,
) -> Query:
    """Pool the machines' clauses and number the distinct constraints; each pair in a product makes a case."""
    clauses, sources, votes, always = _pool(machines)
    number: dict[VoteConstraint, int] = {}

    def numbered(case: Case) -> tuple[int, ...]:
        # Conditions are about scores; a score is its row's votes plus the votes that are always counted.
        bounds = [(terms, bound - sum(k * always[row] for row, k in terms)) for terms, bound in case]
        return tuple(number.setdefault(VoteConstraint(terms, bound), len(number)) for terms, bound in bounds)

    cases: list[tuple[int, ...]] = []
    for left, right in products:
        first, second = [numbered(case) for case in left], [numbered(case) for case in right]
        cases += [a + b for a in first for b in second]
    return Query(
        clauses=clauses,
        sources=sources,
        votes=votes,
        constraints=tuple(number),
        cases=tuple(cases),
        region=region,
        machines=machines,
        expected=expected,
    )


def _pool(
    machines: tuple[Model, ...],
) -> tuple[Clauses, NDArray[np.int64], NDArray[np.int64], list[int]]:
    parts, sources, votes, always = [], [], [], []
    for m, machine in enumerate(machines):
        proper, base = live_clauses(machine)
        parts.append(machine.clauses.select(proper))
        sources.append(np.stack([np.full(len(proper), m), proper], axis=1))
        votes.append(machine.weights[:, proper])
        always += base.tolist()
    clauses = concatenate(parts)
    grid = np.zeros((len(always), len(clauses)), np.int64)
    row = column = 0
    for block in votes:
        grid[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return clauses, np.concatenate(sources), grid, always


Terms = tuple[tuple[int, int], ...]
Condition = tuple[Terms, int]
Case = tuple[Condition, ...]


def decides(model: Model, first_row: int, c: int) -> list[Case]:
    """Cases in which ``model``, whose score rows start at ``first_row``, says class index ``c``."""
    if model.n_outputs == 1:
        return [_binary(model, first_row, c)]
    rivals = [r for r in range(model.n_outputs) if r != c]
    plain = tuple(_margin(first_row, c, r, int(r < c)) for r in rivals)
    T = model.clamp
    if T is None:
        return [plain]
    saturated = (_at_least(first_row + c, T), *(_at_most(first_row + r, T - 1) for r in rivals if r < c))
    between = (_at_least(first_row + c, 1 - T), _at_most(first_row + c, T - 1), *plain)
    cases = [saturated, between]
    if c == 0:
        cases.append(tuple(_at_most(first_row + r, -T) for r in range(model.n_outputs)))
    return cases


def differs(model: Model, first_row: int, c: int) -> list[Case]:
    """Cases in which ``model``, whose score rows start at ``first_row``, does not say class index ``c``."""
    if model.n_outputs == 1:
        return [_binary(model, first_row, 1 - c)]
    return [case for r in range(model.n_outputs) if r != c for case in _beats(model, first_row, r, c)]


def _beats(model: Model, first_row: int, r: int, c: int) -> list[Case]:
    ahead = _margin(first_row, r, c, int(r > c))
    T = model.clamp
    if T is None:
        return [(ahead,)]
    if r < c:
        return [(ahead,), (_at_least(first_row + r, T),), (_at_most(first_row + c, -T),)]
    return [(ahead, _at_least(first_row + r, 1 - T), _at_most(first_row + c, T - 1))]


def _binary(model: Model, row: int, c: int) -> Case:
    t = least_positive_score(model.tie)
    return (_at_least(row, t),) if c == 1 else (_at_most(row, t - 1),)


def _margin(first_row: int, winner: int, loser: int, margin: int) -> Condition:
    return ((first_row + winner, 1), (first_row + loser, -1)), margin


def _at_least(row: int, bound: int) -> Condition:
    return ((row, 1),), bound


def _at_most(row: int, bound: int) -> Condition:
    return ((row, -1),), -bound
