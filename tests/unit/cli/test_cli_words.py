"""Questions about the user's own rows, and answers in the words of their columns."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import Capture, ask_json, expect_error, run, save

CITY = tv.Category("city", ("Bergen", "Oslo"), missing=True)
SPACE = tv.Space([tv.Number("age", (25, 40, 60)), CITY, tv.Flag("owner", ("no", "yes"))], target="loan")
OWN = """customer,city,note,owner,age,loan
ann,Oslo,"two
lines",yes,31,good
bob,Bergen,,no,70,bad
cid,,,no,18,good
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A loan is bad if the customer is over 60; a review is good if it says so; and their data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    loan = tv.Model.from_clauses(7, [[3]], [-2], bias=1, space=SPACE, classes=["bad", "good"])
    save(loan, tmp_path / "loan.tm")
    city = tv.Model.from_clauses(7, [[5, 3]], [-2], bias=1, space=SPACE, classes=["bad", "good"])
    save(city, tmp_path / "city.tm")
    text = tv.Space([tv.Text(("good", "bad", "long"), "review")])
    save(tv.Model.from_clauses(3, [[1]], [2], bias=-1, space=text), tmp_path / "text.tm")
    (tmp_path / "own.csv").write_text(OWN)
    (tmp_path / "texts.txt").write_text("a good film\n\nbad and long\n")
    return tmp_path


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(name).read_text().splitlines()))


def test_a_line_says_what_changes(capsys: Capture) -> None:
    assert run("robustness loan.tm own.csv -e 1 -e 2 --distance bits") == 1
    out, err = capsys.readouterr()
    assert "  line 4, epsilon 1: class bad → class good if age over 60 → 40 to 60\n" in out
    assert (
        "  line 2, epsilon 1: class good → class bad if age 25 to 40 → impossible (over 60, not over 40)"
        in out
    )
    assert "6 queries have a counterexample (4 of these are no possible row)" in out
    assert "4 of 6 counterexamples are no possible row" in out
    assert err == "own.csv: ignored, as the model does not read them: customer, note\n"
    assert run("robustness loan.tm own.csv --id customer") == 1
    out, err = capsys.readouterr()
    assert err == "own.csv: ignored, as the model does not read them: note\n"
    assert "  bob, epsilon 1: class bad → class good if age over 60 → 40 to 60\n" in out
    Path("one.csv").write_text("age,city,owner\n31,Oslo,no\n")
    assert run("robustness loan.tm one.csv --distance bits") == 1
    assert "  this is no possible row" in capsys.readouterr().out
    assert run("robustness loan.tm one.csv") == 1
    out = capsys.readouterr().out
    assert "  line 2, epsilon 1: class good → class bad if age 25 to 40 → over 60\n" in out
    assert "possible" not in out


def test_words_of_a_text(capsys: Capture) -> None:
    assert run("robustness text.tm texts.txt") == 1
    out, err = capsys.readouterr()
    assert '  line 1, epsilon 1: class 1 → class 0 if "good" removed\n' in out
    assert '  line 3, epsilon 1: class 0 → class 1 if "good" added\n' in out
    assert "no possible row" not in out
    assert err == ""


def test_lines_and_names_in_the_table_of_distances(capsys: Capture) -> None:
    asked = "radius loan.tm own.csv --id customer --distance bits --csv r.csv --save-witnesses w.npz"
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert "│ index │ line │ name │" in out.replace("┃", "│")
    assert "│     1 │    4 │  bob │   bad │      1 │" in out
    found = rows_of("r.csv")
    assert [(row["line"], row["name"], row["possible"]) for row in found] == [
        ("2", "ann", "false"),
        ("4", "bob", "true"),
        ("5", "cid", "false"),
    ]
    assert json.loads(found[1]["changes"]) == [{"column": "age", "before": "over 60", "after": "40 to 60"}]
    with np.load("w.npz") as saved:
        assert saved["line"].tolist() == [2, 4, 5]
        assert saved["name"].tolist() == ["ann", "bob", "cid"]
        assert saved["possible"].tolist() == [False, True, False]
        assert json.loads(saved["changes"][1])[0]["after"] == "40 to 60"


def test_json(capsys: Capture) -> None:
    _, found = ask_json(capsys, "robustness", "loan.tm", "own.csv", "--id", "customer")
    assert found["data"]["ignored_columns"] == ["note"]
    result = found["results"][1]
    assert (result["index"], result["line"], result["name"], result["possible"]) == (1, 4, "bob", True)
    assert result["changes"] == [{"column": "age", "before": "over 60", "after": "40 to 60"}]
    assert result["flipped_features"] == ["age > 60"]
    _, found = ask_json(capsys, "robustness", "loan.tm", "own.csv", "--columns", "owner")
    assert [(each["changes"], each["possible"]) for each in found["results"]] == [(None, None)] * 3


