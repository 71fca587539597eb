"""``tmverify explain``: one row in full, rules of many rows, all reasons, pictures, texts, JSON, proofs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmcheck.cli
import tmverify as tv
from support.cli_cases import Capture, expect_error, save
from tmverify.bnn import BnnModel
from tmverify.cli import main
from tmverify.cli.explained import Explained
from tmverify.verify import explaining

SPACE = tv.Space(
    [tv.Flag("owner"), tv.Number("age", [25, 40, 60]), tv.Category("savings", ["little", "moderate", "rich"])]
)
# Good are owners over 25, and those over 40 with savings. Each of the first has one sufficient reason.
ROWS = "name,owner,age,savings\nann,0,50,little\nbob,1,30,little\ndan,0,50,rich\neve,0,70,moderate\n"
CID = "name,owner,age,savings\ncid,1,50,rich\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    model = tv.Model.from_clauses(
        7, [[1, 2], [3, -5]], [[1, 1]], bias=-1, space=SPACE, classes=["bad", "good"]
    )
    save(model, tmp_path / "loan.tm")
    (tmp_path / "own.csv").write_text(ROWS)
    (tmp_path / "cid.csv").write_text(CID)


def said(capsys: Capture, *arguments: str, code: int = 0, data: str = "own.csv") -> str:
    assert main(["explain", "loan.tm", data, *arguments]) == code
    return capsys.readouterr().out


def lines_of(text: str) -> list[str]:
    """The lines without the last one, which has a time."""
    return [line for line in text.splitlines() if " columns · " not in line]


def test_one_row(capsys: Capture) -> None:
    text = said(capsys, "--id", "name", "--index", "2", "--widen")
    assert lines_of(text) == [
        "sufficient reasons of loan.tm",
        "1 input · widened · engine auto",
        "dan: class good",
        "  IF age over 40 AND savings is not little THEN good",
        "    age      over 40   (here 50)",
        "    savings  not little   (here rich)",
        "  proved: this suffices; no column can be left out; no value can be added",
    ]
    assert "  2 of 3 columns · covers 2 of 4 rows · " in text


def test_one_contrast(capsys: Capture) -> None:
    text = said(capsys, "--index", "1", "--kind", "contrastive", "--smallest", "--freeze", "owner")
    assert lines_of(text) == [
        "smallest contrastive reasons of loan.tm",
        "1 input · owner frozen · engine auto",
        "line 3: class good",
        "  IF age 25 to 40 → up to 25 THEN bad instead of good",
        "    age  25 to 40 → up to 25   (here 30)",
        "  proved: this alters it; no other reason has fewer columns",
    ]
    nothing = said(capsys, "--index", "1", "--kind", "contrastive", "--columns", "savings")
    assert "  proved: nothing that is allowed alters the decision\n" in nothing
    nothing = said(capsys, "--index", "1", "--columns", "savings")
    assert "  good, whatever changes (owner and age as here)" in nothing
    assert "  proved: no change that is allowed alters it, so nothing has to stay\n" in nothing


def test_limits_of_the_distance_and_of_values(capsys: Capture) -> None:
    near = said(capsys, "--index", "0", "--within", "1", "--within", "savings=rich", "--within", "age=60..")
    assert " · if changed, age over 40 · if changed, savings is rich · within 1 column · " in near
    assert "(within 1 change; changes only to allowed values)" in near
    found = json.loads(said(capsys, "--within", "1", "--json", data="cid.csv"))
    assert found["within"] == 1
    assert found["results"][0]["columns"] == ["age"]  # two changes are too many for the others


def test_rules_of_many_rows(capsys: Capture) -> None:
    lines = said(capsys, "--id", "name", "--widen").splitlines()
    assert lines[2:6] == [
        "ann: IF not owner AND savings is little THEN bad",
        "bob: IF owner AND age over 25 THEN good",
        "dan: IF age over 40 AND savings is not little THEN good",
        "eve: IF age over 40 AND savings is not little THEN good",
    ]
    assert "3 rules, by how many of the 4 rows of own.csv each covers:" in lines
    table = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert table == [
        ["2", "dan and 1 more", "IF age over 40 AND savings is not little THEN good"],
        ["1", "ann", "IF not owner AND savings is little THEN bad"],
        ["1", "bob", "IF owner AND age over 25 THEN good"],
    ]
    assert lines[-1] == "together they cover 4 of 4 rows"
    assert "… and 2 more (--rows 3, or --json)" in said(capsys, "--widen", "--rows", "1")
    assert "rules" not in said(capsys, "--widen", "--rows", "0")
    assert "rules" not in said(capsys, "--kind", "contrastive")


def test_rows_that_are_not_asked_about_are_covered_too(capsys: Capture) -> None:
    (row,) = json.loads(said(capsys, "--index", "2", "--widen", "--json"))["covering"]
    assert row["indices"] == [2, 3]
    assert row["found_for"] == [2]


def test_a_rule_near_a_row_covers_what_is_near(capsys: Capture) -> None:
    for within, covered in (("1", [2]), ("2", [2, 3])):  # two columns of them differ
        asked = said(capsys, "--index", "2", "--widen", "--within", within, "--json")
        (rule,) = json.loads(asked)["covering"]
        assert rule["indices"] == covered
    asked = said(capsys, "--index", "2", "--widen", "--freeze", "age", "--json")
    assert json.loads(asked)["covering"][0]["indices"] == [2]


def test_target(capsys: Capture) -> None:
    lines = said(capsys, "--target", "good").splitlines()
    assert lines[0] == "sufficient reasons for not good of loan.tm"
    assert lines[2:4] == ["line 2: IF not owner AND savings is little THEN not good", "line 3: is class good"]
    expect_error(
        capsys, "explain loan.tm own.csv --id name --index 1 --target good", "as which it is decided already"
    )


def test_all_reasons(capsys: Capture) -> None:
    lines = said(capsys, "--all", "9", data="cid.csv").splitlines()
    assert lines[:3] == [
        "minimal sufficient and contrastive reasons of loan.tm",
        "1 input · engine auto",
        "line 2: class good",
    ]
    assert sorted(lines[3:-2]) == [
        "  contrastive  IF age 40 to 60 → up to 25 THEN bad instead of good",
        "  contrastive  IF owner 1 → 0 AND savings rich → little THEN bad instead of good",
        "  sufficient   IF age 40 to 60 AND savings is rich THEN good",
        "  sufficient   IF owner AND age 40 to 60 THEN good",
    ]
    assert lines[-2] == "  proved: these are all minimal reasons: 2 sufficient and 2 contrastive"
    assert lines[-1] == (
        "  importance, as the share of all 2 sufficient reasons: age 100%, "
        + ("owner 50%, savings 50%" if "owner 50%, savings" in lines[-1] else "savings 50%, owner 50%")
    )
    few = said(capsys, "--all", "1", data="cid.csv").splitlines()
    assert len(few) == 7
    assert "1 sufficient and 1 contrastive; there are more" in few[-2]
    assert few[-2].endswith("ones (--all 2)")
    one = said(capsys, "--all", "9", "--kind", "contrastive", data="cid.csv")
    assert "all minimal reasons: 2 contrastive" in one
    assert "importance" not in one


def test_json(capsys: Capture) -> None:
    found: dict[str, Any] = json.loads(said(capsys, "--index", "2", "--json", "--id", "name", "--widen"))
    (row,) = found["results"]
    assert (row["line"], row["name"], row["decision"]) == (4, "dan", "good")
    assert row["rule"] == "IF age over 40 AND savings is not little THEN good"
    assert row["columns"] == ["age", "savings"]
    assert row["facts"][0] == {"column": "age", "value": "over 40", "text": "age over 40"}
    assert (row["sufficient"], row["minimal"], row["undecided"], row["covers"]) == ("holds", "subset", [], 2)
    assert (row["witness"], row["changes"], row["certificate"]) == (None, [], None)
    assert found["covering"][0]["indices"] == [2, 3]
    assert (found["complete"], found["interrupted"], found["n_rows"]) == (True, False, 4)
    contrast = json.loads(
        said(capsys, "--index", "0", "--json", "--kind", "contrastive", "--columns", "owner")
    )["results"][0]
    assert contrast["changes"] == [{"column": "owner", "before": "0", "after": "1"}]
    assert contrast["witness"] == SPACE.encode([{"owner": 1, "age": 50, "savings": "little"}])[0].tolist()
    assert contrast["outcome"] == "good"
    everything = json.loads(said(capsys, "--json", "--all", "9", data="cid.csv"))["results"][0]
    assert (everything["complete"], everything["more"], len(everything["reasons"])) == (True, [], 4)
    assert everything["importance"] == {
        "shares": {"age": 1.0, "owner": 0.5, "savings": 0.5},
        "n_reasons": 2,
        "complete": True,
    }


def test_certificates(capsys: Capture) -> None:
    text = said(capsys, "--certificate", "proofs")
    assert "certificates: 4 written to proofs" in text
    said(capsys, "--certificate", "proofs", "--kind", "contrastive")
    said(capsys, "--certificate", "proofs", "--widen", "--within", "1")
    found = json.loads(said(capsys, "--index", "0", "--certificate", "proofs", "--json"))["results"][0]
    assert Path(found["certificate"]).is_file()
    assert len(list(Path("proofs").glob("explain-*.tmcert"))) == 4 * 3
    assert tmcheck.cli.main(["--dir", "proofs", "loan.tm"]) == 0


def test_what_is_open_is_said(capsys: Capture) -> None:
    text = said(capsys, "--index", "1", "--timeout", "1e-9", code=2)
    assert "  proved: this suffices; open: 3 columns might be left out (owner, age, savings): " in text
    assert json.loads(said(capsys, "--timeout", "1e-9", "--json", code=2))["complete"] is False


def test_ctrl_c_shows_what_is_found(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Explained._ask

    def interrupted(self: Explained, place: int, bar: Any) -> tv.Explanation:
        if place == 2:
            raise KeyboardInterrupt
        return ask(self, place, bar)

    monkeypatch.setattr(Explained, "_ask", interrupted)
    text = said(capsys, "--widen", code=130)
    assert "line 3: IF owner AND age over 25" in text
    assert "2 rules, by how many" in text
    assert text.splitlines()[-1] == "INTERRUPTED after 2 of 4 rows"
    document = json.loads(said(capsys, "--widen", "--json", code=130))
    assert (len(document["results"]), document["interrupted"], document["complete"]) == (2, True, False)


@pytest.mark.parametrize(("options", "where"), [((), "_keep"), (("--all", "5"), "_ask_all")])
def test_ctrl_c_before_a_reason_is_kept(
    options: tuple[str, ...], where: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row without a reason does not count as explained."""

    def interrupted(self: Explained, *arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Explained, where, interrupted)
    assert said(capsys, *options, code=130).splitlines()[-1] == "INTERRUPTED after 0 of 4 rows"


