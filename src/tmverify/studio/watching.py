"""Watching: the events that answer what a tab asks, piece by piece, what is known soonest first."""

from __future__ import annotations

import asyncio
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tmverify.engines.follow import Follower
from tmverify.errors import TmVerifyError
from tmverify.model import Model
from tmverify.properties import robustness_query, similarity_query
from tmverify.properties.query import Query
from tmverify.space import Number, Space
from tmverify.studio import live
from tmverify.studio.asked import Point, Watch
from tmverify.studio.look import Looks
from tmverify.studio.opened import Opened
from tmverify.studio.pool import Piece, Pool
from tmverify.studio.rows import Rows
from tmverify.studio.stream import Outbox
from tmverify.verify import explain, nearest

_BEAT = 0.5  # seconds between two events that only say what is running
_SECONDS_A_ROW = 10.0
INTERNAL = "An internal error: nothing is claimed. The terminal of the studio shows it; please report it."


class Watcher:
    """Tells tabs about inputs."""

    def __init__(self, opened: Opened, pool: Pool) -> None:
        self._opened, self._pool = opened, pool
        self._looks = Looks(opened)
        self.warm = asyncio.Event()
        self._since = time.perf_counter()

    async def warm_up(self) -> None:
        """Have everything compiled that answers need, before somebody waits for it."""
        try:
            await self._pool.slow(partial(_compile, self._opened))
        except Exception:
            traceback.print_exc()  # the first question will say it too
        finally:
            self.warm.set()

    async def watch(self, asked: Watch, outbox: Outbox) -> None:
        """Everything that is wanted about an input."""
        if "look" in asked.want:
            outbox.put("look", await self._pool.quick(partial(self._looks.at, asked.point.bits)))
        pieces = self._pieces(asked, outbox)
        while not self.warm.is_set():
            state = _state("warming up", time.perf_counter() - self._since, [name for name, _ in pieces])
            outbox.put("state", state, news_of="state")
            await _until(self.warm.wait())
        for place, (name, make) in enumerate(pieces):
            waiting = [other for other, _ in pieces[place + 1 :]]
            await self._run(name, make, waiting, outbox)
        outbox.put("end", {})

    async def rank(self, rows: Rows, chosen: list[int], outbox: Outbox) -> None:
        """The radius of each of these rows."""
        await self.warm.wait()
        for row in chosen:
            point = Point(rows.data.inputs.X[row], (), None)
            outbox.put("rank", await self._pool.slow(partial(self._ranked, rows, row, point)))
        outbox.put("end", {})

    def _ranked(self, rows: Rows, row: int, point: Point) -> dict[str, Any]:
        why = live.impossible_text(self._opened, point)
        if why:
            return {
                "index": row,
                "radius": None,
                "at_least": None,
                "never": False,
                "seconds": 0.0,
                "why": why,
            }
        found = nearest(live.radius_query(point, self._opened.named), timeout=_SECONDS_A_ROW)
        rows.radii[row] = found.lower, found.upper
        never = found.lower == np.inf
        return {
            "index": row,
            "radius": int(found.lower) if found.exact and not never else None,
            "at_least": None if never else int(found.lower),
            "never": never,
            "seconds": round(found.seconds, 4),
            "why": "" if found.exact else live.why_open(found),
        }

    def _pieces(self, asked: Watch, outbox: Outbox) -> list[tuple[str, Callable[[Piece], None]]]:
        """What is to be done, by its name: the radius of each model, their reasons, their disagreement."""
        models = range(len(self._opened.models))
        pieces: list[tuple[str, Callable[[Piece], None]]] = []
        radii: dict[int, int] = {}  # those that are known exactly, for reasons within them
        if "radius" in asked.want:
            pieces += [("radius", partial(self._radius, asked.point, m, radii, outbox)) for m in models]
        if "reason" in asked.want:
            pieces += [("reason", partial(self._reason, asked.point, m, radii, outbox)) for m in models]
        if "disagree" in asked.want and len(models) == 2:
            pieces += [("disagree", partial(self._disagree, asked.point, outbox))]
        return pieces

    async def _run(
        self, name: str, make: Callable[[Piece], None], waiting: list[str], outbox: Outbox
    ) -> None:
        """Run one piece, and say twice a second for how long it has been running."""
        piece = Piece(Follower())
        task = asyncio.ensure_future(self._pool.slow(partial(make, piece), piece=piece))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_BEAT)
                if not task.done():
                    state = _state(name, piece.seconds, waiting)
                    outbox.put("state", state, news_of="state")
            await task
        except TmVerifyError as error:
            outbox.put("error", {"error": str(error), "of": name})
        except Exception:
            traceback.print_exc(file=sys.stderr)
            outbox.put("error", {"error": INTERNAL, "of": name})
        finally:
            task.cancel()

    def _radius(self, point: Point, m: int, radii: dict[int, int], outbox: Outbox, piece: Piece) -> None:
        if self._is_impossible(point, "radius", {"model": m, **_NOTHING}, outbox):
            return
        query = live.radius_query(point, self._opened.models[m].asked)
        answer = self._tell_distance("radius", query, m, outbox, piece)
        if answer["status"] == "exact":
            radii[m] = answer["lower"]

    def _disagree(self, point: Point, outbox: Outbox, piece: Piece) -> None:
        if self._is_impossible(point, "disagree", _NOTHING, outbox):
            return
        a, b = (each.asked for each in self._opened.models)
        query = live.disagreement_query(self._opened.space, point, a, b)
        self._tell_distance("disagree", query, None, outbox, piece)

    def _tell_distance(
        self, kind: str, query: Query, m: int | None, outbox: Outbox, piece: Piece
    ) -> dict[str, Any]:
        distance = live.Distance(
            query, self._opened.space, m, lambda event: outbox.put(kind, event, news_of=m)
        )
        piece.follower.told = distance.told
        answer = distance.answer(live.SECONDS)
        outbox.drop(kind, m)
        outbox.put(kind, answer)
        return answer

    def _reason(self, point: Point, m: int, radii: dict[int, int], outbox: Outbox, piece: Piece) -> None:
        about = {"model": m}
        if point.auto and m in radii:
            point = replace(point, within=radii[m] + 1)
        nothing: dict[str, Any] = {
            "columns": [],
            "facts": [],
            "rule": "",
            "minimal": "open",
            "undecided": [],
            "within": point.within,
        }
        if self._is_impossible(point, "reason", {**about, **nothing}, outbox):
            return
        found = live.reason_at(
            point,
            self._opened.models[m].asked,
            certificate=False,
            tell=lambda event: outbox.put("reason", {**about, **event}, news_of=m),
        )
        outbox.drop("reason", m)
        outbox.put("reason", {**about, **live.reason_event(found)})

    def _is_impossible(self, point: Point, kind: str, nothing: dict[str, Any], outbox: Outbox) -> bool:
        """Whether nothing can be asked, because no row has these bits; then that is the answer."""
        why = live.impossible_text(self._opened, point)
        if why:
            outbox.put(
                kind, {**nothing, "done": True, "status": "unknown", "seconds": 0.0, "why": why, "trusts": []}
            )
        return bool(why)


