"""Charts are XML that says in words what it draws."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tmverify.report.charts import Bar, Bars, Chart, Curves, Mark, Steps, round_ticks, standalone_svg, svg
from tmverify.report.distributions import Times

EVIL = '</text><script>alert("x")</script>&'
BARS = Bars(
    title=EVIL,
    description="d",
    x_label="radius",
    y_label=EVIL,
    bars=(Bar("1", (("exact", 3), ("unknown", 1))), Bar(EVIL, (("exact", 0),))),
)
CURVES = Curves(
    title="t",
    description=EVIL,
    x_label="x",
    y_label="y",
    end=2,
    curves=(Steps(EVIL, (1, 0.5, 0), (1, 0.75, 0), (Mark(1, 0.4, 0.5, 0.6, EVIL),)),),
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("chart", [BARS, CURVES])
@pytest.mark.parametrize("draw", [svg, standalone_svg])
def test_any_text_stays_text(chart: Chart, draw: object) -> None:
    assert callable(draw)
    root = ElementTree.fromstring(draw(chart))
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == chart.title
    assert not list(root.iter(f"{SVG}script"))


def test_bars_are_as_high_as_their_counts() -> None:
    bars = ElementTree.fromstring(svg(BARS)).findall(f".//{SVG}rect")
    heights = [float(bar.get("height", "")) for bar in bars]
    assert heights[0] == pytest.approx(3 * heights[1], abs=0.3)
    assert heights[2] == 0


def test_a_band_is_drawn_only_between_curves_that_differ() -> None:
    exact = Curves(
        title="", description="", x_label="", y_label="", end=1, curves=(Steps("s", (1, 0), (1, 0)),)
    )
    assert "<polygon" in svg(CURVES)
    assert "<polygon" not in svg(exact)


@pytest.mark.parametrize("greatest", [0, 1, 3, 10, 99, 12345])
def test_ticks_are_few_and_reach_far_enough(greatest: int) -> None:
    ticks = round_ticks(greatest)
    assert ticks[0] == 0
    assert greatest <= ticks[-1]
    assert 2 <= len(ticks) <= 6


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.002, 0.00999, 0.01, 1.0, 1.999, 2.0, 4.99, 5, 10, 12345.6])
def test_every_time_lies_in_its_bin(seconds: float) -> None:
    (full,) = (each for each in Times("radius", (seconds,), ()).bins if each.solved)
    assert full.start <= max(seconds, 0.001) < full.end
