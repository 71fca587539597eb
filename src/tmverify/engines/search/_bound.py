"""The bound on the votes that ``left`` further flips can bring: exact integers, whatever the multipliers.

Over flips y a clause is a conjunction of literals: y_i for a feature that must flip (it *wakes* the clause),
1 - y_i for one that must stay. With weight w, and for any multipliers a and v,

    w > 0:   w c_j <= sum_l a_l lit_l             a_l >= 0,  sum_l a_l >= w
    w < 0:   w c_j <= v (n_j - 1 - sum_l lit_l)   0 <= v <= |w|,  n_j literals

The right sides are linear in y. Summed over the clauses they are ``constant + sum_i credit_i y_i``, which is
largest for the flips of largest positive credit. A multiplier is the weight times ``t / unit``, where the
integer t is made from a float (``share`` for a_l, ``load`` for v): the floats decide how tight the bound is,
the integers make sure that it holds. With the best multipliers the bound is the value of the linear
relaxation, whose facets these inequalities are.

The multipliers follow the subgradient: at fractional flips ``lean`` (a running mean of the flips that
maximise the bound), a clause with w > 0 moves its weight to its least literal; one with w < 0 takes more load
if the literals say that it is true, less if they say that it is false.
"""

import numpy as np

from tmverify.kernels.jit import kernel, part

FREE = -1
LOOK_WIDE = 4


@part
def mix_votes(problem, mix, total):  # type: ignore[no-untyped-def]
    """total = sum_c mix[c] * votes[c]; returns the bound of that sum."""
    votes, bounds = problem.votes, problem.bounds
    bound = 0
    for c in range(len(bounds)):
        bound += mix[c] * bounds[c]
    for j in range(votes.shape[1]):
        sum_ = 0
        for c in range(votes.shape[0]):
            sum_ += mix[c] * votes[c, j]
        total[j] = sum_
    return bound


@part
def credit_flips(problem, dead, multipliers, scratch, unit, step, turn):  # type: ignore[no-untyped-def]
    """Improve the multipliers by one step at the fractional flips ``lean``; then ``scratch.credits[i]`` is
    what the bound grants for flip i, times ``unit``. Returns the constant and the squared norm of its slope.

    A clause with ``dead[j] > 0`` has a literal that is fixed to false, and is left out. Literals
    ``offsets[j]:middles[j]`` wake clause j, ``middles[j]:offsets[j + 1]`` keep it awake. ``wide[j]`` says
    whether one of the latter may have a share; those that are not looked at in this ``turn`` get none, which
    is allowed because any multipliers are.
    """
    offsets, middles, features = problem.offsets, problem.middles, problem.features
    share, load, wide, lean = multipliers.share, multipliers.load, multipliers.wide, multipliers.lean
    total, slant, credits = scratch.total, scratch.slant, scratch.credits
    for i in range(len(credits)):
        credits[i] = 0
    constant = np.int64(0)
    norm = np.float64(0.0)
    one = np.float32(1.0)
    zero = np.float32(0.0)
    for j in range(len(total)):
        weight = total[j]
        if dead[j] or weight == 0:
            continue
        first, middle, end = offsets[j], middles[j], offsets[j + 1]
        if weight < 0:
            rise = -one
            for k in range(first, middle):
                rise += one - lean[features[k]]
            if rise > 0 and load[j] == 0:
                continue  # false, whatever the other literals are: the clause has no load and adds nothing
            for k in range(middle, end):
                rise += lean[features[k]]
            if (rise > 0 and load[j] > 0) or (rise < 0 and load[j] < 1):
                norm += rise * rise
                load[j] = min(max(load[j] + np.float32(step / weight) * rise, zero), one)
            part = -weight * min(max(np.int64(load[j] * unit), np.int64(0)), unit)
            constant += (middle - first - 1) * part
            for k in range(first, middle):
                credits[features[k]] -= part
            for k in range(middle, end):
                credits[features[k]] += part
            continue
        # In a clause that must be woken, literals that must stay seldom have a share: look only sometimes.
        if not wide[j] and middle > first and (j + turn) % LOOK_WIDE:
            end = middle
        low = np.float32(2.0)
        lowest = first
        for k in range(first, middle):
            slant[k] = lean[features[k]]
            if slant[k] < low:
                low, lowest = slant[k], k
        for k in range(middle, end):
            slant[k] = one - lean[features[k]]
            if slant[k] < low:
                low, lowest = slant[k], k
        pace = np.float32(step / weight)
        square = zero
        given = zero
        for k in range(first, end):
            excess = slant[k] - low
            square += excess * excess if share[k] > 0 else zero
            moved = min(share[k], pace * excess)
            share[k] -= moved
            given += moved
        share[lowest] += given
        norm += square
        rest = unit
        for k in range(first, middle):
            part = min(max(np.int64(share[k] * unit), np.int64(0)), unit)
            rest -= part
            credits[features[k]] += part * weight
        wide[j] = False
        for k in range(middle, end):
            part = min(max(np.int64(share[k] * unit), np.int64(0)), unit)
            rest -= part
            wide[j] |= part > 0
            part *= weight
            credits[features[k]] -= part
            constant += part
        if rest > 0:  # lost by rounding: the parts must add up to the whole weight
            rest *= weight
            if lowest < middle:
                credits[features[lowest]] += rest
            else:
                credits[features[lowest]] -= rest
                constant += rest
    return constant, norm


