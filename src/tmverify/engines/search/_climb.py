"""Greedy flips, tried before any tree: they find most witnesses, and an upper bound on the radius."""

import numpy as np

from tmverify.kernels.jit import kernel, part

GAIN, LOSS = np.int8(1), np.int8(-1)


@kernel
def climb(problem, most, flips, false, sums, gains):  # type: ignore[no-untyped-def]
    """Repeatedly flip the feature that leaves the least shortfall; return whether every bound was met.

    shortfall(y) = sum_c max(0, bound_c - votes_c(y)). Begins without flips and stops after ``most`` flips; a
    flip is not undone. Scratch, all 0 at first: ``false``, the number of false literals of each clause;
    ``sums``, the votes of each constraint; ``gains``, what flipping a feature would add to them.
    """
    bounds = problem.bounds
    n = len(flips)
    n_constraints = len(bounds)
    count_gains(problem, false, sums, gains)
    for _ in range(most + 1):
        short = 0
        for c in range(n_constraints):
            short += max(0, bounds[c] - sums[c])
        if short == 0:
            return True
        best, chosen = np.int64(1) << 62, -1
        for i in range(n):
            if not flips[i]:
                left = 0
                for c in range(n_constraints):
                    left += max(0, bounds[c] - sums[c] - gains[c, i])
                if left < best:
                    best, chosen = np.int64(left), i
        if chosen < 0:
            return False
        toggle(chosen, problem, false, flips, sums, gains)
    return False


@kernel
def climb_columns(problem, moves, radius, choice, flips, false, sums, gains):  # type: ignore[no-untyped-def]
    """``climb`` by moves of columns: each column moves at most once, while the budget lasts.

    ``choice`` starts with the reference of each column; ``flips`` are the atoms that hold.
    """
    bounds = problem.bounds
    n_constraints = len(bounds)
    change = np.zeros(n_constraints, np.int64)
    room = np.int64(radius)
    count_gains(problem, false, sums, gains)
    for _ in range(len(choice) + 1):
        short = np.int64(0)
        for c in range(n_constraints):
            short += max(0, bounds[c] - sums[c])
        if short == 0:
            return True
        best, chosen, column = np.int64(1) << 62, np.int64(-1), np.int64(0)
        for i in range(len(choice)):
            if choice[i] != moves.first[i]:
                continue
            for o in range(moves.first[i] + 1, moves.first[i + 1]):
                if moves.costs[o] > room:
                    continue
                change[:] = 0
                for k in range(moves.at[o], moves.at[o + 1]):
                    for c in range(n_constraints):
                        change[c] += gains[c, moves.atoms[k]]
                left = np.int64(0)
                for c in range(n_constraints):
                    left += max(0, bounds[c] - sums[c] - change[c])
                if left < best:
                    best, chosen, column = left, np.int64(o), np.int64(i)
        if chosen < 0:
            return False
        room -= moves.costs[chosen]
        choice[column] = chosen
        for k in range(moves.at[chosen], moves.at[chosen + 1]):
            toggle(moves.atoms[k], problem, false, flips, sums, gains)
    return False


@part
def count_gains(problem, false, sums, gains):  # type: ignore[no-untyped-def]
    """Fill in ``false``, ``sums`` and ``gains`` for no flips at all."""
    offsets, middles, features, votes = problem.offsets, problem.middles, problem.features, problem.votes
    n_constraints = len(sums)
    for j in range(votes.shape[1]):
        false[j] = middles[j] - offsets[j]
        for c in range(n_constraints):
            if false[j] == 0:
                sums[c] += votes[c, j]
                for k in range(middles[j], offsets[j + 1]):
                    gains[c, features[k]] -= votes[c, j]
            elif false[j] == 1:
                gains[c, features[offsets[j]]] += votes[c, j]


@part
def toggle(chosen, problem, false, flips, sums, gains):  # type: ignore[no-untyped-def]
    """Flip a feature, and keep everything up to date."""
    for c in range(len(sums)):
        sums[c] += gains[c, chosen]
    now = flips[chosen]
    for k in range(problem.where[chosen], problem.where[chosen + 1]):
        j = problem.clauses[k]
        credit_clause(j, LOSS, problem, false, flips, gains)
        flips[chosen] = not now
        false[j] += -1 if problem.waking[k] != now else 1
        credit_clause(j, GAIN, problem, false, flips, gains)
        flips[chosen] = now
    flips[chosen] = not now


@part
def credit_clause(j, sign, problem, false, flips, gains):  # type: ignore[no-untyped-def]
    """Add clause j's part to the gains: any flip kills a true clause; one repairs a lone false literal."""
    offsets, middles, features, votes = problem.offsets, problem.middles, problem.features, problem.votes
    if false[j] > 1:
        return
    for k in range(offsets[j], offsets[j + 1]):
        f = features[k]
        if false[j] == 0:
            for c in range(votes.shape[0]):
                gains[c, f] -= sign * votes[c, j]
        elif flips[f] != (k < middles[j]):
            for c in range(votes.shape[0]):
                gains[c, f] += sign * votes[c, j]
