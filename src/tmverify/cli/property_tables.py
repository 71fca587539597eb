"""How answers about properties look in a terminal: a line for each, and counterexamples side by side.

One property has its answer in a line and its counterexample below. Of several there is a table, and below it
the counterexample of each that is violated. A property that holds because its assumption is true of nothing
is called *vacuous* instead: it holds, and that is hardly what its author meant.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tmverify.cli.output import counted, headline, plain, seconds_text, show, style_of
from tmverify.cli.properties import VACUOUS_WORD, Asked, Checked
from tmverify.properties import Status, UniversalVerdict
from tmverify.properties.side_by_side import SideBySide
from tmverify.properties.trust import NO_CERTIFICATE

_MOST_LINES = 40  # of a counterexample
_MOST_ROWS = 5  # of a file, each with its counterexample in a line


def show_one(checked: Checked) -> None:
    """Print the answer about the only property."""
    (asked,) = checked.asked
    said = asked.said
    show(Text(plain(f"{said.kind} of {checked.path.name}"), style="bold"))
    show(plain(said.words))
    show(_setting(asked, checked.how.engine))
    show(headline(asked.words, plain(meaning(asked)), interrupted=checked.interrupted))
    _show_notes(asked)
    _show_counterexamples(asked)
    if asked.answer is not None:
        show(Text(f"  engine {asked.answer.engine}, {seconds_text(asked.answer.seconds)} s", style="dim"))
    _show_certificates(checked)


def show_all(checked: Checked, file: Path) -> None:
    """Print the answers about the properties of a file."""
    show(Text(plain(f"properties of {checked.path.name}, from {file.name}"), style="bold"))
    show(_table(checked))
    for asked in checked.asked:
        if asked.word == Status.HOLDS or asked.answer is None:
            continue
        line = Text().append(plain(asked.said.name), style="bold")
        line.append(f": {asked.words}", style=style_of(asked.word))
        show(line.append(plain(f", {meaning(asked)}")))
        show(Text(plain(f"  {asked.said.words}")))
        if asked.said.why:
            show(Text(plain(f"  why: {' '.join(asked.said.why.split())}")))
        _show_notes(asked)
        _show_counterexamples(asked)
    show(headline(checked.word, plain(summary(checked)), interrupted=checked.interrupted))
    _show_certificates(checked)


def meaning(asked: Asked) -> str:
    """The answer in words."""
    answer, subject = asked.answer, asked.subject
    if answer is None and not asked.seen:
        return "interrupted before an answer"
    if asked.vacuous:
        return f"it holds because {asked.why_vacuous}"
    if subject is None:
        pair = asked.stated.statement.copies.n == 2
        return {
            Status.HOLDS: f"proved for every possible {'pair of inputs' if pair else 'input'}",
            Status.VIOLATED: f"by this {'pair of inputs' if pair else 'input'}",
            Status.UNKNOWN: asked.reason,
        }[asked.status]
    said = _of_rows(asked)
    return f"{said}; {asked.reason}" if asked.status is Status.UNKNOWN else said


def _of_rows(asked: Asked) -> str:
    """How many rows must pass, and how many do."""
    answer, whole = asked.answer, counted(asked.counting, "row")
    if isinstance(answer, UniversalVerdict):
        required = f"at least {answer.required}" if answer.required < asked.counting else "all"
        if asked.counting < asked.rows:
            whole = f"of the {asked.counting} of {counted(asked.rows, 'row')} that it concerns, {required}"
        else:
            whole = f"{required} {whole}" if required == "all" else f"{required} of {whole}"
        whole = f"{whole} must pass"
    tally = Counter(verdict.status for verdict in asked.verdicts.values())
    passed, failed, unknown = (tally[status] for status in (Status.HOLDS, Status.VIOLATED, Status.UNKNOWN))
    counts = [(passed, "passes" if passed == 1 else "pass"), (failed, "fails" if failed == 1 else "fail")]
    if asked.status is Status.VIOLATED:
        counts.reverse()  # first what decides
    counts += [(unknown, "unknown"), (asked.rows - len(asked.seen), "not looked at")]
    return f"{whole}: {', '.join(f'{n} {word}' for n, word in counts if n)}"


def summary(checked: Checked) -> str:
    """How many properties have which answer; warnings for themselves."""
    known = Counter(asked.word for asked in checked.asked if asked.answer is not None)
    tally = {word: known[word] for word in (*map(str, Status), VACUOUS_WORD) if known[word]}
    said = [f"{n} {'hold' if word == 'holds' and n > 1 else word}" for word, n in tally.items()]
    left = sum(asked.answer is None for asked in checked.asked)
    said += [f"{left} not answered"] if left else []
    warnings = sum(
        asked.said.severity == "warning" and asked.answer is not None and asked.word != Status.HOLDS
        for asked in checked.asked
    )
    text = f"{counted(len(checked.asked), 'property')}: {', '.join(said) or 'none answered'}"
    return text + (f"; {counted(warnings, 'warning')} only" if warnings else "")


def _table(checked: Checked) -> Table:
    table = Table()
    table.add_column("property", overflow="fold")
    table.add_column("answer")
    table.add_column("seconds", justify="right")
    table.add_column("note", overflow="fold")
    for asked in checked.asked:
        answer = asked.answer
        table.add_row(
            Text(plain(asked.said.name)),
            Text("-" if answer is None else asked.words, style=style_of(asked.word)),
            Text("-" if answer is None else seconds_text(answer.seconds)),
            Text(plain("; ".join(notes(asked)))),
        )
    return table


def notes(asked: Asked) -> Iterator[str]:
    """What a reader of the bare answer must know: what was asked, if not of everything, and what came up."""
    said = asked.said
    if said.severity == "warning" and asked.word != Status.HOLDS:
        yield "a warning"
    if asked.vacuous:
        yield asked.why_vacuous if asked.word == VACUOUS_WORD else f"vacuous: {asked.why_vacuous}"
    elif asked.subject is not None:
        yield _of_rows(asked)
    if said.epsilon:
        yield from _changes(asked)
    if said.known_values:
        yield "known values only"
    if said.margin:
        yield f"by at least {counted(said.margin, 'vote')}"
    if asked.subject is None and asked.reason:
        yield asked.reason
    yield from asked.notes


def _changes(asked: Asked) -> Iterator[str]:
    """What may change around each row."""
    subject, epsilon = asked.subject, asked.said.epsilon
    if subject is not None:
        yield from map(plain, subject.rules.words(asked.stated.model.space))
        yield f"at most {subject.rules.counted(epsilon)} changed" if epsilon else "as they are"


def _setting(asked: Asked, engine: str) -> str:
    said, subject = asked.said, asked.subject
    parts = ["every possible input"]
    if subject is not None:
        parts = [counted(len(subject.rows), "row"), f"eta {said.eta}", *_changes(asked)]
    limit = "no limit" if said.timeout is None else f"limit {said.timeout:g} s"
    return " · ".join([*parts, f"engine {engine}", limit])


def _show_notes(asked: Asked) -> None:
    if asked.notes:
        show(Text(f"  {plain('; '.join(asked.notes))}", style="yellow"))


def _show_counterexamples(asked: Asked) -> None:
    """The first one in full; of other rows, how the inputs differ, in a line each."""
    found = asked.violated
    for n, (place, verdict) in enumerate(found[:_MOST_ROWS]):
        words = asked.words_of(place, verdict)
        called = "" if place is None else f"  {plain(asked.called(place))}: "
        if n == 0:
            show(*([Text(called.rstrip())] if called else []), _side_by_side(words))
            continue
        decided = " and ".join(map(str, words.decided))
        how = ", ".join(map(str, verdict.changes[:3])) + (" …" if len(verdict.changes) > 3 else "")
        show(Text(called).append(plain(decided), style="bold").append(plain(f" if {how}" if how else "")))
    if len(found) > _MOST_ROWS:
        show(Text(f"  … and {counted(len(found) - _MOST_ROWS, 'row')} more; --json has all", style="dim"))


def _side_by_side(words: SideBySide) -> Padding:
    table = Table(show_header=len(words.heads) > 1, box=None, pad_edge=False)
    for head in ("", *words.heads, ""):
        table.add_column(Text(head), overflow="fold")
    *lines, decided = words.cells
    for cells in (*lines[:_MOST_LINES], decided):  # those that differ come first
        style = "bold" if cells[-1] or cells is decided else ""
        table.add_row(*(Text(plain(cell)) for cell in cells), style=style)
    left = len(lines[_MOST_LINES:]) + words.hidden
    if left:
        table.add_row(Text(f"… and {left} more (--json has all)", style="dim"))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _show_certificates(checked: Checked) -> None:
    """Where the certificates are and how to check them; why there are fewer than answers."""
    folder = checked.how.certificates
    if folder is None:
        return
    paths = [asked.path for asked in checked.asked if asked.path is not None]
    if paths:
        show(plain(f"certificates: {len(paths)} written to {folder}; check them with"))
        show(plain(f"  {shlex.join(['tmcheck', '--dir', str(folder), str(checked.path)])}"))
    lacks = Counter(_why_none(asked) for asked in checked.asked if asked.path is None)
    for reason, n in lacks.most_common():
        show(plain(f"no certificate for {n} of {counted(len(checked.asked), 'answer')}: {reason}"))


def _why_none(asked: Asked) -> str:
    if asked.answer is None:
        return "interrupted before one was written"
    if asked.answer.certificate is not None:
        return "it can't be written there"
    if asked.subject is not None and asked.vacuous:
        return asked.why_vacuous
    if asked.answer.detail.startswith(NO_CERTIFICATE):
        return asked.answer.detail.removeprefix(NO_CERTIFICATE)
    return "unknown claims nothing that could be proved"
