"""Settings that are None are chosen by the size of the data, once; what is given always wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tmverify as tv
from tmverify.errors import InvalidInputError, TrainingStateError
from tmverify.training.defaults import CHOSEN, GIVEN, DataSize, default_settings

TABLE = DataSize(1000, 2, 0.3)
TEXTS = DataSize(8000, 2, 0.005)


def bits(density: float = 0.5, shape: tuple[int, int] = (200, 70)) -> tuple[np.ndarray, np.ndarray]:
    X = (np.random.default_rng(0).random(shape) < density).astype(np.uint8)
    return X, X[:, 0] ^ (np.arange(shape[0]) % 7 == 0)


def test_the_rules() -> None:
    shared = {"weighted": False, "boost_true_positive": True}
    table = {"n_clauses": 500, "threshold": 50, "specificity": 2.0, "n_epochs": 60}
    texts = {"n_clauses": 1000, "threshold": 400, "specificity": 1.2, "n_epochs": 12}
    assert default_settings(TABLE) == table | shared
    assert default_settings(TEXTS) == texts | shared
    assert default_settings(DataSize(1000, 3, 0.3))["specificity"] == 5.0
    assert set(default_settings(TABLE)) == set(CHOSEN)


@pytest.mark.parametrize(("n_clauses", "threshold"), [(2, 5), (60, 6), (4000, 400)])
def test_the_threshold_follows_a_given_number_of_clauses(n_clauses: int, threshold: int) -> None:
    settings = default_settings(TABLE, n_clauses)
    assert (settings["n_clauses"], settings["threshold"]) == (n_clauses, threshold)


@pytest.mark.parametrize(("n", "n_epochs"), [(1, 60), (1666, 60), (2000, 50), (10_000, 10), (10**6, 10)])
def test_fewer_epochs_of_more_examples(n: int, n_epochs: int) -> None:
    assert default_settings(DataSize(n, 2, 0.3))["n_epochs"] == n_epochs


@pytest.mark.parametrize("density", [0.0, 0.01, 0.3, 0.99, 1.0])
def test_density(density: float) -> None:
    """Dense, sparse or negated: the same size."""
    X, _ = bits(density)
    size = DataSize.of(X, 2)
    assert size == DataSize.of(csr_matrix(X), 2) == DataSize.of(X.astype(bool), 2)
    assert size.density == pytest.approx(DataSize.of(1 - X, 2).density)
    assert size.sparse == (density != 0.3)
    assert (size.n_examples, size.n_classes) == (200, 2)


def test_zeros_that_a_sparse_matrix_stores_do_not_count() -> None:
    X = csr_matrix(np.ones((10, 10), np.uint8))
    X.data[:50] = 0
    assert DataSize.of(X, 2).density == 0.5


def test_fit_says_what_it_chose() -> None:
    X, y = bits()
    clf = tv.TsetlinMachineClassifier(n_epochs=2, random_state=0).fit(X, y)
    chosen = default_settings(DataSize.of(X, 2)) | {"n_epochs": 2, "n_states": 128, "max_literals": None}
    assert clf.settings_ == chosen
    assert clf.model_.n_clauses == 500
    assert clf.n_clauses is None  # the parameters stay as they were given
    given = {name: value for name, value in chosen.items() if name in (*CHOSEN, *GIVEN)}
    assert tv.TsetlinMachineClassifier(**given, random_state=0).fit(X, y).model_ == clf.model_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clauses", 30),
        ("threshold", 7),
        ("specificity", 3.5),
        ("n_epochs", 3),
        ("weighted", True),
        ("boost_true_positive", False),
        ("max_literals", 4),
    ],
)
def test_each_setting_can_be_given_alone(name: str, value: Any) -> None:
    X, y = bits(shape=(50, 10))
    clf = tv.TsetlinMachineClassifier(**{"n_clauses": 20, "n_epochs": 2} | {name: value}).fit(X, y)
    assert clf.settings_[name] == value


def test_partial_fit_keeps_the_first_choice() -> None:
    X, y = bits()
    sparse, labels = bits(0.01, (5000, 70))
    clf = tv.TsetlinMachineClassifier(n_clauses=20, random_state=0).partial_fit(X, y)
    first = clf.settings_
    clf.partial_fit(sparse, labels)
    assert clf.settings_ == first
    clf.set_params(specificity=9.0).partial_fit(X, y)
    assert clf.settings_ == first | {"specificity": 9.0}
    with pytest.raises(InvalidInputError, match="can't change"):
        clf.set_params(n_clauses=22).partial_fit(X, y)


def test_a_resumed_training_keeps_its_settings(tmp_path: Path) -> None:
    X, y = bits()
    file = tmp_path / "state"
    clf = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=2, random_state=0).fit(X, y)
    clf.save(file)
    again = tv.TsetlinMachineClassifier.resume(file)
    assert again.settings_ == clf.settings_
    assert again.threshold is None
    small = X[:10], y[:10]
    assert again.partial_fit(*small).model_ == clf.partial_fit(*small).model_
    assert again.settings_ == clf.settings_


def test_a_checkpoint_keeps_the_settings_even_if_the_rules_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = bits()
    file = tmp_path / "state"
    straight = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=4, random_state=0).fit(X, y)
    tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=2, random_state=0).fit(X, y, checkpoint=file)
    monkeypatch.setattr("tmverify.training.defaults._MIN_THRESHOLD", 11)
    clf = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=4, random_state=0)
    assert clf.fit(X, y, checkpoint=file).model_ == straight.model_
    assert clf.settings_ == straight.settings_


@pytest.mark.parametrize("change", [{"threshold": -1}, {"specificity": "x"}, {"threshold": None}, None])
def test_settings_in_a_file_are_checked(tmp_path: Path, change: dict[str, Any] | None) -> None:
    X, y = bits()
    file = tmp_path / "state.npz"
    clf = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=2, random_state=0).fit(X, y)
    clf.save(file)
    with np.load(file) as archive:
        arrays = dict(archive)
    about = json.loads(bytes(arrays["about"]).decode())
    about["settings"] = {} if change is None else about["settings"] | change
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(file, **arrays)
    with pytest.raises(TrainingStateError, match="that can be"):
        tv.TsetlinMachineClassifier.resume(file)
    with pytest.raises(TrainingStateError, match="be continued"):
        tv.TsetlinMachineClassifier(n_clauses=20, random_state=0).fit(X, y, checkpoint=file)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_defaults_are_deterministic(n_jobs: int) -> None:
    X, y = bits()
    one, two = (
        tv.TsetlinMachineClassifier(n_epochs=2, random_state=3, n_jobs=n).fit(X, y) for n in (1, n_jobs)
    )
    assert one.model_ == two.model_
    assert one.settings_ == two.settings_


def test_the_defaults_learn_a_table_beside_the_usual_classifiers() -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    data = load_breast_cancer()
    X, held, y, wanted = train_test_split(data.data, data.target, random_state=0, stratify=data.target)
    assert tv.TsetlinMachineClassifier(random_state=0).fit(X, y).score(held, wanted) > 0.93
