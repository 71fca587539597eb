"""Plan: a TOML file that says what a campaign asks.

::

    title = "Digits"
    timeout = 60                     # seconds for each task; default 300, inf for no limit
    memory = 2000                    # MiB for each task, beyond those of the program; default: no limit
    certificates = "evidence"        # a folder for certificates; default: no certificates
    engine = "auto"

    [models]
    trained = "digits.tm"            # a name, and a file; paths are relative to the plan
    pruned = "pruned.tm"

    [inputs.test]
    file = "digits-test.npz"         # or .npy; .csv, .tsv of your own rows or of bits; .txt, a text a line
    n = 100                          # draw this many, evenly over the labels; default: all
    seed = 0
    image = [8, 8]                   # rows and columns, so that a report can draw them
    id = "customer"                  # of a .csv: the column that says what each row is called

    [[ask]]
    question = "robustness"          # one flip or three: does the decision stay?
    models = ["trained"]             # default: every model, or every pair of them
    inputs = ["test"]                # default: all
    epsilons = [1, 3]
    scope = "own"                    # team (default), own, or a class
    margin = 3                       # the decision must stand by so many votes; default 0, as such
    direction = "add"                # or "remove"; default: both
    features = "0-31"                # names, indices from 0 (5 or x5), ranges; default: all

    [[ask]]                          # of a model with columns, the rows of a table
    question = "robustness"
    epsilons = [1, 2]                # at most so many columns change; what they cost, if cost says more
    distance = "steps"               # columns (default), steps (a number costs the cuts it crosses), bits
    columns = ["income", "savings"]  # only these may change
    freeze = ["age"]                 # or: these may not
    increase = ["income"]            # may only grow; decrease: may only fall
    within = { income = "2000..", savings = ["little", "moderate"] }
    cost = { savings = 2 }           # a change of it costs 2, not 1
    known_values = true              # no column changes to missing, or to a value that training has not seen

    [[ask]]
    question = "radius"              # of each model, or with pairs of models: the nearest disagreement

    [[ask]]
    question = "similarity"
    models = [["trained", "pruned"]]
    epsilons = [0, 1]

    [[ask]]
    question = "explanation"         # the facts that suffice; with epsilons, within these distances only

    [[ask]]
    question = "equivalence"
    models = [["trained", "pruned"]]

An unknown key or value is an error: a misspelt plan must not run for a night.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

from tmverify.asking.allowed import Pair, Typed
from tmverify.asking.subject import text_of
from tmverify.engines import check_certifying, check_engine
from tmverify.engines.engine import check_timeout
from tmverify.errors import InvalidInputError, PlanError, shown
from tmverify.properties.allowed import Distance
from tmverify.properties.questions import DEFAULT_TIMEOUT, PLANNED, Question

MIB = 1 << 20
_MOST = 1 << 31
_TOP = ("title", "engine", "timeout", "memory", "certificates", "models", "inputs", "ask")
_OF_INPUTS = ("file", "n", "seed", "image", "id")
_LISTS = ("columns", "freeze", "increase", "decrease")
_OF_REGION = ("inputs", *_LISTS, "within", "cost", "known_values", "features", "direction")
_OF_ASK = ("question", "models", *_OF_REGION, "distance", "epsilons", "margin", "scope")


@dataclass(frozen=True, slots=True)
class InputSet:
    """A data file, and which of its rows are asked about: all, or ``n`` drawn by ``seed``.

    ``id`` is the column that says what each row is called.
    """

    file: Path
    n: int | None = None
    seed: int = 0
    image: tuple[int, int] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question about each of ``models`` (names, one or two together) and each of ``inputs`` (names)."""

    question: str
    models: tuple[tuple[str, ...], ...]
    inputs: tuple[str, ...] = ()
    epsilons: tuple[int, ...] = ()
    margin: int = 0
    scope: str = "team"
    allowed: Typed = Typed()  # noqa: RUF009 (it is frozen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Models and inputs by name, questions, how they are decided, and the file of the plan."""

    title: str = ""
    models: Mapping[str, Path] = field(default_factory=dict)
    inputs: Mapping[str, InputSet] = field(default_factory=dict)
    asks: tuple[Ask, ...] = ()
    engine: str = "auto"
    timeout: float | None = DEFAULT_TIMEOUT
    memory: int | None = None
    certificates: Path | None = None
    file: Path | None = None

    def with_draws(self, *, seed: int, n: int | None = None) -> Plan:
        """The same plan with inputs drawn by another seed, and ``n`` of each set unless it is None."""
        inputs = {
            name: replace(each, seed=seed, n=each.n if n is None else n) for name, each in self.inputs.items()
        }
        return replace(self, inputs=inputs)


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan from a TOML file.

    Raises
    ------
    PlanError
        If it is not a plan; the files that it names are opened later.
    """
    place = Path(path)
    try:
        raw = tomllib.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError, and so are huge integers
        raise PlanError(f"{place}: not TOML: {error}.") from None
    try:
        plan = _plan(raw, place.parent)
        return replace(plan, title=plan.title or text_of(str(place.resolve())), file=place)
    except (PlanError, InvalidInputError) as error:
        raise PlanError(f"{place}: {error}") from None


def _plan(raw: Mapping[str, Any], folder: Path) -> Plan:
    _only(raw, _TOP, "the plan")
    models = {name: folder / _string(file, f"models.{name}") for name, file in _table(raw, "models").items()}
    inputs = {name: _inputs(name, each, folder) for name, each in _table(raw, "inputs").items()}
    asks = raw.get("ask", [])
    if not isinstance(asks, list) or not asks or not all(isinstance(each, dict) for each in asks):
        raise PlanError("it asks nothing; add a table [[ask]] with a question.")
    if not models:
        raise PlanError("there are no models; add a table [models] with name = file.")
    certificates = raw.get("certificates")
    engine = check_engine(raw.get("engine", "auto"))
    if certificates is not None:
        check_certifying(engine)
    return Plan(
        title=_string(raw.get("title", ""), "title", empty=True),
        models=models,
        inputs=inputs,
        asks=tuple(_ask(place, each, models, inputs) for place, each in enumerate(asks, start=1)),
        engine=engine,
        timeout=check_timeout(raw.get("timeout", DEFAULT_TIMEOUT)),
        memory=None if "memory" not in raw else MIB * _integer(raw["memory"], "memory", least=1),
        certificates=None if certificates is None else folder / _string(certificates, "certificates"),
    )


def _inputs(name: str, raw: Any, folder: Path) -> InputSet:
    where = f"inputs.{name}"
    if not isinstance(raw, dict) or "file" not in raw:
        raise PlanError(f"{where} must be a table with a file. Got {shown(raw)} instead.")
    _only(raw, _OF_INPUTS, where)
    return InputSet(
        folder / _string(raw["file"], f"{where}.file"),
        None if "n" not in raw else _integer(raw["n"], f"{where}.n", least=1),
        _integer(raw.get("seed", 0), f"{where}.seed", least=0),
        _image(raw.get("image"), where),
        None if "id" not in raw else _string(raw["id"], f"{where}.id"),
    )


def _image(raw: Any, where: str) -> tuple[int, int] | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or len(raw) != 2:
        raise PlanError(f"{where}.image must be [rows, columns]. Got {shown(raw)} instead.")
    rows, columns = (_integer(value, f"{where}.image", least=1) for value in raw)
    return rows, columns


def _ask(
    place: int, raw: Mapping[str, Any], models: Mapping[str, Path], inputs: Mapping[str, InputSet]
) -> Ask:
    where = f"ask number {place}"
    _only(raw, _OF_ASK, where)
    name = raw.get("question")
    question = PLANNED.get(name) if isinstance(name, str) else None
    if question is None:
        raise PlanError(f"{where}: question must be one of {', '.join(PLANNED)}. Got {shown(name)} instead.")
    for key in raw:
        if (
            (key == "epsilons" and not question.has_epsilon)
            or (key == "margin" and not question.has_margin)
            or (key in _OF_REGION and not question.about_input)
        ):
            raise PlanError(f"{where}: {question.name} takes no {key}.")
    if question.about_input and not inputs:
        raise PlanError(f"{where}: there are no inputs; add a table [inputs.NAME] with a file.")
    chosen = _list(raw.get("inputs", list(inputs)), f"{where}: inputs") if question.about_input else []
    return Ask(
        question=question.name,
        models=_subjects(question, raw.get("models"), models, where),
        inputs=tuple(_known(name, inputs, f"{where}: inputs") for name in chosen),
        epsilons=_epsilons_of(question, raw, where),
        margin=_integer(raw.get("margin", 0), f"{where}: margin", least=0),
        scope=str(raw.get("scope", "team")),
        allowed=_allowed(raw, where),
    )


def _allowed(raw: Mapping[str, Any], where: str) -> Typed:
    """What may change; column names and values are checked when the model is known."""
    distance = raw.get("distance", "columns")
    if distance not in get_args(Distance):
        raise PlanError(f"{where}: distance must be columns, steps or bits. Got {shown(distance)} instead.")
    return Typed(
        distance=distance,
        **{key: _names(raw[key], f"{where}: {key}") for key in _LISTS if key in raw},
        within=_pairs(raw.get("within", {}), f"{where}: within", '{ age = "18..65", city = ["Oslo"] }'),
        cost=_pairs(raw.get("cost", {}), f"{where}: cost", "{ age = 2 }"),
        known_values=_flag(raw.get("known_values", False), f"{where}: known_values"),
        features=None if "features" not in raw else _string(raw["features"], f"{where}: features"),
        direction=_direction(raw.get("direction"), where),
    )


def _flag(raw: Any, where: str) -> bool:
    if not isinstance(raw, bool):
        raise PlanError(f"{where} must be true or false. Got {shown(raw)} instead.")
    return raw


def _names(raw: Any, where: str) -> tuple[str, ...]:
    names = [raw] if isinstance(raw, str) else _list(raw, where)
    return tuple(_string(name, where) for name in names)


def _pairs(raw: Any, where: str, such: str) -> tuple[Pair, ...]:
    """A table by column; lists become tuples, as an Ask can't be changed."""
    if not isinstance(raw, dict):
        raise PlanError(f"{where} must be a table, such as {such}. Got {shown(raw)} instead.")
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in raw.items())


