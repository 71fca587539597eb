"""The estimator: scikit-learn's contract, kinds of input, reproducibility, validation, interruption."""

from __future__ import annotations

import pickle
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import tmverify as tv
from support.scripts import output_of
from tmverify.errors import InvalidInputError
from tmverify.training.trainer import Trainer

SMALL: dict[str, Any] = {
    "n_clauses": 20,
    "threshold": 5,
    "specificity": 3.0,
    "n_epochs": 4,
    "random_state": 0,
}


def xor_data(n: int = 400, n_features: int = 8) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).integers(0, 2, (n, n_features)).astype(np.uint8)
    return X, X[:, 0] ^ X[:, 1]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return (X > 5).astype(np.uint8), y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "options",
    [{"n_clauses": 40, "n_epochs": 15}, pytest.param({}, marks=pytest.mark.deep)],
    ids=["small", "default"],
)
def test_scikit_learns_own_checks(options: dict[str, Any]) -> None:
    check_estimator(tv.TsetlinMachineClassifier(**options))


def test_xor_is_learnt_by_one_machine() -> None:
    X, y = xor_data()
    clf = tv.TsetlinMachineClassifier(**SMALL | {"n_epochs": 20}).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert clf.model_.n_outputs == 1
    assert clf.model_.n_clauses == 20
    assert np.array_equal(clf.model_.predict(X), y)


