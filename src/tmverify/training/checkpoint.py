"""A saved training that goes on. It must have the settings, and in ``fit`` the data, that it began with."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import TrainingStateError
from tmverify.training.schedule import Course
from tmverify.training.state_file import read_state
from tmverify.training.trainer import Trainer

# Parameters that may differ when a training goes on: they do not change what an epoch does.
FREE_PARAMETERS = ("n_epochs", "n_jobs", "verbose", "patience", "random_state")


def fixed_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters on which the result of an epoch depends, as JSON values."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in sorted(parameters.items())
        if name not in FREE_PARAMETERS
    }


def digest_of(inputs: NDArray[np.uint64], targets: NDArray[np.int64]) -> str:
    """SHA-256 of the examples."""
    digest = hashlib.sha256(np.ascontiguousarray(inputs).astype("<u8").tobytes())
    digest.update(targets.astype("<i8").tobytes())
    return digest.hexdigest()


def read_course(path: str | os.PathLike[str]) -> Course:
    """The course saved in a file."""
    about, sets = read_state(path)
    try:
        trainer = Trainer(
            seed=_integer(about, "seed"),
            n_clauses=about["n_clauses"],
            n_features=about["n_features"],
            n_classes=about["n_classes"],
            n_states=_integer(about, "n_states"),
            machines=sets["now"],
            n_epochs=_integer(about, "n_epochs"),
        )
        history = [
            {"epoch": line["epoch"], "seconds": float(line["seconds"]), "accuracy": line["accuracy"]}
            for line in about["history"]
        ]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TrainingStateError(
            f"{path}: not a training state that can be resumed: {error!r:.100}."
        ) from None
    return Course(trainer, history=history, best=sets.get("best"), about=about)


def check_same(about: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise TrainingStateError unless the file belongs to these settings and data."""
    for name, value in expected.items():
        if about.get(name) != value:
            raise TrainingStateError(
                f"The checkpoint is of a training begun with {_difference(name, about.get(name), value)}. "
                "Give what it began with, or another file; remove the file to begin anew."
            )


def _difference(name: str, saved: Any, value: Any) -> str:
    if name == "parameters" and isinstance(saved, dict):
        return "other values of " + ", ".join(sorted(key for key in value if saved.get(key) != value[key]))
    return {"data": "other examples", "validation": "another validation set"}.get(name, f"other {name}")


def _integer(about: dict[str, Any], name: str) -> int:
    value = about[name]
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r:.40}")
    return value
