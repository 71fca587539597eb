"""What people give for an input, as bits: raw rows are encoded by the model's space, bits stay as they are.

One rule decides which of the two it is. Arrays of numbers with a column for each feature are bits (so are
frames whose columns are named like the features). Raw are: mappings, and frames or series that have the
columns of the space; texts, where the space is one; arrays in the shape of the picture, where it is one.
For raw values in a plain array there is ``model.space.encode``.

Where raw rows of numbers are as wide as bits (``Space.raw_looks_like_bits``), a plain array could be either.
There integers and Booleans are bits, and floats are refused: a model that took raw rows of 0.0 and 1.0 for
bits would silently disagree with the pipeline that it was frozen from. Values are never looked at for this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, shown
from tmverify.model.checks import as_bit_matrix, as_bit_vector
from tmverify.model.names import in_order
from tmverify.space import Flag, Space
from tmverify.space.rows import column_labels, is_mapping, lacking, named_row

if TYPE_CHECKING:
    from tmverify.model.classifier import Classifier

Row = ArrayLike | Mapping[str, Any]
"""One input: bits, or a raw row."""
Rows = ArrayLike | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Inputs: bits, or raw rows."""


def input_rows(X: Any, model: Classifier, *, name: str = "X") -> NDArray[np.uint8]:
    """Inputs, raw or as bits, as a checked matrix of bits (n, n_features).

    Raises
    ------
    InvalidInputError
    """
    bits = bits_or_encoded(X, model, name=name)
    try:
        return as_bit_matrix(bits, model.n_features, name=name)
    except InvalidInputError as error:
        raise with_remedy(error, model.space) from None


def input_row(x: Any, model: Classifier, *, name: str = "x") -> NDArray[np.uint8]:
    """One input, raw or as bits, as a checked vector of bits (n_features,).

    Raises
    ------
    InvalidInputError
    """
    space = model.space
    if is_mapping(x) or isinstance(x, str) or _is_picture(x, space.image_shape):
        row: NDArray[np.uint8] = space.encode(_one(x, model, name))[0]
        return row
    if column_labels(x) is not None:
        found = np.asarray(bits_or_encoded(x, model, name=name))
        x = found[0] if found.ndim == 2 and len(found) == 1 else found
    else:
        _check_plain(x, space, name)
    try:
        return as_bit_vector(x, model.n_features, name=name)
    except InvalidInputError as error:
        raise with_remedy(error, space) from None


def with_remedy(error: InvalidInputError, space: Space) -> InvalidInputError:
    """The error about bits, with what to do if raw rows were meant, where an array can hold such."""
    if not space.named or space.is_text or all(isinstance(part, Flag) for part in space.parts):
        return error
    return InvalidInputError(f"{error} If these are raw rows: model.space.encode makes bits of an array.")


def bits_or_encoded(X: Any, model: Classifier, *, name: str = "X") -> ArrayLike:
    """The bits of raw inputs; or ``X``, not checked yet, with its columns in order, if it is bits already."""
    space = model.space
    if is_mapping(X) or isinstance(X, str):
        return space.encode(_one(X, model, name))
    if isinstance(X, np.ndarray):
        shape = space.image_shape
        raw = shape is not None and X.shape[1:] == shape and X.shape != (len(X), space.n_bits)
        if _is_picture(X, shape) and X.shape[-1] != space.n_bits:
            return space.encode(X[None])
        texts = space.is_text and X.ndim == 1 and X.dtype.kind in "UO"
        if raw or texts:
            return space.encode(X)
        _check_plain(X, space, name)
        return X
    labels = column_labels(X)
    if labels is not None and not isinstance(X, list):
        return _from_labels(X, [str(label) for label in labels], model, name)
    if isinstance(X, list | tuple) and X:
        if isinstance(X[0], Mapping) or (isinstance(X[0], str) and space.is_text):
            return space.encode(X)
        if isinstance(X[0], str):
            raise _not_a_text(X[0], name)
        if column_labels(X[0]) is not None:
            rows = [np.asarray(bits_or_encoded(row, model, name=name)) for row in X]
            matrix: NDArray[Any] = np.concatenate([np.atleast_2d(row) for row in rows])
            return matrix
        if _is_picture(X[0], space.image_shape):
            return space.encode(np.array(X))
    _check_plain(X, space, name)
    given: ArrayLike = X
    return given


def _check_plain(X: Any, space: Space, name: str, array_name: str = "") -> None:
    """Raise InvalidInputError if a plain array could be raw rows as well as bits."""
    if not space.raw_looks_like_bits:
        return
    try:
        array = X if hasattr(X, "dtype") else np.asarray(X)  # sparse matrices have a dtype
    except (ValueError, TypeError):
        return  # ragged: the check of bits says so
    if getattr(array.dtype, "kind", "") == "f" and array.shape[-1:] == (space.n_bits,):
        shape, rows = space.image_shape, array_name or name
        raw = (
            f"pictures in their shape, {shape}"
            if shape is not None
            else "mappings, or a frame with the model's columns"
        )
        raise InvalidInputError(
            f"{name} holds floats, {space.n_bits} in a row, and could be bits or raw rows, which this model "
            f"takes too. Give bits as integers, {name}.astype(np.uint8); raw rows as {raw}, or by "
            f"model.space.encode({f'[{rows}]' if array.ndim == 1 else rows})."
        )


def _from_labels(X: Any, labels: list[str], model: Classifier, name: str) -> ArrayLike:
    """A frame, a series or a named tuple: of bits, if its columns are the features, else raw."""
    space = model.space
    if space.is_text and len(getattr(X, "shape", ())) == 1 and _holds_texts(X):
        return space.encode(list(X))
    if has_raw_columns(labels, model) or (_are_flags(labels, space) and not _holds_numbers(X)):
        if len(getattr(X, "shape", ())) == 2:
            return space.encode(X)
        return space.encode([named_row(X)])
    ordered = in_order(X, model, name=name)
    if space.image_shape is not None or set(labels) != set(space.bit_names):  # pixels are called so in both
        _check_plain(ordered, space, name, f"{name}.to_numpy()")
    return ordered


def has_raw_columns(labels: Sequence[str], model: Classifier) -> bool:
    """Whether these are the columns of a raw table: all of the model's, and not the names of its bits.

    Columns of the model may be called x0, x1, … too: then such labels name them, and do not number the bits.
    """
    space = model.space
    return space.named and not lacking(labels, space) and set(labels) != set(space.bit_names)


def _are_flags(labels: Sequence[str], space: Space) -> bool:
    """Whether bits and raw rows have the same columns, so that 0 and 1 are the same in both."""
    return space.named and all(isinstance(part, Flag) for part in space.parts) and not lacking(labels, space)


def _holds_numbers(X: Any) -> bool:
    return np.asarray(X).dtype.kind in "buif"


def _holds_texts(series: Any) -> bool:
    return all(isinstance(value, str) for value in series)


def _one(x: Any, model: Classifier, name: str) -> Any:
    """One raw input as a list of one."""
    if isinstance(x, str) and not model.space.is_text:
        raise _not_a_text(x, name)
    return np.asarray(x)[None] if model.space.image_shape is not None and not isinstance(x, Mapping) else [x]


def _is_picture(x: Any, shape: tuple[int, ...] | None) -> bool:
    return shape is not None and isinstance(x, np.ndarray) and x.shape == shape


def _not_a_text(x: str, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"{name} can be a text only if the model was trained on texts. Got {shown(x)}; give a mapping from "
        "columns to values, or bits."
    )
