"""A model as one Verilog-2001 module: purely combinational, for an FPGA, an ASIC or a simulator.

    module tm (input [F-1:0] x, output [K*W-1:0] scores, output [D-1:0] decision);

Feature i is ``x[i]``. ``scores`` holds the K outputs, each W bits, signed, output 0 lowest; W is just wide
enough for every score. ``decision`` is the index of the class.

    clause = AND of its literals
    score  = bias + (sum of the weights for it) - (sum of the sizes of the weights against it)

Both sums are trees of unsigned adders, each node as wide as its largest value. They are then combined in
signed numbers of W + 2 bits, whose lower W bits are the score. The largest score is found by a tournament in
which the left side, the lower index, wins ties.

Invariants: no node can overflow and no operand is truncated; no expression mixes signed and unsigned
numbers. Each literal is a separate wire: Icarus 11 needs half a minute for 40,000 selections ``x[i]``.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import numpy as np

from tmverify.atomic import write_lines
from tmverify.errors import InvalidInputError
from tmverify.interop.generated import LiveVotes, check_size, head_lines, live_votes
from tmverify.interop.identifiers import VERILOG_KEYWORDS, check_name
from tmverify.interop.raw_rows import Field, fields_of
from tmverify.interop.verilog_rows import row_module, row_usage
from tmverify.model import Model
from tmverify.properties.scope import check_model

MAX_VECTOR = 1 << 16  # the widest vector that every tool must accept (IEEE 1364)
MAX_LITERALS = 1 << 20  # so many take Icarus 11 a minute or more and a gigabyte
MAX_VOTES = 1 << 20
FAN_IN = 8
PORTS = ("x", "scores", "decision")
PER_LINE = 12


def to_verilog(model: Model, path: str | os.PathLike[str], *, name: str = "tm") -> None:
    """Write ``model`` as a synthesizable Verilog-2001 module.

    If the model's space has numbers or categories, a second module, ``<name>_row``, takes raw values, and
    makes the bits of ``space.encode`` of them (``interop.verilog_rows``).

    Parameters
    ----------
    model : Model
    path : path
        Written whole or not at all.
    name : str
        The name of the module.

    Raises
    ------
    InvalidInputError
        If ``model`` is not a Model, ``name`` not an identifier or a keyword, or the module would be too
        large: inputs or scores of more than ``MAX_VECTOR`` bits, more than ``MAX_LITERALS`` literals or
        ``MAX_VOTES`` votes.
    """
    check_model(model, "model")
    check_name(name, VERILOG_KEYWORDS, "Verilog")
    if name in PORTS:
        raise InvalidInputError(f"name must be none of the ports {', '.join(PORTS)}. Got {name!r} instead.")
    votes = live_votes(model)
    width = _signed_width(int(votes.lowest.min()), int(votes.highest.max()))
    check_size(model.n_features, MAX_VECTOR, "features", "Verilog")
    check_size(model.n_outputs * width, MAX_VECTOR, "bits of scores", "Verilog")
    check_size(len(votes.clauses.literals), MAX_LITERALS, "literals", "Verilog")
    check_size(len(votes.owners), MAX_VOTES, "votes", "Verilog")
    fields = fields_of(model.space, name, levels=False)
    write_lines(path, _lines(model, votes, fields, width, name), encoding="ascii")


def _lines(model: Model, votes: LiveVotes, fields: list[Field], width: int, name: str) -> Iterator[str]:
    index_width = (len(model.classes) - 1).bit_length()
    usage = [
        "Combinational, Verilog-2001:",
        "  x         feature i is x[i]",
        f"  scores    {model.n_outputs} of {width} bits, signed: score k is scores[{width}*k +: {width}]",
        f"  decision  the index of the class, {index_width} bits, unsigned",
    ]
    for line in head_lines(model, usage + row_usage(fields, name)):
        yield f"// {line}".rstrip()
    yield "// Sums are wider than their terms, on purpose:"
    yield "// verilator lint_off WIDTH"
    yield f"module {name} ("
    yield f"    input  [{model.n_features - 1}:0] x,"
    yield f"    output [{model.n_outputs * width - 1}:0] scores,"
    yield f"    output [{index_width - 1}:0] decision"
    yield ");"
    yield from _clauses(votes)
    yield from _scores(votes, width)
    if model.n_outputs == 1:
        yield f"assign decision = score_0 {'>=' if model.tie == 'positive' else '>'} {width}'sd0;"
    else:
        yield from _tournament(model, votes, width, index_width)
    yield "endmodule"
    if fields:
        yield from row_module(fields, name, model.n_outputs * width, index_width)
    yield "// verilator lint_on WIDTH"


def _clauses(votes: LiveVotes) -> Iterator[str]:
    for lit in np.unique(votes.clauses.literals).tolist():
        yield f"wire {_literal(lit)} = {'' if lit > 0 else '~'}x[{abs(lit) - 1}];"
    for j, clause in enumerate(votes.clauses):
        yield f"wire clause_{j} = &{{{_listed([_literal(lit) for lit in clause])}}};"


def _literal(lit: int) -> str:
    return f"is_{lit - 1}" if lit > 0 else f"not_{-lit - 1}"


def _scores(votes: LiveVotes, width: int) -> Iterator[str]:
    order = np.argsort(votes.outputs, kind="stable")
    ends = np.searchsorted(votes.outputs[order], np.arange(len(votes.bias) + 1))
    for k, bias in enumerate(votes.bias.tolist()):
        mine = order[ends[k] : ends[k + 1]]
        pairs = list(zip(votes.owners[mine].tolist(), votes.weights[mine].tolist(), strict=True))
        total = _signed(bias, width + 2)
        for side, sign in (("for", 1), ("against", -1)):
            nodes = [_leaf(j, w * sign) for j, w in pairs if w * sign > 0]
            if nodes:
                root = yield from _adders(nodes, f"{side}_{k}")
                total += f" {'+' if sign > 0 else '-'} $signed({{1'b0, {root}}})"
        yield f"wire signed [{width + 1}:0] total_{k} = {total};"
        yield f"wire signed [{width - 1}:0] score_{k} = total_{k}[{width - 1}:0];"
    names = [f"score_{k}" for k in reversed(range(len(votes.bias)))]
    yield f"assign scores = {{{_listed(names)}}};"


def _leaf(clause: int, weight: int) -> tuple[str, int]:
    """An unsigned expression worth 0 or ``weight``, and its largest value."""
    if weight == 1:
        return f"clause_{clause}", 1
    width = weight.bit_length()
    return f"({{{width}{{clause_{clause}}}}} & {width}'d{weight})", weight


def _adders(nodes: list[tuple[str, int]], name: str) -> Generator[str, None, str]:
    """Sum ``nodes`` (expression, largest value) by a tree; return the expression of the sum."""
    level = 0
    while len(nodes) > 1:
        groups = [nodes[a : a + FAN_IN] for a in range(0, len(nodes), FAN_IN)]
        nodes = []
        for g, group in enumerate(groups):
            wire, most = f"{name}_{level}_{g}", sum(largest for _, largest in group)
            terms = " + ".join(expression for expression, _ in group)
            yield f"wire [{most.bit_length() - 1}:0] {wire} = {terms};"
            nodes.append((wire, most))
        level += 1
    return nodes[0][0]


def _tournament(model: Model, votes: LiveVotes, width: int, index_width: int) -> Iterator[str]:
    players = []
    for k in range(model.n_outputs):
        value, cut = f"score_{k}", _cut(model, votes, width, k)
        if cut:
            value = f"cut_{k}"
            yield f"wire signed [{width - 1}:0] {value} = {cut};"
        players.append((value, f"{index_width}'d{k}"))
    match = 0
    while len(players) > 1:
        winners = []
        for (a, a_index), (b, b_index) in zip(players[::2], players[1::2], strict=False):
            yield f"wire first_{match} = {a} >= {b};"
            yield f"wire signed [{width - 1}:0] best_{match} = first_{match} ? {a} : {b};"
            yield f"wire [{index_width - 1}:0] index_{match} = first_{match} ? {a_index} : {b_index};"
            winners.append((f"best_{match}", f"index_{match}"))
            match += 1
        # If their number is odd, the last one advances; it stays last, so the order of indices is kept.
        players = winners + players[len(players) // 2 * 2 :]
    yield f"assign decision = {players[0][1]};"


def _cut(model: Model, votes: LiveVotes, width: int, k: int) -> str:
    """Score k cut to the clamp, or "" if it never exceeds that; so every constant here fits ``width``."""
    clamp, result = model.clamp, ""
    if clamp is None:
        return ""
    if votes.highest[k] > clamp:
        result += f"score_{k} > {_signed(clamp, width)} ? {_signed(clamp, width)} : "
    if votes.lowest[k] < -clamp:
        result += f"score_{k} < {_signed(-clamp, width)} ? {_signed(-clamp, width)} : "
    return result and f"{result}score_{k}"


def _signed_width(low: int, high: int) -> int:
    """Bits of the narrowest two's complement number that holds everything from ``low`` to ``high``."""
    return 1 + max(high.bit_length() if high > 0 else 0, (-low - 1).bit_length() if low < 0 else 0)


def _signed(value: int, width: int) -> str:
    """A signed constant; ``width`` has room for the absolute value of ``value``."""
    return f"{'-' if value < 0 else ''}{width}'sd{abs(value)}"


def _listed(names: list[str]) -> str:
    """The names separated by commas, on lines of moderate length."""
    lines = [", ".join(names[a : a + PER_LINE]) for a in range(0, len(names), PER_LINE)]
    return ",\n    ".join(lines)
