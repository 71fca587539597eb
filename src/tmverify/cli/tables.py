"""Answers as tables, or as JSON (``documents``).

Every question is shown in the same way: a heading, what was asked, a table, the answer in a line, the first
counterexamples in the words of the model's columns, the files that were written. A question with epsilon has
a row for each epsilon; a question about distances has one for each input, with its line and its name where
they are known.
"""

from __future__ import annotations

import math
import shlex
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from tmverify.asking.answer import EXACT, Asked, TaskAnswer
from tmverify.cli.ask import Answers
from tmverify.cli.documents import certificate_of, document, labels_of, radii_of, spans_of
from tmverify.cli.histogram import histogram
from tmverify.cli.output import STYLE, counted, headline, plain, seconds_text, show, show_json, table_of
from tmverify.model import Classifier, Label
from tmverify.model.classifier import TEAM
from tmverify.model.names import printable_name
from tmverify.properties import Status, StopReason
from tmverify.properties.questions import margin_text
from tmverify.properties.summary import by_votes
from tmverify.properties.trust import NO_CERTIFICATE
from tmverify.space.space import word_text

_MAX_ROWS = 20
_MAX_LINES = 5
_MAX_CHANGES = 10
_MAX_ONES = 20


def report(answers: Answers) -> None:
    """Print the answers, as a table or as JSON."""
    if answers.given.as_json:
        show_json(document(answers))
        return
    question = answers.question
    if not question.about_input:
        _show_one(answers)
    else:
        names = [path.name for path in answers.given.models]
        show(Text(plain(question.heading(names, answers.given.margin)), style="bold"))
        show(_setting(answers))
        if question.is_distance:
            _show_distances(answers)
        else:
            show(_table_of_all(answers) if question.has_eta else _table(answers))
            show(headline(answers.status, _meaning(answers), interrupted=answers.interrupted))
            show(*_witness_lines(answers))
    if answers.given.csv is not None:
        what = "radii" if question.is_distance else "answers"
        show(f"{what}: {len(answers.asked)} written to {plain(answers.given.csv)}")
    if answers.given.witnesses is not None and question.about_input:
        n_seen = sum(each.witness is not None for each in answers.asked)
        show(f"witnesses: {n_seen} written to {plain(answers.given.witnesses)}")
    show(*_certificate_lines(answers))


# What was asked, and what it means.


def _setting(answers: Answers) -> str:
    """The number of inputs, whose decision, what may change unless all may, the engine and the limit."""
    given = answers.given
    said = [f"eta {answers.eta}" if answers.question.has_eta else counted(len(answers.subject.rows))]
    said += [f"scope {plain(given.scope)}"]
    said += _changes_text(answers)
    said += [f"engine {given.engine}"]
    if not answers.question.has_eta:
        said += ["no limit" if answers.limit is None else f"limit {answers.limit:g} s"]
    return " · ".join(said)


def _changes_text(answers: Answers) -> list[str]:
    """What may change, unless all may, and how much if that is one number: "at most 2 columns"."""
    typed, rules, space = answers.given.allowed, answers.subject.rules, answers.subject.named.space
    said = [plain(words) for words in rules.words(space)]
    if rules.about_bits:
        said += [f"only columns {plain(', '.join(typed.columns))}"] if typed.columns else []
        said += [f"{plain(', '.join(typed.freeze))} frozen"] if typed.freeze else []
        said += [] if typed.features is None else [f"only features {plain(typed.features)}"]
        said += [] if typed.direction is None else [f"direction {typed.direction}"]
    elif len(answers.given.epsilons) == 1:
        said.append(f"at most {rules.counted(answers.given.epsilons[0])}")
    elif answers.question.is_distance:
        said.append(f"radius in {rules.unit}")
    return said


def _meaning(answers: Answers) -> str:
    if answers.question.has_eta:
        return _meaning_of_all(answers)
    tally, asked, total = answers.tally, len(answers.asked), len(answers.tasks)
    so_far = f"{asked} of {counted(total, 'query')} answered; " if answers.interrupted else ""
    if tally.violated:
        of = f"{tally.violated} of {counted(asked, 'query')}"
        return f"{so_far}{of} {_have(tally.violated)} a counterexample{_impossible(answers)}"
    if tally.unknown:
        return f"{so_far}{tally.unknown} of {counted(asked, 'query')} undecided: {_remedy(answers)}"
    if not asked:
        return "nothing is known yet"
    if so_far:
        return f"{so_far}no counterexample in any of them"
    return f"proved for {'the one query' if asked == 1 else f'all {asked} queries'}{_stands(answers)}"


