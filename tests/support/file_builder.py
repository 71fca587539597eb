"""Model files taken apart and put together again, with a correct hash even if the content is nonsense.

This is the tests' own writer of the format, written from its description, not from its code. With a correct
hash, a hostile file passes the checksum, so that all other checks are tested.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DTYPES = {"bias": "<i8", "literals": "<i4", "offsets": "<i8", "weights": "<i4"}


@dataclass
class Parts:
    """A file in pieces that may each be replaced; ``data_offsets`` follow from ``arrays`` unless given."""

    options: Any
    arrays: dict[str, NDArray[Any]]
    entries: dict[str, Any]
    metadata: dict[str, Any]
    body: bytes | None = None

    def with_options(self, **changes: Any) -> Parts:
        self.options = {**self.options, **changes}
        return self

    def with_arrays(self, **changes: NDArray[Any] | Sequence[Any]) -> Parts:
        """Replace arrays; lists take the dtype of the format."""
        for name, values in changes.items():
            array = values if isinstance(values, np.ndarray) else np.array(values, DTYPES[name])
            self.arrays[name] = array
            self.entries[name] = None
        return self

    def with_entry(self, name: str, **changes: Any) -> Parts:
        """Edit an array's header entry and leave its bytes unchanged."""
        self._fill_entries()
        self.entries[name] = {**self.entries[name], **changes}
        return self

    def with_metadata(self, **changes: Any) -> Parts:
        self.metadata = {**self.metadata, **changes}
        return self

    def header(self) -> dict[str, Any]:
        """The header with the hash left empty."""
        self._fill_entries()
        model = self.options if isinstance(self.options, str) else dump(self.options)
        metadata = {"format": "tmverify-model", "version": "2", "model": model, "sha256": ""}
        ordered = {name: self.entries[name] for name in self.arrays}
        return {"__metadata__": {**metadata, **self.metadata}, **ordered, **self.entries}

    def to_bytes(self) -> bytes:
        body = self.body
        if body is None:
            body = b"".join(array.tobytes() for array in self.arrays.values())
        return sealed(self.header(), body)

    def _fill_entries(self) -> None:
        position = 0
        for name, array in self.arrays.items():
            if self.entries.get(name) is None:
                kind = {"i": "I", "u": "U", "f": "F"}[array.dtype.kind] + str(8 * array.dtype.itemsize)
                offsets = [position, position + array.nbytes]
                self.entries[name] = {"dtype": kind, "shape": [*array.shape], "data_offsets": offsets}
            position += array.nbytes


def take_apart(data: bytes) -> Parts:
    """The pieces of a well-formed file."""
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    arrays = {}
    for name, dtype in DTYPES.items():
        start, end = header[name]["data_offsets"]
        arrays[name] = np.frombuffer(body[start:end], dtype).reshape(header[name]["shape"])
    return Parts(json.loads(header["__metadata__"]["model"]), arrays, {}, {})


def lay_out(header: str | bytes, body: bytes) -> bytes:
    """Length, header padded to 8 bytes, body."""
    text = header.encode() if isinstance(header, str) else header
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def sealed(header: Any, body: bytes) -> bytes:
    """Lay out with the hash filled in, if the header has the place for it."""
    try:
        header["__metadata__"]["sha256"] = ""
        digest = hashlib.sha256(lay_out(dump(header), body)).hexdigest()
        header["__metadata__"]["sha256"] = digest
    except (KeyError, TypeError, IndexError):
        pass
    return lay_out(dump(header), body)


def dump(value: Any) -> str:
    """Compact JSON; NaN and lone surrogates are allowed, as some tests need them."""
    return json.dumps(value, separators=(",", ":"))
