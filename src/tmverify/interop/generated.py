"""What generated source code of a model needs in any language: its live votes, and a head comment.

    score_c(x) = bias_c + sum over live votes (j, c, w) of w * clause_j(x)

Contradictory and silent clauses and clauses without a vote are left out (``live_clauses``), so generated code
has no edge cases to handle.

Names and labels may come from untrusted files. The head comment quotes them in printable ASCII, without
characters that could end a comment, join two lines or call a macro.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Label, Model
from tmverify.model.clauses import Clauses
from tmverify.model.evaluate import live_clauses

MAX_QUOTED_CHARS = 200  # C guarantees lines of 4,095 characters; an escaped character takes ten

# End of comment, end of quote, escape, trigraph, macro call.
_UNSAFE = frozenset('*"\\?`')


@dataclass(frozen=True, slots=True, eq=False)
class LiveVotes:
    """The clauses and votes that can change a score, and the score without them.

    Attributes
    ----------
    clauses : Clauses
        The live clauses, each with at least one literal and no contradiction.
    owners, outputs, weights : int64 arrays, (n_votes,)
        Vote v adds ``weights[v]`` to output ``outputs[v]`` if clause ``owners[v]`` is true; sorted by clause.
    bias, lowest, highest : int64 arrays, (n_outputs,)
        The score if no live clause is true, and bounds on every score.
    """

    clauses: Clauses
    owners: NDArray[np.int64]
    outputs: NDArray[np.int64]
    weights: NDArray[np.int64]
    bias: NDArray[np.int64]
    lowest: NDArray[np.int64]
    highest: NDArray[np.int64]


def live_votes(model: Model) -> LiveVotes:
    """The votes of ``model`` that count, clause by clause."""
    live, bias = live_clauses(model)
    by_clause = model.weights[:, live].T
    owners, outputs = np.nonzero(by_clause)
    weights = by_clause[owners, outputs]
    lowest, highest = bias.copy(), bias.copy()
    np.add.at(lowest, outputs, np.minimum(weights, 0))
    np.add.at(highest, outputs, np.maximum(weights, 0))
    return LiveVotes(model.clauses.select(live), owners, outputs, weights, bias, lowest, highest)


def check_size(size: int, limit: int, what: str, language: str) -> None:
    """Raise InvalidInputError if ``size`` is over the limit that compilers can handle."""
    if size > limit:
        raise InvalidInputError(
            f"The model is too large for {language}: at most {limit:,} {what} can be written. Got {size:,}."
        )


def head_lines(model: Model, usage: Sequence[str]) -> Iterator[str]:
    """The lines of the head comment, in printable ASCII, without comment marks."""
    yield f"A Tsetlin machine of {model.n_features} features, {model.n_clauses} clauses and"
    yield f"{len(model.classes)} classes, written by tmverify. Do not edit: it is exactly the model"
    yield f"sha256 {model.content_hash}"
    yield ""
    yield from usage
    yield ""
    yield f"Decision: {_rule(model)}"
    yield ""
    yield "Classes, by index:"
    for index, label in enumerate(model.classes):
        yield f"  {index} = {quoted(label)}"
    yield ""
    if model.feature_names is None:
        yield "Features have no names: bit i is feature i, counted from 0 and called x0, x1, and so on."
        return
    yield "Features, by bit:"
    for feature, name in enumerate(model.feature_names):
        yield f"  {feature} = {quoted(name)}"


def _rule(model: Model) -> str:
    if model.n_outputs == 1:
        return f"class 1 if the score is {'>=' if model.tie == 'positive' else '>'} 0, else class 0."
    cut = "" if model.clamp is None else f" Scores are first cut to [-{model.clamp}, {model.clamp}]."
    return f"the class with the largest score, of equals the lowest index.{cut}"


def quoted(label: Label) -> str:
    """A label as comments show it: it can't end one, whatever it contains."""
    if not isinstance(label, str):
        return str(label)
    shown_part = "".join(map(_escaped, label[:MAX_QUOTED_CHARS]))
    return f'"{shown_part}"' + (" and so on" if len(label) > MAX_QUOTED_CHARS else "")


def _escaped(char: str) -> str:
    if char in _UNSAFE or (char.isascii() and not char.isprintable()):
        return f"\\x{ord(char):02x}"
    return char.encode("ascii", "backslashreplace").decode()
