"""Robustness: no input in the ball is decided otherwise than its centre (the paper's Definition 1).

robust(M, x, eps)  iff  there is no z in ball(x, eps) with M(z) != M(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from numpy.typing import ArrayLike

from tmverify.bnn.model import BnnModel
from tmverify.model import Model
from tmverify.model.evaluate import reference_classes
from tmverify.properties.network import AnyQuery, NetworkQuery, network_query
from tmverify.properties.query import Query, Topic, query_change
from tmverify.properties.region import Direction, ball
from tmverify.properties.scope import Scope, check_network_scope, in_scope


@overload
def robustness_query(
    model: Model,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> Query: ...


@overload
def robustness_query(
    model: BnnModel,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> NetworkQuery: ...


@overload
def robustness_query(
    model: Model | BnnModel,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> AnyQuery: ...


def robustness_query(
    model: Model | BnnModel,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> AnyQuery:
    """Compile the question; see ``tmverify.check_robustness`` for the arguments."""
    if isinstance(model, BnnModel):
        check_network_scope(scope)
        return network_query(model, ball(model, x, epsilon, features=features, direction=direction))
    machine = in_scope(model, scope)
    region = ball(machine, x, epsilon, features=features, direction=direction)
    expected = int(reference_classes(machine, region.origin[None, :])[0])
    query = query_change(machine, expected, region)
    return replace(query, topic=Topic("robustness", (model,), scope))
