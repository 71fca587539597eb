"""What each machine sees in an epoch: which examples, in which order, and what it should answer.

Two classes are told apart by one machine, which sees every example. With more classes there is a machine
for each: an example is shown to the machine of its own class, which should say yes, and to that of one other
class, drawn at random, which should say no. Machines share nothing else, so each can run through its own
list on its own thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """The examples of one machine: row numbers in turn, and 1 where it should say yes."""

    rows: NDArray[np.int64]
    wanted: NDArray[np.uint8]


def plan_epoch(
    targets: NDArray[np.int64], n_classes: int, shuffle: bool, random: np.random.Generator
) -> list[Lesson]:
    """A lesson for each machine; ``targets`` are class indices."""
    n = len(targets)
    order = random.permutation(n) if shuffle else np.arange(n)
    targets = targets[order]
    if n_classes == 2:
        return [Lesson(order, targets.astype(np.uint8))]
    others = (targets + random.integers(1, n_classes, n)) % n_classes
    lessons = []
    for c in range(n_classes):
        shown = (targets == c) | (others == c)
        lessons.append(Lesson(order[shown], (targets[shown] == c).astype(np.uint8)))
    return lessons
