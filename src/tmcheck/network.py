"""Binarized networks: blocks of neurons that compare bits with weights, and the classes' scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tmcheck.errors import Refused
from tmcheck.space import Space


class Network:
    """Blocks of neurons, each 1 iff at least ``threshold`` of its inputs match its weights; then scores.

    Rows of weights, and the values of a block, are masks: the first of them in the highest bit.
    """

    def __init__(
        self,
        blocks: list[Block],
        output: list[int],
        scale: int,
        bias: Sequence[int],
        classes: list[Any],
        changeable: list[bool],
        space: Space | None = None,
    ) -> None:
        self.n_features, self.blocks, self.output = len(changeable), blocks, output
        self.scale, self.bias, self.classes = scale, bias, classes
        self.space = space
        self.changeable = changeable  # the features whose bit can be both 0 and 1

    def decide(self, x: Sequence[int]) -> int:
        """The index of the class of an input."""
        values = as_mask(x)
        for n, thresholds, rows in self.blocks:
            pairs = zip(thresholds, rows, strict=True)
            values = as_mask(n - (row ^ values).bit_count() >= threshold for threshold, row in pairs)
        n = len(self.blocks[-1][1])
        matches = [n - (row ^ values).bit_count() for row in self.output]
        scores = [self.scale * m + bias for m, bias in zip(matches, self.bias, strict=True)]
        return scores.index(max(scores))

    def in_scope(self, scope: int | str) -> Network:
        """The network itself: it has no machines of single classes."""
        if scope != "team":
            raise Refused(f"the scope {scope!r:.60} is none of a network's")
        return self


Block = tuple[int, Sequence[int], list[int]]  # number of inputs; threshold and weights of each neuron


def as_mask(bits: Iterable[object]) -> int:
    """Bits as an integer, the first in the highest bit."""
    return int("".join(["0", *("1" if bit else "0" for bit in bits)]), 2)
