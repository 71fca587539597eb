"""Pictures, decoded again by the definition of PNG."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify.display.drawing import demanded, marked, needed, picture

OFF, ON, DIM, GREEN, RED = (
    (0xF3, 0xF5, 0xF8),
    (0x1D, 0x27, 0x36),
    (0xC3, 0xCA, 0xD5),
    (0x12, 0xB7, 0x6A),
    (0xB3, 0x12, 0x2A),
)


def decoded(address: str) -> NDArray[np.uint8]:
    """The colours, (rows, columns, 3)."""
    kind, content = address.split(",")
    assert kind == "data:image/png;base64"
    data, chunks = b64decode(content), {}
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place = 8
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        name, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack_from(">I", data, place + 8 + length) == (zlib.crc32(name + body),)
        chunks[name] = body
        place += 12 + length
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour, rest) == (2, 3, [0, 0, 0])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not lines[:, 0].any()
    bits = np.unpackbits(lines[:, 1:], axis=1)[:, : 2 * width].reshape(height, width, 2)
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    colours: NDArray[np.uint8] = palette[2 * bits[..., 0] + bits[..., 1]]
    return colours


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (8, 8), (28, 28), (5, 1)])
def test_a_picture_shows_every_bit(shape: tuple[int, int]) -> None:
    bits = np.random.default_rng(0).integers(0, 2, shape[0] * shape[1], dtype=np.uint8)
    expected = np.where(bits.reshape(shape)[..., None] == 1, ON, OFF)
    assert np.array_equal(decoded(picture(bits, shape)), expected)


def test_marks_what_is_set_and_cleared() -> None:
    x, witness = np.array([0, 1, 0, 1], np.uint8), np.array([0, 1, 1, 0], np.uint8)
    assert decoded(marked(x, witness, (2, 2))).tolist() == [[list(OFF), list(DIM)], [list(GREEN), list(RED)]]


def test_shades_what_is_needed() -> None:
    x, wanted = np.array([0, 1, 0, 1], np.uint8), np.array([False, False, True, True])
    assert decoded(needed(x, wanted, (2, 2))).tolist() == [[list(OFF), list(DIM)], [list(RED), list(GREEN)]]


def test_draws_what_a_clause_demands() -> None:
    drawn = decoded(demanded(np.array([2]), np.array([0, 3]), (2, 2))).tolist()
    assert drawn == [[list(RED), list(OFF)], [list(GREEN), list(RED)]]
