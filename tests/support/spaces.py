"""Hypothesis strategies for small spaces, their rows and their clauses; and every input of a space."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import tmverify as tv
from tmverify.space.parts import OneColumn, Part

TRICKY = (
    "Oslo",
    "unseen",
    " unseen",
    "unseen value",
    "missing",
    " missing ",
    "\xa0unseen (2)",
    "not given",
    "nan",
    "NA",
    "None",
    "1",
    "1.0",
    "01",
    "-0",
    "1e3",
    "True",
    "up to 3",
    "a or b",
    "a",
    "b",
    "not a",
    " a",
    '"a"',
    "é\u2028",
)
"""Categories that look like something else."""

EXTREMES = (-1e308, -1.5, -5e-324, 0.0, 5e-324, 0.1, 1.0, 25.0, 2.0**53, 1e308)

finite = st.floats(allow_nan=False, allow_infinity=False)
cut = st.sampled_from(EXTREMES) | finite.filter(lambda value: abs(value) < 1.7e308)
category = st.sampled_from(TRICKY) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4
).filter(lambda text: bool(text.strip()))


@st.composite
def flags(draw: st.DrawFn, name: str) -> tv.Flag:
    values = draw(st.sampled_from([("0", "1"), ("no", "yes"), ("false", "true"), ("female", "male")]))
    return tv.Flag(name, values, draw(st.sampled_from(["flag", "word", "pixel"])))


@st.composite
def numbers(draw: st.DrawFn, name: str) -> tv.Number:
    cuts = sorted({value + 0.0 for value in draw(st.lists(cut, max_size=3))})
    return tv.Number(name, tuple(cuts), draw(st.booleans()))


@st.composite
def categories(draw: st.DrawFn, name: str) -> tv.Category:
    found = draw(st.lists(category, min_size=1, max_size=3, unique=True))
    return tv.Category(name, tuple(found), draw(st.booleans()), draw(st.booleans()))


@st.composite
def texts(draw: st.DrawFn, name: str) -> tv.Text:
    words = draw(
        st.lists(st.sampled_from(["good", "bad", "it's", "ü", "\xa0", "x"]), min_size=1, unique=True)
    )
    return tv.Text(tuple(words[:2]), name)


def parts(name: str) -> st.SearchStrategy[Part]:
    """A part of at most four bits."""
    return flags(name) | numbers(name) | categories(name) | texts(name)


@st.composite
def spaces(draw: st.DrawFn, most: int = 3) -> tv.Space:
    """Up to ``most`` parts of any kind but images, and at least one bit."""
    names = draw(
        st.lists(st.sampled_from(["age", "city", "x0", "a > 1", "é", " b"]), max_size=most, unique=True)
    )
    found = [draw(parts(name)) for name in names] + [draw(flags("owner"))]
    return tv.Space(draw(st.permutations(found)), target=draw(st.none() | st.just("y")))


def raw_values(part: Part) -> st.SearchStrategy[Any]:
    """A value that the part takes: the extremes, values near its cuts, unseen and missing ones."""
    found: list[st.SearchStrategy[Any]] = []
    if isinstance(part, tv.Flag):
        found = [st.sampled_from([0, 1, True, "1", "false", 1.0, np.uint8(0), *part.values])]
    elif isinstance(part, tv.Number):
        near = [y for x in part.cuts for y in (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))]
        found = [finite, st.sampled_from([*near, 0, -0.0, 2**60 + 1, np.float32(0.1), True, " 3 ", "1e-3"])]
    elif isinstance(part, tv.Category):
        found = [st.sampled_from(part.categories)]
        found += [category.filter(lambda text: text != part.values[-1])] if part.other else []
    elif isinstance(part, tv.Text):
        found = [st.text(max_size=5), st.lists(st.sampled_from([*part.words, "Good, BAD?"])).map(" ".join)]
    if getattr(part, "missing", False):
        found.append(st.sampled_from([None, math.nan, "", "  ", np.nan]))
    return st.one_of(found)


@st.composite
def rows(draw: st.DrawFn, space: tv.Space, most: int = 5) -> list[dict[str, Any]]:
    """Raw rows of a space, by the names of its parts."""
    row = st.fixed_dictionaries({part.name: raw_values(part) for part in space.parts})
    return draw(st.lists(row, min_size=1, max_size=most))


@st.composite
def literals(draw: st.DrawFn, space: tv.Space) -> list[int]:
    """A clause that does not contradict itself, by its bits."""
    bits = draw(st.lists(st.integers(1, space.n_bits), unique=True, max_size=5))
    return [bit if draw(st.booleans()) else -bit for bit in bits]


def all_bits(n: int) -> NDArray[np.uint8]:
    """Every pattern of n bits, (2**n, n)."""
    return np.array(list(product((0, 1), repeat=n)), np.uint8).reshape(-1, n)


def raw_examples(part: Part) -> list[Any]:
    """Raw values of a part that between them have every bit pattern that any value has."""
    if isinstance(part, tv.Flag):
        return [0, 1]
    if isinstance(part, tv.Number):
        above = [math.nextafter(part.cuts[-1], math.inf)] if part.cuts else [0.0]
        return [*part.cuts, *above, *([None] if part.missing else [])]
    if isinstance(part, tv.Category):
        unseen = "".join(part.categories) + "?"
        return [*part.categories, *([unseen] if part.other else []), *([None] if part.missing else [])]
    assert isinstance(part, tv.Text)
    return [
        " ".join(word for word, bit in zip(part.words, row, strict=True) if bit)
        for row in all_bits(part.n_bits)
    ]


def one_column(part: Part) -> OneColumn:
    assert isinstance(part, OneColumn)
    return part
