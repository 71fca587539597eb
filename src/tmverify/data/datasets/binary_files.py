"""Binary data files: plain, gzip or xz, by their suffix. Never more is read than the header announces.

Every problem with a file raises a ``DataFormatError`` that names the file. Nothing is ever unpickled.

idx: two zero bytes, 8 for uint8, the number of dimensions, each size as a big-endian uint32, the values.
"""

from __future__ import annotations

import gzip
import lzma
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import DataFormatError

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
_MAX_ROWS = 1_000_000  # a damaged header must not allocate terabytes


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """The decompressed content of ``file`` as a stream."""
    try:
        with _OPENERS.get(file.suffix, open)(file, "rb") as stream:
            yield stream
    except _DAMAGE as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataFormatError(f"{file}: the file is damaged ({reason}); get it again.") from None
    except OSError as error:
        raise DataFormatError(f"{file}: the file can't be read: {error.strerror or error}.") from None


def read_idx(file: Path, item_shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The uint8 array of an idx file, shape (n, \\*item_shape).

    Raises
    ------
    DataFormatError
        If the file is not an idx file of such items, is damaged, or shorter or longer than its header says.
    """
    n_dims = 1 + len(item_shape)
    with opened(file) as stream:
        magic, expected = stream.read(4), bytes((0, 0, 8, n_dims))
        if magic != expected:
            raise DataFormatError(
                f"{file}: an idx file of uint8 in {n_dims} dimensions must start with the bytes "
                f"{expected.hex(' ')}. Found {magic.hex(' ') or 'nothing'}; get the file again."
            )
        n, *sizes = struct.unpack(f">{n_dims}I", _exactly(stream, 4 * n_dims, file))
        if tuple(sizes) != item_shape:
            raise DataFormatError(f"{file}: each item must have shape {item_shape}. Found {tuple(sizes)}.")
        if not 0 < n <= _MAX_ROWS:
            raise DataFormatError(f"{file}: between 1 and {_MAX_ROWS} items are expected. Found {n}.")
        data = _to_the_end(stream, n * math.prod(item_shape), file)
    return np.frombuffer(data, np.uint8).reshape(n, *item_shape).copy()  # without a copy, read-only


def read_npy(file: Path, shapes: tuple[tuple[int, ...], ...], kinds: str) -> NDArray[Any]:
    """The array of an npy file, which must have one of ``shapes`` and a dtype of one of ``kinds``.

    Raises
    ------
    DataFormatError
        If the file is not an npy file, is damaged, or holds another array.
    """
    with opened(file) as stream:
        try:
            version = np.lib.format.read_magic(stream)
            if version != (1, 0):  # later versions have headers that no array of numbers needs
                raise ValueError(f"version {version} of the format")
            shape, column_major, dtype = np.lib.format.read_array_header_1_0(stream)
        except ValueError as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise DataFormatError(f"{file}: not a readable npy file: {reason}; get it again.") from None
        if shape not in shapes or dtype.kind not in kinds or column_major:
            raise DataFormatError(
                f"{file}: an array of shape {' or '.join(map(str, shapes))} and whole numbers is expected. "
                f"Found {'column-major ' if column_major else ''}{dtype} {shape}."
            )
        data = _to_the_end(stream, math.prod(shape) * dtype.itemsize, file)
    return np.frombuffer(data, dtype).reshape(shape)


def _exactly(stream: IO[bytes], size: int, file: Path) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise DataFormatError(
            f"{file}: the file is cut short: {size} more bytes are expected, {len(data)} found; get it again."
        )
    return data


def _to_the_end(stream: IO[bytes], size: int, file: Path) -> bytes:
    data = _exactly(stream, size, file)
    if stream.read(1):
        raise DataFormatError(f"{file}: the file is longer than its header says; get it again.")
    return data
