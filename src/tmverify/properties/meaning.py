"""What an expression means for one model: its names and constants looked up, as a Formula.

A model sees a number only as far as its cuts go. A constant between two cuts divides an interval that the
model takes for one; such a condition is refused, or rounded:

    round="outer"   the inputs in doubt count as possible violations: HOLDS is right about the condition as it
                    was written, a violation may be one of the rounded condition only (``rounding`` tells)
    round="inner"   they do not count: a violation is right about the condition as it was written

Two columns of the same cuts can be compared with each other. If both are in the same interval, any order of
them is possible, and so is equality; two unseen values may be the same or not. Such inputs count as possible
violations, so that HOLDS is right; with round="inner" they do not. A missing value is in no order: every
comparison with it is false, and so ``!=`` is true. It is asked for by ``is None``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from tmverify.errors import InvalidInputError, guess, meant, shown, some
from tmverify.model import Model
from tmverify.properties import expressions as said
from tmverify.properties import formula as f
from tmverify.properties.allowed import value_number
from tmverify.properties.expressions import INPUTS, ExpressionError, Place
from tmverify.properties.parsing import parse
from tmverify.properties.rounding import Compared, Doubt, Doubts
from tmverify.space import Category, Column, Number
from tmverify.space.values import number_text

Round = Literal["outer", "inner"]
ROUNDING = "round='outer', or round='inner'"  # as an error says it; elsewhere it is written otherwise
_ORDERS = ("<", "<=", ">", ">=")
_OPPOSITE = {"!=": "==", "not in": "in", "is not": "is"}
_MOST = 1 << 31  # of a factor or a bound of votes
_SOME = 8
_DEEPEST = 100


@dataclass(slots=True, eq=False)
class Meaning:
    """Reads expressions about one model, about one input or, with ``differ``, about two.

    Attributes
    ----------
    model : Model
    differ : set of int, or None
        The columns in which the two inputs may differ; None if there is one input.
    round : {"outer", "inner"} or None
    notes : list of str
        What was rounded, in words.
    decisions : int
        How often a decision was spoken of.
    doubts : Doubts
        What was in doubt where it was rounded.
    """

    model: Model
    differ: frozenset[int] | None = None
    round: Round | None = None
    notes: list[str] = field(default_factory=list)
    decisions: int = 0
    doubts: Doubts = field(default_factory=Doubts)
    _places: dict[str, int] = field(default_factory=dict)

    def of(self, given: object, *, assumed: bool) -> f.Formula:
        """The formula of an expression, which is assumed of the inputs, or else expected of them.

        Raises
        ------
        ExpressionError
        """
        if isinstance(given, str):
            given = parse(given, pair=self.differ is not None)
        found = self._read(said.checked(given), assumed)
        if assumed and not found.about_columns:
            raise ExpressionError(
                "An assumption is about columns: decision and votes are for what is expected."
            )
        return found

    def _read(self, given: said.Expression, counts: bool, depth: int = 0) -> f.Formula:
        """``counts``: where it holds, there may be a violation; else where it does not hold."""
        if depth > _DEEPEST:
            raise ExpressionError(f"An expression has at most {_DEEPEST} levels.")
        if isinstance(given, said.All):
            return f.all_of([self._read(part, counts, depth + 1) for part in given.parts])
        if isinstance(given, said.Some):
            return f.some_of([self._read(part, counts, depth + 1) for part in given.parts])
        if isinstance(given, said.Not):
            return self._read(given.part, not counts, depth + 1).negated()
        if isinstance(given, said.ColumnName):
            of, number, column = self._column(given)
            if column.kind in ("number", "category"):
                raise ExpressionError(
                    f"{shown(column.name)} is a {column.kind}: compare it with something.", given.place
                )
            return f.value_in(of, number, [1], 2)
        assert isinstance(given, said.Comparison)
        positive = _OPPOSITE.get(given.operator)
        if positive is not None:
            turned = said.Comparison(given.left, positive, given.right, given.place)
            return self._comparison(turned, not counts).negated()
        return self._comparison(given, counts)

    def _comparison(self, given: said.Comparison, counts: bool) -> f.Formula:
        left, right = given.left, given.right
        if isinstance(left, said.Votes) or isinstance(right, said.Votes):
            return self._votes(given)
        if isinstance(left, said.Decision) or isinstance(right, said.Decision):
            return self._decision(given)
        assert isinstance(left, said.ColumnName)
        if isinstance(right, said.ColumnName):
            return self._two_columns(given, left, right, counts)
        of, number, column = self._column(left)
        if given.operator == "is":
            return f.value_in(of, number, self._missing(column), len(column.values))
        if given.operator == "in":
            if not isinstance(right, tuple):
                raise ExpressionError(f"in needs a list of values. Got {shown(right)}.", given.place)
            each = [self._values((of, number), "==", value, counts, given.place) for value in right]
            values = set().union(*each)
        else:
            values = self._values((of, number), given.operator, right, counts, given.place)
        return f.value_in(of, number, values, len(column.values))

    # Columns.

    def _column(self, name: said.ColumnName) -> tuple[int, int, Column]:
        """The input, the number of the column, and the column."""
        number = self.column(name.name, name.place)
        return self._input(name, number), number, self.model.space.columns[number]

    def column(self, name: str, place: Place | None = None) -> int:
        """The number of the column of that name.

        Raises
        ------
        ExpressionError
            If there is none.
        """
        if not self._places:
            self._places = {column.name: i for i, column in enumerate(self.model.space.columns)}
        number = self._places.get(name)
        if number is not None:
            return number
        known = list(self._places)
        near = meant(name, known[:10_000])
        hint = f"Is {shown(near)} meant?" if near is not None else f"It has {some(known, _SOME)}."
        quote = " A text stands in quotes." if near is None and place is not None else ""
        raise ExpressionError(f"The model has no column {shown(name)}. {hint}{quote}", place)

    def _input(self, name: said.ColumnName | said.Decision, number: int | None) -> int:
        if self.differ is None:
            if name.of is not None:
                raise ExpressionError("There is one input here, not two: leave a and b out.", name.place)
            return 0
        if number is not None and number not in self.differ:
            return 0  # what both share is said of the first
        if name.of is not None:
            return INPUTS.index(name.of)
        raise ExpressionError(f"Which of the two inputs? Say a.{name} or b.{name}.", name.place)

    @staticmethod
    def _missing(column: Column) -> list[int]:
        part = column.part
        gone = isinstance(part, Number | Category) and part.missing
        return [len(column.values) - 1] if gone else []

    def _values(
        self, whose: tuple[int, int], operator: str, constant: Any, counts: bool, place: Place | None
    ) -> set[int]:
        """The values of a column, by its input and number, for which a comparison with a constant holds."""
        if constant is None:
            raise ExpressionError("A missing value is asked for by 'is None'.", place)
        column = self.model.space.columns[whose[1]]
        part = column.part
        if isinstance(part, Number) and not (isinstance(constant, str) and constant in column.values):
            return self._intervals(whose, part, operator, constant, counts, place)
        if operator in _ORDERS:
            what = "A text is in no order" if isinstance(part, Number) else f"A {column.kind} has no order"
            raise ExpressionError(f"{what}: {shown(column.name)} can be compared by == and in.", place)
        try:
            return {value_number(column, constant)}
        except InvalidInputError:
            text = constant if isinstance(constant, str) else ""
            raise ExpressionError(
                f"{shown(column.name)} has the values {some(column.values, 12)}. "
                f"Got {shown(constant)} instead.{guess(text, column.values)}",
                place,
            ) from None

    def _intervals(
        self,
        whose: tuple[int, int],
        part: Number,
        operator: str,
        constant: Any,
        counts: bool,
        place: Place | None,
    ) -> set[int]:
        column, number = self.model.space.columns[whose[1]], _finite(constant)
        if number is None:
            raise ExpressionError(
                f"{shown(column.name)} is a number: compare it with one. Got {shown(constant)} instead.",
                place,
            )
        ends = [-math.inf, *part.cuts, math.inf]
        inside, outside = _SIDES[operator]
        values, doubtful = set(), set()
        for i, (low, high) in enumerate(pairwise(ends)):
            if inside(low, high, number):
                values.add(i)
            elif not outside(low, high, number):
                doubtful.add(i)
        if doubtful and self.round is None:
            raise ExpressionError(_unseen(column, part, operator, number), place)
        if doubtful:
            kept = (self.round == "outer") == counts
            values |= doubtful if kept else set()
            if len(values) in (0, len(part.cuts) + 1):
                raise ExpressionError(
                    _rounded_away(column, part, operator, number, always=bool(values)), place
                )
            words = " or ".join(column.values[i] for i in sorted(values))
            self.notes.append(f"{column.name} {operator} {shown(constant)} was taken for {words}")
            self.doubts.add(self._owner(*whose), part, Doubt(operator, number, counts, frozenset(doubtful)))
        return values

    def _two_columns(
        self, given: said.Comparison, left: said.ColumnName, right: said.ColumnName, counts: bool
    ) -> f.Formula:
        (of, number, column), (of_right, number_right, other) = self._column(left), self._column(right)
        n, operator = len(column.values), given.operator
        if column.values != other.values or column.kind != other.kind:
            raise ExpressionError(
                f"{column.name!r} and {other.name!r} can't be compared: they have not the same "
                f"{'cuts' if 'number' in (column.kind, other.kind) else 'values'}.",
                given.place,
            )
        if operator != "==" and (operator not in _ORDERS or column.kind == "category"):
            raise ExpressionError(f"A {column.kind} has no order: compare by == and !=.", given.place)
        gone = self._missing(column)
        there = [value for value in range(n) if value not in gone]
        known = [f.value_in(of, number, there, n), f.value_in(of_right, number_right, there, n)]
        if number == number_right and (of == of_right or number not in (self.differ or ())):
            return f.FALSE if operator in ("<", ">") else f.all_of(known)  # one and the same value
        kept = (self.round != "inner") == counts  # where both look the same, and may differ
        alike = self._looking_alike(column)
        if alike:
            diagonal = number == number_right and kept == (operator in ("==", "<=", ">="))
            places = self._owner(of, number), self._owner(of_right, number_right)
            self.doubts.compared.append(Compared(*places, alike, diagonal))
        if self.round == "inner" and alike:
            self.notes.append(f"{left} {operator} {right} was taken for values that the model tells apart")
        if operator == "==":
            same = [value for value in there if kept or value not in alike]
            return f.all_of(
                [
                    *(f.value_in(of, number, same, n), f.value_in(of_right, number_right, same, n)),
                    *(self._if_then(of, number, of_right, number_right, value, n) for value in same),
                ]
            )
        if operator in (">", ">="):
            (of, number), (of_right, number_right) = (of_right, number_right), (of, number)
        ordered = len(there)
        may_be_same = kept if column.kind == "number" else operator in ("<=", ">=")

        def up_to(i: int) -> f.Formula:
            return f.value_in(of, number, range(i + 1), n)

        def above(i: int) -> f.Formula:
            return f.value_in(of_right, number_right, range(i + 1, ordered), n)

        if not may_be_same:
            return f.some_of(f.all_of([up_to(i), above(i)]) for i in range(ordered - 1))
        return f.all_of([*known, *(f.some_of([up_to(i), above(i)]) for i in range(ordered - 1))])

    def _owner(self, of: int, number: int) -> tuple[int, int]:
        """The input and the column: what both inputs share is the first one's."""
        return (of if number in (self.differ or ()) else 0), number

    @staticmethod
    def _looking_alike(column: Column) -> range:
        """The values that stand for more than one: intervals, and what is unseen."""
        part = column.part
        if isinstance(part, Number):
            return range(len(part.cuts) + 1)
        if isinstance(part, Category) and part.other:
            return range(len(part.categories), len(part.categories) + 1)
        return range(0)

    @staticmethod
    def _if_then(of: int, number: int, of_right: int, number_right: int, value: int, n: int) -> f.Formula:
        """If the first has this value, so has the second."""
        others = [v for v in range(n) if v != value]
        return f.some_of([f.value_in(of, number, others, n), f.value_in(of_right, number_right, [value], n)])

    # Decisions and votes.

    def _decision(self, given: said.Comparison) -> f.Formula:
        left, right, n = given.left, given.right, len(self.model.classes)
        self.decisions += 1
        if isinstance(right, said.Decision) and isinstance(left, said.Decision):
            if given.operator != "==":
                raise ExpressionError("Decisions can be compared by == and !=.", given.place)
            if {self._input(left, None), self._input(right, None)} != {0, 1}:
                raise ExpressionError("A decision is compared with itself.", given.place)
            return f.Agree(n)
        if not isinstance(left, said.Decision) or isinstance(right, said.Operand):
            raise ExpressionError("A decision is compared with a class, or with the other one.", given.place)
        of = self._input(left, None)
        if given.operator == "==":
            labels: Sequence[Any] = [right]
        elif given.operator == "in" and isinstance(right, tuple):
            labels = right
        else:
            raise ExpressionError("Decisions can be compared by ==, != and in.", given.place)
        return f.decision_in(of, [self._class(label, given.place) for label in labels], n)

    def _class(self, label: Any, place: Place | None) -> int:
        classes = self.model.classes
        for i, own in enumerate(classes if isinstance(label, str | int | float | np.generic) else ()):
            if own == label and isinstance(label, bool) == isinstance(own, bool):
                return i
        names = [str(own) for own in classes]
        hint = guess(label, names) if isinstance(label, str) else ""
        if isinstance(label, str) and label not in classes and label in names:
            hint = " Leave the quotes out."
        raise ExpressionError(
            f"The classes are {some([shown(own) for own in classes], _SOME).replace(chr(39), '')}. "
            f"Got {shown(label)} instead.{hint}",
            place,
        )

    def _votes(self, given: said.Comparison) -> f.Formula:
        left, right, operator = given.left, given.right, given.operator
        if not isinstance(left, said.Votes):
            raise ExpressionError("Votes are compared with votes, or with a whole number.", given.place)
        if operator not in (*_ORDERS, "=="):
            raise ExpressionError("Votes can be compared by <, <=, >, >=, == and !=.", given.place)
        if isinstance(right, said.Operand) and not isinstance(right, said.Votes):
            raise ExpressionError("Votes are compared with votes, or with a whole number.", given.place)
        if not isinstance(right, said.Votes):
            number = _finite(right)
            if number is None or number != int(number):
                raise ExpressionError(f"Votes are whole numbers. Got {shown(right)}.", given.place)
            right = said.Votes((), int(number))
        both = left - right
        terms = self._rows(both, given.place)
        bound = -both.constant
        if max([abs(bound), *(abs(k) for _, _, k in terms)]) >= _MOST:
            raise ExpressionError(f"Votes are counted up to {_MOST}.", given.place)
        at_least = f.Lead(terms, bound) if terms else (f.TRUE if bound <= 0 else f.FALSE)
        above = f.Lead(terms, bound + 1) if terms else (f.TRUE if bound < 0 else f.FALSE)
        return {
            ">=": at_least,
            ">": above,
            "<": at_least.negated(),
            "<=": above.negated(),
            "==": f.all_of([at_least, above.negated()]),
        }[operator]

    def _rows(self, votes: said.Votes, place: Place | None) -> tuple[tuple[int, int, int], ...]:
        """The terms over score rows, without those that cancel."""
        total: dict[tuple[int, int], int] = {}
        for name, label, k in votes.terms:
            of = self._input(said.Decision(name, place), None)
            key = of, self._class(label, place)
            total[key] = total.get(key, 0) + k
        if self.model.n_outputs == 1:
            for of in {of for of, _ in total}:
                second = total.pop((of, 1), 0)
                if second != -total.pop((of, 0), 0):
                    first, last = map(shown, self.model.classes)
                    raise ExpressionError(
                        "The model has one score for both classes, the lead of the second: votes come as "
                        f"votes({last}) - votes({first}), or the other way round.",
                        place,
                    )
                total[of, 0] = second
        return tuple((of, row, k) for (of, row), k in sorted(total.items()) if k)


