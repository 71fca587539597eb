"""Who may ask: attacks are refused, nothing leaks, and the studio goes on."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import tmverify as tv
from support.studios import Client, opened, served
from tmverify.studio.guard import Guard, is_loopback, new_token

MODEL = tv.Model.from_clauses(4, [[1, -2], [3]], [[1, -1]])
BITS = "1010"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(opened(MODEL)) as found:
        yield found


@pytest.fixture(autouse=True)
def alive(client: Client) -> Iterator[None]:
    """After whatever a test did, the studio answers, and a refusal says nothing of the machine."""
    yield
    assert json.loads(client.get("api/about")[1])["models"][0]["n_features"] == 4
    assert client.watch(BITS, want=["look"])[0][1]["possible"]


def says_nothing(body: bytes) -> bool:
    return not any(word in body for word in (b"Traceback", b"/", b".py", b"token"))


def test_the_page_opens_with_the_token(client: Client) -> None:
    answer, body = client.request("GET", f"/?token={client.token}")
    assert answer.status == 200
    assert f"t/{client.token}/".encode() in body
    assert b"{{BASE}}" not in body
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=wrong", "?token=w&token=x", "?other=1", "?token=%00"]
)
def test_the_page_needs_the_token(client: Client, query: str) -> None:
    answer, body = client.request("GET", f"/{query}")
    assert answer.status == 403
    assert b"the address that <code>tmverify studio</code> printed" in body
    assert client.token.encode() not in body


@pytest.mark.parametrize(
    "path",
    [
        "/t/wrong/api/about",
        "/t//api/about",
        "/t/",
        "/t",
        "/api/about",
        "/static/main.js",
        "/favicon.ico",
        "/robots.txt",
        "/T/{token}/api/about",
        "/t/{token}",
        "/t/{token}x/api/about",
        "/t/{short}/api/about",
        "//t/{token}/api/about",
    ],
)
def test_everything_else_needs_it_too(client: Client, path: str) -> None:
    answer, body = client.request("GET", path.format(token=client.token, short=client.token[:-1]))
    assert (answer.status, body) == (404, b"")


@pytest.mark.parametrize(
    "path",
    [
        "static/../server.py",
        "static/..%2fserver.py",
        "static/%2e%2e/server.py",
        "static/%2fetc%2fpasswd",
        "static//etc/passwd",
        "static/..\\server.py",
        "static/server.py",
        "static/",
        "static",
        "../../../etc/passwd",
        "api",
        "api/",
        "api/unknown",
        "api/about/7",
        "api/about/-1",
        "api/about/x",
        "api/about/99999999999999999999999",
        "api/about/" + "9" * 5000,
        "api/about/00",
        "api/about/",
        "api/watch/",
    ],
)
def test_unknown_paths_are_not_found(client: Client, path: str) -> None:
    status, body = client.get(path)
    assert status == 404
    assert says_nothing(body)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "GET", "BREW"])
def test_questions_are_posted(client: Client, method: str) -> None:
    answer, body = client.request(method, f"/t/{client.token}/api/watch")
    assert answer.status == 405
    assert says_nothing(body)
    assert "Access-Control-Allow-Origin" not in answer.headers


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil.example:{port}",
    "127.0.0.1:{port}.evil.example",
    "",
    "0.0.0.0:{port}",
    "127.0.0.1:{port}, evil.example",
]


@pytest.mark.parametrize("host", HOSTS)
def test_other_hosts_are_refused(client: Client, host: str) -> None:
    """DNS rebinding: another site's name that leads to this machine."""
    headers = {"Host": host.format(port=client.port)}
    for path in (f"/?token={client.token}", f"/t/{client.token}/api/about"):
        answer, body = client.request("GET", path, headers=headers)
        assert (answer.status, body) in [(403, b""), (400, body)]
        assert says_nothing(body)


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_names_of_this_machine_are_served(client: Client, host: str) -> None:
    headers = {"Host": host.format(port=client.port)}
    assert client.request("GET", f"/t/{client.token}/api/about", headers=headers)[0].status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:{port}"},  # served, but another origin than the page's
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": ""},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_other_pages_are_refused(client: Client, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=client.port) for name, value in headers.items()}
    body = json.dumps({"tab": "a", "number": 1, "bits": BITS}).encode()
    answer, said = client.request("POST", f"/t/{client.token}/api/watch", body, {**JSON, **sent})
    assert (answer.status, said) == (403, b"")
    answer, said = client.request("GET", f"/?token={client.token}", headers=sent)
    assert (answer.status, b"Copy it from there into the address bar" in said) == (403, True)


def test_the_own_page_is_answered(client: Client) -> None:
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "same-origin", **JSON}
    body = json.dumps({"tab": "a", "number": 1, "bits": BITS, "want": ["look"]}).encode()
    answer, _ = client.request("POST", f"/t/{client.token}/api/watch", body, headers)
    assert answer.status == 200


