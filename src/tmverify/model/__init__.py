"""What a classifier is, and a Tsetlin machine: clauses, the decision rule, evaluators, the file format."""

from tmverify.model.classifier import Classifier, Label
from tmverify.model.machine import Model

__all__ = ["Classifier", "Label", "Model"]
