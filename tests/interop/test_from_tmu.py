"""tmu: trained here, imported, equal on every input. Run in its own environment (`make test-interop`)."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from subjects import Bits, Said, check_imported, each_subject, load_subject
from tmverify.interop import from_tmu

pytest.importorskip("tmu", reason="tmu is not installed here")
from tmu.models.classification.coalesced_classifier import TMCoalescedClassifier
from tmu.models.classification.vanilla_classifier import TMClassifier
from tmu.models.regression.vanilla_regressor import TMRegressor


def says(tm: Any) -> Any:
    def ask(bits: Bits) -> Said:
        labels, sums = tm.predict(bits.astype(np.uint32), return_class_sums=True)
        return np.asarray(labels), np.asarray(sums)

    return ask


def trained(make: Any, name: str = "digits", epochs: int = 2, **options: Any) -> Any:
    subject = load_subject(name)
    n_clauses = subject.n_clauses * (1 if make is TMClassifier else 5)
    tm = make(n_clauses, 20 if make is TMClassifier else 100, 5.0, seed=7, **options)
    for _ in range(epochs):
        tm.fit(subject.X.astype(np.uint32), subject.y)
    return tm


@each_subject
@pytest.mark.parametrize(
    ("make", "options"),
    [
        (TMClassifier, {}),
        (TMClassifier, {"weighted_clauses": True}),
        (TMClassifier, {"platform": "CPU_sparse"}),
        (TMCoalescedClassifier, {}),
        (TMCoalescedClassifier, {"weighted_clauses": True}),
    ],
)
def test_trained_models(name: str, make: Any, options: dict[str, Any], tmp_path: Path) -> None:
    subject = load_subject(name)
    tm = trained(make, name, **options)
    model = from_tmu(tm, subject.everything)
    assert model.clamp is None
    assert model.empty_clause == "silent"
    assert from_tmu(tm) == model
    check_imported(model, subject, says(tm), tmp_path)


@pytest.mark.parametrize(
    "options", [{"feature_negation": False}, {"number_of_state_bits_ta": 4}, {"incremental": False}]
)
def test_other_settings(options: dict[str, Any]) -> None:
    tm = trained(TMClassifier, epochs=1, **options)
    everything = load_subject("digits").everything
    model = from_tmu(tm, everything)
    assert np.array_equal(model.scores(everything), says(tm)(everything)[1])


def test_clauses_without_literals_are_silent() -> None:
    X = np.random.default_rng(0).integers(0, 2, (4, 40)).astype(np.uint32)
    tm = TMClassifier(20, 10, 3.0, seed=3)
    tm.fit(X, np.array([0, 1, 0, 1], np.uint32))
    tm.clause_banks[0].clause_bank[:] = 0  # every literal excluded
    tm.clause_banks[0].incremental_clause_evaluation_initialized = False
    model = from_tmu(tm, X)
    assert (model.clauses.lengths[:20] == 0).all()
    assert (model.scores(X)[:, 0] == 0).all()


def test_automata_changed_by_hand() -> None:
    """tmu would go on predicting with what it had worked out before; it is told to look again."""
    everything = load_subject("digits").everything
    tm = trained(TMClassifier, epochs=1)
    tm.predict(everything.astype(np.uint32))
    for literal in range(0, 64, 3):
        tm.clause_banks[3].set_ta_state(7, literal, 255)
    model = from_tmu(tm, everything)
    assert set(range(1, 64, 3)) <= set(model.clauses[3 * 60 + 7])
    assert np.array_equal(model.scores(everything), says(tm)(everything)[1])


def test_labels_and_names() -> None:
    tm = trained(TMClassifier, epochs=1)
    model = from_tmu(
        tm, classes=[f"digit {c}" for c in range(10)], feature_names=[f"p{i}" for i in range(64)]
    )
    assert model.predict(load_subject("digits").X[:1])[0].startswith("digit ")
    assert model.feature_names is not None
    assert model.feature_names[5] == "p5"


def test_after_a_pickle() -> None:
    subject = load_subject("digits")
    tm = trained(TMClassifier, epochs=1)
    model = from_tmu(tm, subject.everything)
    again = pickle.loads(pickle.dumps(tm))
    assert from_tmu(again, subject.everything) == model


def test_a_difference_raises_with_the_input() -> None:
    subject = load_subject("digits")
    tm = trained(TMClassifier, epochs=1)
    honest = tm.predict

    def lies(X: Any, **options: Any) -> Any:
        labels, sums = honest(X, **options)
        labels, sums = labels.copy(), sums.copy()
        sums[X[:, 20] == 1, 3] += 1
        return labels, sums

    tm.predict = lies
    with pytest.raises(
        tv.ImportMismatchError, match=r"differs from tmu on input \d+ of X: tmu says"
    ) as caught:
        from_tmu(tm, subject.everything)
    first = int(np.argmax(subject.everything[:, 20]))
    assert f"input {first} of X" in str(caught.value)
    assert np.array_equal(caught.value.input, subject.everything[first])
    with pytest.raises(tv.ImportMismatchError, match="of those made for this check"):
        from_tmu(tm)


def test_what_can_not_be_imported() -> None:
    X, y = np.zeros((8, 6, 6), np.uint32), np.arange(8, dtype=np.uint32) % 2
    convolutional = TMClassifier(10, 10, 3.0, patch_dim=(3, 3), seed=1)
    convolutional.fit(X, y)
    with pytest.raises(tv.ModelError, match="A convolutional machine of tmu can't be imported"):
        from_tmu(convolutional)
    with pytest.raises(tv.ModelError, match="TMRegressor of tmu can't be imported"):
        from_tmu(TMRegressor(10, 10, 3.0))
    with pytest.raises(tv.InvalidInputError, match="not fitted yet"):
        from_tmu(TMClassifier(10, 10, 3.0))
    with pytest.raises(tv.InvalidInputError, match=r"takes a fitted model of tmu\. Got builtins\.dict"):
        from_tmu({})
    alone = TMClassifier(10, 10, 3.0, seed=1)
    alone.fit(np.zeros((8, 6), np.uint32), np.zeros(8, np.uint32))
    with pytest.raises(tv.ModelError, match="at least two classes"):
        from_tmu(alone)
