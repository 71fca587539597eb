"""What is said beside the answer to a property, and what may change around an input."""

from __future__ import annotations

import functools
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.properties.expressions import ExpressionError
from tmverify.verify import vacuous
from tmverify.verify.vacuous import VACUOUS

SPACE = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 60]), tv.Category("sex", ["f", "m"])])


@pytest.fixture
def model() -> tv.Model:
    """Says yes with two votes: an owner has two, being over 60 one, and m one."""
    return tv.Model.from_clauses(5, [[1], [3], [5]], [[2, 1, 1]], bias=-2, space=SPACE, classes=("no", "yes"))


TWO = "same except age where owner and a.age > 50 and b.age < 45"
ROWS = [{"owner": 1, "age": 70, "sex": "f"}, {"owner": 0, "age": 30, "sex": "m"}]


def test_an_assumption_that_nothing_satisfies_is_visible(model: tv.Model) -> None:
    found = tv.prove(model, "age > 60 and age <= 25", "decision == 'no'")
    assert (found.status, found.detail) == (tv.Status.HOLDS, VACUOUS)
    assert found.vacuous
    assert repr(found).startswith(f"holds: proved ({VACUOUS}), ")
    assert not tv.prove(model, "age > 60 and owner", "decision == 'yes'").vacuous
    assert not tv.prove(model, None, "decision == 'yes'").vacuous


def test_rows_that_the_assumption_is_not_about_do_not_count(model: tv.Model) -> None:
    some = tv.prove(model, "age > 60", "decision == 'yes'", X=ROWS, eta=1)
    assert (some.status, some.about, some.n_inputs, some.required) == ("holds", (0,), 1, 1)
    assert some.detail == "the assumption is about 1 of the 2 rows"
    assert f"1 required ({some.detail}), " in repr(some)
    assert not some.vacuous
    found = tv.prove(model, "age > 25 and age <= 60", "decision == 'yes'", X=[*ROWS] * 9, eta="1/9")
    assert (found.status, found.n_inputs) == ("violated", 9)  # it would hold if ten rows passed for nothing
    none = tv.prove(model, "age <= 25", "decision == 'yes'", X=ROWS, eta=1, certificate=True)
    assert (none.status, none.about, none.verdicts, none.vacuous) == ("holds", (), (), True)
    assert none.detail == "the assumption is about none of the 2 rows"
    assert none.certificate is None
    near = tv.prove(model, "age <= 25", "decision == 'yes'", X=ROWS, eta=1, epsilon=2)
    assert (near.status, near.vacuous, near.n_inputs) == ("violated", False, 2)


def test_an_assumption_is_about_a_row_if_some_pair_around_it_meets_it(model: tv.Model) -> None:
    pair = tv.Pair(["sex"], "a.sex == 'f' and b.sex == 'm'")
    found = tv.prove(model, pair, "a.decision == b.decision", X=ROWS, eta=1)
    assert (found.status, found.about) == ("holds", (0,))
    assert tv.prove(model, None, "decision == 'yes'", X=ROWS, eta=1).about is None
    everyone = tv.prove(model, "age > 25", "decision == 'yes'", X=ROWS, eta="1/2")
    assert (everyone.about, everyone.status) == ((0, 1), "holds")


