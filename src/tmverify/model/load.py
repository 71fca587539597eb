"""Reading a classifier from a file of its own: what it is, the file says."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from tmverify.errors import ModelError, ModelFormatError
from tmverify.model.classifier import Classifier
from tmverify.model.container import format_of, read
from tmverify.model.file import FORMAT

# The module that decodes a format. It is imported by the first file of that format: kinds of classifiers
# other than the Tsetlin machine lie in packages above this one.
_DECODERS = {FORMAT: "tmverify.model.file", "tmverify-bnn": "tmverify.bnn.file"}


def load_classifier(path: str | os.PathLike[str]) -> Classifier:
    """Read a file that ``Classifier.save`` wrote.

    Raises
    ------
    ModelFormatError
        If it is not exactly such a file; the message says what is wrong.
    OSError
        If the file is missing or may not be read.
    """
    try:
        data = read(Path(path))
        found = format_of(data)
        home = _DECODERS.get(found, _DECODERS[FORMAT]) if isinstance(found, str) else _DECODERS[FORMAT]
        classifier: Classifier = import_module(home).decode(data)
        return classifier
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__
