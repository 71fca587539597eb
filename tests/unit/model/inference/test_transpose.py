"""Transposing: bit s of planes[f, w] is feature f of row 64 w + s of the block."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify.model.inference._batch import transpose_rows
from tmverify.model.inference.batch import BLOCK_ROWS as BLOCK


def transposed(bits: NDArray[np.uint8], start: int) -> tuple[list[list[int]], int]:
    n_features = bits.shape[1]
    octets = np.full((8, n_features), 255, np.uint8)
    planes = np.full((n_features, 8), 1234567, np.uint64)
    seen = transpose_rows(bits, start, octets, planes)
    return planes.tolist(), int(seen)


def transposed_plainly(bits: NDArray[np.uint8], start: int) -> list[list[int]]:
    rows = bits[start : start + BLOCK].T.tolist()
    numbers = [sum(bit << s for s, bit in enumerate(column)) for column in rows]
    return [[number >> 64 * w & (1 << 64) - 1 for w in range(8)] for number in numbers]


@pytest.mark.parametrize("n", [1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1024, 1030])
@pytest.mark.parametrize("n_features", [1, 2, 31, 32, 33, 70])
def test_equal_to_python_integers(n: int, n_features: int) -> None:
    bits = np.random.default_rng(n).integers(0, 2, (n, n_features), dtype=np.uint8)
    for start in range(0, n, BLOCK):
        planes, seen = transposed(bits, start)
        assert planes == transposed_plainly(bits, start)
        assert seen == bits[start : start + BLOCK].max()


@pytest.mark.parametrize("n", [1, 8, 15, 512, 700])
def test_each_row_and_feature_has_its_own_bit(n: int) -> None:
    for i in {0, n // 2, n - 1}:
        for f in range(3):
            bits = np.zeros((n, 3), np.uint8)
            bits[i, f] = 1
            planes, _ = transposed(bits, i // BLOCK * BLOCK)
            s = i % BLOCK
            assert planes[f][s // 64] == 1 << s % 64
            assert sum(map(sum, planes)) == 1 << s % 64


@pytest.mark.parametrize("n", [3, 8, 13, 512, 517])
@pytest.mark.parametrize("value", [2, 3, 128, 255])
def test_a_byte_that_is_no_bit_is_reported_wherever_it_is(n: int, value: int) -> None:
    for i in {0, n // 2, n - 1}:
        for f in (0, 16, 36):
            bits = np.zeros((n, 37), np.uint8)
            bits[i, f] = value
            assert [transposed(bits, start)[1] for start in range(0, n, BLOCK)][i // BLOCK] == value
