"""Certificates about reasons, written by hand: what each kind needs, and claims that are none."""

from __future__ import annotations

import io
import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import claim, claim_line, refusal
from support.reasons import is_true
from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.hitting import is_hit
from tmverify.model.file import encode

OWNER, AGE, CITY = range(3)
SPACE = tv.Space(
    [
        tv.Flag("owner"),
        tv.Number("age", [25, 40, 60], missing=True),
        tv.Category("city", ["Bergen", "Oslo", "Bodø"], other=True),
    ]
)
# A vote for each of: owner, over 25, over 40, Oslo or Bodø. It takes three for class 1.
MODEL = tv.Model.from_clauses(
    8, [[1], [2], [3], [7], [8]], [[1, 1, 1, 1, 1]], bias=-3, classes=["no", "yes"], space=SPACE
)
YES = "f2"  # an owner, over 60, Oslo: four votes, and one of them can go
REFUTED = ("constraints 0:-1>=-2", "refute 0 5 1", "close")


def bits(owner: int, age: float | None, city: str) -> str:
    row = SPACE.encode([{"owner": owner, "age": age, "city": city}])[0]
    return np.packbits(row).tobytes().hex()


def about(answer: str, reason: Any, *lines: str, x: str = YES, **others: Any) -> bytes:
    others = {"distance": "columns", "answer": answer, "reason": reason, **others}
    return claim("robustness", MODEL, **others) + "\n".join([f"input {x}", *lines, "end\n"]).encode()


def accepted(text: bytes) -> str | None:
    """Why a text is not accepted, None if it is; accepted ones are true."""
    reason = refusal(text, [MODEL])
    assert reason is not None or is_true(text, MODEL)
    return reason


def test_the_input() -> None:
    assert bits(1, 70, "Oslo") == YES


OLD_OWNER = [[OWNER, [1]], [AGE, [3]]]
OLD_IN_OSLO = [[AGE, [3]], [CITY, [1]]]
POOR = f"witness {bits(0, 70, 'Bergen')}"  # two votes: over 25 and over 40
YOUNG = f"witness {bits(1, 20, 'Oslo')}"


def test_a_reason_suffices() -> None:
    assert accepted(about("suffices", OLD_OWNER, *REFUTED)) is None
    assert accepted(about("suffices", [*OLD_OWNER, [CITY, [1]]], *REFUTED)) is None
    assert accepted(about("suffices", [[OWNER, [1]], [AGE, [2, 3]]], *REFUTED)) is None
    assert "reaches the need" in str(accepted(about("suffices", [[OWNER, [1]], [AGE, [1, 2, 3]]], *REFUTED)))
    assert "reaches the need" in str(accepted(about("suffices", [[AGE, [3]]], *REFUTED)))
    assert "suffices" in str(accepted(about("suffices", OLD_OWNER)))
    assert "suffices" in str(accepted(about("suffices", OLD_OWNER, *REFUTED[:1])))
    assert "shows nothing" in str(accepted(about("suffices", OLD_OWNER, POOR, *REFUTED)))
    assert accepted(about("suffices", [], "constraints 0:-1>=-2", "refute 0 1 1", "close", epsilon=1))
    one = about("suffices", [], "constraints 0:-1>=-2", "refute 0 1 1", "close", epsilon=0)
    assert "beyond the region" in str(accepted(one))
    assert accepted(about("suffices", [], "constraints 0:-1>=-2", "refute 0 0 1", "close", epsilon=0)) is None


def test_a_limit_is_part_of_the_claim() -> None:
    """With one changed column, an old age or living in Oslo is enough."""
    near = ("constraints 0:-1>=-2", "refute 0 1 1", "close")
    assert accepted(about("suffices", [[AGE, [3]]], *near, epsilon=1)) is None
    assert accepted(about("suffices", [[AGE, [3]]], *near)) == "not shown that the reason suffices"
    assert "beyond" in str(accepted(about("suffices", [[AGE, [3]]], *REFUTED, epsilon=1)))
    assert accepted(about("minimal", [[AGE, [3]]], YOUNG, *near, epsilon=1)) is None
    assert "outside" in str(accepted(about("minimal", [[AGE, [3]]], YOUNG, *near, epsilon=0)))


