"""The data for the tests of all importers, digits and (if the data folder has it) MNIST; and the checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv

Bits = NDArray[np.uint8]
# The library's own class of each row, and its scores if it shows them.
Said = tuple[NDArray[Any], NDArray[Any] | None]


@dataclass(frozen=True)
class Subject:
    """Data to train on, and all inputs: those and the test set."""

    name: str
    X: Bits
    y: NDArray[np.uint32]
    everything: Bits

    @property
    def n_clauses(self) -> int:
        return 60 if self.name == "digits" else 100


def load_subject(name: str) -> Subject:
    try:
        data = tv.load_dataset(name)
    except tv.DataFormatError as error:
        pytest.skip(f"no data: {error}")
    X, y = data.X_train[:5000], data.y_train[:5000].astype(np.uint32)
    return Subject(name, X, y, np.concatenate([X, data.X_test]))


each_subject = pytest.mark.parametrize("name", ["digits", "mnist"])


def check_imported(model: tv.Model, subject: Subject, ask: Callable[[Bits], Said], tmp_path: Path) -> None:
    """The model says what the library says, everywhere; it survives a file; and it can be verified."""
    check_equal(model, subject, ask)
    model.save(tmp_path / "model.tm")
    assert tv.load(tmp_path / "model.tm") == model
    for x in subject.everything[-3:]:
        check_radius(model, x, ask)


def check_equal(model: tv.Model, subject: Subject, ask: Callable[[Bits], Said]) -> None:
    X = subject.everything
    theirs, scores = ask(X)
    assert np.array_equal(model.predict(X), theirs)
    if scores is not None:
        assert np.array_equal(model.scores(X), scores)
    assert np.mean(theirs[: len(subject.y)] == subject.y) > 0.7  # a machine that has learnt something


def check_radius(model: tv.Model, x: Bits, ask: Callable[[Bits], Said]) -> None:
    found = tv.robustness_radius(model, x, timeout=60)
    assert found.radius is not None
    assert found.witness is not None
    radius = int(found.radius)
    assert int((found.witness != x).sum()) == radius
    before, after = ask(np.stack([x, found.witness]))[0]  # the library itself confirms the witness
    assert before != after
    assert tv.check_robustness(model, x, epsilon=radius - 1).status == "holds"
    assert tv.check_robustness(model, x, epsilon=radius).status == "violated"