def test_a_whole_input_in_words(capsys: Capture) -> None:
    """The second model refuses only customers over 60 from Oslo, so those from elsewhere tell them apart."""
    assert run("equivalence loan.tm city.tm --data own.csv") == 1
    out, err = capsys.readouterr()
    assert "  there: age over 60, city Bergen, owner no\n" in out
    assert err == "own.csv: ignored, as the model does not read them: customer, note\n"
    _, found = ask_json(capsys, "equivalence", "loan.tm", "city.tm", "--data", "own.csv")
    (result,) = found["results"]
    assert result["values"] == {"age": "over 60", "city": "Bergen", "owner": "no"}
    assert result["possible"] is True


def test_predict(capsys: Capture) -> None:
    assert run("predict loan.tm own.csv --id customer --scores -o p.csv") == 0
    out, err = capsys.readouterr()
    assert "accuracy 100.00% on 3 inputs" in out
    assert err == "own.csv: ignored, as the model does not read them: note\n"
    assert rows_of("p.csv")[1] == {
        "index": "1", "line": "4", "name": "bob", "label": "bad", "expected": "bad", "score": "-1",
    }  # fmt: skip
    _, found = ask_json(capsys, "predict", "text.tm", "texts.txt")
    assert [(row["line"], row["name"], row["label"]) for row in found["predictions"]] == [
        (1, None, 1),
        (3, None, 0),
    ]
    assert found["accuracy"] is None


def test_rows_of_bits_have_names_too(capsys: Capture) -> None:
    header = "who,age > 25,age > 40,age > 60,city = Bergen,city = Oslo,city missing,owner,y"
    Path("bits.csv").write_text(f"{header}\nbob,1,1,1,0,1,0,1,bad\n")
    _, found = ask_json(capsys, "predict", "loan.tm", "bits.csv", "--id", "who")
    assert found["predictions"] == [{"index": 0, "line": 2, "name": "bob", "label": "bad", "expected": "bad"}]


def test_campaigns(capsys: Capture) -> None:
    plan = '[models]\nm = "loan.tm"\n[inputs.own]\nfile = "own.csv"\nid = "customer"\n'
    Path("plan.toml").write_text(plan + '[[ask]]\nquestion = "robustness"\n[[ask]]\nquestion = "radius"\n')
    assert run("campaign run plan.toml --store s.db") == 0
    out, err = capsys.readouterr()
    assert "own.csv: ignored, as the model does not read them: note\n" in err
    assert out.count("robustness of m, own") == 1
    assert run("campaign export s.db --csv o.csv --parquet o.parquet") == 0
    rows = rows_of("o.csv")
    assert [(row["line"], row["name"], row["possible"]) for row in rows[:3]] == [
        ("2", "ann", "true"),
        ("4", "bob", "true"),
        ("5", "cid", "true"),
    ]
    assert {row["distance"] for row in rows} == {"columns"}
    assert json.loads(rows[1]["changes"]) == [{"column": "age", "before": "over 60", "after": "40 to 60"}]


def test_info_lists_columns_and_what_speaks_for_a_class(capsys: Capture) -> None:
    assert run("info loan.tm --clauses 1") == 0
    out = capsys.readouterr().out
    for text in (
        "features  7 bits of 3 columns",
        "target  loan",
        "│ age    │ number   │      4 │ up to 25, 25 to 40, 40 to 60, over 60 │",
        "│ city   │ category │      3 │ Bergen, Oslo, missing                 │",
        "│ owner  │ flag     │      2 │ no, yes                               │",
        "speaks most for bad",
        "│     2 │ age higher",
        "  -2  age over 60\n",
    ):
        assert text in out
    assert run("info loan.tm --top 0") == 0
    assert "speaks" not in capsys.readouterr().out
    _, found = ask_json(capsys, "info", "loan.tm")
    assert [(column["name"], column["kind"]) for column in found["columns"]] == [
        ("age", "number"),
        ("city", "category"),
        ("owner", "flag"),
    ]
    assert found["columns"][0]["values"] == ["up to 25", "25 to 40", "40 to 60", "over 60"]
    assert found["target"] == "loan"
    assert found["top_features"] == [
        {
            "class": c,
            "for": [{"column": "age", "condition": f"age {way}", "votes": 2}],
            "against": [{"column": "age", "condition": f"age {other}", "votes": -2}],
        }
        for c, way, other in (("bad", "higher", "lower"), ("good", "lower", "higher"))
    ]


def test_info_of_texts_pictures_and_many_classes(capsys: Capture, tmp_path: Path) -> None:
    assert run("info text.tm") == 0
    out = capsys.readouterr().out
    assert "features  3 words of a text (review): there or not" in out
    assert '│     2 │ "good"' in out
    picture = tv.Space([tv.Image((2, 2), threshold=7.5)])
    weights = np.array([[2, 0, 0], [0, 2, -1], [0, 0, 1]])
    save(tv.Model.from_clauses(4, [[1], [-2], [3, 4]], weights, space=picture), tmp_path / "picture.tm")
    assert run("info picture.tm") == 0
    out = capsys.readouterr().out
    assert "features  4 pixels of a picture, 2 x 2: on above 7.5" in out
    assert "speaks" not in out
    assert run("info picture.tm --top 2") == 0
    out = capsys.readouterr().out
    assert "pixel_0_1 on (-2)" in out
    assert "pixel_1_0 on (+1), pixel_1_1 on (+1)" in out


