"""``tmverify explain``: why inputs are decided so, and which rules decide how many of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options
from tmverify.errors import InvalidInputError

KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="sufficient|contrastive",
        help="sufficient: facts that are enough for the decision, whatever else changes. contrastive: "
        "columns whose change alters it, all others kept. Default: sufficient; with --all, both.",
    ),
]
Within = Annotated[
    list[str],
    typer.Option(
        "--within",
        metavar="N|COLUMN=VALUES",
        help="A number: look no further than so many changes of the row. Or the values that a column may "
        "change to: age=18..65, age=18.. or city=Oslo,Bergen. Repeat it for more columns, or for both.",
    ),
]
Smallest = Annotated[
    bool, typer.Option("--smallest", help="No other reason may have fewer columns; may take much longer.")
]
Widen = Annotated[
    bool,
    typer.Option(
        "--widen", help="Make the values of a rule as many as stay enough: age over 25, not age 25 to 40."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="CLASS", help="Ask why it is not this class. Default: why it is its own class."
    ),
]
All = Annotated[
    int | None,
    typer.Option(
        "--all",
        metavar="N",
        min=1,
        help="List the minimal reasons as they are found, up to N of each kind, and how much each column "
        "matters: in which share of the sufficient ones it is.",
    ),
]
Rows_ = Annotated[
    int,
    typer.Option(
        "--rows",
        min=0,
        help="Of many rows, show so many, and so many lines of the table of rules. 0: only a summary.",
        rich_help_panel="Output",
        show_default=True,
    ),
]
_TIMEOUT = 60.0
_ROWS = 20


def explain(
    model: options.ModelFile,
    data: options.DataFile,
    index: options.Index = None,
    kind: KindOption = None,
    within: Within = [],  # noqa: B006 (typer copies it)
    smallest: Smallest = False,
    widen: Widen = False,
    target: Target = None,
    all_: All = None,
    image: options.Image = None,
    id: options.IdColumn = None,
    n: options.SampleSize = None,
    seed: options.Seed = 0,
    distance: options.Distance = "columns",
    columns: options.Columns = [],  # noqa: B006
    freeze: options.Freeze = [],  # noqa: B006
    increase: options.Increase = [],  # noqa: B006
    decrease: options.Decrease = [],  # noqa: B006
    cost: options.Cost = [],  # noqa: B006
    known_values: options.KnownValues = False,
    features: options.Features = None,
    direction: options.Direction = None,
    engine: options.Engine = "auto",
    timeout: options.Timeout = _TIMEOUT,
    rows: Rows_ = _ROWS,
    as_json: options.AsJson = False,
    csv: options.ReasonsCsv = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """Why is it decided so? The facts that are enough for a decision, or the changes that alter it, proved.

    A [bold]sufficient[/bold] reason is a rule that is true of every possible row with its facts, not only
    of this one; and none of its columns can be left out. Of a picture, the pixels that must be as they are
    are drawn; in a text, words are marked.
    A [bold]contrastive[/bold] reason is a set of columns that can alter the decision, none to spare.

    If DATA has labels, it says which rows are decided otherwise.
    Without --index every row is explained, and a table lists the rules with how many rows of DATA each
    covers: those that have its facts, so that their decision is proved by it. --widen makes rules cover more.

    Example: [cyan]tmverify explain loans.tm loans.csv --index 7 --widen[/cyan]
    what would alter it: [cyan]tmverify explain loans.tm loans.csv --index 7 --kind contrastive[/cyan]
    why not yes: [cyan]tmverify explain loans.tm loans.csv --index 7 --target yes --freeze age,sex[/cyan]
    all reasons: [cyan]tmverify explain loans.tm loans.csv --index 7 --all 20[/cyan]
    a picture, near it: [cyan]tmverify explain digits.tm digits-test.npz --index 3 --within 5[/cyan]
    rules for a file: [cyan]tmverify explain loans.tm loans.csv --widen --n 200 --csv rules.csv[/cyan]
    proofs: [cyan]tmverify explain loans.tm loans.csv --index 7 --certificate proofs[/cyan]
    """
    from tmverify.asking.subject import (
        Chosen,
        about_inputs,
        open_inputs,
        open_models,
        read_class,
        text_of,
    )
    from tmverify.cli.ask import read_limit, typed_of
    from tmverify.cli.explained import Explained, Wanted
    from tmverify.cli.output import described, show_json, tell_of_rows
    from tmverify.cli.reasons import Screen
    from tmverify.cli.saving import check_apart, check_target

    epsilon, values = _limits(within)
    allowed = typed_of(
        {
            "distance": distance,
            "columns": columns,
            "freeze": freeze,
            "increase": increase,
            "decrease": decrease,
            "within": values,
            "cost": cost,
            "known_values": known_values,
            "features": features,
            "direction": direction,
        }
    )
    _check(kind, smallest, widen, all_, engine, certificate)
    if csv is not None:
        check_target(csv, "--csv", [".csv"])
        check_apart([model, data], [csv], "MODEL, DATA and --csv")
    shape = options.read_shape(image)
    opened = open_models([model])
    inputs = open_inputs(data, opened, id)
    tell_of_rows(data, inputs.ignored, inputs.notes)
    chosen = Chosen(n=n, seed=seed, index=index, allowed=allowed, image=shape)
    subject = about_inputs((text_of(model.stem),), opened, inputs, chosen, data=text_of(data.stem))
    explained = Explained(
        subject,
        Wanted(
            kind=kind,  # type: ignore[arg-type]
            epsilon=epsilon,
            smallest=smallest,
            widen=widen,
            target=None if target is None else read_class(opened[0], target, "--target"),
            limit=all_,
            engine=engine,
            timeout=read_limit(timeout, "--timeout"),
        ),
        certificate,
    )
    screen = None if as_json else Screen(explained, rows)
    if screen is not None:
        screen.show_heading(model.name)
    explained.run(screen)
    if csv is not None:
        explained.save_csv(csv)
    if screen is None:
        show_json(explained.document(described("explain", [model], opened), data))
    else:
        screen.show_end(model, data, csv)
    raise typer.Exit(explained.code)


def _limits(within: Sequence[str]) -> tuple[int | None, list[str]]:
    """The distance, and what columns may change to; ``--within`` can be either."""
    numbers = [text for text in within if "=" not in text]
    for text in numbers:
        if not text.strip().isdecimal():
            raise InvalidInputError(
                "--within must be a whole number of changes, or COLUMN=…, such as age=18..65 or "
                f"city=Oslo,Bergen. Got {text!r} instead."
            )
    if len(numbers) > 1:
        raise InvalidInputError(f"--within gives two distances, {numbers[0]} and {numbers[1]}. Give one.")
    return int(numbers[0]) if numbers else None, [text for text in within if "=" in text]


def _check(
    kind: str | None, smallest: bool, widen: bool, limit: int | None, engine: str, certificate: Path | None
) -> None:
    """Raise InvalidInputError if options contradict each other."""
    from tmverify.engines import check_certifying, check_engine

    if kind not in (None, "sufficient", "contrastive"):
        raise InvalidInputError(f"--kind must be sufficient or contrastive. Got {kind!r} instead.")
    if widen and kind == "contrastive":
        raise InvalidInputError("--widen is for sufficient reasons: leave it out, or --kind contrastive.")
    given = {"--smallest": smallest, "--widen": widen, "--certificate": certificate is not None}
    wrong = next((name for name, value in given.items() if value), None)
    if limit is not None and wrong is not None:
        raise InvalidInputError(f"--all lists reasons as they are found, without {wrong}: leave one out.")
    check_engine(engine)
    if certificate is not None:
        check_certifying(engine)
