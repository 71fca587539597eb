"""Functions that ask a question about one input, or about all inputs: they compile and decide it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Classifier, Model
from tmverify.model.inputs import Row, Rows, input_rows
from tmverify.model.names import named_first
from tmverify.properties import Query, Radius, Verdict, equivalence_query, robustness_query, similarity_query
from tmverify.properties.allowed import Allowed, Columns, Costs, Direction, Distance, Features, Within
from tmverify.properties.questions import DEFAULT_TIMEOUT
from tmverify.properties.scope import Scope
from tmverify.verify.verdict import decide, nearest


def check_robustness(
    model: Classifier,
    x: Row,
    epsilon: int,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    margin: int = 0,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict:
    """Can changes of ``x`` that cost at most ``epsilon`` alter the decision? HOLDS means: no.

    Only inputs that can exist are considered: a change is one of a column, to another of its values. Where
    every column is a bit (pictures, texts, models without a space), it is a flip.

    Parameters
    ----------
    model : Model
    x : array of 0 and 1, (n_features,); or a raw row
        A raw row is a mapping or a series with the columns of ``model.space``; or the text, or the picture,
        where the model reads such.
    epsilon : int
        What changes may cost together; by default, how many columns may change.
    scope : "team" or a class label
        Whose decision is asked about: the machine's (its argmax or sign), or that of one class's machine.
    distance : {"columns", "steps", "bits"}
        What is counted. "columns": each changed column costs 1. "steps": a number costs the cuts that it
        crosses, a category 1. "bits": any bits flip by themselves, the paper's definition, which takes inputs
        for possible that no row has.
    columns, freeze : column names, optional
        Only these may change; these may not.
    increase, decrease : column names, optional
        Numbers that may only grow, or only fall; flags that may only be set, or only be cleared.
    within : mapping of column names, optional
        The values that a column may change to: ``{"age": (18, 65), "city": ["Oslo", "Bergen"]}``.
    cost : mapping of column names to int, optional
        What a change of a column costs (of one step, where steps are counted), instead of 1.
    known_values : bool
        Whether columns change to values only that training has seen: to no missing value, and to no unseen
        one. Columns that ``within`` names change to the values that it gives.
    features : mask of 0/1 or bool, (n_features,), or feature names; optional
        Only these bits may change, where every column is a bit or the distance is "bits". The features of a
        model without names are called x0, x1, …
    direction : {"add", "remove"}, optional
        Bits may only be set, or only be cleared; likewise.
    margin : int
        The decision must stand by at least so many votes: one that stands by fewer counts as altered. 0: the
        decision as such, ties as the model declares them.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    engine : {"auto", "search", "sat", "paper", "brute"}
    certificate : bool
        Whether to write down the evidence (``.certificate`` of the result); the engines ``"auto"``,
        ``"search"`` and ``"sat"`` can do that.

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidInputError
    """
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    query = robustness_query(model, x, epsilon, scope=scope, allowed=allowed, margin=margin)
    return decide(query, timeout=timeout, engine=engine, certificate=certificate)


def check_similarity(
    a: Model,
    b: Model,
    x: Row,
    epsilon: int,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    margin: int = 0,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict:
    """Do two models agree on every input within ``epsilon`` changes of ``x``? HOLDS means: yes.

    The models must be comparable, as in ``check_equivalence``; the other arguments are those of
    ``check_robustness``.
    """
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    query = similarity_query(a, b, x, epsilon, scope=scope, allowed=allowed, margin=margin)
    return decide(query, timeout=timeout, engine=engine, certificate=certificate)


def check_equivalence(
    a: Model,
    b: Model,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    X: Rows | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict:
    """Do two models agree on every possible input? HOLDS means: yes.

    Parameters
    ----------
    a, b : Model
        They must read the same features, in the same order and with the same names if both have some, and
        have the same classes.
    distance : {"columns", "bits"}
        "bits": also inputs that no row can be.
    X : array of 0 and 1, (n, n_features), or raw rows; optional
        Inputs at and around which to look for a disagreement first, such as the data that the models are
        meant for. They affect only the speed, and only ``"auto"`` uses them.
    scope, timeout, engine, certificate
        As in ``check_robustness``.

    Returns
    -------
    Verdict
        ``.engine`` is ``"structure"`` if the models were proved equivalent because their sums cancel,
        ``"hunt"`` if a disagreement was found without an exact search.

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> import tmverify as tv
    >>> a = tv.Model.from_clauses(2, [[1], [2]], [[1, -1]])
    >>> split = tv.Model.from_clauses(2, [[2], [1, 2], [1, -2]], [[-1, 1, 1]])
    >>> tv.check_equivalence(a, split).status
    <Status.HOLDS: 'holds'>
    """
    query = equivalence_query(a, b, scope=scope, allowed=Allowed(distance))
    if X is not None:
        hints = possible_hints(input_rows(X, named_first((a, b))), query)
        query = replace(query, hints=hints if engine == "auto" and len(hints) else None)
    return decide(query, timeout=timeout, engine=engine, certificate=certificate)


def possible_hints(hints: NDArray[np.uint8], query: Query) -> NDArray[np.uint8]:
    """The rows that lie in the query's region, which is every possible input."""
    space = query.region.space
    return hints if space is None else hints[space.possible(hints)]


def robustness_radius(
    model: Classifier,
    x: Row,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    margin: int = 0,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """The cost of the cheapest change of ``x`` that alters the decision, exactly; by default, in columns.

    Parameters
    ----------
    model, x, scope, distance, columns, freeze, increase, decrease, within, cost, known_values, features,
    direction, margin, timeout, engine
        As in ``check_robustness``.
    certificate : bool
        Whether to write down the evidence (``.certificate`` of the result): the witness, and a proof that
        nothing cheaper is enough. The engines ``"auto"``, ``"search"`` and ``"sat"`` can do that.

    Returns
    -------
    Radius
        ``.radius`` is None if a limit was reached first; ``.lower`` and ``.upper`` are valid even then.

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> import tmverify as tv
    >>> either = tv.Model.from_clauses(3, [[1], [2]], [[1, 1]], bias=-1)
    >>> r = tv.robustness_radius(either, [1, 1, 0])
    >>> r.radius, r.flips.tolist()
    (2, [0, 1])
    """
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    query = robustness_query(model, x, None, scope=scope, allowed=allowed, margin=margin)
    return nearest(query, timeout=timeout, engine=engine, certificate=certificate)


def similarity_radius(
    a: Model,
    b: Model,
    x: Row,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    margin: int = 0,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """How far from ``x`` is the nearest input on which two models disagree? 0 means ``x`` itself.

    The models must read the same features and have the same classes; the other arguments and the result are
    those of ``robustness_radius``. The radius is infinite if they agree on every input that is allowed.
    """
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    query = similarity_query(a, b, x, None, scope=scope, allowed=allowed, margin=margin)
    return nearest(query, timeout=timeout, engine=engine, certificate=certificate)
