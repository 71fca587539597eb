"""Live: what is known of one input, told while it is being found out.

    look       at once
    radius     between these bounds, with the nearest change so far; and in the end
    reason     so many columns are decided; and in the end
    disagree   like the radius, to the nearest input on which two models differ

The answers are those of ``tv.robustness_radius``, ``tv.explain`` and ``tv.similarity_radius``. What an engine
tells before is a claim: a change is shown only after the plain evaluator has replayed it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Model
from tmverify.properties import Radius, Status, robustness_query, similarity_query
from tmverify.properties.allowed import Allowed
from tmverify.properties.query import Query
from tmverify.space import Space
from tmverify.studio.asked import Point
from tmverify.studio.form import bits_text
from tmverify.studio.opened import Opened
from tmverify.verify import Explanation, nearest
from tmverify.verify.explaining import find_explanation

SECONDS = 60.0  # for each answer
_TOLD_EVERY = 0.05  # seconds, of progress that is only a number

Event = dict[str, Any]
Tell = Callable[[Event], None]


def allowed_at(point: Point, space: Space) -> Allowed:
    """What may change: every column that is not marked as fixed."""
    return Allowed(freeze=[space.columns[column].name for column in point.fixed])


def radius_query(point: Point, model: Model) -> Query:
    """How near is another decision of this model?"""
    return robustness_query(model, point.bits, None, allowed=allowed_at(point, model.space))


def disagreement_query(space: Space, point: Point, a: Model, b: Model) -> Query:
    """How near is an input on which the models disagree?"""
    return similarity_query(a, b, point.bits, None, allowed=allowed_at(point, space))


def impossible_text(opened: Opened, point: Point) -> str:
    """Why nothing can be asked about bits that no row has; empty if some row has them."""
    wrong = opened.impossible(point.bits)
    if not wrong:
        return ""
    column = opened.space.columns[wrong[0]]
    return (
        f"No row can have these bits: column {column.name} is {column.words(point.bits)}. "
        "Choose one of its values."
    )


class Distance:
    """The distance to the nearest witness of a query: bounds while it is sought, then the answer."""

    def __init__(self, query: Query, space: Space, model: int | None, tell: Tell) -> None:
        self.query, self._space, self._model, self._tell = query, space, model, tell
        self._start = time.perf_counter()
        self._told: tuple[float, float] | None = None
        self._change: Event | None = None
        self._cost = math.inf  # of the change that is shown

    def told(self, lower: float, upper: float, witness: NDArray[np.uint8] | None) -> None:
        """Hear bounds from the engine; what is sent is true of the change that comes with it."""
        if witness is not None and upper < self._cost:
            cost = self.query.region.cost(witness)
            if cost is None or cost != upper or not self.query.refuted_by(witness):
                return
            self._change, self._cost = self._changed(witness, cost), upper
        if (lower, self._cost) != self._told:
            self._told = lower, self._cost
            self._tell(self._event(lower, self._cost, done=False))

    def answer(self, seconds: float) -> Event:
        """The final event."""
        radius = nearest(self.query, timeout=seconds)
        if radius.witness is not None:
            self._change = self._changed(radius.witness, int(radius.upper))
        else:
            self._change = None
        event = self._event(radius.lower, radius.upper, done=True)
        return {
            **event,
            "status": status_of(radius),
            "why": "" if radius.exact else why_open(radius),
            "trusts": list(radius.trusts),
        }

    def _event(self, lower: float, upper: float, *, done: bool) -> Event:
        about = {} if self._model is None else {"model": self._model}
        return {
            **about,
            "lower": _number(lower),
            "upper": _number(upper),
            "done": done,
            "seconds": round(time.perf_counter() - self._start, 4),
            "change": self._change,
        }

    def _changed(self, witness: NDArray[np.uint8], cost: int) -> Event:
        origin = self.query.region.origin
        decided = [
            str(self.query.machines[0].classes[c]) for c in self.query.decisions(witness[None, :])[0].tolist()
        ]
        said = {"decision": decided[1]} if self._model is not None else {"decisions": decided}
        columns = np.unique(self._space.columns_of(np.flatnonzero(witness != origin))).tolist()
        changes = self._space.changes(origin, witness)
        return {
            "bits": bits_text(witness),
            "cost": cost,
            **said,
            "changes": [
                {
                    "column": column,
                    "name": change.column,
                    "before": change.before,
                    "after": change.after,
                    "text": str(change),
                }
                for column, change in zip(columns, changes, strict=True)
            ],
        }


def status_of(radius: Radius) -> str:
    """Whether a radius is exact, unknown, or there is no witness at all."""
    if not radius.exact:
        return "unknown"
    return "never" if radius.lower == math.inf else "exact"


def why_open(answer: Radius | Explanation) -> str:
    """Why something is not known, in words."""
    reason = "" if answer.stop_reason is None else answer.stop_reason.value
    return answer.detail or reason or "not known"


def reason_at(point: Point, model: Model, *, certificate: bool, tell: Tell) -> Explanation:
    """The facts that suffice for the decision, within a distance or everywhere; as wide as they can be."""
    start = told_at = time.perf_counter()

    def told(decided: int, total: int) -> None:
        nonlocal told_at
        now = time.perf_counter()
        if now - told_at >= _TOLD_EVERY:
            told_at = now
            tell({"done": False, "decided": decided, "of": total, "seconds": round(now - start, 4)})

    return find_explanation(
        model,
        point.bits,
        kind="sufficient",
        epsilon=point.within,
        smallest=False,
        widen=not model.space.only_flags,
        target=None,
        scope="team",
        allowed=allowed_at(point, model.space),
        timeout=SECONDS,
        engine="auto",
        certificate=certificate,
        told=told,
    )


def reason_event(found: Explanation) -> Event:
    """The final event about a reason."""
    minimal = found.minimal != "open"
    names = {name: place for place, name in zip(found.places, found.columns, strict=True)}
    return {
        "done": True,
        "status": found.sufficient.value if found.sufficient is Status.HOLDS else Status.UNKNOWN.value,
        "columns": list(found.places),
        "facts": [
            {"column": place, "name": fact.column, "value": fact.value, "text": fact.text}
            for place, fact in zip(found.places, found.facts, strict=True)
        ],
        "rule": found.rule,
        "minimal": found.minimal,
        "undecided": [names[name] for name in found.undecided if name in names],
        "within": found.within,
        "seconds": round(found.seconds, 4),
        "why": "" if minimal else why_open(found),
        "trusts": list(found.trusts),
    }


def _number(bound: float) -> int | None:
    """A bound as it is sent: infinity is null."""
    return None if bound == math.inf else int(bound)
