"""What can be asked: one file per question, each compiles to a Query; and what an answer is."""

from tmverify.properties.equivalence import equivalence_query
from tmverify.properties.query import Query
from tmverify.properties.radius import Radius
from tmverify.properties.robustness import robustness_query
from tmverify.properties.similarity import similarity_query
from tmverify.properties.verdict import Status, StopReason, UniversalVerdict, Verdict

__all__ = [
    "Query",
    "Radius",
    "Status",
    "StopReason",
    "UniversalVerdict",
    "Verdict",
    "equivalence_query",
    "robustness_query",
    "similarity_query",
]
