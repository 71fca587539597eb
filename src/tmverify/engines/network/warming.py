"""Compiling the kernels of networks before a clock starts; see ``search.warming``."""

from __future__ import annotations

from functools import cache

import numpy as np

from tmverify.bnn.model import BnnModel
from tmverify.bnn.query import NetworkQuery
from tmverify.engines.network.enumerating import Effort, enumerate_shell
from tmverify.engines.network.hunting import hunt
from tmverify.engines.network.reaching import bad_patterns
from tmverify.engines.network.shell import Surroundings
from tmverify.engines.protocol import Deadline
from tmverify.properties import robustness_query


@cache
def compile_kernels() -> None:
    """Ask a small question that meets every kernel; once in a process."""
    rng = np.random.default_rng(0)
    weights = [rng.choice([-1, 1], shape) for shape in ((9, 8), (7, 9), (3, 7))]
    network = BnnModel.from_layers([(weights[0], [4] * 9), (weights[1], [4] * 7)], weights[2])
    query = robustness_query(network, [0] * 8, 4)
    assert isinstance(query, NetworkQuery)
    around = Surroundings(query)
    hunt(around, 1, Deadline(None))
    for flips in (1, 4):
        shell = around.shell(flips)
        if not shell.safe and not shell.certain:
            enumerate_shell(shell, Deadline(None), Effort())
            bad_patterns(shell, Deadline(None))