def test_long_clauses_are_cut_short(capsys: Capture, tmp_path: Path) -> None:
    save(tv.Model.from_clauses(20, [range(1, 21)], [1]), tmp_path / "long.tm")
    assert run("info long.tm --clauses 1") == 0
    assert "x6 and x7 and 12 more\n" in capsys.readouterr().out
    assert run("info long.tm --clauses 1 --whole") == 0
    assert "x18 and x19\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "name", "content", "message"),
    [
        ("loan", "d.csv", "age,city\n3,Oslo\n", "d.csv must have all columns of the model. It lacks 'owner'"),
        ("loan", "d.csv", "age|city|owner\n3|Oslo|no\n", "commas, semicolons or tabs must separate them"),
        (
            "loan",
            "d.csv",
            "",
            "d.csv: the file is empty; expected a .csv table with the columns 'age', 'city'",
        ),
        ("loan", "d.csv", "age,city,owner\n", "d.csv: there is a header line but no row below it"),
        ("loan", "d.csv", "3,Oslo,no\n", "d.csv: line 1 must name the columns"),
        ("loan", "d.csv", "age,city,owner\n3,Rome,no\n", "Got 'Rome' in line 2"),
        ("loan", "d.csv", "age,city,owner\n,Oslo,no\n", "Column 'age' has a missing value, '' in line 2"),
        ("loan", "d.csv", "age,city,owner\n3,Oslo,perhaps\n", "Column 'owner' must be no or yes or 0 or 1"),
        (
            "loan",
            "d.txt",
            "a text\n",
            "This model reads a .csv table with the columns 'age', 'city', 'owner'",
        ),
        ("text", "d.csv", "age\n3\n", "It lacks 'review'; it has 'age'"),
        ("loan", "d.csv", "age,city,Ownr\n", "it has 'age', 'city', 'Ownr'. Is 'Ownr' meant?"),
        ("loan", "d.csv", "Age,City,owner\n", "Is 'Age' for 'age' and 'City' for 'city' meant?"),
        ("text", "d.txt", "\n", "d.txt: there is no text in it"),
    ],
)
def test_errors(capsys: Capture, model: str, name: str, content: str, message: str) -> None:
    Path(name).write_text(content)
    expect_error(capsys, f"predict {model}.tm {name}", message)
    expect_error(capsys, f"radius {model}.tm {name}", message)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "predict loan.tm own.csv --id custmer",
            "there are customer, city, note, owner, age, loan. Is 'customer' meant?",
        ),
        ("radius text.tm texts.txt --scope Team", "(0, 1). Got 'Team' instead. Is 'team' meant?"),
        ("predict text.tm texts.txt --id who", "the lines of a .txt file have no names; leave out --id"),
    ],
)
def test_names_of_rows_that_are_not_there(capsys: Capture, command: str, message: str) -> None:
    expect_error(capsys, command, message)


def test_names_from_files_are_shown_and_not_obeyed(capsys: Capture) -> None:
    evil = "[red]\x1b[31m"
    Path("evil.csv").write_text(f"age,city,owner,who,{evil}\n70,Oslo,no,{evil},1\n")
    found: dict[str, Any] = {}
    for command in ("robustness", "radius", "predict"):
        run(f"{command} loan.tm evil.csv --id who")
        found[command] = capsys.readouterr()
        assert "\x1b" not in found[command].out + found[command].err
        assert "[red]\\x1b[31m" in found[command].out
        assert "[red]\\x1b[31m" in found[command].err


def test_a_campaign_says_what_models_do_not_know_of_the_rows(capsys: Capture) -> None:
    """Once for each file, as the single commands do."""
    space = tv.Space([tv.Category("city", ("Bergen", "Oslo"), other=True)])
    save(tv.Model.from_clauses(2, [[1]], [1], space=space), Path("city.tm"))
    Path("new.csv").write_text("city,more\nBergen,1\nbergen,2\n")
    Path("texts.txt").write_text("a good film\nzxq\n")
    Path("plan.toml").write_text(
        "[models]\ncity = 'city.tm'\ntext = 'text.tm'\n"
        "[inputs.new]\nfile = 'new.csv'\n[inputs.texts]\nfile = 'texts.txt'\n"
        "[[ask]]\nquestion = 'radius'\nmodels = ['city']\ninputs = ['new']\n"
        "[[ask]]\nquestion = 'radius'\nmodels = ['text']\ninputs = ['texts']\n"
        "[[ask]]\nquestion = 'robustness'\nepsilons = [1]\nmodels = ['text']\ninputs = ['texts']\n"
    )
    assert run("campaign run plan.toml --store s.db") == 0
    err = capsys.readouterr().err
    unseen = "line 3: 'bergen' in column city was not seen in training, and is read as 'unseen'"
    for note in (
        "new.csv: ignored, as the model does not read them: more\n",
        f"new.csv: {unseen} (is 'Bergen' meant?)\n",
        "texts.txt: the model knows no word of line 2\n",
    ):
        assert err.count(note) == 1
