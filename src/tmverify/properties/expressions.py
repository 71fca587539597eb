"""Expressions: what people state about inputs and decisions, as text or as objects.

    age >= 60 and city in ("Oslo", "Bergen")          a condition on the columns of an input
    decision == "good"                                 what the model says of it
    votes("good") - votes("bad") >= 3                  by how much
    a.age <= b.age and a.decision == b.decision        two inputs, a and b

The same as objects: ``(column("age") >= 60) & column("city").isin(["Oslo", "Bergen"])``,
``decision == "good"``, ``votes("good") - votes("bad") >= 3``, ``column("age", "a") <= column("age", "b")``.

An expression says nothing about a model yet: ``formula`` looks its names and values up. Text is parsed with
Python's ``ast``; only the forms above are taken, and nothing is evaluated. A name that is no Python name
stands in backticks: `` `credit amount` > 1000``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from tmverify.errors import InvalidInputError, shown

LONGEST_TEXT = 10_000
DEEPEST = 50
INPUTS = ("a", "b")
"""What the two inputs of a pair are called."""

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_SPECIAL = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`([^`]*)`|[\n\r\t\f]""")
_FORMS = (
    'columns and constants with <, <=, >, >=, ==, !=, in, is None; decision == "…", votes("…"); and, or, not'
)


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
        return All(tuple(map(checked, (self, other))))

    def __or__(self, other: Expression) -> Expression:
        return Some(tuple(map(checked, (self, other))))

    def __invert__(self) -> Expression:
        return Not(self)

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
        return Votes(self.terms, self.constant + _integer(other))

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Votes:
        k = _integer(factor)
        return Votes(tuple((of, label, k * n) for of, label, n in self.terms), k * self.constant)

    __rmul__ = __mul__

    def __neg__(self) -> Votes:
        return self * -1

    def __sub__(self, other: Any) -> Votes:
        return self + (other * -1 if isinstance(other, Votes) else -_integer(other))

    def __rsub__(self, other: Any) -> Votes:
        return self * -1 + _integer(other)

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


def _integer(value: Any, place: Place | None = None) -> int:
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
        return parse(given)
    if isinstance(given, Expression):
        return given
    if isinstance(given, bool):
        return All(()) if given else Some(())
    raise ExpressionError(
        f"{argument} must be a text such as 'age > 60', or made of column(…), decision and votes(…). "
        f"Got {shown(given)} instead."
    )


def parse(text: str, *, pair: bool = False) -> Expression:
    """The expression that a text says; with ``pair``, about two inputs, a and b.

    Raises
    ------
    ExpressionError
        If it is none; the message shows the place.
    """
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(f"An expression has at most {LONGEST_TEXT} characters. Got {len(text)}.")
    if not text.strip():
        raise ExpressionError("An expression is needed, such as 'age > 60'. Got an empty text.")
    names: dict[str, str] = {}

    def stand_in(found: re.Match[str]) -> str:
        if found[0][0] in "\n\r\t\f":
            return " "  # an expression may go over several lines
        if found[1] is None:
            return found[0]  # a constant
        name = f"_q{len(names)}_"
        while name in text or name in names:
            name += "_"
        names[name] = found[1]
        # Places in the text stay what they are, if the name is long enough.
        return name.ljust(len(found[0]), " ") if len(name) <= len(found[0]) else name

    source = f"({_SPECIAL.sub(stand_in, text)})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as "invalid escape sequence"
            tree = ast.parse(source, mode="eval")
    except SyntaxError as error:
        at = min(max(0, (error.offset or 2) - 2), max(0, len(text) - 1))
        raise ExpressionError("This is no expression.", Place(text, at, at + 1)) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"This is no expression: {error or 'it is too deep'}.") from None
    return _Parser(text, source, names, pair).expression(tree.body, 0)


