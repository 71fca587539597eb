"""The paper's theorems, each as a property of the paper's own encoding.

1 is about the encoding, 2 robustness, 3 universal robustness, 4 equivalence, 5 (1) similarity and 5 (2)
universal similarity. Where the paper's formula contradicts its definition, the definition counts.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

import tmverify as tv
from support.strategies import inputs, models, plain_machines
from support.tiny import all_inputs
from tmverify.engines.sat.formula import solve_formulas
from tmverify.engines.sat.paper import encode_paper
from tmverify.properties.query import query_machine_change
from tmverify.properties.region import Region

tries = settings(max_examples=60, deadline=None)


def satisfiable(query: tv.Query) -> bool:
    answer = solve_formulas(lambda: iter([encode_paper(query)]), "glucose4")
    return answer.outcome.name == "WITNESS"


@tries
@given(plain_machines())
def test_theorem_1_the_encoding_is_the_machine(machine: tv.Model) -> None:
    """M(I) = 1 iff enc(M) with x set to I, and o, is satisfiable."""
    says_one = encode_paper(query_machine_change(machine, 0, Region.everything(machine.space)))
    with Solver(name="glucose4", bootstrap_with=[list(c) for c in says_one.cnf]) as solver:
        for z in all_inputs(4):
            assumptions = [says_one.bits[f] * (1 if z[f] else -1) for f in range(4)]
            assert solver.solve(assumptions=assumptions) == (machine.predict([z])[0] == 1)


@tries
@given(models(), inputs(), st.integers(0, 4))
def test_theorem_2_robust_iff_not_rob_is_unsatisfiable(model: tv.Model, x: list[int], epsilon: int) -> None:
    z = all_inputs(4)
    ball = z[(z != np.array(x)).sum(axis=1) <= epsilon]
    robust = (model.predict(ball) == model.predict([x])[0]).all()
    assert satisfiable(tv.robustness_query(model, x, epsilon)) == (not robust)


@tries
@given(models(), st.lists(inputs(), min_size=1, max_size=4), st.integers(0, 2), st.fractions(0, 1))
def test_theorem_3_universal_robustness_counts(
    model: tv.Model, rows: list[list[int]], epsilon: int, eta: Fraction
) -> None:
    robust = [not satisfiable(tv.robustness_query(model, x, epsilon)) for x in rows]
    v = tv.check_universal_robustness(model, rows, epsilon, eta, engine="paper")
    assert (v.status == "holds") == (sum(robust) >= ceil(eta * len(rows)))
    assert v.required == ceil(eta * len(rows))


@tries
@given(models(outputs=2), models(outputs=2))
def test_theorem_4_equivalent_iff_the_outputs_cannot_differ(a: tv.Model, b: tv.Model) -> None:
    equal = (a.predict(all_inputs(4)) == b.predict(all_inputs(4))).all()
    assert satisfiable(tv.equivalence_query(a, b)) == (not equal)


@tries
@given(models(outputs=1), models(outputs=2), inputs(), st.integers(0, 4))
def test_theorem_5_1_similar_iff_not_sim_is_unsatisfiable(
    a: tv.Model, b: tv.Model, x: list[int], epsilon: int
) -> None:
    """A binary machine and a two-row one have the same two classes, and can be compared."""
    z = all_inputs(4)
    ball = z[(z != np.array(x)).sum(axis=1) <= epsilon]
    assert satisfiable(tv.similarity_query(a, b, x, epsilon)) == bool(
        (a.predict(ball) != b.predict(ball)).any()
    )


@tries
@given(models(outputs=3), models(outputs=3), st.lists(inputs(), min_size=1, max_size=4), st.fractions(0, 1))
def test_theorem_5_2_universal_similarity_counts(
    a: tv.Model, b: tv.Model, rows: list[list[int]], eta: Fraction
) -> None:
    similar = [not satisfiable(tv.similarity_query(a, b, x, 1)) for x in rows]
    v = tv.check_universal_similarity(a, b, rows, 1, eta, engine="paper")
    assert (v.status == "holds") == (sum(similar) >= ceil(eta * len(rows)))
