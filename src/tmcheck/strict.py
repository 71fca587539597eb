"""JSON, read strictly: no key twice, no NaN, and types exactly as they should be."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NoReturn

from tmcheck import limits
from tmcheck.errors import Unreadable, readable


def read_json(text: bytes, what: str) -> dict[str, Any]:
    """The JSON object that a text is; ``what`` it is of, for the message."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    try:
        value = json.loads(text.decode(), parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Unreadable(f"the {what} is no valid JSON") from None
    readable(type(value) is dict, f"the {what} is no JSON object")
    return dict(value)


def written(mapping: dict[str, Any]) -> bytes:
    """The one text of a JSON object."""
    return json.dumps(mapping, separators=(",", ":")).encode()


def typed(mapping: dict[str, Any], key: str, kind: type) -> Any:
    """The value of a key, which is there and of exactly this type."""
    readable(type(mapping.get(key)) is kind, f"{key} is missing or of a wrong type")
    return mapping[key]


def is_natural(value: Any, below: int = limits.LARGEST_NUMBER) -> bool:
    """Whether a value is a whole number, not negative, and not too large."""
    return type(value) is int and 0 <= value < below


def is_ascending(values: Any) -> bool:
    """Whether a value is a non-empty list of naturals, each larger than the one before."""
    if type(values) is not list or not values or not all(map(is_natural, values)):
        return False
    return all(a < b for a, b in pairwise(values))


def is_text(value: Any) -> bool:
    """Whether a value is a text of valid Unicode."""
    try:
        return type(value) is str and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False
