"""Training of a Model: Algorithm 1 of the paper, as a scikit-learn estimator."""

from tmverify.training.estimator import TsetlinMachineClassifier
from tmverify.training.pipelines import freeze

__all__ = ["TsetlinMachineClassifier", "freeze"]