def test_rows_that_may_or_may_not_count(model: tv.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not found out in time whether an assumption is about a row, no outcome may rest on it."""
    unknown = tv.Verdict(tv.Status.UNKNOWN, 0.0, "auto")
    monkeypatch.setattr(vacuous, "_is_met", lambda query, seconds: None)
    monkeypatch.setattr(vacuous, "_sought", lambda query, seconds, whole=False: unknown)
    share: Any = functools.partial(tv.prove, model, "age > 60", X=ROWS)
    found = share("decision == 'yes'", eta=1)
    assert (found.status, found.n_inputs, found.about) == ("unknown", 2, (0, 1))
    assert [verdict.status.value for verdict in found.verdicts] == ["holds", "unknown"]
    assert "the assumption is about 1 of the 2 rows, and perhaps about 1 more" in found.detail
    assert "whether the assumption is about this row was not found out" in found.detail
    assert share("decision == 'yes'", eta="1/2").status == "holds"
    assert share("decision == 'no'", eta=1).status == "violated"
    assert share("decision == 'no'", eta="1/2").status == "unknown"
    whole = tv.prove(model, "owner", "decision == 'yes'")
    assert (whole.status, whole.vacuous, whole.detail) == ("holds", False, vacuous.IN_DOUBT)


def test_what_was_rounded_is_said_once_and_of_shares_too(model: tv.Model) -> None:
    text = "age > 50 and not (age > 50)"
    found = tv.prove(model, text, "decision == 'no'", round="inner")
    assert found.detail.count("rounded: age > 50 was taken for over 60") == 1
    share = tv.prove(model, "age > 50", "decision == 'yes'", round="inner", X=ROWS, eta=1)
    assert "; rounded: age > 50 was taken for over 60" in share.detail


@pytest.mark.parametrize(
    ("assume", "expect", "round", "status", "as_rounded"),
    [
        ("owner and age > 50", "decision == 'yes'", "outer", "holds", False),
        ("owner and age > 50", "decision == 'yes'", "inner", "holds", True),
        ("owner and age > 50", "decision == 'no'", "inner", "violated", False),
        ("owner and age > 50", "decision == 'no'", "outer", "violated", False),  # somebody of 55
        ("owner and age > 50 and age < 55", "decision == 'no'", "outer", "violated", False),
        ("owner and age > 50 and age < 45", "decision == 'no'", "outer", "violated", True),
        ("owner and age >= 50 and age <= 50", "decision == 'no'", "outer", "violated", False),
        ("owner and age > 50", "decision == 'no' or age > 40", "outer", "violated", True),
        ("owner and age > 40", "decision == 'no' or age > 50", "outer", "violated", False),
        ("owner and age in (30, 40)", "decision == 'no'", "outer", "violated", True),
        ("owner and age == 30", "decision == 'no'", "outer", "violated", False),
        (TWO, "b.decision != 'yes'", "outer", "violated", False),  # each has an age of its own
    ],
)
def test_an_answer_that_rounding_may_have_made_says_so(
    model: tv.Model, assume: str, expect: str, round: Any, status: str, as_rounded: bool
) -> None:
    found = tv.prove(model, assume, expect, round=round)
    assert (found.status, found.as_rounded) == (status, as_rounded)
    assert ("this may be true of whole intervals only" in found.detail) == as_rounded


def test_around_a_row_rounding_is_in_doubt_sooner(model: tv.Model) -> None:
    """A person of 30 and one of 55 are the same to the model; the property is about the latter."""
    old, young = {"owner": 1, "age": 70, "sex": "f"}, {"owner": 1, "age": 30, "sex": "f"}
    no = functools.partial(tv.prove, model, "age > 50", "decision == 'no'", round="outer")
    assert not no(x=old).as_rounded
    assert no(x=young).as_rounded
    share: Any = no(X=[young], eta=1)
    assert (share.status, share.as_rounded) == ("violated", True)
    assert not no().as_rounded
    yes = functools.partial(tv.prove, model, "age > 50", "decision == 'yes'", X=[old, young])
    for way, eta, as_rounded in (("outer", 1, False), ("outer", "1/2", True), ("inner", "1/2", True)):
        share = yes(round=way, eta=eta)
        assert (share.status, share.as_rounded) == ("holds", as_rounded)
    expect = "decision == 'yes' or age > 50"
    exact = tv.prove(model, "age > 25", expect, X=[old], eta="1/2", round="outer")
    assert (exact.status, exact.as_rounded) == ("holds", False)


def test_columns_that_are_compared_are_not_chosen_one_by_one() -> None:
    model = two_numbers()
    assume = "inc > debt and inc < 14 and debt > 16"
    found = tv.prove(model, assume, "decision == 'bad'", round="outer")
    assert (found.status, found.as_rounded) == ("violated", True)
    both = tv.prove(model, "inc > debt and inc < debt", "decision == 'bad'")
    assert (both.status, both.as_rounded) == ("violated", True)
    one = tv.prove(model, "inc > debt", "decision == 'bad' or inc <= 20")
    assert (one.status, one.as_rounded) == ("violated", False)
    without = tv.prove(model, "inc > debt", "decision == 'good'", round="inner")
    assert (without.status, without.as_rounded) == ("holds", True)
    assert "inc > debt was taken for values that the model tells apart" in without.detail
    apart = tv.prove(model, "inc > debt and inc > 14 and debt <= 10", "decision == 'bad'", round="outer")
    assert (apart.status, apart.as_rounded) == ("violated", False)


@pytest.mark.parametrize(
    ("assume", "round", "message"),
    [
        ("age > 70", "inner", "Rounded, age > 70 would be true of no number: its last cut is 60."),
        ("age <= 70", "outer", "Rounded, age <= 70 would be true of every number: its last cut is 60."),
        ("age < 20", "inner", "would be true of no number: its first cut is 25. Use age <= 25."),
        ("not (age >= 20)", "inner", "age >= 20 would be true of every number"),
        (
            "age == 40",
            "inner",
            "Rounded, age == 40 would be true of no number: near 40, its cuts are 25",
        ),
        ("age != 40", "outer", "age == 40 would be true of no number"),
        ("20 < age <= 60", "outer", "age > 20 would be true of every number"),
    ],
)
def test_rounding_to_nothing_is_an_error(model: tv.Model, assume: str, round: Any, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        tv.prove(model, assume, "decision == 'yes'", round=round)
    assert message in str(caught.value)
    assert "\n" in str(caught.value)


def test_huge_constants_are_rounded(model: tv.Model) -> None:
    assume = (tv.column("owner") == 1) & (tv.column("age") > 10**400)
    found = tv.prove(model, assume, "decision == 'no'", round="outer")
    assert (found.status, found.as_rounded) == ("violated", True)  # no age is so large
    with pytest.raises(ExpressionError, match="would be true of no number"):
        tv.prove(model, assume, "decision == 'no'", round="inner")


def test_a_constant_in_an_interval_is_told_which(model: tv.Model) -> None:
    with pytest.raises(ExpressionError, match=r"Use age == 'over 60', all of the interval; or round='outer'"):
        tv.prove(model, "age == 61", "decision == 'yes'")
    with pytest.raises(ExpressionError, match=r"Use age == '25 to 60'"):
        tv.prove(model, "age == 60", "decision == 'yes'")


@pytest.mark.parametrize(("direction", "status"), [("add", "holds"), ("remove", "violated")])
def test_directions_of_a_pair_of_bits(direction: str, status: str) -> None:
    """Of x0, x1 and x2 two must be set; a may lose one of them, or else b can't do without x2."""
    bits = tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 1, 1]], bias=-2)
    found = tv.check_fairness(
        bits,
        ["x2"],
        x=np.array([1, 1, 0]),
        epsilon=1,
        allowed=tv.Allowed(direction=direction, features=[1, 1, 0]),  # type: ignore[arg-type]
    )
    assert found.status == status