def _stands(answers: Answers) -> str:
    """What a proof with a margin says more."""
    if not answers.given.margin:
        return ""
    said = "the decision stays and stands" if len(answers.given.models) == 1 else "the models agree, each"
    return f": {said} {margin_text(answers.given.margin)}"


def _meaning_of_all(answers: Answers) -> str:
    inputs, required, eta = len(answers.tasks), answers.required, answers.eta
    word, tally = answers.question.adjective, answers.tally
    word += f" {margin_text(answers.given.margin)}" if answers.given.margin else ""
    if answers.status is Status.HOLDS:
        return f"{word}: at least {required} of {counted(inputs)}, as eta = {eta} asks"
    if answers.status is Status.VIOLATED:
        spare = inputs - required
        said = f"not {word}: {counted(tally.violated)} {_have(tally.violated)} a counterexample"
        return f"{said}{_impossible(answers)}; eta = {eta} of {counted(inputs)} allows {spare}"
    if answers.whole is not None:
        return answers.whole.detail
    counts = f"{word}: {tally.positive}, violated: {tally.violated}"
    return f"so far {counts}; {required} of {counted(inputs)} must be {word}"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _impossible(answers: Answers) -> str:
    """How many of the counterexamples are no possible rows."""
    space = answers.subject.named.space
    found = [each.possible(space) for each in answers.asked if each.witness is not None]
    wrong = found.count(False)
    if not wrong:
        return ""
    return (
        f" ({wrong} of these {'is' if wrong == 1 else 'are'} no possible row)"
        if len(found) > 1
        else (" (no possible row)")
    )


def _remedy(answers: Answers) -> str:
    """The reason if a question stayed open for another reason than time; else advice about time."""
    for each in (asked.found for asked in answers.asked):
        if each.stop_reason not in (None, StopReason.TIMEOUT.value) and each.detail:
            return plain(each.detail)
    return "raise --timeout, or try another --engine"


# Tables.


def _table(answers: Answers) -> Table:
    """A table as in the paper: for each epsilon, how many tasks were solved, how many hold, how fast.

    Mean seconds are over the solved tasks, as in the paper; if none is solved, only the limit is known.
    """
    lines = []
    for epsilon, tally in answers.tallies.items():
        mean = "-" if tally.mean_seconds is None else seconds_text(tally.mean_seconds)
        if tally.mean_seconds is None and tally.timeouts and answers.limit is not None:
            mean = f"≥ {answers.limit:g}"
        lines.append(
            {
                "epsilon": epsilon,
                "inputs": tally.done,
                "solved": tally.solved,
                answers.question.adjective: tally.positive,
                "violated": tally.violated,
                "mean seconds": mean,
                "timeouts": tally.timeouts,
                "other unknown": tally.unknown - tally.timeouts,
            }
        )
    if not any(line["other unknown"] for line in lines):
        for line in lines:
            del line["other unknown"]
    return table_of(lines)


def _table_of_all(answers: Answers) -> Table:
    tally, inputs = answers.tally, len(answers.tasks)
    return table_of(
        [
            {
                "epsilon": answers.given.epsilons[0],
                "inputs": inputs,
                "required": answers.required,
                answers.question.adjective: tally.positive,
                "violated": tally.violated,
                "unknown": tally.unknown,
                "not asked": inputs - len(answers.asked),
                "seconds": f"{answers.seconds:.2f}",
            }
        ]
    )


def _show_one(answers: Answers) -> None:
    """Show the answer to a question about all possible inputs."""
    names = plain(" and ".join(path.name for path in answers.given.models))
    if not answers.asked:
        show(headline(Status.UNKNOWN, f"{names}: interrupted before an answer", interrupted=True))
        show(Text(f"  engine {answers.given.engine}, {answers.seconds:.2f} s", style="dim"))
        return
    asked, found = answers.asked[0], answers.asked[0].found
    meaning = {
        Status.HOLDS: f"{names} agree on every {_possible(answers)}input",
        Status.VIOLATED: f"{names} differ: {_decisions_text(asked)}",
        Status.UNKNOWN: f"{names}: {plain(found.detail)}",
    }[answers.status]
    show(headline(answers.status, meaning, interrupted=answers.interrupted))
    if asked.witness is not None:
        show(Text(f"  {_place_text(answers.subject.named, asked.witness)}"), *_impossible_lines(answers))
    show(Text(f"  engine {found.engine}, {found.seconds:.2f} s", style="dim"))


def _possible(answers: Answers) -> str:
    return "" if answers.subject.rules.about_bits else "possible "


# Distances.


