"""Local search over flips of some features, and over one more: what an oracle tries before any tree.

    shortfall(y) = sum_c max(0, bound_c - votes_c(y))

Flips are toggled, one at a time, whichever leaves the least shortfall; what was toggled stays for a while
(tabu search). On the way, every feature *beyond* those that may flip is looked at: if its flip alone is what
lacks, it is written down with the flips. So one walk finds witnesses for many features.

A *position* is a set of flips and what they make of the problem. Counting that is as dear as thirty steps,
but walks start near where others did: a position is kept, and moved by a few toggles.
"""

import numpy as np

from tmverify.kernels.jit import kernel, part

TENURE = 8  # steps before a feature may be toggled again
FAR = 40  # toggles: further positions are counted anew


@part
def shift(problem, flips, position):  # type: ignore[no-untyped-def]
    """Move a position to other flips."""
    n = 0
    for i in range(len(flips)):
        n += flips[i] != position.flips[i]
    if n > FAR:
        position.flips[:] = flips
        count(problem, position)
        return
    for i in range(len(flips)):
        if flips[i] != position.flips[i]:
            toggle(i, problem, position)


@part
def count(problem, position):  # type: ignore[no-untyped-def]
    """Fill in what the flips of a position make of the problem."""
    offsets, middles, features, votes = problem.offsets, problem.middles, problem.features, problem.votes
    sums, gains = position.sums, position.gains
    sums[:] = 0
    gains[:] = 0
    for j in range(votes.shape[1]):
        n, lone = 0, np.int32(0)
        for k in range(offsets[j], offsets[j + 1]):
            if position.flips[features[k]] != (k < middles[j]):
                n += 1
                lone ^= features[k]
        position.false[j], position.lone[j] = n, lone
        for c in range(len(sums)):
            if n == 0:
                sums[c] += votes[c, j]
                for k in range(offsets[j], offsets[j + 1]):
                    gains[c, features[k]] -= votes[c, j]
            elif n == 1:
                gains[c, lone] += votes[c, j]


@part
def toggle(chosen, problem, position):  # type: ignore[no-untyped-def]
    """Flip a feature, and keep everything up to date.

    Any flip kills a true clause, and one repairs a clause with a single false literal. Which that is needs no
    search: ``lone`` has the exclusive or of the features of all false literals.
    """
    flips, false, lone, gains = position.flips, position.false, position.lone, position.gains
    votes = problem.votes
    for c in range(len(position.sums)):
        position.sums[c] += gains[c, chosen]
    now = flips[chosen]
    flips[chosen] = not now
    for k in range(problem.where[chosen], problem.where[chosen + 1]):
        j = problem.clauses[k]
        wakes = problem.waking[k] != now  # whether the literal becomes true
        before = false[j]
        after = before - 1 if wakes else before + 1
        other = lone[j] ^ chosen if wakes else lone[j]  # of the false literals besides this one
        lone[j] ^= chosen
        false[j] = after
        if before + after == 1:  # the clause becomes true, or no longer is
            for c in range(votes.shape[0]):
                change = -votes[c, j] if wakes else votes[c, j]
                gains[c, chosen] += change
                for i in range(problem.offsets[j], problem.offsets[j + 1]):
                    gains[c, problem.features[i]] += change
        elif before + after == 3:  # one false literal besides this one
            for c in range(votes.shape[0]):
                gains[c, other] += votes[c, j] if wakes else -votes[c, j]


@kernel
def count_position(problem, position):  # type: ignore[no-untyped-def]
    """``count``, for Python."""
    count(problem, position)


@part
def shortfall(bounds, sums, gains, i):  # type: ignore[no-untyped-def]
    """The shortfall after toggling feature i."""
    left = np.int64(0)
    for c in range(len(bounds)):
        left += max(np.int64(0), bounds[c] - sums[c] - gains[c, i])
    return left


@kernel
def ascend(problem, may, beyond, most, patience, start, near, here, until, watched, ends, found):  # type: ignore[no-untyped-def]
    """Walk from the flips ``start``, at most ``most``, by features that ``may`` flip; returns whether it
    arrives where every bound is met.

    ``near``: a position that is moved to the start and stays there; ``here``: where the walk ends.
    ``beyond``: features to look at on the way; those for which a witness was found are cleared there, and
    their witnesses are the lists ``found[ends[i]:ends[i + 1]]``, with the feature itself first; ``ends[-1]``
    says how many there are. The walk ends after ``patience`` steps without a smaller shortfall. Scratch:
    ``until``, ``watched``.
    """
    bounds, n = problem.bounds, len(start)
    shift(problem, start, near)
    flips, sums, gains = here.flips, here.sums, here.gains
    flips[:], sums[:], gains[:] = near.flips, near.sums, near.gains
    here.false[:], here.lone[:] = near.false, near.lone
    n_flipped, n_may, n_watched = np.int64(0), 0, 0
    for i in range(n):
        n_flipped += flips[i]
        if may[i]:
            until[i] = 0
            watched[n_watched] = i
            n_watched += 1
    n_may = n_watched
    for i in range(n):
        if beyond[i] and not may[i]:
            watched[n_watched] = i
            n_watched += 1
    n_found, size = ends[-1], np.int64(0)
    if n_found:
        size = ends[n_found]
    best, idle, step = np.int64(1) << 62, 0, 0
    while True:
        step += 1
        short = np.int64(0)
        for c in range(len(bounds)):
            short += max(np.int64(0), bounds[c] - sums[c])
        if short == 0:
            break
        chosen, least = -1, np.int64(1) << 62
        full = n_flipped >= most
        for place in range(n_may):
            i = watched[place]
            left = shortfall(bounds, sums, gains, i)
            if left < least and until[i] < step and (flips[i] or not full):
                chosen, least = i, left
        for place in range(n_may, n_watched):
            i = watched[place]
            if shortfall(bounds, sums, gains, i) > 0 or not beyond[i] or (full and not flips[i]):
                continue
            if n_found < len(ends) - 2 and size + n_flipped < len(found):
                beyond[i] = False
                found[size] = i
                size += 1
                for k in range(n):
                    if flips[k]:
                        found[size] = k
                        size += 1
                n_found += 1
                ends[n_found] = size
        idle += 1
        if short < best:
            best, idle = short, 0
        if chosen < 0 or idle > patience:
            break
        n_flipped += -1 if flips[chosen] else 1
        toggle(chosen, problem, here)
        until[chosen] = step + TENURE
    ends[-1] = n_found
    return short == 0


