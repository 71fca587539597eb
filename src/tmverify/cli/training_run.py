"""What ``tmverify train`` does: read the data, learn, save the model, measure it, and print how it went."""

from __future__ import annotations

import re
import shlex
import time
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text
from sklearn.base import clone

from tmverify import kernels
from tmverify.cli.output import STYLE, counted, described, plain, print_note, show, show_facts, show_json
from tmverify.cli.train import DATASETS, DEFAULTS, Reading
from tmverify.data import Dataset, load_dataset, load_table, save_inputs, save_rows, split_table
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.model import Model
from tmverify.model.checks import learnt_labels
from tmverify.model.file import load_classifier
from tmverify.progress import ProgressBar
from tmverify.properties.verdict import Status
from tmverify.training import TsetlinMachineClassifier
from tmverify.training.frozen_model import check_size
from tmverify.training.parameters import check_parameters
from tmverify.training.tuning import Trial, Tuning, tune

_TEST_SIZE = 0.25
_HASH_CHARS = 12
_MAX_CLASSES = 20
_FEW_CLASSES = 5
_KINDS = re.compile(r"binarize=tv\.TableBinarizer\(kinds=\{'(.*?)': 'text'\}\)")


def make_estimator(source: str, **parameters: Any) -> TsetlinMachineClassifier:
    """The estimator, checked; a parameter that is None gets the source's default, or the estimator's own.

    A literal budget of 0 means no limit.
    """
    preset = DEFAULTS[source]._asdict() if source in DEFAULTS else {}
    chosen = preset | {name: value for name, value in parameters.items() if value is not None}
    if chosen.get("max_literals") == 0:
        chosen["max_literals"] = None
    estimator = TsetlinMachineClassifier(**chosen, binarize=None)
    check_parameters(estimator)
    return estimator


def epochs_in(checkpoint: Path | None) -> int:
    """The number of epochs in a checkpoint; TrainingStateError if the file is not one."""
    if checkpoint is None or not checkpoint.exists():
        return 0
    return int(TsetlinMachineClassifier.resume(checkpoint).n_epochs_)


_OPTIONS = {
    "as target": "with --target COLUMN",
    "another test_size": "another --test-size",
    "0 as test_size": "--test-size 0",
    "; or group its values, or raise max_categories": "; or group its values",
    "drop the column": "leave it out with --drop",
    "(missing='bit')": "(--missing bit)",
}


