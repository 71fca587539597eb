"""The container of model files: the safetensors layout, fully implemented here; nothing is unpickled.

::

    8 bytes   length H of the header, little-endian
    H bytes   header, JSON: {"__metadata__": {...}, "bias": {"dtype", "shape", "data_offsets"}, ...}
    rest      the arrays' raw little-endian bytes, one after another

The metadata carries ``format``, ``version``, ``model`` (a JSON object) and ``sha256``, the content hash: that
of the whole file with this field empty.

Nothing is compressed, so memory is bounded: the arrays take as much as in the file, and the JSON, which grows
some 25 times in Python, is limited to ``MAX_HEADER_BYTES``. (A zip was considered and dropped: bombs, two
sets of offsets, slower.)
"""

from __future__ import annotations

import json
import math
import os
import stat
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.errors import ModelError, ModelFormatError, shown

MAX_FILE_BYTES = 1 << 30
MAX_HEADER_BYTES = 1 << 26

NUMPY: dict[str, np.dtype[Any]] = {"I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "U8": np.dtype("u1")}

Schema = Mapping[str, tuple[str, int]]
"""The dtype and the number of dimensions of each array, in the order of the file."""


def pack(
    metadata: Mapping[str, str],
    options: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    schema: Schema,
) -> bytes:
    """The bytes of a file: ``metadata`` (format, version, sha256), options and arrays."""
    head = {"format": metadata["format"], "version": metadata["version"], "model": _dump(options)}
    header: dict[str, Any] = {"__metadata__": {**head, "sha256": metadata["sha256"]}}
    body = []
    position = 0
    for name, (kind, _) in schema.items():
        raw = arrays[name].astype(NUMPY[kind]).tobytes()
        header[name] = {
            "dtype": kind,
            "shape": arrays[name].shape,
            "data_offsets": [position, position + len(raw)],
        }
        body.append(raw)
        position += len(raw)
    text = _dump(header).encode()
    text += b" " * (-len(text) % 8)  # safetensors aligns the arrays to 8 bytes
    return b"".join([struct.pack("<Q", len(text)), text, *body])


def open_file(
    data: bytes, format_name: str, version: str
) -> tuple[dict[str, Any], dict[str, Any], memoryview]:
    """Options, the entries of the arrays, and their bytes; or ModelFormatError."""
    header, body = split(data)
    metadata = json_object(header.pop("__metadata__", None), "__metadata__")
    if metadata.get("format") == "tmverify-bnn" != format_name:
        raise ModelFormatError("a binarized network; tmverify.bnn.load_bnn reads it")
    if metadata.get("format") != format_name:
        raise ModelFormatError("not a tmverify model (the header names another format)")
    if metadata.get("version") != version:
        raise ModelFormatError(
            f"format version {shown(metadata.get('version'))}; this tmverify reads version {version!r}. "
            "Train or import the model again."
        )
    options = metadata.get("model")
    if not isinstance(options, str):
        raise ModelFormatError("model is missing or no string")
    return json_object(_parse(options), "model"), header, body


def format_of(data: bytes) -> object:
    """The format that the header names."""
    return json_object(split(data)[0].get("__metadata__"), "__metadata__").get("format")


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file: complete or not at all, even if the process is killed half-way.

    Raises
    ------
    ModelError
        If the file would be larger than ``read`` accepts.
    """
    (header_size,) = struct.unpack_from("<Q", data)
    if len(data) > MAX_FILE_BYTES or header_size > MAX_HEADER_BYTES:
        raise ModelError(
            f"The file would have {len(data)} bytes, {header_size} of them names and options; "
            f"the format allows {MAX_FILE_BYTES} and {MAX_HEADER_BYTES}."
        )
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        raise ModelError(f"{path}: not a regular file, so it is not replaced")
    with replacing(target) as draft:
        draft.write_bytes(data)


def read(path: Path) -> bytes:
    """The bytes of a file, or ModelFormatError if it is too large."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ModelFormatError("not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        raise ModelFormatError(f"{status.st_size} bytes; a model file has at most {MAX_FILE_BYTES}")
    with open(path, "rb") as file:
        start = file.read(8)  # enough to refuse most other files, however large
        _header_size(start, status.st_size)
        return start + file.read(status.st_size)  # not more: Python allocates the size asked for


def split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header, and the bytes after it."""
    size = _header_size(data[:8], len(data))
    try:
        text = data[8 : 8 + size].decode()
    except UnicodeDecodeError:
        raise ModelFormatError("not a tmverify model (the header is not UTF-8)") from None
    return json_object(_parse(text), "header"), memoryview(data)[8 + size :]


def read_arrays(header: dict[str, Any], body: memoryview, schema: Schema) -> dict[str, NDArray[Any]]:
    """The arrays of ``schema``, which must lie one after another."""
    if sorted(header) != sorted(schema):
        raise ModelFormatError(f"arrays must be {sorted(schema)}, found {shown(sorted(header))}")
    arrays = {}
    position = 0
    for name, (kind, rank) in schema.items():
        entry = json_object(header[name], name)
        if entry.get("dtype") != kind:
            raise ModelFormatError(f"{name} must have dtype {kind}, found {shown(entry.get('dtype'))}")
        dtype, shape = NUMPY[kind], entry.get("shape")
        if not isinstance(shape, list) or not all(type(n) is int and 0 <= n <= MAX_FILE_BYTES for n in shape):
            raise ModelFormatError(f"{name} has no valid shape")
        if len(shape) != rank:
            raise ModelFormatError(f"{name} must have {rank} dimensions, found {len(shape)}")
        end = position + math.prod(shape) * dtype.itemsize
        if entry.get("data_offsets") != [position, end]:
            raise ModelFormatError(f"{name} of shape {shape} must lie at bytes [{position}, {end}]")
        if end > len(body):
            raise ModelFormatError(f"truncated: {name} ends at byte {end} of {len(body)}")
        arrays[name] = np.frombuffer(body[position:end], dtype).reshape(shape)
        position = end
    if position != len(body):
        raise ModelFormatError(f"{len(body) - position} bytes too many at the end")
    return arrays


def classes_in(options: dict[str, Any]) -> tuple[Any, ...]:
    """The option classes as hashable values; the model checks them."""
    classes = options.get("classes")
    if not isinstance(classes, list):
        raise ModelFormatError("classes must be a list")
    for value in classes:
        if not isinstance(value, (int, str)):
            raise ModelFormatError(f"classes must hold strings or integers, found {value!r:.40}")
    return tuple(classes)


def _header_size(start: bytes, n_bytes: int) -> int:
    """The length of the header, from the first bytes of a file of ``n_bytes``."""
    if start[:2] == b"PK":
        raise ModelFormatError(
            "not a tmverify model (it looks like a zip archive; tmverify.bnn.load_bnn reads published "
            "networks in .npz files, tmverify import green states)"
        )
    if len(start) < 8:
        raise ModelFormatError(f"truncated: {len(start)} bytes, not even a header length")
    size = int.from_bytes(start[:8], "little")
    if size > MAX_HEADER_BYTES:
        raise ModelFormatError(f"not a tmverify model (its header would have {size} bytes)")
    if 8 + size > n_bytes:
        raise ModelFormatError(f"truncated: the header has {size} bytes, the file only {n_bytes - 8} more")
    return size


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def parse_json(text: str, make_object: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """The value of a text in strict JSON, without NaN and infinity; ValueError if it is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=make_object)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


def _parse(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise ModelFormatError(f"not a tmverify model (the header is no valid JSON: {error!s:.80})") from None


def json_object(value: Any, name: str) -> dict[str, Any]:
    """``value``, or ModelFormatError if it is not a JSON object."""
    if not isinstance(value, dict):
        raise ModelFormatError(f"not a tmverify model ({name} is missing or no JSON object)")
    return value