def _finite(value: Any) -> int | float | None:
    """A finite number, exactly as it was given; None if it is none."""
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


Test = Callable[[float, float, float], bool]
# For an interval (low, high]: whether the comparison holds for all its numbers, and whether for none.
_SIDES: dict[str, tuple[Test, Test]] = {
    ">": (lambda low, high, c: low >= c, lambda low, high, c: high <= c),
    ">=": (lambda low, high, c: low >= c, lambda low, high, c: high < c),
    "<": (lambda low, high, c: high < c, lambda low, high, c: low >= c),
    "<=": (lambda low, high, c: high <= c, lambda low, high, c: low >= c),
    "==": (lambda low, high, c: False, lambda low, high, c: not low < c <= high),
}


def _text(constant: int | float) -> str:
    return shown(constant) if isinstance(constant, int) else number_text(constant)


def _unseen(column: Column, part: Number, operator: str, constant: float) -> str:
    """Why a constant can't be seen, with the cuts beside it."""
    where, use = _beside(column, part, operator, constant)
    if not part.cuts:
        return where
    name = _name(column)
    return f"The model can't see {name} {operator} {_text(constant)}: {where}. Use {use}; or {ROUNDING}."


def _rounded_away(column: Column, part: Number, operator: str, constant: float, *, always: bool) -> str:
    """Why a condition is not rounded: nothing would be left of it."""
    where, use = _beside(column, part, operator, constant)
    if not part.cuts:
        return where
    name, whom = _name(column), "every number" if always else "no number"
    return f"Rounded, {name} {operator} {_text(constant)} would be true of {whom}: {where}. Use {use}."


def _name(column: Column) -> str:
    return column.name if column.name.isidentifier() else f"`{column.name}`"


def _beside(column: Column, part: Number, operator: str, constant: float) -> tuple[str, str]:
    """The cuts beside a constant, and conditions that the model can see."""
    name = _name(column)
    if not part.cuts:  # every number is the same to it
        return f"The model does not look at {shown(column.name)} at all: it has no cuts.", ""
    below = [cut for cut in part.cuts if cut <= constant][-1:]
    above = [cut for cut in part.cuts if cut > constant][:1]
    cuts = [number_text(cut) for cut in (*below, *above)]
    sign = "<=" if operator.startswith("<") else ">"
    use = " or ".join(f"{name} {sign} {cut}" for cut in cuts)
    if operator == "==":
        use = f"{name} == {column.values[sum(cut < constant for cut in part.cuts)]!r}, all of the interval"
    between = " and ".join(cuts)
    where = f"near {_text(constant)}, its cuts are {between}" if len(cuts) == 2 else f"its cut is {between}"
    if len(cuts) == 1 < len(part.cuts):
        where = f"its {'last' if below else 'first'} cut is {between}"
    return where, use
