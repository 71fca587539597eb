"""Scope: whose decision is asked about.

``"team"`` is the machine's own decision (an argmax, or a sign if it is binary). A class label stands for
the single machine of that class, whose decision is its sign; the paper checks this on MNIST. A model refuses
"team" as the label of a class, so a scope is never ambiguous.
"""

from __future__ import annotations

from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier, Label, Model
from tmverify.model.names import check_same_features

Scope = Label


def comparable(a: Model, b: Model, scope: Scope) -> tuple[Model, Model]:
    """The two machines that ``scope`` stands for, checked to be comparable."""
    check_model(a, "a")
    check_model(b, "b")
    check_same_features(a, b)
    if a.classes != b.classes:
        raise InvalidInputError(
            f"Two models can be compared only if they have the same classes in the same order. "
            f"Got {shown(a.classes)} and {shown(b.classes)} instead."
        )
    return a.in_scope(scope), b.in_scope(scope)


def check_model(model: object, name: str) -> Model:
    """``model``, or InvalidInputError unless it is a Model."""
    if not isinstance(model, Model):
        raise _no_model(model, name)
    return model


def check_classifier(model: object, name: str) -> Classifier:
    """``model``, or InvalidInputError unless it is a Classifier: a Model, or a network."""
    if not isinstance(model, Classifier):
        raise _no_model(model, name)
    return model


def _no_model(given: object, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"{name} must be a tmverify.Model (tmverify.load reads one). "
        f"Got {type(given).__name__} instead.{_remedy(given)}"
    )


def _remedy(given: object) -> str:
    """Advice for a caller who passed something that is not a model, if there is any."""
    if isinstance(given, Classifier):
        return f" A {type(given).__name__} can be asked about its robustness only."
    steps = getattr(given, "steps", None)
    if isinstance(steps, list) and steps and hasattr(steps[-1][1], "model_"):
        return " Pass tmverify.freeze(pipeline), which takes the pipeline's own rows."
    if hasattr(given, "model_"):
        raw = getattr(getattr(given, "space_", None), "only_flags", True)
        inputs = "" if raw else ", and rows as mappings or frames, or clf.space_.encode(X)"
        return f" Pass clf.model_, which it has learnt{inputs}."
    if hasattr(given, "fit"):
        return " Only a fitted classifier has one: pass clf.model_ after clf.fit(X, y)."
    return ""


def decision_text(scope: Label, decision: Label) -> str:
    """A decision; if the scope is a class, that class or its negation."""
    if scope == "team":
        return str(decision)
    return str(scope) if decision else f"not {scope}"
