"""A model as rules: in words for people; in JSON for other trainers, tools, and rules written by hand.

The JSON is a list of clauses::

    {
      "format": "tsetlin-clauses",
      "version": 1,
      "n_features": 3,
      "feature_names": ["fever", "cough", "rash"],    or null; or "space", with numbers and categories
      "classes": ["well", "ill"],                     default 0, 1, …
      "bias": [0],                                    the start of each output's score; default 0
      "tie": "positive",                              one output: what a score of 0 means; default "positive"
      "clamp": null,                                  scores are cut to ±clamp first; default null
      "empty_clause": "silent",                       or "fires"; default "silent"
      "clauses": [
        {"literals": [1, -3], "weights": [2]},        feature 0, and not feature 2 (x0 and not x2): two votes
        {"literals": ["fever", "not rash"], "weights": [2]}
      ]
    }

Literals are signed and count from 1, as in DIMACS, or are names and "not" names. Features without names are
called x0, x1, …, so 1 is x0. Every clause has as many weights as there are outputs: one makes a binary
machine (the second class if the votes sum to >= 0), several are decided by argmax.

Nothing is guessed: an unknown or repeated key, a fraction, or an ambiguous name is an error.
``from_json`` reads the output of ``to_json`` back as an equal model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from tmverify.errors import InvalidInputError, ModelError, ModelFormatError, shown
from tmverify.model.checks import MAX_WEIGHT
from tmverify.model.clauses import MAX_FEATURES
from tmverify.model.container import parse_json
from tmverify.model.machine import Model
from tmverify.model.names import default_index, printable, printable_name
from tmverify.space import Space
from tmverify.space.phrases import Condition, conditions_of, joined

FORMAT = "tsetlin-clauses"
VERSION = 1
MAX_TEXT_BYTES = 1 << 27  # reading it takes Python some 25 times as much memory

OPTIONS = ("bias", "tie", "clamp", "empty_clause", "classes", "feature_names", "space")
_KEYS = {"format", "version", "n_features", "clauses", *OPTIONS}


def to_json(model: Model) -> str:
    """``model`` as text, one line per clause."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "n_features": model.n_features,
        **_meaning(model.space),
        "classes": model.classes,
        "bias": model.bias.tolist(),
        "tie": model.tie,
        "clamp": model.clamp,
        "empty_clause": model.empty_clause,
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    rows = zip(model.clauses, model.weights.T.tolist(), strict=True)
    clauses = [f"    {json.dumps({'literals': clause, 'weights': votes})}" for clause, votes in rows]
    return "\n".join(["{", *lines, '  "clauses": [', ",\n".join(clauses), "  ]", "}"]) + "\n"


