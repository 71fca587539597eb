"""Recorded multipliers: the integers that a certificate contains, and the bound that they prove.

The search improves its multipliers as floats. Recorded ones are first rounded to integers (``settle``), and
only what these prove counts: ``credit_record`` is ``_bound.credit_flips`` without a step. A clause's shares
add up to at least ``unit``; a load is at most ``unit``.
"""

import numpy as np

from tmverify.kernels.jit import kernel, part


@kernel
def first_record(problem, record):  # type: ignore[no-untyped-def]
    """The checker's first multipliers: even over the flips that wake a clause, else over all that kill it."""
    offsets, middles = problem.offsets, problem.middles
    unit, parts, loads = record.unit, record.parts, record.loads
    for j in range(len(loads)):
        first, middle, end = offsets[j], middles[j], offsets[j + 1]
        n = middle - first if middle > first else end - first
        loads[j] = unit if middle - first <= 1 else 0
        for k in range(first, end):
            parts[k] = unit // n if k < first + n else 0
        parts[first] += unit - unit // n * n


@part
def settle(problem, total, dead, multipliers, record):  # type: ignore[no-untyped-def]
    """Round the multipliers of all clauses that are not dead and have weight, into the record."""
    offsets, share, load = problem.offsets, multipliers.share, multipliers.load
    unit, parts, loads = record.unit, record.parts, record.loads
    for j in range(len(total)):
        if dead[j] or total[j] == 0:
            continue
        if total[j] < 0:
            loads[j] = min(max(np.int64(load[j] * unit), np.int64(0)), unit)
            continue
        first, end = offsets[j], offsets[j + 1]
        rest = unit
        largest = first
        for k in range(first, end):
            parts[k] = min(max(np.int64(share[k] * unit), np.int64(0)), unit)
            rest -= parts[k]
            if parts[k] > parts[largest]:
                largest = k
        if rest > 0:
            parts[largest] += rest


@kernel
def credit_record(problem, total, dead, record, credits):  # type: ignore[no-untyped-def]
    """credits[i] = what the bound grants for flip i, times the unit; returns the constant."""
    offsets, middles, features = problem.offsets, problem.middles, problem.features
    parts, loads = record.parts, record.loads
    for i in range(len(credits)):
        credits[i] = 0
    constant = np.int64(0)
    for j in range(len(total)):
        weight = total[j]
        if dead[j] or weight == 0:
            continue
        first, middle, end = offsets[j], middles[j], offsets[j + 1]
        if weight < 0:
            part = -weight * loads[j]
            constant += (middle - first - 1) * part
            for k in range(first, middle):
                credits[features[k]] -= part
            for k in range(middle, end):
                credits[features[k]] += part
            continue
        for k in range(first, middle):
            credits[features[k]] += weight * parts[k]
        for k in range(middle, end):
            part = weight * parts[k]
            credits[features[k]] -= part
            constant += part
    return constant


@part
def put(value, out, n):  # type: ignore[no-untyped-def]
    """Append a number to ``out``, 7 bits a byte, lowest first, the last below 128; returns the new length."""
    while value >= 128:
        out[n] = value % 128 + 128
        value //= 128
        n += 1
    out[n] = value
    return n + 1


@kernel
def pack_changes(problem, total, record, written, out):  # type: ignore[no-untyped-def]
    """Write each clause that differs from ``written``, as gap and numbers, to ``out``; update ``written``.

    Returns the number of bytes; ``out`` has room for five bytes per number.
    """
    offsets, parts, loads = problem.offsets, record.parts, record.loads
    old_parts, old_loads = written.parts, written.loads
    n = np.int64(0)
    last = -1
    for j in range(len(total)):
        if total[j] == 0:
            continue
        first, end = offsets[j], offsets[j + 1]
        same = True
        if total[j] < 0:
            same = loads[j] == old_loads[j]
        else:
            for k in range(first, end):
                same &= parts[k] == old_parts[k]
        if same:
            continue
        n = put(np.int64(j - last - 1), out, n)
        last = j
        if total[j] < 0:
            old_loads[j] = loads[j]
            n = put(np.int64(loads[j]), out, n)
        else:
            for k in range(first, end):
                old_parts[k] = parts[k]
                n = put(np.int64(parts[k]), out, n)
    return n
