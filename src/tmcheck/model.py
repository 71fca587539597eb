"""Models: a machine of weighted clauses, and the file that a model is in.

A model file is an 8-byte length, a JSON header and arrays, in one encoding only. Its hash is that of the file
without the hash. Networks are read here too; what they are is in network.py.
"""

from __future__ import annotations

import hashlib
import math
import sys
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

from tmcheck import limits
from tmcheck.errors import Refused, readable, strictly
from tmcheck.network import Block, Network
from tmcheck.space import Space, read_space
from tmcheck.strict import read_json, typed, written

MODEL_FORMAT, NETWORK_FORMAT, MODEL_VERSION = "tmverify-model", "tmverify-bnn", "2"


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
        space: Space | None = None,
    ) -> None:
        self.n_features, self.clauses, self.votes, self.always = n_features, clauses, votes, always
        self.least = least  # a single score means class 1 if it is at least this
        self.clamp, self.classes = clamp, classes
        self.space = space  # None: a flag for each feature

    @cached_property
    def occurring(self) -> set[int]:
        """The features of the clauses, from 1: there may be far more that no clause looks at."""
        return set(map(abs, set(chain.from_iterable(self.clauses))))

    def decide(self, x: Sequence[int]) -> int:
        """The index of the class of an input."""
        return self.winner(self.votes_on(x))

    def winner(self, scores: Sequence[int]) -> int:
        """The index of the class that has the votes."""
        return int(scores[0] >= self.least) if len(scores) == 1 else scores.index(max(scores))

    def votes_on(self, x: Sequence[int]) -> list[int]:
        """The scores of an input, cut if they are to be."""
        scores = list(self.always)
        true = {f if x[f - 1] else -f for f in self.occurring}
        for clause, votes in zip(self.clauses, self.votes, strict=True):
            if true.issuperset(clause):
                scores = [score + vote for score, vote in zip(scores, votes, strict=True)]
        if self.clamp is not None:
            scores = [min(max(score, -self.clamp), self.clamp) for score in scores]
        return scores

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
            self.clamp,
            [0, 1],
            self.space,
        )


def lead(scores: Sequence[int], classes: Sequence[int]) -> int:
    """By how many votes the best of some classes, which are not all, is ahead of the best of the others."""
    if len(scores) == 1:  # of the second class over the first
        return scores[0] if classes[0] == 1 else -scores[0]
    within = set(classes)
    others = [score for c, score in enumerate(scores) if c not in within]
    return max(scores[c] for c in classes) - max(others)


class Loaded(NamedTuple):
    """A model that was read, and its content hash."""

    model: Machine | Network
    digest: str


def read_model(data: bytes) -> Loaded:
    """The machine or network in the bytes of a model file, and its content hash."""
    with strictly():
        return _read(data)


def _read(data: bytes) -> Loaded:
    size = int.from_bytes(data[:8], "little")
    fits = 8 <= len(data) <= limits.LARGEST_MODEL and size <= min(limits.LONGEST_HEADER, len(data) - 8)
    readable(fits, "no model file")
    text, body = data[8 : 8 + size], memoryview(data)[8 + size :]
    header = read_json(text, "model")
    meta = typed(header, "__metadata__", dict)
    named = (meta.get("format"), meta.get("version"))
    machine, network = (named == (kind, MODEL_VERSION) for kind in (MODEL_FORMAT, NETWORK_FORMAT))
    readable(machine or network, f"no model of version {MODEL_VERSION}")
    digest = typed(meta, "sha256", str)
    # A model has one encoding, and its hash is that of the file without the hash.
    written = [_encoded({**header, "__metadata__": {**meta, "sha256": s}}) for s in (digest, "")]
    whole = hashlib.sha256(len(written[1]).to_bytes(8, "little") + written[1])
    whole.update(body)
    intact = written[0] == text and whole.hexdigest() == digest
    readable(intact, "the model file is damaged: its content does not match its hash")
    options = read_json(typed(meta, "model", str).encode(errors="replace"), "model options")
    return Loaded((_machine if machine else _network)(header, options, body), digest)


Schema = dict[str, tuple[str, int]]  # the dtype and the number of dimensions of each array


def _arrays(
    header: dict[str, Any], body: memoryview, schema: Schema
) -> Iterator[tuple[list[int], Sequence[int]]]:
    """The shape and the values of each array; they lie one after another, and nothing else does."""
    position = 0
    for name, (dtype, rank) in schema.items():
        entry = typed(header, name, dict)
        shape = typed(entry, "shape", list)
        readable(len(shape) == rank and all(type(n) is int and n >= 0 for n in shape), f"shape of {name}")
        values = array({"I64": "q", "I32": "i", "U8": "B"}[dtype])
        end = position + math.prod(shape) * values.itemsize
        fits = (
            entry.get("dtype") == dtype and entry.get("data_offsets") == [position, end] and end <= len(body)
        )
        readable(fits, f"place of {name}")
        if dtype == "U8":
            yield shape, body[position:end]
        else:
            values.frombytes(body[position:end])
            if sys.byteorder == "big":
                values.byteswap()
            yield shape, values.tolist()
        position = end
    readable(position == len(body) and len(header) == len(schema) + 1, "more than a model")