def _subjects(
    question: Question, raw: Any, models: Mapping[str, Path], where: str
) -> tuple[tuple[str, ...], ...]:
    """The models asked about, singly or in pairs; by default, every model or every pair of models."""
    if raw is None:
        subjects = list(combinations(models, question.models[0]))
        if not subjects:
            raise PlanError(f"{where}: {question.name} is about two models, and there is one.")
        return tuple(subjects)
    subjects = []
    for each in _list(raw, f"{where}: models"):
        names = tuple(each) if isinstance(each, list) else (each,)
        if len(names) not in question.models:
            wanted = 'names, such as ["a", "b"]' if 1 in question.models else 'pairs, such as [["a", "b"]]'
            raise PlanError(
                f"{where}: models of {question.name} must be {wanted}. Got {shown(each)} instead."
            )
        subjects.append(tuple(_known(name, models, f"{where}: models") for name in names))
    return tuple(subjects)


def _epsilons_of(question: Question, raw: Mapping[str, Any], where: str) -> tuple[int, ...]:
    """Those given; a reason need not be limited to a distance, other questions have 1 then."""
    if not question.has_epsilon or (question.gives_reason and "epsilons" not in raw):
        return ()
    return tuple(_epsilons(raw.get("epsilons", [1]), where))


def _epsilons(raw: Any, where: str) -> Sequence[int]:
    values = [_integer(value, f"{where}: epsilons", least=0) for value in _list(raw, f"{where}: epsilons")]
    return list(dict.fromkeys(values))


