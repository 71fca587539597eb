"""Rounded properties, held against numbers: the expression as it was written, evaluated by Python itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery
from tmverify.properties.expressions import ExpressionError

CUTS = [10, 20]
NUMBERS = [0.0, 3.0, 5.0, 8.0, 10.0, 12.0, 13.0, 13.5, 15.0, 15.5, 18.0, 19.0, 20.0, 22.0, 25.0, 28.0, 40.0]
"""Of every interval, those at and between all constants below."""
CONSTANTS = [5, 10, 13, 15, 18, 20, 25]
Rng = np.random.Generator


def random_text(rng: Rng, depth: int) -> str:
    kind = int(rng.integers(4)) if depth else 3
    if kind == 3:
        if rng.random() < 0.15:
            return "owner"
        name = str(rng.choice(["age", "debt"]))
        if rng.random() < 0.1:
            return f"age {rng.choice(['<', '<=', '>', '>='])} debt"
        return f"{name} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {rng.choice(CONSTANTS)}"
    if kind == 2:
        return f"not ({random_text(rng, depth - 1)})"
    parts = random_text(rng, depth - 1), random_text(rng, depth - 1)
    return f"({parts[0]}) {'and' if kind == 0 else 'or'} ({parts[1]})"


def check(rng: Rng) -> str:
    space = tv.Space([tv.Flag("owner"), tv.Number("age", CUTS), tv.Number("debt", CUTS)])
    clauses = [rng.choice([1, 2, 3, 4, 5], 2, replace=False) * rng.choice([-1, 1], 2) for _ in range(3)]
    model = tv.Model.from_clauses(
        5, [clause.tolist() for clause in clauses], [rng.integers(-2, 3, 3).tolist()], space=space
    )
    assume, wanted = random_text(rng, 2), int(rng.integers(2))
    more = random_text(rng, 1)
    expect = f"decision == {wanted} or ({more})"
    way = str(rng.choice(["outer", "inner"]))
    try:
        found = tv.prove(model, assume, expect, round=way, engine="brute")  # type: ignore[call-overload]
    except ExpressionError:
        return "refused"  # nothing would be left of a comparison

    def violates(owner: int, age: float, debt: float) -> bool:
        row = {"owner": owner, "age": age, "debt": debt}
        so: Callable[[str], bool] = lambda text: bool(eval(text, {}, row))  # noqa: E731
        return so(assume) and not (model.predict([row])[0] == wanted or so(more))

    where = [(o, a, d) for o in (0, 1) for a in NUMBERS for d in NUMBERS]
    if found.status == "holds":
        if not found.as_rounded:
            assert not any(violates(*row) for row in where), (assume, expect, way)
        return f"holds {found.as_rounded}"
    assert found.witness is not None
    bits = space.encode([dict(zip(("owner", "age", "debt"), row, strict=True)) for row in where])
    alike = (bits == found.witness).all(axis=1)
    seen = [violates(*row) for row, same in zip(where, alike, strict=True) if same]
    if not found.as_rounded:
        assert any(seen), (assume, expect, way)
    if way == "inner":
        assert all(seen), (assume, expect)
        assert not found.as_rounded
    return f"violated {found.as_rounded} {'real' if any(seen) else 'made up'}"


@battery((range(1), 150), (range(10, 14), 2000))
def test_what_is_right_about_the_property_as_it_was_written(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([26, seed])
    counts = Counter(check(rng) for _ in range(n_cases))
    assert min(counts["holds False"], counts["violated False real"]) > n_cases // 20, counts
    assert counts["violated True made up"] > 0, counts
    assert counts["refused"] < n_cases * 3 // 4, counts


@pytest.mark.parametrize("constant", [15, 15.5, 20])
def test_a_rounded_counterexample_is_one_if_some_number_is(constant: float) -> None:
    """Of people between 10 and 20, those above the constant are what the property is about."""
    space = tv.Space([tv.Number("age", CUTS)])
    model = tv.Model.from_clauses(2, [[1, -2]], [[-1]], space=space)
    found = tv.prove(model, f"age >= {constant} and age <= {constant}", "decision == 1", round="outer")
    assert (found.status, found.as_rounded) == ("violated", False)
