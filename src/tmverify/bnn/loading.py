"""``load_bnn``: a network from a file, ours or the published benchmark's.

The networks of github.com/msakai/bnn-verification (Max-SAT Evaluation 2020, MIPLIB 2024) are npz archives of
float32: grey levels / 255, ``input_bn`` and sign, ``blocks.i`` of sign(W) x + b (``lin``), batch
normalisation (``bn``) and sign, and ``output_lin``. Batch normalisation is Chainer's, with epsilon 2e-5; the
sign of 0 is +1. The floats are taken as the numbers that they are, and folded exactly.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.file import decode
from tmverify.bnn.folding import BatchNorm, fold_block, fold_output, fold_pixels
from tmverify.bnn.model import MAX_LAYERS, BnnModel
from tmverify.errors import ModelError, ModelFormatError
from tmverify.model.container import MAX_FILE_BYTES, read

EPSILON = 2e-5
_ZIP = b"PK"


def load_bnn(path: str | os.PathLike[str]) -> BnnModel:
    """Read a network written by ``BnnModel.save``, or a published one (``.npz``). Nothing is unpickled.

    Parameters
    ----------
    path : path
        Of a file of ``BnnModel.save``; or of an npz with the arrays ``input_bn.*``, ``blocks.i.lin.*``,
        ``blocks.i.bn.*`` and ``output_lin.*``.

    Returns
    -------
    BnnModel
        With ``cuts``, if it is a published one: ``binarize`` makes its input bits of grey levels.

    Raises
    ------
    ModelFormatError
        If the file is neither; the message says what is wrong.
    OSError
        If the file is missing or may not be read.
    """
    place = Path(path)
    try:
        return _published(place) if _is_zip(place) else decode(read(place))
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__


def _is_zip(path: Path) -> bool:
    if not path.is_file():
        return False  # ``read`` says what is wrong; opening a pipe would wait
    with open(path, "rb") as file:
        return file.read(2) == _ZIP


def _published(path: Path) -> BnnModel:
    arrays = _arrays(path)

    def array(name: str, rank: int) -> NDArray[np.generic]:
        if name not in arrays:
            raise ModelFormatError(f"no array {name!r}: not a network in the form of the published ones")
        found = arrays[name]
        if not isinstance(found, np.ndarray) or found.ndim != rank or found.dtype.kind != "f":
            raise ModelFormatError(f"{name} must be floats in {rank} dimensions")
        if not np.isfinite(found).all():
            raise ModelFormatError(f"{name} must be finite numbers")
        return found

    def norm(name: str) -> BatchNorm:
        gamma, beta, mean, variance = (
            array(f"{name}.{part}", 1) for part in ("gamma", "beta", "avg_mean", "avg_var")
        )
        return BatchNorm(gamma, beta, mean, variance, EPSILON)

    def signs(name: str) -> NDArray[np.int8]:
        return np.where(array(name, 2).astype(np.float64) >= 0, 1, -1).astype(np.int8)

    n_blocks = sum(name.endswith(".lin.W") for name in arrays)
    if n_blocks > MAX_LAYERS:
        raise ModelFormatError(f"{n_blocks} blocks; a network has at most {MAX_LAYERS}")
    blocks = [f"blocks.{i}" for i in range(n_blocks)]
    scale, bias = fold_output(array("output_lin.b", 1))
    output = signs("output_lin.W")
    return BnnModel(
        layers=tuple(
            fold_block(signs(f"{b}.lin.W"), array(f"{b}.lin.b", 1), norm(f"{b}.bn")) for b in blocks
        ),
        output=output,
        scale=scale,
        bias=bias,
        classes=tuple(range(len(output))),
        cuts=fold_pixels(norm("input_bn")),
    )


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise ModelFormatError(f"{size} bytes; a network has at most {MAX_FILE_BYTES}")
    data = io.BytesIO(path.read_bytes())
    try:
        return _read_npz(data)
    except ModelError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise whatever they stumble upon
        raise ModelFormatError(f"not an npz archive of numbers ({error})") from None


def _read_npz(data: io.BytesIO) -> dict[str, NDArray[np.generic]]:
    with zipfile.ZipFile(data) as archive:
        total = sum(entry.file_size for entry in archive.infolist())
    if total > MAX_FILE_BYTES:
        raise ModelFormatError(f"{total} bytes of arrays; a network has at most {MAX_FILE_BYTES}")
    data.seek(0)
    with np.load(data, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
