"""A model as a card of a notebook: what it reads, how it decides, and the strongest clauses for each class.

A clause is drawn where an input is a picture, and otherwise put into words. Clauses that are never true, and
those that no class counts, are left out. Of a binary machine, which has one row of votes, a clause with
negative votes speaks for the first class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tmverify.display import html
from tmverify.display.columns import summary_text
from tmverify.display.drawing import demanded
from tmverify.display.html import Html
from tmverify.display.inputs import drawn_shape, size_of
from tmverify.display.words import shortened
from tmverify.model.evaluate import live_clauses
from tmverify.model.machine import Model
from tmverify.model.rules import clause_text, decision_rule

_CLASSES = 10
_COLUMNS = 8
_LINES = 3  # clauses of a class in words
_PICTURES = 3  # or drawn
_SIDE = 58  # CSS pixels of a clause that is drawn
_CONDITIONS = 6
_MOST_LITERALS = 2000  # a longer clause is not put into words, since that takes long
_MOST_FEATURES = 1 << 17  # and neither are clauses about more features that have names
_LONGEST_CLAUSE = 240
_LONGEST_LABEL = 60

Votes = Sequence[tuple[int, int]]
"""Clauses, by their index, with their votes for a class."""


def model_card(model: Model) -> str:
    """A Model as HTML."""
    shape = drawn_shape(model.space)
    labels = [html.name(label, _LONGEST_LABEL) for label in model.classes[:_CLASSES]]
    most = _LINES if shape is None else _PICTURES
    found = [_strongest(model, place, most) for place in range(len(labels))]
    pairs = list(zip(labels, found, strict=True))
    if shape is None:
        clauses = html.rows(line for label, votes in pairs for line in _lines(model, label, votes))
    else:
        blocks = [_drawn(model, label, votes, shape) for label, votes in pairs]
        clauses = html.tag("div", *blocks, html.key_of(("must be on", "must be off")), style="classes")
    facts = [("reads", _reads(model)), ("decides", shortened(decision_rule(model), html.LONGEST_SENTENCE))]
    title = html.tag("small", html.text("the strongest clauses for each class, with their votes"))
    body = [
        html.tag("div", *(html.fact(what, said) for what, said in facts), style="said"),
        html.body(title, clauses, html.left_out(len(model.classes) - len(labels), "classes")),
    ]
    sizes = ((model.n_clauses, "clause"), (model.n_features, "feature"))
    said = [f"{len(model.classes):,} classes", *(f"{n:,} {what}{'s' * (n != 1)}" for n, what in sizes)]
    head = html.text(" · ".join(said))
    return html.card("plain", model.kind, head, body=body)


def _reads(model: Model) -> str:
    """The columns, and the names of the first ones."""
    space = model.space
    said = summary_text(space)
    if not space.named or space.is_text or space.image_shape is not None:
        return said
    names = [shortened(part.name, _LONGEST_LABEL) for part in space.parts[:_COLUMNS]]
    left = len(space.parts) - len(names)
    return f"{said}: {', '.join(names)}{f' and {left} more' if left else ''}"


def _strongest(model: Model, place: int, most: int) -> Votes:
    """The clauses with the most votes for a class, by its index."""
    votes = model.weights[place] if model.n_outputs > 1 else model.weights[0] * (1 if place else -1)
    live, _ = live_clauses(model)
    voting = live[votes[live] > 0]
    first = voting[np.argsort(-votes[voting], kind="stable")[:most]]
    return [(int(j), int(votes[j])) for j in first]


def _lines(model: Model, label: Html, votes: Votes) -> list[tuple[Html, Html, Html]]:
    """A class with its clauses in words; the label stands before the first."""
    if not votes:
        return [(label, html.text("—"), html.tag("small", html.text("no clause speaks for it")))]
    labels = [label, *[html.NOTHING] * (len(votes) - 1)]
    return [
        (own, html.text(f"+{n:,}"), html.text(_words(model, j), _LONGEST_CLAUSE))
        for own, (j, n) in zip(labels, votes, strict=True)
    ]


def _words(model: Model, j: int) -> str:
    n = int(model.clauses.lengths[j])
    if n > _MOST_LITERALS or (model.space.named and model.n_features > _MOST_FEATURES):
        return f"a conjunction of {n:,} literals"
    return clause_text(model, j, _CONDITIONS)


def _drawn(model: Model, label: Html, votes: Votes, shape: tuple[int, int]) -> Html:
    """A class with its clauses as pictures."""
    size = size_of(shape, _SIDE)
    pictures = []
    for j, n in votes:
        literals = np.array(model.clauses[j], np.int64)
        on, off = literals[literals > 0] - 1, -literals[literals < 0] - 1
        said = f"{len(on)} pixels must be on, {len(off)} off"
        pictures.append(html.picture(demanded(on, off, shape), size, html.text(f"+{n:,}"), said))
    if not pictures:
        pictures = [html.tag("small", html.text("no clause speaks for it"))]
    return html.tag("div", html.tag("b", label), html.tag("div", html.spaced(pictures), style="pics"))
