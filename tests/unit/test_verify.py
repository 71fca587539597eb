"""Judging: a wrong answer of an engine never gets past ``decide``; bad arguments are named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import tmverify as tv
from support.engines import stand_in
from tmverify.engines.engine import Answer, Nearest, found, none_exists
from tmverify.properties.allowed import Allowed
from tmverify.verify import nearest

MODEL = tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 1, 1]], bias=-2, feature_names=["a", "b", "c"])
OTHER = tv.Model.from_clauses(3, [[1]], [[-1]], bias=0, feature_names=["a", "b", "c"])
X = [1, 1, 1]


def ask(monkeypatch: pytest.MonkeyPatch, answer: Answer, query: tv.Query) -> tv.Verdict:
    stand_in(monkeypatch, "auto", decide=lambda query, deadline, log=None: answer)
    return tv.decide(query)


def test_a_witness_that_changes_nothing_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    lie = found(np.array([1, 1, 0], np.uint8))
    v = ask(monkeypatch, lie, tv.robustness_query(MODEL, X, 2))
    assert v.status is tv.Status.UNKNOWN
    assert v.stop_reason is tv.StopReason.REJECTED
    assert v.witness is None


@pytest.mark.parametrize(
    ("epsilon", "allowed"),
    [(1, Allowed()), (3, Allowed(features=[1, 0, 0])), (3, Allowed(direction="add"))],
)
def test_a_witness_outside_the_region_is_rejected(
    monkeypatch: pytest.MonkeyPatch, epsilon: int, allowed: Allowed
) -> None:
    outside = found(np.array([0, 0, 1], np.uint8))
    assert ask(monkeypatch, outside, tv.robustness_query(MODEL, X, 2)).status == "violated"
    v = ask(monkeypatch, outside, tv.robustness_query(MODEL, X, epsilon, allowed=allowed))
    assert v.stop_reason is tv.StopReason.REJECTED


@pytest.mark.parametrize("witness", [np.array([0, 0], np.uint8), np.array([0, 0, 2]), np.array([0.5, 0, 0])])
def test_a_witness_that_is_no_input_is_rejected(monkeypatch: pytest.MonkeyPatch, witness: Any) -> None:
    v = ask(monkeypatch, found(witness), tv.robustness_query(MODEL, X, 2))
    assert v.status is tv.Status.UNKNOWN
    assert v.stop_reason is tv.StopReason.REJECTED


def test_a_proof_that_overlooks_the_input_itself_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    v = ask(monkeypatch, none_exists(), tv.similarity_query(MODEL, OTHER, X, 0))
    assert v.status is tv.Status.UNKNOWN
    assert v.stop_reason is tv.StopReason.REJECTED


def ask_radius(monkeypatch: pytest.MonkeyPatch, claim: Nearest, query: tv.Query) -> tv.Radius:
    stand_in(monkeypatch, "auto", find_nearest=lambda query, deadline, log=None: claim)
    return nearest(query)


WITNESS = np.array([0, 0, 1], np.uint8)


def test_an_honest_claim_about_the_radius_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    r = ask_radius(monkeypatch, Nearest(2, 2, WITNESS, "search"), tv.robustness_query(MODEL, X, 3))
    assert (r.radius, r.stop_reason, r.decisions) == (2, None, (1, 0))
    late = Nearest(1, 2, WITNESS, "search", stop_reason=tv.StopReason.TIMEOUT, detail="late")
    r = ask_radius(monkeypatch, late, tv.robustness_query(MODEL, X, 3))
    assert (r.lower, r.upper, r.radius, r.stop_reason, r.detail) == (
        1,
        2,
        None,
        tv.StopReason.TIMEOUT,
        "late",
    )
    assert str(r) == "1..2"


def test_a_limit_that_struck_too_late_to_matter_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Nearest(2, 2, WITNESS, "search", stop_reason=tv.StopReason.TIMEOUT, detail="late")
    r = ask_radius(monkeypatch, late, tv.robustness_query(MODEL, X, 3))
    assert (r.radius, r.stop_reason, r.detail) == (2, None, "")


NOTHING = Allowed(features=[0, 0, 0])


def test_where_nothing_may_change_the_input_itself_is_all(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Nearest(0, math.inf, None, "search", stop_reason=tv.StopReason.TIMEOUT, detail="late")
    r = ask_radius(monkeypatch, late, tv.robustness_query(MODEL, X, 3, allowed=NOTHING))
    assert (r.radius, r.stop_reason) == (math.inf, None)
    r = ask_radius(monkeypatch, late, tv.similarity_query(MODEL, OTHER, X, 3, allowed=NOTHING))
    assert (r.lower, r.upper, r.stop_reason) == (0, math.inf, tv.StopReason.TIMEOUT)


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (Nearest(1, 1, WITNESS, "search"), {}),  # it is two flips away
        (Nearest(1, 1, np.array([1, 1, 0], np.uint8), "search"), {}),  # decided alike
        (Nearest(2, 2, WITNESS, "search"), {"features": [1, 0, 0]}),  # outside the region
        (Nearest(2, 2, WITNESS, "search"), {"direction": "add"}),
        (Nearest(2, 2, np.array([0, 0], np.uint8), "search"), {}),  # no input
        (Nearest(2, 2, None, "search"), {}),  # a radius without a witness
    ],
)
def test_a_false_claim_about_the_radius_is_rejected(
    monkeypatch: pytest.MonkeyPatch, claim: Nearest, options: dict[str, Any]
) -> None:
    r = ask_radius(monkeypatch, claim, tv.robustness_query(MODEL, X, 3, allowed=Allowed(**options)))
    assert r.stop_reason is tv.StopReason.REJECTED
    assert (r.lower, r.upper, r.witness, r.radius) == (0, math.inf, None, None)


@pytest.mark.parametrize("lower", [1, math.inf])
def test_a_radius_that_overlooks_the_input_itself_is_rejected(
    monkeypatch: pytest.MonkeyPatch, lower: float
) -> None:
    claim = Nearest(lower, math.inf, None, "search")
    r = ask_radius(monkeypatch, claim, tv.similarity_query(MODEL, OTHER, X, 0))
    assert r.stop_reason is tv.StopReason.REJECTED
    assert r.lower == 0


def test_a_verdict_is_no_bool() -> None:
    v = tv.check_robustness(MODEL, X, 0)
    with pytest.raises(TypeError, match=r"compare \.status"):
        bool(v)
    with pytest.raises(TypeError, match=r"compare \.status"):
        bool(tv.check_universal_robustness(MODEL, [X], 0, 1))


def test_the_input_is_copied() -> None:
    x = np.array(X)
    query = tv.robustness_query(MODEL, x, 2)
    x[:] = 0
    v = tv.decide(query)
    assert v.flips is not None
    assert len(v.flips) == 2


def test_features_by_name() -> None:
    v = tv.check_robustness(MODEL, X, 3, features=["a", "c"])
    assert v.flips is not None
    assert v.flips.tolist() == [0, 2]


WIDER = tv.Model.from_clauses(4, [[4]], [[1]])
RENAMED = tv.Model.from_clauses(3, [[1]], [[1]], classes=["no", "yes"])


def test_features_without_names_are_called_by_their_index() -> None:
    """The clause's literal 4 is the feature x3, index 3."""
    machine = tv.Model.from_clauses(4, [[4]], [[1]], bias=-1)
    assert tv.check_robustness(machine, [0] * 4, 4, features=["x3", "x0"]).flips == [3]
    assert tv.check_robustness(machine, [0] * 4, 4, features=["x0", "x1", "x2"]).status == "holds"
    assert tv.robustness_radius(machine, [0] * 4, features=["x2"]).radius == float("inf")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tv.check_robustness(MODEL, [1, 1], 1),
            r"x must be one input of shape \(3,\). Got shape \(2,\)",
        ),
        (
            lambda: tv.check_robustness(MODEL, [X, X], 1),
            r"x must be one input of shape \(3,\). Got shape \(2, 3\) instead. Pass one .*x\[0\]",
        ),
        (
            lambda: tv.check_robustness(MODEL, [1, 2, 0], 1),
            r"only 0 and 1; binarize it first. Got 2 at index",
        ),
        (lambda: tv.check_robustness(MODEL, [1, math.nan, 0], 1), "Got nan at index"),
        (lambda: tv.check_robustness(MODEL, ["1", "0", "1"], 1), "array of 0 and 1"),
        (lambda: tv.check_robustness(MODEL, [[1], [1, 0]], 1), "array of 0 and 1"),
        (lambda: tv.check_robustness(MODEL, X, -1), "epsilon must be between 0 and n_features=3. Got -1"),
        (lambda: tv.check_robustness(MODEL, X, 4), "epsilon must be between 0 and n_features=3. Got 4"),
        (lambda: tv.check_robustness(MODEL, X, 1.0), "epsilon must be an integer"),  # type: ignore[arg-type]
        (lambda: tv.check_robustness(MODEL, X, True), "epsilon must be an integer"),
        (
            lambda: tv.check_robustness(MODEL, X, 1, engine="magic"),
            "engine must be one of auto, .*Got 'magic'",
        ),
        (lambda: tv.check_robustness(MODEL, X, 1, timeout=0), "timeout must be positive"),
        (lambda: tv.check_robustness(MODEL, X, 1, timeout=math.nan), "timeout must be positive"),
        (lambda: tv.check_robustness(MODEL, X, 1, timeout="1"), "timeout must be a number"),  # type: ignore[arg-type]
        (lambda: tv.check_robustness(MODEL, X, 1, scope=7), "scope must be 'team' or a class.*Got 7"),
        (lambda: tv.check_robustness(MODEL, X, 1, scope="x"), "scope must be 'team' or a class.*Got 'x'"),
        (lambda: tv.check_robustness(MODEL, X, 1, scope=None), "scope must be"),  # type: ignore[arg-type]
        (lambda: tv.check_robustness(MODEL, X, 1, features=[1, 0]), "features must be a mask of 3 values"),
        (lambda: tv.check_robustness(MODEL, X, 1, features=[0, 1, 2]), "features must be a mask of 3 values"),
        (lambda: tv.check_robustness(MODEL, X, 1, features=["d"]), "names of the model's features. Got 'd'"),
        (
            lambda: tv.check_robustness(WIDER, [0] * 4, 1, features=["d"]),
            "no feature_names, so they are called x0 to x3. Got 'd'",
        ),
        (lambda: tv.check_robustness(WIDER, [0] * 4, 1, features=["x4"]), "x0 to x3. Got 'x4'"),
        (lambda: tv.check_robustness(WIDER, [0] * 4, 1, features=["1"]), "x0 to x3. Got '1'"),
        (lambda: tv.check_robustness(MODEL, [0] * 3, 1, features=["x1"]), "model's features. Got 'x1'"),
        (lambda: tv.check_robustness(MODEL, X, 1, direction="up"), "direction must be"),  # type: ignore[arg-type]
        (lambda: tv.check_robustness("a.tm", X, 1), "must be a tmverify.Model"),  # type: ignore[arg-type]
        (lambda: tv.check_equivalence(MODEL, WIDER), "n_features=3 and n_features=4"),
        (lambda: tv.check_similarity(MODEL, WIDER, X, 1), "n_features=3 and n_features=4"),
        (lambda: tv.check_equivalence(MODEL, RENAMED), "same classes"),
        (lambda: tv.check_universal_robustness(MODEL, [X], 1, 1.5), "eta must be a fraction.*Got 1.5"),
        (lambda: tv.check_universal_robustness(MODEL, np.zeros((0, 3)), 1, 1), "at least one input"),
        (lambda: tv.check_universal_robustness(MODEL, [], 1, 1), r"shape \(n, 3\)"),
        (lambda: tv.check_universal_robustness(MODEL, X, 1, 1), r"pass X\[None, :\]"),
        (lambda: tv.check_universal_robustness(MODEL, [[0, 1]], 1, 1), "n_features=3 columns. Got 2"),
        (lambda: tv.check_universal_robustness(MODEL, [X], 9, 0), "epsilon must be between"),
        (lambda: tv.check_universal_robustness(MODEL, [X], 1, 0, scope=9), "scope must be"),
        (lambda: tv.check_universal_robustness(MODEL, [X], 1, 0, features=[1]), "features must be a mask"),
        (lambda: tv.check_universal_similarity(MODEL, WIDER, [X], 1, 1), "n_features=3 and n_features=4"),
        (lambda: tv.check_universal_similarity(MODEL, OTHER, [[1, 0, 3]], 1, 1), "Got 3 at index"),
        (lambda: tv.to_dimacs(tv.equivalence_query(MODEL, OTHER), "q.cnf", encoding="x"), "encoding must be"),
        (lambda: MODEL.predict([[0, 1]]), "n_features=3 columns"),
        (lambda: tv.decide("x"), "query must be a Query"),  # type: ignore[arg-type]
        (lambda: tv.to_dimacs(MODEL, "q.cnf"), "query must be a Query"),  # type: ignore[arg-type]
        (lambda: tv.check_robustness(MODEL, X, 10**5000), "epsilon must be between .*a huge number"),
        (lambda: tv.check_robustness(MODEL, X, 1, features=[[1], [1, 2]]), "features must be a mask"),
        (lambda: tv.check_universal_robustness(MODEL, [X], 1, 10**5000), "eta must be a fraction"),
        (lambda: MODEL.single(5), "class must be one of 0, 1. Got 5"),
        (lambda: tv.robustness_radius(MODEL, [1, 1]), r"x must be one input of shape \(3,\)"),
        (lambda: tv.robustness_radius("a.tm", X), "model must be a tmverify.Model"),  # type: ignore[arg-type]
        (lambda: tv.robustness_radius(MODEL, X, engine="magic"), "engine must be one of auto, "),
        (lambda: tv.robustness_radius(MODEL, X, timeout=-1), "timeout must be positive"),
        (lambda: tv.robustness_radius(MODEL, X, scope=7), "scope must be 'team' or a class"),
        (lambda: tv.robustness_radius(MODEL, X, features=[1]), "features must be a mask of 3 values"),
        (lambda: tv.robustness_radius(MODEL, X, direction="up"), "direction must be"),  # type: ignore[arg-type]
        (lambda: tv.similarity_radius(MODEL, WIDER, X), "n_features=3 and n_features=4"),
        (lambda: tv.similarity_radius(MODEL, RENAMED, X), "same classes"),
        (lambda: tv.similarity_radius(3, MODEL, X), "a must be a tmverify.Model"),  # type: ignore[arg-type]
        (lambda: nearest("x"), "query must be a Query"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(tv.InvalidInputError, match=message):
        call()


def test_a_classifier_in_place_of_its_model_comes_with_the_remedy() -> None:
    """What it has learnt is ``clf.model_``, over bits; the classifier itself may read numbers."""
    bits, y = np.eye(4, dtype=np.uint8), [0, 0, 1, 1]
    new = tv.TsetlinMachineClassifier(n_clauses=2, n_epochs=1, random_state=0)
    on_bits, on_numbers = clone(new).fit(bits, y), clone(new).fit(bits * 2.5, y)
    in_pipeline = make_pipeline(tv.ThermometerBinarizer(), clone(new)).fit(bits * 2.5, y)
    for given, remedy in (
        (new, "pass clf.model_ after clf.fit(X, y)."),
        (on_bits, "Pass clf.model_, which it has learnt."),
        (on_numbers, "and rows as mappings or frames, or clf.space_.encode(X)."),
        (in_pipeline, "Pass tmverify.freeze(pipeline), which takes the pipeline's own rows."),
    ):
        for ask in (tv.check_robustness, tv.check_universal_robustness, tv.robustness_radius):
            arguments = {tv.check_robustness: (1,), tv.check_universal_robustness: (1, 1)}.get(ask, ())
            with pytest.raises(tv.InvalidInputError) as caught:
                ask(given, bits[:1], *arguments)
            assert str(caught.value).endswith(remedy)
    assert tv.check_robustness(on_bits.model_, bits[:1], 1).status is not tv.Status.UNKNOWN
