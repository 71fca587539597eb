"""The bound: how many votes can at most ``left`` further flips bring? Exact integers from any multipliers.

Over flips y a clause is a conjunction of literals: y_i for a feature that must flip (it *wakes* the clause),
1 - y_i for one that must stay. With weight w, and for whatever multipliers,

    w > 0:   w c_j <= sum_l a_l lit_l             a_l >= 0,  sum_l a_l >= w
    w < 0:   w c_j <= v (n_j - 1 - sum_l lit_l)   0 <= v <= |w|,  n_j literals

Both sides are linear in y. Summed over the clauses they are ``constant + sum_i credit_i y_i``, which the flips
of largest positive credit maximise. Every multiplier is ``t / unit`` times the weight with an integer t made
from a float (``share`` for a_l, ``load`` for v): the floats choose how tight the bound is, the integers that
it holds. The best multipliers give the value of the linear relaxation, whose facets these are.
"""

import numpy as np
from numba import njit

FREE = -1


@njit(cache=True, nogil=True)
def mix_votes(votes, needs, mix, total):  # type: ignore[no-untyped-def]
    """total = sum_c mix[c] * votes[c]; returns the need of that sum."""
    need = 0
    for c in range(len(needs)):
        need += mix[c] * needs[c]
    for j in range(votes.shape[1]):
        sum_ = 0
        for c in range(votes.shape[0]):
            sum_ += mix[c] * votes[c, j]
        total[j] = sum_
    return need


@njit(cache=True, nogil=True)
def credit_flips(  # type: ignore[no-untyped-def]
    offsets, features, wakes, total, dead, share, load, unit, credits
):
    """credits[i] = what the bound grants for flip i, times ``unit``; returns the constant.

    A clause with ``dead[j] > 0`` has a literal that is fixed to false, and is left out.
    """
    credits[:] = 0
    constant = 0
    for j in range(len(total)):
        weight = total[j]
        if dead[j] or weight == 0:
            continue
        first, end = offsets[j], offsets[j + 1]
        if weight < 0:
            part = np.int64(load[j] * unit)
            part = -weight * min(max(part, 0), unit)
            constant -= part
            for k in range(first, end):
                if wakes[k]:
                    credits[features[k]] -= part
                    constant += part
                else:
                    credits[features[k]] += part
            continue
        rest = unit
        largest = np.int64(-1)
        heaviest = first
        for k in range(first, end):
            part = np.int64(share[k] * unit)
            part = min(max(part, 0), unit)
            if part > largest:
                largest, heaviest = part, k
            if part:
                rest -= part
                part *= weight
                if wakes[k]:
                    credits[features[k]] += part
                else:
                    credits[features[k]] -= part
                    constant += part
        if rest > 0:  # what rounding left over: the parts must make up the whole weight
            rest *= weight
            if wakes[heaviest]:
                credits[features[heaviest]] += rest
            else:
                credits[features[heaviest]] -= rest
                constant += rest
    return constant


@njit(cache=True, nogil=True)
def kth_largest(values, n, k):  # type: ignore[no-untyped-def]
    """The k-th largest of ``values[:n]``, 1 <= k <= n; reorders them (quickselect)."""
    low, high, wanted = 0, n - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return values[wanted]


@njit(cache=True, nogil=True)
def choose_flips(credits, fixed, left, scratch, flips):  # type: ignore[no-untyped-def]
    """flips = the fixed ones and the ``left`` free ones of largest positive credit.

    Returns the sum of their credits, the least credit that a further flip would displace (0 if there is
    room), and the largest positive credit left out (0 if there is none).
    """
    n = 0
    gain = 0
    for i in range(len(credits)):
        flips[i] = fixed[i] == 1
        if flips[i]:
            gain += credits[i]
        elif fixed[i] == FREE and credits[i] > 0:
            scratch[n] = credits[i]
            n += 1
    if left == 0:
        return gain, 0, 0
    least = 0
    if n >= left:
        least = kth_largest(scratch, n, left)
    room = left
    for i in range(len(credits)):
        if fixed[i] == FREE and credits[i] > least:
            flips[i] = True
            gain += credits[i]
            room -= 1
    runner_up = 0
    if least > 0:
        for i in range(len(credits)):
            if fixed[i] == FREE and credits[i] == least:
                if room > 0:
                    flips[i] = True
                    gain += least
                    room -= 1
                else:
                    runner_up = least
        if runner_up == 0:
            for i in range(len(credits)):
                if fixed[i] == FREE and not flips[i] and credits[i] > runner_up:
                    runner_up = credits[i]
    return gain, least, runner_up


