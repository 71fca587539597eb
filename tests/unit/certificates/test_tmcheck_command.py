"""The command ``tmcheck``: one certificate, many, folders, in any order, and what is wrong with files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tmverify as tv
from support.certified import STANDALONE, text_of
from tmcheck.cli import main

MODEL = tv.Model.from_clauses(3, [[1], [2], [-3, 1]], [[1, 1, 1]], bias=-2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model, two certificates that are accepted, one that is refused, and one that is none."""
    monkeypatch.chdir(tmp_path)
    MODEL.save("m.tm")
    (tmp_path / "proofs").mkdir()
    for name, x in (("a", [0, 0, 1]), ("b", [1, 1, 1])):
        certificate = tv.check_robustness(MODEL, x, 1, certificate=True).certificate
        (tmp_path / "proofs" / f"{name}.tmcert").write_bytes(text_of(certificate))
    good = (tmp_path / "proofs" / "a.tmcert").read_bytes()
    (tmp_path / "refused").write_bytes(good.replace(b"\nclose\n", b"\nfix\n"))
    (tmp_path / "odd").write_bytes(b"nothing of the kind\n")
    (tmp_path / "proofs" / "notes.txt").write_text("not a certificate")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    code = main(arguments)
    return code, capsys.readouterr().out.splitlines()


def test_one_certificate_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for order in (["proofs/a.tmcert", "m.tm"], ["m.tm", "proofs/a.tmcert"]):
        code, said = run(capsys, *order)
        assert (code, len(said)) == (0, 1)
        assert said[0].startswith("accepted: model ")
    assert run(capsys, "refused", "m.tm") == (
        1,
        ["refused: 'fix' where the bound is below the need: 'close' instead"],
    )
    code, said = run(capsys, "odd", "m.tm")
    assert (code, said[0][:12]) == (2, "unreadable: ")


def test_many_certificates_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "proofs/a.tmcert", "proofs/b.tmcert", "m.tm")
    assert [line[:25] for line in said[:2]] == ["proofs/a.tmcert: accepted", "proofs/b.tmcert: accepted"]
    assert (code, said[2]) == (0, "2 certificate(s): 2 accepted, 0 refused, 0 unreadable")
    code, said = run(capsys, "m.tm", "proofs/a.tmcert", "refused", "proofs/b.tmcert")
    assert (code, said[-1]) == (1, "3 certificate(s): 2 accepted, 1 refused, 0 unreadable")
    code, said = run(capsys, "odd", "proofs/a.tmcert", "refused", "none", "m.tm")
    assert (code, said[-1]) == (2, "4 certificate(s): 1 accepted, 1 refused, 2 unreadable")


def test_a_folder_of_certificates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for order in (["--dir", "proofs", "m.tm"], ["m.tm", "--dir", "proofs"]):
        code, said = run(capsys, *order)
        assert (code, said[-1]) == (0, "2 certificate(s): 2 accepted, 0 refused, 0 unreadable")
    code, said = run(capsys, "--dir", "proofs", "refused", "m.tm")
    assert (code, len(said)) == (1, 4)
    assert run(capsys, "--dir", "nowhere", "m.tm")[0] == 2
    (folder / "empty").mkdir()
    assert run(capsys, "--dir", "empty", "m.tm")[0] == 2


def test_two_models(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tv.Model.from_clauses(3, [[2], [1], [-3, 1]], [[1, 1, 1]], bias=-2)
    other.save("other.tm")
    certificate = tv.check_equivalence(MODEL, other, certificate=True).certificate
    (folder / "same.tmcert").write_bytes(text_of(certificate))
    assert run(capsys, "same.tmcert", "m.tm", "other.tm")[0] == 0
    assert run(capsys, "m.tm", "same.tmcert", "other.tm")[0] == 0
    assert run(capsys, "same.tmcert", "other.tm", "m.tm")[0] == 1
    assert run(capsys, "same.tmcert", "m.tm")[0] == 1
    assert run(capsys, "same.tmcert", "m.tm", "m.tm", "other.tm")[0] == 2


def test_what_is_printed_is_plain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b[2K\n\N{SNOWMAN}.tmcert"
    os.link("proofs/a.tmcert", name)
    code, said = run(capsys, name, "proofs/b.tmcert", "m.tm")
    assert (code, len(said)) == (0, 3)
    assert said[0].startswith("a\\x1b[2K\\n\\u2603.tmcert: accepted: ")


def test_a_model_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "damaged.tm").write_bytes((folder / "m.tm").read_bytes()[:-1])
    code, said = run(capsys, "proofs/a.tmcert", "damaged.tm")
    assert (code, said) == (
        2,
        ["unreadable: the model file is damaged: its content does not match its hash"],
    )
    assert run(capsys, "proofs/a.tmcert", "proofs/b.tmcert")[0] == 2


def test_help_and_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "tmcheck --dir FOLDER MODEL" in capsys.readouterr().out
    for arguments in ([], ["one"], ["--dir"], ["--verbose", "a", "b"]):
        assert main(arguments) == 2
        assert "exit code is 0 if all are accepted" in capsys.readouterr().err


def test_as_a_module(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tmcheck", "proofs/a.tmcert", "m.tm"],
        env={**os.environ, "PYTHONPATH": str(STANDALONE.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert done.stdout.startswith("accepted: model ")
