"""Words of 64 bits, for numba."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic


@_intrinsic
def ones(typing_context, word):  # type: ignore[no-untyped-def]
    """The number of bits set in a word."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate
