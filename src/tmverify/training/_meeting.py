"""A meeting of threads inside a kernel: each brings a number, and all get the sum.

Threads that share one machine must add up their votes at every example, thousands of times a second; an
operating system lock costs more than the work between two meetings. So they spin on counters: each thread
owns one, which the others only read, with acquire and release order.

``arrived[part, 0]`` counts the meetings that ``part`` has reached; ``brought[parity, part, 0]`` is its
number. Two sets of numbers alternate: a thread can write the set of meeting t + 2 only when all have reached
t + 1, and so have read that of t. Rows are 64 bytes wide, a cache line for each thread.

A thread that spins for long yields its core (``sched_yield``), so that training with more threads than free
cores still makes progress, only slower.
"""

import os
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tmverify.kernels.jit import kernel

LINE = 8
_intrinsic: Any = intrinsic  # callers omit the first argument, which type checkers do not know
_SPINS = 2000

if os.name == "posix":
    _give_core_away = types.ExternalFunction("sched_yield", types.int32())
else:  # keep spinning until the operating system ends the time slice

    @kernel
    def _give_core_away():  # type: ignore[no-untyped-def]
        return np.int32(0)


@_intrinsic
def _load_acquire(typingctx, array, index):  # type: ignore[no-untyped-def]
    """``array.flat[index]`` of a C-contiguous int64 array; later accesses are not moved before it."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load_atomic(_address(context, builder, signature, args), "acquire", 8)

    return types.int64(array, types.intp), codegen


@_intrinsic
def _store_release(typingctx, array, index, value):  # type: ignore[no-untyped-def]
    """``array.flat[index] = value``; earlier accesses are not moved after it."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store_atomic(args[2], _address(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), codegen


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return cgutils.gep_inbounds(builder, data, args[1])  # type: ignore[no-untyped-call]


@kernel
def meet(number, part, meeting, brought, arrived, stop):  # type: ignore[no-untyped-def]
    """The sum of all parts' numbers at this meeting (0, 1, …), and whether ``stop[0]`` ended the wait."""
    brought[meeting & 1, part, 0] = number
    _store_release(arrived, part * LINE, meeting + 1)
    total = np.int64(0)
    for other in range(arrived.shape[0]):
        spins = 0
        while _load_acquire(arrived, other * LINE) <= meeting:
            spins += 1
            if spins % _SPINS == 0:
                if _load_acquire(stop, 0) != 0:
                    return total, True
                _give_core_away()
        total += brought[meeting & 1, other, 0]
    return total, False
