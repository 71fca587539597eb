"""Kernels that turn clauses into clauses over moves of columns, and shrink them when options are ruled out.

A column has options, the first of which is its *reference*. An *atom* is a set of options of one column
without the reference: it holds if the column has one of them. What a clause demands of a column is one
literal, an atom that must hold (it wakes the clause) or must not (it stays). So a clause has at most one
literal a column, and what a move of a column does to clauses adds up over the atoms that it makes true. A
flag is a column of two options, with one atom: it flips.

``masks[a]`` is atom a as bits, option i of its column in bit i % 64 of word i // 64. Atoms are numbered by
their columns.
"""

import numpy as np

from tmverify.kernels.jit import kernel, part

ALWAYS, NEVER = -1, -2  # instead of an atom's new number: it always holds, or never
_ONE = np.uint64(1)
_PRIME = np.uint64(1099511628211)
_SEED = np.uint64(14695981039346656037)


@part
def holds_in(masks, atom, option):  # type: ignore[no-untyped-def]
    """Whether an atom holds in an option, given by its place in the column."""
    return (masks[atom, option >> 6] >> np.uint64(option & 63)) & _ONE != np.uint64(0)


@part
def find_atom(set_, column, masks, columns, n, table):  # type: ignore[no-untyped-def]
    """The number of the atom ``set_`` of a column, a new one (``n``) if it is not known yet."""
    code = (_SEED ^ np.uint64(column)) * _PRIME
    for w in range(len(set_)):
        code = (code ^ set_[w]) * _PRIME
        code ^= code >> np.uint64(29)
    slot = np.int64(code & np.uint64(len(table) - 1))
    while table[slot] >= 0:
        atom = table[slot]
        same = columns[atom] == column
        for w in range(len(set_)):
            same &= masks[atom, w] == set_[w]
        if same:
            return atom
        slot = (slot + 1) & (len(table) - 1)
    table[slot] = n
    columns[n] = column
    for w in range(len(set_)):
        masks[n, w] = set_[w]
    return n


@kernel
def over_moves(offsets, literals, origin, home, holds, full, new, kept, masks, columns, staying, set_, table):  # type: ignore[no-untyped-def]
    """Write the pool's clauses over atoms to ``new``; returns how many clauses and atoms there are.

    ``home[f]`` is the column of bit f, -1 if the bit can't change; ``holds[f]`` the options in which it is 1;
    ``full[c]`` all options of column c. A clause that is false whatever moves is left out; ``kept`` says
    which are there. ``staying`` and ``set_`` are scratch; ``table`` is full of -1, its length a power of two,
    more than twice the number of literals.
    """
    n_clauses, n_atoms, end = np.int64(0), np.int64(0), np.int64(0)
    new.offsets[0] = 0
    for j in range(len(offsets) - 1):
        at, n, false = end, np.int64(0), False
        k = offsets[j]
        while k < offsets[j + 1]:
            f = abs(literals[k]) - 1
            c = home[f]
            if c < 0:
                false |= (origin[f] != 0) != (literals[k] > 0)
                k += 1
                continue
            for w in range(len(set_)):
                set_[w] = full[c, w]
            while k < offsets[j + 1] and home[abs(literals[k]) - 1] == c:
                f = abs(literals[k]) - 1
                for w in range(len(set_)):
                    set_[w] &= holds[f, w] if literals[k] > 0 else ~holds[f, w]
                k += 1
            empty, all_ = True, True
            for w in range(len(set_)):
                empty &= set_[w] == np.uint64(0)
                all_ &= set_[w] == full[c, w]
            false |= empty
            if empty or all_:
                continue
            wakes = set_[0] & _ONE == np.uint64(0)
            if not wakes:
                for w in range(len(set_)):
                    set_[w] = full[c, w] & ~set_[w]
            atom = find_atom(set_, c, masks, columns, n_atoms, table)
            n_atoms = max(n_atoms, atom + 1)
            if wakes:
                new.features[at], new.came_from[at] = atom, k - 1
                at += 1
            else:
                staying[0, n], staying[1, n] = atom, k - 1
                n += 1
        if false:
            continue
        new.middles[n_clauses] = at
        for i in range(n):
            new.features[at + i], new.came_from[at + i] = staying[0, i], staying[1, i]
        end = at + n
        kept[n_clauses] = j
        n_clauses += 1
        new.offsets[n_clauses] = end
    return n_clauses, n_atoms


@kernel
def restrict_columns(moves, alive, order, first, costs, masks, number, negated, columns):  # type: ignore[no-untyped-def]
    """Keep the options that are ``alive``; returns how many atoms are left, and the cost that is spent.

    The cheapest option of a column becomes its reference (the old one, if it is among them, else the first),
    and the cost of it is spent. ``order[i]`` is the old number of new option i, ``first`` and ``costs`` are
    the new ones. Atom a becomes ``number[a]``, perhaps the complement of that (``negated``), or ALWAYS, or
    NEVER; ``masks`` and ``columns`` are of the new atoms.
    """
    n_atoms, n, spent = np.int64(0), np.int64(0), np.int64(0)
    words = masks.shape[1]
    full, set_ = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for c in range(len(moves.first) - 1):
        begin, stop = moves.first[c], moves.first[c + 1]
        first[c] = n
        reference = -1
        for o in range(begin, stop):
            if alive[o] and (reference < 0 or moves.costs[o] < moves.costs[reference]):
                reference = o
        base = moves.costs[reference]
        spent += base
        order[n], costs[n] = reference, 0
        n += 1
        for o in range(begin, stop):
            if alive[o] and o != reference:
                order[n], costs[n] = o, moves.costs[o] - base
                n += 1
        full[:] = 0
        for i in range(n - first[c]):
            full[i >> 6] |= _ONE << np.uint64(i & 63)
        known = n_atoms
        for a in range(moves.atoms_first[c], moves.atoms_first[c + 1]):
            set_[:] = 0
            for i in range(n - first[c]):
                if holds_in(moves.masks, a, order[first[c] + i] - begin):
                    set_[i >> 6] |= _ONE << np.uint64(i & 63)
            negated[a] = set_[0] & _ONE != np.uint64(0)
            empty = True
            for w in range(words):
                if negated[a]:
                    set_[w] = full[w] & ~set_[w]
                empty &= set_[w] == np.uint64(0)
            if empty:
                number[a] = ALWAYS if negated[a] else NEVER
                continue
            twin = known
            while twin < n_atoms:
                same = True
                for w in range(words):
                    same &= masks[twin, w] == set_[w]
                if same:
                    break
                twin += 1
            if twin == n_atoms:
                for w in range(words):
                    masks[n_atoms, w] = set_[w]
                columns[n_atoms] = c
                n_atoms += 1
            number[a] = twin
    first[len(moves.first) - 1] = n
    return n_atoms, spent


