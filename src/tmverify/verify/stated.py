"""A property of one model: the statement that a text means, and how it is asked.

A property is assumed of every possible input, or of those around given ones; what can't be decided in time is
UNKNOWN. A statement about two inputs is one about a ``Pair``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline, check_timeout
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Label, Model
from tmverify.model.inputs import Row, Rows, input_row, input_rows
from tmverify.properties import Status, UniversalVerdict, Verdict
from tmverify.properties import expressions as said
from tmverify.properties.allowed import Allowed, Columns, Rules, rules_of
from tmverify.properties.allowed import known_values as known_values_of
from tmverify.properties.conditions import check_margin
from tmverify.properties.copies import Copies
from tmverify.properties.expressions import Expression, ExpressionError
from tmverify.properties.formula import TRUE, Agree, Formula, all_of, atoms, some_of, value_in, with_margin
from tmverify.properties.meaning import Meaning, Round
from tmverify.properties.questions import DEFAULT_TIMEOUT, PROPERTY
from tmverify.properties.scope import check_model
from tmverify.properties.statement import Statement, StatementQuery
from tmverify.properties.universal import exact_fraction
from tmverify.verify.universal import check_some, decide_share
from tmverify.verify.vacuous import about_rows, joined, noted, rows_met, unless_in_doubt
from tmverify.verify.verdict import decide, prepared

ABOUT_ROUNDED = "this may be true of whole intervals only, not of the numbers as they are written"
SAME_DECISION = "a.decision == b.decision"
_PAIR = re.compile(r"\s*same\s+except\s+(?P<names>.*?)(?:\s+where\s+(?P<where>.*))?\s*", re.DOTALL)
_NAME = re.compile(r"\s*(?:`([^`]+)`|([^,`]*?))\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two inputs, a and b, that are the same except in some columns.

    Parameters
    ----------
    differ : column names
        In which they may differ.
    where : text or expression, optional
        A condition on both, such as ``"a.age <= b.age and city == 'Oslo'"``.

    Examples
    --------
    >>> import tmverify as tv
    >>> pair = tv.Pair(["age"], where="a.age <= b.age")
    >>> pair == tv.Pair.parse("same except age where a.age <= b.age")
    True
    """

    differ: Columns
    where: str | Expression | None = None

    @classmethod
    def parse(cls, text: str) -> Pair | None:
        """The pair of a text such as "same except sex, age where a.age <= b.age"; None if it says another."""
        found = _PAIR.fullmatch(text)
        if found is None:
            return None
        names, at = [], 0
        while at < len(found["names"]):
            name = _NAME.match(found["names"], at)
            if name is None or not (name[1] or name[2]):
                raise ExpressionError(
                    "After 'same except' come names of columns, with commas between them.",
                    said.Place(text, found.start("names") + at, found.end("names")),
                )
            names.append(name[1] or name[2])
            at = name.end()
        return cls(names, found["where"])


Assumed = str | Expression | Pair | None


