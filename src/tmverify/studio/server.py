"""Server: the routes of a studio, and the thread in which it serves them.

The inner paths, after the guard took the token off:

    /                   the page
    /static/NAME        its scripts and styles: a fixed list, read when the studio starts
    /api/about          what the page needs to know; answered by GET
    /api/…              everything else is asked by POST, with a JSON body
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
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

from tmverify.errors import CertificateError, InvalidInputError, TmVerifyError
from tmverify.studio import live
from tmverify.studio.asked import Reader, TooLargeError, read_body
from tmverify.studio.evidence import evidence_of
from tmverify.studio.form import form_of
from tmverify.studio.guard import Guard, new_token
from tmverify.studio.opened import Opened
from tmverify.studio.pool import BusyError, Pool, Tabs
from tmverify.studio.rows import Rows, encoded_cells, encoded_text
from tmverify.studio.stream import EventStream, disconnected
from tmverify.studio.watching import INTERNAL, Watcher

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
_SECONDS_TO_START = 10.0

Endpoint = Callable[[Request], Awaitable[Response]]


class Served:
    """The endpoints of one studio."""

    def __init__(self, opened: Opened, token: str) -> None:
        self.pool, self.tabs = Pool(), Tabs()
        self._opened, self._token = opened, token
        self._rows = None if opened.data is None else Rows(opened)
        self._watcher = Watcher(opened, self.pool)
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
        }
        routes = [Route("/", _answering(self.page)), Route("/static/{name}", _answering(self.file))]
        routes += [Route("/api/about", _answering(self.about))]
        routes += [Route(f"/api/{name}", _answering(ask), methods=["POST"]) for name, ask in asked.items()]
        return Starlette(routes=routes)

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
        return JSONResponse(await self.pool.quick(self._about))

    def _about(self) -> dict[str, Any]:
        from tmverify import __version__

        return {
            "version": __version__,
            **form_of(self._opened),
            "data": self._about_data(),
            "store": None,
            "limits": {"seconds": live.SECONDS, "tabs": self.tabs.most},
        }

    def _about_data(self) -> dict[str, Any] | None:
        data = self._opened.data
        if data is None:
            return None
        return {
            "name": data.file,
            "rows": len(data),
            "labelled": data.inputs.y is not None,
            "accuracy": data.accuracy,
            "raw": data.inputs.raw is not None,
            "notes": list(data.inputs.notes),
        }

    async def rows(self, request: Request) -> Response:
        rows = self._known_rows()
        page = (await self._reader(request)).rows()
        return JSONResponse(await self.pool.quick(partial(rows.page, page)))

    async def row(self, request: Request) -> Response:
        rows = self._known_rows()
        row = (await self._reader(request)).row(len(rows.data))
        return JSONResponse(await self.pool.quick(partial(rows.whole, row)))

    async def rank(self, request: Request) -> Response:
        rows = self._known_rows()
        tab, among, limit = (await self._reader(request)).rank()
        chosen = await self.pool.quick(partial(rows.unranked, among, limit))
        return EventStream(
            partial(self._watcher.rank, rows, chosen), partial(self.tabs.telling, tab, "rank", 0)
        )

    async def watch(self, request: Request) -> Response:
        asked = (await self._reader(request)).watch()
        return EventStream(
            partial(self._watcher.watch, asked),
            partial(self.tabs.telling, asked.tab, "watch", asked.number),
        )

    async def encode(self, request: Request) -> Response:
        text, part, cells = (await self._reader(request)).raw()
        if cells is not None:
            return JSONResponse(await self.pool.quick(partial(encoded_cells, self._opened, cells)))
        assert text is not None
        return JSONResponse(await self.pool.quick(partial(encoded_text, self._opened, text, part)))

    async def certificate(self, request: Request) -> Response:
        asked = (await self._reader(request)).proof()
        with self.pool.making_a_file():
            made = asyncio.ensure_future(self.pool.slow(partial(evidence_of, self._opened, asked)))
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

    async def _reader(self, request: Request) -> Reader:
        body = await read_body(request, self._opened.named.n_features)
        return Reader(body, self._opened)

    def _known_rows(self) -> Rows:
        if self._rows is None:
            raise InvalidInputError("There are no rows: start the studio with --data FILE to have some.")
        return self._rows


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

    def __init__(self, opened: Opened, host: str, port: int) -> None:
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        token = new_token()
        shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}/?token={token}"
        self._opened, self._host, self._token = opened, host, token
        self._started = threading.Event()
        self._fault: BaseException | None = None
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="studio", daemon=True)
        self._thread.start()
        if not self._started.wait(_SECONDS_TO_START) or self._fault is not None:
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
            while self._thread.is_alive():
                self._thread.join(1.0)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End it, with all that is being worked out."""
        if self._server is not None and self._loop is not None:
            self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as fault:
            self._fault = fault
        finally:
            self._started.set()

    async def _serve(self) -> None:
        served = Served(self._opened, self._token)
        self._loop = asyncio.get_running_loop()
        config = uvicorn.Config(
            Guard(served.app(), self._token, self._host, self.port),
            http="h11",
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
        self._started.set()
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            warming.cancel()
            await asyncio.get_running_loop().run_in_executor(None, served.pool.close)


class _Server(uvicorn.Server):
    """A server that ends its streams first, so that nothing is left to wait for."""

    def __init__(self, config: uvicorn.Config, served: Served) -> None:
        super().__init__(config)
        self._served = served

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.tabs.cancel_all()
        await super().shutdown(sockets)


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; InvalidInputError if it can't."""
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
