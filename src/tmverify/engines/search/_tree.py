"""The tree search: depth-first over flips, with bounds from ``_bound``; it can stop anywhere and continue.

A node fixes some features: 1 (flipped) or 0 (left alone). Its multipliers are those of the node before it,
improved by a few steps towards ``lean``, a running mean of the flips that maximise the bound. Exact integers
then prune the node, or fix every feature whose other value they rule out. The state is in arrays of the
caller; the trail lists the fixed features in order and marks the decisions.

With a *record*, a node is closed, and features are fixed, only by multipliers rounded for the record
(``_record``), and after every node the kernel returns to the caller, which writes down what happened to the
node according to ``counts[EVENT]``.
"""

import numpy as np

from tmverify.engines.search._bound import (
    FREE,
    choose_flips,
    count_votes,
    credit_flips,
    kth_largest,
    mix_votes,
    relaxed_votes,
)
from tmverify.engines.search._columns import (
    back_to_other_option,
    choose_moves,
    follow_options,
    least_cost,
    look_at_columns,
    most_doubtful_option,
    rule_out_by_bound,
    split_column,
)
from tmverify.engines.search._record import credit_record, settle
from tmverify.kernels.jit import kernel, part

# What ``explore`` returns.
REFUTED, WITNESS, PAUSED = 0, 1, 2
SHRUNK = 3  # many features are fixed for good: rebuild the problem without them
RECORDED = 4  # a node is done: write down what happened to it
# Indices into ``counts``.
TRAIL, FLIPPED, NODES, STEPS, WORK, LOWER, IMPLIED, EVENT, BRANCH, PRUNED = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
N_COUNTS = 10
# What happened to a node, as flags (0: nothing new was fixed): features were fixed by the bound; the node was
# closed by the bound; it was closed by its number of flips; it was split at ``counts[BRANCH]``.
BY_FIXING, BY_BOUND, BY_COUNT, BY_SPLIT = 1, 2, 4, 8
# Typed, because numba compiles a function anew for each literal that it is called with.
STAY, FLIP = np.int8(0), np.int8(1)
NO, YES = np.bool_(False), np.bool_(True)

_MEMORY = np.float32(0.3)  # of the running mean: the weight of the newest flips
_PACE = 0.5  # of a Polyak step
MIX_UNIT = 1024
_PATIENCE = 5  # steps without a better bound, before steps become shorter
LOOK = 5  # steps between two checks whether the flips that maximise the bound are a solution


@part
def fix(feature, value, decision, problem, state):  # type: ignore[no-untyped-def]
    """Fix a feature, and count the literals that become false in each clause."""
    counts = state.counts
    state.fixed[feature] = value
    state.trail[counts[TRAIL]] = feature
    state.decisions[counts[TRAIL]] = decision
    counts[TRAIL] += 1
    counts[FLIPPED] += value
    for k in range(problem.where[feature], problem.where[feature + 1]):
        if problem.waking[k] != value:
            state.dead[problem.clauses[k]] += 1


@part
def unfix_last(problem, state):  # type: ignore[no-untyped-def]
    """Undo the last ``fix``; returns its feature."""
    counts = state.counts
    counts[TRAIL] -= 1
    feature = np.int64(state.trail[counts[TRAIL]])
    value = state.fixed[feature]
    state.fixed[feature] = FREE
    counts[FLIPPED] -= value
    for k in range(problem.where[feature], problem.where[feature + 1]):
        if problem.waking[k] != value:
            state.dead[problem.clauses[k]] -= 1
    return feature


@part
def enough(sums, bounds):  # type: ignore[no-untyped-def]
    """Whether every constraint has the votes it needs."""
    short = 0
    for c in range(len(bounds)):
        short += sums[c] < bounds[c]
    return short == 0


@part
def least_flips(constant, need, credits, fixed, flipped, left, scratch):  # type: ignore[no-untyped-def]
    """The least number of flips for which the bound reaches ``need``: fewer can't be enough.

    At most ``flipped + left + 1``, which means that even ``flipped + left`` are not enough.
    """
    n = np.int64(0)
    for i in range(len(credits)):
        if fixed[i] == 1:
            constant += credits[i]
        elif fixed[i] == FREE and credits[i] > 0:
            scratch[n] = credits[i]
            n += 1
    low, high = np.int64(0), left + 1  # low - 1 flips are too few, high are enough or too many
    while low < high:
        k = (low + high) // 2
        sum_ = constant
        if 0 < k < n:
            kth_largest(scratch, n, k)  # puts the k largest first
        for i in range(min(k, n)):
            sum_ += scratch[i]
        if sum_ >= need:
            high = k
        else:
            low = k + 1
    return flipped + low


