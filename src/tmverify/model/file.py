"""The model file: safetensors layout, written and read here in full, so that nothing is ever unpickled.

::

    8 bytes   length H of the header, little-endian
    H bytes   header, JSON: {"__metadata__": {...}, "bias": {"dtype", "shape", "data_offsets"}, ...}
    rest      the arrays' raw little-endian bytes, one after another

Arrays: ``bias`` I64 (outputs,), ``literals`` I32 (n_literals,), ``offsets`` I64 (n_clauses + 1,),
``weights`` I32 (outputs, n_clauses). The metadata carries ``format``, ``version``, ``model`` (a JSON
object: n_features, tie, clamp, empty_clause, classes, feature_names) and ``sha256``, the content hash of
the whole file as written with that field empty.

Every model has exactly one encoding, and ``load`` demands it: the file is parsed, the model is built with
all its checks, encoded again, and the bytes must be equal. A damaged, padded or reordered file therefore
cannot pass. Nothing is compressed, so nothing can grow: the arrays take what the file takes, and the JSON,
which Python blows up some 25 times, is limited to ``MAX_HEADER_BYTES``. (A zip was considered and dropped:
bombs, two sets of offsets, slower.)
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tmverify.drafts import replacing
from tmverify.errors import ModelError, ModelFormatError, shown
from tmverify.model.clauses import MAX_FEATURES, Clauses
from tmverify.model.machine import Model

FORMAT = "tmverify-model"
VERSION = "1"
MAX_FILE_BYTES = 1 << 30
MAX_HEADER_BYTES = 1 << 26

_DTYPES = {"bias": "I64", "literals": "I32", "offsets": "I64", "weights": "I32"}
_NUMPY: dict[str, np.dtype[Any]] = {"I64": np.dtype("<i8"), "I32": np.dtype("<i4")}


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write ``model`` to ``path``: complete or not at all, even if the process is killed half-way.

    Raises
    ------
    ModelError
        If the file would be larger than ``load`` accepts.
    """
    data = encode(model)
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


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model written by ``Model.save``.

    Raises
    ------
    ModelFormatError
        If the file is not exactly such a model; the message says what is wrong.
    OSError
        If the file is missing or may not be read.
    """
    try:
        return decode(_read(Path(path)))
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__


def content_hash(model: Model) -> str:
    """SHA-256 of the model's one encoding, the hash field empty."""
    return hashlib.sha256(_layout(model, "")).hexdigest()


def encode(model: Model) -> bytes:
    """The model as the bytes of a file."""
    return _layout(model, model.content_hash)


def decode(data: bytes) -> Model:
    """The model in the bytes of a file. Raises ModelError on anything but an exact encoding."""
    header, body = _split(data)
    metadata = _object(header.pop("__metadata__", None), "__metadata__")
    if metadata.get("format") != FORMAT:
        raise ModelFormatError("not a tmverify model (the header names another format)")
    if metadata.get("version") != VERSION:
        raise ModelFormatError(
            f"format version {shown(metadata.get('version'))}; this tmverify reads version {VERSION!r}"
        )
    arrays = _arrays(header, body)
    model = _build(_object(_parse(_text(metadata.get("model"), "model")), "model"), arrays)
    if encode(model) != data:
        raise ModelFormatError("the content does not match its hash: the file was damaged or edited")
    return model


def _layout(model: Model, digest: str) -> bytes:
    options = {
        "n_features": model.n_features,
        "tie": model.tie,
        "clamp": model.clamp,
        "empty_clause": model.empty_clause,
        "classes": model.classes,
        "feature_names": model.feature_names,
    }
    header: dict[str, Any] = {
        "__metadata__": {"format": FORMAT, "version": VERSION, "model": _dump(options), "sha256": digest}
    }
    arrays: dict[str, NDArray[Any]] = {
        "bias": model.bias,
        "literals": model.clauses.literals,
        "offsets": model.clauses.offsets,
        "weights": model.weights,
    }
    body = []
    position = 0
    for name, array in arrays.items():
        raw = array.astype(_NUMPY[_DTYPES[name]]).tobytes()
        header[name] = {
            "dtype": _DTYPES[name],
            "shape": array.shape,
            "data_offsets": [position, position + len(raw)],
        }
        body.append(raw)
        position += len(raw)
    text = _dump(header).encode()
    text += b" " * (-len(text) % 8)  # safetensors aligns the arrays so
    return b"".join([struct.pack("<Q", len(text)), text, *body])


