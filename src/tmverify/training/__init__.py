"""Training of a Model: Algorithm 1 of the paper, as a scikit-learn estimator."""

from tmverify.training.estimator import TsetlinMachineClassifier

__all__ = ["TsetlinMachineClassifier"]
