"""Server: the routes of a studio, and the thread in which it serves them.

The inner paths, after the guard took the token off:

    /                   the page
    /static/NAME        its scripts and styles: a fixed list, read when the studio starts
    /api/about          what the page needs to know; answered by GET
    /api/…              everything else is asked by POST, with a JSON body
"""

from __future__ import annotations

import asyncio
import atexit
import socket
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from tmverify.errors import CertificateError, InvalidInputError, TmVerifyError
from tmverify.studio import live
from tmverify.studio.answers import FILTERS, SORTS, Answers
from tmverify.studio.asked import Reader, TooLargeError, read_body
from tmverify.studio.evidence import evidence_of
from tmverify.studio.guard import Guard, new_token
from tmverify.studio.pool import INTERNAL, BusyError, Pool, Tabs
from tmverify.studio.rows import encoded_cells, encoded_text
from tmverify.studio.stream import EventStream, disconnected
from tmverify.studio.view import View
from tmverify.studio.watching import Watcher

_STATIC = Path(__file__).with_name("static")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_BASE = b"{{BASE}}"
_MOST_CONNECTIONS = 256
_PATIENCE = 10.0  # seconds; a connection over which nothing is asked is closed after one or two of them …
_FIRST_PATIENCE = 2.0  # … or after this, if nothing was ever asked
_SECONDS_TO_END = 0.5  # for threads; what they do then can't be interrupted, such as compiling
_NO_VIEW: dict[str, Any] = {"models": [], "kind": "store", "data": None}

Endpoint = Callable[[Request], Awaitable[Response]]


