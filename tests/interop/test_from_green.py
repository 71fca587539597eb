"""green-tsetlin: trained, imported, equal on every input. In its own environment (`make test-interop`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from subjects import Bits, Said, check_imported, each_subject, load_subject
from tmverify.interop import from_green

gt = pytest.importorskip("green_tsetlin", reason="green-tsetlin is not installed here")


def trained(make: Any, name: str = "digits", epochs: int = 3, **options: Any) -> Any:
    subject = load_subject(name)
    tm = make(
        n_literals=subject.X.shape[1],
        n_clauses=5 * subject.n_clauses,
        n_classes=10,
        s=5.0,
        threshold=200,
        **options,
    )
    trainer = gt.Trainer(tm, n_jobs=1, n_epochs=epochs, seed=11, progress_bar=False)
    X = subject.X
    if make is not gt.TsetlinMachine:
        from scipy.sparse import csr_matrix

        X = csr_matrix(X)
    trainer.set_train_data(X, subject.y)
    trainer.set_eval_data(X, subject.y)
    trainer.train()
    return tm


def says(tm: Any) -> Any:
    predictor = tm.get_predictor()

    def ask(bits: Bits) -> Said:
        labels, votes = [], []
        for row in bits:
            labels.append(predictor.predict(row))
            votes.append(predictor.get_votes())
        return np.array(labels), np.array(votes)

    return ask


@each_subject
@pytest.mark.parametrize("options", [{}, {"literal_budget": 8}, {"boost_true_positives": True}])
def test_trained_models(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    subject = load_subject(name)
    tm = trained(gt.TsetlinMachine, name, **options)
    model = from_green(tm, subject.everything)
    assert model.clamp is None
    assert model.empty_clause == "silent"
    assert from_green(tm) == model == from_green(tm._state, subject.everything)
    check_imported(model, subject, says(tm), tmp_path)

    rules = from_green(tm.get_ruleset(), subject.everything)
    assert from_green(tm.get_predictor()) == rules
    assert np.array_equal(rules.scores(subject.everything), model.scores(subject.everything))
    if name == "digits":
        assert tv.check_equivalence(rules, model).status == "holds"

    tm.save_state(str(tmp_path / "state.npz"))
    assert from_green(tmp_path / "state.npz") == model
    assert from_green(str(tmp_path / "state.npz")) == model


def test_sparse_machines() -> None:
    subject = load_subject("digits")
    tm = trained(gt.SparseTsetlinMachine)
    model = from_green(tm, subject.everything)
    labels, votes = says(tm)(subject.everything)
    assert np.array_equal(model.predict(subject.everything), labels)
    assert np.array_equal(model.scores(subject.everything), votes)


def test_a_rule_without_literals_always_holds() -> None:
    rules = gt.RuleSet(False)
    rules.rules, rules.weights = [[], [0], [3, 1]], [[0, 5], [9, 0], [2, 2]]
    rules.n_literals, rules.n_classes = 3, 2
    everything = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(np.uint8)
    model = from_green(rules, everything)
    assert model.empty_clause == "fires"
    assert model.predict(np.zeros((1, 3)))[0] == 1


def test_merged_weights_that_overflow() -> None:
    state = gt.tsetlin_machine.DenseState(n_literals=4, n_clauses=400, n_classes=2)
    state.c[:] = -1
    state.c[:, 0] = 5
    state.w[:, 1] = 100
    with pytest.raises(tv.ModelError, match=r"overflow the 16 bits .* import tm.get_ruleset\(\)"):
        from_green(state)
    tm = gt.TsetlinMachine(n_literals=4, n_clauses=400, n_classes=2, s=3.0, threshold=10)
    tm.load_state(state)
    model = from_green(tm.get_ruleset())  # what the predictor does, overflow and all
    assert (
        model.predict([[1, 0, 0, 0]])[0] == tm.get_predictor().predict(np.array([1, 0, 0, 0], np.uint8)) == 0
    )


def test_a_difference_raises_with_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = load_subject("digits").everything
    tm = trained(gt.TsetlinMachine, epochs=1)
    seen: list[Bits] = []
    predict, get_votes = gt.Predictor.predict, gt.Predictor.get_votes

    def remembering(self: Any, x: Bits) -> Any:
        seen.append(x)
        return predict(self, x)

    monkeypatch.setattr(gt.Predictor, "predict", remembering)
    monkeypatch.setattr(gt.Predictor, "get_votes", lambda self: get_votes(self) + int(seen[-1][20]))
    with pytest.raises(tv.ImportMismatchError, match="differs from green-tsetlin on input") as caught:
        from_green(tm, everything)
    assert np.array_equal(caught.value.input, everything[np.argmax(everything[:, 20])])


def test_what_can_not_be_imported() -> None:
    options: dict[str, Any] = {"n_literals": 9, "n_clauses": 10, "n_classes": 2, "s": 3.0, "threshold": 10}
    convolutional = gt.tsetlin_machine.ConvolutionalTsetlinMachine(**options, patch_width=2, patch_height=2)
    with pytest.raises(
        tv.ModelError, match=r"ConvolutionalTsetlinMachine of green-tsetlin .* look at patches"
    ):
        from_green(convolutional)
    with pytest.raises(tv.InvalidInputError, match="has no state"):
        from_green(gt.TsetlinMachine(**options))
    several = gt.TsetlinMachine(**options, multi_label=True)
    several._state = gt.tsetlin_machine.DenseState(9, 10, 4)
    with pytest.raises(tv.ModelError, match="multi-label"):
        from_green(several)
    with pytest.raises(tv.ModelError, match="multi-label"):
        from_green(several.get_ruleset())
    rules = gt.RuleSet(False)
    rules.rules, rules.weights, rules.n_literals, rules.n_classes = [[0], [1]], [[1, 2, 3, 4]], 3, 2
    with pytest.raises(tv.ModelError, match="2 for each of 2 rules"):
        from_green(rules)
    with pytest.raises(tv.InvalidInputError, match="has no state"):
        from_green(gt.tsetlin_machine.DenseState())
    with pytest.raises(tv.InvalidInputError, match=r"Got builtins\.int instead"):
        from_green(3)