def test_digits_are_learnt_by_a_machine_each(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    clf = tv.TsetlinMachineClassifier(random_state=0, n_epochs=15).fit(X[:1300], y[:1300])
    assert clf.score(X[1300:], y[1300:]) > 0.85
    assert clf.model_.n_outputs == 10
    assert clf.model_.classes == tuple(range(10))
    assert np.array_equal(clf.decision_function(X), clf.model_.scores(X))


def test_decision_is_the_sign_and_a_tie_is_positive() -> None:
    X, y = xor_data()
    clf = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    votes, scores = clf.decision_function(X), clf.model_.scores(X)[:, 0]
    assert np.array_equal(votes > 0, clf.predict(X) == 1)
    assert np.array_equal(votes, np.where(scores == 0, 0.5, scores))


def test_every_kind_of_input_gives_the_same_model(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits[0][:300], digits[1][:300]
    kinds = [X, X.astype(bool), X.astype(np.float64), X.astype(np.int64), sparse.csr_matrix(X)]
    kinds += [sparse.csr_array(X.astype(bool)), pd.DataFrame(X).astype(bool).to_numpy(), X.tolist()]
    fitted = [tv.TsetlinMachineClassifier(**SMALL).fit(kind, y) for kind in kinds]
    assert len({clf.model_.content_hash for clf in fitted}) == 1
    for clf, kind in zip(fitted, kinds, strict=True):
        assert np.array_equal(clf.predict(kind), fitted[0].predict(X))


def test_explicit_zeros_of_a_sparse_matrix_are_zeros() -> None:
    X, y = xor_data(100)
    rows, columns = np.indices(X.shape)
    explicit = sparse.csr_matrix((X.ravel(), (rows.ravel(), columns.ravel())), X.shape)
    a = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    b = tv.TsetlinMachineClassifier(**SMALL).fit(explicit, y)
    assert a.model_ == b.model_


def test_names_of_a_frame_go_to_the_model() -> None:
    X, y = xor_data()
    frame = pd.DataFrame(X, columns=[f"bit {i}" for i in range(8)])
    clf = tv.TsetlinMachineClassifier(**SMALL).fit(frame, pd.Series(y).map({0: "no", 1: "yes"}))
    assert clf.feature_names_in_.tolist() == list(frame.columns)
    assert clf.model_.feature_names == tuple(frame.columns)
    assert clf.model_.classes == ("no", "yes")
    assert set(clf.predict(frame)) <= {"no", "yes"}


def test_other_numbers_go_through_a_thermometer_or_are_refused() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (X[:, 1] > 0.2).astype(int)
    clf = tv.TsetlinMachineClassifier(**SMALL | {"n_epochs": 20}).fit(X, y)
    assert [part.kind for part in clf.space_.parts] == ["number"] * 3
    assert clf.score(X, y) > 0.9
    assert clf.model_.space == clf.space_
    assert (clf.model_.predict(clf.space_.encode(X)) == clf.predict(X)).all()
    assert clf.model_.feature_names is not None
    with pytest.raises(InvalidInputError, match="only 0 and 1"):
        tv.TsetlinMachineClassifier(binarize=None).fit(X, y)


def test_a_machine_of_bits_refuses_other_numbers_later() -> None:
    X, y = xor_data()
    clf = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"only 0 and 1.*Got 2"):
        clf.predict(X * 2)
    with pytest.raises(InvalidInputError, match="only 0 and 1"):
        clf.partial_fit(sparse.csr_matrix(X * 3.5), y)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_same_seed_same_model_whatever_n_jobs(digits: tuple[np.ndarray, np.ndarray], n_classes: int) -> None:
    X, y = digits[0][:400], digits[1][:400] % n_classes
    settings = SMALL | {"n_clauses": 200}
    models = [
        tv.TsetlinMachineClassifier(**settings, n_jobs=n_jobs).fit(X, y).model_
        for n_jobs in (1, 2, 3, -1, None)
    ]
    assert len({model.content_hash for model in models}) == 1
    other = tv.TsetlinMachineClassifier(**settings | {"random_state": 1}).fit(X, y).model_
    assert other != models[0]


def test_fit_is_its_epochs_one_by_one() -> None:
    X, y = xor_data()
    whole = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    steps = tv.TsetlinMachineClassifier(**SMALL)
    for _ in range(4):
        steps.partial_fit(X, y, classes=[0, 1])
    assert whole.model_ == steps.model_
    assert steps.n_epochs_ == 4


def test_partial_fit_refuses_strange_labels_and_other_classes() -> None:
    X, y = xor_data()
    clf = tv.TsetlinMachineClassifier(**SMALL).partial_fit(X, y, classes=[0, 1, 5])
    assert clf.classes_.tolist() == [0, 1, 5]
    with pytest.raises(InvalidInputError, match=r"Got.*[67]"):
        clf.partial_fit(X, y + 6)
    with pytest.raises(InvalidInputError, match="same as at the first call"):
        clf.partial_fit(X, y, classes=[0, 1])


def test_a_training_can_change_its_mind_but_not_its_size() -> None:
    X, y = xor_data()
    clf = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    assert max(map(len, clf.model_.clauses)) > 2
    clf.set_params(max_literals=2, specificity=1.5)
    for _ in range(20):
        clf.partial_fit(X, y)
    included = [len(clause) for clause in clf.model_.clauses]
    assert max(included) <= 2  # a budget given late holds once the clauses have forgotten enough
    with pytest.raises(InvalidInputError, match="in the middle of a training"):
        clf.set_params(n_states=5).partial_fit(X, y)


def test_a_failed_fit_leaves_nothing_half_old() -> None:
    X, y = xor_data()
    clf = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    with pytest.raises(InvalidInputError, match="two classes"):
        clf.fit(X, np.zeros(len(X)))
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_a_cell_given_twice_in_a_sparse_matrix_is_refused() -> None:
    X, y = xor_data(50)
    clf = tv.TsetlinMachineClassifier(**SMALL, binarize=None).fit(X, y)
    assert clf.predict(sparse.csr_matrix(X)).shape == (50,)
    rows = sparse.csr_matrix((50, 8))
    rows.data, rows.indices = np.ones(2), np.array([3, 3], np.int32)
    rows.indptr = np.array([0, 2] + [2] * 49, np.int32)
    with pytest.raises(InvalidInputError, match="only 0 and 1"):
        clf.predict(rows)


def test_pipeline_grid_search_clone_and_pickle(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    pipeline = make_pipeline(tv.ThresholdBinarizer(5), tv.TsetlinMachineClassifier(**SMALL))
    search = GridSearchCV(pipeline, {"tsetlinmachineclassifier__specificity": [2.0, 5.0]}, cv=2).fit(X, y)
    best = search.best_estimator_
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again.predict(X), best.predict(X))
    clf, copy = best[-1], pickle.loads(pickle.dumps(best[-1]))
    bits = best[0].transform(X)
    assert clf.partial_fit(bits, y).model_ == copy.partial_fit(bits, y).model_  # the automata travel too
    assert clone(clf).get_params() == clf.get_params()


def test_weights_and_budget(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    clf = tv.TsetlinMachineClassifier(**SMALL, weighted=True, max_literals=3).fit(X, y)
    assert max(map(len, clf.model_.clauses)) == 3
    assert np.abs(clf.model_.weights).max() > 1
    plain = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    assert np.abs(plain.model_.weights).max() == 1


def test_history_and_early_stopping(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    settings = SMALL | {"n_epochs": 60, "patience": 3}
    clf = tv.TsetlinMachineClassifier(**settings, early_stopping=True)
    clf.fit(X[:1200], y[:1200], X_val=X[1200:], y_val=y[1200:])
    accuracies = [line["accuracy"] for line in clf.history_]
    assert [line["epoch"] for line in clf.history_] == list(range(1, len(accuracies) + 1))
    assert all(line["seconds"] > 0 for line in clf.history_)
    assert len(accuracies) < 60
    assert int(np.argmax(accuracies)) == len(accuracies) - 4
    assert clf.score(X[1200:], y[1200:]) == max(accuracies)  # the best epoch's machines
    own_split = tv.TsetlinMachineClassifier(**settings, early_stopping=True).fit(X, y)
    assert all(0 < line["accuracy"] <= 1 for line in own_split.history_)
    without = tv.TsetlinMachineClassifier(**SMALL).fit(X[:100], y[:100])
    assert [line["accuracy"] for line in without.history_] == [None] * 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clauses": 1}, "'n_clauses' parameter .* from 2 to"),
        ({"n_clauses": 2.5}, "Got 2.5 instead"),
        ({"threshold": 0}, "threshold"),
        ({"specificity": 0.5}, "at least 1"),
        ({"specificity": float("nan")}, "specificity"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"n_states": 129}, "from 1 to 128"),
        ({"max_literals": 0}, "max_literals"),
        ({"max_literals": 2**63}, "max_literals"),
        ({"weighted": "yes"}, "True or False"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"binarize": "no"}, "'auto', None, a Space, or a binarizer"),
        ({"validation_fraction": 1.0}, "between 0 and 1"),
        ({"patience": 0}, "patience"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, object], message: str) -> None:
    X, y = xor_data(20)
    with pytest.raises(InvalidInputError, match=message):
        tv.TsetlinMachineClassifier(**parameters).fit(X, y)  # type: ignore[arg-type]


