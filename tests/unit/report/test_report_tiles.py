"""Tiles, read by someone who sees nothing else: what is said must be asked, whole and not too good."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.report_stores import Pair, answer, machine, mixed_store, task, two_model_store, write_store
from tmverify.campaign import Store, Task, TaskAnswer
from tmverify.report.report import collect
from tmverify.report.tiles import Tile, tiles_of

BITS = [1, 0, 0, 0]


def tiles(path: Path) -> dict[str, Tile]:
    """The tiles of a store by name."""
    with Store.reading(path) as store:
        found = tiles_of(collect(list(store.rows()), store.models(), title="t", source="s"))
    assert len({tile.name for tile in found}) == len(found)
    return {tile.name: tile for tile in found}


def said(tile: Tile) -> list[str]:
    return [note.text for note in tile.notes]


def asked(statuses: str, *, name: str = "first", clause: int = 1, epsilon: int = 1) -> list[Pair]:
    """Robustness of one input for each letter: robust, violated, unknown, or not answered (a dot)."""
    pairs: list[Pair] = []
    for index, letter in enumerate(statuses):
        model = machine(clause=clause)
        about = task("robustness", BITS, model, names=[name], index=index, data="test", epsilon=epsilon)
        witness = [1 - bit if i == clause - 1 else bit for i, bit in enumerate(BITS)]
        found = {
            "r": answer(about, "holds"),
            "v": answer(about, "violated", witness=witness, decisions=(1, 0)),
            "u": answer(about, "unknown", stop_reason="timeout"),
        }
        pairs.append((about, found.get(letter)))
    return pairs


def radii(bounds: Sequence[tuple[float, float]], *, name: str = "first", clause: int = 1) -> list[Pair]:
    pairs: list[Pair] = []
    for index, (lower, upper) in enumerate(bounds):
        about = task("radius", BITS, machine(clause=clause), names=[name], index=index, data="test")
        pairs.append((about, _radius(about, lower, upper)))
    return pairs


def _radius(about: Task, lower: float, upper: float) -> TaskAnswer:
    witness = None if upper == math.inf else [1 - bit if i < upper else bit for i, bit in enumerate(BITS)]
    more = {"stop_reason": "timeout"} if lower < upper else {}
    decisions = None if witness is None else (1, 0)
    status = "exact" if lower == upper else "unknown"
    return answer(about, status, lower=lower, upper=upper, witness=witness, decisions=decisions, **more)


def stored(path: Path, *groups: list[Pair]) -> Path:
    models = [("first", machine()), ("second", machine(clause=2))]
    return write_store(path / "s.db", [pair for group in groups for pair in group], models)


def test_only_what_was_asked_has_a_tile(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, radii([(1, 1), (2, 2), (4, 4)])))
    assert list(found) == ["answered", "exact radii", "median radius", "least radius"]
    assert (found["exact radii"].value, found["exact radii"].tone) == ("3 of 3", "")
    assert (found["median radius"].value, found["least radius"].value) == ("2", "1")
    assert not found["median radius"].tone


def test_a_low_share_is_not_green_and_says_of_what(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, asked("rvvvv")))
    assert list(found) == ["answered", "robust at ε 1"]
    tile = found["robust at ε 1"]
    assert (tile.value, tile.tone) == ("1 of 5", "")
    assert said(tile) == ["4 violated", "20 % of inputs", "first · test"]
    assert tile.notes[0].tone == "bad"


@pytest.mark.parametrize(
    ("statuses", "value", "tone"),
    [("rrr", "3 of 3", "good"), ("rru", "2 of 3", ""), ("rr.", "2 of 2", ""), ("vvv", "0 of 3", "")],
)
def test_green_is_for_all_that_was_asked(tmp_path: Path, statuses: str, value: str, tone: str) -> None:
    tile = tiles(stored(tmp_path, asked(statuses)))["robust at ε 1"]
    assert (tile.value, tile.tone) == (value, tone)


def test_unknown_ones_stand_beside_the_share_and_have_a_tile(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, asked("rrvu")))
    tile = found["robust at ε 1"]
    assert tile.value == "2 of 4"
    assert said(tile)[:3] == ["1 violated", "1 unknown", "at least 50 %, at most 75 % of inputs"]
    assert (found["unknown"].value, found["unknown"].tone) == ("1 of 4", "open")


def test_tasks_without_an_answer_are_said(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, asked("rr..")))
    assert (found["answered"].value, found["answered"].tone) == ("2 of 4", "open")
    assert said(found["robust at ε 1"])[:2] == ["2 without an answer yet", "100 % of answered inputs"]
    assert "unknown" not in found


def test_models_are_not_averaged(tmp_path: Path) -> None:
    groups = asked("rvvv"), asked("rrrr", name="second", clause=2)
    tile = tiles(stored(tmp_path, *groups))["robust at ε 1"]
    assert (tile.value, tile.tone) == ("25\u00a0% to 100\u00a0%", "")
    assert said(tile) == ["3 violated", "1 of 4: first · test", "4 of 4: second · test"]


def test_each_epsilon_has_a_tile(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, *(asked("rv", epsilon=epsilon) for epsilon in (3, 1, 2))))
    assert list(found)[1:] == ["robust at ε 1", "robust at ε 2", "robust at ε 3"]


def test_of_many_epsilons_the_greatest_has_a_tile_too(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, *(asked("rr", epsilon=epsilon) for epsilon in range(5))))
    assert list(found)[1:] == [f"robust at ε {epsilon}" for epsilon in (0, 1, 2, 4)]
    assert said(found["robust at ε 4"])[-1] == "also asked: ε 3"


def test_an_open_radius_is_not_taken_for_an_exact_one(tmp_path: Path) -> None:
    found = tiles(stored(tmp_path, radii([(1, 3), (2, 2), (3, math.inf)])))
    assert (found["exact radii"].value, found["exact radii"].tone) == ("1 of 3", "")
    assert said(found["exact radii"])[0] == "2 open, with bounds"
    assert found["median radius"].value == "2…3"
    assert found["least radius"].value == "1…2"
    assert "only bounds: 2 open" in said(found["median radius"])


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ((1, 1), (3, 3), "1 to 3"),
        ((2, 2), (2, 2), "2"),
        ((1, 1), (2, math.inf), "≥\u00a01"),
        ((1, 1), (math.inf, math.inf), "1 to ∞"),
    ],
)
def test_radii_of_several_models_are_a_range(
    tmp_path: Path, first: tuple[float, float], second: tuple[float, float], value: str
) -> None:
    groups = radii([first]), radii([second], name="second", clause=2)
    tile = tiles(stored(tmp_path, *groups))["median radius"]
    assert tile.value == value
    assert len([text for text in said(tile) if text.endswith(" · test")]) == 2


def test_two_models(tmp_path: Path) -> None:
    found = tiles(two_model_store(tmp_path / "s.db"))
    assert (found["equivalent"].value, found["equivalent"].tone) == ("refuted", "bad")
    assert (found["similar at ε 0"].tone, found["similar at ε 1"].tone) == ("good", "")
    assert found["median distance to a disagreement"].value == "1"


def test_questions_of_all_kinds_are_told_apart(tmp_path: Path) -> None:
    found = tiles(mixed_store(tmp_path / "s.db"))
    assert list(found) == [
        "answered",
        "robust at ε 1",
        "robust at ε 2",
        "exact radii",
        "median radius",
        "least radius",
        "unknown",
    ]
    assert not [tile for tile in found.values() if tile.tone == "good"]


def test_a_store_without_tasks(tmp_path: Path) -> None:
    assert said(tiles(stored(tmp_path))["answered"]) == ["no tasks are planned"]
