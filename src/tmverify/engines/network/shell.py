"""A shell: all inputs exactly k flips from the centre, and which neurons are still open there.

A neuron of the first block is d matches away from changing; a flip brings it nearer (it is *favourable*) or
takes it further away. After exactly k flips, a of them favourable, it has changed iff a - (k - a) >= d, i.e.

    a >= quota = ceil((k + d) / 2).

So within a shell, one count for each neuron is enough, and most neurons can't change at all. Later neurons
get intervals: each has a least and a largest number of matches over the inputs still open, and its value is
known if both are on the same side of its threshold. What is left are *stages*: open neurons over open inputs.

The last stage has a row for each rival of the expected class c. On the n inputs where the weights of rival r
and of class c differ, score_r - score_c = scale (2 p - n) + bias_r - bias_c, where p counts r's matches: so a
rival is also a neuron with a threshold. The decision differs iff some rival's row is 1.

A ball is the union of its shells and the centre. (One formula for the whole ball needs a second count for
each neuron, of the unfavourable flips; all shells together are smaller, and the nearest witness comes first.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.evaluate import matches
from tmverify.bnn.model import BnnModel
from tmverify.bnn.query import NetworkQuery

Signs = NDArray[np.int8]
WORD = 64


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Open neurons: row j is 1 iff at least ``needs[j]`` open inputs match ``weights[j]``.

    Weights are +1, -1, or 0 where an input does not count (rivals only).
    """

    weights: Signs
    needs: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Shell:
    """The open neurons of a shell; the inputs of the first stage are "neuron has changed" bits.

    Attributes
    ----------
    flips : int
    features : int64 array
        The features that may flip.
    favourable : bool array, (n_open, len(features))
    quotas : int64 array, (n_open,)
        How many favourable flips change each open neuron of the first block.
    stages : tuple of Stage
        One for each block but the first, and one of the rivals that may win; a stage may have no rows.
    certain : bool
        Some rival wins on every input of the shell.
    """

    flips: int
    features: NDArray[np.int64]
    favourable: NDArray[np.bool_]
    quotas: NDArray[np.int64]
    stages: tuple[Stage, ...]
    certain: bool

    @property
    def n_inputs(self) -> int:
        """How many inputs the shell has."""
        return math.comb(len(self.features), self.flips)

    @property
    def n_open(self) -> int:
        """How many neurons are open, in all blocks."""
        return len(self.quotas) + sum(len(stage.needs) for stage in self.stages)

    @property
    def fits_a_word(self) -> bool:
        """Whether a pattern of its open neurons, plus 1, fits in a word of 64 bits."""
        return len(self.quotas) < WORD

    @property
    def safe(self) -> bool:
        """Whether intervals alone show that no rival wins."""
        return not self.certain and not len(self.stages[-1].needs)


class Surroundings:
    """A network around the centre of a query, from which its shells are made."""

    def __init__(self, query: NetworkQuery) -> None:
        network, region = query.network, query.region
        first, center = network.layers[0], region.origin
        self.counts = matches(center[None, :], first.weights)[0].astype(np.int64)
        self.thresholds = first.thresholds
        self.active: NDArray[np.bool_] = self.counts >= first.thresholds
        self.distances = np.where(
            self.active, self.counts + 1 - first.thresholds, first.thresholds - self.counts
        )
        self.features = np.flatnonzero(region.mutable)
        matching = (first.weights > 0) == (center == 1)
        # A neuron that is 1 comes nearer to changing when it loses a match, one that is 0 when it gains one.
        self.favourable = (matching == self.active[:, None])[:, self.features]
        self.gains = np.where(matching, -1, 1).T[self.features].astype(np.int64)  # matches that a flip adds
        self.layers: list[tuple[Signs, NDArray[np.int64]]] = [
            *((layer.weights, layer.thresholds) for layer in network.layers[1:]),
            _rivals(network, query.expected),
        ]

    def shell(self, flips: int) -> Shell:
        """The shell at ``flips`` flips, from 1 to the number of features that may flip."""
        quotas = -(-(flips + self.distances) // 2)
        n_favourable = self.favourable.sum(axis=1)
        n_others = len(self.features) - n_favourable
        changes = flips - quotas + 1 > n_others
        opens = ~changes & (quotas <= flips) & (quotas <= n_favourable)
        stages, certain = self._stages(self.active ^ changes, opens)
        rows = np.flatnonzero(opens)
        return Shell(flips, self.features, self.favourable[rows], quotas[rows], stages, certain)

    def _stages(self, values: NDArray[np.bool_], opens: NDArray[np.bool_]) -> tuple[tuple[Stage, ...], bool]:
        """The stages, and whether some rival always wins; ``values`` are those of the neurons not open."""
        stages = []
        turn = np.where(self.active, -1, 1).astype(np.int8)  # the first inputs say what has changed
        low = high = values
        for weights, thresholds in self.layers:
            known = ((weights > 0) & values & ~opens) | ((weights < 0) & ~values & ~opens)
            least = known.sum(axis=1)
            most = least + ((weights != 0) & opens).sum(axis=1)
            low, high = least >= thresholds, most >= thresholds
            rows = high & ~low
            stages.append(Stage((weights * turn)[np.ix_(rows, opens)], (thresholds - least)[rows]))
            values, opens, turn = low, rows, np.ones(len(rows), np.int8)
        return tuple(stages), bool(low.any())


def _rivals(network: BnnModel, expected: int) -> tuple[Signs, NDArray[np.int64]]:
    """Weights and thresholds of "this class beats the expected one", for each other class."""
    others = np.array([c for c in range(network.n_outputs) if c != expected])
    rows, own = network.output[others], network.output[expected]
    weights = np.where(rows != own, rows, 0).astype(np.int8)
    lead = (others > expected) - network.bias[others] + network.bias[expected]
    steps = -(-lead // network.scale)
    return weights, -(-(steps + (weights != 0).sum(axis=1)) // 2)