def test_wrong_data_is_refused() -> None:
    X, y = xor_data(20)
    with pytest.raises(InvalidInputError, match="at least two classes"):
        tv.TsetlinMachineClassifier().fit(X, np.zeros(20))
    with pytest.raises(InvalidInputError, match="go together"):
        tv.TsetlinMachineClassifier().fit(X, y, X_val=X)
    with pytest.raises(NotFittedError):
        tv.TsetlinMachineClassifier().predict(X)
    with pytest.raises(NotFittedError):
        _ = tv.TsetlinMachineClassifier().model_


def test_verbose_shows_epochs(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = xor_data()
    tv.TsetlinMachineClassifier(**SMALL, verbose=True).fit(X, y, X_val=X, y_val=y)
    shown = capfd.readouterr().err
    assert "training: 4/4" in shown
    assert "accuracy" in shown


def test_an_interrupted_epoch_leaves_no_trace() -> None:
    """Ctrl-C inside the kernel: the machines go back, and training on gives what it would have given."""
    script = """
        import os, signal, threading, warnings, numpy as np, tmverify as tv
        X = np.random.default_rng(0).integers(0, 2, (4000, 200)).astype(np.uint8)
        y = X[:, 0] ^ X[:, 1]
        settings = dict(n_clauses=200, threshold=100, specificity=3.0, random_state=0, n_jobs=2)
        from tmverify.training.schedule import Course
        run_epoch = Course.run_epoch
        def then_interrupt(self, examples):
            run_epoch(self, examples)
            if self.trainer.n_epochs == 2:
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        Course.run_epoch = then_interrupt
        clf = tv.TsetlinMachineClassifier(**settings, n_epochs=10**6)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf.fit(X, y)
        assert "interrupted" in str(caught[0].message), caught
        Course.run_epoch = run_epoch
        straight = tv.TsetlinMachineClassifier(**settings, n_epochs=clf.n_epochs_).fit(X, y)
        assert straight.model_ == clf.model_
        print("same after", clf.n_epochs_)
        """
    assert "same after" in output_of(script)


def test_ctrl_c_while_measuring_leaves_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = xor_data()
    measure = tv.TsetlinMachineClassifier._accuracy
    calls = []

    def interrupted(self: Any, *args: Any) -> float:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(self, *args)

    monkeypatch.setattr(tv.TsetlinMachineClassifier, "_accuracy", interrupted)
    clf = tv.TsetlinMachineClassifier(**SMALL, early_stopping=True)
    with pytest.warns(UserWarning, match="3 finished epochs"):
        clf.fit(X, y, X_val=X, y_val=y)
    assert [line["epoch"] for line in clf.history_] == [1, 2, 3]
    assert clf.history_[2]["accuracy"] is None
    assert clf.score(X, y) == max(line["accuracy"] for line in clf.history_[:2])


def test_ctrl_c_before_the_first_epoch_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Trainer, *args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "run_epoch", interrupted)
    X, y = xor_data()
    with pytest.raises(KeyboardInterrupt):
        tv.TsetlinMachineClassifier(**SMALL).fit(X, y)