def _read(path: Path) -> bytes:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ModelFormatError("not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        raise ModelFormatError(f"{status.st_size} bytes; a model file has at most {MAX_FILE_BYTES}")
    with open(path, "rb") as file:
        start = file.read(8)  # enough to refuse most other files, however large
        _header_size(start, status.st_size)
        return start + file.read(MAX_FILE_BYTES)


def _header_size(start: bytes, n_bytes: int) -> int:
    """The length of the header, from the first bytes of a file of ``n_bytes``."""
    if start[:2] == b"PK":
        raise ModelFormatError("not a tmverify model (it looks like a zip archive)")
    if len(start) < 8:
        raise ModelFormatError(f"truncated: {len(start)} bytes, not even a header length")
    size = int.from_bytes(start[:8], "little")
    if size > MAX_HEADER_BYTES:
        raise ModelFormatError(f"not a tmverify model (its header would have {size} bytes)")
    if 8 + size > n_bytes:
        raise ModelFormatError(f"truncated: the header has {size} bytes, the file only {n_bytes - 8} more")
    return size


def _split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    size = _header_size(data[:8], len(data))
    try:
        text = data[8 : 8 + size].decode()
    except UnicodeDecodeError:
        raise ModelFormatError("not a tmverify model (the header is not UTF-8)") from None
    return _object(_parse(text), "header"), memoryview(data)[8 + size :]


def _arrays(header: dict[str, Any], body: memoryview) -> dict[str, NDArray[Any]]:
    if sorted(header) != sorted(_DTYPES):
        raise ModelFormatError(f"arrays must be {sorted(_DTYPES)}, found {shown(sorted(header))}")
    arrays = {}
    position = 0
    for name, kind in _DTYPES.items():
        entry = _object(header[name], name)
        if entry.get("dtype") != kind:
            raise ModelFormatError(f"{name} must have dtype {kind}, found {shown(entry.get('dtype'))}")
        dtype, shape = _NUMPY[kind], entry.get("shape")
        if not isinstance(shape, list) or not all(type(n) is int and 0 <= n <= MAX_FILE_BYTES for n in shape):
            raise ModelFormatError(f"{name} has no valid shape")
        rank = 2 if name == "weights" else 1
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


def _build(options: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    n_features = options.get("n_features")
    if type(n_features) is not int or not 1 <= n_features <= MAX_FEATURES:
        raise ModelFormatError(f"n_features must be between 1 and {MAX_FEATURES}, found {n_features!r:.40}")
    names, classes = options.get("feature_names"), options.get("classes")
    if not isinstance(classes, list) or not (names is None or isinstance(names, list)):
        raise ModelFormatError("classes and feature_names must be lists")
    return Model(
        clauses=_clauses(n_features, arrays["literals"], arrays["offsets"]),
        weights=arrays["weights"],
        bias=arrays["bias"],
        tie=options.get("tie", ""),
        clamp=options.get("clamp"),
        empty_clause=options.get("empty_clause", ""),
        classes=tuple(_hashable(label) for label in classes),
        feature_names=None if names is None else tuple(_hashable(name) for name in names),
    )


def _clauses(n_features: int, literals: NDArray[Any], offsets: NDArray[Any]) -> Clauses:
    falling = bool((offsets[1:] < offsets[:-1]).any())
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(literals) or falling:
        raise ModelFormatError("offsets must rise from 0 to the number of literals")
    wide = literals.astype(np.int64)
    if ((wide == 0) | (np.abs(wide) > n_features)).any():
        raise ModelFormatError(f"a literal is 0 or beyond n_features={n_features}")
    # Within a clause: by feature, the negative literal first, none twice.
    order = 2 * np.abs(wide) + (wide > 0)
    step = np.diff(order) <= 0
    inner = np.ones(max(len(wide) - 1, 0), np.bool_)
    starts = offsets[1:-1]
    inner[starts[(starts > 0) & (starts < len(wide))] - 1] = False
    if (step & inner).any():
        raise ModelFormatError("the literals of a clause are not sorted or repeat")
    return Clauses(n_features, literals.astype(np.int32), offsets.astype(np.int64))


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ModelFormatError(f"not a tmverify model (the header is no valid JSON: {reason:.80})") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelFormatError(f"not a tmverify model ({name} is missing or no JSON object)")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ModelFormatError(f"{name} is missing or no string")
    return value


def _hashable(value: Any) -> Any:
    if not isinstance(value, (int, str)):
        raise ModelFormatError(
            f"classes and feature_names must hold strings or integers, found {value!r:.40}"
        )
    return value
