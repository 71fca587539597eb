"""``tmverify export``: a question for solvers, or the model itself for other programs and devices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tmverify.campaign.scopes import TEAM
from tmverify.cli import options
from tmverify.cli.export_question import QUESTION_FORMATS, Asked, compile_question, meaning_of, write_question
from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import machines, open_models
from tmverify.drafts import replacing
from tmverify.errors import InvalidInputError
from tmverify.interop.c_source import to_c
from tmverify.interop.dimacs import ENCODERS
from tmverify.interop.verilog import to_verilog
from tmverify.model import Model

MODEL_FORMATS = ("c", "v", "json")
_FORMATS = (*QUESTION_FORMATS, *MODEL_FORMATS)

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
        help=f"Where to write it: .{', .'.join(_FORMATS)}.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(_FORMATS), help="The format, if the file's name does not say it.",
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
        metavar="|".join(ENCODERS),
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
    check_target(output, "--output")
    check_apart([model, data, against], [output], "MODEL, DATA, --against and --output")
    chosen = _format(file_format, output)
    asked = Asked(data, index, epsilon, scope, features, direction, nearest, encoding, chosen)
    if chosen in MODEL_FORMATS:
        _check_model_alone(asked, against)
        if name is not None and chosen == "json":
            raise InvalidInputError("--name is for c and v. Leave it out for json.")
        _write_model(machines(open_models((model,)))[0], chosen, output, name)
        show(f"wrote {plain(output)}: {plain(model.name)}, {output.stat().st_size} bytes")
        return
    if name is not None:
        raise InvalidInputError(f"--name is for c and v. Leave it out for {chosen}.")
    query, said = compile_question(open_models((model,) if against is None else (model, against)), asked)
    with replacing(output) as draft:
        write_question(query, draft, asked)
        size = draft.stat().st_size
    show(f"wrote {plain(output)}: {said}", f"  {size} bytes", f"  {meaning_of(asked)}")


def _format(given: str | None, output: Path) -> str:
    chosen = output.suffix.lower().removeprefix(".") if given is None else given
    if chosen in _FORMATS:
        return chosen
    known = ", ".join(_FORMATS)
    if given is not None:
        raise InvalidInputError(f"--format must be one of {known}. Got {given!r} instead.")
    raise InvalidInputError(f"--output must end in one of {known}, or --format say it. Got {output} instead.")


def _check_model_alone(asked: Asked, against: Path | None) -> None:
    """Raise InvalidInputError if anything was typed that is about a question."""
    typed = {
        "DATA": asked.data,
        "--against": against,
        "--index": asked.index,
        "--epsilon": asked.epsilon,
        "--nearest": asked.nearest or None,
        "--encoding": asked.encoding,
        "--scope": None if asked.scope == TEAM else asked.scope,
        "--features": asked.features,
        "--direction": asked.direction,
    }
    given = [option for option, value in typed.items() if value is not None]
    if given:
        raise InvalidInputError(
            f"A .{asked.file_format} file is of the model, not of a question: leave {', '.join(given)} out."
        )


def _write_model(model: Model, chosen: str, output: Path, name: str | None) -> None:
    if chosen == "json":
        model.to_json(output)
    else:
        {"c": to_c, "v": to_verilog}[chosen](model, output, name="tm" if name is None else name)
