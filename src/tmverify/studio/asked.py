"""Asked: what a page asks, read strictly from JSON. Everything that arrives is checked here, and only here.

A body is read up to a limit, and then as JSON in UTF-8 in which no key is unknown or twice. What is wrong
with it is said in a sentence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from starlette.requests import ClientDisconnect, Request

from tmverify.errors import InvalidInputError, shown
from tmverify.studio.opened import Opened

WANTS = ("look", "radius", "reason", "disagree")
PROOFS = ("radius", "reason", "disagree")
MOST_BYTES = 1 << 20  # of a body, besides two for each feature
MOST_TEXT = 1 << 16  # characters of a text: some ten thousand words
_SECONDS_FOR_BODY = 20.0
_LONGEST_TAB = 64
_MOST = 1 << 53  # of a number that JavaScript counts

ValueT = TypeVar("ValueT")
ViewT = TypeVar("ViewT")


class TooLargeError(Exception):
    """A body is larger than any question is."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """An input that is asked about, the columns that may not change, and a distance for its reason.

    The distance is None for "everywhere"; ``auto``: one change further than the radius, if that is known.
    """

    bits: NDArray[np.uint8]
    fixed: tuple[int, ...]
    within: int | None
    auto: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What a tab wants to be told about an input; of one tab, the greatest number counts."""

    tab: str
    number: int
    point: Point
    want: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """A certificate that is wanted: of what, and about which model."""

    point: Point
    what: str
    model: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows: decided so by the first model, labelled so, decided wrongly, with such a text."""

    decided: str | None = None
    labelled: str | None = None
    wrong: bool = False
    text: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """The answers of a store that a page shows: those with these values, in an order."""

    filter: Mapping[str, str]
    sort: str
    descending: bool
    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class Page:
    """The rows that a page shows, in an order."""

    filter: Filter
    sort: str
    offset: int
    limit: int


async def read_body(request: Request, n_features: int) -> dict[str, Any]:
    """The JSON object that a request holds.

    Raises
    ------
    InvalidInputError
        If it is anything else.
    TooLargeError
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInputError("A question must be sent as JSON, with the Content-Type application/json.")
    most = MOST_BYTES + 2 * n_features
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 12 or int(length) > most:
        raise TooLargeError
    try:
        async with asyncio.timeout(_SECONDS_FOR_BODY):
            body = bytearray()
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise TooLargeError
    except TimeoutError:
        raise InvalidInputError("The question did not arrive in time; send it again.") from None
    except ClientDisconnect:
        raise InvalidInputError("The question did not arrive whole; send it again.") from None
    return parsed(bytes(body))


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``; InvalidInputError if it is anything else."""
    try:
        document = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InvalidInputError("The question is no valid JSON in UTF-8.") from None
    if not isinstance(document, dict):
        raise InvalidInputError(f"A question must be a JSON object. Got {shown(document)} instead.")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class Reader:
    """Reads the members of one JSON object; whatever they are, the answer is a value or a sentence."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._left = dict(document)

    def view(self, views: Sequence[ViewT]) -> ViewT:
        """The view that is asked about: the first, if none is named."""
        if not views:
            raise InvalidInputError("No model is open: name the model files when you start the studio.")
        place: int = self._take("view", _whole(0, len(views) - 1), default=0)
        return views[place]

    def watch(self, opened: Opened) -> Watch:
        found = Watch(
            tab=self._tab(),
            number=self._take("number", _whole(0, _MOST)),
            point=self._point(opened),
            want=self._take("want", _some_of(WANTS), default=WANTS),
        )
        self._take("scope", _one_of(("team",)), default="team")
        self.end()
        return found

    def proof(self, opened: Opened) -> Proof:
        found = Proof(
            point=self._point(opened),
            what=self._take("what", _one_of(PROOFS)),
            model=self._take("model", _whole(0, len(opened.models) - 1), default=0),
        )
        self.end()
        if found.what == "reason" and found.point.auto:
            raise InvalidInputError(
                "The certificate of a reason needs its distance: 'within' must be a number, or null for "
                "everywhere. Got 'auto' instead."
            )
        return found

    def rows(self) -> Page:
        filter = self._filter()
        sort = self._take("sort", _one_of(("number", "radius")), default="number")
        found = Page(filter, sort, *self._part())
        self.end()
        return found

    def rank(self) -> tuple[str, Filter, int]:
        """A tab, and which rows it wants the radius of, and how many."""
        tab, among = self._tab(), self._filter()
        limit = self._take("limit", _whole(1, 10_000), default=200)
        self.end()
        return tab, among, limit

    def row(self, n: int) -> int:
        index: int = self._take("index", _whole(0, n - 1))
        self.end()
        return index

    def raw(self) -> tuple[str | None, str | None, dict[str, Any] | None]:
        """A text and the part that it is for, or the cells of a row."""
        text = self._take("text", _text(MOST_TEXT), default=None)
        part = self._take("part", _text(MOST_TEXT), default=None)
        cells = self._take("cells", _cells, default=None)
        self.end()
        if (text is None) == (cells is None):
            raise InvalidInputError("Give a text, or the cells of a row: one of the two.")
        return text, part, cells

    def answers(self, sorts: Sequence[str], filters: Sequence[str]) -> AnswerPage:
        inner = Reader(self._take("filter", _object_or_null, default=None) or {})
        label = _optional(_text(MOST_TEXT))
        wanted = {name: inner._take(name, label, default=None) for name in filters}
        inner.end()
        found = AnswerPage(
            {name: value for name, value in wanted.items() if value is not None},
            self._take("sort", _one_of(sorts), default=sorts[0]),
            self._take("descending", _flag, default=False),
            *self._part(),
        )
        self.end()
        return found

    def gallery(self) -> tuple[str, int, int]:
        """What is to be drawn, from which place, and how many."""
        what = self._take("what", _one_of(("changes", "reasons")), default="changes")
        found = (what, *self._part())
        self.end()
        return found

    def task(self) -> str:
        task: str = self._take("task", _text(64))
        self.end()
        return task

    def end(self) -> None:
        """Raise InvalidInputError if something is left that nobody asked for."""
        for key in self._left:
            raise InvalidInputError(f"The question has the unknown key {shown(key)}.")

    def _point(self, opened: Opened) -> Point:
        n_columns = len(opened.space.columns)
        bits = self._take("bits", _bits(opened.named.n_features))
        fixed = self._take("fixed", _numbers(n_columns), default=())
        within = self._take("within", _distance(n_columns), default=None)
        return Point(bits, fixed, None if within == "auto" else within, auto=within == "auto")

    def _filter(self) -> Filter:
        inner = Reader(self._take("filter", _object_or_null, default=None) or {})
        label = _optional(_text(MOST_TEXT))
        found = Filter(
            decided=inner._take("decided", label, default=None),
            labelled=inner._take("labelled", label, default=None),
            wrong=inner._take("wrong", _flag, default=False),
            text=inner._take("text", _optional(_text(1000)), default=None),
        )
        inner.end()
        return found

    def _part(self) -> tuple[int, int]:
        """From which place, and how many."""
        return (
            self._take("offset", _whole(0, _MOST), default=0),
            self._take("limit", _whole(1, 500), default=50),
        )

    def _tab(self) -> str:
        tab: str = self._take("tab", _text(_LONGEST_TAB))
        return tab

    def _take(self, key: str, read: Callable[[Any], Any], default: Any = ...) -> Any:
        if key not in self._left:
            if default is ...:
                raise InvalidInputError(f"The question lacks {key!r}.")
            return default
        value = self._left.pop(key)
        try:
            return read(value)
        except ValueError as error:
            raise InvalidInputError(f"{key!r} must be {error}. Got {shown(value)} instead.") from None


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return read


