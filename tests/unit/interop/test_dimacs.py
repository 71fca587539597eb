"""DIMACS files: another reader gets the same verdict from them, and their comments map back to features.

Other solvers are asked in ``tests/interop``.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pysat.formula import CNF
from pysat.solvers import Solver

import tmverify as tv
from support.tiny import random_case
from tmverify.properties.allowed import Allowed

encodings = pytest.mark.parametrize("encoding", ["sat", "paper"])


def queries(seed: int, n: int) -> list[tv.Query]:
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(n):
        case = random_case(rng)
        result.append(tv.robustness_query(case.a, case.x, case.epsilon, **case.asked))
        result.append(tv.similarity_query(case.a, case.b, case.x, case.epsilon, **case.asked))
        result.append(tv.equivalence_query(case.a, case.b, scope=case.scope))
    return result


def witness_from_comments(text: str, assignment: set[int], n_features: int) -> NDArray[np.uint8]:
    z = np.full(n_features, 9, np.uint8)
    for lit, feature in re.findall(r"^c bit (-?\d+) = feature (\d+)", text, re.M):
        z[int(feature)] = int(lit) in assignment
    for feature, bit in re.findall(r"^c fixed feature (\d+) = ([01])", text, re.M):
        z[int(feature)] = int(bit)
    return z


@encodings
def test_pysat_agrees_and_the_comments_lead_back(tmp_path: Path, encoding: str) -> None:
    for query in queries(3, 60):
        tv.to_dimacs(query, tmp_path / "q.cnf", encoding=encoding)
        text = (tmp_path / "q.cnf").read_text()
        formula = CNF(from_file=str(tmp_path / "q.cnf"))
        header = re.search(r"^p cnf (\d+) (\d+)$", text, re.M)
        assert header is not None
        assert len(formula.clauses) == int(header[2])
        assert formula.nv <= int(header[1])
        with Solver(name="minisat22", bootstrap_with=formula.clauses) as solver:
            satisfiable = bool(solver.solve()) and [] not in formula.clauses
            assignment = set(solver.get_model() or [])
        v = tv.decide(query)
        assert v.status == ("violated" if satisfiable else "holds")
        if satisfiable:
            assert query.refuted_by(witness_from_comments(text, assignment, query.region.n_features))


def test_names_cannot_break_the_file(tmp_path: Path) -> None:
    m = tv.Model.from_clauses(2, [[1], [2]], [[1, -1]], feature_names=["new\nline p cnf 9 9", "ü (x)"])
    tv.to_dimacs(tv.robustness_query(m, [1, 0], 2), tmp_path / "q.cnf")
    text = (tmp_path / "q.cnf").read_text(encoding="utf-8")
    assert "(new line p cnf 9 9)" in text
    assert "(ü (x))" in text
    assert len(re.findall(r"^p cnf", text, re.M)) == 1


def test_clauses_are_mapped_to_their_model(tmp_path: Path) -> None:
    a = tv.Model.from_clauses(3, [[], [1, 2], [1, -1], [2, 3]], [[1, 1, 1, 1]], bias=-1)
    b = tv.Model.from_clauses(3, [[1, 3]], [[1]])
    tv.to_dimacs(tv.equivalence_query(a, b), tmp_path / "q.cnf", encoding="paper")
    found = re.findall(r"^c clause \d+ = (model \d+ clause \d+)$", (tmp_path / "q.cnf").read_text(), re.M)
    assert found == ["model 0 clause 1", "model 0 clause 3", "model 1 clause 0"]


def test_the_paper_is_about_bits(tmp_path: Path) -> None:
    space = tv.Space([tv.Category("city", ["Oslo", "Bergen"])])
    m = tv.Model.from_clauses(2, [[1], [2]], [[1, -1]], space=space)
    with pytest.raises(tv.InvalidInputError, match="'paper' are about bits"):
        tv.to_dimacs(tv.robustness_query(m, [1, 0], 1), tmp_path / "q.cnf", encoding="paper")
    assert not (tmp_path / "q.cnf").exists()
    bits = tv.robustness_query(m, [1, 0], 1, allowed=Allowed("bits"))
    tv.to_dimacs(bits, tmp_path / "q.cnf", encoding="paper")


def test_a_formula_too_large_is_an_error(tmp_path: Path) -> None:
    m = tv.Model.from_clauses(1, [[1]], [[2**31 - 1]])
    query = tv.robustness_query(m, [1], 1)
    with pytest.raises(tv.InvalidInputError, match="too large to write"):
        tv.to_dimacs(query, tmp_path / "q.cnf", encoding="paper")
    assert not (tmp_path / "q.cnf").exists()