def from_json(text: str) -> Model:
    """The model in ``text``.

    Raises
    ------
    ModelFormatError
        If it is anything else; the message says where.
    """
    try:
        document = parse_json(text, _object)
    except ValueError as error:
        raise ModelFormatError(f"no valid JSON: {error!s:.120}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFormatError(f'not a clause list: a JSON object with "format": "{FORMAT}" is expected')
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise ModelFormatError(f"version {shown(document.get('version'))}; this tmverify reads {VERSION}")
    _check_keys(document, _KEYS, "the document")
    clauses = document.get("clauses")
    if not isinstance(clauses, list):
        raise ModelFormatError('"clauses" must be a list')
    literals: list[list[Any]] = []
    weights: list[list[Any]] = []
    for j, clause in enumerate(clauses):
        if not isinstance(clause, dict):
            raise ModelFormatError(f"clause {j} must be an object. Found {shown(clause)}")
        _check_keys(clause, {"literals", "weights"}, f"clause {j}")
        for key, found in (("literals", literals), ("weights", weights)):
            if not isinstance(clause.get(key), list):
                raise ModelFormatError(f'clause {j} must have a list "{key}". Found {shown(clause.get(key))}')
            found.append(clause[key])
    options = {key: document[key] for key in OPTIONS if key in document}
    return build(document.get("n_features"), literals, weights, options)


def build(
    n_features: Any,
    literals: list[list[Any]],
    weights: list[list[Any]],
    options: Mapping[str, Any],
    n_outputs: int | None = None,
) -> Model:
    """Build a model from the clauses and options of a file; every value is checked.

    If ``n_outputs`` is not given, it follows from the bias or from the first clause.

    Raises
    ------
    ModelFormatError
    """
    for key in ("classes", "feature_names"):
        if not isinstance(options.get(key), list | None):
            raise ModelFormatError(f'"{key}" must be a list. Found {shown(options[key])}')
    names = options.get("feature_names")
    if n_features is None and names is not None:
        n_features = len(names)
    if options.get("space") is not None:
        options = {**options, "space": _space(options["space"], n_features)}
        if names is None and options["space"].named:
            names = list(options["space"].bit_names)
    bias = options.get("bias", 0)
    _check_integers(bias if isinstance(bias, list) else [bias], '"bias"')
    if n_outputs is None:
        n_outputs = len(bias) if isinstance(bias, list) else len(weights[0]) if weights else 1
    for j, votes in enumerate(weights):
        if len(votes) != n_outputs:
            raise ModelFormatError(f"clause {j} has {len(votes)} weights, and there are {n_outputs} outputs")
        _check_integers(votes, f"the weights of clause {j}")
    try:
        return Model.from_clauses(
            n_features,
            _signed(literals, names, n_features),
            np.array(weights, np.int64).reshape(len(weights), n_outputs).T,
            **options,
        )
    except ModelFormatError:
        raise
    except ModelError as error:
        raise ModelFormatError(str(error)) from None


def _meaning(space: Space) -> dict[str, Any]:
    """What the bits mean: names, if that is all there is to say, else the space."""
    if space == Space.flags(space.bit_names if space.named else space.n_bits):
        return {"feature_names": space.bit_names if space.named else None}
    return {"space": space.to_json()}


def _space(document: Any, n_features: Any) -> Space:
    if type(n_features) is not int:
        raise ModelFormatError(f'"n_features" must be a number. Found {shown(n_features)}')
    try:
        return Space.from_json(document, n_features)
    except ModelError as error:
        raise ModelFormatError(f'"space": {error}') from None


def _signed(literals: Iterable[list[Any]], names: list[Any] | None, n_features: Any) -> list[list[Any]]:
    """The literals with names replaced by numbers."""
    read = partial(_counted, n_features=n_features) if names is None else _meanings(names).get
    return [[_number(lit, read, j) for lit in clause] for j, clause in enumerate(literals)]


def _meanings(names: list[Any]) -> dict[str, int]:
    """The literals that each name and its negation stand for; 0 if that is ambiguous."""
    known = {name: i + 1 for i, name in enumerate(names) if isinstance(name, str)}
    meaning: dict[str, int] = {}
    for name, number in known.items():
        for text, lit in ((name, number), (f"not {name}", -number)):
            meaning[text] = 0 if text in meaning else lit
    return meaning


def _counted(text: str, n_features: Any) -> int | None:
    """The literal of a feature without a name: 1 is x0, -3 is not x2."""
    name = text.removeprefix("not ")
    feature = default_index(name, n_features if isinstance(n_features, int) else MAX_FEATURES)
    if feature is None:
        return None
    return feature + 1 if name == text else -feature - 1


def _number(lit: Any, read: Callable[[str], int | None], j: int) -> Any:
    if not isinstance(lit, str):
        return lit
    number = read(lit)
    if number is None:
        raise ModelFormatError(f"clause {j} has the literal {shown(lit)}, which names no feature")
    if number == 0:
        raise ModelFormatError(f"clause {j} has the literal {shown(lit)}, which can be read in two ways")
    return number


def _check_integers(values: list[Any], what: str) -> None:
    for value in values:
        if type(value) is not int or abs(value) > MAX_WEIGHT:
            raise ModelFormatError(f"{what} must be integers within ±{MAX_WEIGHT}. Found {shown(value)}")


def _check_keys(found: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in found:
        if key not in known:
            raise ModelFormatError(
                f"{where} has the unknown key {shown(key)}; known: {', '.join(sorted(known))}"
            )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def to_text(model: Model, max_clauses: int | None = None, max_conditions: int | None = 12) -> str:
    """One line for each clause and class that it votes on, the strongest first.

    At most ``max_clauses`` per class; clauses with more than ``max_conditions`` conditions are shortened, and
    the line says by how many. None means all.
    """
    for name, most in (("max_clauses", max_clauses), ("max_conditions", max_conditions)):
        if most is not None and (type(most) is not int or most < 0):
            raise InvalidInputError(f"{name} must be None or an integer >= 0. Got {shown(most)} instead.")
    return "\n".join(_lines(model, max_clauses, max_conditions))


def clause_text(model: Model, j: int, max_conditions: int | None = None) -> str:
    """Clause j as a conjunction in the words of the model's columns."""
    clause = model.clauses[j]
    if not clause:
        return "(empty: never true)" if model.empty_clause == "silent" else "(empty: always true)"
    if len({abs(lit) for lit in clause}) < len(clause):
        words = [("" if lit > 0 else "not ") + printable_name(model, abs(lit) - 1) for lit in clause]
        return " and ".join(words[:max_conditions]) + "  (contradictory: never true)"
    # Words that must be there come before those that must not: there are many of these.
    conditions = sorted(conditions_of(model.space, clause), key=_is_absence)
    if not conditions:
        return "(true of every possible input)"
    never = "  (no possible input: never true)" if any(each.is_impossible for each in conditions) else ""
    return printable(joined(conditions, max_conditions)) + never


def _is_absence(condition: Condition) -> bool:
    return condition.column.kind == "word" and condition.allowed[0]


def _lines(model: Model, max_clauses: int | None, max_conditions: int | None) -> Iterator[str]:
    yield f"Tsetlin machine: {model.n_features} features, {model.n_clauses} clauses"
    yield f"decision: {decision_rule(model)}"
    for row in range(model.n_outputs):
        label = model.classes[1] if model.n_outputs == 1 else model.classes[row]
        voters = np.flatnonzero(model.weights[row])
        strongest = np.argsort(-np.abs(model.weights[row, voters]), kind="stable")
        listed = voters[strongest][:max_clauses]
        start = f", starting from {model.bias[row]:+d}" if model.bias[row] else ""
        yield f"votes on class {printable(label)}{start}:"
        for j in listed:
            yield f"  {model.weights[row, j]:+d}  {clause_text(model, int(j), max_conditions)}"
        if len(listed) < len(voters):
            yield f"  … and {len(voters) - len(listed)} more"


def decision_rule(model: Model) -> str:
    """How votes become a decision, in words."""
    clamp = "" if model.clamp is None else f", each score cut to [-{model.clamp}, {model.clamp}]"
    if model.n_outputs > 1:
        return f"the class with the most votes; on a tie the first in order{clamp}"
    sign = ">=" if model.tie == "positive" else ">"
    first, second = map(printable, model.classes)
    return f"class {second} if the votes sum to {sign} 0, else class {first}{clamp}"
