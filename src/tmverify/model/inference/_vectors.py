"""Three SIMD types for numba, each a row of a matrix held in registers.

    samples     512 bits, one per sample of a block: ``<8 x i64>`` in LLVM, two AVX2 or four NEON registers
    lanes       16 sums of votes on a sample of a block: ``<16 x i16>``, one AVX2 or two NEON registers
    votes       16 sums of votes on a single row: ``<16 x i32>``, 64 bytes like a set of 512 samples

numba turns LLVM's superword vectorizer off, and LLVM's loop vectorizer ignores loops of 8: in plain numba the
same code is scalar and three times slower. LLVM splits these vectors to suit the processor, so no instruction
set is named here. Rows are addressed without bounds checks; indices must not be negative.

Samples and votes are equally wide, so that a matrix of 64-bit words, (n, 8), can hold both, and a kernel
needs one array for a model: numba takes a tenth of a microsecond to unpack each argument, as much as it takes
to look up 50 rows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model

SAMPLE_WORDS = 8
LANES = 16

# Callers omit the first argument, which type checkers do not know.
_intrinsic: Any = intrinsic
_INT32, _WORD = ir.IntType(32), ir.IntType(64)
_BITS = ir.IntType(64 * SAMPLE_WORDS)
_SAMPLES = ir.VectorType(_WORD, SAMPLE_WORDS)
_LANES = ir.VectorType(ir.IntType(16), LANES)
_VOTES = ir.VectorType(_INT32, LANES)


class Vector(types.Type):
    """numba's type for an LLVM vector."""

    def __init__(self, name: str, vector: Any) -> None:
        super().__init__(name=name)
        self.vector = vector


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)  # type: ignore[no-untyped-call]


samples = Vector("Samples512", _SAMPLES)
lanes = Vector("Lanes16", _LANES)
votes = Vector("Votes16", _VOTES)


def _row_pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, row: Any) -> Any:
    """Address of ``array[index]``, as a pointer to ``row``; the array is C-ordered and exactly as wide."""
    assert kind.layout == "C"
    data = context.make_array(kind)(context, builder, array).data
    if index.type.width < 64:
        index = builder.zext(index, _WORD)
    # With a constant width, each look-up needs a shift instead of a multiplication.
    return builder.bitcast(builder.gep(data, [builder.mul(index, _WORD(row.count))]), row.as_pointer())


@_intrinsic
def all_samples(typing_context):  # type: ignore[no-untyped-def]
    """The set of all 512 samples."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return ir.Constant(_SAMPLES, [-1] * SAMPLE_WORDS)

    return samples(), generate


@_intrinsic
def keep_row(typing_context, alive, planes, index):  # type: ignore[no-untyped-def]
    """``alive & planes[index]``; ``planes`` has 64-bit words, (n, 8), ``index`` unsigned."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = _row_pointer(context, builder, signature.args[1], args[1], args[2], _SAMPLES)
        return builder.and_(args[0], builder.load(row, align=8))

    return samples(samples, planes, index), generate


@_intrinsic
def drop_row(typing_context, alive, planes, index):  # type: ignore[no-untyped-def]
    """``alive & ~planes[index]``."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = _row_pointer(context, builder, signature.args[1], args[1], args[2], _SAMPLES)
        return builder.and_(args[0], builder.not_(builder.load(row, align=8)))

    return samples(samples, planes, index), generate


@_intrinsic
def nobody(typing_context, alive):  # type: ignore[no-untyped-def]
    """Whether the set is empty."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.icmp_unsigned("==", builder.bitcast(args[0], _BITS), ir.Constant(_BITS, 0))

    return types.boolean(samples), generate


@_intrinsic
def store_row(typing_context, alive, out, index):  # type: ignore[no-untyped-def]
    """``out[index] = alive``; ``out`` is uint64, (n, 8)."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = _row_pointer(context, builder, signature.args[1], args[1], args[2], _SAMPLES)
        builder.store(args[0], row, align=8)
        return context.get_dummy_value()

    return types.void(samples, out, index), generate


@_intrinsic
def load_lanes(typing_context, array, index):  # type: ignore[no-untyped-def]
    """``array[index]``; ``array`` is int16, (n, 16)."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = _row_pointer(context, builder, signature.args[0], args[0], args[1], _LANES)
        return builder.load(row, align=2)

    return lanes(array, index), generate


@_intrinsic
def store_sum(typing_context, a, b, out, index):  # type: ignore[no-untyped-def]
    """``out[index] = a + b``, modulo 2**16; ``out`` is int16, (n, 16)."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = _row_pointer(context, builder, signature.args[2], args[2], args[3], _LANES)
        builder.store(builder.add(args[0], args[1]), row, align=2)
        return context.get_dummy_value()

    return types.void(lanes, lanes, out, index), generate


@_intrinsic
def load_votes(typing_context, array, index):  # type: ignore[no-untyped-def]
    """The 64 bytes ``array[index]`` as votes; ``array`` has 64-bit words, (n, 8), ``index`` unsigned."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        row = _row_pointer(context, builder, signature.args[0], args[0], args[1], _SAMPLES)
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
