"""A training saved and taken up again ends as if it had never stopped; any other file is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.errors import InvalidInputError, TrainingStateError

SETTINGS: dict[str, Any] = {"n_clauses": 20, "threshold": 5, "specificity": 3.0, "random_state": 0}


def data(n_classes: int = 3, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).integers(0, 2, (n_rows, 70)).astype(np.uint8)
    return X, X[:, :4].sum(axis=1) % n_classes


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"weighted": True, "max_literals": 4}])
def test_resume_and_go_on(tmp_path: Path, n_classes: int, options: dict[str, Any]) -> None:
    X, y = data(n_classes)
    file = tmp_path / "run.state"
    clf = tv.TsetlinMachineClassifier(**SETTINGS, **options, n_epochs=3).fit(X, y)
    clf.save(file)
    again = tv.TsetlinMachineClassifier.resume(file)
    assert again.model_ == clf.model_
    assert again.history_ == clf.history_
    assert np.array_equal(again.predict(X), clf.predict(X))
    for _ in range(2):
        clf.partial_fit(X, y)
        again.partial_fit(X, y)
    assert again.model_ == clf.model_
    assert again.model_ == tv.TsetlinMachineClassifier(**SETTINGS, **options, n_epochs=5).fit(X, y).model_


def test_resume_of_numbers_and_names(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=["a", "b", "c"])
    y = np.where(frame["a"] > 0, "yes", "no")
    clf = tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=3).fit(frame, y)
    clf.save(tmp_path / "state")
    again = tv.TsetlinMachineClassifier.resume(tmp_path / "state")
    assert again.model_ == clf.model_
    assert again.partial_fit(frame, y).model_ == clf.partial_fit(frame, y).model_


@pytest.mark.parametrize("early_stopping", [False, True])
def test_fit_goes_on_from_its_checkpoint(tmp_path: Path, early_stopping: bool) -> None:
    X, y = data()
    settings = SETTINGS | {"early_stopping": early_stopping, "patience": 4}
    file = tmp_path / "run.state"
    tv.TsetlinMachineClassifier(**settings, n_epochs=3).fit(X, y, checkpoint=file)
    resumed = tv.TsetlinMachineClassifier(**settings, n_epochs=9, n_jobs=2).fit(X, y, checkpoint=file)
    straight = tv.TsetlinMachineClassifier(**settings, n_epochs=9).fit(X, y)
    assert resumed.model_ == straight.model_
    assert [line["accuracy"] for line in resumed.history_] == [line["accuracy"] for line in straight.history_]


def test_killed_and_run_again(tmp_path: Path) -> None:
    """kill -9 in the middle: the file is whole, and the same training ends as if nothing had happened."""
    file = tmp_path / "run.state"
    script = textwrap.dedent(
        f"""
        import numpy as np, tmverify as tv
        from tmverify.training import schedule
        schedule.SECONDS_BETWEEN_SAVES = 0.0
        X = np.random.default_rng(0).integers(0, 2, (2000, 70)).astype(np.uint8)
        y = X[:, :4].sum(axis=1) % 3
        clf = tv.TsetlinMachineClassifier(n_clauses=100, n_epochs=12, random_state=0)
        clf.fit(X, y, checkpoint={str(file)!r})
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if file.exists() and tv.TsetlinMachineClassifier.resume(file).n_epochs_ > 0:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    epochs_then = tv.TsetlinMachineClassifier.resume(file).n_epochs_
    assert 0 < epochs_then < 12
    X, y = data(n_rows=2000)
    resumed, straight = (
        tv.TsetlinMachineClassifier(n_clauses=100, n_epochs=12, random_state=0).fit(X, y, checkpoint=state)
        for state in (file, None)
    )
    assert resumed.model_ == straight.model_


