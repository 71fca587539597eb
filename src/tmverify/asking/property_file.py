"""Named properties of a model in a TOML file, for ``tmverify check``.

::

    data = "loans-test.csv"                 # the rows of properties with eta or epsilon; from this folder
    timeout = 60                            # seconds for each property; 300 if it is not said

    [[property]]
    name = "savings count"                  # what it is called in tables and build servers
    assume = "age > 60.5 and savings == 'rich'"
    expect = "decision == 'good'"
    why = "Policy 7.2"                      # free text, shown if it is violated

    [[property]]
    name = "age does not matter, nearly always"
    protected = ["age"]                     # no change of these alone alters the decision
    eta = "95/100"                          # for at least 95 % of the rows

    [[property]]
    name = "more income never hurts"
    monotone = "income"                     # raising it …
    toward = "good"                         # … never turns the decision away from this class
    severity = "warning"                    # is told, and fails nothing

Each property has ``name`` and one of ``expect``, ``protected`` and ``monotone``. It may have ``assume``,
``margin``, ``round``, ``known_values``, ``severity``, ``vacuous`` ("ok": it may hold because nothing
satisfies its assumption), ``timeout``, ``why``, and ``data``, ``epsilon``, ``eta``. One with any of the last
three is about rows: each, within epsilon changes (0 if it is not said), for a share eta (1). All others are
about every possible input. What stands above the first property is for all that do not say it themselves:
``severity``, ``vacuous``, ``margin``, ``round``, ``known_values``, ``timeout``; and ``data``, ``epsilon``,
``eta`` for those about rows.

An unknown key or a wrong value is an error: a misspelt property must not pass.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tmverify.asking.property import Property
from tmverify.engines.engine import check_timeout
from tmverify.errors import InvalidInputError, guess, shown
from tmverify.properties.questions import DEFAULT_TIMEOUT
from tmverify.properties.universal import exact_fraction

LONGEST_FILE = 1 << 20  # bytes
_MOST = 1 << 31
_ROWS = ("data", "epsilon", "eta")
_DEFAULTS = ("severity", "vacuous", "margin", "round", "known_values", "timeout", *_ROWS)
_KINDS = ("expect", "protected", "monotone")
_OWN = ("name", "assume", *_KINDS, "toward", "why", *_DEFAULTS)


def read_properties(
    path: str | os.PathLike[str], instead: Mapping[str, Any] = MappingProxyType({})
) -> list[Property]:
    """Read the properties in a TOML file.

    Parameters
    ----------
    path : path
    instead : mapping
        ``data`` (a Path) and ``timeout``, instead of those at the top of the file; a property's own stay.

    Raises
    ------
    InvalidInputError
        If it is no such file; what the properties say is read when the model is known.
    OSError
    """
    place = Path(path)
    with open(place, "rb") as file:
        content = file.read(LONGEST_FILE + 1)
    try:
        if len(content) > LONGEST_FILE:
            raise InvalidInputError(f"a file of properties has at most {LONGEST_FILE} bytes.")
        return _properties(_toml(content), place.parent, instead)
    except InvalidInputError as error:
        raise InvalidInputError(f"{place}: {error}") from None


def _toml(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"not UTF-8, at byte {error.start}.") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError, and so are huge integers
        raise InvalidInputError(f"not TOML: {error or 'it is too deep'}.") from None


def _properties(raw: Mapping[str, Any], folder: Path, instead: Mapping[str, Any]) -> list[Property]:
    _only(raw, (*_DEFAULTS, "property"), "the file")
    tables = raw.get("property")
    if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in tables):
        raise InvalidInputError("there are no properties; add tables [[property]], each with a name.")
    top = {key: _READ[key](raw[key], key) for key in _DEFAULTS if key in raw}
    if "data" in top:
        top["data"] = folder / top["data"]
    top |= instead
    found: dict[str, Property] = {}
    for number, table in enumerate(tables, start=1):
        each = _property(table, f"property number {number}", top, folder)
        if each.name in found:
            raise InvalidInputError(f"two properties are called {shown(each.name)}: names must differ.")
        found[each.name] = each
    return list(found.values())


def _property(raw: Mapping[str, Any], where: str, top: Mapping[str, Any], folder: Path) -> Property:
    if "name" not in raw:
        raise InvalidInputError(f'{where} has no name; add name = "…".')
    name = _text(raw["name"], f"{where}: name")
    where = f"property {shown(name)}"
    _only(raw, _OWN, where)
    _check_kind(raw, where)
    own = {key: _READ[key](raw[key], f"{where}: {key}") for key in raw}
    if "data" in own:
        own["data"] = folder / own["data"]
    shared = {key: value for key, value in top.items() if key not in _ROWS}
    if any(key in raw for key in _ROWS):
        shared = {"epsilon": 0, **top}
        if "data" not in own and "data" not in shared:
            raise InvalidInputError(
                f"{where} is about rows, as it has {' and '.join(key for key in _ROWS if key in raw)}: "
                'give data = "FILE" there or at the top of the file, or --data FILE.'
            )
    return Property(**{"timeout": DEFAULT_TIMEOUT, **shared, **own})


def _check_kind(raw: Mapping[str, Any], where: str) -> None:
    kinds = [key for key in _KINDS if key in raw]
    if len(kinds) != 1:
        got = " and ".join(kinds) or "none of them"
        raise InvalidInputError(f"{where} must have one of {', '.join(_KINDS)}. Got {got} instead.")
    if ("monotone" in raw) != ("toward" in raw):
        raise InvalidInputError(f'{where}: monotone = "COLUMN" and toward = "CLASS" belong together.')


def _only(raw: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in raw:
        if key not in known:
            near = guess(key, known) or f" Known are {', '.join(known)}."
            raise InvalidInputError(f"{where} has no {shown(key)}.{near}")


# Each value of its kind, or an error that says where.


def _text(raw: Any, where: str) -> str:
    if not isinstance(raw, str) or not raw.strip() or "\0" in raw:
        raise InvalidInputError(f"{where} must be a text, and not empty. Got {shown(raw)} instead.")
    return raw


def _names(raw: Any, where: str) -> tuple[str, ...]:
    names = [raw] if isinstance(raw, str) else raw
    if not isinstance(names, list) or not names:
        raise InvalidInputError(
            f'{where} must be names of columns, such as ["sex"]. Got {shown(raw)} instead.'
        )
    return tuple(_text(name, where) for name in names)


def _integer(raw: Any, where: str) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw < _MOST:
        raise InvalidInputError(f"{where} must be a whole number, from 0. Got {shown(raw)} instead.")
    return raw


def _true_or_false(raw: Any, where: str) -> bool:
    if not isinstance(raw, bool):
        raise InvalidInputError(f"{where} must be true or false. Got {shown(raw)} instead.")
    return raw


def _label(raw: Any, where: str) -> Any:
    if not isinstance(raw, str | int | float):
        raise InvalidInputError(f"{where} must be a class. Got {shown(raw)} instead.")
    if isinstance(raw, int) and abs(raw) >= 1 << 63:
        raise InvalidInputError(f"{where} must be a class. Got a huge number instead.")
    return raw


def _one_of(*known: str) -> Any:
    def read(raw: Any, where: str) -> str:
        if not isinstance(raw, str) or raw not in known:
            said = " or ".join(f'"{word}"' for word in known)
            raise InvalidInputError(f"{where} must be {said}. Got {shown(raw)} instead.")
        return raw

    return read


def _seconds(raw: Any, where: str) -> float | None:
    try:
        return check_timeout(raw)
    except (InvalidInputError, OverflowError):
        raise InvalidInputError(
            f"{where} must be a number of seconds above 0, or inf. Got {shown(raw)} instead."
        ) from None


def _share(raw: Any, where: str) -> Any:
    try:
        return exact_fraction(raw)
    except InvalidInputError:
        raise InvalidInputError(
            f'{where} must be a share of the rows, such as 0.9 or "2/3". Got {shown(raw)} instead.'
        ) from None


_READ: dict[str, Any] = {
    "name": _text,
    "assume": _text,
    "expect": _text,
    "protected": _names,
    "monotone": _text,
    "toward": _label,
    "why": _text,
    "severity": _one_of("error", "warning"),
    "vacuous": _one_of("error", "ok"),
    "margin": _integer,
    "round": _one_of("outer", "inner"),
    "known_values": _true_or_false,
    "timeout": _seconds,
    "data": _text,
    "epsilon": _integer,
    "eta": _share,
}
