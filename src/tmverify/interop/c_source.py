"""A model as one C99 file, for a microcontroller or a server: tables, and a few small functions.

The input is packed: feature i is bit i % 64 of word i / 64. A clause is a run of entries, one for each word
that its literals are in,

    clause(x) = 1  iff  every entry has  (~x[word] & ones) | (x[word] & zeros)  ==  0

and has a run of votes (output, weight). So its cost is the number of its entries and of its votes.
Only ``<stdint.h>`` is used: no allocation, no library call, no floating point. Where raw values are more than
bits, functions that take them follow (``interop.c_rows``); their struct has doubles.

Invariants: scores are those of ``Model.scores``, exact in int64; decisions are those of ``model.evaluate``.
No mask has a bit beyond the features, so the unused bits of the last word do not matter. A binary machine
needs no clamp, because a clamp never changes a sign.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import write_lines
from tmverify.interop.c_rows import row_declarations, row_definitions, row_size, row_usage
from tmverify.interop.generated import LiveVotes, check_size, head_lines, live_votes
from tmverify.interop.identifiers import C_KEYWORDS, check_name
from tmverify.interop.raw_rows import Field, fields_of
from tmverify.model import Model
from tmverify.properties.scope import check_model

MAX_ENTRIES = 1 << 20  # so many entries and votes take gcc 12 half a minute and a gigabyte
WORD_BITS = 64


def to_c(model: Model, path: str | os.PathLike[str], *, name: str = "tm") -> None:
    """Write ``model`` as a self-contained C99 file (which is also valid C++).

    It defines ``<name>_pack``, ``<name>_scores`` and ``<name>_predict``, and the macros ``<NAME>_FEATURES``,
    ``_WORDS``, ``_OUTPUTS`` and ``_CLASSES``; its head comment says how to call them. If the model's space
    has numbers, categories or grey levels, there are also the struct ``<name>_row`` of raw values,
    ``<name>_encode``, which makes the bits of ``space.encode``, and ``<name>_predict_row``.

    Parameters
    ----------
    model : Model
    path : path
        Written whole or not at all.
    name : str
        Prefix of the names in the file.

    Raises
    ------
    InvalidInputError
        If ``model`` is not a Model, ``name`` not an identifier or a keyword, or there are more than
        ``MAX_ENTRIES`` entries, votes, or cuts and categories, too many for compilers.
    """
    check_model(model, "model")
    check_name(name, C_KEYWORDS, "C or C++")
    votes = live_votes(model)
    check_size(len(votes.owners), MAX_ENTRIES, "votes", "C")
    check_size(len(_entry_starts(votes)), MAX_ENTRIES, "words that clauses look at", "C")
    fields = fields_of(model.space, name, levels=True)
    check_size(row_size(fields), MAX_ENTRIES, "cuts, thresholds and categories", "C")
    write_lines(path, _lines(model, votes, fields, name), encoding="ascii")


def _lines(model: Model, votes: LiveVotes, fields: list[Field], name: str) -> Iterator[str]:
    yield "/*"
    for line in head_lines(model, _usage(model, name) + row_usage(fields, name)):
        yield f" * {line}".rstrip()
    yield " */"
    yield from _preamble(model, name, bool(fields))
    if fields:
        yield from row_declarations(fields, name)
    yield f"#ifndef {name.upper()}_DECLARATIONS\n"
    yield from _table(f"{name}_bias", votes.bias)
    if len(votes.clauses):
        yield from _clause_tables(votes, name)
    values = {
        "name": name,
        "NAME": name.upper(),
        "n": len(votes.clauses),
        "sign": ">=" if model.tie == "positive" else ">",
        "cut": "" if model.clamp is None else CUT % {"clamp": model.clamp},
    }
    scores = SCORES if len(votes.clauses) else CONSTANT_SCORES
    predict = PREDICT_BINARY if model.n_outputs == 1 else PREDICT_LARGEST
    yield (PACK + scores + predict) % values
    if fields:
        yield from row_definitions(fields, name)
    yield END


def _usage(model: Model, name: str) -> list[str]:
    upper = name.upper()
    return [
        "Compile this file as C99 or C++. Where you need the functions, include it once more, for what it",
        f"declares alone: #define {upper}_DECLARATIONS, then #include. Or include it in your only file.",
        f"  void {name}_pack(const uint8_t *bits, uint64_t *x);         from a byte a feature, 0 or not",
        f"  void {name}_scores(const uint64_t *x, int64_t *scores);     {upper}_OUTPUTS exact scores",
        f"  int {name}_predict(const uint64_t *x);                      the index of the class",
        f"x has {upper}_WORDS words; feature i is bit i % {WORD_BITS} of x[i / {WORD_BITS}],",
        "and the bits that are no feature do not matter.",
        f"All are re-entrant; {name}_predict needs {8 * model.n_outputs} bytes of stack and a little more.",
    ]


def _preamble(model: Model, name: str, rows: bool) -> Iterator[str]:
    sizes = {
        "FEATURES": model.n_features,
        "WORDS": -(-model.n_features // WORD_BITS),
        "OUTPUTS": model.n_outputs,
        "CLASSES": len(model.classes),
    }
    yield "\n#include <stdint.h>"
    yield f"#ifndef {name.upper()}_NO_ROWS\n#include <float.h>\n#endif\n" if rows else ""
    for what, size in sizes.items():
        yield f"#define {name.upper()}_{what} {size}"
    yield PROTOTYPES % {"name": name}


def _clause_tables(votes: LiveVotes, name: str) -> Iterator[str]:
    """An entry per clause and word, a vote per clause and output; clause j owns those from [j] to [j + 1]."""
    clauses = votes.clauses
    starts = _entry_starts(votes)
    bits = np.left_shift(np.uint64(1), (clauses.features % WORD_BITS).astype(np.uint64))
    positive = clauses.literals > 0
    boundaries = np.arange(len(clauses) + 1)
    yield from _table(f"{name}_first_entry", np.searchsorted(clauses.owners[starts], boundaries))
    yield from _table(f"{name}_word", clauses.features[starts] // WORD_BITS)
    for what, wanted in (("ones", positive), ("zeros", ~positive)):
        masks = np.bitwise_or.reduceat(np.where(wanted, bits, np.uint64(0)), starts)
        yield from _array(f"uint64_t {name}_{what}", [f"0x{mask:x}u" for mask in masks.tolist()], 4)
    yield from _table(f"{name}_first_vote", np.searchsorted(votes.owners, boundaries))
    yield from _table(f"{name}_vote_output", votes.outputs)
    yield from _table(f"{name}_vote_weight", votes.weights)


def _entry_starts(votes: LiveVotes) -> NDArray[np.int64]:
    """Which stored literals are the first of their clause in their word: literals are sorted by feature."""
    owners, words = votes.clauses.owners, votes.clauses.features // WORD_BITS
    first = np.ones(len(owners), np.bool_)
    first[1:] = (owners[1:] != owners[:-1]) | (words[1:] != words[:-1])
    return np.flatnonzero(first)


def _table(name: str, values: NDArray[np.int64]) -> Iterator[str]:
    low, high = int(values.min()), int(values.max())
    sign = "" if low < 0 else "u"
    # C has no 32-bit literal -2147483648, so the least value of a type is stored in the next wider type.
    spare = 1 if low < 0 else 0
    bits = next(b for b in (8, 16, 32, 64) if max(high, -low) < 1 << (b - spare))
    return _array(f"{sign}int{bits}_t {name}", [str(value) for value in values.tolist()], 16)


def _array(declaration: str, literals: list[str], per_line: int) -> Iterator[str]:
    yield f"static const {declaration}[{len(literals)}] = {{"
    for a in range(0, len(literals), per_line):
        yield "    " + " ".join(f"{literal}," for literal in literals[a : a + per_line])
    yield "};\n"


PROTOTYPES = """
#ifdef __cplusplus
extern "C" {
#endif

void %(name)s_pack(const uint8_t *bits, uint64_t *x);
void %(name)s_scores(const uint64_t *x, int64_t *scores);
int %(name)s_predict(const uint64_t *x);
"""

PACK = """\
void %(name)s_pack(const uint8_t *bits, uint64_t *x)
{
    uint32_t i;
    for (i = 0; i < %(NAME)s_WORDS; ++i)
        x[i] = 0;
    for (i = 0; i < %(NAME)s_FEATURES; ++i)
        if (bits[i])
            x[i / 64] |= (uint64_t)1 << (i %% 64);
}
"""

SCORES = """
void %(name)s_scores(const uint64_t *x, int64_t *scores)
{
    uint32_t i, clause;
    for (i = 0; i < %(NAME)s_OUTPUTS; ++i)
        scores[i] = %(name)s_bias[i];
    for (clause = 0; clause < %(n)d; ++clause) {
        uint64_t violated = 0;
        for (i = %(name)s_first_entry[clause]; i < %(name)s_first_entry[clause + 1] && !violated; ++i) {
            const uint64_t word = x[%(name)s_word[i]];
            violated = (~word & %(name)s_ones[i]) | (word & %(name)s_zeros[i]);
        }
        if (violated)
            continue;
        for (i = %(name)s_first_vote[clause]; i < %(name)s_first_vote[clause + 1]; ++i)
            scores[%(name)s_vote_output[i]] += %(name)s_vote_weight[i];
    }
}
"""

CONSTANT_SCORES = """
void %(name)s_scores(const uint64_t *x, int64_t *scores)
{
    uint32_t i;
    (void)x; /* no clause can change a score */
    for (i = 0; i < %(NAME)s_OUTPUTS; ++i)
        scores[i] = %(name)s_bias[i];
}
"""

PREDICT_BINARY = """
int %(name)s_predict(const uint64_t *x)
{
    int64_t score[1];
    %(name)s_scores(x, score);
    return score[0] %(sign)s 0;
}
"""

CUT = """\
        if (scores[i] > %(clamp)d)
            scores[i] = %(clamp)d;
        if (scores[i] < -%(clamp)d)
            scores[i] = -%(clamp)d;
"""

PREDICT_LARGEST = """
int %(name)s_predict(const uint64_t *x)
{
    int64_t scores[%(NAME)s_OUTPUTS];
    int i, best = 0;
    %(name)s_scores(x, scores);
    for (i = 0; i < %(NAME)s_OUTPUTS; ++i) {
%(cut)s\
        if (scores[i] > scores[best])
            best = i;
    }
    return best;
}
"""

END = """
#endif

#ifdef __cplusplus
}
#endif
"""
