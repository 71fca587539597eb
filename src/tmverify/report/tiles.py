"""Tiles: the results at the top of a page, each of them true for a reader who sees nothing else.

- A tile is about one question, at one epsilon if it has one, and is there only if that was asked.
- A count says of how many. What is unknown or not answered yet stands beside it, and is never left out.
- Series are not averaged: where there are several, a tile gives the least and the greatest, and names them.
- Green is what is proved for all that was asked. One unknown task, or one to come, takes the colour away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tmverify.campaign import Tally
from tmverify.properties.questions import margin_text, votes_text
from tmverify.report.distributions import Radii
from tmverify.report.report import Line, Report
from tmverify.report.series import Series
from tmverify.report.words import bounds_text, percent

_MAX_SERIES = 4  # how many series a tile names
_MAX_EPSILONS = 4  # how many epsilons of a question have a tile
# By the number of models: what distances are called, and of what they are.
_EXACT = {1: "exact radii", 2: "exact distances to a disagreement"}
_DISTANCES = {1: "radius", 2: "distance to a disagreement"}
_OF = {"columns": " (columns)", "steps": " (steps)", "cost": " (cost)", "bits": " (bits)"}
_NEEDED = {1: "changes that alter the decision", 2: "changes that make the models disagree"}
_WEAKEN = "or leave it fewer than {}"  # votes, if there is a margin


@dataclass(frozen=True, slots=True)
class Note:
    """A line below the value of a tile; ``tone`` is the class of its colour."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Tile:
    """One result: its name, its value, what the value is about; ``tone`` is the class of its colour."""

    name: str
    value: str
    notes: tuple[Note, ...] = ()
    tone: str = ""


def tiles_of(report: Report) -> tuple[Tile, ...]:
    """How much is answered, then each question's result, then how much is unknown."""
    return (*_progress(report.tally), *_results(report), *_unknown(report.tally))


def _progress(tally: Tally) -> Iterator[Tile]:
    waiting = tally.total - tally.done
    notes = [Note("tasks" if tally.total else "no tasks are planned")]
    notes += [Note(f"{waiting} without an answer yet", "open")] if waiting else []
    value = f"{tally.done} of {tally.total}" if waiting or not tally.total else f"all {tally.total}"
    yield Tile("answered", value, tuple(notes), "open" if waiting else "")


def _unknown(tally: Tally) -> Iterator[Tile]:
    if tally.unknown:
        notes = Note("answers: decided neither way"), Note("the reasons are below")
        yield Tile("unknown", f"{tally.unknown} of {tally.done}", notes, "open")


def _results(report: Report) -> Iterator[Tile]:
    """The tiles of each question that has answers."""
    by_question: dict[tuple[str, int, str, int], dict[int | None, list[Line]]] = {}
    for line in report.lines:
        if line.tally.done:
            # An ε of columns and an ε of bits are not compared, nor is what must stand by more votes.
            counted = "" if not line.asks.about_input else line.series.counted
            kind = line.question, len(line.series.models), counted, line.series.margin
            by_epsilon = by_question.setdefault(kind, {})
            by_epsilon.setdefault(line.epsilon, []).append(line)
    radii = {each.series: each for each in report.radii}
    for (_, n_models, *_), by_epsilon in by_question.items():
        asks = next(iter(by_epsilon.values()))[0].asks
        if asks.is_distance:
            (lines,) = by_epsilon.values()
            yield from _distance_tiles(lines, [radii[line.series] for line in lines], n_models)
        elif not asks.about_input:
            yield _verdict_tile([line for lines in by_epsilon.values() for line in lines])
        else:
            yield from _share_tiles(by_epsilon)


def _share_tiles(by_epsilon: dict[int | None, list[Line]]) -> Iterator[Tile]:
    """A tile for each epsilon; of many, the least ones and the greatest, since the least look best."""
    epsilons = sorted(by_epsilon, key=lambda epsilon: -1 if epsilon is None else epsilon)
    chosen = epsilons
    if len(epsilons) > _MAX_EPSILONS:
        chosen = [*epsilons[: _MAX_EPSILONS - 1], epsilons[-1]]
    left_out = [f"ε {epsilon}" for epsilon in epsilons if epsilon not in chosen]
    for epsilon in chosen:
        lines = by_epsilon[epsilon]
        name = lines[0].asks.adjective
        if epsilon is not None:
            name += f" at ε {epsilon}" + _OF.get(lines[0].series.counted, "")
        name += _by(lines[0].series)
        also = [Note(f"also asked: {', '.join(left_out)}")] if left_out and epsilon == chosen[-1] else []
        yield _share_tile(name, lines, also)


def _share_tile(name: str, lines: Sequence[Line], also: Sequence[Note] = ()) -> Tile:
    """How many inputs have a positive answer, of those that have an answer."""
    if len(lines) == 1:
        (line,) = lines
        value = f"{line.tally.positive} of {line.tally.done}"
        told = [Note(_share_text(line)), Note(line.series.title)]
    else:
        ranked = sorted((line.tally for line in lines), key=lambda tally: tally.positive / tally.done)
        shares = dict.fromkeys(percent(tally.positive, tally.done) for tally in (ranked[0], ranked[-1]))
        value = " to ".join(shares)
        told = _series_notes(
            [(line.series.title, f"{line.tally.positive} of {line.tally.done}") for line in lines]
        )
    return Tile(name, _unbroken(value), (*_count_notes(lines), *told, *also), _tone(lines))