@pytest.mark.parametrize("path", ["/", "/nothing", "/t/{token}/api/about", "/t/{token}/static/main.js"])
def test_every_answer_is_guarded(client: Client, path: str) -> None:
    answer, _ = client.request("GET", path.format(token=client.token))
    headers = answer.headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Server"] is None
    assert headers["Set-Cookie"] is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\xff\xfe",
        b'\xef\xbb\xbf{"tab": "a"}',
        '{"tab": "a"}'.encode("utf-16"),
        b'{"bits": NaN}',
        b'{"bits": "1010", "bits": "1011"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"number": ' + b"9" * 10_000 + b"}",
        b"{} trailing",
        b'{"\\ud800": 1}',
    ],
)
@pytest.mark.parametrize("path", ["watch", "rows", "encode", "certificate", "store", "answer"])
def test_malformed_bodies_are_refused(client: Client, path: str, body: bytes) -> None:
    answer, said = client.post(path, body)
    assert answer.status == 400
    assert set(json.loads(said)) == {"error"}
    assert says_nothing(said)


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonp"])
def test_only_json_is_read(client: Client, kind: str) -> None:
    """A form of another site can send the other types without asking."""
    body = json.dumps({"tab": "a", "number": 1, "bits": BITS}).encode()
    answer, said = client.request(
        "POST", f"/t/{client.token}/api/watch", body, {"Content-Type": kind} if kind else {}
    )
    assert answer.status == 400
    assert "application/json" in json.loads(said)["error"]


def test_huge_bodies_are_refused_before_they_are_read(client: Client) -> None:
    sentence = b'{"error":"The question is larger than any input of the model."}'
    headers = {**JSON, "Content-Length": str(1 << 40)}
    assert raw(client, "POST", f"/t/{client.token}/api/watch", headers, b"{").endswith(sentence)
    chunks = b"".join(b"10000\r\n" + b" " * 65536 + b"\r\n" for _ in range(20))
    headers = {**JSON, "Transfer-Encoding": "chunked"}
    said = raw(client, "POST", f"/t/{client.token}/api/watch", headers, chunks + b"0\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "9" * 30])
def test_wrong_lengths_are_refused(client: Client, length: str) -> None:
    said = raw(client, "POST", f"/t/{client.token}/api/watch", {**JSON, "Content-Length": length}, b"{}")
    assert said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413"))


@pytest.mark.parametrize(
    "text",
    [b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n", b"A" * 200_000],
)
def test_what_is_no_request_is_no_harm(client: Client, text: bytes) -> None:
    with socket.create_connection((client.host, client.port), timeout=10) as connection:
        try:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            said = connection.recv(1 << 16)
        except OSError:  # it hung up already
            return
    assert said == b"" or said.startswith(b"HTTP/1.1 4")


def test_two_hosts_are_refused(client: Client) -> None:
    own = f"127.0.0.1:{client.port}"
    with socket.create_connection((client.host, client.port), timeout=10) as connection:
        text = f"GET /t/{client.token}/api/about HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n"
        connection.sendall(text.encode())
        assert connection.recv(1 << 16).startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))


def test_websockets_are_refused(client: Client) -> None:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    answer, _ = client.request("GET", f"/t/{client.token}/api/watch", headers=headers)
    assert answer.status == 405


def test_many_connections_at_once(client: Client) -> None:
    """More than are served at once: those that ask nothing are let go soon, the others are told."""
    with_nothing = [socket.create_connection((client.host, client.port)) for _ in range(300)]
    end = time.monotonic() + 10.0
    while client.get("api/about")[0] != 200:
        assert time.monotonic() < end
        time.sleep(0.1)
    for connection in with_nothing:
        connection.close()


def raw(client: Client, method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """A request whose headers and body need not fit each other."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{client.port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection((client.host, client.port), timeout=10) as connection:
        with suppress(ConnectionError):  # it may be refused before all of it is sent
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        found = b""
        while True:
            try:
                piece = connection.recv(1 << 16)
            except ConnectionError:
                return found
            found += piece
            if not piece or b'"error"' in found:
                return found


async def nobody(*given: Any) -> None:
    raise AssertionError("it was let through")


def test_what_a_host_that_is_given_lets_in() -> None:
    def serves(host: str, named: str, port: int = 80) -> bool:
        return Guard(nobody, "token", host, port)._serves(named)

    assert serves("192.168.1.5", "192.168.1.5:80")
    assert not serves("192.168.1.5", "localhost:80")
    assert serves("0.0.0.0", "192.168.1.5:80")  # whichever address of this machine was used
    assert serves("0.0.0.0", f"{socket.gethostname()}:80")
    assert serves("0.0.0.0", "[fe80::1]:80")
    for other in (
        "evil.example",
        "[fe80::1%.evil.example]",
        "]1.2.3.4[",
        "[1.2.3.4]",
        "::1",
        "[::1",
        "",
        "[]",
    ):
        assert not serves("0.0.0.0", f"{other}:80")
    assert serves("192.168.1.5", "192.168.1.5")  # browsers leave the usual port out
    assert not serves("192.168.1.5", "192.168.1.5", 8080)
    assert not serves("192.168.1.5", "192.168.1.5:", 80)
    assert serves("::1", "[::1]:80")
    assert serves("studio.local", "studio.local:80")
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "127.8.9.1")] == [True] * 4
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.5", "example.org")))


def test_tokens_are_long_and_new() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) == 32 for token in tokens)
