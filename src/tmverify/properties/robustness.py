"""Robustness: no input in the ball is decided otherwise than its centre (the paper's Definition 1).

robust(M, x, eps)  iff  there is no z in ball(x, eps) with M(z) != M(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from tmverify.model import Model
from tmverify.model.evaluate import reference_classes
from tmverify.properties.query import Query, Topic, query_change
from tmverify.properties.region import Direction, ball
from tmverify.properties.scope import Scope, in_scope


def robustness_query(
    model: Model,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> Query:
    """Compile the question; see ``tmverify.check_robustness`` for the arguments."""
    machine = in_scope(model, scope)
    region = ball(machine, x, epsilon, features=features, direction=direction)
    expected = int(reference_classes(machine, region.origin[None, :])[0])
    query = query_change(machine, expected, region)
    return replace(query, topic=Topic("robustness", (model,), scope))
