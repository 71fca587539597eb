"""Names and indices of features on the command line: columns are matched by name, indices count from 0."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import Capture, ask_json, run, save
from tmverify.bnn import BnnModel

NAMES = ("fever", "cough", "rash", "age")
X = np.array([[1, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]])
Y = X[:, 0]  # what the models say: whether there is fever
ORDER = [3, 1, 0, 2]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Models that say whether there is fever; the same data in the models' order and in another."""
    monkeypatch.chdir(tmp_path)
    machine = tv.Model.from_clauses(4, [[1]], [1], bias=-1, feature_names=NAMES)
    save(machine, tmp_path / "m.tm")
    save(replace(machine, bias=np.array([-1]), weights=np.array([[2]])), tmp_path / "twin.tm")
    save(replace(machine, space=tv.Space.flags(4)), tmp_path / "plain.tm")
    swapped = tv.Model.from_clauses(4, [[2]], [1], bias=-1, feature_names=("cough", "fever", *NAMES[2:]))
    save(swapped, tmp_path / "swapped.tm")
    each = [(1, *signs) for signs in product((1, -1), repeat=3)]  # a neuron for each input with fever
    network = BnnModel.from_layers([(each, [4] * 8)], [[-1] * 8, [1] * 8], bias=[-7, 0], feature_names=NAMES)
    network.save("n.bnn")
    np.savez("d.npz", X=X, y=Y)
    np.savez("other.npz", X=X[:, ORDER], y=Y, feature_names=[NAMES[i] for i in ORDER])
    write_csv("other.csv", [*(NAMES[i] for i in ORDER), "y"], np.c_[X[:, ORDER], Y])
    return tmp_path


def write_csv(name: str, header: Sequence[str], rows: np.ndarray[Any, Any]) -> None:
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows.tolist())]
    Path(name).write_text("\n".join(lines) + "\n")


def ask(capsys: Capture, command: str) -> tuple[int, dict[str, Any]]:
    return ask_json(capsys, *command.split())


def found(document: dict[str, Any]) -> Any:
    """What was found: without times, without the path of the data, and without the lines of its rows."""
    if isinstance(document, dict):
        skipped = ("seconds", "mean_seconds", "data", "store", "line")
        return {key: found(value) for key, value in document.items() if key not in skipped}
    return [found(each) for each in document] if isinstance(document, list) else document


