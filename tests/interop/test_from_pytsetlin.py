"""pyTsetlinMachine, pyTsetlinMachineParallel, pytsetlin: trained here, imported, equal on every input.

Each runs in an environment of its own (`make test-interop`); here, the tests of the others are skipped.
"""

from __future__ import annotations

import pickle
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from subjects import Bits, Said, check_equal, check_imported, each_subject, load_subject
from tmverify.interop import from_pytsetlin

BIT_SLICED = [name for name in ("pyTsetlinMachine", "pyTsetlinMachineParallel") if find_spec(name)]
if not BIT_SLICED and find_spec("pytsetlin") is None:
    pytest.skip("none of these libraries is installed here", allow_module_level=True)
each_package = pytest.mark.parametrize("package", BIT_SLICED)


def machines(package: str) -> Any:
    return import_module(f"{package}.tm")


def trained(package: str, name: str = "digits", epochs: int = 3, threshold: int = 15, **options: Any) -> Any:
    subject = load_subject(name)
    tm = machines(package).MultiClassTsetlinMachine(subject.n_clauses, threshold, 5.0, **options)
    tm.fit(subject.X.astype(np.uint32), subject.y, epochs=epochs)
    return tm


def says(tm: Any) -> Any:
    def ask(bits: Bits) -> Said:
        return np.asarray(tm.predict(bits.astype(np.uint32))).astype(np.int64), None

    return ask


@each_subject
@each_package
@pytest.mark.parametrize("weighted", [False, True])
def test_trained_models(package: str, name: str, weighted: bool, tmp_path: Path) -> None:
    subject = load_subject(name)
    tm = trained(package, name, weighted_clauses=weighted)
    model = from_pytsetlin(tm, subject.everything)
    assert model.clamp == 15
    assert model.empty_clause == "silent"
    assert from_pytsetlin(tm) == model
    check_imported(model, subject, says(tm), tmp_path)


@each_package
def test_the_cut_changes_predictions_and_is_declared(package: str) -> None:
    """The libraries learn otherwise each time, and now and then so that the cut changes nothing."""
    subject = load_subject("digits")
    changed = 0
    for _ in range(8):
        model = from_pytsetlin(trained(package, threshold=3), subject.everything)
        assert model.clamp == 3
        free = tv.Model(model.clauses, model.weights, model.bias, classes=model.classes)
        changed += int((free.predict(subject.everything) != model.predict(subject.everything)).sum())
        if changed:
            break
    assert changed > 0


@each_package
def test_a_threshold_that_is_changed_later_has_no_effect(package: str) -> None:
    """The library goes on with the T that the machine was made with, and so does the model."""
    subject = load_subject("digits")
    tm = trained(package, threshold=3)
    tm.T = 20
    tm.fit(subject.X.astype(np.uint32), subject.y, epochs=1, incremental=True)
    model = from_pytsetlin(tm)
    assert model.clamp == 3
    assert np.array_equal(model.predict(subject.everything), says(tm)(subject.everything)[0])


@each_package
def test_a_machine_that_was_fitted_to_fewer_classes_later(package: str) -> None:
    subject = load_subject("digits")
    tm = trained(package, epochs=1)
    few = subject.y < 4
    tm.fit(subject.X[few].astype(np.uint32), subject.y[few], epochs=1, incremental=True)
    if tm.number_of_classes == 10:
        assert len(from_pytsetlin(tm, subject.everything).classes) == 10
    else:  # Parallel forgets that there were more, and predicts them all the same
        with pytest.raises(tv.ModelError, match="predicts with number_of_classes = 10, but says 4"):
            from_pytsetlin(tm)


@each_package
@pytest.mark.parametrize("options", [{"append_negated": False}, {"number_of_state_bits": 5}])
def test_other_settings(package: str, options: dict[str, Any]) -> None:
    subject = load_subject("digits")
    tm = trained(package, epochs=1, **options)
    model = from_pytsetlin(tm, subject.everything)
    assert np.array_equal(model.predict(subject.everything), says(tm)(subject.everything)[0])
    if not options.get("append_negated", True):
        assert (model.clauses.literals > 0).all()


@pytest.mark.skipif(
    "pyTsetlinMachine" not in BIT_SLICED, reason="only pyTsetlinMachine has indexing and drops"
)
@pytest.mark.parametrize("options", [{"indexed": False}, {"clause_drop_p": 0.3, "literal_drop_p": 0.2}])
def test_indexing_and_drops(options: dict[str, Any]) -> None:
    subject = load_subject("digits")
    tm = trained("pyTsetlinMachine", epochs=1, **options)
    model = from_pytsetlin(tm, subject.everything)
    assert np.array_equal(model.predict(subject.everything), says(tm)(subject.everything)[0])


@each_package
def test_after_a_pickle(package: str) -> None:
    tm = trained(package, epochs=1)
    again = pickle.loads(pickle.dumps(tm))
    assert from_pytsetlin(again) == from_pytsetlin(tm)


@each_package
def test_a_difference_raises_with_the_input(package: str) -> None:
    everything = load_subject("digits").everything
    tm = trained(package, epochs=1)
    honest = tm.predict
    tm.predict = lambda X: np.where(X[:, 20] == 1, (honest(X) + 1) % 10, honest(X))
    with pytest.raises(tv.ImportMismatchError, match=f"differs from {package} on input") as caught:
        from_pytsetlin(tm, everything)
    assert np.array_equal(caught.value.input, everything[np.argmax(everything[:, 20])])


@each_package
def test_what_can_not_be_imported(package: str) -> None:
    tm = machines(package)
    with pytest.raises(tv.ModelError, match=r"MultiClassConvolutionalTsetlinMachine2D of .* look at patches"):
        from_pytsetlin(tm.MultiClassConvolutionalTsetlinMachine2D(10, 10, 3.0, (3, 3)))
    with pytest.raises(tv.ModelError, match="RegressionTsetlinMachine of"):
        from_pytsetlin(tm.RegressionTsetlinMachine(10, 10, 3.0))
    with pytest.raises(tv.InvalidInputError, match="not fitted yet"):
        from_pytsetlin(tm.MultiClassTsetlinMachine(10, 10, 3.0))
    with pytest.raises(tv.InvalidInputError, match=r"Got builtins\.list instead"):
        from_pytsetlin([])


@pytest.mark.skipif(find_spec("pytsetlin") is None, reason="pytsetlin is not installed here")
@each_subject
def test_pytsetlin(name: str, tmp_path: Path) -> None:
    from pytsetlin import TsetlinMachine

    subject = load_subject(name)
    tm = TsetlinMachine(n_clauses=5 * subject.n_clauses, threshold=200, s=5.0, seed=3)
    with pytest.raises(tv.InvalidInputError, match="not fitted yet"):
        from_pytsetlin(tm)
    tm.set_train_data(np.ascontiguousarray(subject.X), subject.y)
    tm.train(training_epochs=3, hide_progress_bar=True, location_dir=str(tmp_path))
    model = from_pytsetlin(tm, subject.everything)
    assert model.clamp is None

    def ask(bits: Bits) -> Said:
        return np.array([tm.predict(row) for row in bits]), None

    check_equal(model, subject, ask)
    # It pins an old numba, for which the search would have to be compiled anew: a minute.
    v = tv.check_robustness(model, subject.X[0], epsilon=1, engine="sat")
    assert v.status in ("holds", "violated")
    if v.witness is not None:
        before, after = ask(np.stack([subject.X[0], v.witness]))[0]
        assert before != after
