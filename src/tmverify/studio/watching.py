"""Watching: the events that answer what a tab asks, piece by piece, what is known soonest first."""

from __future__ import annotations

import asyncio
import math
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from tmverify.errors import TmVerifyError
from tmverify.model import Model
from tmverify.properties import robustness_query, similarity_query
from tmverify.properties.query import Query
from tmverify.space import Number, Space
from tmverify.studio import live
from tmverify.studio.asked import Point, Watch
from tmverify.studio.opened import Opened
from tmverify.studio.pool import INTERNAL, Piece, Pool
from tmverify.studio.rows import Rows
from tmverify.studio.stream import Outbox
from tmverify.studio.view import View
from tmverify.verify import explain, nearest

_BEAT = 0.5  # seconds between two events that only say what is running
_SECONDS_A_ROW = 10.0
_NO_DISTANCE: dict[str, Any] = {"lower": 0, "upper": None, "change": None}
_NO_REASON: dict[str, Any] = {"columns": [], "facts": [], "rule": "", "minimal": "open", "undecided": []}

Work = Callable[[Piece], None]


class Watcher:
    """Tells tabs about inputs, in the views of a studio."""

    def __init__(self, views: Sequence[View], pool: Pool) -> None:
        self._views, self._pool = views, pool
        self._warm, self._since = asyncio.Event(), time.perf_counter()

    async def warm_up(self) -> None:
        """Have everything compiled that answers need, before somebody waits for it."""
        try:
            await self._pool.slow(partial(_compile, self._views))
        except Exception:
            traceback.print_exc()  # the first question will say it too
        finally:
            self._warm.set()

    async def watch(self, view: View, asked: Watch, outbox: Outbox) -> None:
        """Everything that is wanted about an input."""
        if "look" in asked.want:
            outbox.put("look", await self._pool.look(partial(view.looks.at, asked.point.bits)))
        pieces = _Answers(view.opened, asked.point, outbox).pieces(asked.want)
        names = [name for name, _ in pieces]
        while pieces and not self._warm.is_set():
            outbox.put("state", _state("warming up", time.perf_counter() - self._since, names), news_of="")
            await _beat(self._warm.wait())
        for place, (name, work) in enumerate(pieces):
            await self._run(name, work, names[place + 1 :], outbox)
        outbox.put("end", {})

    async def rank(self, opened: Opened, rows: Rows, chosen: list[int], outbox: Outbox) -> None:
        """The radius of each of these rows."""
        await self._warm.wait()
        for row in chosen:
            outbox.put("rank", await self._pool.slow(partial(_ranked, opened, rows, row)))
        outbox.put("end", {})

    async def _run(self, name: str, work: Work, waiting: list[str], outbox: Outbox) -> None:
        """Run one piece, and say twice a second for how long it has been running."""
        piece = Piece()
        task = asyncio.ensure_future(self._pool.slow(partial(work, piece), piece))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_BEAT)
                if not task.done():
                    outbox.put("state", _state(name, piece.seconds, waiting), news_of="")
            await task
        except TmVerifyError as error:
            outbox.put("error", {"error": str(error), "of": name})
        except Exception:
            traceback.print_exc()
            outbox.put("error", {"error": INTERNAL, "of": name})
        finally:
            task.cancel()


