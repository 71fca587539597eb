"""Regions: sets of inputs. A region is a Hamming ball, perhaps restricted, or every input.

    ball(x, eps)  = { z : z differs from x in at most eps features, all of them mutable }

A ``features`` mask says which features may change at all; a ``direction`` lets bits only be set
(``"add"``: words may be inserted) or only be cleared (``"remove"``). Because the centre is known, both
only restrict the mutable features, and engines see nothing else of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier
from tmverify.model.checks import as_bit_vector
from tmverify.model.inputs import Row, input_row
from tmverify.model.names import default_name, feature_finder, in_order

Direction = Literal["add", "remove"]
Features = ArrayLike | Sequence[str] | None
"""A mask of the features that may change, or their names; None for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Inputs within ``radius`` flips of ``center``, at ``mutable`` features; without a centre, all inputs.

    ``features`` and ``direction`` are the arguments from which ``mutable`` was made.
    """

    center: NDArray[np.uint8] | None
    radius: int
    mutable: NDArray[np.bool_]
    features: NDArray[np.bool_] | None = None
    direction: Direction | None = None

    @classmethod
    def everything(cls, n_features: int) -> Region:
        """Every input."""
        return cls(center=None, radius=n_features, mutable=np.ones(n_features, np.bool_))

    @property
    def n_features(self) -> int:
        """Width of an input."""
        return len(self.mutable)

    @property
    def origin(self) -> NDArray[np.uint8]:
        """The centre; the region of every input is a ball too, of radius ``n_features`` around all zeros."""
        return np.zeros(self.n_features, np.uint8) if self.center is None else self.center

    @property
    def reach(self) -> int:
        """The largest number of flips that the region really allows."""
        return min(self.radius, int(self.mutable.sum()))

    def contains(self, z: NDArray[np.uint8]) -> bool:
        """Whether ``z``, a checked uint8 vector, lies in the region."""
        changed = z != self.origin
        return int(changed.sum()) <= self.radius and not (changed & ~self.mutable).any()

    def with_flips(self, flips: list[int] | NDArray[np.int64]) -> NDArray[np.uint8]:
        """The centre with these features flipped."""
        z = self.origin.copy()
        z[flips] ^= 1
        return z

    def size(self, most: int) -> int:
        """The exact number of inputs in the region if it is at most ``most``, else some larger number."""
        free = int(self.mutable.sum())
        total = term = 1
        for k in range(1, self.reach + 1):
            term = term * (free - k + 1) // k
            total += term
            if total > most:
                break
        return total


def ball(
    model: Classifier,
    x: Row,
    epsilon: int,
    *,
    features: Features = None,
    direction: Direction | None = None,
) -> Region:
    """The ball around ``x``, an input of ``model``.

    Parameters
    ----------
    model : Classifier
        Features that are not ``attainable`` never change.
    x : array of 0 and 1, (n_features,), or a raw row (``model.inputs``)
    epsilon : int
        At most this many features differ, 0 <= epsilon <= n_features.
    features : mask of 0/1 or bool, (n_features,), or names; optional
        Only these may change.
    direction : {"add", "remove"}, optional
        Only 0 to 1, or only 1 to 0.

    Raises
    ------
    InvalidInputError
    """
    center = input_row(x, model)
    center.flags.writeable = False
    radius = check_epsilon(epsilon, model.n_features)
    mask = _mask(model, features)
    mutable = mask & model.attainable
    if direction is not None and (not isinstance(direction, str) or direction not in ("add", "remove")):
        raise InvalidInputError(f"direction must be 'add', 'remove' or None. Got {shown(direction)} instead.")
    if direction == "add":
        mutable = mutable & (center == 0)
    elif direction == "remove":
        mutable = mutable & (center == 1)
    return Region(center, radius, mutable, None if mask.all() else mask, direction)


def check_epsilon(epsilon: object, n_features: int) -> int:
    """Return ``epsilon`` as an int, or raise InvalidInputError."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, np.integer)):
        raise InvalidInputError(
            f"epsilon must be an integer, a number of flips. Got {shown(epsilon)} instead."
        )
    if not 0 <= epsilon <= n_features:
        raise InvalidInputError(
            f"epsilon must be between 0 and n_features={n_features}. Got {shown(int(epsilon))} instead."
        )
    return int(epsilon)


def _mask(model: Classifier, features: Features) -> NDArray[np.bool_]:
    n = model.n_features
    if features is None:
        return np.ones(n, np.bool_)
    if _are_names(features):
        return _mask_of_names(model, [str(name) for name in features])
    mask = in_order(features, model, name="features")
    try:
        return as_bit_vector(mask, n, name="features").astype(np.bool_)
    except InvalidInputError:
        raise InvalidInputError(
            f"features must be a mask of {n} values, true where a feature may change, or a list of feature "
            f"names. Got {shown(features)} instead."
        ) from None


def _are_names(features: object) -> TypeGuard[Iterable[str]]:
    if isinstance(features, np.ndarray):
        return features.ndim == 1 and features.dtype.kind == "U"
    return isinstance(features, list | tuple) and bool(features) and all(isinstance(f, str) for f in features)


def _mask_of_names(model: Classifier, names: list[str]) -> NDArray[np.bool_]:
    find = feature_finder(model)
    mask = np.zeros(model.n_features, np.bool_)
    for name in names:
        feature = find(name)
        if feature is None:
            are = ""
            if model.feature_names is None:
                called = f"{default_name(0)} to {default_name(model.n_features - 1)}"
                are = f"; the model has no feature_names, so they are called {called}"
            raise InvalidInputError(
                f"features must be names of the model's features{are}. Got {shown(name)} instead."
            )
        mask[feature] = True
    return mask
