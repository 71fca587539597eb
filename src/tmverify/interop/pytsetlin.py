"""Machines of pyTsetlinMachine, pyTsetlinMachineParallel, PyTsetlinMachineCUDA, and of pytsetlin.

The first three share their design. ``MultiClassTsetlinMachine`` has one machine per class, automata in bit
slices (``interop.machines``; its ``number_of_features`` counts literals), even clauses for, odd ones against:

    score_c(x) = sum_j (-1)^j * weights_c[j] * clause_j(x),   cut to [-T, T], the lowest class wins ties.

A clause without literals counts 0. The cut becomes the model's ``clamp``: it can change predictions.

Python passes T to the C machine when that is created. Setting ``tm.T`` later, between epochs (annealing), has
no effect: the machine cuts its scores at the old T, which no function returns. So T is read from memory, in
the layout of the versions named here, and trusted only if all numbers beside it are right.

pytsetlin, another library, has a coalesced ``TsetlinMachine``: a literal is included iff its state is > 0,
the weights are ``W[class, clause]``, and sums are not cut; in float32, they are exact up to 2^24.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, ModelError
from tmverify.interop.machines import Ask, AskClauses, assemble, check_agreement, included_in_slices, kind_of
from tmverify.model import Label, Model
from tmverify.model.clauses import Clauses, clauses_of_matrix, one_machine_a_class

_CUDA, _COALESCED = "PyTsetlinMachineCUDA", "pytsetlin"
_KINDS = {
    "pyTsetlinMachine": ("MultiClassTsetlinMachine",),
    "pyTsetlinMachineParallel": ("MultiClassTsetlinMachine",),
    _CUDA: ("MultiClassTsetlinMachine",),
    _COALESCED: ("TsetlinMachine",),
}
# How many pointers the C struct of a machine has, between its first integers and its last.
_POINTERS = {("pyTsetlinMachine", "0.6.6"): 9, ("pyTsetlinMachineParallel", "0.2.1"): 8}
_INT32, _FLOAT32 = 2**31 - 1, 2**24


def from_pytsetlin(
    tm: Any,
    X: ArrayLike | None = None,
    *,
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Model:
    """Read a fitted machine of pyTsetlinMachine, pyTsetlinMachineParallel, PyTsetlinMachineCUDA or pytsetlin.

    Parameters
    ----------
    tm : fitted machine
        ``MultiClassTsetlinMachine``, plain or weighted, with or without negated literals; or
        ``TsetlinMachine`` of pytsetlin.
    X : array of 0 and 1, (n, n_features), optional
        Inputs on which predictions are compared with the library's own; by default, a few hundred are
        generated.
    classes, feature_names : optional
        Labels of classes 0, 1, …, and names of the features; the libraries keep none.

    Raises
    ------
    ModelError
        If it is a machine that a Model can't express: convolutional, a regressor, …
    ImportMismatchError
        If a prediction differs.
    InvalidInputError
        If ``tm`` is not a fitted machine of these libraries.
    """
    library, _ = kind_of(tm, _KINDS, "from_pytsetlin", f"a fitted machine of {', '.join(_KINDS)}")
    if not _fitted(tm, library):
        raise InvalidInputError(f"The machine of {library} is not fitted yet: call fit (or train) first.")
    most, clamp = _INT32, None
    if library == _COALESCED:
        clauses, weights = clauses_of_matrix(tm.C > 0, tm.C.shape[1] // 2), tm.W.astype(np.int64)
        most = _FLOAT32
    else:
        clamp = int(tm.T) if library == _CUDA else _threshold_in_use(tm, library)
        clauses, weights = _machine_a_class(tm, library)
    model = assemble(
        library, clauses, weights, most=most, clamp=clamp, classes=classes, feature_names=feature_names
    )
    ask, ask_clauses = _questions(tm, library)
    check_agreement(model, library, ask, X, ask_clauses=ask_clauses)
    return model


def _fitted(tm: Any, library: str) -> bool:
    if library == _COALESCED:
        return tm.C is not None and tm.W is not None and hasattr(tm, "n_literals")
    return hasattr(tm, "number_of_ta_chunks") if library == _CUDA else tm.mc_tm is not None


def _machine_a_class(tm: Any, library: str) -> tuple[Clauses, NDArray[np.int64]]:
    n_clauses, n_literals = int(tm.number_of_clauses), int(tm.number_of_features)
    n_features = n_literals // 2 if tm.append_negated else n_literals
    signs = np.where(np.arange(n_clauses) % 2, -1, 1)
    parts = []
    for counts, states in _gpu_state(tm) if library == _CUDA else tm.get_state():
        included = included_in_slices(states, n_clauses, int(tm.number_of_state_bits), n_literals)
        parts.append((clauses_of_matrix(included, n_features), counts.astype(np.int64) * signs))
    return one_machine_a_class(parts)


def _gpu_state(tm: Any) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Weights and automata of each class: on the GPU, or in main memory if the machine was just unpickled."""
    known = tm.ta_state.size and tm.clause_weights.size
    state = {"ta_state": tm.ta_state, "clause_weights": tm.clause_weights} if known else tm.__getstate__()
    counts, automata = (np.split(state[key], tm.number_of_classes) for key in ("clause_weights", "ta_state"))
    return list(zip(counts, automata, strict=True))


