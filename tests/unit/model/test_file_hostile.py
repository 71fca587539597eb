"""Hostile files: each is a ModelFormatError that says what is wrong, in little time and memory."""

from __future__ import annotations

import io
import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.file_builder import Parts, dump, lay_out, sealed, take_apart
from tmverify import Model, ModelFormatError
from tmverify.model.container import MAX_HEADER_BYTES
from tmverify.model.file import encode

INT32_MIN, INT64_MIN, INT64_MAX = -(1 << 31), -(1 << 63), (1 << 63) - 1

MODEL = Model.from_clauses(
    3,
    [[1, -2], [], [-3, 3], [-1, 2, 3]],
    [[3, 1, 2, -4], [-1, 5, 0, 2]],
    bias=[1, -2],
    clamp=4,
    classes=["no", "yes"],
    feature_names=["a", "b", "c"],
)
DATA = encode(MODEL)


def parts() -> Parts:
    return take_apart(DATA)


def refuse(data: bytes, path: Path, message: str = ".") -> str:
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=message) as caught:
        tv.load(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert len(text) < len(str(path)) + 500
    return text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.tm"


# Damage


def test_truncated_at_every_length(path: Path) -> None:
    for size in range(len(DATA)):
        refuse(DATA[:size], path, "truncated")


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.deep)])
def test_single_bit_flips(path: Path, step: int) -> None:
    for position in range(0, 8 * len(DATA), step):
        damaged = bytearray(DATA)
        damaged[position // 8] ^= 1 << position % 8
        refuse(bytes(damaged), path)


def test_every_single_byte_lost_or_doubled(path: Path) -> None:
    for position in range(len(DATA)):
        refuse(DATA[:position] + DATA[position + 1 :], path)
        refuse(DATA[:position] + DATA[position : position + 1] + DATA[position:], path)


@pytest.mark.parametrize("tail", [b"\0", b" ", b"\0" * 8, b"x" * 4096, DATA], ids=len)
def test_trailing_bytes(tail: bytes, path: Path) -> None:
    refuse(DATA + tail, path, f"{len(tail)} bytes too many at the end")


def test_a_damaged_hash_is_named(path: Path) -> None:
    digest = MODEL.content_hash.encode()
    for wrong in (digest[::-1], digest.upper(), b"0" * 64):
        refuse(DATA.replace(digest, wrong), path, "does not match its hash")


def test_edited_without_a_new_hash(path: Path) -> None:
    refuse(DATA[:-4] + struct.pack("<i", 7), path, "does not match its hash")


# Other files


def zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b"\0" * 50_000_000)
    return buffer.getvalue()


def npz() -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, literals=np.zeros(1_000_000))
    return buffer.getvalue()


class _Trap:
    def __reduce__(self) -> Any:
        return os._exit, (86,)


