"""``tmverify export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from tmverify.campaign.scopes import OWN, read_scope
from tmverify.cli import options
from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import OpenModel, Wanted, open_inputs, open_models, subject_of
from tmverify.cli.survey import ROBUSTNESS, SIMILARITY
from tmverify.drafts import replacing
from tmverify.errors import InvalidInputError
from tmverify.interop.dimacs import ENCODERS, to_dimacs
from tmverify.properties import Query, equivalence_query

OptionalData = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help=f"{options.DATA_HELP} Left out: equivalence with --against.",
        show_default=False,
    ),
]
OutFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE.cnf", help="Where to write it.", show_default=False)
]
Against = Annotated[
    Path | None,
    typer.Option("--against", metavar="MODEL2", help="Compare with this model.", show_default=False),
]
Index = Annotated[int, typer.Option("--index", min=0, help="Which input of DATA, from 0.")]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="|".join(ENCODERS),
        help="The compact encoding (sat), or the paper's own (paper).",
    ),
]


def export(
    model: options.ModelFile,
    output: OutFile,
    data: OptionalData = None,
    index: Index = 0,
    epsilon: options.Epsilon = 1,
    against: Against = None,
    encoding: Encoding = "sat",
    scope: options.ManyScope = "team",
    features: options.Features = None,
    direction: options.Direction = None,
) -> None:
    """Write a question as DIMACS CNF, for any SAT solver.

    With DATA: robustness of one input, or with --against similarity near it.
    With --against and no DATA: equivalence.
    [bold]UNSAT[/bold] means that the property holds, [bold]SAT[/bold] that it is violated.
    Comments in the file map variables back to features and clauses.

    Example: [cyan]tmverify export model.tm test.npz --index 7 --epsilon 3 -o query.cnf[/cyan]
    """
    if encoding not in ENCODERS:
        raise InvalidInputError(f"--encoding must be one of {', '.join(ENCODERS)}. Got {encoding!r} instead.")
    check_target(output, "--output")
    check_apart([model, data, against], [output], "MODEL, DATA, --against and --output")
    opened = open_models((model,) if against is None else (model, against))
    if data is None:
        query, said = _everywhere(opened, scope, features, direction)
    else:
        wanted = Wanted(
            models=(), data=data, n=None, seed=0, scope=scope, features=features, direction=direction
        )
        query, said = _near(opened, wanted, index, epsilon)
    with replacing(output) as draft:
        to_dimacs(query, draft, encoding=encoding)
        n_vars, n_clauses = _size(draft)
    show(f"wrote {plain(output)}: {said}", f"  {n_vars} variables, {n_clauses} clauses, {encoding} encoding")
    show("  UNSAT: the property holds.  SAT: it is violated, and the solution is a counterexample.")


def _everywhere(
    opened: tuple[OpenModel, ...], scope: str, features: str | None, direction: str | None
) -> tuple[Query, str]:
    if len(opened) == 1:
        raise InvalidInputError("Give DATA for robustness of an input, or --against MODEL2 for equivalence.")
    if scope == OWN or features is not None or direction is not None:
        raise InvalidInputError(
            "--features, --direction and --scope own need DATA; equivalence is everywhere."
        )
    left, right = (each.model for each in opened)
    query = equivalence_query(left, right, scope=read_scope(left, scope))
    return query, f"equivalence of {_names(opened)}, scope {plain(scope)}"


def _near(opened: tuple[OpenModel, ...], wanted: Wanted, index: int, epsilon: int) -> tuple[Query, str]:
    inputs = open_inputs(wanted.data, opened[0].model)
    if index >= len(inputs.X):
        raise InvalidInputError(
            f"--index must be below the number of inputs, {len(inputs.X)}. Got {index} instead."
        )
    subject = subject_of(opened, inputs, np.array([index]), wanted)
    question = ROBUSTNESS if len(opened) == 1 else SIMILARITY
    query = question.query(subject, 0, epsilon)
    where = f"at input {index}, epsilon {epsilon}, scope {plain(subject.scopes[0])}"
    return query, f"{question.name} of {_names(opened)} {where}"


def _names(opened: tuple[OpenModel, ...]) -> str:
    return " and ".join(plain(each.path.name) for each in opened)


def _size(path: Path) -> tuple[int, int]:
    """Variables and clauses, as the file itself says."""
    with open(path, encoding="utf-8") as lines:
        header = next(line for line in lines if line.startswith("p cnf "))
    n_vars, n_clauses = header.split()[2:4]
    return int(n_vars), int(n_clauses)