def read_data(source: str, asked: Reading, *, data_dir: Path | None, seed: int) -> tuple[Dataset, list[str]]:
    """The dataset called ``source``, or the file, split and turned into bits; and what seems odd about it.

    Test inputs may be missing.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            data = (
                _table_data(source, asked, seed)
                if source not in DATASETS
                else load_dataset(source, data_dir=data_dir)
            )
    except (DataFormatError, InvalidInputError) as error:
        said = _KINDS.sub(r"--text \1", str(error))
        for words, option in _OPTIONS.items():
            said = said.replace(words, option)
        raise type(error)(said) from None
    classes = np.unique(data.y_train)
    if len(classes) < 2:
        raise DataFormatError(f"{source}: at least two different labels are needed to learn from.")
    assert data.space is not None
    check_size(1, learnt_labels(classes), data.space)  # before the training, not after it
    return data, [str(each.message) for each in caught if issubclass(each.category, UserWarning)]


def _table_data(source: str, asked: Reading, seed: int) -> Dataset:
    return split_table(
        load_table(source, asked.target, drop=asked.drop, missing=asked.missing),
        source,
        test_size=_TEST_SIZE if asked.test_size is None else asked.test_size,
        random_state=seed,
        texts=asked.text,
        n_words=asked.words or 5000,
        like=None if asked.like is None else load_classifier(asked.like).space,
    )


@dataclass(slots=True, eq=False)
class TrainingRun:
    """A training and its results so far; ``reported`` are the parameters that are shown."""

    data: Dataset
    estimator: Any
    reported: Collection[str]
    output: Path
    checkpoint: Path | None
    epochs_before: int
    model: Model = field(init=False)
    test_file: Path | None = None
    seconds: float = 0.0
    accuracy_train: float | None = None
    accuracy_test: float | None = None
    interrupted: bool = False
    tuning: Tuning | None = None
    command: str | None = None  # the same training, its settings spelt out

    def announce(self) -> None:
        """Print what data there is to learn from."""
        data = self.data
        held_out = counted(len(data.y_test), "test input") if len(data.y_test) else "no test inputs"
        n_features, n_classes = data.X_train.shape[1], len(np.unique(data.y_train))
        space = data.space
        columns = (
            ""
            if space is None or space.only_flags
            else f"{len(space.parts)} column{'s' * (len(space.parts) > 1)} as "
        )
        bits = f"{columns}{n_features} features"
        sizes = f"{len(data.y_train)} training and {held_out}, {bits}, {n_classes} classes"
        if n_classes <= _FEW_CLASSES:
            sizes += f" ({', '.join(_shares(data.y_train))})"
        show(Text().append(plain(data.name), style="bold").append(f": {sizes}"))

    def search(
        self, seconds: float, command_with: Callable[[dict[str, Any]], str], *, verbose: bool, quiet: bool
    ) -> None:
        """Search for good settings and take them; ``command_with`` writes the command that has them."""
        if quiet:
            kernels.announce_compiling = False
        _compile(self.estimator)
        best = 0.0
        with ProgressBar("searching settings, s", int(seconds), wanted=verbose) as bar:

            def show_epoch(trial: Trial, elapsed: float) -> None:
                nonlocal best
                best = max(best, trial.accuracy)
                bar.done = min(int(elapsed), bar.total) - 1
                bar.advance(f"best so far {best:.2%}")

            self.tuning = tune(
                self.data.X_train,
                self.data.y_train,
                seconds=seconds,
                estimator=self.estimator,
                random_state=self.estimator.random_state,
                on_epoch=show_epoch,
            )
        self.estimator.set_params(**self.tuning.settings)
        self.command = command_with(self.tuning.settings)

    def learn(self, save_test: Path | None, *, quiet: bool) -> None:
        """Compile, learn, save, measure. If it raises KeyboardInterrupt, no model has been written."""
        if quiet:
            kernels.announce_compiling = False
        _compile(self.estimator)
        started = time.perf_counter()
        self._fit()
        self.seconds = time.perf_counter() - started
        try:
            self._save_model()
        except KeyboardInterrupt:  # the first one, after the last epoch: later ones are ignored
            self._save_model()
            self.interrupted = True
        try:
            if save_test is not None:
                self._save_test(save_test)
                self.test_file = save_test
            self._measure()
        except KeyboardInterrupt:  # the model has been written
            self.interrupted = True

    def _save_test(self, path: Path) -> None:
        data = self.data
        if path.suffix.lower() == ".csv":
            assert data.raw_test is not None
            target = None if data.space is None else data.space.target
            save_rows(path, data.raw_test, data.y_test, target or "label", source=Path(data.name))
        else:
            save_inputs(path, data.X_test, data.y_test, data.feature_names, data.raw_test)

    def _fit(self) -> None:
        """Learn; note whether Ctrl-C came before the end.

        ``fit`` gets the test data only to show the accuracy after each epoch; early stopping uses other data.
        """
        data = self.data
        follow = len(data.y_test) and not self.estimator.early_stopping
        watched = {"X_val": data.X_test, "y_val": data.y_test} if follow else {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.estimator.fit(data.X_train, data.y_train, checkpoint=self.checkpoint, **watched)
        for text in [str(warning.message) for warning in caught]:
            if "interrupted" in text:
                self.interrupted = True
            else:
                print_note(f"warning: {text}")

    def _save_model(self) -> None:
        """Write the model of the finished epochs, with the meaning of its bits."""
        assert self.data.space is not None
        self.model = replace(self.estimator.model_, space=self.data.space)
        self.model.save(self.output)

    def _measure(self) -> None:
        data, score = self.data, self.estimator.score
        self.accuracy_train = float(score(data.X_train, data.y_train))
        if len(data.y_test):
            self.accuracy_test = float(score(data.X_test, data.y_test))

    def report(self, *, as_json: bool) -> None:
        """Print the outcome."""
        if as_json:
            show_json(self._document())
            return
        if self.interrupted:
            line = Text().append("INTERRUPTED", style=STYLE[Status.UNKNOWN])
            done, wanted = self.estimator.n_epochs_, self.estimator.settings_["n_epochs"]
            line.append(f"  the model of {done} of {wanted} epochs was saved")
            show(line if self.checkpoint is None else line.append("; the same command goes on from there"))
        show_facts(self._facts())
        if self.command is not None:
            show(Text(f"the same without a search: {plain(self.command)}", style="dim"))
        if self.test_file is not None:
            files = shlex.join([str(self.output), str(self.test_file)])
            pixels = self.data.image_shape is not None
            ask = f"robustness {plain(files)} --epsilon 1" if pixels else f"radius {plain(files)}"
            show(Text(f"now try: tmverify {ask} --n 20", style="dim"))

    def _facts(self) -> dict[str, object]:
        clauses, data = _clause_facts(self.model), self.data
        accuracy = "not measured"
        if self.accuracy_train is not None:
            accuracy = f"{self.accuracy_train:.2%} of {counted(len(data.y_train), 'training input')}"
        if self.accuracy_test is not None:
            accuracy += f", {self.accuracy_test:.2%} of {counted(len(data.y_test), 'test input')}"
            labels, counts = np.unique(data.y_test, return_counts=True)
            always = f"(always {plain(labels[counts.argmax()])}: {counts.max() / counts.sum():.2%})"
            accuracy += f" {always}"
        literals = "{mean:.1f} mean, {median:g} median, {max} max".format(**clauses["literals_per_clause"])
        facts: dict[str, object] = {}
        if self.tuning is not None:
            n_tried = sum(bool(trial.accuracies) for trial in self.tuning.trials)
            best = f"{self.tuning.accuracy:.2%} of the validation part"
            end = "; ended early by Ctrl-C" if self.tuning.interrupted else ""
            facts["search"] = f"{n_tried} settings, the best with {best}{end}"
        facts |= {
            "epochs": self._epochs(),
            "accuracy": accuracy,
            "clauses": f"{self.model.n_clauses} ({_per_class(clauses['clauses_per_class'])})",
            "literals per clause": literals,
            "empty clauses": clauses["empty_clauses"],
            "contradictory clauses": clauses["contradictory_clauses"],
            "model": f"{self.output} (sha256 {self.model.content_hash[:_HASH_CHARS]}…)",
        }
        if self.test_file is not None:
            facts["test data"] = f"{self.test_file} ({counted(len(data.y_test))})"
        return facts

    def _epochs(self) -> str:
        estimator, before = self.estimator, self.epochs_before
        text = f"{estimator.n_epochs_}, in {self.seconds:.1f} s"
        if before >= estimator.settings_["n_epochs"]:
            text += f" (all of them before, from {self.checkpoint}; more only with a larger --epochs)"
        elif before:
            text += f" ({before} of them before, from {self.checkpoint})"
        measured = [line for line in estimator.history_ if line["accuracy"] is not None]
        if estimator.early_stopping and measured:
            best = max(measured, key=lambda line: line["accuracy"])
            text += f"; the best, {best['epoch']}, was kept ({best['accuracy']:.2%} of the validation part)"
        return text

    def _document(self) -> dict[str, Any]:
        data, parameters = self.data, self.estimator.get_params() | self.estimator.settings_
        return {
            **described("train", [self.output], [self.model]),
            "data": {
                "source": data.name,
                "train": len(data.y_train),
                "test": len(data.y_test),
                "features": data.X_train.shape[1],
                "classes": list(self.model.classes),
            },
            "settings": {name: value for name, value in parameters.items() if name in self.reported},
            "search": self._search_document(),
            "epochs": self.estimator.n_epochs_,
            "epochs_before": self.epochs_before,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "accuracy": {"train": self.accuracy_train, "test": self.accuracy_test},
            **_clause_facts(self.model),
            "test_file": None if self.test_file is None else str(self.test_file),
            "history": self.estimator.history_,
        }

    def _search_document(self) -> dict[str, Any] | None:
        if self.tuning is None:
            return None
        trials = [
            {"settings": trial.settings, "accuracies": trial.accuracies, "seconds": trial.seconds}
            for trial in self.tuning.trials
            if trial.accuracies
        ]
        return {
            "accuracy": self.tuning.accuracy,
            "interrupted": self.tuning.interrupted,
            "command": self.command,
            "trials": trials,
        }


def _shares(y: np.ndarray[Any, Any]) -> list[str]:
    """How often each label is there."""
    labels, counts = np.unique(y, return_counts=True)
    return [f"{plain(label)} {n / len(y):.0%}" for label, n in zip(labels, counts, strict=True)]


def _compile(estimator: Any) -> None:
    """Learn and predict something tiny, so that compiling is not counted as training."""
    bits = np.eye(2, dtype=np.uint8)[np.arange(64) % 2]
    tiny = clone(estimator).set_params(n_clauses=2, n_epochs=1, early_stopping=False, n_jobs=1, verbose=False)
    tiny.fit(bits, bits[:, 0]).predict(bits)


def _per_class(counts: dict[str, int]) -> str:
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} for each of {len(counts)} classes"
    listed = [f"{n} for {label}" for label, n in list(counts.items())[:_MAX_CLASSES]]
    return ", ".join(listed) + (", …" if len(counts) > _MAX_CLASSES else "")


def _clause_facts(model: Model) -> dict[str, Any]:
    """Statistics of the clauses. With two classes, a clause belongs to the one that it votes for."""
    lengths, weights = model.clauses.lengths, model.weights
    voters = (weights != 0).sum(axis=1)
    if model.n_outputs == 1:
        voters = np.array([(weights < 0).sum(), (weights > 0).sum()])
    return {
        "clauses": model.n_clauses,
        "clauses_per_class": dict(zip(map(str, model.classes), voters.tolist(), strict=True)),
        "literals_per_clause": {
            "mean": float(lengths.mean()),
            "median": float(np.median(lengths)),
            "max": int(lengths.max()),
        },
        "empty_clauses": int((lengths == 0).sum()),
        "contradictory_clauses": int(model.clauses.contradictory.sum()),
    }
