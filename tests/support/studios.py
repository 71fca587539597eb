"""Studios for tests: served as they are to a browser, and asked over HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from tmverify.studio.opened import Opened, together
from tmverify.studio.server import Studio
from tmverify.studio.view import View

PATIENCE = 120.0  # seconds; kernels may be compiled first
Event = tuple[str, dict[str, Any]]


class Client:
    """Asks a studio, with its token, unless a test says otherwise."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self.host, self.port = parts.hostname, parts.port
        self.token = parse_qs(parts.query)["token"][0]
        self._numbers = iter(range(1, 1 << 30))

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Any request, to a path as it stands; its answer, read whole."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, bytes]:
        answer, body = self.request("GET", f"/t/{self.token}/{path}")
        return answer.status, body

    def post(self, path: str, body: Any) -> tuple[http.client.HTTPResponse, bytes]:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        return self.request("POST", f"/t/{self.token}/api/{path}", text, headers)

    def ask(self, path: str, **body: Any) -> Any:
        """What a question is answered with, which must be no error."""
        answer, text = self.post(path, body)
        assert answer.status == 200, text
        return json.loads(text)

    def refused(self, path: str, body: Any) -> tuple[int, str]:
        """The status and the sentence with which a question is refused."""
        answer, text = self.post(path, body)
        return answer.status, json.loads(text)["error"]

    @contextmanager
    def stream(self, path: str, **body: Any) -> Iterator[Iterator[Event]]:
        """The events of a stream; leaving the block closes the connection, whatever still comes."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            text = json.dumps(body).encode()
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/t/{self.token}/api/{path}", text, headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            yield _events(answer)
            answer.close()
        finally:
            connection.close()

    def watch(self, bits: str, **more: Any) -> list[Event]:
        """All events about an input."""
        asked = {"tab": "a", "number": next(self._numbers), "bits": bits, **more}
        with self.stream("watch", **asked) as events:
            return [event for event in events if event[0] != "state"]


def _events(answer: http.client.HTTPResponse) -> Iterator[Event]:
    kind = ""
    for line in answer:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            kind = text.removeprefix("event: ")
        elif text.startswith("data: "):
            yield kind, json.loads(text.removeprefix("data: "))


def last(events: list[Event], kind: str, **having: Any) -> dict[str, Any]:
    """The last event of a kind, which says that it is done."""
    found = [
        data
        for name, data in events
        if name == kind and all(data[key] == value for key, value in having.items())
    ]
    assert found, events
    assert found[-1].get("done", True)
    return found[-1]


def opened(*models: tv.Model) -> Opened:
    """Models without rows."""
    return Opened(together([(f"{'ab'[i]}.tm", model) for i, model in enumerate(models)]))


@contextmanager
def served(about: Opened) -> Iterator[Client]:
    """A studio that is being served."""
    with Studio([View(about)], "127.0.0.1", 0) as studio:
        yield Client(studio.url)


def as_text(bits: NDArray[np.uint8]) -> str:
    return "".join(map(str, bits.tolist()))


def as_bits(text: str) -> NDArray[np.uint8]:
    return np.array(list(map(int, text)), np.uint8)
