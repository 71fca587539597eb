"""Clause offsets whose differences wrap round in int64, and so all look positive.

0, 2**63 - 1, -2, n: each step is >= 0 modulo 2**64. ``load`` checked ``np.diff(offsets) >= 0`` and accepted
such a file if its hash was right; the first ``predict`` then repeated clause numbers 2**63 - 1 times and died
of a segmentation fault. Neighbours must be compared, not subtracted.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv


def laid_out(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


@pytest.mark.parametrize("offsets", [[0, (1 << 63) - 1, -2, 1], [0, 1, (1 << 63) - 1, -2, 1]], ids=str)
def test_offsets_that_wrap_round_are_refused(offsets: list[int], tmp_path: Path) -> None:
    path = tmp_path / "a.tm"
    n_clauses = len(offsets) - 1
    tv.Model.from_clauses(1, [[1]] + [[]] * (n_clauses - 1), [1] * n_clauses).save(path)
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    start, end = header["offsets"]["data_offsets"]
    body = body[:start] + np.array(offsets, "<i8").tobytes() + body[end:]
    header["__metadata__"]["sha256"] = ""
    header["__metadata__"]["sha256"] = hashlib.sha256(laid_out(header, body)).hexdigest()
    path.write_bytes(laid_out(header, body))
    with pytest.raises(tv.ModelFormatError, match="offsets must rise"):
        tv.load(path)
