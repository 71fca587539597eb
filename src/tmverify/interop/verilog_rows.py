"""Raw rows in Verilog: a module with a port for each column, which makes the bits and has the model decide.

    module NAME_row (input [63:0] age, input [1:0] city, input owner, …,
                     output valid, output [F-1:0] x, output … scores, output … decision);

A number is the 64 bits of a double (IEEE 754), and is compared with each cut as an integer of 64 bits, by its
key (``interop.raw_rows``): no floating point unit, and exactly the comparisons of ``encode``. Fixed point
numbers would be smaller, but which values they can hold is not known here, and rounding to them would move
cuts. A category is a code, just wide enough. Pixels are bits: levels as doubles would make a port of 50,000
wires for a picture of 28 x 28.

``valid`` is 0 where ``encode`` refuses the row: an infinite number, NaN where the model knows no missing
value, a code that no value has. The other outputs then mean nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from tmverify.interop.raw_rows import Field, field_heading, field_meaning
from tmverify.space import Category, Number
from tmverify.space.parts import OneColumn

EXPONENT, FRACTION = "62:52", "51:0"  # all ones in the first: infinite, or NaN if any bit of the second is 1


def row_usage(fields: Sequence[Field], name: str) -> list[str]:
    """The ports of the module, for the head comment."""
    if not fields:
        return []
    lines = [
        "",
        f"From raw values: module {name}_row has a port for each column, explained below, instead of x, and",
        "  x         the bits of the row",
        "  valid     1, or 0 if a column has a value that the model can't take: then ignore the others",
        "  scores and decision as above",
    ]
    for field in fields:
        width = _width(field)
        lines.append("")
        lines.append(f"  {field.identifier}: {width} bit{'s' if width > 1 else ''}")
        lines.append(f"    column {field_heading(field)}")
        meaning = field_meaning(field, "a double (IEEE 754)", levels=False)
        lines += [f"    {line}" for line in meaning]
    return lines


def row_module(fields: Sequence[Field], name: str, score_bits: int, index_bits: int) -> Iterator[str]:
    """The module, which contains the module ``name``."""
    yield ""
    yield f"module {name}_row ("
    for field in fields:
        single = isinstance(field.part, OneColumn) and _width(field) == 1
        yield f"    input  {'' if single else f'[{_width(field) - 1}:0] '}{field.identifier},"
    yield "    output valid,"
    yield f"    output [{fields[-1].bits.stop - 1}:0] x,"
    yield f"    output [{score_bits - 1}:0] scores,"
    yield f"    output [{index_bits - 1}:0] decision"
    yield ");"
    checks = []
    for field in fields:
        if isinstance(field.part, Number):
            yield from _number(field, field.part)
            checks.append(f"ok_{field.number}")
        elif isinstance(field.part, Category):
            checked = yield from _category(field, field.part)
            checks += [f"ok_{field.number}"] if checked else []
        else:
            yield f"assign x[{field.bits[-1]}:{field.bits[0]}] = {field.identifier};"
    yield f"assign valid = {_all(checks)};"
    yield f"{name} machine (.x(x), .scores(scores), .decision(decision));"
    yield "endmodule"


def _width(field: Field) -> int:
    part = field.part
    if isinstance(part, Number):
        return 64
    return max(1, (len(part.values) - 1).bit_length()) if isinstance(part, Category) else part.n_bits


def _number(field: Field, part: Number) -> Iterator[str]:
    port, i = field.identifier, field.number
    special = f"&{port}[{EXPONENT}]"
    if part.missing:
        yield f"wire gone_{i} = ({special}) & (|{port}[{FRACTION}]);"
        yield f"wire ok_{i} = ~({special}) | gone_{i};"
    else:
        yield f"wire ok_{i} = ~({special});"
    if part.cuts:
        yield f"wire [63:0] key_{i} = {port}[63] ? ~{port} : {{1'b1, {port}[62:0]}};"
    there = f" & ~gone_{i}" if part.missing else ""
    for bit, key in zip(field.bits, field.keys, strict=False):
        yield f"assign x[{bit}] = (key_{i} > 64'h{key:016x}){there};"
    if part.missing:
        yield f"assign x[{field.bits[-1]}] = gone_{i};"


def _category(field: Field, part: Category) -> Generator[str, None, bool]:
    """The bits of a category; return whether there are codes to be checked."""
    width, last = _width(field), len(part.values) - 1
    codes = [*range(len(part.categories)), *([last] if part.missing else [])]
    for bit, code in zip(field.bits, codes, strict=True):
        yield f"assign x[{bit}] = {field.identifier} == {width}'d{code};"
    if last + 1 == 1 << width:
        return False
    yield f"wire ok_{field.number} = {field.identifier} <= {width}'d{last};"
    return True


def _all(checks: Sequence[str]) -> str:
    if not checks:
        return "1'b1"
    lines = [", ".join(checks[a : a + 12]) for a in range(0, len(checks), 12)]
    return "&{{{}}}".format(",\n    ".join(lines))
