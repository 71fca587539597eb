"""The estimator's parameters, checked once, before any work."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from tmverify.errors import InvalidInputError, shown
from tmverify.training.machine import MAX_STATES, NO_BUDGET, Rule, make_rule

MAX_THRESHOLD = 1 << 30
MAX_CLAUSES_A_CLASS = 1 << 20


def check_parameters(estimator: Any) -> Rule:
    """The rule of learning that the parameters make, or InvalidInputError naming the first that is wrong."""
    _check_integer(estimator, "n_clauses", 2, MAX_CLAUSES_A_CLASS)
    _check_integer(estimator, "threshold", 1, MAX_THRESHOLD)
    _check_integer(estimator, "n_epochs", 1)
    _check_integer(estimator, "n_states", 1, MAX_STATES)
    _check_integer(estimator, "patience", 1)
    if estimator.max_literals is not None:
        _check_integer(estimator, "max_literals", 1, NO_BUDGET)
    s = estimator.specificity
    if not _is_number(s) or not 1 <= s < math.inf:
        raise _error(estimator, "specificity", "a number of at least 1")
    share = estimator.validation_fraction
    if not _is_number(share) or not 0 < share < 1:
        raise _error(estimator, "validation_fraction", "a number between 0 and 1")
    if estimator.binarize not in ("auto", None):
        raise _error(estimator, "binarize", "'auto' or None")
    for name in ("weighted", "boost_true_positive", "early_stopping", "shuffle"):
        if not isinstance(getattr(estimator, name), bool | np.bool_):
            raise _error(estimator, name, "True or False")
    if estimator.n_jobs is not None:
        _check_integer(estimator, "n_jobs")
        if estimator.n_jobs == 0:
            raise _error(estimator, "n_jobs", "None, a positive number of threads, or -1 for all cores")
    return make_rule(
        threshold=int(estimator.threshold),
        specificity=float(s),
        n_states=int(estimator.n_states),
        max_literals=None if estimator.max_literals is None else int(estimator.max_literals),
        weighted=bool(estimator.weighted),
        boost_true_positive=bool(estimator.boost_true_positive),
    )


def _check_integer(estimator: Any, name: str, least: int | None = None, most: int | None = None) -> None:
    value: Any = getattr(estimator, name)
    bounds = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    if (
        not _is_number(value, numbers.Integral)
        or (least is not None and value < least)
        or (most is not None and value > most)
    ):
        raise _error(estimator, name, f"an integer{bounds}")


def _error(estimator: Any, name: str, must: str) -> InvalidInputError:
    return InvalidInputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {must}. "
        f"Got {shown(getattr(estimator, name))} instead."
    )


def _is_number(value: Any, kind: type = numbers.Real) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
