"""A question as typed, compiled, and written in a solver's format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tmverify.asking.subject import OWN, read_scope
from tmverify.cli.output import plain
from tmverify.cli.subject import OpenModel, Wanted, machines, open_inputs, subject_of
from tmverify.cli.survey import ROBUSTNESS, SIMILARITY
from tmverify.errors import InvalidInputError
from tmverify.interop.dimacs import ENCODERS, to_dimacs
from tmverify.interop.lp import to_lp
from tmverify.interop.opb import to_opb
from tmverify.interop.smtlib import to_smtlib
from tmverify.interop.wcnf import to_wcnf
from tmverify.properties import Query, equivalence_query

_OPTIMISING = ("opb", "lp")


@dataclass(frozen=True, slots=True)
class Asked:
    """The options, as typed; None where nothing was."""

    data: Path | None
    index: int | None
    epsilon: int | None
    scope: str
    features: str | None
    direction: str | None
    nearest: bool
    encoding: str | None
    file_format: str = ""


_WRITERS: dict[str, Callable[[Query, Path, Asked], None]] = {
    "cnf": lambda query, path, asked: to_dimacs(query, path, encoding=asked.encoding or "sat"),
    "opb": lambda query, path, asked: to_opb(query, path, nearest=asked.nearest),
    "wcnf": lambda query, path, asked: to_wcnf(query, path),
    "smt2": lambda query, path, asked: to_smtlib(query, path),
    "lp": lambda query, path, asked: to_lp(query, path, nearest=asked.nearest),
}


def compile_question(opened: tuple[OpenModel, ...], asked: Asked) -> tuple[Query, str]:
    """The query, and what it asks in words."""
    if asked.encoding is not None and asked.file_format != "cnf":
        raise InvalidInputError(f"--encoding is for cnf. Leave it out for {asked.file_format}.")
    if asked.encoding is not None and asked.encoding not in ENCODERS:
        known = ", ".join(ENCODERS)
        raise InvalidInputError(f"--encoding must be one of {known}. Got {asked.encoding!r} instead.")
    if asked.nearest and asked.file_format not in _OPTIMISING:
        raise InvalidInputError(f"--nearest is for {' and '.join(_OPTIMISING)}; wcnf asks for it anyway.")
    return _everywhere(opened, asked) if asked.data is None else _near(opened, asked, asked.data)


def write_question(query: Query, path: Path, asked: Asked) -> None:
    """Write the query in the format asked for."""
    _WRITERS[asked.file_format](query, path, asked)


def meaning_of(asked: Asked) -> str:
    """What a solver's answer will mean."""
    if asked.file_format == "wcnf":
        counted = "ones in the counterexample" if asked.data is None else "flips"
        return f"UNSAT: the property holds.  The cost of the optimum is the least number of {counted}."
    none, some = ("infeasible", "feasible") if asked.file_format == "lp" else ("UNSAT", "SAT")
    return f"{none}: the property holds.  {some}: it is violated, and the solution is a counterexample."


def _everywhere(opened: tuple[OpenModel, ...], asked: Asked) -> tuple[Query, str]:
    if len(opened) == 1:
        raise InvalidInputError("Give DATA for robustness of an input, or --against MODEL2 for equivalence.")
    near = (asked.features, asked.direction, asked.epsilon, asked.index)
    if asked.scope == OWN or any(option is not None for option in near):
        raise InvalidInputError(
            "--index, --epsilon, --features, --direction, --scope own need DATA; equivalence is everywhere."
        )
    left, right = machines(opened)
    query = equivalence_query(left, right, scope=read_scope(left, asked.scope))
    return query, f"equivalence of {_names(opened)}, scope {plain(asked.scope)}"


def _near(opened: tuple[OpenModel, ...], asked: Asked, data: Path) -> tuple[Query, str]:
    model, *_ = models = machines(opened)
    inputs = open_inputs(data, models)
    index = asked.index or 0
    if index >= len(inputs.X):
        raise InvalidInputError(
            f"--index must be below the number of inputs, {len(inputs.X)}. Got {index} instead."
        )
    epsilon = asked.epsilon
    if epsilon is None:
        epsilon = model.n_features if asked.nearest or asked.file_format == "wcnf" else 1
    wanted = Wanted(
        models=(),
        data=data,
        n=None,
        seed=0,
        scope=asked.scope,
        features=asked.features,
        direction=asked.direction,
    )
    subject = subject_of(opened, inputs, np.array([index]), wanted)
    question = ROBUSTNESS if len(opened) == 1 else SIMILARITY
    query = question.query(subject, 0, epsilon)
    where = f"at input {index}, epsilon {epsilon}, scope {plain(subject.scopes[0])}"
    if asked.features is not None:
        where += f", features {plain(asked.features)}"
    if asked.direction is not None:
        where += f", direction {plain(asked.direction)}"
    return query, f"{question.name} of {_names(opened)} {where}"


def _names(opened: tuple[OpenModel, ...]) -> str:
    return " and ".join(plain(each.path.name) for each in opened)