def test_a_minimal_reason_has_a_witness_for_each_column() -> None:
    assert accepted(about("minimal", OLD_OWNER, POOR, YOUNG, *REFUTED)) is None
    assert accepted(about("minimal", OLD_OWNER, YOUNG, *REFUTED, POOR)) is None
    assert "column 1" in str(accepted(about("minimal", OLD_OWNER, POOR, *REFUTED)))
    assert "column 0" in str(accepted(about("minimal", OLD_OWNER, YOUNG, *REFUTED)))
    assert "column 0" in str(accepted(about("minimal", OLD_OWNER, *REFUTED)))
    both = f"witness {bits(0, 20, 'Oslo')}"
    assert "shows nothing" in str(accepted(about("minimal", OLD_OWNER, both, *REFUTED)))
    assert "not change the decision" in str(accepted(about("minimal", OLD_OWNER, f"witness {YES}", *REFUTED)))
    in_oslo = f"witness {bits(0, 30, 'Oslo')}"  # breaks owner and age, of three columns
    more = about("minimal", [*OLD_OWNER, [CITY, [1]]], YOUNG, in_oslo, *REFUTED)
    assert "shows nothing" in str(accepted(more))


WIDE = [[OWNER, [1]], [AGE, [2, 3]]]
WIDEST = (POOR, f"witness {bits(1, 30, 'Bergen')}", f"witness {bits(1, None, 'Oslo')}")


def test_a_widest_reason_has_a_witness_for_each_value() -> None:
    assert accepted(about("widest", WIDE, *WIDEST, *REFUTED)) is None
    for place, said in enumerate(("column 0 of the reason can't also be 0", "also be 1", "also be 4")):
        lines = [*WIDEST[:place], *WIDEST[place + 1 :]]
        assert said in str(accepted(about("widest", WIDE, *lines, *REFUTED)))
    narrow = (*WIDEST, f"witness {bits(1, 30, 'Oslo')}")
    assert "also be 2" in str(accepted(about("widest", OLD_OWNER, *narrow[:1], *narrow[2:3], *REFUTED)))
    younger = f"witness {bits(1, 20, 'Bergen')}"
    assert "also be 1" in str(accepted(about("widest", WIDE, younger, POOR, WIDEST[2], *REFUTED)))
    assert accepted(about("minimal", WIDE, younger, POOR, *REFUTED)) is None
    # Between 25 and 40 one is not asked here: the next option below is up to 25.
    rules: dict[str, Any] = {"columns": [[AGE, "any", [0, 2], 1]]}
    assert "also be 0" in str(accepted(about("widest", WIDE, *WIDEST[:1], *REFUTED, **rules)))
    assert accepted(about("widest", WIDE, POOR, younger, *REFUTED, **rules)) is None


def test_a_run_of_options_for_the_widest_alone() -> None:
    values = [[OWNER, [1]], [AGE, [1, 3]], [CITY, [1, 2]]]
    assert accepted(about("suffices", values, *REFUTED)) is None
    assert "no neighbours" in str(accepted(about("widest", values, *REFUTED)))
    rules: dict[str, Any] = {"columns": [[AGE, "any", [0, 1], 1]]}  # over 60 comes next after 25 to 40
    assert "no neighbours" not in str(accepted(about("widest", values, *REFUTED, **rules)))


def test_a_missing_number_has_no_neighbours() -> None:
    """Any interval could be added to it, if each has its witness."""
    x = bits(1, None, "Bergen")  # one vote
    yes = "constraints 0:1>=3", "refute 0 5 1", "close"
    assert accepted(about("suffices", [[AGE, [4]]], *yes, x=x)) is None
    wide = [[AGE, [0, 4]]]
    assert accepted(about("suffices", wide, *yes, x=x)) is None
    shown = [f"witness {bits(1, age, 'Oslo')}" for age in (30, 50, 70)]
    assert "also be 0" in str(accepted(about("widest", [[AGE, [4]]], *shown, *yes, x=x)))
    assert accepted(about("widest", wide, shown[0], *yes, x=x)) is None
    assert "also be 1" in str(accepted(about("widest", wide, *shown[1:], *yes, x=x)))


