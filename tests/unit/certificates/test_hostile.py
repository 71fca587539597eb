"""Hostile files: the stand-alone checker ends with a clean refusal, in bounded time and memory.

Each file goes to the folder of ``tmcheck``, run by Python, in a process of its own, whose memory is measured.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import STANDALONE, claim_line, refusal, run_standalone, text_of
from tmcheck import limits
from tmverify.model.file import decode, encode

ACCEPTED, REFUSED, UNREADABLE = 0, 1, 2
LIMIT = 1 << 30


@pytest.fixture(scope="module")
def model() -> tv.Model:
    return tv.Model.from_clauses(3, [[1], [2], [-3, 1]], [[1, 1, 1]], bias=-2)


@pytest.fixture(scope="module")
def good(model: tv.Model) -> bytes:
    """A certificate with a proof."""
    verdict = tv.check_robustness(model, [0, 0, 1], 1, certificate=True)
    assert verdict.status is tv.Status.HOLDS
    text = text_of(verdict.certificate)
    assert refusal(text, [model]) is None
    return text


def code_of(folder: Path, certificate: bytes | None, model: bytes) -> int:
    """The exit code of the stand-alone checker, which never takes more memory than it may."""
    done = run_standalone(folder, certificate, [model])
    assert done.memory < LIMIT, done
    return done.code


def line(step: str, data: bytes) -> bytes:
    return f"{step} {base64.b64encode(data).decode()}\n".encode()


def with_steps(good: bytes, *steps: bytes) -> bytes:
    """The certificate up to its first refutation, then other steps."""
    head = good[: good.index(b"\nrefute") + 1]
    return head + b"".join(steps)


BOMB = zlib.compress(b"\x00" * (1 << 28), 9)


def test_garbage_is_unreadable_in_a_process_of_its_own(tmp_path: Path, good: bytes, model: tv.Model) -> None:
    refute = good[good.index(b"\nrefute") + 1 :].split(b"\n")[0] + b"\n"
    for name, text, code in (
        ("as it is", good, ACCEPTED),
        ("nothing", b"", UNREADABLE),
        ("not UTF-8", b"\xff\xfe\x00\x01" * 100, UNREADABLE),
        ("not UTF-8 in a step", with_steps(good, b"refute \xff 1 1\n"), UNREADABLE),
        ("deep nesting", b"[" * 100_000 + b"\n", UNREADABLE),
        ("deep nesting in the claim", b'{"format":' * 50_000 + b"\n", UNREADABLE),
        ("an endless line", b"x" * (limits.LONGEST_CLAIM + 10), UNREADABLE),
        ("a long line", with_steps(good, b"set " + b"A" * (limits.LONGEST_LINE + 10)), UNREADABLE),
        ("a bomb", with_steps(good, refute, line("set", BOMB)), UNREADABLE),
        ("a bomb to rewrite", with_steps(good, refute, line("rewrite", BOMB)), UNREADABLE),
        ("a huge number", with_steps(good, b"refute 0 " + b"9" * 5000 + b" 1\n"), UNREADABLE),
        ("a huge radius", with_steps(good, b"refute 0 1000000000000 1\n"), REFUSED),
        ("a huge unit", with_steps(good, b"refute 0 1 1000000000000\n"), REFUSED),
        ("many rounds", with_steps(good, refute, b"shrink\n" * 30_000), REFUSED),
        ("a truncated file", good[: len(good) // 2], UNREADABLE),
    ):
        assert (name, code_of(tmp_path, text, encode(model))) == (name, code)


def test_a_missing_file_and_a_folder_are_unreadable(tmp_path: Path, good: bytes, model: tv.Model) -> None:
    assert code_of(tmp_path, None, encode(model)) == UNREADABLE
    (tmp_path / "c.tmcert").mkdir()
    assert code_of(tmp_path, None, encode(model)) == UNREADABLE


def test_help_and_wrong_use(tmp_path: Path) -> None:
    for arguments, code in (["--help"], 0), ([], 2), (["one"], 2), (["--dir"], 2), (["--odd", "1", "2"], 2):
        done = subprocess.run([sys.executable, STANDALONE, *arguments], capture_output=True, text=True)
        assert done.returncode == code
        assert "tmcheck CERTIFICATE... MODEL" in done.stdout + done.stderr


WRONG_VALUES: list[Any] = [
    None,
    True,
    -1,
    1.5,
    10**30,
    "",
    "x",
    [],
    {},
    [[]],
    "9" * 5000,
    "1/0",
    "-1/2",
    "٣/٣",
]


def test_a_claim_of_wrong_types_is_never_accepted_for_something_else(good: bytes, model: tv.Model) -> None:
    """Each key missing, doubled in meaning, or with a value of another type."""
    first, rest = good.split(b"\n", 1)
    claim = json.loads(first)
    for key, value in claim.items():
        for wrong in WRONG_VALUES:
            if wrong == value and type(wrong) is type(value):
                continue
            assert refusal(claim_line({**claim, key: wrong}) + rest, [model]), (key, wrong)
        fewer = {k: v for k, v in claim.items() if k != key}
        assert refusal(claim_line(fewer) + rest, [model])
    assert refusal(claim_line({**claim, "more": 1}) + rest, [model])
    assert refusal(json.dumps([claim]).encode() + b"\n" + rest, [model])
    assert refusal(good + b"end\n", [model])
    assert refusal(good + b"\n", [model])
    assert refusal(good.replace(b"\n", b"\r\n"), [model])


@pytest.mark.parametrize(
    "steps",
    [
        b"refute 0\n", b"refute 0 1\n", b"refute 0 1 1 1 1\n", b"refute  1 1\n", b"refute 0,0 1 256\nmix 1\n",
        b"refute 7 1 256\nclose\n", b"refute -1 1 256\nclose\n", b"refute 0 -1 256\nclose\n",
        b"refute 0 1 0\nclose\n", b"refute 0 1 -5\nclose\n", b"refute 0 0 256\nclose\n",
        b"refute 0 1 256 1\nclose\n", b"refute 0 1 256 9\nclose\n", b"refute 0 1 256 \nclose\n",
        b"refute 0 1 256\nmix\nclose\n", b"refute 0 1 256\nmix -1\nclose\n",
        b"refute 0 1 256\nmix 1 1\nclose\n", b"refute 0 1 256\nmix 0\nclose\n",
        b"refute 0 1 256\nsplit\n", b"refute 0 1 256\nsplit -1 1\n", b"refute 0 1 256\nsplit 99 1\n",
        b"refute 0 1 256\nsplit 0 1\nsplit 0 1\n", b"refute 0 1 256\nsplit 0 2\n",
        b"refute 0 1 256\nsplit 0\n", b"refute 0 1 256 keep 0\nclose\n", b"refute 0 3 256 bits\nclose\n",
        b"refute 0 1 256 keep\nclose\n", b"refute 0 1 256 keep 0 0\nclose\n", b"refute 0 1 256\ndivide\n",
        b"refute 0 1 256\ncover 0\n", b"refute 0 1 256\ncover 99\n", b"refute 0 1 256\nsplit 0 1\nshrink\n",
        b"refute 0 1 256\nset !!!!\n",
        b"refute 0 1 256\nset\n", b"refute 0 1 256\nset AAAA\n", b"refute 0 1 256\nclose \n",
        b"refute 0 1 256\nCLOSE\n", b"refute 0 1 256\nat_root\n", b"refute 0 1 256\nbound\n",
        b"refute 0 1 256\n_go_on\n", b"refute 0 1 256\nlrat\nqed\n", b"refute 0 1 256\nlrat\n1 0 0\nqed\n",
        b"refute 0 1 256\nlrat\nx\nqed\n", b"refute 0 1 256\nlrat\n", b"constraints\n", b"constraints 0:1\n",
        b"constraints 5:1>=1\n", b"constraints -1:1>=1\n", b"constraints 0:1>=\n", b"witness 00\n",
        b"refute 0 +1 256\nclose\n", b"refute 0 1_0 256\nclose\n", b"refute 0 1\t 256\nclose\n",
        b"witness 0000\n", b"witness zz\n", b"witness\n", b"input 20\n", b"everywhere\n", b"\n", b"refute\n",
    ],
)  # fmt: skip
def test_steps_that_prove_nothing(good: bytes, model: tv.Model, steps: bytes) -> None:
    assert refusal(with_steps(good, steps, b"end\n"), [model])


def numbers(*values: int) -> bytes:
    from tmverify.engines.proof_log import packed_numbers

    return line("set", zlib.compress(packed_numbers(values)))


@pytest.mark.parametrize(
    "data",
    [
        numbers(0), numbers(99, 0), numbers(0, 0), numbers(0, 0, 0), numbers(0, 255), numbers(1 << 60, 1),
        line("set", zlib.compress(b"\x80" * 30)), line("set", zlib.compress(b"\x00\x80")),
        line("set", zlib.compress(b"\x00")[:-2]), line("set", zlib.compress(b"\x00\xff\x01") + b"more"),
        line("set", b"\x00\x01"), b"set " + base64.b64encode(zlib.compress(b"\x00")) + b"=\n",
    ],
)  # fmt: skip
def test_multipliers_that_are_none(good: bytes, model: tv.Model, data: bytes) -> None:
    refute = good[good.index(b"\nrefute") + 1 :].split(b"\n")[0] + b"\n"
    assert refusal(with_steps(good, refute, data, b"close\nend\n"), [model])


def test_damaged_models_are_unreadable(tmp_path: Path, good: bytes, model: tv.Model) -> None:
    data = encode(model)
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(data)
        kind = rng.integers(0, 3)
        if kind == 0:
            damaged[rng.integers(0, len(data))] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            del damaged[int(rng.integers(0, len(data))) :]
        else:
            damaged += b"\x00" * 8
        assert refusal(good, [bytes(damaged)])
    assert code_of(tmp_path, good, b"PK\x03\x04" + data) == UNREADABLE
    assert code_of(tmp_path, good, (1 << 60).to_bytes(8, "little") + data[8:]) == UNREADABLE


def rehashed(data: bytes, change: dict[str, Any], options: dict[str, Any] | None = None) -> bytes:
    """A model file with other entries in its header, and a hash that fits."""
    import hashlib

    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    header.update(change)
    if options:
        model = {**json.loads(header["__metadata__"]["model"]), **options}
        header["__metadata__"]["model"] = json.dumps(model, separators=(",", ":"))
    header["__metadata__"]["sha256"] = ""
    for digest in (hashlib.sha256(_whole(header, body)).hexdigest(),):
        header["__metadata__"]["sha256"] = digest
    return _whole(header, body)


def _whole(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({}, {"n_features": 0}), ({}, {"n_features": "3"}), ({}, {"n_features": 1}), ({}, {"classes": [0]}),
        ({}, {"classes": [0, 0]}), ({}, {"classes": ["team", 1]}), ({}, {"classes": [True, 0]}),
        ({}, {"tie": "x"}),
        ({}, {"clamp": 0}), ({}, {"clamp": 1.5}), ({}, {"clamp": True}), ({}, {"empty_clause": None}),
        ({"bias": {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]}}, {}),
        ({"bias": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, {}),
        ({"bias": {"dtype": "I64", "shape": [-1], "data_offsets": [0, -8]}}, {}),
        ({"bias": {"dtype": "I64", "shape": [True], "data_offsets": [0, 8]}}, {}),
        ({"bias": []}, {}), ({"more": {}}, {}),
        ({"weights": {"dtype": "I32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 1]}}, {}),
    ],
)  # fmt: skip
def test_hostile_models_with_a_fitting_hash(
    good: bytes, model: tv.Model, change: dict[str, Any], options: dict[str, Any]
) -> None:
    data = rehashed(encode(model), change, options)
    with pytest.raises(tmcheck.Unreadable):
        tmcheck.read_model(data)
    with pytest.raises(tv.ModelError):
        decode(data)


def test_the_checker_needs_nothing_but_itself(tmp_path: Path, good: bytes, model: tv.Model) -> None:
    """Copied to an empty folder, of whatever name, without site-packages and without this project's path.

    Files beside the folder, or in it, can't stand in for Python's own.
    """
    assert Path(str(tmcheck.__file__)).parent == STANDALONE
    (tmp_path / "c.tmcert").write_bytes(good)
    model.save(tmp_path / "m.tm")
    for name in ("tmcheck", "elsewhere"):
        shutil.copytree(STANDALONE, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        for place in (tmp_path, tmp_path / name):
            (place / "json.py").write_text("raise SystemExit('not this one')")
        done = subprocess.run(
            [sys.executable, "-I", "-S", name, "c.tmcert", "m.tm"],
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("accepted: model ")
