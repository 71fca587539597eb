"""Batteries of random cases: some of them in ``make test``, all of them in ``make test-deep``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """Run a test with ``n_cases=few``, and in ``make test-deep`` with ``n_cases=many``."""
    return pytest.mark.parametrize(
        "n_cases", [_param(few, deep=False), _param(many, deep=True)], ids=["few", "many"]
    )


def battery(few: tuple[Iterable[int], int], many: tuple[Iterable[int], int]) -> pytest.MarkDecorator:
    """Run a test with each ``seed`` and ``n_cases`` of ``few``, and in ``make test-deep`` of ``many``."""
    return pytest.mark.parametrize(
        ("seed", "n_cases"),
        [_param(seed, few[1], deep=False) for seed in few[0]]
        + [_param(seed, many[1], deep=True) for seed in many[0]],
    )


def first(n: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the first ``n`` are always run, the others in ``make test-deep``."""
    return [_param(value, deep=i >= n) for i, value in enumerate(values)]


def one_in(n: int, pairs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Parameters of a test: every ``n``-th is always run, the others in ``make test-deep``."""
    return [_param(*pair, deep=i % n != 0) for i, pair in enumerate(pairs)]


def _param(*values: Any, deep: bool) -> Any:
    return pytest.param(*values, marks=[pytest.mark.deep] if deep else [])
