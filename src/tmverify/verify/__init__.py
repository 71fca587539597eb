"""Answering questions: ``decide(query)``, and the ``check_*`` functions built on it."""

from tmverify.space.phrases import Fact
from tmverify.verify.changes import ChangeSet, NearestChanges, nearest_changes
from tmverify.verify.explaining import Explanations, Importance, explain, explanations, importance
from tmverify.verify.explanation import Explanation
from tmverify.verify.questions import (
    check_equivalence,
    check_robustness,
    check_similarity,
    robustness_radius,
    similarity_radius,
)
from tmverify.verify.stated import Pair
from tmverify.verify.stating import check_fairness, check_monotonicity, prove
from tmverify.verify.universal import check_universal_robustness, check_universal_similarity
from tmverify.verify.verdict import decide, nearest

__all__ = [
    "ChangeSet",
    "Explanation",
    "Explanations",
    "Fact",
    "Importance",
    "NearestChanges",
    "Pair",
    "check_equivalence",
    "check_fairness",
    "check_monotonicity",
    "check_robustness",
    "check_similarity",
    "check_universal_robustness",
    "check_universal_similarity",
    "decide",
    "explain",
    "explanations",
    "importance",
    "nearest",
    "nearest_changes",
    "prove",
    "robustness_radius",
    "similarity_radius",
]
