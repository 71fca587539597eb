"""The nearest changes: the cheapest sets of columns whose change alters the decision, none within another.

Others call them counterfactuals, or recourse: "you would be approved with: savings moderate instead of
little". Each is the nearest witness of a part of the region, and the parts together leave nothing out:

A set that contains none of the sets found so far lets at least one column of each keep its value. So when a
set S is found in the part in which the columns K keep their values, that part is divided into one part for
each column c of S, in which K and c keep theirs (E. L. Lawler 1972, for the k best solutions). Parts wait in
order of what their nearest witness costs, or at least costs; a set that is found in the first of them is
proved to be the next one. The cheapest set of a part has no proper subset that alters the decision, as that
would cost less, or as much with fewer columns: of equally cheap sets, those of fewer columns come first. A
set within an earlier one can only be dearer (fewer columns, but larger steps); it is not listed, and neither
are sets that contain it.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import overload

import numpy as np
from numpy.typing import NDArray

from tmverify.certificates import Certificate, claims
from tmverify.engines.engine import Deadline, Outcome, check_timeout
from tmverify.engines.proof_log import Proof, Refutation, Where
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Label, Model
from tmverify.model.inputs import Row
from tmverify.properties import Query, Radius, StopReason, robustness_query
from tmverify.properties.allowed import (
    Allowed,
    Columns,
    Costs,
    Direction,
    Distance,
    Features,
    Rules,
    Within,
)
from tmverify.properties.scope import Scope, check_model
from tmverify.properties.setting import Setting
from tmverify.properties.trust import NO_CERTIFICATE
from tmverify.space import Change
from tmverify.verify.verdict import nearest, prepared

MOST = 1000
MOST_PARTS = 1000  # of a region, in a certificate


@dataclass(frozen=True, slots=True, eq=False)
class ChangeSet:
    """One set of columns whose change alters the decision.

    Attributes
    ----------
    changes : tuple of Change
        The columns, each with its value before and after, in words.
    cost : int
        What it costs; by default, the number of columns.
    witness : uint8 array, (n_features,)
        The input with these changes.
    decision : label
        The model's decision there; it was run on it.
    optimal : bool
        Whether it is proved that no other set is cheaper, but those before it, and sets that contain one of
        them or lie within one.
    certificate : Certificate or None
        The proof of that, if it was asked for: it can be checked independently.
    detail : str
        Why there is no certificate, if it was asked for.
    """

    changes: tuple[Change, ...]
    cost: int
    witness: NDArray[np.uint8]
    decision: Label
    optimal: bool
    certificate: Certificate | None = None
    detail: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(change.column for change in self.changes)

    def __str__(self) -> str:
        return ", ".join(map(str, self.changes))

    def __repr__(self) -> str:
        mark = "" if self.optimal else " (open: there may be a cheaper one)"
        return f"<{self.decision} at cost {self.cost} with: {self}{mark}>"


@dataclass(frozen=True, slots=True, eq=False)
class NearestChanges(Sequence[ChangeSet]):
    """The nearest changes of an input, cheapest first.

    Attributes
    ----------
    before : label
        The decision on the input itself.
    complete : bool
        Whether it has all that was asked for, each proved: ``k`` sets, or all that there are.
    exhausted : bool
        Whether it is proved that there are no others.
    seconds : float
    certificate : Certificate or None
        The proof that there are no others, if there are none and certificates were asked for; None also if it
        would be too long, or take too long, as ``detail`` says then.
    stop_reason : StopReason or None
        Why it is not complete; ``detail`` says more.
    setting : Setting or None
        What was asked, so that it can be shown by itself.
    """

    found: tuple[ChangeSet, ...]
    before: Label
    complete: bool
    exhausted: bool
    seconds: float
    stop_reason: StopReason | None = None
    detail: str = ""
    certificate: Certificate | None = None
    setting: Setting | None = None

    @overload
    def __getitem__(self, index: int) -> ChangeSet: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ChangeSet, ...]: ...
    def __getitem__(self, index: int | slice) -> ChangeSet | tuple[ChangeSet, ...]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        left = "" if self.complete else f", open: {self.detail}"
        return f"<{len(self)} nearest changes of {self.before!r}: {'; '.join(map(str, self.found))}{left}>"

    def _repr_html_(self) -> str:
        from tmverify.verify.card import changes_card

        return changes_card(self)


def nearest_changes(
    model: Model,
    x: Row,
    k: int = 5,
    *,
    target: Label | None = None,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 60.0,
    engine: str = "auto",
    certificate: bool = False,
) -> NearestChanges:
    """The ``k`` cheapest sets of columns whose change alters the decision on ``x``.

    No set contains another. Each comes with its best values: the cheapest ones, and of these such that are
    near to those of ``x``.

    Parameters
    ----------
    k : int
        How many, at most.
    target : label, optional
        The decision that is wished for; without it, any other than that on ``x``.
    timeout : float or None
        Seconds for the whole call.
    certificate : bool
        Whether to write down, for each set, the proof that none that is cheaper was left out.
    model, x, scope, distance, columns, freeze, increase, decrease, within, cost, known_values, features,
    direction, engine
        As in ``check_robustness``: what may change, and what it costs.

    Returns
    -------
    NearestChanges
        A sequence of ChangeSet, cheapest first. After a limit it has what is known: sets that are
        ``optimal``, and perhaps one that is not proved to be.

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> import tmverify as tv
    >>> space = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 40]), tv.Flag("member")])
    >>> model = tv.Model.from_clauses(4, [[1], [3], [2, 4]], [[1, 1, 1]], bias=-1, space=space)
    >>> for change in tv.nearest_changes(model, {"owner": 0, "age": 20, "member": 1}):
    ...     print(change.cost, change)
    1 owner 0→1
    1 age up to 25 → 25 to 40
    """
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    return find_changes(
        model,
        x,
        k,
        target=target,
        scope=scope,
        allowed=allowed,
        timeout=timeout,
        engine=engine,
        certificate=certificate,
    )


def find_changes(
    model: Model,
    x: Row,
    k: int,
    *,
    target: Label | None,
    scope: Scope = "team",
    allowed: Allowed | Rules,
    timeout: float | None,
    engine: str,
    certificate: bool,
) -> NearestChanges:
    """``nearest_changes``, with what may change as one argument."""
    check_model(model, "model")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= MOST:
        raise InvalidInputError(f"k must be an integer from 1 to {MOST}. Got {shown(k)} instead.")
    start, deadline = time.perf_counter(), Deadline(check_timeout(timeout))
    query = robustness_query(model, x, None, scope=scope, allowed=allowed, target=target)
    finder = _Finder(query, engine, deadline, certificate)
    found = []
    for change in finder.find():
        found.append(change)
        if len(found) == k:
            break
    exhausted = len(found) < k and finder.stop_reason is None
    end = finder.proof_of_the_end() if exhausted else None
    assert query.expected is not None
    return NearestChanges(
        found=tuple(found),
        before=query.machines[0].classes[query.expected],
        complete=finder.stop_reason is None,
        exhausted=exhausted,
        certificate=end,
        seconds=time.perf_counter() - start,
        stop_reason=finder.stop_reason,
        detail=finder.detail,
        setting=query.setting(),
    )


@dataclass(slots=True, order=True)
class _Part:
    """The part of the region in which some columns keep their values, with its nearest witness if known."""

    at_least: float
    number: int
    kept: frozenset[int] = field(compare=False)
    answer: Radius | None = field(default=None, compare=False)


class _Finder:
    """Finds one set after another; stops with a reason if a part is left open."""

    def __init__(self, query: Query, engine: str, deadline: Deadline, certificate: bool) -> None:
        self.query, self.engine, self.deadline, self.certificate = query, engine, deadline, certificate
        self.region = query.region.counting_columns()
        self.stop_reason: StopReason | None = None
        self.detail = ""
        self._numbers = count()
        self._seen: set[frozenset[int]] = set()
        self._found: list[frozenset[int]] = []

    def find(self) -> Iterator[ChangeSet]:
        waiting: list[_Part] = []
        found = self._found
        self._wait(waiting, 0, frozenset())
        while waiting:
            part = heapq.heappop(waiting)
            if part.answer is None:
                part.answer = self._ask(part.kept)
                if part.answer.lower < part.answer.upper:
                    yield from self._give_up([part, *waiting])
                    return
                part.at_least = part.answer.lower
                if part.at_least < math.inf:
                    heapq.heappush(waiting, part)
                continue
            columns = self._changed(part.answer)
            known = next((other for other in found if other <= columns), None)
            if known is None:
                if not any(columns < other for other in found):
                    yield self._certified(self._change_set(part.answer, optimal=True), found)
                found.append(columns)
                known = columns
            for column in sorted(known):
                self._wait(waiting, part.at_least, part.kept | {column})

    def _wait(self, waiting: list[_Part], at_least: float, kept: frozenset[int]) -> None:
        if kept not in self._seen:
            self._seen.add(kept)
            # Of parts that may be equally cheap, the newest comes first: it has fewer columns left, and the
            # older ones would be divided again and again.
            heapq.heappush(waiting, _Part(at_least, -next(self._numbers), kept))

    def _ask(self, kept: frozenset[int]) -> Radius:
        left = self.deadline.remaining()
        query = replace(self.query, region=self.region.keeping(kept))
        return nearest(query, timeout=None if left is None else max(left, 1e-3), engine=self.engine)

    def _give_up(self, parts: list[_Part]) -> Iterator[ChangeSet]:
        """Say why the first of the parts is open; the cheapest witness that is known is still one."""
        open_ = parts[0].answer
        assert open_ is not None
        self.stop_reason, self.detail = open_.stop_reason, open_.detail
        known = [part.answer for part in parts if part.answer is not None and part.answer.witness is not None]
        for answer in sorted(known, key=lambda answer: answer.upper):
            columns = self._changed(answer)
            if not any(other <= columns or columns < other for other in self._found):
                yield self._change_set(answer, optimal=False)
                return

    def _certified(self, change: ChangeSet, apart: list[frozenset[int]]) -> ChangeSet:
        """The set with its certificate: no other is cheaper that lets a column of each earlier set be."""
        if not self.certificate:
            return change
        certificate = self._proof(apart, change.cost - 1, change)
        missing = "" if certificate else f"{NO_CERTIFICATE}the evidence would be too long, or take too long"
        return replace(change, certificate=certificate, detail=missing)

    def proof_of_the_end(self) -> Certificate | None:
        """The certificate that there is no further set, if certificates are wanted.

        There is nothing to prove after the empty set, which every other contains.
        """
        if not self.certificate or frozenset() in self._found:
            return None
        proof = self._proof(self._found, self.query.region.reach, None)
        if proof is None:
            self.detail = f"{NO_CERTIFICATE}that there are no others would be too long, or take too long"
        return proof

    def _proof(
        self, apart: list[frozenset[int]], within: int, change: ChangeSet | None
    ) -> Certificate | None:
        """The proof that what lets a column of each of these sets be costs more; None if time runs out."""
        asked = replace(self.query, region=replace(self.query.region, apart=tuple(apart)))
        engine, log = prepared(asked, self.engine, True)
        assert log is not None
        needed: dict[Refutation, None] = {}
        parts = _transversals(apart) if within >= 0 else []
        if parts is None:
            return None
        for kept in parts:
            part = replace(asked, region=self.query.region.keeping(kept).within(within))
            portion = log.portion(range(len(asked.constraints)), Where(keep=tuple(sorted(kept))))
            outcome = engine.decide(part, self.deadline, portion).outcome
            refutations = portion.refutations_of(part, within)
            if outcome is not Outcome.NO_WITNESS or refutations is None:
                return None
            needed.update(dict.fromkeys(refutations))
        far, witness = (math.inf, None) if change is None else (change.cost, change.witness)
        return claims.radius(asked, far, witness, Proof(log, list(needed)))

    def _changed(self, answer: Radius) -> frozenset[int]:
        assert answer.flips is not None
        return frozenset(self.region.column_of(answer.flips).tolist())

    def _change_set(self, answer: Radius, *, optimal: bool) -> ChangeSet:
        assert answer.witness is not None
        assert answer.decisions is not None
        cost = self.query.region.cost(answer.witness)
        assert cost is not None
        return ChangeSet(answer.changes, cost, answer.witness, answer.decisions[1], optimal)


def _transversals(sets: Sequence[frozenset[int]]) -> list[frozenset[int]] | None:
    """The minimal sets that have a column of each of these; None if they are too many."""
    found = [frozenset[int]()]
    for one in sets:
        longer = {kept if kept & one else kept | {column} for kept in found for column in one}
        if len(longer) > MOST_PARTS:
            return None
        found = [kept for kept in longer if not any(other < kept for other in longer)]
    return sorted(found, key=sorted)