@njit(cache=True, nogil=True)
def count_votes(offsets, features, wakes, votes, dead, flips, sums):  # type: ignore[no-untyped-def]
    """sums[c] = votes of constraint c with exactly these flips."""
    sums[:] = 0
    for j in range(votes.shape[1]):
        if dead[j]:
            continue
        true = True
        for k in range(offsets[j], offsets[j + 1]):
            if flips[features[k]] != wakes[k]:
                true = False
                break
        if true:
            for c in range(votes.shape[0]):
                sums[c] += votes[c, j]


@njit(cache=True, nogil=True)
def slope(  # type: ignore[no-untyped-def]
    offsets, features, wakes, total, dead, share, load, lean, slant, middle, votes, sums
):
    """How the bound changes with its multipliers at the fractional flips ``lean``; returns the squared norm.

    slant[k] = the value of literal k; middle[j] = for w > 0 the mean of those that may change, for w < 0 the
    derivative. sums[c] = the votes of constraint c in the relaxation.
    """
    norm = 0.0
    sums[:] = 0.0
    for j in range(len(total)):
        if dead[j] or total[j] == 0:
            continue
        first, end = offsets[j], offsets[j + 1]
        low = np.float32(2.0)
        missing = np.float32(0.0)
        for k in range(first, end):
            y = lean[features[k]]
            value = y if wakes[k] else np.float32(1.0) - y
            slant[k] = value
            missing += np.float32(1.0) - value
            low = min(low, value)
        if total[j] > 0:
            n = 0
            mean = np.float32(0.0)
            square = np.float32(0.0)
            for k in range(first, end):
                if share[k] > 0 or slant[k] == low:
                    n += 1
                    mean += slant[k]
                    square += slant[k] * slant[k]
            mean /= n
            middle[j] = mean
            norm += square - n * mean * mean
            output = low
        else:
            rise = missing - np.float32(1.0)
            middle[j] = rise
            if (rise > 0 and load[j] > 0) or (rise < 0 and load[j] < 1):
                norm += rise * rise
            output = max(np.float32(0.0), -rise)
        if output > 0:
            for c in range(votes.shape[0]):
                sums[c] += votes[c, j] * output
    return norm


@njit(cache=True, nogil=True)
def descend(offsets, total, dead, share, load, slant, middle, step):  # type: ignore[no-untyped-def]
    """One step against the slope, back into the simplices: share sums to 1 per clause, 0 <= load <= 1."""
    for j in range(len(total)):
        if dead[j] or total[j] == 0:
            continue
        if total[j] < 0:
            changed = load[j] - step * middle[j] / -total[j]
            load[j] = min(max(changed, 0.0), 1.0)
            continue
        first, end = offsets[j], offsets[j + 1]
        pace = np.float32(step / total[j])
        sum_ = np.float32(0.0)
        low = np.float32(2.0)
        for k in range(first, end):
            low = min(low, slant[k])
        for k in range(first, end):
            if share[k] > 0 or slant[k] == low:
                share[k] = max(np.float32(0.0), share[k] - pace * (slant[k] - middle[j]))
            sum_ += share[k]
        scale = np.float32(1.0) / sum_
        for k in range(first, end):
            share[k] *= scale


@njit(cache=True, nogil=True)
def first_multipliers(offsets, wakes, share, load):  # type: ignore[no-untyped-def]
    """A start: each clause's weight evenly on the flips that would wake it, or on all that would kill it."""
    for j in range(len(load)):
        first, end = offsets[j], offsets[j + 1]
        waking = 0
        for k in range(first, end):
            waking += wakes[k]
        load[j] = 1.0 if waking <= 1 else 0.0
        for k in range(first, end):
            if waking:
                share[k] = wakes[k] / waking
            else:
                share[k] = 1.0 / (end - first)
