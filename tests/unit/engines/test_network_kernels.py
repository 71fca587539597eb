"""Warming up calls every kernel of networks with the types that questions use."""

from __future__ import annotations

import numpy as np
import pytest

import tmverify as tv
from support.network_solvers import call_here
from support.tiny_networks import random_network_case
from tmverify.engines.network import _patterns
from tmverify.engines.network import engine as network_engine
from tmverify.engines.network.engine import compile_kernels

KERNELS = (_patterns.enumerate_sets, _patterns.find_bad, _patterns.scan)


def test_a_question_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_kernels()
    before = [len(kernel.signatures) for kernel in KERNELS]
    assert min(before) > 0
    monkeypatch.setattr(network_engine, "call", call_here)
    monkeypatch.setattr(network_engine, "LONG", 0.0)
    rng = np.random.default_rng(0)
    for i in range(40):
        case = random_network_case(rng, most_features=9)
        for engine in ("auto", "search"):
            tv.robustness_radius(case.network, case.x, engine=engine, certificate=i % 2 == 0)
    assert [len(kernel.signatures) for kernel in KERNELS] == before
