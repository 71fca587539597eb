"""repr of an answer: one line for people, without the arrays, which are attributes."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tmverify as tv

EITHER = tv.Model.from_clauses(3, [[1], [2]], [[1, 1]], bias=-1)  # class 1 if x0 or x1
FIRST = tv.Model.from_clauses(3, [[1]], [[1]], bias=-1)  # class 1 if x0
NAMED = tv.Model.from_clauses(3, [[1], [2]], [[1, 1]], bias=-1, feature_names=["rain", "wind", "sun"])
ALL = tv.Model.from_clauses(9, [[f] for f in range(1, 10)], [[1] * 9], bias=-1)  # class 1 if any


def line(answer: object) -> str:
    """Without the time, which is in milliseconds or seconds."""
    text = repr(answer)
    assert re.search(r", \d[\d.e+-]* m?s, [a-z]+(, certificate)?$", text), text
    return re.sub(r", \d[\d.e+-]* m?s, ", " | ", text)


def test_verdicts() -> None:
    assert line(tv.check_robustness(EITHER, [1, 1, 0], 1)) == "holds: proved | search"
    v = tv.check_robustness(EITHER, [1, 1, 0], 2)
    assert line(v) == "violated: 1 → 0 by flipping x0, x1 | search"
    assert (v.flips is not None and v.flips.tolist(), v.flipped) == ([0, 1], ("x0", "x1"))
    assert line(tv.check_robustness(NAMED, [0, 1, 0], 1)) == "violated: 1 → 0 by flipping wind | search"
    assert line(tv.check_similarity(EITHER, FIRST, [1, 1, 0], 1)) == (
        "violated: 1 ≠ 0 after flipping x0 | search"
    )
    assert line(tv.check_similarity(EITHER, FIRST, [0, 1, 0], 0)) == (
        "violated: 1 ≠ 0 on the input itself | search"
    )
    assert line(tv.check_equivalence(EITHER, FIRST)) == "violated: 1 ≠ 0 on the same input | hunt"
    certified = tv.check_robustness(EITHER, [1, 1, 0], 1, certificate=True)
    assert line(certified) == "holds: proved | search, certificate"


def test_changes_in_words() -> None:
    space = tv.Space([tv.Number("age", (25, 40)), tv.Category("city", ("Bergen", "Oslo"))])
    older = tv.Model.from_clauses(4, [[2]], [[1]], bias=-1, space=space, classes=["no", "yes"])
    x: Any = {"age": 31, "city": "Oslo"}
    assert line(tv.check_robustness(older, x, 1)) == ("violated: no → yes if age 25 to 40 → over 40 | search")
    words = tv.Model.from_clauses(2, [[1]], [[1]], bias=-1, space=tv.Space([tv.Text(("good", "bad"))]))
    assert line(tv.robustness_radius(words, "a bad film")) == 'radius 1: 0 → 1 if "good" added | search'


def test_radii() -> None:
    assert line(tv.robustness_radius(ALL, [1] * 9)) == "radius 9: 1 → 0 by flipping x0, x1, x2 … | search"
    assert line(tv.robustness_radius(EITHER, [1, 1, 0], direction="add")) == (
        "radius inf: no allowed change alters it | search"
    )
    assert line(tv.similarity_radius(EITHER, EITHER, [1, 1, 0])) == "radius inf: no disagreement | search"
    assert str(tv.robustness_radius(ALL, [1] * 9)) == "9"


def test_what_is_open_says_why() -> None:
    v = tv.Verdict(tv.Status.UNKNOWN, 300.2, "sat", stop_reason=tv.StopReason.TIMEOUT, detail="no answer")
    assert repr(v) == "unknown: timeout (no answer), 300 s, sat"
    r = tv.Radius(2, math.inf, 1.5, "search", stop_reason=tv.StopReason.NODE_LIMIT)
    assert repr(r) == "radius 2..?: open, node-limit, 1.5 s, search"
    found = tv.robustness_radius(ALL, [1] * 9)
    bounds = replace(found, lower=4, seconds=0.01, stop_reason=tv.StopReason.TIMEOUT)
    assert repr(bounds) == "radius 4..9: open, timeout; 1 → 0 by flipping x0, x1, x2 …, 10 ms, search"


def test_universal_verdicts() -> None:
    X = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]])
    assert line(tv.check_universal_robustness(EITHER, X, 1, "1/4")) == (
        "holds: proved for 1 of 4 inputs, 1 required, 3 not looked at | auto"
    )
    assert line(tv.check_universal_robustness(EITHER, X, 1, 0.75)) == (
        "violated: proved for 1 of 4 inputs, 3 required, 2 violated, 1 not looked at | auto"
    )
    undecided = tv.Verdict(tv.Status.UNKNOWN, 1.0, "auto")
    v = tv.UniversalVerdict(tv.Status.UNKNOWN, 2.0, "auto", (undecided,), 1, 1, Fraction(1))
    assert repr(v) == "unknown: proved for 0 of 1 inputs, 1 required, 1 unknown, 2 s, auto"


def test_what_is_missing_is_said() -> None:
    v = tv.Verdict(tv.Status.HOLDS, 0.9997, "brute", detail="no certificate: every input was looked at")
    assert repr(v) == "holds: proved, 1 s, brute, no certificate"
    assert repr(tv.Verdict(tv.Status.UNKNOWN, 0.2, "auto")) == "unknown: for no reason given, 200 ms, auto"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "long " * 30])
def test_names_stay_on_the_line(name: str) -> None:
    model = tv.Model.from_clauses(1, [[1]], [[1]], bias=-1, feature_names=[name])
    text = repr(tv.check_robustness(model, [1], 1))
    assert text.isprintable()
    assert len(text) < 120


def test_margins() -> None:
    """A proof says how decisions stand, a counterexample with the same decision by how many votes."""
    x, stuck = [1, 1, 1], {"freeze": ["x0", "x1", "x2"]}
    majority = tv.Model.from_clauses(3, [[1], [2], [3]], [[2, 2, 2]], bias=-3)  # leads of 3 and 1
    said = tv.check_robustness(majority, x, 0, margin=3)
    assert line(said) == "holds: proved, the decision stands by at least 3 votes | search"
    said = tv.check_robustness(majority, x, 1, margin=3)
    assert line(said).startswith("violated: 1 by 1 vote after flipping x")
    assert line(tv.check_robustness(majority, x, 1, margin=4)) == (
        "violated: 1 by 3 votes on the input itself | search"
    )
    assert line(tv.check_robustness(majority, [1, 1, 0], 1, margin=1, features=["x0"])) == (
        "violated: 1 → 0 by flipping x0 | search"
    )
    said = tv.check_similarity(majority, majority, x, 0, margin=1)
    assert line(said) == "holds: proved, each decides by at least 1 vote | search"
    said = tv.check_similarity(majority, majority, x, 0, margin=4)
    assert line(said) == "violated: 1 by 3 votes and 1 by 3 votes on the input itself | search"
    radius = tv.robustness_radius(majority, x, margin=3, **stuck)  # type: ignore[arg-type]
    assert line(radius) == "radius inf: no allowed change alters it, or leaves it fewer than 3 votes | search"
    radius = tv.similarity_radius(majority, majority, x, margin=3, **stuck)  # type: ignore[arg-type]
    assert line(radius) == "radius inf: no disagreement, each decides by at least 3 votes | search"
    assert line(tv.robustness_radius(majority, x, margin=4)).startswith("radius 0: 1 by 3 votes on the")
    share = tv.check_universal_robustness(majority, [x], 0, 1, margin=3)
    assert line(share) == "holds: proved by at least 3 votes for 1 of 1 inputs, 1 required | auto"
