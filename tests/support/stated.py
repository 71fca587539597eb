"""A small model whose properties can be told by hand, in a file and in memory."""

from __future__ import annotations

import tmverify as tv

SPACE = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 60], missing=True), tv.Category("sex", ["f", "m"])])
ROWS = "name,owner,age,sex\nann,1,70,f\nbob,0,30,m\ncid,0,70,m\neve,1,20,f\n"


def lender() -> tv.Model:
    """Says yes with two votes: an owner has two, being over 60 one, and m one."""
    return tv.Model.from_clauses(6, [[1], [3], [6]], [[2, 1, 1]], bias=-2, space=SPACE, classes=("no", "yes"))


def three_parties() -> tv.Model:
    """Votes for red, green and blue: x0 gives red 2, x1 green 3, x2 blue 1, and nothing at all red 1."""
    return tv.Model.from_clauses(
        3,
        [[1], [2], [3], [-1, -2, -3]],
        [[2, 0, 0, 1], [0, 3, 0, 0], [0, 0, 1, 0]],
        classes=("red", "green", "blue"),
    )
