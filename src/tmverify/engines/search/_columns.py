"""The steps of the tree search where columns have options with costs: what ``_tree`` does with flips.

A node has ruled out some options; those left are *alive*. With low_c the least cost of column c's alive
options, ``slack = radius - sum_c low_c`` is what may be spent beyond that, and an option is *feasible* if it
costs at most slack more than low_c. The bound is linear in atoms, so a move gains the sum of the credits of
the atoms that it makes true, and for any price p >= 0 of the budget

    votes  <=  constant + p slack + sum_c max over feasible options of (gain - p (cost - low_c))

The least of these over whole p is the bound. It is reached from ``p1`` to ``p2``; both prices rule out every
option that would bring the sum below the need. If each column may change at cost 1, p2 is the slack-th
largest gain and p1 the next one, and the sum is that of the largest gains: ``_bound.choose_flips``.
"""

import numpy as np

from tmverify.engines.search._bound import FREE, kth_largest
from tmverify.engines.search._moves import holds_in
from tmverify.kernels.jit import kernel, part

_NONE = np.int64(-1)
_LITTLE = -(np.int64(1) << 62)
_UPGRADES = 16


@part
def rule_out(option, problem, moves, state, moving, mark):  # type: ignore[no-untyped-def]
    """Rule out an option, and count the literals that become false in each clause."""
    counts = state.counts
    state.trail[counts[0]] = option
    moving.marks[counts[0]] = mark
    counts[0] += 1
    c = moving.home[option]
    moving.alive[option] = False
    moving.n_alive[c] -= 1
    for a in range(moves.atoms_first[c], moves.atoms_first[c + 1]):
        if holds_in(moves.masks, a, option - moves.first[c]):
            moving.inside[a] -= 1
        if state.fixed[a] == FREE and (moving.inside[a] == 0 or moving.inside[a] == moving.n_alive[c]):
            value = np.int8(moving.inside[a] > 0)
            state.fixed[a] = value
            for k in range(problem.where[a], problem.where[a + 1]):
                if problem.waking[k] != value:
                    state.dead[problem.clauses[k]] += 1


@part
def bring_back_last(problem, moves, state, moving):  # type: ignore[no-untyped-def]
    """Undo the last ``rule_out``; returns its mark."""
    counts = state.counts
    counts[0] -= 1
    option = np.int64(state.trail[counts[0]])
    c = moving.home[option]
    moving.alive[option] = True
    moving.n_alive[c] += 1
    for a in range(moves.atoms_first[c], moves.atoms_first[c + 1]):
        if holds_in(moves.masks, a, option - moves.first[c]):
            moving.inside[a] += 1
        if state.fixed[a] != FREE and 0 < moving.inside[a] < moving.n_alive[c]:
            for k in range(problem.where[a], problem.where[a + 1]):
                if problem.waking[k] != state.fixed[a]:
                    state.dead[problem.clauses[k]] -= 1
            state.fixed[a] = FREE
    return np.int64(moving.marks[counts[0]])


@part
def split_column(option, problem, moves, state, moving):  # type: ignore[no-untyped-def]
    """Give the column its ``option``; the other side, to be tried later, rules the option out."""
    c = moving.home[option]
    mark = np.int64(option)
    for o in range(moves.first[c], moves.first[c + 1]):
        if moving.alive[o] and o != option:
            rule_out(o, problem, moves, state, moving, mark)
            mark = _NONE


@part
def back_to_other_option(problem, moves, state, moving):  # type: ignore[no-untyped-def]
    """Undo everything back to the last split and rule its option out; False if no split is left."""
    counts = state.counts
    mark = _NONE
    while mark < 0:
        if counts[0] == counts[6]:
            return False
        mark = bring_back_last(problem, moves, state, moving)
    rule_out(mark, problem, moves, state, moving, _NONE)
    above = 0
    for k in range(counts[6], counts[0]):
        above += moving.marks[k] >= 0
    if above == 0:
        counts[6] = counts[0]
    return True


@part
def look_at_columns(radius, moves, moving):  # type: ignore[no-untyped-def]
    """Find low_c and which options are feasible; returns the slack, and how many columns have a choice.

    The slack is negative if a column has no option left, or the cheapest ones cost more than the radius.
    """
    first, costs, low = moves.first, moves.costs, moving.low
    slack = np.int64(radius)
    for c in range(len(low)):
        if moving.n_alive[c] == 0:
            return _NONE, 0
        least = -_LITTLE
        for o in range(first[c], first[c + 1]):
            if moving.alive[o] and costs[o] < least:
                least = costs[o]
        low[c] = least
        slack -= least
    choices = 0
    for c in range(len(low)):
        n = 0
        for o in range(first[c], first[c + 1]):
            moving.feasible[o] = moving.alive[o] and costs[o] - low[c] <= slack
            n += moving.feasible[o]
        choices += n > 1
    return slack, choices