def test_a_smallest_reason() -> None:
    rules: dict[str, Any] = {"columns": [[AGE, "any", [0, 1], 1]]}
    assert accepted(about("smallest", OLD_OWNER, POOR, YOUNG, *REFUTED)) is None
    assert "fewer" in str(accepted(about("smallest", OLD_OWNER, POOR, *REFUTED)))
    assert "fewer" in str(accepted(about("smallest", OLD_OWNER, *REFUTED)))
    assert accepted(about("smallest", OLD_IN_OSLO, POOR, YOUNG, *REFUTED, **rules)) is None
    three = [[OWNER, [1]], [AGE, [3]], [CITY, [1]]]
    lines = (POOR, YOUNG, f"witness {bits(1, 30, 'Bergen')}", f"witness {bits(0, 30, 'Oslo')}")
    assert "fewer" in str(accepted(about("smallest", three, *lines, *REFUTED)))
    holds = ("constraints 0:-1>=-2", "refute 0 0 1", "close")
    assert accepted(about("smallest", [], *holds, epsilon=0)) is None
    assert accepted(about("minimal", [], *holds, epsilon=0)) is None
    assert accepted(about("widest", [], *holds, epsilon=0)) is None


KEEP_OWNER = ("refute 0 5 1 keep 0", "close")
KEEP_CITY = ("refute 0 5 1 keep 2", "close")
CONTRAST = (POOR, REFUTED[0], *KEEP_OWNER, *KEEP_CITY)


def test_a_contrastive_reason() -> None:
    both = [[OWNER, None], [CITY, None]]
    assert accepted(about("contrastive", both, *CONTRAST)) is None
    assert (
        accepted(about("contrastive", [[AGE, None]], YOUNG, REFUTED[0], "refute 0 5 1 keep 1", "close"))
        is None
    )
    for place in (0, 2, 4):
        assert accepted(about("contrastive", both, *CONTRAST[:place], *CONTRAST[place + 2 - (place == 0) :]))
    assert "not in the reason" in str(accepted(about("contrastive", both, YOUNG, *CONTRAST)))
    assert "reaches the need" in str(accepted(about("contrastive", both, POOR, *REFUTED)))
    more = [[OWNER, None], [AGE, None], [CITY, None]]
    assert accepted(about("contrastive", more, *CONTRAST, "refute 0 5 1 keep 1", "close"))
    assert "can't change" in str(
        accepted(about("contrastive", both, *CONTRAST, columns=[[OWNER, "keep", None, 1]]))
    )
    outside = "refute 0 5 1 keep 0,3"
    assert "not there" in str(accepted(about("contrastive", both, POOR, REFUTED[0], outside, "close")))


def test_targets() -> None:
    """Why not 'no'? The same as why 'yes'."""
    says_no = {"target": "no"}
    assert accepted(about("minimal", OLD_OWNER, POOR, YOUNG, *REFUTED, **says_no)) is None
    assert accepted(about("contrastive", [[OWNER, None], [CITY, None]], *CONTRAST, **says_no)) is None
    yes = about("suffices", OLD_OWNER, "constraints 0:1>=3", "refute 0 5 1", "close", target="yes")
    assert accepted(yes)


