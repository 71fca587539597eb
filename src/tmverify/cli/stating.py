"""``tmverify prove``, ``fairness``, ``monotonicity`` and ``check``: properties that people state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.cli import options
from tmverify.errors import InvalidInputError, shown
from tmverify.properties.questions import DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from tmverify.asking.property import Property
    from tmverify.cli.properties import Checked
    from tmverify.model import Model

_ROWS = "Around rows of data"
Data = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help="Ask about these rows, each within --epsilon changes, for a share --eta of them. Without it, "
        "about every possible input. " + options.DATA_HELP,
        show_default=False,
    ),
]
Assume = Annotated[
    str | None,
    typer.Option(
        "--assume",
        metavar="EXPRESSION",
        help='Only inputs of which this is true: \'age > 60 and city in ("Oslo", "Bergen")\'. Default: all.',
    ),
]
Expect = Annotated[
    str,
    typer.Option(
        "--expect",
        metavar="EXPRESSION",
        help='What must be true of them: \'decision == "good"\', \'votes("good") - votes("bad") >= 3\'; '
        "of a pair, 'a.decision == b.decision'.",
    ),
]
Protected = Annotated[
    list[str],
    typer.Option(
        "--protected",
        metavar="NAMES",
        help="Columns whose change alone must never alter the decision, e.g. sex or sex,age (both may change "
        "at once). Repeat it for a name with a comma in it.",
    ),
]
Toward = Annotated[
    str, typer.Option("--toward", metavar="CLASS", help="The class that more of it should only favour.")
]
ColumnArgument = Annotated[str, typer.Argument(metavar="COLUMN", help="A number, or a flag.")]
Margin = Annotated[
    int,
    typer.Option(
        "--margin",
        min=0,
        help="Decisions must stand by at least so many votes. 0: ties as the model declares them.",
    ),
]
Round = Annotated[
    str | None,
    typer.Option(
        "--round",
        metavar="outer|inner",
        help="What to do with a number between two cuts, which the model can't see. outer: holds is right "
        "about the number as it is written; inner: violated is. Default: that is an error.",
    ),
]
KnownValues = Annotated[
    bool,
    typer.Option(
        "--known-values",
        help="Only inputs none of whose columns is missing, or has a value that training has not seen; of "
        "two, both.",
    ),
]
AllowVacuous = Annotated[
    bool,
    typer.Option(
        "--allow-vacuous",
        help="Take it for an answer if it holds because nothing satisfies the assumption.",
    ),
]
Epsilon = Annotated[
    int | None,
    typer.Option(
        "--epsilon",
        "-e",
        min=0,
        help="How much may change around a row; 0 by default: the row itself (of a pair, a is the row).",
        rich_help_panel=_ROWS,
    ),
]
Eta = Annotated[
    str | None,
    typer.Option(
        "--eta",
        metavar="FRACTION",
        help="Share of the rows for which it must hold, read exactly: 0.9, 2/3; with --assume, of those that "
        "it is about. Default: 1.",
        rich_help_panel=_ROWS,
    ),
]


Count = Annotated[
    bool,
    typer.Option(
        "--count",
        help="Look at every row, also when the answer is certain, so that the counts are of all rows.",
        rich_help_panel=_ROWS,
    ),
]


# The options that the commands about one property have in common.
_SHARED: list[tuple[str, Any, Any]] = [
    ("data", Data, None),
    ("assume", Assume, None),
    ("margin", Margin, 0),
    ("round", Round, None),
    ("known_values", KnownValues, False),
    ("allow_vacuous", AllowVacuous, False),
    ("epsilon", Epsilon, None),
    ("eta", Eta, None),
    ("count", Count, False),
    ("id", options.IdColumn, None),
    ("n", options.SampleSize, None),
    ("seed", options.Seed, 0),
    ("distance", options.Distance, "columns"),
    ("columns", options.Columns, []),
    ("freeze", options.Freeze, []),
    ("increase", options.Increase, []),
    ("decrease", options.Decrease, []),
    ("within", options.Within, []),
    ("cost", options.Cost, []),
    ("engine", options.Engine, "auto"),
    ("timeout", options.TotalTimeout, DEFAULT_TIMEOUT),
    ("as_json", options.AsJson, False),
    ("certificate", options.CertificateFolder, None),
]


def _about_inputs(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that all of them have, in place of its ``**typed``."""

    @wraps(command)
    def ask(**given: Any) -> None:
        command(**given)

    own = [each for each in signature(command, eval_str=True).parameters.values() if each.name != "typed"]
    named = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own]
    named += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default in _SHARED
    ]
    ask.__signature__ = Signature(named)  # type: ignore[attr-defined]
    ask.__annotations__ = {parameter.name: parameter.annotation for parameter in named}
    return ask


