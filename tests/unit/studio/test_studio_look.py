"""A look at an input says what the evaluator says, of random machines with random spaces."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tmverify as tv
from support.studios import opened
from support.tiny import random_model
from support.tiny_columns import random_space, with_space
from tmverify.model.evaluate import decide, reference_scores
from tmverify.model.rules import clause_text
from tmverify.properties.formula import leads
from tmverify.studio.look import MOST_CLAUSES, Looks


@pytest.mark.parametrize("seed", range(150))
def test_a_look_says_what_the_evaluator_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    model = with_space(random_model(rng, space.n_bits, int(rng.integers(1, 4))), space)
    bits = rng.integers(0, 2, space.n_bits).astype(np.uint8)
    told = json.loads(Looks(opened(model)).at(bits))
    assert told["possible"] == bool(space.possible(bits[None, :])[0])
    (own,) = told["models"]

    scores = reference_scores(model, bits[None, :])
    cut = scores if model.clamp is None else np.clip(scores, -model.clamp, model.clamp)
    (decision,) = decide(scores, model.tie, model.clamp).tolist()
    assert own["decision"] == str(model.classes[decision]) == str(model.predict(bits[None, :])[0])
    assert own["margin"] == leads(cut, np.array([decision]))[0] >= 0
    assert own["tie"] == (own["margin"] == 0)
    votes = [-cut[0, 0], cut[0, 0]] if model.n_outputs == 1 else cut[0].tolist()
    assert own["votes"] == [{"class": str(c), "votes": n} for c, n in zip(model.classes, votes, strict=True)]
    assert own["score"] == (cut[0, 0] if model.n_outputs == 1 else None)
    others = [n for c, n in enumerate(votes) if c != decision]
    runner_up = [str(c) for c in model.classes].index(own["runner_up"])
    assert votes[runner_up] == max(others)

    holds = model.clauses.outputs(bits[None, :], empty_fires=model.empty_clause == "fires")[0]
    firing = np.flatnonzero(holds & (model.weights != 0).any(axis=0))
    assert own["firing"] == len(firing)
    assert sorted(clause["id"] for clause in own["clauses"]) == firing.tolist()
    strength = [max(map(abs, clause["weight"])) for clause in own["clauses"]]
    assert strength == sorted(strength, reverse=True)
    for clause in own["clauses"]:
        j = clause["id"]
        assert clause["weight"] == model.weights[:, j].tolist()
        assert clause["text"] == clause_text(model, j, 12)
        read = set(space.columns_of(np.abs(np.array(model.clauses[j], np.int64)) - 1).tolist())
        assert {column for column, _ in clause["columns"]} <= read


def test_clauses_against_the_decision_are_seen_beside_many_for_it() -> None:
    n = 3 * MOST_CLAUSES
    clauses = [[1]] * n + [[-2]] * n
    model = tv.Model.from_clauses(2, clauses, [[2] * n + [-1] * n])
    (own,) = json.loads(Looks(opened(model)).at(np.array([1, 0], np.uint8)))["models"]
    sides = [clause["for"] for clause in own["clauses"]]
    assert len(sides) == MOST_CLAUSES
    assert sides == ["1"] * sides.count("1") + ["0"] * sides.count("0")
    assert min(sides.count("0"), sides.count("1")) >= 10


def test_what_a_clause_wants_of_a_single_bit_and_for_whom_it_votes() -> None:
    model = tv.Model.from_clauses(3, [[1, -3]], [[1], [-4]], classes=("a", "b"))
    (own,) = json.loads(Looks(opened(model)).at(np.array([1, 1, 0], np.uint8)))["models"]
    (clause,) = own["clauses"]
    assert (clause["for"], clause["votes"], clause["columns"]) == ("b", -4, [[0, 1], [2, 0]])
    binary = tv.Model.from_clauses(3, [[1, -3]], [[-4]], classes=("a", "b"))
    (own,) = json.loads(Looks(opened(binary)).at(np.array([1, 1, 0], np.uint8)))["models"]
    (clause,) = own["clauses"]
    assert (clause["for"], clause["votes"]) == ("a", 4)