def _direction(raw: Any, where: str) -> str | None:
    if raw not in (None, "add", "remove"):
        raise PlanError(f"{where}: direction must be add or remove. Got {shown(raw)} instead.")
    return None if raw is None else str(raw)


def _only(raw: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in raw:
        if key not in known:
            raise PlanError(f"{where} has no {key!r}; known are {', '.join(known)}.")


def _known(name: Any, named: Mapping[str, Any], where: str) -> str:
    if not isinstance(name, str) or name not in named:
        raise PlanError(f"{where}: there is no {shown(name)}; there are {', '.join(named)}.")
    return name


def _table(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = raw.get(key, {})
    if not isinstance(value, dict):
        raise PlanError(f"{key} must be a table. Got {shown(value)} instead.")
    return value


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list) or not raw:
        raise PlanError(f"{where} must be a list, and not empty. Got {shown(raw)} instead.")
    return raw


def _string(raw: Any, where: str, *, empty: bool = False) -> str:
    if not isinstance(raw, str) or not (raw or empty) or "\0" in raw:
        raise PlanError(f"{where} must be a text. Got {shown(raw)} instead.")
    return raw


def _integer(raw: Any, where: str, *, least: int) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not least <= raw <= _MOST:
        raise PlanError(f"{where} must be an integer from {least} to {_MOST}. Got {shown(raw)} instead.")
    return raw
