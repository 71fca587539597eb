"""The self-check of an import: the model must say what its library says, on every input asked.

Predictions are compared, and scores and outputs of clauses where the library shows them; the first difference
raises. The inputs are the user's, and always some made here: all zeros, all ones, random ones of every
density, and above all inputs in which some clause holds, or just fails by one literal, which a random input
would never meet. There are ``N_PROBES`` of them, for as many clauses: they see every misreading of a layout,
but perhaps not a single wrong clause among thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import ImportMismatchError, InvalidInputError
from tmverify.model import Model
from tmverify.model.evaluate import decide
from tmverify.model.inputs import as_bit_matrix

Bits = NDArray[np.uint8]

# Class index of each row, and the scores, (n, outputs), cut if the library cuts them; None if it shows none.
Ask = Callable[[Bits], tuple[NDArray[Any], NDArray[Any] | None]]
# Outputs of all clauses, (n, n_clauses); those of clauses without literals are not looked at.
AskClauses = Callable[[Bits], NDArray[Any]]

N_PROBES = 1024
_AT_ONCE = 4096  # rows; some libraries keep 32 bits a literal


def check_agreement(
    model: Model, library: str, ask: Ask, X: ArrayLike | None, *, ask_clauses: AskClauses | None = None
) -> None:
    """Compare ``model`` with the library that it came from, on ``X`` and on made inputs.

    Parameters
    ----------
    model : Model
    library : str
        Its name, for the message.
    ask : callable
        What the library itself says.
    X : array of 0 and 1, (n, n_features), or None
    ask_clauses : callable, optional
        What its clauses say; asked on the made inputs only, as that takes long.

    Raises
    ------
    ImportMismatchError
        At the first input on which they differ.
    InvalidInputError
        If there is nothing in ``X``.
    """
    if X is not None:
        dense = X.toarray() if hasattr(X, "toarray") else X
        given = as_bit_matrix(dense, model.n_features)
        if not len(given):
            raise InvalidInputError(
                "X has no rows, so nothing could be compared. Leave it out, or give some."
            )
        _compare(model, library, given, ask, "of X")
    made = probes(model)
    _compare(model, library, made, ask, "of those made for this check")
    if ask_clauses is not None:
        _compare_clauses(model, library, made, ask_clauses)


def probes(model: Model, n: int = N_PROBES) -> Bits:
    """Inputs on which a wrong reading of ``model`` would show, the same ones every time."""
    rng = np.random.default_rng(0)
    bits = (rng.random((n, model.n_features)) < rng.random((n, 1))).astype(np.uint8)
    bits[0], bits[1 % n] = 0, 1
    proper = np.flatnonzero((model.clauses.lengths > 0) & ~model.clauses.contradictory())
    order = rng.permutation(proper)  # as many different clauses as there are inputs for, two for each
    for k, row in enumerate(bits[n // 4 :] if len(order) else []):
        clause = np.array(model.clauses[int(order[k // 2 % len(order)])])
        row[np.abs(clause) - 1] = clause > 0
        if k % 2:
            row[abs(rng.choice(clause)) - 1] ^= 1
    return bits


def _compare(model: Model, library: str, bits: Bits, ask: Ask, whose: str) -> None:
    for start in range(0, len(bits), _AT_ONCE):
        rows = bits[start : start + _AT_ONCE]
        answer, their_scores = ask(rows)
        theirs = np.asarray(answer).astype(np.int64)
        scores = model.scores(rows)
        if model.clamp is not None:
            scores = np.clip(scores, -model.clamp, model.clamp)
        ours = decide(scores, model.tie, model.clamp)
        differ = theirs != ours
        if their_scores is not None:
            differ |= (np.asarray(their_scores).astype(np.int64) != scores).any(axis=1)
        if differ.any():
            i = int(np.argmax(differ))
            shown = "" if their_scores is None else f", scores {np.asarray(their_scores)[i].tolist()}"
            raise _mismatch(
                f"{library} on input {start + i} {whose}: {library} says class {theirs[i]}{shown}; the model "
                f"says class {ours[i]}, scores {scores[i].tolist()}",
                rows[i],
            )


def _compare_clauses(model: Model, library: str, bits: Bits, ask_clauses: AskClauses) -> None:
    proper = model.clauses.lengths > 0
    theirs = np.asarray(ask_clauses(bits)).astype(np.bool_)
    differ = (theirs != model.clauses.outputs(bits, empty_fires=False)) & proper
    if differ.any():
        i, j = (int(index) for index in np.argwhere(differ)[0])
        said = "holds" if theirs[i, j] else "does not hold"
        raise _mismatch(f"{library} on an input made for this check: there, clause {j} {said}", bits[i])


def _mismatch(what: str, bits: Bits) -> ImportMismatchError:
    return ImportMismatchError(
        f"The imported model differs from {what}. It is not what the library has, so it is not returned.",
        bits.copy(),
    )
