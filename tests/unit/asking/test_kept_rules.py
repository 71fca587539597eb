"""Rules as they are kept: one form for each meaning, and back; in words; and what nobody can have meant."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.asking.rules import KeptRules
from tmverify.asking.task import Task
from tmverify.properties.allowed import Allowed, Rule, rules_of

SPACE = tv.Space(
    [
        tv.Number("age", (25, 40, 60)),
        tv.Category("city", ("Bergen", "Oslo"), missing=True),
        tv.Flag("owner", ("no", "yes")),
        tv.Number("income", (10, 20)),
    ]
)
MODEL = tv.Model.from_clauses(SPACE.n_bits, [[1]], [1], space=SPACE)
FLAGS = tv.Model.from_clauses(10, [[1]], [1])

SAID: list[tuple[dict[str, Any], str, str]] = [
    ({}, '{"distance": "columns"}', ""),
    ({"distance": "steps"}, '{"distance": "steps"}', "steps"),
    ({"distance": "bits"}, "null", "bits"),
    (
        {"distance": "bits", "direction": "add", "features": ["owner"]},
        '{"distance": "bits", "mask": "0200", "direction": "add"}',
        "bits",
    ),
    (
        {"columns": ["income"]},
        '{"distance": "columns", "columns": [[0, "keep"], [1, "keep"], [2, "keep"]]}',
        "only column income",
    ),
    (
        {"columns": ["age", "income"], "cost": {"age": 2}},
        '{"distance": "columns", "columns": [[0, "any", null, 2], [1, "keep"], [2, "keep"]]}',
        "city, owner frozen · cost age 2",
    ),
    (
        {"freeze": "age", "increase": "income", "decrease": "owner"},
        '{"distance": "columns", "columns": [[0, "keep"], [2, "down"], [3, "up"]]}',
        "age frozen · owner may only be cleared · income may only grow",
    ),
    (
        {"within": {"age": (30, 50), "city": ["Oslo"]}, "decrease": "age"},
        '{"distance": "columns", "columns": [[0, "down", [1, 2]], [1, "any", [1]]]}',
        "age may only fall · if changed, age 25 to 60 · if changed, city is Oslo",
    ),
]


# Of these three columns, two can be missing or unseen.
GAPS = tv.Space(
    [
        tv.Number("age", (25, 40), missing=True),
        tv.Category("city", ("Oslo", "other"), other=True, missing=True),
        tv.Flag("owner"),
    ]
)
AGE, CITY = Rule(0, "any", (0, 1, 2)), Rule(1, "any", (0, 1))
IF_CITY = "if changed, city is Oslo or other"


@pytest.mark.parametrize(
    ("allowed", "columns", "words"),
    [
        ({}, (AGE, CITY), "only known values"),
        ({"freeze": "age"}, (Rule(0, "keep"), CITY), f"age frozen · {IF_CITY}"),
        ({"increase": "age"}, (Rule(0, "up"), CITY), f"age may only grow · {IF_CITY}"),
        (
            {"within": {"city": ["unseen"]}},
            (AGE, Rule(1, "any", (2,))),
            "if changed, age is not missing · if changed, city is unseen",
        ),
        (
            {"within": {"age": ["missing"]}},
            (Rule(0, "any", (3,)), CITY),
            f"if changed, age is missing · {IF_CITY}",
        ),
        ({"within": {"age": list(GAPS.columns[0].values)}}, (CITY,), IF_CITY),
        ({"cost": {"city": 3}}, (AGE, CITY._replace(cost=3)), "only known values · cost city 3"),
    ],
)
def test_known_values_are_values(allowed: dict[str, Any], columns: tuple[Rule, ...], words: str) -> None:
    model = tv.Model.from_clauses(GAPS.n_bits, [[1]], [1], space=GAPS)
    rules = kept({**allowed, "known_values": True}, model)
    assert rules.columns == columns
    assert " · ".join(rules.words(GAPS)) == words


def test_known_values_of_bits() -> None:
    assert kept({"known_values": True}, FLAGS) == kept({}, FLAGS)
    with pytest.raises(tv.InvalidInputError, match="cost and known_values are about columns"):
        kept({"known_values": True, "distance": "bits"})
    with pytest.raises(tv.InvalidInputError, match="known_values must be True or False"):
        kept({"known_values": "no"})


def kept(allowed: dict[str, Any], model: tv.Model = MODEL) -> KeptRules:
    return KeptRules.of(rules_of(model, Allowed(**allowed)))


@pytest.mark.parametrize(("allowed", "text", "words"), SAID)
def test_there_and_back(allowed: dict[str, Any], text: str, words: str) -> None:
    rules = kept(allowed)
    assert json.dumps(rules.to_json()) == text
    assert KeptRules.from_json(json.loads(text)) == rules
    rules.check(SPACE.n_bits, SPACE)
    back, meant = rules.rules(SPACE.n_bits), rules_of(MODEL, Allowed(**allowed))
    assert (back.distance, back.direction, back.columns) == (meant.distance, meant.direction, meant.columns)
    assert np.array_equal(np.array(back.features), np.array(meant.features))
    assert " · ".join(rules.words(SPACE)) == words


def test_without_the_space_columns_have_numbers() -> None:
    rules = kept({"freeze": "age", "within": {"city": "Oslo"}, "increase": "income", "cost": {"owner": 3}})
    assert rules.words(None) == [
        "column 0 frozen",
        "column 3 may only grow",
        "column 1 has 1 values",
        "cost column 2 3",
    ]


def test_what_is_counted() -> None:
    assert [kept({}).counted(n) for n in (0, 1, 2)] == ["0 columns", "1 column", "2 columns"]
    assert kept({"distance": "steps"}).counted(1) == "1 step"
    assert kept({"distance": "bits"}).counted(2) == "2 flips"
    assert kept({"cost": {"age": 2}}).counted(3) == "cost 3"


def asking(rules: KeptRules) -> Task:
    bits = SPACE.encode([{"age": 3, "city": "Oslo", "owner": "no", "income": 3}])[0]
    packed = np.packbits(bits).tobytes()
    return Task(
        question="radius",
        models=(MODEL.content_hash,),
        names=("m",),
        n_features=SPACE.n_bits,
        index=0,
        bits=packed,
        rules=rules,
    )


def test_equal_rules_have_equal_ids_and_others_have_others() -> None:
    ids = set()
    for freeze in permutations(["age", "city"]):
        for within in ({"income": (None, 15)}, {"income": (-3, 20)}, {"income": ["10 to 20", "up to 10"]}):
            for costs in ({"owner": 2, "income": 0}, {"income": 0, "owner": 2}):
                ids.add(asking(kept({"freeze": freeze, "within": within, "cost": costs})).id)
    others = {asking(kept(allowed)).id for allowed, *_ in SAID}
    assert (len(ids), len(others)) == (1, len(SAID))
    assert not ids & others


def test_a_task_asks_by_its_rules() -> None:
    query = asking(kept({"freeze": "age", "cost": {"city": 2}})).query([MODEL])
    assert [options.column for options in query.region.options] == [1, 3]
    assert query.region.options[0].costs.tolist() == [0, 2, 2]
    assert query.region.radius == 4


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"distance": "miles"},
        {"distance": ["columns"]},
        {"distance": "bits"},
        {"distance": "bits", "columns": [[0, "keep"]]},
        {"distance": "columns", "mask": "00"},
        {"distance": "bits", "mask": "0"},
        {"distance": "bits", "mask": "F0"},
        {"distance": "bits", "mask": "f0 00"},
        {"distance": "bits", "mask": 3},
        {"distance": "bits", "direction": "sideways"},
        {"distance": "columns", "direction": None},
        {"distance": "columns", "columns": []},
        {"distance": "columns", "columns": {"0": "keep"}},
        {"distance": "columns", "columns": [0]},
        {"distance": "columns", "columns": [[0]]},
        {"distance": "columns", "columns": [[0, "any"]]},
        {"distance": "columns", "columns": [[0, "up", None]]},
        {"distance": "columns", "columns": [[0, "up", [1], 1]]},
        {"distance": "columns", "columns": [[0, "up", "1"]]},
        {"distance": "columns", "columns": [[0, "up", [1.0]]]},
        {"distance": "columns", "columns": [[0, "up", [True]]]},
        {"distance": "columns", "columns": [[0, "up", [[]]]]},
        {"distance": "columns", "columns": [["0", "up"]]},
        {"distance": "columns", "columns": [[-1, "up"]]},
        {"distance": "columns", "columns": [[0, ["up"]]]},
        {"distance": "columns", "columns": [[1, "up"], [0, "up"]]},
        {"distance": "columns", "more": 1},
    ],
)
def test_documents_that_nobody_wrote(document: Any) -> None:
    with pytest.raises(ValueError, match=r"can't|there is|its rules|not|no |hex"):
        KeptRules.from_json(document)


@pytest.mark.parametrize(
    ("rules", "model", "reason"),
    [
        (KeptRules("columns", columns=(Rule(4, "keep"),)), MODEL, "there is no column 4"),
        (KeptRules("columns", columns=(Rule(1, "up"),)), MODEL, "has no order"),
        (KeptRules("columns", columns=(Rule(0, "any", (4,)),)), MODEL, "has no value 4"),
        (KeptRules(mask=b"\0"), MODEL, "its mask has not 9 features"),
        (KeptRules(mask=b"\0\x01"), MODEL, "its mask has not 9 features"),
        (KeptRules("columns"), FLAGS, "where every column is a bit"),
        (KeptRules("columns", columns=(Rule(1, "keep"),)), FLAGS, "where every column is a bit"),
    ],
)
def test_rules_that_the_model_has_not(rules: KeptRules, model: tv.Model, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        rules.check(model.n_features, model.space)
