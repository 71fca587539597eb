"""A claim in words, as it is printed when it is accepted: read them, it may not be the claim you wanted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from tmcheck.model import Loaded, read_model
from tmcheck.space import Space

_MOST_SAID = 12  # rules, or lists of columns; of more, the first and a hash of all

_UNITS = {"bits": "flip(s)", "columns": "changed column(s)", "steps": "step(s)"}


def in_words(claim: dict[str, Any], models: Sequence[bytes | Loaded] = ()) -> str:
    """What a claim says.

    ``check`` adds which input it is about and what may change there, by the names of the columns. For a claim
    that was not checked, ``models`` may be given to have the names.
    """
    x = claim.get("about", "the input")
    who = " and ".join(f"model {name[:12]}" for name in claim["models"])
    if claim["scope"] != "team":
        who = f"class {claim['scope']!r} of {who}"
    denied = claim["answer"] != "holds"
    if claim["question"] == "equivalence":
        every = "every input" if claim["distance"] == "bits" else "every possible input"
        return f"{who} {'do not agree' if denied else 'agree'} on {every}"
    where = claim["changing"] if "changing" in claim else changing(claim, _space(models))
    if claim["answer"] == "radius":
        what = _violates(claim)
        if claim["radius"] is None:
            return f"{who} {what} nowhere around {x}{where}"
        return f"{who} {what} {_distance(claim, claim['radius'])} from {x}{where}, and no nearer"
    what = f"{_keeps(claim)} within {_distance(claim, claim['epsilon'])}"
    not_ = "it is not true that " if denied else ""
    if claim["inputs"] == 1 and claim["eta"] == "1/1":
        return f"{not_}{who} {what} of {x}{where}"
    share = f"at least {claim['eta']} of {claim['inputs']} input(s) ({x})"
    return f"{not_}on {share}, {who} {what}{where}"


def changing(claim: dict[str, Any], space: Space | None = None) -> str:
    """What a claim says about columns: which may change, which way, to what, at what cost."""
    said = "" if claim["features"] is None else ", only some features changing"
    said += {None: "", "add": ", only from 0 to 1", "remove": ", only from 1 to 0"}[claim["direction"]]
    rules = [_rule(space, *rule) for rule in claim["columns"] or ()]
    if rules:
        said += f", where {_some(rules, claim['columns'])}"
    apart = [_together(columns, space) for columns in claim["apart"] or ()]
    if apart:
        said += f", without changing {_some(apart, claim['apart'])}"
    return said


def _space(models: Sequence[bytes | Loaded]) -> Space | None:
    read = [read_model(model) if isinstance(model, bytes) else model for model in models]
    return next((loaded.model.space for loaded in read if loaded.model.space is not None), None)


def _violates(claim: dict[str, Any]) -> str:
    if claim["target"] is not None:
        return f"decides {claim['target']!r}"
    return "decides otherwise" if claim["question"] == "robustness" else "disagree"


def _keeps(claim: dict[str, Any]) -> str:
    if claim["target"] is not None:
        return f"does not decide {claim['target']!r}"
    return "keeps its decision" if claim["question"] == "robustness" else "agree"


def _distance(claim: dict[str, Any], cost: int) -> str:
    unit = _UNITS[claim["distance"]]
    priced = any(rule[3] != 1 for rule in claim["columns"] or ())
    return f"a cost of {cost} ({unit}, weighted)" if priced else f"{cost} {unit}"


def _rule(space: Space | None, number: int, way: str, values: list[int] | None, factor: int) -> str:
    said = {"any": [], "keep": ["stays"], "up": ["only rises"], "down": ["only falls"]}[way]
    if values is not None:
        names = [str(v) if space is None else repr(space.value(number, v)) for v in values[:_MOST_SAID]]
        more = f" and {len(values) - _MOST_SAID} more" if len(values) > _MOST_SAID else ""
        said = [*said, f"only becomes {' or '.join(names)}{more}"]
    if factor != 1:
        said = [*said, f"costs {factor} times as much"]
    return f"{_column(number, space)} {' and '.join(said)}"


def _together(columns: list[int], space: Space | None) -> str:
    names = [_column(number, space) for number in columns[:_MOST_SAID]]
    more = f" and {len(columns) - _MOST_SAID} more" if columns[_MOST_SAID:] else ""
    return f"{'all of ' if len(columns) > 1 else ''}{' and '.join(names)}{more}"


def _column(number: int, space: Space | None) -> str:
    known = space is not None and number < space.n_columns
    return repr(space.name(number)) if known and space is not None else f"column {number}"


def _some(said: list[str], whole: list[Any]) -> str:
    text = "; ".join(said[:_MOST_SAID])
    if len(said) <= _MOST_SAID:
        return text
    digest = hashlib.sha256(json.dumps(whole, separators=(",", ":")).encode()).hexdigest()
    return f"{text}; and {len(said) - _MOST_SAID} more (all of them have the sha256 {digest})"
