"""An answer in one readable line, as ``repr`` shows it in a notebook.

    violated: good → bad if age 25 to 40 → over 60, city Oslo → Bergen, 15 ms, search
    radius 6: 2 → 1 by flipping x0, x1, x28 …, 51 ms, search
    holds: proved for 95 of 100 inputs, 95 required, 3 violated, 2 not looked at, 1.2 s, auto
    violated: good by 1 vote if city Oslo → Bergen, 12 ms, search

An arrow shows a decision that changes; ≠ stands between the decisions of two models on the same input. If the
decisions are the same, there is a margin, and the line says by how many votes they stand. What changes is
said in the words of the model's columns, or as plain bits by their names. Names come from models, so they are
shortened and made printable to fit on the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tmverify.model.names import default_name
from tmverify.properties.questions import PROPERTY, QUESTIONS, margin_text, votes_text
from tmverify.properties.trust import NO_CERTIFICATE

if TYPE_CHECKING:
    from tmverify.model import Label
    from tmverify.properties.verdict import Radius, UniversalVerdict, Verdict

_SOME = 3
_PLAIN = {"holds": "proved", "violated": "by a counterexample", "unknown": "for no reason given"}
_LONGEST = 40
_LONGEST_CHANGE = 100
_LONGEST_REASON = 120


def verdict_line(v: Verdict) -> str:
    """A Verdict in one line."""
    said = _found(v) or _why(v) or _PLAIN[v.status.value]
    if v.margin and v.status.value == "holds":
        whose = "the decision stands" if of_one_model(v) else "each decides"
        said = f"{said}, {whose} {margin_text(v.margin)}"
    return ", ".join([f"{v.status.value}: {said}{_note(v)}", *_how(v)])


def radius_line(r: Radius) -> str:
    """A Radius, or its bounds, in one line."""
    said = [_found(r)] if r.decisions is not None else []
    if not r.exact:
        said.insert(0, f"open, {_why(r)}" if r.stop_reason else "open")
    elif r.radius == math.inf:
        said.append(_never(r))
    return ", ".join([f"radius {r}: {'; '.join(said)}", *_how(r)])


def universal_line(v: UniversalVerdict) -> str:
    """A UniversalVerdict in one line."""
    counts = [v.count(status) for status in type(v.status)]
    holds, violated, unknown = counts
    proved = f"proved {margin_text(v.margin)}" if v.margin else "proved"
    said = f"{proved} for {holds} of {v.n_inputs} inputs, {v.required} required"
    others = [f"{n} {word}" for n, word in ((violated, "violated"), (unknown, "unknown")) if n]
    left = v.n_inputs - sum(counts)
    others += [f"{left} not looked at"] if left else []
    answer = ", ".join([f"{v.status.value}: {said}", *others])
    return ", ".join([f"{answer}{_note(v)}", *_how(v)])


def _note(answer: Verdict | UniversalVerdict) -> str:
    """What a reader must know besides, such as that the assumption is true of nothing."""
    if answer.stop_reason is not None or not answer.detail or answer.detail.startswith(NO_CERTIFICATE):
        return ""
    return f" ({_fitting(answer.detail, _LONGEST_REASON)})"


def _found(answer: Verdict | Radius) -> str:
    """The counterexample in words, if there is one."""
    if answer.decisions is None:
        return ""
    changed = of_one_model(answer)
    labels = [_fitting(str(label)) for label in answer.decisions]
    alike = by_votes(answer.decisions, answer.leads, labels)
    decisions = f" {'→' if changed else '≠'} ".join(labels) if len(labels) > 1 else f"decided {labels[0]}"
    decisions = decisions if alike is None else " and ".join(alike)
    if answer.flips is None:
        return f"{decisions} on the same input" if len(labels) > 1 else decisions
    if not len(answer.flips):
        return f"{decisions} on the input itself"
    if any({change.before, change.after} != {"0", "1"} for change in answer.changes):
        changes = ", ".join(_fitting(str(change), _LONGEST_CHANGE) for change in answer.changes[:_SOME])
        return f"{decisions} if {changes}{' …' if len(answer.changes) > _SOME else ''}"
    names = answer.flipped or tuple(map(default_name, answer.flips[:_SOME].tolist()))
    listed = ", ".join(map(_fitting, names[:_SOME])) + (" …" if len(answer.flips) > _SOME else "")
    return f"{decisions} {'by' if changed and alike is None else 'after'} flipping {listed}"


def by_votes(
    decisions: Sequence[Label], leads: Sequence[int] | None, words: Sequence[str]
) -> tuple[str, ...] | None:
    """What a counterexample with the same decisions is about: "good by 1 vote", of each model.

    None if the decisions differ. ``words`` are what the decisions are called. Of one model, the first
    decision is that on the input asked about, which is not said again.
    """
    if leads is None or len(set(decisions)) > 1:
        return None
    own = words[-len(leads) :]
    return tuple(f"{word} by {votes_text(lead)}" for word, lead in zip(own, leads, strict=True))


def _never(r: Radius) -> str:
    """What an infinite radius means."""
    if of_one_model(r):
        more = f", or leaves it fewer than {votes_text(r.margin)}" if r.margin else ""
        return f"no allowed change alters it{more}"
    return f"no disagreement{f', each decides {margin_text(r.margin)}' if r.margin else ''}"


def of_one_model(answer: Verdict | Radius) -> bool:
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
