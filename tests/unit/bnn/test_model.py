"""The frozen network: what it accepts, what it computes, and that it stays as it is."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from support.tiny import all_inputs
from support.tiny_networks import random_network
from tmverify import InvalidInputError, ModelError
from tmverify.bnn import BnnModel, Layer, PixelCuts
from tmverify.bnn.evaluate import activations, reference_scores

BLOCK: tuple[Any, Any] = ([[1, -1, 1], [-1, -1, 1]], [2, 1])
OUTPUT = [[1, 1], [-1, 1]]


def network(**changes: Any) -> BnnModel:
    return BnnModel.from_layers(**{"layers": [BLOCK], "output": OUTPUT, **changes})


def slow_scores(model: BnnModel, bits: list[int]) -> list[int]:
    """The definition, in plain Python: products of +1 and -1."""
    values = [2 * bit - 1 for bit in bits]

    def n_matches(row: list[int]) -> int:
        return sum(1 for value, weight in zip(values, row, strict=True) if value * weight == 1)

    for layer in model.layers:
        rows = zip(layer.weights.tolist(), layer.thresholds.tolist(), strict=True)
        values = [1 if n_matches(row) >= threshold else -1 for row, threshold in rows]
    return [
        model.scale * n_matches(row) + base
        for row, base in zip(model.output.tolist(), model.bias.tolist(), strict=True)
    ]


def test_scores_and_predictions_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(20261118)
    ties = 0
    for _ in range(60):
        n = int(rng.integers(1, 7))
        model = random_network(rng, n)
        every = all_inputs(n)
        expected = [slow_scores(model, bits) for bits in every.tolist()]
        assert model.scores(every).tolist() == expected
        first = [scores.index(max(scores)) for scores in expected]
        assert model.predict(every).tolist() == first
        ties += sum(scores.count(max(scores)) > 1 for scores in expected)
    assert ties > 50  # which go to the first


def test_many_rows_are_evaluated_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    model, every = random_network(rng, 6), all_inputs(6)
    whole = reference_scores(model, every)
    monkeypatch.setattr("tmverify.bnn.evaluate._ROWS", 7)
    assert (reference_scores(model, every) == whole).all()
    assert model.scores(np.zeros((0, 6), int)).shape == (0, model.n_outputs)


def test_wide_layers_do_not_overflow() -> None:
    n = 1 << 16
    model = BnnModel.from_layers(
        [(np.ones((1, n), int), [n])], [[1], [-1]], scale=1 << 16, bias=[-(1 << 31) + 1, (1 << 31) - 1]
    )
    X = np.ones((2, n), int)
    X[1, -1] = 0
    assert model.scores(X).tolist() == [
        [-(1 << 31) + 1 + (1 << 16), (1 << 31) - 1],
        [1 - (1 << 31), (1 << 31) - 1 + (1 << 16)],
    ]
    assert [bits.tolist() for bits in activations(model, X.astype(np.uint8))] == [[[1], [0]]]


def test_thresholds_beyond_the_inputs_are_cut() -> None:
    layer = Layer(np.ones((3, 2), np.int8), np.array([-7, 1, 9]))
    assert layer.thresholds.tolist() == [0, 1, 3]
    assert network(layers=[(BLOCK[0], [-5, 99])]) == network(layers=[(BLOCK[0], [0, 4])])


def test_from_layers() -> None:
    model = network(bias=3, classes=np.array(["no", "yes"]), feature_names=["a", "b", "c"], scale=np.int64(2))
    assert model.widths == (3, 2, 2)
    assert (model.n_features, model.n_outputs, model.scale) == (3, 2, 2)
    assert type(model.scale) is int
    assert model.bias.tolist() == [3, 3]
    assert model.classes == ("no", "yes")
    assert model.feature_names == ("a", "b", "c")
    assert model.predict([[1, 0, 1]]).tolist() == ["no"]
    assert model.cuts is None
    assert network().classes == (0, 1)
    assert network(layers=[(np.array(BLOCK[0], float), BLOCK[1])]) == network()


def test_nothing_can_be_changed() -> None:
    weights, bias = np.array(BLOCK[0]), np.array([1, 2])
    model = network(layers=[(weights, BLOCK[1])], bias=bias)
    weights[:], bias[:] = -1, 7
    assert model == network(bias=[1, 2])
    arrays = (model.output, model.bias, model.layers[0].weights, model.layers[0].thresholds)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    with pytest.raises(FrozenInstanceError):
        model.scale = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        model.layers[0].weights = weights  # type: ignore[misc]


def test_equality_is_that_of_everything_there_is() -> None:
    one = network()
    cuts = PixelCuts(np.array([1, 2, 3]), np.array([True, False, True]))
    others = [
        network(bias=[1, 0]),
        network(scale=2),
        network(classes=["0", "1"]),
        network(classes=[1, 0]),
        network(feature_names=["a", "b", "c"]),
        network(output=[[1, 1], [1, 1]]),
        network(layers=[(BLOCK[0], [2, 2])]),
        network(layers=[(-np.array(BLOCK[0]), BLOCK[1])]),
        replace(one, cuts=cuts),
        replace(one, cuts=PixelCuts(cuts.levels, ~cuts.rising)),
    ]
    assert one == network()
    assert hash(one) == hash(network())
    assert len({one, network(), *others}) == 1 + len(others)
    assert one != "network"
    assert pickle.loads(pickle.dumps(others[-1])) == others[-1]


def test_its_name_shows_its_widths() -> None:
    assert repr(network()) == "<BnnModel 3-2-2>"
    cuts = PixelCuts(np.array([1, 2, 3]), np.array([True, False, True]))
    assert repr(replace(network(), cuts=cuts)) == "<BnnModel 3-2-2, of grey levels>"


def test_pixels_that_no_grey_level_changes_are_not_attainable() -> None:
    assert network().attainable.tolist() == [True] * 3
    cuts = PixelCuts(np.array([0, 1, 256]), np.array([True] * 3))
    assert replace(network(), cuts=cuts).attainable.tolist() == [False, True, False]


TWO = [[1, 1], [1, -1]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": []}, "1 to 64 blocks. Got 0"),
        ({"layers": [BLOCK, *[(TWO, [1, 1])] * 64]}, "1 to 64 blocks. Got 65"),
        ({"layers": [([[1, 0]], [1])]}, r"weights must hold only \+1 and -1"),
        ({"layers": [([[1, 2]], [1])]}, r"weights must hold only \+1 and -1"),
        ({"layers": [([["1"]], [1])]}, r"weights must hold only \+1 and -1"),
        ({"layers": [([[True]], [1])]}, r"weights must hold only \+1 and -1"),
        ({"layers": [([[1, np.nan]], [1])]}, r"weights must hold only \+1 and -1"),
        ({"layers": [([1, 1], [1])]}, r"must be a matrix .* Got shape \(2,\)"),
        ({"layers": [(np.ones((0, 3)), [])]}, r"must be a matrix .* Got shape \(0, 3\)"),
        ({"layers": [(np.ones((1, 0)), [1])]}, r"must be a matrix"),
        ({"layers": [(np.ones((1, (1 << 16) + 1), np.int8), [1])]}, "at most 65536 rows and columns"),
        ({"layers": [([[1], [1, 1]], [1])]}, "weights must be an array"),
        ({"layers": [(BLOCK[0], [1])]}, "thresholds must have one value for each of 2 neurons"),
        ({"layers": [(BLOCK[0], [1, 0.5])]}, "thresholds must be integers"),
        ({"layers": [(BLOCK[0], [1, 1 << 40])]}, "thresholds must be between"),
        ({"layers": [BLOCK, BLOCK]}, r"Each layer must read .* \[2, 2\] neurons and \[3, 2\] inputs"),
        ({"output": [[1], [-1]]}, r"Each layer must read .* \[2\] neurons and \[1\] inputs"),
        ({"output": [[1, 1]]}, "at least two classes"),
        ({"output": [[1, 1], [0, 1]]}, r"output must hold only \+1 and -1"),
        ({"scale": 0}, "scale must be between 1 and 65536. Got 0"),
        ({"scale": 65537}, "scale must be between 1 and 65536"),
        ({"scale": 1.0}, "scale must be an integer. Got 1.0"),
        ({"scale": True}, "scale must be an integer. Got True"),
        ({"bias": [1]}, r"bias must have 2 values. Got shape \(1,\)"),
        ({"bias": [[1, 2]]}, "bias must have 2 values"),
        ({"bias": 0.5}, "bias must be integers"),
        ({"bias": 1 << 31}, "bias must be between"),
        ({"classes": ["a"]}, "classes must name 2 classes. Got 1"),
        ({"classes": ["a", 1]}, "all int or all str"),
        ({"classes": ["a", "team"]}, "may not be called 'team'"),
        ({"classes": "ab"}, "classes must be a list"),
        ({"feature_names": ["a"]}, "feature_names must have n_features=3 names. Got 1"),
        ({"feature_names": ["a", "b", "a"]}, "differ from each other. Got 'a' twice"),
    ],
)
def test_parts_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        network(**changes)


def test_cuts_must_be_of_its_pixels() -> None:
    with pytest.raises(ModelError, match=r"cuts must be of n_features=3 pixels\. Got 2"):
        replace(network(), cuts=PixelCuts(np.array([1, 2]), np.array([True, True])))


@pytest.mark.parametrize(
    "X", [[[1, 0]], [1, 0, 1], [[1, 0, 2]], [[1, 0, 0.5]], [["1", "0", "1"]], [[[1, 0, 1]]]]
)
def test_inputs_that_are_none(X: Any) -> None:
    for ask in (network().predict, network().scores):
        with pytest.raises(InvalidInputError):
            ask(X)


def test_a_network_of_bits_has_no_rule_for_grey_levels() -> None:
    with pytest.raises(InvalidInputError, match="reads bits"):
        network().binarize([[1, 2, 3]])
