"""Each step of the block evaluator against a few lines of Python or NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify.model.inference._batch import add_patterns, find_patterns, find_true, flush_sums

MANY = 100


def bits_of(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """(…, n) words as (…, 64 n) bits, lowest first."""
    return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")


def test_true_clauses_equal_to_all_of_their_literals() -> None:
    rng = np.random.default_rng(1)
    for _ in range(MANY):
        n_features = int(rng.integers(1, 80))
        X = (rng.random((512, n_features)) < rng.choice([0.02, 0.5, 0.98])).astype(np.uint8)
        planes = np.packbits(X.T.copy(), axis=1, bitorder="little").view(np.uint64)
        features: list[int] = []
        starts, middles, expected = [0], [], []
        for _clause in range(16):
            ones = rng.integers(0, n_features, rng.integers(0, 5)).tolist()
            zeros = rng.integers(0, n_features, 4 * rng.integers(0, 4)).tolist()
            features += ones + zeros
            middles.append(starts[-1] + len(ones))
            starts.append(len(features))
            expected.append(X[:, ones].all(axis=1) & ~X[:, zeros].any(axis=1))
        true = np.full((8, 8), 77, np.uint64)
        for first in (0, 8):
            some = find_true(
                planes, np.array(features, np.uint32), np.array(starts), np.array(middles), first, true
            )
            assert (bits_of(true) == np.array(expected[first : first + 8])).all()
            assert some == true.any()


def test_patterns_are_the_transposed_bits() -> None:
    rng = np.random.default_rng(2)
    for density in (0.0, 0.1, 0.5, 0.9, 1.0):
        for _ in range(MANY // 5):
            bits = (rng.random((8, 512)) < density).astype(np.uint8)
            patterns = np.full(64, 5, np.uint64)
            find_patterns(np.packbits(bits, axis=1, bitorder="little"), patterns)
            expected = [sum(int(bit) << k for k, bit in enumerate(column)) for column in bits.T]
            assert patterns.view(np.uint8).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 511, 512])
def test_patterns_add_the_weights_of_their_bits(n: int) -> None:
    rng = np.random.default_rng(n)
    for largest in (1, 100, 4095):
        weights = rng.integers(-largest, largest, (24, 16), np.int16, endpoint=True)
        sums = rng.integers(-7, 8, (1024, 16), np.int16)
        patterns = rng.integers(0, 256, 512, np.uint8)
        row, base = 8 * int(rng.integers(3)), 512 * int(rng.integers(2))
        expected = sums.astype(np.int64)
        for s in range(n):
            for k in range(8):
                if patterns[s] >> k & 1:
                    expected[base + s] += weights[row + k]
        # Eight digits alone stay below 2**15; here the sums are not empty at first.
        expected = expected.astype(np.int16)
        add_patterns(patterns, weights, row, np.empty((256, 16), np.int16), sums, base, n)
        assert (sums == expected).all()


@pytest.mark.parametrize("n_outputs", [1, 10, 15, 16, 17, 32, 40])
@pytest.mark.parametrize("shift", [0, 12, 24])
def test_flushing_moves_shifted_sums_into_scores(n_outputs: int, shift: int) -> None:
    rng = np.random.default_rng(n_outputs + shift)
    n_groups = -(-n_outputs // 16)
    for n in (1, 64, 511, 512):
        sums = np.zeros((n_groups, 512, 16), np.int16)
        sums[:, :n] = rng.integers(-(1 << 15), 1 << 15, (n_groups, n, 16))
        scores = rng.integers(-(1 << 54), 1 << 54, (n, n_outputs))
        added = sums.swapaxes(0, 1)[:n].reshape(n, -1)[:, :n_outputs].astype(np.int64) << shift
        expected = scores + added
        flush_sums(sums.reshape(-1, 16), shift, scores)
        assert (scores == expected).all()
        assert not sums.any()
