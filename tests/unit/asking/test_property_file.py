"""Files of properties: what they say, and one clear error for each way to write them wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tmverify.asking.property import Property
from tmverify.asking.property_file import LONGEST_FILE, read_properties
from tmverify.errors import InvalidInputError

WHOLE = """
data = "rows.csv"
epsilon = 2
timeout = 60
severity = "warning"
known_values = true

[[property]]
name = "first"
assume = "age > 60"
expect = "decision == 'yes'"
margin = 3
round = "outer"
severity = "error"
timeout = inf
why = "because"
known_values = false

[[property]]
name = "second"
protected = ["sex", "age"]
eta = "2/3"

[[property]]
name = "third"
monotone = "age"
toward = 1
data = "own.csv"
epsilon = 0

[[property]]
name = "fourth"
protected = "sex"
eta = 0.1
"""


def read(tmp_path: Path, text: str | bytes, **instead: object) -> list[Property]:
    path = tmp_path / "p.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_properties(path, instead)


def test_everything(tmp_path: Path) -> None:
    first, second, third, fourth = read(tmp_path, WHOLE)
    assert first == Property(
        name="first",
        assume="age > 60",
        expect="decision == 'yes'",
        margin=3,
        round="outer",
        timeout=None,
        why="because",
    )
    assert (first.kind, first.about_rows) == ("prove", False)
    assert second == Property(
        name="second",
        protected=("sex", "age"),
        eta=Fraction(2, 3),
        epsilon=2,
        data=tmp_path / "rows.csv",
        timeout=60.0,
        severity="warning",
        known_values=True,
    )
    assert (second.kind, second.about_rows) == ("fairness", True)
    assert (third.kind, third.toward, third.data, third.epsilon) == (
        "monotonicity",
        1,
        tmp_path / "own.csv",
        0,
    )
    assert (fourth.protected, fourth.eta) == (("sex",), Fraction(1, 10))


def test_options_go_before_the_top_of_the_file_and_not_before_a_property(tmp_path: Path) -> None:
    first, second, third, _ = read(tmp_path, WHOLE, data=Path("other.csv"), timeout=5.0)
    assert [each.timeout for each in (first, second, third)] == [None, 5.0, 5.0]
    assert [each.data for each in (first, second, third)] == [None, Path("other.csv"), tmp_path / "own.csv"]


def test_files_of_other_editors(tmp_path: Path) -> None:
    text = '[[property]]\nname = "ä"\nexpect = "x0"\n'
    assert read(tmp_path, text.encode("utf-8-sig"))[0].name == "ä"
    assert read(tmp_path, text.replace("\n", "\r\n"))[0].name == "ä"


ONE = '[[property]]\nname = "one"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no properties; add tables [[property]], each with a name."),
        ("timeout = 3", "there are no properties"),
        ("property = 3", "there are no properties"),
        ("property = [3]", "there are no properties"),
        ('[property]\nname = "one"', "there are no properties"),
        ("[[property]]\nname = \n", "not TOML: Invalid value (at line 2, column 8)."),
        ("a = 1\n\n\nb ==", "not TOML: Invalid value (at line 4, column 4)."),
        ("a = " + "9" * 5000, "not TOML: "),
        ("a = " + "[" * 100_000, "not TOML: "),
        (b"\xff\xfe", "not UTF-8, at byte 0."),
        (b"a" * (LONGEST_FILE + 1), "at most 1048576 bytes."),
        ("timeuot = 3\n" + ONE, "the file has no 'timeuot'. Is 'timeout' meant?"),
        ('expect = "x0"\n' + ONE, "the file has no 'expect'."),
        ('[[property]]\nexpect = "x0"', "property number 1 has no name"),
        ("[[property]]\nname = 3", "property number 1: name must be a text, and not empty. Got 3 instead."),
        ('[[property]]\nname = " "', "name must be a text"),
        ('[[property]]\nname = "a\\u0000"', "name must be a text"),
        (ONE + 'exepct = "x0"', "property 'one' has no 'exepct'. Is 'expect' meant?"),
        (ONE + "zzz = 1", "property 'one' has no 'zzz'. Known are name, assume, expect"),
        (ONE, "property 'one' must have one of expect, protected, monotone. Got none of them instead."),
        (ONE + 'expect = "x0"\nprotected = ["x0"]', "Got expect and protected instead."),
        (ONE + 'monotone = "x0"', 'monotone = "COLUMN" and toward = "CLASS" belong together.'),
        (ONE + 'expect = "x0"\ntoward = 1', "belong together."),
        (ONE + 'monotone = "x0"\ntoward = [1]', "property 'one': toward must be a class."),
        (ONE + 'monotone = "x0"\ntoward = 99999999999999999999999', "toward must be a class."),
        (ONE + "expect = true", "property 'one': expect must be a text, and not empty. Got True instead."),
        (ONE + 'expect = ""', "expect must be a text, and not empty."),
        (ONE + "protected = []", "property 'one': protected must be names of columns, such as"),
        (ONE + "protected = [1]", "protected must be a text"),
        (ONE + "protected = {a = 1}", "protected must be names of columns"),
        (ONE + 'expect = "x0"\nmargin = -1', "margin must be a whole number, from 0. Got -1 instead."),
        (ONE + 'expect = "x0"\nmargin = true', "margin must be a whole number"),
        (ONE + 'expect = "x0"\nround = "up"', 'round must be "outer" or "inner". Got \'up\' instead.'),
        (ONE + 'expect = "x0"\nknown_values = 1', "known_values must be true or false. Got 1 instead."),
        (ONE + 'expect = "x0"\nvacuous = true', 'vacuous must be "error" or "ok". Got True instead.'),
        (ONE + 'expect = "x0"\nseverity = "fatal"', 'severity must be "error" or "warning".'),
        (ONE + 'expect = "x0"\ntimeout = 0', "timeout must be a number of seconds above 0, or inf."),
        (ONE + 'expect = "x0"\ntimeout = nan', "timeout must be a number of seconds above 0, or inf."),
        (ONE + 'expect = "x0"\ntimeout = "5"', "timeout must be a number of seconds above 0, or inf."),
        (ONE + 'expect = "x0"\neta = 1', "property 'one' is about rows, as it has eta: give data"),
        (ONE + 'expect = "x0"\neta = 2\ndata = "d.csv"', "eta must be a share of the rows"),
        (ONE + 'expect = "x0"\neta = "1/0"\ndata = "d.csv"', "eta must be a share of the rows"),
        (ONE + 'expect = "x0"\nepsilon = 1.5\ndata = "d.csv"', "epsilon must be a whole number, from 0."),
        (ONE + 'expect = "x0"\ndata = 1', "data must be a text"),
        (ONE + 'expect = "x0"\nwhy = 2020-01-01', "why must be a text"),
        (ONE + 'expect = "x0"\n' + ONE + 'expect = "x1"', "two properties are called 'one'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_one_error_for_each_mistake(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'p.toml'}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_properties(tmp_path / "none.toml")
