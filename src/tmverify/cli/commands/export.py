"""Take it elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options

QUESTION_FORMATS = ("cnf", "opb", "wcnf", "smt2", "lp")
MODEL_FORMATS = ("c", "v", "json")
ENCODINGS = ("sat", "paper")
FORMATS = (*QUESTION_FORMATS, *MODEL_FORMATS)

OptionalData = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help=f"{options.DATA_HELP} Left out: equivalence with --against, or the model itself.",
        show_default=False,
    ),
]
OutFile = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"Where to write it: .{', .'.join(FORMATS)}.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(FORMATS), help="The format, if the file's name does not say it.",
        show_default=False,
    ),
]  # fmt: skip
Against = Annotated[
    Path | None,
    typer.Option("--against", metavar="MODEL2", help="Compare with this model.", show_default=False),
]
Index = Annotated[
    int | None,
    typer.Option("--index", min=0, help="Which input of DATA, from 0. Default: 0.", show_default=False),
]
OptionalEpsilon = Annotated[
    int | None,
    typer.Option(
        "--epsilon",
        "-e",
        help="Flip at most this many features. Default: 1; all of them for wcnf and --nearest.",
        show_default=False,
    ),
]
Nearest = Annotated[
    bool,
    typer.Option("--nearest", help="opb, lp: ask for the fewest flips, not for any. (wcnf always does.)"),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="|".join(ENCODINGS),
        help="cnf: the compact encoding (sat, the default), or the paper's own (paper).",
        show_default=False,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", help="c, v: what the functions, or the module, are called. Default: tm.", show_default=False
    ),
]


def export(
    model: options.ModelFile,
    output: OutFile,
    data: OptionalData = None,
    file_format: Format = None,
    index: Index = None,
    epsilon: OptionalEpsilon = None,
    against: Against = None,
    nearest: Nearest = False,
    encoding: Encoding = None,
    name: Name = None,
    scope: options.ManyScope = "team",
    features: options.Features = None,
    direction: options.Direction = None,
) -> None:
    """Write a question for any solver, or the model for any device.

    With DATA: robustness of one input, or with --against similarity near it.
    With --against and no DATA: equivalence.
    As [bold].cnf[/bold] (SAT), [bold].opb[/bold] (pseudo-Boolean), [bold].smt2[/bold] (SMT) or
    [bold].lp[/bold] (MILP): no solution means that the property holds, a solution is a counterexample.
    As [bold].wcnf[/bold] (MaxSAT): the cost of the optimum is the radius.

    Without either, the model itself: [bold].c[/bold] (a C function), [bold].v[/bold] (a Verilog module),
    [bold].json[/bold] (a clause list).
    Comments in the file map its variables back to features and clauses.

    Example: [cyan]tmverify export model.tm test.npz --index 7 --epsilon 3 -o query.cnf[/cyan]
    or: [cyan]tmverify export model.tm -o model.c[/cyan]
    """
    from tmverify.cli.export import export_to_file
    from tmverify.cli.export_question import Asked

    asked = Asked(data, index, epsilon, scope, features, direction, nearest, encoding)
    export_to_file(model, against, output, file_format, name, asked)
