"""Reads the cards of notebooks: whether the HTML is well formed and harmless, and what it says."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

EMPTY = {"br", "img"}
HARMLESS = {
    *["b", "bdi", "br", "del", "details", "div", "img", "ins", "mark", "small", "span", "style", "summary"]
}
ATTRIBUTES = {"alt", "class", "height", "src", "style", "title", "width"}


class Card(HTMLParser):
    """A card; an AssertionError if it is not well formed, or has anything that is not expected of one.

    Attributes
    ----------
    text : str
        What a reader sees, with single blanks.
    tones : list of str
        The classes of badges.
    pictures : list of str
        The addresses of pictures.
    alts : list of str
        Their descriptions.
    """

    def __init__(self, shown: Any) -> None:
        super().__init__()
        html = shown._repr_html_()
        assert html == shown._repr_html_(), "two cards of one thing differ"
        html.encode("utf-8")
        self.size = len(html) - html.index("</style>")
        self._open: list[str] = []
        self._pieces: list[str] = []
        self.tones: list[str] = []
        self.pictures: list[str] = []
        self.alts: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, self._open
        self.text = " ".join("".join(self._pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in HARMLESS, tag
        known = dict(attrs)
        assert set(known) <= ATTRIBUTES, known
        assert "url" not in (known.get("style") or "")
        if tag == "img":
            assert (known["src"] or "").startswith("data:image/png;base64,")
            self.pictures.append(known["src"] or "")
            self.alts.append(known["alt"] or "")
        if "tmv-badge" in (known.get("class") or ""):
            self.tones.append((known["class"] or "").removeprefix("tmv-badge tmv-"))
        if tag not in EMPTY:
            self._open.append(tag)
        if tag == "div":
            self._pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1] == "style":
            assert "url(" not in data
            assert "@import" not in data
        else:
            self._pieces.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")
