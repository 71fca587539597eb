"""``tmverify info``: what is in a model file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.cli.options import AsJson, ModelFile

if TYPE_CHECKING:
    from tmverify.bnn import BnnModel
    from tmverify.model import Classifier, Model

_MAX_CLASSES = 20
_EMPTY = {"silent": "is never true", "fires": "is always true"}


def info(
    model: ModelFile,
    clauses: Annotated[
        int | None,
        typer.Option(min=0, help="Also print the clauses as rules, at most this many per class."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What is in a model file: its size, its decision rule, its clauses; or the layers of a network.

    The sha256 is the model's identity: two files with the same one hold the same model.

    Example: [cyan]tmverify info model.tm --clauses 5[/cyan]
    """
    from rich.text import Text

    from tmverify.asking.subject import open_models
    from tmverify.cli.output import described, plain, show, show_facts, show_json

    (classifier,) = open_models([model])
    text = None if clauses is None else classifier.to_text(clauses)
    facts, lines = _ABOUT[classifier.kind](classifier)
    if as_json:
        head = described("info", [model], [classifier])
        show_json({**head, **facts, **({} if text is None else {"text": text})})
        return
    show(Text(plain(model.name), style="bold"))
    show_facts(lines)
    if text is not None:
        show("", plain(text))


def _network(network: BnnModel) -> tuple[dict[str, Any], dict[str, object]]:
    """What is said of a network: as JSON, and as lines."""
    from tmverify.model.names import feature_names

    changeable = int(network.attainable.sum())
    values = {
        "kind": "binarized network",
        "features": network.n_features,
        "named": network.feature_names is not None,
        "feature_names": list(feature_names(network)),
        "classes": list(network.classes),
        "layers": list(network.widths),
        "grey_levels": network.cuts is not None,
        "changeable_features": changeable,
        "sha256": network.content_hash,
    }
    grey = f"cut into bits; {changeable} pixels can change theirs"
    return values, {
        **_shape(network),
        "layers": " - ".join(map(str, network.widths)) + " (binarized network)",
        "grey levels": "none: it reads bits" if network.cuts is None else grey,
        "sha256": network.content_hash,
    }


def _machine(model: Model) -> tuple[dict[str, Any], dict[str, object]]:
    """What is said of a Tsetlin machine: as JSON, and as lines."""
    from tmverify.model.names import feature_names

    lengths = model.clauses.lengths
    counted, literals = None, "-"
    if len(lengths):
        counted = {"min": int(lengths.min()), "mean": float(lengths.mean()), "max": int(lengths.max())}
        literals = "{min} min, {mean:.1f} mean, {max} max".format(**counted)
    values = {
        "features": model.n_features,
        "named": model.feature_names is not None,
        "feature_names": list(feature_names(model)),
        "clauses": model.n_clauses,
        "classes": list(model.classes),
        "outputs": model.n_outputs,
        "tie": model.tie,
        "clamp": model.clamp,
        "empty_clause": model.empty_clause,
        "literals_per_clause": counted,
        "empty_clauses": int((lengths == 0).sum()),
        "contradictory_clauses": int(model.clauses.contradictory.sum()),
        "largest_weight": int(abs(model.weights).max(initial=0)),
        "sha256": model.content_hash,
    }
    shape = _shape(model)
    zero = "yes" if model.tie == "positive" else "no"
    return values, {
        "features": shape["features"],
        "clauses": model.n_clauses,
        "classes": shape["classes"],
        "outputs": f"{model.n_outputs} ({'binary' if model.n_outputs == 1 else 'the largest score wins'})",
        "tie": f"{model.tie} (a single machine's score of 0 means {zero})",
        "clamp": "none" if model.clamp is None else f"scores are cut to [-{model.clamp}, {model.clamp}]",
        "literals per clause": literals,
        "empty clauses": f"{values['empty_clauses']} (an empty clause {_EMPTY[model.empty_clause]})",
        "contradictory clauses": values["contradictory_clauses"],
        "largest weight": values["largest_weight"],
        "sha256": model.content_hash,
    }


# Each kind of classifier has facts of its own.
_ABOUT: dict[str, Callable[[Any], tuple[dict[str, Any], dict[str, object]]]] = {
    "Tsetlin machine": _machine,
    "binarized network": _network,
}


def _shape(model: Classifier) -> dict[str, str]:
    """The features and the classes."""
    from tmverify.model.names import default_name

    first, last = default_name(0), default_name(model.n_features - 1)
    names = "named" if model.feature_names is not None else f"without names: {first} to {last}"
    more = f", … ({len(model.classes)})" if len(model.classes) > _MAX_CLASSES else ""
    classes = ", ".join(map(str, model.classes[:_MAX_CLASSES])) + more
    return {"features": f"{model.n_features} ({names})", "classes": classes}
