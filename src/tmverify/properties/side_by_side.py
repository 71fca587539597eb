"""A counterexample in words: the value of each column, of two inputs side by side, and how they are decided.

                a               b
    sex         f               m               ←
    age         25 to 60        25 to 60
    decision    no, by 2 votes  yes, by 1 vote  ←

    one input           how it is decided
    an input and a row  what had to change (the row that was asked about comes first)
    a pair              how b differs from a

Columns that differ come first. Of words, pixels and many plain flags only those are listed that are 1 in one
of the inputs, or differ. Text, notebooks and the command line show the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Label, Model
from tmverify.model.evaluate import decide, reference_scores
from tmverify.properties.expressions import INPUTS
from tmverify.properties.formula import leads
from tmverify.properties.verdict import Verdict
from tmverify.space import Column

MARK = "←"
_MANY = 30  # columns; of more, flags that are 0 are left out
Bits = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Line:
    """A column, its value in each input, and whether these differ."""

    column: str
    values: tuple[str, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """How an input is decided.

    Attributes
    ----------
    decision : label
    lead : int
        By how many votes it is ahead of the best of the other classes; 0 is a tie.
    votes : tuple of int, or None
        Those of each class; None if the model has one score for both of its classes.
    """

    decision: Label
    lead: int
    votes: tuple[int, ...] | None

    def __str__(self) -> str:
        counts = "" if self.votes is None else f" ({max(self.votes)} to {max(self.votes) - self.lead})"
        by = f"by {self.lead} vote{'' if self.lead == 1 else 's'}" if self.lead else "on a tie"
        return f"{self.decision}, {by}{counts}"


@dataclass(frozen=True, slots=True)
class SideBySide:
    """See the module. ``heads`` says what the inputs are; ``hidden`` how many columns are not listed."""

    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    decided: tuple[Decided, ...]
    hidden: int = 0

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The table as texts: a line for each column, the decisions last, the mark in the last cell."""
        rows = [(line.column, *line.values, MARK if line.differs else "") for line in self.lines]
        differ = len({each.decision for each in self.decided}) > 1
        return [*rows, ("decision", *map(str, self.decided), MARK if differ else "")]

    def __str__(self) -> str:
        rows = [("", *self.heads, ""), *self.cells] if len(self.heads) > 1 else self.cells
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *([f"({self.hidden} that are 0 are left out)"] if self.hidden else [])])


def side_by_side(model: Model, verdict: Verdict, x: Bits | None = None) -> SideBySide:
    """The counterexample of a property in words.

    Parameters
    ----------
    model : Model
    verdict : Verdict
        With a witness, from ``prove``, ``check_fairness`` or ``check_monotonicity``.
    x : uint8 array, (n_features,), optional
        The row that was asked about, as bits; it is shown beside a single input that differs from it.

    Raises
    ------
    InvalidInputError
        If there is no witness.
    """
    if verdict.witness is None:
        raise InvalidInputError(f"There is no counterexample to be shown: the answer is {verdict.status}.")
    inputs: tuple[Bits, ...] = verdict.pair or (verdict.witness,)
    heads: tuple[str, ...] = INPUTS if verdict.pair is not None else ("counterexample",)
    if verdict.pair is None and x is not None and (x != verdict.witness).any():
        inputs, heads = (x, verdict.witness), ("row", "counterexample")
    bits = np.stack(inputs)
    lines, hidden = _lines(model.space.columns, bits)
    return SideBySide(heads, lines, _decided(model, bits), hidden)


def _lines(columns: Sequence[Column], bits: Bits) -> tuple[tuple[Line, ...], int]:
    found, hidden = [], 0
    for column in columns:
        own = bits[:, column.bits.start : column.bits.stop]
        is_bit = column.kind in ("word", "pixel") or (column.kind == "flag" and len(columns) > _MANY)
        if is_bit and not own.any():
            hidden += 1
            continue
        values = tuple(column.words(row) for row in bits)
        found.append(Line(column.name, values, len(set(values)) > 1))
    return tuple(sorted(found, key=lambda line: not line.differs)), hidden


def _decided(model: Model, bits: Bits) -> tuple[Decided, ...]:
    """By the plain evaluator, after the clamp, as votes are counted in properties."""
    scores = reference_scores(model, bits)
    classes = decide(scores, model.tie, model.clamp)
    votes = scores if model.clamp is None else np.clip(scores, -model.clamp, model.clamp)
    ahead = leads(votes, classes)
    return tuple(
        Decided(
            model.classes[int(c)],
            int(lead),
            None if model.n_outputs == 1 else tuple(map(int, own)),
        )
        for c, lead, own in zip(classes, ahead, votes, strict=True)
    )
