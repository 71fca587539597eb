"""Model: messages of validation, evaluation of the edge cases, single(c), identity, immutability."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify import InvalidInputError, Model, ModelError, Space
from tmverify.model.checks import MAX_WEIGHT
from tmverify.model.clauses import Clauses
from tmverify.model.evaluate import Tie
from tmverify.model.machine import MAX_OUTPUTS

XOR = [[1, 2], [-1, -2], [1, -2], [-1, 2]]


def inputs(n_features: int) -> list[tuple[int, ...]]:
    return [*product([0, 1], repeat=n_features)]


def rich_model() -> Model:
    """Every option set to something other than its default."""
    return Model.from_clauses(
        3,
        [[1, -2], [], [3, -3], [-1, 2, 3]],
        [[3, 1, 2, -4], [-1, 5, 0, 2], [0, -2, 7, 1]],
        bias=[1, -2, 0],
        tie="negative",
        clamp=4,
        empty_clause="fires",
        classes=["red", "green", "blue"],
        feature_names=["hot", "wet", "größe"],
    )


# Construction


def test_the_machine_of_example_1() -> None:
    model = Model.from_clauses(2, XOR, [[1, 1, -1, -1]])
    assert model.scores(inputs(2)).tolist() == [[1], [-1], [-1], [1]]
    assert model.predict(inputs(2)).tolist() == [1, 0, 0, 1]
    assert (model.n_features, model.n_clauses, model.n_outputs) == (2, 4, 1)
    assert model.classes == (0, 1)
    assert repr(model) == "<Model: 2 features, 4 clauses, binary>"


def test_defaults() -> None:
    model = Model.from_clauses(2, XOR, np.ones((3, 4), np.int8))
    assert (model.tie, model.clamp, model.empty_clause) == ("positive", None, "silent")
    assert model.classes == (0, 1, 2)
    assert model.feature_names is None
    assert model.bias.tolist() == [0, 0, 0]
    assert model.weights.dtype == model.bias.dtype == np.int64
    assert repr(model) == "<Model: 2 features, 4 clauses, 3 classes>"


def test_one_row_of_weights_may_be_flat() -> None:
    assert Model.from_clauses(2, XOR, [1, 1, -1, -1]) == Model.from_clauses(2, XOR, [[1, 1, -1, -1]])


def test_one_bias_serves_every_row() -> None:
    model = Model.from_clauses(2, XOR, np.zeros((3, 4), int), bias=np.int8(-7))
    assert model.bias.tolist() == [-7, -7, -7]
    assert model.scores([[0, 0]]).tolist() == [[-7, -7, -7]]


def test_numpy_integers_serve_everywhere() -> None:
    model = Model.from_clauses(
        np.int64(2),  # type: ignore[arg-type]
        np.array(XOR, np.int8).tolist(),
        np.array([1, 1, -1, -1], np.int8),
        bias=np.int32(1),
        clamp=np.int16(5),  # type: ignore[arg-type]
        classes=np.array([3, 4]),  # type: ignore[arg-type]
        feature_names=np.array(["a", "b"]),  # type: ignore[arg-type]
    )
    plain = Model.from_clauses(
        2, XOR, [1, 1, -1, -1], bias=1, clamp=5, classes=[3, 4], feature_names=["a", "b"]
    )
    assert model == plain
    assert model.content_hash == plain.content_hash
    assert type(model.n_features) is type(model.clamp) is type(model.classes[0]) is int


def test_two_rows_are_two_classes_decided_by_argmax() -> None:
    model = Model.from_clauses(1, [[1], [-1]], [[0, 0], [1, -1]])
    assert model.n_outputs == 2
    assert model.predict([[0], [1]]).tolist() == [0, 1]


# What is refused


def refused(
    message: str, /, n_features: Any = 2, clauses: Any = XOR, weights: Any = (1, 1, -1, -1), **options: Any
) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Model.from_clauses(n_features, clauses, weights, **options)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "weights",
    [
        [1.0, 1, 1, 1],
        ["1", "1", "1", "1"],
        [None] * 4,
        [True] * 4,
        [1j] * 4,
        [1 << 70] * 4,
        [float("nan")] * 4,
    ],
    ids=repr,
)
def test_weights_that_are_no_integers(weights: Any) -> None:
    refused(rf"weights must be integers\. Got dtype {np.asarray(weights).dtype} instead", weights=weights)


def test_ragged_weights() -> None:
    refused("weights", weights=[[1, 1, 1, 1], [1, 1]])


def test_ragged_bias() -> None:
    refused("bias", bias=[[1], [1, 2]])


@pytest.mark.parametrize(
    "weight", [MAX_WEIGHT + 1, -MAX_WEIGHT - 1, -(1 << 63), (1 << 63) - 1, (1 << 64) - 1]
)
def test_weights_out_of_range(weight: int) -> None:
    weights = np.array([weight] * 4)
    refused(
        rf"weights must be between -{MAX_WEIGHT} and {MAX_WEIGHT}\. Got {weight} instead", weights=weights
    )
    refused(rf"bias must be between -{MAX_WEIGHT} and {MAX_WEIGHT}\. Got {weight} instead", bias=weights[0])


@pytest.mark.parametrize(
    "shape", [(3,), (5,), (1, 3), (4, 1), (0, 4), (1, 1, 4), (0,), (2, 0), (4, 4, 4)], ids=str
)
def test_weights_of_the_wrong_shape(shape: tuple[int, ...]) -> None:
    weights = np.ones(shape, int)
    with pytest.raises(ModelError, match=r"weights must have shape \(outputs, n_clauses=4\)\. Got") as caught:
        Model.from_clauses(2, XOR, weights)
    assert str(np.atleast_2d(weights).shape) in str(caught.value)


def test_too_many_outputs() -> None:
    refused(str(MAX_OUTPUTS), weights=np.zeros((MAX_OUTPUTS + 1, 4), np.int8))


@pytest.mark.parametrize("bias", [[1, 2], [], [[1]], np.zeros((1, 0), int)], ids=repr)
def test_bias_of_the_wrong_shape(bias: Any) -> None:
    refused(r"bias must have shape \(1,\)\. Got \(.*\) instead", bias=bias)


@pytest.mark.parametrize("bias", [0.5, 1.0, "0", None, True, float("nan")], ids=repr)
def test_bias_that_is_no_integer(bias: Any) -> None:
    refused(r"bias must be integers\. Got dtype .* instead", bias=bias)


@pytest.mark.parametrize("value", ["", "Positive", "even", None, 1, ["positive"], np.zeros(2)], ids=repr)
def test_unknown_tie_rule_and_empty_clause(value: Any) -> None:
    refused(r"tie must be 'positive' or 'negative'\. Got .* instead", tie=value)
    refused(r"empty_clause must be 'silent' or 'fires'\. Got .* instead", empty_clause=value)


@pytest.mark.parametrize("clamp", [0, -1, MAX_WEIGHT + 1, 1 << 70])
def test_clamp_out_of_range(clamp: int) -> None:
    refused(rf"clamp must be between 1 and {MAX_WEIGHT}\. Got {clamp} instead", clamp=clamp)


def test_clamp_too_long_to_print() -> None:
    refused("clamp must be between 1 and", clamp=10**5000)


@pytest.mark.parametrize(
    "clamp", [True, False, 1.0, float("nan"), float("inf"), "3", [3], np.True_], ids=repr
)
def test_clamp_that_is_no_integer(clamp: Any) -> None:
    refused(r"clamp must be a positive integer or None\. Got .* instead", clamp=clamp)


@pytest.mark.parametrize("classes", [[], [1], [1, 2, 3], np.arange(5)], ids=repr)
def test_the_wrong_number_of_classes(classes: Any) -> None:
    refused(rf"classes must name 2 classes\. Got {len(classes)} instead", classes=classes)


@pytest.mark.parametrize(
    "classes",
    [[0, "1"], [0, True], [True, False], [0.0, 1.0], [None, None], [[0], [1]], [b"a", b"b"]],
    ids=repr,
)
def test_classes_of_mixed_or_other_types(classes: Any) -> None:
    refused(r"classes must be all int or all str\. Got \(.*\) instead", classes=classes)


def test_classes_that_repeat() -> None:
    refused(r"classes must differ from each other\. Got \('a', 'a'\) instead", classes=["a", "a"])
    refused(r"classes must differ from each other\. Got \(7, 7\) instead", classes=[7, np.int8(7)])


@pytest.mark.parametrize(
    "label", [1 << 63, -(1 << 63) - 1, 10**5000], ids=["high", "low", "too long to print"]
)
def test_classes_beyond_64_bits(label: int) -> None:
    refused("Integer classes must fit 64 bits", classes=[0, label])


@pytest.mark.parametrize("value", [5, 0.5], ids=repr)
def test_classes_and_names_that_are_no_sequence(value: Any) -> None:
    refused("classes", classes=value)
    refused("feature_names", feature_names=value)


def test_one_string_is_no_list_of_names() -> None:
    refused("classes", classes="ab")
    refused("feature_names", feature_names="ab")


def test_names_that_do_not_fit() -> None:
    refused(r"feature_names must have n_features=2 names\. Got 1 instead", feature_names=["a"])
    refused(r"feature_names must have n_features=2 names\. Got 0 instead", feature_names=[])
    refused(r"feature_names must be strings\. Got 1 instead", feature_names=["a", 1])
    refused(r"feature_names must be strings\. Got \['b'\] instead", feature_names=["a", ["b"]])
    refused(r"columns of a space must differ from each other\..*'a'", feature_names=["a", "a"])


def test_text_that_no_file_can_hold() -> None:
    refused(r"classes must be valid Unicode\. Got '\\ud800' instead", classes=["a", "\ud800"])
    refused(r"feature_names must be valid Unicode\. Got 'x\\udfff' instead", feature_names=["a", "x\udfff"])


def test_huge_lists_make_short_messages() -> None:
    weights = np.zeros((3000, 4), np.int8)
    refused("must differ", weights=weights, classes=["c"] * 3000)
    refused("must be all int or all str", weights=weights, classes=[0, *map(str, range(2999))])
    refused("must fit 64 bits", weights=weights, classes=[1 << 80, *range(2999)])
    refused("must be 'positive' or 'negative'", tie="x" * 5000)
    refused("must be strings", feature_names=["a", [0] * 5000])


@pytest.mark.parametrize("X", [[0, 1], [[0, 1, 1]], [[0, 2]], [["0", "1"]], [[0, float("nan")]]], ids=repr)
def test_inputs_are_checked(X: Any) -> None:
    model = Model.from_clauses(2, XOR, [1, 1, -1, -1])
    with pytest.raises(InvalidInputError):
        model.scores(X)
    with pytest.raises(InvalidInputError):
        model.predict(X)


# Evaluation at the edges


@pytest.mark.parametrize(("empty_clause", "score"), [("silent", 0), ("fires", 5)])
def test_empty_clauses(empty_clause: Any, score: int) -> None:
    model = Model.from_clauses(2, [[]], [5], empty_clause=empty_clause)
    assert model.scores(inputs(2)).tolist() == [[score]] * 4


@pytest.mark.parametrize("empty_clause", ["silent", "fires"])
def test_contradictory_clauses_never_vote(empty_clause: Any) -> None:
    model = Model.from_clauses(2, [[1, -1], [2, 1, -2], [1]], [5, 7, 1], empty_clause=empty_clause)
    assert model.scores(inputs(2)).tolist() == [[0], [0], [1], [1]]


@pytest.mark.parametrize(("tie", "expected"), [("positive", [1, 1, 0]), ("negative", [0, 1, 0])])
def test_tie_rules(tie: Tie, expected: list[int]) -> None:
    model = Model.from_clauses(2, [[1], [2]], [1, -1], tie=tie)
    assert model.predict([[0, 0], [1, 0], [0, 1]]).tolist() == expected


def test_bias_alone_decides_where_no_clause_speaks() -> None:
    for bias, expected in ((-1, 0), (0, 1), (1, 1)):
        assert Model.from_clauses(2, [], [], bias=bias).predict([[0, 1]]).tolist() == [expected]


def test_scores_are_those_before_the_clamp() -> None:
    model = Model.from_clauses(1, [[1]], [9], clamp=2)
    assert model.scores([[1]]).tolist() == [[9]]


def test_a_clamp_can_change_an_argmax() -> None:
    free = Model.from_clauses(1, [[1]], [[5], [9]])
    cut = dataclasses.replace(free, clamp=5)
    assert free.predict([[0], [1]]).tolist() == [0, 1]
    assert cut.predict([[0], [1]]).tolist() == [0, 0]
    assert dataclasses.replace(free, clamp=6).predict([[1]]).tolist() == [1]


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_are_exact_with_the_largest_weights(sign: int) -> None:
    n = 20_000
    model = Model.from_clauses(1, [[1]] * n, [sign * MAX_WEIGHT] * n, bias=sign * MAX_WEIGHT)
    assert model.scores([[0], [1]]).tolist() == [[sign * MAX_WEIGHT], [sign * MAX_WEIGHT * (n + 1)]]


@pytest.mark.deep
def test_one_vote_decides_among_huge_ones() -> None:
    """2**53 and beyond, where a float64 would lose the last vote."""
    n = (1 << 22) + 8
    literals, offsets = np.ones(n, np.int32), np.arange(n + 1)
    weights = np.full((2, n), MAX_WEIGHT, np.int64)
    weights[0, 0] -= 1
    model = Model(clauses=Clauses(1, literals, offsets), weights=weights, bias=np.zeros(2, np.int64))
    assert model.scores([[1]]).tolist() == [[MAX_WEIGHT * n - 1, MAX_WEIGHT * n]]
    assert model.predict([[1]]).tolist() == [1]


@pytest.mark.parametrize("outputs", [1, 3])
def test_zero_clauses(outputs: int) -> None:
    model = Model.from_clauses(2, [], np.zeros((outputs, 0)), bias=[*range(outputs)])
    assert model.n_clauses == 0
    assert model.scores([[0, 1]]).tolist() == [[*range(outputs)]]
    assert model.predict(inputs(2)).tolist() == [2 if outputs > 1 else 1] * 4


def test_one_feature() -> None:
    model = Model.from_clauses(1, [[1], [-1]], [2, -3])
    assert model.scores([[0], [1]]).tolist() == [[-3], [2]]


def test_zero_rows() -> None:
    model = rich_model()
    assert model.scores(np.zeros((0, 3))).shape == (0, 3)
    assert model.predict(np.zeros((0, 3))).tolist() == []


# Labels


def test_predict_speaks_in_labels() -> None:
    weights = [[0, 0], [1, -1]]
    for classes in (["no", "yes"], [-5, 1 << 62], [(1 << 63) - 1, -(1 << 63)], ["", "é" * 50]):
        model = Model.from_clauses(1, [[1], [-1]], weights, classes=classes)
        assert model.predict([[0], [1]]).tolist() == classes


def test_labels_that_differ_stay_different() -> None:
    """NumPy drops trailing NULs of a string: such labels must be refused, or told apart."""
    try:
        model = Model.from_clauses(1, [[1], [-1]], [1, -1], classes=["a", "a\0"])
    except ModelError:
        return
    assert model.predict([[0], [1]]).tolist() == ["a", "a\0"]


def test_one_long_label_does_not_make_predict_allocate_for_all() -> None:
    """A NumPy array of strings has the width of its longest: 65,536 labels, one of 1 MB, would be 260 GB."""
    labels = [*map(str, range(MAX_OUTPUTS - 1)), "x" * 1_000_000]
    try:
        model = Model.from_clauses(1, [[1]], np.zeros((MAX_OUTPUTS, 1), np.int8), classes=labels)
    except ModelError:
        return
    assert model.predict([[0]]).tolist() == ["0"]


def test_class_index() -> None:
    model = rich_model()
    assert [model.class_index(label) for label in ("red", "green", "blue")] == [0, 1, 2]
    binary = Model.from_clauses(1, [], [], classes=[7, -7])
    assert binary.class_index(np.int64(-7)) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "label", [2, "0", None, True, False, -1, float("nan"), [0], np.zeros(2), {}], ids=repr
)
def test_an_unknown_class(label: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"The class must be one of 0, 1\. Got .* instead"):
        Model.from_clauses(1, [], []).class_index(label)


# The machine of one class


@pytest.mark.parametrize("tie", ["positive", "negative"])
@pytest.mark.parametrize("clamp", [None, 1])
def test_single_of_a_multiclass_machine(tie: Tie, clamp: int | None) -> None:
    model = dataclasses.replace(rich_model(), tie=tie, clamp=clamp)
    scores = model.scores(inputs(3))
    for index, label in enumerate(model.classes):
        member = model.single(label)
        assert member.n_outputs == 1
        assert member.classes == (0, 1)
        assert (member.tie, member.empty_clause) == (tie, "fires")
        assert member.feature_names == model.feature_names
        assert member.scores(inputs(3)).tolist() == scores[:, [index]].tolist()
        expected = scores[:, index] >= 0 if tie == "positive" else scores[:, index] > 0
        assert member.predict(inputs(3)).tolist() == expected.astype(int).tolist()


@pytest.mark.parametrize("tie", ["positive", "negative"])
@pytest.mark.parametrize("classes", [(0, 1), (1, 0), ("cat", "dog")])
def test_single_of_a_binary_machine(tie: Tie, classes: Any) -> None:
    model = Model.from_clauses(2, [[1], [2], []], [1, -1, 3], tie=tie, bias=0, classes=classes, clamp=2)
    labels = model.predict(inputs(2))
    for label in classes:
        member = model.single(label)
        assert member.predict(inputs(2)).tolist() == [int(seen == label) for seen in labels.tolist()]
        assert member.classes == (0, 1)


def test_single_of_the_second_class_is_the_machine_itself() -> None:
    model = Model.from_clauses(2, XOR, [1, 1, -1, -1], tie="negative", bias=3)
    assert model.single(1) == model


def test_single_twice_of_the_first_class_is_the_machine_again() -> None:
    model = Model.from_clauses(2, XOR, [MAX_WEIGHT, 1, -1, -MAX_WEIGHT], bias=-MAX_WEIGHT)
    assert model.single(0) != model
    assert model.single(0).single(0) == model


def test_single_of_an_unknown_class() -> None:
    with pytest.raises(InvalidInputError, match=r"one of 'red', 'green', 'blue'\. Got 'mauve' instead"):
        rich_model().single("mauve")


# Identity


def variants() -> dict[str, Model]:
    """The rich model with one thing changed each time."""
    model = rich_model()
    weights, bias = model.weights.copy(), model.bias.copy()
    weights[2, 1] += 1
    bias[1] += 1
    lists = [*model.clauses]
    changed = {
        "literal sign": {"clauses": Clauses.from_lists(3, [(1, 2), *lists[1:]])},
        "literal dropped": {"clauses": Clauses.from_lists(3, [(1,), *lists[1:]])},
        "literal moved to the next clause": {"clauses": Clauses.from_lists(3, [(1,), (-2,), *lists[2:]])},
        "clause order": {"clauses": Clauses.from_lists(3, lists[::-1])},
        "n_features": {
            "clauses": Clauses.from_lists(4, lists),
            "space": Space.flags(("hot", "wet", "größe", "x")),
        },
        "weight": {"weights": weights},
        "bias": {"bias": bias},
        "tie": {"tie": "positive"},
        "clamp": {"clamp": 5},
        "no clamp": {"clamp": None},
        "empty_clause": {"empty_clause": "silent"},
        "class label": {"classes": ("red", "green", "black")},
        "class order": {"classes": ("green", "red", "blue")},
        "integer classes": {"classes": (0, 1, 2)},
        "digit classes": {"classes": ("0", "1", "2")},
        "feature name": {"space": Space.flags(("hot", "wet", "grösse"))},
        "feature name composed otherwise": {"space": Space.flags(("hot", "wet", "gro\u0308ße"))},
        "no feature names": {"space": None},
    }
    return {name: dataclasses.replace(model, **change) for name, change in changed.items()}  # type: ignore[arg-type]


def test_equal_parts_make_equal_models() -> None:
    assert rich_model() == rich_model()
    assert hash(rich_model()) == hash(rich_model())
    assert len({rich_model(), rich_model()}) == 1
    assert rich_model() != 5
    assert len(rich_model().content_hash) == 64


def test_anything_changed_makes_another_model() -> None:
    models = {"original": rich_model(), **variants()}
    hashes = {name: model.content_hash for name, model in models.items()}
    assert len(set(hashes.values())) == len(models), hashes
    assert all(model != models["original"] for name, model in models.items() if name != "original")


@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
@pytest.mark.parametrize("how", ["pickle", "copy", "deepcopy"])
def test_copies_are_equal_and_work(used: bool, how: str) -> None:
    model = rich_model()
    if used:
        model.predict(inputs(3))
        _ = model.content_hash
    copied: Model
    if how == "pickle":
        copied = pickle.loads(pickle.dumps(model))
    else:
        copied = copy.copy(model) if how == "copy" else copy.deepcopy(model)
    assert copied == model
    assert hash(copied) == hash(model)
    assert copied.predict(inputs(3)).tolist() == model.predict(inputs(3)).tolist()
    assert_frozen(copied)


# Immutability


def assert_frozen(model: Model) -> None:
    for array in (model.weights, model.bias, model.clauses.literals, model.clauses.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for name in ("weights", "tie", "clauses", "classes"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(model, name, None)


def test_a_model_is_frozen() -> None:
    assert_frozen(rich_model())
    assert_frozen(rich_model().single("red"))


def test_what_it_returns_is_the_callers_own() -> None:
    model = rich_model()
    scores = model.scores(inputs(3))
    labels = model.predict(inputs(3))
    expected = scores.tolist(), labels.tolist()
    scores[:] = 99
    labels[:] = "x"
    assert (model.scores(inputs(3)).tolist(), model.predict(inputs(3)).tolist()) == expected
    assert model == rich_model()


def test_arrays_passed_in_stay_the_callers_own() -> None:
    weights, bias = np.array([[1, 1, -1, -1]]), np.array([2])
    classes, names = np.array([3, 4]), ["a", "b"]
    made = [
        Model.from_clauses(2, XOR, weights, bias=bias, classes=classes, feature_names=names),  # type: ignore[arg-type]
        Model(
            clauses=Clauses.from_lists(2, XOR),
            weights=weights,
            bias=bias,
            classes=(3, 4),
            space=tv.Space.flags(("a", "b")),
        ),
    ]
    weights[:], bias[:], classes[:], names[0] = 9, 9, 9, "z"
    for model in made:
        assert model.weights.tolist() == [[1, 1, -1, -1]]
        assert model.bias.tolist() == [2]
        assert model.classes == (3, 4)
        assert model.feature_names == ("a", "b")


def test_the_input_is_left_as_it_was() -> None:
    X = np.array(inputs(3), np.uint8)
    before = X.copy()
    rich_model().predict(X)
    assert (before == X).all()
    assert X.flags.writeable


def test_no_class_is_called_team() -> None:
    """As a scope the word means all classes; with a class of that name another question would be answered."""
    with pytest.raises(ModelError, match="may not be called 'team'"):
        Model.from_clauses(1, [[1]], [[1]], classes=["team", "b"])
