"""A claim in words, as it is printed when it is accepted: read them, it may not be the claim you wanted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tmcheck.model import Loaded, read_model
from tmcheck.space import NUMBER, Column, Space

T = TypeVar("T")

_MOST_SAID = 12  # rules, columns or values; of more, the first and a hash of all

_MORE = {
    "suffices": "",
    "minimal": "; none of these can be left out",
    "widest": "; none of these can be left out, and no value can be added",
    "smallest": "; no fewer columns are enough",
}
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
    space = _space(models)
    where = claim["changing"] if "changing" in claim else changing(claim, space)
    if claim["reason"] is not None:
        return _reason(
            claim, who, x, where, claim["because"] if "because" in claim else because(claim, space)
        )
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
    space = _fitting(claim, space)
    rules = [_rule(space, *rule) for rule in claim["columns"] or ()]
    if rules:
        said += f", where {_some(rules, claim['columns'])}"
    apart = [_together(columns, space) for columns in claim["apart"] or ()]
    if apart:
        said += f", without changing {_some(apart, claim['apart'])}"
    return said


def because(claim: dict[str, Any], space: Space | None = None) -> str:
    """The columns of a claim's reason, and what they are there, if that is said."""
    reason = claim["reason"] or []
    noun, space = "bit" if claim["distance"] == "bits" else "column", _fitting(claim, space)
    said = [
        _column(number, space, noun) if values is None else _is_one_of(number, values, space, noun)
        for number, values in reason
    ]
    long = any(len(values or ()) > _MOST_SAID for _, values in reason)
    return _some(said, reason, between=" and ", before_last=" and ", cut=long)


def _reason(claim: dict[str, Any], who: str, x: str, where: str, columns: str) -> str:
    within = "" if claim["epsilon"] is None else f" within {_distance(claim, claim['epsilon'])}"
    if claim["answer"] == "contrastive":
        less = "not all of them do" if len(claim["reason"]) > 1 else "it does not"
        what = f"{_violates(claim)} on an input that differs from {x} in {columns} alone{within}"
        return f"{who} {what}, and {_keeps(claim)} if {less}{where}"
    if not claim["reason"]:
        return f"{who} {_keeps(claim)} on {x} whatever changes{within}{where}"
    what = f"{_keeps(claim)} on {x} whatever else changes{within}{where}, as long as {columns}"
    return f"{who} {what}{_MORE[claim['answer']]}"


def _is_one_of(number: int, values: list[int], space: Space | None, noun: str) -> str:
    """A column and its values; of a number, neighbours together; of others, those that it is not, if less."""
    name = _column(number, space, noun)
    if space is None or number >= space.n_columns:
        return f"{name} is {_either(values, str)}"
    column = space.column(number)
    if column.kind == NUMBER:
        return f"{name} is {_either(list(_runs(column, values)), lambda run: _run(column, run, space))}"
    not_ = 2 * len(values) > column.n_values
    said = sorted(set(range(column.n_values)).difference(values)) if not_ else values
    return f"{name} is {'not ' if not_ else ''}{_either(said, lambda v: repr(space.value(number, v)))}"


def _runs(column: Column, values: list[int]) -> Iterator[tuple[int, int]]:
    """Values of a number, the first and the last of those that have no other between them."""
    first = values[0]
    for value, after in zip(values, [*values[1:], -1], strict=True):
        if after != value + 1 or not column.is_interval(after):
            yield first, value
            first = after


def _run(column: Column, ends: tuple[int, int], space: Space) -> str:
    if column.is_interval(ends[0]):
        return repr(space.intervals(column.number, *ends))
    return repr(space.value(column.number, ends[0]))


def _either(some: list[T], name: Callable[[T], str]) -> str:
    more = f" or {len(some) - _MOST_SAID} more" if len(some) > _MOST_SAID else ""
    return f"{' or '.join(map(name, some[:_MOST_SAID]))}{more}"


def _space(models: Sequence[bytes | Loaded]) -> Space | None:
    read = [read_model(model) if isinstance(model, bytes) else model for model in models]
    return next((loaded.model.space for loaded in read if loaded.model.space is not None), None)


def _fitting(claim: dict[str, Any], space: Space | None) -> Space | None:
    """The space, if its columns are those of the claim: one about bits has none for several bits of one."""
    return None if space is None or (claim["distance"] == "bits" and space.several) else space


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


def _column(number: int, space: Space | None, noun: str = "column") -> str:
    known = space is not None and number < space.n_columns
    return repr(space.name(number)) if known and space is not None else f"{noun} {number}"


def _some(
    said: list[str],
    whole: list[Any],
    *,
    between: str = "; ",
    before_last: str = "; and ",
    cut: bool = False,
) -> str:
    """What is said, if it is not too long; else the first, and a hash of all, as if it is ``cut`` before."""
    text = between.join(said[:_MOST_SAID])
    more = f"{before_last}{len(said) - _MOST_SAID} more" if len(said) > _MOST_SAID else ""
    if not more and not cut:
        return text
    digest = hashlib.sha256(json.dumps(whole, separators=(",", ":")).encode()).hexdigest()
    return f"{text}{more} (all of them have the sha256 {digest})"
