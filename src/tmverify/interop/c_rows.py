"""Raw rows in C: a struct with a member for each column, and functions that make bits of it, and a decision.

    int NAME_encode(const NAME_row *row, uint64_t *x)     0, or -k if member k has a value that can't be
    int NAME_predict_row(const NAME_row *row)             the index of the class, or -k

Each member is checked, and its bits are set, by one call of a small function for its kind. What ``encode`` of
the space refuses is an error here: an infinite number, NaN where the model knows no missing value, a code
that no value has, a flag that is neither 0 nor 1. One difference is on purpose: ``encode`` refuses pictures
that hold 0 and 1 alone, because Python can't tell whether these are bits; here they are levels.

Numbers are compared by their keys (``interop.raw_rows``), without floating point arithmetic. The file refuses
to compile where a double has other than 64 bits. Codes are int32_t: a wrong code is not cut to a right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tmverify.interop.identifiers import MAX_NAME_CHARS, MAX_PART_CHARS, Identifiers, plain_words
from tmverify.interop.raw_rows import (
    HIGHEST_INFINITE,
    LOWEST_INFINITE,
    Field,
    code_meanings,
    field_heading,
    field_meaning,
)
from tmverify.space import Category, Flag, Image, Number
from tmverify.space.parts import OneColumn
from tmverify.space.values import number_text

MACROS = ("FEATURES", "WORDS", "OUTPUTS", "CLASSES", "COLUMNS", "DECLARATIONS", "ROW", "NO_ROWS")


def row_usage(fields: Sequence[Field], name: str) -> list[str]:
    """How to call the functions, for the head comment."""
    if not fields:
        return []
    upper, words = name.upper(), -(-fields[-1].bits.stop // 64)
    return [
        "",
        f"From raw values: fill a {name}_row, whose {upper}_COLUMNS members are explained below, and call",
        f"  int {name}_predict_row(const {name}_row *row);              the index of the class, or an error",
        f"  int {name}_encode(const {name}_row *row, uint64_t *x);      0, or an error: x is incomplete",
        "An error is -k: the k-th member, from 1, has a value that the model can't take.",
        f"{name}_predict_row needs {8 * words} bytes of stack more than {name}_predict.",
        f"With {upper}_NO_ROWS defined, this part is left out.",
    ]


def row_size(fields: Sequence[Field]) -> int:
    """How many cuts, thresholds and categories are written."""
    return sum(len(f.part.values) if isinstance(f.part, Category) else len(f.keys) for f in fields)


def row_declarations(fields: Sequence[Field], name: str) -> Iterator[str]:
    """Constants for codes, the struct, the prototypes."""
    values = {"name": name, "NAME": name.upper()}
    yield OPENING % values
    yield f"#define {name.upper()}_COLUMNS {len(fields)}\n"
    taken = Identifiers(f"{name.upper()}_{macro}" for macro in MACROS)
    for field in fields:
        if isinstance(field.part, Category):
            yield from _codes(field, field.part, name, taken)
    yield "typedef struct {"
    for field in fields:
        yield from _member(field)
    yield PROTOTYPES % values


def _codes(field: Field, part: Category, name: str, taken: Identifiers) -> Iterator[str]:
    start = f"{name}_{field.identifier}"
    limit = max(MAX_NAME_CHARS, len(start) + MAX_PART_CHARS // 2)
    yield f"enum {{ /* codes of {field.identifier} */"
    for code, (value, meaning) in enumerate(zip(part.values, code_meanings(part), strict=True)):
        constant = taken.new(f"{start}_{plain_words(value, f'value_{code}')}".upper(), limit)
        comma = "," if code + 1 < len(part.values) else ""
        yield f"    {constant} = {code}{comma} /* {meaning} */"
    yield "};\n"


def _member(field: Field) -> Iterator[str]:
    part = field.part
    if isinstance(part, Category):
        kind, meaning = "int32_t", ["a code, see above"]
    else:
        kind = "double" if isinstance(part, Number) or field.keys else "uint8_t"
        meaning = field_meaning(field, "a number", levels=True)
    size = "" if isinstance(part, OneColumn) else f"[{len(field.bits)}]"
    comment = "\n     *    ".join([field_heading(field), *meaning])
    yield f"    /* {comment} */"
    yield f"    {kind} {field.identifier}{size};"


def row_definitions(fields: Sequence[Field], name: str) -> Iterator[str]:
    """Tables of keys, a function for each kind of member there is, and the two functions of the row."""
    values = {"name": name, "NAME": name.upper(), "low": LOWEST_INFINITE, "high": HIGHEST_INFINITE}
    yield f"#ifndef {name.upper()}_NO_ROWS\n"
    for field in fields:
        yield from _keys(field, name)
    calls = [_call(field, name) for field in fields]
    kinds = dict.fromkeys(kind for kind, _ in calls)
    if kinds.keys() & {"number", "levels"}:
        yield KEY % values
    for kind in kinds:
        yield FUNCTIONS[kind] % values
    yield ENCODE_START % values
    for field, (kind, arguments) in zip(fields, calls, strict=True):
        value = f"{'&' if isinstance(field.part, Flag) else ''}row->{field.identifier}"
        yield f"    if (!{name}_set_{kind}(x, {field.bits[0]}u, {value}, {arguments}))"
        yield f"        return -{field.number};"
    yield ENCODE_END % values


def _keys(field: Field, name: str) -> Iterator[str]:
    if not field.keys:
        return
    part = field.part
    if isinstance(part, Number):
        numbers: Sequence[float] = part.cuts
    else:
        assert isinstance(part, Image)
        assert part.threshold is not None
        numbers = part.threshold if isinstance(part.threshold, Sequence) else (part.threshold,)
    yield f"static const uint64_t {name}_keys_{field.number}[{len(numbers)}] = {{ /* of {field.identifier} */"
    for key, number in zip(field.keys, numbers, strict=True):
        yield f"    0x{key:016x}u, /* {number_text(number)} */"
    yield "};\n"


def _call(field: Field, name: str) -> tuple[str, str]:
    """The kind of function that sets the bits of a field, and its last arguments."""
    part, keys = field.part, f"{name}_keys_{field.number}"
    if isinstance(part, Category):
        return "category", f"{len(part.categories)}, {int(part.other)}, {int(part.missing)}"
    if isinstance(part, Number):
        return "number", f"{keys if part.cuts else 0}, {len(part.cuts)}u, {int(part.missing)}"
    if field.keys:
        return "levels", f"{part.n_bits}u, {keys}, {int(len(field.keys) > 1)}"
    return "flags", f"{part.n_bits}u"


OPENING = """
#ifndef %(NAME)s_NO_ROWS
#ifndef %(NAME)s_ROW
#define %(NAME)s_ROW
"""

PROTOTYPES = """\
} %(name)s_row;