class _Parser:
    """One text on its way."""

    def __init__(self, text: str, source: str, names: dict[str, str], pair: bool) -> None:
        self.text, self.source, self.names, self.pair = text, source.encode(), names, pair

    def _place(self, node: ast.expr) -> Place:
        # Python counts bytes, and the bracket before the text.
        start = len(self.source[: node.col_offset].decode(errors="replace")) - 1
        end = len(self.source[: node.end_col_offset or node.col_offset].decode(errors="replace")) - 1
        return Place(self.text, max(0, start), max(1, end))

    def _wrong(self, node: ast.expr, message: str) -> ExpressionError:
        return ExpressionError(message, self._place(node))

    def expression(self, node: ast.expr, depth: int) -> Expression:
        if depth > DEEPEST:
            raise self._wrong(node, f"Brackets may be nested {DEEPEST} times.")
        place = self._place(node)
        if isinstance(node, ast.BoolOp):
            parts = tuple(self.expression(value, depth + 1) for value in node.values)
            return All(parts, place) if isinstance(node.op, ast.And) else Some(parts, place)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Not(self.expression(node.operand, depth + 1), place)
        if isinstance(node, ast.Compare):
            return self._comparison(node, place)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return All((), place) if node.value else Some((), place)
        found = self._operand(node, depth + 1)
        if isinstance(found, ColumnName):
            return found
        raise self._wrong(node, "This is neither true nor false: compare it with something.")

    def _comparison(self, node: ast.Compare, place: Place) -> Expression:
        operands = [node.left, *node.comparators]
        found: list[Expression] = []
        for left, operator, right in zip(operands, node.ops, node.comparators, strict=False):
            found.append(self._single(left, _OPERATORS[type(operator)], right, place))
        return found[0] if len(found) == 1 else All(tuple(found), place)

    def _single(self, left: ast.expr, operator: str, right: ast.expr, place: Place) -> Expression:
        if operator in ("in", "not in"):
            operand = self._side(left)
            if not isinstance(right, ast.Tuple | ast.List | ast.Set):
                raise self._wrong(right, f"After {operator!r} comes a list in brackets, such as (1, 2).")
            values = tuple(self._constant(value) for value in right.elts)
            if not isinstance(operand, Operand):
                raise self._wrong(left, f"Before {operator!r} comes a column or decision.")
            return Comparison(operand, operator, values, place)
        a, b = self._side(left), self._side(right)
        if operator in ("is", "is not") and b is not None:
            raise self._wrong(right, f"After {operator!r} comes None, a missing value; otherwise use ==.")
        if isinstance(a, Operand):
            return Comparison(a, operator, b, place)
        if isinstance(b, Operand) and operator in _MIRRORED:
            return Comparison(b, _MIRRORED[operator], a, place)
        raise ExpressionError("Two constants are compared: one side must be a column.", place)

    def _side(self, node: ast.expr) -> Any:
        """An operand, or a constant."""
        if isinstance(node, ast.Constant) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        ):
            return self._constant(node)
        return self._operand(node, 0)

    def _constant(self, node: ast.expr) -> Any:
        sign, inner = 0, node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, inner = -1 if isinstance(node.op, ast.USub) else 1, node.operand
        if isinstance(inner, ast.Constant):
            value = inner.value
            if value is None or isinstance(value, bool | str):
                if not sign:
                    return value
            elif isinstance(value, int | float):
                return -value if sign < 0 else value
        raise self._wrong(node, "A constant is expected here: a number, or a text in quotes.")

    def _operand(self, node: ast.expr, depth: int) -> Operand:
        if depth > DEEPEST:
            raise self._wrong(node, f"Brackets may be nested {DEEPEST} times.")
        place = self._place(node)
        if isinstance(node, ast.Name | ast.Attribute):
            of, name, quoted = self._name(node)
            if name == "decision" and not quoted:
                return Decision(of, place)
            return ColumnName(name, of, place)
        if isinstance(node, ast.Call):
            return self._votes(node, place)
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            found = self._sum(node, depth)
            if isinstance(found, Votes):
                return Votes(found.terms, found.constant, place)
        raise ExpressionError(f"This can't be said here. An expression has {_FORMS}.", place)

    def _name(self, node: ast.Name | ast.Attribute) -> tuple[str | None, str, bool]:
        """The input that a name is of, the name, and whether it stood in backticks."""
        if isinstance(node, ast.Name):
            if self.pair and node.id in INPUTS:
                raise self._wrong(node, f"{node.id!r} is an input: say which column, {node.id}.age.")
            return None, self.names.get(node.id, self._written(node)), node.id in self.names
        base, name = node.value, node.attr
        if isinstance(base, ast.Name) and base.id in INPUTS and base.id not in self.names:
            if not self.pair:
                raise self._wrong(base, "There is one input here, not two: leave a. and b. out.")
            return base.id, self.names.get(name, self._written(node)), name in self.names
        raise self._wrong(
            node, "A dot comes after a or b, the two inputs of a pair; else use backticks: `a.b`."
        )

    def _written(self, node: ast.Name | ast.Attribute) -> str:
        """A name as it stands in the text: Python would spell it in its own way (NFKC)."""
        whole = self.source[node.col_offset : node.end_col_offset].decode()
        return whole.rpartition(".")[2].strip()

    def _votes(self, node: ast.Call, place: Place) -> Votes:
        of, name = None, ""
        if isinstance(node.func, ast.Name | ast.Attribute):
            of, name, _ = self._name(node.func)
        if name != "votes" or len(node.args) != 1 or node.keywords:
            raise self._wrong(node, 'The one thing to be called is votes("class").')
        return Votes(((of, self._constant(node.args[0]), 1),), 0, place)

    def _sum(self, node: ast.expr, depth: int) -> Any:
        """A sum of votes, or an integer."""
        if depth > DEEPEST:
            raise self._wrong(node, f"Brackets may be nested {DEEPEST} times.")
        if isinstance(node, ast.Constant):
            return _integer(node.value, self._place(node))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._sum(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            a, b = self._sum(node.left, depth + 1), self._sum(node.right, depth + 1)
            if isinstance(node.op, ast.Mult):
                if isinstance(a, Votes) and isinstance(b, Votes):
                    raise self._wrong(node, "Votes can't be multiplied by votes.")
                return a * b
            return a + b if isinstance(node.op, ast.Add) else a - b
        found = None if isinstance(node, ast.BinOp | ast.UnaryOp) else self._operand(node, depth + 1)
        if isinstance(found, Votes):
            return found
        raise self._wrong(node, "Only votes can be added up; columns are compared as they are.")
