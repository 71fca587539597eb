"""Labels of a data file, matched to the classes of a model.

A file may say 3 where the model says "3", or 3.0 in text; classes are all int or all str, so that
comparing their written forms is never ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from tmverify.model import Label


def match_labels(y: NDArray[Any], classes: Sequence[Label]) -> list[Label | None]:
    """The class that each label stands for; None where the model has no such class."""
    by_text = {str(label): label for label in classes}
    known = {value: _match(str(value), by_text) for value in set(y.tolist())}
    return [known[value] for value in y.tolist()]


def _match(text: str, by_text: dict[str, Label]) -> Label | None:
    if text in by_text:
        return by_text[text]
    try:
        number = float(text)
    except ValueError:
        return None
    return by_text.get(str(int(number))) if number.is_integer() else None
