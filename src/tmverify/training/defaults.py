"""The settings that ``None`` stands for, by the size of the data.

With n examples of bits, a share d of them 1 (or 0, if those are fewer)::

                              dense, d >= 0.05            sparse, d < 0.05
                              (tables, pictures)          (texts: bits are words)
    n_clauses             N = 500                         1000
    threshold             T = N / 10, at least 5          2 N / 5, at least 5
    specificity           s = 2; 5 for over two classes   1.2
    n_epochs                  100,000 / n, from 10 to 60
    boost_true_positive       True
    weighted                  False

T follows a given N; otherwise each setting is chosen whether or not others are given. All of it is computed
from counts, so the same data give the same settings on every machine.

The rules were chosen on validation parts of training data only (docs/training.md has the figures). The two
columns are two ways to learn. In tables a bit that is 1 says about as much as one that is 0. In texts nearly
every word is absent, and with s well above 1 a clause forgets its words before they come again; close to 1
and with a high T, clauses are long lists of absent words, which many of them share. A T that is low for N
then leaves half of the clauses empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SPARSE_BELOW = 0.05
CHOSEN = ("n_clauses", "threshold", "specificity", "n_epochs", "weighted", "boost_true_positive")
GIVEN = ("n_states", "max_literals")  # they have fixed defaults
_EXAMPLES_SHOWN = 100_000
_MIN_EPOCHS, _MAX_EPOCHS = 10, 60
_MIN_THRESHOLD = 5


@dataclass(frozen=True, slots=True)
class DataSize:
    """What the rules look at; ``density`` is the share of ones, or of zeros, whichever is smaller."""

    n_examples: int
    n_classes: int
    density: float

    @classmethod
    def of(cls, bits: Any, n_classes: int) -> DataSize:
        """The size of a matrix of bits, dense or CSR."""
        n_ones = int(bits.count_nonzero()) if hasattr(bits, "indptr") else int(np.count_nonzero(bits))
        share = n_ones / max(1, bits.shape[0] * bits.shape[1])
        return cls(int(bits.shape[0]), int(n_classes), min(share, 1 - share))

    @property
    def sparse(self) -> bool:
        """Whether the bits are like the words of texts."""
        return self.density < SPARSE_BELOW


def default_settings(size: DataSize, n_clauses: int | None = None) -> dict[str, Any]:
    """A value for each name in ``CHOSEN``; ``n_clauses`` is the user's, if given."""
    n = (1000 if size.sparse else 500) if n_clauses is None else int(n_clauses)
    return {
        "n_clauses": n,
        "threshold": max(_MIN_THRESHOLD, 2 * n // 5 if size.sparse else n // 10),
        "specificity": 1.2 if size.sparse else 2.0 if size.n_classes == 2 else 5.0,
        "n_epochs": min(max(_EXAMPLES_SHOWN // max(1, size.n_examples), _MIN_EPOCHS), _MAX_EPOCHS),
        "weighted": False,
        "boost_true_positive": True,
    }


def choose_settings(estimator: Any, size: DataSize) -> dict[str, Any]:
    """The estimator's settings: what was given, and where that is None what the rules say."""
    return complete_settings(estimator, default_settings(size, estimator.n_clauses))


def complete_settings(estimator: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    """The estimator's settings, with those that are None taken from ``chosen``; KeyError if it lacks one."""
    given = {name: _plain(getattr(estimator, name)) for name in (*CHOSEN, *GIVEN)}
    return {
        name: chosen[name] if value is None and name in CHOSEN else value for name, value in given.items()
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