def _questions(tm: Any, library: str) -> tuple[Ask, AskClauses | None]:
    """Functions that ask the library for its classes (and scores, on a GPU), and for its clauses."""
    if library == _COALESCED:  # one input at a time
        return (
            lambda bits: (np.array([tm.predict(row) for row in bits]), None),
            lambda bits: np.array([tm.evaluate_clauses(row) for row in bits]),
        )
    if library == _CUDA:
        return lambda bits: (tm.predict(bits.astype(np.uint32)), tm.score(bits.astype(np.uint32)).T), None
    return (
        lambda bits: (tm.predict(bits.astype(np.uint32)), None),
        lambda bits: tm.transform(bits.astype(np.uint32), inverted=False),
    )


class _Team(ctypes.Structure):
    _fields_: ClassVar = [("number_of_classes", ctypes.c_int), ("machines", ctypes.POINTER(ctypes.c_void_p))]


def _threshold_in_use(tm: Any, library: str) -> int:
    """The T that a fitted ``MultiClassTsetlinMachine`` uses; for an unknown library version, ``tm.T``.

    Raises ModelError if the C machine has other numbers (classes, clauses, …) than the Python object.
    """
    try:
        n_pointers = _POINTERS.get((library, version(library)))
    except PackageNotFoundError:
        n_pointers = None
    if n_pointers is None:
        return int(tm.T)
    team = ctypes.cast(tm.mc_tm, ctypes.POINTER(_Team)).contents
    _check(library, "number_of_classes", team.number_of_classes, tm.number_of_classes)
    machine = ctypes.cast(team.machines[0], ctypes.POINTER(_machine(n_pointers))).contents
    for name in ("number_of_clauses", "number_of_features", "number_of_ta_chunks", "number_of_state_bits"):
        _check(library, name, getattr(machine, name), getattr(tm, name))
    return int(machine.T)


def _machine(n_pointers: int) -> type[ctypes.Structure]:
    first = ("number_of_clauses", "number_of_features", "number_of_clause_chunks")
    last = ("number_of_patches", "number_of_ta_chunks", "number_of_state_bits", "T")
    fields: list[tuple[str, type]] = [(name, ctypes.c_int) for name in first]
    fields += [(f"pointer_{i}", ctypes.c_void_p) for i in range(n_pointers)]
    fields += [(name, ctypes.c_int) for name in last]
    return type("_Machine", (ctypes.Structure,), {"_fields_": fields})


def _check(library: str, name: str, found: int, expected: int) -> None:
    if found != expected:
        raise ModelError(
            f"The machine of {library} predicts with {name} = {found}, but says {expected}: it was fitted "
            "again to other data, or changed by hand. Fit a new one."
        )
