"""The hunt for a counterexample: a beam of inputs, each flip chosen by how little the best rival lacks.

It proves nothing when it fails. It is for shells too large to enumerate at once: most inputs that are not
robust are shown to be so here, in about a second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.network._patterns import scan
from tmverify.engines.network.patterns import pack_stages, work_of
from tmverify.engines.network.shell import Stage, Surroundings
from tmverify.engines.protocol import Deadline

WIDTH = 256
WORDS = 1 << 26  # looked at between two looks at the clock


def hunt(around: Surroundings, most: int, deadline: Deadline) -> NDArray[np.int64] | None:
    """Features, at most ``most``, whose flips let a rival win; or None."""
    rng = np.random.default_rng(0)
    stages = pack_stages(tuple(Stage(weights, needs) for weights, needs in around.layers))
    words = -(-len(around.thresholds) // 64)
    values = np.zeros((2, max(words, stages[0].shape[1])), np.uint64)
    gains = around.gains
    counts = around.counts[None, :]
    taken = np.zeros((1, len(gains)), np.bool_)
    for _ in range(most):
        lacks = np.full((len(counts), len(gains)), np.iinfo(np.int64).max)
        batch = max(1, WORDS // work_of(stages) // len(gains))
        for start in range(0, len(counts), batch):
            if deadline.passed():
                return None
            part = slice(start, start + batch)
            scan(counts[part], gains, around.thresholds, taken[part], stages, values, lacks[part])
        order = np.argsort(lacks + rng.random(lacks.shape), axis=None)[: 4 * WIDTH]
        order = order[~taken.ravel()[order]]  # a flip that is taken is none
        if not len(order):
            break
        beams, flips = np.unravel_index(order, lacks.shape)
        sets = taken[beams]
        sets[np.arange(len(order)), flips] = True
        if lacks[beams[0], flips[0]] <= 0:
            found: NDArray[np.int64] = around.features[sets[0]]
            return found
        sets, first = np.unique(sets, axis=0, return_index=True)  # by the way, in no order
        kept = np.sort(first)[:WIDTH]
        taken = taken[beams[kept]].copy()
        taken[np.arange(len(kept)), flips[kept]] = True
        counts = counts[beams[kept]] + gains[flips[kept]]
    return None
