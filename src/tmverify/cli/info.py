"""``tmverify info``: what is in a model file.

Its size and its decision rule, its columns and their values in words, what speaks most for each class, and
its clauses as rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import typer

from tmverify.cli.options import AsJson, ModelFile

if TYPE_CHECKING:
    from rich.table import Table

    from tmverify.bnn import BnnModel
    from tmverify.model import Classifier, Label, Model
    from tmverify.model.top_features import FeatureVotes
    from tmverify.space import Part, Space

_MAX_CLASSES = 20
_MAX_COLUMNS = 40
_MAX_VALUES = 60  # characters
_CONDITIONS = 8
_TOP = 5
_MAX_NAMES = 8
_EMPTY = {"silent": "is never true", "fires": "is always true"}


def info(
    model: ModelFile,
    top: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="How many conditions to list that speak most for each class, and against it. Default: 5; "
            "none for pictures, whose pixels say little one by one.",
        ),
    ] = None,
    clauses: Annotated[
        int | None, typer.Option(min=0, help="Also print the clauses as rules, at most this many per class.")
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole",
            help=f"Print every condition of a clause; otherwise the first {_CONDITIONS}, and how many are "
            "hidden.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """What is in a model file: its size, its decision rule, its columns, what speaks for each class.

    Votes are added up over all clauses that have the condition. This is a summary for reading, no explanation
    of a decision: a clause votes only if all its conditions hold.
    The sha256 is the model's identity: two files with the same one hold the same model.

    Example: [cyan]tmverify info model.tm --top 10 --clauses 5[/cyan]
    """
    from rich.text import Text

    from tmverify.asking.subject import open_models
    from tmverify.cli.output import plain, show, show_facts, show_json

    (classifier,) = open_models([model])
    conditions = None if whole or as_json else _CONDITIONS
    text = None if clauses is None else classifier.to_text(clauses, conditions)
    facts, lines = _facts(classifier)
    if as_json:
        document = _document(classifier, facts, _TOP if top is None else top)
        show_json({**_described(model, classifier), **document, **({} if text is None else {"text": text})})
        return
    show(Text(plain(model.name), style="bold"))
    show_facts({**lines, "sha256": classifier.content_hash})
    if _has_values(classifier.space):
        show("", _table_of_columns(classifier.space))
    if top is None:
        top = 0 if classifier.space.image_shape is not None else _TOP
    show(*_top_tables(classifier, top))
    if text is not None:
        show("", plain(text))


# What it is.


def _described(file: Path, classifier: Classifier) -> dict[str, Any]:
    from tmverify.cli.output import described

    return described("info", [file], [classifier])


def _document(classifier: Classifier, facts: dict[str, Any], top: int) -> dict[str, Any]:
    """Everything as plain values for JSON."""
    from tmverify.model.names import feature_names

    space = classifier.space
    document = {
        "features": classifier.n_features,
        "named": space.named,
        "feature_names": feature_names(classifier),
        "classes": classifier.classes,
        "target": space.target,
        "columns": [_column(part) for part in space.parts] if space.named else None,
        **facts,
    }
    if _votes_by_clauses(classifier):
        document["top_features"] = [
            {"class": c, "for": _plain_votes(found[0]), "against": _plain_votes(found[1])}
            for c in classifier.classes
            for found in [classifier.top_features(c, top)]
        ]
    return {**document, "sha256": classifier.content_hash}


def _column(part: Part) -> dict[str, Any]:
    values = getattr(part, "values", None)
    return part.to_json() if values is None else {**part.to_json(), "values": values}


def _plain_votes(found: Sequence[FeatureVotes]) -> list[dict[str, Any]]:
    return [each._asdict() for each in found]


def _votes_by_clauses(classifier: Classifier) -> TypeGuard[Model]:
    return classifier.n_clauses > 0


def _facts(classifier: Classifier) -> tuple[dict[str, Any], dict[str, object]]:
    """What is known of the kind of classifier: for JSON, and as lines of text."""
    about: Any = {"Tsetlin machine": _machine, "binarized network": _network}[classifier.kind]
    facts, lines = about(classifier)
    target = {} if classifier.space.target is None else {"target": classifier.space.target}
    first = {"features": _reads(classifier.space), "classes": _listed(classifier.classes, _MAX_CLASSES)}
    return facts, {**first, **target, **lines}


def _listed(values: Sequence[object], most: int) -> str:
    more = f", … ({len(values)})" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more


def _reads(space: Space) -> str:
    """What the bits are, in a line."""
    n = space.n_bits
    if not space.named:
        return f"{n} (without names: x0 to x{n - 1})"
    if space.is_text:
        return f"{n} words of a text ({space.parts[0].name}): there or not"
    if space.image_shape is not None:
        return f"{n} pixels of a picture, {_picture(space.parts[0])}"
    if not _has_values(space):
        return f"{n} ({_fitting(space.bit_names)})"
    return f"{n} bits of {len(space.parts)} column{'s' * (len(space.parts) > 1)}"


def _picture(part: Any) -> str:
    """The shape of an image, and when its pixels are on."""
    shape = " x ".join(map(str, part.shape))
    if part.window is not None:
        minus = f" minus {part.offset:g}" if part.offset else ""
        return f"{shape}: on above the mean of the {part.window} x {part.window} around{minus}"
    if part.threshold is None:
        return f"{shape}: given as bits"
    level = "its own level" if isinstance(part.threshold, tuple) else f"{part.threshold:g}"
    return f"{shape}: on above {level}"


# Columns.


def _has_values(space: Space) -> bool:
    """Whether there is more to say of the columns than their names."""
    alone = space.is_text or space.image_shape is not None
    return space.named and not alone and any(not _is_plain(part) for part in space.parts)


def _is_plain(part: Part) -> bool:
    return part.n_bits == 1 and getattr(part, "values", None) == ("0", "1")


def _table_of_columns(space: Space) -> Table:
    """The columns with their values in words; plain flags in one line."""
    from rich.table import Table
    from rich.text import Text

    from tmverify.cli.output import plain

    table = Table()
    for header, justify in (("column", "left"), ("kind", "left"), ("values", "right"), ("in words", "left")):
        table.add_column(header, justify=justify, overflow="fold")  # type: ignore[arg-type]
    lines = list(_column_lines(space))
    for line in lines[:_MAX_COLUMNS]:
        table.add_row(*(Text(plain(cell)) for cell in line))
    if len(lines) > _MAX_COLUMNS:
        table.add_row("…", "", "", f"{len(lines) - _MAX_COLUMNS} more columns; --json has them all")
    return table


def _column_lines(space: Space) -> Iterator[tuple[str, str, str, str]]:
    plain_flags = [part.name for part in space.parts if _is_plain(part)]
    for part in space.parts:
        if part.kind == "text":
            yield part.name, "text", f"{part.n_bits}", f"words: {_fitting(part.bit_names)}"
        elif part.kind == "image":
            yield part.name, "image", f"{part.n_bits}", f"pixels, {_picture(part)}"
        elif not _is_plain(part) or len(plain_flags) <= _MAX_NAMES:
            values = part.values  # type: ignore[attr-defined]
            yield part.name, part.kind, str(len(values)), _fitting(values)
    if len(plain_flags) > _MAX_NAMES:
        yield f"{len(plain_flags)} flags", "flag", "2", f"0, 1; called {_fitting(plain_flags)}"


def _fitting(values: Sequence[str]) -> str:
    """The values with commas between them; of many, the first and the last."""
    said = ", ".join(values)
    if len(said) <= _MAX_VALUES or len(values) <= 2:
        return said
    head: list[str] = []
    for value in values[:-2]:
        if head and len(", ".join([*head, value, values[-1]])) > _MAX_VALUES:
            break
        head.append(value)
    hidden = len(values) - 1 - len(head)
    return ", ".join([*head, "…", values[-1]]) if hidden > 1 else said  # "…" for one value saves nothing


# What speaks for each class.

_CAVEAT = (
    "votes of the rules that ask for a fact, less those that ask for its opposite; a rare fact can stand high"
)


def _top_tables(classifier: Classifier, top: int) -> list[Any]:
    """What speaks for each class and against it; of two classes with one score, what speaks for either."""
    if not top or not _votes_by_clauses(classifier):
        return []
    classes = classifier.classes
    if classifier.n_outputs == 1:
        found = classifier.top_features(classes[1], top)
        return ["", _table_of_two(classes, found.supporting, found.opposing), _CAVEAT]
    return ["", _table_of_many(classifier, top), _CAVEAT]


def _table_of_two(
    classes: Sequence[Label], second: Sequence[FeatureVotes], first: Sequence[FeatureVotes]
) -> Table:
    from itertools import zip_longest

    from rich.table import Table
    from rich.text import Text

    from tmverify.cli.output import plain

    table = Table()
    for c in reversed(classes):
        table.add_column("votes", justify="right", no_wrap=True)
        table.add_column(Text(f"speaks most for {plain(c)}"), overflow="fold")
    for pair in zip_longest(second, first):
        cells = [("", "") if each is None else (str(abs(each.votes)), each.condition) for each in pair]
        table.add_row(*(Text(plain(cell)) for votes in cells for cell in votes))
    return table


def _table_of_many(model: Model, top: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    from tmverify.cli.output import plain

    table = Table(show_lines=True)
    for header in ("class", "speaks most for it (votes)", "against it (votes)"):
        table.add_column(header, overflow="fold")
    for c in model.classes[:_MAX_CLASSES]:
        both = [
            ", ".join(f"{each.condition} ({each.votes:+d})" for each in found)
            for found in model.top_features(c, top)
        ]
        table.add_row(*(Text(plain(cell)) for cell in (c, *both)))
    if len(model.classes) > _MAX_CLASSES:
        table.add_row("…", f"{len(model.classes) - _MAX_CLASSES} more classes; --json has them all", "")
    return table


# The kinds of classifiers.


def _network(network: BnnModel) -> tuple[dict[str, Any], dict[str, object]]:
    """Facts that only networks have."""
    changeable, cut = int(network.attainable.sum()), network.cuts is not None
    grey = f"cut into bits; {changeable} pixels can change theirs"
    return {
        "kind": network.kind,
        "layers": network.widths,
        "grey_levels": cut,
        "changeable_features": changeable,
    }, {
        "layers": " - ".join(map(str, network.widths)) + " (binarized network)",
        "grey levels": grey if cut else "none: it reads bits",
    }


def _machine(model: Model) -> tuple[dict[str, Any], dict[str, object]]:
    """Facts that only Tsetlin machines have."""
    lengths = model.clauses.lengths
    counted, literals = None, "-"
    if len(lengths):
        counted = {"min": int(lengths.min()), "mean": float(lengths.mean()), "max": int(lengths.max())}
        literals = "{min} min, {mean:.1f} mean, {max} max".format(**counted)
    facts = {
        "clauses": model.n_clauses,
        "outputs": model.n_outputs,
        "tie": model.tie,
        "clamp": model.clamp,
        "empty_clause": model.empty_clause,
        "literals_per_clause": counted,
        "empty_clauses": int((lengths == 0).sum()),
        "contradictory_clauses": int(model.clauses.contradictory.sum()),
        "largest_weight": int(abs(model.weights).max(initial=0)),
    }
    zero = "yes" if model.tie == "positive" else "no"
    return facts, {
        "clauses": model.n_clauses,
        "outputs": f"{model.n_outputs} ({'binary' if model.n_outputs == 1 else 'the largest score wins'})",
        "tie": f"{model.tie} (a single machine's score of 0 means {zero})",
        "clamp": "none" if model.clamp is None else f"scores are cut to [-{model.clamp}, {model.clamp}]",
        "literals per clause": literals,
        "empty clauses": f"{facts['empty_clauses']} (an empty clause {_EMPTY[model.empty_clause]})",
        "contradictory clauses": facts["contradictory_clauses"],
        "largest weight": facts["largest_weight"],
    }
