"""Folding is exact: it gives the sign that another method computes, for every possible number of matches.

The root of the variance is enclosed between fractions, by ``math.isqrt``, as narrowly as needed; a rational
root is used as it is, so that a tie stays a tie.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify import ModelError
from tmverify.bnn import BatchNorm, fold_block, fold_output, fold_pixels
from tmverify.bnn.evaluate import matches

Rng = np.random.Generator
DENORMAL = 5e-324


def is_positive(gamma: Fraction, beta: Fraction, mean: Fraction, variance: Fraction, z: Fraction) -> bool:
    """Whether gamma (z - mean) / sqrt(variance) + beta >= 0."""
    offset = gamma * (z - mean)
    square, scale = variance.numerator * variance.denominator, variance.denominator
    root = math.isqrt(square)
    if root * root == square:
        return offset + beta * Fraction(root, scale) >= 0
    if beta == 0:
        return offset >= 0
    digits = 8
    while True:  # an irrational root: the sum is not 0
        low = Fraction(math.isqrt(square << 2 * digits), scale << digits)
        ends = sorted(offset + beta * end for end in (low, low + Fraction(1, scale << digits)))
        if ends[0] > 0 or ends[1] < 0:
            return ends[0] > 0
        digits *= 2


def expect_exact(weights: NDArray[np.int8], bias: list[Any], norm: BatchNorm) -> set[int]:
    """Compare the folded block with the definition; return the thresholds that came out."""
    layer = fold_block(weights, bias, norm)
    n = weights.shape[1]
    epsilon = as_fraction(norm.epsilon)
    for j, row in enumerate(weights):
        gamma, beta, mean, variance = (
            as_fraction(column[j]) for column in (norm.gamma, norm.beta, norm.mean, norm.variance)
        )
        for m in range(n + 1):
            bits = np.where(np.arange(n) < m, row > 0, row < 0).astype(np.uint8)
            found = bool(matches(bits[None, :], layer.weights)[0, j] >= layer.thresholds[j])
            z = 2 * m - n + as_fraction(bias[j])
            assert found == is_positive(gamma, beta, mean, variance + epsilon, z), (j, m, norm)
    return set(layer.thresholds.tolist())


def as_fraction(number: Any) -> Fraction:
    return Fraction(number)


def signs(rng: Rng, *shape: int) -> NDArray[np.int8]:
    return rng.choice([-1, 1], size=shape).astype(np.int8)


def small(rng: Rng) -> Fraction:
    return Fraction(int(rng.integers(-40, 41)), int(rng.integers(1, 8)))


def huge(rng: Rng) -> Fraction:
    """Of a denominator of some hundred digits."""
    return small(rng) + Fraction(int(rng.integers(-9, 10)), 10 ** int(rng.integers(100, 200)) + 7)


def wild(rng: Rng) -> float:
    return float(np.ldexp(rng.standard_normal(), int(rng.integers(-40, 41))))


def usual(rng: Rng) -> float:
    return float(np.float32(3 * rng.standard_normal()))


@pytest.mark.parametrize("number", [small, huge, wild, usual], ids=lambda kind: kind.__name__)
def test_random_parameters(number: Any) -> None:
    rng = np.random.default_rng(20261117)
    thresholds = set()
    for _ in range(40):
        n, size = int(rng.integers(1, 10)), 6
        gamma = [0 if rng.random() < 0.1 else number(rng) for _ in range(size)]
        beta = [0 if rng.random() < 0.2 else number(rng) for _ in range(size)]
        variance = [abs(number(rng)) for _ in range(size)]
        epsilon = 2e-5 if rng.random() < 0.5 else Fraction(1, 10**30)
        norm = BatchNorm(gamma, beta, [number(rng) for _ in range(size)], variance, epsilon)
        thresholds |= expect_exact(signs(rng, size, n), [number(rng) for _ in range(size)], norm)
    assert len(thresholds) > 5


def test_a_variance_that_is_denormal() -> None:
    rng = np.random.default_rng(0)
    weights = signs(rng, 6, 7)
    for beta in (0.0, DENORMAL, -DENORMAL, 1e-162, -1e-162, 1e160, -1e160):
        norm = BatchNorm(
            [1.0, -1.0, DENORMAL, -DENORMAL, 0.0, 1e-300], [beta] * 6, [1] * 6, [DENORMAL] * 6, 0
        )
        expect_exact(weights, [0] * 6, norm)


@pytest.mark.parametrize("turn", [1, -1])
def test_ties_and_what_is_next_to_them(turn: int) -> None:
    """sqrt(variance) = 3/7, so a beta makes the sum exactly 0 at m matches, which counts as 1."""
    rng = np.random.default_rng(turn + 1)
    n, root, mean, bias = 8, Fraction(3, 7), Fraction(1, 3), Fraction(-2, 5)
    gamma = turn * Fraction(5, 11)
    tiny = Fraction(1, 10**60)
    weights = signs(rng, 1, n)
    for m in range(n + 1):
        tie = -gamma * (2 * m - n + bias - mean) / root
        for nudge, first in ((-tiny, m + turn), (Fraction(0), m), (tiny, m)):
            norm = BatchNorm([gamma], [tie + nudge], [mean], [root**2 - tiny], tiny)
            expect_exact(weights, [bias], norm)
            layer = fold_block(weights, [bias], norm)
            assert layer.thresholds.tolist() == [first if turn > 0 else n - first]
            assert (layer.weights == turn * weights).all()


def test_without_gamma_the_sign_of_beta_is_all() -> None:
    weights = np.ones((3, 4), np.int8)
    layer = fold_block(weights, [0, 0, 0], BatchNorm([0, 0, 0], [-1, 0, 1], [5, 5, 5], [1, 1, 1], 1))
    assert layer.thresholds.tolist() == [5, 0, 0]


@pytest.mark.parametrize(
    ("tenth", "enough"),
    [
        (np.float32(0.1), True),
        (0.1, True),
        (Fraction(1, 10), True),
        (np.nextafter(0.1, 0), False),
        (np.float16(0.1), False),
    ],
    ids=repr,
)
def test_floats_are_the_numbers_that_they_are(tenth: Any, enough: bool) -> None:
    """Without a match the sum is tenth - 1 + 9/10."""
    norm = BatchNorm(np.array([1]), [Fraction(9, 10)], np.array([0.0], np.float32), [0.5], 0.5)
    layer = fold_block(np.array([[1]], np.int8), [tenth], norm)
    assert layer.thresholds.tolist() == [0 if enough else 1]


def test_scores_keep_their_order_and_their_ties() -> None:
    rng = np.random.default_rng(3)
    ties = 0
    for _ in range(60):
        n, size = int(rng.integers(1, 8)), int(rng.integers(2, 6))
        bias = [small(rng) if rng.random() < 0.5 else Fraction(int(rng.integers(-3, 4))) for _ in range(size)]
        if rng.random() < 0.3:
            bias[-1] = bias[0] + 2 * int(rng.integers(-2, 3))
        scale, base = fold_output(bias)
        scores = [
            (2 * m - n + b, scale * m + c)
            for b, c in zip(bias, base.tolist(), strict=True)
            for m in range(n + 1)
        ]
        for real, integer in scores:
            for other_real, other_integer in scores:
                assert (real < other_real) == (integer < other_integer)
                ties += real == other_real
    assert ties > 1000


def test_scores_of_float_biases_next_to_each_other() -> None:
    near = [0.1, np.nextafter(0.1, 1), 0.1, -1.9, np.float32(0.1)]
    scale, base = fold_output(near)
    assert scale == len(
        {Fraction(0.1), Fraction(float(near[1])), Fraction(-1.9) + 2, Fraction(float(near[4]))}
    )
    assert base[0] == base[2] < base[1]


def test_a_bias_beyond_reason_is_refused() -> None:
    with pytest.raises(ModelError, match="bias is too large"):
        fold_output([0.0, 1e30])


def test_pixels_of_every_grey_level() -> None:
    rng = np.random.default_rng(4)
    n = 40
    gamma, beta = rng.standard_normal((2, n)).astype(np.float32)
    gamma[:4], beta[:4] = 0, [1, 0, -1, DENORMAL]  # constant pixels
    mean, variance = (rng.random((2, n)) * [[1], [0.1]]).astype(np.float32)
    beta[4:8], mean[4:6], mean[6:8] = 0, 0, 1  # the sign changes at black, at white
    gamma[4:8] = [1, -1, 1, -1]
    norm = BatchNorm(gamma, beta, mean, variance, 2e-5)
    cuts = fold_pixels(norm)
    bits = cuts.bits(np.repeat(np.arange(256)[:, None], n, axis=1))
    for i in range(n):
        g, b, m, v = (Fraction(float(column[i])) for column in (gamma, beta, mean, variance))
        expected = [is_positive(g, b, m, v + Fraction(2e-5), Fraction(grey, 255)) for grey in range(256)]
        assert bits[:, i].tolist() == expected
    falling = ~cuts.rising & cuts.flippable
    assert falling.any()
    assert (cuts.rising & cuts.flippable).any()
    assert not cuts.flippable[:4].any()


def test_a_pixel_exactly_at_its_cut_is_1() -> None:
    rising, falling = (
        fold_pixels(BatchNorm([2, -2], [0, 0], [Fraction(100, 255)] * 2, [Fraction(1, 2)] * 2, 0))
        .bits(np.array([[99, 99], [100, 100], [101, 101]]))
        .T
    )
    assert rising.tolist() == [0, 1, 1]
    assert falling.tolist() == [1, 1, 0]


ONE = np.ones((1, 2), np.int8)


@pytest.mark.parametrize(
    ("norm", "message"),
    [
        (BatchNorm([1, 1], [0], [0], [1], 0), r"must have 1 of each parameter. Got \[2, 1, 1, 1\]"),
        (BatchNorm([1], [0], [], [1], 0), r"Got \[1, 1, 0, 1\]"),
        (BatchNorm([math.nan], [0], [0], [1], 0), "finite. Got nan"),
        (BatchNorm([1], [np.float32(math.inf)], [0], [1], 0), "finite. Got inf"),
        (BatchNorm([1], [0], [0], [1], math.inf), "finite"),
        (BatchNorm([1], [0], [True], [1], 0), "numbers. Got True"),
        (BatchNorm([1], [0], ["0"], [1], 0), "numbers. Got '0'"),
        (BatchNorm([1], [0], [0], [None], 0), "numbers. Got None"),
        (BatchNorm([1], [0], [0], [0], 0), "must be positive"),
        (BatchNorm([1], [0], [0], [-2e-5], 2e-5), "must be positive"),
    ],
)
def test_what_can_not_be_folded(norm: BatchNorm, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fold_block(ONE, [0], norm)


def test_other_numbers_that_can_not_be_folded() -> None:
    good = BatchNorm([1], [0], [0], [1], 0)
    with pytest.raises(ModelError, match=r"1 neurons must have 1 biases\. Got 2"):
        fold_block(ONE, [0, 0], good)
    with pytest.raises(ModelError, match="finite"):
        fold_block(ONE, [math.nan], good)
    with pytest.raises(ModelError, match="finite"):
        fold_output([0, math.inf])
    with pytest.raises(ModelError, match="2 of each parameter"):
        fold_pixels(BatchNorm([1, 1], [0], [0], [1], 0))
