"""Binarized networks on the command line: asked about as machines are, refused where they can't be."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.campaigns import stored, told
from support.cli_cases import Capture, run, save, save_inputs_of_majority
from support.cli_cases import majority as machine
from tmverify.bnn import BnnModel, PixelCuts, load_bnn

PLAN = """
engine = "search"
timeout = 20
[models]
network = "n.bnn"
machine = "m.tm"
[inputs.d]
file = "d.npz"
[[ask]]
question = "robustness"
epsilons = [1, 3]
[[ask]]
question = "radius"
"""


def majority() -> BnnModel:
    """The machine of the other tests, as a network: 1 iff more than half of nine bits are."""
    return BnnModel.from_layers(
        [(np.ones((1, 9), int), [5])],
        [[-1], [1]],
        classes=["low", "high"],
        feature_names=[f"[red]f{i}" for i in range(9)],
    )


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows with 0, 2, 4, 5, 7 and 9 ones: 5, 3, 1, 1, 3 and 5 flips from the other class."""
    monkeypatch.chdir(tmp_path)
    network = majority()
    network.save("n.bnn")
    replace(network, cuts=PixelCuts(np.array([0, 256, *[100] * 7]), np.ones(9, bool))).save("grey.bnn")
    save(machine(), tmp_path / "m.tm")
    save_inputs_of_majority(tmp_path / "d.npz")
    Path("plan.toml").write_text(PLAN)
    return tmp_path


@pytest.mark.parametrize("engine", ["auto", "search", "brute"])
def test_robustness(capsys: Capture, engine: str) -> None:
    assert run(f"robustness n.bnn d.npz -e 1 -e 3 --engine {engine}") == 1
    out, err = capsys.readouterr()
    assert f"robustness of n.bnn\n6 inputs · scope team · engine {engine} · limit 300 s\n" in out
    assert "VIOLATED  6 of 12 queries have a counterexample\n" in out
    assert "  input 2, epsilon 1: class low → class high if [red]f" in out
    assert err == ""
    assert run(f"robustness n.bnn d.npz -e 0 --engine {engine}") == 0
    assert "HOLDS" in capsys.readouterr().out


def test_robustness_as_json_is_that_of_the_machine(capsys: Capture) -> None:
    documents = []
    for model in ("n.bnn", "m.tm"):
        assert run(f"robustness {model} d.npz -e 1 -e 2 -e 5 --direction add --features 2-8 --json") == 1
        documents.append(json.loads(capsys.readouterr().out))
    ours, theirs = ([each["status"] for each in document["results"]] for document in documents)
    assert ours == theirs
    assert {"holds", "violated"} == set(ours)
    assert documents[0]["model"] == {"path": "n.bnn", "sha256": majority().content_hash}


def test_unknown_ends_with_2(capsys: Capture) -> None:
    rows = np.ones((70, 9), int)
    BnnModel.from_layers([(rows, [5] * 70)], [[-1] * 70, [1] * 70]).save("wide.bnn")
    assert run("robustness wide.bnn d.npz -e 2 --engine search") in (1, 2)
    assert "70 neurons of the first block may change" in capsys.readouterr().out


def test_radius_and_its_certificates(capsys: Capture, here: Path) -> None:
    assert run("radius n.bnn d.npz --certificate proofs") == 0
    out = capsys.readouterr().out
    assert "EXACT  exact 6 of 6, open 0 · median 3, least 1, greatest 5\n" in out
    assert "  check one: tmverify certify proofs/radius-0000-" in out
    for path in sorted((here / "proofs").iterdir()):
        assert run(f"certify {path} n.bnn") == 0
        assert "decides otherwise" in capsys.readouterr().out
        assert run(f"certify {path} grey.bnn") == 1
        assert run(f"certify {path} m.tm") == 1
        capsys.readouterr()
    assert run("radius n.bnn d.npz --json") == 0
    assert [each["radius"] for each in json.loads(capsys.readouterr().out)["results"]] == [5, 3, 1, 1, 3, 5]


