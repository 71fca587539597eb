"""Words of 64 bits, for numba: uint64 in, uint64 out."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # callers omit the first argument, which type checkers do not know


@_intrinsic
def ones(typing_context, word):  # type: ignore[no-untyped-def]
    """The number of bits set in a word."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@_intrinsic
def lowest_bit(typing_context, word):  # type: ignore[no-untyped-def]
    """Position of the lowest bit of a word that is not 0."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate
