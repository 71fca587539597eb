"""Kernels of Algorithm 1 for one machine: votes of its clauses, then Type I and Type II feedback.

Layout. Clauses come in blocks of 64; clause k of a block votes + where k is even, - where it is odd. A
block is the unit of work: its clauses' outputs are one word, and it has its own random numbers, so that
the result does not depend on how blocks are distributed over threads.

The automata of a clause are *bit-sliced*: ``planes[clause, p]`` holds bit p of all its states, 64 literals
to a word, and the last plane is "included". Adding or subtracting 1 at any set of literals ripples carries
or borrows through the planes, a few instructions for 64 automata (256 with AVX2).

The included literals are also kept transposed, 64 clauses to a word and a column per feature
(``included``). An input violates exactly one literal of each feature, so the clauses that are false
are the OR of one word per feature: a sequential scan of memory, without branches.

The literal budget. Type I feedback to a true clause strengthens all its true literals at once: on texts, the
negations of thousands of absent words. If this would include more literals than the budget has room for, the
clause forgets instead, as if it were false: all its automata go down with chance 1 / s, so the order of their
states, which is what the clause has learnt, stays. Type II feedback includes as many literals as there is
room for, drawn uniformly. No clause ever exceeds its budget. Measured: docs/training.md. Tried and dropped:

- To include as many as there is room for under Type I too. A clause is then filled by its first example,
  mostly with negations of rare words. They are nearly always true, so they are strengthened for ever and
  never leave, and Type II feedback finds no room for a literal that tells classes apart. It was slow, too:
  at every feedback, thousands of automata crossed the border and were put back one by one.
- To forget only where the clause is full (as tmu does) but otherwise fill it by drawing; to let Type II
  feedback replace the weakest literal of a full clause; to prefer, in drawing, the literals of features
  whose value in the example is the rarer one. None was better than the rule above.
"""

import numpy as np

from tmverify.kernels import words
from tmverify.kernels.jit import kernel
from tmverify.kernels.rng import fill_mask, next_below, next_mask
from tmverify.training._meeting import meet

BLOCK = 64
PLANES = 8
_ONE, _NONE, _ALL = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
_EVEN = np.uint64(0x5555555555555555)


@kernel
def count_ones(word):  # type: ignore[no-untyped-def]
    """Number of set bits, as a signed integer."""
    return np.int64(words.ones(word))


@kernel
def lowest_bit(word):  # type: ignore[no-untyped-def]
    """Position of the lowest set bit of a word that is not 0."""
    return count_ones((word & (~word + _ONE)) - _ONE)


@kernel
def spread_bits(inputs, row, spread):  # type: ignore[no-untyped-def]
    """spread[64 w + k] = all ones where bit k of inputs[row, w] is set, else 0."""
    for w in range(inputs.shape[1]):
        word = inputs[row, w]
        for k in range(BLOCK):
            spread[BLOCK * w + k] = _NONE - ((word >> np.uint64(k)) & _ONE)


@kernel
def true_clauses(included, b, spread):  # type: ignore[no-untyped-def]
    """The true clauses of a block, as a word: those with no violated included literal.

    included[b] : (2, features) words of 64 clauses: those with the literal x_f, and those with not x_f.
    """
    broken = _NONE
    for f in range(spread.shape[0]):
        broken |= (included[b, 0, f] & ~spread[f]) | (included[b, 1, f] & spread[f])
    return ~broken


@kernel
def count_votes(holds, weights, b):  # type: ignore[no-untyped-def]
    """Sum of the weights of a block's true clauses; those at odd places are subtracted."""
    votes = np.int64(0)
    while holds != _NONE:
        k = lowest_bit(holds)
        votes += -np.int64(weights[BLOCK * b + k]) if k & 1 else np.int64(weights[BLOCK * b + k])
        holds &= holds - _ONE
    return votes


