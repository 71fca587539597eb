"""What the columns of a report's models are, said once for all models that have the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tmverify.campaign.store import StoredModel
from tmverify.display.columns import ColumnLine, lines_of, summary_text
from tmverify.space import Space

_MAX_LINES = 60


@dataclass(frozen=True, slots=True)
class Described:
    """The columns of the models of these names; ``more`` lines are left out."""

    models: str
    summary: str
    lines: tuple[ColumnLine, ...]
    more: int


def described(models: Sequence[StoredModel]) -> tuple[Described, ...]:
    """What the columns are, once for all models that have the same; nothing for features without names."""
    names: dict[Space, list[str]] = {}
    for model in models:
        if model.space.named:
            names.setdefault(model.space, []).append(model.name)
    return tuple(_described(space, ", ".join(own)) for space, own in names.items())


def _described(space: Space, models: str) -> Described:
    lines = list(lines_of(space.parts))
    return Described(models, summary_text(space), tuple(lines[:_MAX_LINES]), max(0, len(lines) - _MAX_LINES))
