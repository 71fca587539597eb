"""The estimator's parameters, checked once, before any work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tmverify.estimators.parameters import check_integer, is_number, wrong_parameter
from tmverify.training.machine import MAX_STATES, NO_BUDGET, Rule, make_rule

MAX_THRESHOLD = 1 << 30
MAX_CLAUSES_A_CLASS = 1 << 20
_RULE = ("threshold", "specificity", "n_states", "max_literals", "weighted", "boost_true_positive")


def check_parameters(estimator: Any) -> Rule:
    """The learning rule with these parameters, or InvalidInputError that names the first wrong one."""
    check_integer(estimator, "n_clauses", 2, MAX_CLAUSES_A_CLASS)
    check_integer(estimator, "threshold", 1, MAX_THRESHOLD)
    check_integer(estimator, "n_epochs", 1)
    check_integer(estimator, "n_states", 1, MAX_STATES)
    check_integer(estimator, "patience", 1)
    if estimator.max_literals is not None:
        check_integer(estimator, "max_literals", 1, NO_BUDGET)
    if not is_number(estimator.specificity) or not 1 <= estimator.specificity < math.inf:
        raise wrong_parameter(estimator, "specificity", "a number of at least 1")
    share = estimator.validation_fraction
    if not is_number(share) or not 0 < share < 1:
        raise wrong_parameter(estimator, "validation_fraction", "a number between 0 and 1")
    if estimator.binarize not in ("auto", None):
        raise wrong_parameter(estimator, "binarize", "'auto' or None")
    for name in ("weighted", "boost_true_positive", "early_stopping", "shuffle"):
        if not isinstance(getattr(estimator, name), bool | np.bool_):
            raise wrong_parameter(estimator, name, "True or False")
    if estimator.n_jobs is not None:
        check_integer(estimator, "n_jobs")
        if estimator.n_jobs == 0:
            raise wrong_parameter(
                estimator, "n_jobs", "None, a positive number of threads, or -1 for all cores"
            )
    return make_rule(**{name: getattr(estimator, name) for name in _RULE})
