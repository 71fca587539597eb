"""Pictures: inputs drawn as tiny palette PNGs in ``data:`` addresses, a pixel for a feature.

A PNG is a signature and chunks (length, kind, content, CRC-32); here IHDR, PLTE, IDAT, IEND. Pixels are
places in the palette, two bits each, rows padded to whole bytes after a filter byte of 0
(https://www.w3.org/TR/png-3/). The page enlarges them: ``image-rendering: pixelated``.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

OFF, ON, SET, CLEARED = range(4)
_PLAIN = ("f3f5f8", "1d2736", "f3f5f8", "1d2736")
_MARKED = ("f3f5f8", "c3cad5", "12b76a", "b3122a")  # a light green and a dark red differ even without hue


def picture(bits: NDArray[np.uint8], shape: tuple[int, int]) -> str:
    """An input as an address for ``<img src>``."""
    return _address(bits.reshape(shape), _PLAIN)


def marked(x: NDArray[np.uint8], witness: NDArray[np.uint8], shape: tuple[int, int]) -> str:
    """An input, dimmed, with the pixels that the witness sets in green and those it clears in red."""
    changed = np.where(witness == x, x, np.where(witness == 1, SET, CLEARED))
    return _address(changed.reshape(shape), _MARKED)


def needed(x: NDArray[np.uint8], wanted: NDArray[np.bool_], shape: tuple[int, int]) -> str:
    """An input, dimmed, with the wanted pixels in green where they are on and in red where they are off."""
    shaded = np.where(wanted, np.where(x == 1, SET, CLEARED), x)
    return _address(shaded.reshape(shape), _MARKED)


def demanded(on: NDArray[np.intp], off: NDArray[np.intp], shape: tuple[int, int]) -> str:
    """What a clause demands: the pixels that must be on in green, those that must be off in red."""
    pixels = np.zeros(shape[0] * shape[1], np.int64)
    pixels[on], pixels[off] = SET, CLEARED
    return _address(pixels.reshape(shape), _MARKED)


def _address(pixels: NDArray[np.integer], palette: tuple[str, ...]) -> str:
    """The address of a PNG; ``pixels`` are places 0 to 3 in a palette of hexadecimal colours."""
    height, width = pixels.shape
    colours = b"".join(bytes.fromhex(colour) for colour in palette)
    header = struct.pack(">IIBBBBB", width, height, 2, 3, 0, 0, 0)
    chunks = (("IHDR", header), ("PLTE", colours), ("IDAT", zlib.compress(_rows(pixels), 9)), ("IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind.encode(), content) for kind, content in chunks)
    return "data:image/png;base64," + b64encode(png).decode()


def _rows(pixels: NDArray[np.integer]) -> bytes:
    two_bits = np.stack([pixels >> 1 & 1, pixels & 1], axis=-1).reshape(len(pixels), -1).astype(np.uint8)
    packed = np.packbits(two_bits, axis=1)
    return np.pad(packed, ((0, 0), (1, 0))).tobytes()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
