"""Setting: what a question was about, kept in its answer so that the answer can be shown by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Label
from tmverify.properties.allowed import Rules, changes_to_known, leave_out_unknown
from tmverify.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What a question was about.

    Attributes
    ----------
    space : Space
        The columns of an input.
    x : uint8 array, (n_features,), or None
        The input asked about; None for every possible one.
    epsilon : int or None
        What changes might cost together; None if that was no limit.
    rules : Rules
        What might change.
    scope : label
        Whose decision it was.
    decision : label or None
        The decision on x, of one model; with a class as scope, 1 ("it is that class") or 0.
    target : label or None
        The decision that was asked for, if it was not any other one.
    """

    space: Space
    x: NDArray[np.uint8] | None
    epsilon: int | None
    rules: Rules
    scope: Label
    decision: Label | None = None
    target: Label | None = None

    @property
    def noun(self) -> str:
        """What changes by itself: "column", "pixel", "word", "feature" or "bit"."""
        if self.rules.about_bits and not self.space.only_flags:
            return "bit"
        if not self.space.named:
            return "feature"
        if self.space.image_shape is not None:
            return "pixel"
        return "word" if self.space.is_text else "column"

    @property
    def n_columns(self) -> int:
        """How many of these there are."""
        return self.space.n_bits if self.rules.about_bits else len(self.space.columns)

    @property
    def unit(self) -> str:
        """What is counted: "changed column" and the like, "step", or "cost" if not every change costs 1."""
        if any(rule.cost != 1 for rule in self.rules.columns):
            return "cost"
        if self.rules.distance == "steps":
            return "step"
        return f"{'flipped' if self.noun == 'bit' else 'changed'} {self.noun}"

    def counted(self, n: float) -> str:
        """So many changes in words: "1 changed column", "3 steps", "cost 4"."""
        if self.unit == "cost":
            return f"cost {n}"
        return f"{n} {self.unit}{'s' * (n != 1)}"

    @property
    def conditions(self) -> list[str]:
        """What limits the changes, besides their number."""
        return conditions_of_rules(self.space, self.rules)


def conditions_of_rules(space: Space, rules: Rules) -> list[str]:
    """What limits the changes, in a few words each: "city as here", "changes only to known values"."""
    said = []
    kept = [rule.column for rule in rules.columns if rule.way == "keep"]
    if rules.features is not None:
        kept = np.flatnonzero(~rules.features).tolist()
    if 0 < len(kept) <= 3:
        said.append(f"{' and '.join(_name(space, rules, column) for column in kept)} as here")
    elif kept:
        said.append(f"{len(kept)} columns as here")
    if rules.direction is not None or any(rule.way in ("up", "down") for rule in rules.columns):
        said.append("changes only the allowed way")
    given = [rule for rule in rules.columns if rule.values is not None]
    if given:
        known = all(changes_to_known(space, rule) for rule in given)
        known = known and leave_out_unknown(space, rules.columns)
        said.append(f"changes only to {'known' if known else 'allowed'} values")
    return said


def _name(space: Space, rules: Rules, column: int) -> str:
    """The name of a column; where single bits of columns change, that of a bit."""
    by_bits = rules.about_bits and not space.only_flags
    return space.bit_names[column] if by_bits else space.columns[column].name