WRONG: list[dict[str, Any]] = [
    {"reason": None},
    {"reason": {}},
    {"reason": [[OWNER, [1]], [OWNER, [1]]]},
    {"reason": OLD_OWNER[::-1]},
    {"reason": [[OWNER, []]]},
    {"reason": [[OWNER, None]]},
    {"reason": [[OWNER, [1], 1]]},
    {"reason": [OWNER]},
    {"reason": [[-1, [1]]]},
    {"reason": [[True, [1]]]},
    {"reason": [[AGE, [3, 2]]]},
    {"reason": [[AGE, [2, 2]]]},
    {"reason": [[AGE, 2]]},
    {"answer": "contrastive"},
    {"answer": "contrastive", "reason": []},
    {"answer": "contrastive", "reason": [[OWNER, None], [CITY, [1]]]},
    {"answer": "smallest", "reason": WIDE},
    {"answer": "holds", "epsilon": 3},
    {"answer": "holds", "epsilon": 3, "reason": []},
    {"answer": "violated", "epsilon": 3},
    {"answer": "radius", "epsilon": None, "radius": None},
    {"answer": "abductive"},
    {"answer": None},
    {"epsilon": -1},
    {"epsilon": 1 << 31},
    {"epsilon": True},
    {"radius": 1},
    {"apart": [[0]]},
    {"inputs": 2},
    {"eta": "1/2"},
    {"question": "similarity", "models": ["0" * 64] * 2},
    {"question": "equivalence", "models": ["0" * 64] * 2, "epsilon": None},
    {"scope": "yes", "target": "no"},
    {"reason": [[i, [1]] for i in range(limits.MOST_REASONS + 1)]},
]
REFUSED: list[dict[str, Any]] = [
    {"reason": [[OWNER, [1]], [3, [0]]]},
    {"reason": [[OWNER, [0]]]},
    {"reason": [[OWNER, [0, 1]]]},
    {"reason": [[OWNER, [1, 2]]]},
    {"reason": [[AGE, [3, 5]]]},
    {"reason": [[AGE, [0, 1, 2]]]},
    {"reason": [[AGE, [0, 1, 2, 3, 4]]]},
    {"columns": [[AGE, "keep", None, 1]]},
    {"columns": [[AGE, "any", [0], 1]], "reason": [[AGE, [2, 3]]]},
    {"columns": [[AGE, "any", [2], 1]], "reason": [[AGE, [2, 3]]]},
    {"columns": [[AGE, "up", None, 1]]},
]


@pytest.mark.parametrize("others", [*WRONG, *REFUSED], ids=lambda others: str(others)[:60])
def test_claims_that_are_none(others: dict[str, Any]) -> None:
    first = json.loads(about("suffices", OLD_OWNER).split(b"\n")[0])
    text = claim_line({**first, **others}) + "\n".join([f"input {YES}", *REFUTED, "end\n"]).encode()
    with pytest.raises(tmcheck.Unreadable if others in WRONG else tmcheck.Refused):
        tmcheck.check(io.BytesIO(text), [encode(MODEL)])


def words(text: bytes) -> str:
    said = tmcheck.in_words(tmcheck.check(io.BytesIO(text), [encode(MODEL)]))
    return said.removeprefix(f"model {MODEL.content_hash[:12]} ")


