"""Stream: an answer that comes as a stream of server-sent events.

Events are put into an *outbox* by any thread, and written as fast as the page reads them. News about the same
thing replace each other while they wait, so a page that reads slowly gets the newest, and nothing piles up. A
page that goes away, or reads nothing for a while, has its work cancelled.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from starlette.responses import JSONResponse, Response

from tmverify.studio.guard import Message, Receive, Scope, Send
from tmverify.studio.pool import BusyError

_PATIENCE = 30.0  # seconds in which a page has to read something
_START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")],
}


class Outbox:
    """Events that wait to be written; to be made in the event loop, and used by any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[object, str] = {}
        self._lock, self._filled = threading.Lock(), asyncio.Event()
        self._closed = False

    def put(self, kind: str, value: dict[str, Any] | str, *, news_of: object = None) -> None:
        """Send an event; ``value`` is a JSON text, or becomes one. Later news replace earlier ones."""
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        with self._lock:
            key = object() if news_of is None else (kind, news_of)
            self._waiting.pop(key, None)  # what is newer comes later
            self._waiting[key] = f"event: {kind}\ndata: {text}\n\n"
        with suppress(RuntimeError):  # the loop has ended, and nobody listens
            self._loop.call_soon_threadsafe(self._filled.set)

    def close(self) -> None:
        """No more events follow."""
        self._closed = True
        self._filled.set()

    async def next(self) -> bytes | None:
        """The events that wait; None at the end."""
        await self._filled.wait()
        with self._lock:
            texts, self._waiting = list(self._waiting.values()), {}
            if not self._closed:
                self._filled.clear()
        return "".join(texts).encode() if texts else None if self._closed else b""


class EventStream(Response):
    """A response: ``produce`` puts events into the outbox until it returns, or is cancelled.

    ``telling`` is entered meanwhile, with a function that cancels; it may refuse with BusyError.
    """

    def __init__(
        self,
        produce: Callable[[Outbox], Awaitable[None]],
        telling: Callable[[Callable[[], object]], AbstractContextManager[None]],
    ) -> None:
        super().__init__()
        self._produce, self._telling = produce, telling

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outbox = Outbox()
        work = asyncio.ensure_future(self._produce(outbox))
        work.add_done_callback(lambda _: outbox.close())  # also if it is cancelled before it begins
        try:
            with self._telling(work.cancel):
                await self._tell(outbox, receive, send)
        except BusyError as error:
            await JSONResponse({"error": str(error)}, 503)(scope, receive, send)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _tell(self, outbox: Outbox, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(disconnected(receive))
        write = asyncio.ensure_future(_write(outbox, send))
        try:
            await asyncio.wait({gone, write}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            write.cancel()
            await asyncio.gather(gone, write, return_exceptions=True)


async def _write(outbox: Outbox, send: Send) -> None:
    with suppress(OSError, TimeoutError):
        await send(_START)
        while (events := await outbox.next()) is not None:
            if events:
                async with asyncio.timeout(_PATIENCE):
                    await send({"type": "http.response.body", "body": events, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def disconnected(receive: Receive) -> None:
    """Returns when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass
