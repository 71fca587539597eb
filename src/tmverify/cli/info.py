"""``tmverify info``: what is in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.cli.options import AsJson, ModelFile

if TYPE_CHECKING:
    from tmverify.bnn import BnnModel
    from tmverify.model import Model

_MAX_CLASSES = 20
_EMPTY = {"silent": "is never true", "fires": "is always true"}


def info(
    model: ModelFile,
    clauses: Annotated[
        int | None, typer.Option(min=0, help="Also print the clauses as rules, at most this many per class.")
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
    from tmverify.model.names import default_name, feature_names

    (classifier,) = open_models([model])
    text = None if clauses is None else classifier.to_text(clauses)
    about: Any = {"Tsetlin machine": _machine, "binarized network": _network}[classifier.kind]
    n, labels, named = classifier.n_features, classifier.classes, classifier.feature_names is not None
    names = "named" if named else f"without names: {default_name(0)} to {default_name(n - 1)}"
    more = f", … ({len(labels)})" if len(labels) > _MAX_CLASSES else ""
    listed = ", ".join(map(str, labels[:_MAX_CLASSES])) + more
    facts, lines = about(classifier, f"{n} ({names})", listed)
    if as_json:
        of_features = {"features": n, "named": named, "feature_names": feature_names(classifier)}
        document = {**described("info", [model], [classifier]), **of_features, "classes": labels, **facts}
        document["sha256"] = classifier.content_hash
        show_json(document if text is None else {**document, "text": text})
        return
    show(Text(plain(model.name), style="bold"))
    show_facts({**lines, "sha256": classifier.content_hash})
    if text is not None:
        show("", plain(text))


def _network(network: BnnModel, features: str, classes: str) -> tuple[dict[str, Any], dict[str, object]]:
    """Facts that only networks have: for JSON, and as lines of text."""
    changeable, cut = int(network.attainable.sum()), network.cuts is not None
    grey = f"cut into bits; {changeable} pixels can change theirs"
    return {
        "kind": network.kind,
        "layers": network.widths,
        "grey_levels": cut,
        "changeable_features": changeable,
    }, {
        "features": features,
        "classes": classes,
        "layers": " - ".join(map(str, network.widths)) + " (binarized network)",
        "grey levels": grey if cut else "none: it reads bits",
    }


def _machine(model: Model, features: str, classes: str) -> tuple[dict[str, Any], dict[str, object]]:
    """Facts that only Tsetlin machines have: for JSON, and as lines of text."""
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
        "features": features,
        "clauses": model.n_clauses,
        "classes": classes,
        "outputs": f"{model.n_outputs} ({'binary' if model.n_outputs == 1 else 'the largest score wins'})",
        "tie": f"{model.tie} (a single machine's score of 0 means {zero})",
        "clamp": "none" if model.clamp is None else f"scores are cut to [-{model.clamp}, {model.clamp}]",
        "literals per clause": literals,
        "empty clauses": f"{facts['empty_clauses']} (an empty clause {_EMPTY[model.empty_clause]})",
        "contradictory clauses": facts["contradictory_clauses"],
        "largest weight": facts["largest_weight"],
    }