def test_an_error_keeps_its_place(model: tv.Model) -> None:
    with pytest.raises(ExpressionError) as caught:
        tv.prove(model, "age > 60 and ", "decision == 'no'")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.said, again.place) == (
        str(caught.value),
        caught.value.said,
        caught.value.place,
    )
    assert again.place is not None


@pytest.mark.parametrize("allowed", [{"within": {"age": (25, 40)}}, {"increase": ["age"]}])
def test_what_may_change_says_nothing_of_the_second_input(model: tv.Model, allowed: dict[str, Any]) -> None:
    with pytest.raises(tv.InvalidInputError, match=r"may differ in 'age'.*\(b.age in …\)"):
        tv.check_fairness(model, ["age"], X=ROWS, eta=1, allowed=tv.Allowed(**allowed))


@pytest.mark.parametrize("text", ["age == '30'", "age in ('30',)", "age != '30'"])
def test_a_number_in_quotes_is_no_interval(model: tv.Model, text: str) -> None:
    with pytest.raises(ExpressionError, match=r"'age' is a number: compare it with one. Got '30'"):
        tv.prove(model, "age > 25", text)
    assert tv.prove(model, "age > 25 and age <= 60", "age == '25 to 60'").status == "holds"


def two_numbers(*, missing: bool = False) -> tv.Model:
    space = tv.Space([tv.Number("inc", [10, 20], missing), tv.Number("debt", [10, 20], missing)])
    return tv.Model.from_clauses(space.n_bits, [[1]], [[2]], bias=-1, space=space, classes=("bad", "good"))


