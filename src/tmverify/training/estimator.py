"""``TsetlinMachineClassifier``: Algorithm 1 of the paper behind the scikit-learn interface."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tmverify.errors import InvalidInputError, TrainingStateError, shown
from tmverify.interrupts import one_interrupt
from tmverify.model import Model
from tmverify.model.checks import learnt_labels
from tmverify.model.evaluate import decide
from tmverify.progress import ProgressBar
from tmverify.space import Space
from tmverify.training.defaults import CHOSEN, DataSize, choose_settings, complete_settings
from tmverify.training.features import (
    bits_in,
    check_labels,
    checked_examples,
    checked_inputs,
    classes_of,
    has_made_up_names,
    has_named_rows,
    is_boolean,
    is_raw,
    learn_space,
    model_scores,
    pack_inputs,
    reads_space,
    space_of_bits,
)
from tmverify.training.frozen_model import check_size, frozen_model
from tmverify.training.parameters import check_parameters, rule_of
from tmverify.training.schedule import Course, Examples
from tmverify.training.state_file import check_same, digest_of, fixed_parameters
from tmverify.training.trainer import Trainer


class TsetlinMachineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Tsetlin machine: clauses over bits, learnt by Type I and Type II feedback, that vote for a class.

    For two classes there is one machine of ``n_clauses`` clauses; for more, one machine per class.

    Parameters
    ----------
    n_clauses : int or None
        Clauses per machine; those at even places vote for the class, the others against it. None, here and
        below: chosen by the size of the data (``training.defaults`` has the rules, ``settings_`` the values).
    threshold : int or None
        T: how many votes are enough. Feedback gets rarer as the sum of votes approaches T. A large T lets
        more clauses learn the same pattern.
    specificity : float or None
        s >= 1: a large s makes long, specific clauses; a small one short, general ones.
    n_epochs : int or None
        How many times ``fit`` goes through all examples.
    weighted : bool or None
        Give clauses integer weights, which grow when they are right and shrink when they are wrong.
    boost_true_positive : bool or None
        Always strengthen the true literals of a true clause, instead of with chance (s - 1) / s.
    n_states : int from 1 to 128, default 128
        States of an automaton for each of its two actions.
    max_literals : int or None
        Literals that a clause may include; None for no limit. No clause ever exceeds it: one that would
        forgets instead (``training._learn``).
    binarize : "auto", None, a binarizer or a Space, default "auto"
        What to do with data that are not 0 and 1: "auto" learns a space, by a ``TableBinarizer()`` from
        tables and by a ``WordBinarizer()`` from texts; a binarizer of these kinds is used instead, with its
        settings (``TableBinarizer(missing="refuse")``); a space, as that of another model, is taken as it is;
        None refuses.
    shuffle : bool, default True
        Show the examples in a new order every epoch.
    early_stopping : bool, default False
        Stop when the accuracy on the validation set has not risen for ``patience`` epochs, and keep the
        machines of the best epoch.
    validation_fraction : float, default 0.1
        Share of the examples set aside for early stopping when ``fit`` gets no validation set.
    patience : int, default 10
    n_jobs : int or None
        Threads; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None
        An int makes the training reproducible, bit for bit.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    model_ : Model
        The trained model, frozen, to verify and to save.
    classes_ : array
    settings_ : dict
        The settings of the training by parameter name: those given, and those chosen by the size of the data
        that ``fit``, or the first ``partial_fit``, has seen.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    space_ : Space
        What the bits mean: also ``model_.space``. Raw rows are encoded by it.
    history_ : list of dict
        Per epoch: ``epoch``, ``seconds``, and ``accuracy`` on the validation set (None without one).
    n_epochs_ : int
        Epochs run, by ``fit`` and ``partial_fit`` together.

    Examples
    --------
    >>> from tmverify import TsetlinMachineClassifier, load_dataset
    >>> digits = load_dataset("digits")
    >>> clf = TsetlinMachineClassifier(random_state=0).fit(digits.X_train, digits.y_train)
    >>> bool(clf.score(digits.X_test, digits.y_test) > 0.95)
    True
    """

    def __init__(
        self,
        n_clauses: int | None = None,
        threshold: int | None = None,
        specificity: float | None = None,
        n_epochs: int | None = None,
        *,
        weighted: bool | None = None,
        boost_true_positive: bool | None = None,
        n_states: int = 128,
        max_literals: int | None = None,
        binarize: Any = "auto",
        shuffle: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clauses = n_clauses
        self.threshold = threshold
        self.specificity = specificity
        self.n_epochs = n_epochs
        self.weighted = weighted
        self.boost_true_positive = boost_true_positive
        self.n_states = n_states
        self.max_literals = max_literals
        self.binarize = binarize
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        X_val: Any = None,
        y_val: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from scratch, or continue from ``checkpoint``.

        Parameters
        ----------
        X : array, frame or scipy sparse matrix, (n, n_features); or texts
            0/1 values of any type; or a table of numbers and texts, perhaps with missing values, or a list of
            texts: see ``binarize``.
        y : array, (n,)
            Labels: integers or strings.
        X_val, y_val
            A validation set: its accuracy goes to ``history_`` and decides about early stopping.
        checkpoint : path, optional
            Save the training here every half minute and at the end. If the file exists, continue from it:
            after a crash, the same call continues and gives the same result.

        Returns
        -------
        self
            Also on Ctrl-C: with the model of the finished epochs, and a warning. If no epoch was
            finished, KeyboardInterrupt is raised again.

        Raises
        ------
        InvalidInputError
            If a parameter or the data are wrong.
        TrainingStateError
            If ``checkpoint`` belongs to other data or settings.
        """
        check_parameters(self)
        for name in ("_course", "model_"):
            self.__dict__.pop(name, None)  # after a failed fit, nothing of an earlier one is left
        X, y = self._check_examples(X, y, first=True)
        self.classes_, targets = classes_of(y)
        bits = self._learn_bits(X)
        course = self._begun(checkpoint)
        if course is None:
            self.settings_ = choose_settings(self, DataSize.of(bits, len(self.classes_)))
        self._check_size()
        seed = self._draw_seed() if course is None else course.trainer.seed
        bits, targets, held_out = self._hold_out(bits, targets, X_val, y_val, seed)
        examples = self._examples(bits, targets)
        about = {} if checkpoint is None else self._about(examples, held_out)
        if course is None:
            course = Course(self._start(bits.shape[1], seed))
        else:
            check_same(course.about, about)
        course.patience = int(self.patience) if self.early_stopping else None
        if held_out is not None:
            course.accuracy = lambda: self._accuracy(course.trainer, *held_out)
        self._run(course, examples, lambda: None if checkpoint is None else course.write(checkpoint, about))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """One more epoch, over these examples.

        Parameters
        ----------
        X, y
            As in ``fit``.
        classes : array, at the first call
            All labels, also of later calls; by default those in ``y``.
        """
        check_parameters(self)
        first = not hasattr(self, "_course")
        X, y = self._check_examples(X, y, first=first)
        if first:
            if classes is not None:
                check_labels(classes)
            self.classes_, _ = classes_of(y if classes is None else classes)
            bits = self._learn_bits(X)
            self.settings_ = choose_settings(self, DataSize.of(bits, len(self.classes_)))
            self._check_size()
            course = Course(self._start(bits.shape[1], self._draw_seed()))
        else:
            bits = bits_in(X, self.space_ if self._encodes else None)
            course = self._course
            settings = complete_settings(self, self.settings_)
            if any(settings[name] != getattr(course.trainer, name) for name in ("n_clauses", "n_states")):
                raise InvalidInputError("n_clauses and n_states can't change in the middle of a training.")
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise InvalidInputError("classes must be the same as at the first call of partial_fit.")
            self.settings_ = settings
        course.accuracy = course.patience = None
        course.run_epoch(self._examples(bits, self._targets(y)))
        self._keep(course)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Votes: (n, n_classes), the largest wins; for two classes (n,), the second wins if positive.

        For two classes, a sum of 0 is returned as +1/2, because a tie is positive, as in ``Model``.
        """
        scores = self._scores(X)
        if scores.shape[1] > 1:
            return scores
        votes = scores[:, 0].astype(np.float64)
        votes[votes == 0] = 0.5
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        winners = decide(self._scores(X), self.model_.tie, self.model_.clamp)
        return np.asarray(self.classes_[winners])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the state of the training (automata, random numbers, history), to continue later.

        The frozen model alone is ``model_.save(path)``.
        """
        check_is_fitted(self, "_course")
        self._course.write(path, self._about())

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> Self:
        """The classifier that ``save`` or a checkpoint wrote: it can predict and continue training.

        Raises
        ------
        TrainingStateError
            If the file is missing, damaged or something else.
        """
        course = Course.read(path)
        about = course.about
        try:
            given = about["parameters"]
            binarize = "auto" if isinstance(given["binarize"], list) else given["binarize"]  # space_ is there
            classifier = cls(**given | {"binarize": binarize})
            check_parameters(classifier)
            classifier.classes_ = np.array(about["classes"])
            classifier.n_features_in_ = int(about["n_features_in"])
            names = about["feature_names_in"]
            if names is not None:
                classifier.feature_names_in_ = np.array(names, object)
            n_bits = int(about["n_features"])
            classifier.space_ = Space.from_json(about["space"], n_bits)
            classifier._encodes = bool(about["encodes"])
            if not np.array_equal(np.unique(classifier.classes_), classifier.classes_):
                raise ValueError("the classes are not in order")
            classifier.settings_ = settings = classifier._saved_settings(course)
            trainer = course.trainer
            sizes = (len(classifier.classes_), settings["n_clauses"], n_bits, settings["n_states"])
            if sizes != (trainer.n_classes, trainer.n_clauses, trainer.n_features, trainer.n_states):
                raise ValueError("it contradicts itself")
            if not reads_space(classifier.n_features_in_, names, classifier.space_, classifier._encodes):
                raise ValueError("its columns are not those of its space")
            classifier._keep(course)
            classifier._check_size()
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise TrainingStateError(f"{path}: not a training that can be resumed: {error!r:.100}.") from None
        return classifier

    @cached_property
    def model_(self) -> Model:
        """The trained model, frozen."""
        if not hasattr(self, "_course"):
            raise NotFittedError("This TsetlinMachineClassifier is not fitted yet; call fit first.")
        return self._freeze(self._course.trainer)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _named_space(self) -> Space | None:
        return self.space_ if self._encodes and not has_made_up_names(self.space_) else None

    def _check_examples(self, X: Any, y: Any, *, first: bool) -> tuple[Any, NDArray[Any]]:
        return checked_examples(self, X, y, self.binarize if first else self._named_space, first=first)

    def _learnt_bits(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Learn the space alone, as ``fit`` does first; the bits of all rows, and their labels, checked."""
        X, y = self._check_examples(X, y, first=True)
        return self._learn_bits(X), y

    def _learn_bits(self, X: Any) -> Any:
        by_itself = isinstance(self.binarize, str)
        self._encodes = is_raw(X) or not is_boolean(X) if by_itself else self.binarize is not None
        names = getattr(self, "feature_names_in_", None)
        if self._encodes:
            self.space_ = learn_space(X, self.binarize, names)
        else:
            self.space_ = space_of_bits(self.n_features_in_, names)
        return bits_in(X, self.space_ if self._encodes else None)

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _start(self, n_bits: int, seed: int) -> Trainer:
        return Trainer.start(
            seed=seed,
            n_clauses=self.settings_["n_clauses"],
            n_features=n_bits,
            n_classes=len(self.classes_),
            n_states=self.settings_["n_states"],
        )

    def _begun(self, checkpoint: str | os.PathLike[str] | None) -> Course | None:
        if checkpoint is None or not os.path.exists(checkpoint):
            return None
        course = Course.read(checkpoint)
        if self.random_state is not None and self._draw_seed() != course.trainer.seed:
            raise TrainingStateError(f"{checkpoint}: this training was begun with another random_state.")
        try:
            self.settings_ = self._saved_settings(course)
        except (KeyError, TypeError, ValueError) as error:
            raise TrainingStateError(f"{checkpoint}: it can't be continued: {error!r:.100}.") from None
        return course

    def _saved_settings(self, course: Course) -> dict[str, Any]:
        """The settings of a course from a file: those chosen when it began are kept."""
        chosen = {"n_epochs": max(1, course.trainer.n_epochs), **course.about.get("settings", {})}
        if any(chosen.get(name, 0) is None for name in CHOSEN):
            raise ValueError("a setting is missing")
        settings = complete_settings(self, chosen)
        check_parameters(type(self)(**settings))
        return settings

    def _hold_out(self, bits: Any, targets: Any, X_val: Any, y_val: Any, seed: int) -> tuple[Any, Any, Any]:
        """Examples to learn from, and a validation set or None."""
        if (X_val is None) != (y_val is None):
            raise InvalidInputError("X_val and y_val go together: give both or neither.")
        if X_val is not None:
            X_val, y_val = self._check_examples(X_val, y_val, first=False)
            held_targets = self._targets(y_val, known=False)
            if (held_targets < 0).all():
                raise InvalidInputError("y_val must hold labels of y. It has none of them.")
            held_bits = bits_in(X_val, self.space_ if self._encodes else None)
            return bits, targets, (held_bits, held_targets)
        if not self.early_stopping:
            return bits, targets, None
        try:
            bits, held_bits, targets, held_targets = train_test_split(
                bits, targets, test_size=self.validation_fraction, random_state=seed, stratify=targets
            )
        except ValueError as error:
            raise InvalidInputError(f"Too few examples to set some aside for validation: {error}") from None
        return bits, targets, (held_bits, held_targets)

    def _examples(self, bits: Any, targets: NDArray[np.int64]) -> Examples:
        rule, n_jobs = rule_of(self.settings_), effective_n_jobs(self.n_jobs)
        return Examples(pack_inputs(bits), targets, rule, bool(self.shuffle), n_jobs)

    def _targets(self, y: NDArray[Any], *, known: bool = True) -> NDArray[np.int64]:
        """Class indices of labels. An unknown label gives -1, or an error if all must be ``known``."""
        places = np.searchsorted(self.classes_, y)
        places = np.minimum(places, len(self.classes_) - 1)
        strange = self.classes_[places] != y
        if known and strange.any():
            raise InvalidInputError(
                f"y must hold labels of the first call of partial_fit only. Got {shown(str(y[strange][0]))}."
            )
        return np.where(strange, -1, places).astype(np.int64)

    def _run(self, course: Course, examples: Examples, save: Callable[[], None]) -> None:
        """Train to the last epoch, or to Ctrl-C if an epoch is finished by then; keep what was learnt."""
        n_epochs, done = self.settings_["n_epochs"], course.trainer.n_epochs
        bar = ProgressBar("training", n_epochs, done=done, wanted=bool(self.verbose), stays=True)
        with one_interrupt():
            try:
                with bar:
                    course.run(examples, n_epochs, bar, save)
                self._finish(course)
            except KeyboardInterrupt:
                if course.trainer.n_epochs == 0:
                    raise
                self._finish(course)
                warnings.warn(
                    f"Training was interrupted: the model is that of {course.trainer.n_epochs} finished "
                    f"epochs of {n_epochs}.",
                    UserWarning,
                    stacklevel=3,
                )

    def _finish(self, course: Course) -> None:
        course.take_best()
        self._keep(course)
        self.model_  # noqa: B018 - computed here, so that predicting changes nothing in the estimator

    def _keep(self, course: Course) -> None:
        self._course = course
        course.accuracy = None  # it holds the validation set, which need not be pickled with the estimator
        self.history_ = course.history
        self.n_epochs_ = course.trainer.n_epochs
        self.__dict__.pop("model_", None)

    def _check_size(self) -> None:
        """Refuse, before the training, sizes and classes that no Model can have or no file can hold."""
        check_size(int(self.settings_["n_clauses"]), learnt_labels(self.classes_), self.space_)

    def _freeze(self, trainer: Trainer) -> Model:
        labels = learnt_labels(self.classes_)
        return frozen_model(trainer.machines, trainer.n_clauses, labels, self.space_)

    def _accuracy(self, trainer: Trainer, bits: Any, targets: NDArray[np.int64]) -> float:
        model = self._freeze(trainer)
        decisions = decide(model_scores(model, bits), model.tie, model.clamp)
        return float((decisions == targets).mean())

    def _scores(self, X: Any) -> NDArray[np.int64]:
        check_is_fitted(self, "_course")
        if has_named_rows(X):
            return self.model_.scores(X)
        X = checked_inputs(self, X, self._named_space)
        return model_scores(self.model_, bits_in(X, self.space_ if self._encodes else None))

    def _about(self, examples: Examples | None = None, held_out: Any = None) -> dict[str, Any]:
        """What a state file stores besides the course itself."""
        if not all(isinstance(label, (bool, int, float, str)) for label in self.classes_.tolist()):
            raise InvalidInputError("Labels must be numbers or text for a training to be saved.")
        names = getattr(self, "feature_names_in_", None)
        return {
            "parameters": fixed_parameters(self.get_params(deep=False)),
            "settings": self.settings_,
            "classes": self.classes_.tolist(),
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else [str(name) for name in names],
            "space": self.space_.to_json(),
            "encodes": self._encodes,
            "data": None if examples is None else digest_of(examples.inputs, examples.targets),
            "validation": None if held_out is None else digest_of(pack_inputs(held_out[0]), held_out[1]),
        }