class Served:
    """The endpoints of one studio: its views, and perhaps a store."""

    def __init__(self, views: Sequence[View], store: Answers | None, token: str) -> None:
        self.pool, self.tabs, self.store = Pool(), Tabs(), store
        self._views, self._token = views, token
        self._widest = max((view.opened.named.n_features for view in views), default=0)
        self._watcher = Watcher(views, self.pool)
        self._files = {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.suffix in _KINDS}

    def app(self) -> Starlette:
        """The routes."""
        asked: dict[str, Endpoint] = {
            "watch": self.watch,
            "rows": self.rows,
            "row": self.row,
            "rank": self.rank,
            "encode": self.encode,
            "certificate": self.certificate,
            "summary": self.summary,
            "store": self.answers,
            "gallery": self.gallery,
            "answer": self.answer,
        }
        routes = [Route("/", _answering(self.page)), Route("/static/{name}", _answering(self.file))]
        routes += [Route(f"/api/about{place}", _answering(self.about)) for place in ("", "/{view}")]
        routes += [Route(f"/api/{name}", _answering(ask), methods=["POST"]) for name, ask in asked.items()]
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False  # to a path without the token
        return app

    async def warm_up(self) -> None:
        await self._watcher.warm_up()

    async def page(self, request: Request) -> Response:
        """The page, whose links are relative to the token."""
        content = self._files["index.html"].replace(_BASE, f"t/{self._token}/".encode())
        return Response(content, media_type=_KINDS[".html"])

    async def file(self, request: Request) -> Response:
        """One of the files that the page consists of."""
        name = request.path_params["name"]
        if name not in self._files:
            return Response(status_code=404)
        return Response(self._files[name], media_type=_KINDS[Path(name).suffix])

    async def about(self, request: Request) -> Response:
        known = {str(place): place for place in range(max(1, len(self._views)))}
        number = known.get(request.path_params.get("view", "0"))
        if number is None:
            return Response(status_code=404)
        return await self._told(partial(self._about, number))

    def _about(self, number: int) -> dict[str, Any]:
        from tmverify import __version__

        return {
            "version": __version__,
            "view": number,
            **(self._views[number].about if self._views else _NO_VIEW),
            "store": None if self.store is None else self.store.about,
            "limits": {"seconds": live.SECONDS, "tabs": self.tabs.most},
        }

    async def rows(self, request: Request) -> Response:
        asked = await self._reader(request)
        rows = asked.view(self._views).rows
        return await self._told(partial(rows.page, asked.rows()))

    async def row(self, request: Request) -> Response:
        asked = await self._reader(request)
        rows = asked.view(self._views).rows
        return await self._told(partial(rows.whole, asked.row(len(rows.data))))

    async def rank(self, request: Request) -> Response:
        asked = await self._reader(request)
        view = asked.view(self._views)
        tab, among, limit = asked.rank()
        chosen = await self.pool.quick(partial(view.rows.unranked, among, limit))
        return EventStream(
            partial(self._watcher.rank, view.opened, view.rows, chosen),
            partial(self.tabs.telling, tab, "rank", 0),
        )

    async def watch(self, request: Request) -> Response:
        asked = await self._reader(request)
        view = asked.view(self._views)
        wanted = asked.watch(view.opened)
        return EventStream(
            partial(self._watcher.watch, view, wanted),
            partial(self.tabs.telling, wanted.tab, "watch", wanted.number),
        )

    async def encode(self, request: Request) -> Response:
        asked = await self._reader(request)
        opened = asked.view(self._views).opened
        text, part, cells = asked.raw()
        if cells is not None:
            return await self._told(partial(encoded_cells, opened, cells))
        assert text is not None
        return await self._told(partial(encoded_text, opened, text, part))

    async def certificate(self, request: Request) -> Response:
        asked = await self._reader(request)
        opened = asked.view(self._views).opened
        wanted = asked.proof(opened)
        with self.pool.making_a_file():
            made = asyncio.ensure_future(self.pool.slow(partial(evidence_of, opened, wanted)))
            gone = asyncio.ensure_future(disconnected(request.receive))
            try:
                await asyncio.wait({made, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not made.done():
                    return Response(status_code=499)
                found = made.result()
            finally:
                made.cancel()
                gone.cancel()
        return Response(
            found.content,
            media_type="application/octet-stream",
            headers={
                "content-disposition": f'attachment; filename="{found.name}"',
                "x-tmverify-check": quote(found.command),
            },
        )

    async def summary(self, request: Request) -> Response:
        (await self._reader(request)).end()
        return await self._told(self._stored.summary)

    async def answers(self, request: Request) -> Response:
        page = (await self._reader(request)).answers(SORTS, FILTERS)
        return await self._told(partial(self._stored.page, page))

    async def gallery(self, request: Request) -> Response:
        what, offset, limit = (await self._reader(request)).gallery()
        return await self._told(partial(self._stored.gallery, what, offset, limit))

    async def answer(self, request: Request) -> Response:
        task = (await self._reader(request)).task()
        return await self._told(partial(self._stored.answer, task))

    async def _told(self, work: Callable[[], dict[str, Any]]) -> Response:
        """What ``work`` finds, worked out and written as JSON outside of the event loop."""
        return await self.pool.quick(lambda: JSONResponse(work()))

    async def _reader(self, request: Request) -> Reader:
        return Reader(await read_body(request, self._widest))

    @property
    def _stored(self) -> Answers:
        if self.store is None:
            raise InvalidInputError("There is no store: start the studio with one, tmverify studio FILE.db.")
        return self.store


def _answering(endpoint: Endpoint) -> Endpoint:
    """The endpoint, whose errors are answered with a sentence."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except TooLargeError:
            return _said("The question is larger than any input of the model.", 413)
        except BusyError as error:
            return _said(str(error), 503)
        except CertificateError as error:
            return _said(str(error), 422)
        except TmVerifyError as error:
            return _said(str(error), 400)
        except asyncio.CancelledError:
            return _said("The studio ends.", 503)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return _said(INTERNAL, 500)

    return answer


def _said(sentence: str, status: int) -> Response:
    return JSONResponse({"error": sentence}, status)


class Studio:
    """A studio that is being served, by a thread of this process.

    Use it in a ``with`` block, or call ``close`` in the end; ``wait`` serves until Ctrl-C.

    Attributes
    ----------
    url : str
        The address of its page, with the token.
    """

    def __init__(self, views: Sequence[View], host: str, port: int, store: Answers | None = None) -> None:
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        token = new_token()
        shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}/?token={token}"
        self._views, self._store, self._host, self._token = views, store, host, token
        self._started, self._ended = threading.Event(), threading.Event()
        self._fault: BaseException | None = None
        self._served: Served | None = None
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="studio", daemon=True)
        self._thread.start()
        atexit.register(self._at_exit)  # a program that ends takes it along
        self._started.wait()
        if self._fault is not None:
            self.close()
            raise RuntimeError("The studio's server did not start.") from self._fault

    def __enter__(self) -> Studio:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Studio: {self.url}>"

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            # An event, as Python 3.11 takes a thread for ended when Ctrl-C interrupts its ``join``.
            while not self._ended.wait(1.0):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End it, with all that is being worked out; a kernel that is being compiled is not waited for."""
        if self._server is not None and self._loop is not None:
            self._server.should_exit = True
        self._ended.wait()
        self._thread.join()
        self._socket.close()
        if not self.alive:
            atexit.unregister(self._at_exit)

    @property
    def alive(self) -> Sequence[threading.Thread]:
        """The threads that work; after ``close`` those that could not be interrupted yet."""
        pool = () if self._served is None else self._served.pool.alive
        return [*pool, *(() if self._store is None else self._store.alive)]

    def _at_exit(self) -> None:
        self.close()
        for thread in self.alive:  # Python must not be taken apart while LLVM compiles for it
            thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as fault:
            self._fault = fault
        finally:
            self._started.set()
            self._ended.set()

    async def _serve(self) -> None:
        served = self._served = Served(self._views, self._store, self._token)
        self._loop = asyncio.get_running_loop()
        config = uvicorn.Config(
            Guard(served.app(), self._token, self._host, self.port),
            http=_Patient,
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, served)
        warming = asyncio.ensure_future(served.warm_up())
        if self._store is not None:
            self._store.start()
        self._started.set()
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            warming.cancel()
            if self._store is not None:
                self._store.close()
            served.pool.close()
            last = time.monotonic() + _SECONDS_TO_END
            for thread in self.alive:
                thread.join(max(0.0, last - time.monotonic()))


class _Patient(H11Protocol):
    """A connection that is closed if nothing is asked over it, so that idle ones don't keep others out."""

    _was_idle = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(_FIRST_PATIENCE, self._first_look)

    def _first_look(self) -> None:
        if self.cycle is None:
            self.transport.close()
            return
        self.loop.call_later(_PATIENCE, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self._was_idle:
            self.transport.close()
            return
        self._was_idle = idle
        self.loop.call_later(_PATIENCE, self._look)


class _Server(uvicorn.Server):
    """A server that ends its streams and its work first, so that nothing is left to wait for."""

    def __init__(self, config: uvicorn.Config, served: Served) -> None:
        super().__init__(config)
        self._served = served

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.tabs.cancel_all()
        self._served.pool.withdraw()
        await super().shutdown(sockets)


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; InvalidInputError if it can't."""
    if not host:
        raise InvalidInputError(
            "The host must be an address or a name of this machine, such as 127.0.0.1. Got '' instead."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(128)
    except (OSError, OverflowError) as error:
        bound.close()
        raise InvalidInputError(
            f"The studio can't listen on {host}, port {port}: {error}. Choose another port with --port, or "
            "leave it out to have a free one."
        ) from None
    return bound