def test_columns_in_the_same_interval_may_have_any_order() -> None:
    """inc 8, debt 3: the model sees no difference, and the assumption is met."""
    model = two_numbers()
    assert tv.prove(model, "inc > debt", "decision == 'good'").status == "violated"
    assert tv.prove(model, "inc > debt", "decision == 'good'", round="inner").status == "holds"
    pair = tv.Pair(["inc"], "a.inc != b.inc")
    assert tv.prove(model, pair, "a.inc > 10 or b.inc > 10").status == "violated"
    assert tv.prove(model, None, "inc <= inc and not inc < inc").status == "holds"


def test_known_values_alone() -> None:
    """The model decides otherwise where a value is missing or unseen, and for nothing else."""
    space = tv.Space([tv.Category("city", ["Oslo", "Rome"], other=True), tv.Number("age", [9], missing=True)])
    model = tv.Model.from_clauses(4, [[-1, -2], [4]], [[-1, -1]], space=space, classes=("bad", "good"))
    for ask in (
        functools.partial(tv.check_fairness, model, ["city", "age"]),
        functools.partial(tv.prove, model, None, "decision == 'good'"),
        functools.partial(tv.prove, model, "same except age", "a.decision == b.decision"),
    ):
        assert ask().status == "violated"
        known = ask(known_values=True)
        assert (known.status, known.vacuous) == ("holds", False)
    assert tv.check_monotonicity(model, "age", "good").status == "holds"
    rows: list[dict[str, Any]] = [{"city": city, "age": 5} for city in ("Oslo", "Bern")]
    rows.append({"city": "Oslo", "age": None})
    share = tv.check_fairness(model, ["city"], X=rows, eta=1, known_values=True)
    assert (share.status, share.about) == ("holds", (0,))
    assert tv.prove(model, "city == 'unseen'", "decision == 'good'", known_values=True).vacuous
    near = tv.check_fairness(model, ["city"], x=rows[0], epsilon=2, known_values=True)
    assert near.status == "holds"
    assert tv.check_fairness(model, ["city"], x=rows[0], epsilon=2).status == "violated"
    with pytest.raises(tv.InvalidInputError, match="or by known_values of the property"):
        tv.check_fairness(model, ["city"], x=rows[0], allowed=tv.Allowed(known_values=True))
    with pytest.raises(tv.InvalidInputError, match="known_values must be True or False"):
        tv.check_fairness(model, ["city"], known_values=1)  # type: ignore[call-overload]


def test_unseen_values_may_differ() -> None:
    space = tv.Space([tv.Category(name, ["Oslo"], other=True) for name in ("home", "work")])
    model = tv.Model.from_clauses(2, [[1], [2]], [[1, 1]], bias=-1, space=space, classes=("bad", "good"))
    assert tv.prove(model, "home != work", "decision == 'good'").status == "violated"


def test_missing_values_equal_nothing() -> None:
    model = two_numbers(missing=True)
    assert tv.prove(model, "inc is None and debt is None", "inc == debt").status == "violated"
    assert tv.prove(model, "inc is None", "inc != debt and not inc > 10").status == "holds"


