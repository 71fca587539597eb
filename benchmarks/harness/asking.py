"""Asking and timing: the answers to one kind of question, input by input, in seconds of the whole call.

A call is timed from outside: compiling the question, the engine, replaying the witness. An answer that did
not come counts as the limit; so does an exception, which is kept as the answer. What an unfinished section
had measured can be taken over (``Sheet.known``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from harness.report import Section

Answered = tv.Verdict | tv.Radius
DECIDED = ("holds", "violated")
_TINY = tv.Model.from_clauses(2, [[1], [2]], [[1, 1]], bias=-1)


@dataclass
class Answers:
    """Answers of one engine to one kind of question; ``of`` says which, ``limit`` is in seconds."""

    of: dict[str, Any]
    limit: float
    inputs: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def count(self, answer: str) -> int:
        return self.answers.count(answer)

    @property
    def solved(self) -> int:
        return sum(map(is_solved, self.answers))

    @property
    def too_large(self) -> bool:
        return tv.StopReason.ENCODING_TOO_LARGE.value in self.answers

    @property
    def open(self) -> list[tuple[int, str, float]]:
        """Input, answer and seconds of all that was not solved."""
        rows = zip(self.inputs, self.answers, self.seconds, strict=True)
        return [row for row in rows if not is_solved(row[1])]

    @property
    def counted(self) -> NDArray[np.float64]:
        """Seconds, those of unsolved questions at the limit."""
        rows = zip(self.seconds, self.answers, strict=True)
        return np.array([t if is_solved(answer) else self.limit for t, answer in rows])

    @property
    def mean(self) -> float:
        return float(self.counted.mean())

    @property
    def median(self) -> float:
        return float(np.median(self.counted))

    @property
    def largest(self) -> float:
        return float(max(self.counted.max(), *self.seconds))  # a limit may be overrun

    def percentile(self, p: float) -> float:
        return float(np.percentile(self.counted, p))


def is_solved(answer: str) -> bool:
    """A verdict, or a radius that is exact; not bounds, not a reason for having stopped."""
    return answer in DECIDED or answer == "inf" or answer.isdigit()


def told(answered: Answered) -> str:
    """The answer in a word: a verdict, a radius, bounds ``3..5``, or why there is none."""
    if isinstance(answered, tv.Radius):
        return str(answered)
    if answered.status is tv.Status.UNKNOWN:
        return str(answered.stop_reason)
    return answered.status.value


class Sheet:
    """A section while it is being measured."""

    def __init__(self, section: Section, older: Sequence[Mapping[str, Any]] = ()) -> None:
        self.section = section
        self.known: dict[str, dict[int, tuple[float, str]]] = {}
        for group in older:
            rows = zip(group["inputs"], group["seconds"], group["answers"], strict=True)
            # An exception is not taken over: the bug may be gone.
            known = {i: (seconds, answer) for i, seconds, answer in rows if ": " not in answer}
            self.known[repr(group["of"])] = known
        names = ("tmverify", "numpy", "numba", "python-sat")
        section.versions = {name: version(name) for name in names}

    def answers(self, limit: float, **of: Any) -> Answers:
        """A new kind of question."""
        group = Answers(of, limit)
        self.section.raw.append(group)
        return group

    def ask(self, group: Answers, row: int, question: Callable[[], Answered]) -> str:
        """Put one question, or take over what is known of it."""
        known = self.known.get(repr(group.of), {})
        if row in known:
            seconds, answer = known[row]
        else:
            start = time.perf_counter()
            try:
                answer = told(question())
            except Exception as error:  # a bug must not cost the hours of measuring that follow
                answer = f"{type(error).__name__}: {error}"
            seconds = time.perf_counter() - start
            if not is_solved(answer):
                # A solver's process is killed at the limit; starting the next is no part of a question.
                start_solver()
        group.inputs.append(row)
        group.seconds.append(float(f"{seconds:.4g}"))
        group.answers.append(answer)
        return answer

    def first_use(self, questions: Sequence[Callable[[], Answered]]) -> None:
        """Ask without counting, so that loading and compiling is not measured; say what it took."""
        start = time.perf_counter()
        for question in questions:
            question()
        self.section.findings.append(
            f"Before measuring, and not counted: {time.perf_counter() - start:.2f} s for the first questions "
            "of this section (kernels are loaded, or compiled where numba's cache is empty)."
        )

    def row_done(self) -> None:
        print(f"{self.section.title}: {' | '.join(self.section.rows[-1])}", file=sys.stderr, flush=True)


def start_solver() -> tv.Verdict:
    """See that the process of ``sat`` and ``paper`` is there, which they share."""
    return tv.check_robustness(_TINY, [1, 1], 1, engine="sat")


def ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def at_most(found: float, wanted: float, unit: str) -> str:
    """``12.3 ms (wanted: at most 20 ms, reached)``, of figures in that unit."""
    verdict = "reached" if found <= wanted else "missed"
    return f"{found:.3g} {unit} (wanted: at most {wanted:g} {unit}, {verdict})"
