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
    offsets, middles, features = problem.offsets, problem.middles, problem.features
    votes, bounds, where = problem.votes, problem.bounds, problem.where
    n = len(flips)
    n_constraints = len(bounds)
    for j in range(votes.shape[1]):
        false[j] = middles[j] - offsets[j]
        for c in range(n_constraints):
            if false[j] == 0:
                sums[c] += votes[c, j]
                for k in range(middles[j], offsets[j + 1]):
                    gains[c, features[k]] -= votes[c, j]
            elif false[j] == 1:
                gains[c, features[offsets[j]]] += votes[c, j]
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
        for c in range(n_constraints):
            sums[c] += gains[c, chosen]
        for k in range(where[chosen], where[chosen + 1]):
            j = problem.clauses[k]
            credit_clause(j, LOSS, problem, false, flips, gains)
            flips[chosen] = True
            false[j] += -1 if problem.waking[k] else 1
            credit_clause(j, GAIN, problem, false, flips, gains)
            flips[chosen] = False
        flips[chosen] = True
    return False


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
