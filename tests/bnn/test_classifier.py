"""Training binarized networks: what is learnt, that freezing is exact, seeds, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tmverify as tv
from tmverify.bnn import BnnClassifier, load_bnn
from tmverify.errors import InvalidInputError

SMALL: dict[str, Any] = {"hidden": (16, 8), "n_epochs": 3, "random_state": 0}


@pytest.fixture(scope="module")
def digits() -> tv.Dataset:
    return tv.load_dataset("digits")


@pytest.fixture(scope="module")
def trained(digits: tv.Dataset) -> BnnClassifier:
    return BnnClassifier(random_state=0).fit(digits.X_train, digits.y_train)


def test_digits_are_learnt(digits: tv.Dataset, trained: BnnClassifier) -> None:
    assert trained.score(digits.X_test, digits.y_test) > 0.9  # 0.94; by chance 0.1
    assert trained.model_.widths == (digits.X_train.shape[1], 200, 100, 100, 100, 10)
    assert trained.classes_.tolist() == list(range(10))
    assert trained.n_features_in_ == digits.X_train.shape[1]


def test_history_has_a_line_for_each_epoch(trained: BnnClassifier) -> None:
    assert [line["epoch"] for line in trained.history_] == list(range(1, trained.n_epochs_ + 1))
    assert {key for line in trained.history_ for key in line} == {"epoch", "loss", "accuracy", "seconds"}
    assert trained.history_[-1]["loss"] < trained.history_[0]["loss"] / 2
    assert trained.history_[-1]["accuracy"] > trained.history_[0]["accuracy"]


def test_frozen_decides_as_float(digits: tv.Dataset, trained: BnnClassifier) -> None:
    for X in (digits.X_train, digits.X_test):
        assert np.array_equal(trained.predict(X), trained.float_predict(X))


@pytest.mark.parametrize("seed", range(4))
def test_frozen_decides_as_float_on_every_input_of_a_small_network(seed: int) -> None:
    """All 2**10 inputs, most never seen; so few neurons that scores are often equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (300, 10)).astype(np.uint8)
    y = X[:, :5].sum(axis=1) % 3
    clf = BnnClassifier(hidden=(7, 4), n_epochs=3, batch_size=20, dropout=0.1, random_state=seed).fit(X, y)
    every = (np.arange(1024)[:, None] >> np.arange(10) & 1).astype(np.uint8)
    ties = np.sort(clf.model_.scores(every), axis=1)
    assert (ties[:, -1] == ties[:, -2]).any()
    assert np.array_equal(clf.predict(every), clf.float_predict(every))


def test_the_same_seed_makes_the_same_network(digits: tv.Dataset) -> None:
    def learnt(seed: int, **options: Any) -> str:
        options = SMALL | {"input_noise": 0.1, "dropout": 0.1, "random_state": seed} | options
        return BnnClassifier(**options).fit(digits.X_train, digits.y_train).model_.content_hash

    assert learnt(0) == learnt(0)
    assert len({learnt(0), learnt(1), learnt(0, input_noise=0.0), learnt(0, dropout=0.0)}) == 4


def test_random_numbers_of_the_user_are_left_alone(digits: tv.Dataset) -> None:
    torch.manual_seed(7)
    before, numpys = torch.get_rng_state(), np.random.get_state(legacy=True)
    BnnClassifier(**SMALL, input_noise=0.1, dropout=0.1).fit(digits.X_train, digits.y_train)
    assert torch.equal(torch.get_rng_state(), before)
    assert repr(np.random.get_state(legacy=True)) == repr(numpys)


def test_a_file_keeps_the_network(digits: tv.Dataset, trained: BnnClassifier, tmp_path: Path) -> None:
    trained.model_.save(tmp_path / "digits.bnn")
    again = load_bnn(tmp_path / "digits.bnn")
    assert again == trained.model_
    assert np.array_equal(again.predict(digits.X_test), trained.predict(digits.X_test))


def test_labels_and_names_go_into_the_model(digits: tv.Dataset) -> None:
    frame = pd.DataFrame(digits.X_train, columns=[f"bit {i}" for i in range(digits.X_train.shape[1])])
    words = np.array(["even", "odd"])[digits.y_train % 2]
    clf = BnnClassifier(**SMALL).fit(frame, words)
    assert clf.model_.classes == ("even", "odd")
    assert clf.model_.feature_names == tuple(frame.columns)
    assert set(clf.predict(frame)) <= {"even", "odd"}
    assert np.array_equal(clf.predict(frame), clf.model_.predict(digits.X_train))


def test_a_last_batch_of_one_row_is_none() -> None:
    X = np.eye(5, dtype=np.uint8)
    clf = BnnClassifier(hidden=(4,), n_epochs=2, batch_size=2, random_state=0).fit(X, [0, 1, 0, 1, 0])
    assert clf.n_epochs_ == 2


def test_it_is_an_estimator() -> None:
    clf = BnnClassifier(hidden=(8,), learning_rate=0.5)
    assert clone(clf).get_params() == clf.get_params()
    with pytest.raises(NotFittedError):
        clf.predict([[0, 1]])
    with pytest.raises(NotFittedError):
        clf.float_predict([[0, 1]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": ()}, "'hidden' parameter of BnnClassifier must be a tuple of 1 to 64 widths"),
        ({"hidden": (3, 0)}, r"Got \(3, 0\) instead"),
        ({"hidden": 200}, "Got 200 instead"),
        ({"n_epochs": 0}, "'n_epochs' .* must be an integer of at least 1. Got 0 instead"),
        ({"batch_size": 1}, "'batch_size' .* at least 2. Got 1 instead"),
        ({"learning_rate": float("nan")}, "'learning_rate' .* above 0 and of at most 1. Got nan"),
        ({"input_noise": 1.0}, "'input_noise' .* below 1"),
        ({"dropout": True}, "'dropout' .* below 1. Got True"),
    ],
)
def test_wrong_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        BnnClassifier(**options).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0, 2], [1, 0]], [0, 1], r"only 0 and 1; binarize it first. Got 2 at index \(0, 1\)"),
        ([[0, 1], [1]], [0, 1], "X must be an array of 0 and 1"),
        ([0, 1], [0, 1], r"X must be a matrix of shape \(n, n_features\). Got shape \(2,\)"),
        ([[0, 1]], [0], "at least two rows"),
        (np.zeros((3, 0)), [0, 1, 1], "from 1 to 65536 columns"),
        ([["a"], ["b"]], [0, 1], "Got dtype"),
        ([[0, 1], [1, 0]], [0, 1, 1], "one label for each of the 2 rows"),
        ([[0, 1], [1, 0]], None, "y must be given"),
        ([[0, 1], [1, 0]], [1, 1], "at least two classes"),
        ([[0, 1], [1, 0]], [0.5, 1.25], "y must be labels"),
        ([[0, 1], [1, 0]], ["team", "other"], "may not be called 'team'"),
    ],
)
def test_wrong_data(X: Any, y: Any, message: str) -> None:
    clf = BnnClassifier()
    with pytest.raises(InvalidInputError, match=message):
        clf.fit(X, y)
    assert not hasattr(clf, "model_")


def test_wrong_inputs_of_predict(trained: BnnClassifier) -> None:
    with pytest.raises(InvalidInputError, match=rf"n_features={trained.n_features_in_} columns. Got 2"):
        trained.predict([[0, 1]])
