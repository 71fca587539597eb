"""Clausal proofs as other programs see them: the formulas have no solution, and the proofs show it.

Debian 13 and later have ``drat-trim`` and ``lrat-check`` in a package; where a program is not installed, its
test says so.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import stubborn_model
from tmcheck.lrat import check_lrat
from tmverify.certificates import claims
from tmverify.engines.engine import Outcome
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.sat import refutation
from tmverify.model.file import encode

Formula = tuple[list[tuple[int, ...]], list[list[int]]]


@pytest.fixture(scope="module")
def formulas() -> list[Formula]:
    """CNFs and LRAT proofs from certificates of machines that the solver had to work on."""
    rng = np.random.default_rng(0)
    found: list[Formula] = []

    def kept(cnf: list[tuple[int, ...]], lrat: Iterator[list[int]]) -> Iterator[list[int]]:
        found.append((cnf, list(lrat)))
        return iter(found[-1][1])

    for share in np.linspace(0.25, 0.4, 8):
        model = stubborn_model(rng, 12, share)
        query = tv.robustness_query(model, rng.integers(0, 2, 12), 5)
        evidence = ProofLog()
        if refutation.prove(query, evidence, sweep=False).outcome is Outcome.NO_WITNESS:
            text = evidence.proof_of(query, query.region.radius)
            assert text is not None
            certificate = b"".join(claims.holds(query, text).blocks())
            tmcheck.check(io.BytesIO(certificate), [encode(model)], kept)
    assert len(found) > 3
    assert max(len(lines) for _, lines in found) > 100
    return found


def write(folder: Path, formula: Formula) -> tuple[Path, Path, Path]:
    clauses, lines = formula
    n_vars = max(abs(literal) for clause in clauses for literal in clause)
    cnf, lrat, drat = folder / "f.cnf", folder / "f.lrat", folder / "f.drat"
    body = "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
    cnf.write_text(f"p cnf {n_vars} {len(clauses)}\n{body}")
    added = [line for line in lines if len(line) > 1]
    lrat.write_text("".join(" ".join(map(str, line)) + "\n" for line in added))
    drat.write_text("".join(" ".join(map(str, line[1 : line.index(0, 1) + 1])) + "\n" for line in added))
    return cnf, lrat, drat


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def test_cadical_finds_no_solution(formulas: list[Formula], tmp_path: Path) -> None:
    cadical = program("cadical")
    for formula in formulas:
        cnf, _, _ = write(tmp_path, formula)
        assert subprocess.run([cadical, "-q", str(cnf)], capture_output=True).returncode == 20


def test_lrat_check_accepts_the_proofs(formulas: list[Formula], tmp_path: Path) -> None:
    checker = program("lrat-check")
    for formula in formulas:
        cnf, lrat, _ = write(tmp_path, formula)
        said = subprocess.run([checker, str(cnf), str(lrat)], capture_output=True, text=True).stdout
        assert "VERIFIED" in said, said


def test_drat_trim_accepts_the_proofs(formulas: list[Formula], tmp_path: Path) -> None:
    checker = program("drat-trim")
    for formula in formulas:
        cnf, _, drat = write(tmp_path, formula)
        said = subprocess.run([checker, str(cnf), str(drat), "-f"], capture_output=True, text=True).stdout
        assert "s VERIFIED" in said, said


def test_a_proof_is_not_a_proof_of_another_formula(formulas: list[Formula]) -> None:
    """With a clause less, or a literal more in one, the proof that used it is refused."""
    clauses, lines = max(formulas, key=lambda formula: len(formula[1]))
    check_lrat(clauses, lines)
    used = {hint for line in lines if len(line) > 1 for hint in line[line.index(0, 1) + 1 : -1]}
    refused = 0
    for number in sorted(used & set(range(1, len(clauses) + 1)))[:60]:
        weaker = list(clauses)
        weaker[number - 1] = (*clauses[number - 1], 10**6)
        with pytest.raises(tmcheck.Refused):
            check_lrat(weaker, lines)
        refused += 1
    assert refused > 20
