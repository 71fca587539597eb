"""Hostile files of networks, and shells that would take too much: a clean refusal."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import refusal, run_standalone
from support.certified_networks import Case, random_network
from tmcheck import limits
from tmcheck.network import Network
from tmverify.bnn.file import decode, encode


@pytest.fixture(scope="module")
def case() -> Case:
    """A network of grey levels, with rows of weights that do not fill their bytes."""
    rng = np.random.default_rng(1)
    return Case(random_network(rng, [10, 5, 4, 3], pixels=True), np.zeros(10, np.uint8), None, None)


def rebuilt(
    data: bytes,
    arrays: dict[str, bytes] | None = None,
    entries: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
) -> bytes:
    """A file with other contents of the same place, and a hash that fits."""
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    for name, raw in (arrays or {}).items():
        start, end = header[name]["data_offsets"]
        assert len(raw) == end - start
        body[start:end] = raw
    header |= entries or {}
    header = {name: entry for name, entry in header.items() if entry is not None}
    head = header["__metadata__"]
    if options is not None:
        changed = {**json.loads(head["model"]), **options}
        kept = {name: value for name, value in changed.items() if value != "missing"}
        head["model"] = json.dumps(kept, separators=(",", ":"))
    head |= meta or {}
    head["sha256"] = ""
    head["sha256"] = hashlib.sha256(whole(header, body)).hexdigest()
    return whole(header, body)


def whole(header: dict[str, Any], body: bytes | bytearray) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(body)


def i64(*values: int) -> bytes:
    return np.array(values, "<i8").tobytes()


def entry(dtype: str, shape: list[Any], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def test_the_network_itself_is_read(case: Case) -> None:
    data = encode(case.model)
    assert rebuilt(data) == data
    network, digest = tmcheck.read_model(data)
    assert digest == case.model.content_hash
    assert isinstance(network, Network)


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"widths": [10, 5, 4]}}, {"options": {"widths": [10, 5, 4, 3, 3]}},
        {"options": {"widths": [9, 5, 4, 3]}}, {"options": {"widths": [16, 5, 4, 3]}},
        {"options": {"widths": [17, 5, 4, 3]}},
        {"options": {"widths": [10, 5, 4, 2]}}, {"options": {"widths": [10, 4, 5, 3]}},
        {"options": {"widths": [10, 5, 4, 3.0]}}, {"options": {"widths": [10, 5, True, 3]}},
        {"options": {"widths": [10, 0, 4, 3]}}, {"options": {"widths": [10, -5, 4, 3]}},
        {"options": {"widths": [1 << 40, 5, 4, 3]}}, {"options": {"widths": [65537, 5, 4, 3]}},
        {"options": {"widths": [10] * 1000}}, {"options": {"widths": []}}, {"options": {"widths": None}},
        {"options": {"widths": [10, 3]}}, {"options": {"widths": [[10], 5, 4, 3]}},
        {"options": {"scale": 0}}, {"options": {"scale": 65537}}, {"options": {"scale": True}},
        {"options": {"scale": 1.5}}, {"options": {"scale": None}}, {"options": {"scale": 10**400}},
        {"options": {"classes": [0, 1]}}, {"options": {"classes": [0, 1, 1]}},
        {"options": {"classes": ["a", "b", "team"]}}, {"options": {"classes": [0, 1, [2]]}},
        {"options": {"classes": [False, 1, 2]}}, {"options": {"classes": None}},
        {"options": {"space": ["a"]}}, {"options": {"space": 3}},
        {"options": {"space": True}}, {"options": {"space": "abcdefghij"}},
        {"options": {"more": 1}}, {"options": {"scale": "missing"}},
        {"arrays": {"block.0.thresholds": i64(1, 2, 3, 4, 12)}},
        {"arrays": {"block.0.thresholds": i64(1, 2, 3, 4, -1)}},
        {"arrays": {"block.1.thresholds": i64(1, 2, 3, 7)}},
        {"arrays": {"output.bias": i64(1, 2, 1 << 31)}}, {"arrays": {"output.bias": i64(1, 2, -(1 << 63))}},
        {"arrays": {"block.0.weights": b"\x00\x00" * 4 + b"\x00\x01"}},
        {"arrays": {"block.0.weights": b"\x00\x20" + b"\x00\x00" * 4}},
        {"arrays": {"block.1.weights": b"\x00\x00\x04\x00"}}, {"arrays": {"output.weights": b"\x08\x00\x00"}},
        {"arrays": {"pixels.levels": np.array([0, 256, 257, *[1] * 7], "<i4").tobytes()}},
        {"arrays": {"pixels.levels": np.array([0, 256, -1, *[1] * 7], "<i4").tobytes()}},
        {"arrays": {"pixels.rising": b"\x00" * 9 + b"\x02"}},
        {"entries": {"pixels.rising": None}}, {"entries": {"pixels.levels": None}},
        {"entries": {"output.bias": None}}, {"entries": {"more": entry("U8", [0], 0, 0)}},
        {"entries": {"block.0.thresholds": entry("I64", [6], 0, 48)}},
        {"entries": {"block.0.thresholds": entry("I64", [5, 1], 0, 40)}},
        {"entries": {"block.0.thresholds": entry("I64", [-5], 0, -40)}},
        {"entries": {"block.0.thresholds": entry("F64", [5], 0, 40)}},
        {"entries": {"block.0.thresholds": entry("I64", [5], 8, 48)}},
        {"entries": {"block.0.thresholds": entry("I64", [1 << 40], 0, 1 << 43)}},
        {"entries": {"block.0.thresholds": []}},
        {"entries": {"block.0.weights": entry("U8", [10, 1], 40, 50)}},
        {"entries": {"block.0.weights": entry("U8", [1 << 40, 1 << 40], 40, 50)}},
        {"entries": {"block.0.weights": entry("U8", [10], 40, 50)}},
        {"meta": {"format": "tmverify-model"}}, {"meta": {"format": ["tmverify-bnn"]}},
        {"meta": {"version": "1"}}, {"meta": {"version": 2}}, {"meta": {"model": "[]"}},
        {"meta": {"model": None}}, {"meta": {"model": "{" * 100_000}},
    ],
)  # fmt: skip
def test_networks_that_are_none_with_a_fitting_hash(case: Case, change: dict[str, Any]) -> None:
    data = rebuilt(encode(case.model), **change)
    with pytest.raises(tmcheck.Unreadable):
        tmcheck.read_model(data)
    with pytest.raises(tv.ModelError):
        decode(data)


def test_arrays_in_another_order_or_written_otherwise(case: Case) -> None:
    data = encode(case.model)
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    for other in (
        rebuilt(whole(dict(sorted(header.items())), body)),
        whole(header, body).replace(b'"version":"1"', b'"version": "1"'),
        data[:8] + data[8 : 8 + size].replace(b" ", b"\t") + body,
    ):
        if other != data:
            with pytest.raises(tmcheck.Unreadable):
                tmcheck.read_model(other)


def test_damaged_networks_are_unreadable(case: Case) -> None:
    data = encode(case.model)
    rng = np.random.default_rng(0)
    for size in range(0, len(data), 7):
        with pytest.raises(tmcheck.Unreadable):
            tmcheck.read_model(data[:size])
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.integers(0, len(data))] ^= 1 << int(rng.integers(0, 8))
        assert refusal(case.certificate(epsilon=0), [bytes(damaged)])
    assert refusal(case.certificate(epsilon=0), [data + b"\0" * 8])
    assert refusal(case.certificate(epsilon=0), [data]) is None


def test_what_would_take_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)

    def refused(n: int, line: str) -> str:
        case = Case(random_network(rng, [n, 40, 10]), np.zeros(n, np.uint8), None, None)
        return str(refusal(case.certificate(line, epsilon=n), [encode(case.model)]))

    assert "too many sets" in refused(2000, "shell 3 enumerate")
    assert "too many sets" in refused(2000, "shell 1000 enumerate")
    assert "too many sets" in refused(40, "shell 33 enumerate")  # of few sets, but many flips
    for name, value, said in (
        ("MOST_CHANGING", 1, "open neurons"),
        ("MOST_PATTERNS", 3, "too many patterns"),
        ("MOST_WORK", 50, "too many patterns"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, value)
            assert said in refused(30, "shell 3 enumerate")
    monkeypatch.setattr(limits, "LARGEST_FORMULA", 1000)
    assert "too large" in refused(30, "shell 3 lrat\nqed")


@pytest.mark.deep
def test_a_large_network_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Wide, within a gigabyte: a witness is looked at, shells are closed or refused."""
    rng = np.random.default_rng(3)
    n = 1 << 14
    model = random_network(rng, [n, 2000, 2000, 2])
    case = Case(model, rng.integers(0, 2, size=n).astype(np.uint8), None, None)
    for lines, code in (
        ([], 0),
        (["shell 1 close"], 1),
        ([f"shell {n} enumerate"], 1),
        (["shell 3 enumerate"], 1),
        (["shell 99999999 close"], 1),
        (["witness " + "00" * (n // 8)], 1),
    ):
        text = case.certificate(*lines, epsilon=n if lines else 0)
        done = run_standalone(tmp_path, text, [encode(model)])
        assert (done.code, done.memory < 1 << 30) == (code, True), done
