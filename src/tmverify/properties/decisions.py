"""Decisions as vote constraints: "the model says class c", "the model says something else".

A condition on scores is a disjunction of cases, a case a conjunction of ``(terms, bound)``, each meaning
``sum of coefficient * score[row] over terms >= bound``. Everything is exact, ties and clamp included.

Binary, with t the least score that means class 1:  says 1 iff s >= t;  says 0 iff -s >= 1 - t.

Argmax, the lowest index winning ties. Row r *beats* c iff s_r > s_c, or s_r = s_c and r < c; that is
s_r - s_c >= [r > c]. The model says c iff no row beats c, and something else iff some row does.

With a clamp T >= 1, q(s) = min(max(s, -T), T) is compared instead:

- q(s_r) >= q(s_c)  iff  s_r >= s_c, or s_r >= T, or s_c <= -T;
- q(s_r) >  q(s_c)  iff  s_r > s_c and s_r > -T and s_c < T;
- c wins in one of three ways: s_c >= T and every lower row is below T; or -T < s_c < T and the plain
  comparison holds with every row; or s_c <= -T, no row is lower in index, and all others are <= -T too.
"""

from __future__ import annotations

from tmverify.model import Model
from tmverify.model.evaluate import least_positive_score

Terms = tuple[tuple[int, int], ...]
Condition = tuple[Terms, int]
Case = tuple[Condition, ...]


def decides(model: Model, first_row: int, c: int) -> list[Case]:
    """Cases in which ``model``, whose score rows start at ``first_row``, says class index ``c``."""
    if model.n_outputs == 1:
        return [_binary(model, first_row, c)]
    rivals = [r for r in range(model.n_outputs) if r != c]
    plain = tuple(_margin(first_row, c, r, int(r < c)) for r in rivals)
    T = model.clamp
    if T is None:
        return [plain]
    saturated = (_at_least(first_row + c, T), *(_at_most(first_row + r, T - 1) for r in rivals if r < c))
    between = (_at_least(first_row + c, 1 - T), _at_most(first_row + c, T - 1), *plain)
    cases = [saturated, between]
    if c == 0:
        cases.append(tuple(_at_most(first_row + r, -T) for r in range(model.n_outputs)))
    return cases


def differs(model: Model, first_row: int, c: int) -> list[Case]:
    """Cases in which ``model``, whose score rows start at ``first_row``, does not say class index ``c``."""
    if model.n_outputs == 1:
        return [_binary(model, first_row, 1 - c)]
    return [case for r in range(model.n_outputs) if r != c for case in _beats(model, first_row, r, c)]


def _beats(model: Model, first_row: int, r: int, c: int) -> list[Case]:
    ahead = _margin(first_row, r, c, int(r > c))
    T = model.clamp
    if T is None:
        return [(ahead,)]
    if r < c:
        return [(ahead,), (_at_least(first_row + r, T),), (_at_most(first_row + c, -T),)]
    return [(ahead, _at_least(first_row + r, 1 - T), _at_most(first_row + c, T - 1))]


def _binary(model: Model, row: int, c: int) -> Case:
    t = least_positive_score(model.tie)
    return (_at_least(row, t),) if c == 1 else (_at_most(row, t - 1),)


def _margin(first_row: int, winner: int, loser: int, margin: int) -> Condition:
    return ((first_row + winner, 1), (first_row + loser, -1)), margin


def _at_least(row: int, bound: int) -> Condition:
    return ((row, 1),), bound


def _at_most(row: int, bound: int) -> Condition:
    return ((row, -1),), -bound
