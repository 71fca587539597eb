"""Folding: batch normalisation, bias and sign become one integer threshold, exactly.

A neuron computes z = w . x + b and outputs 1 iff

    gamma (z - mean) / sqrt(variance + epsilon) + beta >= 0.

w . x takes the values 2 m - n, m = 0 … n matches, and the left side is monotone in m. So the neuron means
"at least t matches", once all its weights are negated if gamma < 0. The sign of a + b sqrt(v) is found by
comparing squares of fractions: no float is rounded, and ties (exactly 0, which counts as 1) are exact.

Class scores w . x + b are compared only with each other. 2 m + b and 2 m' + b' compare like the pairs
(m + floor(b / 2), fractional part of b / 2). So a bias becomes an integer, plus the rank of its fraction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.model import N_LEVELS, Layer, PixelCuts
from tmverify.errors import ModelError, shown

Numbers = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class BatchNorm:
    """A batch normalisation after training. Its numbers (fractions, integers or floats) are read exactly."""

    gamma: Numbers
    beta: Numbers
    mean: Numbers
    variance: Numbers
    epsilon: object

    def channels(self, n: int) -> list[Channel]:
        """One Channel for each of ``n`` neurons.

        Raises
        ------
        ModelError
            If their number is not ``n``, or variance + epsilon is not positive.
        """
        columns = (self.gamma, self.beta, self.mean, self.variance)
        if any(len(column) != n for column in columns):
            raise ModelError(
                f"A batch normalisation of {n} values must have {n} of each parameter. "
                f"Got {[len(column) for column in columns]} instead."
            )
        epsilon = exact(self.epsilon)
        parameters = [[exact(value) for value in column] for column in columns]
        found = [Channel(g, b, m, v + epsilon) for g, b, m, v in zip(*parameters, strict=True)]
        if any(channel.variance <= 0 for channel in found):
            raise ModelError("variance + epsilon must be positive in every channel.")
        return found


@dataclass(frozen=True, slots=True)
class Channel:
    """The batch normalisation of one value; ``variance`` includes epsilon."""

    gamma: Fraction
    beta: Fraction
    mean: Fraction
    variance: Fraction

    def says_one(self, z: Fraction) -> bool:
        """Whether the sign of the normalised z is +1 (0 counts), exactly: a + b sqrt(v) >= 0, where v > 0."""
        a, b = self.gamma * (z - self.mean), self.beta
        if a >= 0 and b >= 0:
            return True
        if a <= 0 and b <= 0:
            return False
        return a * a >= b * b * self.variance if a > 0 else b * b * self.variance >= a * a


def exact(value: object) -> Fraction:
    """A number as a fraction; a float is converted exactly, without rounding."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, Fraction)):
        raise ModelError(f"Parameters must be numbers. Got {shown(value)} instead.")
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        raise ModelError(f"Parameters must be finite. Got {shown(value)} instead.") from None


def fold_block(weights: NDArray[np.int8], bias: Numbers, norm: BatchNorm) -> Layer:
    """A block (+1/-1 weights, bias, batch normalisation, sign) as a Layer."""
    n_neurons, n = weights.shape
    if len(bias) != n_neurons:
        raise ModelError(
            f"A block of {n_neurons} neurons must have {n_neurons} biases. Got {len(bias)} instead."
        )
    turned = np.array(weights, np.int8)
    thresholds = np.empty(n_neurons, np.int64)
    for j, channel in enumerate(norm.channels(n_neurons)):
        offset = exact(bias[j])
        if channel.gamma < 0:
            turned[j] = -turned[j]
            thresholds[j] = _least(n + 1, lambda m: channel.says_one(n - 2 * m + offset))  # noqa: B023
        else:
            thresholds[j] = _least(n + 1, lambda m: channel.says_one(2 * m - n + offset))  # noqa: B023
    return Layer(turned, thresholds)


def fold_pixels(norm: BatchNorm) -> PixelCuts:
    """The batch normalisation and sign of pixels, grey / 255, as cuts between grey levels."""
    n = len(norm.gamma)
    levels, rising = np.empty(n, np.int64), np.ones(n, np.bool_)
    for i, channel in enumerate(norm.channels(n)):
        rising[i] = channel.gamma >= 0
        up = bool(rising[i])
        levels[i] = _least(N_LEVELS, lambda g: channel.says_one(Fraction(g, 255)) == up)  # noqa: B023
    return PixelCuts(levels, rising)


def fold_output(bias: Numbers) -> tuple[int, NDArray[np.int64]]:
    """(scale, bias) of integer scores that order classes as w . x + bias does, ties included."""
    halves = [exact(value) / 2 for value in bias]
    floors = [half.numerator // half.denominator for half in halves]
    fractions = [half - whole for half, whole in zip(halves, floors, strict=True)]
    rank = {fraction: i for i, fraction in enumerate(sorted(set(fractions)))}
    scale = len(rank)
    if any(abs(whole) > 1 << 24 for whole in floors):
        raise ModelError("A class bias is too large.")
    base = [scale * whole + rank[fraction] for whole, fraction in zip(floors, fractions, strict=True)]
    return scale, np.array(base, np.int64)


def _least(end: int, holds: Callable[[int], bool]) -> int:
    """The least m in 0 … end - 1 for which a monotone condition holds, or ``end``."""
    return bisect_left(range(end), True, key=holds)
