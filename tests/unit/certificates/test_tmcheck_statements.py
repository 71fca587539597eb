"""Properties in the checker: their one form, what they mean over joint inputs, their words, their limits."""

from __future__ import annotations

import copy
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import check_by_both, claim, claim_line, refusal, run_standalone, text_of
from support.column_claims import hexadecimal
from support.columns import values_in
from support.statement_claims import random_case
from support.tiny import all_inputs
from support.tiny_columns import random_space
from tmcheck import limits
from tmcheck.claim import read_claim
from tmcheck.errors import Unreadable
from tmcheck.joint import Joint
from tmcheck.model import Machine, read_model
from tmcheck.property import read_property
from tmcheck.statement import Statement, cover
from tmverify.model.file import encode
from tmverify.properties.copies import Copies
from tmverify.properties.statement import DEEPEST, MOST_CASES, MOST_CLAUSES, MOST_PARTS

SPACE = tv.Space(
    [tv.Flag("owner"), tv.Number("age", [25, 60], missing=True), tv.Category("sex", ["f", "m", "x"])]
)
MODEL = tv.Model.from_clauses(
    7, [[1], [3], [6]], [[2, 1, 1], [0, 3, 1]], space=SPACE, classes=("no", "yes"), clamp=4
)
STATED: dict[str, Any] = {"differ": [2], "assume": ["all"], "expect": ["agree", 0]}


def claiming(stated: Any, **others: Any) -> bytes:
    fields = {"question": "property", "distance": "columns", "property": stated, **others}
    return claim(fields.pop("question"), MODEL, **fields) + b"everywhere\nend\n"


IN, MORE = ["in", 0, 0, [1]], ["in", 0, 1, [0, 2]]
UNREADABLE = [
    ["in"], ["in", 0, 0], ["in", 0, 0, []], ["in", 0, 0, [1, 0]], ["in", 0, 0, [1, 1]], ["in", 0, 0, [True]],
    ["in", 0.0, 0, [1]], ["in", False, 0, [1]], ["in", 2, 0, [1]], ["in", 0, -1, [1]], ["in", 0, 0, 1],
    ["all", IN], ["some", IN], ["all", IN, ["all", IN, MORE]], ["some", IN, ["some", IN, MORE]],
    ["all", IN, ["all"]], ["all", IN, ["some"]], ["some", IN, ["all"]], ["not", IN], "all", [], [["all"]],
    None, {}, ["All"], ["all", None, IN],
]  # fmt: skip
UNREADABLE_EXPECTED = [
    *UNREADABLE,
    ["decides", 0, [0]], ["decides", 0, [], 0], ["decides", 0, [0], -1], ["decides", 0, [0], 1 << 31],
    ["decides", 0, [0], None], ["decides", 2, [0], 0], ["agree"], ["agree", 0, 0], ["agree", False],
    ["differ", 0], ["all", ["agree", 1], ["decides", 0, [0], 2]], ["all", ["differ"], ["agree", 1]],
    ["votes", [], 0], ["votes", [[0, 0, 0]], 0], ["votes", [[0, 0, 1], [0, 0, 1]], 0], ["votes", [[0, 0]], 0],
    ["votes", [[1, 0, 1], [0, 0, 1]], 0], ["votes", [[0, 0, 1 << 32]], 0], ["votes", [[0, 0, 1]], 1 << 32],
    ["votes", [[0, 0, 1]], 0.5], ["votes", [[0, -1, 1]], 0],
    ["fails", 0, [0], 0], ["fails", 0, [0]], ["fails", 0, [], 1], ["all", ["fails", 0, [0], 1], ["agree", 2]],
]  # fmt: skip
REFUSED = [
    ["in", 0, 0, [2]], ["in", 0, 0, [0, 1]], ["in", 0, 1, [4]], ["in", 0, 1, [0, 1, 2, 3]], ["in", 0, 3, [0]],
    ["in", 1, 0, [1]],
]  # fmt: skip
REFUSED_EXPECTED = [
    *REFUSED, ["decides", 0, [2], 0], ["decides", 0, [0, 1], 0], ["votes", [[0, 2, 1]], 0], ["agree", 9],
    ["fails", 0, [0], 9], ["fails", 0, [2], 1], ["fails", 0, [0, 1], 1],
]  # fmt: skip


@pytest.mark.parametrize("key", ["assume", "expect"])
def test_a_property_has_one_form(key: str) -> None:
    unreadable, refused = (
        (UNREADABLE, REFUSED) if key == "assume" else (UNREADABLE_EXPECTED, REFUSED_EXPECTED)
    )
    for formula in unreadable:
        with pytest.raises(Unreadable):
            read_property({**STATED, key: formula})
        assert refusal(claiming({**STATED, key: formula}), [MODEL]) is not None
    for formula in refused:
        read_property({**STATED, key: formula})
        reason = refusal(claiming({**STATED, key: formula}), [MODEL])
        assert reason is not None
        assert "property has" in reason or "property speaks" in reason or "margin" in reason, (
            formula,
            reason,
        )