def test_pixels_that_no_grey_level_changes_stay(capsys: Capture) -> None:
    """Features 0 and 1 are fixed: from 9 ones, seven may go, which is enough; flips are elsewhere."""
    assert run("radius grey.bnn d.npz --json") == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [each["radius"] for each in results] == [5, 3, 1, 1, 3, 5]
    assert all(flip >= 2 for each in results for flip in each["flips"])


def test_universal_robustness(capsys: Capture) -> None:
    assert run("universal-robustness n.bnn d.npz -e 1 --eta 2/3 --certificate u") == 0
    assert "HOLDS  robust: at least 4 of 6 inputs, as eta = 2/3 asks" in capsys.readouterr().out
    (certificate,) = Path("u").glob("*.tmcert")
    assert run(f"certify {certificate} n.bnn") == 0
    assert run("universal-robustness n.bnn d.npz -e 1 --eta 0.7") == 1
    assert "VIOLATED" in capsys.readouterr().out


def test_predict(capsys: Capture, here: Path) -> None:
    assert run("predict n.bnn d.npz --scores -o p.csv") == 0
    out = capsys.readouterr().out
    assert "accuracy 100.00% on 6 inputs" in out
    with open(here / "p.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["index", "label", "expected", "score low", "score high"]
    assert rows[1] == ["0", "low", "low", "1", "0"]
    assert rows[6] == ["5", "high", "high", "0", "1"]
    assert run("predict n.bnn d.npz --json") == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0


def test_info(capsys: Capture) -> None:
    assert run("info n.bnn") == 0
    out = capsys.readouterr().out
    for line in (
        "features  9 ([red]f0, [red]f1, ",
        "classes  low, high",
        "layers  9 - 1 - 2 (binarized network)",
        "grey levels  none: it reads bits",
        f"sha256  {majority().content_hash}",
    ):
        assert line in out
    assert run("info grey.bnn") == 0
    assert "cut into bits; 7 pixels can change theirs" in capsys.readouterr().out
    assert run("info grey.bnn --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["features"], found["layers"]) == ("binarized network", 9, [9, 1, 2])
    assert (found["grey_levels"], found["changeable_features"]) == (True, 7)
    assert found["sha256"] == load_bnn("grey.bnn").content_hash


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("info n.bnn --clauses 3", "a binarized network has none"),
        ("similarity n.bnn m.tm d.npz", "n.bnn is a binarized network; this is for Tsetlin machines"),
        ("similarity m.tm n.bnn d.npz", "n.bnn is a binarized network"),
        ("universal-similarity n.bnn n.bnn d.npz", "n.bnn is a binarized network"),
        ("radius n.bnn d.npz --against m.tm", "n.bnn is a binarized network"),
        ("equivalence n.bnn n.bnn", "n.bnn is a binarized network"),
        ("export n.bnn d.npz -o q.cnf", "n.bnn is a binarized network"),
        ("export n.bnn -o m.c", "n.bnn is a binarized network"),
        ("robustness n.bnn d.npz --scope own", "scope must be team for a binarized network. Got 'own'"),
        ("robustness n.bnn d.npz --scope high", "scope must be team for a binarized network. Got 'high'"),
        ("radius n.bnn d.npz --scope own", "scope must be team for a binarized network"),
        ("universal-robustness n.bnn d.npz --scope high", "scope must be team for a binarized network"),
        ("robustness n.bnn d.npz --engine paper", "auto, search, sat, brute for a binarized network"),
        ("robustness n.bnn d.npz --engine paper --store s.db", "auto, search, sat, brute for a binarized"),
        ("radius n.bnn d.npz --engine paper", "auto, search, sat, brute for a binarized network"),
        ("radius n.bnn d.npz --engine paper -j 2", "auto, search, sat, brute for a binarized network"),
        ("universal-robustness n.bnn d.npz --engine paper", "auto, search, sat, brute for a binarized"),
        ("robustness n.bnn d.npz --engine brute --certificate p", "auto, search, sat for a certificate"),
        ("robustness n.bnn d.npz -e 10", "epsilon must be between 0 and n_features=9. Got 10"),
        ("robustness n.bnn d.npz --features f1", "'f1' is not a name"),
    ],
)
def test_what_networks_can_not_be_asked(capsys: Capture, command: str, message: str) -> None:
    assert run(command) == 3
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_a_damaged_network(capsys: Capture, here: Path) -> None:
    data = (here / "n.bnn").read_bytes()
    (here / "bad.bnn").write_bytes(data[:-1] + b"\xff")
    (here / "short.bnn").write_bytes(data[:-1])
    for name in ("bad.bnn", "short.bnn"):
        for command in (f"robustness {name} d.npz", f"info {name}", f"predict {name} d.npz"):
            assert run(command) == 3
            assert f"error: {name}: " in capsys.readouterr().err