def test_another_training_is_refused(tmp_path: Path) -> None:
    X, y = data()
    file = tmp_path / "run.state"
    tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=2).fit(X, y, checkpoint=file)
    with pytest.raises(TrainingStateError, match="other values of threshold"):
        tv.TsetlinMachineClassifier(**SETTINGS | {"threshold": 6}, n_epochs=2).fit(X, y, checkpoint=file)
    with pytest.raises(TrainingStateError, match="other examples"):
        tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=2).fit(1 - X, y, checkpoint=file)
    with pytest.raises(TrainingStateError, match="random_state"):
        tv.TsetlinMachineClassifier(**SETTINGS | {"random_state": 7}, n_epochs=2).fit(X, y, checkpoint=file)


def test_damaged_and_strange_files_are_refused(tmp_path: Path) -> None:
    X, y = data()
    file = tmp_path / "run.state"
    tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=1).fit(X, y).save(file)
    whole = file.read_bytes()
    strange = {
        "missing": None,
        "empty": b"",
        "text": b"hello",
        "half": whole[: len(whole) // 2],
        "model": b"\x10\0\0\0\0\0\0\0{}",
    }
    for name, content in strange.items():
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(TrainingStateError, match=name):
            tv.TsetlinMachineClassifier.resume(path)


@pytest.mark.parametrize(
    "change",
    [
        {"n_clauses": 10**9},
        {"n_clauses": 21},
        {"n_features": 64},
        {"n_classes": 2},
        {"n_classes": 4},
        {"seed": "x"},
        {"n_epochs": -1},
        {"n_states": 7},
        {"history": 3},
        {"parameters": {"n_clauses": "many"}},
        {"parameters": {"unknown": 1}},
        {"format": "other"},
        {"version": 99},
        {"sets": ["best"]},
        {"classes": [1]},
        {"classes": [2, 1, 0]},
        {"classes": [[0], [1], [2]]},
        {"classes": [0, 1, "team"]},
        {"n_features_in": float("inf")},
        {"n_states": 1},
        {"history": [{"epoch": 1, "seconds": 10**400, "accuracy": None}]},
        {
            "space": {
                "parts": [{"kind": "number", "name": "a", "cuts": [0.5, 0.5], "missing": False}],
                "target": None,
            }
        },
        {"space": {"parts": [{"kind": "flag", "name": "a", "values": ["0", "1"]}], "target": None}},
        {"encodes": True},
        {"space": {"parts": [], "target": None}},
        {"feature_names_in": ["a"]},
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    X, y = data()
    file = tmp_path / "run.state"
    tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=1).fit(X, y).save(file)
    rewrite(file, change, {})
    with pytest.raises(TrainingStateError):
        tv.TsetlinMachineClassifier.resume(file)


@pytest.mark.parametrize("field", ["planes", "weights", "draws", "lanes"])
@pytest.mark.parametrize("change", ["shape", "type", "zero"])
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, field: str, change: str) -> None:
    X, y = data()
    file = tmp_path / "run.state"
    tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=1).fit(X, y).save(file)
    with np.load(file) as archive:
        array = archive[f"now.0.{field}"]
    changed = {"shape": array[:-1], "type": array.astype(np.float64), "zero": np.zeros_like(array)}[change]
    rewrite(file, {}, {f"now.0.{field}": changed})
    if (field, change) == ("planes", "zero"):
        assert tv.TsetlinMachineClassifier.resume(file).model_.n_clauses == 60  # all automata at their floor
        return
    with pytest.raises(TrainingStateError):
        tv.TsetlinMachineClassifier.resume(file)


def test_states_out_of_range_are_refused(tmp_path: Path) -> None:
    """The kernels rely on it: an automaton below its floor would wrap round and be included."""
    X, y = data(2)
    file = tmp_path / "run.state"
    tv.TsetlinMachineClassifier(**SETTINGS, n_states=3, n_epochs=2).fit(X, y).save(file)
    tv.TsetlinMachineClassifier.resume(file).partial_fit(X, y)
    with np.load(file) as archive:
        planes = archive["now.0.planes"]
    for value in (0, 2**64 - 1):
        rewrite(file, {}, {"now.0.planes": np.full_like(planes, value)})
        with pytest.raises(TrainingStateError, match="out of its range"):
            tv.TsetlinMachineClassifier.resume(file)


