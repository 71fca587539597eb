"""A newer input ends older work; pages that leave, many inputs and many tabs leave nothing behind."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.studios import Client, Event, as_text, opened, served
from tmverify.studio.pool import MOST_TABS
from tmverify.studio.stream import EventStream, Outbox

N = 100
SOON = 10.0  # seconds; benchmarks/studio.py measures how soon


def hard_model() -> tv.Model:
    """A machine whose radii take minutes."""
    rng = np.random.default_rng(3)
    clauses = [((rng.choice(N, 4, replace=False) + 1) * rng.choice([-1, 1], 4)).tolist() for _ in range(800)]
    return tv.Model.from_clauses(N, clauses, [rng.integers(-9, 10, len(clauses)).tolist()], bias=-300)


def random_inputs(n: int) -> list[str]:
    return [as_text(bits) for bits in np.random.default_rng(0).integers(0, 2, (n, N))]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(opened(hard_model())) as found:
        found.watch("0" * N, want=["radius"], fixed=list(range(N - 1)))  # what is compiled is compiled
        yield found


def eventually(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + SOON
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def children() -> set[str]:
    """The processes that this one has started: solvers."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {child for task in tasks for child in task.read_text().split()}


def idle() -> bool:
    """Whether this process and its solvers use next to no processor time."""

    def spent() -> float:
        total = time.process_time()
        for child in children():
            with suppress(OSError):
                user, system = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
                total += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        return total

    before = spent()
    time.sleep(0.3)
    return abs(spent() - before) < 0.1


def until_it_runs(events: Iterator[Event]) -> None:
    """Read until an engine is at work."""
    for kind, data in events:
        if kind == "state" and data["running"] == "radius":
            return
    raise AssertionError("it ended before")


def test_a_newer_input_ends_the_older_one(client: Client) -> None:
    first, second = random_inputs(2)
    with client.stream("watch", tab="one", number=1, bits=first, want=["radius"]) as older:
        until_it_runs(older)
        with client.stream("watch", tab="one", number=2, bits=second, want=["look", "radius"]) as newer:
            start = time.monotonic()
            assert not [data for kind, data in older if kind == "end"]  # it just ends
            assert time.monotonic() - start < SOON
            assert next(newer)[0] == "look"
            status, why = client.refused("watch", {"tab": "one", "number": 1, "bits": first})
            assert (status, why) == (503, "A newer input of this tab is being answered already.")
    assert eventually(idle)


def test_a_stream_that_is_cancelled_before_its_first_step_ends() -> None:
    """Two newer inputs may arrive in one turn of the event loop."""
    sent: list[str] = []

    async def produce(outbox: Outbox) -> None:
        raise AssertionError("it began")

    @contextmanager
    def telling(cancel: Callable[[], object]) -> Iterator[None]:
        cancel()
        yield

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(asyncio.wait_for(EventStream(produce, telling)({}, receive, send), SOON))
    assert sent == ["http.response.start", "http.response.body"]


def test_another_tab_is_left_alone(client: Client) -> None:
    first, second = random_inputs(2)
    with client.stream("watch", tab="one", number=1, bits=first, want=["radius"]) as one:
        until_it_runs(one)
        with client.stream("watch", tab="two", number=9, bits=second, want=["radius"]) as two:
            until_it_runs(two)
            assert next(one)[0] in ("state", "radius")
    assert eventually(idle)


def test_a_page_that_leaves_takes_its_work_along(client: Client) -> None:
    (bits,) = random_inputs(1)
    with client.stream("watch", tab="one", number=1, bits=bits, want=["radius"]) as events:
        until_it_runs(events)
    assert eventually(idle)


def test_fifty_inputs_leave_nothing_behind(client: Client) -> None:
    assert eventually(idle)
    threads, processes = set(threading.enumerate()), children()
    connection = None
    for number, bits in enumerate(random_inputs(50), start=1):
        time.sleep(0.03)
        before = connection
        connection = http.client.HTTPConnection(client.host, client.port, timeout=SOON)
        body = json.dumps({"tab": "drawing", "number": number, "bits": bits})
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/t/{client.token}/api/watch", body, headers)
        if number % 2:
            answer = connection.getresponse()
            assert answer.status == 200
        if before is not None:
            before.close()
    assert connection is not None
    connection.close()
    assert eventually(idle)
    assert eventually(lambda: set(threading.enumerate()) == threads)
    assert eventually(lambda: children() <= processes)


def test_a_ninth_tab_is_told_so(client: Client) -> None:
    (bits,) = random_inputs(1)
    with ExitStack() as stack:
        for tab in range(MOST_TABS):
            stack.enter_context(client.stream("watch", tab=str(tab), number=1, bits=bits, want=["radius"]))
        status, why = client.refused("watch", {"tab": "ninth", "number": 1, "bits": bits})
        assert (status, why) == (
            503,
            "8 tabs are being answered already. Close one of them, then reload this one.",
        )
        with client.stream("watch", tab="3", number=2, bits=bits, want=["look"]) as events:
            assert next(events)[0] == "look"  # a tab that is there already may go on
    assert eventually(idle)
    assert client.watch(bits, want=["look"])[0][0] == "look"


def test_certificates_are_withdrawn_too(client: Client) -> None:
    (bits,) = random_inputs(1)
    connections = []
    for _ in range(4):
        connection = http.client.HTTPConnection(client.host, client.port, timeout=SOON)
        body = json.dumps({"bits": bits, "what": "radius"})
        connection.request(
            "POST", f"/t/{client.token}/api/certificate", body, {"Content-Type": "application/json"}
        )
        connections.append(connection)
    wanted = {"bits": bits, "what": "radius"}
    assert eventually(lambda: client_refuses(client, wanted))
    for connection in connections:
        connection.close()
    assert eventually(idle)


def client_refuses(client: Client, wanted: dict[str, str]) -> bool:
    """Whether a fifth certificate is refused; a slow start may let it be the fourth, which is given up."""
    connection = http.client.HTTPConnection(client.host, client.port, timeout=1.0)
    try:
        connection.request(
            "POST",
            f"/t/{client.token}/api/certificate",
            json.dumps(wanted),
            {"Content-Type": "application/json"},
        )
        answer = connection.getresponse()
        return answer.status == 503 and b"Several certificates" in answer.read()
    except TimeoutError:
        return False
    finally:
        connection.close()


def test_closing_ends_everything_at_once() -> None:
    (bits,) = random_inputs(1)
    threads = set(threading.enumerate())
    with ExitStack() as streams:
        with served(opened(hard_model())) as client:
            told = [
                streams.enter_context(
                    client.stream("watch", tab=str(tab), number=1, bits=bits, want=["radius"])
                )
                for tab in range(5)
            ]
            until_it_runs(told[0])
            start = time.monotonic()
        assert time.monotonic() - start < SOON
        for events in told:
            assert not [data for kind, data in events if kind == "end"]
    assert eventually(lambda: set(threading.enumerate()) == threads)


def test_closing_ends_certificates_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    (bits,) = random_inputs(1)
    with served(opened(hard_model())) as client:
        client.watch("0" * N, want=["radius"], fixed=list(range(N - 1)))
        connection = http.client.HTTPConnection(client.host, client.port, timeout=SOON)
        body = json.dumps({"bits": bits, "what": "radius"})
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/t/{client.token}/api/certificate", body, headers)
        time.sleep(0.5)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (503, b'{"error":"The studio ends."}')
    connection.close()
    assert capfd.readouterr().err == ""