def test_a_campaign_of_a_network_and_a_machine(capsys: Capture, here: Path) -> None:
    """Side by side; half of it, then the rest; the same answers, for they decide the same."""
    (here / "half.toml").write_text(PLAN.replace("[1, 3]", "[1]").replace('machine = "m.tm"\n', ""))
    assert run("campaign run half.toml --store s.db") == 0
    assert "COMPLETE  12 of 12 tasks done, 12 solved, 0 unknown" in capsys.readouterr().out
    first = told(stored(here / "s.db"))
    assert run("campaign run plan.toml --store s.db") == 0
    assert "COMPLETE  36 of 36 tasks done, 36 solved, 0 unknown" in capsys.readouterr().out
    rows = stored(here / "s.db")
    assert first.items() <= told(rows).items()
    answers: dict[str, list[object]] = {"network": [], "machine": []}
    for row in rows:
        assert row.answer is not None
        assert len(row.task.names) == 1
        told_of = (row.task.question, row.task.index, row.task.epsilon, row.answer.status, row.answer.lower)
        answers[row.task.names[0]].append(told_of)
    assert len(answers["network"]) == 18
    assert sorted(map(str, answers["network"])) == sorted(map(str, answers["machine"]))
    assert run("campaign run plan.toml --store s.db") == 0
    assert told(stored(here / "s.db")) == told(rows)
    capsys.readouterr()
    assert run("campaign export s.db --csv o.csv") == 0
    trusts = {row["trusts"] for row in csv.DictReader((here / "o.csv").read_text().splitlines())}
    assert any("engines.network" in text for text in trusts)
    assert run("report s.db -o r.html") == 0
    page = (here / "r.html").read_text()
    assert "<bdi>network</bdi>" in page
    assert "<bdi>machine</bdi>" in page


@pytest.mark.deep
def test_a_campaign_with_certificates(capsys: Capture, here: Path) -> None:
    (here / "plan.toml").write_text('certificates = "proofs"\n' + PLAN)
    assert run("campaign run plan.toml --store s.db") == 0
    models = {"network": "n.bnn", "machine": "m.tm"}
    for row in stored(here / "s.db"):
        assert run(f"certify proofs/{row.task.file_name} {models[row.task.names[0]]}") == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('question = "radius"', 'question = "similarity"', "(similarity): network is a binarized network"),
        (
            'question = "radius"',
            'question = "equivalence"',
            "(equivalence): network is a binarized network",
        ),
        ('question = "radius"', 'question = "radius"\nscope = "own"', "scope must be team for a binarized"),
        (
            'engine = "search"',
            'engine = "paper"',
            "(robustness): engine must be one of auto, search, sat, brute",
        ),
    ],
)
def test_plans_that_networks_can_not_follow(
    capsys: Capture, here: Path, old: str, new: str, message: str
) -> None:
    (here / "plan.toml").write_text(PLAN.replace(old, new))
    assert run("campaign run plan.toml --store s.db") == 3
    assert message in capsys.readouterr().err
    assert not (here / "s.db").exists()
