"""Any error in the command line or the files gives one line on standard error, and exit code 3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.cli_cases import Capture, expect_error, majority, save, three_classes
from tmverify.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save(majority(), tmp_path / "m.tm")
    save(three_classes(), tmp_path / "three.tm")
    np.savez(tmp_path / "d.npz", X=np.eye(9, dtype=int), y=[*range(9)])
    np.savez(tmp_path / "narrow.npz", X=np.eye(6, dtype=int), y=["0", "1", "2", "0", "7", "0"])
    np.savetxt(tmp_path / "bits.csv", np.eye(9), fmt="%d", delimiter=",")
    (tmp_path / "bad.csv").write_text("0,1\n0,x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("nonsense", "No such command 'nonsense'"),
        ("robustness", "Missing argument 'MODEL'"),
        ("robustness m.tm d.npz --nonsense", "No such option"),
        ("robustness m.tm d.npz --epsilon one", "--epsilon"),
        ("robustness m.tm d.npz --epsilon -1", "Got -1 instead"),
        ("robustness m.tm d.npz --epsilon 1 --epsilon 10", "between 0 and n_features=9. Got 10"),
        ("robustness none.tm d.npz", "none.tm: No such file"),
        ("robustness d.npz d.npz", "d.npz: not a tmverify model"),
        ("robustness m.tm none.npz", "none.npz: there is no such file"),
        ("robustness m.tm m.tm", "must be a file that ends in .npz, .npy, .csv"),
        ("robustness m.tm bad.csv", "bad.csv, line 2, column x1"),
        ("robustness m.tm narrow.npz", "X of narrow.npz must have n_features=9 columns. Got 6"),
        ("robustness m.tm d.npz --n 10", "n must be at most the number of inputs, 9"),
        ("robustness m.tm d.npz --n 0", "--n"),
        ("robustness m.tm d.npz --seed -1", "--seed"),
        ("robustness m.tm d.npz --engine magic", "engine must be one of auto, "),
        ("robustness m.tm d.npz --scope middle", "a class of the model (low, high). Got 'middle'"),
        ("robustness m.tm d.npz --scope own", "needs labels that are classes of the model (low, high)"),
        ("robustness three.tm narrow.npz --scope own", "Input 4 has the label '7'"),
        ("robustness m.tm d.npz --features 3,f1", "'f1' is not a name"),
        ("robustness three.tm narrow.npz --features f1", "the model's features have no names"),
        ("robustness m.tm d.npz --features 3-9", "between 0 and 8"),
        ("robustness m.tm d.npz --features 5-3", "ranges rising"),
        ("robustness m.tm d.npz --direction up", "--direction must be add or remove"),
        ("robustness m.tm d.npz --timeout 0", "--timeout must be a positive number"),
        ("robustness m.tm d.npz --timeout nan", "--timeout must be a positive number"),
        ("robustness m.tm d.npz --save-witnesses w.txt", "must end in .npz"),
        ("robustness m.tm d.npz --save-witnesses no/w.npz", "there is no folder"),
        ("robustness m.tm d.npz --save-witnesses d.npz", "Got d.npz twice"),
        ("similarity m.tm three.tm d.npz", "n_features=9 and n_features=6"),
        ("universal-robustness m.tm d.npz --eta 1.1", "between 0 and 1"),
        ("universal-robustness m.tm d.npz --scope own", "scope must be team or a class"),
        ("universal-robustness m.tm d.npz --timeout-per-input -1", "--timeout-per-input"),
        ("equivalence m.tm three.tm", "same features"),
        ("universal-robustness m.tm d.npz --save-witnesses d.npz", "must be different files"),
        ("radius m.tm", "Missing argument 'DATA'"),
        ("radius m.tm d.npz --epsilon 1", "No such option"),
        ("radius none.tm d.npz", "none.tm: No such file"),
        ("radius m.tm narrow.npz", "X of narrow.npz must have n_features=9 columns. Got 6"),
        ("radius m.tm d.npz --n 10", "n must be at most the number of inputs, 9"),
        ("radius m.tm d.npz --engine magic", "engine must be one of auto, "),
        ("radius m.tm d.npz --scope own", "needs labels that are classes of the model (low, high)"),
        ("radius m.tm d.npz --features 3-9", "between 0 and 8"),
        ("radius m.tm d.npz --direction up", "--direction must be add or remove"),
        ("radius m.tm d.npz --timeout 0", "--timeout must be a positive number"),
        ("radius m.tm d.npz --rows -1", "--rows"),
        ("radius m.tm d.npz --csv r.txt", "--csv must end in .csv"),
        ("radius m.tm d.npz --csv no/r.csv", "there is no folder"),
        ("radius m.tm bits.csv --csv ./bits.csv", "--save-witnesses and --store must be different files"),
        ("radius m.tm d.npz --save-witnesses d.npz", "Got d.npz twice"),
        ("radius m.tm d.npz --save-witnesses w.txt", "must end in .npz"),
        ("radius m.tm d.npz --against three.tm", "n_features=9 and n_features=6"),
        ("info m.tm --clauses -1", "--clauses"),
        ("predict m.tm d.npz -o out.txt", "must end in .csv or .npy"),
        ("predict m.tm bits.csv -o bits.csv", "must be different files"),
        ("predict m.tm d.npz -o out.npy --scores", "choose --output FILE.csv"),
        ("export m.tm d.npz", "Missing option"),
        ("export m.tm -o q.cnf", "Give DATA"),
        ("export m.tm d.npz -o m.tm", "Got m.tm twice"),
        ("export m.tm d.npz -o q.cnf --index 9", "--index must be below"),
        ("export m.tm d.npz -o q.cnf --encoding base64", "--encoding must be one of sat, paper"),
        ("export m.tm d.npz -o .", "not a regular file"),
        ("export m.tm --against m.tm -o q.cnf --features 1", "need DATA"),
    ],
)
def test_one_line_and_exit_code_3(capsys: Capture, folder: Path, command: str, message: str) -> None:
    expect_error(capsys, command, message)


def test_no_command_shows_the_help(capsys: Capture) -> None:
    assert main([]) == 3
    assert "universal-robustness" in capsys.readouterr().out


def test_a_bug_is_shown_and_claims_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("tmverify.asking.subject.open_models", broken)
    assert main(["info", "m.tm"]) == 2
    assert "ZeroDivisionError" in capsys.readouterr().err
