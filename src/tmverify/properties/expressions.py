"""Expressions: what people state about inputs and decisions, as text or as objects.

    age >= 60 and city in ("Oslo", "Bergen")          a condition on the columns of an input
    decision == "good"                                 what the model says of it
    votes("good") - votes("bad") >= 3                  by how much
    a.age <= b.age and a.decision == b.decision        two inputs, a and b

The same as objects: ``(column("age") >= 60) & column("city").isin(["Oslo", "Bergen"])``,
``decision == "good"``, ``votes("good") - votes("bad") >= 3``, ``column("age", "a") <= column("age", "b")``.

An expression says nothing about a model yet: ``meaning`` looks its names and values up. Texts are parsed by
``parsing``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from tmverify.errors import InvalidInputError, shown

INPUTS = ("a", "b")
"""What the two inputs of a pair are called."""


class Place(NamedTuple):
    """Where in a text something stands."""

    text: str
    start: int
    end: int


class ExpressionError(InvalidInputError):
    """A text, or an object, that is no expression, or none about this model; the message shows the place.

    Attributes
    ----------
    said : str
        The message without the place.
    place : Place or None
    """

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message if place is None else f"{message}\n{pointed_at(place)}")
        self.said, self.place = message, place

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.said, self.place)


def pointed_at(place: Place) -> str:
    """The line of a text, with a mark under the place."""
    text, start, end = place
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : len(text) if last < 0 else last]
    start, end = start - first, max(start + 1, min(end, len(text) if last < 0 else last)) - first
    if start > 60:  # a long line is cut before the place
        line, start, end = f"… {line[start - 40 :]}", 42, 42 + end - start
    printable = "".join(c if c.isprintable() else "�" for c in line[:110])
    return f"  {printable}\n  {' ' * start}{'^' * max(1, min(end - start, 70))}"


class Expression:
    """Something that is true or false of an input, or of two."""

    place: Place | None

    def __and__(self, other: Expression) -> Expression:
        return All((*(self.parts if isinstance(self, All) else (self,)), checked(other)))

    def __or__(self, other: Expression) -> Expression:
        return Some((*(self.parts if isinstance(self, Some) else (self,)), checked(other)))

    def __invert__(self) -> Expression:
        return self.part if isinstance(self, Not) else Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("an expression is not evaluated: join expressions with &, | and ~, each in brackets")


@dataclass(frozen=True, slots=True, eq=False)
class All(Expression):
    """All parts hold."""

    parts: tuple[Expression, ...]
    place: Place | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return " and ".join(map(_inner, self.parts)) or "True"


@dataclass(frozen=True, slots=True, eq=False)
class Some(Expression):
    """Some part holds."""

    parts: tuple[Expression, ...]
    place: Place | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return " or ".join(map(_inner, self.parts)) or "False"


@dataclass(frozen=True, slots=True, eq=False)
class Not(Expression):
    """The part does not hold."""

    part: Expression
    place: Place | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"not {_inner(self.part)}"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Expression):
    """Two operands compared, or one and several constants ("in", "not in")."""

    left: Operand
    operator: str
    right: Any
    place: Place | None = field(default=None, repr=False)

    def __str__(self) -> str:
        right = self.right
        if isinstance(right, tuple):
            right = f"({', '.join(map(repr, right))}{',' if len(right) == 1 else ''})"
        elif not isinstance(right, Operand):
            right = repr(right)
        return f"{self.left} {self.operator} {right}"


def _inner(part: Expression) -> str:
    return f"({part})" if isinstance(part, All | Some | Not) else str(part)


class Operand:
    """What can be compared. Comparing makes an expression, so operands are never equal in Python's sense."""

    place: Place | None
    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Comparison:
        return Comparison(self, "<", other)

    def __le__(self, other: Any) -> Comparison:
        return Comparison(self, "<=", other)

    def __gt__(self, other: Any) -> Comparison:
        return Comparison(self, ">", other)

    def __ge__(self, other: Any) -> Comparison:
        return Comparison(self, ">=", other)

    def __eq__(self, other: Any) -> Comparison:  # type: ignore[override]
        return Comparison(self, "==", other)

    def __ne__(self, other: Any) -> Comparison:  # type: ignore[override]
        return Comparison(self, "!=", other)

    def isin(self, values: Iterable[Any]) -> Comparison:
        """Whether it is one of these values."""
        return Comparison(self, "in", tuple(values))

    def __bool__(self) -> NoReturn:
        raise TypeError("a column has no value here: compare it")


