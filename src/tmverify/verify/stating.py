"""``prove``, ``check_fairness``, ``check_monotonicity``: properties that people can state."""

from __future__ import annotations

from fractions import Fraction
from typing import TypedDict, Unpack, overload

from tmverify.model import Label, Model
from tmverify.model.inputs import Row, Rows
from tmverify.properties import UniversalVerdict, Verdict
from tmverify.properties.allowed import Allowed, Columns
from tmverify.properties.expressions import Expression
from tmverify.properties.meaning import Round
from tmverify.properties.questions import DEFAULT_TIMEOUT
from tmverify.verify.stated import SAME_DECISION, Assumed, Pair, Stated, ask_property, monotone

Share = Fraction | float | str


class How(TypedDict, total=False):
    """What the three functions take besides, so that their signatures for a type checker are short."""

    margin: int
    round: Round | None
    known_values: bool
    x: Row | None
    epsilon: int | None
    X: Rows | None
    allowed: Allowed | None
    timeout: float | None
    engine: str
    certificate: bool


class HowAssumed(How, total=False):
    """The same, with an assumption."""

    assume: str | Expression | None


@overload
def prove(
    model: Model, assume: Assumed, expect: str | Expression, *, eta: None = None, **how: Unpack[How]
) -> Verdict: ...


@overload
def prove(
    model: Model, assume: Assumed, expect: str | Expression, *, eta: Share, **how: Unpack[How]
) -> UniversalVerdict: ...


def prove(
    model: Model,
    assume: Assumed,
    expect: str | Expression,
    *,
    margin: int = 0,
    round: Round | None = None,
    known_values: bool = False,
    x: Row | None = None,
    epsilon: int | None = 0,
    X: Rows | None = None,
    eta: Share | None = None,
    allowed: Allowed | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict | UniversalVerdict:
    """Does every possible input that meets ``assume`` also meet ``expect``? HOLDS means: yes, proved.

    Parameters
    ----------
    model : Model
    assume : text, expression, Pair or None
        What is assumed of an input: ``"age > 60 and savings != 'little'"``; None for nothing. A ``Pair``, or
        a text such as ``"same except sex"``, is about two inputs, a and b.
    expect : text or expression
        What is expected of it: ``"decision == 'good'"``, ``"votes('good') - votes('bad') >= 3"``, and
        conditions on columns. Of a pair: ``"a.decision == b.decision"``.
    margin : int
        Decisions in ``expect`` must stand by at least so many votes; 0: ties as the model declares them.
    round : {"outer", "inner"}, optional
        What to do with a constant between two cuts, which the model can't see; without it, that is an error.
        "outer": the inputs in doubt count, so that HOLDS is right about the constant as it is written.
        "inner": they do not, so that VIOLATED is.
    known_values : bool
        Assume besides that no column of the input, or of either of two, has a missing value or one that
        training has not seen.
    x : a row, optional
        Only inputs within ``epsilon`` changes of this one. Of a pair, this is about a; b differs from it in
        the columns of the pair. By default, epsilon is 0: x itself.
    X : rows, optional
        With ``eta``: the same for each row, and whether it holds for at least this share of them; with an
        assumption, of those around which something possible meets it (``.about`` has their places).
        Without: inputs at which to look for a violation first.
    allowed : Allowed, optional
        What may change around x, as in ``check_robustness``.
    timeout, engine, certificate
        As in ``check_robustness``.

    Returns
    -------
    Verdict, or UniversalVerdict with ``eta``
        ``.witness`` violates it; of a pair, ``.pair`` has both inputs, ``.changes`` says how they differ.
        ``.detail`` says so if nothing possible meets the assumption, and what was rounded.

    Raises
    ------
    InvalidInputError
        Also if an expression is none, or none about this model; the message shows the place.

    Examples
    --------
    >>> import tmverify as tv
    >>> space = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 60]), tv.Category("sex", ["f", "m"])])
    >>> model = tv.Model.from_clauses(
    ...     5, [[1], [3], [5]], [[2, 1, 1]], bias=-2, space=space, classes=("no", "yes")
    ... )
    >>> tv.prove(model, "age > 60 and owner", "decision == 'yes'").status
    <Status.HOLDS: 'holds'>
    >>> v = tv.prove(model, "same except sex", "a.decision == b.decision")
    >>> v.status, [str(change) for change in v.changes]
    (<Status.VIOLATED: 'violated'>, ['sex f → m'])
    """
    stated = Stated(model, assume, expect, margin=margin, round=round, known_values=known_values)
    return ask_property(stated, x, epsilon, X, eta, allowed, timeout, engine, certificate)


@overload
def check_fairness(
    model: Model, protected: Columns, *, eta: None = None, **how: Unpack[HowAssumed]
) -> Verdict: ...


@overload
def check_fairness(
    model: Model, protected: Columns, *, eta: Share, **how: Unpack[HowAssumed]
) -> UniversalVerdict: ...


def check_fairness(
    model: Model,
    protected: Columns,
    *,
    assume: str | Expression | None = None,
    margin: int = 0,
    round: Round | None = None,
    known_values: bool = False,
    x: Row | None = None,
    epsilon: int | None = 0,
    X: Rows | None = None,
    eta: Share | None = None,
    allowed: Allowed | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict | UniversalVerdict:
    """Are any two possible inputs that differ in protected columns alone decided alike? HOLDS means: yes.

    This is fairness as "the same person, another sex": it says nothing about columns that go with a protected
    one, nor about how often each group gets which decision.

    Parameters
    ----------
    protected : column names
    assume : text or expression, optional
        Only pairs of which this is true; columns that both share go by their names, others as a.sex, b.sex.
    model, margin, round, known_values, x, epsilon, X, eta, allowed, timeout, engine, certificate
        As in ``prove``.
    """
    stated = Stated(
        model, Pair(protected, assume), SAME_DECISION, margin=margin, round=round, known_values=known_values
    )
    return ask_property(stated, x, epsilon, X, eta, allowed, timeout, engine, certificate)


@overload
def check_monotonicity(
    model: Model, column: str, toward: Label, *, eta: None = None, **how: Unpack[HowAssumed]
) -> Verdict: ...


@overload
def check_monotonicity(
    model: Model, column: str, toward: Label, *, eta: Share, **how: Unpack[HowAssumed]
) -> UniversalVerdict: ...


def check_monotonicity(
    model: Model,
    column: str,
    toward: Label,
    *,
    assume: str | Expression | None = None,
    margin: int = 0,
    round: Round | None = None,
    known_values: bool = False,
    x: Row | None = None,
    epsilon: int | None = 0,
    X: Rows | None = None,
    eta: Share | None = None,
    allowed: Allowed | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict | UniversalVerdict:
    """Does raising a column, all else equal, never turn the decision away from ``toward``? HOLDS means: yes.

    Of any two possible inputs a and b that differ in the column alone, where b has as much of it or more: if
    a is decided ``toward``, and stands by at least ``margin`` votes, then so is b, by at least as many.

    Parameters
    ----------
    column : str
        A number, or a flag. To or from a missing value nothing is raised.
    toward : label
        The class that more of it should only favour.
    margin : int
        By how many votes both decisions stand; a that stands by fewer says nothing. 0: ties as the model
        declares them.
    assume, model, round, known_values, x, epsilon, X, eta, allowed, timeout, engine, certificate
        As in ``check_fairness``.
    """
    stated = monotone(
        model, column, toward, assume=assume, margin=margin, round=round, known_values=known_values
    )
    return ask_property(stated, x, epsilon, X, eta, allowed, timeout, engine, certificate)
