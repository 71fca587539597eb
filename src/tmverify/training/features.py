"""Turn the user's data into bits: 0/1 data unchanged, other numbers by a thermometer code.

The kernels take bits packed, 64 features to a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError

if TYPE_CHECKING:
    from tmverify.data.binarizers import ThermometerBinarizer

MAX_DENSE_CELLS = 1 << 28
_CELLS_AT_ONCE = 1 << 25
_WORD = 64


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


def learn_thermometer(X: Any) -> ThermometerBinarizer:
    """The binarizer for numbers that are not bits."""
    from tmverify.data.binarizers import ThermometerBinarizer

    return ThermometerBinarizer().fit(_dense(X))


def to_bits(X: Any, binarizer: ThermometerBinarizer | None) -> Any:
    """Bits: uint8 or bool, dense or CSR.

    Raises
    ------
    InvalidInputError
        If a value is neither 0 nor 1 and there is no binarizer.
    """
    if binarizer is not None:
        return binarizer.transform(_dense(X))
    if not is_boolean(X):
        values = X.data if _is_sparse(X) else X
        wrong = values[(values != 0) & (values != 1)].flat[0]
        raise InvalidInputError(
            f"X must hold only 0 and 1; binarize it first (see tmverify.ThermometerBinarizer). "
            f"Got {wrong} instead."
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


def thermometer_from(cuts: list[list[float]] | None) -> ThermometerBinarizer | None:
    """A fitted binarizer from its saved cuts."""
    from tmverify.data.binarizers import ThermometerBinarizer

    if cuts is None:
        return None
    binarizer = ThermometerBinarizer()
    binarizer.cuts_ = [np.array(column, np.float64) for column in cuts]
    for column in binarizer.cuts_:
        if column.ndim != 1 or not np.isfinite(column).all() or (np.diff(column) <= 0).any():
            raise ValueError("the cuts of a column do not grow")
    binarizer.n_features_in_ = len(cuts)
    return binarizer


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "indptr")


def _dense(X: Any) -> NDArray[Any]:
    if not _is_sparse(X):
        return np.asarray(X)
    if X.shape[0] * X.shape[1] > MAX_DENSE_CELLS:
        raise InvalidInputError(
            f"X is sparse, holds other numbers than 0 and 1, and is too large ({X.shape[0]} x {X.shape[1]}) "
            "to be spelt out. Binarize it first, for example with X.astype(bool)."
        )
    return np.asarray(X.toarray())
