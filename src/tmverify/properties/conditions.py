"""What decisions mean as conditions on scores: the ways to decide a class, by how much, and to fail to.

A condition is a disjunction of *cases*, a case a conjunction of ``(terms, bound)``, each meaning ``sum of
coefficient * score[row] over terms >= bound``. Everything is exact, ties and clamp included.

Binary, with t the least score that means class 1:  says 1 iff s >= t;  says 0 iff -s >= 1 - t.

Argmax, the lowest index winning ties. Row r *beats* c iff s_r > s_c, or s_r = s_c and r < c; that is
s_r - s_c >= [r > c]. The model says c iff no row beats c, and something else iff some row does.

With a clamp T >= 1, q(s) = min(max(s, -T), T) is compared instead:

- q(s_r) >= q(s_c)  iff  s_r >= s_c, or s_r >= T, or s_c <= -T;
- q(s_r) >  q(s_c)  iff  s_r > s_c and s_r > -T and s_c < T;
- c wins in one of three ways: s_c >= T and every lower row is below T; or -T < s_c < T and the plain
  comparison holds with every row; or s_c <= -T, no row is lower in index, and all others are <= -T too.

*Margins.* A decision for one of the classes S stands by m >= 1 votes iff every row r outside of S has a row c
of S with q(s_c) - q(s_r) >= m. It fails to iff for some r and all c: q(s_r) >= q(s_c) - k, with k = m - 1;
that is  s_r - s_c >= -k,  or  s_r >= T - k,  or  s_c <= k - T  (if k < 2 T; else nothing stands by so much).
So it stands by m iff some c of S is ahead of each such r:  s_c - s_r >= m  and, with a clamp,  s_r <= T - m
and  s_c >= m - T.  A binary machine stands by m iff s >= max(t, m), or for class 0 -s >= max(1 - t, m).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier, Model
from tmverify.model.evaluate import least_positive_score

MOST_VOTES = 1 << 31


Terms = tuple[tuple[int, int], ...]
Condition = tuple[Terms, int]
Case = tuple[Condition, ...]


def check_margin(margin: object, *models: Classifier) -> int:
    """``margin`` as an int, or InvalidInputError: one by which decisions of these models can stand."""
    if isinstance(margin, bool) or not isinstance(margin, int | np.integer) or not 0 <= margin < MOST_VOTES:
        raise InvalidInputError(
            f"margin must be a number of votes, from 0 to {MOST_VOTES - 1}. Got {shown(margin)} instead."
        )
    for model in models:
        clamp: int | None = getattr(model, "clamp", None)
        most = None if clamp is None else clamp * min(2, model.n_outputs)
        if most is not None and margin > most:
            raise InvalidInputError(
                f"margin must be at most {most}: the model's scores are cut to ±{clamp}, so no "
                f"decision stands by more. Got {shown(margin)} instead."
            )
    return int(margin)


def decides(model: Model, first_row: int, c: int) -> list[Case]:
    """Cases in which ``model``, whose score rows start at ``first_row``, says class index ``c``."""
    if model.n_outputs == 1:
        return [_binary(model, first_row, c)]
    rivals = [r for r in range(model.n_outputs) if r != c]
    plain = tuple(_margin(first_row, c, r, int(r < c)) for r in rivals)
    T = model.clamp
    if T is None:
        return [plain]
    saturated = (at_least(first_row + c, T), *(at_most(first_row + r, T - 1) for r in rivals if r < c))
    between = (at_least(first_row + c, 1 - T), at_most(first_row + c, T - 1), *plain)
    cases = [saturated, between]
    if c == 0:
        cases.append(tuple(at_most(first_row + r, -T) for r in range(model.n_outputs)))
    return cases


def stands(model: Model, first_row: int, classes: Sequence[int], margin: int) -> Iterator[Case]:
    """Cases in which ``model`` says one of these class indices by at least ``margin`` >= 1 votes."""
    assert margin
    if model.n_outputs == 1:
        (c,) = classes
        t = least_positive_score(model.tie)
        yield ((at_least(first_row, max(t, margin)) if c else at_most(first_row, -max(1 - t, margin))),)
        return
    rivals = [r for r in range(model.n_outputs) if r not in classes]
    T = model.clamp
    for c in classes:
        ahead = tuple(_margin(first_row, c, r, margin) for r in rivals)
        low = () if T is None else tuple(at_most(first_row + r, T - margin) for r in rivals)
        high = () if T is None else (at_least(first_row + c, margin - T),)
        yield (*high, *low, *ahead)


def fails(model: Model, first_row: int, classes: Sequence[int], margin: int = 0) -> Iterator[Case]:
    """Cases in which ``model`` does not say one of these class indices by at least ``margin`` votes."""
    for r in range(len(model.classes)):
        if r not in classes:
            for cases in product(*(_not_behind(model, first_row, r, c, margin) for c in classes)):
                yield sum(cases, ())


def _not_behind(model: Model, first_row: int, r: int, c: int, margin: int) -> list[Case]:
    """Cases in which class r has not at least ``margin`` votes less than class c; for 0, in which it wins."""
    T = model.clamp
    if model.n_outputs == 1:
        if not margin:
            return [_binary(model, first_row, r)]
        t = least_positive_score(model.tie)
        if c == 1:
            return [(at_most(first_row, max(t, margin) - 1),)]
        return [(at_least(first_row, 1 - max(1 - t, margin)),)]
    if margin:
        behind = margin - 1  # at most so many votes
        close = _margin(first_row, r, c, -behind)
        if T is None:
            return [(close,)]
        return [(close,), (at_least(first_row + r, T - behind),), (at_most(first_row + c, behind - T),)]
    ahead = _margin(first_row, r, c, int(r > c))
    if T is None:
        return [(ahead,)]
    if r < c:
        return [(ahead,), (at_least(first_row + r, T),), (at_most(first_row + c, -T),)]
    return [(ahead, at_least(first_row + r, 1 - T), at_most(first_row + c, T - 1))]


def _binary(model: Model, row: int, c: int) -> Case:
    t = least_positive_score(model.tie)
    return (at_least(row, t),) if c == 1 else (at_most(row, t - 1),)


def _margin(first_row: int, winner: int, loser: int, margin: int) -> Condition:
    return ((first_row + winner, 1), (first_row + loser, -1)), margin


def at_least(row: int, bound: int) -> Condition:
    return ((row, 1),), bound


def at_most(row: int, bound: int) -> Condition:
    return ((row, -1),), -bound


def lead_of(terms: Sequence[tuple[int, int]], bound: int, clamp: int | None) -> Iterator[Case]:
    """Cases in which scores, cut by ``clamp``, each times its factor, add up to at least ``bound``."""
    if clamp is None:
        yield ((tuple(terms), bound),)
        return
    for sides in product((-1, 0, 1), repeat=len(terms)):
        case: list[Condition] = []
        rest, left = bound, []
        for (row, k), side in zip(terms, sides, strict=True):
            if side:
                case.append(at_least(row, clamp) if side > 0 else at_most(row, -clamp))
                rest -= side * k * clamp
            else:
                case += [at_least(row, 1 - clamp), at_most(row, clamp - 1)]
                left.append((row, k))
        if left:
            yield (*case, (tuple(left), rest))
        elif rest <= 0:
            yield tuple(case)