#endif

int %(name)s_encode(const %(name)s_row *row, uint64_t *x);
int %(name)s_predict_row(const %(name)s_row *row);

#endif
"""

KEY = """\
#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "Rows need doubles of 64 bits (IEEE 754). Define %(NAME)s_NO_ROWS to do without rows."
#endif

/* An integer that compares with others as the number does: no rounding, no arithmetic of floats. */
static uint64_t %(name)s_key(const double *number)
{
    const uint64_t negative = (uint64_t)1 << 63;
    uint64_t bits = 0;
    uint32_t i;
    for (i = 0; i < 8; ++i)
        ((unsigned char *)&bits)[i] = ((const unsigned char *)number)[i];
    return bits & negative ? ~bits : bits | negative;
}
"""

FUNCTIONS = {
    "number": """\
static int %(name)s_set_number(uint64_t *x, uint32_t bit, double number, const uint64_t *cuts, uint32_t n,
        int missing)
{
    const uint64_t low = 0x%(low)016xu, high = 0x%(high)016xu; /* minus and plus infinity */
    const uint64_t key = %(name)s_key(&number);
    uint32_t i;
    if (key < low || key > high) { /* NaN */
        if (missing)
            x[(bit + n) / 64] |= (uint64_t)1 << ((bit + n) %% 64);
        return missing;
    }
    for (i = bit; i < bit + n && key > cuts[i - bit]; ++i)
        x[i / 64] |= (uint64_t)1 << (i %% 64);
    return key != low && key != high;
}
""",
    "category": """\
static int %(name)s_set_category(uint64_t *x, uint32_t bit, int32_t code, int32_t n, int other, int missing)
{
    if (code < 0 || code >= n + other + missing)
        return 0;
    if (code == n && other)
        return 1; /* no bit */
    bit += (uint32_t)(code < n ? code : n);
    x[bit / 64] |= (uint64_t)1 << (bit %% 64);
    return 1;
}
""",
    "flags": """\
static int %(name)s_set_flags(uint64_t *x, uint32_t bit, const uint8_t *flags, uint32_t n)
{
    uint32_t i;
    for (i = 0; i < n; ++i, ++bit) {
        if (flags[i] > 1)
            return 0;
        x[bit / 64] |= (uint64_t)flags[i] << (bit %% 64);
    }
    return 1;
}
""",
    "levels": """\
static int %(name)s_set_levels(uint64_t *x, uint32_t bit, const double *levels, uint32_t n,
        const uint64_t *thresholds, uint32_t step)
{
    const uint64_t low = 0x%(low)016xu, high = 0x%(high)016xu; /* minus and plus infinity */
    uint32_t i;
    for (i = 0; i < n; ++i, ++bit) {
        const uint64_t key = %(name)s_key(levels + i);
        if (key <= low || key >= high)
            return 0;
        if (key > thresholds[i * step])
            x[bit / 64] |= (uint64_t)1 << (bit %% 64);
    }
    return 1;
}
""",
}

ENCODE_START = """\
int %(name)s_encode(const %(name)s_row *row, uint64_t *x)
{
    uint32_t i;
    for (i = 0; i < %(NAME)s_WORDS; ++i)
        x[i] = 0;\
"""

ENCODE_END = """\
    return 0;
}

int %(name)s_predict_row(const %(name)s_row *row)
{
    uint64_t x[%(NAME)s_WORDS];
    const int error = %(name)s_encode(row, x);
    return error ? error : %(name)s_predict(x);
}

#endif"""
