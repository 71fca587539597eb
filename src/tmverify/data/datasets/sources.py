"""What loaders share: the request, the search for files, and the type that they return.

Files are under ``data_dir``, else under the folder that TMVERIFY_DATA names. A loader lists its layouts, and
the first complete one is used. If none is complete, the error says which files were expected where, which are
missing from a partly present layout, and how to get them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import DataFormatError

VARIABLE = "TMVERIFY_DATA"


@dataclass(frozen=True, slots=True)
class Request:
    """The checked options of ``load_dataset``; each loader uses those that it needs."""

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


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to arrange the files of a dataset.

    Attributes
    ----------
    folder : Path
        Absolute, or relative to the data folder.
    names : tuple of str
        The files needed.
    suffixes : tuple of str
        Endings that each name may have, in order of preference; "" means none.
    """

    folder: Path
    names: tuple[str, ...]
    suffixes: tuple[str, ...] = ("",)

    def find(self, root: Path | None) -> tuple[list[Path], list[str]]:
        """The files found and the names of those missing."""
        if root is None and not self.folder.is_absolute():
            return [], list(self.names)
        folder = self.folder if root is None else root / self.folder
        found, missing = [], []
        for name in self.names:
            paths = [folder / (name + suffix) for suffix in self.suffixes]
            existing = [path for path in paths if path.exists()]
            found += existing[:1]
            missing += [] if existing else [name]
        return found, missing


def data_folder(data_dir: str | os.PathLike[str] | None) -> Path | None:
    """The folder given, else the one that TMVERIFY_DATA names, else None.

    Raises
    ------
    DataFormatError
        If the folder does not exist.
    """
    given = data_dir if data_dir is not None else os.environ.get(VARIABLE) or None
    if given is None:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        origin = "data_dir" if data_dir is not None else f"the environment variable {VARIABLE}"
        raise DataFormatError(
            f"{folder}: there is no such folder; {origin} must name one that holds the data."
        )
    return folder


def find_files(title: str, root: Path | None, layouts: Sequence[Layout], remedy: str) -> list[Path]:
    """The files of the first complete layout, in the order of its names.

    Raises
    ------
    DataFormatError
        If no layout is complete.
    """
    begun = ""
    for layout in layouts:
        found, missing = layout.find(root)
        if not missing:
            return found
        if found and not begun:
            begun = f" Missing from {found[0].parent}: {', '.join(missing)}."
    opening = f"{title} was not found in {root}."
    if root is None:
        opening = f"{title} needs a data folder: pass data_dir (--data-dir) or set {VARIABLE}."
    raise DataFormatError(f"{opening} {_expected(layouts, root)}{begun} {remedy}")


def _expected(layouts: Sequence[Layout], root: Path | None) -> str:
    """The layouts in words; those that differ only in the folder share a sentence."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for layout in layouts:
        folder = layout.folder if root is None else root / layout.folder
        where = str(folder) if folder.is_absolute() or root is not None else f"<data_dir>/{folder}"
        groups.setdefault((layout.names, layout.suffixes), []).append(where)
    ways = []
    for (names, suffixes), folders in groups.items():
        packed = " or ".join(filter(None, suffixes))
        form = f" (plain or {packed})" if packed else ""
        ways.append(f"{', '.join(names)}{form} in {' or '.join(folders)}")
    return f"Expected {'; or '.join(ways)}."