@_about_inputs
def prove(
    model: options.ModelFile,
    expect: Expect,
    **typed: Any,
) -> None:
    """Does every possible input that meets an assumption meet an expectation?

    [bold]holds[/bold]: proved. [bold]violated[/bold]: an input is shown, in the words of your columns.
    Expressions compare columns with constants, and have and, or, not; a name with blanks is `in backticks`.
    A property about two inputs begins with 'same except COLUMNS': they are a and b.

    Example: [cyan]tmverify prove loans.tm --assume 'age > 60.5' --expect 'decision == "good"'[/cyan]
    by three votes: [cyan]tmverify prove loans.tm --expect 'decision == "good"' --margin 3[/cyan]
    two inputs: [cyan]tmverify prove loans.tm --assume 'same except age where a.age <= b.age'[/cyan]
    [cyan]  --expect 'a.decision == b.decision'[/cyan]
    rows: [cyan]tmverify prove loans.tm loans.csv --expect 'decision == "good"' --eta 9/10[/cyan]
    """
    _ask(model, typed, expect=expect)


@_about_inputs
def fairness(
    model: options.ModelFile,
    protected: Protected,
    **typed: Any,
) -> None:
    """Are any two inputs that differ in protected columns alone decided alike?

    [bold]holds[/bold]: proved. [bold]violated[/bold]: two inputs are shown side by side.
    It says nothing about columns that go with a protected one, nor about how often each group gets which
    decision.

    Example: [cyan]tmverify fairness loans.tm --protected sex[/cyan]
    some people only: [cyan]tmverify fairness loans.tm --protected sex --assume 'age > 25'[/cyan]
    rows: [cyan]tmverify fairness loans.tm loans.csv --protected sex --eta 95/100[/cyan]
    """
    _ask(model, typed, protected=protected)


@_about_inputs
def monotonicity(
    model: options.ModelFile,
    column: ColumnArgument,
    toward: Toward,
    **typed: Any,
) -> None:
    """Does raising a column, all else equal, never turn the decision away from a class?

    [bold]holds[/bold]: proved. [bold]violated[/bold]: two inputs are shown side by side; the second has more.

    Example: [cyan]tmverify monotonicity loans.tm income --toward good[/cyan]
    rows: [cyan]tmverify monotonicity loans.tm income loans.csv --toward good --eta 9/10[/cyan]
    """
    _ask(model, typed, monotone=column, toward=toward)


_ABOUT_ROWS = ("distance", "columns", "freeze", "increase", "decrease", "within", "cost")
_AROUND = ("epsilon", "eta", "count", "id", "n", *_ABOUT_ROWS)


