"""Turn the user's data into bits: 0/1 data unchanged, tables and texts by the space that is learnt of them.

The kernels take bits packed, 64 features to a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.model import Model
from tmverify.model.names import default_name
from tmverify.space import Space
from tmverify.space.rows import is_mapping, lacking
from tmverify.space.values import is_missing

MAX_DENSE_CELLS = 1 << 28
_CELLS_AT_ONCE = 1 << 25
_WORD = 64
_NUMBERS: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan"}


def canonical(X: Any) -> Any:
    """A sparse matrix with duplicate entries merged; anything else unchanged."""
    if _is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def is_boolean(X: Any) -> bool:
    """Whether every value of a dense or sparse matrix is 0 or 1."""
    values = X.data if _is_sparse(X) else X
    if values.dtype.kind == "b":
        return True
    if values.dtype == np.uint8:
        return bool(values.size == 0 or values.max() <= 1)
    return bool(((values == 0) | (values == 1)).all())


def is_raw(X: Any) -> bool:
    """Whether ``X`` is raw data: texts, or a table that holds more than numbers."""
    if issparse(X):
        return False
    if hasattr(X, "columns"):
        columns = [X[label] for label in X.columns]
        coded = any(str(getattr(column, "dtype", "")) == "category" for column in columns)
        return coded or any(np.asarray(column).dtype.kind not in "buif" for column in columns)
    if isinstance(X, np.ndarray):
        return X.dtype.kind == "U" or (X.dtype == object and any(isinstance(value, str) for value in X.flat))
    if hasattr(X, "dtype"):
        return _are_texts(X)
    if not isinstance(X, list | tuple):
        return False
    return any(isinstance(row, str) or (isinstance(row, list | tuple) and _are_texts(row)) for row in X)


def goes_by_name(X: Any, space: Any) -> bool:
    """Whether ``space``, or the binarizer that learns it, takes ``X`` as it is: not as an array of numbers.

    Texts and mixed tables; and frames, if the space knows their names or the binarizer the kinds of columns.
    """
    if is_raw(X):
        return True
    if isinstance(space, Space):
        return space.named and space.image_shape is None and hasattr(X, "columns")
    return bool(getattr(space, "kinds", None)) and hasattr(X, "columns")  # an array may lose digits of codes


def has_made_up_names(space: Space) -> bool:
    """Whether the parts are called x0, x1, …, as those of an array without names: they go by position."""
    return all(part.name == default_name(i) for i, part in enumerate(space.parts))


def has_named_rows(X: Any) -> bool:
    """Whether ``X`` is a mapping, or a list of mappings."""
    return is_mapping(X) or (isinstance(X, list | tuple) and bool(X) and is_mapping(X[0]))


def check_labels(y: Any) -> None:
    """Raise InvalidInputError if a label is missing, or texts and numbers are mixed.

    NumPy would make texts of all labels in a list: "nan" of a missing one, "1" of the number 1.
    """
    if getattr(y, "ndim", 1) != 1 or (isinstance(y, np.ndarray) and y.dtype.kind in "buif"):
        return
    kinds: dict[bool, Any] = {}
    for row, label in enumerate(y if isinstance(y, Iterable) and not isinstance(y, str) else ()):
        if is_missing(label):
            raise InvalidInputError(f"y must hold a label for each row. It is missing in row {row}.")
        kinds.setdefault(isinstance(label, str), label)
    if len(kinds) > 1:
        raise InvalidInputError(
            f"Labels must be all texts or all numbers. Got {shown(kinds[True])} and {shown(kinds[False])}."
        )


def classes_of(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels in order, and the class index of each row."""
    classes, targets = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInputError("y must hold at least two classes. Got one class instead.")
    return classes, targets.astype(np.int64)


def checked_examples(estimator: Any, X: Any, y: Any, space: Any, *, first: bool) -> tuple[Any, NDArray[Any]]:
    """Rows and labels by scikit-learn's rules, raw ones as they are; ``first`` records the columns.

    ``space`` is what will encode the rows, or the binarizer that learns it (``goes_by_name``).
    """
    check_labels(y)
    if has_named_rows(X):
        raise InvalidInputError(
            "X must be a frame, an array or texts to learn from. Got mappings; make a frame of them "
            "(pandas.DataFrame(rows))."
        )
    if y is None:
        raise InvalidInputError("fit requires y to be passed, but the target y is None.")
    try:
        if goes_by_name(X, space):
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            validate_data(estimator, X, reset=first, skip_check_array=True)
        else:
            X, y = validate_data(estimator, X, y, reset=first, **_NUMBERS)
        check_classification_targets(y)
    except ValueError as error:
        raise InvalidInputError(str(error)) from None
    return canonical(X), y


