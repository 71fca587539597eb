"""Reading classifier files; and the file format of Tsetlin machines, an exact encoding of a Model.

The layout is that of ``model.container``.

Arrays: ``bias`` I64 (outputs,), ``literals`` I32 (n_literals,), ``offsets`` I64 (n_clauses + 1,),
``weights`` I32 (outputs, n_clauses). The options are n_features, tie, clamp, empty_clause, classes and space
(``Space.to_json``; null for flags without names).

Every model has exactly one encoding, and ``load`` accepts no other: the file is parsed, the model is built
with all its checks and encoded again, and the bytes must be equal. So no damaged, padded or reordered file
passes.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import ModelError, ModelFormatError
from tmverify.model.classifier import Classifier
from tmverify.model.clauses import MAX_FEATURES, Clauses
from tmverify.model.container import Schema, classes_in, format_of, open_file, pack, read, read_arrays
from tmverify.model.machine import Model
from tmverify.space import Space

FORMAT = "tmverify-model"
VERSION = "2"

_SCHEMA: Schema = {"bias": ("I64", 1), "literals": ("I32", 1), "offsets": ("I64", 1), "weights": ("I32", 2)}
# The modules that decode other formats, imported at the first file of that format: other kinds of classifiers
# are defined in packages that depend on this one.
_DECODERS = {"tmverify-bnn": "tmverify.bnn.file"}


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
        return decode(read(Path(path)))
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__


def load_classifier(path: str | os.PathLike[str]) -> Classifier:
    """Read a classifier of any kind, written by ``Classifier.save``; raises as ``load`` does."""
    try:
        data = read(Path(path))
        kind = format_of(data)
        if not isinstance(kind, str) or kind not in _DECODERS:
            return decode(data)
        classifier: Classifier = import_module(_DECODERS[kind]).decode(data)
        return classifier
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__


def decode(data: bytes) -> Model:
    """The model in the bytes of a file. Raises ModelError on anything but an exact encoding."""
    options, header, body = open_file(data, FORMAT, VERSION)
    model = _build(options, read_arrays(header, body, _SCHEMA))
    if encode(model) != data:
        raise ModelFormatError("the content does not match its hash: the file was damaged or edited")
    return model


def encode(model: Model, sha256: str | None = None) -> bytes:
    """The model as the bytes of a file; ``sha256``, if given, replaces its own content hash."""
    options = {
        "n_features": model.n_features,
        "tie": model.tie,
        "clamp": model.clamp,
        "empty_clause": model.empty_clause,
        "classes": model.classes,
        "space": model.space.to_json(),
    }
    arrays: dict[str, NDArray[Any]] = {
        "bias": model.bias,
        "literals": model.clauses.literals,
        "offsets": model.clauses.offsets,
        "weights": model.weights,
    }
    digest = model.content_hash if sha256 is None else sha256
    return pack({"format": FORMAT, "version": VERSION, "sha256": digest}, options, arrays, _SCHEMA)


def _build(options: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    n_features = options.get("n_features")
    if type(n_features) is not int or not 1 <= n_features <= MAX_FEATURES:
        raise ModelFormatError(f"n_features must be between 1 and {MAX_FEATURES}, found {n_features!r:.40}")
    return Model(
        clauses=_clauses(n_features, arrays["literals"], arrays["offsets"]),
        weights=arrays["weights"],
        bias=arrays["bias"],
        tie=options.get("tie", ""),
        clamp=options.get("clamp"),
        empty_clause=options.get("empty_clause", ""),
        classes=classes_in(options),
        space=Space.from_json(options.get("space"), n_features),
    )


def _clauses(n_features: int, literals: NDArray[Any], offsets: NDArray[Any]) -> Clauses:
    falling = bool((offsets[1:] < offsets[:-1]).any())
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(literals) or falling:
        raise ModelFormatError("offsets must rise from 0 to the number of literals")
    wide = literals.astype(np.int64)
    if ((wide == 0) | (np.abs(wide) > n_features)).any():
        raise ModelFormatError(f"a literal is 0 or beyond n_features={n_features}")
    # Within a clause, literals are sorted by feature, the negative one first, without repetition.
    order = 2 * np.abs(wide) + (wide > 0)
    step = np.diff(order) <= 0
    inner = np.ones(max(len(wide) - 1, 0), np.bool_)
    starts = offsets[1:-1]
    inner[starts[(starts > 0) & (starts < len(wide))] - 1] = False
    if (step & inner).any():
        raise ModelFormatError("the literals of a clause are not sorted or repeat")
    return Clauses(n_features, literals.astype(np.int32), offsets.astype(np.int64))
