"""Ctrl-C while a network learns: finished epochs are kept, unfinished ones are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.scripts import output_of
from tmverify.bnn import BnnClassifier
from tmverify.bnn.learning import Learner
from tmverify.progress import ProgressBar

X = np.random.default_rng(0).integers(0, 2, (400, 12)).astype(np.uint8)
Y = X[:, 0] ^ X[:, 1]


def interrupt_at_step(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    step, calls = Learner._step, []

    def interrupted(self: Learner, rows: Any) -> tuple[float, int]:
        calls.append(1)
        if len(calls) == n:
            raise KeyboardInterrupt
        return step(self, rows)

    monkeypatch.setattr(Learner, "_step", interrupted)


def test_finished_epochs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four batches an epoch; the eleventh is in the middle of the third epoch."""
    after_two: list[list[Any]] = []
    run = Learner.run

    def watched(self: Learner, bar: ProgressBar) -> None:
        def look(line: str) -> None:
            after_two[:] = [self.network.state()]

        monkeypatch.setattr(bar, "advance", look)
        run(self, bar)

    monkeypatch.setattr(Learner, "run", watched)
    interrupt_at_step(monkeypatch, 11)
    clf = BnnClassifier(hidden=(8,), n_epochs=5, random_state=0)
    with pytest.warns(UserWarning, match="2 finished epochs of 5"):
        clf.fit(X, Y)
    assert [line["epoch"] for line in clf.history_] == [1, 2]
    assert clf.n_epochs_ == 2
    assert all((a == b).all() for a, b in zip(clf._network.state(), after_two[0], strict=True))
    assert np.array_equal(clf.predict(X), clf.float_predict(X))


def test_before_the_first_epoch_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clf = BnnClassifier(hidden=(8,), n_epochs=5, random_state=0).fit(X, Y)
    interrupt_at_step(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert not hasattr(clf, "model_")


def test_a_real_signal_and_an_impatient_second_one() -> None:
    """Signals to this process could strike pytest itself: a process of its own."""
    script = """
        import os, signal, time, warnings, numpy as np
        from tmverify.bnn import BnnClassifier
        from tmverify.bnn.learning import Learner
        X = np.random.default_rng(0).integers(0, 2, (400, 8)).astype(np.uint8)
        epoch, settle = Learner._epoch, Learner.settle
        def then_interrupt(self, number):
            if number == 3:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            return epoch(self, number)
        def impatient(self):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            settle(self)
        Learner._epoch, Learner.settle = then_interrupt, impatient
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf = BnnClassifier(hidden=(8,), n_epochs=4).fit(X, X[:, 0])
        assert any("2 finished epochs of 4" in str(each.message) for each in caught), caught
        assert clf.n_epochs_ == 2 and clf.predict(X).shape == (400,)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        print("kept")
        """
    assert output_of(script) == "kept\n"
