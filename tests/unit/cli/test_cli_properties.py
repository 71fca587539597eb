"""``tmverify prove``, ``fairness``, ``monotonicity`` and ``check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmcheck.cli
from support.cli_cases import Capture, hard, save
from support.stated import ROWS, lender, three_parties
from tmverify.asking.property import Property
from tmverify.bnn import BnnModel
from tmverify.cli import main

FILE = """
data = "rows.csv"

[[property]]
name = "owners get it"
assume = "owner"
expect = "decision == 'yes'"

[[property]]
name = "sex does not matter"
protected = ["sex"]
why = "The law."

[[property]]
name = "age does not hurt"
monotone = "age"
toward = "yes"

[[property]]
name = "half of the rows"
expect = "decision == 'yes'"
eta = "3/4"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    save(lender(), tmp_path / "m.tm")
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "p.toml").write_text(FILE)


def said(capsys: Capture, *arguments: str, code: int) -> list[str]:
    """The lines without trailing blanks, and without the one that has a time."""
    assert main(arguments) == code
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if not line.startswith("  engine ")]


def refused(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 3
    out, err = capsys.readouterr()
    assert out == ""
    return err[err.index("error: ") :]


def test_what_holds(capsys: Capture) -> None:
    assert said(capsys, "prove", "m.tm", "--assume", "owner", "--expect", "decision == 'yes'", code=0) == [
        "prove of m.tm",
        "expected: decision == 'yes', if owner",
        "every possible input · engine auto · limit 300 s",
        "HOLDS  proved for every possible input",
    ]
    lines = said(capsys, "monotonicity", "m.tm", "age", "--toward", "yes", code=0)
    assert lines[1] == "more age never turns the decision away from yes"
    assert lines[3] == "HOLDS  proved for every possible pair of inputs"
    lines = said(capsys, "fairness", "m.tm", "--protected", "age,sex", "--assume", "owner", code=0)
    assert lines[1] == "same decision whatever age and sex is, if owner"


def test_more_never_hurts_by_votes(capsys: Capture) -> None:
    more = ["monotonicity", "m.tm", "age", "--margin", "1", "--toward"]
    lines = said(capsys, *more, "yes", code=0)
    assert lines[1] == "more age never turns the decision away from yes, by at least 1 vote, before and after"
    lines = said(capsys, *more, "no", code=1)
    assert lines[-1] == "  decision  no, by 1 vote  yes, on a tie  ←"


def test_one_input_that_violates_it(capsys: Capture) -> None:
    expect = ["--expect", "decision == 'yes'", "--assume", "age > 60 and sex == 'f' and not owner"]
    assert said(capsys, "prove", "m.tm", *expect, code=1)[3:] == [
        "VIOLATED  by this input",
        "  owner     0",
        "  age       over 60",
        "  sex       f",
        "  decision  no, by 1 vote",
    ]


def test_known_values(capsys: Capture) -> None:
    """Without an age nobody but owners is accepted; nobody else is without one."""
    ask_it = ["monotonicity", "m.tm", "age", "--toward", "no", "--assume", "not owner and sex == 'm'"]
    assert said(capsys, *ask_it, code=1)
    older = ["prove", "m.tm", "--assume", "not (age <= 60) and sex == 'm'", "--expect", "decision == 'yes'"]
    lines = said(capsys, *older, code=1)
    assert "  age       missing" in lines
    lines = said(capsys, *older, "--known-values", code=0)
    assert lines[1].endswith(", known values only")
    assert ask(capsys, *older, "--known-values", code=0)["known_values"] is True
    Path("k.toml").write_text(
        'known_values = true\n[[property]]\nname = "k"\nassume = "not (age <= 60) and sex == \'m\'"\n'
        "expect = \"decision == 'yes'\"\n"
    )
    assert said(capsys, "check", "m.tm", "k.toml", code=0)


def test_two_inputs_that_violate_it(capsys: Capture) -> None:
    lines = said(
        capsys, "fairness", "m.tm", "--protected", "sex", "--assume", "age > 60 and a.sex == 'f'", code=1
    )
    assert lines[3:] == [
        "VIOLATED  by this pair of inputs",
        "            a              b",
        "  sex       f              m              ←",
        "  owner     0              0",
        "  age       over 60        over 60",
        "  decision  no, by 1 vote  yes, on a tie  ←",
    ]


def test_margins_and_votes(capsys: Capture) -> None:
    owners = ["prove", "m.tm", "--assume", "owner", "--expect", "decision == 'yes'", "--margin"]
    assert said(capsys, *owners, "0", code=0)
    assert (
        said(capsys, *owners, "1", code=1)[1] == "expected: decision == 'yes', by at least 1 vote, if owner"
    )
    save(three_parties(), Path("v.tm"))
    votes = "votes('red') + votes('blue') - votes('green') >= -3"
    assert said(capsys, "prove", "v.tm", "--expect", votes, code=0)
    lines = said(capsys, "prove", "v.tm", "--expect", votes.replace("-3", "-2"), code=1)
    assert lines[-1] == "  decision  green, by 3 votes (3 to 0)"


def test_what_was_rounded_and_what_is_vacuous_is_visible(capsys: Capture) -> None:
    prove = ["prove", "m.tm", "--expect", "decision == 'yes'", "--assume"]
    lines = said(capsys, *prove, "owner and age > 40", "--round", "outer", code=0)
    assert lines[-1] == "  rounded: age > 40 was taken for 25 to 60 or over 60"
    found = ask(capsys, *prove, "owner and age > 40", "--round", "outer", code=0)
    assert (found["as_rounded"], found["rounded"]) == (False, [lines[-1].strip()])
    lines = said(capsys, *prove, "owner and age > 40", "--round", "inner", code=0)
    assert lines[3] == "HOLDS, AS ROUNDED  proved for every possible input"
    twice = [*prove, "not owner and age > 40 and age < 30", "--round", "outer"]
    assert said(capsys, *twice, code=1)[3] == "VIOLATED, AS ROUNDED  by this input"
    found = ask(capsys, *twice, code=1)
    assert (found["status"], found["as_rounded"]) == ("violated", True)
    lines = said(capsys, *prove, "age > 60 and age <= 25", code=2)
    assert lines[-1] == "VACUOUS  it holds because nothing possible satisfies the assumption"
    lines = said(capsys, *prove, "age > 60 and age <= 25", "--allow-vacuous", code=0)
    assert lines[-1] == "HOLDS  it holds because nothing possible satisfies the assumption"
    found = ask(capsys, *prove, "age > 60 and age <= 25", code=2)
    assert (found["status"], found["vacuous"]) == ("vacuous", True)
    lines = said(capsys, *prove[:2], "rows.csv", *prove[2:], "age is None", code=2)
    assert lines[-1] == "VACUOUS  it holds because the assumption is about none of 4 rows"


def test_rows(capsys: Capture) -> None:
    rows = ["prove", "m.tm", "rows.csv", "--id", "name", "--expect", "decision == 'yes'"]
    lines = said(capsys, *rows, "--eta", "3/4", code=0)
    assert lines[2:4] == [
        "4 rows · eta 3/4 · as they are · engine auto · limit 300 s",
        "HOLDS  at least 3 of 4 rows must pass: 3 pass, 1 fails",
    ]
    assert lines[4:6] == ["  bob:", "  owner     0"]
    lines = said(capsys, *rows, code=1)
    assert lines[3] == "VIOLATED  all 4 rows must pass: 1 fails, 1 passes, 2 not looked at"
    lines = said(capsys, *rows, "--epsilon", "1", "--eta", "1/4", "--freeze", "owner", code=0)
    assert lines[2].startswith("4 rows · eta 1/4 · owner frozen · at most 1 column changed")
    lines = said(capsys, *rows, "-e", "1", "--eta", "1/2", code=1)
    assert [line.split() for line in lines[4:7]] == [
        ["ann:"],
        ["row", "counterexample"],
        ["owner", "1", "0", "←"],
    ]
    assert lines[-2:] == [
        "  bob: no, by 1 vote",
        "  cid: yes, on a tie and no, by 1 vote if age over 60 → 25 to 60",
    ]


def test_counting_all_rows(capsys: Capture) -> None:
    rows = ["prove", "m.tm", "rows.csv", "--expect", "decision == 'yes'"]
    lines = said(capsys, *rows, "--count", code=1)
    assert lines[3] == "VIOLATED  all 4 rows must pass: 1 fails, 3 pass"
    lines = said(capsys, *rows, "--eta", "1/4", "--count", code=0)
    assert lines[3].endswith("at least 1 of 4 rows must pass: 3 pass, 1 fails")
    assert ask(capsys, *rows, "--eta", "1/4", "--count", code=0)["looked_at"] == 4
    lines = said(capsys, "check", "m.tm", "p.toml", "--only", "half of the rows", "--count", "--json", code=0)
    assert json.loads("".join(lines))["properties"][0]["looked_at"] == 4


def test_rows_that_the_assumption_is_not_about(capsys: Capture) -> None:
    rows = ["prove", "m.tm", "rows.csv", "--id", "name", "--expect", "decision == 'yes'", "--assume"]
    lines = said(capsys, *rows, "age > 60", "--eta", "1/2", code=0)
    assert lines[3] == (
        "HOLDS  of the 2 of 4 rows that it concerns, at least 1 must pass: 1 passes, 1 not looked at"
    )
    lines = said(capsys, *rows, "age > 25 and not owner", code=1)
    assert lines[3].startswith("VIOLATED  of the 2 of 4 rows that it concerns, all must pass: 1 fails, ")
    assert lines[4] == "  bob:"
    found = ask(capsys, *rows, "age > 25 and not owner", code=1)
    assert [found[key] for key in ("rows", "about", "looked_at", "required")] == [4, 2, 1, 2]
    assert [each["name"] for each in found["violations"]] == ["bob"]
    assert found["detail"] == "the assumption is about 2 of the 4 rows"
    Path("a.toml").write_text(
        'data = "rows.csv"\n[[property]]\nname = "old"\nassume = "age > 60"\n'
        "expect = \"decision == 'yes'\"\neta = 0.5\n"
    )
    lines = said(capsys, "check", "m.tm", "a.toml", code=0)
    assert any(line.startswith("│ old ") and "of the 2 of 4 rows that it concerns" in line for line in lines)


def test_pairs_around_rows(capsys: Capture) -> None:
    lines = said(capsys, "fairness", "m.tm", "rows.csv", "--protected", "sex", "--eta", "3/4", code=0)
    assert lines[3] == "HOLDS  at least 3 of 4 rows must pass: 3 pass, 1 fails"
    assert lines[4] == "  line 4:"
    lines = said(capsys, "monotonicity", "m.tm", "age", "rows.csv", "--toward", "no", code=1)
    assert lines[4] == "  line 3:"


def test_json_of_one(capsys: Capture) -> None:
    found = ask(capsys, "fairness", "m.tm", "--protected", "sex", "--assume", "a.sex == 'f'", code=1)
    assert (found["question"], found["kind"], found["status"]) == ("fairness", "fairness", "violated")
    seen = found["counterexample"]
    assert seen["differ"] == ["sex"]
    assert [each["input"] for each in seen["inputs"]] == ["a", "b"]
    assert [each["decision"] for each in seen["inputs"]] == ["no", "yes"]
    assert seen["inputs"][1]["values"] == {"owner": "0", "age": "over 60", "sex": "m"}
    assert lender().predict(np.array([each["bits"] for each in seen["inputs"]])).tolist() == ["no", "yes"]
    found = ask(capsys, "prove", "m.tm", "rows.csv", "--expect", "decision == 'yes'", "-e", "1", code=1)
    assert (found["rows"], found["looked_at"], found["eta"], found["required"]) == (4, 1, "1", 4)
    violation = found["violations"][0]
    assert (violation["index"], violation["line"]) == (0, 2)
    assert [each["input"] for each in violation["counterexample"]["inputs"]] == ["row", "counterexample"]


def ask(capsys: Capture, *arguments: str, code: int) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prove", "m.tm", "--expect", "age >"], "This is no expression.\n  age >\n"),
        (
            ["prove", "m.tm", "--expect", "decision = 'a=b'"],
            "This is no expression: is == meant?\n  decision = 'a=b'\n           ^\n",
        ),
        (
            ["prove", "m.tm", "--expect", "owner and age = 60"],
            "This is no expression: is == meant?\n  owner and age = 60\n                ^\n",
        ),
        (["prove", "m.tm", "--expect", "sex == 'a=b' and"], "This is no expression.\n"),
        (["prove", "m.tm", "--expect", "age =< 60"], "This is no expression.\n"),
        (
            ["prove", "m.tm", "--expect", "owner and agee > 3"],
            "The model has no column 'agee'. Is 'age' meant?\n  owner and agee > 3\n            ^^^^\n",
        ),
        (["prove", "m.tm", "--expect", "age > 40"], "its cuts are 25 and 60."),
        (["prove", "m.tm", "--expect", "owner", "--round", "up"], "--round must be outer or inner."),
        (["prove", "m.tm", "--expect", "age > 40"], "; or --round outer or --round inner."),
        (["prove", "m.tm", "--expect", "owner", "--count"], "--count is about rows of data: give DATA"),
        (["prove", "m.tm", "--expect", "owner", "--eta", "1/2"], "--eta is about rows of data: give DATA"),
        (["prove", "m.tm", "--expect", "owner", "--freeze", "age"], "--freeze is about rows of data"),
        (["prove", "m.tm", "--expect", "owner", "--epsilon", "0"], "--epsilon is about rows of data"),
        (["prove", "m.tm", "rows.csv", "--expect", "owner", "--eta", "7"], "eta must be a fraction between"),
        (["prove", "m.tm", "rows.csv", "--expect", "owner", "--distance", "bits"], "about columns: distance"),
        (["prove", "m.tm", "--expect", "owner", "--timeout", "0"], "--timeout must be a positive number"),
        (["prove", "m.tm", "--expect", "owner", "--engine", "magic"], "engine must be one of"),
        (["prove", "m.tm"], "Missing option '--expect'"),
        (["fairness", "m.tm"], "Missing option '--protected'"),
        (["fairness", "m.tm", "--protected", "sax"], "The model has no column 'sax'. Is 'sex' meant?"),
        (["fairness", "m.tm", "--protected", "sex", "--assume", "sex == 'f'"], "Say a.sex or b.sex."),
        (["monotonicity", "m.tm", "sex", "--toward", "yes"], "A category has no order"),
        (
            ["monotonicity", "m.tm", "age", "--toward", "yess"],
            "toward must be a class of the model (no, yes).",
        ),
        (["prove", "rows.csv", "--expect", "owner"], "It looks like data: the model comes first"),
        (["prove", "m.tm", "none.csv", "--expect", "owner"], "none.csv: there is no such file."),
        (
            ["prove", "m.tm", "--expect", "owner", "--certificate", "c", "--engine", "paper"],
            "for a certificate",
        ),
        (["check", "m.tm", "none.toml"], "none.toml: No such file or directory."),
        (["check", "m.tm", "p.toml", "--only", "age does not hrt"], "Is 'age does not hurt' meant?"),
        (["check", "m.tm", "p.toml", "--junit", "r.txt"], "--junit must end in .xml."),
        (["check", "m.tm", "p.toml", "--data", "none.csv"], "none.csv: there is no such file."),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_errors(arguments: list[str], message: str, capsys: Capture) -> None:
    before = sorted(Path().iterdir())
    assert message in refused(capsys, *arguments)
    assert sorted(Path().iterdir()) == before


def test_networks_are_refused(capsys: Capture) -> None:
    BnnModel.from_layers([([[1, 1, -1], [1, -1, 1]], [1, 1])], [[1, 1], [-1, 1]]).save("n.tm")
    assert "n.tm is a binarized network" in refused(capsys, "prove", "n.tm", "--expect", "x0")


def test_check(capsys: Capture) -> None:
    lines = said(capsys, "check", "m.tm", "p.toml", code=1)
    table = [line for line in lines if line.startswith("│")]
    assert [line.split("│")[2].strip() for line in table] == ["holds", "violated", "holds", "holds"]
    after = lines[lines.index("sex does not matter: violated, by this pair of inputs") :]
    assert after[1:3] == ["  same decision whatever sex is", "  why: The law."]
    assert after[-1] == "VIOLATED  4 properties: 3 hold, 1 violated"


def test_the_table_says_what_was_asked(capsys: Capture) -> None:
    """What is not about every possible input, or not about all rows, does not read as if it were."""
    Path("p.toml").write_text(
        """
data = "rows.csv"
known_values = true
[[property]]
name = "every input"
known_values = false
expect = "owner or not owner"
[[property]]
name = "votes"
assume = "owner"
expect = "decision == 'yes'"
margin = 1
[[property]]
name = "some rows"
expect = "owner or age <= 60 or sex == 'm'"
eta = "1/4"
epsilon = 1
"""
    )
    lines = said(capsys, "check", "m.tm", "p.toml", "--count", "--junit", "r.xml", code=1)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    told = {name: note for name, _, _, note in rows}
    assert told["every input"] == ""
    assert told["votes"] == "known values only; by at least 1 vote"
    begin = "at least 1 of 4 rows must pass: 2 pass, 2 fail"
    parts = [begin, "at most 1 column changed", "known values only"]
    assert " ".join(note for *_, note in rows[2:]) == "; ".join(parts)
    assert "\n".join(parts) in Path("r.xml").read_text()
    lines = said(capsys, "check", "m.tm", "p.toml", "--only", "every input", "--junit", "r.xml", code=0)
    assert "system-out" not in Path("r.xml").read_text()


def test_warnings_fail_nothing(capsys: Capture) -> None:
    text = FILE.replace('why = "The law."', 'severity = "warning"')
    Path("p.toml").write_text(text)
    lines = said(capsys, "check", "m.tm", "p.toml", code=0)
    assert lines[-1] == "HOLDS  4 properties: 3 hold, 1 violated; 1 warning only"
    assert any("│ violated │" in line and "a warning" in line for line in lines)


def test_only_some_and_vacuous_ones(capsys: Capture) -> None:
    more = '[[property]]\nname = "empty"\nassume = "owner and not owner"\nexpect = "decision == \'yes\'"\n'
    Path("p.toml").write_text(FILE + more)
    lines = said(capsys, "check", "m.tm", "p.toml", "--only", "empty", "--only", "owners get it", code=2)
    assert lines[-1] == "VACUOUS  2 properties: 1 holds, 1 vacuous"
    assert "empty: vacuous, it holds because nothing possible satisfies the assumption" in lines
    found = ask(capsys, "check", "m.tm", "p.toml", "--only", "empty", code=2)
    assert (found["status"], found["properties"][0]["status"]) == ("vacuous", "vacuous")
    assert main(["check", "m.tm", "p.toml"]) == 1  # something else is violated
    capsys.readouterr()
    Path("p.toml").write_text(FILE + more + 'severity = "warning"\n')
    lines = said(capsys, "check", "m.tm", "p.toml", "--only", "empty", code=0)
    assert lines[-1] == "HOLDS  1 property: 1 vacuous; 1 warning only"
    Path("p.toml").write_text(FILE + more + 'vacuous = "ok"\n')
    lines = said(capsys, "check", "m.tm", "p.toml", "--only", "empty", code=0)
    assert lines[-1] == "HOLDS  1 property: 1 holds"
    assert any("vacuous: nothing possible satisfies" in line for line in lines)
    found = ask(capsys, "check", "m.tm", "p.toml", "--only", "empty", code=0)
    (only,) = found["properties"]
    assert [only[key] for key in ("status", "vacuous", "if_vacuous")] == ["holds", True, "ok"]


def test_unknown_is_2_unless_something_is_violated(capsys: Capture) -> None:
    save(hard(), Path("hard.tm"))
    open_ = '[[property]]\nname = "{}"\nexpect = "decision == {}"\nassume = "x1 or x2 or x3"\n'
    Path("h.toml").write_text("timeout = 0.001\n" + open_.format("hard", 0) + 'severity = "error"\n')
    lines = said(capsys, "check", "hard.tm", "h.toml", "--engine", "paper", code=2)
    assert lines[-1] == "UNKNOWN  1 property: 1 unknown"
    assert any(line.startswith("hard: unknown, timeout") for line in lines)
    found = ask(capsys, "check", "hard.tm", "h.toml", "--engine", "paper", code=2)
    assert (found["status"], found["properties"][0]["stop_reason"]) == ("unknown", "timeout")
    Path("h.toml").write_text(Path("h.toml").read_text().replace('"error"', '"warning"'))
    assert main(["check", "hard.tm", "h.toml", "--engine", "paper"]) == 0


def test_json_of_check(capsys: Capture) -> None:
    found = ask(capsys, "check", "m.tm", "p.toml", code=1)
    assert (found["question"], found["file"], found["status"]) == ("check", "p.toml", "violated")
    assert [each["name"] for each in found["properties"]] == [
        "owners get it",
        "sex does not matter",
        "age does not hurt",
        "half of the rows",
    ]
    assert found["properties"][3]["rows"] == 4


def test_errors_in_a_file_come_before_any_work(capsys: Capture) -> None:
    bad = '[[property]]\nname = "bad"\nexpect = "owner and agee > 3"\n'
    Path("p.toml").write_text(FILE + bad)
    err = refused(capsys, "check", "m.tm", "p.toml", "--junit", "r.xml")
    assert err == (
        "error: p.toml: property 'bad': The model has no column 'agee'. Is 'age' meant?\n"
        "  owner and agee > 3\n            ^^^^\n"
    )
    assert not Path("r.xml").exists()
    Path("p.toml").write_text(FILE + bad.replace("owner and agee > 3", "age > 40"))
    assert '; or round = "outer" or round = "inner".' in refused(capsys, "check", "m.tm", "p.toml")
    Path("p.toml").write_text(FILE.replace('toward = "yes"', "toward = 1"))
    assert "p.toml: property 'age does not hurt': toward must be a class" in refused(
        capsys, "check", "m.tm", "p.toml"
    )


def test_data_of_the_command_line(capsys: Capture) -> None:
    Path("p.toml").write_text(FILE.replace('data = "rows.csv"\n', ""))
    assert 'give data = "FILE"' in refused(capsys, "check", "m.tm", "p.toml")
    Path("sub").mkdir()
    Path("rows.csv").rename("sub/rows.csv")
    assert main(["check", "m.tm", "p.toml", "--data", "sub/rows.csv", "--only", "half of the rows"]) == 0
    Path("sub/p.toml").write_text(FILE)  # the file is looked for beside the properties
    assert main(["check", "m.tm", "sub/p.toml", "--only", "half of the rows"]) == 0
    capsys.readouterr()
    assert main(["check", "m.tm", "sub/p.toml", "--only", "owners get it", "--data", "sub/rows.csv"]) == 0
    assert "--data is not used" in capsys.readouterr().err


def test_certificates(capsys: Capture) -> None:
    lines = said(capsys, "check", "m.tm", "p.toml", "--certificate", "proofs", code=1)
    names = sorted(path.name for path in Path("proofs").iterdir())
    written = len(names)
    assert f"certificates: {written} written to proofs; check them with" in lines
    assert "  tmcheck --dir proofs m.tm" in lines
    prefixes = {name.rsplit("-", 1)[0] for name in names}
    assert "property-sex-does-not-matter" in prefixes
    assert "property-half-of-the-rows-eps0-eta3of4" in prefixes
    capsys.readouterr()
    assert tmcheck.cli.main(["--dir", "proofs", "m.tm"]) == 0
    capsys.readouterr()
    assert main(["fairness", "m.tm", "--protected", "sex", "--certificate", "one", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (path,) = Path("one").iterdir()
    assert document["certificate"] == str(path)
    assert tmcheck.cli.main([str(path), "m.tm"]) == 0


def test_ctrl_c_keeps_what_was_answered(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask_one = Property.ask

    def interrupted(self: Any, *given: Any, **options: Any) -> Any:
        asked.append(self.name)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return ask_one(self, *given, **options)

    monkeypatch.setattr(Property, "ask", interrupted)
    lines = said(capsys, "check", "m.tm", "p.toml", "--junit", "r.xml", code=130)
    summary = "INTERRUPTED VIOLATED  4 properties: 1 holds, 1 violated, 2 not answered"
    assert summary in lines
    assert Path("r.xml").read_text().count("<skipped") == 2
    asked.clear()
    found = ask(capsys, "check", "m.tm", "p.toml", code=130)
    assert found["interrupted"]
    assert [each["status"] for each in found["properties"]] == ["holds", "violated", "unknown", "unknown"]


def test_ctrl_c_between_rows(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_one = Property.ask

    def interrupted(self: Any, *given: Any, on_row: Any, **options: Any) -> Any:
        def keep(place: int, verdict: Any) -> None:
            on_row(place, verdict)
            raise KeyboardInterrupt

        return ask_one(self, *given, on_row=keep, **options)

    monkeypatch.setattr(Property, "ask", interrupted)
    lines = said(capsys, "prove", "m.tm", "rows.csv", "--expect", "decision == 'yes'", code=130)
    assert lines[3] == ("INTERRUPTED UNKNOWN  4 rows: 1 passes, 3 not looked at; interrupted by Ctrl-C")


def test_hostile_names_are_shown_not_obeyed(capsys: Capture) -> None:
    name = "[/red]\\u001b[31m\\u200b"
    text = f'[[property]]\nname = "{name}"\nexpect = "decision == \'yes\'"\nwhy = "[bold]"\n'
    Path("p.toml").write_text(text)
    lines = said(capsys, "check", "m.tm", "p.toml", code=1)
    assert any("[/red]\\x1b[31m\\u200b: violated" in line for line in lines)
    assert "  why: [bold]" in lines