def checked_inputs(estimator: Any, X: Any, space: Any) -> Any:
    """Rows for a fitted estimator, as in ``checked_examples``."""
    try:
        if goes_by_name(X, space):
            validate_data(estimator, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(estimator, X, reset=False, **_NUMBERS)
    except ValueError as error:
        raise InvalidInputError(str(error)) from None
    return canonical(X)


def learn_space(X: Any, binarizer: Any, names: Any) -> Space:
    """The space of raw data or of numbers that are not bits; by ``binarizer``, or by our own for "auto".

    Raises
    ------
    InvalidInputError
        If the data can't be made into bits.
    """
    if isinstance(binarizer, Space):
        return binarizer
    from sklearn.base import clone

    from tmverify.data.binarizers import TableBinarizer, WordBinarizer

    if isinstance(binarizer, str):
        binarizer = WordBinarizer() if is_raw(X) and _is_flat(X) else TableBinarizer()
    learner = clone(binarizer)
    if names is not None and "column_names" in learner.get_params():
        learner.set_params(column_names=tuple(map(str, names)))  # X may be an array by now
    space: Space = learner.fit(_dense(X)).space_named(names)
    return space


def space_of_bits(n_columns: int, names: Any) -> Space:
    """A flag for each column of bits."""
    try:
        return Space.flags(n_columns if names is None else map(str, names))
    except ModelError as error:
        raise InvalidInputError(str(error)) from None


def bits_in(X: Any, space: Space | None) -> Any:
    """Bits: uint8 or bool, dense or CSR; those that ``space`` makes of raw data, if it is given.

    Raises
    ------
    InvalidInputError
        If a value is neither 0 nor 1 and there is no space, or has no bits in it.
    """
    if space is not None:
        return space.encode(_dense(X))
    if is_raw(X) or not is_boolean(X):
        values = X.data if _is_sparse(X) else np.asarray(X)
        strange = values[(values != 0) & (values != 1)]
        if not strange.size:
            return values.astype(np.uint8)
        wrong = strange.flat[0]
        raise InvalidInputError(
            f"X must hold only 0 and 1; binarize it first (see tmverify.TableBinarizer). "
            f"Got {shown(wrong.item() if isinstance(wrong, np.generic) else wrong)} instead."
        )
    return X if _is_sparse(X) else X.astype(np.uint8, copy=False)


def dense_slices(bits: Any) -> Iterator[NDArray[np.uint8]]:
    """The rows of a matrix of bits as dense uint8 arrays: all at once, or a sparse one in pieces."""
    if not _is_sparse(bits):
        yield np.ascontiguousarray(bits)
        return
    step = max(1, _CELLS_AT_ONCE // max(1, bits.shape[1]))
    for start in range(0, max(1, bits.shape[0]), step):
        yield bits[start : start + step].astype(np.uint8).toarray()


def model_scores(model: Model, bits: Any) -> NDArray[np.int64]:
    """The scores of each row of a matrix of bits."""
    return np.concatenate([model.scores(rows) for rows in dense_slices(bits)])


def reads_space(n_columns: int, names: list[str] | None, space: Space, encodes: bool) -> bool:
    """Whether tables of so many columns, with these names, are what ``space`` encodes, or are its bits."""
    if names is not None and len(names) != n_columns:
        return False
    if not encodes or space.image_shape is not None:
        return n_columns == space.n_bits
    if not space.named:
        return False
    if names is not None:
        return space.is_text or not lacking(names, space)
    return space.is_text or len(space.parts) == n_columns


def pack_inputs(X: Any) -> NDArray[np.uint64]:
    """Pack checked bits, a dense 0/1 array or a scipy CSR matrix of ones: (n, ceil(n_features / 64))."""
    n, n_features = X.shape
    n_bytes = -(-n_features // _WORD) * (_WORD // 8)
    octets = np.zeros((n, n_bytes), np.uint8)
    if _is_sparse(X):
        rows = np.repeat(np.arange(n), np.diff(X.indptr))
        bits = np.left_shift(np.uint8(1), (X.indices & 7).astype(np.uint8))
        ones = X.data != 0
        np.bitwise_or.at(octets, (rows[ones], X.indices[ones] >> 3), bits[ones])
    else:
        packed = np.packbits(X, axis=1, bitorder="little")
        octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64, copy=False)


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "indptr")


def _is_flat(X: Any) -> bool:
    """Whether ``X`` is a sequence of single values, not of rows."""
    shape = getattr(X, "shape", None)
    return len(shape) == 1 if shape is not None else isinstance(X[0], str)


def _are_texts(values: Any) -> bool:
    return any(isinstance(value, str) for value in values)


def _dense(X: Any) -> Any:
    if not _is_sparse(X):
        return X
    if X.shape[0] * X.shape[1] > MAX_DENSE_CELLS:
        raise InvalidInputError(
            f"X is sparse, holds other numbers than 0 and 1, and is too large ({X.shape[0]} x {X.shape[1]}) "
            "to be spelt out. Binarize it first, for example with X.astype(bool)."
        )
    return np.asarray(X.toarray())
