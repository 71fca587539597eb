"""Series: the answers that may be counted together.

A store keeps the answers of earlier plans: a model that was trained anew may have the name of the old one,
and an input may be asked about again with other features free to change. A number that mixed these would mean
nothing, so everything in a report is counted for each series.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tmverify.asking.tally import line_of
from tmverify.asking.task import unpack
from tmverify.campaign import Asked

HASH_CHARS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Models (by the names to show, and by content), inputs, whose decision, what may change, how decided."""

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
        """The name of the model, or of both."""
        return " ↔ ".join(self.names)

    @property
    def conditions(self) -> str:
        """Every setting that is not the default one, in words; often none."""
        words = []
        if self.direction is not None:
            words.append("only setting features" if self.direction == "add" else "only clearing features")
        if self.mask is not None:
            free = int(unpack(self.mask, self.n_features).sum())
            words.append(f"{free} of {self.n_features} features free")
        if self.engine != "auto":
            words.append(f"engine {self.engine}")
        if self.certified:
            words.append("with certificates")
        return ", ".join(words)

    @property
    def title(self) -> str:
        """The whole series on one line."""
        scope = "" if self.scope == "team" else f"scope {self.scope}"
        return " · ".join(part for part in (self.model, self.data, scope, self.conditions) if part)


def series_of(rows: Sequence[Asked]) -> list[Series]:
    """The series of each row."""
    hashes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, key in zip(row.task.names, row.task.models, strict=True):
            hashes[name].add(key)

    def shown(name: str, key: str) -> str:
        """The name, with some of the model's hash if other models have the same name."""
        return name if len(hashes[name]) == 1 else f"{name} ({key[:HASH_CHARS]})"

    return [
        Series(
            names=tuple(map(shown, task.names, task.models)),
            models=task.models,
            data=task.data,
            scope=str(line_of(task).scope),
            direction=task.direction,
            mask=task.mask,
            n_features=task.n_features,
            engine=task.engine,
            certified=task.certified,
        )
        for task in (row.task for row in rows)
    ]
