"""An answer as a card of a notebook: what is proved, what was found, or what is open and why.

"Proved" stands only where something is: for HOLDS, for an exact radius, and for the lower bound of an open
one. UNKNOWN says that nothing is known, and why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tmverify.display import html
from tmverify.display.html import Html, Tone
from tmverify.display.inputs import Bits, Cell, Shown, change_size, drawn_shape, shown_input
from tmverify.display.words import seconds_text, shortened
from tmverify.model.classifier import TEAM
from tmverify.properties.questions import (
    EQUIVALENCE,
    PROPERTY,
    QUESTIONS,
    RADIUS,
    ROBUSTNESS,
    SIMILARITY,
    margin_text,
    votes_text,
)
from tmverify.properties.scope import decision_text
from tmverify.properties.setting import Setting
from tmverify.properties.summary import by_votes, of_one_model
from tmverify.properties.trust import NO_CERTIFICATE
from tmverify.properties.verdict import Radius, Status, StopReason, UniversalVerdict, Verdict

TONES: dict[Status, Tone] = {Status.HOLDS: "good", Status.VIOLATED: "bad", Status.UNKNOWN: "open"}
_MOST_CELLS = 40
_NOT_POSSIBLE = "No row of raw values has these bits: flipping single bits can do that."


def verdict_card(v: Verdict) -> str:
    """A Verdict as HTML."""
    badge, body = str(v.status), [seen(v.setting)]
    head = _decision(v.setting)
    if v.status is Status.HOLDS:
        badge = QUESTIONS[v.question].adjective if v.question in QUESTIONS else badge
        body.insert(0, html.sentence(f"Proved: {_proved(v)}."))
    elif v.status is Status.VIOLATED:
        head = _turn(v)
        body = [html.sentence(_found(v)), *_example(v)]
    else:
        body.insert(0, html.note(f"Not decided, which says nothing for or against it. {why(v)}"))
    body[1:1] = [html.note(each) for each in _notes(v)]
    return html.card(
        TONES[v.status],
        badge,
        head,
        kicker=_kicker(v),
        body=body,
        foot=foot(v.seconds, v.engine, v),
        rests_on=v.trusts,
    )


def radius_card(r: Radius) -> str:
    """A Radius, or its bounds, as HTML."""
    said = f"Proved: {_distance(r)}." if r.exact else f"Open: {_bounds(r)}. {why(r)}"
    body = [html.sentence(said) if r.exact else html.note(said)]
    body += _example(r) if r.decisions is not None else [seen(r.setting)]
    number = "∞" if r.lower == math.inf else str(r).replace("..", " … ")
    return html.card(
        "plain" if r.exact else "open",
        f"{RADIUS.name} {number}",
        _turn(r) if r.decisions is not None else _decision(r.setting),
        kicker="" if r.exact else "not exact",
        body=body,
        foot=foot(r.seconds, r.engine, r),
        rests_on=r.trusts,
    )


def universal_card(v: UniversalVerdict) -> str:
    """A UniversalVerdict as HTML: how many inputs, and the nearest counterexample."""
    counts = {status: v.count(status) for status in Status}
    left = v.n_inputs - sum(counts.values())
    words = {Status.HOLDS: "proved", Status.VIOLATED: "violated", Status.UNKNOWN: "unknown"}
    parts = [(f"{n} {words[status]}", n / max(v.n_inputs, 1), TONES[status]) for status, n in counts.items()]
    told = [said for said, share, _ in parts if share] + ([f"{left} not looked at"] if left else [])
    by = f" {margin_text(v.margin)}" if v.margin else ""
    line = f"{', '.join(told)}. It must hold{by} for {v.required} of them or more."
    body = [html.tag("div", html.bar(parts), style="body"), html.sentence(f"Of {v.n_inputs} inputs: {line}")]
    if v.status is Status.UNKNOWN:
        body.append(html.note(f"Not decided, which says nothing for or against it. {why(v)}"))
    body += [html.note(each) for each in _notes(v)]
    violated = [(i, own) for i, own in enumerate(v.verdicts) if own.status is Status.VIOLATED]
    if violated:
        i, nearest = min(violated, key=lambda one: math.inf if one[1].flips is None else len(one[1].flips))
        example = [html.text(f"For example, input {i}: "), _turn(nearest), html.text(f". {_found(nearest)}")]
        body += [html.tag("div", *example, style="said"), *_example(nearest)]
    return html.card(
        TONES[v.status],
        str(v.status),
        html.text(f"{counts[Status.HOLDS]} of {v.n_inputs} inputs"),
        kicker=f"for {v.eta} of a set",
        body=body,
        foot=foot(v.seconds, v.engine, v),
        rests_on=v.trusts,
    )


def why(answer: Verdict | Radius | UniversalVerdict) -> str:
    """Why something is open."""
    return stopped(answer.stop_reason, answer.detail)


def stopped(reason: StopReason | None, detail: str) -> str:
    """Why an engine stopped, in a sentence."""
    if reason is None:
        return f"Why: {detail or 'for no reason given'}."
    return f"Why: {reason.value}{f' ({detail})' if detail else ''}."


def foot(seconds: float, engine: str, answer: object) -> list[str]:
    """Small print: how long it took, which engine answered, and whether there is a certificate."""
    said = [seconds_text(seconds), engine]
    detail = str(getattr(answer, "detail", ""))
    if getattr(answer, "certificate", None) is not None:
        said.append("with a certificate")
    elif detail.startswith(NO_CERTIFICATE):
        said.append(detail)
    return said


def every_input(setting: Setting | None) -> str:
    """The inputs that an answer is about, in words."""
    if setting is None:
        return "every input that was asked about"
    if setting.epsilon is not None and setting.x is not None:
        said = f"every input within {setting.counted(setting.epsilon)}"
    else:
        bits = setting.rules.about_bits and not setting.space.only_flags
        said = "every combination of bits" if bits else "every possible input"
    return said + (f" ({'; '.join(setting.conditions)})" if setting.conditions else "")


def label(setting: Setting | None, decision: object) -> str:
    """A decision in words."""
    scope = TEAM if setting is None else setting.scope
    return decision_text(scope, decision)  # type: ignore[arg-type]


def target_of(setting: Setting | None) -> Html:
    """What the classes are called, if that is known."""
    target = None if setting is None else setting.space.target
    return html.tag("small", html.name(target), html.SPACE) if target else html.NOTHING


def _decision(setting: Setting | None) -> Html:
    """The decision on the input asked about."""
    if setting is None or setting.decision is None:
        return html.NOTHING
    return html.joined([target_of(setting), html.name(label(setting, setting.decision))])


def _turn(answer: Verdict | Radius) -> Html:
    """The decisions of a counterexample."""
    decisions = answer.decisions
    if not decisions:
        return _decision(answer.setting)
    labels = [label(answer.setting, each) for each in decisions]
    one = of_one_model(answer)
    alike = by_votes(decisions, answer.leads, labels)
    sign = ("→" if one else "≠") if alike is None else "and"
    return html.joined([target_of(answer.setting) if one else html.NOTHING, html.turn(alike or labels, sign)])


def _kicker(v: Verdict) -> str:
    """The question, with how much might change."""
    if v.setting is None or v.setting.x is None or v.setting.epsilon is None:
        return v.question
    return f"{v.question} within {v.setting.counted(v.setting.epsilon)}"


def _proved(v: Verdict) -> str:
    """What is proved of a question that holds."""
    every = every_input(v.setting)
    by = f", {margin_text(v.margin)}" if v.margin else ""
    if v.question == ROBUSTNESS.name:
        if v.setting is not None and v.setting.target is not None:
            return f"{every} is decided otherwise than {label(v.setting, v.setting.target)}"
        return f"{every} is decided alike{by}"
    if v.question in (SIMILARITY.name, EQUIVALENCE.name):
        return f"the two models decide alike on {every}{by and f', each {margin_text(v.margin)}'}"
    if v.question == PROPERTY.name:
        return f"{every} that meets the assumption meets what is expected"
    return f"there is no counterexample among {every}"


def _found(v: Verdict) -> str:
    """What is found of a question that does not hold."""
    if v.pair is not None:
        return "Two inputs that break it were found, and the model was run on both."
    if v.witness is None:
        return "A counterexample was found."
    if not of_one_model(v):
        first, *others = v.decisions or ("",)
        what = f"the first says {label(v.setting, first)}, the second does not"
        if first in others:
            what = "one of them decides by too few votes"
        return f"An input was found, and both models were run on it: {what}."
    if v.flips is None or v.setting is None:
        return "An input that breaks it was found, and the model was run on it."
    if not len(v.flips):
        return "It is broken by the input itself, and the model was run on it."
    return f"{_size(v.setting, v.flips, v.witness)}; the model was run on the result."


def _size(setting: Setting, flips: NDArray[np.int64], witness: Bits) -> str:
    is_picture = drawn_shape(setting.space) is not None
    return change_size(setting.space, flips, witness, is_picture=is_picture)


def _distance(r: Radius) -> str:
    """What is proved of an exact radius."""
    one = of_one_model(r)
    alters = "to alter the decision" if one else "to tell the two models apart"
    if one and r.setting is not None and r.setting.target is not None:
        alters = f"to reach {label(r.setting, r.setting.target)}"
    weaker = f", or to leave {'it' if one else 'one'} fewer than {votes_text(r.margin)}" if r.margin else ""
    limits = "" if r.setting is None else "; ".join(r.setting.conditions)
    where = f" ({limits})" if limits else ""
    if r.lower == math.inf:
        near = None if r.setting is None else r.setting.epsilon
        what = "no allowed change" if near is None else f"nothing within {_counted(r, near)}"
        return f"{what} is able {alters}{weaker}{where}"
    if r.lower == 0 and (r.flips is None or not len(r.flips)):
        return f"no change is needed {alters}{weaker}{where}"
    return f"it takes {_counted(r, r.lower)} {alters}{weaker}, and no less does it{where}"


def _bounds(r: Radius) -> str:
    """What is known of a radius that is not exact."""
    least = f"it takes at least {_counted(r, r.lower)}, which is proved"
    said = least if r.lower > 0 else "no lower bound is proved"
    if r.upper == math.inf:
        return f"{said}; no change that does it is known"
    return f"{said}, and {_counted(r, r.upper)} can do it, as shown"


def _counted(r: Radius, n: float) -> str:
    """So many changes, in words."""
    if r.setting is None:
        return str(n)
    said = r.setting.counted(n)
    return f"changes of {said}" if r.setting.unit == "cost" else said


def _notes(v: Verdict | UniversalVerdict) -> Iterator[str]:
    """What a reader must know besides, such as that an assumption is true of nothing."""
    if v.stop_reason is None and v.detail and not v.detail.startswith(NO_CERTIFICATE):
        yield f"{v.detail[:1].upper()}{v.detail[1:]}."


def seen(setting: Setting | None) -> Html:
    """The input that was asked about."""
    if setting is None or setting.x is None:
        return html.NOTHING
    return drawn(setting, None, setting.x)


def drawn(setting: Setting, x: Bits | None, z: Bits) -> Html:
    """The input ``x`` and its change to ``z``; without ``x``, the input ``z``."""
    return html.shown(shown_input(setting.space, x, z, shape=drawn_shape(setting.space)))


def _example(answer: Verdict | Radius) -> list[Html]:
    """The counterexample: the input and what it changes, or the input alone."""
    setting, z = answer.setting, answer.witness
    if setting is None or z is None:
        cells = [Cell(shortened(c.column, html.LONGEST), c.before, after=c.after) for c in answer.changes]
        left = max(0, len(cells) - _MOST_CELLS)
        return [html.shown(Shown(changed=tuple(cells[:_MOST_CELLS]), more_changed=left))]
    pair = getattr(answer, "pair", None)
    x = None if answer.flips is None else z.copy()
    if pair is not None:
        x, z = pair
    elif x is not None:
        x[answer.flips] ^= 1
    possible = bool(setting.space.possible(z[None, :])[0])
    return [*([] if possible else [html.note(_NOT_POSSIBLE)]), drawn(setting, x, z)]
