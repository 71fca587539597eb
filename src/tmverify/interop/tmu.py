"""Models of tmu: ``TMClassifier`` (one machine per class) and ``TMCoalescedClassifier`` (shared clauses).

How tmu predicts, on flat inputs:

    score_c(x) = sum_j weights_c[j] * clause_j(x),   the highest score wins, the lowest class wins ties.

Weights are signed. Scores are not cut (clipping is an option of its ``predict`` that is off by default). A
clause without literals counts 0. ``weighted_clauses`` only changes the weights. The platform "CPU" keeps
automata in bit slices (``interop.machines``), "CPU_sparse" lists of included literals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, ModelError
from tmverify.interop.machines import (
    Bits,
    assemble,
    check_agreement,
    clauses_of_lists,
    included_in_slices,
    kind_of,
)
from tmverify.model import Label, Model
from tmverify.model.clauses import Clauses, clauses_of_matrix, one_machine_a_class

_VANILLA, _COALESCED = "TMClassifier", "TMCoalescedClassifier"
_MOST = 2**31 - 1  # class sums are int32


def from_tmu(
    tm: Any,
    X: ArrayLike | None = None,
    *,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Model:
    """Read a fitted ``TMClassifier`` or ``TMCoalescedClassifier`` of tmu.

    Parameters
    ----------
    tm : fitted tmu model
        Plain or weighted, platform "CPU" or "CPU_sparse", trained on flat inputs.
    X : array of 0 and 1, (n, n_features), optional
        Inputs on which predictions and class sums are compared with tmu's own; by default, a few hundred are
        generated.
    classes, feature_names : optional
        Labels of tmu's classes 0, 1, …, and names of the features; tmu keeps none.

    Raises
    ------
    ModelError
        If it is a machine that a Model can't express: convolutional, a regressor, an autoencoder, …
    ImportMismatchError
        If a prediction or a class sum differs.
    InvalidInputError
        If ``tm`` is not a fitted tmu model.
    """
    _, kind = kind_of(tm, {"tmu": (_VANILLA, _COALESCED)}, "from_tmu", "a fitted model of tmu")
    if not tm.initialized:
        raise InvalidInputError("The tmu model is not fitted yet: call fit first.")
    n_classes = len(tm.weight_banks.classes())
    if list(tm.weight_banks.classes()) != list(range(n_classes)):
        raise ModelError(f"tmu's classes must be 0, 1, …. Got {list(tm.weight_banks.classes())} instead.")
    votes = [np.array(tm.weight_banks[c].get_weights(), np.int64) for c in range(n_classes)]
    if kind == _COALESCED:
        clauses, weights = _clauses(tm.clause_bank), np.stack(votes)
    else:
        banks = [_clauses(tm.clause_banks[c]) for c in range(n_classes)]
        clauses, weights = one_machine_a_class(list(zip(banks, votes, strict=True)))
    model = assemble("tmu", clauses, weights, most=_MOST, classes=classes, feature_names=feature_names)
    check_agreement(
        model,
        "tmu",
        lambda bits: _ask(tm, bits),
        X,
        ask_clauses=lambda bits: np.asarray(tm.transform(bits.astype(np.uint32))),
    )
    return model


def _clauses(bank: Any) -> Clauses:
    if bank.number_of_patches != 1 or tuple(bank.dim[1:]) != (1, 1):
        raise ModelError(
            "A convolutional machine of tmu can't be imported: its clauses look at patches, and a clause "
            "of a Model looks at the whole input. (Train on flat inputs, one row of bits each.)"
        )
    n_literals = int(bank.number_of_literals)
    if hasattr(bank, "clause_bank_included"):
        ends = bank.clause_bank_included_length.tolist()
        lists = (row[:end, 0].tolist() for row, end in zip(bank.clause_bank_included, ends, strict=True))
        return clauses_of_lists(lists, n_literals // 2)
    if hasattr(bank, "synchronize_clause_bank"):  # on a GPU; the array in main memory may be outdated
        bank.synchronize_clause_bank()
    # After set_ta_state, tmu would otherwise go on predicting with cached results.
    bank.incremental_clause_evaluation_initialized = False
    included = included_in_slices(
        bank.clause_bank, int(bank.number_of_clauses), int(bank.number_of_state_bits_ta), n_literals
    )
    return clauses_of_matrix(included, n_literals // 2)


def _ask(tm: Any, bits: Bits) -> tuple[NDArray[Any], NDArray[Any]]:
    cache = getattr(tm, "test_encoder_cache", None)
    if cache is not None and cache.encoded_data is None:
        cache.array_hash = None  # after unpickling, tmu would think its last inputs are encoded, and fail
    labels, sums = tm.predict(bits.astype(np.uint32), return_class_sums=True)
    return labels, sums
