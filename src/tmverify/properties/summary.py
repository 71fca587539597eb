"""An answer in one readable line, as ``repr`` shows it in a notebook.

    violated: good → bad if age 25 to 40 → over 60, city Oslo → Bergen, 15 ms, search
    radius 6: 2 → 1 by flipping x0, x1, x28 …, 51 ms, search
    holds: proved for 95 of 100 inputs, 95 required, 3 violated, 2 not looked at, 1.2 s, auto

An arrow shows a decision that changes; ≠ stands between the decisions of two models on the same input. What
changes is said in the words of the model's columns, or as plain bits by their names. Names come from models,
so they are shortened and made printable to fit on the line.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tmverify.model.names import default_name
from tmverify.properties.questions import PROPERTY, QUESTIONS
from tmverify.properties.trust import NO_CERTIFICATE

if TYPE_CHECKING:
    from tmverify.properties.verdict import Radius, UniversalVerdict, Verdict

_SOME = 3
_PLAIN = {"holds": "proved", "violated": "by a counterexample", "unknown": "for no reason given"}
_LONGEST = 40
_LONGEST_CHANGE = 100
_LONGEST_REASON = 120


def verdict_line(v: Verdict) -> str:
    """A Verdict in one line."""
    said = _found(v) or _why(v) or _PLAIN[v.status.value]
    return ", ".join([f"{v.status.value}: {said}{_note(v)}", *_how(v)])


def radius_line(r: Radius) -> str:
    """A Radius, or its bounds, in one line."""
    said = [_found(r)] if r.decisions is not None else []
    if not r.exact:
        said.insert(0, f"open, {_why(r)}" if r.stop_reason else "open")
    elif r.radius == math.inf:
        said.append("no allowed change alters it" if _of_one_model(r) else "no disagreement")
    return ", ".join([f"radius {r}: {'; '.join(said)}", *_how(r)])


def universal_line(v: UniversalVerdict) -> str:
    """A UniversalVerdict in one line."""
    counts = [v.count(status) for status in type(v.status)]
    holds, violated, unknown = counts
    said = f"proved for {holds} of {v.n_inputs} inputs, {v.required} required"
    others = [f"{n} {word}" for n, word in ((violated, "violated"), (unknown, "unknown")) if n]
    left = v.n_inputs - sum(counts)
    others += [f"{left} not looked at"] if left else []
    return ", ".join([f"{v.status.value}: {said}", *others]) + ", ".join([_note(v), *_how(v)])


def _note(answer: Verdict | UniversalVerdict) -> str:
    """What a reader must know besides, such as that the assumption is true of nothing."""
    if answer.stop_reason is not None or not answer.detail or answer.detail.startswith(NO_CERTIFICATE):
        return ""
    return f" ({_fitting(answer.detail, _LONGEST_REASON)})"


def _found(answer: Verdict | Radius) -> str:
    """The counterexample in words, if there is one."""
    if answer.decisions is None:
        return ""
    changed = _of_one_model(answer)
    labels = [_fitting(str(label)) for label in answer.decisions]
    decisions = f" {'→' if changed else '≠'} ".join(labels) if len(labels) > 1 else f"decided {labels[0]}"
    if answer.flips is None:
        return f"{decisions} on the same input" if len(labels) > 1 else decisions
    if not len(answer.flips):
        return f"{decisions} on the input itself"
    if any({change.before, change.after} != {"0", "1"} for change in answer.changes):
        changes = ", ".join(_fitting(str(change), _LONGEST_CHANGE) for change in answer.changes[:_SOME])
        return f"{decisions} if {changes}{' …' if len(answer.changes) > _SOME else ''}"
    names = answer.flipped or tuple(map(default_name, answer.flips[:_SOME].tolist()))
    listed = ", ".join(map(_fitting, names[:_SOME])) + (" …" if len(answer.flips) > _SOME else "")
    return f"{decisions} {'by' if changed else 'after'} flipping {listed}"


def _of_one_model(answer: Verdict | Radius) -> bool:
    """Whether its two decisions are one model's on two inputs, not two models' on one input."""
    if answer.question == PROPERTY.name:
        return getattr(answer, "pair", None) is None
    return answer.question in QUESTIONS and 1 in QUESTIONS[answer.question].models


def _why(answer: Verdict | Radius) -> str:
    """Why the question is still open."""
    if answer.stop_reason is None:
        return ""
    more = f" ({_fitting(answer.detail, _LONGEST_REASON)})" if answer.detail else ""
    return f"{answer.stop_reason.value}{more}"


def _how(answer: Verdict | Radius | UniversalVerdict) -> list[str]:
    """How long it took, which engine answered, and whether there is a certificate."""
    seconds = answer.seconds
    took = f"{seconds:.3g} s" if seconds >= 0.9995 else f"{1000 * seconds:.3g} ms"
    evidence = ["certificate"] if answer.certificate is not None else []
    if answer.detail.startswith(NO_CERTIFICATE):
        evidence = ["no certificate"]
    return [took, answer.engine, *evidence]


def _fitting(text: str, longest: int = _LONGEST) -> str:
    """The text, shortened and made printable so that it fits on the line."""
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= longest else f"{text[:longest]}…"
