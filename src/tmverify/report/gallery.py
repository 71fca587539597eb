"""The gallery: for each input the nearest change that is known to alter a decision.

One input may have many answers with a counterexample: at several epsilons, by several engines, and from its
radius. They would all look much the same, so an input has one entry: the change that costs least. The entry
lists all the answers that it stands for, since 2 changes answer epsilon 2, 3 and 5 alike. How an input
looks on the page is decided in ``inputs``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.campaign import Asked, Task, TaskAnswer
from tmverify.campaign.store import StoredModel
from tmverify.display.inputs import Shown, change_size
from tmverify.display.words import seconds_text, shortened
from tmverify.report.rows import shown_row
from tmverify.report.series import Series
from tmverify.report.words import (
    bounds_text,
    changed_columns,
    decisions_text,
    place_text,
    question_text,
    shape_of,
    sign_of,
)
from tmverify.space import Space

_MAX_HEADING = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A counterexample.

    Attributes
    ----------
    task, answer : where it comes from
    places : numbers, among all rows, of the answers that it stands for, its own first
    witness, flips : the changed input, and the features that differ from the input; None for equivalence
    cost : how far it is from the input, as its question counts
    impossible : whether no raw row has the bits of the witness
    """

    task: Task
    answer: TaskAnswer
    series: Series
    places: tuple[int, ...]
    witness: NDArray[np.uint8]
    flips: NDArray[np.intp] | None
    cost: int = 0
    impossible: bool = False

    @property
    def n_flips(self) -> int:
        return 0 if self.flips is None else len(self.flips)

    @property
    def added(self) -> tuple[int, ...]:
        """The features that it sets."""
        return () if self.flips is None else tuple(int(i) for i in self.flips if self.witness[i])

    @property
    def removed(self) -> tuple[int, ...]:
        """The features that it clears."""
        return () if self.flips is None else tuple(int(i) for i in self.flips if not self.witness[i])


@dataclass(frozen=True, slots=True)
class Gallery:
    """The changes that are shown, the nearest first; ``total`` counts those that are not shown, too."""

    changes: tuple[Change, ...]
    total: int


def gallery_of(
    rows: Sequence[Asked], series: Sequence[Series], *, limit: int, impossible: Collection[int] = ()
) -> Gallery:
    """The nearest change of each input; ``series`` has the series of each row.

    ``impossible`` are the places of rows whose witness no raw row has.
    """
    places: dict[object, list[int]] = {}
    for place, row in enumerate(rows):
        if row.answer is not None and row.answer.witness is not None:
            task = row.task
            about = task.models, task.data, task.index, task.bits, task.scope, task.rules, task.margin
            places.setdefault(about, []).append(place)
    found = [_nearest(rows, series, among, impossible) for among in places.values()]
    return Gallery(tuple(_classes_in_turn(found)[:limit]), len(found))


def _nearest(
    rows: Sequence[Asked], series: Sequence[Series], places: Sequence[int], impossible: Collection[int]
) -> Change:
    """The change that stands for the answers at ``places``.

    It costs least; among equals, possible inputs come first, then those with a certificate, then
    radii, then the smallest epsilon.
    """

    def preference(place: int) -> tuple[int, bool, bool, bool, int]:
        task = rows[place].task
        certified = rows[place].found.certificate_path is not None
        later = not certified, not task.asks.is_distance
        return cost_of(rows[place], series[place]) or 0, place in impossible, *later, task.epsilon or 0

    first, *others = sorted(places, key=preference)
    best = rows[first]
    assert best.witness is not None
    return Change(
        task=best.task,
        answer=best.found,
        series=series[first],
        places=(first, *others),
        witness=best.witness,
        flips=best.flips,
        cost=cost_of(best, series[first]) or 0,
        impossible=first in impossible,
    )


def cost_of(row: Asked, series: Series) -> int | None:
    """How far a row's counterexample is from its input, as the question counts; None if it has not both."""
    if row.answer is None or row.flips is None:
        return None
    return len(row.flips) if series.space is None else row.cost(series.space)


def _classes_in_turn(changes: Sequence[Change]) -> list[Change]:
    """The nearest first; among equally near ones, one of each class in turn."""
    seen: Counter[tuple[int, object]] = Counter()
    keyed = []
    for change in changes:
        kind = (change.cost, change.task.label)
        keyed.append((change.cost, seen[kind], change))
        seen[kind] += 1
    return [change for *_, change in sorted(keyed, key=lambda item: item[:2])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change as the page shows it.

    ``decisions`` are two with a ``sign`` between them, or one that stands by too few votes. ``speakers`` are
    the two models that disagree, if there are two; ``target`` is what the decision is about.
    """

    change: Change
    heading: str
    target: str
    decisions: tuple[str, ...]
    sign: str
    speakers: tuple[str, ...]
    misclassified: bool
    size: str
    shown: Shown
    facts: Mapping[str, str]


def entry_of(change: Change, rows: Sequence[Asked], models: Mapping[str, StoredModel]) -> Entry:
    """A change in words and pictures."""
    task, decisions = change.task, change.answer.decisions
    space = task.named(models).space
    shape = shape_of(task, space)
    one_model = len(task.models) == 1
    wrong = task.label is not None and decisions is not None and decisions[0] != task.label
    return Entry(
        change=change,
        heading=shortened(task.called, _MAX_HEADING),
        target=shortened(space.target or "", _MAX_HEADING) if one_model else "",
        decisions=decisions_text(task, change.answer),
        sign=sign_of(task, change.answer),
        speakers=() if one_model else change.series.names,
        misclassified=one_model and task.scope == "team" and wrong,
        size=_size(change, rows[change.places[0]], space, shape is not None),
        shown=shown_row(space, task.x, change.witness, shape=shape, raw=task.raw),
        facts=_facts(change, rows),
    )


def _size(change: Change, row: Asked, space: Space, is_picture: bool) -> str:
    """How much changes: pixels, words or features that are set or cleared; or columns of a table."""
    if change.flips is None:
        return "an input that tells them apart"
    n = change.n_flips
    if not n:
        weak = "it stands" if len(change.task.models) == 1 else "one stands"
        differ = len(set(change.answer.decisions or ())) > 1
        return f"no change: {'they differ' if differ else f'{weak} by fewer votes'} here already"
    rules, k = change.task.rules, len(changed_columns(row, space))
    more = f" ({n} bits)" if rules.about_bits and n != k else ""
    if rules.unit in ("steps", "cost"):
        more = f" ({rules.counted(change.cost)})"
    return change_size(space, change.flips, change.witness, is_picture=is_picture) + more


def _facts(change: Change, rows: Sequence[Asked]) -> dict[str, str]:
    task, answer = change.task, change.answer
    questions = dict.fromkeys(question_text(rows[place].task) for place in sorted(change.places))
    facts = {
        "answers": ", ".join(questions),
        "model": change.series.model,
        "data": task.data,
        "input": place_text(task),
        "scope": "" if task.scope == "team" else f"class {task.scope}",
        "allowed": change.series.conditions,
        "radius": bounds_text(answer.lower, answer.upper),
        "found by": f"{answer.engine}, {seconds_text(answer.seconds)}",
        "certificate": answer.certificate_path or "",
        "rests on": "; ".join(answer.trusts),
    }
    return {name: fact for name, fact in facts.items() if fact}
