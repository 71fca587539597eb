"""How a reason for a decision looks in a terminal: its rule, its facts, a picture, a text with marks.

    a table       the rule, then each fact with the value of the row
    a picture     which pixels must stay on (#) or off (o), and which need not (·)
    a text        the text with the words that it needs in [brackets], and the words that must not be there

A contrastive reason shows its changes in the same places. Reasons may have hundreds of facts: sentences have
the first few, and lists say how many they leave out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from tmverify.cli.explained import INTERRUPTED, Explained, Row, Wanted
from tmverify.cli.output import counted, plain, seconds_text, show
from tmverify.errors import InvalidInputError
from tmverify.properties import Status
from tmverify.space import Space
from tmverify.space import Text as Words
from tmverify.space.parts import OneColumn
from tmverify.space.phrases import Fact
from tmverify.space.text import words_in_place
from tmverify.verify.explanation import Explanation

_MOST_BRIEF = 4  # facts of a rule in a line of many
_MOST_FACTS = 16  # of a list that has a line for each
_MOST_IN_TABLE = 8  # facts of a rule in a table
_MOST_NAMES = 40  # of a list on one line
_MOST_CHARS = 3000  # of a text
_MOST_IMPORTANT = 12  # columns
_WIDEST = 100  # columns of two pictures side by side

Bits = NDArray[np.uint8]


def said_of(reason: Explanation, wanted: Wanted) -> str:
    """What is proved of a reason, and what is not, in words."""
    if reason.sufficient is Status.UNKNOWN:
        return f"open: {reason.detail}"
    if reason.sufficient is Status.VIOLATED:
        leads = "alters the decision" if reason.target is None else f"leads to class {reason.target}"
        return f"proved: nothing that is allowed {leads}"
    what = "this suffices" if reason.kind == "sufficient" else "this alters it"
    if reason.minimal == "open":
        n, names = counted(len(reason.undecided), "column"), _names(reason.undecided, 5)
        wider = ", or have further values" if reason.widened else ""
        easy = reason.kind == "sufficient" and reason.within is None
        easier = "; --within 3 is easier" if easy else ""
        return f"proved: {what}; open: {n} might be left out{wider} ({names}): {reason.detail}{easier}"
    if not len(reason):
        leads = "alters it" if reason.target is None else f"leads to class {reason.target}"
        return f"proved: no change that is allowed {leads}, so nothing has to stay"
    if reason.minimal == "smallest":
        least = "no other reason has fewer columns"
    else:
        least = "no column can be left out"
    wide = "; no value can be added" if reason.widened and len(reason) else ""
    said = f"proved: {what}; {least}{wide}"
    if not wanted.met_by(reason):
        return f"{said}; open: there may be one of fewer columns: {reason.detail}"
    return f"{said} ({reason.detail})" if reason.detail else said


@dataclass(frozen=True, slots=True)
class Looks:
    """How reasons about inputs of one space look; ``shape`` is that of the picture, if they are pictures.

    ``by_bits`` says whether the question is about single bits of the columns.
    """

    space: Space
    by_bits: bool
    shape: tuple[int, int] | None = None

    def sentence(self, reason: Explanation, most: int | None = None) -> str:
        """The rule; with the first ``most`` facts only, if it is given."""
        if reason.kind == "contrastive" or not len(reason):
            return reason.rule
        then = reason.then
        if self.shape is not None:
            n = self.shape[0] * self.shape[1]
            are = "pixel is" if len(reason) == 1 else "pixels are"
            return f"IF {len(reason)} of {n} {are} as here THEN {then}"
        if most is None and len(reason) <= _MOST_FACTS and not self._has_words:
            return reason.rule
        facts = self._telling_first(reason)
        said = [fact.text for fact in facts[: most or _MOST_FACTS]]
        if len(facts) > 1:
            said = [f"({text})" if " or " in text else text for text in said]
        more = len(facts) - len(said)
        return f"IF {' AND '.join([*said, *([f'{more} more'] if more else [])])} THEN {then}"

    @property
    def _has_words(self) -> bool:
        return self.space.named and any(isinstance(part, Words) for part in self.space.parts)

    def _telling_first(self, reason: Explanation) -> list[Fact]:
        """The facts; words that are there before words that are not."""
        there = [
            self._is_absent_word(place, x) for place, x in zip(reason.places, reason.values, strict=True)
        ]
        order = sorted(range(len(there)), key=lambda i: there[i])
        return [reason.facts[i] for i in order]

    def _is_absent_word(self, place: int, values: Sequence[int]) -> bool:
        return not self.by_bits and self.space.columns[place].kind == "word" and tuple(values) == (0,)

    def details(self, reason: Explanation, x: Bits, raw: Sequence[str] | None) -> Iterator[Text]:
        """The lines below the rule; ``raw`` has the cells of the row, if they are known."""
        if not len(reason):
            return
        if self.shape is not None:
            yield from self._picture(reason, x, self.shape)
        elif self.by_bits or not self.space.named:
            yield from _flags(reason, list(reason.facts), x[list(reason.places)])
        else:
            yield from self._parts(reason, x, raw)

    def _picture(self, reason: Explanation, x: Bits, shape: tuple[int, int]) -> Iterator[Text]:
        input_ = np.where(x.astype(np.bool_), "#", "·")
        places = list(reason.places)
        if reason.kind == "sufficient":
            marks = np.full(len(x), "·")
            marks[places] = np.where(x[places] == 1, "#", "o")
            legend = "# must stay on   o must stay off   · need not stay"
        else:
            assert reason.witness is not None
            marks = input_.copy()
            marks[places] = np.where(reason.witness[places] == 1, "+", "-")
            legend = "+ turned on   - turned off   # on   · off"
        beside = 2 * shape[1] + 3 <= _WIDEST
        if beside:
            yield Text(f"  {'input':<{shape[1]}}   the reason" if shape[1] > 4 else "  input, reason", "dim")
        for before, after in zip(input_.reshape(shape), marks.reshape(shape), strict=True):
            line = Text("  ")
            if beside:
                line.append("".join(before), "dim").append("   ")
            for mark in after.tolist():
                line.append(mark, "dim" if mark == "·" else "bold green" if mark in "#+" else "bold red")
            yield line
        yield Text(f"  {legend}", "dim")

    def _parts(self, reason: Explanation, x: Bits, raw: Sequence[str] | None) -> Iterator[Text]:
        """A line for each fact about a column; what is about words and pixels, together for each part."""
        by_place = dict(zip(reason.places, range(len(reason)), strict=True))
        lines: list[tuple[str, str]] = []
        rest: list[Text] = []
        start = 0
        for number, part in enumerate(self.space.parts):
            own = range(start, start + part.n_bits if not isinstance(part, OneColumn) else start + 1)
            start = own.stop
            mine = [place for place in own if place in by_place]
            cell = None if raw is None else raw[number]
            if not mine:
                continue
            if isinstance(part, OneColumn):
                lines.append(self._line(reason, by_place[mine[0]], cell))
            elif isinstance(part, Words):
                rest += self._text(reason, mine, start - part.n_bits, part, x, cell)
            else:
                facts = [reason.facts[by_place[place]] for place in mine]
                bits = np.array([x[self.space.columns[place].bits.start] for place in mine])
                rest += _flags(reason, facts, bits)
        width = min(max((len(name) for name, _ in lines), default=0), 40)
        for name, said in lines[:_MOST_FACTS]:
            yield Text("    ").append(f"{plain(name):<{width}}  ", "cyan").append(plain(said))
        if len(lines) > _MOST_FACTS:
            yield Text(f"    … and {len(lines) - _MOST_FACTS} more (--json has all)", "dim")
        yield from rest

    def _line(self, reason: Explanation, i: int, cell: str | None) -> tuple[str, str]:
        """A column, and what is said of it; the cell of the row, if that says more."""
        fact, values = reason.facts[i], self.space.columns[reason.places[i]].values
        # Of several values it is a phrase, "is little or none"; one value may itself begin like that.
        said = fact.value if fact.value in values else fact.value.removeprefix("is ")
        known = fact.value
        if reason.kind == "contrastive":
            change = next(one for one in reason.changes if one.column == fact.column)
            said, known = f"{change.before} → {change.after}", change.before
        tells = cell is not None and cell.strip() not in ("", known)
        return fact.column, f"{said}   (here {cell})" if tells else said

    def _text(
        self, reason: Explanation, mine: Sequence[int], first: int, part: Words, x: Bits, cell: str | None
    ) -> Iterator[Text]:
        """A text with the words of a reason marked, and the words that are not in it."""
        words = [part.words[place - first] for place in mine]
        there = [bool(x[self.space.columns[place].bits.start]) for place in mine]
        own = [word for word, here in zip(words, there, strict=True) if here]
        others = [word for word, here in zip(words, there, strict=True) if not here]
        needs, lacks = ("must be there", "must not be there")
        if reason.kind == "contrastive":
            needs, lacks = ("removed", "added")
        if cell is not None:
            yield _marked(cell, set(own))
        for names, said in ((own, needs), (others, lacks)):
            if names:
                yield _listed(f"{counted(len(names), 'word')} {said}", names)


def _flags(reason: Explanation, facts: Sequence[Fact], bits: Bits) -> Iterator[Text]:
    """Bits by name: those that are 1, and those that are 0."""
    on, off = ("must be 1", "must be 0") if reason.kind == "sufficient" else ("1 → 0", "0 → 1")
    for value, said in ((1, on), (0, off)):
        names = [fact.column for fact, bit in zip(facts, bits.tolist(), strict=True) if bit == value]
        if names:
            yield _listed(said, names)


def _listed(title: str, names: Sequence[str]) -> Text:
    return Text("    ").append(f"{title}: ", "cyan").append(plain(_names(names, _MOST_NAMES)))


def _names(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _marked(text: str, words: set[str]) -> Text:
    """A text with some of its words in brackets."""
    line = Text("    “")
    done = 0
    for word, start in words_in_place(text[:_MOST_CHARS]):
        if word in words:
            line.append(plain(text[done:start]).replace("\n", " "))
            line.append(f"[{plain(text[start : start + len(word)])}]", "bold green")
            done = start + len(word)
    line.append(plain(text[done:_MOST_CHARS]).replace("\n", " "))
    return line.append("… ”" if len(text) > _MOST_CHARS else "”")


class Screen:
    """Prints what is found: a row with one reason in full; of several rows a line each, then their rules."""

    def __init__(self, explained: Explained, most: int) -> None:
        """``most`` rows are shown, if there are several, and as many rules."""
        self.explained, self.wanted, subject = explained, explained.wanted, explained.subject
        self.most = most
        space, shape = explained.model.space, subject.image
        if shape is not None and shape[0] * shape[1] != explained.model.n_features:
            raise InvalidInputError(
                f"--image must have as many pixels as there are features, {explained.model.n_features}. "
                f"Got {shape[0]}x{shape[1]} instead."
            )
        self.looks = Looks(space, subject.rules.about_bits and not space.only_flags, shape)

    def show_heading(self, model: str) -> None:
        """Print what was asked."""
        wanted, rules = self.wanted, self.explained.subject.rules
        kind = " and ".join(wanted.kinds)
        which = "minimal " if wanted.limit is not None else "smallest " if wanted.smallest else ""
        asked = "" if wanted.target is None else f" for not {wanted.target}"
        show(Text(plain(f"{which}{kind} reasons{asked} of {model}"), style="bold"))
        said = [counted(len(self.explained.subject.rows)), *rules.words(self.explained.model.space)]
        said += [] if wanted.epsilon is None else [f"within {rules.counted(wanted.epsilon)}"]
        said += ["widened"] if wanted.widen else []
        show(plain(" · ".join([*said, f"engine {wanted.engine}"])))

    def begin(self, row: Row) -> None:
        """Print the row's name, above its reasons."""
        if self._is_shown(row):
            origin = self.explained.origins[row.place]
            show(Text(plain(f"{origin.called}: {origin.decided(row.decision)}"), style="bold"))

    def listed(self, row: Row, reason: Explanation) -> None:
        """Print one reason of many for the same row."""
        if self._is_shown(row):
            show(Text(f"  {reason.kind:<11}  ", style="cyan").append(plain(self.looks.sentence(reason))))

    def end(self, row: Row) -> None:
        """Print a row, as far as it is not printed."""
        if not self._is_shown(row):
            return
        if self.wanted.limit is not None and not row.already:
            self._show_all(row)
        elif self.explained.many:
            self._show_line(row)
        else:
            self.begin(row)
            self._show_one(row)

    def _is_shown(self, row: Row) -> bool:
        return not self.explained.many or row.place < self.most

    def show_end(self, model: Path, data: Path, csv: Path | None) -> None:
        """Print the rules of several rows, what was written, and whether it was interrupted."""
        explained = self.explained
        if explained.interrupted:
            for row in explained.rows[-1:]:
                if row.detail == INTERRUPTED and self._is_shown(row):
                    self._show_all(row)
        if explained.many:
            self._show_sum()
            if self.most:
                self._show_rules(data)
        if csv is not None:
            n = counted(sum(len(row.reasons) for row in explained.rows), "reason")
            show(f"{n} of {counted(len(explained.rows), 'row')} written to {plain(csv)}")
        written = [path for row in explained.rows for path in row.paths if path is not None]
        if written:
            folder = plain(explained.certificates)
            show(f"certificates: {len(written)} written to {folder}; check them with")
            show(f"  tmcheck --dir {folder} {plain(model)}")
        if explained.interrupted:
            of = counted(len(explained.subject.rows), "row")
            show(Text(f"INTERRUPTED after {explained.n_done} of {of}", style="bold yellow"))

    def _show_sum(self) -> None:
        """Print what is known of all rows together, and how many of them are not shown."""
        explained, rows = self.explained, self.explained.rows
        hidden = len(rows) - self.most
        if self.most and hidden > 0:
            more = f"… and {counted(hidden, 'more row')} (--rows {len(rows)}, --json or --csv FILE.csv)"
            show(Text(more, style="dim"))
        reasons = [row.reasons[0][0] for row in rows if row.reasons]
        said = f"{counted(len(reasons), 'row')} explained"
        if self.wanted.limit is None and reasons:
            n_open = sum(not self.wanted.met_by(reason) for reason in reasons)
            least = "smallest" if self.wanted.smallest else "minimal"
            said += f", {n_open} of them not to the end" if n_open else f", each reason proved and {least}"
            sizes = [len(reason) for reason in reasons]
            said += f": {min(sizes)} to {counted(max(sizes), 'column')}, median {median(sizes):g}"
        show(said)
        labelled = [row for row in rows if explained.origins[row.place].label is not None]
        if labelled:
            n_wrong = sum(explained.origins[row.place].label != row.decision for row in labelled)
            show(f"{n_wrong} of {counted(len(labelled), 'row')} decided otherwise than labelled")
        if self.wanted.kinds == ("contrastive",) and self.wanted.limit is None:
            columns = Counter(column for reason in reasons for column in reason.columns)
            listed = [f"{column} {n}" for column, n in columns.most_common()]
            if listed:
                show(
                    plain(f"rows by the columns that alter their decision: {_names(listed, _MOST_IMPORTANT)}")
                )

    def _show_line(self, row: Row) -> None:
        origin = self.explained.origins[row.place]
        text = Text(plain(f"{origin.called}: "), style="bold")
        if row.already:
            show(text.append(plain(f"is {origin.decided(row.decision)}"), style="dim"))
            return
        reason = row.reasons[0][0]
        text.append(plain(self.looks.sentence(reason, _MOST_BRIEF)), style="not bold")
        if not self.wanted.met_by(reason):
            text.append(f"  ({plain(said_of(reason, self.wanted))})", style="not bold yellow")
        if origin.label not in (None, row.decision):
            text.append(plain(f"  (but labelled {origin.label})"), style="not bold yellow")
        show(text)

    def _show_one(self, row: Row) -> None:
        explained = self.explained
        (reason, covered), *_ = row.reasons
        show(Text("  ").append(plain(self.looks.sentence(reason)), style="cyan"))
        for line in self.looks.details(reason, explained.X[row.place], explained.raw(row.place)):
            show(line)
        met = self.wanted.met_by(reason)
        show(Text(f"  {plain(said_of(reason, self.wanted))}", style="green" if met else "yellow"))
        also = f" · covers {covered.sum()} of {counted(len(covered), 'row')}" if len(covered) > 1 else ""
        also = also if reason.kind == "sufficient" else ""
        asked = f"{counted(reason.questions, 'question')} in {seconds_text(reason.seconds)} s"
        of = counted(explained.n_columns, "column")
        show(Text(f"  {len(reason)} of {of}{also} · {asked}", style="dim"))

    def _show_all(self, row: Row) -> None:
        """Whether the reasons of a row are all that there are, and what is important."""
        said, known = self._said_of_all(row)
        show(Text(f"  {plain(said)}", style="green" if known else "yellow"))
        if row.importance is not None and row.importance.shares:
            shares = list(row.importance.shares.items())
            top = [f"{name} {share:.0%}" for name, share in shares]
            n, known = row.importance.n_reasons, row.importance.complete
            of = f"all {n} sufficient reasons" if known else f"the {n} sufficient reasons found so far"
            if n == 1:
                of = "the one sufficient reason" + ("" if known else " found so far")
            show(plain(f"  importance, as the share of {of}: {_names(top, _MOST_IMPORTANT)}"))

    def _said_of_all(self, row: Row) -> tuple[str, bool]:
        counts = Counter(reason.kind for reason, _ in row.reasons)
        said = " and ".join(f"{counts[kind]} {kind}" for kind in self.wanted.kinds)
        if row.complete and not row.more:
            return f"proved: these are all minimal reasons: {said}", True
        minimal, limit = f"proved to be minimal: {said}", self.wanted.limit or 1
        if row.stop_reason is not None or row.detail == INTERRUPTED:
            return f"{minimal}; open: there may be others: {row.detail}", False
        return f"{minimal}; there are more {' and '.join(sorted(row.more))} ones (--all {2 * limit})", True

    def _show_rules(self, data: Path) -> None:
        rules, most, labelled = self.explained.rules(), self.most, self.explained.labels is not None
        if not rules:
            return
        table = Table()
        table.add_column("rows", justify="right")
        if labelled:
            table.add_column("as labelled", justify="right")
        table.add_column("found for")
        table.add_column("rule", overflow="fold")
        for rule in rules[:most]:
            first = self.explained.origins[rule.found_for[0]].called
            others = len(rule.found_for) - 1
            table.add_row(
                f"{rule.n_rows}",
                *([f"{self.explained.as_labelled(rule)}"] if labelled else []),
                Text(plain(f"{first} and {others} more" if others else first)),
                Text(plain(self.looks.sentence(rule.reason, _MOST_IN_TABLE))),
            )
        total = len(self.explained.coverage.X)
        by_any = np.any([rule.covered for rule in rules], axis=0)
        title = f"{counted(len(rules), 'rule')}, by how many of the {total} rows of {data} each covers:"
        show(plain(f"\n{title}"))
        show(table)
        if len(rules) > most:
            show(f"… and {len(rules) - most} more (--rows {len(rules)}, or --json)")
        show(f"together they cover {by_any.sum()} of {counted(total, 'row')}")
