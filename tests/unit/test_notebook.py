"""Cards of notebooks: for each kind of space, harmless, small, and never surer than the answer."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.cards import Card
from tmverify.model.clauses import Clauses
from tmverify.properties.verdict import Radius, Status, StopReason, Verdict

HOSTILE = "<script>alert(1)</script>\"'&\x00\x1b[31m\ud800\u202e"
PEOPLE = tv.Space(
    [tv.Number("age", (25, 40)), tv.Category("city", ("Bergen", "Oslo")), tv.Flag("owner")], target="risk"
)
ANN = {"age": 31, "city": "Oslo", "owner": 1}


def people(**more: Any) -> tv.Model:
    """Low for people over 25 in Oslo."""
    return tv.Model.from_clauses(5, [[1, 4]], [[1]], bias=-1, space=PEOPLE, classes=("high", "low"), **more)


def picture() -> tv.Model:
    space = tv.Space([tv.Image((2, 3))])
    return tv.Model.from_clauses(6, [[1, -6]], [[1]], bias=-1, space=space, classes=("cat", "dog"))


def reviews() -> tv.Model:
    space = tv.Space([tv.Text(("good", "bad", "film"), "review")])
    return tv.Model.from_clauses(3, [[1, -2]], [[1]], bias=-1, space=space, classes=("no", "yes"))


def plain() -> tv.Model:
    return tv.Model.from_clauses(4, [[1, -4]], [[1]], bias=-1)


DOG = np.array([1, 1, 0, 0, 0, 0], np.uint8)
KINDS: list[tuple[tv.Model, Any]] = [
    (people(), ANN),
    (picture(), DOG),
    (reviews(), "a good film"),
    (plain(), [1, 1, 0, 0]),
]


@pytest.mark.parametrize(("model", "x"), KINDS, ids=["table", "picture", "text", "bits"])
def test_everything_has_a_card_for_every_kind_of_space(model: tv.Model, x: Any) -> None:
    rows: Any = [x] if isinstance(x, str | dict) else np.array([x])
    shown = [
        model,
        tv.check_robustness(model, x, 0),
        tv.check_robustness(model, x, 1),
        tv.robustness_radius(model, x),
        tv.check_similarity(model, model, x, 1),
        tv.similarity_radius(model, model, x),
        tv.check_equivalence(model, model),
        tv.check_universal_robustness(model, rows, 1, eta=1),
        tv.explain(model, x),
        tv.explain(model, x, kind="contrastive"),
        tv.nearest_changes(model, x, k=9),
        tv.importance(model, x),
    ]
    for each in shown:
        card = Card(each)
        assert card.size < 4000, card.text
        assert len(card.tones) == 1


def test_a_picture_is_drawn_with_its_change() -> None:
    card = Card(tv.check_robustness(picture(), DOG, 1))
    assert card.tones == ["bad"]
    assert card.text.startswith("violated dog → cat robustness within 1 changed pixel 1 pixel: 1 ")
    assert len(set(card.pictures)) == 3
    assert card.alts[1].startswith("changed pixels: row ")
    assert card.text.count("cleared") >= 1


def test_a_picture_that_stays_is_drawn_once() -> None:
    card = Card(tv.check_robustness(picture(), DOG, 0))
    assert card.text.startswith("robust dog robustness within 0 changed pixels")
    assert "Proved: every input within 0 changed pixels is decided alike." in card.text
    assert (card.tones, card.alts) == (["good"], ["the input"])


def test_a_table_is_shown_from_and_to() -> None:
    card = Card(tv.robustness_radius(people(), ANN, freeze=["city"]))
    assert card.tones == ["plain"]
    assert card.text.startswith(
        "radius 1 risk low → high Proved: it takes 1 changed column to alter the decision"
    )
    assert "and no less does it (city as here)." in card.text
    assert "age 25 to 40 → up to 25" in card.text
    assert "city Oslo owner 1" in card.text


def test_a_text_has_words_added_and_removed() -> None:
    card = Card(
        tv.nearest_changes(reviews(), "a good film")[0:0] or tv.robustness_radius(reviews(), "a good film")
    )
    assert "radius 1 yes → no" in card.text
    assert "removed \N{MINUS SIGN} good also there film" in card.text
    more = Card(tv.robustness_radius(reviews(), "a good film", freeze=["good"]))
    assert "added + bad also there good film" in more.text


def test_features_without_names_are_named_by_their_index() -> None:
    card = Card(tv.check_robustness(plain(), [1, 1, 0, 0], 1))
    assert "within 1 changed feature" in card.text
    assert "x1" in card.text


def test_a_reason_has_its_rule_and_facts() -> None:
    card = Card(tv.explain(people(), ANN, widen=True))
    assert card.text.startswith(
        "reason risk low Proved: every possible input with these 2 of the 3 columns is"
    )
    assert "None of them can be left out, and no value added." in card.text
    assert "IF age over 25 AND city is Oslo THEN low" in card.text
    assert "age over 25 city Oslo" in card.text
    drawn = Card(tv.explain(picture(), DOG, within=2))
    assert "every input within 2 changed pixels with these 2 of the 6 pixels is decided so." in drawn.text
    assert drawn.alts == ["the input", "1 pixels that must be on, 1 that must be off"]
    assert "must be on must be off" in drawn.text
    words = Card(tv.explain(reviews(), "a good film"))
    assert "must be there good must not be there no bad" in words.text
    bits = Card(tv.explain(people(), ANN, distance="bits"))
    assert "Proved: every combination of bits with these 2 of the 5 bits is decided so." in bits.text


def test_a_contrast_has_its_change() -> None:
    card = Card(tv.explain(people(), ANN, kind="contrastive", smallest=True))
    assert card.text.startswith(
        "contrastive risk low → high 1 column changed; the model was run on the result."
    )
    assert "No change of fewer does it." in card.text
    none = Card(tv.explain(people(), ANN, kind="contrastive", columns=["owner"]))
    said = "Proved: every possible input (age and city as here) is decided alike."
    assert none.text.startswith(f"no contrast risk low {said}")


def test_a_model_shows_its_strongest_clauses() -> None:
    space = tv.Space([tv.Number("age", (25, 40)), tv.Flag("owner")])
    clauses = [[1], [-1], [3], [2, 3], [1, -1], []]
    model = tv.Model.from_clauses(3, clauses, [[2, -7, 1, 5, 9, 9]], space=space, classes=("no", "yes"))
    card = Card(model)
    assert card.text.startswith(
        "Tsetlin machine 2 classes · 6 clauses · 3 features reads 1 number, 1 flag: age, owner"
    )
    assert "class yes if the votes sum to >= 0, else class no" in card.text
    assert card.text.endswith("no +7 age up to 25 yes +5 age over 40 and owner +2 age over 25 +1 owner")
    drawn = Card(picture())
    assert drawn.alts == ["1 pixels must be on, 1 off"]
    assert "cat no clause speaks for it dog +1" in drawn.text
    many = tv.Model.from_clauses(
        2, [[1], [2]], np.eye(30, 2, dtype=int), classes=[f"c{i}" for i in range(30)]
    )
    assert Card(many).text.endswith("c9 — no clause speaks for it and 20 more classes")


def test_two_models_that_differ() -> None:
    other = people(tie="negative")
    card = Card(tv.check_equivalence(people(), other))
    assert card.text.startswith(
        "violated low ≠ high equivalence An input was found, and both models were run on it"
    )
    assert "the first says low, the second does not." in card.text
    same = Card(tv.check_equivalence(people(), people()))
    assert same.text.startswith(
        "equivalent equivalence Proved: the two models decide alike on every possible input."
    )
    assert "to tell the two models apart" in Card(tv.similarity_radius(people(), other, ANN)).text
    near = Card(tv.check_similarity(people(), people(), ANN, 1))
    assert "Proved: the two models decide alike on every input within 1 changed column." in near.text


def test_votes_are_said_where_they_were_asked_for() -> None:
    model = people()
    assert "or to leave it fewer than 1 vote" in Card(tv.robustness_radius(model, ANN, margin=1)).text
    none = tv.robustness_radius(tv.Model.from_clauses(2, [[1]], [[1]]), [1, 0], margin=2)
    assert "radius 0" in Card(none).text
    assert (
        "Proved: no change is needed to alter the decision, or to leave it fewer than 2 votes."
        in Card(none).text
    )
    weak = tv.check_robustness(tv.Model.from_clauses(2, [[1]], [[1]]), [1, 0], 1, margin=2)
    assert "It is broken by the input itself" in Card(weak).text
    stands = tv.check_robustness(tv.Model.from_clauses(2, [[1]], [[1]], bias=3), [1, 0], 1, margin=2)
    assert "is decided alike, by at least 2 votes." in Card(stands).text


def test_costs_steps_and_bits_are_called_so() -> None:
    costs = Card(tv.robustness_radius(people(), ANN, cost={"age": 4, "city": 3}))
    assert "it takes changes of cost 3 to alter" in costs.text
    assert "it takes 1 step to alter" in Card(tv.robustness_radius(people(), ANN, distance="steps")).text
    bits = Card(tv.check_robustness(people(), ANN, 1, distance="bits"))
    assert "robustness within 1 flipped bit" in bits.text
    kept = Card(tv.check_robustness(people(), ANN, 1, distance="bits", features=["age > 40", "owner"]))
    assert (
        "Proved: every input within 1 flipped bit (age > 25 and city = Bergen and city = Oslo as" in kept.text
    )


def test_an_input_that_no_row_has_is_marked() -> None:
    model = tv.Model.from_clauses(5, [[2, -1]], [[1]], bias=-1, space=PEOPLE)
    found = tv.check_robustness(model, {"age": 50, "city": "Oslo", "owner": 1}, 1, distance="bits")
    card = Card(found)
    assert "No row of raw values has these bits" in card.text
    assert "impossible" in card.text


def test_a_class_as_scope_is_said() -> None:
    model = tv.Model.from_clauses(2, [[1], [2]], np.eye(2, dtype=int), bias=[-1, -1], classes=("a", "b"))
    assert "a → not a" in Card(tv.robustness_radius(model, [1, 0], scope="a")).text
    assert "robust not b" in Card(tv.check_robustness(model, [1, 0], 0, scope="b")).text


def test_an_unreachable_decision() -> None:
    card = Card(tv.robustness_radius(people(), ANN, freeze=["age", "city"]))
    assert card.text.startswith("radius ∞ risk low Proved: no allowed change is able to alter the decision")
    assert "age 25 to 40" in card.text


@pytest.mark.parametrize("reason", list(StopReason))
def test_what_is_unknown_looks_unknown(reason: StopReason) -> None:
    holds, radius = tv.check_robustness(people(), ANN, 0), tv.robustness_radius(people(), ANN)
    stop: dict[str, Any] = {"stop_reason": reason, "detail": "after 1 s"}
    unknown = replace(holds, status=Status.UNKNOWN, **stop)
    why = replace(
        tv.explain(people(), ANN, kind="contrastive"), sufficient=Status.UNKNOWN, minimal="open", **stop
    )
    closed = Radius(0, math.inf, 1.0, "search", setting=radius.setting, question=radius.question, **stop)
    share = tv.check_universal_robustness(people(), [ANN], 0, eta=1)
    undecided = replace(share, status=Status.UNKNOWN, verdicts=(unknown,), **stop)
    for answer in (unknown, why, closed, undecided):
        card = Card(answer)
        assert card.tones == ["open"]
        assert f"Why: {reason.value} (after 1 s)." in card.text
        assert "Proved" not in card.text
        assert "rests on" not in card.text or answer is closed
    assert "unknown" in Card(unknown).text
    assert "says nothing for or against it" in Card(unknown).text
    assert "Open: no lower bound is proved; no change that does it is known." in Card(closed).text


def test_an_engine_that_gives_up_is_unknown() -> None:
    model = tv.Model.from_clauses(60, [[i] for i in range(1, 61)], [[1] * 60], bias=-30)
    found = tv.check_robustness(model, np.ones(60, np.uint8), 20, engine="brute")
    assert found.status == "unknown"
    card = Card(found)
    assert (card.tones, "region-too-large" in card.text, "Proved" in card.text) == (["open"], True, False)


def test_bounds_say_which_of_them_is_proved() -> None:
    radius = tv.robustness_radius(people(), ANN)
    open_ = replace(radius, lower=1, upper=3, stop_reason=StopReason.TIMEOUT, detail="after 1 s")
    card = Card(open_)
    assert card.text.startswith(
        "radius 1 … 3 risk low → high not exact Open: it takes at least 1 changed column,"
    )
    assert (
        "which is proved, and 3 changed columns can do it, as shown. Why: timeout (after 1 s)." in card.text
    )
    assert "Proved" not in card.text


def test_an_open_reason_says_what_is_open() -> None:
    model = tv.Model.from_clauses(9, [[i] for i in range(1, 10)], [[1] * 9], bias=-4)
    card = Card(tv.explain(model, np.ones(9, np.uint8), timeout=1e-9))
    assert "Proved: every possible input with these 9 of the 9 features is decided so." in card.text
    assert "Open: 9 of them might be left out. Why: timeout" in card.text


def test_lists_of_changes_say_what_is_proved_of_them() -> None:
    found = tv.nearest_changes(people(), ANN, k=9)
    card = Card(found)
    assert card.text.startswith(
        "2 nearest changes risk low Cheapest first. Proved: no cheaper set of columns"
    )
    assert (
        "high cost 1 age 25 to 40 → up to 25 high cost 1 city Oslo → Bergen Proved: there are no others."
        in card.text
    )
    first = replace(found[0], optimal=False)
    cut = replace(found, found=(first,), complete=False, exhausted=False, stop_reason=StopReason.TIMEOUT)
    card = Card(cut)
    assert card.tones == ["open"]
    assert "high cost 1, open" in card.text
    assert "Open: there may be others. Why: timeout." in card.text
    assert "Proved" not in card.text
    drawn = Card(tv.nearest_changes(picture(), DOG, k=9))
    assert len(drawn.pictures) == 2
    assert "cat · cost 1" in drawn.text


def test_importance_is_a_bar_for_each_column() -> None:
    card = Card(tv.importance(people(), ANN))
    assert card.text.startswith(
        "importance The share of all 1 sufficient reasons that has the column. age 100% city 100%"
    )
    some = replace(tv.importance(people(), ANN), complete=False, stop_reason=StopReason.TIMEOUT)
    assert (Card(some).tones, "there may be others. Why: timeout." in Card(some).text) == (["open"], True)


def test_a_share_of_inputs_is_counted() -> None:
    rows = [ANN, {**ANN, "age": 20}, {**ANN, "city": "Bergen", "age": 20}, ANN, ANN]
    found = tv.check_universal_robustness(people(), rows, 1, eta="4/5")
    card = Card(found)
    assert card.text.startswith(
        "violated 0 of 5 inputs for 4/5 of a set Of 5 inputs: 2 violated, 3 not looked at."
    )
    assert "It must hold for 4 of them or more." in card.text
    assert (
        "For example, input 0: risk low → high. 1 column changed; the model was run on the result."
        in card.text
    )
    holds = Card(tv.check_universal_robustness(people(), rows, 0, eta=1))
    assert holds.text.startswith("holds 5 of 5 inputs for 1 of a set Of 5 inputs: 5 proved.")


def test_a_property_shows_its_inputs_and_notes() -> None:
    unfair = Card(tv.check_fairness(people(), ["city"]))
    assert "property Two inputs that break it were found, and the model was run on both." in unfair.text
    assert "city" in unfair.text
    fair = Card(tv.check_fairness(people(), ["owner"]))
    assert fair.text.startswith("holds property Proved: every possible input that meets the assumption")
    vacuous = tv.prove(people(), assume="age > 40 and age <= 25", expect="decision == 'low'")
    assert "Nothing possible satisfies the assumption." in Card(vacuous).text


def test_evidence_is_told() -> None:
    certified = Card(tv.check_robustness(people(), ANN, 0, certificate=True))
    assert "with a certificate" in certified.text
    assert "rests on the checker tmcheck" in certified.text
    brute = replace(tv.check_robustness(people(), ANN, 0), detail="no certificate: every input was looked at")
    assert "no certificate: every input was looked at" in Card(brute).text


def test_names_stay_text() -> None:
    space = tv.Space(
        [
            tv.Number(f"age{HOSTILE[:30]}", (25, 40)),
            tv.Category("city", ("<b>Bergen", "</div>Oslo")),
            tv.Flag("<img src=x onerror=alert(1)>", ("<i>", "</i>")),
        ],
        target="</style><script>",
    )
    labels = ("<script>alert(0)</script>", "</span></div>")
    model = tv.Model.from_clauses(5, [[1, 4], [-5]], [[1, 1]], bias=-2, space=space, classes=labels)
    words = tv.Space([tv.Text(("script", "amp", "film"), "<review>"), tv.Flag("<b>")])
    texts = tv.Model.from_clauses(4, [[1, -2]], [[1]], bias=-1, space=words, classes=labels)
    x = np.array([1, 0, 0, 1, 0], np.uint8)
    for own, row in ((model, x), (texts, np.array([1, 0, 1, 0], np.uint8))):
        shown: list[Any] = [
            own,
            tv.check_robustness(own, row, 0),
            tv.robustness_radius(own, row),
            tv.explain(own, row),
            tv.explain(own, row, kind="contrastive"),
            tv.nearest_changes(own, row),
            tv.importance(own, row),
            tv.check_universal_robustness(own, row[None, :], 1, eta=1),
        ]
        for each in shown:
            card = Card(each)  # it allows nothing but what cards are made of
            assert "<script" not in each._repr_html_()
            assert "<" in card.text


def test_characters_that_no_notebook_can_hold_are_replaced() -> None:
    found = tv.check_robustness(people(), ANN, 1)
    change = tv.Change(HOSTILE, HOSTILE, HOSTILE)
    card = Card(replace(found, setting=None, changes=(change,), detail=HOSTILE, decisions=(HOSTILE, "b")))
    assert card.text.count("alert(1)") == 5
    assert not set(card.text) & {"\x00", "\x1b", "\ud800"}


def test_cards_are_small_however_much_there_is() -> None:
    n = 5000
    space = tv.Space([tv.Text([f"word{i}" for i in range(n)])])
    model = tv.Model.from_clauses(n, [[i] for i in range(1, n + 1)], [[1] * n], bias=-2500, space=space)
    x = np.zeros(n, np.uint8)
    x[:3000] = 1
    why, radius = tv.explain(model, x), tv.robustness_radius(model, x)
    shown: list[Any] = [model, tv.check_robustness(model, x, 1000), why, radius]
    for each in shown:
        assert Card(each).size < 12_000
    parts = [tv.Number("<" * 3000 + str(i), tuple(range(30))) for i in range(200)]
    table = tv.Space(parts)
    wide = tv.Model.from_clauses(
        6000, [[1 + 30 * i] for i in range(200)], [[1] * 200], bias=-100, space=table
    )
    row = np.zeros(6000, np.uint8)
    why, radius = tv.explain(wide, row), tv.robustness_radius(wide, row)
    shown = [wide, radius, why, tv.importance(wide, row, timeout=1.0)]
    for each in shown:
        assert Card(each).size < 120_000
    image = tv.Space([tv.Image((30, 40))])
    pixels = tv.Model.from_clauses(1200, [[i] for i in range(1, 1201)], [[1] * 1200], bias=-600, space=image)
    why = tv.explain(pixels, np.ones(1200, np.uint8))
    assert len(why) == 600
    assert Card(why).size < 4000
    huge = tv.Space([tv.Image((300, 300))])
    blank = tv.Model.from_clauses(90_000, [[1]], [[1]], bias=-1, space=huge)
    assert not Card(blank).pictures
    assert not Card(tv.check_robustness(blank, np.zeros(90_000, np.uint8), 1)).pictures


def test_a_model_of_a_million_clauses() -> None:
    n = 1_000_000
    clauses = Clauses(8, np.resize(np.array([1, 2, -3, 4], np.int32), n), np.arange(n + 1))
    weights = np.ones((3, n), np.int64)
    weights[1, 77] = 5
    model = tv.Model(clauses=clauses, weights=weights, bias=np.zeros(3, np.int64), classes=("a", "b", "c"))
    card = Card(model)
    assert "1,000,000 clauses" in card.text
    assert "b +5 x1 +1 x0" in card.text
    assert card.size < 3000
    long = tv.Model.from_clauses(5000, [range(1, 4001)], [[1]])
    assert "a conjunction of 4,000 literals" in Card(long).text


def test_an_answer_without_its_setting_still_has_a_card() -> None:
    radius, verdict = tv.robustness_radius(people(), ANN), tv.check_robustness(people(), ANN, 1)
    assert "age 25 to 40 → up to 25" in Card(replace(radius, setting=None)).text
    assert "age 25 to 40 → up to 25" in Card(replace(verdict, setting=None)).text
    for each in (
        Verdict(Status.HOLDS, 1.0, "search"),
        Verdict(Status.VIOLATED, 1.0, "search"),
        Verdict(Status.UNKNOWN, 1.0, "search"),
        Radius(1, 2, 1.0, "search"),
        replace(tv.explain(people(), ANN), setting=None),
        replace(tv.explain(people(), ANN, kind="contrastive"), setting=None),
        replace(tv.nearest_changes(people(), ANN), setting=None),
    ):
        assert Card(each).text


def test_what_was_asked_goes_with_the_answer() -> None:
    found = tv.check_robustness(people(), ANN, 1)
    sent = pickle.loads(pickle.dumps(found))
    assert sent._repr_html_() == found._repr_html_()
    assert repr(sent) == repr(found)
    assert "setting" not in repr(found)
    space = tv.Space([tv.Text([f"word{i}" for i in range(2000)])])
    small = len(pickle.dumps(space))
    assert len(space.columns) == 2000
    assert len(pickle.dumps(space)) == small