def _show_distances(answers: Answers) -> None:
    asked, wanted = answers.asked, answers.given.rows
    most = _MAX_ROWS if wanted is None else wanted
    shown = asked if len(asked) <= most else _nearest_first(asked)[:most]
    if shown:
        show(_table_of_distances(answers, shown))
    if len(asked) > len(shown):
        what = f"the {len(shown)} nearest of {len(asked)} inputs" if shown else counted(len(asked))
        show(Text(f"{what}; --rows {len(asked)} shows them all, --csv FILE.csv keeps them", style="dim"))
    if asked:
        show(histogram(radii_of(answers), "radius", {"open": answers.tally.unknown}))
    show(_summary(answers))
    for each in _nearest_first(asked)[:_MAX_LINES] if wanted is None else shown:
        if each.witness is not None:
            show(_line(answers, each))
    show(*_impossible_lines(answers))
    if asked:
        seconds = [each.found.seconds for each in asked]
        middle, longest = seconds_text(statistics.median(seconds)), seconds_text(max(seconds))
        engines = Counter(each.found.engine for each in asked).most_common()
        by = ", ".join(f"{engine} {n}" for engine, n in engines)
        line = f"seconds an input: median {middle}, most {longest} · answered by {by}"
        show(Text(line, style="dim"))


def _table_of_distances(answers: Answers, asked: Sequence[Asked]) -> Table:
    two = len(answers.given.models) == 2
    nearest = ("there A says", "B says") if two else ("nearest class",)
    with_line = any(each.task.line is not None for each in asked)
    with_name = any(each.task.row_name is not None for each in asked)
    lines: list[dict[str, object]] = []
    for each, label in zip(asked, labels_of(answers, asked), strict=True):
        found, scope = each.found, each.task.scope
        labels = ["-"] * len(nearest)
        if found.decisions is not None:
            words = [_class(label, scope) for label in found.decisions]
            alike = by_votes(found.decisions, found.leads, words)
            labels = words[-len(nearest) :] if alike is None else [*alike]
        radius = f"{found.lower}" if found.status == EXACT else f"{found.lower}..{_upper(found)}"
        lines.append(
            {
                "index": each.task.index,
                **({"line": _known(each.task.line)} if with_line else {}),
                **({"name": _known(each.task.row_name)} if with_name else {}),
                "class": _class(label, scope),
                "radius": radius,
                **dict(zip(nearest, labels, strict=True)),
                "seconds": seconds_text(found.seconds),
            }
        )
    return table_of(lines)


def _known(value: object) -> object:
    return "-" if value is None else value


def _nearest_first(asked: Sequence[Asked]) -> list[Asked]:
    """Sorted by upper bound, then by lower bound, then in the order of the file."""
    return sorted(asked, key=lambda each: (each.found.upper, each.found.lower))


def _upper(found: TaskAnswer) -> str:
    return "?" if found.upper == math.inf else str(found.upper)


def _summary(answers: Answers) -> Text:
    tally, asked = answers.tally, len(answers.asked)
    line = Text().append("INTERRUPTED " if answers.interrupted else "", style=STYLE[Status.UNKNOWN])
    if answers.interrupted:
        line.append(f" {asked} of {counted(len(answers.tasks))} answered  ")
    if not asked:
        return line.append("nothing is known yet")
    word, status = ("OPEN", Status.UNKNOWN) if tally.unknown else ("EXACT", Status.HOLDS)
    line.append(word, style=STYLE[status])
    line.append(f"  exact {tally.positive} of {asked}, open {tally.unknown}")
    spans = {
        name: f"{low:g}" if low == high else f"{low:g}..{'?' if high == math.inf else f'{high:g}'}"
        for name, (low, high) in spans_of(answers).items()
    }
    line.append(f" · {', '.join(f'{name} {span}' for name, span in spans.items())}")
    return line.append(f"; {_remedy(answers)}" if tally.unknown else "")


# Counterexamples in words.


def _witness_lines(answers: Answers) -> list[Text]:
    """A line for each of the first counterexamples, and how many more there are."""
    found = [each for each in answers.asked if each.witness is not None]
    lines = [_line(answers, each) for each in found[:_MAX_LINES]]
    if len(found) > _MAX_LINES:
        more = f"… and {len(found) - _MAX_LINES} more; --save-witnesses FILE.npz keeps them all"
        lines.append(Text(f"  {more}", style="dim"))
    return [*lines, *_impossible_lines(answers)]


def _line(answers: Answers, asked: Asked) -> Text:
    """The input, the decisions that differ, and what has to change: "age 25 to 40 → over 60, x3 0 → 1"."""
    within = "" if asked.task.epsilon is None else f", epsilon {asked.task.epsilon}"
    line = Text(f"  {plain(asked.task.called)}{within}: ")
    line.append(_decisions_text(asked), style="bold")
    changes = asked.changes(answers.subject.named.space)
    if not changes:
        return line.append(", at the input itself")
    return line.append(f" if {_listed(changes, _MAX_CHANGES)}")