def _text(most: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if type(value) is not str or len(value) > most or any("\ud800" <= c <= "\udfff" for c in value):
            raise ValueError(f"a text of at most {most} characters")
        return value

    return read


def _optional(read: Callable[[Any], ValueT]) -> Callable[[Any], ValueT | None]:
    return lambda value: None if value is None else read(value)


def _distance(most: int) -> Callable[[Any], int | str | None]:
    def read(value: Any) -> int | str | None:
        return "auto" if value == "auto" else _optional(_whole(0, most))(value)

    return read


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false")
    return value


def _one_of(names: Sequence[str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if type(value) is not str or value not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return value

    return read


def _some_of(names: Sequence[str]) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        if type(value) is not list or not all(type(each) is str and each in names for each in value):
            raise ValueError(f"a list of some of {', '.join(names)}")
        return tuple(name for name in names if name in value)

    return read


def _numbers(n: int) -> Callable[[Any], tuple[int, ...]]:
    def read(value: Any) -> tuple[int, ...]:
        if (
            type(value) is not list
            or len(value) > n
            or not all(type(each) is int and 0 <= each < n for each in value)
            or len(set(value)) < len(value)
        ):
            raise ValueError(f"a list of different numbers of columns, from 0 to {n - 1}")
        return tuple(sorted(value))

    return read


def _bits(n: int) -> Callable[[Any], NDArray[np.uint8]]:
    def read(value: Any) -> NDArray[np.uint8]:
        if type(value) is not str or len(value) != n or not set(value) <= {"0", "1"}:
            raise ValueError(f"{n} characters, each 0 or 1")
        return np.frombuffer(value.encode(), np.uint8) - ord("0")

    return read


def _cells(value: Any) -> dict[str, Any]:
    found = _object_or_null(value)
    plain = (str, int, float, bool, type(None))
    if found is None or not all(type(cell) in plain for cell in found.values()):
        raise ValueError("an object with a text or a number for each column")
    for cell in found.values():
        if isinstance(cell, str):
            _text(MOST_TEXT)(cell)
    return found


def _object_or_null(value: Any) -> dict[str, Any] | None:
    if value is not None and type(value) is not dict:
        raise ValueError("an object")
    found: dict[str, Any] | None = value
    return found