@kernel
def move(planes, j, up, moving, floor):  # type: ignore[no-untyped-def]
    """Move the automata of clause j in ``moving`` one state, up where ``up`` is set, else down, if possible.

    States run from ``floor`` to ``2^PLANES - 1 - floor``. Returns whether an automaton changed its action;
    ``moving`` then holds those that did.

    The loop over words vectorises only because it runs to the length of a plane, so that LLVM can tell
    that planes do not overlap, and because all planes, even the last one, are treated alike.
    """
    left = _NONE
    for w in range(planes.shape[2]):
        u = up[w]
        # An automaton is at its end iff all its bits are those of floor (going down) or ~floor (going up).
        can = _NONE
        for p in range(PLANES):
            can |= planes[j, p, w] ^ u ^ (_NONE - ((floor >> np.uint64(p)) & _ONE))
        m = moving[w] & can
        changed = m
        for p in range(PLANES):
            plane = planes[j, p, w]
            planes[j, p, w] = plane ^ m
            changed = m
            m &= ~(plane ^ u)
        moving[w] = changed
        left |= changed
    return left != _NONE


@kernel
def keep_budget(planes, j, changed, room, draws, b, kept):  # type: ignore[no-untyped-def]
    """Undo inclusions beyond ``room``: those that stay are drawn, each as likely as any other.

    ``kept`` is scratch. A draw costs a pass over the words; only Type II feedback gets here.
    """
    n_fresh = 0
    for w in range(changed.shape[0]):
        kept[w] = _NONE
        n_fresh += count_ones(changed[w] & planes[j, PLANES - 1, w])
    for n_kept in range(room):
        place = np.int64(next_below(draws, b, n_fresh - n_kept))
        for w in range(changed.shape[0]):
            left = changed[w] & planes[j, PLANES - 1, w] & ~kept[w]
            n_here = count_ones(left)
            if place < n_here:
                for _ in range(place):
                    left &= left - _ONE
                kept[w] |= left & (~left + _ONE)
                break
            place -= n_here
    for w in range(changed.shape[0]):
        # The others go back to the highest state that excludes, where they came from: 011…1.
        refused = changed[w] & planes[j, PLANES - 1, w] & ~kept[w]
        changed[w] ^= refused
        planes[j, PLANES - 1, w] ^= refused
        for p in range(PLANES - 1):
            planes[j, p, w] |= refused


@kernel
def would_overfill(planes, j, lits, moving, room, rule):  # type: ignore[no-untyped-def]
    """Whether strengthening clause j's true literals, but for those in ``moving``, includes over ``room``."""
    n_fresh = 0
    for w in range(lits.shape[0]):
        ready = lits[w] & (~moving[w] | rule.boost) & ~planes[j, PLANES - 1, w]
        for p in range(PLANES - 1):
            ready &= planes[j, p, w]
        n_fresh += count_ones(ready)
    return n_fresh > room


@kernel
def enter_changes(changed, included, b, clause_bit):  # type: ignore[no-untyped-def]
    """Flip the bit of a clause in the words of the literals that it now includes or excludes."""
    n_half = included.shape[2]
    for w in range(changed.shape[0]):
        word = changed[w]
        while word != _NONE:
            literal = BLOCK * w + lowest_bit(word)
            word &= word - _ONE
            if literal < n_half:
                included[b, 0, literal] ^= clause_bit
            else:
                included[b, 1, literal - n_half] ^= clause_bit


@kernel
def count_changes(planes, j, changed):  # type: ignore[no-untyped-def]
    """How many of the changed literals are now included, and how many excluded."""
    fresh = gone = 0
    for w in range(changed.shape[0]):
        now = count_ones(changed[w] & planes[j, PLANES - 1, w])
        fresh += now
        gone += count_ones(changed[w]) - now
    return fresh, gone


