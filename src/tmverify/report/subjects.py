"""Subject: what answers must have in common to be counted together.

A store keeps the answers of earlier plans: the same name may stand for a model and for the one that was
trained anew, the same input may be asked about with other features free to change. Figures that mix these
would be about nothing, so everything in a report is counted per subject.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tmverify.asking.tally import group_of
from tmverify.asking.task import unpack
from tmverify.campaign import Row, Task

HASH_CHARS = 8
_BOTH = " ↔ "


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Models (as people call them, and by content), inputs, whose decision, what may change, how decided."""

    names: tuple[str, ...]
    models: tuple[str, ...]
    data: str
    scope: str
    direction: str | None = None
    mask: bytes | None = None
    n_features: int = 0
    engine: str = "auto"
    certified: bool = False

    @property
    def model(self) -> str:
        """The model, or the two of them."""
        return _BOTH.join(self.names)

    @property
    def conditions(self) -> str:
        """What is not as usual, in words; often nothing."""
        said = []
        if self.direction is not None:
            said.append("only setting features" if self.direction == "add" else "only clearing features")
        if self.mask is not None:
            free = int(unpack(self.mask, self.n_features).sum())
            said.append(f"{free} of {self.n_features} features free")
        if self.engine != "auto":
            said.append(f"engine {self.engine}")
        if self.certified:
            said.append("with certificates")
        return ", ".join(said)

    @property
    def title(self) -> str:
        """All of it on one line."""
        scope = "" if self.scope == "team" else f"scope {self.scope}"
        return " · ".join(part for part in (self.model, self.data, scope, self.conditions) if part)


def by_subject(rows: Sequence[Row]) -> dict[Subject, list[Row]]:
    """The rows of each subject, in the order in which they come."""
    names = called([row.task for row in rows])
    found: dict[Subject, list[Row]] = {}
    for row in rows:
        found.setdefault(subject_of(row, names), []).append(row)
    return found


def subject_of(row: Row, names: dict[tuple[str, str], str]) -> Subject:
    """What a row is about; ``names`` are those of ``called``."""
    task, group = row.task, group_of(row.task)
    return Subject(
        names=tuple(names[pair] for pair in zip(task.names, task.models, strict=True)),
        models=task.models,
        data=group.data,
        scope=group.scope,
        direction=task.direction,
        mask=task.mask,
        n_features=task.n_features,
        engine=task.engine,
        certified=task.certified,
    )


def called(tasks: Iterable[Task]) -> dict[tuple[str, str], str]:
    """What to call each (name, hash): its name, with some of its hash if others have the same name."""
    pairs = {pair for task in tasks for pair in zip(task.names, task.models, strict=True)}
    hashes: dict[str, set[str]] = defaultdict(set)
    for name, key in pairs:
        hashes[name].add(key)
    return {
        (name, key): name if len(hashes[name]) == 1 else f"{name} ({key[:HASH_CHARS]})" for name, key in pairs
    }
