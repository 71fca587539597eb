"""The subcommands by name, in the order of the help; ``run`` runs one and returns its exit code.

Each question of ``properties.questions`` has a subcommand, whose arguments are made from the question's
declaration. Its work is done by ``ask``, which is imported when it runs.

typer contains a copy of click under a private name, so usage errors are recognised by typer's own names, and
click is never imported.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from tmverify.cli import campaign, importers, options
from tmverify.cli.campaign import report
from tmverify.cli.certify import certify
from tmverify.cli.changes import changes
from tmverify.cli.exit_codes import (
    EPILOG,
    EPILOG_CAMPAIGN,
    EPILOG_CERTIFY,
    EPILOG_CHANGES,
    EPILOG_CHECK,
    EPILOG_EXPLAIN,
    EPILOG_PLAIN,
    EPILOG_RADIUS,
    EPILOG_STATED,
    EPILOG_TRAIN,
    ExitCode,
)
from tmverify.cli.explain import explain
from tmverify.cli.export import export
from tmverify.cli.info import info
from tmverify.cli.predict import predict
from tmverify.cli.stating import check, fairness, monotonicity, prove
from tmverify.cli.studio import studio
from tmverify.cli.train import train
from tmverify.errors import TmVerifyError
from tmverify.properties.expressions import ExpressionError, pointed_at
from tmverify.properties.questions import DEFAULT_TIMEOUT, QUESTIONS, Question

_REQUIRED = Parameter.empty
_USAGE_ERROR = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def command_of(question: Question) -> Callable[..., None]:
    """The function behind ``tmverify <question>``."""

    def command(**given: Any) -> None:
        from tmverify.cli.ask import Given, ask_and_report

        raise typer.Exit(ask_and_report(question, Given.of(given)))

    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default in _parameters(question)
    ]
    command.__signature__ = Signature(named)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in named}
    command.__doc__ = question.help
    return command


def _parameters(question: Question) -> Iterator[tuple[str, Any, Any]]:
    """Each argument and option: its name, what it is, and its default."""
    if question.models == (2,):
        yield "a", options.ModelA, _REQUIRED
        yield "b", options.ModelB, _REQUIRED
    else:
        yield "model", options.ModelFile, _REQUIRED
    if question.about_input:
        yield "data", options.DataFile, _REQUIRED
    else:
        yield "data", options.HintFile, None
    if question.models == (1, 2):
        yield "against", options.Against, None
    if question.has_eta:
        yield "epsilon", options.Epsilon, 1
        yield "eta", options.Eta, "0.9"
    elif question.has_epsilon:
        yield "epsilon", options.Epsilons, options.DEFAULT_EPSILONS
    if question.has_margin:
        yield "margin", options.Margin, 0
    if question.about_input:
        yield "id", options.IdColumn, None
        yield "n", options.SampleSize, None
        yield "seed", options.Seed, 0
    own = question.about_input and not question.has_eta
    yield "scope", options.ManyScope if own else options.Scope, "team"
    yield "distance", options.Distance if question.about_input else options.AnyDistance, "columns"
    if question.about_input:
        yield "columns", options.Columns, []
        yield "freeze", options.Freeze, []
        yield "increase", options.Increase, []
        yield "decrease", options.Decrease, []
        yield "within", options.Within, []
        yield "cost", options.Cost, []
        yield "known_values", options.KnownValues, False
        yield "features", options.Features, None
        yield "direction", options.Direction, None
    yield "engine", options.Engine, "auto"
    if question.has_eta:
        yield "timeout", options.TotalTimeout, DEFAULT_TIMEOUT
        yield "timeout_per_input", options.InputTimeout, None
    else:
        yield "timeout", options.RadiusTimeout if question.is_distance else options.Timeout, DEFAULT_TIMEOUT
        yield "jobs", options.Jobs, 1
        yield "store", options.StoreFile, None
    if question.is_distance:
        yield "rows", options.Rows, None
    yield "as_json", options.AsJson, False
    if question.about_input and not question.has_eta:
        yield "csv", options.CsvFile, None
    yield "witnesses", options.NearestFile if question.is_distance else options.WitnessFile, None
    yield "certificate", options.CertificateFolder, None


_SETTINGS = {"help_option_names": ["-h", "--help"]}
# For each subcommand: its panel in the help, its name, its function, and the last lines of its help.
_COMMANDS: list[tuple[str, str, Callable[..., None], str]] = [
    ("Make a model", "train", train, EPILOG_TRAIN),
    ("Look at a model", "info", info, EPILOG_PLAIN),
    ("Look at a model", "predict", predict, EPILOG_PLAIN),
    ("Look at a model", "studio", studio, EPILOG_PLAIN),
    *(
        (
            "Prove it, or find the counterexample",
            question.name,
            command_of(question),
            EPILOG_RADIUS if question.is_distance else EPILOG,
        )
        for question in QUESTIONS.values()
        if not question.gives_reason
    ),
    ("Prove it, or find the counterexample", "prove", prove, EPILOG_STATED),
    ("Prove it, or find the counterexample", "fairness", fairness, EPILOG_STATED),
    ("Prove it, or find the counterexample", "monotonicity", monotonicity, EPILOG_STATED),
    ("Prove it, or find the counterexample", "check", check, EPILOG_CHECK),
    ("Prove it, or find the counterexample", "changes", changes, EPILOG_CHANGES),
    ("Prove it, or find the counterexample", "explain", explain, EPILOG_EXPLAIN),
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


def run(argv: Sequence[str] | None) -> int:
    """Run the command line and return its exit code. A bug in tmverify is shown, and counts as "unknown"."""
    command = typer.main.get_command(app)
    try:
        code = command.main(
            args=None if argv is None else list(argv), prog_name="tmverify", standalone_mode=False
        )
        return code if isinstance(code, int) else ExitCode.HOLDS
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit:  # typer and rich raise it when the output is no longer read
        from tmverify.cli.output import stop_writing

        stop_writing()
        return ExitCode.UNKNOWN
    except Exception as error:
        from tmverify.cli.output import print_error

        message = _explain(error)
        if message is None:
            traceback.print_exc()
            print_error("an internal error, so nothing is claimed; please report it with the lines above")
            return ExitCode.UNKNOWN
        print_error(message, _place_of(error))
        return ExitCode.ERROR


def _explain(error: Exception) -> str | None:
    """One line for the user, or None if the error is a bug."""
    if isinstance(error, _USAGE_ERROR):
        context = getattr(error, "ctx", None)
        path = "tmverify" if context is None else context.command_path
        return f"{_text_of(error)} See '{path} --help'."
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{reason}." if error.filename is None else f"{error.filename}: {reason}."
    if isinstance(error, ExpressionError):
        return error.said
    return str(error) if isinstance(error, TmVerifyError) else None


def _place_of(error: Exception) -> str:
    """The line of an expression that is wrong, with a mark under the place."""
    if not isinstance(error, ExpressionError) or error.place is None:
        return ""
    return pointed_at(error.place)


def _text_of(error: Exception) -> str:
    describe = getattr(error, "format_message", None)
    text = str(error if describe is None else describe())
    return text if text.endswith((".", "?", "!", ")")) else f"{text}."
