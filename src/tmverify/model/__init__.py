"""Classifiers in general, and Tsetlin machines: clauses, decision rule, evaluators, file format."""

from tmverify.model.classifier import Classifier, Label
from tmverify.model.machine import Model

__all__ = ["Classifier", "Label", "Model"]
