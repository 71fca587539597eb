"""What ``tmverify train`` learns from: a dataset by name, or a file, split and turned into bits.

As in ``load_dataset``, the binarizer sees the training part only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.cli.train_options import DATASETS, FILE_KINDS
from tmverify.data import Table, load_dataset, load_table
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.model import Model

_TEST_SIZE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Bits and labels to learn from and to test on; the latter None if nothing is held out."""

    source: str
    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any] | None
    feature_names: tuple[str, ...] | None

    @property
    def n_test(self) -> int:
        return 0 if self.y_test is None else len(self.y_test)

    @property
    def classes(self) -> list[int | str]:
        """The labels, in order."""
        labels: list[int | str] = np.unique(self.y_train).tolist()
        return labels


@dataclass(frozen=True, slots=True)
class Wish:
    """Which data, as typed."""

    source: str
    data_dir: Path | None
    target: str | None
    test_size: float | None
    seed: int

    @property
    def is_file(self) -> bool:
        return self.source not in DATASETS


def check_wish(wish: Wish) -> None:
    """Raise InvalidInputError if the options do not fit the source, before anything is read."""
    if wish.is_file and Path(wish.source).suffix.lower() not in FILE_KINDS:
        raise InvalidInputError(
            f"SOURCE must be one of {', '.join(DATASETS)}, or a file that ends in {' or '.join(FILE_KINDS)}. "
            f"Got {wish.source} instead."
        )
    if wish.is_file and wish.data_dir is not None:
        raise InvalidInputError(f"--data-dir is for datasets; {wish.source} is a file.")
    for option, value in (("--target", wish.target), ("--test-size", wish.test_size)):
        if not wish.is_file and value is not None:
            raise InvalidInputError(
                f"{option} is for files; {wish.source} has labels and test data of its own."
            )
    if wish.test_size is not None and not 0 <= wish.test_size < 1:
        raise InvalidInputError(
            f"--test-size must be a share from 0 to below 1. Got {wish.test_size:g} instead."
        )


def read_examples(wish: Wish) -> Examples:
    """Load, split and binarize.

    Raises
    ------
    DataFormatError
        If files are missing or not what they should be.
    InvalidInputError
        If the data can't be split or turned into bits, or no model can have such labels or feature names.
    """
    examples = _from_file(wish) if wish.is_file else _from_dataset(wish)
    if len(examples.classes) < 2:
        raise DataFormatError(f"{wish.source}: at least two different labels are needed to learn from.")
    # A model without clauses: what is wrong with the names comes to light now, not after the training.
    n_outputs = 1 if len(examples.classes) == 2 else len(examples.classes)
    Model.from_clauses(
        examples.X_train.shape[1],
        [],
        np.zeros((n_outputs, 0), np.int64),
        classes=examples.classes,
        feature_names=examples.feature_names,
    )
    return examples


def save_test_data(path: Path, examples: Examples) -> None:
    """Write the held-out bits and labels as X and y, and the names of the bits as feature_names."""
    X = examples.X_test
    bits = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.uint8)
    with replacing(path) as draft, open(draft, "xb") as file:
        arrays: dict[str, Any] = {"X": bits, "y": np.asarray(examples.y_test)}
        if examples.feature_names is not None:
            arrays["feature_names"] = np.array(examples.feature_names, np.str_)
        np.savez_compressed(file, **arrays)


def _from_dataset(wish: Wish) -> Examples:
    data = load_dataset(wish.source, data_dir=wish.data_dir)
    return Examples(wish.source, data.X_train, data.y_train, data.X_test, data.y_test, data.feature_names)


def _from_file(wish: Wish) -> Examples:
    from tmverify.data import TableBinarizer

    table = _table(wish)
    X_train, X_test, y_train, y_test = _split(table, wish)
    binarizer = TableBinarizer(column_names=table.feature_names).fit(X_train)
    names = tuple(map(str, binarizer.get_feature_names_out()))
    test_bits = None if X_test is None else binarizer.transform(_as_in_training(X_train, X_test))
    return Examples(wish.source, binarizer.transform(X_train), y_train, test_bits, y_test, names)


def _table(wish: Wish) -> Table:
    try:
        return load_table(wish.source, wish.target)
    except DataFormatError as error:
        raise DataFormatError(str(error).replace("as target", "with --target COLUMN")) from None


def _split(table: Table, wish: Wish) -> tuple[Any, Any, NDArray[Any], NDArray[Any] | None]:
    from sklearn.model_selection import train_test_split

    share = _TEST_SIZE if wish.test_size is None else wish.test_size
    if share == 0:
        return table.X, None, table.y, None
    try:
        parts = train_test_split(table.X, table.y, test_size=share, stratify=table.y, random_state=wish.seed)
    except ValueError as error:
        raise InvalidInputError(
            f"{wish.source}: its rows can't be split into training and test data: {str(error).rstrip('.')}. "
            "Choose another --test-size, or 0 to train on everything."
        ) from None
    return parts[0], parts[1], parts[2], parts[3]


def _as_in_training(train: NDArray[Any], test: NDArray[Any]) -> NDArray[Any]:
    """``test``, where columns of numbers that are only 0 and 1 in ``train`` are made so by a cut at 1/2.

    A rare value of a nearly constant column may be held out; the binarizer refuses what it has not seen.
    """
    test = test.copy()
    for j, column in enumerate(train.T):
        if not isinstance(column[0], str) and ((column == 0) | (column == 1)).all():
            test[:, j] = test[:, j] > 0.5
    return test