COMMANDS = [
    "predict m.tm {}",
    "predict n.bnn {}",
    "robustness m.tm {} -e 1 --features age,fever",
    "robustness m.tm {} -e 1 --engine brute --store s-{}.db",
    "robustness n.bnn {} -e 1",
    "radius m.tm {}",
    "radius m.tm {} --engine brute -j 2",
    "radius n.bnn {}",
    "radius plain.tm {} --against m.tm",
    "universal-robustness m.tm {} --eta 1/2",
    "universal-robustness n.bnn {} --eta 1/2",
    "similarity m.tm twin.tm {} -e 1",
    "similarity plain.tm m.tm {} -e 1 --features fever",
    "universal-similarity m.tm twin.tm {} -e 1 --eta 1",
    "equivalence m.tm twin.tm --data {}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_columns_in_another_order_are_put_in_order(capsys: Capture, command: str) -> None:
    code, expected = ask(capsys, command.replace("{}", "d.npz"))
    for data in ("other.npz", "other.csv"):
        assert (code, found(expected)) == tuple(map(found, ask(capsys, command.replace("{}", data))))  # type: ignore[arg-type]


def test_predictions_are_those_of_the_named_columns(capsys: Capture) -> None:
    for model in ("m.tm", "n.bnn"):
        for data in ("d.npz", "other.npz", "other.csv"):
            _, document = ask(capsys, f"predict {model} {data}")
            assert (document["accuracy"], document["inputs"]) == (1.0, 4)


@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_do_not_fit_are_refused(capsys: Capture, command: str) -> None:
    write_csv("bad.csv", ["fever", "cough", "rash", "income"], X)
    np.savez("bad.npz", X=X, y=Y, feature_names=["fever", "cough", "rash", "income"])
    for data in ("bad.csv", "bad.npz"):
        assert run(command.replace("{}", data)) == 3
        said = " ".join(capsys.readouterr().err.split())
        assert f"{data} must have columns that are named like the model's features" in said
        assert "it lacks 'age', and the model has no 'income'" in said
        assert "Rename or drop columns" in said


def test_a_column_too_many_and_one_twice(capsys: Capture) -> None:
    write_csv("more.csv", [*NAMES, "income", "y"], np.c_[X, Y, Y])
    assert run("predict m.tm more.csv") == 0
    assert capsys.readouterr().err == "more.csv: ignored, as the model does not read them: income\n"
    write_csv("twice.csv", [*NAMES, "age"], np.c_[X, Y])
    assert run("predict m.tm twice.csv") == 3
    assert "Got 'age' twice" in capsys.readouterr().err


def test_export_of_a_question_about_data_in_another_order(capsys: Capture) -> None:
    for suffix in ("cnf", "opb", "wcnf", "smt2", "lp"):
        for data, name in (("d.npz", "a"), ("other.csv", "b")):
            assert run(f"export m.tm {data} --index 1 -e 2 -o {name}.{suffix}") == 0
        assert Path(f"a.{suffix}").read_text() == Path(f"b.{suffix}").read_text()
    assert "* input from 0 = 0111\n" in Path("b.opb").read_text()
    assert run("export plain.tm other.csv --against m.tm --index 1 --features rash -o c.opb") == 0
    text = Path("c.opb").read_text()
    assert "* input from 0 = 0111\n* mutable from 0 = 0010\n" in text
    assert "= feature 0 (fever)\n" in text or "* fixed feature 0 = 0 (fever)\n" in text


def test_a_plan_s_inputs_go_by_their_names(capsys: Capture) -> None:
    for data in ("d.npz", "other.csv"):
        lines = ['[models]\nm = "m.tm"\np = "plain.tm"\nn = "n.bnn"', f'[inputs.d]\nfile = "{data}"']
        lines += ['[[ask]]\nquestion = "robustness"\nmodels = ["m", "n"]']
        lines += ['[[ask]]\nquestion = "radius"\nmodels = ["m", ["p", "m"]]\nfeatures = "age,fever"']
        Path("plan.toml").write_text("\n".join(lines))
        assert run(f"campaign run plan.toml --store {data}.db") == 0
        assert run(f"campaign export {data}.db --csv {data}-out.csv") == 0
    capsys.readouterr()
    tables = [
        [
            {**row, "seconds": "", "line": ""}
            for row in csv.DictReader(Path(f"{data}-out.csv").read_text().splitlines())
        ]
        for data in ("d.npz", "other.csv")
    ]
    assert len(tables[0]) == 16
    assert tables[0] == tables[1]
    radii = [row for row in tables[0] if row["question"] == "radius" and row["models"] == '["m"]']
    assert {row["features"] for row in radii} == {"[0, 3]"}
    assert {row["feature_names"] for row in radii} == {'["fever", "age"]'}
    assert {(row["flips"], row["flipped_features"]) for row in radii} == {("[0]", '["fever"]')}
    write_csv("other.csv", ["fever", "cough", "rash", "income"], X)
    assert run("campaign run plan.toml --store new.db") == 3
    assert "it lacks 'age', and the model has no 'income'" in " ".join(capsys.readouterr().err.split())


def test_a_numbering_is_put_in_order(capsys: Capture) -> None:
    """By models with and without names; only one that is complete."""
    for form in ("x{}", "{}"):
        write_csv("n.csv", [*(form.format(i) for i in ORDER), "y"], np.c_[X[:, ORDER], Y])
        write_csv("bare.csv", [form.format(i) for i in ORDER], X[:, ORDER])
        for model in ("m.tm", "plain.tm"):
            for data in ("n.csv", "bare.csv"):
                _, document = ask(capsys, f"predict {model} {data}")
                assert [row["label"] for row in document["predictions"]] == Y.tolist()
        write_csv("from1.csv", [*(form.format(i + 1) for i in range(4)), "y"], np.c_[X, Y])
        assert run("predict plain.tm from1.csv") == 3
        assert "it lacks 'x0', and the model has no 'x4'" in capsys.readouterr().err


def test_without_names_columns_are_taken_by_position(capsys: Capture) -> None:
    _, document = ask(capsys, "predict plain.tm other.csv")
    assert [row["label"] for row in document["predictions"]] == X[:, ORDER[0]].tolist()
    np.save("d.npy", X)
    _, document = ask(capsys, "predict m.tm d.npy")
    assert [row["label"] for row in document["predictions"]] == Y.tolist()


@pytest.mark.parametrize(
    "command",
    [
        "equivalence m.tm swapped.tm",
        "similarity m.tm swapped.tm d.npz",
        "universal-similarity swapped.tm m.tm d.npz",
        "radius m.tm d.npz --against swapped.tm",
        "export m.tm --against swapped.tm -o q.cnf",
        "campaign run two.toml --store s.db",
    ],
)
def test_models_of_other_features_are_not_compared(capsys: Capture, command: str) -> None:
    Path("two.toml").write_text('[models]\na = "m.tm"\nb = "swapped.tm"\n[[ask]]\nquestion = "equivalence"\n')
    assert run(command) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "only if they read the same features in the same order" in said
    assert "'fever'" in said
    assert "'cough'" in said


@pytest.mark.parametrize(
    ("features", "index"),
    [("2", 2), ("x2", 2), ("x2,x2", 2), ("0-1,x2,3", None), ("2-2", 2)],
)
def test_features_without_names_have_one_number(capsys: Capture, features: str, index: int | None) -> None:
    save(tv.Model.from_clauses(4, [[1], [2], [3], [4]], [2] * 4, bias=-1), Path("any.tm"))
    np.save("zeros.npy", np.zeros((1, 4), int))
    code, document = ask(capsys, f"robustness any.tm zeros.npy --features {features}")
    assert code == 1
    free = None if index is None else [index]  # all of them is the same as none said
    assert document["features"] == free
    assert document["feature_names"] == (None if free is None else [f"x{i}" for i in free])
    (result,) = document["results"]
    assert result["flipped_features"] == [f"x{i}" for i in result["flips"]]
    assert run(f"robustness any.tm zeros.npy --features {features}") == 1
    assert f"if x{result['flips'][0]} 0 → 1" in capsys.readouterr().out


def test_names_beside_indices(capsys: Capture) -> None:
    for command in (
        "robustness m.tm d.npz",
        "universal-robustness m.tm d.npz --eta 1",
        "radius m.tm d.npz --csv r.csv",
        "radius n.bnn d.npz",
    ):
        _, document = ask(capsys, command)
        changed = [result for result in document["results"] if result["flips"]]
        assert changed
        assert all(result["flipped_features"] == [NAMES[i] for i in result["flips"]] for result in changed)
    for row in csv.DictReader(Path("r.csv").read_text().splitlines()):
        assert (row["flips"], row["flipped_features"]) == ("0", '["fever"]')
    _, document = ask(capsys, "robustness m.tm d.npz --features 1")
    assert {(result["flips"], result["flipped_features"]) for result in document["results"]} == {(None, None)}
    save(tv.Model.from_clauses(4, [[3]], [1], bias=-1), Path("rash.tm"))
    _, document = ask(capsys, "equivalence rash.tm m.tm")
    (result,) = document["results"]
    ones = [NAMES[i] for i in np.flatnonzero(result["witness"])]
    assert result["features_set"] == ones
    assert ("rash" in ones) != ("fever" in ones)


def test_info_lists_the_names(capsys: Capture) -> None:
    for model in ("m.tm", "n.bnn"):
        _, document = ask(capsys, f"info {model}")
        assert (document["features"], document["named"]) == (4, True)
        assert document["feature_names"] == list(NAMES)
    _, document = ask(capsys, "info plain.tm --clauses 1")
    assert (document["named"], document["feature_names"]) == (False, ["x0", "x1", "x2", "x3"])
    assert document["text"].endswith("+1  x0")
    assert run("info plain.tm") == 0
    assert "4 (without names: x0 to x3)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        "robustness {} d.npz -e 1",
        "universal-robustness {} d.npz --eta 1",
        "radius {} d.npz",
        "equivalence {} rash.tm",
    ],
)
@pytest.mark.parametrize("model", ["m.tm", "plain.tm"])
def test_witnesses_can_be_fed_back(capsys: Capture, command: str, model: str) -> None:
    save(tv.Model.from_clauses(4, [[3]], [1], bias=-1), Path("rash.tm"))
    run(f"{command.format(model)} --save-witnesses w.npz")
    with np.load("w.npz") as saved:
        names = saved["feature_names"].tolist()
        witnesses = saved["X"]
    assert names == (list(NAMES) if model == "m.tm" else ["x0", "x1", "x2", "x3"])
    assert len(witnesses)
    np.savez("back.npz", X=witnesses[:, ORDER], feature_names=[names[i] for i in ORDER])
    capsys.readouterr()
    for reader in ("m.tm", "n.bnn", *(["plain.tm"] if model == "plain.tm" else [])):
        for data in ("w.npz", "back.npz"):
            _, document = ask(capsys, f"predict {reader} {data}")
            assert [row["label"] for row in document["predictions"]] == witnesses[:, 0].tolist()


