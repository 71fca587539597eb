"""``explain``, ``explanations``, ``importance``: which facts suffice for a decision, which changes alter it.

``find_explanation`` and ``find_explanations`` are the same with what may change as one argument.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier, Label
from tmverify.model.inputs import Row
from tmverify.progress import ProgressBar
from tmverify.properties import Status, StopReason
from tmverify.properties.allowed import (
    Allowed,
    Columns,
    Costs,
    Direction,
    Distance,
    Features,
    Rules,
    Within,
)
from tmverify.properties.scope import Scope
from tmverify.verify.explainer import Explainer
from tmverify.verify.explanation import Explanation, Kind
from tmverify.verify.reasons import Gap, Sufficient, Told

EXPLAIN_TIMEOUT = 60.0
MOST_EXPLANATIONS = 100
MOST_LISTED = 100_000


def explain(
    model: Classifier,
    x: Row,
    *,
    kind: Kind = "sufficient",
    within: int | Within | None = None,
    smallest: bool = False,
    widen: bool = False,
    target: Label | None = None,
    epsilon: int | None = None,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = EXPLAIN_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
    progress: bool = False,
) -> Explanation:
    """Why is ``x`` decided so? The facts that suffice for it, or the changes that alter it, proved.

    Parameters
    ----------
    kind : {"sufficient", "contrastive"}
        A set of columns such that every possible input with the values that ``x`` has there is decided like
        ``x``; or a set of columns whose change, all others kept, can alter the decision. No column of it can
        be left out.
    within : int or mapping, optional
        An integer: only inputs within so many changes of ``x`` are considered (``epsilon`` of other
        questions). A mapping: the values that columns may change to, as in ``check_robustness``. For both,
        pass ``epsilon`` and a mapping.
    smallest : bool
        Whether no other reason may have fewer columns; this can take much longer.
    widen : bool
        Whether to make the values of a sufficient reason as many as can be: "age over 25" instead of
        "age 25 to 40".
    target : label, optional
        Asks "why not this class?": inputs that are decided otherwise count as long as it is not this.
    timeout : float or None
        Seconds for the whole call. After them, what is known is returned.
    certificate : bool
        Whether to write down the evidence, for the checker.
    progress : bool
        Whether to show a progress bar.
    model, x, scope, distance, columns, freeze, increase, decrease, cost, known_values, features, direction,
    engine
        As in ``check_robustness``.

    Returns
    -------
    Explanation

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> import tmverify as tv
    >>> space = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 40]), tv.Flag("member")])
    >>> model = tv.Model.from_clauses(
    ...     4, [[1], [3], [2, 4]], [[1, 1, 1]], bias=-1, space=space, classes=("no", "yes")
    ... )
    >>> why = tv.explain(model, {"owner": 0, "age": 50, "member": 0}, widen=True)
    >>> print(why)
    IF age over 40 THEN yes
    >>> print(tv.explain(model, {"owner": 0, "age": 20, "member": 1}, kind="contrastive"))
    IF owner 0 → 1 THEN yes instead of no
    """
    values, epsilon = _limits(within, epsilon)
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, values, cost, known_values, features, direction
    )
    with ProgressBar("explaining", 1, wanted=progress) if progress else nullcontext() as bar:
        return find_explanation(
            model,
            x,
            kind=kind,
            epsilon=epsilon,
            smallest=smallest,
            widen=widen,
            target=target,
            scope=scope,
            allowed=allowed,
            timeout=timeout,
            engine=engine,
            certificate=certificate,
            told=None if bar is None else told_to(bar),
        )


def explanations(
    model: Classifier,
    x: Row,
    *,
    limit: int = MOST_EXPLANATIONS,
    kind: Kind | None = None,
    within: int | Within | None = None,
    target: Label | None = None,
    epsilon: int | None = None,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = EXPLAIN_TIMEOUT,
    engine: str = "auto",
) -> Explanations:
    """All minimal reasons for the decision on ``x``, of both kinds, one by one as they are found.

    Parameters
    ----------
    limit : int
        How many, at most.
    kind : {"sufficient", "contrastive"}, optional
        Only these.
    model, x, within, target, epsilon, scope, distance, columns, freeze, increase, decrease, cost,
    known_values, features, direction, timeout, engine
        As in ``explain``.

    Returns
    -------
    Explanations
        An iterator of Explanation; afterwards its ``complete`` says whether there are no others.

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> import tmverify as tv
    >>> model = tv.Model.from_clauses(3, [[1], [2, 3]], [[1, 1]], bias=-1)
    >>> found = tv.explanations(model, [1, 1, 1])
    >>> for reason in found:
    ...     print(reason.kind, sorted(reason.columns))
    contrastive ['x0', 'x1']
    sufficient ['x0']
    contrastive ['x0', 'x2']
    sufficient ['x1', 'x2']
    >>> found.complete
    True
    """
    values, epsilon = _limits(within, epsilon)
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, values, cost, known_values, features, direction
    )
    return find_explanations(
        model,
        x,
        limit=limit,
        kind=kind,
        epsilon=epsilon,
        target=target,
        scope=scope,
        allowed=allowed,
        timeout=timeout,
        engine=engine,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """How much each column matters: the share of sufficient reasons that have it.

    Attributes
    ----------
    shares : mapping of str to float
        Largest first; columns in no reason are left out.
    n_reasons : int
        How many sufficient reasons were found.
    complete : bool
        Whether they are all that there are; if not, shares are of those found.
    seconds : float
    stop_reason, detail
        Why it is not complete.
    """

    shares: Mapping[str, float]
    n_reasons: int
    complete: bool
    seconds: float
    stop_reason: StopReason | None = None
    detail: str = ""

    def __repr__(self) -> str:
        top = ", ".join(f"{name} {share:.0%}" for name, share in list(self.shares.items())[:5])
        known = "all" if self.complete else "the first"
        return f"<importance in {known} {self.n_reasons} sufficient reasons: {top}>"

    def _repr_html_(self) -> str:
        from tmverify.verify.card import importance_card

        return importance_card(self)


def importance(
    model: Classifier,
    x: Row,
    *,
    limit: int = MOST_EXPLANATIONS,
    within: int | Within | None = None,
    target: Label | None = None,
    epsilon: int | None = None,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = EXPLAIN_TIMEOUT,
    engine: str = "auto",
) -> Importance:
    """How much each column matters for the decision on ``x``: the share of sufficient reasons that have it.

    The arguments are those of ``explanations``; ``limit`` is how many sufficient reasons are looked at, at
    most. It is exact if ``complete``.

    Examples
    --------
    >>> import tmverify as tv
    >>> model = tv.Model.from_clauses(3, [[1, 2], [1, 3]], [[1, 1]], bias=-1)
    >>> dict(tv.importance(model, [1, 1, 1]).shares)
    {'x0': 1.0, 'x1': 0.5, 'x2': 0.5}
    """
    start = time.perf_counter()
    found = explanations(
        model,
        x,
        limit=limit,
        kind="sufficient",
        within=within,
        target=target,
        epsilon=epsilon,
        scope=scope,
        distance=distance,
        columns=columns,
        freeze=freeze,
        increase=increase,
        decrease=decrease,
        cost=cost,
        known_values=known_values,
        features=features,
        direction=direction,
        timeout=timeout,
        engine=engine,
    )
    return importance_in(list(found), found, time.perf_counter() - start)


def importance_in(reasons: Iterable[Explanation], found: Explanations, seconds: float) -> Importance:
    """How much each column matters in these sufficient reasons; ``found`` knows whether they are all."""
    counts: Counter[tuple[int, str]] = Counter()
    n = 0
    for reason in reasons:
        n += 1
        counts.update(zip(reason.places, reason.columns, strict=True))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))  # not in the order of discovery
    shares = {column: count / n for (_, column), count in ordered}
    return Importance(shares, n, found.complete, seconds, found.stop_reason, found.detail)


def find_explanation(
    model: Classifier,
    x: Row,
    *,
    kind: Kind,
    epsilon: int | None,
    smallest: bool,
    widen: bool,
    target: Label | None,
    scope: Scope,
    allowed: Allowed | Rules,
    timeout: float | None,
    engine: str,
    certificate: bool,
    told: Told | None = None,
) -> Explanation:
    """``explain``, with what may change as one argument."""
    _check_kind(kind)
    if widen and kind != "sufficient":
        raise InvalidInputError(
            "Only a sufficient reason can be widened: leave widen out, or ask for kind='sufficient'."
        )
    asked = Explainer(model, x, epsilon, target, scope, allowed, timeout, engine, certificate, told)
    return asked.sufficient(smallest, widen) if kind == "sufficient" else asked.contrastive(smallest)


class Explanations(Iterator[Explanation]):
    """Explanations, as they are found.

    Attributes
    ----------
    complete : bool
        Whether all that there are have been found, of both kinds.
    stop_reason, detail
        Why not, in the end.
    """

    def __init__(self, asked: Explainer, kind: Kind | None, limit: int) -> None:
        self.complete = False
        self.stop_reason: StopReason | None = None
        self.detail = ""
        self._asked, self._kind, self._limit = asked, kind, limit
        self._found = self._run()

    def __next__(self) -> Explanation:
        return next(self._found)

    def _run(self) -> Iterator[Explanation]:
        n = 0
        for reason in self._asked.reasons.all():
            if isinstance(reason, Gap):
                self.stop_reason, self.detail = reason
                return
            if self._kind == "contrastive" and isinstance(reason, Sufficient):
                continue  # it rests on contrastive ones, which were replayed when they came
            explanation = self._asked.as_explanation(reason)
            if explanation.sufficient is not Status.HOLDS or explanation.minimal == "open":
                self.stop_reason, self.detail = explanation.stop_reason, explanation.detail
                return
            if self._kind in (None, explanation.kind):
                if n == self._limit:
                    self.detail = f"there are more than {self._limit}"
                    return
                n += 1
                yield explanation
        self.complete = True


def find_explanations(
    model: Classifier,
    x: Row,
    *,
    limit: int,
    kind: Kind | None,
    epsilon: int | None,
    target: Label | None,
    scope: Scope,
    allowed: Allowed | Rules,
    timeout: float | None,
    engine: str,
) -> Explanations:
    """``explanations``, with what may change as one argument."""
    if kind is not None:
        _check_kind(kind)
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or not 1 <= limit <= MOST_LISTED:
        raise InvalidInputError(
            f"limit must be an integer from 1 to {MOST_LISTED}. Got {shown(limit)} instead."
        )
    asked = Explainer(model, x, epsilon, target, scope, allowed, timeout, engine, False, None)
    return Explanations(asked, kind, int(limit))


def _check_kind(kind: object) -> None:
    if kind not in get_args(Kind):
        raise InvalidInputError(f"kind must be 'sufficient' or 'contrastive'. Got {shown(kind)} instead.")


def _limits(within: Any, epsilon: int | None) -> tuple[Any, int | None]:
    """The values that columns may change to, and the distance: ``within`` can be either."""
    if isinstance(within, int | np.integer) and not isinstance(within, bool):
        if epsilon is not None:
            raise InvalidInputError("within=<number> and epsilon mean the same: give one of them.")
        return None, int(within)
    if within is None or isinstance(within, Mapping) or hasattr(within, "items"):
        return within, epsilon
    raise InvalidInputError(
        "within must be a number of changes, or map column names to the values that they may change to. "
        f"Got {shown(within)} instead."
    )


def told_to(bar: ProgressBar) -> Told:
    """Shows on a bar how many columns are decided."""

    def tell(done: int, total: int) -> None:
        bar.total, bar.done = total, done
        bar.say("explaining")

    return tell
