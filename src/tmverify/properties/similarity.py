"""Similarity: two machines agree on the whole ball around an input (the paper's Definition 4).

similar(A, B, x, eps)  iff  there is no z in ball(x, eps) with A(z) != B(z)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from tmverify.model import Model
from tmverify.model.names import named_first
from tmverify.properties.query import Query, Topic, query_disagreement
from tmverify.properties.region import Direction, ball
from tmverify.properties.scope import Scope, comparable


def similarity_query(
    a: Model,
    b: Model,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: ArrayLike | Sequence[str] | None = None,
    direction: Direction | None = None,
) -> Query:
    """Compile the question; see ``tmverify.check_similarity`` for the arguments."""
    left, right = comparable(a, b, scope)
    region = ball(named_first((left, right)), x, epsilon, features=features, direction=direction)
    query = query_disagreement(left, right, region)
    return replace(query, topic=Topic("similarity", (a, b), scope))
