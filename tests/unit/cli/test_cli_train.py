"""train: datasets and files, what is printed and written, going on, Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import ENVIRONMENT, TMVERIFY, Capture, expect_error
from tmverify.cli import main
from tmverify.cli.train import DATASETS, DEFAULTS, Reading, Settings
from tmverify.cli.training_run import make_estimator, read_data
from tmverify.kernels.jit import NOTICE

LIMIT = 60.0
QUICK = ["-n", "20", "-T", "10", "-s", "4", "--epochs", "5"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where to work: bits.npz (y is x0 xor x1), people.csv (numbers, text and Booleans), odd.csv."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 6))
    np.savez(tmp_path / "bits.npz", X=X, y=X[:, 0] ^ X[:, 1])
    lines = ["age,city,owner,income"]
    for age, city, owner in zip(
        rng.integers(18, 80, 200), rng.choice(["Oslo", "Rome"], 200), rng.integers(0, 2, 200), strict=True
    ):
        lines.append(f"{age},{city},{owner},{'high' if (age > 45) == (city == 'Oslo') else 'low'}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "odd.csv").write_text("a,y\n" + "".join(f"{i},v{i}\n" for i in range(9)))
    (tmp_path / "team.csv").write_text("a,y\n" + "0,team\n1,rest\n" * 8)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TMVERIFY_DATA", raising=False)
    return tmp_path


def test_digits_from_training_to_a_proof(folder: Path, capsys: Capture) -> None:
    assert main(["train", "digits", "-o", "d.tm", "--save-test", "test.npz", *QUICK]) == 0
    out, err = capsys.readouterr()
    assert err in ("", f"{NOTICE}\n")
    model = tv.load("d.tm")
    for text in (
        "digits: 1347 training and 450 test inputs, 64 features, 10 classes",
        "epochs  5, in ",
        "of 1347 training inputs, ",
        "of 450 test inputs (always ",
        "clauses  200 (20 for each of 10 classes)",
        f"d.tm (sha256 {model.content_hash[:12]}…)",
        "test.npz (450 inputs)",
    ):
        assert text in out
    lengths = model.clauses.lengths
    assert f"{lengths.mean():.1f} mean, {np.median(lengths):g} median, {lengths.max()} max" in out
    assert model.feature_names == tv.load_dataset("digits").feature_names
    assert main(["predict", "d.tm", "test.npz", "--json"]) == 0
    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert accuracy > 0.7
    assert f"{accuracy:.2%} of 450 test inputs" in out
    assert main(["robustness", "d.tm", "test.npz", "--epsilon", "1", "--n", "3"]) in (0, 1)


def test_json_says_it_all_and_nothing_else(folder: Path, capsys: Capture) -> None:
    assert main(["train", "bits.npz", "-o", "m.tm", *QUICK, "--weighted", "--json", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == {"path": "m.tm", "sha256": tv.load("m.tm").content_hash}
    assert found["data"] == {"source": "bits.npz", "train": 150, "test": 50, "features": 6, "classes": [0, 1]}
    settings = found["settings"]
    assert (settings["n_clauses"], settings["weighted"], settings["random_state"]) == (20, True, 3)
    assert (found["epochs"], found["interrupted"], len(found["history"])) == (5, False, 5)
    assert found["accuracy"]["test"] == found["history"][-1]["accuracy"]
    assert found["clauses_per_class"] == {"0": 10, "1": 10}


def test_the_same_seed_gives_the_same_model(folder: Path, capsys: Capture) -> None:
    for name, options in {"a": ["-j", "1"], "b": ["-j", "2"], "c": ["--seed", "1"]}.items():
        assert main(["train", "bits.npz", "-o", f"{name}.tm", *QUICK, *options, "--quiet"]) == 0
    assert tv.load("a.tm") == tv.load("b.tm") != tv.load("c.tm")
    assert capsys.readouterr().out == ""


def test_a_table_of_numbers_and_text(folder: Path, capsys: Capture) -> None:
    command = ["train", "people.csv", "--target", "income", "-o", "p.tm", "--save-test", "p.npz"]
    assert main([*command, "--test-size", "0.1", *QUICK]) == 0
    assert "people.csv: 180 training and 20 test inputs" in capsys.readouterr().out
    model = tv.load("p.tm")
    names = model.feature_names
    assert names is not None
    assert {"owner", "city = Oslo", "city = Rome"} < set(names)
    assert names[0].startswith("age > ")
    assert model.classes == ("high", "low")
    with np.load("p.npz") as saved:
        assert (saved["X"].shape, saved["X"].dtype) == ((20, len(names)), np.uint8)
        assert saved["feature_names"].tolist() == list(names)
        turned = {name: saved[name][..., ::-1] for name in ("X", "feature_names")}
        np.savez("turned.npz", **turned, y=saved["y"])
        assert np.mean(model.predict(saved["X"]) == saved["y"]) > 0.7
    accuracies = []
    for data in ("p.npz", "turned.npz"):
        assert main(["predict", "p.tm", data, "--json"]) == 0
        accuracies.append(json.loads(capsys.readouterr().out)["accuracy"])
    assert accuracies[0] == accuracies[1] > 0.7


def test_a_value_that_only_the_held_out_rows_have(folder: Path) -> None:
    for row in range(20):  # whichever rows are drawn, the 7 must not matter
        bits = np.arange(40).reshape(20, 2) // 3 % 2
        bits[row, 0] = 7
        np.savez("rare.npz", X=bits, y=np.arange(20) % 2)
        data, _ = read_data("rare.npz", Reading(), data_dir=None, seed=0)
        assert len(data.y_test) == 5
        assert data.X_test.max() <= 1


def test_all_rows_to_learn_from(folder: Path, capsys: Capture) -> None:
    assert main(["train", "bits.npz", "-o", "m.tm", "--test-size", "0", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "200 training and no test inputs" in out
    assert "% of 200 training inputs\n" in out


def test_early_stopping(folder: Path, capsys: Capture) -> None:
    options = [*QUICK[:-2], "--epochs", "200", "--patience", "3"]
    assert main(["train", "bits.npz", "-o", "m.tm", *options]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"epochs  \d+, in .* s; the best, \d+, was kept \(\d+\.\d+% of the validation part\)", out
    )


def test_a_checkpoint_goes_on_to_the_same_model(folder: Path, capsys: Capture) -> None:
    straight = ["train", "bits.npz", "-n", "20", "--epochs", "8"]
    assert main([*straight, "-o", "a.tm", "--quiet"]) == 0
    begun = ["train", "bits.npz", "-n", "20", "--checkpoint", "c.state", "-o", "b.tm"]
    assert main([*begun, "--epochs", "3", "--quiet"]) == 0
    assert tv.load("b.tm") != tv.load("a.tm")
    assert main([*begun, "--epochs", "8"]) == 0
    assert "(3 of them before, from c.state)" in capsys.readouterr().out
    assert tv.load("b.tm") == tv.load("a.tm")
    assert main([*begun, "--epochs", "8", "--weighted"]) == 3
    assert "other values of weighted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "cats -o m.tm",
            "one of digits, mnist, fashion-mnist, mnist-c, imdb, or it must be a file that ends in .csv",
        ),
        ("digits", "Missing option '--output'"),
        ("digits -o no/m.tm", "there is no folder"),
        ("digits -o .", "not a regular file"),
        ("digits -o m.tm --clauses 1", "--clauses"),
        ("digits -o m.tm --specificity 0.5", "--specificity"),
        ("digits -o m.tm --specificity nan", "--specificity"),
        ("digits -o m.tm --target y", "--target is for files"),
        ("digits -o m.tm --test-size 0.5", "--test-size is for files"),
        (
            "digits -o m.tm --save-test t.csv",
            "--save-test FILE.csv keeps the rows of a table; choose FILE.npz for bits",
        ),
        ("digits -o m.tm --checkpoint m.tm", "must be different files"),
        ("bits.npz -o bits.npz", "must be different files"),
        ("bits.npz -o m.tm --checkpoint people.csv", "people.csv: not a training state"),
        ("bits.npz -o m.tm --test-size 1", "--test-size must be a share"),
        ("bits.npz -o m.tm --test-size 0 --save-test t.npz", "--save-test needs test data"),
        ("bits.npz -o m.tm --data-dir .", "--data-dir is for datasets"),
        ("none.npz -o m.tm", "none.npz: there is no such file"),
        ("people.csv -o m.tm", "with --target COLUMN. The columns of line 1 are age, city, owner, income"),
        ("people.csv -o m.tm --target sex", "named 'sex'. The columns of line 1 are age, city"),
        (
            "odd.csv -o m.tm",
            "only once, in line 2: is it a total, or misspelt? Mend or leave out the row; or choose",
        ),
        ("team.csv -o m.tm", "may not be called 'team'"),
        ("bits.npz -o m.tm --tune 5 --checkpoint c.state", "add --checkpoint to the command that it prints"),
        ("mnist -o m.tm", "MNIST needs a data folder"),
        ("imdb -o m.tm --data-dir .", "was not found in"),
    ],
)
def test_errors(folder: Path, capsys: Capture, command: str, message: str) -> None:
    expect_error(capsys, f"train {command}", message)


def test_the_search_prints_a_command_that_gives_the_same_model(folder: Path, capsys: Capture) -> None:
    command = ["train", "bits.npz", "-o", "m.tm", "--epochs", "4", "-n", "20", "--seed", "5", "--no-weighted"]
    assert main([*command, "--tune", "1"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "% of the validation part" in out
    printed = shlex.split(out.split("the same without a search: ")[1])
    assert printed[:3] == ["tmverify", "train", "bits.npz"]
    assert {"--boost", "--threshold", "--specificity", "--no-weighted"} < set(printed)
    assert "--tune" not in printed
    assert printed[printed.index("--epochs") + 1] == "4"
    tuned = tv.load("m.tm")
    assert main([*printed[1:], "--quiet"]) == 0
    assert tv.load("m.tm") == tuned


def test_the_search_in_json(folder: Path, capsys: Capture) -> None:
    assert main(["train", "bits.npz", "-o", "m.tm", *QUICK, "--tune", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    search, settings = found["search"], found["settings"]
    assert search["command"].startswith("tmverify train bits.npz")
    assert not search["interrupted"]
    best = [trial["settings"] for trial in search["trials"]]
    assert {name: settings[name] for name in best[0]} in best
    assert settings["boost_true_positive"] is True
    assert main(["train", "bits.npz", "-o", "m.tm", *QUICK, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["search"] is None


def test_no_limit_of_literals_instead_of_a_datasets_own() -> None:
    assert make_estimator("imdb").max_literals == DEFAULTS["imdb"].max_literals
    assert make_estimator("imdb", max_literals=0).max_literals is None
    assert make_estimator("imdb", max_literals=7).max_literals == 7


def test_the_table_of_defaults() -> None:
    assert set(Settings._fields) < set(tv.TsetlinMachineClassifier().get_params())
    with pytest.raises(tv.InvalidInputError, match=", ".join(DATASETS)):
        tv.load_dataset("none")


def start(*arguments: str, **streams: int) -> subprocess.Popen[str]:
    return subprocess.Popen([*TMVERIFY, "train", *arguments], env=ENVIRONMENT, text=True, **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(("presses", "more"), [(1, []), (3, ["--early-stopping", "--patience", "1000000"])])
def test_ctrl_c_saves_the_finished_epochs(folder: Path, presses: int, more: list[str]) -> None:
    terminal, end = pty.openpty()
    options = ["--epochs", "1000000", "--checkpoint", "c.state", *more]
    process = start("bits.npz", "-o", "m.tm", "-n", "20", *options, stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.start()
    try:
        seen = b""
        while b"validation accuracy" not in seen:
            seen += os.read(terminal, 1 << 16)
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        out, _ = process.communicate(timeout=LIMIT)
    finally:
        watchdog.cancel()
        process.kill()
        os.close(terminal)
    # After the work, while Python ends, one more Ctrl-C may end it the hard way; nothing is lost by then.
    assert process.returncode in ([130] if presses == 1 else [130, -signal.SIGINT])
    assert "INTERRUPTED  the model of " in out
    assert "the same command goes on from there" in out
    assert "training inputs, " in out
    assert "\x1b" not in out
    assert tv.load("m.tm").n_clauses == 20
    assert tv.TsetlinMachineClassifier.resume("c.state").n_epochs_ >= 1


def test_ctrl_c_before_an_epoch_is_finished(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tmverify.training.estimator.TsetlinMachineClassifier.fit", pressed)
    assert main(["train", "bits.npz", "-o", "m.tm"]) == 130
    assert "no model was written" in capsys.readouterr().err
    assert not Path("m.tm").exists()


def test_ctrl_c_while_measuring_keeps_the_model(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tmverify.cli.training_run.TrainingRun._measure", pressed)
    assert main(["train", "bits.npz", "-o", "m.tm", *QUICK]) == 130
    out = capsys.readouterr().out
    assert "INTERRUPTED  the model of 5 of 5 epochs was saved" in out
    assert "not measured" in out
    assert tv.load("m.tm").n_clauses == 20


def test_what_is_no_terminal_gets_the_report_and_no_bar(folder: Path, capfd: Capture) -> None:
    assert main(["train", "bits.npz", "-o", "m.tm", *QUICK]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("bits.npz: 150 training and 50 test inputs")
    assert "training ━" not in out + err
    assert "\x1b" not in out + err


def test_a_model_that_reads_as_another_does(folder: Path, capsys: Capture) -> None:
    """Two trainings on one table cut its numbers at other places, unless the second does as the first."""
    table = ["train", "people.csv", "--target", "income"]
    assert main([*table, "-o", "a.tm", "--seed", "1", "-q", *QUICK]) == 0
    assert main([*table, "-o", "b.tm", "--seed", "2", "-q", *QUICK]) == 0
    assert main([*table, "-o", "c.tm", "--seed", "2", "--like", "a.tm", "-q", *QUICK]) == 0
    a, b, c = (tv.load(f"{name}.tm") for name in "abc")
    assert a.space == c.space != b.space
    assert main(["equivalence", "a.tm", "c.tm"]) in (0, 1)
    capsys.readouterr()
    expect_error(capsys, "equivalence a.tm b.tm", "train --like FIRST")
    given = "train people.csv --target income -o d.tm"
    expect_error(capsys, f"{given} --like a.tm --text city", "leave --text and --missing out")
    expect_error(capsys, f"{given} --like no.tm", "No such file")
    (folder / "less.csv").write_text("age,income\n3,low\n4,high\n" * 4)
    expect_error(capsys, "train less.csv --target income -o d.tm --like a.tm", "lacks 'city'")
