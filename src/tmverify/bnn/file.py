"""Network files: our own format, an exact encoding in the layout of ``model.container``, and published ones.

Arrays, for block i of k: ``block.i.thresholds`` I64 (n_neurons,), ``block.i.weights`` U8 (n_neurons,
ceil(n_inputs / 8)), one bit per weight, 1 for +1, the first in the highest bit, the last byte padded with
zeros; then ``output.bias`` I64 (n_classes,), ``output.weights`` as above; and for networks of grey levels
``pixels.levels`` I32 and ``pixels.rising`` U8, (n_features,). The options are widths, scale, classes and
space.

The networks of github.com/msakai/bnn-verification (Max-SAT Evaluation 2020, MIPLIB 2024) are npz archives of
float32: grey levels / 255, ``input_bn`` and sign, ``blocks.i`` of sign(W) x + b (``lin``), batch
normalisation (``bn``) and sign, and ``output_lin``. Batch normalisation is Chainer's, with epsilon 2e-5; the
sign of 0 is +1. The floats are read as exact numbers, and folded without rounding.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.folding import BatchNorm, fold_block, fold_output, fold_pixels
from tmverify.bnn.model import MAX_LAYERS, MAX_WIDTH, BnnModel, Layer, PixelCuts
from tmverify.errors import ModelError, ModelFormatError
from tmverify.model.container import MAX_FILE_BYTES, Schema, classes_in, open_file, pack, read, read_arrays
from tmverify.space import Space

FORMAT = "tmverify-bnn"
VERSION = "2"
EPSILON = 2e-5  # in the batch normalisation of published networks


def load_bnn(path: str | os.PathLike[str]) -> BnnModel:
    """Read a network written by ``BnnModel.save``, or a published one (``.npz``). Nothing is unpickled.

    Parameters
    ----------
    path : path
        A file written by ``BnnModel.save``, or an npz with the arrays ``input_bn.*``, ``blocks.i.lin.*``,
        ``blocks.i.bn.*`` and ``output_lin.*``.

    Returns
    -------
    BnnModel
        A published network has ``cuts``: its ``binarize`` turns grey levels into input bits.

    Raises
    ------
    ModelFormatError
        If the file is neither of these; the message says what is wrong.
    OSError
        If the file is missing or may not be read.
    """
    place = Path(path)
    try:
        return _published(place) if _is_zip(place) else decode(read(place))
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__


def decode(data: bytes) -> BnnModel:
    """The model in the bytes of a file. Raises ModelError on anything but an exact encoding."""
    options, header, body = open_file(data, FORMAT, VERSION)
    widths = options.get("widths")
    if (
        not isinstance(widths, list)
        or not 3 <= len(widths) <= MAX_LAYERS + 2
        or not all(type(width) is int and 1 <= width <= MAX_WIDTH for width in widths)
    ):
        raise ModelFormatError(f"widths must be numbers between 1 and {MAX_WIDTH}, one for each layer")
    arrays = read_arrays(header, body, _schema(len(widths) - 2, "pixels.levels" in header))
    levels = arrays.get("pixels.levels")
    model = BnnModel(
        layers=tuple(
            Layer(_unpacked(arrays[f"block.{i}.weights"], n), arrays[f"block.{i}.thresholds"])
            for i, n in enumerate(widths[:-2])
        ),
        output=_unpacked(arrays["output.weights"], widths[-2]),
        scale=options.get("scale", 0),
        bias=arrays["output.bias"],
        classes=classes_in(options),
        space=Space.from_json(options.get("space"), widths[0]),
        cuts=None if levels is None else PixelCuts(levels, arrays["pixels.rising"]),
    )
    if encode(model) != data:
        raise ModelFormatError("the content does not match its hash: the file was damaged or edited")
    return model


def _schema(n_blocks: int, pixels: bool) -> Schema:
    schema: dict[str, tuple[str, int]] = {}
    for i in range(n_blocks):
        schema |= {f"block.{i}.thresholds": ("I64", 1), f"block.{i}.weights": ("U8", 2)}
    schema |= {"output.bias": ("I64", 1), "output.weights": ("U8", 2)}
    return schema | ({"pixels.levels": ("I32", 1), "pixels.rising": ("U8", 1)} if pixels else {})


def encode(model: BnnModel, sha256: str | None = None) -> bytes:
    """The network as the bytes of a file; ``sha256``, if given, replaces its own content hash."""
    options = {
        "widths": model.widths,
        "scale": model.scale,
        "classes": model.classes,
        "space": model.space.to_json(),
    }
    arrays: dict[str, NDArray[Any]] = {"output.bias": model.bias, "output.weights": _packed(model.output)}
    for i, layer in enumerate(model.layers):
        arrays[f"block.{i}.thresholds"] = layer.thresholds
        arrays[f"block.{i}.weights"] = _packed(layer.weights)
    if model.cuts is not None:
        arrays |= {"pixels.levels": model.cuts.levels, "pixels.rising": model.cuts.rising}
    schema = _schema(len(model.layers), model.cuts is not None)
    digest = model.content_hash if sha256 is None else sha256
    return pack({"format": FORMAT, "version": VERSION, "sha256": digest}, options, arrays, schema)


def _packed(signs: NDArray[np.int8]) -> NDArray[np.uint8]:
    return np.packbits(signs > 0, axis=1)


def _unpacked(packed: NDArray[np.uint8], n: int) -> NDArray[np.int8]:
    if packed.shape[1] != -(-n // 8):
        raise ModelFormatError(f"{n} weights must take {-(-n // 8)} bytes a neuron, found {packed.shape[1]}")
    signs: NDArray[np.int8] = np.unpackbits(packed, axis=1, count=n).astype(np.int8) * 2 - 1
    return signs


def _is_zip(path: Path) -> bool:
    if not path.is_file():
        return False  # ``read`` reports the error; opening a pipe here would block
    with open(path, "rb") as file:
        return file.read(2) == b"PK"


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
        parts = ("gamma", "beta", "avg_mean", "avg_var")
        gamma, beta, mean, variance = (array(f"{name}.{part}", 1) for part in parts)
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
        with zipfile.ZipFile(data) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > MAX_FILE_BYTES:
            raise ModelFormatError(f"{total} bytes of arrays; a network has at most {MAX_FILE_BYTES}")
        data.seek(0)
        with np.load(data, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except ModelError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise many types of errors
        raise ModelFormatError(f"not an npz archive of numbers ({error})") from None
