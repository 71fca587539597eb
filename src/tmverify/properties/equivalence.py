"""Equivalence: two machines agree on every input (the paper's Definition 3).

equivalent(A, B)  iff  there is no z with A(z) != B(z)
"""

from __future__ import annotations

from dataclasses import replace

from tmverify.model import Model
from tmverify.properties.query import Query, Topic, query_disagreement
from tmverify.properties.region import Region
from tmverify.properties.scope import Scope, comparable


def equivalence_query(a: Model, b: Model, *, scope: Scope = "team") -> Query:
    """Compile the question; see ``tmverify.check_equivalence`` for the arguments."""
    left, right = comparable(a, b, scope)
    query = query_disagreement(left, right, Region.everything(a.n_features))
    return replace(query, topic=Topic("equivalence", (a, b), scope))
