"""Questions in solver formats: external solvers read the files and agree; their solutions are inputs.

Random questions of every kind and option, about bits and about columns, and some larger ones. Each answer is
compared with ``decide``, each solution is turned into an input by the file's comments and run through the
machines, and each optimum is compared with the radius, or with brute force.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from solver_questions import Question, column_questions, firm_questions, tiny_questions, witness
from tmverify.interop.cnf import to_wcnf
from tmverify.interop.linear import MAX_ROW_SUM, to_lp, to_opb
from tmverify.interop.smtlib import to_smtlib
from tmverify.properties.allowed import Allowed

Values = dict[str, bool]
Solution = tuple[Values, int | None]
"""The values of the variables, and the cost where the solver was asked for it."""

WRITERS: dict[str, Callable[[tv.Query, Path], None]] = {
    "cnf": tv.to_dimacs,
    "opb": to_opb,
    "wcnf": to_wcnf,
    "smt2": to_smtlib,
    "lp": to_lp,
}
COMMENTS = {"cnf": "c ", "opb": "* ", "wcnf": "c ", "smt2": "; ", "lp": "\\ "}
every_format = pytest.mark.parametrize("kind", WRITERS)


def by_cadical(path: Path) -> Solution | None:
    if shutil.which("cadical") is None:
        pytest.skip("no cadical here (apt install cadical)")
    run = subprocess.run(
        ["cadical", "-q", str(path)], capture_output=True, text=True, check=False, timeout=60
    )
    if run.returncode == 20:
        return None
    assert run.returncode == 10, run.stderr
    lits = [int(t) for line in run.stdout.splitlines() if line[0] == "v" for t in line.split()[1:]]
    return {str(abs(lit)): lit > 0 for lit in lits}, None


def by_clasp(path: Path) -> Solution | None:
    """clingo's wheel has clasp in it, which reads OPB and computes in integers."""
    pytest.importorskip("clingo", reason="no clingo here (pip install clingo)")
    command = [sys.executable, "-m", "clingo", "--mode=clasp", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    (status,) = re.findall(r"^s (.*)$", run.stdout, re.M)
    if status == "UNSATISFIABLE":
        return None
    assert status in ("SATISFIABLE", "OPTIMUM FOUND"), run.stderr
    words = [word for line in re.findall(r"^v (.*)$", run.stdout, re.M) for word in line.split()]
    costs = re.findall(r"^o (-?\d+)$", run.stdout, re.M)
    return {word.lstrip("-"): word[0] != "-" for word in words}, int(costs[-1]) if costs else None


def by_rc2(path: Path) -> Solution | None:
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    formula = WCNF(from_file=str(path))
    with RC2(formula) as solver:
        model = solver.compute()
        # RC2 knows only variables that it has met.
        return None if model is None else ({str(abs(lit)): lit > 0 for lit in model}, solver.cost)


def by_z3(path: Path) -> Solution | None:
    """The script as it stands, its commands included."""
    z3 = pytest.importorskip("z3", reason="no z3 here (pip install z3-solver)")
    context = z3.Context()
    try:
        answer: str = z3.Z3_eval_smtlib2_string(context.ref(), path.read_text(encoding="utf-8"))
    except z3.Z3Exception as error:  # after unsat there are no values to get
        if "model is not available" not in str(error):
            raise
        return None
    status, _, values = answer.partition("\n")
    assert status in ("sat", "unsat"), answer
    if status == "unsat":
        return None
    return {x: value == "true" for x, value in re.findall(r"\(([xv][\d_]+) (true|false)\)", values)}, None


def by_highs(path: Path) -> Solution | None:
    highspy: Any = pytest.importorskip("highspy", reason="no HiGHS here (pip install highspy)")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert status == highspy.HighsModelStatus.kOptimal
    values = solver.getSolution().col_value
    names = [solver.getColName(i)[1] for i in range(solver.getNumCol())]
    cost = solver.getInfo().objective_function_value
    assert abs(cost - round(cost)) < 1e-6
    return {name: value > 0.5 for name, value in zip(names, values, strict=True)}, round(cost)


SOLVERS = {"cnf": by_cadical, "opb": by_clasp, "wcnf": by_rc2, "smt2": by_z3, "lp": by_highs}


def questions(seed: int, *, columns: bool = True) -> Iterator[Question]:
    """Some two hundred small ones, then some of 40 features and 60 clauses."""
    yield from tiny_questions(seed, 75)
    yield from column_questions(seed, 100 if columns else 0)
    yield from firm_questions(seed, 30, n_features=10, n_clauses=14)
    yield from firm_questions(seed, 9, n_features=40, n_clauses=60)


def check_answers(
    path: Path,
    write: Callable[[tv.Query, Path], None],
    *,
    optimum: bool,
    seed: int,
    columns: bool = True,
) -> None:
    for question in questions(seed, columns=columns):
        write(question.query, path)
        solution = SOLVERS[path.suffix[1:]](path)
        z = None if solution is None else witness(path.read_text(encoding="utf-8"), solution[0])
        if optimum:
            question.check_nearest(z, None if solution is None else solution[1])
        else:
            question.check(z)


@pytest.mark.parametrize("encoding", ["sat", "paper"])
def test_dimacs(tmp_path: Path, encoding: str) -> None:
    def write(query: tv.Query, path: Path) -> None:
        tv.to_dimacs(query, path, encoding=encoding)

    check_answers(tmp_path / "q.cnf", write, optimum=False, seed=1, columns=encoding == "sat")


def test_opb(tmp_path: Path) -> None:
    check_answers(tmp_path / "q.opb", to_opb, optimum=False, seed=2)


def test_nearest_opb(tmp_path: Path) -> None:
    def write(query: tv.Query, path: Path) -> None:
        to_opb(query, path, nearest=True)

    check_answers(tmp_path / "q.opb", write, optimum=True, seed=3)


def test_wcnf(tmp_path: Path) -> None:
    check_answers(tmp_path / "q.wcnf", to_wcnf, optimum=True, seed=4)


def test_smtlib(tmp_path: Path) -> None:
    check_answers(tmp_path / "q.smt2", to_smtlib, optimum=False, seed=5)


def test_lp(tmp_path: Path) -> None:
    check_answers(tmp_path / "q.lp", to_lp, optimum=False, seed=6)


def test_nearest_lp(tmp_path: Path) -> None:
    def write(query: tv.Query, path: Path) -> None:
        to_lp(query, path, nearest=True)

    check_answers(tmp_path / "q.lp", write, optimum=True, seed=7)


@every_format
def test_the_edges_of_a_region(tmp_path: Path, kind: str) -> None:
    m = tv.Model.from_clauses(2, [[1], [2]], [[1, 1]], bias=-1)
    always = tv.Model.from_clauses(2, [[]], [[1]], empty_clause="fires")
    never = tv.Model.from_clauses(2, [[1, 2]], [[-1]], bias=-1)
    for question in (
        Question(tv.robustness_query(m, [1, 1], 0), None),
        Question(tv.robustness_query(m, [1, 1], 2, allowed=Allowed(features=[1, 0])), None),
        Question(tv.robustness_query(always, [0, 0], 2), None),  # no case is left
        Question(tv.similarity_query(always, never, [1, 0], 2), 0),  # the centre is one, whatever flips
        Question(tv.similarity_query(m, never, [1, 0], 0), 0),
        Question(tv.equivalence_query(always, never), 0),
    ):
        path = tmp_path / f"q.{kind}"
        WRITERS[kind](question.query, path)
        solution = SOLVERS[kind](path)
        question.check(None if solution is None else witness(path.read_text(encoding="utf-8"), solution[0]))


HOSTILE = [
    "new\nline\rp cnf 1 2\n1 0\r\n-1 0",
    "\x85x1 >= 5 ;\u2028* #variable= 1 #constraint= 0\u2029h 1 0\x0b\x0ch -1 0",
    "\x00\x1a\x1b[2J\x7f\u202e\ufeff",
    ') (assert false) ; | " \n(assert false)',
    "\\ End\nBinaries\\\n x0 \\* *\\ /* */",
    "long " + "1 0 " * 5000 + "é" * 5000,
    "ü (x) #1 = 2",
]


@every_format
def test_names_stay_in_their_comments(tmp_path: Path, kind: str) -> None:
    def written(names: list[str] | None) -> tuple[list[str], list[str]]:
        m = tv.Model.from_clauses(7, [[j] for j in range(1, 7)], [[1, -1] * 3], feature_names=names)
        query = tv.robustness_query(m, [1] * 7, 7)
        WRITERS[kind](query, path)
        lines = path.read_bytes().decode().splitlines()  # at every line break that Unicode has
        comments = [line for line in lines if line.startswith(COMMENTS[kind])]
        solution = SOLVERS[kind](path)
        assert solution is not None
        assert query.refuted_by(witness(path.read_text(encoding="utf-8"), solution[0]))
        return comments, [line for line in lines if line not in comments]

    path = tmp_path / f"q.{kind}"
    plain_comments, plain = written(None)
    comments, rest = written(HOSTILE)
    assert rest == plain
    assert len(comments) == len(plain_comments)
    assert all(line.isprintable() and len(line.encode()) < 255 for line in comments)
    assert comments[0] == plain_comments[0]
    assert any(line.endswith("(ü (x) #1 = 2)") for line in comments)


@every_format
def test_names_of_columns_and_values_do_too(tmp_path: Path, kind: str) -> None:
    def written(names: list[str]) -> tuple[list[str], list[str]]:
        space = tv.Space(
            [
                tv.Category(names[0], names[1:4]),
                tv.Category(names[4], names[5:7], other=True),
                tv.Number(names[3], [1, 2]),
            ]
        )
        literals = [[1], [2], [-3], [4], [-5], [6], [-7]]
        m = tv.Model.from_clauses(7, literals, [[3, -2, 1, 1, 2, -1, 1]], bias=-2, space=space)
        freeze = Allowed(freeze=names[3], cost={names[0]: 2}, within={names[4]: [names[5], names[6]]})
        query = tv.robustness_query(m, [1, 0, 0, 0, 1, 0, 0], None, allowed=freeze)
        WRITERS[kind](query, path)
        lines = path.read_bytes().decode().splitlines()
        comments = [line for line in lines if line.startswith(COMMENTS[kind])]
        solution = SOLVERS[kind](path)
        assert solution is not None
        assert query.refuted_by(witness(path.read_text(encoding="utf-8"), solution[0]))
        return comments, [line for line in lines if line not in comments]

    path = tmp_path / f"q.{kind}"
    plain_comments, plain = written(list("abcdefg"))
    comments, rest = written(HOSTILE)
    assert rest == plain
    assert len(comments) == len(plain_comments)
    assert all(line.isprintable() and len(line.encode()) < 255 for line in comments)
    assert any("rule column 2 (" in line and line.endswith("does not change") for line in comments)
    assert any(re.search(r"value \w+ = column 0 is .*, cost 2$", line) for line in comments)


@every_format
def test_what_is_too_large_is_refused(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmverify.engines.search.problem.MAX_VOTES", 0)
    query = tv.robustness_query(tv.Model.from_clauses(1, [[1]], [[1]], bias=-1), [1], 1)
    path = tmp_path / f"q.{kind}"
    path.write_text("as it was")
    with pytest.raises(tv.InvalidInputError, match="too large to write"):
        WRITERS[kind](query, path)
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


@every_format
def test_only_a_query_is_written(tmp_path: Path, kind: str) -> None:
    with pytest.raises(tv.InvalidInputError, match="must be a Query"):
        WRITERS[kind]("query", tmp_path / "q")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["cnf", "wcnf", "smt2"])
def test_heavy_votes_are_exact(tmp_path: Path, kind: str) -> None:
    heavy = 2**31 - 1
    m = tv.Model.from_clauses(3, [[1], [2], [3]], [[heavy, -heavy, 1]])
    for x, nearest in (([1, 1, 1], 1), ([0, 1, 0], 1), ([1, 0, 0], 2)):
        path = tmp_path / f"q.{kind}"
        question = Question(tv.robustness_query(m, x, 3), nearest)
        WRITERS[kind](question.query, path)
        solution = SOLVERS[kind](path)
        assert solution is not None
        question.check(witness(path.read_text(encoding="utf-8"), solution[0]))


def test_heavy_votes_are_written_in_full_or_refused(tmp_path: Path) -> None:
    def query(weight: int) -> tv.Query:
        m = tv.Model.from_clauses(2, [[1], [2]], [[weight, -weight]], bias=-1)
        return tv.robustness_query(m, [1, 0], 2)

    to_opb(query(2**31 - 1), tmp_path / "q.opb")
    assert "\n-2147483647 x3 +2147483647 x4 >= 0 ;\n" in (tmp_path / "q.opb").read_text()
    to_lp(query(MAX_ROW_SUM // 2), tmp_path / "q.lp")
    with pytest.raises(tv.InvalidInputError, match="tolerances"):
        to_lp(query(MAX_ROW_SUM // 2 + 1), tmp_path / "other.lp")
    assert not (tmp_path / "other.lp").exists()


def test_lines_of_lp_are_short(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    m = tv.Model.from_clauses(300, [[j] for j in range(1, 301)], rng.integers(1, 9, (1, 300)), bias=-500)
    to_lp(tv.robustness_query(m, [1] * 300, 300), tmp_path / "q.lp", nearest=True)
    assert max(map(len, (tmp_path / "q.lp").read_text().splitlines())) < 255
