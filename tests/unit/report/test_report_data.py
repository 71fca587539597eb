"""The figures of a report, against ones counted by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from support.report_stores import answer, machine, mixed_store, task, two_model_store, write_store
from tmverify.asking.rules import KeptRules
from tmverify.campaign import Store
from tmverify.display.words import seconds_text
from tmverify.errors import InvalidInputError
from tmverify.report.page import LISTS, NUMBERS, TEXTS, table_json
from tmverify.report.report import Report, collect, median_seconds
from tmverify.report.words import bounds_text, changes_text, percent


def collected(path: Path, *, gallery: int = 200, image: tuple[int, int] | None = None) -> Report:
    with Store.reading(path) as store:
        rows = list(store.rows())
        return collect(rows, store.models(), title="t", source="s", gallery=gallery, image=image)


@pytest.fixture
def mixed(tmp_path: Path) -> Report:
    return collected(mixed_store(tmp_path / "mixed.db"))


def test_summary_counts_solved_ones_and_times_only_those(mixed: Report) -> None:
    first, second, radius = mixed.lines
    assert [line.epsilon for line in mixed.lines] == [1, 2, None]
    counted = [
        (t.total, t.solved, t.positive, t.violated, t.unknown) for t in (line.tally for line in mixed.lines)
    ]
    assert counted == [(4, 3, 2, 1, 1), (4, 3, 1, 2, 1), (4, 3, 3, 0, 1)]
    assert first.tally.mean_seconds == pytest.approx(0.2)
    assert median_seconds(first.tally) == pytest.approx(0.2)
    assert second.max_seconds == pytest.approx(0.3)
    assert radius.asks.adjective == "exact"


def test_all_answers_are_counted(mixed: Report) -> None:
    tally = mixed.tally
    assert (tally.total, tally.done, tally.solved, tally.violated, tally.unknown) == (12, 12, 9, 3, 3)


def test_open_and_infinite_radii_are_counted_apart(mixed: Report) -> None:
    (radii,) = mixed.radii
    assert dict(radii.exact) == {1: 1, 2: 1}
    assert (radii.infinite, radii.open) == (1, 1)
    assert [radii.proved(epsilon) for epsilon in range(4)] == [4, 2, 1, 1]
    assert [radii.possible(epsilon) for epsilon in range(4)] == [4, 3, 2, 2]
    assert (radii.median, radii.least) == ((1.5, math.inf), (1, 1))


def test_unknown_ones_are_neither_robust_nor_violated(mixed: Report) -> None:
    (curve,) = mixed.curves
    first = curve.points[1]
    assert (first.positive, first.solved, first.unknown) == (2, 3, 1)
    (unknowns,) = mixed.unknowns
    assert (unknowns.reason, unknowns.count, unknowns.details) == ("timeout", 3, (("after 5 s", 3),))
    assert "time" in unknowns.meaning


def test_times_fall_in_bins_of_1_2_5(mixed: Report) -> None:
    robustness, _ = mixed.times
    filled = [
        (each.start, each.solved, each.unknown) for each in robustness.bins if each.solved + each.unknown
    ]
    assert filled == [(0.1, 2, 0), (0.2, 4, 0), (5, 0, 2)]
    assert robustness.quantile(0.5) == pytest.approx(0.2)
    assert robustness.quantile(1) == pytest.approx(0.3)


def test_an_input_has_one_entry_its_nearest(mixed: Report) -> None:
    near, far = mixed.gallery.changes
    assert mixed.gallery.total == 2
    assert (near.task.index, near.n_flips, near.places[0]) == (
        1,
        1,
        9,
    )  # the radius', before both verdicts
    assert set(near.places) == {1, 5, 9}
    assert (far.task.index, far.added, far.removed) == (0, (1,), (0,))
    assert set(far.places) == {4, 8}


def test_the_gallery_says_how_many_there_are(tmp_path: Path) -> None:
    gallery = collected(mixed_store(tmp_path / "mixed.db"), gallery=1).gallery
    assert (len(gallery.changes), gallery.total) == (1, 2)


def test_the_gallery_takes_classes_in_turn(tmp_path: Path) -> None:
    model = machine(classes=("b", "a"))
    pairs = []
    for index, label in enumerate("aaab"):
        about = task("robustness", [1, 0, 0, 0], model, index=index, label=label, data="d", epsilon=1)
        pairs.append((about, answer(about, "violated", witness=[0, 0, 0, 0], decisions=("a", "b"))))
    gallery = collected(write_store(tmp_path / "s.db", pairs, [("first", model)])).gallery
    assert [change.task.label for change in gallery.changes] == ["a", "b", "a", "a"]


def test_models_of_one_name_and_other_regions_are_not_mixed(tmp_path: Path) -> None:
    old, new = machine(), machine(clause=3)
    asked = {"index": 0, "data": "d", "epsilon": 1}
    tasks = [
        task("robustness", [1, 0, 0, 0], old, names=["m"], **asked),
        task("robustness", [1, 0, 0, 0], new, names=["m"], **asked),
        task("robustness", [1, 0, 0, 0], new, names=["m"], rules=KeptRules(direction="add"), **asked),
    ]
    path = write_store(
        tmp_path / "s.db", [(each, answer(each, "holds")) for each in tasks], [("m", old), ("m", new)]
    )
    lines = collected(path).lines
    assert [line.tally.total for line in lines] == [1, 1, 1]
    assert lines[0].series.model == f"m ({old.content_hash[:8]})"
    assert lines[2].series.conditions == "only setting features"


def test_two_models(tmp_path: Path) -> None:
    report = collected(two_model_store(tmp_path / "s.db"))
    assert [line.asks.adjective for line in report.lines] == ["similar", "similar", "exact", "equivalent"]
    everywhere, near = report.gallery.changes
    assert everywhere.flips is None
    assert near.removed == (0,)


def test_a_store_without_answers(tmp_path: Path) -> None:
    model = machine()
    about = task("radius", [1, 0, 0, 0], model, index=0, data="d")
    report = collected(write_store(tmp_path / "s.db", [(about, None)], [("first", model)]))
    assert (report.tally.total, report.tally.done) == (1, 0)
    assert (report.radii, report.curves, report.times, report.gallery.changes) == ((), (), (), ())


def test_rows_of_the_table(mixed: Report) -> None:
    data = json.loads(table_json(mixed))
    names = [*TEXTS, *NUMBERS, *LISTS]
    assert data["columns"] == names
    rows = [
        {
            name: data["texts"][v] if name in TEXTS and v is not None else v
            for name, v in zip(names, row, strict=True)
        }
        for row in data["rows"]
    ]
    assert len(rows) == 12
    assert (rows[1]["status"], rows[1]["cost"], rows[1]["decision"]) == ("violated", 1, "dog → cat")
    assert [data["texts"][place] for place in rows[4]["change"]] == ["x1 0 → 1", "x2 0 → 1"]
    assert (rows[0]["change"], rows[3]["change"]) == (None, None)
    assert (rows[3]["status"], rows[3]["reason"], rows[3]["detail"]) == ("unknown", "timeout", "after 5 s")
    assert (rows[10]["bounds"], rows[10]["lower"]) == ("∞", -1)
    assert (rows[11]["bounds"], rows[11]["status"]) == ("≥ 1", "unknown")


def test_changes_in_words(tmp_path: Path) -> None:
    path = two_model_store(tmp_path / "s.db")
    with Store.reading(path) as store:
        rows, models = list(store.rows()), store.models()
    said = [changes_text(row, row.task.named(models).space) for row in rows]
    assert said == [(), ("bad: 1 → 0",), ("good: 1 → 0",), ()]  # an input that tells two apart changes none


def test_refuses_what_cannot_be_drawn(tmp_path: Path) -> None:
    path = mixed_store(tmp_path / "mixed.db")
    with pytest.raises(InvalidInputError, match="3 x 3"):
        collected(path, image=(3, 3))
    with pytest.raises(InvalidInputError, match="at least 0"):
        collected(path, gallery=-1)
    assert collected(path, image=(1, 4)).rows[0].task.image == (1, 4)


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 9, "0 %"),
        (9, 9, "100 %"),
        (1, 3, "33.3 %"),
        (1, 2, "50 %"),
        (9999, 10000, "99.9 %"),
        (1, 10000, "0.1 %"),
        (0, 0, "—"),
    ],
)
def test_only_all_are_100_percent(part: int, whole: int, said: str) -> None:
    assert percent(part, whole) == said


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [(2, 2, "2"), (math.inf, math.inf, "∞"), (1, 3, "1…3"), (1, math.inf, "≥ 1"), (None, None, "")],
)
def test_bounds_in_words(lower: float | None, upper: float | None, said: str) -> None:
    assert bounds_text(lower, upper) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "—"), (0.00123, "1.23 ms"), (2.5, "2.5 s"), (250, "250 s"), (1200, "20 min"), (7200, "2 h")],
)
def test_seconds_in_words(seconds: float | None, said: str) -> None:
    assert seconds_text(seconds) == said
