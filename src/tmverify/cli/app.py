"""The subcommands by name, in the order of the help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from tmverify.cli.equivalence import equivalence
from tmverify.cli.exit_codes import EPILOG, EPILOG_PLAIN, ExitCode
from tmverify.cli.export import export
from tmverify.cli.info import info
from tmverify.cli.predict import predict
from tmverify.cli.robustness import robustness
from tmverify.cli.similarity import similarity
from tmverify.cli.universal_robustness import universal_robustness
from tmverify.cli.universal_similarity import universal_similarity

_SETTINGS = {"help_option_names": ["-h", "--help"]}
_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Look at a model": (info, predict),
    "Prove it, or find the counterexample": (
        robustness,
        universal_robustness,
        similarity,
        universal_similarity,
        equivalence,
    ),
    "Take it elsewhere": (export,),
}
_DECIDING = _PANELS["Prove it, or find the counterexample"]

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
    """Prove what a Tsetlin machine will and will not do.

    Every answer is exact. [green]holds[/green] is a proof; [red]violated[/red] comes with a counterexample
    that was run through the model; anything short of that is [yellow]unknown[/yellow].

    Example: [cyan]tmverify robustness model.tm test.npz --epsilon 1 --epsilon 3 --n 200[/cyan]
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(ExitCode.ERROR)


for _panel, _functions in _PANELS.items():
    for _function in _functions:
        app.command(
            name=_function.__name__.replace("_", "-"),
            rich_help_panel=_panel,
            epilog=EPILOG if _function in _DECIDING else EPILOG_PLAIN,
            context_settings=_SETTINGS,
        )(_function)