def test_an_imported_model_reads_data_by_its_names(capsys: Capture) -> None:
    assert run("export m.tm -o rules.json") == 0
    assert run("import clauses rules.json -o again.tm --data other.csv") == 0
    assert "accuracy 100.00% on 4 inputs" in capsys.readouterr().out


def test_every_file_counts_features_from_0(capsys: Capture) -> None:
    """The fourth feature, index 3, is x3 in words, in formulas and in programs; literal 4 where signs are."""
    save(tv.Model.from_clauses(4, [[4]], [1], bias=-1), Path("fourth.tm"))
    np.save("zeros.npy", np.zeros((1, 4), int))
    for suffix in ("cnf", "opb", "wcnf", "smt2", "lp"):
        assert run(f"export fourth.tm zeros.npy -o q.{suffix}") == 0
        text = Path(f"q.{suffix}").read_text()
        assert text.count("= feature 3\n") == 1
        assert text.count("fixed feature ") == 3
    assert "; bit x3 = feature 3\n" in Path("q.smt2").read_text()
    assert "\\ bit x3 = feature 3\n" in Path("q.lp").read_text()
    text = Path("q.opb").read_text()
    assert "* bit x1 = feature 3\n" in text  # the format's own numbers, and the file says so
    assert "* x1, x2, ... are the variables of this file, not features: features count from 0" in text
    for suffix in ("c", "v", "json"):
        assert run(f"export fourth.tm -o m.{suffix}") == 0
    assert "bit i is feature i, counted from 0 and called x0, x1" in Path("m.c").read_text()
    assert "x[3];" in Path("m.v").read_text()
    assert '"literals": [4]' in Path("m.json").read_text()
    capsys.readouterr()
    assert run("info fourth.tm --clauses 1") == 0
    assert capsys.readouterr().out.rstrip().endswith("+1  x3")
    _, document = ask(capsys, "radius fourth.tm zeros.npy")
    assert (document["results"][0]["flips"], document["results"][0]["flipped_features"]) == ([3], ["x3"])
