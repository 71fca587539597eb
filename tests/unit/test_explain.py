"""``explain``, ``explanations``, ``importance``: what they say, what they refuse, what was once wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import refusal, text_of
from support.certified_networks import random_network_case
from support.explained import Asked, check_claims
from support.reasons import Truth
from tmverify.bnn.evaluate import reference_classes
from tmverify.certificates import claims
from tmverify.errors import InvalidInputError
from tmverify.properties.allowed import Allowed
from tmverify.properties.trust import CHECKED, HITTING_SETS, REPLAYED

# Models whose decisions have one reason each, so that it does not matter which one is found.
TABLE = tv.Model.from_clauses(
    10,
    [[1, -5]],
    [[1]],
    bias=-1,
    space=tv.Space(
        [
            tv.Number("age", [25, 40, 60], missing=True),
            tv.Category("savings", ["little", "moderate", "rich"], other=True),
            tv.Flag("owner"),
            tv.Number("income", [1000, 2000]),
        ]
    ),
    tie="positive",
    classes=("bad", "good"),
)
APPLICANT = {"age": 50, "savings": "rich", "owner": 1, "income": 1500}
REVIEWS = tv.Model.from_clauses(
    3, [[1, -2]], [[1]], bias=-1, space=tv.Space([tv.Text(["good", "bad", "great"])]), classes=("neg", "pos")
)
PICTURES = tv.Model.from_clauses(20, [list(range(1, 21))], [[1]], bias=-1, space=tv.Space([tv.Image((4, 5))]))
LIT = np.ones(20, np.uint8)
BITS = tv.Model.from_clauses(3, [[1], [2, 3]], [[1, 1]], bias=-1)
CONSTANT = tv.Model.from_clauses(3, [[1]], [[1]], bias=5)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, "IF age 40 to 60 AND savings is rich THEN good"),
        ({"widen": True}, "IF age over 25 AND savings is not little THEN good"),
        (
            {"widen": True, "within": 1},
            "IF age over 25 AND savings is not little THEN good (within 1 change)",
        ),
        ({"within": 2, "freeze": ["age"]}, "IF savings is rich THEN good (within 2 changes; age as here)"),
        ({"within": 1, "distance": "steps"}, "IF age 40 to 60 AND savings is rich THEN good (within 1 step)"),
        ({"within": 2, "cost": {"age": 3}}, "IF savings is rich THEN good (within cost 2)"),
        ({"within": 0}, "good, whatever changes (within 0 changes)"),
        (
            {"freeze": ["age", "savings"], "within": 2},
            "good, whatever changes (within 2 changes; age and savings as here)",
        ),
        ({"increase": ["age"]}, "IF savings is rich THEN good (changes only the allowed way)"),
        (
            {"within": {"age": (30, 70)}},
            "IF savings is rich THEN good (changes only to allowed values)",
        ),
        ({"distance": "bits"}, "IF age > 25 AND not savings = little THEN good"),
        ({"target": "bad"}, "IF age 40 to 60 AND savings is rich THEN not bad"),
        (
            {"kind": "contrastive", "columns": ["savings"]},
            "IF savings rich → little THEN bad instead of good",
        ),
        (
            {"kind": "contrastive", "columns": ["owner"]},
            "good: no change that is allowed alters the decision",
        ),
    ],
)
def test_rules_about_a_table(options: dict[str, Any], rule: str) -> None:
    assert str(tv.explain(TABLE, APPLICANT, **options)) == rule


def test_facts_about_a_table() -> None:
    why = tv.explain(TABLE, APPLICANT, widen=True)
    assert [(fact.column, fact.value, str(fact)) for fact in why.facts] == [
        ("age", "over 25", "age over 25"),
        ("savings", "is not little", "savings is not little"),
    ]
    assert why.columns == ("age", "savings")
    assert why.places == (0, 1)
    assert why.values == ((1, 2, 3), (1, 2, 3))
    assert len(why) == 2
    assert why.decision == "good"
    said = re.sub(r"[\d.e-]+ m?s\)>$", "0 s)>", repr(why))
    rule = "IF age over 25 AND savings is not little THEN good"
    assert said == f"<{rule} (sufficient, holds, 2 columns, minimal, 0 s)>"
    contrast = tv.explain(TABLE, APPLICANT, kind="contrastive", smallest=True, freeze=["age"])
    assert repr(contrast).startswith(
        "<IF savings rich → little THEN bad instead of good (contrastive, holds, "
    )
    assert "1 column, smallest, " in repr(contrast)
    assert contrast.outcome == "bad"
    assert [str(change) for change in contrast.changes] == ["savings rich → little"]


def test_alternatives_are_in_brackets() -> None:
    """Where a fact leaves several values, and there are others beside it."""
    space = tv.Space([tv.Category("city", ["Bergen", "Oslo", "Bodø", "Voss"]), tv.Flag("owner")])
    model = tv.Model.from_clauses(5, [[-3, -4, 5]], [[1]], bias=-1, space=space, classes=("no", "yes"))
    why = tv.explain(model, {"city": "Oslo", "owner": 1}, widen=True)
    assert str(why) == "IF (city is Bergen or Oslo) AND owner THEN yes"
    alone = tv.explain(model, {"city": "Oslo", "owner": 1}, widen=True, freeze=["owner"])
    assert str(alone) == "IF city is Bergen or Oslo THEN yes (owner as here)"


@pytest.mark.parametrize(
    ("text", "options", "rule"),
    [
        ("a good film", {}, 'IF "good" AND no "bad" THEN pos'),
        (
            "a good film",
            {"kind": "contrastive", "direction": "remove"},
            'IF "good" removed THEN neg instead of pos',
        ),
        ("a good film", {"direction": "remove"}, 'IF "good" THEN pos (changes only the allowed way)'),
        ("good, great", {"features": ["good", "great"]}, 'IF "good" THEN pos (bad as here)'),
        ("bad", {"features": ["bad"]}, "neg, whatever changes (good and great as here)"),
    ],
)
def test_rules_about_a_text(text: str, options: dict[str, Any], rule: str) -> None:
    assert str(tv.explain(REVIEWS, text, **options)) == rule


def test_rules_about_an_image() -> None:
    """Of many facts the first twelve are shown."""
    why = tv.explain(PICTURES, LIT)
    assert len(why.facts) == 20
    names = [f"pixel_{i // 5}_{i % 5} on" for i in range(12)]
    assert str(why) == f"IF {' AND '.join(names)} AND 8 more THEN 1"
    contrast = tv.explain(PICTURES, 0 * LIT, kind="contrastive")
    assert str(contrast).endswith(" off → on AND 8 more THEN 1 instead of 0")
    assert str(contrast).count(" AND ") == 12
    frozen = tv.explain(PICTURES, LIT, features=np.arange(20) < 15)
    assert str(frozen).endswith(" THEN 1 (5 columns as here)")


def test_nothing_matters() -> None:
    why = tv.explain(CONSTANT, [0, 0, 1])
    assert str(why) == "1, whatever changes"
    assert (why.columns, why.minimal) == ((), "subset")
    assert "(sufficient, holds, 0 columns, minimal, " in repr(why)
    contrast = tv.explain(CONSTANT, [0, 0, 1], kind="contrastive", certificate=True)
    assert str(contrast) == "1: no change that is allowed alters the decision"
    assert contrast.sufficient is tv.Status.VIOLATED
    assert refusal(text_of(contrast.certificate), [CONSTANT.encode()]) is None
    found = tv.explanations(CONSTANT, [0, 0, 1])
    assert [why.columns for why in found] == [()]
    assert found.complete
    importance = tv.importance(CONSTANT, [0, 0, 1])
    assert (importance.shares, importance.n_reasons, importance.complete) == ({}, 1, True)


def test_importance_in_words() -> None:
    model = tv.Model.from_clauses(3, [[1, 2], [1, 3]], [[1, 1]], bias=-1)
    said = repr(tv.importance(model, [1, 1, 1]))
    assert said == "<importance in all 2 sufficient reasons: x0 100%, x1 50%, x2 50%>"
    part = tv.importance(model, [1, 1, 1], limit=1)
    assert repr(part).startswith("<importance in the first 1 sufficient reasons: x0 100%, x")
    assert not part.complete
    assert part.detail == "there are more than 1"


def test_progress_makes_no_difference() -> None:
    why = tv.explain(BITS, [1, 1, 1], progress=True)
    assert why.columns == tv.explain(BITS, [1, 1, 1]).columns


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "abductive"}, "kind must be 'sufficient' or 'contrastive'. Got 'abductive' instead."),
        ({"kind": None}, "kind must be 'sufficient' or 'contrastive'. Got None instead."),
        (
            {"kind": "contrastive", "widen": True},
            "can be widened: leave widen out, or ask for kind='sufficient'.",
        ),
        ({"target": 1}, "target must be another class than that of x. Got 1, as x is decided already."),
        ({"target": 7}, "7"),
        ({"within": 1.5}, "within must be a number of changes, or map column names .* Got 1.5 instead."),
        ({"within": True}, "within must be a number of changes, or map column names .* Got True instead."),
        ({"within": "x0"}, "within must be a number of changes, or map column names .* Got 'x0' instead."),
        ({"within": -1}, "epsilon must be between 0 and n_features=3. Got -1 instead."),
        ({"within": 1, "epsilon": 1}, "within=<number> and epsilon mean the same: give one of them."),
        ({"epsilon": 1.5}, "epsilon must be an integer"),
        ({"engine": "magic"}, "engine must be one of auto, "),
        ({"engine": "brute", "certificate": True}, "engine must be one of .* for a certificate"),
        ({"timeout": 0}, "timeout must be positive, or None for no limit. Got 0 instead."),
        ({"scope": 9}, "9"),
        ({"freeze": ["height"]}, "height"),
        ({"features": [True]}, "features"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        tv.explain(BITS, [1, 1, 1], **options)


@pytest.mark.parametrize("ask", [tv.explanations, tv.importance])
@pytest.mark.parametrize("limit", [0, -1, 1.0, "3", True, None, 10**9])
def test_limits_of_a_wrong_type(ask: Any, limit: Any) -> None:
    with pytest.raises(
        InvalidInputError, match=r"limit must be an integer from 1 to 100000\. Got .* instead"
    ):
        ask(BITS, [1, 1, 1], limit=limit)


def test_lists_refuse_what_explain_refuses() -> None:
    """At the call, not when the first one is asked for."""
    with pytest.raises(InvalidInputError, match="kind must be"):
        tv.explanations(BITS, [1, 1, 1], kind="both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="give one of them"):
        tv.explanations(BITS, [1, 1, 1], within=1, epsilon=1)
    with pytest.raises(InvalidInputError, match="another class"):
        tv.importance(BITS, [1, 1, 1], target=1)


def test_an_impossible_input_is_refused() -> None:
    two_cities = np.array([1, 1, 0, 0, 1, 1, 0, 1, 1, 0], np.uint8)
    with pytest.raises(InvalidInputError, match="savings"):
        tv.explain(TABLE, two_cities)
    assert tv.explain(TABLE, two_cities, distance="bits").sufficient is tv.Status.HOLDS


def test_within_and_values_together() -> None:
    asked = Asked(TABLE, TABLE.space.encode([APPLICANT])[0], Allowed(within={"age": (20, 70)}), 2)
    assert asked.arguments["epsilon"] == 2
    why = asked.explain()
    check_claims(asked, why)
    assert str(why).endswith(" (within 2 changes; changes only to allowed values)")


def test_numpy_integers_are_numbers() -> None:
    why = tv.explain(BITS, [1, 1, 1], within=np.int64(1))  # type: ignore[arg-type]
    assert why.within == 1
    assert len(list(tv.explanations(BITS, [1, 1, 1], limit=np.int64(2)))) == 2  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------- networks


def test_networks_within_a_distance() -> None:
    rng = np.random.default_rng(1)
    sizes = set()
    for _ in range(12):
        case = random_network_case(rng)
        model, x = case.model, case.x
        features = None if case.features is None else case.features.astype(bool)
        allowed = Allowed("bits", features=features, direction=case.direction)
        for within in (1, 2, 3):
            asked: dict[str, Any] = {
                "within": within,
                "features": features,
                "direction": case.direction,
                "distance": "bits",
            }
            query = tv.robustness_query(model, x, within, allowed=allowed)
            claim = claims.reason(query, "suffices", [], [], None, limited=True).claim
            truth = Truth(claim, model, x)
            here = reference_classes(model, x[None, :])[0]
            for smallest in (False, True):
                why = tv.explain(model, x, smallest=smallest, **asked)
                answer = "smallest" if smallest else "minimal"
                assert truth.is_true(answer, list(zip(why.places, why.values, strict=True)))
                contrast = tv.explain(model, x, kind="contrastive", smallest=smallest, **asked)
                assert (contrast.sufficient is tv.Status.VIOLATED) == (not truth.bad)
                if contrast.witness is not None:
                    assert truth.is_true("contrastive", [(c, None) for c in contrast.places])
                    assert reference_classes(model, contrast.witness[None, :])[0] != here
                sizes.add(len(why))
            certified = tv.explain(model, x, certificate=True, **asked)
            assert refusal(text_of(certified.certificate), [model.encode()]) is None
    assert len(sizes) > 2


def test_networks_have_no_target() -> None:
    case = random_network_case(np.random.default_rng(2))
    here = case.model.predict(case.x[None, :])[0]
    other = next(label for label in case.model.classes if label != here)
    with pytest.raises(InvalidInputError, match="target"):
        tv.explain(case.model, case.x, within=1, target=other)


# --------------------------------------------------------------------------------------- found by these tests


def test_changes_that_cost_nothing_count_as_columns() -> None:
    """The budget of the smallest contrastive reason was what all changes cost: nothing. None was found."""
    space = tv.Space([tv.Flag("a"), tv.Flag("b")])
    model = tv.Model.from_clauses(2, [[1, 2]], [[1]], bias=-1, space=space)
    asked = Asked(model, np.zeros(2, np.uint8), Allowed(cost={"a": 0, "b": 0}))
    why = asked.explain(kind="contrastive", smallest=True)
    check_claims(asked, why)
    assert why.columns == ("a", "b")


@pytest.mark.parametrize("engine", ["auto", "search", "sat"])
@pytest.mark.parametrize("kind", ["sufficient", "contrastive"])
@pytest.mark.parametrize("smallest", [False, True])
def test_engines_are_named_in_what_is_trusted(engine: str, kind: Any, smallest: bool) -> None:
    """The smallest contrastive reason comes from the nearest witness, and named nobody for it."""
    why = tv.explain(BITS, [1, 1, 1], kind=kind, smallest=smallest, engine=engine)
    assert any("tmverify.engines." in words for words in why.trusts)
    assert set(REPLAYED) <= set(why.trusts)
    assert why.questions


def test_hitting_sets_are_named_where_smallest_rests_on_them() -> None:
    smallest = tv.explain(BITS, [1, 1, 1], smallest=True)
    assert smallest.minimal == "smallest"
    assert set(HITTING_SETS) <= set(smallest.trusts)
    assert tv.explain(BITS, [1, 1, 1], smallest=True, certificate=True).trusts == CHECKED
    nearest = tv.explain(BITS, [1, 1, 1], kind="contrastive", smallest=True)
    for why in (tv.explain(BITS, [1, 1, 1]), nearest):
        assert not set(HITTING_SETS) & set(why.trusts)
    costly = tv.explain(BITS, [1, 1, 1], kind="contrastive", smallest=True, cost={"x0": 2}, within=4)
    assert set(HITTING_SETS) <= set(costly.trusts)


def test_a_sentence_about_costs_does_not_count_changes() -> None:
    """The rule said "within 4 changes" where 4 was what changes may cost: that was not true."""
    space = tv.Space([tv.Flag("a"), tv.Flag("b")])
    model = tv.Model.from_clauses(2, [[-1], [-2]], [[1, 1]], bias=-1, space=space)
    why = tv.explain(model, [0, 0], within=4, cost={"a": 3, "b": 3})
    assert str(why) == "1, whatever changes (within cost 4)"
    assert tv.explain(model, [0, 0], within=2).columns  # two changes do matter