OTHER_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "truncated: 0 bytes"),
    "zip bomb": (zip_bomb, "looks like a zip"),
    "npz": (npz, "looks like a zip"),
    "pickle": (lambda: pickle.dumps(_Trap()), "not a tmverify model"),
    "pickle of protocol 0": (lambda: pickle.dumps(_Trap(), 0), "not a tmverify model"),
    "gzip": (lambda: b"\x1f\x8b\x08\0" + b"\0" * 100, "truncated|not a tmverify model"),
    "text": (lambda: b"1,0,1\n" * 1000, "not a tmverify model"),
    "json": (lambda: json.dumps(MODEL.to_text()).encode(), "not a tmverify model"),
    "zeros": (lambda: b"\0" * 4096, "not a tmverify model"),
    "ones": (lambda: b"\xff" * 4096, "not a tmverify model"),
    "another safetensors file": (
        lambda: lay_out(dump({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), b"abcd"),
        "not a tmverify model",
    ),
    "another format": (lambda: parts().with_metadata(format="tmu").to_bytes(), "names another format"),
    "format of another type": (lambda: parts().with_metadata(format=None).to_bytes(), "names another format"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_files_that_are_no_model(name: str, path: Path) -> None:
    make, message = OTHER_FILES[name]
    refuse(make(), path, message)


# The header


@pytest.mark.parametrize("size", [MAX_HEADER_BYTES + 1, 1 << 40, 1 << 63, (1 << 64) - 1])
def test_an_absurd_header_length(size: int, path: Path) -> None:
    refuse(struct.pack("<Q", size) + DATA[8:], path, f"header would have {size} bytes")


@pytest.mark.parametrize("size", [len(DATA) - 7, len(DATA), MAX_HEADER_BYTES])
def test_a_header_beyond_the_file(size: int, path: Path) -> None:
    refuse(
        struct.pack("<Q", size) + DATA[8:],
        path,
        f"the header has {size} bytes, the file only {len(DATA) - 8} more",
    )


HEADERS: dict[str, tuple[str | bytes, str]] = {
    "nothing": (b"", "no valid JSON"),
    "invalid UTF-8": (b'{"\xff":0}', "not UTF-8"),
    "overlong UTF-8": (b'{"\xc0\x80":0}', "not UTF-8"),
    "UTF-8 surrogate": (b'{"\xed\xa0\x80":0}', "not UTF-8"),
    "UTF-16": ('{"a":0}'.encode("utf-16"), "not UTF-8"),
    "byte order mark": ("\ufeff{}", "no valid JSON"),
    "invalid JSON": ("{", "no valid JSON"),
    "two values": ("{}{}", "no valid JSON"),
    "trailing comma": ('{"a":0,}', "no valid JSON"),
    "comment": ("{}//", "no valid JSON"),
    "NaN": ('{"a":NaN}', "NaN is not allowed"),
    "Infinity": ('{"a":Infinity}', "Infinity is not allowed"),
    "-Infinity": ('{"a":-Infinity}', "-Infinity is not allowed"),
    "a list": ("[]", "header is missing or no JSON object"),
    "a string": ('"{}"', "header is missing or no JSON object"),
    "null": ("null", "header is missing or no JSON object"),
    "an empty object": ("{}", "__metadata__ is missing"),
    "metadata no object": ('{"__metadata__":[]}', "__metadata__ is missing or no JSON object"),
    "metadata empty": ('{"__metadata__":{}}', "names another format"),
    "deep lists": ("[" * 100_000, "nested too deeply"),
    "deep objects": ('{"":' * 100_000, "nested too deeply"),
    "deep and closed": ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "a number of 5,000 digits": ('{"a":' + "9" * 5000 + "}", "no valid JSON"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_are_no_header(name: str, path: Path) -> None:
    header, message = HEADERS[name]
    refuse(lay_out(header, b""), path, message)


@pytest.mark.parametrize("step", [9, pytest.param(3, marks=pytest.mark.deep)])
def test_nesting_as_deep_as_the_parser_takes(path: Path, step: int) -> None:
    """What could just be parsed must not overflow later, when it is compared, hashed or shown."""
    for depth in (100, *range(880, 1000, step)):
        for nested in ("[" * depth + "]" * depth, '{"":' * depth + "0" + "}" * depth):
            for name in ("tie", "clamp", "n_features", "classes", "feature_names"):
                edited = parts().with_options(**{name: "@"})
                edited.options = dump(edited.options).replace('"@"', nested)
                refuse(edited.to_bytes(), path)
            edited = parts().with_options(classes=["@", "yes"], feature_names=["@", "b", "c"])
            edited.options = dump(edited.options).replace('"@"', nested)
            refuse(edited.to_bytes(), path)
            for entry in (
                parts().with_metadata(version="@"),
                parts().with_entry("bias", dtype="@"),
                parts().with_entry("bias", shape="@"),
            ):
                refuse(lay_out(dump(entry.header()).replace('"@"', nested), b""), path)


def canonical_header() -> str:
    (size,) = struct.unpack_from("<Q", DATA)
    return DATA[8 : 8 + size].decode()


BODY = DATA[8 + struct.unpack_from("<Q", DATA)[0] :]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"format":', '"format":"tmverify-model","format":'),
        ('"bias":', '"bias":{},"bias":'),
        ('"shape":[2]', '"shape":[9],"shape":[2]'),
        ('\\"clamp\\":4', '\\"clamp\\":5,\\"clamp\\":4'),
        ('"format":', '"extra":"1","format":'),
        ('\\"clamp\\":4', '\\"extra\\":1e999,\\"clamp\\":4'),
        ('"shape":[2]', '"shape":[2],"extra":0'),
        ('"shape":[2]', '"shape": [2]'),
        ("[2]", "[2] "),
        ('"I64"', '"\\u004964"'),
        ("[0,16]", "[0.0,16]"),
        ("[0,16]", "[-0,16]"),
        ("[0,16]", "[false,16]"),
        ('\\"no\\"', '\\"\\\\u006eo\\"'),
        ("}  ", "}\n "),
        ('{"__metadata__"', ' {"__metadata__"'),
    ],
)  # fmt: skip
def test_another_spelling_of_the_same_content(old: str, new: str, path: Path) -> None:
    """Duplicate and extra keys, spaces, escapes, floats for integers: not the one encoding."""
    header = canonical_header()
    if old == "}  ":
        header = header.rstrip() + "  "
    assert old in header
    refuse(lay_out(header.replace(old, new, 1), BODY), path)


def test_another_order_of_keys(path: Path) -> None:
    header = parts().header()
    refuse(sealed(dict(reversed(header.items())), BODY), path)
    swapped = parts()
    swapped.options = dict(reversed(swapped.options.items()))
    refuse(swapped.to_bytes(), path)


# The arrays


def test_missing_and_extra_arrays(path: Path) -> None:
    for name in ("bias", "literals", "offsets", "weights"):
        missing = parts()
        del missing.arrays[name]
        refuse(missing.to_bytes(), path, "arrays must be")
        renamed = parts()
        renamed.arrays = {("Weights" if key == name else key): array for key, array in renamed.arrays.items()}
        refuse(renamed.to_bytes(), path, "arrays must be")
    extra = parts()
    extra.arrays["extra"] = np.zeros(3, "<i4")
    refuse(extra.to_bytes(), path, "arrays must be .*, found .*'extra'")
    long_name = parts()
    long_name.arrays["x" * 10_000] = np.zeros(3, "<i4")
    refuse(long_name.to_bytes(), path, "arrays must be")


@pytest.mark.parametrize("name", ["bias", "literals", "offsets", "weights"])
@pytest.mark.parametrize("dtype", ["<i2", "<u4", "<u8", "<f4", "<f8", "<i1"])
def test_the_wrong_dtype(name: str, dtype: str, path: Path) -> None:
    edited = parts()
    edited.with_arrays(**{name: edited.arrays[name].astype(dtype)})
    refuse(edited.to_bytes(), path, f"{name} must have dtype I.., found '")


@pytest.mark.parametrize(
    "dtype", [None, 5, "i64", "I64 ", "O", "BOOL", ["I64"], {}, "x" * 10_000], ids=lambda d: repr(d)[:20]
)
def test_a_dtype_that_is_none(dtype: Any, path: Path) -> None:
    refuse(parts().with_entry("bias", dtype=dtype).to_bytes(), path, "bias must have dtype I64, found")


@pytest.mark.parametrize("entry", [None, [], "I64", 0, True], ids=repr)
def test_an_entry_that_is_no_object(entry: Any, path: Path) -> None:
    edited = parts()
    header = {**edited.header(), "bias": entry}
    refuse(sealed(header, BODY), path, "bias is missing or no JSON object")


@pytest.mark.parametrize(
    "shape",
    [
        [-1],
        [-(1 << 63)],
        [2.0],
        [1e300],
        [True, True],
        [None],
        [[2]],
        ["2"],
        "2",
        2,
        None,
        {},
        {"0": 2},
        [1 << 31],
        [1 << 63],
        [1 << 64],
        [10**4000],
    ],
    ids=lambda shape: repr(shape)[:20],
)
def test_an_absurd_shape(shape: Any, path: Path) -> None:
    refuse(parts().with_entry("bias", shape=shape).to_bytes(), path, "bias has no valid shape")


@pytest.mark.parametrize("shape", [[], [2, 1], [1, 2], [1] * 10_000, [0] * 100], ids=len)
def test_the_wrong_rank(shape: list[int], path: Path) -> None:
    refuse(
        parts().with_entry("bias", shape=shape).to_bytes(),
        path,
        f"bias must have 1 dimensions, found {len(shape)}",
    )
    if len(shape) != 2:
        refuse(parts().with_entry("weights", shape=shape).to_bytes(), path, "weights must have 2 dimensions")


@pytest.mark.parametrize(
    "shape",
    [[1 << 30, 1 << 30], [1 << 30, 0], [0, 1 << 30], [4, 2], [1, 8], [8, 1], [0, 0], [2, 5], [1, 4]],
    ids=str,
)
def test_weights_of_the_wrong_shape(shape: list[int], path: Path) -> None:
    refuse(parts().with_entry("weights", shape=shape).to_bytes(), path, "weights")
    start = 16 + 28 + 40
    end = start + 4 * shape[0] * shape[1]
    claimed = parts().with_entry("weights", shape=shape, data_offsets=[start, end])
    refuse(claimed.to_bytes(), path)


@pytest.mark.parametrize("rows", [1 << 16, 1 << 20, 1 << 30])
def test_rows_without_a_clause_cost_nothing_and_count(rows: int, path: Path) -> None:
    """No bytes at all, but a million classes."""
    edited = parts().with_arrays(offsets=[0], literals=[], weights=np.zeros((rows, 0), "<i4"))
    refuse(edited.to_bytes(), path)


@pytest.mark.parametrize(
    "data_offsets",
    [
        [16, 56],
        [40, 84],
        [44, 80],
        [44, 1 << 62],
        [-44, 84],
        [84, 44],
        [44],
        [44, 84, 84],
        [44.5, 84],
        ["44", "84"],
        None,
        44,
        {},
        [[44, 84]],
        [None, None],
    ],
    ids=repr,
)
def test_offsets_that_overlap_or_leave_gaps(data_offsets: Any, path: Path) -> None:
    refuse(
        parts().with_entry("offsets", data_offsets=data_offsets).to_bytes(),
        path,
        r"offsets of shape \[5\] must lie at bytes \[44, 84\]",
    )


def test_arrays_in_another_order_in_the_body(path: Path) -> None:
    edited = parts()
    edited.arrays = dict(reversed(edited.arrays.items()))
    refuse(edited.to_bytes(), path, "must lie at bytes")


LITERALS = [1, -2, -3, 3, -1, 2, 3]
OFFSETS = [0, 2, 2, 4, 7]


def test_these_are_the_arrays_of_the_model() -> None:
    assert parts().with_arrays(literals=LITERALS, offsets=OFFSETS).to_bytes() == DATA


@pytest.mark.parametrize("literal", [0, 4, -4, INT32_MIN, (1 << 31) - 1, 1 << 24])
@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_literal_out_of_range(literal: int, place: int, path: Path) -> None:
    literals = [*LITERALS]
    literals[place] = literal
    refuse(parts().with_arrays(literals=literals).to_bytes(), path, "a literal is 0 or beyond n_features=3")


@pytest.mark.parametrize(
    "literals",
    [
        [-2, 1, -3, 3, -1, 2, 3],
        [1, 1, -3, 3, -1, 2, 3],
        [1, -2, 3, -3, -1, 2, 3],
        [1, -2, -3, 3, -1, 3, 3],
        [1, -2, -3, 3, 2, -1, 3],
        [1, -2, -3, -3, -1, 2, 3],
    ],
    ids=str,
)
def test_literals_unsorted_or_repeated(literals: list[int], path: Path) -> None:
    refuse(parts().with_arrays(literals=literals).to_bytes(), path, "not sorted or repeat")


@pytest.mark.parametrize(
    "offsets",
    [
        [1, 2, 2, 4, 7],
        [-1, 2, 2, 4, 7],
        [0, 2, 2, 4, 6],
        [0, 2, 2, 4, 8],
        [0, 4, 2, 4, 7],
        [0, 2, 2, 9, 7],
        [0, -2, 2, 4, 7],
        [0, 2, 2, INT64_MAX, 7],
        [0, INT64_MIN, 2, 4, 7],
        [0, INT64_MIN, INT64_MAX, 4, 7],
        [7, 4, 2, 2, 0],
        [0, 0, 0, 0, INT64_MIN],
        # The differences wrap round and all look positive.
        [0, INT64_MAX, -2, 4, 7],
        [0, INT64_MAX, -2, 0, 7],
        [0, INT64_MAX, INT64_MIN, 0, 7],
    ],
    ids=str,
)
def test_offsets_that_fall(offsets: list[int], path: Path) -> None:
    refuse(
        parts().with_arrays(offsets=offsets).to_bytes(),
        path,
        "offsets must rise from 0 to the number of literals",
    )


def test_no_offsets_at_all(path: Path) -> None:
    edited = parts().with_arrays(offsets=[], literals=[], weights=np.zeros((2, 0), "<i4"))
    refuse(edited.to_bytes(), path, "offsets must rise")


def test_weights_and_bias_out_of_range(path: Path) -> None:
    weights = parts().arrays["weights"].copy()
    weights[1, 2] = INT32_MIN
    refuse(parts().with_arrays(weights=weights).to_bytes(), path, "weights must be between")
    for value in (1 << 31, -(1 << 31), INT64_MIN, INT64_MAX):
        refuse(parts().with_arrays(bias=[0, value]).to_bytes(), path, "bias must be between")


@pytest.mark.parametrize("outputs", [0, 1, 3])
def test_bias_and_weights_that_disagree(outputs: int, path: Path) -> None:
    refuse(parts().with_arrays(bias=[0] * outputs).to_bytes(), path, "bias must have shape")
    refuse(parts().with_arrays(weights=np.zeros((outputs, 4), "<i4")).to_bytes(), path, "must have shape")


# The options

NOT_COUNTS = [True, False, 3.0, 1e300, "3", None, [3], {}, 0, -1]
HOSTILE_OPTIONS: dict[tuple[str, str], list[Any]] = {
    ("n_features", "n_features must be between 1 and"): [*NOT_COUNTS, (1 << 24) + 1, 1 << 63, 10**4000],
    ("n_features", "beyond n_features"): [1, 2],
    ("n_features", "The space has 3 bits, and there are"): [4, 1 << 24],
    ("clamp", "clamp must be"): [value for value in NOT_COUNTS if value is not None],
    ("clamp", "clamp must be between"): [1 << 31, 1 << 63, 10**4000],
    ("tie", "tie must be 'positive' or 'negative'"): [
        "",
        "Positive",
        None,
        1,
        True,
        [],
        {},
        "\ud800",
        "x" * 9999,
    ],
    ("empty_clause", "empty_clause must be 'silent' or 'fires'"): ["", "Fires", None, 0, [], {}, "x" * 9999],
    ("classes", "classes must be a list"): [None, {}, "no", 2],
    ("classes", "classes must name 2 classes"): [[], ["no"], ["a", "b", "c"], ["a"] * 9999],
    ("classes", "strings or integers"): [[0.0, 1.0], [None, "a"], [["a"], ["b"]], [{}, {}]],
    ("classes", "all int or all str"): [["no", 1], [True, False], [1, False], ["x" * 9999, 1]],
    ("classes", "must differ"): [["a", "a"], [1, 1], ["x" * 9999] * 2],
    ("classes", "64 bits"): [[0, 1 << 63], [0, -(1 << 63) - 1], [0, 10**4000]],
    ("classes", "valid Unicode"): [["a", "\ud800"], ["\ude00\ud83d", "a"], ["a", "\ud800" * 9999]],
    ("space", "A space must have parts and a target"): [{}, "abc", 3, False, [], ["a", "b", "c"]],
}
OPTIONS = [(name, value, message) for (name, message), values in HOSTILE_OPTIONS.items() for value in values]


@pytest.mark.parametrize(("name", "value", "message"), OPTIONS, ids=lambda value: ascii(value)[:40])
def test_hostile_options(name: str, value: Any, message: str, path: Path) -> None:
    refuse(parts().with_options(**{name: value}).to_bytes(), path, message)


@pytest.mark.parametrize("name", ["n_features", "clamp", "tie", "empty_clause", "classes", "space"])
def test_a_float_too_large_to_be_one(name: str, path: Path) -> None:
    """1e999 is read as infinity without the word being used."""
    edited = parts().with_options(**{name: "@"})
    refuse(parts_with_text(dump(edited.options).replace('"@"', "1e999")).to_bytes(), path)


@pytest.mark.parametrize("name", ["n_features", "tie", "empty_clause", "classes"])
def test_a_missing_option(name: str, path: Path) -> None:
    edited = parts()
    del edited.options[name]
    refuse(edited.to_bytes(), path, name)


@pytest.mark.parametrize("name", ["clamp", "space"])
def test_an_option_that_may_be_null_may_not_be_missing(name: str, path: Path) -> None:
    edited = parts()
    del edited.options[name]
    refuse(edited.to_bytes(), path)


@pytest.mark.parametrize(
    "options",
    ["", "{", "[]", "null", "NaN", '{"n_features":NaN}', "[" * 100_000, '"{}"'],
    ids=lambda o: o[:20],
)
def test_options_that_are_no_object(options: str, path: Path) -> None:
    refuse(parts_with_text(options).to_bytes(), path, "not a tmverify model")


def parts_with_text(options: str) -> Parts:
    edited = parts()
    edited.options = options
    return edited


@pytest.mark.parametrize("value", [None, {}, [], 5], ids=repr)
def test_options_that_are_no_string(value: Any, path: Path) -> None:
    refuse(parts().with_metadata(model=value).to_bytes(), path, "model is missing or no string")


# What is no file, and what is too much of one: in a process of its own, with little memory and time

LOADER = """
import json, resource, sys, time
from tmverify import load
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[1]) * (1 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
start = time.process_time()
try:
    outcome = repr(load(sys.argv[2]))
except BaseException as error:
    outcome = f"{type(error).__name__}: {str(error)[:2000]}"
print(json.dumps([outcome, time.process_time() - start]))
"""


def load_apart(path: Path | str, *, mebibytes: int = 64, seconds: float = 5.0) -> str:
    """What ``load`` says in a process that may take that much more memory than it started with."""
    command = [sys.executable, "-c", LOADER, str(mebibytes), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    outcome, taken = json.loads(done.stdout)
    assert taken < seconds
    assert isinstance(outcome, str)
    return outcome


def test_a_directory_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="not a regular file"):
        tv.load(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    assert load_apart(tmp_path / "link").startswith("ModelFormatError: ")
    assert "not a regular file" in load_apart(tmp_path / "pipe")


def test_a_device_without_end() -> None:
    assert load_apart("/dev/zero") == "ModelFormatError: /dev/zero: not a regular file"


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(ModelFormatError, match="not a regular file"):
            tv.load("socket")


def test_a_sparse_file_of_100_gigabytes_is_not_read(path: Path) -> None:
    path.write_bytes(DATA)
    try:
        os.truncate(path, 100 * 10**9)
    except OSError as error:
        pytest.skip(f"no sparse files here: {error}")
    assert "100000000000 bytes; a model file has at most" in load_apart(path)


def test_a_large_file_without_a_header_is_not_read(path: Path) -> None:
    """Within the size limit, but its first eight bytes tell already that it is no model."""
    path.write_bytes(b"\xff" * 8)
    os.truncate(path, 1 << 30)
    assert "header would have" in load_apart(path)


SIZE = 60_000_000
LARGE_HEADERS: dict[str, Callable[[], bytes]] = {
    "deep lists": lambda: lay_out("[" * SIZE, b""),
    "one number": lambda: lay_out("[" + "9" * SIZE + "]", b""),
    "one string, four bytes a character": lambda: lay_out('["' + "a" * (SIZE - 10) + '\U0001f600"]', b""),
    "one option": lambda: parts().with_options(tie="x" * SIZE).to_bytes(),
    "one dtype": lambda: parts().with_entry("bias", dtype="x" * SIZE).to_bytes(),
    "one version": lambda: parts().with_metadata(version="x" * SIZE).to_bytes(),
    "one array name": lambda: sealed({**parts().header(), "x" * SIZE: {}}, b""),
    "one label": lambda: parts().with_options(classes=["x" * (SIZE // 2), "x" * (SIZE // 2)]).to_bytes(),
    "one feature name": lambda: parts().with_options(feature_names=["a", "b" * SIZE]).to_bytes(),
}
LARGE_TREES: dict[str, Callable[[], bytes]] = {
    "empty lists": lambda: lay_out("[" + "[]," * (SIZE // 3) + "0]", b""),
    "small lists": lambda: lay_out("[" + "[0]," * (SIZE // 4) + "0]", b""),
    "empty objects": lambda: lay_out("[" + "{}," * (SIZE // 3) + "0]", b""),
    "small objects": lambda: lay_out("[" + '{"":0},' * (SIZE // 7) + "0]", b""),
    "many arrays": lambda: lay_out("{" + ",".join(f'"{i:x}":{{}}' for i in range(SIZE // 11)) + "}", b""),
    "lists for options": lambda: parts_with_text("[" + "[]," * (SIZE // 3) + "0]").to_bytes(),
    "many classes": lambda: parts_with_text(
        dump(parts().options).replace('["no","yes"]', "[" + "1," * (SIZE // 2) + "1]")
    ).to_bytes(),
    "many numbers": lambda: lay_out("[" + ("9" * 4000 + ",") * (SIZE // 4001) + "0]", b""),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "deep lists" else [pytest.mark.deep]) for name in LARGE_HEADERS],
)
def test_a_header_of_60_megabytes(name: str, path: Path) -> None:
    data = LARGE_HEADERS[name]()
    assert SIZE * 0.9 < len(data) < MAX_HEADER_BYTES + 1000
    path.write_bytes(data)
    outcome = load_apart(path, mebibytes=1024, seconds=10)
    assert outcome.startswith("ModelFormatError: ")
    assert len(outcome) < len(str(path)) + 500


@pytest.mark.deep
@pytest.mark.parametrize("name", LARGE_TREES)
def test_a_header_of_60_megabytes_in_small_pieces(name: str, path: Path) -> None:
    """Python makes up to 30 bytes of objects from one byte of JSON; no more than 2 GiB from the largest."""
    data = LARGE_TREES[name]()
    assert SIZE * 0.9 < len(data) < MAX_HEADER_BYTES + 1000
    path.write_bytes(data)
    assert load_apart(path, mebibytes=2048, seconds=20).startswith("ModelFormatError: ")
