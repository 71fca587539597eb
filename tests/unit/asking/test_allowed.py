"""What may change, as typed: lists, ranges, values and costs, and names that look like these."""

from __future__ import annotations

from typing import Any

import pytest

import tmverify as tv
from tmverify.asking.allowed import Typed, read_distance, read_rules
from tmverify.asking.rules import KeptRules
from tmverify.properties.allowed import Rule

SPACE = tv.Space(
    [
        tv.Number("age", (25, 40, 60), missing=True),
        tv.Category("city", ("Bergen", "Oslo", "Oslo, east"), missing=True),
        tv.Flag("owner", ("no", "yes")),
        tv.Flag("a,b"),
        tv.Number("x=y", (0.5, 1.5)),
        tv.Flag("b"),
    ]
)
MODEL = tv.Model.from_clauses(SPACE.n_bits, [[1]], [1], space=SPACE)
FLAGS = tv.Model.from_clauses(4, [[1]], [1], feature_names=["p", "q", "r,s", "r"])


def rules(model: tv.Model = MODEL, **typed: Any) -> KeptRules:
    return KeptRules.of(read_rules(model, Typed(**typed)))


def columns(**typed: Any) -> tuple[Rule, ...]:
    return rules(**typed).columns


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({}, ()),
        ({"freeze": ("age,city",)}, (Rule(0, "keep"), Rule(1, "keep"))),
        ({"freeze": ("age , city",)}, (Rule(0, "keep"), Rule(1, "keep"))),
        ({"freeze": ("city", "age")}, (Rule(0, "keep"), Rule(1, "keep"))),
        ({"freeze": ("a,b",)}, (Rule(3, "keep"),)),
        ({"freeze": ("a,b", "b")}, (Rule(3, "keep"), Rule(5, "keep"))),
        ({"columns": ("age,city,owner,b", "x=y")}, (Rule(3, "keep"),)),
        ({"increase": ("age",), "decrease": ("owner",)}, (Rule(0, "up"), Rule(2, "down"))),
        ({"within": ("age=30..60",)}, (Rule(0, "any", (1, 2)),)),
        ({"within": ("age=..40",)}, (Rule(0, "any", (0, 1)),)),
        ({"within": ("age= 41 .. ",)}, (Rule(0, "any", (2, 3)),)),
        ({"within": ("age=..20,missing",)}, (Rule(0, "any", (0, 4)),)),
        ({"within": ("age=..20,70..",)}, (Rule(0, "any", (0, 3)),)),
        ({"within": ("age=25 to 40,61..61",)}, (Rule(0, "any", (1, 3)),)),
        ({"within": ("x=y=.6..",)}, (Rule(4, "any", (1, 2)),)),
        ({"within": ("x=y=0.1..0.5",)}, (Rule(4, "any", (0,)),)),
        ({"within": ("city=Oslo,Bergen",)}, (Rule(1, "any", (0, 1)),)),
        ({"within": ("city=Oslo, east",)}, (Rule(1, "any", (2,)),)),
        ({"within": ("city=Oslo, east", "city=Oslo")}, (Rule(1, "any", (1, 2)),)),
        ({"within": (("city", ("Oslo, east", "missing")),)}, (Rule(1, "any", (2, 3)),)),
        ({"within": (("age", "30..60"), ("city", "Oslo"))}, (Rule(0, "any", (1, 2)), Rule(1, "any", (1,)))),
        ({"cost": ("age=2", "x=y=0")}, (Rule(0, cost=2), Rule(4, cost=0))),
        ({"cost": (("age", 2),)}, (Rule(0, cost=2),)),
        ({"cost": ("age=1",)}, ()),
        ({"cost": ("age=2", "age=2"), "increase": ("age",)}, (Rule(0, "up", None, 2),)),
    ],
)
def test_what_is_read(typed: dict[str, Any], expected: tuple[Rule, ...]) -> None:
    found = rules(**typed)
    assert (found.distance, found.columns) == ("columns", expected)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"distance": "colums"}, "must be columns, steps or bits. Got 'colums' instead; is 'columns' meant?"),
        ({"direction": "up"}, "--direction must be add or remove"),
        ({"columns": ("agee",)}, "columns must name columns of the model. Got 'agee' instead; is 'age'"),
        ({"columns": ("Age",)}, "is 'age' meant?"),
        ({"freeze": ("age > 25",)}, "Got 'age > 25' instead, a bit of the column 'age'"),
        ({"freeze": ("",)}, "freeze must name columns"),
        ({"increase": ("city",)}, "'city' is a category, whose values have no order"),
        ({"columns": ("age",), "freeze": ("age",)}, "'age' is in columns, which may change, and in freeze"),
        ({"within": ("age",)}, "--within must be COLUMN=…, such as age=18..65"),
        ({"within": ("ag=1..2",)}, "within must name columns of the model. Got 'ag' instead; is 'age'"),
        ({"within": ("age=old..older",)}, "--within of the number 'age' must be a range, such as 18..65"),
        ({"within": ("age=65..18",)}, "the lower end first"),
        ({"within": ("age=20,60",)}, "must be a range, such as"),
        ({"within": ("age=4,000..5,000",)}, "must be a range, such as"),
        ({"within": ("age=30..", "age=..40")}, "names the number 'age' twice"),
        ({"within": ("age=nan..3",)}, "a pair of numbers"),
        ({"within": (("age", (18, 65)),)}, 'must be a range, such as "18..65"'),
        ({"within": ("city=Rome",)}, "it has: 'Bergen', 'Oslo', 'Oslo, east', 'missing'. Got 'Rome'"),
        ({"within": ("city=",)}, "--within gives column 'city' no value; it has 'Bergen'"),
        ({"cost": ("age",)}, "--cost must be COLUMN=…, such as age=2"),
        ({"cost": ("age=two",)}, "--cost of column 'age' must be a whole number"),
        ({"cost": ("age=-1",)}, "must be an integer from 0 to"),
        ({"cost": (("age", 1.5),)}, "must be an integer from 0 to"),
        ({"cost": ("age=2", "age=3")}, "--cost gives column 'age' two costs, 2 and 3"),
        ({"features": "0"}, "--features is about single bits, and this model has columns of several bits. "
         "Use --columns and --freeze, or --distance bits"),
        ({"direction": "add"}, "Use --increase and --decrease, or --distance bits"),
        ({"distance": "bits", "freeze": ("age",)}, "distance='bits' is about single bits"),
    ],
)  # fmt: skip
def test_what_is_wrong(typed: dict[str, Any], message: str) -> None:
    with pytest.raises(tv.InvalidInputError) as caught:
        rules(**typed)
    assert message in str(caught.value)


