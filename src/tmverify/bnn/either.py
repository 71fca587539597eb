"""A model of either kind, as commands and plans take it: what it is, its file says."""

from __future__ import annotations

import os
from pathlib import Path

from tmverify.bnn.file import FORMAT, decode
from tmverify.bnn.model import BnnModel
from tmverify.errors import ModelError, ModelFormatError
from tmverify.model import Model
from tmverify.model.container import format_of, read
from tmverify.model.file import decode as decode_machine

Classifier = Model | BnnModel


def load_classifier(path: str | os.PathLike[str]) -> Classifier:
    """Read a file of ``Model.save`` or of ``BnnModel.save``.

    Raises
    ------
    ModelFormatError
        If the file is neither; the message says what is wrong.
    OSError
        If the file is missing or may not be read.
    """
    try:
        data = read(Path(path))
        return decode(data) if format_of(data) == FORMAT else decode_machine(data)
    except ModelError as error:
        raise ModelFormatError(f"{path}: {error}") from error.__cause__