def _ask(model: Path, typed: dict[str, Any], **stated: Any) -> None:
    """Ask one property; ``typed`` are the options of its command."""
    from tmverify.asking.allowed import listed
    from tmverify.asking.property import Property
    from tmverify.cli.ask import read_limit, typed_of
    from tmverify.cli.properties import Checked, How
    from tmverify.cli.property_tables import show_one

    if typed["data"] is None:
        _need_data(typed)
    if typed["round"] not in (None, "outer", "inner"):
        raise InvalidInputError(f"--round must be outer or inner. Got {shown(typed['round'])} instead.")
    opened = _open(model)
    if "protected" in stated:
        known = {column.name for column in opened.space.columns}
        stated["protected"] = tuple(dict.fromkeys(listed(stated["protected"], known)))
    said = Property(
        **stated,
        **{key: typed[key] for key in ("assume", "margin", "round", "known_values", "data")},
        epsilon=None if typed["data"] is None else typed["epsilon"] or 0,
        eta=1 if typed["eta"] is None else typed["eta"],
        timeout=read_limit(typed["timeout"], "--timeout"),
        vacuous="ok" if typed["allow_vacuous"] else "error",
    )
    how = How(
        **{key: typed[key] for key in ("id", "n", "seed", "engine")},
        allowed=typed_of({key: typed[key] for key in _ABOUT_ROWS}),
        certificates=typed["certificate"],
        every=typed["count"],
    )
    try:
        checked = Checked(model, opened, [said], how)
    except InvalidInputError as error:
        raise _reworded(error, "--round {}") from None
    _finish(
        checked,
        lambda: checked.document(said.kind) | {"status": checked.word} | checked.asked[0].document(),
        lambda: show_one(checked),
        as_json=typed["as_json"],
    )


def _need_data(typed: dict[str, Any]) -> None:
    """Options about rows, without rows, would be ignored silently."""
    defaults: dict[str, Any] = {"distance": "columns", "count": False}
    for name in _AROUND:
        if typed[name] not in (None, [], defaults.get(name)):
            raise InvalidInputError(f"--{name} is about rows of data: give DATA as well.")


PropertyFile = Annotated[
    Path, typer.Argument(metavar="PROPERTIES.toml", help="Named properties; see docs/properties.md.")
]
Only = Annotated[
    list[str],
    typer.Option("--only", metavar="NAME", help="Check this property alone. Repeat it for several."),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DATA",
        help="The rows of properties that are about rows and name no file of their own, instead of the file "
        "at the top of PROPERTIES.toml.",
    ),
]
CheckTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit for each property that has none of its own (inf: none), instead of the one at the "
        f"top of PROPERTIES.toml. Default: {DEFAULT_TIMEOUT:g}. What it leaves open is unknown, never holds.",
        rich_help_panel="How to decide",
    ),
]
JunitFile = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE.xml",
        help="Write the answers as JUnit XML, which build servers read. Also after Ctrl-C.",
        rich_help_panel="Output",
    ),
]


