"""The gallery: for each input the nearest change that is known to alter a decision.

Of one input there may be many answers with a counterexample: at several epsilons, by several engines, and
its radius. They would all show much the same, so an input has one entry, the change with the fewest flips;
the entry remembers all the answers that it stands for, since what alters a decision by 2 flips answers
epsilon 2, 3 and 5 alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.task import unpack
from tmverify.campaign import Row
from tmverify.report.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A counterexample.

    Attributes
    ----------
    row : the task and answer that it was taken from
    places : numbers, among all rows, of those it stands for, its own first
    witness, x, flips : the changed input, the input, and the features that differ; None for equivalence
    """

    row: Row
    subject: Subject
    places: tuple[int, ...]
    witness: NDArray[np.uint8]
    x: NDArray[np.uint8] | None
    flips: NDArray[np.intp] | None

    @property
    def n_flips(self) -> int:
        return 0 if self.flips is None else len(self.flips)

    @property
    def added(self) -> tuple[int, ...]:
        """Features that it sets."""
        return () if self.flips is None else tuple(int(i) for i in self.flips if self.witness[i])

    @property
    def removed(self) -> tuple[int, ...]:
        """Features that it clears."""
        return () if self.flips is None else tuple(int(i) for i in self.flips if not self.witness[i])


@dataclass(frozen=True, slots=True)
class Gallery:
    """The changes that are shown, nearest first, of ``total``."""

    changes: tuple[Change, ...]
    total: int


def gallery_of(rows: Sequence[Row], subjects: Sequence[Subject], *, limit: int) -> Gallery:
    """The nearest change of each input; ``subjects`` are those of the rows, one by one."""
    places: dict[object, list[int]] = {}
    for place, row in enumerate(rows):
        if row.answer is not None and row.answer.witness is not None:
            places.setdefault(_asked(row), []).append(place)
    found = [_nearest(rows, subjects, among) for among in places.values()]
    return Gallery(tuple(_spread(found)[:limit]), len(found))


def _asked(row: Row) -> object:
    """What answers have in common that one change stands for."""
    task = row.task
    return task.models, task.data, task.index, task.bits, task.scope, task.mask, task.direction


def _nearest(rows: Sequence[Row], subjects: Sequence[Subject], places: Sequence[int]) -> Change:
    candidates = [_change(rows[place], subjects[place], place) for place in places]
    first, *others = sorted(candidates, key=_preference)
    stands_for = first.places + tuple(place for other in others for place in other.places)
    return Change(
        row=first.row,
        subject=first.subject,
        places=stands_for,
        witness=first.witness,
        x=first.x,
        flips=first.flips,
    )


def _preference(change: Change) -> tuple[int, bool, bool, int]:
    """Fewest flips, with a certificate, a radius, the smallest epsilon."""
    task, answer = change.row.task, change.row.answer
    assert answer is not None
    return change.n_flips, not answer.certificate_path, task.question != "radius", task.epsilon or 0


def _change(row: Row, subject: Subject, place: int) -> Change:
    assert row.answer is not None
    assert row.answer.witness is not None
    return Change(
        row=row,
        subject=subject,
        places=(place,),
        witness=unpack(row.answer.witness, row.task.n_features),
        x=row.task.x,
        flips=row.flips,
    )


def _spread(changes: Sequence[Change]) -> list[Change]:
    """Nearest first; of those equally near, one of each class in turn."""
    seen: Counter[tuple[int, object]] = Counter()
    keyed = []
    for change in changes:
        kind = (change.n_flips, change.row.task.label)
        keyed.append((change.n_flips, seen[kind], change))
        seen[kind] += 1
    return [change for *_, change in sorted(keyed, key=lambda item: item[:2])]
