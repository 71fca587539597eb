"""Guard: who may ask the studio at all. It stands before everything else, and answers what it refuses.

The studio listens on this machine alone (loopback), unless another host is given. That keeps out other
machines, not other programs and pages in the browser of the same person. So:

- A *token*, made at random at each start, is part of every address. It is compared in constant time.
- The *Host* header must be one of the names that are served: a page of another site whose name was bound to
  127.0.0.1 (DNS rebinding) sends its own name.
- *Origin* and *Sec-Fetch-Site*, where a browser sends them, must be the studio's own.
- No script, style or picture comes from elsewhere, and none is inline (Content-Security-Policy).

What is refused gets a sentence, no more: not whether a path exists, no file name, no traceback.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = "127.0.0.1"
_TOKEN_BYTES = 24
_EVERYWHERE = ("0.0.0.0", "::")
_USUAL_PORT = 80
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\[\]:%]+)(:(?P<port>[0-9]+))?")
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_HEADER_LINES = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
_DOOR = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>tmverify studio</title>
<h1>This is a tmverify studio</h1>
<p>It opens only with the address that <code>tmverify studio</code> printed when it was started, token
included. Copy it from there into the address bar.</p>
</html>
"""


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach this host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """An ASGI application that lets through to ``app`` what may ask, with the token taken off its path.

    Parameters
    ----------
    app : ASGI application
    token : str
    host, port : str and int
        Where the studio listens.
    """

    def __init__(self, app: App, token: str, host: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        self._names, self._any_address = frozenset(map(str.lower, _names(host))), host in _EVERYWHERE
        # Browsers leave the usual port out, in Host and in Origin.
        self._ports = (str(port), None) if port == _USUAL_PORT else (str(port),)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # no lifespan; websockets are refused by the server
        send = _with_headers(send)
        path: str = scope["path"]
        if not self._is_addressed(scope):
            await _answer(send, 403, b"")
            return
        own = self._is_own_page(scope)
        if path == "/":
            await self._door(scope, receive, send, own)
            return
        if not own:
            await _answer(send, 403, b"")
            return
        _, _, rest = path.partition("/t/")
        token, slash, inner = rest.partition("/")
        if not path.startswith("/t/") or not slash or not self._is_token(token):
            await _answer(send, 404, b"")
            return
        await self._app({**scope, "path": f"/{inner}", "raw_path": b""}, receive, send)

    async def _door(self, scope: Scope, receive: Receive, send: Send, own: bool) -> None:
        """The page itself, whose address has the token as a query; no link on another site opens it."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if not own or scope["method"] not in ("GET", "HEAD") or not self._is_token(given[0]):
            await _answer(send, 403, _DOOR.encode(), "text/html; charset=utf-8")
            return
        await self._app({**scope, "path": "/", "query_string": b""}, receive, send)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _is_addressed(self, scope: Scope) -> bool:
        """Whether the one Host header is a name that is served."""
        hosts = _values(scope, b"host")
        return len(hosts) == 1 and self._serves(hosts[0])

    def _serves(self, host: str) -> bool:
        parts = _HOST.fullmatch(host)
        if parts is None or parts["port"] not in self._ports:
            return False
        # An address can't be bound to another site's name.
        return parts["name"].lower() in self._names or (self._any_address and _is_address(parts["name"]))

    def _is_own_page(self, scope: Scope) -> bool:
        """Whether a browser says that the request comes from the studio's own page, or from its user."""
        origins, sites = _values(scope, b"origin"), _values(scope, b"sec-fetch-site")
        known = all(
            origin.startswith("http://") and self._serves(origin.removeprefix("http://"))
            for origin in origins
        )
        same = not origins or origins == [f"http://{_values(scope, b'host')[0]}"]
        return known and same and all(site in ("same-origin", "none") for site in sites)


def _is_address(name: str) -> bool:
    """Whether the name in a Host header is an address: one of IPv6 stands in brackets."""
    try:
        if name.startswith("["):
            ipaddress.IPv6Address(name[1:-1])
        else:
            ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True


def _names(host: str) -> Sequence[str]:
    """The names under which a host is reached."""
    bracketed = f"[{host}]" if ":" in host else host
    if is_loopback(host):
        return (LOOPBACK, "localhost", "[::1]", bracketed)
    if host in _EVERYWHERE:
        return ("localhost", socket.gethostname())
    return (bracketed,)


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [
                (name, value) for name, value in message.get("headers", []) if name.decode() not in _HEADERS
            ]
            message = {**message, "headers": [*own, *_HEADER_LINES]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
