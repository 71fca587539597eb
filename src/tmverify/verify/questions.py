"""Functions that ask a question about one input, or about all inputs: they compile and decide it."""

from __future__ import annotations

from dataclasses import replace

from tmverify.model import Classifier, Model
from tmverify.model.inputs import Row, Rows, input_rows
from tmverify.model.names import named_first
from tmverify.properties import Radius, Verdict, equivalence_query, robustness_query, similarity_query
from tmverify.properties.questions import DEFAULT_TIMEOUT
from tmverify.properties.region import Direction, Features
from tmverify.properties.scope import Scope, check_classifier, check_model
from tmverify.verify.verdict import decide, nearest


def check_robustness(
    model: Classifier,
    x: Row,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict:
    """Can at most ``epsilon`` flipped bits of ``x`` change the decision? HOLDS means: no.

    Parameters
    ----------
    model : Model
    x : array of 0 and 1, (n_features,); or a raw row
        A raw row is a mapping or a series with the columns of ``model.space``; or the text, or the picture,
        where the model reads such.
    epsilon : int
        0 <= epsilon <= n_features.
    scope : "team" or a class label
        Whose decision is asked about: the machine's (its argmax or sign), or that of one class's machine.
    features : mask of 0/1 or bool, (n_features,), or feature names; optional
        Only these features may change. The features of a model without names are called x0, x1, …
    direction : {"add", "remove"}, optional
        Bits may only be set, or only be cleared.
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
    query = robustness_query(model, x, epsilon, scope=scope, features=features, direction=direction)
    return decide(query, timeout=timeout, engine=engine, certificate=certificate)


def check_similarity(
    a: Model,
    b: Model,
    x: Row,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict:
    """Do two models agree on every input within ``epsilon`` flips of ``x``? HOLDS means: yes.

    The models must be comparable, as in ``check_equivalence``; the other arguments are those of
    ``check_robustness``.
    """
    query = similarity_query(a, b, x, epsilon, scope=scope, features=features, direction=direction)
    return decide(query, timeout=timeout, engine=engine, certificate=certificate)


def check_equivalence(
    a: Model,
    b: Model,
    *,
    scope: Scope = "team",
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
    query = equivalence_query(a, b, scope=scope)
    if X is not None:
        hints = input_rows(X, named_first((a, b)))
        query = replace(query, hints=hints if engine == "auto" and len(hints) else None)
    return decide(query, timeout=timeout, engine=engine, certificate=certificate)


def robustness_radius(
    model: Classifier,
    x: Row,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """The least number of flipped bits of ``x`` that changes the decision, exactly.

    Parameters
    ----------
    model, x, scope, features, direction, timeout, engine
        As in ``check_robustness``.
    certificate : bool
        Whether to write down the evidence (``.certificate`` of the result): the witness, and a proof that no
        fewer flips are enough. The engines ``"auto"``, ``"search"`` and ``"sat"`` can do that.

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
    n = check_classifier(model, "model").n_features
    query = robustness_query(model, x, n, scope=scope, features=features, direction=direction)
    return nearest(query, timeout=timeout, engine=engine, certificate=certificate)


def similarity_radius(
    a: Model,
    b: Model,
    x: Row,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """How many flips from ``x`` is the nearest input on which two models disagree? 0 means ``x`` itself.

    The models must read the same features and have the same classes; the other arguments and the result are
    those of ``robustness_radius``. The radius is infinite if they agree on every input that is allowed.
    """
    n = check_model(a, "a").n_features
    query = similarity_query(a, b, x, n, scope=scope, features=features, direction=direction)
    return nearest(query, timeout=timeout, engine=engine, certificate=certificate)