@pytest.mark.parametrize(("margin", "status"), [(0, "holds"), (1, "violated"), (2, "violated"), (3, "holds")])
def test_what_is_decided_by_votes_stays_so(margin: int, status: str) -> None:
    """More of x1 leaves a tie of a lead of 2 votes: still "yes", but by no vote; 3 votes has none."""
    more = tv.Model.from_clauses(2, [[1], [2]], [[3, -2]], classes=("no", "yes"), bias=-1)
    found = tv.check_monotonicity(more, "x1", "yes", margin=margin, certificate=True)
    assert (found.status, found.vacuous) == (status, margin == 3)
    assert found.certificate is not None
    assert found.certificate.check(more)


def test_a_premise_that_is_never_met_is_vacuous(model: tv.Model) -> None:
    never = tv.check_monotonicity(model, "age", "yes", margin=9)
    assert (never.status, never.vacuous, never.detail) == ("holds", True, vacuous.NEVER_DECIDED)
    assert not tv.check_monotonicity(model, "age", "yes", margin=2).vacuous
    assert not tv.check_monotonicity(model, "age", "yes", X=ROWS, eta=1, margin=9).vacuous


def test_a_margin_of_no_decision_is_refused(model: tv.Model) -> None:
    with pytest.raises(tv.InvalidInputError, match="expect is about no decision"):
        tv.prove(model, "owner", "votes('yes') - votes('no') >= 0", margin=5)


@pytest.mark.parametrize("text", ["age > {0}", "decision == {0}", "votes({0}) > 3"])
def test_numbers_of_any_length_end_in_a_clear_error(model: tv.Model, text: str) -> None:
    with pytest.raises(ExpressionError):
        tv.prove(model, None, text.format("0x" + "f" * 5000))


def test_votes_that_64_bits_cant_hold_are_refused() -> None:
    """Three rows of largest weights, times largest factors: a sum that wraps would be a wrong answer."""
    most = 2**31 - 1
    model = tv.Model.from_clauses(2, [[1], [2]], [[most, most]] * 3 + [[0, 0]])
    text = " + ".join(f"{most} * votes({c})" for c in range(3))
    for engine in ("auto", "search", "sat", "brute"):
        with pytest.raises(tv.InvalidInputError, match=r"times these factors, can exceed 2\^60"):
            tv.prove(model, None, f"{text} <= 0", engine=engine)
    biased = tv.Model.from_clauses(1, [[1]], [[1], [1]], bias=[most, most])
    with pytest.raises(tv.InvalidInputError, match="choose smaller factors"):
        tv.prove(biased, None, f"{most} * votes(0) + {most} * votes(1) >= 0")
    few = tv.Model.from_clauses(1, [[1]], [[5], [3]])
    for bound, status in ((8 * most, "violated"), (most, "violated"), (0, "holds")):
        if bound < 2**31:
            found = tv.prove(few, None, f"{most} * (votes(0) + votes(1)) >= {bound}", certificate=True)
            assert found.status == status
            assert found.certificate is not None
            found.certificate.check(few)


def test_long_expressions_of_objects(model: tv.Model) -> None:
    both = functools.reduce(operator.and_, [tv.column("owner") == 1] * 600)
    assert tv.prove(model, both, "owner").status == "holds"
    assert tv.prove(model, None, ~~~(tv.column("owner") == 1) | (tv.column("owner") == 1)).status == "holds"


@pytest.mark.parametrize("text", ["age > 60) # and owner", "owner) or (age > 60", "owner # and age > 60"])
def test_unbalanced_texts_and_comments(model: tv.Model, text: str) -> None:
    with pytest.raises(ExpressionError):
        tv.prove(model, text, "decision == 'yes'")


def test_labels_that_are_none(model: tv.Model) -> None:
    for label in (tv.column("owner"), np.array([1, 2]), np.array(["yes"])):
        with pytest.raises(tv.InvalidInputError):
            tv.prove(model, None, tv.decision.isin([label]))
