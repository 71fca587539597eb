"""Hypothesis strategies for tiny models: like ``tiny``, but Hypothesis can shrink failing cases."""

from __future__ import annotations

from hypothesis import strategies as st

import tmverify as tv


@st.composite
def models(draw: st.DrawFn, n_features: int = 4, outputs: int | None = None) -> tv.Model:
    """Any model over ``n_features`` bits, up to 6 clauses, weights up to 3."""
    rows = draw(st.integers(1, 3)) if outputs is None else outputs
    literal = st.integers(1, n_features).flatmap(lambda f: st.sampled_from([f, -f]))
    clauses = draw(st.lists(st.lists(literal, max_size=4), max_size=6))
    weight = st.integers(-3, 3)
    return tv.Model.from_clauses(
        n_features,
        clauses,
        [draw(st.lists(weight, min_size=len(clauses), max_size=len(clauses))) for _ in range(rows)],
        bias=draw(st.lists(st.integers(-2, 2), min_size=rows, max_size=rows)),
        tie=draw(st.sampled_from(["positive", "negative"])),
        clamp=draw(st.none() | st.integers(1, 4)),
        empty_clause=draw(st.sampled_from(["silent", "fires"])),
    )


@st.composite
def plain_machines(draw: st.DrawFn, n_features: int = 4) -> tv.Model:
    """The paper's machine: as many clauses for as against, each voting once, a tie is positive."""
    literal = st.integers(1, n_features).flatmap(lambda f: st.sampled_from([f, -f]))
    half = draw(st.integers(1, 3))
    clause = st.lists(literal, min_size=1, max_size=4)
    clauses = draw(st.lists(clause, min_size=2 * half, max_size=2 * half))
    return tv.Model.from_clauses(n_features, clauses, [[1] * half + [-1] * half])


def inputs(n_features: int = 4) -> st.SearchStrategy[list[int]]:
    """One input."""
    return st.lists(st.integers(0, 1), min_size=n_features, max_size=n_features)