def test_automata_of_literals_that_do_not_exist_are_made_anew(tmp_path: Path) -> None:
    X, y = data(2)
    file = tmp_path / "run.state"
    clf = tv.TsetlinMachineClassifier(**SETTINGS, n_states=3, n_epochs=2).fit(X, y)
    clf.save(file)
    with np.load(file) as archive:
        planes = archive["now.0.planes"]
    present = clf._course.trainer.machines[0].present
    rewrite(file, {}, {"now.0.planes": planes & present})
    again = tv.TsetlinMachineClassifier.resume(file)
    for _ in range(20):
        again.partial_fit(X, y)
        clf.partial_fit(X, y)
    assert again.model_ == clf.model_


def test_a_place_that_can_not_be_written_is_found_before_the_work(tmp_path: Path) -> None:
    X, y = data()
    with pytest.raises(OSError, match="nowhere"):
        tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=10**9).fit(
            X, y, checkpoint=tmp_path / "nowhere" / "x"
        )
    dates = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[D]")[y]
    with pytest.raises(InvalidInputError, match="numbers or text"):
        tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=10**9).fit(X, dates, checkpoint=tmp_path / "x")


def test_a_full_disk_later_costs_the_file_not_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    saves = []

    def full(*args: Any) -> None:
        saves.append(1)
        if len(saves) > 1:
            raise OSError("No space left on device")

    monkeypatch.setattr("tmverify.training.schedule.write_state", full)
    with pytest.warns(UserWarning, match="No space left"):
        clf = tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=2).fit(X, y, checkpoint=tmp_path / "x")
    assert clf.n_epochs_ == 2
    assert len(clf.predict(X)) == len(X)


def test_resumed_after_ctrl_c_while_measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    settings = SETTINGS | {"early_stopping": True, "patience": 4, "n_epochs": 30}
    straight = tv.TsetlinMachineClassifier(**settings).fit(X, y)
    best = int(np.argmax([line["accuracy"] for line in straight.history_])) + 1
    measure, calls = tv.TsetlinMachineClassifier._accuracy, []

    def interrupted(self: Any, *args: Any) -> float:
        calls.append(1)
        if len(calls) == best:
            raise KeyboardInterrupt
        return float(measure(self, *args))

    monkeypatch.setattr(tv.TsetlinMachineClassifier, "_accuracy", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        tv.TsetlinMachineClassifier(**settings).fit(X, y, checkpoint=tmp_path / "x")
    resumed = tv.TsetlinMachineClassifier(**settings).fit(X, y, checkpoint=tmp_path / "x")
    assert resumed.model_ == straight.model_
    assert [line["accuracy"] for line in resumed.history_] == [line["accuracy"] for line in straight.history_]


def test_another_validation_set_is_refused(tmp_path: Path) -> None:
    X, y = data()
    clf = tv.TsetlinMachineClassifier(**SETTINGS, n_epochs=2)
    clf.fit(X, y, X_val=X, y_val=y, checkpoint=tmp_path / "x")
    with pytest.raises(TrainingStateError, match="another validation set"):
        clf.fit(X, y, X_val=X, y_val=y[::-1], checkpoint=tmp_path / "x")


NUMBER = {"kind": "number", "name": "a", "cuts": [0.5], "missing": False}


def rewrite(file: Path, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """The same file with other values, as a hostile or confused hand would write it."""
    with np.load(file) as archive:
        content = {name: archive[name] for name in archive.files}
    text = json.loads(bytes(content["about"]).decode()) | about
    content["about"] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    with open(file, "wb") as stream:
        np.savez(stream, **(content | arrays))
