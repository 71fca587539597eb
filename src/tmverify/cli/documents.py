"""Answers as plain values: one form for JSON, CSV and files of counterexamples."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tmverify.asking.answer import Asked, changes_of
from tmverify.asking.tally import Tally
from tmverify.atomic import replacing
from tmverify.cli.ask import Answers
from tmverify.cli.output import described
from tmverify.cli.saving import save_lines
from tmverify.model import Label
from tmverify.model.names import feature_name, feature_names
from tmverify.properties import Status
from tmverify.properties.trust import NO_CERTIFICATE

_MEASURES: dict[str, Callable[[Iterable[float]], float]] = {
    "median": statistics.median,
    "least": min,
    "greatest": max,
}
_CSV = ("index", "line", "name")
_CSV_DISTANCES = ("scope", "class", "radius", "lower", "upper", "nearest", "against", "leads")
_CSV_VERDICTS = ("epsilon", "scope", "status", "before", "after", "leads")
_MORE_CSV = (
    "seconds",
    "engine",
    "stop_reason",
    "flips",
    "flipped_features",
    "changes",
    "possible",
    "certificate",
)


def document(answers: Answers) -> dict[str, Any]:
    """What was asked, the overall outcome, and each answer."""
    given, subject, question = answers.given, answers.subject, answers.question
    document = described(question.name, given.models, subject.models)
    if question.about_input:
        mask = subject.rules.free(subject.named.n_features)
        free = None if mask is None else np.flatnonzero(mask).tolist()
        document |= {
            "data": {
                "path": str(given.data),
                "n": given.n,
                "seed": given.seed,
                "ignored_columns": () if subject.inputs is None else subject.inputs.ignored,
            },
            "features": free,
            "feature_names": None if free is None else [feature_name(subject.named, i) for i in free],
            "direction": subject.rules.direction,
            "rules": subject.rules.by_column(subject.named.space),
            "margin": given.margin,
        }
    document |= {
        "distance": subject.rules.distance,
        "scope": given.scope,
        "engine": given.engine,
        "timeout": answers.limit,
        "status": answers.status.value,
        "interrupted": answers.interrupted,
    }
    if question.has_eta:
        document |= _json_of_all(answers)
    elif question.is_distance:
        document |= _json_of_distances(answers)
    elif question.has_epsilon:
        document["epsilons"] = [
            _json_at(epsilon, tally, answers) for epsilon, tally in answers.tallies.items()
        ]
    return {**document, "results": _results(answers)}


def _json_at(epsilon: int, tally: Tally, answers: Answers) -> dict[str, Any]:
    return {
        "epsilon": epsilon,
        "inputs": tally.done,
        "solved": tally.solved,
        answers.question.adjective: tally.positive,
        "violated": tally.violated,
        "unknown": tally.unknown,
        "timeouts": tally.timeouts,
        "mean_seconds": tally.mean_seconds,
    }


def _json_of_all(answers: Answers) -> dict[str, Any]:
    tally, whole = answers.tally, answers.whole
    path, trusts = answers.whole_path, () if whole is None else whole.trusts
    if whole is not None and whole.certificate is not None and path is None:
        trusts = tuple(dict.fromkeys(each for asked in answers.asked for each in asked.found.trusts))
    return {
        "timeout_per_input": answers.given.timeout_per_input,
        "epsilon": answers.given.epsilons[0],
        "eta": str(answers.eta),
        "inputs": len(answers.tasks),
        "required": answers.required,
        answers.question.adjective: tally.positive,
        "violated": tally.violated,
        "unknown": tally.unknown,
        "seconds": answers.seconds,
        "stop_reason": None if whole is None or whole.stop_reason is None else whole.stop_reason.value,
        "detail": "" if whole is None else whole.detail,
        "certificate": None if path is None else str(path),
        "trusts": list(trusts),
    }


def _json_of_distances(answers: Answers) -> dict[str, Any]:
    tally = answers.tally
    return {
        "status": "exact" if answers.status is Status.HOLDS else "open",
        "inputs": len(answers.tasks),
        "answered": len(answers.asked),
        "exact": tally.positive,
        "open": tally.unknown,
        **{
            name: {"lower": _number(low), "upper": _number(high)}
            for name, (low, high) in spans_of(answers).items()
        },
        "histogram": [{"radius": _number(r), "inputs": n} for r, n in sorted(radii_of(answers).items())],
    }


def _results(answers: Answers) -> list[dict[str, Any]]:
    """Each answer as plain values, with the model's names of the features and its columns in words."""
    question, labels = (
        answers.question,
        labels_of(answers, answers.asked) if answers.question.is_distance else (),
    )
    results, space = [], answers.subject.named.space
    for place, each in enumerate(answers.asked):
        found, task, flips = each.found, each.task, each.flips
        row = {"index": task.index, "line": task.line, "name": task.row_name}
        result: dict[str, Any] = row if question.about_input else {}
        result |= {"epsilon": task.epsilon} if question.has_epsilon else {}
        result |= {"scope": task.scope, "status": found.status}
        if question.is_distance:
            result |= {
                "class": labels[place],
                "radius": _number(found.lower) if found.solved else None,
                "lower": _number(found.lower),
                "upper": _number(found.upper),
                "nearest": None if found.decisions is None else found.decisions[1],
            }
        if question.is_distance and len(task.models) == 2:
            result["against"] = result["nearest"]
        names = None if flips is None else [feature_name(answers.subject.named, i) for i in flips.tolist()]
        certificate = certificate_of(answers, each)
        result |= {
            "seconds": round(found.seconds, 6),
            "engine": found.engine,
            "flips": None if flips is None else flips.tolist(),
            "flipped_features": names,
            "changes": None if flips is None else changes_of(each, space),
            "possible": each.possible(space),
            "decisions": None if found.decisions is None else list(found.decisions),
            **({"leads": found.leads} if question.has_margin else {}),
            "stop_reason": found.stop_reason,
            "detail": found.detail,
            "certificate": None if certificate is None else str(certificate),
            "trusts": list(found.trusts),
        }
        if not question.about_input:
            ones = None if each.witness is None else np.flatnonzero(each.witness).tolist()
            names = None if ones is None else [feature_name(answers.subject.named, i) for i in ones]
            values = space.decode([each.witness])[0] if result["possible"] else None
            result |= {"witness": each.witness, "features_set": names, "values": values}
        results.append(result)
    return results


def _number(value: float | None) -> Any:
    """A bound for JSON and CSV; infinity is the text ``inf``, as JSON has no such number."""
    return "inf" if value == math.inf else value


def save_witnesses(path: Path, answers: Answers) -> None:
    """Write the counterexamples X, perhaps none, with the names of the features, and which are possible.

    For questions about inputs, also write these (X0, index, and line and name if they are known), the changes
    in words (a list in JSON for each), and epsilon or the bounds of the distance.
    """
    found = [each for each in answers.asked if each.witness is not None]
    space = answers.subject.named.space
    tasks, shape = [each.task for each in found], (len(found), answers.subject.named.n_features)
    arrays: dict[str, Any] = {"X": np.array([each.witness for each in found], np.uint8).reshape(shape)}
    arrays["possible"] = space.possible(arrays["X"])
    if answers.question.about_input:
        arrays["X0"] = np.array([task.x for task in tasks], np.uint8).reshape(shape)
        arrays["index"] = np.array([task.index for task in tasks], np.int64)
        if tasks and all(task.line is not None for task in tasks):
            arrays["line"] = np.array([task.line for task in tasks], np.int64)
        if tasks and all(task.row_name is not None for task in tasks):
            arrays["name"] = np.array([task.row_name for task in tasks], np.str_)
        arrays["changes"] = np.array([json.dumps(changes_of(each, space)) for each in found], np.str_)
    if answers.question.has_epsilon:
        arrays["epsilon"] = np.array([task.epsilon for task in tasks], np.int64)
    if answers.question.is_distance:
        arrays["lower"] = np.array([each.found.lower for each in found], np.int64)
        arrays["upper"] = np.array([each.found.upper for each in found], np.int64)
    names = np.array(feature_names(answers.subject.named), np.str_)
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(file, **arrays, feature_names=names)


def save_csv(path: Path, answers: Answers) -> None:
    """Write a line for every answer; unknown values are left empty, infinity is ``inf``.

    ``nearest`` is the model's decision on the nearest input known; with two models, ``against`` is the
    second's. For verdicts, ``before`` and ``after`` are the two decisions that differ: those on the input and
    on the counterexample, or there those of the first model and of the second. ``flips`` are indices
    separated by spaces, ``flipped_features`` their names as a list in JSON,
    ``changes`` the columns that differ, in JSON too.
    There is a column ``leads`` if there is a margin: by how many votes the decision on the counterexample
    stands, or there those of both models. There is a column ``certificate`` if certificates were wanted.
    """
    left_out = {"against"} if len(answers.given.models) == 1 else set()
    left_out |= set() if answers.given.margin else {"leads"}
    left_out |= {"certificate"} if answers.given.certificate is None else set()
    own = _CSV_DISTANCES if answers.question.is_distance else _CSV_VERDICTS
    columns = [column for column in (*_CSV, *own, *_MORE_CSV) if column not in left_out]
    save_lines(path, columns, map(_csv_line, _results(answers)))


def _csv_line(result: dict[str, Any]) -> dict[str, Any]:
    flips, decisions = result["flips"], result["decisions"]
    before, after = decisions or (None, None)
    return {
        **result,
        "nearest": before if decisions and "against" in result else result.get("nearest"),
        "before": before,
        "after": after,
        "leads": " ".join(map(str, result["leads"] or ())),
        "flips": "" if flips is None else " ".join(map(str, flips)),
        **{
            key: "" if result[key] is None else json.dumps(result[key])
            for key in ("flipped_features", "changes", "possible")
        },
    }


def labels_of(answers: Answers, asked: Sequence[Asked]) -> list[Label]:
    """The (first) model's decision on each original input; 1 or 0 if the scope is a class."""
    if not asked:
        return []
    labels: list[Label] = [0] * len(asked)
    for scope in {each.task.scope for each in asked}:
        places = [place for place, each in enumerate(asked) if each.task.scope == scope]
        model = answers.subject.models[0]
        said = model.in_scope(scope).predict(np.array([asked[place].task.x for place in places])).tolist()
        for place, label in zip(places, said, strict=True):
            labels[place] = label
    return labels


def radii_of(answers: Answers) -> Counter[float]:
    """How many inputs have each exact radius."""
    return Counter(_bound(each.found.lower) for each in answers.asked if each.found.solved)


def spans_of(answers: Answers) -> dict[str, tuple[float, float]]:
    """Bounds of the median, least and greatest radius of the answered inputs."""
    lowers = [_bound(each.found.lower) for each in answers.asked]
    uppers = [_bound(each.found.upper) for each in answers.asked]
    return {name: (of(lowers), of(uppers)) for name, of in _MEASURES.items()} if lowers else {}


def _bound(value: float | None) -> float:
    assert value is not None
    return value


def certificate_of(answers: Answers, asked: Asked) -> Path | None:
    """The path of an answer's certificate, if it has one."""
    found, folder = asked.found, answers.given.certificate
    if folder is None or found.certificate_path is None or found.detail.startswith(NO_CERTIFICATE):
        return None
    return folder / asked.task.file_name
