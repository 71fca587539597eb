"""Coverage: which rows of a file a sufficient reason decides.

A rule that is proved for every possible input with some facts is proved for all rows that have them, not only
for the row that it was found for. A row is *covered* if it has the facts, and lies in the region that the
reason is about: within its distance of the row it was found for, and nothing else changed that may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.rules import KeptRules
from tmverify.model import Classifier
from tmverify.properties import Status
from tmverify.properties.region import region_around
from tmverify.verify.explanation import Explanation

Rows = NDArray[np.bool_]


@dataclass(eq=False)
class Coverage:
    """The rows ``X``, checked bits, of a model; ``rules`` say what may change."""

    model: Classifier
    X: NDArray[np.uint8]
    rules: KeptRules
    _values: dict[int, NDArray[Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        possible = np.ones(len(self.X), np.bool_)
        self._possible = possible if self.rules.about_bits else self.model.space.possible(self.X)

    def of(self, reason: Explanation, x: NDArray[np.uint8]) -> Rows:
        """Which rows ``reason``, found for ``x``, decides; none, unless it is a proved sufficient one."""
        if reason.kind != "sufficient" or reason.sufficient is not Status.HOLDS:
            return np.zeros(len(self.X), np.bool_)
        found = self._possible.copy()
        for column, values in zip(reason.places, reason.values, strict=True):
            found &= np.isin(self._values_of(column), values)
        if reason.within is None and self.rules.everything and self.model.attainable.all():
            return found  # the region is every possible input
        region = region_around(self.model, x, reason.within, self.rules.rules(self.model.n_features))
        for row in np.flatnonzero(found).tolist():
            found[row] = region.contains(self.X[row])
        return found

    def _values_of(self, column: int) -> NDArray[Any]:
        """The number of the value that each row has in a column; of a bit, the bit."""
        if self.rules.about_bits:
            return self.X[:, column]
        if column not in self._values:
            own = self.model.space.columns[column]
            self._values[column] = own.part.value_indices(self.X[:, own.bits.start : own.bits.stop])
        return self._values[column]


@dataclass(slots=True, eq=False)
class Rule:
    """A rule, with the rows that it was found for (by their place) and those that it covers."""

    reason: Explanation
    found_for: list[int]
    covered: Rows

    @property
    def n_rows(self) -> int:
        """How many rows it covers."""
        return int(self.covered.sum())


def rules_of(found: Sequence[tuple[int, Explanation, Rows]]) -> list[Rule]:
    """The different rules among reasons (each with its row and what it covers), most rows first.

    Reasons with the same facts for the same decision are one rule. Where they hold near their own rows only,
    it covers what any of them covers.
    """
    rules: dict[object, Rule] = {}
    for row, reason, covered in found:
        key = (reason.places, reason.values, reason.decision, reason.target)
        known = rules.setdefault(key, Rule(reason, [], np.zeros_like(covered)))
        known.covered |= covered
        if row not in known.found_for:
            known.found_for.append(row)
    return sorted(rules.values(), key=lambda rule: -rule.n_rows)