def check(
    model: options.ModelFile,
    properties: PropertyFile,
    only: Only = [],  # noqa: B006
    data: DataOption = None,
    id: options.IdColumn = None,
    count: Count = False,
    engine: options.Engine = "auto",
    timeout: CheckTimeout = None,
    as_json: options.AsJson = False,
    junit: JunitFile = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """Do the properties in a file hold? Run it like tests, whenever a model is retrained.

    The file has a table \\[\\[property]] for each, with a name and what is stated:
    expect (and assume), protected, or monotone and toward.
    A counterexample is shown for each that is violated. A property whose severity is "warning" is told, and
    fails nothing. One that holds because nothing satisfies its assumption is vacuous, and fails the run like
    an unknown one, unless it has vacuous = "ok".

    Example: [cyan]tmverify check loans.tm credit.toml[/cyan]
    in a build: [cyan]tmverify check loans.tm credit.toml --junit report.xml --certificate proofs[/cyan]
    one of them: [cyan]tmverify check loans.tm credit.toml --only 'savings count'[/cyan]
    """
    from tmverify.cli.properties import Checked, How
    from tmverify.cli.property_tables import show_all
    from tmverify.cli.saving import check_apart, check_target

    if junit is not None:
        check_target(junit, "--junit", [".xml"])
        check_apart([model, properties, data], [junit], "MODEL, PROPERTIES.toml, --data and --junit")
    checked: Checked | None = None
    with _failure_saved(junit, model, properties, lambda: checked):
        chosen = _chosen(properties, only, data, timeout)
        how = How(id=id, engine=engine, certificates=certificate, every=count)
        try:
            checked = asking = Checked(model, _open(model), chosen, how)
        except InvalidInputError as error:
            raise _at(properties, _reworded(error, 'round = "{}"')) from None

        def document() -> dict[str, Any]:
            return {
                **asking.document("check"),
                "file": str(properties),
                "status": asking.word,
                "properties": [asked.document() for asked in asking.asked],
            }

        def show_results() -> None:
            from tmverify.cli.output import show

            show_all(asking, properties)
            if junit is not None:
                show(f"junit: written to {junit}")

        def save() -> None:
            from tmverify.cli.junit import save_junit

            if junit is not None:
                save_junit(junit, asking, properties)

        _finish(asking, document, show_results, as_json=as_json, save=save)


@contextmanager
def _failure_saved(
    junit: Path | None, model: Path, properties: Path, checked: Callable[[], Checked | None]
) -> Iterator[None]:
    """A build server is told of an internal error, and of Ctrl-C at any moment, too."""
    from tmverify.errors import TmVerifyError

    try:
        yield
    except (typer.Exit, TmVerifyError, OSError):  # an answer, or an error of the user's
        raise
    except (KeyboardInterrupt, Exception) as error:
        if junit is not None:
            from tmverify.cli.junit import save_failure

            save_failure(junit, properties, model, checked(), error)
        raise


def _chosen(properties: Path, only: list[str], data: Path | None, timeout: float | None) -> list[Property]:
    """The properties of a file that are asked."""
    from tmverify.asking.property_file import read_properties
    from tmverify.cli.ask import read_limit
    from tmverify.cli.output import print_note
    from tmverify.errors import guess, some

    instead: dict[str, Any] = {} if data is None else {"data": data}
    if timeout is not None:
        instead["timeout"] = read_limit(timeout, "--timeout")
    found = read_properties(properties, instead)
    names = [each.name for each in found]
    for name in only:
        if name not in names:
            near = guess(name, names) or f" There are {some(names, 8)}."
            raise InvalidInputError(f"{properties}: there is no property {shown(name)}.{near}")
    chosen = [each for each in found if not only or each.name in only]
    if data is not None and not any(each.data == data for each in chosen):
        print_note("--data is not used: no property that is about rows leaves its file open")
    return chosen


def _open(path: Path) -> Model:
    from tmverify.asking.subject import machines, open_models

    return machines([path], open_models([path]))[0]


def _reworded(error: InvalidInputError, option: str) -> InvalidInputError:
    """The error, with the ways to round as they are written here."""
    from tmverify.properties.expressions import ExpressionError
    from tmverify.properties.meaning import ROUNDING

    if not isinstance(error, ExpressionError):
        return error
    ways = " or ".join(option.format(way) for way in ("outer", "inner"))
    return ExpressionError(error.said.replace(ROUNDING, ways), error.place)


def _at(file: Path, error: InvalidInputError) -> InvalidInputError:
    """The error, with the file that it is in."""
    from tmverify.properties.expressions import ExpressionError

    if isinstance(error, ExpressionError):
        return ExpressionError(f"{file}: {error.said}", error.place)
    return InvalidInputError(f"{file}: {error}" if str(error).startswith("property ") else str(error))


def _finish(
    checked: Checked,
    document: Callable[[], dict[str, Any]],
    show: Callable[[], None],
    *,
    as_json: bool,
    save: Callable[[], None] | None = None,
) -> None:
    """Ask, save, print, and end with the exit code; a second Ctrl-C is ignored meanwhile."""
    from tmverify.cli.output import show_json
    from tmverify.interrupts import one_interrupt

    with one_interrupt():
        checked.run()
        if save is not None:
            save()
        if as_json:
            show_json(document())
        else:
            show()
    if checked.failure is not None:
        raise checked.failure
    raise typer.Exit(checked.code)
