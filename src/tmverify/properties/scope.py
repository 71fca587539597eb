"""Scope: whose decision is asked about.

``"team"`` is the machine's own decision (an argmax, or a sign if it is binary). A class label stands for
the single machine of that class, decided by its sign: what the paper checks on MNIST. No class can be
called "team": a model refuses that label, so a scope always means one thing.
"""

from __future__ import annotations

import numpy as np

from tmverify.bnn.model import BnnModel
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Label, Model
from tmverify.model.matching import check_same_features

Scope = Label


def in_scope(model: Model, scope: Scope) -> Model:
    """The machine that ``scope`` stands for.

    Raises
    ------
    InvalidInputError
        If ``scope`` is neither ``"team"`` nor a class of the model.
    """
    check_model(model, "model")
    if isinstance(scope, str) and scope == "team":
        return model
    if not isinstance(scope, (str, int, np.integer)):
        raise InvalidInputError(f"scope must be 'team' or a class of the model. Got {shown(scope)} instead.")
    try:
        return model.single(scope)
    except InvalidInputError as error:
        raise InvalidInputError(f"scope must be 'team' or a class of the model. {error}") from None


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
    return in_scope(a, scope), in_scope(b, scope)


def check_model(model: object, name: str) -> Model:
    """``model``, or InvalidInputError unless it is a Model."""
    if not isinstance(model, Model):
        raise InvalidInputError(
            f"{name} must be a tmverify.Model (tmverify.load reads one). "
            f"Got {type(model).__name__} instead.{_remedy(model)}"
        )
    return model


def _remedy(given: object) -> str:
    """What to do with something that is no model, if there is something to do."""
    if isinstance(given, BnnModel):
        return " A BnnModel can be asked about its robustness only."
    steps = getattr(given, "steps", None)
    if isinstance(steps, list) and steps and hasattr(steps[-1][1], "model_"):
        return " Pass pipeline[-1].model_, which it has learnt, and inputs from pipeline[:-1].transform(X)."
    if hasattr(given, "model_"):
        cut = getattr(given, "binarizer_", None) is not None
        return (
            f" Pass clf.model_, which it has learnt{', and inputs from clf.binarizer_.transform(X)' * cut}."
        )
    if hasattr(given, "fit"):
        return " Only a fitted classifier has one: pass clf.model_ after clf.fit(X, y)."
    return ""


def check_classifier(model: object, name: str) -> None:
    """Raise InvalidInputError unless ``model`` is a Model or a BnnModel."""
    if not isinstance(model, BnnModel):
        check_model(model, name)


def check_network_scope(scope: Scope) -> None:
    """Raise InvalidInputError unless it is the decision of the whole network: no class has one of its own."""
    if not isinstance(scope, str) or scope != "team":
        raise InvalidInputError(f"scope must be 'team' for a binarized network. Got {shown(scope)} instead.")
