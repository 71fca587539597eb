"""Explainer: one question about one input, from the reasons that are found to an Explanation.

``reasons`` finds them; here their witnesses are replayed, and they are certified and put into words.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.certificates import Certificate, claims
from tmverify.engines import trust_in
from tmverify.engines.engine import Deadline, Outcome, check_timeout
from tmverify.engines.oracle import oracle_for
from tmverify.engines.proof_log import Proof, Refutation, Where
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier, Label
from tmverify.model.inputs import Row
from tmverify.properties import Query, Status, StopReason, robustness_query
from tmverify.properties.allowed import (
    Allowed,
    Rules,
)
from tmverify.properties.query import AnyQuery
from tmverify.properties.region import Region
from tmverify.properties.scope import Scope
from tmverify.properties.trust import HITTING_SETS, NO_CERTIFICATE
from tmverify.space import Change
from tmverify.verify.explanation import (
    Explanation,
    Kind,
    Minimal,
    Words,
    contrastive_rule,
    decided,
    values_of,
)
from tmverify.verify.reasons import NO_REPLAY, Contrastive, Gap, Reasons, Sufficient, Told
from tmverify.verify.verdict import nearest, prepared, with_nearer_values
from tmverify.verify.widening import Widening

_FEW_COLUMNS = 64  # with more, the checker may not see in time that a reason is the smallest
_SHARE_FOR_PROOF = 0.8  # of the time is for finding a reason, if it is to be certified
_NO_TIME = 1e-9  # seconds: a limit is more than 0
_TOO_LONG = "the evidence would be too long, or take too long"


class Explainer:
    """One question about one input, on its way."""

    def __init__(
        self,
        model: Classifier,
        x: Row,
        epsilon: int | None,
        target: Label | None,
        scope: Scope,
        allowed: Allowed | Rules,
        timeout: float | None,
        engine: str,
        certificate: bool,
        told: Told | None,
    ) -> None:
        seconds = check_timeout(timeout)
        self.query: AnyQuery = robustness_query(
            model, x, epsilon, scope=scope, allowed=allowed, target=target
        )
        region, machine = self.query.region, self.query.machines[0]
        assert self.query.expected is not None
        self.decision = machine.classes[self.query.expected]
        if target is not None and self.query.wanted == self.query.expected:
            raise InvalidInputError(
                f"target must be another class than that of x. Got {shown(target)}, as x is decided already."
            )
        self.target, self.epsilon, self.certificate = target, epsilon, certificate
        self.scope = scope
        self.words = Words(model, region)
        self.chosen, _ = prepared(self.query, engine, certificate)
        self.oracle = oracle_for(self.query, engine)
        self.start = time.perf_counter()
        self.deadline = Deadline(seconds)
        share = self.deadline.share(_SHARE_FOR_PROOF) if certificate else self.deadline
        self.reasons = Reasons(self.oracle, share, told)
        self._smallest_rests_on: tuple[str, ...] = ()

    def sufficient(self, smallest: bool, widen: bool) -> Explanation:
        self._smallest_rests_on = HITTING_SETS
        found = self.reasons.smallest_sufficient() if smallest else self.reasons.sufficient()
        if widen:
            Widening(self.reasons, found).run()
        return self._sufficient(found, widened=widen)

    def contrastive(self, smallest: bool) -> Explanation:
        found = self._smallest_contrastive() if smallest else self.reasons.contrastive()
        if isinstance(found, Contrastive):
            return self._contrastive(found)
        status = Status.VIOLATED if found is None else Status.UNKNOWN
        leads = "alters the decision" if self.target is None else f"leads to {self.target}"
        said = f"no change that is allowed {leads}" if found is None else "not known"
        certificate, missing = (
            (None, "") if found else self._certified(Sufficient(np.zeros(0, np.bool_)), [], [])
        )
        return self._explanation(
            kind="contrastive",
            places=[],
            rule=f"{self._then}: {said}",
            then=self._then,
            sufficient=status,
            minimal="smallest" if found is None else "open",
            certificate=certificate,
            gap=found,
            missing=missing,
        )

    def _smallest_contrastive(self) -> Contrastive | Gap | None:
        """The nearest witness, if every change costs 1, or costs do not matter."""
        region = self.query.region
        costs = [own.costs[1:] for own in region.options]
        unit = all((cost == 1).all() for cost in costs)
        if not unit and self.epsilon is not None:
            self._smallest_rests_on = HITTING_SETS
            return self.reasons.smallest_contrastive()
        options = tuple(
            replace(own, costs=(np.arange(len(own.costs)) > 0).astype(np.int64)) for own in region.options
        )
        # Without a limit the budget is what all changes cost, which may be less than their number.
        radius = len(self.oracle.columns) if self.epsilon is None else region.radius
        counted = replace(self.query, region=replace(region, options=options, radius=radius))
        left = self.reasons.deadline.remaining()
        seconds = None if left is None else max(left, _NO_TIME)
        answer = nearest(counted, timeout=seconds, engine=self.chosen.name)
        self.oracle.asked += 1
        self.oracle.rely(*(answer.relies_on or (answer.engine,)))
        if answer.exact:
            if answer.witness is None:
                return None
            return Contrastive(self.oracle.changed(answer.witness), answer.witness, [], smallest=True)
        gap = Gap(answer.stop_reason or StopReason.TIMEOUT, answer.detail)
        if answer.witness is None:
            return gap
        found = self.reasons.contrast(answer.witness)
        found.gap = found.gap or gap
        return found

    def as_explanation(self, found: Sufficient | Contrastive) -> Explanation:
        """A reason that is known to be minimal, as an Explanation."""
        if isinstance(found, Contrastive):
            return self._contrastive(found)
        return self._sufficient(found, widened=False)

    @property
    def _then(self) -> str:
        return self.words.then(self.decision, self.target, self.scope)

    def _sufficient(self, found: Sufficient, *, widened: bool) -> Explanation:
        self._replay(found)
        places, columns = found.places, self.oracle.columns
        own = self.reasons.origin_values(places)
        values = values_of(places, own, found.values)
        numbers = [int(columns[place]) for place in places]
        minimal: Minimal = "open" if found.undecided else "smallest" if found.smallest else "subset"
        certificate, missing = self._certified(found, numbers, values)
        facts = [self.words.fact(c, some) for c, some in zip(numbers, values, strict=True)]
        return self._explanation(
            kind="sufficient",
            places=places,
            facts=tuple(facts),
            rule=self.words.rule(facts, self._then, self.epsilon),
            then=f"{self._then}{self.words.where(self.epsilon)}",
            sufficient=Status.HOLDS,
            minimal=minimal,
            undecided=tuple(self.words.name(int(columns[place])) for place in found.undecided),
            widened=widened,
            values=tuple(map(tuple, values)),
            certificate=certificate,
            gap=found.gap,
            missing=missing,
        )

    def _replay(self, found: Sufficient) -> None:
        """Have every witness replayed by the plain evaluator; what it does not confirm is undecided."""
        keys = [*((place, None) for place in found.needed), *found.limits]
        wrong = self._wrong([*found.needed.values(), *found.limits.values()])
        for (place, value), is_wrong in zip(keys, wrong, strict=True):
            if is_wrong:
                if value is None:
                    del found.needed[place]
                else:
                    del found.limits[place, value]
                found.open_values.add(place)
                found.gap = NO_REPLAY
        if found.smallest and any(self._wrong([z for _, z in self.reasons.pool])):
            found.smallest, found.gap = False, NO_REPLAY  # what must be hit may be less

    def _wrong(self, witnesses: list[NDArray[np.uint8]]) -> list[bool]:
        """For each witness, whether it is none."""
        found: list[bool] = []
        for start in range(0, len(witnesses), 256):
            some = np.array(witnesses[start : start + 256])
            good = self.query.violates(some)
            found += [
                not (is_good and self.query.region.contains(z)) for z, is_good in zip(some, good, strict=True)
            ]
        return found

    def _contrastive(self, found: Contrastive) -> Explanation:
        machine, witness = self.query.machines[0], found.witness
        if self._wrong([witness])[0]:
            return self._explanation(
                kind="contrastive",
                places=[],
                rule=f"{self._then}: not known",
                then=self._then,
                sufficient=Status.UNKNOWN,
                minimal="open",
                gap=NO_REPLAY,
            )
        witness = with_nearer_values(self.query, witness)
        if not (self.oracle.changed(witness) == found.changed).all():
            witness = found.witness
        outcome = machine.classes[int(machine.class_indices(witness[None, :])[0])]
        changes = self._changes(witness)
        then = f"{decided(outcome, self.scope)} instead of {decided(self.decision, self.scope)}"
        places = found.places
        numbers = [int(self.oracle.columns[place]) for place in places]
        own = self.reasons.origin_values(places)
        minimal: Minimal = "open" if found.undecided else "smallest" if found.smallest else "subset"
        certificate, missing = self._certified_contrast(found, numbers, witness)
        return self._explanation(
            kind="contrastive",
            places=places,
            facts=tuple(self.words.fact(c, [own[place]]) for c, place in zip(numbers, places, strict=True)),
            rule=contrastive_rule(changes, then),
            then=then,
            sufficient=Status.HOLDS,
            minimal=minimal,
            undecided=tuple(self.words.name(int(self.oracle.columns[place])) for place in found.undecided),
            witness=witness,
            changes=changes,
            outcome=outcome,
            certificate=certificate,
            gap=found.gap,
            missing=missing,
        )

    def _changes(self, witness: NDArray[np.uint8]) -> tuple[Change, ...]:
        """The changes of a witness in words: of bits, where single bits change."""
        if not self.words.by_bits:
            return self.words.model.space.changes(self.query.region.origin, witness)
        flips = np.flatnonzero(witness != self.query.region.origin).tolist()
        return tuple(Change(self.words.name(bit), str(1 - witness[bit]), str(witness[bit])) for bit in flips)

    def _explanation(
        self,
        *,
        kind: Kind,
        places: list[int],
        gap: Gap | None = None,
        missing: str = "",
        **fields: Any,
    ) -> Explanation:
        columns = [int(self.oracle.columns[place]) for place in places]
        rests_on = (*trust_in(self.oracle.relies_on), *self.chosen.replayed)
        if fields["minimal"] == "smallest" and columns:
            rests_on += self._smallest_rests_on
        return Explanation(
            kind=kind,
            decision=self.decision,
            target=self.target,
            columns=tuple(map(self.words.name, columns)),
            places=tuple(columns),
            within=self.epsilon,
            engine=self.chosen.name,
            questions=self.oracle.asked,
            seconds=time.perf_counter() - self.start,
            stop_reason=None if gap is None else gap.stop_reason,
            detail=missing if gap is None else gap.detail,
            rests_on=tuple(dict.fromkeys(rests_on)),
            setting=self.query.setting(),
            **{"facts": (), **fields},
        )

    # Certificates.

    def _certified(
        self, found: Sufficient, columns: list[int], values: list[list[int]]
    ) -> tuple[Certificate | None, str]:
        if not self.certificate:
            return None, ""
        reason = list(zip(columns, values, strict=True))
        part = self.query.region.among(dict(reason))
        proof = self._proof(part)
        if proof is None:
            return None, f"{NO_CERTIFICATE}{_TOO_LONG}"
        answer, witnesses = self._shown(found)
        limited = self.epsilon is not None
        return claims.reason(self.query, answer, reason, witnesses, proof, limited=limited), ""

    def _shown(self, found: Sufficient) -> tuple[str, list[NDArray[np.uint8]]]:
        """What can be claimed of a sufficient reason, and the witnesses that show it."""
        if found.undecided:
            return "suffices", []
        if found.values:
            nexts = Widening(self.reasons, found).evidence()
            others = [place for place in found.places if place not in found.values]
            if all(place in found.needed for place in others):
                return "widest", [*nexts, *(found.needed[place] for place in others)]
            return "suffices", []
        if found.smallest and len(self.oracle.columns) <= _FEW_COLUMNS:
            return "smallest", [z for _, z in self.reasons.pool]
        if all(place in found.needed for place in found.places):
            return "minimal", [found.needed[place] for place in found.places]
        return "suffices", []

    def _proof(self, part: Region) -> claims.Text | None:
        """The proof that nothing in a part of the region alters the decision; None if time runs out."""
        query = replace(self.query, region=part)
        engine, log = prepared(query, self.chosen.name, True)
        assert log is not None
        if engine.decide(query, self.deadline, log).outcome is not Outcome.NO_WITNESS:
            return None
        return log.proof_of(query, part.radius)

    def _certified_contrast(
        self, found: Contrastive, columns: list[int], witness: NDArray[np.uint8]
    ) -> tuple[Certificate | None, str]:
        if not self.certificate:
            return None, ""
        if found.undecided:
            return None, f"{NO_CERTIFICATE}not every column is known to be needed"
        proof = self._proof_of_need(columns)
        if proof is None:
            return None, f"{NO_CERTIFICATE}{_TOO_LONG}"
        reason = [(column, None) for column in columns]
        limited = self.epsilon is not None
        return claims.reason(self.query, "contrastive", reason, [witness], proof, limited=limited), ""

    def _proof_of_need(self, columns: list[int]) -> claims.Text | None:
        """The proof that nothing alters the decision while one of the columns keeps its value."""
        others = sorted(set(self.oracle.columns.tolist()) - set(columns))
        region = self.query.region
        if not isinstance(self.query, Query):  # of a network, fewer columns are fewer flips
            return self._proof(region.keeping(others).within(min(region.radius, len(columns) - 1)))
        engine, log = prepared(self.query, self.chosen.name, True)
        assert log is not None
        needed: dict[Refutation, None] = {}
        for column in columns:
            part = replace(self.query, region=region.keeping([*others, column]))
            portion = log.portion(range(len(self.query.constraints)), Where(keep=(column,)))
            if engine.decide(part, self.deadline, portion).outcome is not Outcome.NO_WITNESS:
                return None
            refutations = portion.refutations_of(part, part.region.radius)
            if refutations is None:
                return None
            needed.update(dict.fromkeys(refutations))
        return Proof(log, list(needed))
