"""Shells of a network: every input with exactly so many mutable features flipped, and why none matters.

What is known of each neuron in the whole shell is settled block by block; the others are *open*. A shell is
shown by what is known (``close``), by evaluating patterns of open neurons (``patterns``, ``enumerate``), or
by a clausal proof of its formula (``lrat``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, compress, pairwise
from typing import NamedTuple

from tmcheck import limits
from tmcheck.cnf import Cnf
from tmcheck.errors import Refused
from tmcheck.network import Block, Network, as_mask


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
        few = self.flips <= limits.MOST_FLIPS and len(self.changing) <= limits.MOST_CHANGING
        if not few or math.comb(self.n_mutable, self.flips - 1) > limits.MOST_SETS:
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
        if self.certain or m > limits.MOST_OPEN or n_open << m > limits.MOST_WORK:
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
        most = min(limits.MOST_PATTERNS, limits.MOST_WORK // max(1, n_open))
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


class Counting(Cnf):
    """A formula that is built of literals "at least k of these"."""

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
