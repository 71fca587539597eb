"""What a loader is asked for, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Request:
    """The options of ``load_dataset``, checked; each loader takes those that concern it."""

    folder: Path | None
    source: str
    corruption: str | None
    corrupted_share: float
    random_state: int


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """A dataset before any binarizer.

    Attributes
    ----------
    X_train, X_test : uint8 array, (n, rows * columns), or list of str
    y_train, y_test : int64 array, (n,)
    image_shape : (rows, columns) or None
    """

    X_train: Any
    y_train: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]
    image_shape: tuple[int, int] | None

    def feature_names(self) -> tuple[str, ...] | None:
        """``pixel_0_0``, ``pixel_0_1``, ... row by row for images, None for texts."""
        if self.image_shape is None:
            return None
        rows, columns = self.image_shape
        return tuple(f"pixel_{r}_{c}" for r in range(rows) for c in range(columns))
