"""A third SIMD type for numba, beside those of ``kernels.batch_vectors``: votes for 16 outputs.

    Votes       16 sums of votes of a single row: ``<16 x i32>``, 64 bytes like a set of 512 samples

So a matrix of 64-bit words, (n, 8), can hold both, and a kernel needs one array for a model: numba takes
a tenth of a microsecond to unpack each argument, as much as it takes to look up 50 rows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model

from tmverify.kernels.batch_vectors import LANES, SAMPLES, row_pointer, samples

_intrinsic: Any = intrinsic
_INT32 = ir.IntType(32)
_VOTES = ir.VectorType(_INT32, LANES)


class Votes(types.Type):
    """numba's type of 16 sums of votes, as int32."""

    def __init__(self) -> None:
        super().__init__(name="Votes16")


@register_model(Votes)
class _VotesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VOTES)  # type: ignore[no-untyped-call]


votes = Votes()


@_intrinsic
def load_votes(typing_context, array, index):  # type: ignore[no-untyped-def]
    """The 64 bytes ``array[index]`` as votes; ``array`` has 64-bit words, (n, 8), ``index`` unsigned."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = row_pointer(context, builder, signature.args[0], args[0], args[1], SAMPLES)
        return builder.load(builder.bitcast(row, _VOTES.as_pointer()), align=8)

    return votes(array, index), generate


@_intrinsic
def add_votes(typing_context, a, b):  # type: ignore[no-untyped-def]
    """``a + b``, modulo 2**32."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.add(args[0], args[1])

    return votes(votes, votes), generate


@_intrinsic
def vote_of(typing_context, sums, output):  # type: ignore[no-untyped-def]
    """``sums[output]`` as int64; ``output`` is int64 from 0 to 15."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        lane = builder.extract_element(args[0], builder.trunc(args[1], _INT32))
        return builder.sext(lane, ir.IntType(64))

    return types.int64(votes, types.int64), generate


@_intrinsic
def word_of(typing_context, alive, w):  # type: ignore[no-untyped-def]
    """Word ``w`` of a set of 512 as uint64; ``w`` is int64 from 0 to 7."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.extract_element(args[0], builder.trunc(args[1], _INT32))

    return types.uint64(samples, types.int64), generate


@_intrinsic
def lowest_bit(typing_context, word):  # type: ignore[no-untyped-def]
    """Position of the lowest bit of a uint64 that is not 0."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate
