"""A training in progress as a file, to continue later: NumPy's ``.npz`` of plain arrays, never a pickle.

``about`` is JSON in UTF-8 bytes; ``<set>.<machine>.<array>`` are the automata, weights and generators, the
set being ``now`` or, under early stopping, also ``best``. Arrays that follow from these (the transposed
included literals, their number, the masks of existing ones) are recomputed, so that a file cannot contradict
itself. Every shape is checked against the machine that the numbers in ``about`` describe: the kernels rely on
it. A training can continue only with the settings, and in ``fit`` the data, that it began with.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.errors import TrainingStateError
from tmverify.space import Space
from tmverify.training.machine import (
    MAX_STATES,
    Machine,
    array_shapes,
    new_machine,
    restored_machine,
    states_within,
)

FORMAT = "tmverify-training"
VERSION = 1
_STORED = ("planes", "weights", "draws", "lanes")
Machines = Sequence[Machine]
# Parameters that may differ when a training continues: they do not change what an epoch does.
FREE_PARAMETERS = ("n_epochs", "n_jobs", "verbose", "patience", "random_state")
_KEPT = ("settings",)  # what a training chose when it began: not compared, but taken over


def write_state(path: str | os.PathLike[str], about: dict[str, Any], sets: Mapping[str, Machines]) -> None:
    """Write the file atomically: whatever happens, it is the complete old or the complete new one."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, machines in sets.items():
        for c, machine in enumerate(machines):
            for field in _STORED:
                arrays[f"{name}.{c}.{field}"] = getattr(machine, field)
    text = json.dumps({"format": FORMAT, "version": VERSION, "sets": list(sets), **about}, allow_nan=False)
    with replacing(path) as draft, open(draft, "wb") as file:
        np.savez(file, about=np.frombuffer(text.encode(), np.uint8), **arrays)  # type: ignore[arg-type]


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, list[Machine]]]:
    """What ``write_state`` wrote.

    Raises
    ------
    TrainingStateError
        If the file is missing, damaged, or not such a state.
    """
    file = Path(path)
    try:
        with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            about = json.loads(bytes(archive["about"]).decode())
            if not isinstance(about, dict) or about.get("format") != FORMAT:
                raise ValueError("it is something else")
            if about.get("version") != VERSION:
                raise ValueError(f"its version is {about.get('version')!r:.20}, not {VERSION}")
            return about, {name: _machines(archive, name, about) for name in about["sets"]}
    except FileNotFoundError:
        raise TrainingStateError(f"{file}: there is no such file.") from None
    except MemoryError:
        raise TrainingStateError(f"{file}: too large for this machine's memory.") from None
    except Exception as error:  # zipfile, zlib, json and numpy raise a dozen kinds on a damaged file
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        if "pickle" in reason:
            reason = "it is no NumPy archive"
        raise TrainingStateError(f"{file}: not a training state that can be resumed: {reason}.") from None


def _machines(archive: Any, name: str, about: dict[str, Any]) -> list[Machine]:
    n_clauses, n_features, n_classes = (about[key] for key in ("n_clauses", "n_features", "n_classes"))
    for size in (n_clauses, n_features, n_classes):
        if type(size) is not int or not 1 <= size <= 1 << 24:
            raise ValueError("a size is out of range")
    if type(about["n_states"]) is not int or not 1 <= about["n_states"] <= MAX_STATES:
        raise ValueError("the number of states is out of range")
    machines = []
    for c in range(1 if n_classes == 2 else n_classes):
        stored = {field: archive[f"{name}.{c}.{field}"] for field in _STORED}
        for field, (shape, dtype) in array_shapes(n_clauses, n_features).items():
            if stored[field].shape != shape or stored[field].dtype != dtype:
                raise ValueError(f"{field} has shape {stored[field].shape} and type {stored[field].dtype}")
        if not (stored["draws"].all() and stored["lanes"].all()):
            raise ValueError("a random generator has stopped")
        if (stored["weights"] < 1).any():
            raise ValueError("a clause weight is below 1")
        blank = new_machine(n_clauses, n_features, np.random.SeedSequence(0))
        machine = restored_machine(blank, **stored)
        if not states_within(machine, about["n_states"]):
            raise ValueError("an automaton is out of its range")
        machines.append(machine)
    return machines


def fixed_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters on which the result of an epoch depends, as JSON values."""
    return {name: _plain(value) for name, value in sorted(parameters.items()) if name not in FREE_PARAMETERS}


def _plain(value: Any) -> Any:
    if isinstance(value, Space):
        return ["Space", value.to_json()]
    if hasattr(value, "get_params"):  # a binarizer
        return [type(value).__name__, *map(repr, value.get_params().items())]
    return value.item() if isinstance(value, np.generic) else value


def digest_of(inputs: NDArray[np.uint64], targets: NDArray[np.int64]) -> str:
    """SHA-256 of the examples."""
    digest = hashlib.sha256(np.ascontiguousarray(inputs).astype("<u8").tobytes())
    digest.update(targets.astype("<i8").tobytes())
    return digest.hexdigest()


def check_same(about: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise TrainingStateError unless the file belongs to these settings and data."""
    for name, value in expected.items():
        if name not in _KEPT and about.get(name) != value:
            raise TrainingStateError(
                f"The checkpoint is of a training begun with {_difference(name, about.get(name), value)}. "
                "Give what it began with, or another file; remove the file to begin anew."
            )


def _difference(name: str, saved: Any, value: Any) -> str:
    if name == "parameters" and isinstance(saved, dict):
        return "other values of " + ", ".join(sorted(key for key in value if saved.get(key) != value[key]))
    return {"data": "other examples", "validation": "another validation set"}.get(name, f"other {name}")
