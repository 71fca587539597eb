"""The self-check of an import: the model must say what its library says, on every input asked.

Predictions are compared, and scores where the library shows them; the first difference raises. Without data,
inputs are made: all zeros, all ones, random ones of every density, and inputs in which a clause holds that a
random one would never meet, with one of its literals broken in half of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import ImportMismatchError
from tmverify.model import Model
from tmverify.model.decision import decide
from tmverify.model.inputs import as_bit_matrix

Bits = NDArray[np.uint8]
# Class index of each row; and, if the library shows them, the scores, (n, outputs).
Ask = Callable[[Bits], tuple[NDArray[Any], NDArray[Any] | None]]

N_PROBES = 256
_AT_ONCE = 4096  # rows; some libraries keep 32 bits a literal


def check_agreement(model: Model, library: str, ask: Ask, X: ArrayLike | None) -> None:
    """Compare ``model`` with the library that it came from.

    Parameters
    ----------
    model : Model
    library : str
        Its name, for the message.
    ask : callable
        What the library itself says: class indices, and scores or None.
    X : array of 0 and 1, (n, n_features), or None
        Where to compare; None for inputs made here.

    Raises
    ------
    ImportMismatchError
        At the first input on which they differ.
    """
    made = X is None
    bits = probes(model) if X is None else as_bit_matrix(X, model.n_features)
    for start in range(0, len(bits), _AT_ONCE):
        rows = bits[start : start + _AT_ONCE]
        theirs, their_scores = ask(rows)
        _compare(model, library, rows, np.asarray(theirs), their_scores, start, made)


def probes(model: Model, n: int = N_PROBES) -> Bits:
    """Inputs on which a wrong reading of ``model`` would show, the same ones every time."""
    rng = np.random.default_rng(0)
    bits = (rng.random((n, model.n_features)) < rng.random((n, 1))).astype(np.uint8)
    bits[0], bits[1 % n] = 0, 1
    proper = np.flatnonzero((model.clauses.lengths > 0) & ~model.clauses.contradictory())
    for i, row in enumerate(bits[2:]):
        if i % 4 and len(proper):
            clause = np.array(model.clauses[int(rng.choice(proper))])
            row[np.abs(clause) - 1] = clause > 0
            if i % 2:
                row[abs(rng.choice(clause)) - 1] ^= 1
    return bits


def _compare(
    model: Model,
    library: str,
    bits: Bits,
    theirs: NDArray[Any],
    their_scores: NDArray[Any] | None,
    start: int,
    made: bool,
) -> None:
    scores = model.scores(bits)
    if model.clamp is not None:
        scores = np.clip(scores, -model.clamp, model.clamp)
    ours = decide(scores, model.tie, model.clamp)
    differ = theirs.astype(np.int64) != ours
    if their_scores is not None:
        differ |= (np.asarray(their_scores).astype(np.int64) != scores).any(axis=1)
    if not differ.any():
        return
    first = int(np.argmax(differ))
    where = f"input {start + first}" + (" of those made for this check" if made else " of X")
    shown = "" if their_scores is None else f", scores {np.asarray(their_scores)[first].tolist()}"
    raise ImportMismatchError(
        f"The imported model differs from {library} on {where}: {library} says class {int(theirs[first])}"
        f"{shown}; the model says class {int(ours[first])}, scores {scores[first].tolist()}. "
        "It is not what the library predicts with, so it is not returned.",
        bits[first].copy(),
    )
