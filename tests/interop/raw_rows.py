"""Random spaces and models of them, and raw rows as devices get them, beside what ``encode`` says of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.tiny import random_model
from tmverify.space import Part

HOSTILE = '*/ int y; #error "out"\n`include endmodule // \\\r\u2028??/'
NAMES = (
    *("age", "Age", "AGE ", "age_2", "class", "int", "output", "x", "valid", "machine", "scores", "key_1"),
    *("ok_2", "gone_1", "m0", "m0_row", "uint8_t", "unix", "2nd floor", "é", "年齢", "_", "-", "a > 1"),
    *(HOSTILE, "x" * 300, "x" * 301, "credit amount (EUR)", "credit-amount EUR", "column_1", "M0_FEATURES"),
)
CATEGORIES = (
    "Oslo",
    "oslo",
    "other",
    "unseen",
    "missing",
    "<5",
    ">5",
    "-1",
    "1",
    "+",
    "年",
    "*/",
    "\\",
    "a\nb",
    "NO_ROWS",
)
EXTREMES = (-1e308, -1.5, -5e-324, 0.0, 5e-324, 2.3e-308, 0.1, 1.0, 25.0, 2.0**53, 1e308)


@dataclass(frozen=True)
class Row:
    """A row: for each column that has bits, what the device gets.

    ``wrong`` is the first column, from 1, that ``encode`` refuses, 0 if none; ``bits`` are those of
    ``encode``, or None.
    """

    values: list[Any]
    wrong: int
    bits: NDArray[np.uint8] | None


def random_space(rng: np.random.Generator, images: bool) -> tv.Space:
    """Columns of all kinds, and at least one number or category with bits."""
    names = [str(name) for name in rng.choice(NAMES, size=rng.integers(2, 8), replace=False)]
    parts: list[Part] = [_number(rng, names[0], 1) if rng.random() < 0.5 else _category(rng, names[0])]
    for name in names[1:]:
        kind = rng.integers(5 if images else 4)
        if kind == 0:
            parts.append(tv.Flag(name, ("no", "yes*/")))
        elif kind == 1:
            parts.append(_number(rng, name, 0))
        elif kind == 2:
            parts.append(_category(rng, name))
        elif kind == 3:
            parts.append(tv.Text(("good", "bad", "it's")[: rng.integers(1, 4)], name))
        else:
            parts.append(_image(rng, name))
    return tv.Space([parts[i] for i in rng.permutation(len(parts))])


def _number(rng: np.random.Generator, name: str, least: int) -> tv.Number:
    found = {*rng.choice(EXTREMES, size=rng.integers(least, 5)).tolist()}
    found |= {*(rng.normal(size=rng.integers(0, 3)) * 10.0 ** rng.integers(-9, 9)).tolist()}
    return tv.Number(name, sorted(found), bool(rng.random() < 0.5))


def _category(rng: np.random.Generator, name: str) -> tv.Category:
    size = int(rng.integers(1, 7))
    found = [str(value) for value in rng.choice(CATEGORIES, size=size, replace=False)]
    return tv.Category(name, found, bool(rng.random() < 0.5), bool(rng.random() < 0.5))


def _image(rng: np.random.Generator, name: str) -> tv.Image:
    threshold: Any = [None, 0.0, 75.5, rng.normal(size=6).tolist()][rng.integers(4)]
    return tv.Image((2, 3), threshold, name=name)


def model_of(rng: np.random.Generator, space: tv.Space) -> tv.Model:
    return replace(random_model(rng, space.n_bits, int(rng.integers(1, 5))), space=space)


def random_rows(rng: np.random.Generator, space: tv.Space, n: int, *, flags_checked: bool) -> list[Row]:
    """Rows whose values are mostly allowed; ``flags_checked``: whether a device can get a flag of 2."""
    found = []
    for _ in range(n):
        pairs = [_value(rng, part, flags_checked) for part in space.parts]
        read = [(part, *pair) for part, pair in zip(space.parts, pairs, strict=True) if part.n_bits]
        wrong = next((k for k, (part, _, raw) in enumerate(read, 1) if not _takes(part, raw)), 0)
        raw = {part.name: pair[1] for part, pair in zip(space.parts, pairs, strict=True)}
        bits = None if wrong else space.encode([raw])[0]
        found.append(Row([value for _, value, _ in read], wrong, bits))
    return found


def _takes(part: Part, raw: Any) -> bool:
    try:
        part.encode(np.array([raw]) if isinstance(part, tv.Image) else [raw])
    except tv.InvalidInputError:
        return False
    return True


def _value(rng: np.random.Generator, part: Part, flags_checked: bool) -> tuple[Any, Any]:
    """What the device gets, and the same for ``encode``."""
    rare = rng.random() < 0.05
    if isinstance(part, tv.Flag):
        flag = int(rng.integers(2, 256)) if rare and flags_checked else int(rng.integers(2))
        return flag, flag
    if isinstance(part, tv.Number):
        number = _float(rng, part.cuts) if not rare else float(rng.choice([math.inf, -math.inf, math.nan]))
        if part.missing and rng.random() < 0.2:
            number = math.copysign(math.nan, rng.choice([-1, 1]))
        return number, number
    if isinstance(part, tv.Category):
        k = len(part.categories)
        raws: list[Any] = [
            *part.categories,
            *(["nowhere"] if part.other else []),
            *([None] if part.missing else []),
        ]
        code = int(rng.integers(len(raws)))
        if rare:
            code = int(rng.choice([-1, -(2**31), 2**31 - 1, 256, 65_536, len(raws), k + 2]))
        # A code without a value is like a value of no kind that any category takes.
        return code, raws[code] if 0 <= code < len(raws) else b"no category"
    if isinstance(part, tv.Text):
        words = rng.integers(2, size=part.n_bits).tolist()
        if rare and flags_checked:
            return [*words[:-1], 2], b"no text"
        return words, " ".join(word for word, there in zip(part.words, words, strict=True) if there)
    assert isinstance(part, tv.Image)
    if part.threshold is None:
        pixels = rng.integers(2, size=part.n_bits)
        return pixels.tolist(), pixels.astype(bool)
    thresholds = np.broadcast_to(np.array(part.threshold), part.n_bits).tolist()
    levels = [_float(rng, [each]) for each in thresholds]
    levels[0] = 2.5  # else ``encode`` may take 0 and 1 alone for bits
    if rare:
        levels[1] = float(rng.choice([math.inf, -math.inf, math.nan]))
    return levels, np.array(levels)


def _float(rng: np.random.Generator, cuts: Any) -> float:
    """A finite number: any, an extreme one, or one at or next to a cut."""
    near = [y for x in cuts for y in (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))]
    found = [float(rng.normal() * 10.0 ** rng.integers(-300, 300)), float(rng.normal()), -0.0, 0.0]
    choice = rng.integers(4)
    if choice == 0:
        return float(rng.choice(found))
    return float(rng.choice(EXTREMES if choice == 1 or not near else near))
