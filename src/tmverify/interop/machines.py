"""What importers share: recognising a machine, reading its clauses, comparing the model with its library.

**Literals.** Every library here has the same literals, the features and then their negations: literal l < n
requires feature l to be 1, literal n + l requires it to be 0. They store a clause's literals differently:

- a matrix of Booleans, one row per clause;
- automata in bit slices: 32 literals per word, a word for each bit of their states, lowest bit first. A
  literal is included iff its highest state bit is set. Words are padded to 32 literals; the padding is
  trained like the rest, but its values mean nothing;
- lists of literals.

**Agreement.** The model must agree with its library on every input tried. Predictions are compared, and also
scores and clause outputs if the library gives them; the first difference raises. The inputs are the user's
and ``N_PROBES`` generated here: all zeros, all ones, random inputs of every density, and mostly inputs on
which a clause holds or fails by just one literal, rare in random inputs. They reveal every misreading of a
layout, but may miss a single wrong clause among thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import ImportMismatchError, InvalidInputError, ModelError, shown
from tmverify.model import Label, Model
from tmverify.model.checks import as_bit_matrix, labels_of, listed, space_of
from tmverify.model.clauses import Clauses, check_n_features
from tmverify.model.evaluate import decide
from tmverify.model.machine import EmptyClause

Bits = NDArray[np.uint8]

# Class index of each row, and scores (n, outputs), clamped if the library clamps them; None if it has none.
Ask = Callable[[Bits], tuple[NDArray[Any], NDArray[Any] | None]]
# Outputs of all clauses, (n, n_clauses); those of clauses without literals are ignored.
AskClauses = Callable[[Bits], NDArray[Any]]

N_PROBES = 1024
_AT_ONCE = 4096  # rows per call; some libraries use 32 bits per literal


def kind_of(
    machine: object, known: Mapping[str, Collection[str]], function: str, expected: str
) -> tuple[str, str]:
    """The library (a key of ``known``) and the name of the machine's class, or of the base that is from one.

    Classes are compared by name, so that no library is imported here.

    Raises
    ------
    InvalidInputError
        If it is not from these libraries; the message says what ``function`` expects.
    ModelError
        If it is another class of such a library: a Model can't express it.
    """
    for cls in type(machine).__mro__:
        library, kind = cls.__module__.split(".")[0], cls.__name__
        if library in known and kind not in known[library]:
            why = "it does not classify by votes of clauses over the whole input"
            if "conv" in kind.lower():
                why = "its clauses look at patches, and a clause of a Model looks at the whole input"
            raise ModelError(
                f"{kind} of {library.replace('_', '-')} can't be imported: {why}. "
                f"Known: {', '.join(known[library])}."
            )
        if library in known:
            return library, kind
    cls = type(machine)
    raise InvalidInputError(f"{function} takes {expected}. Got {cls.__module__}.{cls.__qualname__} instead.")


def included_in_slices(
    states: NDArray[np.uint32], n_clauses: int, n_state_bits: int, n_literals: int
) -> NDArray[np.bool_]:
    """Which literals each clause includes, (n_clauses, n_literals), from automata in bit slices."""
    words = (n_literals - 1) // 32 + 1
    expected = n_clauses * words * n_state_bits
    if states.dtype != np.uint32 or states.size != expected:
        raise ModelError(
            f"The automata of {n_clauses} clauses with {n_literals} literals and {n_state_bits} state bits "
            f"take {expected} words of uint32. Got {states.size} of {states.dtype} instead."
        )
    top = states.reshape(n_clauses, words, n_state_bits)[:, :, -1].astype("<u4")
    bits = np.unpackbits(top.view(np.uint8).reshape(n_clauses, -1), axis=1, bitorder="little")
    return bits[:, :n_literals].astype(np.bool_)


def clauses_of_lists(rules: Iterable[Iterable[int]], n_features: int) -> Clauses:
    """Clauses from lists of literals, numbered from 0: the features, then their negations."""
    n_features = check_n_features(n_features)
    signed = []
    for j, rule in enumerate(rules):
        literals = [int(lit) for lit in rule]
        if not all(0 <= lit < 2 * n_features for lit in literals):
            raise ModelError(
                f"The literals of {n_features} features are 0 to {2 * n_features - 1}. "
                f"Rule {j} has {shown(literals)} instead."
            )
        signed.append([lit + 1 if lit < n_features else n_features - lit - 1 for lit in literals])
    return Clauses.from_lists(n_features, signed)


def assemble(
    library: str,
    clauses: Clauses,
    weights: NDArray[np.int64],
    *,
    most: int,
    clamp: int | None = None,
    empty_clause: EmptyClause = "silent",
    classes: Sequence[Label] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Model:
    """A multiclass Model, if its sums stay within ``most``, up to which the library is exact too.

    Raises
    ------
    ModelError
        If there are fewer than two classes, or sums of votes could exceed the library's arithmetic.
    """
    if len(weights) < 2:
        raise ModelError(f"A machine of {library} needs at least two classes to decide. Got {len(weights)}.")
    heaviest = int(np.abs(weights).sum(axis=1).max(initial=0))
    if heaviest > most:
        raise ModelError(
            f"The votes of a class may sum to {heaviest}, but {library} is exact up to {most} only: "
            "beyond, its predictions are not those of any Tsetlin machine."
        )
    return Model(
        clauses=clauses,
        weights=weights,
        bias=np.zeros(len(weights), np.int64),
        clamp=clamp,
        empty_clause=empty_clause,
        classes=tuple(range(len(weights))) if classes is None else labels_of(listed(classes, "classes")),
        space=space_of(feature_names, None, clauses.n_features),
    )


def check_agreement(
    model: Model, library: str, ask: Ask, X: ArrayLike | None, *, ask_clauses: AskClauses | None = None
) -> None:
    """Compare ``model`` with the library that it came from, on ``X`` and on generated inputs.

    Parameters
    ----------
    model : Model
    library : str
        Its name, for the message.
    ask : callable
        Returns the library's own answers.
    X : array of 0 and 1, (n, n_features), or None
    ask_clauses : callable, optional
        Returns its clause outputs; called on the generated inputs only, because it is slow.

    Raises
    ------
    ImportMismatchError
        At the first input on which they differ.
    InvalidInputError
        If ``X`` is empty.
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
    if ask_clauses is None:
        return
    theirs = np.asarray(ask_clauses(made)).astype(np.bool_)
    differ = (theirs != model.clauses.outputs(made, empty_fires=False)) & (model.clauses.lengths > 0)
    if differ.any():
        i, j = (int(index) for index in np.argwhere(differ)[0])
        said = "holds" if theirs[i, j] else "does not hold"
        raise _mismatch(f"{library} on an input made for this check: there, clause {j} {said}", made[i])


def probes(model: Model, n: int = N_PROBES) -> Bits:
    """Inputs that reveal an error in reading ``model``; the same ones every time."""
    rng = np.random.default_rng(0)
    bits = (rng.random((n, model.n_features)) < rng.random((n, 1))).astype(np.uint8)
    bits[0], bits[1 % n] = 0, 1
    proper = np.flatnonzero((model.clauses.lengths > 0) & ~model.clauses.contradictory)
    order = rng.permutation(proper)  # as many different clauses as possible, two inputs for each
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


def _mismatch(what: str, bits: Bits) -> ImportMismatchError:
    return ImportMismatchError(
        f"The imported model differs from {what}. It is not what the library has, so it is not returned.",
        bits.copy(),
    )
