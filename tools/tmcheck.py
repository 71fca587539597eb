"""tmcheck: does this certificate prove its claim about this model? Needs nothing but Python.

    python tmcheck.py CERTIFICATE MODEL [MODEL2]

exit 0: accepted, the claim is printed and proved; 1: refused, with the reason; 2: unreadable.

A certificate is text. Its first line is the claim, as JSON; then come the inputs it is about, witnesses, and
*refutations*: proofs that some constraints on votes can't hold together near an input. About a binarized
network they are *shells*: proofs that no input so many flips away is decided otherwise. All arithmetic is in
Python's integers. The format, and why each step is right, is written down in docs/certificates.md; names in
this file are the names there.

The file reads top to bottom: the models, what a machine's decisions mean as constraints on votes, the problem
over flips, the steps of a refutation, the clausal proofs, the shells of a network, the claims.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import heapq
import json
import math
import os
import re
import stat
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, compress, islice, pairwise
from typing import IO, Any, NamedTuple, NoReturn

FORMAT, VERSION = "tmverify-certificate", 1
MODEL_FORMAT, NETWORK_FORMAT, MODEL_VERSION = "tmverify-model", "tmverify-bnn", "2"
LARGEST_MODEL = 1 << 30  # bytes
LONGEST_HEADER = 1 << 26
LONGEST_LINE = 1 << 26
LONGEST_CLAIM = 1 << 23  # a mask of the features takes up to 1 << 22
LARGEST_NUMBER, LONGEST_NUMBER = 1 << 62, 20  # characters, of its negative
MOST_NUMBERS = 1 << 19  # in a list
MOST_CONSTRAINTS = 1 << 18
MOST_KEPT = 4_000_000  # constraints and literals of refutations, and 8 for each: some 200 MB
MOST_ADDED = 8_000_000  # literals of clauses that a clausal proof adds, and 4 for each: some 300 MB
MOST_DISTINCT = 1 << 21  # inputs, of which it is counted how many are distinct: some 300 MB
LARGEST_FORMULA = 6_000_000  # literals, some 400 MB
MOST_FEATURES, MOST_CLASSES = 1 << 24, 1 << 16
MOST_COMPARED = 64  # classes of two models: there is a way to disagree for each pair
MOST_WIDTH, MOST_BLOCKS, MOST_BIAS = 1 << 16, 64, (1 << 31) - 1  # of a network
MOST_OPEN = 20  # neurons of the first block, for 'patterns'
# What 'enumerate' may take: flips, neurons of the first block, sets of flips, patterns, evaluated neurons.
MOST_FLIPS, MOST_CHANGING, MOST_SETS, MOST_PATTERNS, MOST_WORK = 32, 4096, 1_000_000, 1_000_000, 500_000_000
HASH = re.compile("[0-9a-f]{64}")
# A group that repeats would take memory for each time that it does.
NUMBER = "(0|-?[1-9][0-9]{0,18})"
CONSTRAINT = re.compile(f"{NUMBER}:{NUMBER}(?:,{NUMBER}:{NUMBER})?>={NUMBER}")
ZEROS_AND_ONES = bytes.maketrans(b"01", b"\0\1")

Terms = tuple[tuple[int, int], ...]  # of (row of votes, coefficient), rows ascending
Constraint = tuple[Terms, int]  # sum of coefficient * votes[row] >= bound
Case = frozenset[Constraint]  # all of them hold
Key = tuple[tuple[int, ...], tuple[int, ...]]  # features that must flip, features that must stay
Region = tuple[bytes, int, bytes]  # centre, flips, which features may change; a byte for each feature


class Refused(Exception):
    """The certificate does not prove its claim."""


class Unreadable(Exception):
    """The certificate or a model is not one."""


# ---------------------------------------------------------------------------------------------------- models


class Machine:
    """Scores are ``always[r]`` plus the votes for row r of every clause that is true.

    Clauses are conjunctions of signed, 1-based literals: neither empty, nor contradictory, nor without votes.
    """

    def __init__(
        self,
        n_features: int,
        clauses: list[tuple[int, ...]],
        votes: list[tuple[int, ...]],
        always: list[int],
        least: int,
        clamp: int | None,
        classes: list[Any],
    ) -> None:
        self.n_features, self.clauses, self.votes, self.always = n_features, clauses, votes, always
        self.least = least  # a single score means class 1 if it is at least this
        self.clamp, self.classes = clamp, classes

    @cached_property
    def occurring(self) -> set[int]:
        """The features of the clauses, from 1: there may be far more that no clause looks at."""
        return set(map(abs, set(chain.from_iterable(self.clauses))))

    def decide(self, x: Sequence[int]) -> int:
        """The index of the class of an input."""
        scores = list(self.always)
        true = {f if x[f - 1] else -f for f in self.occurring}
        for clause, votes in zip(self.clauses, self.votes, strict=True):
            if true.issuperset(clause):
                scores = [score + vote for score, vote in zip(scores, votes, strict=True)]
        if self.clamp is not None:
            scores = [min(max(score, -self.clamp), self.clamp) for score in scores]
        return int(scores[0] >= self.least) if len(scores) == 1 else scores.index(max(scores))

    def in_scope(self, scope: int | str) -> Machine:
        """The machine itself for "team", else the binary machine of one class, decided by its sign."""
        if scope == "team":
            return self
        places = [i for i, label in enumerate(self.classes) if type(label) is type(scope) and label == scope]
        if not places:
            raise Refused(f"the scope {scope!r:.60} is no class of the model")
        row, sign, least = places[0], 1, self.least
        if len(self.always) == 1:  # a binary machine: its second class, or the first, negated
            row, sign, least = (0, 1, least) if row else (0, -1, 1 - least)
        votes = [(sign * vote[row],) for vote in self.votes]
        kept = [j for j, (vote,) in enumerate(votes) if vote]
        return Machine(
            self.n_features,
            [self.clauses[j] for j in kept],
            [votes[j] for j in kept],
            [sign * self.always[row]],
            least,
            None,
            [0, 1],
        )


class Network:
    """Blocks of neurons, each 1 iff at least ``threshold`` of its inputs match its weights; then scores.

    Rows of weights, and the values of a block, are masks: the first of them in the highest bit.
    """

    def __init__(
        self,
        blocks: list[Block],
        output: list[int],
        scale: int,
        bias: Sequence[int],
        classes: list[Any],
        changeable: list[bool],
    ) -> None:
        self.n_features, self.blocks, self.output = len(changeable), blocks, output
        self.scale, self.bias, self.classes = scale, bias, classes
        self.changeable = changeable  # the features whose bit can be both 0 and 1

    def decide(self, x: Sequence[int]) -> int:
        """The index of the class of an input."""
        values = as_mask(x)
        for n, thresholds, rows in self.blocks:
            pairs = zip(thresholds, rows, strict=True)
            values = as_mask(n - (row ^ values).bit_count() >= threshold for threshold, row in pairs)
        n = len(self.blocks[-1][1])
        matches = [n - (row ^ values).bit_count() for row in self.output]
        scores = [self.scale * m + bias for m, bias in zip(matches, self.bias, strict=True)]
        return scores.index(max(scores))

    def in_scope(self, scope: int | str) -> Network:
        """The network itself: it has no machines of single classes."""
        if scope != "team":
            raise Refused(f"the scope {scope!r:.60} is none of a network's")
        return self


Block = tuple[int, Sequence[int], list[int]]  # number of inputs; threshold and weights of each neuron


def as_mask(bits: Iterable[object]) -> int:
    """Bits as an integer, the first in the highest bit."""
    return int("".join(["0", *("1" if bit else "0" for bit in bits)]), 2)


def read_model(data: bytes) -> tuple[Machine | Network, str]:
    """The machine or network in the bytes of a model file, and its content hash."""
    size = int.from_bytes(data[:8], "little")
    _readable(8 <= len(data) <= LARGEST_MODEL and size <= min(LONGEST_HEADER, len(data) - 8), "no model file")
    text, body = data[8 : 8 + size], memoryview(data)[8 + size :]
    header = _json(text, "model")
    meta = _typed(header, "__metadata__", dict)
    named = (meta.get("format"), meta.get("version"))
    machine, network = (named == (kind, MODEL_VERSION) for kind in (MODEL_FORMAT, NETWORK_FORMAT))
    _readable(machine or network, f"no model of version {MODEL_VERSION}")
    digest = _typed(meta, "sha256", str)
    # A model has one encoding, and its hash is that of the file without the hash.
    written = [_encoded({**header, "__metadata__": {**meta, "sha256": s}}) for s in (digest, "")]
    whole = hashlib.sha256(len(written[1]).to_bytes(8, "little") + written[1])
    whole.update(body)
    intact = written[0] == text and whole.hexdigest() == digest
    _readable(intact, "the model file is damaged: its content does not match its hash")
    options = _json(_typed(meta, "model", str).encode(errors="replace"), "model options")
    return (_machine if machine else _network)(header, options, body), digest


Schema = dict[str, tuple[str, int]]  # the dtype and the number of dimensions of each array


def _arrays(
    header: dict[str, Any], body: memoryview, schema: Schema
) -> Iterator[tuple[list[int], Sequence[int]]]:
    """The shape and the values of each array; they lie one after another, and nothing else does."""
    position = 0
    for name, (dtype, rank) in schema.items():
        entry = _typed(header, name, dict)
        shape = _typed(entry, "shape", list)
        _readable(len(shape) == rank and all(type(n) is int and n >= 0 for n in shape), f"shape of {name}")
        values = array({"I64": "q", "I32": "i", "U8": "B"}[dtype])
        end = position + math.prod(shape) * values.itemsize
        fits = (
            entry.get("dtype") == dtype and entry.get("data_offsets") == [position, end] and end <= len(body)
        )
        _readable(fits, f"place of {name}")
        if dtype == "U8":
            yield shape, body[position:end]
        else:
            values.frombytes(body[position:end])
            if sys.byteorder == "big":
                values.byteswap()
            yield shape, values.tolist()
        position = end
    _readable(position == len(body) and len(header) == len(schema) + 1, "more than a model")


def _check_labels(classes: list[Any], n: int) -> None:
    labels = {(type(label), label) for label in classes if type(label) in (int, str)}
    _readable(len(labels) == len(classes) == n and "team" not in classes, "classes")


def _check_space(options: dict[str, Any]) -> None:
    """The space says what bits mean to people. Claims are about bits, so only its form is looked at."""
    space = options.get("space", 0)
    _readable(space is None or type(space) is dict, "space")


def _machine(header: dict[str, Any], options: dict[str, Any], body: memoryview) -> Machine:
    schema = {"bias": ("I64", 1), "literals": ("I32", 1), "offsets": ("I64", 1), "weights": ("I32", 2)}
    (_, bias), (_, literals), (_, offsets), ((rows, columns), weights) = _arrays(header, body, schema)
    n_features = _typed(options, "n_features", int)
    classes = _typed(options, "classes", list)
    tie, clamp, empty = options.get("tie"), options.get("clamp"), options.get("empty_clause")
    _check_space(options)
    _readable(1 <= n_features <= MOST_FEATURES, "n_features")
    _check_labels(classes, max(2, rows))
    _readable(rows == len(bias) and 1 <= rows <= MOST_CLASSES, "bias")
    _readable(tie in ("positive", "negative") and empty in ("fires", "silent"), "tie or empty_clause")
    _readable(clamp is None or (type(clamp) is int and clamp >= 1), "clamp")
    rising = bool(offsets) and offsets[0] == 0 and all(a <= b for a, b in pairwise(offsets))
    _readable(rising and offsets[-1] == len(literals) and len(offsets) == columns + 1, "offsets")
    within = not literals or (
        0 not in literals and -n_features <= min(literals) <= max(literals) <= n_features
    )
    _readable(within, "literals")

    clauses, votes = [], []
    always = list(bias)
    for j, (start, end) in enumerate(pairwise(offsets)):
        clause, vote = literals[start:end], tuple(weights[j::columns])
        if not clause and empty == "fires":
            always = [score + v for score, v in zip(always, vote, strict=True)]
        elif clause and any(vote) and len(set(map(abs, clause))) == len(set(clause)):  # no contradiction
            clauses.append(tuple(sorted(set(clause), key=abs)))
            votes.append(vote)
    least = 0 if tie == "positive" else 1
    return Machine(n_features, clauses, votes, always, least, clamp, classes)


def _network(header: dict[str, Any], options: dict[str, Any], body: memoryview) -> Network:
    _readable(list(options) == ["widths", "scale", "classes", "space"], "options of a network")
    widths, scale = _typed(options, "widths", list), options["scale"]
    _readable(3 <= len(widths) <= MOST_BLOCKS + 2, "number of blocks")
    _readable(all(type(width) is int and 1 <= width <= MOST_WIDTH for width in widths), "widths")
    n_features, n_classes = widths[0], widths[-1]
    _readable(n_classes >= 2 and type(scale) is int and 1 <= scale <= MOST_WIDTH, "classes or scale")
    _check_labels(_typed(options, "classes", list), n_classes)
    _check_space(options)

    schema: Schema = {}
    for i in range(len(widths) - 2):
        schema |= {f"block.{i}.thresholds": ("I64", 1), f"block.{i}.weights": ("U8", 2)}
    schema |= {"output.bias": ("I64", 1), "output.weights": ("U8", 2)}
    if "pixels.levels" in header:
        schema |= {"pixels.levels": ("I32", 1), "pixels.rising": ("U8", 1)}
    _readable(list(header) == ["__metadata__", *schema], "arrays of a network")
    arrays = _arrays(header, body, schema)
    layers: list[Block] = []
    for (n, size), (shape, numbers), (packed, weights) in zip(pairwise(widths), arrays, arrays, strict=False):
        width = (n + 7) // 8
        _readable(shape == [size] and packed == [size, width], "shapes of a network")
        rows = [int.from_bytes(weights[j : j + width], "big") for j in range(0, size * width, width)]
        unused = -n % 8
        _readable(not any(row & ((1 << unused) - 1) for row in rows), "weights that are none")
        layers.append((n, numbers, [row >> unused for row in rows]))
    *blocks, (_, bias, output) = layers
    _readable(all(0 <= t <= n + 1 for n, thresholds, _ in blocks for t in thresholds), "thresholds")
    _readable(all(abs(b) <= MOST_BIAS for b in bias), "bias")
    changeable = [True] * n_features
    for (shape, levels), (same, rising) in zip(arrays, arrays, strict=True):
        _readable(shape == same == [n_features] and max(rising) <= 1, "pixels")
        _readable(min(levels) >= 0 and max(levels) <= 256, "levels of pixels")
        changeable = [0 < level < 256 for level in levels]
    return Network(blocks, output, scale, bias, options["classes"], changeable)


def _encoded(header: dict[str, Any]) -> bytes:
    text = _written(header)
    return text + b" " * (-len(text) % 8)


# ------------------------------------------------------------------------- decisions as constraints on votes
# A condition is (rows with coefficients, bound): the scores, so multiplied and added, reach the bound.


def says(machine: Machine, first: int, c: int) -> list[list[Constraint]]:
    """The ways to decide class c, each a list of conditions on scores; rows are numbered from ``first``."""
    n, top = len(machine.always), machine.clamp
    if n == 1:
        t = machine.least
        return [[at_least(first, t) if c == 1 else at_most(first, t - 1)]]
    others = [r for r in range(n) if r != c]
    wins = [ahead(first, c, r, 1 if r < c else 0) for r in others]
    if top is None:
        return [wins]
    ways = [
        [at_least(first + c, top), *(at_most(first + r, top - 1) for r in others if r < c)],
        [at_least(first + c, 1 - top), at_most(first + c, top - 1), *wins],
    ]
    if c == 0:  # all at the bottom: a tie, and the first of them wins
        ways.append([at_most(first + r, -top) for r in range(n)])
    return ways


def denies(machine: Machine, first: int, c: int) -> list[list[Constraint]]:
    """The ways not to decide class c: some row r beats it."""
    n, top = len(machine.always), machine.clamp
    if n == 1:
        return says(machine, first, 1 - c)
    ways: list[list[Constraint]] = []
    for r in range(n):
        if r == c:
            continue
        beats = ahead(first, r, c, 1 if r > c else 0)
        if top is None:
            ways.append([beats])
        elif r < c:
            ways += [[beats], [at_least(first + r, top)], [at_most(first + c, -top)]]
        else:
            ways.append([beats, at_least(first + r, 1 - top), at_most(first + c, top - 1)])
    return ways


def at_least(row: int, bound: int) -> Constraint:
    return ((row, 1),), bound


def at_most(row: int, bound: int) -> Constraint:
    return ((row, -1),), -bound


def ahead(first: int, winner: int, loser: int, margin: int) -> Constraint:
    terms = sorted([(first + winner, 1), (first + loser, -1)])
    return tuple(terms), margin


def ways_to_violate(machines: list[Machine], expected: int | None) -> Iterator[Case]:
    """All ways to decide otherwise than ``expected`` or, for two machines, to decide differently."""
    always = [score for machine in machines for score in machine.always]

    def on_votes(condition: Constraint) -> Constraint:
        terms, bound = condition
        return terms, bound - sum(coefficient * always[row] for row, coefficient in terms)

    def cases(ways: list[list[Constraint]]) -> list[Case]:
        return [frozenset(map(on_votes, way)) for way in ways]

    if expected is not None:
        yield from cases(denies(machines[0], 0, expected))
        return
    a, b = machines
    for c in range(len(a.classes)):
        some, others = cases(says(a, 0, c)), cases(denies(b, len(a.always), c))
        for left in some:
            for right in others:
                yield left | right


# ------------------------------------------------------------------------------------ the problem over flips


class Problem:
    """Can at most ``radius`` flips make  sum_j votes[j][c] * clause_j >= needs[c]  true for every c?

    Clause j is true if the features ``wakes[j]`` flip and the features ``stays[j]`` do not.
    """

    def __init__(self, groups: dict[Key, tuple[int, ...]], needs: list[int], radius: int) -> None:
        kept = {key: votes for key, votes in groups.items() if any(votes)}
        self.keys, self.votes = list(kept), list(kept.values())
        self.needs, self.radius = needs, radius
        self.feature_set = set(chain.from_iterable(chain.from_iterable(self.keys)))
        self.features = sorted(self.feature_set)

    @cached_property
    def occurs(self) -> dict[int, list[tuple[int, bool]]]:
        """The clauses that a feature is in, and whether it wakes them."""
        places: dict[int, list[tuple[int, bool]]] = {f: [] for f in self.features}
        for j, (wakes, stays) in enumerate(self.keys):
            for f in wakes:
                places[f].append((j, True))
            for f in stays:
                places[f].append((j, False))
        return places


def specialised(
    clauses: Iterable[tuple[Sequence[int], Sequence[int], tuple[int, ...]]],
    fixed: dict[int, bool],
    radius: int,
    width: int,
) -> tuple[dict[Key, tuple[int, ...]], list[int]]:
    """Clauses with some flips fixed: drop the false, strip what is true, add up the equal.

    Returns the clauses that can still change, in order of their first appearance, and the votes that are
    there in any case.
    """
    groups: dict[Key, tuple[int, ...]] = {}
    given = [0] * width
    flipped = {f for f, flips in fixed.items() if flips}
    kept = {f for f, flips in fixed.items() if not flips}
    for wakes, stays, votes in clauses:
        if not (kept.isdisjoint(wakes) and flipped.isdisjoint(stays)):
            continue
        key = tuple([f for f in wakes if f not in fixed]), tuple([f for f in stays if f not in fixed])
        if len(key[0]) > radius:
            continue
        if key == ((), ()):
            given = [total + vote for total, vote in zip(given, votes, strict=True)]
        elif key in groups:
            groups[key] = tuple(a + b for a, b in zip(groups[key], votes, strict=True))
        else:
            groups[key] = votes
    return groups, given


def rewritten(
    groups: dict[Key, tuple[int, ...]],
    pairs: Sequence[tuple[int, int]],
    free: set[int],
    width: int,
    most: int,
) -> tuple[dict[Key, tuple[int, ...]], list[int]]:
    """The same sums with clauses rewritten by a feature each, and the votes that are there in any case.

    ``c and l`` is c minus ``c and not l``; c is the sum of ``c and f`` and ``c and not f``.
    """
    keys, groups, given = list(groups), dict(groups), [0] * width
    before = n_literals(keys)
    if not pairs or len(keys) + len(pairs) > most:
        raise Refused("'rewrite' of nothing, or into too many clauses")
    for j, f in pairs:
        if j >= len(keys) or f not in free:
            raise Refused("'rewrite' of a clause or by a feature that is not there")
        votes = groups.pop(keys[j], None)
        if votes is None:
            raise Refused("'rewrite' of a clause twice")
        wakes, stays = keys[j]
        whole = tuple(g for g in wakes if g != f), tuple(g for g in stays if g != f)
        awake, asleep = (_with(whole[0], f), whole[1]), (whole[0], _with(whole[1], f))
        if f in wakes:
            sums = [(whole, 1), (asleep, -1)]
        elif f in stays:
            sums = [(whole, 1), (awake, -1)]
        else:
            sums = [(awake, 1), (asleep, 1)]
        for key, sign in sums:
            if key == ((), ()):
                given = [g + sign * v for g, v in zip(given, votes, strict=True)]
            else:
                old = groups.get(key, (0,) * width)
                groups[key] = tuple(a + sign * b for a, b in zip(old, votes, strict=True))
    if n_literals(groups) > max(before, LARGEST_FORMULA):
        raise Refused("'rewrite' into clauses that are too long")
    return {key: votes for key, votes in groups.items() if any(votes)}, given


def n_literals(keys: Iterable[Key]) -> int:
    return sum(len(wakes) + len(stays) for wakes, stays in keys)


class Surroundings:
    """All clauses of some machines around an input, over flips; the last ones made are kept."""

    def __init__(self, machines: list[Machine], region: Region) -> None:
        self.centre, self.most, self.mutable = region
        self.pool: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        before, n_rows = 0, sum(len(machine.always) for machine in machines)
        for machine in machines:
            after = n_rows - before - len(machine.always)
            self.pool += [
                (clause, (0,) * before + votes + (0,) * after)
                for clause, votes in zip(machine.clauses, machine.votes, strict=True)
            ]
            before += len(machine.always)
        self.n_rows = n_rows
        self.occurring = set().union(*(machine.occurring for machine in machines))
        self.free = {f - 1 for f in self.occurring if self.mutable[f - 1]}
        self.made: tuple[Any, Any] = (None, None)
        self.normal: tuple[dict[Key, tuple[int, ...]], list[int]] | None = None

    def rewrite(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Rewrite clauses of the whole region, for refutations that ask for it."""
        if self.normal is None:
            groups, given = self._around(self.most, ())
            self.normal = {key: votes for key, votes in groups.items() if any(votes)}, given
        groups, given = self.normal
        groups, more = rewritten(groups, pairs, self.free, self.n_rows, most_clauses(len(self.pool)))
        self.normal = groups, [a + b for a, b in zip(given, more, strict=True)]
        self.made = (None, None)

    def problem(
        self, constraints: list[Constraint], radius: int, inside: tuple[int, ...], normal: bool
    ) -> Problem:
        """The problem of these constraints within ``radius`` flips, where the literals ``inside`` hold."""
        if self.made[0] != (radius, inside, normal):
            groups, given = self.normal if normal and self.normal else self._around(radius, inside)
            voters: list[list[tuple[int, int]]] = [[] for _ in range(self.n_rows)]  # clauses of each row
            for i, votes in enumerate(groups.values()):
                for row, vote in enumerate(votes):
                    if vote:
                        voters[row].append((i, vote))
            self.made = ((radius, inside, normal), (list(groups), voters, given))
        keys, voters, given = self.made[1]
        sums: dict[int, list[int]] = {}
        for c, (terms, _) in enumerate(constraints):
            for row, k in terms:
                for i, vote in voters[row]:
                    if i not in sums:
                        sums[i] = [0] * len(constraints)
                    sums[i][c] += k * vote
        chosen = {keys[i]: tuple(sums[i]) for i in sorted(sums)}
        needs = [bound - sum(k * given[row] for row, k in terms) for terms, bound in constraints]
        return Problem(chosen, needs, radius)

    def _around(self, radius: int, inside: tuple[int, ...]) -> tuple[dict[Key, tuple[int, ...]], list[int]]:
        true = {f if self.centre[f - 1] else -f for f in self.occurring}
        fixed = {f - 1: False for f in self.occurring if not self.mutable[f - 1]}
        for literal in inside:
            true -= {-literal}
            true.add(literal)
            fixed[abs(literal) - 1] = False

        def over_flips() -> Iterator[tuple[list[int], list[int], tuple[int, ...]]]:
            for clause, votes in self.pool:
                wakes = [abs(literal) - 1 for literal in clause if literal not in true]
                if len(wakes) <= radius:  # else it is false, whatever flips
                    yield wakes, [abs(literal) - 1 for literal in clause if literal in true], votes

        return specialised(over_flips(), fixed, radius, self.n_rows)