def _impossible_lines(answers: Answers) -> list[Text]:
    """A sentence about the counterexamples that no row of a table can be, if there are any."""
    space = answers.subject.named.space
    found = [each.possible(space) for each in answers.asked if each.witness is not None]
    wrong = found.count(False)
    if not wrong:
        return []
    if not answers.question.about_input:
        said = "no row can be this input: bits are chosen one by one"
    else:
        said = f"{wrong} of {len(found)} counterexamples are" if len(found) > 1 else "this is"
        said += " no possible row: facts change one by one, and may contradict each other"
    return [Text(f"  {said} (docs/tables.md)", style="dim")]


def _place_text(model: Classifier, witness: NDArray[np.uint8]) -> str:
    """A whole input in words: the value of each column; of words, pixels and plain flags those that are 1."""
    space = model.space
    if space.only_flags:
        ones = [printable_name(model, i) for i in np.flatnonzero(witness).tolist()]
        what = (
            "words" if space.is_text else "pixels that are on" if space.image_shape else "features that are 1"
        )
        return f"{what} there: {_listed(ones, _MAX_ONES) or 'none'}"
    values = [
        word_text(column.name) if column.kind == "word" else f"{column.name} {column.words(witness)}"
        for column in sorted(space.columns, key=lambda column: column.kind in ("word", "pixel"))
        if column.kind not in ("word", "pixel") or witness[column.bits.start]
    ]
    return f"there: {_listed(values, _MAX_ONES)}"


def _listed(values: Sequence[object], most: int) -> str:
    """Values with commas between them, and how many more there are."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return plain(", ".join(map(str, values[:most])) + more)


def _decisions_text(asked: Asked) -> str:
    """The two decisions that should agree; if they do, by how many votes each stands."""
    scope, found = asked.task.scope, asked.found
    decisions = found.decisions or ("?", "?")
    words = [
        f"class {_class(label, scope)}" if scope == TEAM or label else f"not class {plain(scope)}"
        for label in decisions
    ]
    alike = by_votes(decisions, found.leads, words)
    if len(asked.task.models) == 1:
        return " → ".join(words) if alike is None else alike[0]
    first, second = words if alike is None else alike
    return f"A says {first}, B says {second}"


def _class(label: Label, scope: Label) -> str:
    """A class; or with a class as scope, that class or "not" it."""
    if scope == TEAM:
        return plain(label)
    return plain(scope) if label else f"not {plain(scope)}"


# Certificates.


def _certificate_lines(answers: Answers) -> list[Text]:
    """Where the certificates are and how to check them; why there are fewer than answers."""
    folder = answers.given.certificate
    if folder is None:
        return []
    kept = _kept(answers)
    paths = [path for path, _ in kept if path is not None]
    check = [] if not paths else ["tmverify", "certify", str(paths[0]), *map(str, answers.given.models)]
    lines = []
    if len(kept) == 1 and paths:
        lines = [f"certificate: {paths[0]}", f"  check it: {shlex.join(check)}"]
    elif paths:
        lines = [f"certificates: {len(paths)} written to {folder}", f"  check one: {shlex.join(check)}"]
    elif not kept:
        lines = [f"{NO_CERTIFICATE}interrupted before one was written"]
    for reason, n in Counter(reason for path, reason in kept if path is None).most_common():
        start = NO_CERTIFICATE if len(kept) == 1 else f"no certificate for {n} of {len(kept)} answers: "
        lines.append(f"{start}{reason}")
    return [Text(plain(line)) for line in lines]


def _kept(answers: Answers) -> list[tuple[Path | None, str]]:
    """For each answer the file of its certificate, or why there is none."""
    if not answers.question.has_eta:
        return [(certificate_of(answers, each), _why_none(each.found)) for each in answers.asked]
    whole = answers.whole
    if whole is None or (answers.interrupted and answers.whole_path is None):
        return []
    lacks = answers.whole_lacks or whole.detail.removeprefix(NO_CERTIFICATE) or _NOTHING_CLAIMED
    return [(answers.whole_path, lacks)]


_NOTHING_CLAIMED = "unknown claims nothing that could be proved"


def _why_none(found: TaskAnswer) -> str:
    if found.detail.startswith(NO_CERTIFICATE):
        return found.detail.removeprefix(NO_CERTIFICATE)
    return _NOTHING_CLAIMED if found.lower is None else "the radius is not exact, and bounds have none"