@part
def remix(mix, weight, sums, bounds, gap):  # type: ignore[no-untyped-def]
    """Shift the mixture of constraints towards those that the relaxation leaves short."""
    n = len(bounds)
    mean = 0.0
    for c in range(n):
        mean += sums[c] - bounds[c]
    mean /= n
    norm = 0.0
    for c in range(n):
        d = sums[c] - bounds[c] - mean
        norm += d * d
    if norm < 1e-12:
        return
    pace = _PACE * gap / norm
    total = 0.0
    for c in range(n):
        weight[c] = max(0.0, weight[c] - pace * (sums[c] - bounds[c] - mean))
        total += weight[c]
    for c in range(n):
        weight[c] = weight[c] / total if total > 0 else 1.0 / n
        mix[c] = min(max(np.int64(weight[c] * MIX_UNIT + 0.5), 0), MIX_UNIT)


@part
def fix_by_bound(bound, need, least, runner_up, credits, problem, state):  # type: ignore[no-untyped-def]
    """Fix each feature whose other value would bring the bound below the need."""
    fixed, flips = state.fixed, state.flips
    for i in range(len(fixed)):
        if fixed[i] == FREE:
            other = runner_up - credits[i] if flips[i] else credits[i] - least
            if bound + other < need:
                fix(i, np.int8(flips[i]), NO, problem, state)


@part
def count_fixable(bound, need, least, runner_up, credits, flips, fixed):  # type: ignore[no-untyped-def]
    """How many features ``fix_by_bound`` would fix."""
    n = 0
    for i in range(len(fixed)):
        if fixed[i] == FREE:
            other = runner_up - credits[i] if flips[i] else credits[i] - least
            n += bound + other < need
    return n


@part
def back_to_other_side(problem, state):  # type: ignore[no-untyped-def]
    """Undo everything back to the last decision and take its other side; False if no decision is left."""
    counts, decisions = state.counts, state.decisions
    decision, feature = False, 0
    while not decision:
        if counts[TRAIL] == counts[IMPLIED]:
            return False
        decision = decisions[counts[TRAIL] - 1]
        feature = unfix_last(problem, state)
    fix(feature, STAY, NO, problem, state)
    above = 0
    for k in range(counts[IMPLIED], counts[TRAIL]):
        above += decisions[k]
    if above == 0:
        counts[IMPLIED] = counts[TRAIL]
    return True


@part
def most_doubtful(fixed, lean, where):  # type: ignore[no-untyped-def]
    """The free feature to branch on, one that is in doubt and in many clauses; -1 if none is free."""
    branch = -1
    best = -1.0
    for i in range(len(fixed)):
        if fixed[i] == FREE:
            doubt = lean[i] if lean[i] < 0.5 else 1.0 - 0.5 * lean[i]
            doubt *= where[i + 1] - where[i]
            if doubt > best:
                best, branch = doubt, i
    return branch


@part
def follow(fixed, flips, first, lean):  # type: ignore[no-untyped-def]
    """Move the running mean towards the flips that maximise the bound now."""
    for i in range(len(fixed)):
        if fixed[i] != FREE:
            lean[i] = fixed[i]
        elif first:
            lean[i] = flips[i]
        else:
            lean[i] += _MEMORY * (np.float32(flips[i]) - lean[i])


