"""Reading a classifier from a file of its own: what it is, the file says."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from tmverify.errors import ModelError, ModelFormatError
from tmverify.model.classifier import Classifier
from tmverify.model.container import format_of, read
from tmverify.model.file import FORMAT, decode
from tmverify.model.machine import Model

# The modules that decode other formats, each imported by the first file of that format: kinds of classifiers
# other than the Tsetlin machine lie in packages above this one.
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
        if not isinstance(kind, str) or kind == FORMAT or kind not in _DECODERS:
            return decode(data)
        classifier: Classifier = import_module(_DECODERS[kind]).decode(data)
        return classifier
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__
