"""SMT-LIB 2.6, logic QF_LIA: export a query for any SMT solver. ``sat`` means VIOLATED, ``unsat`` HOLDS.

    ; bit x4 = feature 4 (contrast)
    ; value v7_2 = column 7 is Oslo, cost 2
    (declare-const x4 Bool)
    (declare-const v7_1 Bool)
    (declare-const v7_2 Bool)
    (assert (<= (+ (ite v7_1 1 0) (ite v7_2 1 0)) 1))
    (define-fun x9 () Bool (not (or v7_1 v7_2)))
    (define-fun c2 () Bool (and x4 (not v7_2)))
    (define-fun h0 () Bool (>= (+ (ite c2 3 0) (ite c5 (- 1) 0)) 2))
    (assert (or h0 (and h1 h2)))
    (assert (<= (+ (ite x4 0 1) (ite v7_1 2 0) (ite v7_2 2 0)) 2))
    (check-sat)
    (get-value (x4 x9 v7_1 v7_2))

x<i> is feature i, v<k>_<a> value a of column k, c<j> a clause, h<k> a constraint on votes; cases are a
disjunction. A feature of a column with values is defined by them, and so is a<n>: that a column has one of
several values. The query is specialised to its region (``engines.settled``): every counterexample over what
is left is a model. Integers are exact. The comments are those of ``interop.comments``. After ``unsat`` there
are no values, and solvers report an error for ``get-value``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tmverify.atomic import write_lines
from tmverify.engines.settled import Settled
from tmverify.interop.comments import comment_lines
from tmverify.interop.linear import move_names, specialise, variables_of
from tmverify.model.names import default_name
from tmverify.properties.query import Query


def to_smtlib(query: Query, path: str | os.PathLike[str]) -> None:
    """Write ``query`` as an SMT-LIB script that ends in ``check-sat`` and the features' values.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    path : path

    Raises
    ------
    InvalidInputError
        If the script would be too large to write.
    """
    write_lines(path, _lines(query, specialise(query)))


def _lines(query: Query, whole: Settled) -> Iterator[str]:
    moves = move_names(whole)
    clauses = {index: f"c{index}" for index in whole.sources.tolist()}
    variables = variables_of(whole, moves, clauses)
    parts = _parts(whole, moves)
    bits = {**variables.bits, **{feature: default_name(feature) for feature in parts}}
    meaning = "sat iff there is a counterexample"
    yield from comment_lines(";", query, meaning, replace(variables, bits=bits))
    yield "(set-info :smt-lib-version 2.6)"
    yield "(set-option :produce-models true)"
    yield "(set-logic QF_LIA)"
    for name in moves:
        yield f"(declare-const {name} Bool)"
    for own in whole.columns:
        if len(own) > 1:
            yield f"(assert (<= {_joined('+', [f'(ite {moves[i]} 1 0)' for i in own])} 1))"
    for feature, definition in parts.items():
        yield f"(define-fun {default_name(feature)} () Bool {definition})"
    yield from _definitions(whole, moves, list(clauses.values()))
    yield f"(assert {_cases(whole)})"
    if whole.limited:
        yield f"(assert (<= {_joined('+', list(_costs(whole, moves)))} {whole.problem.radius}))"
    yield "(check-sat)"
    if bits:
        values = [str(name) for name, _ in variables.values]
        yield f"(get-value ({' '.join([*map(str, bits.values()), *values])}))"
    yield "(exit)"


def _parts(whole: Settled, moves: Sequence[str]) -> dict[int, str]:
    """For each feature of columns with values, in order, when it is 1."""
    changed: dict[int, list[str]] = {}
    for name, move, is_flip in zip(moves, whole.moves, whole.are_flips, strict=True):
        for feature in () if is_flip else move.flips:
            changed.setdefault(feature, []).append(name)
    found = {feature: _joined("or", changed[feature]) for feature in sorted(changed)}
    origin = whole.problem.origin
    return {feature: f"(not {flips})" if origin[feature] else flips for feature, flips in found.items()}


def _definitions(whole: Settled, moves: Sequence[str], outputs: Sequence[str]) -> Iterator[str]:
    """A function for each set of values that clauses ask for, for each clause and for each constraint."""
    atoms = []
    for a, own in enumerate(whole.atoms):
        atoms.append(moves[own[0]] if len(own) == 1 else f"a{a}")
        if len(own) > 1:
            yield f"(define-fun a{a} () Bool {_joined('or', [moves[i] for i in own])})"
    # The variable of a flip is the feature's value: if the move clears it, one is the opposite of the other.
    clearing = whole.clearing
    clears = [clearing[own[0]] for own in whole.atoms]
    for clause, output in zip(whole.clauses(), outputs, strict=True):
        lits = [atoms[a] if wanted != clears[a] else f"(not {atoms[a]})" for a, wanted in clause]
        yield f"(define-fun {output} () Bool {_joined('and', lits)})"
    problem = whole.problem
    for c, (weights, bound) in enumerate(zip(problem.votes.tolist(), problem.bounds.tolist(), strict=True)):
        votes = [f"(ite {output} {_number(w)} 0)" for output, w in zip(outputs, weights, strict=True) if w]
        yield f"(define-fun h{c} () Bool (>= {_joined('+', votes)} {_number(bound)}))"


def _costs(whole: Settled, moves: Sequence[str]) -> Iterator[str]:
    for name, move, clears in zip(moves, whole.moves, whole.clearing, strict=True):
        if move.cost:
            yield f"(ite {name} 0 {move.cost})" if clears else f"(ite {name} {move.cost} 0)"


def _cases(whole: Settled) -> str:
    if not whole.cases:
        return "false"
    if whole.cases == ((),):
        return "true"
    return _joined("or", [_joined("and", [f"h{c}" for c in case]) for case in whole.cases])


def _joined(operator: str, parts: Sequence[str]) -> str:
    """The parts under ``operator``, which takes at least two; a single part stands alone."""
    return parts[0] if len(parts) == 1 else f"({operator} {' '.join(parts)})"


def _number(value: int) -> str:
    return f"(- {-value})" if value < 0 else str(value)