@part
def best_value(price, c, moves, moving):  # type: ignore[no-untyped-def]
    """The largest gain - price (cost - low) of a feasible option of column c."""
    best = _LITTLE
    for o in range(moves.first[c], moves.first[c + 1]):
        if moving.feasible[o]:
            best = max(best, moving.gains[o] - price * (moves.costs[o] - moving.low[c]))
    return best


@part
def sum_at(price, slack, moves, moving):  # type: ignore[no-untyped-def]
    """The bound at a price, without the constant."""
    total = price * slack
    for c in range(len(moving.low)):
        total += best_value(price, c, moves, moving)
    return total


@part
def first_price(slack, rises, highest, moves, moving):  # type: ignore[no-untyped-def]
    """The least price from which on the bound does not fall; with ``rises``, from which on it rises."""
    low, high = np.int64(0), highest
    while low < high:
        price = (low + high) // 2
        step = sum_at(price + 1, slack, moves, moving) - sum_at(price, slack, moves, moving)
        if step > 0 or (step == 0 and not rises):
            high = price
        else:
            low = price + 1
    return low


@part
def choose_moves(slack, moves, moving, credits, scratch, flips):  # type: ignore[no-untyped-def]
    """Choose the moves that maximise the bound, or nearly: ``moving.choice``, and ``flips`` for their atoms.

    Returns the bound without the constant, p2 and p1, as ``choose_flips`` does.
    """
    first, costs, gains, rises = moves.first, moves.costs, moving.gains, moving.rises
    n_columns = len(first) - 1
    plain, widest = True, np.int64(0)
    n, total = np.int64(0), np.int64(0)
    for c in range(n_columns):
        free, paid, stays = _LITTLE, _LITTLE, first[c]
        for o in range(first[c], first[c + 1]):
            gains[o] = 0
            if not moving.feasible[o]:
                continue
            for k in range(moves.at[o], moves.at[o + 1]):
                gains[o] += credits[moves.atoms[k]]
            extra = costs[o] - moving.low[c]
            if extra == 0:
                if gains[o] > free:
                    free, stays = gains[o], np.int64(o)
            elif gains[o] > paid:
                paid = gains[o]
            plain &= extra <= 1
        moving.choice[c] = stays
        total += free
        rises[c] = 0
        if paid > free:
            rises[c] = paid - free
            widest = max(widest, paid - free)
            scratch[n] = rises[c]
            n += 1
    p1 = p2 = np.int64(0)
    if slack > 0 and plain:
        if n >= slack:
            p2 = kth_largest(scratch, n, slack)
        if n > slack:
            p1 = kth_largest(scratch, n, slack + 1)
        room = slack
        for c in range(n_columns):
            if rises[c] > p2:
                total += rises[c]
                take_dearer(c, moves, moving)
                room -= 1
        for c in range(n_columns):
            if room > 0 and rises[c] == p2 and p2 > 0:
                total += p2
                take_dearer(c, moves, moving)
                room -= 1
    elif slack > 0:
        p1 = first_price(slack, False, widest, moves, moving)
        p2 = first_price(slack, True, widest, moves, moving) if p1 < widest else p1
        total = sum_at(p1, slack, moves, moving)
        spend(p2 + 1, slack, moves, moving)
    for a in range(len(flips)):
        flips[a] = False
    for c in range(n_columns):
        o = moving.choice[c]
        for k in range(moves.at[o], moves.at[o + 1]):
            flips[moves.atoms[k]] = True
    return total, p2, p1


@part
def take_dearer(c, moves, moving):  # type: ignore[no-untyped-def]
    """Choose the best option of column c that is not among its cheapest."""
    best = _LITTLE
    for o in range(moves.first[c], moves.first[c + 1]):
        if moving.feasible[o] and moves.costs[o] > moving.low[c] and moving.gains[o] > best:
            best = moving.gains[o]
            moving.choice[c] = o


@part
def spend(price, slack, moves, moving):  # type: ignore[no-untyped-def]
    """Choose the best options at a price that keeps within the slack; then spend what is left, greedily."""
    room = slack
    for c in range(len(moving.low)):
        best, paid = _LITTLE, np.int64(0)
        for o in range(moves.first[c], moves.first[c + 1]):
            if moving.feasible[o]:
                extra = moves.costs[o] - moving.low[c]
                value = moving.gains[o] - price * extra
                if value > best or (value == best and extra < paid):
                    best, paid = value, extra
                    moving.choice[c] = o
        room -= paid
    for _ in range(_UPGRADES):
        most, taken, column = np.int64(0), _NONE, np.int64(0)
        for c in range(len(moving.low)):
            now = moving.choice[c]
            for o in range(moves.first[c], moves.first[c + 1]):
                rise = moving.gains[o] - moving.gains[now]
                if moving.feasible[o] and moves.costs[o] - moves.costs[now] <= room and rise > most:
                    most, taken, column = rise, np.int64(o), np.int64(c)
        if taken < 0:
            break
        room -= moves.costs[taken] - moves.costs[moving.choice[column]]
        moving.choice[column] = taken


