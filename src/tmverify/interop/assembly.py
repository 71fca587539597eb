"""What every importer ends with: clauses and votes of another library, as a Model that is as exact.

Also what every importer begins with: whose machine is this, and of which kind?
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, ModelError
from tmverify.model import Label, Model
from tmverify.model.checks import labels_of, listed
from tmverify.model.clauses import Clauses, concatenate
from tmverify.model.machine import EmptyClause

# Clauses, and their weights: (n_clauses,), or (outputs, n_clauses).
Votes = tuple[Clauses, NDArray[np.int64]]


def kind_of(machine: object, packages: Sequence[str]) -> tuple[str, str] | None:
    """Which of ``packages`` the machine's class comes from, or inherits from, and its name there.

    By name, so that no library is imported here.
    """
    for cls in type(machine).__mro__:
        package = cls.__module__.split(".")[0]
        if package in packages:
            return package, cls.__name__
    return None


def refuse_other(machine: object, function: str, expected: str) -> InvalidInputError:
    """The error for something that is no machine of that library."""
    cls = type(machine)
    return InvalidInputError(f"{function} takes {expected}. Got {cls.__module__}.{cls.__qualname__} instead.")


def refuse_kind(library: str, kind: str, known: str) -> ModelError:
    """The error for a machine that a Model can't express."""
    why = "it does not classify by votes of clauses over the whole input"
    if "conv" in kind.lower():
        why = "its clauses look at patches, and a clause of a Model looks at the whole input"
    return ModelError(f"{kind} of {library} can't be imported: {why}. Known: {known}.")


def refuse_patches(library: str) -> ModelError:
    """The error for a machine whose class may be plain or convolutional."""
    return ModelError(
        f"A convolutional machine of {library} can't be imported: its clauses look at patches, and a clause "
        "of a Model looks at the whole input. (Train on flat inputs, one row of bits each.)"
    )


def one_machine_a_class(parts: Sequence[Votes]) -> Votes:
    """All clauses, and a matrix in which the clauses of machine c vote on class c alone."""
    weights = np.zeros((len(parts), sum(len(clauses) for clauses, _ in parts)), np.int64)
    start = 0
    for c, (clauses, votes) in enumerate(parts):
        weights[c, start : start + len(clauses)] = votes
        start += len(clauses)
    return concatenate([clauses for clauses, _ in parts]), weights


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
    """A multiclass Model, if the library computes its sums exactly too: up to ``most``.

    Raises
    ------
    ModelError
        If there are fewer than two classes, or sums of votes could leave the library's own arithmetic.
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
        feature_names=None if feature_names is None else tuple(listed(feature_names, "feature_names")),
    )
