"""The estimator's parameters, checked once, before any work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tmverify.estimators.parameters import check_integer, is_number, wrong_parameter
from tmverify.space import Space
from tmverify.training.defaults import CHOSEN
from tmverify.training.machine import MAX_STATES, NO_BUDGET, Rule, make_rule

MAX_THRESHOLD = 1 << 30
MAX_CLAUSES_A_CLASS = 1 << 20
_RULE = ("threshold", "specificity", "n_states", "max_literals", "weighted", "boost_true_positive")


_INTEGERS = {
    "n_clauses": (2, MAX_CLAUSES_A_CLASS),
    "threshold": (1, MAX_THRESHOLD),
    "n_epochs": (1, None),
    "n_states": (1, MAX_STATES),
    "patience": (1, None),
    "max_literals": (1, NO_BUDGET),
}


def check_parameters(estimator: Any) -> None:
    """Raise InvalidInputError that names the first wrong parameter. None is right where it has a meaning."""
    for name, bounds in _INTEGERS.items():
        if not _left_open(estimator, name):
            check_integer(estimator, name, *bounds)
    s = estimator.specificity
    if s is not None and (not is_number(s) or not 1 <= s < math.inf):
        raise wrong_parameter(estimator, "specificity", "a number of at least 1, or None")
    share = estimator.validation_fraction
    if not is_number(share) or not 0 < share < 1:
        raise wrong_parameter(estimator, "validation_fraction", "a number between 0 and 1")
    given = estimator.binarize
    known = given is None or (isinstance(given, str) and given == "auto")
    if not known and not isinstance(given, Space) and not hasattr(given, "space_named"):
        must = "'auto', None, a Space, or a binarizer such as TableBinarizer()"
        raise wrong_parameter(estimator, "binarize", must)
    for name in ("weighted", "boost_true_positive", "early_stopping", "shuffle"):
        if not (_left_open(estimator, name) or isinstance(getattr(estimator, name), bool | np.bool_)):
            raise wrong_parameter(estimator, name, "True or False")
    if estimator.n_jobs is not None:
        check_integer(estimator, "n_jobs")
        if estimator.n_jobs == 0:
            raise wrong_parameter(
                estimator, "n_jobs", "None, a positive number of threads, or -1 for all cores"
            )


def rule_of(settings: dict[str, Any]) -> Rule:
    """The learning rule with these checked and complete settings."""
    return make_rule(**{name: settings[name] for name in _RULE})


def _left_open(estimator: Any, name: str) -> bool:
    """Whether the parameter is None, and may be."""
    return getattr(estimator, name) is None and name in (*CHOSEN, "max_literals")
