"""Answers as JUnit XML: it parses, its counts are right, and names can't break it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from support.cli_cases import hard, save
from support.stated import ROWS, lender
from tmverify.asking.property import Property
from tmverify.cli import main, property_tables
from tmverify.cli.junit import clean

HOSTILE = "a <b> & \"c\" 'd' ]]> \u0000\u0007\ufffe\x1b[31m \U0001f600 ä\n\t]] <!-- -->"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(lender(), tmp_path / "m <&> .tm")
    (tmp_path / "rows.csv").write_text(ROWS)


def written(text: str, *arguments: str, model: str = "m <&> .tm", code: int = 0) -> ElementTree.Element:
    Path("p.toml").write_text(text)
    assert main(["check", model, "p.toml", "--junit", "r.xml", *arguments]) == code
    return ElementTree.parse("r.xml").getroot()


def test_every_outcome() -> None:
    root = written(
        """
[[property]]
name = "holds"
assume = "owner"
expect = "decision == 'yes'"
[[property]]
name = "violated"
protected = ["sex"]
why = "The law."
[[property]]
name = "warned"
protected = ["sex"]
severity = "warning"
[[property]]
name = "vacuous"
assume = "owner and not owner"
expect = "decision == 'yes'"
[[property]]
name = "vacuous, and may be"
assume = "owner and not owner"
expect = "decision == 'yes'"
vacuous = "ok"
[[property]]
name = "rows"
expect = "decision == 'yes'"
data = "rows.csv"
""",
        code=1,
    )
    assert root.tag == "testsuites"
    (suite,) = root
    assert (suite.tag, suite.get("name")) == ("testsuite", "p.toml")
    for element in (root, suite):
        counts = {name: element.get(name) for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {"tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
        assert float(element.get("time") or "") >= 0
    facts = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert facts["model"] == "m <&> .tm"
    assert facts["sha256"] == lender().content_hash
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert {case.get("classname") for case in cases.values()} == {"m <&> "}
    assert not list(cases["holds"])
    (failure,) = cases["violated"]
    assert (failure.tag, failure.get("type")) == ("failure", "violated")
    text = failure.text or ""
    assert text.startswith("same decision whatever sex is\nwhy: The law.\n")
    assert "sex       " in text
    assert "←" in text
    assert [each.tag for each in cases["warned"]] == ["skipped", "system-out"]
    assert (cases["warned"][0].get("message") or "").startswith("warning: violated: ")
    (error,) = cases["vacuous"]
    why = "nothing possible satisfies the assumption"
    assert (error.tag, error.get("type")) == ("error", "vacuous")
    assert error.get("message") == f"vacuous: it holds because {why}"
    assert cases["vacuous, and may be"].findtext("system-out") == f"vacuous: {why}"
    assert "\nline 3\n" in (cases["rows"].findtext("failure") or "")


def test_unknown_is_an_error() -> None:
    save(hard(), Path("hard.tm"))
    text = '[[property]]\nname = "open"\nexpect = "decision == 0"\nassume = "x1 or x2 or x3"\n'
    root = written(text, "--engine", "paper", "--timeout", "0.001", model="hard.tm", code=2)
    (error,) = root.iter("error")
    assert error.get("type") == "timeout"
    assert root.get("errors") == "1"


@pytest.mark.parametrize(("error", "code"), [(ZeroDivisionError("a\0 bug"), 2), (KeyboardInterrupt(), 130)])
@pytest.mark.parametrize("when", ["reading", "asking", "showing"])
def test_a_run_that_fails_is_told(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, when: str
) -> None:
    """Whatever happens, there is a file, and it has an error or says what was not asked."""
    Path("r.xml").write_text("of yesterday")
    asked: list[str] = []

    def fail(*given: Any, **options: Any) -> Any:
        asked.append("")
        if when == "asking" and len(asked) == 1:
            return ask_one(*given, **options)
        raise error

    ask_one = Property.ask
    where = {
        "reading": (Property, "stated"),
        "asking": (Property, "ask"),
        "showing": (property_tables, "show_all"),
    }
    monkeypatch.setattr(*where[when], fail)
    text = "".join(f'[[property]]\nname = "p{i}"\nexpect = "owner or not owner"\n' for i in range(3))
    root = written(text, code=code)
    faults = list(root.iter("error"))
    if when == "asking" and code == 130:
        assert (len(faults), root.get("skipped")) == (0, "2")
        return
    (fault,) = faults
    assert fault.get("type") == ("interrupted" if code == 130 else "internal error")
    assert root.get("errors") == "1"
    if code == 2:
        assert fault.get("message") == "internal error: ZeroDivisionError: a\ufffd bug"
    tests = {"reading": "1", "asking": "3", "showing": "4"}
    assert root.get("tests") == tests[when]
    assert root.get("skipped") == ("1" if when == "asking" else "0")


def test_hostile_names(capsys: pytest.CaptureFixture[str]) -> None:
    name = json.dumps(HOSTILE.replace("\0", ""), ensure_ascii=False)[1:-1]
    text = f'[[property]]\nname = "{name}"\nexpect = "decision == \'yes\'"\nwhy = "{name}"\n'
    root = written(text, code=1)
    (case,) = root.iter("testcase")
    assert case.get("name") == clean(HOSTILE.replace("\0", ""))
    failure = case.find("failure")
    assert failure is not None
    assert clean(HOSTILE.replace("\0", "")) in (failure.text or "")


def test_what_xml_cant_have_is_replaced() -> None:
    assert clean(HOSTILE) == HOSTILE.replace("\0", "�").replace("\x07", "�").replace("\ufffe", "�").replace(
        "\x1b", "�"
    )
    assert clean("\ud800") == "�"
    every = "".join(map(chr, range(0x11000)))
    element = ElementTree.Element("a", {"b": clean(every)})
    element.text = clean(every)
    again = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert again.get("b") == clean(every)
