"""Certificates about columns: written by hand, and at random against the truth of every claim."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.batteries import first
from support.certified import claim, claim_line, refusal
from support.column_claims import (
    hexadecimal,
    hitting_sets,
    is_true,
    prove,
    random_space,
    region_of,
    spelled,
    steps_of,
    violating_costs,
)
from support.tiny import all_inputs
from tmcheck import limits
from tmcheck.claim import Terms
from tmcheck.model import Machine, read_model
from tmcheck.reader import Reader
from tmcheck.refutation import Refutation
from tmcheck.subject import covers
from tmcheck.surroundings import Pool, Surroundings
from tmcheck.ways import Constraint, ways_to_violate
from tmverify.engines.proof_log import packed_numbers, packed_step
from tmverify.model.file import encode

Rng = np.random.Generator
OWNER, AGE, CITY = range(3)
SPACE = tv.Space(
    [
        tv.Flag("owner"),
        tv.Number("age", [25, 40]),
        tv.Category("city", ["Bergen", "Oslo"], other=True, missing=True),
    ]
)
# A vote for each of: over 25, over 40, Oslo. It takes two for class 1.
MODEL = tv.Model.from_clauses(6, [[2], [3], [5]], [[1, 1, 1]], bias=-2, space=SPACE)
X = "10"  # no owner, up to 25, Bergen
OVER_40, OSLO_OVER_25, MISSING = "70", "48", "04"


def accepted(text: bytes, *models: tv.Model) -> str | None:
    """Why a text is not accepted, None if it is; accepted ones are true."""
    reason = refusal(text, models)
    assert reason is not None or is_true(text, models)
    return reason


def about(*lines: str, x: str = X, **others: Any) -> bytes:
    """A certificate about the model and an input."""
    others = {"distance": "columns", "epsilon": 1, **others}
    return claim("robustness", MODEL, **others) + "\n".join([f"input {x}", *lines, "end\n"]).encode()


PROOF = ("constraints 0:1>=2", "refute 0 1 256", "close")


def test_a_number_costs_one_change_or_its_steps() -> None:
    violated = {"answer": "violated"}
    assert accepted(about(f"witness {OVER_40}", **violated), MODEL) is None
    outside = about(f"witness {OVER_40}", distance="steps", **violated)
    assert "outside" in str(accepted(outside, MODEL))
    assert accepted(about(*PROOF, distance="steps"), MODEL) is None
    assert "reaches the need" in str(accepted(about(*PROOF), MODEL))
    proof = (f"witness {OVER_40}", *PROOF)
    radius: dict[str, Any] = {"answer": "radius", "epsilon": None, "distance": "steps"}
    assert accepted(about(*proof, radius=2, **radius), MODEL) is None
    assert "cost of 1" in str(accepted(about(*proof, radius=1, **radius), MODEL))
    assert "cost of 3" in str(accepted(about(*proof, radius=3, **radius), MODEL))


def test_rules_say_which_way_to_what_and_at_what_cost() -> None:
    up_to = "refute 0 5 256"
    kept = ("constraints 0:1>=2", up_to, "close")
    cases: list[tuple[list[Any], tuple[str, ...], bool]] = [
        ([AGE, "keep", None, 1], kept, True),
        ([AGE, "down", None, 1], kept, True),
        ([AGE, "up", None, 1], kept, False),
        ([AGE, "any", [0], 1], kept, True),
        ([AGE, "any", [1], 1], kept, False),  # with Oslo
        ([AGE, "any", None, 6], kept, True),
        ([AGE, "any", None, 5], kept, False),
        ([AGE, "any", None, 0], kept, False),
        ([CITY, "any", [0, 2, 3], 1], kept, False),
    ]
    for rule, lines, holds in cases:
        text = about(*lines, epsilon=5, columns=[rule])
        assert (accepted(text, MODEL) is None) == holds == is_true(text, [MODEL]), rule
    both = [[AGE, "any", [0, 1], 1], [CITY, "any", [0, 2, 3], 1]]
    assert accepted(about(*kept, epsilon=5, columns=both), MODEL) is None


def test_a_tree_over_values_and_a_formula() -> None:
    """Within two steps: over 25 and Oslo, or over 40. It takes three votes."""
    model = tv.Model.from_clauses(6, [[2], [3], [5]], [[1, 1, 1]], bias=-3, space=SPACE)
    head = (
        claim("robustness", model, distance="steps", epsilon=2) + f"input {X}\nconstraints 0:1>=3\n".encode()
    )
    for steps in (
        "close",
        f"split {AGE} 2\nclose\nclose",
        f"split {AGE} 1\nsplit {CITY} 1\nclose\nclose\nclose",
        "fix\nclose",
        "lrat\nqed",
    ):
        text = head + f"refute 0 2 1\n{steps}\nend\n".encode()
        reason = accepted(text, model)
        expected = {"fix\nclose": "close", "lrat\nqed": "empty clause"}.get(steps)
        assert (reason is None) if expected is None else expected in str(reason), steps
    for split in (f"{AGE} 3", f"{OWNER} 1", "5 0", f"{AGE}", f"{AGE} 1 1"):
        assert accepted(head + f"refute 0 2 1\nsplit {split}\nclose\nclose\nend\n".encode(), model)


def test_impossible_inputs_are_not_looked_at() -> None:
    """Two cities at once would be two votes; no input has them."""
    model = tv.Model.from_clauses(6, [[4], [5]], [[1, 1]], bias=-2, space=SPACE)
    proof = b"constraints 0:1>=2\nrefute 0 3 1\nclose\nend\n"
    columns = claim("robustness", model, distance="columns", epsilon=3)
    assert accepted(columns + f"input {X}\n".encode() + proof, model) is None
    bits = claim("robustness", model, epsilon=3)
    assert "reaches the need" in str(accepted(bits + f"input {X}\n".encode() + proof, model))
    assert "not possible" in str(accepted(columns + b"input 18\n" + proof, model))
    assert "not possible" in str(accepted(columns + b"input 30\n" + proof, model))
    witness = claim("robustness", model, distance="columns", epsilon=3, answer="violated")
    assert "outside" in str(accepted(witness + f"input {X}\nwitness 18\nend\n".encode(), model))
    bits = claim("robustness", model, epsilon=3, answer="violated")
    assert accepted(bits + f"input {X}\nwitness 18\nend\n".encode(), model) is None


def test_targets() -> None:
    model = tv.Model.from_clauses(6, [[3], [5]], [[0, 0], [2, 0], [0, 2]], bias=[1, 0, 0], space=SPACE)
    three = tv.Model.from_clauses(
        6, [[3], [5]], [[0, 0], [2, 0], [0, 2]], bias=[1, 0, 0], space=SPACE, classes=["a", "b", "c"]
    )
    others = {"distance": "columns", "epsilon": 1}
    to_b = claim("robustness", three, target="b", answer="violated", **others)
    assert accepted(to_b + f"input {X}\nwitness {OVER_40}\nend\n".encode(), three) is None
    to_c = to_b.replace(b'"target":"b"', b'"target":"c"')
    assert "not decided as the target" in str(
        accepted(to_c + f"input {X}\nwitness {OVER_40}\nend\n".encode(), three)
    )
    # To say b, its score must reach that of a, 1, plus 1 (a comes first), and be no less than c's.
    rules = [[AGE, "keep", None, 1]]
    proof = b"constraints 0:-1,1:1>=2\nrefute 0 1 1\nclose\nend\n"
    holds = claim("robustness", three, target="b", columns=rules, **others)
    assert accepted(holds + f"input {X}\n".encode() + proof, three) is None
    numbered = claim("robustness", model, target=1, columns=rules, **others)
    assert accepted(numbered + f"input {X}\n".encode() + proof, model) is None
    for wrong in (3, "1"):
        odd = claim("robustness", model, target=wrong, columns=rules, **others)
        assert "no class" in str(accepted(odd + f"input {X}\n".encode() + proof, model))
    at_once = claim("robustness", three, target="a", answer="radius", radius=0, distance="columns")
    assert accepted(at_once + f"input {X}\nwitness {X}\nend\n".encode(), three) is None


def test_columns_that_do_not_change_together() -> None:
    together: dict[str, Any] = {"apart": [[AGE, CITY]], "columns": [[AGE, "any", [0, 1], 1]], "epsilon": 3}
    one, other = (("refute 0 3 1" + keep, "close") for keep in (f" keep {AGE}", f" keep {CITY}"))
    head = "constraints 0:1>=2"
    assert accepted(about(head, *one, *other, **together), MODEL) is None
    assert "shown to hold on 0" in str(accepted(about(head, *one, **together), MODEL))
    assert "reaches the need" in str(accepted(about(head, "refute 0 3 1", "close", **together), MODEL))
    assert "kept apart" in str(accepted(about(head, *one, epsilon=3), MODEL))
    violated = {**together, "answer": "violated"}
    assert "together" in str(accepted(about(f"witness {OSLO_OVER_25}", **violated), MODEL))
    less = {**violated, "apart": [[OWNER, AGE, CITY]]}
    assert accepted(about(f"witness {OSLO_OVER_25}", **less), MODEL) is None
    for odd in (" keep", " keep 2,1", " keep 1,1", " keep 9", " keep -1", " keep 1 2", " KEEP 1"):
        assert accepted(about(head, "refute 0 3 1" + odd, "close", *other, **together), MODEL)


def test_the_bits_may_be_kept_apart_too() -> None:
    text = claim("robustness", MODEL, epsilon=3, apart=[[1, 2], [1, 4], [2, 4]]) + f"input {X}\n".encode()
    proofs = [f"refute 0 3 1 keep {some}\nclose\n" for some in ("1,2", "1,4", "2,4")]
    whole = text + b"constraints 0:1>=2\n" + "".join(proofs).encode() + b"end\n"
    assert accepted(whole, MODEL) is None
    for proof in proofs:
        assert "shown to hold on 0" in str(accepted(whole.replace(proof.encode(), b""), MODEL))


def test_covering_sets() -> None:
    """Against all sets of columns that have one of each list."""
    rng = np.random.default_rng(0)
    seen: Counter[bool] = Counter()
    for _ in range(400):
        apart = [
            sorted(rng.choice(6, size=rng.integers(1, 4), replace=False).tolist())
            for _ in range(rng.integers(1, 4))
        ]
        keeps = [
            tuple(sorted(rng.choice(6, size=rng.integers(0, 3), replace=False).tolist()))
            for _ in range(rng.integers(0, 6))
        ]
        sets = [{c for c in range(6) if k >> c & 1} for k in range(64)]
        hitting = [kept for kept in sets if all(kept & set(some) for some in apart)]
        expected = all(any(kept.issuperset(keep) for keep in keeps) for kept in hitting)
        assert covers(apart, frozenset(keeps)) == expected
        assert covers(apart, frozenset(hitting_sets(apart)))
        seen[expected] += 1
    assert min(seen.values()) > 50


def test_covering_takes_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(12)]
    last = frozenset({(33,), (34,), (35,)})
    long = [[i] for i in range(1000)]
    assert covers(long, frozenset({tuple(range(1000))}))
    monkeypatch.setattr(limits, "MOST_SETS_APART", 1000)
    assert covers(apart[-3:], last)
    with pytest.raises(tmcheck.Refused, match="too many sets"):
        covers(apart, last)


def test_equivalence_on_every_possible_input() -> None:
    """The second model also counts what no input has: over 40, not over 25."""
    a = tv.Model.from_clauses(6, [[3]], [[1]], bias=-1, space=SPACE)
    b = tv.Model.from_clauses(6, [[3, 2]], [[1]], bias=-1, space=SPACE)
    ways = b"everywhere\nconstraints 0:1>=1 1:-1>=0 0:-1>=0 1:1>=1\n"
    proof = b"refute 0,1 3 1\nsplit 1 2\nclose\nclose\nrefute 2,3 3 1\nsplit 1 2\nclose\nclose\nend\n"
    columns = claim("equivalence", a, b, distance="columns")
    assert accepted(columns + ways + proof, a, b) is None
    bits = claim("equivalence", a, b)
    assert accepted(bits + ways + proof, a, b)
    witness = bits.replace(b'"holds"', b'"violated"') + b"everywhere\nwitness 20\nend\n"
    assert accepted(witness, a, b) is None
    impossible = columns.replace(b'"holds"', b'"violated"') + b"everywhere\nwitness 20\nend\n"
    assert "outside" in str(accepted(impossible, a, b))
    # A structural proof: the sum of (x2) and -(x1 and x2) is (x2 and not x1), which is no possible input.
    normal = packed_step("rewrite", packed_numbers([0, 1]))
    unload = packed_step("set", packed_numbers([1, 0]))
    structural = b"refute 0,1 6 1 bits\ncover 1\nrefute 2,3 6 1 bits\n" + unload + b"close\nend\n"
    assert accepted(columns + ways + normal + structural, a, b) is None
    assert "subcube that is not refuted" in str(accepted(bits + ways + normal + structural, a, b))
    assert "reaches the need" in str(
        accepted(columns + ways + normal + structural.replace(b"cover 1", b"cover 0"), a, b)
    )
    other = structural.replace(b"6 1 bits", b"3 1 bits")  # the radius is the number of bits
    assert "not every input" in str(accepted(columns + ways + normal + other, a, b))


def test_subcubes_of_possible_inputs() -> None:
    a = tv.Model.from_clauses(6, [[3]], [[1]], bias=-1, space=SPACE)
    head = claim("equivalence", a, a, distance="columns") + b"everywhere\nconstraints 0:1>=1 1:-1>=0\n"

    def reason(line: str, *steps: str) -> str:
        return str(accepted(head + "\n".join([line, *steps, "end\n"]).encode(), a, a))

    assert "shown to hold on 0" in reason("refute 0,1 3 1 -3", "close")
    assert "shown to hold on 0" in reason("refute 0 3 1 2,-3", "close")
    assert "without possible inputs" in reason("refute 0,1 3 1 -2,3", "close")
    assert "without possible inputs" in reason("refute 0,1 3 1 4,5", "close")
    assert "beyond the radius" in reason("refute 0,1 0 1 3", "close")
    assert "subcube that is none" in reason("refute 0,1 3 1 3,-3", "close")
    assert "subcube that is none" in reason("refute 0,1 3 1 7", "close")
    assert "not every input" in reason("refute 0,1 3 1 bits", "close")


def test_two_models_with_and_without_a_space() -> None:
    plain = tv.Model.from_clauses(6, [[3, 2]], [[1]], bias=-1)
    other = tv.Model.from_clauses(
        6, [[3, 2]], [[1]], bias=-1, space=tv.Space([tv.Number(f"n{i}", [0, 1]) for i in range(3)])
    )
    spaced = tv.Model.from_clauses(6, [[3]], [[1]], bias=-1, space=SPACE)
    lines = b"everywhere\nconstraints 0:1>=1 1:-1>=0 0:-1>=0 1:1>=1\n"
    proof = b"refute 0,1 3 1\nsplit 1 2\nclose\nclose\nrefute 2,3 3 1\nsplit 1 2\nclose\nclose\nend\n"
    for models, said in (
        ((spaced, plain), None),
        ((plain, spaced), None),
        ((spaced, other), "not the same"),
    ):
        reason = accepted(claim("equivalence", *models, distance="columns") + lines + proof, *models)
        assert reason is None if said is None else said in str(reason)


WRONG: list[dict[str, Any]] = [
    {"distance": None},
    {"distance": "cuts"},
    {"distance": "bits", "columns": [[1, "keep", None, 1]]},
    {"features": "80"},
    {"direction": "add"},
    {"columns": []},
    {"columns": [[1, "any", None, 1]]},
    {"columns": [[1, "keep", None, 2]]},
    {"columns": [[1, "keep", [1], 1]]},
    {"columns": [[1, "up", [], 1]]},
    {"columns": [[1, "up", [2, 1], 1]]},
    {"columns": [[1, "up", [1, 1], 1]]},
    {"columns": [[1, "up", [True], 1]]},
    {"columns": [[1, "up", None, -1]]},
    {"columns": [[1, "up", None, (1 << 20) + 1]]},
    {"columns": [[1, "up", None, 1.0]]},
    {"columns": [[1, "up", None]]},
    {"columns": [[1, "up", None, 1, 1]]},
    {"columns": [[1, "sideways", None, 1]]},
    {"columns": [[2, "keep", None, 1], [1, "keep", None, 1]]},
    {"columns": [[1, "keep", None, 1], [1, "keep", None, 1]]},
    {"columns": [[-1, "keep", None, 1]]},
    {"columns": [[1, "any", [0, 1, 2], 1]]},
    {"columns": {}},
    {"apart": [[1, 1]]},
    {"apart": [[2, 1]]},
    {"apart": [[0, 1], [0, 1]]},
    {"apart": [[]]},
    {"apart": [[0]] * 2000},
    {"target": 1, "scope": 1},
    {"epsilon": 1 << 31},
    {"answer": "radius", "epsilon": None, "radius": 1 << 31},
]
REFUSED: list[dict[str, Any]] = [
    {"columns": [[3, "keep", None, 1]]},
    {"columns": [[2, "up", None, 1]]},
    {"columns": [[1, "any", [3], 1]]},
    {"apart": [[0, 3]]},
    {"target": 7},
]


@pytest.mark.parametrize("others", [*WRONG, *REFUSED], ids=str)
def test_claims_that_are_none(others: dict[str, Any]) -> None:
    text = about(*PROOF, **others)
    wrong = tmcheck.Unreadable if others in WRONG else tmcheck.Refused
    with pytest.raises(wrong):
        tmcheck.check(io.BytesIO(text), [encode(MODEL)])


def test_the_words_name_columns_and_values() -> None:
    rules = [[OWNER, "up", None, 3], [AGE, "down", None, 1], [CITY, "any", [2, 3], 1]]
    text = about(*PROOF, columns=rules, apart=[[OWNER, AGE]])
    found = tmcheck.check(io.BytesIO(text), [encode(MODEL)])
    assert tmcheck.in_words(found).endswith(
        "keeps its decision within a cost of 1 (changed column(s), weighted) of the input 10, where 'owner' "
        "only rises and costs 3 times as much; 'age' only falls; 'city' only becomes 'unseen' or 'missing', "
        "without changing all of 'owner' and 'age'"
    )
    bare = json.loads(text.split(b"\n")[0])
    assert "where column 0 only rises" in tmcheck.in_words(bare)
    assert "where 'owner' only rises" in tmcheck.in_words(bare, [encode(MODEL)])
    steps = about(*PROOF, distance="steps", columns=[[AGE, "any", [0, 2], 1]])
    said = tmcheck.in_words(tmcheck.check(io.BytesIO(steps), [encode(MODEL)]))
    assert said.endswith("within 1 step(s) of the input 10, where 'age' only becomes 'up to 25' or 'over 40'")
    target = about(*PROOF, distance="steps", target=1)
    said = tmcheck.in_words(tmcheck.check(io.BytesIO(target), [encode(MODEL)]))
    assert "does not decide 1 within 1 step(s)" in said
    many = [[i, "keep", None, 1] for i in range(20)]
    flags = tv.Model.from_clauses(20, [[1]], [[1]], bias=-1)
    wide = claim("robustness", flags, distance="columns", epsilon=3, columns=many)
    wide += b"input 000000\nconstraints 0:1>=1\nrefute 0 3 1\nclose\nend\n"
    said = tmcheck.in_words(tmcheck.check(io.BytesIO(wide), [encode(flags)]))
    assert "'x11' stays; and 8 more (all of them have the sha256 " in said


# ------------------------------------------------------------------------------------------- random claims


def random_model(rng: Rng, space: tv.Space | None, n: int, outputs: int) -> tv.Model:
    clauses = [
        (rng.choice(n, size=rng.integers(1, 4), replace=False) + 1) * rng.choice([-1, 1]) for _ in range(6)
    ]
    clauses = [(np.abs(c) * rng.choice([-1, 1], size=len(c))).tolist() for c in clauses]
    return tv.Model.from_clauses(
        n,
        clauses,
        rng.integers(-3, 4, size=(outputs, 6)),
        bias=rng.integers(-3, 4, size=outputs),
        clamp=int(rng.integers(1, 5)) if rng.random() < 0.2 else None,
        space=space,
    )


def random_rules(rng: Rng, space: tv.Space) -> list[list[Any]] | None:
    rules = []
    for number, column in enumerate(space.columns):
        n_values = len(column.values)
        ways = ["any", "keep"] + (["up", "down"] if column.kind != "category" else [])
        way = str(rng.choice(ways))
        values = None
        if rng.random() < 0.3 and n_values > 1:
            size = int(rng.integers(1, n_values))
            values = sorted(rng.choice(n_values, size=size, replace=False).tolist())
        factor = int(rng.choice([0, 1, 1, 2, 3]))
        rule = [number, way, None, 1] if way == "keep" else [number, way, values, factor]
        if rng.random() < 0.4 and rule[1:] != ["any", None, 1]:
            rules.append(rule)
    return rules or None


def random_claim(rng: Rng, space: tv.Space, question: str, n_classes: int) -> dict[str, Any]:
    others: dict[str, Any] = {"distance": str(rng.choice(["columns", "steps"]))}
    others["columns"] = random_rules(rng, space)
    if question == "robustness" and rng.random() < 0.3:
        others["target"] = int(rng.integers(0, n_classes))
    if question == "robustness" and rng.random() < 0.4:
        n = len(space.columns)
        lists = {
            tuple(sorted(rng.choice(n, size=min(n, int(rng.integers(1, 3))), replace=False).tolist()))
            for _ in range(int(rng.integers(1, 3)))
        }
        others["apart"] = [list(some) for some in lists]
    return others


@pytest.mark.parametrize("seed", first(2, range(12)))
def test_what_is_proved_is_true_and_what_is_true_is_proved(seed: int) -> None:
    """Robustness and similarity: a proof is found iff there is no witness, and the radius is the nearest."""
    rng = np.random.default_rng(seed)
    seen: Counter[Any] = Counter()
    for _ in range(60):
        space = random_space(rng)
        n, outputs = space.n_bits, int(rng.integers(1, 4))
        question = str(rng.choice(["robustness", "robustness", "similarity"]))
        a = random_model(rng, space, n, outputs)
        models = [a] if question == "robustness" else [a, random_model(rng, None, n, outputs)]
        possible = all_inputs(n)[space.possible(all_inputs(n))]
        x = possible[rng.integers(0, len(possible))]
        others = random_claim(rng, space, question, len(a.classes))
        full = json.loads(claim(question, *models, **others))
        costs = violating_costs(full, models, x)
        assert costs is not None
        nearest = min(costs, default=None)
        epsilon = int(rng.integers(0, 6)) if nearest is None or rng.random() < 0.5 else max(0, nearest - 1)
        text = prove(question, models, x, rng, **{**others, "epsilon": epsilon})
        assert (text is not None) == (nearest is None or nearest > epsilon)
        seen[question, text is not None, "target" in others, "apart" in others] += 1
        if text is not None:
            assert refusal(text, models) is None
            _mutate_the_claim(rng, text, models, space)
        if nearest is not None:
            _check_the_radius(rng, question, models, x, nearest, others)
    assert len(seen) > 6


def _check_the_radius(
    rng: Rng, question: str, models: list[tv.Model], x: Any, nearest: int, others: dict[str, Any]
) -> None:
    """The nearest witness, with a proof that there is no nearer one, is accepted; no other number is."""
    full = json.loads(claim(question, *models, **others))
    space = models[0].space
    region = region_of(full, space, x)
    assert region is not None
    proof = b"end\n"
    if nearest:
        text = prove(question, models, x, rng, **{**others, "epsilon": nearest - 1})
        assert text is not None
        proof = text.split(b"\n", 2)[2]
    found = []
    for z, cost in region:
        for radius in {cost, nearest}:
            head = claim(question, *models, **{**others, "answer": "radius", "radius": radius})
            lines = f"input {hexadecimal(x)}\nwitness {hexadecimal(z)}\n".encode()
            if accepted(head + lines + proof, *models) is None:
                assert radius == nearest
                found.append(z)
    assert found


def _mutate_the_claim(rng: Rng, text: bytes, models: list[tv.Model], space: tv.Space) -> None:
    """The same proof for another claim: if it is accepted, the claim is true."""
    first_line, rest = text.split(b"\n", 1)
    given = json.loads(first_line)
    for change in (
        {"epsilon": given["epsilon"] + 1},
        {"distance": "columns" if given["distance"] == "steps" else "steps"},
        {"distance": "bits", "columns": None},
        {"columns": random_rules(rng, space)},
        {"columns": None},
        {"apart": None},
        {"target": None},
        {"target": 0},
        {"apart": [[0]]},
    ):
        accepted(claim_line({**given, **change}) + rest, *models)


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_equivalence_of_random_models_by_splitting(seed: int) -> None:
    """On possible inputs: trees prove exactly what is true."""
    rng = np.random.default_rng(seed)
    seen: Counter[bool] = Counter()
    for _ in range(80):
        space = random_space(rng)
        n = space.n_bits
        a = random_model(rng, space, n, 1)
        b = random_model(rng, space, n, 1) if rng.random() < 0.3 else a
        if b is a:
            weights = np.append(a.weights, [[int(rng.integers(1, 4))]], axis=1)
            impossible = all_inputs(n)[~space.possible(all_inputs(n))]
            row = impossible[rng.integers(0, len(impossible))] if len(impossible) else np.ones(n, np.uint8)
            clause = [i + 1 if bit else -i - 1 for i, bit in enumerate(row)]
            clauses = [list(map(int, c)) for c in a.clauses]
            b = tv.Model.from_clauses(n, [*clauses, clause], weights, bias=a.bias, clamp=a.clamp, space=space)
        head = claim("equivalence", a, b, distance="columns")
        read = [read_model(encode(model)).model for model in (a, b)]
        machines = [model for model in read if isinstance(model, Machine)]
        region = Terms(json.loads(head), read, Reader(io.BytesIO())).everywhere()
        around = Surroundings(Pool(machines), region)
        lines: list[str] = ["everywhere"]
        numbers: dict[Constraint, int] = {}
        proved = True
        for way in ways_to_violate(machines, None, None):
            for constraint in sorted(way):
                if constraint not in numbers:
                    numbers[constraint] = len(numbers)
                    lines.append(f"constraints {spelled(constraint)}")
            listed = ",".join(str(numbers[constraint]) for constraint in sorted(way))
            radius = n
            lines.append(f"refute {listed} {radius} 4")
            tree = Refutation(around.problem(sorted(way), (radius, (), ())), 4)
            try:
                lines += steps_of(tree, rng)
            except tmcheck.Refused:
                proved = False
        text = head + "\n".join([*lines, "end\n"]).encode()
        assert is_true(text, [a, b]) == proved
        assert (accepted(text, a, b) is None) == proved
        seen[proved] += 1
    assert min(seen[True], seen[False]) > 5
