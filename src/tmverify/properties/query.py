"""Query: every question is compiled to one; it holds everything that an engine needs to know.

    Is there an input z in the region such that, in at least one case, every constraint holds?

A constraint is linear in the clauses' outputs, in integers:

    sum_t coefficient_t * votes[row_t] . clauses(z)  >=  bound

``votes`` has a row per output of each machine that takes part, over the pool of their clauses. Pool
clauses are proper conjunctions: clauses that are contradictory, silent or without a vote are left out, and
clauses that always fire are counted in the bounds, so engines need not handle these edge cases.

Such a ``z`` refutes the property asked about; ``Query.refuted_by`` checks this with the machines themselves,
through the plain evaluator, without looking at the compiled constraints.

What "the model says class c" and "it says something else" mean as constraints is in ``conditions``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, NamedTuple, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Label, Model
from tmverify.model.classifier import TEAM
from tmverify.model.clauses import Clauses, concatenate
from tmverify.model.evaluate import decide, live_clauses, reference_scores
from tmverify.model.names import feature_name, named_first
from tmverify.properties.allowed import Rules
from tmverify.properties.conditions import Case, Terms, decides, fails
from tmverify.properties.formula import leads
from tmverify.properties.region import MOST, Region
from tmverify.properties.setting import Setting
from tmverify.space import Change

# A disagreement of two models has a case per pair of classes, each with a constraint per class.
MAX_COMPARED_CLASSES = 64


@dataclass(frozen=True, slots=True)
class VoteConstraint:
    """sum of ``coefficient * votes[row] . clauses(z)`` over ``terms`` is at least ``bound``."""

    terms: Terms
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


class Asked(NamedTuple):
    """What a claim says was asked: the input (None: every possible one), what may change, what was stated."""

    x: NDArray[np.uint8] | None
    rules: Rules
    stated: dict[str, Any] | None = None


class Account(NamedTuple):
    """A counterexample: where it differs from the centre, if there is one, and the decisions.

    Of two inputs, ``pair`` has both, ``witness`` is the first, and the differences are those of the second.
    With a margin, ``leads`` says by how many votes each machine's decision on the counterexample stands.
    """

    witness: NDArray[np.uint8]
    flips: NDArray[np.int64] | None
    flipped: tuple[str, ...]
    changes: tuple[Change, ...]
    decisions: tuple[Label, ...]
    pair: tuple[NDArray[np.uint8], ...] | None = None
    leads: tuple[int, ...] | None = None


def account(
    model: Classifier, z: NDArray[np.uint8], before: NDArray[np.uint8] | None, decisions: tuple[Label, ...]
) -> Account:
    """How an input of ``model`` differs from the one ``before``, in words."""
    if before is None:
        return Account(z, None, (), (), decisions)
    flips = np.flatnonzero(z != before)
    flipped = tuple(feature_name(model, f) for f in flips.tolist())
    return Account(z, flips, flipped, model.space.changes(before, z), decisions)


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
    margin : int
        A decision that stands by fewer votes counts as another one.
    topic : Topic or None
        For the certificate; engines do not use it.
    """

    region: Region
    machines: tuple[Classifier, ...]
    expected: int | None
    wanted: int | None = None
    margin: int = 0
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

    def violates(self, bits: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """For each row of a checked matrix, whether it violates the property, by the plain evaluator."""
        first, second = self.decisions(bits).T
        if self.wanted is not None:
            return np.asarray(second == self.wanted)
        return np.asarray(first != second)

    def refuted_by(self, z: NDArray[np.uint8]) -> bool:
        """Whether ``z`` lies in the region and violates the property, by the plain evaluator."""
        return self.region.contains(z) and bool(self.violates(z[None, :])[0])

    def account(self, z: NDArray[np.uint8]) -> Account:
        """What a counterexample is, in words: how it differs from the input asked about."""
        labels: tuple[Label, ...] = self.machines[0].classes
        decided = tuple(labels[c] for c in self.decisions(z[None, :])[0])
        found = account(named_first(self.machines), z, self.region.center, decided)
        return found._replace(leads=tuple(self.leads(z[None, :])[0].tolist())) if self.margin else found

    def leads(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """By how many votes each machine's decision stands, (n, machines); asked only with a margin."""
        raise NotImplementedError(f"the decisions of a {self.machines[0].kind} stand by no votes")

    def asked(self) -> Asked:
        """What the question is about, in the words of a claim."""
        return Asked(self.region.center, self.region.rules)

    def setting(self) -> Setting:
        """What the question is about, for those who show its answer."""
        region, classes = self.region, self.machines[0].classes
        everything = region.within(MOST).reach
        return Setting(
            space=named_first(self.machines).space,
            x=region.center,
            epsilon=None if region.radius >= everything else region.radius,
            rules=region.rules,
            scope=TEAM if self.topic is None else self.topic.scope,
            decision=None if self.expected is None else classes[self.expected],
            target=None if self.wanted is None else classes[self.wanted],
        )

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

    def violates(self, bits: NDArray[np.uint8], *, fast: bool = False) -> NDArray[np.bool_]:
        """For each row of a checked uint8 matrix, whether it violates the property.

        By the plain evaluator, unless ``fast``.
        """
        scores = [
            machine.scores(bits) if fast else reference_scores(machine, bits) for machine in self.machines
        ]
        decided = [decide(own, m.tie, m.clamp) for own, m in zip(scores, self.machines, strict=True)]
        if self.wanted is not None:
            return np.asarray(decided[0] == self.wanted)
        found = decided[0] != (decided[1] if self.expected is None else self.expected)
        if self.margin:
            for machine, own, classes in zip(self.machines, scores, decided, strict=True):
                found |= _leads(machine, own, classes) < self.margin
        return np.asarray(found)

    def leads(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """By how many votes each machine's decision stands, (n, machines), by the plain evaluator."""
        found = []
        for machine in self.machines:
            scores = reference_scores(machine, bits)
            found.append(_leads(machine, scores, decide(scores, machine.tie, machine.clamp)))
        return np.stack(found, axis=1)

    def proof_header(self) -> tuple[str, ...]:
        """The constraints, to which refutations refer by number."""
        return (" ".join(("constraints", *map(str, self.constraints))),)


def _leads(machine: Model, scores: NDArray[np.int64], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how many votes, which are scores after the clamp, each row's class is ahead of the others, (n,)."""
    clamp = machine.clamp
    return leads(scores if clamp is None else np.clip(scores, -clamp, clamp), classes)


@singledispatch
def query_change(
    model: Classifier, expected: int, region: Region, wanted: int | None = None, margin: int = 0
) -> AnyQuery:
    """Is there an input in ``region`` that ``model`` does not put into class index ``expected``?

    With ``margin``: or not by at least so many votes. With ``wanted``: that it puts into class index
    ``wanted``. What this compiles to depends on the kind of classifier; each kind registers its own function.
    """
    raise NotImplementedError(f"a {model.kind} has no query")


@query_change.register
def query_machine_change(
    model: Model, expected: int, region: Region, wanted: int | None = None, margin: int = 0
) -> Query:
    """``query_change`` of a Tsetlin machine."""
    cases = list(fails(model, 0, [expected], margin)) if wanted is None else decides(model, 0, wanted)
    return Query(
        **pooled((model,), [([()], cases)]),
        region=region,
        machines=(model,),
        expected=expected,
        wanted=wanted,
        margin=margin,
    )


def query_disagreement(a: Model, b: Model, region: Region, margin: int = 0) -> Query:
    """Is there an input in ``region`` on which two models with the same classes decide differently?

    With ``margin``: or on which one of them decides by less than so many votes?
    """
    if len(a.classes) > MAX_COMPARED_CLASSES:
        raise InvalidInputError(
            f"Two models of more than {MAX_COMPARED_CLASSES} classes can be compared only class by class "
            f"(scope=<class>). Got {len(a.classes)} classes instead."
        )
    both = []
    for c in range(len(a.classes)):
        weak = fails(a, 0, [c], margin) if margin else ()
        both.append((decides(a, 0, c), [*fails(b, a.n_outputs, [c], margin), *weak]))
    return Query(**pooled((a, b), both), region=region, machines=(a, b), expected=None, margin=margin)


def check_query(query: object, kind: type[AnyQuery] = AnyQuery) -> None:
    """Raise InvalidInputError unless ``query`` is a query of that kind."""
    if not isinstance(query, kind):
        machines = " of Tsetlin machines" if kind is Query else ""
        raise InvalidInputError(
            f"query must be a Query, from robustness_query, similarity_query or equivalence_query{machines}. "
            f"Got {type(query).__name__} instead."
        )


class Pooled(TypedDict):
    """The fields of a Query that ``pooled`` makes."""

    clauses: Clauses
    sources: NDArray[np.int64]
    votes: NDArray[np.int64]
    constraints: tuple[VoteConstraint, ...]
    cases: tuple[tuple[int, ...], ...]


def pooled(machines: tuple[Model, ...], products: Sequence[tuple[Sequence[Case], Sequence[Case]]]) -> Pooled:
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
    return Pooled(
        clauses=clauses, sources=sources, votes=votes, constraints=tuple(number), cases=tuple(cases)
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
