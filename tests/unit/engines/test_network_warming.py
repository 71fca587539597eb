"""Warming: no kernel of networks is left to be compiled while a clock runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import numpy as np
import tmverify as tv
from network_solvers import call_here
from tiny_networks import random_network_case
from tmverify.engines.network import _beam, _patterns, deciding
from tmverify.engines.network.warming import compile_kernels

kernels = [_patterns.enumerate_sets, _patterns.find_bad, _beam.scan]
compile_kernels()
before = [len(kernel.signatures) for kernel in kernels]
assert min(before) > 0, before
deciding.call, deciding.LONG = call_here, 0.0
rng = np.random.default_rng(0)
for _ in range(60):
    case = random_network_case(rng, most_features=9)
    for engine in ("auto", "search"):
        tv.robustness_radius(case.network, case.x, engine=engine, certificate=rng.random() < 0.5)
assert [len(kernel.signatures) for kernel in kernels] == before
"""


def test_every_kernel_is_compiled_before_a_clock_starts() -> None:
    tests = str(Path(__file__).parents[2])
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{SCRIPT}"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