class Stated:
    """A property of one model: the statement, and how it is asked.

    Attributes
    ----------
    statement : Statement
    notes : tuple of str
        What was rounded, in words.
    """

    def __init__(
        self,
        model: Model,
        assume: Assumed,
        expect: str | Expression,
        *,
        margin: int = 0,
        round: Round | None = None,
        known_values: bool = False,
        more: tuple[str | Expression, ...] = (),
        premise: Expression | None = None,
    ) -> None:
        self.model = check_model(model, "model")
        if round is not None and round not in get_args(Round):
            raise InvalidInputError(f"round must be 'outer', 'inner' or None. Got {shown(round)} instead.")
        if not isinstance(known_values, bool):
            raise InvalidInputError(f"known_values must be True or False. Got {shown(known_values)} instead.")
        votes = check_margin(margin, model)
        given = (Pair.parse(assume) or assume) if isinstance(assume, str) else assume
        differ, condition = None, given
        if isinstance(given, Pair):
            differ, condition = frozenset(self._differing(given.differ)), given.where
        meaning = Meaning(model, differ, round)
        conditions = [part for part in (condition, *more) if part is not None]
        assumed = all_of(
            [
                *(meaning.of(part, assumed=True) for part in conditions),
                *(_known(model, differ) if known_values else ()),
            ]
        )
        self._rows_in_doubt = bool(meaning.doubts)
        expected = meaning.of(expect, assumed=False)
        if votes and not meaning.decisions:
            raise InvalidInputError("margin is by how much decisions stand, and expect is about no decision.")
        if votes and any(isinstance(atom, Agree) and atom.denied for atom in atoms(expected)):
            raise InvalidInputError("margin is for decisions that are to be so, not for != between them.")
        expected = with_margin(expected, votes)
        supposed: Formula = TRUE
        if premise is not None:  # a decision, which stands by as much
            supposed = with_margin(meaning.of(premise, assumed=False), votes)
            expected = some_of([supposed.negated(), expected])
        self.statement = Statement(Copies(model, differ), assumed, expected, supposed)
        self.notes = tuple(f"rounded: {note}" for note in dict.fromkeys(meaning.notes))
        self.round, self.doubts = round, meaning.doubts

    def as_rounded(self, answer: Verdict | UniversalVerdict, *, around: bool) -> bool:
        """Whether an answer may be true of the rounded property alone, not as it was written.

        Outer, no violation is overlooked, and inner, none is made up. ``around``: it is one around rows. Of a
        share of rows, rounding may also have changed which rows count.
        """
        in_doubt = Status.HOLDS if self.round == "inner" else Status.VIOLATED
        if isinstance(answer, UniversalVerdict) and answer.eta < 1 and answer.status is not Status.UNKNOWN:
            return self._rows_in_doubt or (answer.status is in_doubt and self._in_doubt)
        if answer.status is not in_doubt:
            return False
        if answer.status is Status.HOLDS or isinstance(answer, UniversalVerdict):
            return self._in_doubt
        return self.unsettled(answer, around=around)

    @property
    def _in_doubt(self) -> bool:
        return bool(self.notes) or bool(self.doubts)

    def unsettled(self, violated: Verdict, *, around: bool) -> bool:
        """Whether a counterexample may be none of the property as it was written."""
        copies = self.statement.copies
        assert violated.witness is not None
        joint = copies.joined(*(violated.pair or (violated.witness,)))
        return self.doubts.unsettled(copies.facts(joint[None, :]), around=around)

    def notes_of(self, answer: Verdict | UniversalVerdict) -> tuple[str, ...]:
        """What was rounded; and that the answer may be about that alone."""
        return (*self.notes, ABOUT_ROUNDED) if answer.as_rounded else self.notes

    def _differing(self, names: Columns) -> list[int]:
        given = [names] if isinstance(names, str) else names
        if not isinstance(given, Iterable):
            raise InvalidInputError(f"A pair differs in columns, by name. Got {shown(names)} instead.")
        meaning = Meaning(self.model)
        found = [meaning.column(str(name)) for name in given]
        if not found:
            raise InvalidInputError("Two inputs that differ in no column are the same: name at least one.")
        return found

    def query(self, x: NDArray[np.uint8] | None, epsilon: int | None, rules: Rules) -> StatementQuery:
        """The question about one input, or about all."""
        region = self.statement.region(x, epsilon, rules)
        query = self.statement.query(region) if x is None else self.statement.query(region, x, rules)
        return query.about(PROPERTY.name, (self.model,), "team")

    def rules(self, allowed: Allowed | Rules) -> Rules:
        """What may change around an input."""
        if allowed.distance == "bits" and not self.model.space.only_flags:
            raise InvalidInputError("A property is about columns: distance must be 'columns' or 'steps'.")
        rules = allowed if isinstance(allowed, Rules) else rules_of(self.model, allowed)
        for rule in rules.columns:
            if rule.column in (self.statement.copies.differ or ()) and (
                rule.values or rule.way in ("up", "down")
            ):
                name = self.model.space.columns[rule.column].name
                raise InvalidInputError(
                    f"The two inputs may differ in {name!r}, where b has any value: say by an assumption "
                    f"which ones it may have (b.{said.column(name)} in …), or by known_values of the "
                    "property, not by what may change."
                )
        return rules

    def hints(self, rows: NDArray[np.uint8], query: StatementQuery) -> NDArray[np.uint8] | None:
        """Joint inputs in which a is one of these rows, and b one of them as well in its own columns."""
        copies = self.statement.copies
        others = np.roll(rows, 1, axis=0)
        joint = np.zeros((len(rows), copies.space.n_bits), np.uint8)
        joint[:, copies.bits[-1]] = others
        joint[:, copies.bits[0]] = rows
        inside = np.array([query.region.contains(z) for z in joint], np.bool_)
        return joint[inside] if inside.any() else None


