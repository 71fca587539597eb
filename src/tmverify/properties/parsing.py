"""Expressions from texts: parsed with Python's ``ast``, of which few forms are taken; nothing is evaluated.

A name that is no Python name stands in backticks: `` `credit amount` > 1000``. It is replaced by one of the
same length, so that errors show the right place.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from typing import Any

from tmverify.properties.expressions import (
    INPUTS,
    All,
    ColumnName,
    Comparison,
    Decision,
    Expression,
    ExpressionError,
    Not,
    Operand,
    Place,
    Some,
    Votes,
    whole_number,
)

LONGEST_TEXT = 10_000
DEEPEST = 50
_LONGEST_NUMBER = 1024  # bits

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
_SPECIAL = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`([^`]*)`|[\n\r\t\f#]""")
_SINGLE = re.compile(_SPECIAL.pattern + r"|(?<![<>=!:])(=)(?![=<>])")  # an = that is none of ==, <=, …
_FORMS = (
    'columns and constants with <, <=, >, >=, ==, !=, in, is None; decision == "…", votes("…"); and, or, not'
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
    spelled = unicodedata.normalize("NFKC", text)  # as Python spells names

    def stand_in(found: re.Match[str]) -> str:
        if found[0][0] in "\n\r\t\f":
            return " "  # an expression may go over several lines
        if found[0] == "#":
            raise ExpressionError("An expression has no comments.", Place(text, found.start(), found.end()))
        if found[1] is None:
            return found[0]  # a constant
        name = f"_q{len(names)}_"
        while name in spelled or name in names:
            name += "_"
        names[name] = found[1]
        # Places in the text stay what they are, if the name is long enough.
        return name.ljust(len(found[0]), " ") if len(name) <= len(found[0]) else name

    replaced = _SPECIAL.sub(stand_in, text)
    source = replaced.lstrip()
    before = len(replaced) - len(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as "invalid escape sequence"
            tree = ast.parse(source, mode="eval")
    except SyntaxError as error:
        at = min(max(0, (error.offset or 1) - 1 + before), max(0, len(text) - 1))
        single = next((found.start() for found in _SINGLE.finditer(text) if found[2]), None)
        if single is not None:
            place = Place(text, single, single + 1)
            raise ExpressionError("This is no expression: is == meant?", place) from None
        raise ExpressionError("This is no expression.", Place(text, at, at + 1)) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"This is no expression: {error or 'it is too deep'}.") from None
    return _Parser(text, source, before, names, pair).expression(tree.body, 0)


class _Parser:
    """One text on its way."""

    def __init__(self, text: str, source: str, before: int, names: dict[str, str], pair: bool) -> None:
        self.text, self.source, self.before = text, source.encode(), before
        self.names, self.pair = names, pair

    def _place(self, node: ast.expr) -> Place:
        # Python counts bytes.
        start = self.before + len(self.source[: node.col_offset].decode(errors="replace"))
        end = self.before + len(
            self.source[: node.end_col_offset or node.col_offset].decode(errors="replace")
        )
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
            elif isinstance(value, float) or (
                isinstance(value, int) and value.bit_length() <= _LONGEST_NUMBER
            ):
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
            return whole_number(node.value, self._place(node))
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
