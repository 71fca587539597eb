"""Packing: feature f is bit f % 64 of word f // 64."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify.kernels.bits import pack_rows

WIDTHS = (1, 7, 63, 64, 65, 127, 128, 129, 200)


def packed(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    words = np.zeros((len(bits), -(-bits.shape[1] // 64)), np.uint64)
    pack_rows(bits, words)
    return words


@pytest.mark.parametrize("n_features", WIDTHS)
def test_equal_to_python_integers(n_features: int) -> None:
    bits = np.random.default_rng(n_features).integers(0, 2, (20, n_features), dtype=np.uint8)
    bits[0], bits[1] = 0, 1
    for row, words in zip(bits.tolist(), packed(bits).tolist(), strict=True):
        number = sum(bit << f for f, bit in enumerate(row))
        assert sum(word << (64 * k) for k, word in enumerate(words)) == number


@pytest.mark.parametrize("n_features", WIDTHS)
def test_each_feature_has_its_own_bit(n_features: int) -> None:
    words = packed(np.eye(n_features, dtype=np.uint8))
    for f in range(n_features):
        assert words[f, f // 64] == np.uint64(1) << np.uint64(f % 64)
        assert np.count_nonzero(words[f]) == 1


@pytest.mark.parametrize("n_features", WIDTHS)
def test_equal_to_numpy_packbits(n_features: int) -> None:
    bits = np.random.default_rng(n_features).integers(0, 2, (20, n_features), dtype=np.uint8)
    padded = np.pad(bits, ((0, 0), (0, -n_features % 64)))
    assert (np.packbits(padded, axis=1, bitorder="little").view("<u8") == packed(bits)).all()


def test_no_rows() -> None:
    assert packed(np.zeros((0, 65), np.uint8)).shape == (0, 2)
