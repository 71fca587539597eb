"""What ``prepare`` is for: an engine compiles nothing, and loads no kernel, after its clock has started."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: here, other tests have compiled what this one is to miss.
CODE = """
import sys
from dataclasses import replace
import numpy as np
from numba.core.dispatcher import Dispatcher
import tmverify as tv
from tmverify.engines import engine_for
from tmverify.engines.engine import Deadline

def met():
    loaded = [module for name, module in sys.modules.items() if name.startswith("tmverify")]
    kernels = {value for module in loaded for value in vars(module).values() if isinstance(value, Dispatcher)}
    return {(kernel.py_func.__name__, types) for kernel in kernels for types in kernel.signatures}

name, certificate = sys.argv[1], sys.argv[2] == "certified"
rng = np.random.default_rng(0)
n, m = 30, 80
clauses = [((rng.choice(n, 3, replace=False) + 1) * rng.choice([-1, 1], 3)).tolist() for _ in range(m)]
weights = rng.integers(-2, 3, size=(20, m))
a = tv.Model.from_clauses(n, clauses, weights)
other = weights.copy()
other[0] += rng.integers(0, 2, size=m)
b = tv.Model.from_clauses(n, clauses, other)
split = [*clauses[1:], *([*clauses[0], lit] for lit in (n, -n))]
c = tv.Model.from_clauses(n, split, np.hstack([weights[:, 1:], weights[:, :1], weights[:, :1]]))
x = rng.integers(0, 2, n)
queries = [tv.equivalence_query(a, b), tv.equivalence_query(a, c)]
given = [rng.integers(0, 2, (k, n), np.uint8) for k in (1, 30, 700)]
queries += [replace(query, hints=hints) for query in queries for hints in given]
queries += [tv.robustness_query(a, x, 3), tv.similarity_query(a, b, x, 2)]
columns = [tv.Number("number", range(10)), tv.Category("category", list("abcdefgh"))]
space = tv.Space([*columns, *map(tv.Flag, "ijklmnopqrst")])
a, b = (replace(model, space=space) for model in (a, b))
x = [*[1] * 4, *[0] * 6, 1, *[0] * 19]
queries += [tv.robustness_query(a, x, 2), tv.similarity_query(a, b, x, 2), tv.equivalence_query(a, b)]
for query in queries:
    engine = engine_for(name, query)
    engine.prepare(query, certificate)
    before = met()
    # Of equivalence, search and sat find no answer in seconds either.
    limit = Deadline(0.2 if query.region.center is None else 2.0)
    engine.decide(query, limit, engine.log() if certificate else None)
    assert met() == before, sorted(name for name, _ in met() - before)
"""


@pytest.mark.parametrize("engine", ["auto", "search", "sat"])
@pytest.mark.parametrize("certificate", ["plain", "certified"])
def test_nothing_is_compiled_on_the_clock(engine: str, certificate: str) -> None:
    subprocess.run([sys.executable, "-c", CODE, engine, certificate], check=True)
