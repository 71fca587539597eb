"""Cards: what a notebook shows of a model or an answer, as HTML that is complete in itself.

No script, and nothing is loaded. Names of columns, classes and words may be any text: ``text`` makes HTML of
it, and only what is ``Html`` can be put into a card (the type checker sees to that). A card takes the
notebook's colour of text and mixes its own colours with it, so it suits light and dark pages without knowing
which it is on; where a page removes the style, the words still make sense in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal, NewType

from tmverify.display.inputs import Cell, Chips, Passage, Picture, Shown
from tmverify.display.words import shortened

Html = NewType("Html", str)
Tone = Literal["good", "bad", "open", "plain"]
Bar = tuple[str, float, Tone]

LONGEST = 160  # characters of a name
LONGEST_SENTENCE = 600
# Control characters but line breaks, and halves of surrogate pairs, which no notebook file can hold.
_UNFIT = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@cache
def _style() -> str:
    """The style sheet, without what browsers skip."""
    sheet = files("tmverify.display").joinpath("card.css").read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/|\s+(?=[{}]|\s)|(?<=[{};,])\s+", "", sheet, flags=re.DOTALL).strip()


def card(
    tone: Tone,
    badge: str,
    head: Html,
    *,
    kicker: str = "",
    body: Iterable[Html] = (),
    foot: Sequence[str] = (),
    rests_on: Sequence[str] = (),
) -> str:
    """A card: a badge of this tone with what it is about, the body, and small print."""
    about = [tag("span", text(badge), style=f"badge tmv-{tone}"), tag("span", head, style="turn")]
    about += [tag("span", text(kicker), style="kicker")] if kicker else []
    small = text(" · ".join(foot), LONGEST_SENTENCE)
    if rests_on:
        listed = text("; ".join(rests_on), LONGEST_SENTENCE)
        small = Html(f"{small} · <details><summary>rests on</summary> {listed}</details>")
    whole = [tag("div", spaced(about), style="head"), *body]
    whole += [tag("div", small, style="foot")] if small else []
    return f'<div class="tmv"><style>{_style()}</style>{joined(whole)}</div>'


def text(words: object, most: int = LONGEST) -> Html:
    """Any text as HTML, shortened."""
    return Html(escape(_UNFIT.sub("\ufffd", shortened(str(words), most))))


def name(words: object, most: int = LONGEST) -> Html:
    """A name as HTML that keeps its direction of writing to itself."""
    return Html(f"<bdi>{text(words, most)}</bdi>")


def tag(kind: str, *content: Html, style: str = "") -> Html:
    """An element; ``style`` is its class."""
    own = f' class="tmv-{style}"' if style else ""
    return Html(f"<{kind}{own}>{joined(content)}</{kind}>")


def joined(parts: Iterable[Html]) -> Html:
    """Several pieces in a row."""
    return Html("".join(parts))


def spaced(parts: Iterable[Html]) -> Html:
    """Several pieces with blanks between them."""
    return Html(" ".join(parts))


NOTHING, SPACE = Html(""), Html(" ")


def body(*parts: Html) -> Html:
    """The part of a card that shows something."""
    return tag("div", *parts, style="body")


def sentence(words: str) -> Html:
    """A line of plain text."""
    return tag("div", text(words, LONGEST_SENTENCE), style="said")


def fact(what: str, words: str) -> Html:
    """A line that says what it is about."""
    return tag("div", tag("small", text(what)), SPACE, text(words, LONGEST_SENTENCE))


def note(words: str) -> Html:
    """A line that a reader must not overlook: what is open."""
    return tag("div", text(words, LONGEST_SENTENCE), style="note")


def turn(decisions: Sequence[str], sign: str, tone: Tone = "bad") -> Html:
    """Decisions with a sign between them; the last one has the tone."""
    *before, last = [name(decision) for decision in decisions]
    marked = tag("span", last, style=f"ink tmv-{tone}")
    return joined([*(Html(f"{each} {escape(sign)} ") for each in before), marked])


def left_out(n: int, what: str = "") -> Html:
    """How many are left out, if any."""
    return tag("small", text(f" and {n} more{what and f' {what}'}")) if n else Html("")


def shown(given: Shown, keys: tuple[str, str] = ("set", "cleared")) -> Html:
    """An input with its change, or with what its reason needs; ``keys`` are of green and of red pixels."""
    cells = [_changed(cell) for cell in given.changed]
    if given.more_changed:
        cells.append(left_out(given.more_changed, "columns"))
    words = [_passage(passage) for passage in given.passages]
    if given.same:
        same = [tag("span", tag("b", name(cell.name)), SPACE, name(cell.value)) for cell in given.same]
        words.append(tag("div", spaced(same), left_out(given.more_same, "columns"), style="same"))
    pictures = [_pictures(given.pictures, keys)] if given.pictures else []
    return tag("div", *pictures, *cells, *words, *map(_chips, given.chips), style="body")


def picture(source: str, size: tuple[int, int], caption: Html, description: str = "") -> Html:
    """A picture with what stands below it."""
    said = text(description, LONGEST_SENTENCE)
    image = Html(f'<img src="{source}" alt="{said}" width="{size[0]}" height="{size[1]}">')
    return tag("span", image, tag("small", caption), style="pic")


def _pictures(pictures: Sequence[Picture], keys: tuple[str, str]) -> Html:
    drawn = [picture(p.source, (p.width, p.height), text(p.caption), p.description) for p in pictures]
    if len(pictures) > 1:
        drawn.append(key_of(keys))
    return tag("div", spaced(drawn), style="pics")


def key_of(keys: tuple[str, str]) -> Html:
    """What green and red pixels are."""
    green, red = (
        Html(f'<span class="tmv-key" style="background:{colour}"></span> {text(key)}')
        for colour, key in zip(("#12b76a", "#b3122a"), keys, strict=True)
    )
    return tag("small", green, Html("<br>"), red)


def _changed(cell: Cell) -> Html:
    """A column with its value before and after, or with the value that it must have."""
    column = tag("b", name(cell.name))
    if cell.after is None:
        own = [tag("small", text(" here "), name(cell.seen))] if cell.seen else []
        return tag("div", column, SPACE, _new(cell.value, "good"), *own, style="cell")
    after = _new(cell.after, "open" if cell.impossible else "good")
    return tag("div", column, SPACE, tag("del", name(cell.value)), Html(" → "), after, style="cell")


def _new(value: str, tone: Tone) -> Html:
    return tag("ins", tag("span", name(value), style=f"ink tmv-{tone}"))


def _passage(passage: Passage) -> Html:
    plain = [text(piece, len(piece)) for piece, _ in passage.pieces]
    marks = [marked for _, marked in passage.pieces]
    pieces = [tag("mark", each) if marked else each for each, marked in zip(plain, marks, strict=True)]
    own = [tag("small", name(passage.name)), SPACE] if passage.name else []
    return tag("div", *own, *pieces, left_out(passage.more, "characters"), style="words")


_CHIPS: dict[str, tuple[Tone, str]] = {
    "added": ("good", "+ "),
    "removed": ("bad", "\N{MINUS SIGN} "),
    "absent": ("plain", "no "),
}


def _chips(chips: Chips) -> Html:
    tone, mark = _CHIPS.get(chips.kind, ("plain", ""))
    names = [tag("span", text(mark), name(each), style=f"chip tmv-{tone}") for each in chips.names]
    return tag("div", spaced([tag("small", text(chips.caption)), *names]), left_out(chips.more))


def bar(parts: Sequence[Bar]) -> Html:
    """A bar of parts: what each is, its share of the whole, and its tone."""
    drawn = [
        Html(f'<span class="tmv-{tone}" style="width:{100 * share:.4g}%" title="{text(what)}"></span>')
        for what, share, tone in parts
        if share
    ]
    return tag("div", *drawn, style="bar")


def rows(lines: Iterable[tuple[Html, Html, Html]]) -> Html:
    """Lines of three columns: a name, a number, words."""
    drawn = [tag("div", spaced(tag("span", each) for each in line), style="row") for line in lines]
    return tag("div", *drawn, style="rows")