class _Answers:
    """What is told about one input, in the threads that work."""

    def __init__(self, opened: Opened, point: Point, outbox: Outbox) -> None:
        self._opened, self._point, self._outbox = opened, point, outbox
        self._radii: dict[int, int] = {}  # those that are known exactly, for reasons within them

    def pieces(self, want: Sequence[str]) -> list[tuple[str, Work]]:
        """What is to be done, by its name: the radius of each model, their reasons, their disagreement."""
        models = range(len(self._opened.models))
        found: list[tuple[str, Work]] = []
        if "radius" in want:
            found += [("radius", partial(self._radius, m)) for m in models]
        if "reason" in want:
            found += [("reason", partial(self._reason, m)) for m in models]
        if "disagree" in want and len(models) == 2:
            found += [("disagree", self._disagree)]
        return found

    def _radius(self, m: int, piece: Piece) -> None:
        if self._is_impossible("radius", {"model": m, **_NO_DISTANCE}):
            return
        query = live.radius_query(self._point, self._opened.models[m].asked)
        answer = self._distance("radius", query, m, piece)
        if answer["status"] == "exact":
            self._radii[m] = answer["lower"]

    def _disagree(self, piece: Piece) -> None:
        if self._is_impossible("disagree", _NO_DISTANCE):
            return
        a, b = (each.asked for each in self._opened.models)
        self._distance(
            "disagree", live.disagreement_query(self._opened.space, self._point, a, b), None, piece
        )

    def _distance(self, kind: str, query: Query, m: int | None, piece: Piece) -> live.Event:
        distance = live.Distance(
            query, self._opened.space, m, lambda event: self._outbox.put(kind, event, news_of=m)
        )
        piece.follower.told = distance.told
        answer = distance.answer(live.SECONDS)
        self._outbox.put(kind, answer, news_of=m)
        return answer

    def _reason(self, m: int, piece: Piece) -> None:
        point = self._point
        if point.auto and m in self._radii:
            point = replace(point, within=self._one_further(m))
        if self._is_impossible("reason", {"model": m, **_NO_REASON, "within": point.within}):
            return

        def tell(event: live.Event) -> None:
            self._outbox.put("reason", {"model": m, **event}, news_of=m)

        tell(
            live.reason_event(
                live.reason_at(point, self._opened.models[m].asked, certificate=False, tell=tell)
            )
        )

    def _one_further(self, m: int) -> int | None:
        """One change further than the radius; None, for everywhere, if nothing is further away."""
        region = live.radius_query(self._point, self._opened.models[m].asked).region
        further = self._radii[m] + 1
        return further if further < region.reach else None

    def _is_impossible(self, kind: str, nothing: live.Event) -> bool:
        """Whether nothing can be asked, because no row has these bits; then that is the answer."""
        why = live.impossible_text(self._opened, self._point)
        if why:
            said = {"done": True, "status": "unknown", "seconds": 0.0, "why": why, "trusts": []}
            self._outbox.put(kind, {**nothing, **said})
        return bool(why)


def _ranked(opened: Opened, rows: Rows, row: int) -> live.Event:
    """The radius of a row, which is kept."""
    point = Point(rows.data.inputs.X[row], (), None)
    why = live.impossible_text(opened, point)
    if why:
        return {"index": row, "radius": None, "at_least": None, "never": False, "seconds": 0.0, "why": why}
    found = nearest(live.radius_query(point, opened.named), timeout=_SECONDS_A_ROW)
    rows.radii[row] = found.lower, found.upper
    never = found.lower == math.inf
    return {
        "index": row,
        "radius": int(found.lower) if found.exact and not never else None,
        "at_least": None if never else int(found.lower),
        "never": never,
        "seconds": round(found.seconds, 4),
        "why": "" if found.exact else live.why_open(found),
    }


def _state(name: str, seconds: float | None, waiting: list[str]) -> live.Event:
    """What runs, for how long, and what comes after it; while it waits for a thread, nothing runs."""
    if seconds is None:
        return {"running": None, "seconds": 0.0, "waiting": [name, *waiting]}
    return {"running": name, "seconds": round(seconds, 2), "waiting": waiting}


async def _beat(waited: Awaitable[object]) -> None:
    """Wait, but not longer than a beat."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_BEAT):
            await waited


def _compile(views: Sequence[View]) -> None:
    """Ask everything about tiny models, for which the same is compiled as for large ones."""
    spaces = {"flags": Space.flags(2)}
    for view in views:
        view.looks.at(view.opened.start)
        view.opened.named.predict(view.opened.start[None, :])
        if not view.opened.space.only_flags:
            spaces["columns"] = Space([Number("n", (1, 2))])
    for space in spaces.values():
        tiny = Model.from_clauses(2, [[1], [-2]], [[1, 1]], bias=-2, space=space)
        nearest(robustness_query(tiny, [1, 0], None), certificate=True)
        nearest(similarity_query(tiny, tiny, [1, 0], None))
        explain(tiny, [1, 0], widen=not space.only_flags)
