"""What is in a model file: ``tmverify info``."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from rich.text import Text

from tmverify.bnn import BnnModel
from tmverify.cli.documents import document
from tmverify.cli.output import plain, show, show_json
from tmverify.cli.subject import open_models
from tmverify.model import Classifier, Label, Model
from tmverify.model.names import default_name, feature_names

_MAX_CLASSES = 20
_EMPTY = {"silent": "is never true", "fires": "is always true"}


def show_model(model: Path, clauses: int | None, *, as_json: bool) -> None:
    """What is in a model file; ``clauses``: also print at most so many of each class."""
    opened = open_models((model,))
    classifier = opened[0].model
    text = None if clauses is None else classifier.to_text(clauses)
    facts, lines = _about(classifier)
    if as_json:
        show_json({**document("info", opened), **facts, **({} if text is None else {"text": text})})
        return
    show(Text(plain(model.name), style="bold"))
    for name, value in lines.items():
        show(Text().append(f"{name:>21}  ", style="cyan").append(plain(value)))
    if text is not None:
        show("", plain(text))


@singledispatch
def _about(model: Classifier) -> tuple[dict[str, Any], dict[str, object]]:
    """The facts about a classifier for JSON, and lines for people; each kind registers its own."""
    raise NotImplementedError(f"nothing is known of a {model.kind}")


@_about.register
def _about_network(network: BnnModel) -> tuple[dict[str, Any], dict[str, object]]:
    facts = {
        "kind": network.kind,
        "features": network.n_features,
        "named": network.feature_names is not None,
        "feature_names": list(feature_names(network)),
        "classes": list(network.classes),
        "layers": list(network.widths),
        "grey_levels": network.cuts is not None,
        "changeable_features": int(network.attainable.sum()),
        "sha256": network.content_hash,
    }
    return facts, {
        "features": _features(network),
        "classes": _classes(network.classes),
        "layers": f"{' - '.join(map(str, network.widths))} ({network.kind})",
        "grey levels": "none: it reads bits"
        if network.cuts is None
        else f"cut into bits; {facts['changeable_features']} pixels can change theirs",
        "sha256": network.content_hash,
    }


@_about.register
def _about_machine(machine: Model) -> tuple[dict[str, Any], dict[str, object]]:
    facts = _facts(machine)
    return facts, _lines(machine, facts)


def _features(model: Classifier) -> str:
    if model.feature_names is not None:
        return f"{model.n_features} (named)"
    return f"{model.n_features} (without names: {default_name(0)} to {default_name(model.n_features - 1)})"


def _classes(classes: tuple[Label, ...]) -> str:
    more = f", … ({len(classes)})" if len(classes) > _MAX_CLASSES else ""
    return ", ".join(map(str, classes[:_MAX_CLASSES])) + more


def _facts(model: Model) -> dict[str, Any]:
    lengths = model.clauses.lengths
    counted = None
    if len(lengths):
        counted = {"min": int(lengths.min()), "mean": float(lengths.mean()), "max": int(lengths.max())}
    return {
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
        "contradictory_clauses": int(model.clauses.contradictory().sum()),
        "largest_weight": int(abs(model.weights).max(initial=0)),
        "sha256": model.content_hash,
    }


def _lines(model: Model, facts: dict[str, Any]) -> dict[str, object]:
    literals = facts["literals_per_clause"]
    zero = "a single machine's score of 0 means " + ("yes" if model.tie == "positive" else "no")
    return {
        "features": _features(model),
        "clauses": model.n_clauses,
        "classes": _classes(model.classes),
        "outputs": f"{model.n_outputs} ({'binary' if model.n_outputs == 1 else 'the largest score wins'})",
        "tie": f"{model.tie} ({zero})",
        "clamp": "none" if model.clamp is None else f"scores are cut to [-{model.clamp}, {model.clamp}]",
        "literals per clause": "-"
        if literals is None
        else f"{literals['min']} min, {literals['mean']:.1f} mean, {literals['max']} max",
        "empty clauses": f"{facts['empty_clauses']} (an empty clause {_EMPTY[model.empty_clause]})",
        "contradictory clauses": facts["contradictory_clauses"],
        "largest weight": facts["largest_weight"],
        "sha256": facts["sha256"],
    }
