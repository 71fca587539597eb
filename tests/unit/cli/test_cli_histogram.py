"""The histogram: every value has its line, many values share lines, and nothing that counts is invisible."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from tmverify.cli.histogram import MAX_LINES, histogram


def lines(counts: dict[float, int], *, open_: int = 0, encoding: str = "utf-8", width: int = 80) -> list[str]:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding=encoding), width=width)
    console.print(histogram(counts, "radius", {"open": open_}))
    console.file.flush()
    return [line.rstrip() for line in raw.getvalue().decode(encoding).splitlines()]


def test_a_line_for_each_value_and_for_each_gap() -> None:
    heading, *rest = lines({2: 4, 5: 1, math.inf: 2}, open_=3)
    assert heading.split() == ["radius", "inputs"]
    assert [line.split()[:2] for line in rest] == [
        ["2", "4"],
        ["3", "0"],
        ["4", "0"],
        ["5", "1"],
        ["inf", "2"],
        ["open", "3"],
    ]
    assert rest[0].count("█") == 50
    assert rest[4].count("█") == 25


@pytest.mark.parametrize("greatest", [19, 20, 21, 99, 100, 784, 5000, 1_000_000])
def test_many_values_share_lines(greatest: int) -> None:
    rest = lines({1: 3, greatest // 2: 2, greatest: 1})[1:]
    assert len(rest) <= MAX_LINES + 1
    assert sum(int(line.split()[1]) for line in rest) == 6
    assert rest[-1].split()[1] == "1"
    last = rest[-1].split()[0].split("-")
    assert int(last[0]) <= greatest <= int(last[-1])


def test_one_of_many_is_still_seen() -> None:
    assert lines({1: 1_000_000, 2: 1})[-1].endswith("▏")
    assert lines({1: 1_000_000, 2: 1}, encoding="ascii")[-1].endswith("#")


@pytest.mark.parametrize("width", [20, 40, 200])
def test_it_fits_the_terminal(width: int) -> None:
    assert max(map(len, lines({1: 10, 2: 5}, width=width))) <= width


def test_all_equal_and_nothing_at_all() -> None:
    assert lines({math.inf: 5})[1:] == [f"   inf       5  {'█' * 50}"]
    assert lines({}, open_=2)[1].split()[:2] == ["open", "2"]
    assert len(lines({})) == 1