@kernel
def ease(problem, order, start, here):  # type: ignore[no-untyped-def]
    """Move a position to ``start``, and take back flips that are not needed, those of least ``order`` first.

    Every bound stays met. Returns False, and takes nothing back, if they are not met.
    """
    bounds, n = problem.bounds, len(start)
    shift(problem, start, here)
    flips, sums, gains = here.flips, here.sums, here.gains
    if not met(bounds, sums):
        return False
    while True:
        chosen, least = -1, np.int64(1) << 62
        for i in range(n):
            if flips[i] and order[i] < least and shortfall(bounds, sums, gains, i) == 0:
                chosen, least = i, order[i]
        if chosen < 0:
            return True
        toggle(chosen, problem, here)


@kernel
def ease_columns(problem, moves, order, choice, flips, false, sums):  # type: ignore[no-untyped-def]
    """``ease`` where columns move: ``order`` lists the columns, and their ``choice`` becomes the reference.

    Scratch: ``flips``, the atoms that hold, ``false`` and ``sums``.
    """
    first = moves.first
    count_atoms(problem, moves, choice, flips, false, sums)
    if not met(problem.bounds, sums):
        return False
    again = True
    while again:
        again = False
        for i in order:
            old = choice[i]
            if old == first[i]:
                continue
            move(old, first[i], problem, moves, flips, false, sums)
            if met(problem.bounds, sums):
                choice[i] = first[i]
                again = True
            else:
                move(first[i], old, problem, moves, flips, false, sums)
    return True


@kernel
def try_all(problem, moves, columns, choice, flips, false, sums):  # type: ignore[no-untyped-def]
    """Whether some options of these columns meet every bound, the others at their references.

    All combinations are tried, like the numbers of a counter; ``choice`` becomes the one that was found.
    Scratch: ``flips``, ``false``, ``sums``.
    """
    first = moves.first
    choice[:] = first[:-1]
    count_atoms(problem, moves, choice, flips, false, sums)
    cost = np.int64(0)
    while cost > problem.radius or not met(problem.bounds, sums):
        digit = 0
        while digit < len(columns):
            column = columns[digit]
            old = choice[column]
            new = old + 1 if old + 1 < first[column + 1] else first[column]
            move(old, new, problem, moves, flips, false, sums)
            choice[column] = new
            cost += moves.costs[new] - moves.costs[old]
            if new != first[column]:
                break
            digit += 1
        if digit == len(columns):
            return False
    return True


@part
def count_atoms(problem, moves, choice, flips, false, sums):  # type: ignore[no-untyped-def]
    """Fill in the atoms that hold, the false literals of each clause, and the votes."""
    flips[:] = False
    for option in choice:
        for k in range(moves.at[option], moves.at[option + 1]):
            flips[moves.atoms[k]] = True
    sums[:] = 0
    for j in range(problem.votes.shape[1]):
        n = 0
        for k in range(problem.offsets[j], problem.middles[j]):
            n += not flips[problem.features[k]]
        for k in range(problem.middles[j], problem.offsets[j + 1]):
            n += flips[problem.features[k]]
        false[j] = n
        if n == 0:
            for c in range(len(sums)):
                sums[c] += problem.votes[c, j]


@part
def move(old, new, problem, moves, flips, false, sums):  # type: ignore[no-untyped-def]
    """A column takes another option: its atoms change, and the clauses that look at them."""
    for option in (old, new):
        for k in range(moves.at[option], moves.at[option + 1]):
            atom = moves.atoms[k]
            flips[atom] = not flips[atom]
            for i in range(problem.where[atom], problem.where[atom + 1]):
                j = problem.clauses[i]
                was_true = false[j] == 0
                false[j] += -1 if problem.waking[i] == flips[atom] else 1
                if was_true != (false[j] == 0):
                    for c in range(len(sums)):
                        sums[c] += -problem.votes[c, j] if was_true else problem.votes[c, j]


@part
def met(bounds, sums):  # type: ignore[no-untyped-def]
    """Whether every bound is met."""
    good = True
    for c in range(len(bounds)):
        good &= sums[c] >= bounds[c]
    return good
