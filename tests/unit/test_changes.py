"""The nearest changes: against every input of tiny spaces, with certificates; limits, words and errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.columns import plain_costs, random_allowed, random_machine, random_row, random_space, values_of
from support.tiny import all_inputs
from tmverify import verify
from tmverify.properties.allowed import Allowed

Set = frozenset[str]


def changing_sets(model: tv.Model, x: Any, allowed: Allowed, target: int | None) -> dict[Set, int]:
    """For each set of columns whose change alters the decision, the least cost, by looking at every input."""
    space, found = model.space, dict[Set, int]()
    before = model.predict(x[None, :])[0]
    inputs = all_inputs(space.n_bits)
    inputs = inputs[space.possible(inputs)]
    costs = plain_costs(space, allowed, x, inputs)
    differing = values_of(space, inputs) != values_of(space, x[None, :])
    for cost, after, places in zip(costs, model.predict(inputs), differing, strict=True):
        if cost is None or (after == before if target is None else after != target):
            continue
        changed = frozenset(c.name for c, differs in zip(space.columns, places, strict=True) if differs)
        found[changed] = min(cost, found.get(changed, cost))
    return found


def expected_costs(found: dict[Set, int]) -> Iterator[int]:
    """The costs of the sets, cheapest first, without those that are comparable to an earlier one."""
    seen: list[Set] = []
    for columns, cost in sorted(found.items(), key=lambda item: (item[1], len(item[0]))):
        if any(other <= columns for other in seen):
            continue
        if not any(columns < other for other in seen):
            yield cost
        seen.append(columns)


def check_seed(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        space = random_space(rng)
        model = random_machine(rng, space, int(rng.choice([1, 2, 3])))
        x, allowed = random_row(rng, space), random_allowed(rng, space)
        if allowed.distance == "bits":
            allowed = Allowed()
        target = model.classes[int(rng.integers(len(model.classes)))] if rng.random() < 0.3 else None
        certificate = rng.random() < 0.3
        given = {name: getattr(allowed, name) for name in Allowed.__dataclass_fields__}
        k = int(rng.integers(1, 7))
        answer = tv.nearest_changes(model, x, k, target=target, certificate=certificate, **given)
        found = changing_sets(model, x, allowed, target)  # type: ignore[arg-type]
        assert answer.complete
        assert [change.cost for change in answer] == [*expected_costs(found)][:k]
        for change in answer:
            assert found[frozenset(change.columns)] == change.cost
            assert change.optimal
            assert space.possible(change.witness[None, :])[0]
            assert model.predict(change.witness[None, :])[0] == change.decision
            assert change.changes == space.changes(x, change.witness)
            if certificate:
                assert change.certificate is not None
                change.certificate.check(model)


@pytest.mark.parametrize("seed", range(4))
def test_against_every_input(seed: int) -> None:
    check_seed(seed, 60)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 120))
def test_against_every_input_more(seed: int) -> None:
    check_seed(seed, 1000)


SPACE = tv.Space(
    [tv.Flag("owner"), tv.Number("age", [25, 40, 60]), tv.Category("savings", ["little", "moderate", "rich"])]
)
# good if the owner is over 25, or savings are not little and the age is over 40
MODEL = tv.Model.from_clauses(7, [[1, 2], [3, -5]], [[1, 1]], bias=-1, space=SPACE, classes=["bad", "good"])
ROW = {"owner": 0, "age": 30, "savings": "little"}


def test_in_words() -> None:
    answer = tv.nearest_changes(MODEL, ROW)
    assert [str(change) for change in answer] == [
        "owner 0 → 1",
        "age 25 to 40 → 40 to 60, savings little → moderate",
    ]
    assert [change.cost for change in answer] == [1, 2]
    assert [change.columns for change in answer] == [("owner",), ("age", "savings")]
    assert (answer.before, answer[0].decision) == ("bad", "good")
    assert len(answer[:1]) == 1
    assert repr(answer[0]) == "<good at cost 1 with: owner 0 → 1>"


def test_what_may_change() -> None:
    assert [c.columns for c in tv.nearest_changes(MODEL, ROW, freeze=["owner"])] == [("age", "savings")]
    assert len(tv.nearest_changes(MODEL, ROW, freeze=["owner"], decrease=["age"])) == 0
    dear = tv.nearest_changes(MODEL, ROW, cost={"owner": 5})
    assert [change.cost for change in dear] == [2, 5]
    assert [c.cost for c in tv.nearest_changes(MODEL, ROW, distance="steps", within={"age": (70, None)})] == [
        1,
        3,
    ]


def test_the_wished_class_may_be_the_own_one() -> None:
    answer = tv.nearest_changes(MODEL, ROW, target="bad")
    assert [(change.cost, change.changes) for change in answer] == [(0, ())]


def test_changes_that_cost_nothing() -> None:
    free = tv.nearest_changes(MODEL, ROW, cost={"age": 0, "savings": 0})
    assert [(change.cost, change.columns) for change in free] == [(0, ("age", "savings")), (1, ("owner",))]


def test_a_limit_gives_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    real = verify.nearest

    def tired(query: Any, **given: Any) -> tv.Radius:
        radius = real(query, **given)
        if not query.region.mutable.any():  # the part without the owner
            return replace(radius, lower=1, stop_reason=tv.StopReason.TIMEOUT, detail="no answer within 1 s")
        return radius

    monkeypatch.setattr("tmverify.verify.changes.nearest", tired)
    answer = tv.nearest_changes(MODEL, ROW)
    assert [change.optimal for change in answer] == [True, False]
    assert not answer.complete
    assert answer.stop_reason is tv.StopReason.TIMEOUT
    assert "open" in repr(answer)
    assert "open" in repr(answer[1])


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "5", 10**6])
def test_k(k: Any) -> None:
    with pytest.raises(tv.InvalidInputError, match="k must be an integer from 1 to"):
        tv.nearest_changes(MODEL, ROW, k)


def test_errors() -> None:
    with pytest.raises(tv.InvalidInputError, match="The class must be one of 'bad', 'good'"):
        tv.nearest_changes(MODEL, ROW, target="Good")
    with pytest.raises(tv.InvalidInputError, match=r"freeze must name columns .* is 'owner' meant"):
        tv.nearest_changes(MODEL, ROW, freeze=["ownr"])
    with pytest.raises(tv.InvalidInputError, match="no possible input: its column 'savings' is impossible"):
        tv.nearest_changes(MODEL, [0, 1, 0, 0, 1, 1, 0])