_NOTHING: dict[str, Any] = {"lower": 0, "upper": None, "change": None}


def _state(name: str, seconds: float | None, waiting: list[str]) -> dict[str, Any]:
    """What runs, for how long, and what comes after it; while it waits for a thread, nothing runs."""
    if seconds is None:
        return {"running": None, "seconds": 0.0, "waiting": [name, *waiting]}
    return {"running": name, "seconds": round(seconds, 2), "waiting": waiting}


async def _until(waited: Any) -> None:
    """Wait, but not longer than a beat."""
    try:
        async with asyncio.timeout(_BEAT):
            await waited
    except TimeoutError:
        pass


def _compile(opened: Opened) -> None:
    """Ask everything about tiny models, for which the same is compiled as for large ones."""
    for each in opened.models:
        each.model.predict(opened.start[None, :])
    spaces = [Space.flags(2)] if opened.space.only_flags else [Space.flags(2), Space([Number("n", (1, 2))])]
    for space in spaces:
        tiny = Model.from_clauses(2, [[1], [-2]], [[1, 1]], bias=-2, space=space)
        nearest(robustness_query(tiny, [1, 0], None), certificate=True)
        nearest(similarity_query(tiny, tiny, [1, 0], None))
        explain(tiny, [1, 0], widen=not space.only_flags)
