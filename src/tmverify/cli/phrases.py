"""Wording that several reports share."""

from __future__ import annotations

from collections.abc import Iterable

from tmverify.cli.output import plain
from tmverify.cli.subject import Subject, Wanted
from tmverify.properties import Radius, StopReason, Verdict


def setting_line(subject: Subject, engine: str, timeout: float | None) -> str:
    """How many inputs, whose decision, what may change if not everything, and how it is found."""
    limit = "no limit" if timeout is None else f"limit {timeout:g} s"
    asked = [f"{len(subject.rows)} inputs", *restrictions(subject.wanted)]
    return " · ".join([*asked, f"engine {engine}", limit])


def restrictions(wanted: Wanted) -> list[str]:
    """Whose decision, and what may change: without it an answer would seem to be about all features."""
    only = [] if wanted.features is None else [f"only features {plain(wanted.features)}"]
    direction = [] if wanted.direction is None else [f"direction {wanted.direction}"]
    return [f"scope {plain(wanted.scope)}", *only, *direction]


def seconds_text(seconds: float) -> str:
    """Seconds with the digits that matter."""
    digits = 4 if seconds < 0.1 else 3 if seconds < 1 else 2
    return f"{seconds:.{digits}f}"


def not_believed(n: int) -> str:
    """What is said of answers in a store that are refused."""
    which = "1 answer in the store is" if n == 1 else f"{n} answers in the store are"
    return f"{which} not believed, and counted as none; run the plan again, which asks anew"


def asked_anew(n: int) -> str:
    """The same after a run."""
    which = "1 answer in the store was" if n == 1 else f"{n} answers in the store were"
    return f"{which} not believed, and asked for anew"


def remedy(answers: Iterable[Verdict | Radius]) -> str:
    """Why the first question was left open that the clock did not stop; else what to do about time."""
    for answer in answers:
        if answer.stop_reason not in (None, StopReason.TIMEOUT) and answer.detail:
            return plain(answer.detail)
    return "raise --timeout, or try another --engine"