def _check_labels(classes: list[Any], n: int) -> None:
    labels = {(type(label), label) for label in classes if type(label) in (int, str)}
    readable(len(labels) == len(classes) == n and "team" not in classes, "classes")


def _machine(header: dict[str, Any], options: dict[str, Any], body: memoryview) -> Machine:
    schema = {"bias": ("I64", 1), "literals": ("I32", 1), "offsets": ("I64", 1), "weights": ("I32", 2)}
    (_, bias), (_, literals), (_, offsets), ((rows, columns), weights) = _arrays(header, body, schema)
    n_features = typed(options, "n_features", int)
    classes = typed(options, "classes", list)
    tie, clamp, empty = options.get("tie"), options.get("clamp"), options.get("empty_clause")
    readable(1 <= n_features <= limits.MOST_FEATURES, "n_features")
    readable("space" in options, "space")
    space = read_space(options["space"], n_features)
    _check_labels(classes, max(2, rows))
    readable(rows == len(bias) and 1 <= rows <= limits.MOST_CLASSES, "bias")
    readable(tie in ("positive", "negative") and empty in ("fires", "silent"), "tie or empty_clause")
    readable(clamp is None or (type(clamp) is int and clamp >= 1), "clamp")
    rising = bool(offsets) and offsets[0] == 0 and all(a <= b for a, b in pairwise(offsets))
    readable(rising and offsets[-1] == len(literals) and len(offsets) == columns + 1, "offsets")
    within = not literals or (
        0 not in literals and -n_features <= min(literals) <= max(literals) <= n_features
    )
    readable(within, "literals")

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
    return Machine(n_features, clauses, votes, always, least, clamp, classes, space)


def _network(header: dict[str, Any], options: dict[str, Any], body: memoryview) -> Network:
    readable(list(options) == ["widths", "scale", "classes", "space"], "options of a network")
    widths, scale = typed(options, "widths", list), options["scale"]
    readable(3 <= len(widths) <= limits.MOST_BLOCKS + 2, "number of blocks")
    readable(all(type(width) is int and 1 <= width <= limits.MOST_WIDTH for width in widths), "widths")
    n_features, n_classes = widths[0], widths[-1]
    readable(n_classes >= 2 and type(scale) is int and 1 <= scale <= limits.MOST_WIDTH, "classes or scale")
    _check_labels(typed(options, "classes", list), n_classes)
    space = read_space(options["space"], n_features)

    schema: Schema = {}
    for i in range(len(widths) - 2):
        schema |= {f"block.{i}.thresholds": ("I64", 1), f"block.{i}.weights": ("U8", 2)}
    schema |= {"output.bias": ("I64", 1), "output.weights": ("U8", 2)}
    if "pixels.levels" in header:
        schema |= {"pixels.levels": ("I32", 1), "pixels.rising": ("U8", 1)}
    readable(list(header) == ["__metadata__", *schema], "arrays of a network")
    arrays = _arrays(header, body, schema)
    layers: list[Block] = []
    for (n, size), (shape, numbers), (packed, weights) in zip(pairwise(widths), arrays, arrays, strict=False):
        width = (n + 7) // 8
        readable(shape == [size] and packed == [size, width], "shapes of a network")
        rows = [int.from_bytes(weights[j : j + width], "big") for j in range(0, size * width, width)]
        unused = -n % 8
        readable(not any(row & ((1 << unused) - 1) for row in rows), "weights that are none")
        layers.append((n, numbers, [row >> unused for row in rows]))
    *blocks, (_, bias, output) = layers
    readable(all(0 <= t <= n + 1 for n, thresholds, _ in blocks for t in thresholds), "thresholds")
    readable(all(abs(b) <= limits.MOST_BIAS for b in bias), "bias")
    changeable = [True] * n_features
    for (shape, levels), (same, rising) in zip(arrays, arrays, strict=True):
        readable(shape == same == [n_features] and max(rising) <= 1, "pixels")
        readable(min(levels) >= 0 and max(levels) <= 256, "levels of pixels")
        changeable = [0 < level < 256 for level in levels]
    return Network(blocks, output, scale, bias, options["classes"], changeable, space)


def _encoded(header: dict[str, Any]) -> bytes:
    text = written(header)
    return text + b" " * (-len(text) % 8)
