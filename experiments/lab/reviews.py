"""Which reviews are asked about: the first of a shuffled test set, or of those that machines get right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import tmverify as tv
from lab.machines import dense
from lab.subjects import Subjects

N_REVIEWS = 100


def write_reviews(subjects: Subjects, name: str, right_for: Sequence[tv.Model] = ()) -> None:
    """Leave 100 reviews, as bits with labels, where plans look for ``name``."""
    data = subjects.data("imdb")
    chosen: list[int] = []
    for row in np.random.default_rng(subjects.setting.seed).permutation(len(data.y_test)).tolist():
        x = dense(data.X_test[row : row + 1])
        if all(model.predict(x)[0] == data.y_test[row] for model in right_for):
            chosen.append(row)
        if len(chosen) == N_REVIEWS:
            break
    subjects.write_inputs(name, dense(data.X_test[chosen]), data.y_test[chosen])