# -------------------------------------------------------------------------------------- steps of a refutation


class Refutation:
    """A tree of flips, each leaf closed by a bound; the state between two steps."""

    def __init__(self, problem: Problem, unit: int, free: set[int]) -> None:
        self.unit, self.free = unit, free  # features that may flip, whether they occur or not
        self.mix = [1] * len(problem.needs)
        self.most = most_clauses(len(problem.keys))
        self.divided = self.done = False
        self._plant(problem)

    def _plant(self, problem: Problem) -> None:
        self.problem = problem
        self.fixed: dict[int, bool] = {}
        self.trail: list[tuple[int, bool]] = []  # feature, and whether its other side is still to come
        self.false = [0] * len(problem.keys)  # false literals of each clause, by the first of the trail
        self.counted = 0
        start: dict[tuple[int, int], list[int]] = {}  # shared: a step puts new lists in their place
        sizes = [(len(wakes), len(stays)) for wakes, stays in problem.keys]
        for size in set(sizes):
            start[size] = _even(*size, self.unit)
        self.shares = [start[size] for size in sizes]
        self.loads = [self.unit if len(wakes) <= 1 else 0 for wakes, _ in problem.keys]
        self._weigh()

    def _weigh(self) -> None:
        votes, mix = self.problem.votes, self.mix
        if len(mix) == 1:
            self.weights = [mix[0] * vote for (vote,) in votes]
        else:
            self.weights = [sum([m * v for m, v in zip(mix, vote, strict=True)]) for vote in votes]
        self.need = sum(m * need for m, need in zip(mix, self.problem.needs, strict=True)) * self.unit

    def assign(self, feature: int, flips: bool, open_side: bool) -> None:
        self.fixed[feature] = flips
        self.trail.append((feature, open_side))

    def count_false(self) -> list[int]:
        """The false literals of each clause; what was fixed since the last time is counted now."""
        for feature, _ in self.trail[self.counted :]:
            for j, wakes in self.problem.occurs[feature]:
                self.false[j] += wakes != self.fixed[feature]
        self.counted = len(self.trail)
        return self.false

    def left(self) -> int:
        """How many further flips there may be."""
        return self.problem.radius - sum(self.fixed.values())

    def credits(self, dropped: set[int]) -> tuple[int, dict[int, int]]:
        """The bound  constant + sum_f credit[f] * flip[f]  on the weighted votes, times the unit.

        It is about inputs where the clauses ``dropped`` are false.
        """
        constant, credit = 0, dict.fromkeys(self.problem.features, 0)
        false = self.count_false()
        for j, (wakes, stays) in enumerate(self.problem.keys):
            weight = self.weights[j]
            if not weight or false[j] or j in dropped:
                continue
            if weight > 0:  # no more than a share of each literal; the shares make up the whole
                shares = self.shares[j]
                for f, share in zip(wakes, shares, strict=False):
                    credit[f] += weight * share
                for f, share in zip(stays, shares[len(wakes) :], strict=True):
                    if share:
                        credit[f] -= weight * share
                        constant += weight * share
            elif self.loads[j]:  # true unless a literal is false
                part = -weight * self.loads[j]
                constant += (len(wakes) - 1) * part
                for f in wakes:
                    credit[f] -= part
                for f in stays:
                    credit[f] += part
        return constant, credit

    def bound(self, dropped: Iterable[int] = ()) -> tuple[int, dict[int, int], list[int]]:
        """What the votes can reach, the credits, and the positive ones of free features, largest first."""
        reach, credit = self.credits(set(dropped))
        reach += sum(credit[f] for f, flips in self.fixed.items() if flips)
        gains = sorted((c for f, c in credit.items() if c > 0 and f not in self.fixed), reverse=True)
        return reach + sum(gains[: self.left()]), credit, gains

    def fix(self) -> None:
        """Fix every free feature one of whose values brings the bound below the need."""
        left = self.left()
        if left < 1:
            raise Refused("'fix' where no flip is left")
        reach, credit, gains = self.bound()
        least = gains[left - 1] if len(gains) >= left else 0  # what one more flip would displace
        next_best = gains[left] if len(gains) > left else 0
        found = []
        for f in self.problem.features:
            if f not in self.fixed:
                if credit[f] > least or (credit[f] == least > 0):
                    if reach - credit[f] + next_best < self.need:
                        found.append((f, True))
                elif reach - least + credit[f] < self.need:
                    found.append((f, False))
        if not found:
            raise Refused("'fix' where nothing follows from the bound")
        for f, flips in found:
            self.assign(f, flips, open_side=False)

    def split(self, feature: int) -> None:
        """Look at the inputs with this flip, then at those without."""
        if feature not in self.problem.feature_set or feature in self.fixed:
            raise Refused(f"'split' at feature {feature}, which is not free")
        self.assign(feature, True, open_side=True)

    def close(self) -> None:
        """No input of this branch meets every need."""
        left = self.left()
        free = len(self.problem.features) - len(self.fixed)
        if left >= 0 and (left == 0 or not free):  # one input is left: count its votes
            if not self._lacking():
                raise Refused("'close' at an input that meets every need")
        elif left > 0 and self.bound()[0] >= self.need:
            raise Refused("'close' where the bound reaches the need")
        self._go_on()

    def _lacking(self) -> bool:
        sums = [0] * len(self.problem.needs)
        false = self.count_false()
        for j, (wakes, _) in enumerate(self.problem.keys):
            if not false[j] and all(self.fixed.get(f) for f in wakes):
                sums = [total + vote for total, vote in zip(sums, self.problem.votes[j], strict=True)]
        return any(total < need for total, need in zip(sums, self.problem.needs, strict=True))

    def _go_on(self) -> None:
        """To the other side of the last split that has one."""
        while self.trail:
            feature, open_side = self.trail.pop()
            flips = self.fixed.pop(feature)
            if self.counted > len(self.trail):
                self.counted -= 1
                for j, wakes in self.problem.occurs[feature]:
                    self.false[j] -= wakes != flips
            if open_side:
                self.assign(feature, False, open_side=False)
                return
        self.done = True

    def at_root(self, step: str) -> None:
        if any(open_side for _, open_side in self.trail):
            raise Refused(f"{step!r} below a split")

    def shrink(self) -> None:
        """Fix for good what is fixed at the root; multipliers are those of a start again."""
        self.at_root("shrink")
        problem, fixed = self.problem, self.fixed
        radius = self.left()
        if radius < 0 or not fixed:
            raise Refused("'shrink' where nothing is fixed, or more flips than allowed")
        clauses = ((*key, votes) for key, votes in zip(problem.keys, problem.votes, strict=True))
        groups, given = specialised(clauses, fixed, radius, len(problem.needs))
        self.free = self.free - set(fixed)  # a clause rewritten by one of them would say "stays" of it
        self._plant(Problem(groups, [need - g for need, g in zip(problem.needs, given, strict=True)], radius))

    def set_mix(self, mix: list[int]) -> None:
        """Add up the constraints with these multiples."""
        if len(mix) != len(self.problem.needs):
            raise Refused(f"'mix' of {len(mix)} for {len(self.problem.needs)} constraints")
        self.mix = mix
        self._weigh()

    def set_multipliers(self, values: Iterator[int]) -> None:
        """New shares, or a new load, for some clauses: gap to the clause, then its numbers."""
        j = -1
        for gap in values:
            j += gap + 1
            if j >= len(self.weights):
                raise Refused("'set' beyond the last clause")
            weight, key = self.weights[j], self.problem.keys[j]
            new = [next(values, -1) for _ in range(len(key[0]) + len(key[1]) if weight > 0 else 1)]
            if min(new) < 0:
                raise Refused("'set' ends within a clause")
            if weight > 0:
                if sum(new) < self.unit:
                    raise Refused(f"'set' shares of clause {j} that do not make up the whole")
                self.shares[j] = new
            else:
                if new[0] > self.unit:
                    raise Refused(f"'set' a load of clause {j} beyond the whole")
                self.loads[j] = new[0]

    def rewrite(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Rewrite clauses by a feature each."""
        self.at_root("rewrite")
        problem = self.problem
        if self.fixed:
            raise Refused("'rewrite' where features are fixed")
        groups = dict(zip(problem.keys, problem.votes, strict=True))
        groups, given = rewritten(groups, pairs, self.free, len(problem.needs), self.most)
        needs = [need - g for need, g in zip(problem.needs, given, strict=True)]
        self._plant(Problem(groups, needs, problem.radius))

    def divide(self) -> None:
        """Divide each constraint by the common divisor of its votes; whole numbers let a need round up."""
        self.at_root("divide")
        if self.divided:
            raise Refused("'divide' twice")
        self.divided = True
        columns = list(zip(*self.problem.votes, strict=True)) or [() for _ in self.problem.needs]
        divisors = [max(1, math.gcd(*column)) for column in columns]
        votes = [tuple(v // d for v, d in zip(row, divisors, strict=True)) for row in self.problem.votes]
        needs = [-(-need // d) for need, d in zip(self.problem.needs, divisors, strict=True)]
        self.problem.votes, self.problem.needs = votes, needs
        self._weigh()

    def cover(
        self, clauses: list[int], centre: Sequence[int], refuted: Callable[[tuple[int, ...]], bool]
    ) -> None:
        """Whatever meets every need makes one of these clauses true, where it was refuted before."""
        self.at_root("cover")
        keys = self.problem.keys
        if self.fixed or any(j >= len(keys) for j in clauses):
            raise Refused("'cover' by clauses that are not there")
        if self.bound(clauses)[0] >= self.need:
            raise Refused("'cover' where the bound reaches the need without these clauses")
        for j in clauses:
            bits = [(f, 1 - centre[f]) for f in keys[j][0]] + [(f, centre[f]) for f in keys[j][1]]
            inside = tuple(f + 1 if bit else -f - 1 for f, bit in sorted(bits))
            if not refuted(inside):
                raise Refused("'cover' by a subcube that is not refuted")
        self.done = True


def most_clauses(start: int) -> int:
    """How many clauses rewriting may lead to: enough for all that helps."""
    return 4 * start + 64


def _even(wakes: int, stays: int, unit: int) -> list[int]:
    """The shares of a start: evenly on the flips that wake a clause, or else on all that would kill it."""
    n = wakes or stays
    shares = [unit // n] * n + [0] * (wakes + stays - n)
    shares[0] += unit - sum(shares)
    return shares


def _with(features: tuple[int, ...], f: int) -> tuple[int, ...]:
    return tuple(sorted((*features, f)))


# ------------------------------------------------------------------------------------------- clausal proofs


def formula(problem: Problem) -> list[tuple[int, ...]] | None:
    """A problem as a CNF; None if some need is out of reach whatever its clauses do.

    Variables: a flip each, then the clauses of several literals, then counters; the last one is asserted by
    the only unit clause, and demands everything that would be one.
    """
    size = 0
    clauses: list[tuple[int, ...]] = []
    units: list[tuple[int, ...]] = []
    n_vars = len(problem.features)
    variable = {f: i + 1 for i, f in enumerate(problem.features)}

    def add(*clause: int) -> None:
        nonlocal size
        size += len(clause)
        if size > LARGEST_FORMULA:
            raise Refused("the formula of a clausal proof is too large")
        proper = tuple(dict.fromkeys(clause))
        if not any(-literal in proper for literal in proper):  # else it says nothing
            (units if len(proper) == 1 else clauses).append(proper)

    def new() -> int:
        nonlocal n_vars
        n_vars += 1
        return n_vars

    limits = [
        sum(votes[c] for votes in problem.votes if votes[c] > 0) - need
        for c, need in enumerate(problem.needs)
    ]
    if min(limits) < 0:
        return None
    outputs = []
    for (wakes, stays), votes in zip(problem.keys, problem.votes, strict=True):
        literals = [*(variable[f] for f in wakes), *(-variable[f] for f in stays)]
        if len(literals) > 1:
            v = new()
            if any(vote > 0 for vote in votes):
                for literal in literals:
                    add(-v, literal)
            if any(vote < 0 for vote in votes):
                add(v, *(-literal for literal in literals))
            literals = [v]
        outputs.append(literals[0])

    def at_most(literals: list[int], sizes: list[int], limit: int) -> None:
        """Forbid that the sizes of the true literals add up to more: a totalizer."""
        if sum(sizes) <= limit:
            return
        leaves = sorted(zip((min(s, limit + 1) for s in sizes), range(len(sizes)), literals, strict=True))
        nodes = [(1, i, {s: literal}) for i, (s, _, literal) in enumerate(leaves)]
        number = len(nodes)
        while len(nodes) > 1:
            size_a, _, a = heapq.heappop(nodes)
            size_b, _, b = heapq.heappop(nodes)
            heapq.heappush(nodes, (size_a + size_b, number, merge(a, b, limit + 1)))
            number += 1
        add(-nodes[0][2][limit + 1])

    def merge(a: dict[int, int], b: dict[int, int], cap: int) -> dict[int, int]:
        if size + 3 * len(a) * len(b) > LARGEST_FORMULA:
            raise Refused("the formula of a clausal proof is too large")
        sums = {min(s + t, cap) for s in (0, *a) for t in (0, *b)} - {0}
        out = {s: new() for s in sorted(sums)}
        for s, literal in a.items():
            add(-literal, out[s])
        for t, other in b.items():
            add(-other, out[t])
            for s, literal in a.items():
                add(-other, -literal, out[min(s + t, cap)])
        for lower, higher in pairwise(out.values()):
            add(-higher, lower)
        return out

    for c, limit in enumerate(limits):
        voters = [(v, votes[c]) for v, votes in zip(outputs, problem.votes, strict=True) if votes[c]]
        at_most([-v if w > 0 else v for v, w in voters], [abs(w) for _, w in voters], limit)
    if problem.radius < len(problem.features):
        at_most(list(variable.values()), [1] * len(variable), problem.radius)
    demand = new()
    return [*clauses, *((literal, -demand) for (literal,) in units), (demand,)]


def check_lrat(clauses: list[tuple[int, ...]], lines: Iterable[list[int]]) -> None:
    """Each line adds a clause that follows by unit propagation along its hints, or deletes some."""
    given: list[Sequence[int] | None] = [None, *clauses]
    added: dict[int, Sequence[int]] = {}
    n = last = len(clauses)
    kept = 0
    for number, *rest in lines:
        if not rest:  # deleted
            if 0 < number <= n:
                given[number] = None
            elif number in added:
                kept -= 4 + len(added.pop(number))
            continue
        if 0 not in rest:
            raise Refused("a line of a clausal proof has no end")
        middle = rest.index(0)
        clause, hints = rest[:middle], rest[middle + 1 : -1]
        if number <= last or rest[-1] != 0 or rest.count(0) != 2:
            raise Refused(f"line {number} of a clausal proof is out of order")
        false = set(clause)
        for hint in hints:
            reason = given[hint] if 0 < hint <= n else added.get(hint)
            if reason is None:
                raise Refused(f"line {number} of a clausal proof refers to a clause that is not there")
            unknown = [literal for literal in reason if literal not in false]
            if len(unknown) > 1:
                raise Refused(f"line {number} of a clausal proof does not propagate")
            if not unknown:
                break
            false.add(-unknown[0])
        else:
            raise Refused(f"line {number} of a clausal proof ends without a conflict")
        if not clause:
            return
        added[number], last = tuple(clause), number
        kept += 4 + len(clause)
        if kept > MOST_ADDED:
            raise Refused("a clausal proof keeps too many clauses: it should delete what it no longer needs")
    raise Refused("a clausal proof does not reach the empty clause")


# --------------------------------------------------------------------------------------- shells of a network


class Changing(NamedTuple):
    """An open neuron of the first block: it changes iff at least ``need`` favourable features flip."""

    need: int
    favourable: int  # mask of mutable features
    value: bool  # at the input


class Gate(NamedTuple):
    """An open neuron or rival: true iff ``need`` open inputs or more, of those ``among``, match."""

    need: int
    weights: int  # masks over the open neurons of the block before
    among: int


class Shell:
    """A network over the inputs with exactly ``flips`` mutable features flipped: what is known, what is open.

    ``changing`` are the open neurons of the first block, ``gates`` those of each of the others, ``rivals``
    the open rivals; ``certain`` says whether a rival wins whatever flips.
    """

    def __init__(self, network: Network, centre: Sequence[int], mutable: Sequence[int], flips: int) -> None:
        self.mutable, self.flips = mutable, flips
        self.n_mutable = sum(mutable)
        self.changing: list[Changing] = []
        values = self._first_block(network.blocks[0], as_mask(centre), as_mask(mutable))
        self.gates: list[list[Gate]] = []
        for n, thresholds, rows in network.blocks[1:]:
            inputs, values = Partial(values), []
            self.gates.append([])
            for threshold, row in zip(thresholds, rows, strict=True):
                values.append(self._settle(inputs, threshold, row, (1 << n) - 1, self.gates[-1]))
        self.rivals: list[Gate] = []
        self.certain = False
        self._compete(network, Partial(values), network.decide(centre))

    def _first_block(self, block: Block, x: int, may: int) -> list[bool | None]:
        n, thresholds, rows = block
        values: list[bool | None] = []
        for threshold, row in zip(thresholds, rows, strict=True):
            match = ~(row ^ x) & ((1 << n) - 1)
            m = match.bit_count()
            value = m >= threshold
            distance = m - threshold + 1 if value else threshold - m
            favourable = may & (match if value else ~match)
            need = (self.flips + distance + 1) // 2
            helpful = favourable.bit_count()
            if need > self.flips or need > helpful:
                values.append(value)
            elif self.flips - need + 1 > self.n_mutable - helpful:
                values.append(not value)
            else:
                values.append(None)
                self.changing.append(Changing(need, favourable, value))
        return values

    @staticmethod
    def _settle(inputs: Partial, threshold: int, row: int, among: int, gates: list[Gate]) -> bool | None:
        """The value of a neuron over the inputs ``among``; if it is open, a gate is added."""
        need = threshold - (~(row ^ inputs.known) & ~inputs.open & among).bit_count()
        if need <= 0:
            return True
        if need > (inputs.open & among).bit_count():
            return False
        gates.append(Gate(need, inputs.squeezed(row), inputs.squeezed(among)))
        return None

    def _compete(self, network: Network, inputs: Partial, c: int) -> None:
        for r, row in enumerate(network.output):
            if r == c:
                continue
            differ = row ^ network.output[c]
            lead = _ceil(int(r > c) - network.bias[r] + network.bias[c], network.scale)
            threshold = _ceil(lead + differ.bit_count(), 2)
            self.certain |= self._settle(inputs, threshold, row, differ, self.rivals) is True

    def close(self) -> None:
        """No rival can win."""
        if self.certain or self.rivals:
            raise Refused(f"'close' of shell {self.flips}, where a rival may win")

    def try_all(self) -> None:
        """Look at every set of flips, by the patterns of changed neurons that they lead to."""
        if self.certain:
            raise Refused(f"shell {self.flips} changes the decision")
        n_sets = math.comb(self.n_mutable, self.flips - 1) if self.flips <= MOST_FLIPS else MOST_SETS + 1
        if n_sets > MOST_SETS or len(self.changing) > MOST_CHANGING:
            raise Refused(f"'enumerate' of shell {self.flips}: too many sets of flips, or open neurons")
        values: Iterable[int] = self._patterns()
        for step in self._steps():  # many patterns lead to few values further on
            values = set(map(step, values))
        if any(values):
            raise Refused(f"shell {self.flips} changes the decision")

    def try_patterns(self) -> None:
        """Look at every pattern of changed neurons, whether some flips lead to it or not."""
        m = len(self.changing)
        n_open = m + sum(map(len, self.gates))
        if self.certain or m > MOST_OPEN or n_open << m > MOST_WORK:
            raise Refused(f"'patterns' of shell {self.flips}: too many, or a rival wins whatever flips")
        values: Iterable[int] = range(1 << m)
        for step in self._steps():
            values = set(map(step, values))
        if any(values):
            raise Refused(f"'patterns' of shell {self.flips}: with one of them a rival wins")

    def _masks(self) -> list[int]:
        """For each mutable feature, the changing neurons that its flip is favourable to."""
        n = len(self.mutable)
        columns = [compress(f"{neuron.favourable:0{n}b}", self.mutable) for neuron in self.changing]
        return [int("".join(bits), 2) for bits in zip(*columns, strict=True)] or [0] * self.n_mutable

    def _patterns(self) -> set[int]:
        """The sets of neurons of the first block that some set of flips changes, among those that are open.

        Features of the same mask do the same: masks are flipped in order, each as often as it has features.
        """
        n_open = len(self.changing) + sum(map(len, self.gates))
        most = min(MOST_PATTERNS, MOST_WORK // max(1, n_open))
        masks = Counter(self._masks())
        distinct, copies = list(masks), list(masks.values())
        later = [self.n_mutable - before for before in accumulate(copies)]  # features of the masks after it
        patterns: set[int] = set()

        def flip(near: list[int], i: int, spare: int, left: int) -> None:
            # near[t]: the neurons that change by at most t further favourable flips. Of the features not yet
            # passed, ``spare`` have the mask i.
            first = i if spare else i + 1
            if left == 1:
                changed, next_ = near
                patterns.update([changed | (next_ & mask) for mask in distinct[first:]])
                if len(patterns) > most:
                    raise Refused(f"'enumerate' of shell {self.flips}: too many patterns")
                return
            for j in range(first, len(distinct)):
                unused = (spare if j == i else copies[j]) - 1
                if unused + later[j] < left - 1:
                    break
                mask = distinct[j]
                flip([a | (b & mask) for a, b in pairwise(near)], j, unused, left - 1)

        start = [as_mask(neuron.need <= t for neuron in self.changing) for t in range(self.flips + 1)]
        flip(start, -1, 0, self.flips)
        return patterns

    def _steps(self) -> list[Callable[[int], int]]:
        """From a pattern to its values, block by block; last, 1 if a rival wins, else 0."""
        at_input = as_mask(neuron.value for neuron in self.changing)
        sizes = [len(self.changing), *map(len, self.gates)]

        def block(size: int, gates: list[Gate]) -> Callable[[int], int]:
            count = len(gates)
            tests = [(gate.weights, size - gate.need, 1 << (count - 1 - j)) for j, gate in enumerate(gates)]

            def values(inputs: int) -> int:
                result = 0
                for weights, most_wrong, bit in tests:
                    if (inputs ^ weights).bit_count() <= most_wrong:
                        result |= bit
                return result

            return values

        rivals = [(gate.weights, gate.among, gate.among.bit_count() - gate.need) for gate in self.rivals]

        def wins(inputs: int) -> int:
            for weights, among, most_wrong in rivals:
                if ((inputs ^ weights) & among).bit_count() <= most_wrong:
                    return 1
            return 0

        blocks = [block(size, gates) for size, gates in zip(sizes, self.gates, strict=False)]
        return [lambda pattern: pattern ^ at_input, *blocks, wins]

    def formula(self) -> list[tuple[int, ...]] | None:
        """The shell as a CNF, of the inputs that are decided otherwise; None if no rival can win."""
        if self.certain:
            raise Refused(f"'lrat' of shell {self.flips}, where a rival wins whatever flips")
        if not self.rivals:
            return None
        cnf = Counting(self.n_mutable)
        flips = list(range(1, self.n_mutable + 1))
        demands = [[cnf.at_least(self.flips, flips)]]
        if self.flips < self.n_mutable:
            demands.append([-cnf.at_least(self.flips + 1, flips)])
        values = []
        for need, favourable, value in self.changing:
            bits = compress(f"{favourable:0{len(self.mutable)}b}", self.mutable)
            sides: dict[str, list[int]] = {"1": [], "0": []}
            for flip, bit in zip(flips, bits, strict=True):
                sides[bit].append(flip)
            most = self.flips - need + 1
            changed = cnf.at_least(need, sides["1"]) if need <= most else -cnf.at_least(most, sides["0"])
            values.append(-changed if value else changed)
        for gates in self.gates:
            values = [cnf.gate(gate, values) for gate in gates]
        demands.append([cnf.gate(gate, values) for gate in self.rivals])
        demand = cnf.new()
        for literals in demands:
            cnf.add(*literals, -demand)
        cnf.add(demand)
        return cnf.clauses


class Partial:
    """The values of a block, some of them open."""

    def __init__(self, values: list[bool | None]) -> None:
        self.known = as_mask(values)
        self.places = [value is None for value in values]
        self.open = as_mask(self.places)

    def squeezed(self, mask: int) -> int:
        """Of a bit for each value, those of the open ones."""
        return int("0" + "".join(compress(f"{mask:0{len(self.places)}b}", self.places)), 2)


class Counting:
    """The clauses of a formula, as it is built of literals "at least k of these"."""

    def __init__(self, n_vars: int) -> None:
        self.n_vars, self.size = n_vars, 0
        self.clauses: list[tuple[int, ...]] = []

    def new(self) -> int:
        self.n_vars += 1
        return self.n_vars

    def add(self, *clause: int) -> None:
        self.size += len(clause)
        if self.size > LARGEST_FORMULA:
            raise Refused("the formula of a clausal proof is too large")
        proper = tuple(dict.fromkeys(clause))
        if not any(-literal in proper for literal in proper):  # else it says nothing
            self.clauses.append(proper)

    def gate(self, gate: Gate, values: list[int]) -> int:
        """A literal that is true iff the gate is."""
        n = len(values)
        signs = zip(values, f"{gate.weights:0{n}b}", f"{gate.among:0{n}b}", strict=True)
        return self.at_least(
            gate.need, [v if sign == "1" else -v for v, sign, there in signs if there == "1"]
        )

    def at_least(self, k: int, literals: list[int]) -> int:
        """A literal that is true iff at least k of these are, 1 <= k <= all."""
        others = len(literals) - k + 1
        if k > others:
            return -self._tree([-literal for literal in literals], others)[others - 1]
        return self._tree(literals, k)[k - 1]

    def _tree(self, literals: list[int], k: int) -> list[int]:
        """Literals "at least 1", "at least 2", and so on to k, or to all."""
        n = len(literals)
        if n == 1:
            return literals
        a = self._tree(literals[: n // 2], k)
        b = self._tree(literals[n // 2 :], k)
        most = min(n, k)
        out = [self.new() for _ in range(most)]
        for i in range(len(a) + 1):
            for j in range(min(len(b), most - i) + 1):
                s = i + j
                if s:
                    self.add(*(-literal for literal in (*a[i - 1 : i], *b[j - 1 : j])), out[s - 1])
                if s < most:
                    self.add(*a[i : i + 1], *b[j : j + 1], -out[s])
        for lower, higher in pairwise(out):
            self.add(-higher, lower)
        return out


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


# ---------------------------------------------------------------------------------------------------- claims


class Reader:
    """The lines of a certificate, one at a time, of bounded length.

    Whatever is read has one spelling: it is written again and compared. What a line lists is counted before
    a list is made of it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.number = file, 0
        self.line = self.word = self.rest = ""

    def wrong(self, what: str) -> Unreadable:
        return Unreadable(f"line {self.number} {what}")

    def raw(self, longest: int = LONGEST_LINE) -> bytes:
        line = self.file.readline(longest)
        self.number += 1
        if not line.endswith(b"\n"):
            if len(line) == longest:
                raise self.wrong("is too long")
            raise Unreadable(f"the certificate ends in or before line {self.number}")
        return line[:-1]

    def text(self) -> str:
        """The next line."""
        try:
            return self.raw().decode("ascii")
        except UnicodeDecodeError:
            raise self.wrong("is not plain text") from None

    def next(self) -> None:
        """The next line is now ``line``; its first ``word`` and the ``rest`` are separated by a space."""
        self.line = self.text()
        self.word, _, self.rest = self.line.partition(" ")

    def numbers(self, text: str, separator: str = " ") -> list[int]:
        """The integers that a text lists."""
        if text.count(separator) >= MOST_NUMBERS:
            raise self.wrong(f"lists more than {MOST_NUMBERS} numbers")
        words = text.split(separator)
        longest = max(map(len, words))
        if longest > LONGEST_NUMBER:  # not for int(), which takes long for many digits
            raise self.wrong("has a number that is too large, or no number")
        try:
            values = list(map(int, words))
        except ValueError:
            raise self.wrong("has no numbers where there should be") from None
        if separator.join(map(str, values)) != text:
            raise self.wrong("has a number in another spelling than the plain one, such as 01, +1 or -0")
        if longest > 18 and max(map(abs, values)) >= LARGEST_NUMBER:
            raise self.wrong("has a number that is too large")
        return values

    def naturals(self, text: str, separator: str = " ") -> list[int]:
        """The integers that a text lists, none of them negative."""
        values = self.numbers(text, separator)
        if min(values) < 0:
            raise self.wrong("has negative numbers")
        return values

    def natural(self, text: str) -> int:
        """A text that is one integer, not negative."""
        values = self.naturals(text)
        if len(values) != 1:
            raise self.wrong("has several numbers where one is expected")
        return values[0]

    def long_list(self, text: str, start: int, end: int) -> Iterator[int]:
        """The integers that a part of a text lists, however many, some at a time."""
        while (cut := text.find(" ", start + MOST_NUMBERS, end)) >= 0:
            yield from self.numbers(text[start:cut])
            start = cut + 1
        yield from self.numbers(text[start:end])

    def packed(self, word: str, most: int) -> Iterator[int]:
        """Numbers in base64 of zlib of 7 bits a byte, lowest first; a number ends with a byte below 128.

        There are no more than ``most`` bytes of them.
        """
        unpack = zlib.decompressobj()
        try:
            zipped = base64.b64decode(word, validate=True) if len(word) <= 2 * most + 100 else b""
            data = unpack.decompress(zipped, most)
        except (ValueError, binascii.Error, zlib.error):
            raise self.wrong("is not packed as it should be") from None
        whole = unpack.eof and not unpack.unused_data and (not data or data[-1] < 128)
        if not whole or base64.b64encode(zipped).decode() != word:
            raise self.wrong("is not packed as it should be")
        value = shift = 0
        for byte in data:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                if shift > 7 and (not byte or value >= LARGEST_NUMBER):
                    raise self.wrong("has a packed number that is too large, or ends in zeros")
                yield value
                value = shift = 0
            elif shift > 63:
                raise self.wrong("has a packed number that is too large")

    def pairs(self, word: str, most: int) -> list[tuple[int, int]]:
        """Packed numbers, two by two, at most so many pairs."""
        values = list(islice(self.packed(word, 20 * (most + 1)), 2 * most + 1))
        if len(values) % 2 or len(values) > 2 * most:
            raise self.wrong("has half a pair, or too many")
        return list(zip(values[::2], values[1::2], strict=True))

    def bits(self, word: Any, n: int) -> bytes:
        """An input in hexadecimal, feature 0 first, as a byte for each feature: 0 or 1."""
        if type(word) is not str or len(word) != 2 * ((n + 7) // 8):
            raise self.wrong(f"has no input of {n} features where there should be")
        try:
            data = bytes.fromhex(word)
        except ValueError:
            data = b""
        if data.hex() != word:
            raise self.wrong("has an input that is not in hexadecimal, in lower case")
        value, unused = int.from_bytes(data, "big"), -n % 8
        if value & ((1 << unused) - 1):
            raise self.wrong("has an input that is too long")
        return f"{value >> unused:0{n}b}".encode().translate(ZEROS_AND_ONES)


def differences(x: bytes, z: bytes) -> int:
    """A mask of the bytes in which two inputs differ, one bit for each."""
    return int.from_bytes(x, "big") ^ int.from_bytes(z, "big")


class Subject:
    """One input, or every input: what is shown about it."""

    def __init__(
        self, models: Sequence[Machine] | Sequence[Network], region: Region, expected: int | None
    ) -> None:
        self.models, self.region, self.expected = models, region, expected
        self.witness: bytes | None = None

    def take_witness(self, z: bytes) -> None:
        """An input in the region on which the decisions differ."""
        changed = differences(self.region[0], z)
        if changed.bit_count() > self.region[1] or changed & ~int.from_bytes(self.region[2], "big"):
            raise Refused("the witness lies outside the region")
        decisions = [model.decide(z) for model in self.models]
        if len({*decisions, self.expected} - {None}) < 2:
            raise Refused("the witness does not change the decision")
        self.witness = z

    def distance(self) -> int | None:
        """How far the witness is."""
        if self.witness is None:
            return None
        return differences(self.region[0], self.witness).bit_count()

    def take(self, reader: Reader, on_formula: OnFormula | None) -> bool:
        """Follow what the reader's current line begins; whether that is anything."""
        raise NotImplementedError

    def holds_within(self, radius: int) -> bool:
        """Whether it is shown that no input within so many flips violates the property."""
        raise NotImplementedError


class OfMachines(Subject):
    """What is shown by refutations."""

    def __init__(
        self, machines: list[Machine], region: Region, claim: dict[str, Any], expected: int | None
    ) -> None:
        super().__init__(machines, region, expected)
        self.machines, self.claim = machines, claim
        self.constraints: list[Constraint] = []  # declared, so that refutations can name them
        # By subcube, and by one of the constraints: all constraints of a refutation, and its radius.
        self.refuted: dict[tuple[int, ...], dict[Constraint, dict[Case, int]]] = {}
        self.kept = 0

    @cached_property
    def surroundings(self) -> Surroundings:
        """The clauses around the input; a witness needs none."""
        return Surroundings(self.machines, self.region)

    def take(self, reader: Reader, on_formula: OnFormula | None) -> bool:
        """Constraints, clauses rewritten, or a refutation."""
        if reader.word == "constraints":
            self.declare(reader)
        elif reader.word == "rewrite":
            self.surroundings.rewrite(reader.pairs(reader.rest, len(self.surroundings.pool)))
        elif reader.word == "refute":
            self.refute(reader, on_formula)
        else:
            return False
        return True

    def declare(self, reader: Reader) -> None:
        """Constraints, each as row:coefficient>=bound or row:coefficient,row:coefficient>=bound."""
        if reader.line == "constraints":
            return
        if len(self.constraints) + reader.rest.count(" ") >= MOST_CONSTRAINTS:
            raise Refused(f"more than {MOST_CONSTRAINTS} constraints are declared")
        n_rows = sum(len(machine.always) for machine in self.machines)
        for word in reader.rest.split(" "):
            parts = CONSTRAINT.fullmatch(word)
            if parts is None:
                raise reader.wrong(f"has {word!r:.60}, which is no constraint")
            *terms, bound = [int(part) for part in parts.groups() if part is not None]
            pairs = list(zip(terms[::2], terms[1::2], strict=True))
            if (
                not all(0 <= row < n_rows for row, _ in pairs)
                or max(map(abs, (*terms, bound))) >= LARGEST_NUMBER
            ):
                raise reader.wrong(f"has {word!r:.60}, a row that is not there or a number that is too large")
            self.constraints.append((tuple(sorted(pairs)), bound))

    def refute(self, reader: Reader, on_formula: OnFormula | None) -> None:
        """Read one refutation, whose first line is the reader's current one."""
        words, constraints = reader.rest.split(" ", 4), self.constraints
        if len(words) not in (3, 4):
            raise reader.wrong("has a 'refute' without constraints, radius and unit, or with more")
        numbers = reader.naturals(words[0], ",")
        radius, unit = map(reader.natural, words[1:3])
        normal = words[3:] == ["rewritten"]
        inside = tuple(reader.numbers(words[3], ",")) if len(words) == 4 and not normal else ()
        n, (_, most, mutable) = len(self.region[0]), self.region
        repeat = len(set(numbers)) != len(numbers)
        if repeat or max(numbers) >= len(constraints) or radius > most or not 1 <= unit <= 1 << 30:
            raise Refused("'refute' of constraints that are not declared or repeat, or beyond the region")
        cube = sorted({abs(literal) for literal in inside})
        free = all(1 <= f <= n and mutable[f - 1] for f in cube)
        if inside and (self.claim["question"] != "equivalence" or len(cube) != len(inside) or not free):
            raise Refused("'refute' in a subcube that is none")
        if normal and (self.surroundings.normal is None or radius != most):
            raise Refused("'refute' by clauses that were not rewritten, or within another radius")
        chosen = [constraints[c] for c in numbers]
        problem = self.surroundings.problem(chosen, radius, inside, normal)
        case = frozenset(chosen)
        tree = Refutation(problem, unit, self.surroundings.free.difference(f - 1 for f in cube))
        while not tree.done:
            self._step(reader, tree, case, on_formula)
        self._keep(case, tuple(sorted(inside, key=abs)), radius)

    def _keep(self, case: Case, cube: tuple[int, ...], radius: int) -> None:
        known = self.refuted.setdefault(cube, {}).setdefault(min(case), {})
        if case not in known:
            self.kept += 8 + len(case) + len(cube)
            if self.kept > MOST_KEPT:
                raise Refused("there are more refutations than this checker keeps")
        known[case] = max(radius, known.get(case, 0))

    def _step(self, reader: Reader, tree: Refutation, case: Case, on_formula: OnFormula | None) -> None:
        reader.next()
        step, rest = reader.word, reader.rest
        if reader.line in ("fix", "close", "shrink", "divide"):
            getattr(tree, step)()
        elif reader.line == "lrat":
            self._clausal(reader, tree, on_formula)
        elif step == "split":
            tree.split(reader.natural(rest))
        elif step == "mix":
            tree.set_mix(reader.naturals(rest))
        elif step == "set":
            most = 10 * (sum(map(len, tree.shares)) + 2 * len(tree.shares) + 1)
            tree.set_multipliers(reader.packed(rest, most))
        elif step == "rewrite":
            tree.rewrite(reader.pairs(rest, len(tree.problem.keys)))
        elif step == "cover":
            tree.cover(reader.naturals(rest), self.region[0], lambda cube: self._is_refuted(case, cube))
        else:
            raise reader.wrong(f"has {step!r:.40}, which is no step of a refutation")

    def _clausal(self, reader: Reader, tree: Refutation, on_formula: OnFormula | None) -> None:
        if tree.fixed:
            raise Refused("'lrat' where features are fixed: 'shrink' first")
        _follow_lrat(formula(tree.problem), reader, on_formula)
        tree.done = True

    def _is_refuted(self, case: Case, cube: tuple[int, ...], radius: int | None = None) -> bool:
        least, known = self.region[1] if radius is None else radius, self.refuted.get(cube, {})
        return any(
            some <= case and least <= r
            for constraint in case
            if constraint in known
            for some, r in known[constraint].items()
        )

    def holds_within(self, radius: int) -> bool:
        """Whether every way to violate is refuted within so many flips."""
        ways = ways_to_violate(self.machines, self.expected)
        return all(self._is_refuted(way, (), radius) for way in ways)


class OfNetwork(Subject):
    """What is shown by shells."""

    def __init__(self, network: Network, region: Region, expected: int) -> None:
        super().__init__([network], region, expected)
        self.network = network
        self.shown: set[int] = set()  # numbers of flips

    def take(self, reader: Reader, on_formula: OnFormula | None) -> bool:
        """A shell."""
        if reader.word != "shell":
            return False
        number, _, way = reader.rest.partition(" ")
        flips = reader.natural(number)
        centre, most, mutable = self.region
        if not 1 <= flips <= min(most, sum(mutable)) or flips in self.shown:
            raise Refused(f"shell {flips} lies outside the region, or was shown before")
        shell = Shell(self.network, centre, mutable, flips)
        if way == "close":
            shell.close()
        elif way == "patterns":
            shell.try_patterns()
        elif way == "enumerate":
            shell.try_all()
        elif way == "lrat":
            _follow_lrat(shell.formula(), reader, on_formula)
        else:
            raise reader.wrong(f"has {way!r:.40}, which shows no shell")
        self.shown.add(flips)
        return True

    def holds_within(self, radius: int) -> bool:
        """Whether every shell up to so many flips is shown."""
        return self.shown.issuperset(range(1, min(radius, sum(self.region[2])) + 1))


Lines = Iterator[list[int]]  # of an LRAT proof; a deletion is a line for each clause, of its number alone
OnFormula = Callable[[list[tuple[int, ...]], Lines], Lines]


def _follow_lrat(clauses: list[tuple[int, ...]] | None, reader: Reader, on_formula: OnFormula | None) -> None:
    """The lines up to 'qed' prove that the formula, if there is any, has no solution."""
    lines = _until_qed(reader)
    if clauses is not None:
        lines = lines if on_formula is None else on_formula(clauses, lines)
        check_lrat(clauses, lines)
    for _ in lines:  # whatever comes after the empty clause
        pass


def _until_qed(reader: Reader) -> Lines:
    while (line := reader.text()) != "qed":
        first = line.find(" ")
        if first < 0:
            raise reader.wrong("is no line of a clausal proof")
        if not line.startswith(" d ", first):
            yield reader.numbers(line)
        elif line.endswith(" 0"):
            reader.natural(line[:first])
            yield from ([number] for number in reader.long_list(line, first + 3, len(line) - 2))
        else:
            raise reader.wrong("deletes clauses and does not end with 0")


def check(
    certificate: IO[bytes], models: Sequence[bytes], on_formula: OnFormula | None = None
) -> dict[str, Any]:
    """The claim of a certificate, if it is proved for these models; raises Refused or Unreadable.

    The result also says which input, or inputs, it is ``about``. ``on_formula`` is called with the CNF and
    the LRAT lines of every clausal proof, for other checkers; it returns the lines as it goes through them.
    """
    try:
        return _check(certificate, models, on_formula)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Unreadable(f"not as it should be: {error!r:.200}") from error


def _check(certificate: IO[bytes], models: Sequence[bytes], on_formula: OnFormula | None) -> dict[str, Any]:
    reader = Reader(certificate)
    text = reader.raw(LONGEST_CLAIM)
    claim = _claim(_json(text, "certificate"))
    plain = list(claim) == _KEYS and _written(claim) == text
    _readable(plain, "the claim is not as json.dumps writes it: keys in their order, separators ',' and ':'")
    wanted = claim["models"]
    if len(models) != len(wanted):
        raise Refused(f"the claim is about {len(wanted)} model(s); {len(models)} given")
    read = [read_model(data) for data in models]
    for (_, digest), name in zip(read, wanted, strict=True):
        if digest != name:
            raise Refused(f"the claim is about model {name[:16]}, not {digest[:16]}")
    first = read[0][0]
    for model, _ in read[1:]:
        if model.n_features != first.n_features or model.classes != first.classes:
            raise Refused("the models differ in features or classes")
    if len(read) > 1 and claim["scope"] == "team" and len(first.classes) > MOST_COMPARED:
        raise Refused(f"models of more than {MOST_COMPARED} classes are compared class by class: as scope")
    if claim["question"] != "robustness" and any(isinstance(model, Network) for model, _ in read):
        raise Refused("of networks, only robustness can be claimed")
    scoped = [model.in_scope(claim["scope"]) for model, _ in read]

    n = first.n_features
    mask = claim["features"]
    allowed = b"\1" * n if mask is None else reader.bits(mask, n)
    _readable(mask is None or not all(allowed), "features is null where all of them may change")
    holds = violated = 0
    inputs = Inputs()
    reader.next()
    while reader.line != "end":
        inputs.take(reader.rest)
        subject = _subject(reader, scoped, claim, allowed)
        if inputs.count > claim["inputs"]:
            raise Refused(f"the claim is about {claim['inputs']} input(s), the certificate about more")
        while reader.word not in ("input", "everywhere", "end"):
            if reader.word == "witness":
                subject.take_witness(reader.bits(reader.rest, n))
            elif not subject.take(reader, on_formula):
                raise reader.wrong(f"has {reader.word!r:.40}, which is not expected there")
            reader.next()
        if claim["answer"] == "radius":
            _check_radius(claim, subject)
        else:
            violated += subject.witness is not None
            holds += subject.witness is None and subject.holds_within(subject.region[1])
    _readable(not certificate.read(1), "something follows the end")
    _count(claim, inputs.count, holds, violated)
    about = "every input" if claim["question"] == "equivalence" else inputs.in_words()
    changing = "" if mask is None else f", only {sum(allowed)} of {n} features changing"
    if isinstance(first, Network) and not all(first.changeable):
        changing += f", the {first.changeable.count(False)} pixels that no grey level changes staying"
    return {**claim, "about": about, "changing": changing}


class Inputs:
    """The inputs that a certificate is about: how many, which, how many distinct ones."""

    def __init__(self) -> None:
        self.count, self.first, self.whole = 0, "", hashlib.sha256()
        self.distinct: set[bytes] = set()

    def take(self, text: str) -> None:
        """One more, in hexadecimal."""
        digest = hashlib.sha256(text.encode()).digest()
        self.first = self.first if self.count else text
        self.count += 1
        self.whole.update(digest)
        if len(self.distinct) < MOST_DISTINCT:
            self.distinct.add(digest)

    def in_words(self) -> str:
        """What identifies them."""
        if self.count > 1:
            at_least = "" if len(self.distinct) < MOST_DISTINCT else "at least "
            return f"the inputs of sha256 {self.whole.hexdigest()}, {at_least}{len(self.distinct)} distinct"
        if len(self.first) <= 32:
            return f"the input {self.first}"
        return f"the input of sha256 {hashlib.sha256(self.first.encode()).hexdigest()}"


def _count(claim: dict[str, Any], count: int, holds: int, violated: int) -> None:
    inputs = claim["inputs"]
    if count != inputs:
        raise Refused(f"the claim is about {inputs} input(s), the certificate about {count}")
    if claim["answer"] == "radius":
        return
    required = math.ceil(Fraction(claim["eta"]) * inputs)
    if claim["answer"] == "holds" and holds < required:
        raise Refused(f"shown to hold on {holds} of {inputs} input(s); {required} required")
    if claim["answer"] == "violated" and violated <= inputs - required:
        raise Refused(f"shown to be violated on {violated} of {inputs} input(s): not enough")


def _check_radius(claim: dict[str, Any], subject: Subject) -> None:
    radius = claim["radius"]
    if radius is None:
        if subject.witness is not None or not subject.holds_within(subject.region[1]):
            raise Refused("not shown that nothing in the region changes the decision")
    elif subject.distance() != radius:
        raise Refused(f"no witness {radius} flips away")
    elif radius > 0 and not subject.holds_within(radius - 1):
        raise Refused(f"not shown that fewer than {radius} flips change nothing")


def _subject(
    reader: Reader, models: Sequence[Machine | Network], claim: dict[str, Any], allowed: bytes
) -> Subject:
    n, first = len(allowed), models[0]
    machines = [model for model in models if isinstance(model, Machine)]
    if claim["question"] == "equivalence":
        if reader.line != "everywhere":
            raise reader.wrong("is not 'everywhere', as it should be")
        reader.next()
        return OfMachines(machines, (bytes(n), n, b"\1" * n), claim, None)
    if reader.word != "input":
        raise reader.wrong("is no 'input', as it should be")
    centre, mutable = reader.bits(reader.rest, n), allowed
    reader.next()
    if claim["direction"] is not None:
        barred = 1 if claim["direction"] == "add" else 0
        mutable = bytes(may and bit != barred for may, bit in zip(mutable, centre, strict=True))
    if isinstance(first, Network):
        mutable = bytes(may and can for may, can in zip(mutable, first.changeable, strict=True))
    radius = min(n, claim["epsilon"] if claim["answer"] != "radius" else sum(mutable))
    if isinstance(first, Network):
        return OfNetwork(first, (centre, radius, mutable), first.decide(centre))
    expected = first.decide(centre) if claim["question"] == "robustness" else None
    return OfMachines(machines, (centre, radius, mutable), claim, expected)


_KEYS = [
    *("format", "version", "question", "answer", "models", "scope"),
    *("epsilon", "radius", "features", "direction", "inputs", "eta"),
]


def _claim(claim: dict[str, Any]) -> dict[str, Any]:
    """Check the form of a claim: every key is there and nothing else, each of its type."""
    _readable(claim.get("format") == FORMAT, "no tmverify certificate")
    _readable(
        type(claim.get("version")) is int and claim["version"] == VERSION,
        f"this checker reads version {VERSION} of the format",
    )
    _readable(sorted(claim) == sorted(_KEYS), f"a claim has the keys {', '.join(_KEYS)}")
    question, answer = claim["question"], claim["answer"]
    _readable(question in ("robustness", "similarity", "equivalence"), "the question is unknown")
    _readable(answer in ("holds", "violated", "radius"), "the answer is unknown")
    models, scope, everywhere = claim["models"], claim["scope"], question == "equivalence"
    names = type(models) is list and all(type(m) is str and HASH.fullmatch(m) for m in models)
    _readable(names and len(models) == (1 if question == "robustness" else 2), "models")
    _readable(type(scope) in (int, str), "scope")
    _readable(_natural(claim["inputs"]) and claim["inputs"] >= 1, "inputs")
    _readable(claim["features"] is None or type(claim["features"]) is str, "features")
    _readable(claim["direction"] in (None, "add", "remove"), "direction")
    restricted = claim["features"] is not None or claim["direction"] is not None
    _readable(not (everywhere and (restricted or answer == "radius" or claim["inputs"] != 1)), "equivalence")
    asked = answer != "radius" and not everywhere
    _readable(_natural(claim["epsilon"]) if asked else claim["epsilon"] is None, "epsilon")
    _readable(claim["radius"] is None or (answer == "radius" and _natural(claim["radius"])), "radius")
    _readable(answer != "radius" or claim["inputs"] == 1, "a radius is of one input")
    parts = claim["eta"].split("/") if type(claim["eta"]) is str else []
    digits = len(parts) == 2 and all(p.isascii() and p.isdigit() and len(p) < 1000 for p in parts)
    _readable(digits and 0 <= int(parts[0]) <= int(parts[1]) and int(parts[1]) > 0, "eta")
    lowest = Fraction(claim["eta"])
    _readable(claim["eta"] == f"{lowest.numerator}/{lowest.denominator}", "eta is not in lowest terms")
    _readable(claim["inputs"] > 1 or asked or claim["eta"] == "1/1", "eta")
    return claim


def in_words(claim: dict[str, Any]) -> str:
    """What a claim says; ``check`` adds which input it is about."""
    x = claim.get("about", "the input")
    who = " and ".join(f"model {name[:12]}" for name in claim["models"])
    if claim["scope"] != "team":
        who = f"class {claim['scope']!r} of {who}"
    robust, not_ = claim["question"] == "robustness", claim["answer"] != "holds"
    if claim["question"] == "equivalence":
        return f"{who} {'do not agree' if not_ else 'agree'} on every input"
    where = claim.get("changing", "" if claim["features"] is None else ", only some features changing")
    where += {None: "", "add": ", only from 0 to 1", "remove": ", only from 1 to 0"}[claim["direction"]]
    if claim["answer"] == "radius":
        what = "decides otherwise" if robust else "disagree"
        if claim["radius"] is None:
            return f"{who} {what} nowhere around {x}{where}"
        return f"{who} {what} {claim['radius']} flip(s) from {x}{where}, and no nearer"
    what = f"{'keeps its decision' if robust else 'agree'} within {claim['epsilon']} flip(s)"
    denied = "it is not true that " if not_ else ""
    if claim["inputs"] == 1 and claim["eta"] == "1/1":
        return f"{denied}{who} {what} of {x}{where}"
    share = f"at least {claim['eta']} of {claim['inputs']} input(s) ({x})"
    return f"{denied}on {share}, {who} {what}{where}"


def _readable(condition: object, what: str) -> None:
    if not condition:
        raise Unreadable(what)


def _whole(value: Any) -> bool:
    return type(value) is int and abs(value) < LARGEST_NUMBER


def _natural(value: Any) -> bool:
    return _whole(value) and value >= 0


def _written(mapping: dict[str, Any]) -> bytes:
    return json.dumps(mapping, separators=(",", ":")).encode()


def _typed(mapping: dict[str, Any], key: str, kind: type) -> Any:
    _readable(type(mapping.get(key)) is kind, f"{key} is missing or of a wrong type")
    return mapping[key]


def _json(text: bytes, what: str) -> dict[str, Any]:
    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    try:
        value = json.loads(text.decode(), parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Unreadable(f"the {what} is no valid JSON") from None
    _readable(type(value) is dict, f"the {what} is no JSON object")
    return dict(value)


def opened(path: str) -> IO[bytes]:
    """A regular file; others might never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Unreadable(f"{path} is not a regular file")
    return open(path, "rb")


def model_bytes(path: str) -> bytes:
    """The bytes of a model file, as far as a model goes."""
    with opened(path) as file:
        _readable(os.fstat(file.fileno()).st_size <= LARGEST_MODEL, f"{path} is too large for a model")
        return file.read()


def main(arguments: Sequence[str]) -> int:
    """Check a certificate given by path; the exit code."""
    if len(arguments) not in (2, 3) or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    code, said = 0, ""
    try:
        models = [model_bytes(path) for path in arguments[1:]]
        with opened(arguments[0]) as file:
            said = f"accepted: {in_words(check(file, models))}"
    except Refused as reason:
        code, said = 1, f"refused: {reason}"
    except (Unreadable, OSError, ValueError) as reason:
        code, said = 2, f"unreadable: {reason}"
    except MemoryError:
        code, said = 2, "unreadable: more than fits in memory"
    except KeyboardInterrupt:
        code, said = 130, "stopped"
    print(said.encode("ascii", "backslashreplace").decode())
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
