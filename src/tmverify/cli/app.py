"""The subcommands by name, in the order of the help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from tmverify.cli import campaign, importers
from tmverify.cli.campaign import report
from tmverify.cli.certify import certify
from tmverify.cli.exit_codes import (
    EPILOG,
    EPILOG_CAMPAIGN,
    EPILOG_CERTIFY,
    EPILOG_PLAIN,
    EPILOG_RADIUS,
    EPILOG_TRAIN,
    ExitCode,
)
from tmverify.cli.export import export
from tmverify.cli.info import info
from tmverify.cli.predict import predict
from tmverify.cli.questions import command_of
from tmverify.cli.train import train
from tmverify.properties.questions import QUESTIONS

_SETTINGS = {"help_option_names": ["-h", "--help"]}
# A subcommand: its panel in the help, what it is called, the function, and how its help ends.
_COMMANDS: list[tuple[str, str, Callable[..., None], str]] = [
    ("Make a model", "train", train, EPILOG_TRAIN),
    ("Look at a model", "info", info, EPILOG_PLAIN),
    ("Look at a model", "predict", predict, EPILOG_PLAIN),
    *(
        (
            "Prove it, or find the counterexample",
            question.name,
            command_of(question),
            EPILOG_RADIUS if question.is_distance else EPILOG,
        )
        for question in QUESTIONS.values()
    ),
    ("Check a proof", "certify", certify, EPILOG_CERTIFY),
    ("Show many answers", "report", report, EPILOG_PLAIN),
    ("Take it elsewhere", "export", export, EPILOG_PLAIN),
]

app = typer.Typer(
    name="tmverify",
    epilog=EPILOG,
    rich_markup_mode="rich",
    context_settings=_SETTINGS,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from tmverify import __version__

        typer.echo(f"tmverify {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Train Tsetlin machines, and prove what they will and will not do.

    Every answer is exact. [green]holds[/green] is a proof; [red]violated[/red] comes with a counterexample
    that was run through the model; anything short of that is [yellow]unknown[/yellow].

    Example: [cyan]tmverify train digits -o digits.tm --save-test digits-test.npz[/cyan]
    then: [cyan]tmverify robustness digits.tm digits-test.npz --epsilon 1 --n 20[/cyan]
    or: [cyan]tmverify radius digits.tm digits-test.npz[/cyan]
    """
    _help_if_alone(context)


def _help_if_alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(ExitCode.ERROR)


_campaign = typer.Typer(rich_markup_mode="rich", context_settings=_SETTINGS)


@_campaign.callback(invoke_without_command=True)
def _start_campaign(context: typer.Context) -> None:
    """Ask thousands of questions: in parallel, kept as they are answered, resumed where they were left."""
    _help_if_alone(context)


_campaign.command(epilog=EPILOG_CAMPAIGN, context_settings=_SETTINGS)(campaign.run)
_campaign.command(epilog=EPILOG_PLAIN, context_settings=_SETTINGS)(campaign.status)
_campaign.command(epilog=EPILOG_PLAIN, context_settings=_SETTINGS)(campaign.export)
app.add_typer(_campaign, name="campaign", rich_help_panel="Ask many questions")

_import = typer.Typer(rich_markup_mode="rich", context_settings=_SETTINGS)


@_import.callback(invoke_without_command=True)
def _start_import(context: typer.Context) -> None:
    """Read a model from another program's file. (Live objects, in Python: tmverify.interop.from_tmu, …)"""
    _help_if_alone(context)


_import.command(epilog=EPILOG_PLAIN, context_settings=_SETTINGS)(importers.green)
_import.command(epilog=EPILOG_PLAIN, context_settings=_SETTINGS)(importers.clauses)
app.add_typer(_import, name="import", rich_help_panel="Make a model")

for _panel, _name, _function, _epilog in _COMMANDS:
    app.command(name=_name, rich_help_panel=_panel, epilog=_epilog, context_settings=_SETTINGS)(_function)
