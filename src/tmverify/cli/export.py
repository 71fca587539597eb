"""``tmverify export``: a question for solvers, or the model itself for other programs and devices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.atomic import replacing
from tmverify.cli import options
from tmverify.cli.options import DATA_HELP, Direction, Features, ManyScope, ModelFile
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError

if TYPE_CHECKING:
    from tmverify.properties import Query

# Formats, and the functions of tmverify.interop that write them.
QUESTION_FORMATS = {
    "cnf": "to_dimacs",
    "opb": "to_opb",
    "wcnf": "to_wcnf",
    "smt2": "to_smtlib",
    "lp": "to_lp",
}
SOURCE_FORMATS = {"c": "to_c", "v": "to_verilog"}
FORMATS = (*QUESTION_FORMATS, *SOURCE_FORMATS, "json")
OPTIMISING = ("opb", "lp")
ENCODINGS = ("sat", "paper")


def export(
    model: ModelFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help=f"Where to write it: .{', .'.join(FORMATS)}."),
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help=f"{DATA_HELP} Left out: equivalence with --against, or the model itself."
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="|".join(FORMATS), help="The format, if the file's name does not say it."
        ),
    ] = None,
    index: Annotated[int | None, typer.Option(min=0, help="Which input of DATA, from 0. Default: 0.")] = None,
    epsilon: Annotated[
        int | None,
        typer.Option(
            "--epsilon",
            "-e",
            help="Change at most this many columns, or flip this many features where each is a bit; see "
            "--distance and --cost. Default: 1; all that may change for wcnf and --nearest.",
        ),
    ] = None,
    against: Annotated[Path | None, typer.Option(metavar="MODEL2", help="Compare with this model.")] = None,
    nearest: Annotated[
        bool,
        typer.Option(
            "--nearest", help="opb, lp: ask for the nearest counterexample, not for any. (wcnf always does.)"
        ),
    ] = False,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(ENCODINGS),
            help="cnf: the compact encoding (sat, the default), or the paper's own (paper).",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="c, v: what the functions, or the modules, are called. Default: tm."),
    ] = None,
    scope: ManyScope = "team",
    distance: options.Distance = "columns",
    columns: options.Columns = [],  # noqa: B006 (typer makes a new one)
    freeze: options.Freeze = [],  # noqa: B006
    increase: options.Increase = [],  # noqa: B006
    decrease: options.Decrease = [],  # noqa: B006
    within: options.Within = [],  # noqa: B006
    cost: options.Cost = [],  # noqa: B006
    known_values: options.KnownValues = False,
    features: Features = None,
    direction: Direction = None,
) -> None:
    """Write a question for any solver, or the model for any device.

    With DATA: robustness of one input, or with --against similarity near it.
    With --against and no DATA: equivalence.
    As [bold].cnf[/bold] (SAT), [bold].opb[/bold] (pseudo-Boolean), [bold].smt2[/bold] (SMT) or
    [bold].lp[/bold] (MILP): no solution means that the property holds, a solution is a counterexample.
    As [bold].wcnf[/bold] (MaxSAT): the cost of the optimum is the radius.

    Without either, the model itself: [bold].c[/bold] (a C function), [bold].v[/bold] (a Verilog module),
    [bold].json[/bold] (a clause list).
    C and Verilog take bits and, if the model has columns, raw values too: tm_predict_row, module tm_row.
    Comments in the file map its variables back to features and clauses.

    Example: [cyan]tmverify export model.tm test.npz --index 7 --epsilon 3 -o query.cnf[/cyan]
    of your table: [cyan]tmverify export people.tm people.csv --index 7 --freeze age -o query.opb[/cyan]
    or: [cyan]tmverify export model.tm -o model.c[/cyan]
    """
    check_target(output, "--output")
    check_apart([model, data, against], [output], "MODEL, DATA, --against and --output")
    chosen = _format(file_format, output)
    about = {
        "columns": columns or None,
        "freeze": freeze or None,
        "increase": increase or None,
        "decrease": decrease or None,
        "within": within or None,
        "cost": cost or None,
        "known-values": known_values or None,
        "features": features,
        "direction": direction,
    }
    near = {"--index": index, "--epsilon": epsilon, **{f"--{name}": each for name, each in about.items()}}
    if chosen not in QUESTION_FORMATS:
        asked = {
            "DATA": data,
            "--against": against,
            **near,
            "--nearest": nearest or None,
            "--encoding": encoding,
            "--scope": None if scope == "team" else scope,
            "--distance": None if distance == "columns" else distance,
        }
        typed = [option for option, value in asked.items() if value is not None]
        if typed:
            raise InvalidInputError(
                f"A .{chosen} file is of the model, not of a question: leave {', '.join(typed)} out."
            )
        _write_model(model, chosen, output, name)
        return
    if name is not None:
        raise InvalidInputError(f"--name is for c and v. Leave it out for {chosen}.")
    how = _writer_options(chosen, nearest, encoding)
    paths = (model,) if against is None else (model, against)
    wide = nearest or chosen == "wcnf"
    query, said = _question(paths, data, near, wide=wide, scope=scope, distance=distance)
    _write_question(query, said, chosen, output, how, everywhere=data is None)


def _format(given: str | None, output: Path) -> str:
    chosen = output.suffix.lower().removeprefix(".") if given is None else given
    if chosen in FORMATS:
        return chosen
    known = ", ".join(FORMATS)
    if given is not None:
        raise InvalidInputError(f"--format must be one of {known}. Got {given!r} instead.")
    raise InvalidInputError(f"--output must end in one of {known}, or --format say it. Got {output} instead.")


def _write_model(path: Path, chosen: str, output: Path, name: str | None) -> None:
    from tmverify import interop
    from tmverify.asking.subject import machines, open_models
    from tmverify.cli.output import plain, show

    if name is not None and chosen == "json":
        raise InvalidInputError("--name is for c and v. Leave it out for json.")
    (model,) = machines([path], open_models([path]))
    if chosen == "json":
        model.to_json(output)
    else:
        getattr(interop, SOURCE_FORMATS[chosen])(model, output, name="tm" if name is None else name)
    show(f"wrote {plain(output)}: {plain(path.name)}, {output.stat().st_size} bytes")


def _writer_options(chosen: str, nearest: bool, encoding: str | None) -> dict[str, Any]:
    """The options for the function that writes the format, checked."""
    if encoding is not None and chosen != "cnf":
        raise InvalidInputError(f"--encoding is for cnf. Leave it out for {chosen}.")
    if encoding is not None and encoding not in ENCODINGS:
        raise InvalidInputError(
            f"--encoding must be one of {', '.join(ENCODINGS)}. Got {encoding!r} instead."
        )
    if nearest and chosen not in OPTIMISING:
        raise InvalidInputError(f"--nearest is for {' and '.join(OPTIMISING)}; wcnf asks for it anyway.")
    if chosen == "cnf":
        return {"encoding": encoding or "sat"}
    return {"nearest": nearest} if chosen in OPTIMISING else {}


def _question(
    paths: tuple[Path, ...], data: Path | None, near: dict[str, Any], *, wide: bool, scope: str, distance: str
) -> tuple[Query, str]:
    """The question compiled, and in words; ``near`` are options that need an input.

    ``wide``: without a given epsilon, all may change that is allowed.
    """
    from tmverify.asking.subject import (
        Chosen,
        about_everything,
        about_inputs,
        machines,
        open_inputs,
        open_models,
    )
    from tmverify.cli.ask import typed_of
    from tmverify.cli.output import plain, tell_of_rows
    from tmverify.properties import Query
    from tmverify.properties.questions import EQUIVALENCE, RADIUS

    models = machines(paths, open_models(paths))
    names = tuple(path.name for path in paths)
    if data is None:
        if len(models) == 1:
            raise InvalidInputError(
                "Give DATA for robustness of an input, or --against MODEL2 for equivalence."
            )
        if scope == "own" or any(value is not None for value in near.values()):
            raise InvalidInputError(f"{', '.join(near)}, --scope own need DATA; equivalence is everywhere.")
        subject = about_everything(names, models, scope, distance)
        (task,) = subject.tasks(EQUIVALENCE)
        said = [f"scope {scope}", *subject.rules.words(subject.named.space)]
    else:
        given = {
            name.removeprefix("--").replace("-", "_"): value
            for name, value in near.items()
            if value is not None
        }
        index, epsilon = str(given.pop("index", 0)), given.pop("epsilon", None)
        chosen = Chosen(index=index, scope=scope, allowed=typed_of({"distance": distance, **given}))
        inputs = open_inputs(data, models)
        tell_of_rows(data, inputs.ignored, inputs.notes)
        subject = about_inputs(names, models, inputs, chosen)
        if epsilon is None and not wide:
            epsilon = 1
        if epsilon is None and subject.rules.about_bits:
            epsilon = models[0].n_features
        (task,) = subject.tasks(RADIUS.part(len(models)), [] if epsilon is None else [epsilon])
        within = "any epsilon" if epsilon is None else f"epsilon {epsilon}"
        said = [f"at input {task.index}", within, f"scope {task.scope}"]
        said += subject.rules.words(subject.named.space)
        if subject.rules.about_bits:
            typed = chosen.allowed.said
            said += [f"{name} {typed[name]}" for name in typed if name != "distance"]
    query = task.query(models)
    assert isinstance(query, Query)
    return query, plain(f"{task.asks.heading(names)}{', ' if data is None else ' '}{', '.join(said)}")


def _write_question(
    query: Query, said: str, chosen: str, output: Path, options: dict[str, Any], *, everywhere: bool
) -> None:
    """Write the query, and say what it asks and what a solver's answer will mean."""
    from tmverify import interop
    from tmverify.cli.output import plain, show

    with replacing(output) as draft:
        getattr(interop, QUESTION_FORMATS[chosen])(query, draft, **options)
        size = draft.stat().st_size
    none, some = ("infeasible", "feasible") if chosen == "lp" else ("UNSAT", "SAT")
    meaning = f"{none}: the property holds.  {some}: it is violated, and the solution is a counterexample."
    if chosen == "wcnf":
        counted = "number of ones in the counterexample" if everywhere else "number of flips"
        if not query.region.rules.about_bits:
            counted = "cost of a counterexample"
        meaning = f"UNSAT: the property holds.  The cost of the optimum is the least {counted}."
    show(f"wrote {plain(output)}: {said}", f"  {size} bytes", f"  {meaning}")
