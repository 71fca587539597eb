"""What may change, on the command line and in plans: options, headings, errors, and what answers count."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import Capture, ask_json, expect_error, run, save
from tmverify.campaign import read_plan
from tmverify.campaign.expansion import expand

CITY = tv.Category("city", ("Bergen", "Oslo"), missing=True)
SPACE = tv.Space([tv.Number("age", (25, 40, 60)), CITY, tv.Flag("owner", ("no", "yes"))], target="loan")
OWN = """customer,city,owner,age
ann,Oslo,yes,31
bob,Bergen,no,70
cid,,no,18
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A loan is bad if the customer is over 60 or, elsewhere, owns nothing in Oslo; and customers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    options: dict[str, Any] = {"space": SPACE, "classes": ["bad", "good"]}
    save(tv.Model.from_clauses(7, [[3]], [-2], bias=1, **options), tmp_path / "loan.tm")
    save(tv.Model.from_clauses(7, [[3], [5, -7]], [-2, -2], bias=1, **options), tmp_path / "strict.tm")
    impossible = tv.Model.from_clauses(7, [[3], [4, 5]], [-2, -2], bias=1, **options)  # two cities at once
    save(impossible, tmp_path / "odd.tm")
    flags = tv.Model.from_clauses(3, [[1], [2], [3]], [1, 1, 1], bias=-2, feature_names=["a", "b", "c,d"])
    save(flags, tmp_path / "flags.tm")
    (tmp_path / "own.csv").write_text(OWN)
    np.savez(tmp_path / "flags.npz", X=np.array([[1, 1, 0], [0, 0, 1]], np.uint8))
    return tmp_path


def radii(capsys: Capture, options: str) -> list[Any]:
    _, found = ask_json(capsys, "radius", "strict.tm", "own.csv", *options.split())
    return [each["radius"] for each in found["results"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [1, 1, 1]),
        ("--distance steps", [1, 1, 1]),
        ("--distance bits", [1, 1, 1]),
        ("--columns age", [1, 1, 1]),
        ("--columns age --distance steps", [2, 1, 3]),
        ("--columns age --distance steps --cost age=3", [6, 3, 9]),
        ("--freeze age", [1, "inf", 1]),
        ("--freeze age --cost owner=5 --cost city=2", [5, "inf", 2]),
        ("--freeze age --cost city=0", [1, "inf", 0]),
        ("--decrease age --freeze city,owner", ["inf", 1, "inf"]),
        ("--increase age --freeze city --freeze owner", [1, "inf", 1]),
        ("--increase owner --freeze age", ["inf", "inf", 1]),
        ("--within age=..60 --freeze owner", ["inf", 1, 1]),
        ("--within age=..60 --within city=Bergen,missing --freeze owner", ["inf", 1, "inf"]),
    ],
)
def test_radii(capsys: Capture, options: str, expected: list[object]) -> None:
    assert radii(capsys, options) == expected


@pytest.mark.parametrize(
    ("command", "heading"),
    [
        ("radius strict.tm own.csv", "scope team · radius in columns · engine"),
        ("radius strict.tm own.csv --distance steps", "scope team · steps · radius in steps · engine"),
        ("radius strict.tm own.csv --distance bits", "scope team · bits · engine"),
        ("radius strict.tm own.csv --cost age=2", "scope team · cost age 2 · radius in cost · engine"),
        ("robustness strict.tm own.csv -e 2", "scope team · at most 2 columns · engine"),
        ("robustness strict.tm own.csv -e 1 -e 2", "scope team · engine"),
        (
            "robustness strict.tm own.csv -e 2 --columns age,city",
            "scope team · owner frozen · at most 2 columns · engine",
        ),
        ("robustness strict.tm own.csv --columns age", "· only column age · at most 1 column ·"),
        ("robustness strict.tm own.csv --increase age", "· age may only grow · at most 1 column ·"),
        (
            "similarity loan.tm strict.tm own.csv --decrease owner --distance steps -e 3",
            "· steps · owner may only be cleared · at most 3 steps ·",
        ),
        (
            "universal-robustness strict.tm own.csv --within age=30.. --cost age=2",
            "· if changed, age over 25 · cost age 2 · at most cost 1 ·",
        ),
        ("radius flags.tm flags.npz", "scope team · engine"),
        ("radius flags.tm flags.npz --columns a,b", "scope team · only columns a,b · engine"),
        ("radius flags.tm flags.npz --freeze c,d", "scope team · c,d frozen · engine"),
        ("radius flags.tm flags.npz --features a,b", "scope team · only features a,b · engine"),
        ("radius flags.tm flags.npz --increase a", "· a may only be set · radius in columns ·"),
    ],
)
def test_headings(capsys: Capture, command: str, heading: str) -> None:
    run(command)
    assert heading in capsys.readouterr().out