def test_a_second_ctrl_c_changes_nothing() -> None:
    """Signals to this process could strike pytest itself: a process of its own."""
    script = """
        import os, signal, time, warnings, numpy as np, tmverify as tv
        from tmverify.training.trainer import Trainer
        X = np.random.default_rng(0).integers(0, 2, (400, 8)).astype(np.uint8)
        run_epoch, finish = Trainer.run_epoch, tv.TsetlinMachineClassifier._finish
        def then_interrupt(self, *args, **options):
            run_epoch(self, *args, **options)
            if self.n_epochs == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
        def impatient(self, course):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            finish(self, course)
        Trainer.run_epoch = then_interrupt
        tv.TsetlinMachineClassifier._finish = impatient
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=4).fit(X, X[:, 0])
        assert "2 finished epochs of 4" in str(caught[0].message), caught
        assert clf.n_epochs_ == 2 and clf.predict(X).shape == (400,)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        print("kept")
        """
    assert output_of(script) == "kept\n"


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failing_thread_ends_the_others(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """Parts of one machine wait for each other: if one fails, the others must not wait for ever."""
    from tmverify.training import _learn

    learn = _learn.learn

    def broken(
        rows: Any, wanted: Any, inputs: Any, machine: Any, rule: Any, blocks: Any, part: int, *rest: Any
    ) -> None:
        if part == failing and len(rows):
            raise MemoryError("no more")
        learn(rows, wanted, inputs, machine, rule, blocks, part, *rest)

    monkeypatch.setattr(_learn, "learn", broken)
    monkeypatch.setattr("tmverify.training.trainer._n_cores", lambda: 2)
    X, y = xor_data()
    with pytest.raises(MemoryError):
        tv.TsetlinMachineClassifier(**SMALL | {"n_clauses": 200}, n_jobs=2).fit(X, y)


def test_what_no_model_can_be_is_refused_before_the_training() -> None:
    X, y = xor_data()
    endless = SMALL | {"n_epochs": 10**9}
    with pytest.raises(InvalidInputError, match="team"):
        tv.TsetlinMachineClassifier(**endless).fit(X, np.array(["team", "b"])[y])
    with pytest.raises(InvalidInputError, match="too many for one model"):
        tv.TsetlinMachineClassifier(**endless | {"n_clauses": 2**20}).fit(X, np.arange(400) % 100)
    with pytest.raises(InvalidInputError, match="none of them"):
        tv.TsetlinMachineClassifier(**endless).fit(X, y, X_val=X, y_val=y + 7)


def test_threads_can_train_side_by_side() -> None:
    X, y = xor_data()
    alone = tv.TsetlinMachineClassifier(**SMALL).fit(X, y).model_
    models: list[tv.Model] = []
    threads = [
        threading.Thread(
            target=lambda: models.append(tv.TsetlinMachineClassifier(**SMALL, n_jobs=2).fit(X, y).model_)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert models == [alone] * 4


def test_no_warning_in_an_ordinary_fit(tmp_path: Path) -> None:
    X, y = xor_data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        started = time.perf_counter()
        clf = tv.TsetlinMachineClassifier(**SMALL).fit(X, y)
    assert sum(line["seconds"] for line in clf.history_) <= time.perf_counter() - started