def test_a_name_that_can_be_read_in_two_ways() -> None:
    space = tv.Space([tv.Category("a", ("b=c", "d")), tv.Category("a=b", ("c", "e"))])
    model = tv.Model.from_clauses(space.n_bits, [[1]], [1], space=space)
    with pytest.raises(tv.InvalidInputError, match="in several ways: 'a' and 'a=b' are columns"):
        rules(model, within=("a=b=c",))
    assert rules(model, within=(("a", "b=c"),)).columns == (Rule(0, "any", (0,)),)


def test_where_every_column_is_a_bit() -> None:
    assert rules(FLAGS) == KeptRules()
    assert rules(FLAGS, distance="steps") == KeptRules()
    assert rules(FLAGS, columns=("p,q",)) == rules(FLAGS, features="p,q") == KeptRules(mask=b"\xc0")
    assert rules(FLAGS, freeze=("r,s",)) == KeptRules(mask=b"\xd0")
    assert rules(FLAGS, direction="add") == KeptRules(direction="add")
    assert rules(FLAGS, increase=("p",)) == KeptRules("columns", columns=(Rule(0, "up"),))


def test_the_distance_of_a_question_about_everything() -> None:
    assert read_distance(MODEL, "columns").distance == "columns"
    assert read_distance(MODEL, "bits").distance == read_distance(FLAGS, "columns").distance == "bits"
    with pytest.raises(tv.InvalidInputError, match="where nothing is counted"):
        read_distance(MODEL, "steps")


def test_what_was_said() -> None:
    typed = Typed(distance="steps", freeze=("a", "b"), within=("age=1..2", ("city", "Oslo")), features="0-3")
    assert typed.said == {
        "distance": "steps",
        "freeze": "a b",
        "within": "age=1..2 city=Oslo",
        "features": "0-3",
    }
    assert Typed().said == {}
