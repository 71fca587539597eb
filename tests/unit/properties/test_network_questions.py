"""Questions about networks: what can be asked, what can't, and where witnesses may lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.network_solvers import call_here
from support.tiny_networks import random_network_case
from tmverify.bnn import BnnModel, PixelCuts
from tmverify.bnn.query import NetworkQuery
from tmverify.engines.network import engine as network_engine
from tmverify.properties.allowed import Allowed
from tmverify.verify import nearest

ENGINES = ("auto", "search", "sat", "brute")
X = [0, 1, 0, 1]


@pytest.fixture
def network() -> BnnModel:
    """Class 1 iff at least three of four bits are 1."""
    return BnnModel.from_layers([([[1] * 4], [3])], [[-1], [1]], feature_names=list("abcd"))


@pytest.fixture
def machine() -> tv.Model:
    return tv.Model.from_clauses(4, [[1]], [1])


def test_the_query_of_a_network(network: BnnModel) -> None:
    query = tv.robustness_query(network, X, 2, allowed=Allowed(features=["a", "b"], direction="add"))
    assert isinstance(query, NetworkQuery)
    assert query.expected == 0
    assert query.region.mutable.tolist() == [True, False, False, False]
    assert query.machines == (network,)
    assert query.topic is not None
    assert (query.topic.question, query.topic.scope, query.topic.models) == ("robustness", "team", (network,))
    assert query.decisions(np.array([X, [1, 1, 0, 1]], np.uint8)).tolist() == [[0, 0], [0, 1]]
    assert query.refuted_by(np.array([1, 1, 0, 1], np.uint8))
    assert not query.refuted_by(np.array([0, 1, 1, 1], np.uint8))  # decided otherwise, but not in the region
    assert not query.refuted_by(np.array(X, np.uint8))


def test_queries_can_be_decided_themselves(network: BnnModel) -> None:
    assert tv.decide(tv.robustness_query(network, X, 0)).status is tv.Status.HOLDS
    assert tv.decide(tv.robustness_query(network, X, 1), engine="search").status is tv.Status.VIOLATED
    assert nearest(tv.robustness_query(network, X, 4), engine="search").radius == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_say_what_a_network_decides(engine: str, network: BnnModel) -> None:
    named = replace(network, classes=("few", "many"))
    verdict = tv.check_robustness(named, X, 1, engine=engine)
    assert verdict.status is tv.Status.VIOLATED
    assert verdict.decisions == ("few", "many")
    assert verdict.flips is not None
    assert verdict.flips.tolist() in ([0], [2])
    radius = tv.robustness_radius(named, X, direction="remove", engine=engine)
    assert (radius.radius, radius.witness) == (float("inf"), None)
    several = tv.check_universal_robustness(named, [X, [0] * 4, [1] * 4], 1, "2/3", engine=engine)
    assert several.status is tv.Status.HOLDS
    assert [each.status for each in several.verdicts] == ["violated", "holds", "holds"]


Ask = Callable[..., object]


def robustness(model: Any, x: Any = X, epsilon: Any = 1, **options: Any) -> object:
    return tv.check_robustness(model, x, epsilon, **options)


def radius(model: Any, x: Any = X, epsilon: Any = None, **options: Any) -> object:
    return tv.robustness_radius(model, x, **options)


def universal(model: Any, x: Any = X, epsilon: Any = 1, **options: Any) -> object:
    return tv.check_universal_robustness(model, [x], epsilon, 1, **options)


ASKS = (robustness, radius, universal)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"scope": 1}, "scope must be 'team' for a binarized network. Got 1"),
    ({"scope": 0}, "scope must be 'team' for a binarized network. Got 0"),
    ({"scope": "own"}, "scope must be 'team' for a binarized network. Got 'own'"),
    ({"scope": None}, "scope must be 'team' for a binarized network. Got None"),
    ({"scope": np.array(["team"])}, "scope must be 'team' for a binarized network"),
    ({"engine": "paper"}, "auto, search, sat, brute for a binarized network. Got 'paper'"),
    ({"engine": "magic"}, "engine must be one of"),
    ({"engine": "brute", "certificate": True}, "auto, search, sat for a certificate"),
    ({"x": [0, 1, 0]}, "4"),
    ({"x": [0, 1, 0, 2]}, "0 and 1"),
    ({"features": ["a", "e"]}, "names of the model's features. Got 'e'"),
    ({"features": [1, 0, 1]}, "a mask of 4 values"),
    ({"features": "abcd"}, "a mask of 4 values"),
    ({"direction": "up"}, "direction must be 'add', 'remove' or None. Got 'up'"),
    ({"timeout": 0}, "timeout must be positive"),
]


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(("options", "message"), WRONG)
def test_what_is_asked_wrongly(ask: Ask, options: dict[str, Any], message: str, network: BnnModel) -> None:
    with pytest.raises(tv.InvalidInputError, match=message):
        ask(network, **options)


@pytest.mark.parametrize("ask", [robustness, universal])
@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (-1, "between 0 and n_features=4. Got -1"),
        (5, "between 0 and n_features=4. Got 5"),
        (1.0, "an integer, a number of changes. Got 1.0"),
        (True, "an integer, a number of changes. Got True"),
    ],
)
def test_an_epsilon_that_is_none(ask: Ask, epsilon: Any, message: str, network: BnnModel) -> None:
    with pytest.raises(tv.InvalidInputError, match=message):
        ask(network, epsilon=epsilon)


def test_names_of_features_that_have_none(network: BnnModel) -> None:
    with pytest.raises(tv.InvalidInputError, match="the model has no feature_names"):
        tv.check_robustness(replace(network, space=tv.Space.flags(network.n_features)), X, 1, features=["a"])


def test_networks_are_not_compared(network: BnnModel, machine: tv.Model) -> None:
    both: list[tuple[Any, Any]] = [(network, machine), (machine, network), (network, network)]
    for a, b in both:
        for ask in (
            lambda a=a, b=b: tv.check_similarity(a, b, X, 1),
            lambda a=a, b=b: tv.similarity_radius(a, b, X),
            lambda a=a, b=b: tv.check_equivalence(a, b),
            lambda a=a, b=b: tv.check_universal_similarity(a, b, [X], 1, 1),
            lambda a=a, b=b: tv.similarity_query(a, b, X, 1),
            lambda a=a, b=b: tv.equivalence_query(a, b),
        ):
            with pytest.raises(tv.InvalidInputError, match="BnnModel can be asked about its robustness only"):
                ask()


@pytest.mark.parametrize("ask", ASKS)
def test_what_is_neither_machine_nor_network(ask: Ask) -> None:
    for other in (None, "m.tm", np.zeros(4)):
        with pytest.raises(tv.InvalidInputError, match=r"must be a tmverify\.Model"):
            ask(other)


@pytest.mark.parametrize("engine", ENGINES)
def test_witnesses_flip_no_pixel_that_can_not_change(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a level of 0 or 256 leaves no choice, even if ``features`` names the pixel."""
    monkeypatch.setattr(network_engine, "call", call_here)
    rng = np.random.default_rng(8)
    met = 0
    for _ in range(60):
        case = random_network_case(rng)
        n, bits_only = len(case.x), replace(case.network, cuts=None)
        fixed = rng.random(n) < 0.4
        levels = np.where(fixed, rng.choice([0, 256], n), rng.integers(1, 256, n))
        model = replace(case.network, cuts=PixelCuts(levels, rng.random(n) < 0.5))
        region = tv.robustness_query(model, case.x, n, allowed=Allowed(features=np.ones(n, int))).region
        assert region.mutable.tolist() == (~fixed).tolist()
        assert region.rules.features is None  # all were allowed
        for features in (None, np.ones(n, int)):
            found = tv.robustness_radius(model, case.x, features=features, engine=engine)
            plain = tv.robustness_radius(bits_only, case.x, features=~fixed, engine="brute")
            assert found.radius == plain.radius
            if found.flips is not None:
                assert not fixed[found.flips].any()
                met += 1
    assert met > 20


def test_a_witness_as_grey_levels(network: BnnModel) -> None:
    cuts = PixelCuts(np.array([10, 100, 200, 256]), np.array([True, False, True, False]))
    model = replace(network, cuts=cuts)
    image = np.array([[9, 99], [100, 7]])
    bits = model.binarize(image)
    assert bits.tolist() == [0, 1, 0, 1]
    found = tv.robustness_radius(model, bits)
    assert found.radius == 1
    assert found.witness is not None
    near = cuts.nearest_grey(image, found.witness)
    assert model.predict(model.binarize(near)[None, :]).tolist() == [1]
    assert near.tolist() in ([[10, 99], [100, 7]], [[9, 99], [200, 7]])
