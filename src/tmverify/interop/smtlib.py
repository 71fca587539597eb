"""SMT-LIB 2.6, logic QF_LIA: export a query for any SMT solver. ``sat`` means VIOLATED, ``unsat`` HOLDS.

    ; bit x4 = feature 4 (contrast)
    (declare-const x4 Bool)
    (define-fun c2 () Bool (and x4 (not x7)))
    (define-fun h0 () Bool (>= (+ (ite c2 3 0) (ite c5 (- 1) 0)) 2))
    (assert (or h0 (and h1 h2)))
    (assert (<= (+ (ite x4 1 0) (ite x7 0 1)) 2))
    (check-sat)
    (get-value (x4 x7))

x<i> is feature i, c<j> a clause, h<k> a constraint on votes; cases are a disjunction. The query is
specialised to its region (``engines.reduction``): every counterexample over the features left is a model.
Integers are exact. The comments are those of ``interop.comments``. After ``unsat`` there are no values,
and solvers report an error for ``get-value``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from tmverify.atomic import write_lines
from tmverify.engines.reduction import Reduced
from tmverify.interop.comments import comment_lines
from tmverify.interop.linear import specialise, wanted_values
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


def _lines(query: Query, reduced: Reduced) -> Iterator[str]:
    bits = {feature: default_name(feature) for feature in reduced.features.tolist()}
    clauses = {index: f"c{index}" for index in reduced.sources.tolist()}
    meaning = "sat iff there is a counterexample"
    yield from comment_lines(";", query, meaning, reduced.origin, bits, clauses)
    yield "(set-info :smt-lib-version 2.6)"
    yield "(set-option :produce-models true)"
    yield "(set-logic QF_LIA)"
    for x in bits.values():
        yield f"(declare-const {x} Bool)"
    yield from _definitions(reduced, list(bits.values()), list(clauses.values()))
    yield f"(assert {_cases(reduced)})"
    if reduced.radius < len(bits):
        flips = [f"(ite {x} 0 1)" if reduced.origin[i] else f"(ite {x} 1 0)" for i, x in bits.items()]
        yield f"(assert (<= {_joined('+', flips)} {reduced.radius}))"
    yield "(check-sat)"
    if bits:
        yield f"(get-value ({' '.join(bits.values())}))"
    yield "(exit)"


def _definitions(reduced: Reduced, bits: Sequence[str], outputs: Sequence[str]) -> Iterator[str]:
    """A function for each clause and for each constraint."""
    for clause, output in zip(wanted_values(reduced), outputs, strict=True):
        lits = [bits[i] if value else f"(not {bits[i]})" for i, value in clause]
        yield f"(define-fun {output} () Bool {_joined('and', lits)})"
    for c, (weights, bound) in enumerate(zip(reduced.weights.tolist(), reduced.bounds, strict=True)):
        votes = [f"(ite {output} {_number(w)} 0)" for output, w in zip(outputs, weights, strict=True) if w]
        yield f"(define-fun h{c} () Bool (>= {_joined('+', votes)} {_number(bound)}))"


def _cases(reduced: Reduced) -> str:
    if not reduced.cases:
        return "false"
    if reduced.cases == ((),):
        return "true"
    return _joined("or", [_joined("and", [f"h{c}" for c in case]) for case in reduced.cases])


def _joined(operator: str, parts: Sequence[str]) -> str:
    """The parts under ``operator``, which takes at least two; a single part stands alone."""
    return parts[0] if len(parts) == 1 else f"({operator} {' '.join(parts)})"


def _number(value: int) -> str:
    return f"(- {-value})" if value < 0 else str(value)
