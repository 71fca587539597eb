"""Answering questions: ``decide(query)``, and the ``check_*`` functions built on it."""

from tmverify.verify.changes import ChangeSet, NearestChanges, nearest_changes
from tmverify.verify.questions import (
    check_equivalence,
    check_robustness,
    check_similarity,
    robustness_radius,
    similarity_radius,
)
from tmverify.verify.universal import check_universal_robustness, check_universal_similarity
from tmverify.verify.verdict import decide, nearest

__all__ = [
    "ChangeSet",
    "NearestChanges",
    "check_equivalence",
    "check_robustness",
    "check_similarity",
    "check_universal_robustness",
    "check_universal_similarity",
    "decide",
    "nearest",
    "nearest_changes",
    "robustness_radius",
    "similarity_radius",
]