def test_an_assumption_is_about_columns() -> None:
    for formula in (["decides", 0, [0], 0], ["all", IN, ["agree", 0]], ["votes", [[0, 0, 1]], 0]):
        read_property({**STATED, "expect": formula})
        with pytest.raises(Unreadable, match="about columns"):
            read_property({**STATED, "assume": formula})


@pytest.mark.parametrize(
    "changed",
    [
        {"property": None}, {"property": []}, {"property": {**STATED, "more": 0}}, {"scope": "no"},
        {"property": dict(reversed(STATED.items()))}, {"property": {**STATED, "differ": []}},
        {"property": {**STATED, "differ": [2, 1]}}, {"property": {**STATED, "differ": 2}},
        {"property": {**STATED, "differ": None}}, {"property": {**STATED, "differ": [True]}},
        {"margin": 1}, {"target": "no"}, {"answer": "radius"}, {"answer": "suffices", "reason": []},
        {"distance": "bits"}, {"distance": "steps"}, {"columns": [[0, "keep", None, 1]]}, {"inputs": 2},
        {"eta": "1/2"}, {"question": "robustness"}, {"question": "robustness", "epsilon": 1},
        {"radius": 1}, {"apart": [[0]]},
    ],
    ids=str,
)  # fmt: skip
def test_what_a_claim_about_a_property_may_not_say(changed: dict[str, Any]) -> None:
    text = claiming(STATED)
    fields = {**json.loads(text.splitlines()[0]), **changed}
    read_claim(text.splitlines()[0])
    with pytest.raises(Unreadable):
        read_claim(claim_line(fields)[:-1])


def test_a_property_around_bits_is_about_flags() -> None:
    x = hexadecimal(np.array([0, 0, 0, 0, 1, 0, 0], np.uint8))
    text = claiming(STATED, epsilon=1, distance="bits").replace(b"everywhere", f"input {x}".encode())
    assert "several bits" in (refusal(text, [MODEL]) or "")


def test_joint_inputs_are_those_of_the_library() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        case = random_case(rng)
        copies = case.stated.statement.copies
        read = read_model(encode(copies.model)).model
        assert isinstance(read, Machine)
        space = read.space if read.space is not None else None
        if space is None:
            continue
        joint = Joint(read, space, None if copies.differ is None else tuple(sorted(copies.differ)))
        assert joint.space.n_bits == copies.space.n_bits
        for of in range(copies.n):
            for c in range(len(copies.model.space.columns)):
                column = copies.space.columns[int(copies.columns[of][c])]
                assert joint.place(of, c) == int(copies.columns[of][c])
                assert joint.column(of, c).first_bit == column.bits.start
            for z in rng.integers(0, 2, (20, copies.space.n_bits)).astype(np.uint8):
                (own,) = z[None, copies.bits[of]]
                assert joint.machines[of].votes_on(z.tobytes()) == read.votes_on(own.tobytes())


def test_a_cover_is_true_of_these_values_alone() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        space = random_space(rng)
        model = tv.Model.from_clauses(space.n_bits, [[1]], [[1]], space=space)
        read = read_model(encode(model)).model.space
        assert read is not None
        inputs = [(z, v) for z in all_inputs(space.n_bits) if (v := values_in(space, z)) is not None]
        for number, column in enumerate(space.columns):
            n = len(column.values)
            for chosen in product([False, True], repeat=n):
                some = [value for value in range(n) if chosen[value]]
                if not 0 < len(some) < n:
                    continue
                found = cover(read.column(number), some)
                for z, values in inputs:
                    true = any(all(z[abs(f) - 1] == (f > 0) for f in part) for part in found)
                    assert true == (values[number] in some)


def test_more_than_two_rows_in_a_constraint() -> None:
    model = tv.Model.from_clauses(3, [[1], [2], [3]], np.eye(3, dtype=int).tolist())
    for bound in (0, 3, 4):
        verdict = tv.prove(
            model,
            None,
            f"votes(0) + votes(1) + 2 * votes(2) < {bound + 1}",
            engine="search",
            certificate=True,
        )
        assert verdict.certificate is not None
        verdict.certificate.check(model)
        assert verdict.status == ("holds" if bound == 4 else "violated")
    text = text_of(verdict.certificate)
    assert b"0:1,1:1,2:2>=5" in text
    for wrong in (
        b"0:1,1:1,2:2,>=5",
        b"0:1,,2:2>=5",
        b"0:1,1:1,3:2>=5",
        b"0:1,1:1,2:02>=5",
        b"0:1,1:1>=5>=5",
    ):
        assert refusal(text.replace(b"0:1,1:1,2:2>=5", wrong), [model]) is not None


def test_limits_are_those_of_the_library() -> None:
    assert (limits.MOST_CASES, limits.MOST_CLAUSES) == (MOST_CASES, MOST_CLAUSES)
    assert (limits.DEEPEST, limits.MOST_PARTS) == (DEEPEST, MOST_PARTS)


