"""Bits packed, eight to a byte, as tasks and stores keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(bits: NDArray[Any]) -> bytes:
    """Bits packed; each row of a matrix begins with a new byte."""
    return np.packbits(bits.astype(np.uint8), axis=-1).tobytes()


def unpack(packed: bytes, n: int) -> NDArray[np.uint8]:
    """The first ``n`` bits."""
    return np.unpackbits(np.frombuffer(packed, np.uint8), count=n)


def unpack_rows(packed: bytes, n: int) -> NDArray[np.uint8]:
    """A matrix of rows of ``n`` bits."""
    rows = np.frombuffer(packed, np.uint8).reshape(-1, (n + 7) // 8)
    return np.unpackbits(rows, axis=1, count=n)


def is_packed(bits: bytes, n: int) -> bool:
    """Whether these are ``n`` bits as ``pack`` packs them."""
    return len(bits) == (n + 7) // 8 and not bits[-1] & (0xFF >> (n % 8 or 8))