def test_only_possible_rows_unless_bits_flip(capsys: Capture) -> None:
    assert run("robustness loan.tm own.csv") == 1
    out = capsys.readouterr().out
    assert "3 of 3 queries have a counterexample\n" in out
    assert "impossible" not in out
    assert "  line 2, epsilon 1: class good → class bad if age 25 to 40 → over 60\n" in out
    assert run("robustness loan.tm own.csv --distance bits") == 1
    out = capsys.readouterr().out
    assert "3 of 3 queries have a counterexample (2 of these are no possible row)" in out
    assert "2 of 3 counterexamples are no possible row" in out


def test_equivalence_on_possible_inputs(capsys: Capture) -> None:
    assert run("equivalence loan.tm odd.tm") == 0
    assert "agree on every possible input" in capsys.readouterr().out
    assert run("equivalence loan.tm odd.tm --distance bits") == 1
    assert "no row can be this input" in capsys.readouterr().out
    assert run("equivalence flags.tm flags.tm") == 0
    assert "agree on every input" in capsys.readouterr().out
    expect_error(capsys, "equivalence loan.tm odd.tm --distance steps", "must be columns or bits")
    assert run("equivalence loan.tm odd.tm --columns age") == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--distance miles", "--distance must be columns, steps or bits. Got 'miles'"),
        ("--columns agee", "columns must name columns of the model. Got 'agee' instead; is 'age' meant?"),
        ("--within age", "--within must be COLUMN=…, such as age=18..65 or city=Oslo,Bergen. Got 'age'"),
        ("--within age=x..", "--within of the number 'age' must be a range"),
        ("--within city=Rome", "values that it has: 'Bergen', 'Oslo', 'missing'. Got 'Rome'"),
        ("--cost age=x", "--cost of column 'age' must be a whole number, such as age=2"),
        ("--features 3", "Use --columns and --freeze, or --distance bits"),
        ("--direction add", "Use --increase and --decrease, or --distance bits"),
        ("--increase city", "is a category"),
    ],
)
def test_errors(capsys: Capture, options: str, message: str) -> None:
    expect_error(capsys, f"radius strict.tm own.csv --id customer {options}", message)


def test_inputs_that_no_row_can_be(capsys: Capture) -> None:
    X = SPACE.encode([{"age": 31, "city": "Oslo", "owner": "no"}] * 3)
    X[1, 0] = 0
    X[1, 1] = 1
    np.savez("bits.npz", X=X)
    expect_error(
        capsys,
        "radius strict.tm bits.npz",
        "Input 1 is no possible input: its column 'age' is impossible (over 40, not over 25). --distance",
    )
    assert run("radius strict.tm bits.npz --distance bits") == 0


def test_documents(capsys: Capture) -> None:
    command = "radius strict.tm own.csv --freeze city --within age=30.. --cost owner=2 --csv r.csv"
    _, found = ask_json(capsys, *command.split())
    assert (found["distance"], found["features"], found["direction"]) == ("columns", None, None)
    assert found["rules"] == {
        "age": {"way": "any", "values": ["25 to 40", "40 to 60", "over 60"], "cost": 1},
        "city": {"way": "keep", "values": None, "cost": 1},
        "owner": {"way": "any", "values": None, "cost": 2},
    }
    assert [each["possible"] for each in found["results"]] == [True] * 3
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert [row["radius"] for row in rows] == ["1", "1", "1"]
    assert json.loads(rows[0]["changes"])[0]["column"] == "age"


