"""Thermometer coding of numbers: column v becomes the bits v > c_1, v > c_2, ... for increasing cuts.

The cuts of a column come from its training values. "quantile" cuts where a share of 1/b, 2/b, ... of them
lies below (b bins), halfway to the next value; "uniform" cuts at equal distances. A column of at most b
distinct values is cut halfway between all neighbours, and so loses nothing. Then:

- a cut that splits the training values like another cut, or not at all, is dropped;
- a column that is not constant keeps at least one cut, even if one value fills nearly all of it;
- a cut is rounded to the fewest digits (at least three) that split the training values the same way, and
  the bit's name contains exactly that number.

scikit-learn's KBinsDiscretizer has neither the second rule nor names, and warns where bins coincide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tmverify.data.binarizers.base import Binarizer, input_names, numeric_matrix
from tmverify.errors import InvalidInputError
from tmverify.estimators.parameters import check_integer, wrong_parameter
from tmverify.space import Number, Space

STRATEGIES = ("quantile", "uniform")


class ThermometerBinarizer(Binarizer):
    """Bits "value > cut" for up to ``n_bins - 1`` cuts per column, learnt in fit.

    Parameters
    ----------
    n_bins : int, default 8
        At least 2; a column gives at most ``n_bins - 1`` bits. A constant column gives none.
    strategy : {"quantile", "uniform"}, default "quantile"
        Bins of equal numbers of training values, or of equal width.

    Attributes
    ----------
    space_ : Space
        A number for each input column.
    cuts_ : list of float64 arrays
        The cuts of each input column, increasing.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : object array, (n_features_in_,)
        Their names, if X was a frame with names.

    Examples
    --------
    >>> from tmverify.data import ThermometerBinarizer
    >>> binarizer = ThermometerBinarizer(n_bins=3).fit([[20], [37], [38], [61]])
    >>> binarizer.get_feature_names_out(["age"]).tolist()
    ['age > 37.5', 'age > 49.5']
    >>> binarizer.transform([[38]])
    array([[1, 0]], dtype=uint8)
    """

    def __init__(self, n_bins: int = 8, strategy: str = "quantile") -> None:
        self.n_bins = n_bins
        self.strategy = strategy

    def fit(self, X: Any, y: Any = None) -> ThermometerBinarizer:
        """Learn the cuts of each column.

        Parameters
        ----------
        X : array-like of finite numbers, (n, n_features)
        y : ignored

        Raises
        ------
        InvalidInputError
            If X is not such a matrix, a parameter is wrong, or every column is constant.
        """
        check_integer(self, "n_bins", 2)
        if self.strategy not in STRATEGIES:
            raise wrong_parameter(self, "strategy", "'quantile' or 'uniform'")
        matrix = numeric_matrix(self, X, fitting=True, min_samples=2)
        self.cuts_ = [cut_points(column, self.n_bins, self.strategy) for column in matrix.T]
        if not any(map(len, self.cuts_)):
            raise InvalidInputError(f"X gives no bit: all of its {matrix.shape[1]} columns are constant.")
        self._learn(input_names(self))
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each row, uint8 (n, n_bits): column by column, cuts increasing."""
        check_is_fitted(self, "space_")
        return self.space_.encode(numeric_matrix(self, X, fitting=False))

    def _make_space(self, names: list[str]) -> Space:
        return Space(
            [Number(name, tuple(cuts.tolist())) for name, cuts in zip(names, self.cuts_, strict=True)]
        )


def cut_points(values: NDArray[Any], n_bins: int, strategy: str) -> NDArray[np.float64]:
    """The cuts of one column, increasing; none if it is constant."""
    values = values.astype(np.float64)
    distinct = np.unique(values)
    if len(distinct) < 2:
        return np.empty(0)
    between = _midpoints(distinct)
    shares = np.arange(1, n_bins) / n_bins
    if len(distinct) <= n_bins:
        cuts = between
    elif strategy == "quantile":
        quantiles = np.quantile(values, shares, method="inverted_cdf")
        cuts = between[np.minimum(np.searchsorted(distinct, quantiles), len(between) - 1)]
    else:
        cuts = np.clip(distinct[0] * (1 - shares) + distinct[-1] * shares, distinct[0], between[-1])
    n_below, first = np.unique(np.searchsorted(distinct, cuts, side="right"), return_index=True)
    splits = zip(cuts[first], distinct[n_below - 1], distinct[n_below], strict=True)
    return np.array([_short(cut, low, high) for cut, low, high in splits])


def _midpoints(distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Midpoints of neighbours; the lower neighbour if no float lies between or their sum overflows."""
    low, high = distinct[:-1], distinct[1:]
    middle = low / 2 + high / 2
    return np.where((low <= middle) & (middle < high), middle, low)


def _short(cut: float, low: float, high: float) -> float:
    """``cut`` rounded to the fewest digits, at least three, such that low <= result < high."""
    for digits in range(3, 17):
        number = float(f"{cut:.{digits}g}")
        if low <= number < high:
            return number
    return float(cut)