def monotone(
    model: Model,
    column: str,
    toward: Label,
    *,
    assume: str | Expression | None,
    margin: int,
    round: Round | None,
    known_values: bool = False,
) -> Stated:
    """The property that ``check_monotonicity`` checks."""
    before, after = said.column(column, "a"), said.column(column, "b")
    return Stated(
        model,
        Pair((column,), before <= after),
        said.Decision("b") == toward,
        margin=margin,
        round=round,
        known_values=known_values,
        more=() if assume is None else (assume,),
        premise=said.Decision("a") == toward,
    )


def _known(model: Model, differ: frozenset[int] | None) -> Iterator[Formula]:
    """That no column of either input has a missing or an unseen value."""
    for number in model.space.wide_columns:
        column = model.space.columns[number]
        for of in (0, 1) if differ is not None and number in differ else (0,):
            yield value_in(of, number, known_values_of(column), len(column.values))


OnRow = Callable[[int, Verdict | None], None]


def ask_property(
    stated: Stated,
    x: Row | None = None,
    epsilon: int | None = 0,
    X: Rows | None = None,
    eta: Fraction | float | str | None = None,
    allowed: Allowed | Rules | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
    on_row: OnRow | None = None,
    every: bool = False,
) -> Verdict | UniversalVerdict:
    """Decide a property: for every possible input, around one, or for a share of some.

    ``on_row`` is told of each row as soon as its verdict is known; None if the assumption is not about it.
    With ``every``, all rows are looked at, also when the outcome is certain.
    """
    if eta is not None and X is None:
        raise InvalidInputError("eta is a share of rows: pass X as well.")
    if x is not None and X is not None:
        raise InvalidInputError("Pass x, one input, or X, several, not both.")
    if x is None and eta is None and allowed is not None:
        raise InvalidInputError("What may change is said of an input: pass x, or X and eta.")
    rules = stated.rules(allowed or Allowed())
    rows = None if X is None else input_rows(X, stated.model)
    if eta is not None:
        assert rows is not None

        def ask(row: NDArray[np.uint8]) -> StatementQuery:
            return stated.query(row, epsilon, rules)

        return _share(stated, ask, rows, eta, timeout, engine, certificate, on_row, every=every)
    query = stated.query(None if x is None else input_row(x, stated.model), epsilon, rules)
    if rows is not None and engine == "auto":
        query = replace(query, hints=stated.hints(rows, query))
    verdict = decide(query, timeout=timeout, engine=engine, certificate=certificate)
    verdict = replace(verdict, as_rounded=stated.as_rounded(verdict, around=x is not None))
    rests_on_rounding = partial(stated.unsettled, around=x is not None)
    return noted(verdict, query, stated.notes_of(verdict), rests_on_rounding)


def _share(
    stated: Stated,
    ask: Callable[[NDArray[np.uint8]], StatementQuery],
    rows: NDArray[np.uint8],
    eta: Fraction | float | str,
    timeout: float | None,
    engine: str,
    certificate: bool,
    on_row: OnRow | None,
    *,
    every: bool,
) -> UniversalVerdict:
    """Decide a property for a share of those rows that its assumption is about."""
    check_some(rows)
    fraction = exact_fraction(eta)
    name = prepared(ask(rows[0]), engine, certificate)[0].name
    start, deadline = time.perf_counter(), Deadline(check_timeout(timeout))
    met: list[bool | None] = []
    for place, is_met in enumerate(rows_met(stated.statement, rows, ask, deadline)):
        met.append(is_met)
        if is_met is False and on_row is not None:
            on_row(place, None)
    places = [place for place, is_met in enumerate(met) if is_met is not False]

    def judge(number: int, verdict: Verdict) -> Verdict:
        verdict = unless_in_doubt(verdict) if met[places[number]] is None else verdict
        if on_row is not None:
            on_row(places[number], verdict)
        return verdict

    if places:
        left = deadline.remaining()
        result = decide_share(
            ask,
            rows[places],
            fraction,
            timeout=None if left is None else max(1e-3, left),
            timeout_per_input=None,
            engine=name,
            certificate=certificate,
            judge=judge,
            every=every,
        )
    else:
        result = UniversalVerdict(Status.HOLDS, 0.0, name, (), 0, 0, fraction, vacuous=True)
    assuming = stated.statement.assume != TRUE
    result = replace(result, as_rounded=stated.as_rounded(result, around=True))
    return replace(
        result,
        seconds=time.perf_counter() - start,
        about=tuple(places) if assuming else None,
        detail=joined(result.detail, about_rows(met) if assuming else "", *stated.notes_of(result)),
    )
