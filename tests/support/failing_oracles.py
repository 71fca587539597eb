"""Oracles that stop, or lie, at a chosen question, and deadlines that pass at a chosen look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tmverify.engines.engine import Answer, Deadline, found, stopped
from tmverify.engines.oracle import Oracle, oracle_for
from tmverify.properties.verdict import StopReason

Replaced = Callable[[int, Oracle, Answer], Answer]
"""Makes another answer of the answer to question n."""


def stops_at(k: int) -> Replaced:
    """Every question from the k-th on is left open."""
    return lambda n, oracle, answer: answer if n < k else stopped(StopReason.TIMEOUT, "as it was told")


def stops_once(k: int) -> Replaced:
    """The k-th question is left open, as after a crash; others are not."""
    return lambda n, oracle, answer: answer if n != k else stopped(StopReason.CRASHED, "as it was told")


def lies_at(k: int, lie: Any, *, for_ever: bool) -> Replaced:
    """The k-th question, and perhaps all that follow, are answered by ``lie``, whatever is asked."""
    return lambda n, oracle, answer: found(lie) if n == k or (for_ever and n > k) else answer


@contextmanager
def failing(replaced: Replaced) -> Iterator[list[Oracle]]:
    """Explanations ask such an oracle; yields the list of oracles that were made."""
    made: list[Oracle] = []

    def another(query: Any, engine: str) -> Oracle:
        oracle = oracle_for(query, engine)
        made.append(oracle)
        n = 0
        inside = False

        def changed(ask: Callable[..., Answer]) -> Callable[..., Answer]:
            def asked(*arguments: Any, **options: Any) -> Answer:
                nonlocal n, inside
                if inside:  # one question may lead to another
                    return ask(*arguments, **options)
                inside = True
                try:
                    answer = ask(*arguments, **options)
                finally:
                    inside = False
                n += 1
                return replaced(n - 1, oracle, answer)

            return asked

        oracle.ask = changed(oracle.ask)  # type: ignore[method-assign]
        oracle.ask_among = changed(oracle.ask_among)  # type: ignore[method-assign]
        return oracle

    with mock.patch("tmverify.verify.explainer.oracle_for", another):
        yield made


class Looks:
    """How often somebody has looked at the clock; the time is over after ``most`` looks."""

    def __init__(self, most: float) -> None:
        self.n, self.most = 0, most

    def over(self) -> bool:
        self.n += 1
        return self.n > self.most


class CountingDeadline(Deadline):
    """A deadline that passes at a chosen look; its shares look at the same clock."""

    __slots__ = ("looks",)

    def __init__(self, looks: Looks) -> None:
        super().__init__(60.0)
        self.looks = looks

    def remaining(self) -> float | None:
        return 0.0 if self.looks.over() else 60.0

    def passed(self) -> bool:
        return self.looks.over()

    def share(self, part: float, unlimited: float | None = None) -> Deadline:
        return self


@contextmanager
def counting(most: float) -> Iterator[Looks]:
    """Explanations have time for so many looks at the clock."""
    looks = Looks(most)
    deadline = CountingDeadline(looks)
    with (
        mock.patch("tmverify.verify.explainer.Deadline", return_value=deadline),
        mock.patch("tmverify.verify.verdict.Deadline", return_value=deadline),
    ):
        yield looks