@dataclass(frozen=True, slots=True, eq=False)
class ColumnName(Operand, Expression):
    """A column by its name; by itself, a flag that is set. ``of`` is the input: "a", "b" or None."""

    name: str
    of: str | None = None
    place: Place | None = field(default=None, repr=False)

    def is_missing(self) -> Comparison:
        """Whether the value is missing."""
        return Comparison(self, "is", None)

    def __str__(self) -> str:
        name = self.name if self.name.isidentifier() else f"`{self.name}`"
        return name if self.of is None else f"{self.of}.{name}"


@dataclass(frozen=True, slots=True, eq=False)
class Decision(Operand):
    """The class that the model decides."""

    of: str | None = None
    place: Place | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return "decision" if self.of is None else f"{self.of}.decision"


@dataclass(frozen=True, slots=True, eq=False)
class Votes(Operand):
    """A sum of votes: integers times the votes for classes, and a constant.

    ``terms`` are of the input, the class and the factor.
    """

    terms: tuple[tuple[str | None, Any, int], ...]
    constant: int = 0
    place: Place | None = field(default=None, repr=False)

    def __add__(self, other: Any) -> Votes:
        if isinstance(other, Votes):
            return Votes((*self.terms, *other.terms), self.constant + other.constant)
        return Votes(self.terms, self.constant + whole_number(other))

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Votes:
        k = whole_number(factor)
        return Votes(tuple((of, label, k * n) for of, label, n in self.terms), k * self.constant)

    __rmul__ = __mul__

    def __neg__(self) -> Votes:
        return self * -1

    def __sub__(self, other: Any) -> Votes:
        return self + (other * -1 if isinstance(other, Votes) else -whole_number(other))

    def __rsub__(self, other: Any) -> Votes:
        return self * -1 + whole_number(other)

    def __str__(self) -> str:
        said = ""
        for of, label, k in self.terms:
            sign = ("-" if k < 0 else "") if not said else (" - " if k < 0 else " + ")
            times = "" if abs(k) == 1 else f"{abs(k)} * "
            said += f"{sign}{times}{'' if of is None else of + '.'}votes({label!r})"
        if self.constant or not said:
            said += (
                f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}" if said else f"{self.constant}"
            )
        return said


def column(name: str, of: str | None = None) -> ColumnName:
    """The column called ``name``, in expressions; ``of`` is the input, "a" or "b", where there are two."""
    if not isinstance(name, str):
        raise InvalidInputError(f"column needs the name of a column. Got {shown(name)} instead.")
    return ColumnName(name, _of(of))


def votes(label: Any, of: str | None = None) -> Votes:
    """The votes for a class, in expressions; ``of`` is the input, "a" or "b", where there are two."""
    return Votes(((_of(of), label, 1),))


decision = Decision()
"""What the model decides, in expressions."""


def _of(of: str | None) -> str | None:
    if of not in (None, *INPUTS):
        raise InvalidInputError(f"of must be 'a' or 'b', the inputs of a pair, or None. Got {shown(of)}.")
    return of


def whole_number(value: Any, place: Place | None = None) -> int:
    """An integer by which votes are multiplied, or which is added to them."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ExpressionError(f"Votes are added and multiplied by whole numbers. Got {shown(value)}.", place)
    return value


def checked(given: object, argument: str = "An expression") -> Expression:
    """An expression from an object or a text.

    Raises
    ------
    ExpressionError
        If it is neither.
    """
    if isinstance(given, str):
        from tmverify.properties.parsing import parse  # which makes expressions

        return parse(given)
    if isinstance(given, Expression):
        return given
    if isinstance(given, bool):
        return All(()) if given else Some(())
    raise ExpressionError(
        f"{argument} must be a text such as 'age > 60', or made of column(…), decision and votes(…). "
        f"Got {shown(given)} instead."
    )
