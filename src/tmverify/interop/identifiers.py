"""Names in generated code: those that users choose, checked, and those made of names of columns and values.

A column may be called anything. Its identifier has the letters and digits of its name, in lower case and
without accents, everything else as underscores: "Credit amount (EUR)" is credit_amount_eur. Signs that tell
values from each other are words: "<0" is less_0. What can't be an identifier of C, C++ and Verilog gets the
prefix c_; what is there already gets a number, from _2 on.

Invariants: identifiers consist of a-z, 0-9 and single underscores, begin with a letter and don't end in an
underscore; so they are no macros of C, which are in capitals, and names that the generators make for
themselves can be kept apart. One model has the same identifiers in C and in Verilog.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from tmverify.errors import InvalidInputError, shown

MAX_NAME_CHARS = 63  # the part of a name that every C compiler compares
MAX_PART_CHARS = 40  # of a name that is made of a column's or a value's

# The keywords of C99, C11 and C++: compilers of all three can read the file.
_C = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast requires restrict return short signed sizeof static
static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
C_KEYWORDS = frozenset(_C.split())

# The keywords of Verilog-2005, and of SystemVerilog, since many tools read a .v file as such.
_VERILOG = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin
bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking
cmos config const constraint context continue cover covergroup coverpoint cross deassign default defparam
design disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction
endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram endproperty endsequence
endspecify endtable endtask enum event eventually expect export extends extern final first_match for
force foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone
ignore_bins illegal_bins implements implies import incdir include initial inout input inside instance int
integer interconnect interface intersect join join_any join_none large let liblist library local
localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos
nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive
priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent
pure rand randc randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict
return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared
sequence shortint shortreal showcancelled signed small soft solve specify specparam static string strong
strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this
throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type
typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait
wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""
VERILOG_KEYWORDS = frozenset(_VERILOG.split())

# Lower-case macros: of gcc unless -std=c99 is given, of <errno.h>, <stdio.h>, <complex.h>, <windows.h>.
_MACROS = (
    "unix",
    "linux",
    "i386",
    "arm",
    "mips",
    "errno",
    "stdin",
    "stdout",
    "stderr",
    "complex",
    "near",
    "far",
)
_SIGNS = {"+": "plus", "<": "less", ">": "more", "=": "equal", "%": "percent", "&": "and"}


def check_name(name: object, keywords: Collection[str], language: str) -> str:
    """Return ``name``, or raise InvalidInputError if a program can't use it as an identifier."""
    if not isinstance(name, str) or not re.fullmatch(
        rf"[A-Za-z][A-Za-z0-9_]{{0,{MAX_NAME_CHARS - 1}}}", name
    ):
        raise InvalidInputError(
            f"name must be a letter, then letters, digits and underscores, at most {MAX_NAME_CHARS} in all. "
            f"Got {shown(name)} instead."
        )
    if name in keywords:
        raise InvalidInputError(f"name must be no keyword of {language}. Got {name!r} instead.")
    return name


class Identifiers:
    """Names that are given once each.

    Parameters
    ----------
    taken : texts
        Never given.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def new(self, wish: str, limit: int = MAX_NAME_CHARS) -> str:
        """``wish``, of at most ``limit`` characters, with a number if it is taken."""
        found = start = wish[:limit].rstrip("_")
        while found in self._taken:
            # The counts make many equal wishes a matter of linear time.
            count = self._counts[start] = self._counts.get(start, 1) + 1
            found = f"{start[: limit - len(str(count)) - 1].rstrip('_')}_{count}"
        self._taken.add(found)
        return found


def plain_words(text: str, otherwise: str) -> str:
    """A text as lower-case letters, digits and underscores; ``otherwise`` if nothing is left of it."""
    said = re.sub(r"^\s*-(?=\s*[\d.])", "minus ", text[: 4 * MAX_PART_CHARS])
    said = "".join(f" {_SIGNS[char]} " if char in _SIGNS else char for char in said)
    letters = unicodedata.normalize("NFKD", said).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "_", letters).strip("_")[:MAX_PART_CHARS].strip("_") or otherwise


def column_identifier(text: str, otherwise: str, reserved: Collection[str]) -> str:
    """The identifier that a column would like to have in C, C++ and Verilog."""
    found = plain_words(text, otherwise)
    barred = found in C_KEYWORDS or found in VERILOG_KEYWORDS or found in _MACROS or found in reserved
    # Names that end in _t are types: those of <stdint.h> are in use.
    return f"c_{found}" if barred or found[0].isdigit() or found.endswith("_t") else found
