"""``tmverify radius``, in this process: the same answers as the API, as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import (
    Capture,
    ask_json,
    majority,
    near_and_far,
    save,
    save_inputs_of_majority,
    three_classes,
)
from tmverify.cli import main

COLUMNS = (
    "index,line,name,scope,class,radius,lower,upper,nearest,seconds,engine,stop_reason,"
    "flips,flipped_features,changes,possible"
)


@pytest.fixture
def model(tmp_path: Path) -> str:
    return save(majority(), tmp_path / "majority.tm")


@pytest.fixture
def data(tmp_path: Path) -> str:
    return save_inputs_of_majority(tmp_path / "d.npz")


def radii(found: dict[str, Any]) -> list[Any]:
    return [result["radius"] for result in found["results"]]


def read_csv(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_table_a_histogram_and_a_line(capsys: Capture, model: str, data: str) -> None:
    assert main(["radius", model, data]) == 0
    out, err = capsys.readouterr()
    assert "radius of majority.tm\n6 inputs · scope team · engine auto · limit 300 s\n" in out
    for text in (
        "│     0 │   low │      5 │          high │",
        "│     3 │  high │      1 │           low │",
        "EXACT  exact 6 of 6, open 0 · median 3, least 1, greatest 5\n",
        "  input 2: class low → class high if [red]f4 0 → 1\n",
        "answered by search 6\n",
    ):
        assert text in out
    lines = [line.split() for line in out.splitlines()]
    bars = {line[0]: line[1:] for line in lines[lines.index(["radius", "inputs"]) + 1 :][:5]}
    assert [bars[radius][0] for radius in "12345"] == ["2", "0", "2", "0", "2"]
    assert out.count(" if ") == 5
    assert err == ""


def test_json(capsys: Capture, model: str, data: str) -> None:
    code, found = ask_json(capsys, "radius", model, data)
    assert code == 0
    assert found["model"] == {"path": model, "sha256": tv.load(model).content_hash}
    assert (found["tmverify"], found["question"], found["engine"]) == (tv.__version__, "radius", "auto")
    assert (found["status"], found["interrupted"], found["timeout"]) == ("exact", False, 300.0)
    assert [found[name] for name in ("inputs", "answered", "exact", "open")] == [6, 6, 6, 0]
    assert found["median"] == {"lower": 3, "upper": 3}
    assert (found["least"]["lower"], found["greatest"]["upper"]) == (1, 5)
    assert type(found["least"]["upper"]) is type(found["greatest"]["upper"]) is int
    assert found["histogram"] == [{"radius": r, "inputs": 2} for r in (1, 3, 5)]
    assert radii(found) == [5, 3, 1, 1, 3, 5]
    third = found["results"][2]
    assert (third["class"], third["nearest"], third["decisions"]) == ("low", "high", ["low", "high"])
    assert (len(third["flips"]), third["engine"], third["stop_reason"]) == (1, "search", None)


@pytest.mark.parametrize("scope", ["team", 1])
@pytest.mark.parametrize("direction", [None, "add", "remove"])
def test_json_and_csv_say_what_the_api_says(
    capsys: Capture, tmp_path: Path, scope: int | str, direction: Any
) -> None:
    rng = np.random.default_rng(0)
    clauses = [((rng.choice(10, 3, replace=False) + 1) * rng.choice([-1, 1], 3)).tolist() for _ in range(30)]
    machine = tv.Model.from_clauses(10, clauses, rng.integers(-3, 4, size=(3, 30)))
    X = rng.integers(0, 2, size=(25, 10))
    np.save(tmp_path / "d.npy", X)
    table = tmp_path / "r.csv"
    options = ["--scope", str(scope), "--features", "0-4", *(["--direction", direction] if direction else [])]
    arguments = [save(machine, tmp_path / "m.tm"), str(tmp_path / "d.npy"), *options, "--csv", str(table)]
    code, found = ask_json(capsys, "radius", *arguments)
    assert code == 0
    mask = np.arange(10) < 5
    rows = read_csv(table)
    assert ",".join(rows[0]) == COLUMNS
    for x, result, row in zip(X, found["results"], rows, strict=True):
        said = tv.robustness_radius(machine, x, scope=scope, features=mask, direction=direction)
        assert float(result["radius"]) == float(row["radius"]) == said.radius
        assert float(row["lower"]) == float(row["upper"]) == said.radius
        assert row["flips"] == " ".join(map(str, result["flips"] or []))
        assert row["flipped_features"] == (
            "" if result["flips"] is None else json.dumps(result["flipped_features"])
        )
        assert (result["flipped_features"] or []) == [f"x{i}" for i in result["flips"] or []]
        assert (result["flips"] is None) == (said.radius == math.inf) == (row["nearest"] == "")
        assert str(result["class"]) == row["class"]
        assert (row["engine"], row["stop_reason"]) == (result["engine"], "")
        z = x.copy()
        z[result["flips"] or []] ^= 1
        judge = machine if scope == "team" else machine.single(scope)
        assert judge.predict(x[None])[0] == result["class"]
        assert (judge.predict(z[None])[0] != result["class"]) == (said.radius < math.inf)
        if said.radius < math.inf:
            assert len(result["flips"]) == said.radius
            assert judge.predict(z[None])[0] == result["nearest"]
    assert "inf" in radii(found) or direction is None


def test_nothing_changes_it(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    arguments = [model, data, "--features", "0-2", "--csv", str(table)]
    assert main(["radius", *arguments]) == 0
    out = capsys.readouterr().out
    assert "│     0 │   low │    inf │             - │" in out
    assert "EXACT  exact 6 of 6, open 0 · median inf, least 1, greatest inf" in out
    assert f"radii: 6 written to {table}" in out
    _, found = ask_json(capsys, "radius", *arguments)
    assert radii(found) == ["inf", "inf", "inf", 1, 3, "inf"]
    assert [row["radius"] for row in read_csv(table)] == ["inf", "inf", "inf", "1", "3", "inf"]
    assert found["histogram"][-1] == {"radius": "inf", "inputs": 4}


def test_scopes(capsys: Capture, tmp_path: Path) -> None:
    team = save(three_classes(), tmp_path / "m.tm")
    X = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    np.savez(tmp_path / "y.npz", X=X, y=[2, 1, 0])
    arguments = [team, str(tmp_path / "y.npz")]
    _, found = ask_json(capsys, "radius", *arguments, "--scope", "own")
    assert [(result["scope"], result["class"]) for result in found["results"]] == [(2, 1), (1, 1), (0, 1)]
    # Without negative votes a class's own machine can't say no.
    assert radii(found) == ["inf"] * 3
    _, found = ask_json(capsys, "radius", *arguments)
    assert radii(found) == [2, 1, 1]
    assert main(["radius", *arguments, "--scope", "1"]) == 0


def test_a_class_as_scope_is_that_class_or_not(capsys: Capture, tmp_path: Path) -> None:
    machine = tv.Model.from_clauses(2, [[1], [2]], [[1, 0], [0, 1]], bias=[-1, -1], classes=["cat", "dog"])
    np.save(tmp_path / "x.npy", np.array([[1, 0], [0, 0]]))
    assert main(["radius", save(machine, tmp_path / "m.tm"), str(tmp_path / "x.npy"), "--scope", "cat"]) == 0
    out = capsys.readouterr().out
    assert "│     0 │     cat │      1 │       not cat │" in out
    assert "│     1 │ not cat │      1 │           cat │" in out
    assert "input 0: class cat → not class cat if" in out


def test_many_rows_do_not_flood_the_terminal(capsys: Capture, model: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 9))
    np.save(tmp_path / "d.npy", X)
    table = tmp_path / "r.csv"
    arguments = ["radius", model, str(tmp_path / "d.npy"), "--csv", str(table)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 50
    assert "the 20 nearest of 500 inputs; --rows 500 shows them all, --csv FILE.csv keeps them" in out
    assert "exact 500 of 500" in out
    ones = X.sum(axis=1)
    true = np.where(ones > 4, ones - 4, 5 - ones)
    assert [int(row["radius"]) for row in read_csv(table)] == true.tolist()
    shown = [line.split("│") for line in out.splitlines() if line.startswith("│")]
    assert [int(cells[1]) for cells in shown] == np.flatnonzero(true == 1)[:20].tolist()


@pytest.mark.parametrize(("rows", "shown"), [("0", 0), ("4", 4), ("6", 6), ("100", 6)])
def test_rows(capsys: Capture, model: str, data: str, rows: str, shown: int) -> None:
    assert main(["radius", model, data, "--rows", rows]) == 0
    out = capsys.readouterr().out
    assert sum(line.startswith("│") for line in out.splitlines()) == shown
    assert ("--rows 6 shows them all" in out) == (shown < 6)


def test_n_and_seed(capsys: Capture, model: str, data: str) -> None:
    _, found = ask_json(capsys, "radius", model, data, "--n", "4", "--seed", "1")
    _, again = ask_json(capsys, "radius", model, data, "--n", "4", "--seed", "1")
    indices = [result["index"] for result in found["results"]]
    assert indices == [result["index"] for result in again["results"]]
    assert radii(found) == [[5, 3, 1, 1, 3, 5][i] for i in indices]
    assert found["data"] == {"path": data, "n": 4, "seed": 1, "ignored_columns": []}


def test_a_time_limit_leaves_bounds(capsys: Capture, tmp_path: Path) -> None:
    machine, X = near_and_far()
    np.save(tmp_path / "d.npy", X)
    table = tmp_path / "r.csv"
    arguments = [save(machine, tmp_path / "m.tm"), str(tmp_path / "d.npy"), "--csv", str(table)]
    assert main(["radius", *arguments, "--engine", "paper", "--timeout", "3"]) == 2
    out = capsys.readouterr().out
    assert "OPEN  exact 1 of 2, open 1 · median " in out
    assert "; raise --timeout, or try another --engine" in out
    near, far = read_csv(table)
    assert (near["radius"], far["radius"], far["upper"], far["nearest"]) == ("1", "", "inf", "")
    assert f"{far['lower']}..?" in out
    assert 0 <= int(far["lower"]) <= 5
    assert (far["engine"], far["stop_reason"]) == ("paper", "timeout")


def test_no_time_at_all(capsys: Capture, tmp_path: Path) -> None:
    machine, X = near_and_far()
    np.save(tmp_path / "d.npy", X)
    arguments = [save(machine, tmp_path / "m.tm"), str(tmp_path / "d.npy")]
    code, found = ask_json(capsys, "radius", *arguments, "--engine", "search", "--timeout", "1e-9")
    assert (code, found["status"]) == (2, "open")
    for result, radius in zip(found["results"], (1, 5), strict=True):
        assert float(result["lower"]) <= radius <= float(result["upper"])
        assert result["radius"] == (radius if result["stop_reason"] is None else None)
    assert found["least"]["lower"] <= 1 <= float(found["least"]["upper"])
    assert ask_json(capsys, "radius", *arguments, "--timeout", "inf")[1]["timeout"] is None


def test_open_for_another_reason(capsys: Capture, tmp_path: Path) -> None:
    path = save(majority(1501), tmp_path / "m.tm")
    np.save(tmp_path / "d.npy", np.zeros((1, 1501)))
    assert main(["radius", path, str(tmp_path / "d.npy"), "--engine", "brute"]) == 2
    assert (
        "OPEN  exact 0 of 1, open 1 · median 2..?, least 2..?, greatest 2..?; brute force looks at no more"
        in (capsys.readouterr().out)
    )
    code, found = ask_json(capsys, "radius", path, str(tmp_path / "d.npy"))
    assert (code, radii(found)) == (0, [751])


def test_saved_witnesses_replay(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    target = tmp_path / "w.npz"
    assert main(["radius", model, data, "--features", "0-3", "--save-witnesses", str(target)]) == 0
    assert f"witnesses: 2 written to {target}" in capsys.readouterr().out
    machine = tv.load(model)
    with np.load(target) as saved:
        assert saved["index"].tolist() == [3, 4]
        assert saved["X"].dtype == np.uint8
        assert np.array_equal(np.sum(saved["X"] != saved["X0"], axis=1), saved["upper"])
        assert np.array_equal(saved["lower"], saved["upper"])
        assert (machine.predict(saved["X"]) != machine.predict(saved["X0"])).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.npz", "majority.tm", "w.npz"]


def test_against_another_model(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    m = majority()
    stricter = tv.Model.from_clauses(
        9, list(m.clauses), m.weights, bias=-11, classes=m.classes, feature_names=m.feature_names
    )
    b, table = save(stricter, tmp_path / "b.tm"), tmp_path / "r.csv"
    arguments = [model, data, "--against", b, "--csv", str(table)]
    code, found = ask_json(capsys, "radius", *arguments)
    assert code == 0
    X = np.load(data)["X"]
    assert radii(found) == [tv.similarity_radius(m, stricter, x).radius for x in X] == [5, 3, 1, 0, 2, 4]
    assert [each["path"] for each in found["models"]] == [model, b]
    assert {tuple(result["decisions"]) for result in found["results"]} == {("high", "low")}
    rows = read_csv(table)
    assert [(row["class"], row["nearest"], row["against"]) for row in rows] == (
        [("low", "high", "low")] * 3 + [("high", "high", "low")] * 3
    )
    assert main(["radius", *arguments]) == 0
    out = capsys.readouterr().out
    assert "nearest disagreement of majority.tm and b.tm" in out
    assert "│     3 │  high │      0 │         high │    low │" in out
    assert "input 3: A says class high, B says class low, at the input itself" in out
    assert main(["radius", model, data, "--against", model]) == 0
    assert "least inf" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["search", "sat", "paper", "brute"])
def test_every_engine(capsys: Capture, model: str, data: str, engine: str) -> None:
    code, found = ask_json(capsys, "radius", model, data, "--engine", engine)
    assert (code, radii(found), found["engine"]) == (0, [5, 3, 1, 1, 3, 5], engine)
    assert {result["engine"] for result in found["results"]} == {engine}


def test_names_are_shown_not_obeyed(capsys: Capture, tmp_path: Path) -> None:
    machine = tv.Model.from_clauses(
        1, [[1]], [1], bias=-1, feature_names=["a\x1b[31m\nb"], classes=["[red]no", "yes\x1b[1m"]
    )
    np.save(tmp_path / "x.npy", np.ones((1, 1)))
    table = tmp_path / "r.csv"
    assert (
        main(["radius", save(machine, tmp_path / "m.tm"), str(tmp_path / "x.npy"), "--csv", str(table)]) == 0
    )
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[red]no" in out
    assert read_csv(table)[0]["nearest"] == "[red]no"


def test_a_csv_file_takes_its_place_whole(
    capsys: Capture, model: str, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "r.csv"
    table.write_text("precious")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tmverify.cli.documents._csv_line", full)
    assert main(["radius", model, data, "--csv", str(table)]) == 3
    assert "No space left" in capsys.readouterr().err
    assert table.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.npz", "majority.tm", "r.csv"]
