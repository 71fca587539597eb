"""A table whose rows are to be changed, and the model that is asked about, for the benchmark and its runners.

The benchmark writes both to files, and reads the answers; the runners of the tools read them, each in the
environment of its tool. Known here: NumPy, pandas and joblib, tmverify for our own models.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

OURS, BOOSTING = "tmverify", "gradient boosting"
CATEGORY, WHOLE, NUMBER = "category", "whole number", "number"


@dataclass(frozen=True)
class Table:
    """The complete rows of a table. ``values`` has the categories of a column, or its least and its most."""

    columns: list[str]
    kinds: list[str]
    values: list[list[Any]]
    rows: list[list[Any]]
    labels: list[Any]
    train: list[int]
    ask: list[int]

    @classmethod
    def read(cls, path: str) -> Table:
        return cls(**json.loads(Path(path).read_text()))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    def of_kind(self, *kinds: str) -> list[int]:
        """The places of these columns."""
        return [i for i, kind in enumerate(self.kinds) if kind in kinds]

    def frame(self, rows: list[list[Any]]) -> pd.DataFrame:
        """Rows as a frame: categories are objects, whole numbers integers (if they are whole)."""
        made = pd.DataFrame(rows, columns=self.columns, dtype=object)
        for name, kind in zip(self.columns, self.kinds, strict=True):
            if kind != CATEGORY:
                numbers = made[name].astype(np.float64)
                whole = kind == WHOLE and bool((numbers % 1 == 0).all())
                made[name] = numbers.astype(np.int64) if whole else numbers
        return made

    def codes(self, frame: Any) -> NDArray[np.float64]:
        """Rows as numbers, a category as its place among the categories; NaN for values that are none."""
        coded = np.empty((len(frame), len(self.columns)))
        for i, name in enumerate(self.columns):
            column = frame[name]
            if self.kinds[i] == CATEGORY:
                places = {value: place for place, value in enumerate(self.values[i])}
                coded[:, i] = [places.get(value, math.nan) for value in column]
            else:
                coded[:, i] = np.asarray(column, np.float64)
        return coded

    def decoded(self, codes: Any) -> list[Any]:
        """One row of ``codes`` as values."""
        return [
            self.values[i][int(code)] if kind == CATEGORY else float(code)
            for i, (kind, code) in enumerate(zip(self.kinds, codes, strict=True))
        ]


class Subject:
    """The model that is asked about: ours from its file, or scikit-learn's on codes. Classes are 0, 1, …

    Our votes are made probabilities with a logistic function of votes / scale, so that the tools can climb
    them, and such that the largest is that of the decision, in ties too.
    """

    def __init__(self, name: str, path: str, table: Table) -> None:
        self.name, self.table = name, table
        if name == OURS:
            import tmverify as tv

            self.model: Any = tv.load(path)
            self.classes = list(self.model.classes)
            votes = np.abs(self.model.scores(self.table.frame([table.rows[i] for i in table.train])))
            self.scale = max(1.0, float(np.median(votes)))
        else:
            self.model = joblib.load(path)
            self.classes = self.model.classes_.tolist()

    def predict(self, frame: Any) -> NDArray[np.int64]:
        """The index of the class of each row."""
        own = frame[self.table.columns]
        labels = self.model.predict(own if self.name == OURS else self.table.codes(own))
        places = {label: i for i, label in enumerate(self.classes)}
        return np.array([places[label] for label in labels.tolist()], np.int64)

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """(n, n_classes)."""
        own = frame[self.table.columns]
        if self.name != OURS:
            return np.asarray(self.model.predict_proba(self.table.codes(own)))
        votes = self.model.scores(own) / self.scale
        if votes.shape[1] == 1:
            votes = np.concatenate([-votes, votes], axis=1) / 2
        winners = self.predict(frame)
        others = votes.copy()
        others[np.arange(len(votes)), winners] = -np.inf
        best = others.max(axis=1) + 1e-6  # a tie must be seen as the decision that it is
        votes[np.arange(len(votes)), winners] = np.maximum(votes[np.arange(len(votes)), winners], best)
        powers = np.exp(votes - votes.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
