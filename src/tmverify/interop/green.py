"""Models of green-tsetlin: coalesced machines, as Python objects or ``.npz`` files.

    score_c(x) = sum_j w[j, c] * clause_j(x),   the highest score wins, the lowest class wins ties.

A dense state has the automata ``c``, int8 (n_clauses, 2 * n_features), a literal included iff >= 0, and the
weights ``w``, int16 (n_clauses, n_classes); a clause without literals votes 0. A rule set is what the
library's predictor runs: rules as lists of literals, equal ones merged; a rule without literals would
always hold.

Merging adds int16 weights, which can overflow; then the rule set and the predictor differ from the state.
``from_green`` refuses such a state, and refers to the rule set. A sparse machine is read through its rule
set, because that is what predicts (its trainer includes literals earlier, and evaluates differently).

Neither a state nor a rule set says whether its machine was convolutional: only a machine can be refused.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.data.files import guarded
from tmverify.errors import DataFormatError, InvalidInputError, ModelError
from tmverify.interop.machines import Bits, assemble, check_agreement, clauses_of_lists, kind_of
from tmverify.model import Label, Model
from tmverify.model.checks import as_array
from tmverify.model.clauses import Clauses, clauses_of_matrix
from tmverify.model.container import MAX_FILE_BYTES

_LIBRARY = "green-tsetlin"
_KINDS = ("TsetlinMachine", "SparseTsetlinMachine", "Predictor", "RuleSet", "DenseState")
_INT32 = 2**31 - 1
# Names of the two arrays: the library's own, and those in its published models.
_NAMES = (("c", "w"), ("ta_state", "weights"))


def from_green(
    source: Any,
    X: ArrayLike | None = None,
    *,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Model:
    """Read a trained machine, a rule set or a saved state of green-tsetlin.

    Parameters
    ----------
    source : TsetlinMachine, SparseTsetlinMachine, Predictor, RuleSet, DenseState, or path of an .npz file
        A file is read without the library; nothing in it is unpickled.
    X : array of 0 and 1, (n, n_features), optional
        Inputs on which predictions and votes are compared with the library's own; by default, a few hundred
        are generated. A file is not compared, since there is no library to ask.
    classes, feature_names : optional
        Labels of classes 0, 1, …, and names of the features; the library keeps none.

    Raises
    ------
    ModelError
        If a Model can't express it (convolutional, multi-label), or if merged weights overflow.
    ImportMismatchError
        If a prediction or a vote differs.
    DataFormatError
        If the file is missing, damaged, or not such a state.
    InvalidInputError
        If ``source`` is not an object of green-tsetlin, or not trained.
    """
    names: dict[str, Any] = {"classes": classes, "feature_names": feature_names}
    if isinstance(source, str | os.PathLike):
        if X is not None:
            raise InvalidInputError("X can't be compared: a file has no library to ask. Leave X out.")
        return _from_state(*guarded(_read_npz, Path(source)), **names)
    expected = f"a {', '.join(_KINDS)} of {_LIBRARY}, or an .npz file"
    _, kind = kind_of(source, {"green_tsetlin": _KINDS}, "from_green", expected)
    model, rules = _read(source, kind, names)
    check_agreement(model, _LIBRARY, lambda bits: _ask(rules, bits), X)
    return model


def _read_npz(file: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """The automata and weights of a saved dense state; any other file raises DataFormatError."""
    with open(file, "rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise DataFormatError(f"{file}: not an .npz file.")
        with zipfile.ZipFile(stream) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_FILE_BYTES:
            raise DataFormatError(f"{file}: {size} bytes unpacked; at most {MAX_FILE_BYTES} are read.")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            chosen = [pair for pair in _NAMES if set(pair) <= set(arrays.files)]
            if len(chosen) != 1 or len(set(arrays.files)) < len(arrays.files):
                found = ", ".join(sorted(arrays.files)[:10]) or "no array at all"
                raise DataFormatError(
                    f"{file}: a dense state has the arrays c and w (or ta_state and weights). Found {found}."
                )
            automata, weights = (arrays[name] for name in chosen[0])
    if not isinstance(automata, np.ndarray) or not isinstance(weights, np.ndarray):
        raise DataFormatError(f"{file}: a member is no array.")
    return automata, weights


def _read(source: Any, kind: str, names: dict[str, Any]) -> tuple[Model, Any]:
    """The model, and the rule set that the library predicts with."""
    if kind in ("RuleSet", "Predictor"):
        rules = source if kind == "RuleSet" else source._ruleset
        return _from_rules(rules, names), rules
    state = source if kind == "DenseState" else source._state
    if state is None or state.w is None or getattr(state, "c", "sparse") is None:
        raise InvalidInputError(f"The machine of {_LIBRARY} has no state: train it, or load a state, first.")
    if kind == "SparseTsetlinMachine":
        rules = source.get_predictor()._ruleset
        return _from_rules(rules, names), rules
    if getattr(source, "_is_multi_label", False):
        raise _multi_label()
    from green_tsetlin import RuleSet

    model = _from_state(state.c, state.w, **names)
    rules = RuleSet(False)
    rules.compile_from_dense_state(state)
    return model, rules


def _from_state(automata: NDArray[Any], weights: NDArray[Any], **names: Any) -> Model:
    for name, array in (("automata", automata), ("weights", weights)):
        if array.ndim != 2 or array.dtype.kind != "i" or 0 in array.shape:
            raise ModelError(
                f"The {name} of a dense state must be a matrix of signed integers. "
                f"Got {array.dtype} of shape {array.shape} instead."
            )
    if len(automata) != len(weights) or automata.shape[1] % 2:
        raise ModelError(
            f"The automata must have shape (n_clauses, 2 * n_features), the weights (n_clauses, n_classes). "
            f"Got {automata.shape} and {weights.shape} instead."
        )
    clauses = clauses_of_matrix(automata >= 0, automata.shape[1] // 2)
    _check_merging(clauses, weights.astype(np.int64))
    return assemble(_LIBRARY, clauses, weights.T.astype(np.int64), most=_INT32, **names)


def _check_merging(clauses: Clauses, weights: NDArray[np.int64]) -> None:
    merged: dict[bytes, NDArray[np.int64]] = {}
    for (a, b), votes in zip(pairwise(clauses.offsets.tolist()), weights, strict=True):
        key = clauses.literals[a:b].tobytes()
        merged[key] = merged[key] + votes if key in merged else votes
    for key, votes in merged.items():
        if key and not np.array_equal(votes, votes.astype(np.int16)):
            raise ModelError(
                f"Equal clauses have weights of {votes.tolist()} together, which overflow the 16 bits that "
                f"{_LIBRARY} merges them in: its predictor is another machine than its state. To verify what "
                "the predictor does, import tm.get_ruleset()."
            )


def _from_rules(rules: Any, names: dict[str, Any]) -> Model:
    if rules.is_multi_label:
        raise _multi_label()
    if rules.rules is None:
        raise InvalidInputError("The rule set is empty: compile it from a state first.")
    shape = (len(rules.rules), int(rules.n_classes))
    weights = as_array(rules.weights, "weights") if rules.rules else np.zeros(shape, np.int64)
    if weights.shape != shape or weights.dtype.kind not in "iu":
        raise ModelError(
            f"The weights of a rule set must be integers, {shape[1]} for each of {shape[0]} rules. "
            f"Got {weights.dtype} of shape {weights.shape} instead."
        )
    clauses = clauses_of_lists(rules.rules, int(rules.n_literals))
    return assemble(_LIBRARY, clauses, weights.T.astype(np.int64), most=_INT32, empty_clause="fires", **names)


def _multi_label() -> ModelError:
    return ModelError(
        f"A multi-label machine of {_LIBRARY} can't be imported: a Model decides for one class, not several."
    )


def _ask(rules: Any, bits: Bits) -> tuple[NDArray[Any], NDArray[Any]]:
    from green_tsetlin import Predictor

    predictor = Predictor.from_ruleset(rules)
    labels, votes = [], []
    for row in bits:  # the predictor takes one input at a time
        labels.append(predictor.predict(row))
        votes.append(predictor.get_votes())
    return np.array(labels), np.array(votes)