@part
def best_values(c, p2, p1, moves, moving):  # type: ignore[no-untyped-def]
    """``best_value`` of column c at both prices."""
    gains, feasible, low = moving.gains, moving.feasible, moving.low[c]
    best2, best1 = _LITTLE, _LITTLE
    for o in range(moves.first[c], moves.first[c + 1]):
        if feasible[o]:
            extra = moves.costs[o] - low
            best2, best1 = max(best2, gains[o] - p2 * extra), max(best1, gains[o] - p1 * extra)
    return best2, best1


@part
def is_short(gain, extra, bound, need, p2, p1, best2, best1):  # type: ignore[no-untyped-def]
    """Whether an option brings the bound below the need; the bests are its column's.

    Numbers only: arrays that are passed take ten times as long as what is done here.
    """
    return bound - best1 + gain - p1 * extra < need or bound - best2 + gain - p2 * extra < need


@part
def rule_out_by_bound(apply, bound, need, p2, p1, problem, moves, state, moving):  # type: ignore[no-untyped-def]
    """Rule out each option that is not feasible or ``is_short``; returns how many.

    Without ``apply`` they are only counted. A column may lose all its options, by two prices: then there is
    no solution.
    """
    first, costs, low = moves.first, moves.costs, moving.low
    n_alive, alive, feasible, gains = moving.n_alive, moving.alive, moving.feasible, moving.gains
    n = 0
    for c in range(len(low)):
        if n_alive[c] == 1:
            continue
        best2, best1 = best_values(c, p2, p1, moves, moving)
        for o in range(first[c], first[c + 1]):
            if not alive[o]:
                continue
            if not feasible[o] or is_short(gains[o], costs[o] - low[c], bound, need, p2, p1, best2, best1):
                n += 1
                if apply:
                    rule_out(o, problem, moves, state, moving, _NONE)
    return n


@kernel
def sweep_columns(radius, moves, moving, credits, constant, need, scratch, flips):  # type: ignore[no-untyped-def]
    """Rule out options by one bound, in ``moving.alive``; returns whether there is no solution."""
    slack, _ = look_at_columns(radius, moves, moving)
    if slack < 0:
        return True
    gain, p2, p1 = choose_moves(slack, moves, moving, credits, scratch, flips)
    if constant + gain < need:
        return True
    for c in range(len(moving.low)):
        best2, best1 = best_values(c, p2, p1, moves, moving)
        for o in range(moves.first[c], moves.first[c + 1]):
            extra, gain_here = moves.costs[o] - moving.low[c], moving.gains[o]
            short = is_short(gain_here, extra, constant + gain, need, p2, p1, best2, best1)
            if short or not moving.feasible[o]:
                moving.alive[o] = False
                moving.n_alive[c] -= 1
    slack, _ = look_at_columns(radius, moves, moving)
    return slack < 0


@part
def least_cost(constant, need, slack, p1, p2, radius, moves, moving):  # type: ignore[no-untyped-def]
    """The least cost for which the bound reaches ``need``: less can't be enough; at most ``radius + 1``."""
    base = radius - slack
    lower = np.int64(0)
    for price in (p1, p2):
        if price > 0:
            lacking = need - constant - (sum_at(price, slack, moves, moving) - price * slack)
            lower = max(lower, -(-lacking // price))
    return base + min(lower, slack + 1)


@part
def most_doubtful_option(moves, moving, where):  # type: ignore[no-untyped-def]
    """The option to branch on, one that is in doubt, in a column of many clauses; -1 if none has a choice."""
    branch = _NONE
    best = -1.0
    for c in range(len(moving.low)):
        if moving.n_alive[c] == 1:
            continue
        clauses = where[moves.atoms_first[c + 1]] - where[moves.atoms_first[c]]
        for o in range(moves.first[c], moves.first[c + 1]):
            if moving.alive[o] and (o > moves.first[c] or branch < 0):
                lean = moving.lean[o]
                doubt = (lean if lean < 0.5 else 1.0 - 0.5 * lean) * clauses
                if not moving.feasible[o]:
                    doubt = -0.5
                if o == moves.first[c]:
                    doubt = -0.75
                if doubt > best:
                    best, branch = doubt, np.int64(o)
    return branch


@part
def follow_options(memory, first_time, moves, moving):  # type: ignore[no-untyped-def]
    """Move the running mean of each option towards the choice now."""
    for c in range(len(moving.low)):
        for o in range(moves.first[c], moves.first[c + 1]):
            taken = np.float32(moving.choice[c] == o)
            moving.lean[o] = taken if first_time else moving.lean[o] + memory * (taken - moving.lean[o])