PLAN = """
engine = "brute"
[models]
strict = "strict.tm"
loan = "loan.tm"
[inputs.own]
file = "own.csv"
id = "customer"
[[ask]]
question = "radius"
models = ["strict"]
distance = "steps"
freeze = ["city"]
increase = "age"
within = { age = "30..", city = ["Oslo"] }
cost = { owner = 2 }
[[ask]]
question = "equivalence"
distance = "bits"
"""


def test_a_plan_asks_what_the_command_asks(capsys: Capture) -> None:
    Path("plan.toml").write_text(PLAN)
    campaign = expand(read_plan("plan.toml"))
    assert run("campaign run plan.toml --store s.db") == 0
    out = capsys.readouterr().out
    words = "steps, city frozen, age may only grow, if changed, age over 25, cost owner 2"
    assert f"radius of strict, own, {words}, engine brute" in out
    assert "equivalence of strict and loan, bits, engine brute" in out
    command = (
        "radius strict.tm own.csv --id customer --engine brute --store s.db --cost owner=2 --within age=30.. "
        "--within city=Oslo --increase age --freeze city --distance steps --json"
    )
    assert run(command) == 0
    capsys.readouterr()
    assert run("campaign export s.db --csv out.csv") == 0
    rows = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    assert {row["task"] for row in rows} == {task.id for task in campaign.tasks}
    assert rows[0]["distance"] == "steps"
    assert json.loads(rows[0]["rules"])["age"] == {
        "way": "up",
        "values": ["25 to 40", "40 to 60", "over 60"],
        "cost": 1,
    }
    assert [row["radius"] for row in rows[:3]] == ["2", "inf", "3"]
    capsys.readouterr()
    _, status = ask_json(capsys, "campaign", "status", "s.db")
    assert status["groups"][0]["rules"]["owner"]["cost"] == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"steps"', '"miles"', "ask number 1: distance must be columns, steps or bits. Got 'miles'"),
        ('["city"]', "[]", "ask number 1: freeze must be a list, and not empty"),
        ('["city"]', "[3]", "ask number 1: freeze must be a text. Got 3"),
        ('["city"]', '["cty"]', "Got 'cty' instead; is 'city' meant?"),
        ('{ owner = 2 }', "2", "ask number 1: cost must be a table, such as { age = 2 }"),
        ('{ owner = 2 }', "{ owner = 2.5 }", "must be an integer from 0 to"),
        ('"30.."', "[30, 50]", 'must be a range, such as "18..65"'),
        ('distance = "bits"', 'distance = "steps"', "where nothing is counted"),
        ('distance = "bits"', 'freeze = ["age"]', "ask number 2: equivalence takes no freeze"),
    ],
)  # fmt: skip
def test_plans_that_are_wrong(capsys: Capture, old: str, new: str, message: str) -> None:
    assert old in PLAN
    Path("plan.toml").write_text(PLAN.replace(old, new, 1))
    expect_error(capsys, "campaign run plan.toml", message)


def test_a_report_keeps_what_is_counted_apart() -> None:
    head, *_ = PLAN.partition("[[ask]]")
    asks = ['question = "equivalence"\n']
    for rule in ("", 'distance = "steps"', 'distance = "bits"', "cost = { age = 2 }"):
        asks.append(f'question = "robustness"\nmodels = ["strict"]\nepsilons = [1]\n{rule}\n')
        asks.append(f'question = "radius"\nmodels = ["strict"]\n{rule}\n')
    Path("plan.toml").write_text("[[ask]]\n".join([head, *asks]))
    assert run("campaign run plan.toml --store s.db") == 0
    assert run("report s.db") == 0
    page = Path("report.html").read_text()
    for text in (
        "ε is how many columns may change at once; ε is how many steps are allowed",
        "ε is what all changes together may cost",
        "robust at ε 1 (columns)",
        "robust at ε 1 (cost)",
        "ε (columns that may change)",
        "ε (bits that may flip)",
        "radius (steps)",
        "every possible input",
        "cost age 2",
    ):
        assert text in page, text
