"""Reasons: for each input that was explained, the facts that suffice for its decision.

    pictures     the input, and the pixels that must be as they are, shaded over it
    cells        columns of a table: what is demanded, and the value of the row
    passages     a text with the words that it needs marked in it
    chips        words and features that must be there, and that must not

Reasons of which nothing is left open come first, then those with the fewest columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tmverify.asking.reason import KeptReason, said
from tmverify.campaign import Asked, Task
from tmverify.campaign.store import StoredModel
from tmverify.report.drawing import needed, picture
from tmverify.report.inputs import Bits, Cell, Chips, Picture, Shown, chips_of, own_row, passage_of, size_of
from tmverify.report.words import decision_text, place_text, question_text, seconds_text, shape_of, shortened
from tmverify.space import Space, Text
from tmverify.space.parts import OneColumn
from tmverify.verify.explanation import Fact

_MAX_HEADING = 80
_MAX_RULE = 600  # characters
_MAX_CELLS = 40
_MAX_CELL = 120  # characters of a cell
_MAX_NAMES = 40


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
    reason, space = answer.reason, named.space
    assert reason is not None
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
        shown=shown_reason(task, reason, facts, space),
        facts={name: fact for name, fact in about.items() if fact},
    )


def _unit(space: Space, task: Task) -> str:
    if shape_of(task, space) is not None:
        return "pixels"
    return "words" if space.named and space.is_text else "features" if task.rules.about_bits else "columns"


def shown_reason(task: Task, reason: KeptReason, facts: Sequence[Fact], space: Space) -> Shown:
    """The input of a task with what its reason needs."""
    x, shape = task.x, shape_of(task, space)
    assert x is not None
    if shape is not None:
        return Shown(pictures=_pictures(x, reason, shape))
    by_bits = task.rules.about_bits and not space.only_flags
    if by_bits or not space.named:
        bits = x[list(reason.places)].tolist()
        return Shown(chips=tuple(_chips(list(zip(facts, bits, strict=True)))))
    row = None if task.raw is None else own_row(space, task.raw, x)
    by_column = dict(zip(reason.places, facts, strict=True))
    cells: list[Cell] = []
    shown: list[tuple[Fact, int]] = []
    passages = []
    column = 0
    for place, part in enumerate(space.parts):
        own = range(column, column + (1 if isinstance(part, OneColumn) else part.n_bits))
        column = own.stop
        mine = [number for number in own if number in by_column]
        cell = None if row is None else row[place]
        if isinstance(part, OneColumn):
            cells += [_cell(by_column[number], cell) for number in mine]
            continue
        has = [(by_column[number], int(x[space.columns[number].bits.start])) for number in mine]
        if isinstance(part, Text) and cell is not None:
            words = [part.words[number - own.start] for number in mine]
            there = [word for word, (_, bit) in zip(words, has, strict=True) if bit]
            passage = passage_of(part.name if len(space.parts) > 1 else "", cell, there)
            passages.append(passage)
            seen = {piece.lower() for piece, marked in passage.pieces if marked}
            has = [one for word, one in zip(words, has, strict=True) if word not in seen]
        shown += has
    return Shown(
        changed=tuple(cells[:_MAX_CELLS]),
        more_changed=max(0, len(cells) - _MAX_CELLS),
        passages=tuple(passages),
        chips=tuple(_chips(shown)),
    )


def _cell(fact: Fact, raw: str | None) -> Cell:
    """What is demanded of a column, and the value of the row if that says more."""
    wanted = fact.value.removeprefix("is ")
    own = "" if raw is None or raw.strip() in ("", wanted) else raw
    return Cell(shortened(fact.column, _MAX_CELL), shortened(wanted, _MAX_CELL), shortened(own, _MAX_CELL))


def _chips(facts: Sequence[tuple[Fact, int]]) -> Iterator[Chips]:
    for kind, caption, value in (("plain", "must be there", 1), ("absent", "must not be there", 0)):
        names = [fact.column for fact, bit in facts if bit == value]
        yield from chips_of(kind, caption, names, _MAX_NAMES)


def _pictures(x: Bits, reason: KeptReason, shape: tuple[int, int]) -> tuple[Picture, ...]:
    wanted = np.zeros(len(x), np.bool_)
    wanted[list(reason.places)] = True
    size = size_of(shape)
    counts = int((wanted & (x == 1)).sum()), int((wanted & (x == 0)).sum())
    text = f"{counts[0]} pixels that must be on, {counts[1]} that must be off"
    return (
        Picture(picture(x, shape), "input", "the input", *size),
        Picture(needed(x, wanted, shape), "suffices", text, *size),
    )
