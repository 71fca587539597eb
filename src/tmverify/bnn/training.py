"""``BnnClassifier``: a binarized network, learnt with PyTorch, behind the scikit-learn interface.

PyTorch is imported by the first ``fit``. The learnt parameters are frozen exactly, in integers (``model_``):
that is the network to verify. ``float_predict`` is the network in floating point, for comparison.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tmverify.bnn.learning import Learner, Network, Noise, Schedule, pytorch
from tmverify.bnn.model import MAX_LAYERS, MAX_WIDTH
from tmverify.errors import InvalidInputError, ModelError
from tmverify.estimators.parameters import check_integer, is_number, wrong_parameter
from tmverify.interrupts import one_interrupt
from tmverify.model import Label
from tmverify.model.checks import as_bit_matrix, check_classes, learnt_labels
from tmverify.progress import ProgressBar
from tmverify.space import Space


class BnnClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A binarized neural network: weights and values are +1 and -1, learnt through the sign.

    Blocks of (weights, batch normalisation, sign), then weights alone; the largest score wins, and the first
    class wins ties. Needs PyTorch: ``pip install 'tmverify[bnn]'``.

    Parameters
    ----------
    hidden : tuple of int, default (200, 100, 100, 100)
        Neurons of each block.
    n_epochs : int, default 60
        How many times ``fit`` goes through all examples.
    batch_size : int, default 100
        The least number of examples per step; a step has fewer than twice as many.
    learning_rate : float, default 0.03
        Adam's rate at the start; it falls to 0 along a cosine.
    input_noise : float, default 0.0
        Chance that an input bit is flipped when an example is learnt from. It reduces overfitting: try 0.1
        when training accuracy is far above that on other examples.
    dropout : float, default 0.0
        Chance that a neuron's value is left out when an example is learnt from.
    random_state : int, RandomState or None
        An int makes training reproducible on one machine with a fixed number of threads. PyTorch's
        own random generator is not touched.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    model_ : BnnModel
        The trained network, frozen, to verify and to save.
    classes_ : array
    n_features_in_, feature_names_in_
        As in scikit-learn.
    history_ : list of dict
        Per epoch: ``epoch``, ``loss``, ``accuracy`` (the share of training examples classified correctly,
        with noise, just before they were learnt from) and ``seconds``.
    n_epochs_ : int
        Number of epochs run.

    Examples
    --------
    >>> from tmverify import load_dataset
    >>> from tmverify.bnn import BnnClassifier
    >>> digits = load_dataset("digits")
    >>> clf = BnnClassifier(hidden=(100, 50), random_state=0).fit(digits.X_train, digits.y_train)
    >>> bool(clf.score(digits.X_test, digits.y_test) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        hidden: tuple[int, ...] = (200, 100, 100, 100),
        n_epochs: int = 60,
        batch_size: int = 100,
        learning_rate: float = 0.03,
        input_noise: float = 0.0,
        dropout: float = 0.0,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.input_noise = input_noise
        self.dropout = dropout
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from examples, starting from scratch.

        Parameters
        ----------
        X : array of 0 and 1, (n, n_features)
        y : array, (n,)
            Labels: integers or strings.

        Returns
        -------
        self
            Also on Ctrl-C: with the network of the finished epochs, and a warning. If no epoch was
            finished, KeyboardInterrupt is raised again.

        Raises
        ------
        InvalidInputError
            If a parameter or the data are wrong.
        MissingExtraError
            If PyTorch is not installed.
        """
        _check_parameters(self)
        for name in ("_network", "model_", "history_", "n_epochs_"):
            self.__dict__.pop(name, None)  # after a failed fit, nothing of an earlier one is left
        bits = _check_bits(X)
        validate_data(self, X, skip_check_array=True)
        self.classes_, targets = _check_labels(y, len(bits))
        _model_labels(self.classes_)
        self._space()
        learner = self._learner(bits, targets)
        with one_interrupt():
            self._run(learner)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, by the frozen network."""
        bits = self._bits(X)
        return np.asarray(self.classes_[self.model_.scores(bits).argmax(axis=1)])

    def float_predict(self, X: Any) -> NDArray[Any]:
        """The label of each row by the network in floating point, as PyTorch evaluates it.

        It differs from ``predict`` only where a neuron's normalised sum is so near 0 that its sign in single
        precision is wrong, or 0; ``predict`` uses the exact sign.
        """
        bits = self._bits(X)
        return np.asarray(self.classes_[self._network.decide(bits)])

    def _bits(self, X: Any) -> NDArray[np.uint8]:
        check_is_fitted(self, "model_")
        bits = as_bit_matrix(X, self.n_features_in_)
        validate_data(self, X, reset=False, skip_check_array=True)
        return bits

    def _space(self) -> Space:
        names = getattr(self, "feature_names_in_", None)
        try:
            return Space.flags(self.n_features_in_ if names is None else [str(name) for name in names])
        except ModelError as error:
            raise InvalidInputError(str(error)) from None

    def _learner(self, bits: NDArray[np.uint8], targets: NDArray[np.int64]) -> Learner:
        torch = pytorch()
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        generator = torch.Generator().manual_seed(seed)
        hidden = [int(n) for n in self.hidden]
        return Learner(
            Network([bits.shape[1], *hidden, len(self.classes_)], generator),
            (bits, targets),
            Schedule(int(self.n_epochs), int(self.batch_size), float(self.learning_rate)),
            Noise(float(self.input_noise), float(self.dropout), generator),
        )

    def _run(self, learner: Learner) -> None:
        """Train to the last epoch, or to Ctrl-C if an epoch is finished by then; keep the result."""
        try:
            with ProgressBar("training", int(self.n_epochs), wanted=bool(self.verbose), stays=True) as bar:
                learner.run(bar)
            self._keep(learner)
        except KeyboardInterrupt:
            if not learner.finished.history:
                raise
            self._keep(learner)
            warnings.warn(
                f"Training was interrupted: the network is that of {self.n_epochs_} finished epochs of "
                f"{self.n_epochs}.",
                UserWarning,
                stacklevel=3,
            )

    def _keep(self, learner: Learner) -> None:
        learner.settle()
        self._network = learner.network
        self.history_ = learner.finished.history
        self.n_epochs_ = len(self.history_)
        self.model_ = self._network.freeze(_model_labels(self.classes_), self._space())


def _check_parameters(estimator: Any) -> None:
    """Raise InvalidInputError that names the first wrong parameter, if any."""
    hidden = estimator.hidden
    if (
        not isinstance(hidden, (tuple, list))
        or not 1 <= len(hidden) <= MAX_LAYERS
        or not all(is_number(n, numbers.Integral) and 1 <= n <= MAX_WIDTH for n in hidden)
    ):
        widths = f"1 to {MAX_LAYERS} widths, each an integer from 1 to {MAX_WIDTH}"
        raise wrong_parameter(estimator, "hidden", f"a tuple of {widths}")
    for name, least in (("n_epochs", 1), ("batch_size", 2)):
        check_integer(estimator, name, least)
    if not is_number(estimator.learning_rate) or not 0 < estimator.learning_rate <= 1:
        raise wrong_parameter(estimator, "learning_rate", "a number above 0 and of at most 1")
    for name in ("input_noise", "dropout"):
        if not is_number(getattr(estimator, name)) or not 0 <= getattr(estimator, name) < 1:
            raise wrong_parameter(estimator, name, "a number of at least 0 and below 1")


def _check_bits(X: Any) -> NDArray[np.uint8]:
    """A matrix of 0 and 1 to learn from, (n, n_features), as uint8."""
    try:
        shape = np.shape(X)
    except ValueError as error:
        raise InvalidInputError(f"X must be an array of 0 and 1: {error}.") from None
    if len(shape) != 2:
        raise InvalidInputError(f"X must be a matrix of shape (n, n_features). Got shape {shape} instead.")
    bits = as_bit_matrix(X, shape[1])
    if len(bits) < 2 or not 1 <= bits.shape[1] <= MAX_WIDTH:
        raise InvalidInputError(
            f"X must have at least two rows, and from 1 to {MAX_WIDTH} columns. Got shape {shape} instead."
        )
    return bits


def _check_labels(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct labels in order, and the index of each row's label."""
    if y is None:
        raise InvalidInputError("y must be given: one label for each row of X.")
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InvalidInputError(
            f"y must have one label for each of the {n} rows of X. Got shape {labels.shape} instead."
        )
    try:
        check_classification_targets(labels)
        classes, targets = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"y must be labels, integers or text: {error}") from None
    if len(classes) < 2:
        raise InvalidInputError("y must hold at least two classes. Got one class instead.")
    return classes, targets.astype(np.int64)


def _model_labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    """The labels of a BnnModel; labels that no BnnModel can have are refused before training."""
    labels = learnt_labels(classes)
    try:
        check_classes(labels, len(labels))
    except ModelError as error:
        raise InvalidInputError(str(error)) from None
    return labels
