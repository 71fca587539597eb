"""Robustness: no input in the ball is decided otherwise than its centre (the paper's Definition 1).

robust(M, x, eps)  iff  there is no z in ball(x, eps) with M(z) != M(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from numpy.typing import ArrayLike

from tmverify.model import Classifier, Model
from tmverify.properties.query import AnyQuery, Query, Topic, query_change
from tmverify.properties.region import Direction, ball
from tmverify.properties.scope import Scope, check_classifier


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
    model: Classifier,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> AnyQuery: ...


def robustness_query(
    model: Classifier,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> AnyQuery:
    """Compile the question; see ``tmverify.check_robustness`` for the arguments."""
    decider = check_classifier(model, "model").in_scope(scope)
    region = ball(decider, x, epsilon, features=features, direction=direction)
    expected = int(decider.class_indices(region.origin[None, :])[0])
    return replace(query_change(decider, expected, region), topic=Topic("robustness", (model,), scope))
