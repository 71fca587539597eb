"""Answers about properties as JUnit XML, which build servers read.

    holds                   a test case that passed; its output says of what, if not of every possible input,
                            and that it is vacuous, if it is and may be
    violated                a failure, with the counterexample in words
    unknown                 an error of the type that stopped it (timeout, …)
    vacuous                 an error of that type: nothing satisfies what is assumed
    one of these, but a warning only: skipped, with the same message
    interrupted before it was answered: skipped
    an internal error, or Ctrl-C before the first question: an error; the others are skipped

Names come from files, so characters that XML can't have are replaced.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tmverify.asking.subject import text_of
from tmverify.atomic import replacing
from tmverify.cli.properties import Asked, Checked
from tmverify.cli.property_tables import meaning, notes
from tmverify.properties import Status

_LONGEST = 300  # of a message
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def save_junit(path: Path, checked: Checked, file: Path) -> None:
    """Write the answers about the properties of ``file``, completely or not at all."""
    _save(path, junit(file, checked.path, checked))


def save_failure(path: Path, file: Path, model: Path, checked: Checked | None, error: BaseException) -> None:
    """Write that the run failed, with the answers that there are."""
    said = "interrupted" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"
    _save(path, junit(file, model, checked, f"internal error: {said}" if said != "interrupted" else said))


def _save(path: Path, whole: ElementTree.Element) -> None:
    tree = ElementTree.ElementTree(whole)
    ElementTree.indent(tree)
    with replacing(path) as draft, open(draft, "xb") as target:
        tree.write(target, encoding="utf-8", xml_declaration=True)
        target.write(b"\n")


def junit(file: Path, model: Path, checked: Checked | None, fault: str | None = None) -> ElementTree.Element:
    """The document: one suite with a test case for each property; a fault is that of the first open one."""
    suite = ElementTree.Element("testsuite", {"name": clean(text_of(file.name))})
    about = ElementTree.SubElement(suite, "properties")
    facts = {"model": text_of(model)}
    facts |= {} if checked is None else {"sha256": checked.model.content_hash}
    for name, value in facts.items():
        ElementTree.SubElement(about, "property", {"name": name, "value": clean(value)})
    everything = [] if checked is None else checked.asked
    for asked in everything:
        failed = fault if asked.answer is None else None
        suite.append(_case(asked, text_of(model.stem), failed))
        fault = None if failed else fault
    if fault:  # none was open, or it is not known what there is
        case = ElementTree.SubElement(suite, "testcase", {"name": clean(text_of(file.name))})
        case.set("classname", clean(text_of(model.stem)))
        _fail(case, fault)
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    seconds = sum(asked.answer.seconds for asked in everything if asked.answer is not None)
    for element in (suite, whole):
        element.set("tests", str(len(suite.findall("testcase"))))
        for count, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            element.set(count, str(len(suite.findall(f"testcase/{kind}"))))
        element.set("time", f"{seconds:.3f}")
    return whole


def _fail(case: ElementTree.Element, fault: str) -> None:
    type_, _, more = fault.partition(": ")
    said = {"message": clean(fault[:_LONGEST]), "type": type_}
    ElementTree.SubElement(case, "error", said).text = clean(more)


def clean(text: str) -> str:
    """The text without what XML can't have."""
    return _NOT_XML.sub("\ufffd", text)


def _case(asked: Asked, model: str, fault: str | None) -> ElementTree.Element:
    said, answer = asked.said, asked.answer
    case = ElementTree.Element("testcase", {"name": clean(said.name), "classname": clean(model)})
    case.set("time", f"{0.0 if answer is None else answer.seconds:.3f}")
    if fault:
        _fail(case, fault)
        return case
    if asked.word == Status.HOLDS:
        if told := list(notes(asked)):
            ElementTree.SubElement(case, "system-out").text = clean("\n".join(told))
        return case
    message = clean(f"{asked.words}: {meaning(asked)}")
    if answer is None:
        ElementTree.SubElement(case, "skipped", {"message": message})
    elif said.severity == "warning":
        ElementTree.SubElement(case, "skipped", {"message": f"warning: {message}"})
        ElementTree.SubElement(case, "system-out").text = clean(_text(asked))
    else:
        type_ = asked.word if answer.stop_reason is None else answer.stop_reason.value
        kind = "failure" if asked.status is Status.VIOLATED else "error"
        found = ElementTree.SubElement(case, kind, {"message": message, "type": type_})
        found.text = clean(_text(asked))
    return case


def _text(asked: Asked) -> str:
    """What is stated, why, and the first counterexample."""
    said = asked.said
    lines = [said.words, *([f"why: {said.why}"] if said.why else [])]
    lines += [*asked.notes, *([asked.reason] if asked.reason else [])]
    for place, verdict in asked.violated[:1]:
        lines += [] if place is None else [asked.called(place)]
        lines.append(str(asked.words_of(place, verdict)))
    return "\n".join(lines)
