"""Questions about columns in solver formats: what the files say, line by line.

Solvers are asked in ``tests/interop``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from tmverify.properties.allowed import Allowed

SPACE = tv.Space(
    [
        tv.Flag("owner"),
        tv.Number("age", [25, 40, 60]),
        tv.Category("city", ["Bergen", "Oslo", "Rome"], other=True),
    ]
)
CLAUSES = [[1, 3], [-2, 6], [7, -3], [-1, -4], [-5, 7]]
MODEL = tv.Model.from_clauses(7, CLAUSES, [[1, -1, 2, -1, 1]], bias=-1, space=SPACE)
ROW = {"owner": 1, "age": 30, "city": "Oslo"}
RULES = Allowed("steps", cost={"age": 2, "owner": 3}, increase="age", within={"city": ["Bergen", "Rome"]})
QUERY = tv.robustness_query(MODEL, ROW, 4, allowed=RULES)

REGION = """\
question robustness, scope team
model 0 = sha256 {hash}
region changes that cost at most 4 together; each cut that a number crosses costs 1, any other change 1
rule column 0 (owner) costs 3
rule column 1 (age) may only increase
rule column 1 (age) costs 2 a cut
rule column 2 (city) allows Bergen
rule column 2 (city) allows Rome
input from 0 = 1100010
"""


def written(write: Callable[..., None], path: Path, query: tv.Query = QUERY, **options: Any) -> list[str]:
    write(query, path, **options)
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("write", "sign"),
    [(tv.to_dimacs, "c"), (tv.to_wcnf, "c"), (tv.to_opb, "*"), (tv.to_smtlib, ";"), (tv.to_lp, "\\")],
)
def test_the_region_is_in_words(tmp_path: Path, write: Callable[..., None], sign: str) -> None:
    lines = written(write, tmp_path / "q")
    expected = [f"{sign} {line}" for line in REGION.format(hash=MODEL.content_hash).splitlines()]
    start = lines.index(expected[0])
    assert lines[start : start + len(expected)] == expected


def test_lp_line_by_line(tmp_path: Path) -> None:
    lines = written(tv.to_lp, tmp_path / "q.lp", nearest=True)
    start = lines.index("\\ input from 0 = 1100010") + 1
    assert lines[start:] == LP.splitlines()


LP = """\
\\ bit x0 = feature 0 (owner)
\\ cost feature 0 = 3
\\ fixed feature 1 = 1 (age > 25)
\\ part feature 2 = column 1 (age > 40)
\\ part feature 3 = column 1 (age > 60)
\\ fixed feature 4 = 0 (city = Bergen)
\\ part feature 5 = column 2 (city = Oslo)
\\ part feature 6 = column 2 (city = Rome)
\\ column 1 (age) is 25 to 40, unless a value of it is true
\\ column 1 from 1 = 100
\\ value v1_2 = column 1 is 40 to 60, cost 2
\\ value v1_2 from 1 = 110
\\ value v1_3 = column 1 is over 60, cost 4
\\ value v1_3 from 1 = 111
\\ column 2 (city) is Oslo, unless a value of it is true
\\ column 2 from 4 = 010
\\ value v2_2 = column 2 is Rome, cost 1
\\ value v2_2 from 4 = 001
\\ clause c0 = model 0 clause 0
\\ clause c2 = model 0 clause 2
\\ clause c3 = model 0 clause 3
\\ clause c4 = model 0 clause 4
Minimize
 obj: - 3 x0 + 2 v1_2 + 4 v1_3 + 1 v2_2 + 3 one
Subject To
 r1: 1 one >= 1
 r2: - 1 v1_2 - 1 v1_3 >= -1
 r3: 1 x0 - 1 c0 >= 0
 r4: 1 v1_2 + 1 v1_3 - 1 c0 >= 0
 r5: - 1 v1_2 - 1 v1_3 - 1 c2 >= -1
 r6: 1 v2_2 - 1 c2 >= 0
 r7: 1 c3 + 1 x0 + 1 v1_3 >= 1
 r8: 1 v2_2 - 1 c4 >= 0
 r9: 1 c0 + 2 c2 - 1 c3 + 1 c4 >= 1
 r10: 3 x0 - 2 v1_2 - 4 v1_3 - 1 v2_2 >= -1
Binaries
 x0 v1_2 v1_3 v2_2 c0 c2 c3 c4 one
End
"""


def test_every_possible_input(tmp_path: Path) -> None:
    other = tv.Model.from_clauses(7, CLAUSES, [[1, -1, 2, -1, 2]], bias=-1, space=SPACE)
    lines = written(tv.to_opb, tmp_path / "q.opb", tv.equivalence_query(MODEL, other))
    assert "* region every possible input; each changed column costs 1" in lines
    assert "* start from 0 = 0000100" in lines
    lines = written(
        tv.to_opb, tmp_path / "q.opb", tv.equivalence_query(MODEL, other, allowed=Allowed("bits"))
    )
    assert "* region every input" in lines
    assert not any("column" in line for line in lines)


def test_a_target_is_named(tmp_path: Path) -> None:
    m = tv.Model.from_clauses(7, CLAUSES, [[1, -1, 2, -1, 2]], space=SPACE, classes=["no", "yes"])
    lines = written(tv.to_smtlib, tmp_path / "q.smt2", tv.robustness_query(m, ROW, 2, target="no"))
    assert "; target class 0 (no)" in lines


def test_a_column_that_costs_nothing_has_no_weight(tmp_path: Path) -> None:
    query = tv.robustness_query(MODEL, ROW, 0, allowed=Allowed(cost={"age": 0}))
    lines = written(tv.to_wcnf, tmp_path / "q.wcnf", query)
    assert any(line.startswith("c value") and line.endswith("cost 0") for line in lines)
    assert not any(line.startswith("0 ") for line in lines)
    assert tv.decide(query).status == "violated"