@kernel
def rename_literals(problem, number, negated, new, kept, staying):  # type: ignore[no-untyped-def]
    """Write the clauses with atoms renamed to ``new``; returns how many are left. ``staying`` is scratch."""
    offsets, middles, features = problem.offsets, problem.middles, problem.features
    n_clauses, end = np.int64(0), np.int64(0)
    new.offsets[0] = 0
    for j in range(len(middles)):
        start, at, n, false = end, end, np.int64(0), False
        for k in range(offsets[j], offsets[j + 1]):
            wakes = k < middles[j]
            atom = number[features[k]]  # a new number, ALWAYS or NEVER
            if atom < 0:
                false |= wakes == (atom == NEVER)
                continue
            if wakes != negated[features[k]]:
                i = at
                while i > start and new.features[i - 1] > atom:
                    new.features[i], new.came_from[i] = new.features[i - 1], new.came_from[i - 1]
                    i -= 1
                new.features[i], new.came_from[i] = atom, k
                at += 1
            else:
                i = n
                while i > 0 and staying[0, i - 1] > atom:
                    staying[0, i], staying[1, i] = staying[0, i - 1], staying[1, i - 1]
                    i -= 1
                staying[0, i], staying[1, i] = atom, k
                n += 1
        if false:
            continue
        new.middles[n_clauses] = at
        for k in range(n):
            new.features[at + k], new.came_from[at + k] = staying[0, k], staying[1, k]
        end = at + n
        kept[n_clauses] = j
        n_clauses += 1
        new.offsets[n_clauses] = end
    return n_clauses


@kernel
def least_costs(masks, columns, first, costs, least):  # type: ignore[no-untyped-def]
    """least[a] = the least cost of an option in which atom a holds."""
    for a in range(len(least)):
        c = columns[a]
        best = np.int64(1) << 62
        for o in range(first[c], first[c + 1]):
            if costs[o] < best and holds_in(masks, a, o - first[c]):
                best = costs[o]
        least[a] = best


@kernel
def distinct_options(masks, columns, first, costs, keep):  # type: ignore[no-untyped-def]
    """keep[o] = whether option o stays: of those that lie in the same atoms, one does, of the least cost.

    A column that has one option left keeps none.
    """
    n_columns = len(first) - 1
    codes = np.zeros(len(costs), np.uint64)
    begin = np.int64(0)
    for c in range(n_columns):
        end = begin
        while end < len(columns) and columns[end] == c:
            end += 1
        code = _SEED
        for a in range(begin, end):
            code = (code ^ np.uint64(a)) * _PRIME
            code ^= code >> np.uint64(29)
            for o in range(first[c], first[c + 1]):
                if holds_in(masks, a, o - first[c]):
                    codes[o] ^= code
        n = 0
        for o in range(first[c], first[c + 1]):
            keep[o] = True
            n += 1
            for p in range(first[c], o):
                if not keep[p] or codes[p] != codes[o]:
                    continue
                same = True
                for a in range(begin, end):
                    same &= holds_in(masks, a, o - first[c]) == holds_in(masks, a, p - first[c])
                if same:
                    if costs[o] < costs[p]:
                        keep[p] = False
                    else:
                        keep[o] = False
                    n -= 1
                    break
        if n == 1:
            keep[first[c] : first[c + 1]] = False
        begin = end


@kernel
def pack_options(masks, columns, first, keep, new_masks, at, atoms):  # type: ignore[no-untyped-def]
    """The masks without the options that went; ``at`` and ``atoms``: what holds in each that stayed."""
    new_masks[:] = 0
    place = np.zeros(len(keep), np.int64)  # of each option, among those of its column that stay
    number = np.zeros(len(keep), np.int64)  # … and among all
    n = np.int64(0)
    for c in range(len(first) - 1):
        i = np.int64(0)
        for o in range(first[c], first[c + 1]):
            place[o], number[o] = i, n
            i += keep[o]
            n += keep[o]
    at[:] = 0
    for a in range(len(columns)):
        c = columns[a]
        for o in range(first[c], first[c + 1]):
            if keep[o] and holds_in(masks, a, o - first[c]):
                new_masks[a, place[o] >> 6] |= _ONE << np.uint64(place[o] & 63)
                at[number[o] + 1] += 1
    for o in range(n):
        at[o + 1] += at[o]
    for a in range(len(columns)):
        c = columns[a]
        for o in range(first[c], first[c + 1]):
            if keep[o] and holds_in(masks, a, o - first[c]):
                atoms[at[number[o]]] = a
                at[number[o]] += 1
    for o in range(n, 0, -1):  # at[o] has become the start of option o + 1: move all up by one
        at[o] = at[o - 1]
    at[0] = 0