@kernel
def reward(planes, j, holds, lits, lanes, b, up, moving, rule, room):  # type: ignore[no-untyped-def]
    """Type I feedback. Returns the same as ``move``.

    A true clause that would get more than ``room`` new literals is treated as a false one.

    ========  =========  ====================================================
    clause    literal    automaton
    ========  =========  ====================================================
    true      true       up, with chance (s - 1) / s; always when boosted
    true      false      down, with chance 1 / s
    false     any        down, with chance 1 / s
    ========  =========  ====================================================
    """
    fill_mask(moving, lanes, b, rule.forget)
    if holds and room < BLOCK * lits.shape[0]:  # else all of them fit
        holds = not would_overfill(planes, j, lits, moving, room, rule)
    if holds:
        for w in range(lits.shape[0]):
            up[w] = lits[w]
            moving[w] = (lits[w] & (~moving[w] | rule.boost)) | (~lits[w] & moving[w])
    else:
        up[:] = _NONE
    return move(planes, j, up, moving, rule.floor)


@kernel
def punish(planes, j, lits, present, up, moving, rule):  # type: ignore[no-untyped-def]
    """Type II feedback to a true clause: its false, excluded literals go up. Returns the same as ``move``."""
    for w in range(lits.shape[0]):
        up[w] = _ALL
        moving[w] = ~lits[w] & present[w] & ~planes[j, PLANES - 1, w]
    return move(planes, j, up, moving, rule.floor)


@kernel
def settle(planes, j, n_included, draws, b, moving, kept, max_literals):  # type: ignore[no-untyped-def]
    """Limit clause j, after the changes in ``moving``, to its literal budget; update its literal count."""
    fresh, gone = count_changes(planes, j, moving)
    room = max(max_literals - (n_included[j] - gone), 0)
    if fresh > room:
        keep_budget(planes, j, moving, room, draws, b, kept)
        fresh = room
    n_included[j] += fresh - gone


@kernel
def learn(rows, wanted, inputs, machine, rule, blocks, part, brought, arrived, stop):  # type: ignore[no-untyped-def]
    """Run Algorithm 1 on the examples ``rows`` in order, for blocks ``blocks[0] .. blocks[1]`` of a machine.

    rows : (n,) rows of ``inputs``, packed features; wanted : (n,) 1 where the machine should answer yes.
    part, brought, arrived : see ``training._meeting``; stop : if not 0, the run ends between two examples.
    """
    planes, weights, n_included, included, real, present, draws, lanes = machine
    n_half, n_words = inputs.shape[1], present.shape[0]
    lits, up = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    moving = np.zeros(n_words, np.uint64)
    spread = np.zeros(BLOCK * n_half, np.uint64)
    holds = np.zeros(blocks[1], np.uint64)
    for i in range(rows.shape[0]):
        row = rows[i]
        spread_bits(inputs, row, spread)
        votes = np.int64(0)
        for b in range(blocks[0], blocks[1]):
            holds[b] = true_clauses(included, b, spread) & real[b]
            if rule.weighted:
                votes += count_votes(holds[b], weights, b)
            else:
                votes += count_ones(holds[b] & _EVEN) - count_ones(holds[b] & ~_EVEN)
        votes, stopped = meet(votes, part, i, brought, arrived, stop)
        if stopped or stop[0] != 0:
            return
        votes = min(max(votes, -rule.threshold), rule.threshold)
        urge = rule.threshold - votes if wanted[i] else rule.threshold + votes
        if urge == 0:
            continue
        for w in range(n_half):
            lits[w] = inputs[row, w]
            lits[n_half + w] = ~inputs[row, w] & present[n_half + w]
        rewarded = _EVEN if wanted[i] else ~_EVEN
        for b in range(blocks[0], blocks[1]):
            chosen = next_mask(draws, b, urge, 2 * rule.threshold) & real[b] & (rewarded | holds[b])
            while chosen != _NONE:
                bit = chosen & (~chosen + _ONE)
                chosen ^= bit
                j = BLOCK * b + lowest_bit(bit)
                true = holds[b] & bit != _NONE
                if rewarded & bit:
                    room = rule.max_literals - n_included[j]
                    changed = reward(planes, j, true, lits, lanes, b, up, moving, rule, room)
                    weights[j] += rule.weighted and true
                else:
                    changed = punish(planes, j, lits, present, up, moving, rule)
                    weights[j] -= rule.weighted and weights[j] > 1
                if changed:
                    settle(planes, j, n_included, draws, b, moving, up, rule.max_literals)
                    enter_changes(moving, included, b, bit)