def test_a_property_that_is_too_long_is_refused() -> None:
    either = ["some", ["decides", 0, [0], 0], ["votes", [[0, 0, 1], [0, 1, -1]], 1]]
    both = ["all", ["decides", 0, [1], 0], ["votes", [[0, 0, 1]], 1]]
    many = {**STATED, "differ": None, "expect": ["some", *[both] * 20]}
    assert "too long" in (refusal(claiming(many), [MODEL]) or "")
    deep: Any = either
    for level in range(200):
        deep = ["all" if level % 2 == 0 else "some", copy.copy(deep), ["decides", 0, [0], 0]]
    assert "levels" in (refusal(claiming({**STATED, "expect": deep}), [MODEL]) or "")
    wide = ["all", *[["decides", 0, [0], 0]] * 70_000]
    assert "parts" in (refusal(claiming({**STATED, "expect": wide}), [MODEL]) or "")


def test_words(tmp_path: Any) -> None:
    model = tv.Model.from_clauses(7, [[1], [3]], [[2, 1]], bias=-2, space=SPACE, classes=("no", "yes"))
    fair = tv.check_fairness(model, "sex", certificate=True)
    name = model.content_hash[:12]
    check_by_both(fair.certificate, [model], tmp_path)
    assert fair.certificate is not None
    assert fair.certificate.check(model) == (
        f"every two possible inputs of model {name} that are the same except 'sex' get the same decision"
    )
    more = tv.check_monotonicity(model, "age", "yes", assume="owner", certificate=True)
    assert more.certificate is not None
    assert more.certificate.check(model) == (
        f"every two possible inputs of model {name} that are the same except 'age', a and b, such that "
        "a's 'age' is no higher than b's 'age' and 'owner' is '1': "
        "a's decision is 'no' or b's decision is 'yes'"
    )
    safely = tv.check_monotonicity(model, "age", "yes", margin=2, certificate=True)
    check_by_both(safely.certificate, [model], tmp_path)
    assert safely.certificate is not None
    assert safely.certificate.check(model).endswith(
        "not (a's decision is 'yes' by at least 2 vote(s)) or b's decision is 'yes' by at least 2 vote(s)"
    )
    row = {"owner": True, "age": 30, "sex": "f"}
    near = tv.prove(
        model, "sex in ('f', 'm')", "decision == 'yes'", x=row, epsilon=1, margin=2, certificate=True
    )
    assert near.certificate is not None
    said = near.certificate.check(model)
    assert said == (
        f"it is not true that every input of model {name} within 1 changed column(s) of the input "
        f"{hexadecimal(model.space.encode([row])[0])} such that 'sex' is not 'x': "
        "the decision is 'yes' by at least 2 vote(s)"
    )


def test_words_of_margins() -> None:
    model = tv.Model.from_clauses(2, [[1]], [[9]], bias=-4)
    holds = tv.check_robustness(model, [0, 0], 0, margin=3, certificate=True)
    assert holds.certificate is not None
    assert "keeps its decision by at least 3 vote(s)" in holds.certificate.check(model)
    near = tv.robustness_radius(model, [0, 0], margin=5, certificate=True)
    assert near.certificate is not None
    assert "decides otherwise, or by less than 5 vote(s), 0 flip(s)" in near.certificate.check(model)


def test_a_statement_is_evaluated_by_itself() -> None:
    """The checker's own evaluation of a witness agrees with the library's, on every joint input."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        case = random_case(rng)
        statement, model = case.stated.statement, case.stated.model
        read = read_model(encode(model)).model
        if not isinstance(read, Machine) or read.space is None:
            continue
        text = json.dumps(case.query.asked().stated)
        own = Statement(read_property(json.loads(text)), read, read.space)
        joint = _possible(statement.copies)
        expected = statement.violated(joint)
        assert [own.violated_by(z.tobytes()) for z in joint] == expected.tolist()


def _possible(copies: Copies) -> Any:
    rows = product(*(column.part.patterns for column in copies.space.columns))
    return np.array([np.concatenate(row) for row in rows], np.uint8)


def test_a_hostile_property_takes_little_memory(tmp_path: Path) -> None:
    space = tv.Space([tv.Category("c", [f"v{i}" for i in range(2000)]), tv.Number("n", list(range(2000)))])
    table = tv.Model.from_clauses(4000, [[1]], [[1]], space=space)
    flags = tv.Model.from_clauses(64, [[i + 1] for i in range(64)], [[1] * 64])
    pairs = ["some", *(["all", ["in", 0, 2 * k, [1]], ["in", 0, 2 * k + 1, [1]]] for k in range(32))]
    steps = ["some", *(["all", ["in", 0, 1, list(range(k + 1))], ["in", 0, 0, [k]]] for k in range(800))]
    for model, assume in ((flags, pairs), (table, steps)):
        stated = {"differ": None, "assume": assume, "expect": ["decides", 0, [0], 0]}
        text = claim("property", model, distance="columns", property=stated) + b"everywhere\nend\n"
        done = run_standalone(tmp_path, text, [encode(model)])
        assert (done.code, "too long" in done.said, done.memory < 300 << 20) == (1, True, True), done