def test_the_words() -> None:
    text = about("minimal", OLD_OWNER, POOR, YOUNG, *REFUTED)
    assert words(text) == (
        "keeps its decision on the input f2 whatever else changes, as long as 'owner' is '1' and 'age' is "
        "'over 60'; none of these can be left out"
    )
    bare = json.loads(text.split(b"\n")[0])
    assert "as long as column 0 is 1 and column 1 is 3;" in tmcheck.in_words(bare)
    assert "as long as 'owner' is '1' and 'age' is 'over 60';" in tmcheck.in_words(bare, [encode(MODEL)])
    rules: dict[str, Any] = {"columns": [[CITY, "any", [0, 1, 2], 2]], "epsilon": 5}
    assert words(about("widest", WIDE, *WIDEST, *REFUTED, **rules)) == (
        "keeps its decision on the input f2 whatever else changes within a cost of 5 (changed column(s), "
        "weighted), where 'city' only becomes 'Bergen' or 'Oslo' or 'Bodø' and costs 2 times as much, as "
        "long as 'owner' is '1' and 'age' is 'over 40'; none of these can be left out, and no value can be "
        "added"
    )
    assert words(about("smallest", OLD_OWNER, POOR, YOUNG, *REFUTED, target="no")) == (
        "does not decide 'no' on the input f2 whatever else changes, as long as 'owner' is '1' and 'age' is "
        "'over 60'; no fewer columns are enough"
    )
    assert words(about("contrastive", [[OWNER, None], [CITY, None]], *CONTRAST)) == (
        "decides otherwise on an input that differs from the input f2 in 'owner' and 'city' alone, and keeps "
        "its decision if not all of them do"
    )
    age = about("contrastive", [[AGE, None]], YOUNG, REFUTED[0], "refute 0 5 1 keep 1", "close", target="no")
    assert words(age) == (
        "decides 'no' on an input that differs from the input f2 in 'age' alone, and does not decide 'no' if "
        "it does not"
    )
    holds = ("constraints 0:-1>=-2", "refute 0 0 1", "close")
    assert words(about("suffices", [], *holds, epsilon=0)) == (
        "keeps its decision on the input f2 whatever changes within 0 changed column(s)"
    )
    values = [[OWNER, [1]], [AGE, [1, 2, 3, 4]], [CITY, [1, 2, 3]]]
    first = {**bare, "answer": "suffices", "reason": values}
    said = tmcheck.in_words(first, [encode(MODEL)])
    assert said.endswith("'owner' is '1' and 'age' is 'over 25' or 'missing' and 'city' is not 'Bergen'")
    gaps = {**first, "reason": [[AGE, [0, 1, 3]]]}
    assert tmcheck.in_words(gaps, [encode(MODEL)]).endswith("'age' is 'up to 40' or 'over 60'")
    some = {**first, "distance": "bits", "reason": [[5, [1]]]}
    assert tmcheck.in_words(some, [encode(MODEL)]).endswith("as long as bit 5 is 1")
    many = {**first, "reason": [[i, [0]] for i in range(20)]}
    assert "column 11 is 0 and 8 more (all of them have the sha256 " in tmcheck.in_words(many)
    long = {**first, "reason": [[0, list(range(20))]]}
    assert "column 0 is 0 or 1 or 2" in tmcheck.in_words(long)
    assert "or 11 or 8 more (all of them have the sha256 " in tmcheck.in_words(long)


def test_the_options_of_its_columns_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    text = about("minimal", OLD_OWNER, POOR, YOUNG, *REFUTED)
    monkeypatch.setattr(limits, "MOST_OPTIONS", 7)
    assert "of the reason" not in str(accepted(text))
    monkeypatch.setattr(limits, "MOST_OPTIONS", 6)
    assert "columns of the reason have too many values" in str(accepted(text))


# ----------------------------------------------------------------------------------------------- hitting sets


def test_hitting_sets_by_trying_all() -> None:
    rng = np.random.default_rng(0)
    for _ in range(600):
        n = int(rng.integers(1, 8))
        sets = [
            tuple(sorted(rng.choice(n, int(rng.integers(1, n + 1)), replace=False).tolist()))
            for _ in range(int(rng.integers(0, 9)))
        ]
        least = min(
            k
            for k in range(n + 1)
            for some in combinations(range(n), k)
            if all(set(some) & set(one) for one in sets)
        )
        for most in range(-1, n + 1):
            assert is_hit(sets, most) == (most >= least), (sets, most)


def test_nothing_hits_the_empty_set() -> None:
    assert not is_hit([()], 5)
    assert not is_hit([(1, 2), ()], 5)
    assert is_hit([], 0)


def test_hitting_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    sets = [tuple(sorted(rng.choice(60, 4, replace=False).tolist())) for _ in range(300)]
    monkeypatch.setattr(limits, "MOST_HITTING", 100_000)
    with pytest.raises(Refused, match="too many sets"):
        is_hit(sets, 24)
    monkeypatch.setattr(limits, "MOST_WAITING", 1000)
    with pytest.raises(Refused, match="too many sets"):
        is_hit(sets, 24)
    monkeypatch.setattr(limits, "MOST_CELLS", 1000)
    with pytest.raises(Refused, match="too many columns"):
        is_hit(sets, 24)
    monkeypatch.setattr(limits, "MOST_DIFFERING", 20)
    said = accepted(about("smallest", OLD_OWNER, POOR, YOUNG, YOUNG, *REFUTED))
    assert "more witnesses" in str(said)
