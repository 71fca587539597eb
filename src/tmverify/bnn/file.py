"""The file of a BnnModel: one exact encoding, in the layout of ``model.container``.

Arrays, for block i of k: ``block.i.thresholds`` I64 (n_neurons,), ``block.i.weights`` U8 (n_neurons,
ceil(n_inputs / 8)), a bit a weight, 1 for +1, the first in the highest bit, the last byte filled with zeros;
then ``output.bias`` I64 (n_classes,), ``output.weights`` as above; and for networks of grey levels
``pixels.levels`` I32 and ``pixels.rising`` U8, (n_features,). The options are widths, scale, classes and
feature_names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.model import MAX_LAYERS, MAX_WIDTH, BnnModel, Layer
from tmverify.bnn.pixels import PixelCuts
from tmverify.errors import ModelFormatError
from tmverify.model.container import Schema, hashable, open_file, pack, read_arrays

FORMAT = "tmverify-bnn"
VERSION = "1"


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
    model = _build(options, widths, arrays)
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
    """The network as the bytes of a file, with this content hash instead of its own if given."""
    options = {
        "widths": model.widths,
        "scale": model.scale,
        "classes": model.classes,
        "feature_names": model.feature_names,
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


def _build(options: dict[str, Any], widths: list[int], arrays: dict[str, NDArray[Any]]) -> BnnModel:
    names, classes = options.get("feature_names"), options.get("classes")
    if not isinstance(classes, list) or not (names is None or isinstance(names, list)):
        raise ModelFormatError("classes and feature_names must be lists")
    blocks = [
        Layer(_unpacked(arrays[f"block.{i}.weights"], n), arrays[f"block.{i}.thresholds"])
        for i, n in enumerate(widths[:-2])
    ]
    cuts = None
    if "pixels.levels" in arrays:
        cuts = PixelCuts(arrays["pixels.levels"], arrays["pixels.rising"])
    return BnnModel(
        layers=tuple(blocks),
        output=_unpacked(arrays["output.weights"], widths[-2]),
        scale=options.get("scale", 0),
        bias=arrays["output.bias"],
        classes=tuple(hashable(label) for label in classes),
        feature_names=None if names is None else tuple(hashable(name) for name in names),
        cuts=cuts,
    )


def _packed(signs: NDArray[np.int8]) -> NDArray[np.uint8]:
    return np.packbits(signs > 0, axis=1)


def _unpacked(packed: NDArray[np.uint8], n: int) -> NDArray[np.int8]:
    if packed.shape[1] != -(-n // 8):
        raise ModelFormatError(f"{n} weights must take {-(-n // 8)} bytes a neuron, found {packed.shape[1]}")
    signs: NDArray[np.int8] = np.unpackbits(packed, axis=1, count=n).astype(np.int8) * 2 - 1
    return signs