def _share_text(line: Line) -> str:
    """The share; with unknown answers, how little and how much it can be."""
    tally = line.tally
    whole = "inputs" if tally.complete else "answered inputs"
    if line.asks.is_distance or not tally.unknown:
        return f"{percent(tally.positive, tally.done)} of {whole}"
    most = percent(tally.positive + tally.unknown, tally.done)
    return f"at least {percent(tally.positive, tally.done)}, at most {most} of {whole}"


def _count_notes(lines: Sequence[Line]) -> Iterator[Note]:
    """What is not positive, counted over all series."""
    violated, unknown = (sum(getattr(line.tally, kind) for line in lines) for kind in ("violated", "unknown"))
    waiting = sum(line.tally.total - line.tally.done for line in lines)
    if violated:
        yield Note(f"{violated} violated", "bad")
    if unknown:
        yield Note(
            f"{unknown} open, with bounds" if lines[0].asks.is_distance else f"{unknown} unknown", "open"
        )
    if waiting:
        yield Note(f"{waiting} without an answer yet", "open")


def _tone(lines: Sequence[Line]) -> str:
    """Green where all is proved. That radii are exact says nothing good of the model: they may all be 1."""
    proved = all(line.tally.positive == line.tally.total and not line.asks.is_distance for line in lines)
    return "good" if proved else ""


def _verdict_tile(lines: Sequence[Line]) -> Tile:
    """A question about models as a whole: one word if it was asked once, else how many are proved."""
    verdicts = [(line.series.title, _verdict(line.tally)) for line in lines]
    name = lines[0].asks.adjective
    if len(lines) > 1:
        positive, done = (sum(getattr(line.tally, kind) for line in lines) for kind in ("positive", "done"))
        return Tile(
            name, f"{positive} of {done}", (*_count_notes(lines), *_series_notes(verdicts)), _tone(lines)
        )
    ((title, verdict),) = verdicts
    tones = {"proved": "good", "refuted": "bad", "unknown": "open"}
    return Tile(name, verdict, (Note(title),), tones[verdict])


def _verdict(tally: Tally) -> str:
    if tally.violated:
        return "refuted"
    return "proved" if tally.positive else "unknown"


def _distance_tiles(lines: Sequence[Line], radii: Sequence[Radii], n_models: int) -> Iterator[Tile]:
    """How many radii are exact, the median, and the least."""
    yield _share_tile(_EXACT[n_models] + _by(lines[0].series), lines)
    yield _radius_tile("median", n_models, radii, lambda each: each.median)
    yield _radius_tile("least", n_models, radii, lambda each: each.least)


def _radius_tile(
    which: str, n_models: int, radii: Sequence[Radii], figure: Callable[[Radii], tuple[float, float]]
) -> Tile:
    bounds = [figure(each) for each in radii]
    series = radii[0].series
    notes = [Note(_NEEDED[n_models] + _OF.get(series.counted, ""))]
    notes += [Note(_WEAKEN.format(votes_text(series.margin)))] if series.margin else []
    n_open = sum(each.open for each in radii)
    if len(radii) == 1:
        n = len(radii[0].bounds)
        notes += [Note(f"of {n} input{'s' * (n > 1)}"), Note(radii[0].series.title)]
    else:
        notes += _series_notes(
            [(each.series.title, bounds_text(*own)) for each, own in zip(radii, bounds, strict=True)]
        )
    if n_open and any(low != high for low, high in bounds):
        notes.append(Note(f"only bounds: {n_open} open", "open"))
    name = f"{which} {_DISTANCES[n_models]}{_by(series)}"
    return Tile(name, _unbroken(_range_text(bounds)), tuple(notes))


def _by(series: Series) -> str:
    return f", {margin_text(series.margin)}" if series.margin else ""


def _range_text(bounds: Sequence[tuple[float, float]]) -> str:
    """From the least lower bound to the greatest upper one."""
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    unlimited = high == math.inf and all(own < math.inf for own, _ in bounds)  # no bound is not a radius of ∞
    if len(bounds) == 1 or low == high or unlimited:
        return bounds_text(low, high)
    return f"{bounds_text(low, low)} to {bounds_text(high, high)}"


def _series_notes(found: Sequence[tuple[str, str]]) -> list[Note]:
    """What was found of each series, for the first few; the value first, as a long title may be cut."""
    notes = [Note(f"{value}: {title}") for title, value in found[:_MAX_SERIES]]
    more = len(found) - len(notes)
    return [*notes, Note(f"and {more} more, see the summary")] if more else notes


def _unbroken(value: str) -> str:
    """The value with breaks only around "to" and "of"."""
    return value.replace(" %", "\u00a0%").replace("≥ ", "≥\u00a0")
