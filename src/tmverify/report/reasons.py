"""Reasons: for each input that was explained, the facts that suffice for its decision.

Reasons of which nothing is left open come first, then those with the fewest columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tmverify.asking.reason import said
from tmverify.campaign import Asked, Task
from tmverify.campaign.store import StoredModel
from tmverify.display.inputs import Shown
from tmverify.display.reasons import shown_reason
from tmverify.display.words import seconds_text, shortened
from tmverify.properties.scope import decision_text
from tmverify.report.rows import own_row
from tmverify.report.words import place_text, question_text, shape_of
from tmverify.space import Space

_MAX_HEADING = 80
_MAX_RULE = 600  # characters


@dataclass(frozen=True, slots=True)
class Reasons:
    """The rows, by their number, whose reasons are shown; ``total`` counts those that are not shown, too."""

    places: tuple[int, ...]
    total: int


def reasons_of(rows: Sequence[Asked], *, limit: int) -> Reasons:
    """Which reasons are shown: at most ``limit``."""
    found = [
        (len(row.answer.reason.undecided) > 0, len(row.answer.reason.columns), place)
        for place, row in enumerate(rows)
        if row.answer is not None and row.answer.reason is not None
    ]
    return Reasons(tuple(place for *_, place in sorted(found)[:limit]), len(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonEntry:
    """A reason as the page shows it; ``open`` says what is not known of it, if anything."""

    place: int
    task: Task
    heading: str
    decision: str
    target: str
    misclassified: bool
    size: str
    open: str
    rule: str
    shown: Shown
    facts: Mapping[str, str]


def reason_entry(place: int, row: Asked, models: Mapping[str, StoredModel], model: str) -> ReasonEntry:
    """The reason of a row in words and pictures; ``model`` is what the model is called."""
    task, answer, named = row.task, row.found, row.task.named(models)
    reason, space, x = answer.reason, named.space, task.x
    assert reason is not None
    assert x is not None
    facts, rule = said(task, reason, named)
    n = task.n_features if task.rules.about_bits else len(space.columns)
    left = len(reason.undecided)
    about = {
        "answers": question_text(task),
        "model": model,
        "data": task.data,
        "input": place_text(task),
        "found by": f"{answer.engine}, {seconds_text(answer.seconds)}",
        "certificate": answer.certificate_path or "",
        "rests on": "; ".join(answer.trusts),
    }
    return ReasonEntry(
        place=place,
        task=task,
        heading=shortened(task.called, _MAX_HEADING),
        decision=decision_text(task.scope, reason.decision),
        target=shortened(space.target or "", _MAX_HEADING),
        misclassified=task.scope == "team" and task.label is not None and reason.decision != task.label,
        size=f"{len(facts)} of {n} {_unit(space, task)} suffice"
        + ("" if task.epsilon is None else f" within ε {task.epsilon}"),
        open=f"{left} of them might be left out, or have further values" if left else "",
        rule=shortened(rule, _MAX_RULE),
        shown=shown_reason(
            space,
            x,
            dict(zip(reason.places, facts, strict=True)),
            by_bits=task.rules.about_bits and not space.only_flags,
            shape=shape_of(task, space),
            row=None if task.raw is None else own_row(space, task.raw, x),
        ),
        facts={name: fact for name, fact in about.items() if fact},
    )


def _unit(space: Space, task: Task) -> str:
    if shape_of(task, space) is not None:
        return "pixels"
    return "words" if space.named and space.is_text else "features" if task.rules.about_bits else "columns"
