"""--certificate of every deciding command, and certify, which checks what it wrote."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pysat.formula import CNF
from pysat.solvers import Solver

import tmverify as tv
from support.certified import claim_line
from support.cli_cases import (
    XOR,
    Capture,
    ask_json,
    expect_error,
    majority,
    near_and_far,
    run,
    save,
    save_inputs_of_majority,
)
from tmcheck.lrat import check_lrat
from tmverify.certificates import claims
from tmverify.cli import main
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.sat import refutation
from tmverify.verify import decide, nearest

TMCHECK = Path(__file__).parents[3] / "src" / "tmcheck"
CHECKED = "the checker tmcheck, once it accepts the certificate"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """m.tm and b.tm, a stricter one; d.npz: rows that are 5, 3, 1, 1, 3 and 5 flips from m's other class."""
    m = majority()
    save(m, tmp_path / "m.tm")
    save(
        tv.Model.from_clauses(
            9, list(m.clauses), m.weights, bias=-11, classes=m.classes, feature_names=m.feature_names
        ),
        tmp_path / "b.tm",
    )
    save_inputs_of_majority(tmp_path / "d.npz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path) -> list[str]:
    """The certificates without what makes their names unique: 16 digits of what was asked."""
    names = sorted(path.name for path in (folder / "proofs").iterdir())
    assert all(re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{16}\.tmcert", name) for name in names)
    return [name[: -len("-0123456789abcdef.tmcert")] for name in names]


def whole(path: str) -> str:
    """The certificate whose name begins so."""
    (found,) = Path().glob(f"{path}-*.tmcert")
    return str(found)


def ask(capsys: Capture, command: str) -> tuple[int, dict[str, Any]]:
    return ask_json(capsys, *command.split())


@pytest.mark.parametrize(
    ("command", "code", "names"),
    [
        (
            "robustness m.tm d.npz -e 1 -e 3 --n 2",
            1,
            ["robustness-0001-eps1", "robustness-0001-eps3", "robustness-0005-eps1", "robustness-0005-eps3"],
        ),
        ("robustness m.tm d.npz -e 0 --n 1 --scope own", 0, ["robustness-0002-eps0"]),
        ("similarity m.tm b.tm d.npz --n 1", 1, ["similarity-0002-eps1"]),
        ("equivalence m.tm b.tm", 1, ["equivalence"]),
        ("equivalence m.tm m.tm --scope low", 0, ["equivalence"]),
        ("radius m.tm d.npz --n 1", 0, ["radius-0002"]),
        ("radius m.tm d.npz --n 1 --direction remove", 0, ["radius-0002"]),
        ("radius m.tm d.npz --n 1 --features 0-2", 0, ["radius-0002"]),
        ("radius m.tm d.npz --n 1 --against b.tm", 0, ["radius-0002"]),
        ("universal-robustness m.tm d.npz --eta 2/3", 0, ["universal-robustness-eps1-eta2of3"]),
        ("universal-robustness m.tm d.npz --eta 0.7", 1, ["universal-robustness-eps1-eta7of10"]),
        (
            "universal-similarity m.tm m.tm d.npz --n 2 --eta 1",
            0,
            ["universal-similarity-eps1-eta1of1"],
        ),
    ],
)
def test_every_command_writes_what_certify_accepts(
    capsys: Capture, folder: Path, command: str, code: int, names: list[str]
) -> None:
    models = [word for word in command.split() if word.endswith(".tm")]
    for _ in range(2):  # the second time, files are replaced
        assert run(f"{command} --certificate proofs") == code
        out = capsys.readouterr().out
        assert written(folder) == names
    if len(names) == 1:
        path = whole(f"proofs/{names[0]}")
        assert f"certificate: {path}\n  check it: tmverify certify {path} {' '.join(models)}\n" in out
    else:
        assert f"certificates: {len(names)} written to proofs\n  check one: tmverify certify proofs/" in out
    for name in names:
        assert run(f"certify {whole(f'proofs/{name}')} {' '.join(models)}") == 0
        assert capsys.readouterr().out.startswith("accepted: ")


def test_the_checker_by_itself_says_the_same(capsys: Capture, folder: Path) -> None:
    assert run("equivalence m.tm m.tm --certificate proofs") == 0
    capsys.readouterr()
    files = [whole("proofs/equivalence"), "m.tm", "m.tm"]
    assert main(["certify", *files]) == 0
    done = subprocess.run(
        [sys.executable, "-I", str(TMCHECK), *files], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (0, capsys.readouterr().out)


def test_json_says_where_it_is_and_what_is_trusted(capsys: Capture, folder: Path) -> None:
    _, found = ask(capsys, "robustness m.tm d.npz --certificate proofs")
    for index, result in enumerate(found["results"]):
        assert result["certificate"] == whole(f"proofs/robustness-{index:04d}-eps1")
        assert result["trusts"][0] == CHECKED
    _, found = ask(capsys, "robustness m.tm d.npz")
    holds, violated = found["results"][0], found["results"][2]
    assert holds["certificate"] is violated["certificate"] is None
    assert "numba" in holds["trusts"]
    assert violated["trusts"] == ["the plain evaluator (tmverify.model.evaluate)", "NumPy"]
    _, found = ask(capsys, "equivalence m.tm m.tm --certificate proofs")
    (result,) = found["results"]
    assert (result["certificate"], result["trusts"][0]) == (whole("proofs/equivalence"), CHECKED)
    _, found = ask(capsys, "radius m.tm d.npz --n 1 --certificate proofs")
    assert found["results"][0]["certificate"] == whole("proofs/radius-0002")


def test_json_of_a_universal_question_has_one_certificate(capsys: Capture, folder: Path) -> None:
    _, found = ask(capsys, "universal-robustness m.tm d.npz --eta 2/3 --certificate proofs")
    assert found["certificate"] == whole("proofs/universal-robustness-eps1-eta2of3")
    assert found["trusts"][0] == CHECKED
    assert {result["certificate"] for result in found["results"]} == {None}
    assert all(CHECKED not in result["trusts"] for result in found["results"])


def test_csv_has_a_column_where_certificates_are_wanted(capsys: Capture, folder: Path) -> None:
    assert run("radius m.tm d.npz --n 1 --csv r.csv --certificate proofs") == 0
    with open("r.csv", newline="", encoding="utf-8") as file:
        assert [row["certificate"] for row in csv.DictReader(file)] == [whole("proofs/radius-0002")]
    assert run("radius m.tm d.npz --n 1 --csv r.csv") == 0
    assert "certificate" not in Path("r.csv").read_text()


def test_an_answer_without_one_says_why(capsys: Capture, folder: Path) -> None:
    machine, X = near_and_far()
    save(machine, folder / "far.tm")
    np.save("far.npy", X)
    options = "far.tm far.npy --engine search --timeout 1e-9 --certificate proofs"
    assert run(f"robustness {options} -e 20") == 2
    out = capsys.readouterr().out
    assert "no certificate for 2 of 2 answers: unknown claims nothing that could be proved\n" in out
    assert run(f"radius {options} --n 1 --seed 1") == 2
    out = capsys.readouterr().out
    assert "no certificate: the radius is not exact, and bounds have none\n" in out
    assert written(folder) == []


def test_evidence_that_is_not_complete(
    capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tmverify.engines.proof_log.ProofLog.proof_of", lambda *_: None)
    assert run("robustness m.tm d.npz --certificate proofs") == 1
    out = capsys.readouterr().out
    assert "certificates: 2 written to proofs\n" in out
    assert "no certificate for 4 of 6 answers: " in out
    _, found = ask(capsys, "robustness m.tm d.npz --n 1 -e 0 --certificate proofs")
    assert (found["results"][0]["status"], found["results"][0]["certificate"]) == ("holds", None)
    assert "numba" in found["results"][0]["trusts"]


def failing_after(n: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, but Ctrl-C comes after ``n`` calls."""
    left = iter(range(n))

    def call(*arguments: Any, **options: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return call


def test_ctrl_c_keeps_what_is_written(capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmverify.asking.answer.decide", failing_after(2, decide))
    assert run("robustness m.tm d.npz --certificate proofs") == 130
    assert "certificates: 2 written to proofs\n" in capsys.readouterr().out
    monkeypatch.setattr("tmverify.asking.answer.nearest", failing_after(1, nearest))
    assert run("radius m.tm d.npz --certificate proofs") == 130
    assert f"certificate: {whole('proofs/radius-0000')}\n" in capsys.readouterr().out
    assert written(folder) == ["radius-0000", "robustness-0000-eps1", "robustness-0001-eps1"]


@pytest.mark.parametrize("command", ["equivalence m.tm m.tm", "universal-robustness m.tm d.npz --eta 0.5"])
def test_ctrl_c_while_writing_loses_no_answer(
    capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(tv.Certificate, "blocks", failing_after(0, tv.Certificate.blocks))
    assert run(f"{command} --certificate proofs") == 130
    out = capsys.readouterr().out
    assert "INTERRUPTED HOLDS" in out
    assert "no certificate: interrupted before one was written\n" in out
    assert written(folder) == []


@pytest.mark.parametrize(
    "command",
    [
        "robustness m.tm d.npz --n 1 -e 0",
        "equivalence m.tm m.tm",
        "radius m.tm d.npz --n 1",
        "universal-robustness m.tm d.npz --eta 0.5",
    ],
)
def test_a_full_disk_loses_no_answer(
    capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tv.Certificate, "save", full)
    assert run(f"{command} --certificate proofs") == 3
    out, err = capsys.readouterr()
    assert "HOLDS" in out or "EXACT" in out
    assert "no certificate: proofs/" in out
    assert err == "error: No space left on device.\n"
    monkeypatch.setattr("tmverify.cli.output._write", lambda *_: None)
    assert run(f"{command} --certificate proofs --json") == 3


@pytest.mark.parametrize(
    "command",
    [
        "robustness m.tm d.npz",
        "similarity m.tm b.tm d.npz",
        "equivalence m.tm b.tm",
        "radius m.tm d.npz",
        "universal-robustness m.tm d.npz",
        "universal-similarity m.tm b.tm d.npz",
    ],
)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--certificate new --engine paper", "one of auto, search, sat for a certificate. Got 'paper'"),
        ("--certificate new --engine brute", "one of auto, search, sat for a certificate. Got 'brute'"),
        ("--certificate m.tm", "--certificate m.tm: not a folder"),
        ("--certificate m.tm/new", "m.tm/new: no certificates can be kept there (Not a directory)"),
        ("--certificate new --scope middle", "scope must be team or a class of the model"),
    ],
)
def test_errors_come_before_any_work(
    capsys: Capture, folder: Path, command: str, options: str, message: str
) -> None:
    expect_error(capsys, f"{command} {options}", message)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody may write")
def test_a_folder_that_may_not_be_written_to(capsys: Capture, folder: Path) -> None:
    assert run("equivalence m.tm m.tm --certificate /proc/self") == 3
    assert "/proc/self: no certificates can be kept there" in capsys.readouterr().err


def test_two_questions_never_share_a_file(capsys: Capture, folder: Path) -> None:
    """Whatever narrows a question is in the name of its certificate; nothing that was typed is."""
    asked = ["", "--direction add", "--features 0-2", "--features 0-3", "--scope low", "--scope high"]
    for options in asked:
        assert run(f"robustness m.tm d.npz -e 0 --n 1 --certificate proofs {options}") == 0
    assert written(folder) == ["robustness-0002-eps0"] * len(asked)


def test_paths_are_quoted_for_the_shell(capsys: Capture, folder: Path) -> None:
    assert main(["equivalence", "m.tm", "m.tm", "--certificate", "my proofs"]) == 0
    path = whole("my proofs/equivalence")
    assert f"check it: tmverify certify '{path}' m.tm m.tm\n" in capsys.readouterr().out


@pytest.fixture
def proved(capsys: Capture, folder: Path) -> Path:
    """A certificate that m.tm keeps its decision on the first input within 3 flips."""
    assert run("robustness m.tm d.npz -e 3 --certificate proofs") == 1
    capsys.readouterr()
    return Path(whole("proofs/robustness-0000-eps3"))


def with_claim(path: Path, **changes: object) -> Path:
    """A copy with other words in its first line."""
    first, rest = path.read_bytes().split(b"\n", 1)
    other = path.with_name("other.tmcert")
    other.write_bytes(claim_line({**json.loads(first), **changes}) + rest)
    return other


def test_refused(capsys: Capture, proved: Path) -> None:
    assert run(f"certify {proved} b.tm") == 1
    assert "refused: the claim is about model" in capsys.readouterr().out
    assert run(f"certify {proved} m.tm m.tm") == 1
    assert run(f"certify {with_claim(proved, epsilon=4)} m.tm") == 1
    assert "refused: shown to hold on 0 of 1 input(s); 1 required\n" in capsys.readouterr().out
    code, found = ask(capsys, f"certify {with_claim(proved, answer='violated')} m.tm")
    assert (code, found["result"], found["claim"]) == (1, "refused", None)
    assert "not enough" in found["reason"]


@pytest.mark.parametrize(
    ("certificate", "model", "reason"),
    [
        ("none.tmcert", "m.tm", "none.tmcert: No such file"),
        ("garbage", "m.tm", "the certificate is no valid JSON"),
        ("m.tm", "m.tm", ""),
        ("cut", "m.tm", "the certificate ends in or before line"),
        (".", "m.tm", ". is not a regular file"),
        ("", "none.tm", "none.tm: No such file"),
        ("", "damaged.tm", "the model file is damaged"),
        ("", "d.npz", "no model file"),
    ],
)
def test_unreadable(capsys: Capture, proved: Path, certificate: str, model: str, reason: str) -> None:
    Path("garbage").write_bytes(b"\x1b[31mnonsense\n" * 20)
    Path("cut").write_bytes(proved.read_bytes()[:-10])
    whole = Path("m.tm").read_bytes()
    Path("damaged.tm").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    command = f"certify {certificate or proved} {model}"
    assert run(command) == 2
    out = capsys.readouterr().out
    assert out.startswith(f"unreadable: {reason}")
    assert out.count("\n") == 1
    assert "\x1b" not in out
    code, found = ask(capsys, command)
    assert (code, found["result"], found["claim"]) == (2, "unreadable", None)
    assert found["reason"].startswith(reason)


def test_json_of_certify(capsys: Capture, proved: Path) -> None:
    code, found = ask(capsys, f"certify {proved} m.tm")
    assert (code, found["result"], found["reason"]) == (0, "accepted", None)
    assert (found["claim"]["question"], found["claim"]["epsilon"]) == ("robustness", 3)
    assert found["claim"]["models"] == [tv.load("m.tm").content_hash]
    assert found["in_words"].endswith("keeps its decision within 3 flip(s) of the input 0000")


def test_control_characters_in_a_certificate_are_shown_not_obeyed(capsys: Capture, proved: Path) -> None:
    other = with_claim(proved, models=["\x1b[31m\n"])
    assert run(f"certify {other} m.tm") == 2
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("\n") == 1


def read_lines(path: Path) -> list[list[int]]:
    return [[int(word) for word in line.split()] for line in path.read_text().splitlines()]


def by_the_solver_alone(folder: Path) -> None:
    """Two machines that are equivalent, and a certificate of it that rests on clausal proofs alone."""
    a = tv.Model.from_clauses(2, XOR, [1, 1, -1, -1])
    b = tv.Model.from_clauses(2, [[1, -2], [-1, 2]], [-1, -1])
    save(a, folder / "x.tm")
    save(b, folder / "y.tm")
    query = tv.equivalence_query(a, b)
    evidence = ProofLog()
    refutation.prove(query, evidence, sweep=False)
    text = evidence.proof_of(query, query.region.radius)
    assert text is not None
    (folder / "proofs").mkdir()
    claims.holds(query, text).save(folder / "proofs" / "equivalence.tmcert")


def test_formulas_for_other_checkers(capsys: Capture, folder: Path) -> None:
    by_the_solver_alone(folder)
    command = "certify proofs/equivalence.tmcert x.tm y.tm --formulas new/formulas"
    assert run(command) == 0
    assert "formulas: 2 written to new/formulas\n" in capsys.readouterr().out
    assert ask(capsys, command)[1]["formulas"] == 2
    target = Path("new/formulas")
    assert sorted(path.name for path in target.iterdir()) == ["1.cnf", "1.lrat", "2.cnf", "2.lrat"]
    for name in "12":
        formula = CNF(from_file=str(target / f"{name}.cnf"))
        with Solver(name="g4", bootstrap_with=formula) as solver:
            assert solver.solve() is False
        header = (target / f"{name}.cnf").read_text().split("\n", 1)[0]
        assert header == f"p cnf {formula.nv} {len(formula.clauses)}"
        proof = read_lines(target / f"{name}.lrat")
        check_lrat([tuple(clause) for clause in formula.clauses], proof)
        assert all(line.count(0) == 2 for line in proof)
        assert proof[-1][1] == 0


def test_formulas_where_there_are_none(capsys: Capture, proved: Path) -> None:
    assert run(f"certify {proved} m.tm --formulas formulas") == 0
    assert "formulas: 0 written to formulas\n" in capsys.readouterr().out
    assert list(Path("formulas").iterdir()) == []
    assert run(f"certify {proved} m.tm --formulas m.tm") == 3
    assert "--formulas m.tm: no files can be written there (File exists)" in capsys.readouterr().err


def test_formulas_on_a_full_disk_are_no_fault_of_the_certificate(
    capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    by_the_solver_alone(folder)
    monkeypatch.setattr("tmverify.cli.certify._write_lrat", full)
    assert run("certify proofs/equivalence.tmcert x.tm y.tm --formulas formulas") == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "--formulas formulas: no files can be written there (No space left" in err