@part
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


@part
def choose_flips(credits, fixed, left, scratch, flips):  # type: ignore[no-untyped-def]
    """flips = the fixed ones and the ``left`` free ones of largest positive credit.

    Returns the sum of their credits, the least credit that a further flip would displace (0 if there is
    room), and the largest positive credit left out (0 if there is none).
    """
    n = np.int64(0)
    gain = np.int64(0)
    for i in range(len(credits)):
        flips[i] = fixed[i] == 1
        if flips[i]:
            gain += credits[i]
        elif fixed[i] == FREE and credits[i] > 0:
            scratch[n] = credits[i]
            n += 1
    least = np.int64(0)
    runner_up = np.int64(0)
    if left == 0:
        return gain, least, runner_up
    if n >= left:
        least = kth_largest(scratch, n, left)
    room = left
    for i in range(len(credits)):
        if fixed[i] == FREE and credits[i] > least:
            flips[i] = True
            gain += credits[i]
            room -= 1
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


@kernel
def count_votes(problem, dead, flips, sums):  # type: ignore[no-untyped-def]
    """sums[c] = votes of constraint c with exactly these flips."""
    offsets, middles, features, votes = problem.offsets, problem.middles, problem.features, problem.votes
    for c in range(len(sums)):
        sums[c] = 0
    for j in range(votes.shape[1]):
        if dead[j]:
            continue
        true = True
        for k in range(offsets[j], middles[j]):
            if not flips[features[k]]:
                true = False
                break
        if true:
            for k in range(middles[j], offsets[j + 1]):
                if flips[features[k]]:
                    true = False
                    break
        if true:
            for c in range(votes.shape[0]):
                sums[c] += votes[c, j]


@part
def relaxed_votes(problem, total, dead, lean, sums):  # type: ignore[no-untyped-def]
    """sums[c] = votes of constraint c in the relaxation, with the fractional flips ``lean``."""
    offsets, middles, features, votes = problem.offsets, problem.middles, problem.features, problem.votes
    for c in range(len(sums)):
        sums[c] = 0.0
    for j in range(votes.shape[1]):
        if dead[j]:
            continue
        low = np.float32(1.0)
        false = np.float32(0.0)
        for k in range(offsets[j], middles[j]):
            y = lean[features[k]]
            low = min(low, y)
            false += np.float32(1.0) - y
        for k in range(middles[j], offsets[j + 1]):
            y = lean[features[k]]
            low = min(low, np.float32(1.0) - y)
            false += y
        output = low if total[j] > 0 else np.float32(1.0) - false
        if output > 0:
            for c in range(votes.shape[0]):
                sums[c] += votes[c, j] * output


@kernel
def first_multipliers(offsets, middles, share, load):  # type: ignore[no-untyped-def]
    """Spread each clause's weight evenly over the flips that would wake it, or else over all that kill it."""
    for j in range(len(load)):
        first, middle, end = offsets[j], middles[j], offsets[j + 1]
        waking = middle - first
        load[j] = 1.0 if waking <= 1 else 0.0
        for k in range(first, middle):
            share[k] = 1.0 / waking
        for k in range(middle, end):
            share[k] = 0.0 if waking else 1.0 / (end - first)