def test_ctrl_c_among_all_reasons(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    following = explaining.Explanations.__next__
    found: list[tv.Explanation] = []

    def interrupted(self: explaining.Explanations) -> tv.Explanation:
        if len(found) == 2:
            raise KeyboardInterrupt
        found.append(following(self))
        return found[-1]

    monkeypatch.setattr(explaining.Explanations, "__next__", interrupted)
    lines = said(capsys, "--all", "5", code=130, data="cid.csv").splitlines()
    assert sum(line.startswith(("  sufficient ", "  contrastive ")) for line in lines) == 2
    assert any("open: there may be others: interrupted by Ctrl-C" in line for line in lines)
    assert lines[-1] == "INTERRUPTED after 0 of 1 row"


LABELLED = (
    ROWS.replace("savings\n", "savings,y\n", 1).replace("\nbob", ",bad\nbob").replace("\ndan", ",bad\ndan")
)
LABELLED = LABELLED.replace("\neve", ",good\neve").removesuffix("\n") + ",?\n"


def test_labels(capsys: Capture) -> None:
    """Bob is decided otherwise than labelled; eve has no known label."""
    Path("known.csv").write_text(LABELLED)
    lines = said(capsys, "--id", "name", "--widen", data="known.csv").splitlines()
    assert lines[2:8] == [
        "ann: IF not owner AND savings is little THEN bad",
        "bob: IF owner AND age over 25 THEN good  (but labelled bad)",
        "dan: IF age over 40 AND savings is not little THEN good",
        "eve: IF age over 40 AND savings is not little THEN good",
        "4 rows explained, each reason proved and minimal: 2 to 2 columns, median 2",
        "1 of 3 rows decided otherwise than labelled",
    ]
    table = [[cell.strip() for cell in line.split("│")[1:3]] for line in lines if line.startswith("│")]
    assert table == [["2", "1"], ["1", "1"], ["1", "0"]]
    assert "line 2: class bad, as labelled\n" in said(capsys, "--index", "0", data="known.csv")
    assert "line 3: class good, but labelled bad\n" in said(capsys, "--index", "1", data="known.csv")
    assert "line 5: class good\n" in said(capsys, "--index", "3", data="known.csv")
    found = json.loads(said(capsys, "--widen", "--json", data="known.csv"))
    assert [row["label"] for row in found["results"]] == ["bad", "bad", "good", None]
    assert [rule["as_labelled"] for rule in found["covering"]] == [1, 1, 0]
    only = json.loads(said(capsys, "--index", "0", "--target", "good", "--json", data="known.csv"))
    assert only["covering"][0]["as_labelled"] == 1  # it is labelled as another class than good


def test_rows_by_index_and_name(capsys: Capture) -> None:
    for index, names in (
        ("1", ["bob"]),
        ("0,2-3", ["ann", "dan", "eve"]),
        ("dan,0", ["dan", "ann"]),
        ("2, dan,1-2", ["dan", "bob"]),
    ):
        found = json.loads(said(capsys, "--id", "name", "--index", index, "--json"))["results"]
        assert [row["name"] for row in found] == names
    ask = "explain loan.tm own.csv"
    expect_error(capsys, f"{ask} --id name --index 1-4", "below the number of inputs, 4. Got 4 instead.")
    expect_error(capsys, f"{ask} --id name --index 2-1", "the lower end of a range first. Got '2-1'")
    expect_error(capsys, f"{ask} --id name --index annn", "Got 'annn' instead. Is 'ann' meant?")
    expect_error(capsys, f"{ask} --id name --index 1,,2", "Got '' instead")
    assert main(["explain", "loan.tm", "own.csv", "--index", "ann"]) == 3
    assert "Got 'ann' instead. For names, --id says which column has them." in capsys.readouterr().err


def test_names_that_look_like_numbers(capsys: Capture) -> None:
    """A number is an index, whatever rows are called; a name that has a comma is taken whole."""
    rows = 'name,owner,age,savings\n1,0,50,little\n0,1,30,little\n"a, 1",0,50,rich\n0-1,0,70,moderate\n'
    Path("odd.csv").write_text(rows)
    for index, line in (("0", 2), ("a, 1", 4), ("0-1", 5)):
        found = json.loads(said(capsys, "--id", "name", "--index", index, "--json", data="odd.csv"))[
            "results"
        ]
        assert [row["line"] for row in found] == [line]


def test_a_short_view_of_many_rows(capsys: Capture) -> None:
    lines = said(capsys, "--widen", "--rows", "1").splitlines()
    assert lines[2:5] == [
        "line 2: IF not owner AND savings is little THEN bad",
        "… and 3 more rows (--rows 4, --json or --csv FILE.csv)",
        "4 rows explained, each reason proved and minimal: 2 to 2 columns, median 2",
    ]
    assert said(capsys, "--widen", "--rows", "0").splitlines()[2:] == lines[4:5]
    some = said(capsys, "--kind", "contrastive", "--smallest", "--columns", "age,savings", "--rows", "0")
    assert some.splitlines()[2:] == [
        "4 rows explained, each reason proved and smallest: 1 to 1 column, median 1",
        "rows by the columns that alter their decision: age 3, savings 1",
    ]
    stopped = said(capsys, "--timeout", "1e-9", "--rows", "0", code=2)
    assert "4 rows explained, 4 of them not to the end: " in stopped
    listed = said(capsys, "--all", "9", "--rows", "1").splitlines()
    assert sum(": class" in line for line in listed) == 1


def test_csv(capsys: Capture) -> None:
    Path("known.csv").write_text(LABELLED)
    text = said(capsys, "--widen", "--csv", "out.csv", "--id", "name", "--target", "good", data="known.csv")
    assert "1 reason of 4 rows written to out.csv\n" in text
    with open("out.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["name"], line["decision"], line["label"]) for line in lines] == [
        ("ann", "bad", "bad"),
        ("bob", "good", "bad"),
        ("dan", "good", "good"),
        ("eve", "good", ""),
    ]
    assert (lines[0]["rule"], json.loads(lines[0]["facts"]), lines[0]["covers"]) == (
        "IF not owner AND savings is little THEN not good",
        ["not owner", "savings is little"],
        "1",
    )
    assert (lines[1]["rule"], lines[1]["facts"]) == ("", "")
    assert "certificate" not in lines[0]
    said(capsys, "--all", "9", "--csv", "out.csv", "--json", data="cid.csv")
    with open("out.csv", newline="", encoding="utf-8") as file:
        kinds = [(line["kind"], bool(line["changes"])) for line in csv.DictReader(file)]
    assert sorted(kinds) == [("contrastive", True)] * 2 + [("sufficient", False)] * 2
    said(capsys, "--certificate", "proofs", "--csv", "out.csv")
    with open("out.csv", newline="", encoding="utf-8") as file:
        assert all(Path(line["certificate"]).is_file() for line in csv.DictReader(file))
    ask = "explain loan.tm own.csv --csv"
    expect_error(capsys, f"{ask} own.csv", "MODEL, DATA and --csv must be different files")
    expect_error(capsys, f"{ask} rules.txt", "--csv must end in .csv")


def test_values_that_are_known(capsys: Capture) -> None:
    """Without the option, the nearest way to another decision is a blank or a strange cell."""
    city = tv.Category("city", ["Oslo", "other"], other=True, missing=True)
    space = tv.Space([city, tv.Number("age", [25, 40], missing=True)])
    model = tv.Model.from_clauses(6, [[-1, -2], [5]], [[1, 1]], bias=-1, space=space, classes=["no", "yes"])
    save(model, Path("city.tm"))
    Path("city.csv").write_text("city,age\nOslo,30\n")
    ask = ["explain", "city.tm", "city.csv", "--kind", "contrastive", "--columns", "city"]
    assert main(ask) == 0
    assert "IF city Oslo → unseen THEN yes instead of no" in capsys.readouterr().out
    assert main([*ask, "--known-values", "--certificate", "proofs"]) == 0
    assert "nothing that is allowed alters the decision" in capsys.readouterr().out
    assert main(["explain", "city.tm", "city.csv", "--known-values", "--certificate", "proofs"]) == 0
    text = capsys.readouterr().out
    assert "\n1 input · only known values · engine auto\n" in text
    assert "  IF age 25 to 40 THEN no (changes only to known values)\n" in text
    assert tmcheck.cli.main(["--dir", "proofs", "city.tm"]) == 0


def test_values_that_begin_like_a_sentence(capsys: Capture) -> None:
    """The line below the rule said "new" of the value "is new"."""
    space = tv.Space([tv.Category("state", ["is new", "old"]), tv.Flag("sold")])
    save(tv.Model.from_clauses(3, [[1]], [[1]], bias=-1, space=space), Path("state.tm"))
    Path("state.csv").write_text("state,sold\nis new,0\n")
    assert main(["explain", "state.tm", "state.csv"]) == 0
    assert '  IF state is "is new" THEN 1\n    state  is new\n' in capsys.readouterr().out


def test_no_way_to_a_target_is_no_proof_of_the_decision(capsys: Capture) -> None:
    """Nothing leads to class 2 here, but x0 alters the decision."""
    model = tv.Model.from_clauses(
        2, [[1], [-1], [1, 2]], [[1, 0, 0], [0, 1, 0], [0, 0, -1]], classes=[0, 1, 2]
    )
    save(model, Path("three.tm"))
    np.savez("three.npz", X=np.array([[1, 0]], np.uint8))
    assert main(["explain", "three.tm", "three.npz", "--target", "2"]) == 0
    text = capsys.readouterr().out
    assert "  proved: no change that is allowed leads to class 2, so nothing has to stay\n" in text
    assert "alters" not in text


def test_a_picture(capsys: Capture) -> None:
    space = tv.Space([tv.Image((2, 3))])
    save(tv.Model.from_clauses(6, [[1, -6], [2]], [[1, 1]], bias=-1, space=space), Path("dots.tm"))
    np.savez("dots.npz", X=np.array([[1, 0, 1, 0, 1, 0]], np.uint8))
    assert main(["explain", "dots.tm", "dots.npz"]) == 0
    assert lines_of(capsys.readouterr().out)[3:] == [
        "  IF 2 of 6 pixels are as here THEN 1",
        "  input, reason",
        "  #·#   #··",
        "  ·#·   ··o",
        "  # must stay on   o must stay off   · need not stay",
        "  proved: this suffices; no column can be left out",
    ]
    assert main(["explain", "dots.tm", "dots.npz", "--kind", "contrastive"]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert drawn[5:7] in (["  #·#   -·#", "  ·#·   ·#·"], ["  #·#   #·#", "  ·#·   ·#+"])


def test_bits_that_are_a_picture(capsys: Capture) -> None:
    save(tv.Model.from_clauses(6, [[1, -6], [2]], [[1, 1]], bias=-1), Path("dots.tm"))
    np.savez("dots.npz", X=np.array([[1, 0, 1, 0, 1, 0]], np.uint8))
    assert main(["explain", "dots.tm", "dots.npz"]) == 0
    text = capsys.readouterr().out
    assert "  IF x0 AND not x5 THEN 1\n    must be 1: x0\n    must be 0: x5\n" in text
    assert main(["explain", "dots.tm", "dots.npz", "--image", "2x3"]) == 0
    assert "  #·#   #··\n" in capsys.readouterr().out
    expect_error(capsys, "explain dots.tm dots.npz --image 3x3", "as many pixels as there are features, 6")
    expect_error(capsys, "explain dots.tm dots.npz --image 3", "--image must be rows x columns")


def test_a_text(capsys: Capture) -> None:
    space = tv.Space([tv.Text(["good", "bad", "film"])])
    save(tv.Model.from_clauses(3, [[1, -2]], [[1]], bias=-1, space=space), Path("film.tm"))
    Path("film.txt").write_text("A Good, good film.\nBad film\n")
    assert main(["explain", "film.tm", "film.txt", "--index", "0"]) == 0
    assert lines_of(capsys.readouterr().out)[3:] == [
        '  IF "good" AND no "bad" THEN 1',
        "    “A [Good], [good] film.”",
        "    1 word must be there: good",
        "    1 word must not be there: bad",
        "  proved: this suffices; no column can be left out",
    ]
    assert main(["explain", "film.tm", "film.txt", "--index", "1", "--kind", "contrastive"]) == 0
    assert lines_of(capsys.readouterr().out)[3:] == [
        '  IF "good" added AND "bad" removed THEN 1 instead of 0',
        "    “[Bad] film”",
        "    1 word removed: bad",
        "    1 word added: good",
        "  proved: this alters it; no column can be left out",
    ]


def test_hundreds_of_facts_stay_readable(capsys: Capture) -> None:
    names = [f"f{i}" for i in range(300)]
    model = tv.Model.from_clauses(300, [list(range(1, 301))], [[1]], bias=-1, feature_names=names)
    save(model, Path("many.tm"))
    np.savez("many.npz", X=np.ones((2, 300), np.uint8))
    assert main(["explain", "many.tm", "many.npz", "--index", "0"]) == 0
    one = capsys.readouterr().out
    assert main(["explain", "many.tm", "many.npz"]) == 0
    assert "input 0: IF f0 AND f1 AND f2 AND f3 AND 296 more THEN 1\n" in capsys.readouterr().out
    assert "AND f15 AND 284 more THEN 1" in one
    assert max(map(len, one.splitlines())) < 300
    document = json.loads(_json_of(capsys, "many.tm", "many.npz"))
    assert len(document["results"][0]["facts"]) == 300


def _json_of(capsys: Capture, *arguments: str) -> str:
    assert main(["explain", *arguments, "--json"]) == 0
    return capsys.readouterr().out


def test_a_network(capsys: Capture) -> None:
    network = BnnModel.from_layers([([[1, 1, -1], [1, -1, 1]], [1, 1])], [[1, 1], [-1, 1]])
    network.save("net.bnn")
    np.savez("net.npz", X=np.array([[1, 0, 1], [0, 0, 1]], np.uint8))
    assert main(["explain", "net.bnn", "net.npz", "--within", "2", "--certificate", "proofs"]) == 0
    capsys.readouterr()
    assert tmcheck.cli.main(["--dir", "proofs", "net.bnn"]) == 0


def test_errors(capsys: Capture) -> None:
    ask = "explain loan.tm own.csv --id name"
    expect_error(capsys, f"{ask} --target Good", "--target must be a class of the model")
    expect_error(capsys, f"{ask} --kind enough", "--kind must be sufficient or contrastive. Got 'enough'")
    expect_error(capsys, f"{ask} --kind contrastive --widen", "--widen is for sufficient reasons")
    expect_error(capsys, f"{ask} --all 3 --smallest", "--all lists reasons as they are found, without")
    expect_error(capsys, f"{ask} --within near", "--within must be a whole number of changes, or COLUMN=")
    expect_error(capsys, f"{ask} --within 1 --within 2", "--within gives two distances, 1 and 2")
    expect_error(capsys, f"{ask} --within age=20,60", "must be a range, such as")
    expect_error(capsys, f"{ask} --index 9", "index")
    expect_error(capsys, f"{ask} --freeze ownr", "is 'owner' meant?")
    expect_error(capsys, f"{ask} --engine fast", "engine")
    expect_error(capsys, f"{ask} --engine brute --certificate proofs", "for a certificate")
    expect_error(capsys, f"{ask} --timeout 0", "--timeout must be a positive number of seconds")