@kernel
def explore(  # type: ignore[no-untyped-def]
    problem, state, moves, moving, multipliers, scratch, relaxed_sums, record,
    unit, root_steps, node_steps, max_nodes, max_work,
):  # fmt: skip
    """Search until the problem is decided, or a limit is reached, or rebuilding the problem would pay.

    ``moves`` and ``moving`` are None if features flip by themselves; ``relaxed_sums`` is scratch, None for a
    single constraint; ``record`` is None if no evidence is wanted. numba compiles what is needed for each.
    """
    fixed, flips, counts, dead = state.fixed, state.flips, state.counts, state.dead
    mix, lean = multipliers.mix, multipliers.lean
    total, credits = scratch.total, scratch.credits
    n = len(fixed)
    if moves is not None:
        n = len(moves.costs) - len(moves.columns)
    stop_work = counts[WORK] + max_work
    stop_nodes = counts[NODES] + max_nodes
    pruned = counts[PRUNED] > 0
    counts[PRUNED] = 0
    need = mix_votes(problem, mix, total) * unit
    while True:
        counts[EVENT] = 0
        if pruned:
            if moves is None:
                on = back_to_other_side(problem, state)
            else:
                on = back_to_other_option(problem, moves, state, moving)
            if not on:
                return REFUTED
            pruned = False
        if counts[WORK] >= stop_work or counts[NODES] >= stop_nodes:
            return PAUSED
        at_root = counts[TRAIL] == counts[IMPLIED]
        counts[NODES] += 1
        step = 0
        pace = 0.0
        caution = _PACE
        best = np.int64(1) << 62
        since = 0
        limit = root_steps if counts[NODES] == 1 else node_steps
        while True:
            counts[STEPS] += 1
            counts[WORK] += len(problem.features)
            if moves is None:
                left = problem.radius - counts[FLIPPED]
                only = left == 0 or counts[TRAIL] == n
            else:
                left, choices = look_at_columns(problem.radius, moves, moving)
                only = choices == 0
            if left < 0:
                counts[EVENT] |= BY_COUNT  # more is spent than allowed
                break
            constant, norm = credit_flips(problem, dead, multipliers, scratch, unit, pace, counts[STEPS])
            if moves is None:
                gain, least, runner_up = choose_flips(credits, fixed, left, scratch.sorted, flips)
            else:
                gain, least, runner_up = choose_moves(left, moves, moving, credits, scratch.sorted, flips)
            bound = constant + gain
            look = only or step == limit or step % LOOK == LOOK - 1
            if bound < need and record is None:
                counts[EVENT] |= BY_BOUND
                break
            if look:
                count_votes(problem, dead, flips, scratch.sums)
                if enough(scratch.sums, problem.bounds):
                    return WITNESS
                if only:
                    counts[EVENT] |= BY_COUNT  # the node has no other set of flips
                    break
                if at_root:
                    sorted_, radius = scratch.sorted, problem.radius
                    if moves is None:
                        lower = least_flips(constant, need, credits, fixed, counts[FLIPPED], left, sorted_)
                    else:
                        lower = least_cost(constant, need, left, runner_up, least, radius, moves, moving)
                    counts[LOWER] = max(counts[LOWER], lower)
            fixable = n
            reach, needed = bound, need
            if record is not None:  # numba compiles this only for a record
                fixable = 0
                if bound < need or step >= limit or (at_root and look):
                    settle(problem, total, dead, multipliers, record)
                    constant = credit_record(problem, total, dead, record, credits)
                    if moves is None:
                        gain, least, runner_up = choose_flips(credits, fixed, left, scratch.sorted, flips)
                    else:
                        gain, least, runner_up = choose_moves(
                            left, moves, moving, credits, scratch.sorted, flips
                        )
                    reach, needed = constant + gain, need // unit * record.unit
                    if reach < needed:
                        counts[EVENT] |= BY_BOUND
                        break
                    if moves is None:
                        fixable = count_fixable(reach, needed, least, runner_up, credits, flips, fixed)
                    else:
                        fixable = rule_out_by_bound(
                            NO, reach, needed, least, runner_up, problem, moves, state, moving
                        )
                    # Fixing features makes the record longer, so it is done only at a node's last step, or if
                    # the problem is then rebuilt. The record has one set of multipliers per node.
                    if step < limit and (not at_root or counts[TRAIL] + fixable < max(4, n // 4)):
                        fixable = 0
            if fixable > 0:
                before = counts[TRAIL]
                if moves is None:
                    fix_by_bound(reach, needed, least, runner_up, credits, problem, state)
                else:
                    rule_out_by_bound(YES, reach, needed, least, runner_up, problem, moves, state, moving)
                if counts[TRAIL] > before:
                    counts[EVENT] |= BY_FIXING
                if moves is not None:
                    left, choices = look_at_columns(problem.radius, moves, moving)
                    if left < 0:
                        counts[EVENT] |= BY_COUNT
                        break
            if at_root:
                counts[IMPLIED] = counts[TRAIL]
                if counts[TRAIL] >= max(4, n // 4):
                    return SHRUNK
            if step >= limit:
                break
            step += 1
            follow(fixed, flips, counts[STEPS] == 1, lean)
            if moves is not None:
                follow_options(_MEMORY, counts[STEPS] == 1, moves, moving)
            gap = max(0.0, (bound - need) / unit)
            since += 1
            if bound < best:
                best = bound
                since = 0
            elif since >= _PATIENCE:
                caution *= 0.6
                since = 0
            if relaxed_sums is not None:  # numba compiles this only for several constraints
                relaxed_votes(problem, total, dead, lean, relaxed_sums)
                remix(mix, multipliers.weight, relaxed_sums, problem.bounds, gap / MIX_UNIT + 1)
                need = mix_votes(problem, mix, total) * unit
                pace = caution * (gap + MIX_UNIT) / max(norm, 1.0)
            elif norm > 1e-9:
                pace = caution * (gap + 1) / norm
            elif counts[STEPS] > 1:
                if record is None:
                    break
                step = limit  # no multiplier changes any more: fix what can be fixed
        pruned = counts[EVENT] & (BY_BOUND | BY_COUNT) > 0
        if not pruned:
            if moves is None:
                branch = most_doubtful(fixed, lean, problem.where)
            else:
                branch = most_doubtful_option(moves, moving, problem.where)
            if branch >= 0:  # otherwise everything has just been fixed: visit the node once more
                if moves is None:
                    fix(branch, FLIP, YES, problem, state)
                else:
                    split_column(branch, problem, moves, state, moving)
                counts[EVENT] |= BY_SPLIT
                counts[BRANCH] = branch
        if record is not None:
            counts[PRUNED] = pruned
            return RECORDED
