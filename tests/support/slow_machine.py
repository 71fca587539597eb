"""The training kernels in plain Python: automata are a table of integers, random words plain integers.

It is written from the definitions, one literal at a time, and draws its random numbers in the same order as
the kernels, so that the two must agree in every bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tmverify.training.machine import Machine, Rule

WORD = (1 << 64) - 1


def xorshift(x: int) -> int:
    x ^= (x << 14) & WORD
    x ^= x >> 29
    x ^= (x << 11) & WORD
    return x


def fold(mask: int, words: list[int], bits: list[int]) -> int:
    """For each bit in turn, halve the probability of a 1 in the mask, and add 1/2 if the bit is 1."""
    for word, bit in zip(words, bits, strict=True):
        mask = (mask | ~word & WORD) if bit else (mask & word)
    return mask


@dataclass
class SlowMachine:
    """One machine: states[j][l], weights[j], generators."""

    states: list[list[int]]
    weights: list[int]
    draws: list[int]
    lanes: list[list[int]]
    n_clauses: int
    n_features: int
    rule: Rule
    first: int = 128  # the lowest state that includes

    @classmethod
    def of(cls, machine: Machine, n_clauses: int, n_features: int, rule: Rule) -> SlowMachine:
        return cls(
            states=literal_states(machine, n_clauses, n_features).tolist(),
            weights=machine.weights[:n_clauses].tolist(),
            draws=machine.draws.tolist(),
            lanes=machine.lanes.tolist(),
            n_clauses=n_clauses,
            n_features=n_features,
            rule=rule,
        )

    # Random numbers.

    def draw(self, block: int) -> int:
        self.draws[block] = xorshift(self.draws[block])
        return self.draws[block]

    def draw_below(self, block: int, bound: int) -> int:
        return ((self.draw(block) >> 32) * bound) >> 32

    def draw_choice(self, block: int, numerator: int, denominator: int) -> int:
        share = ((numerator << 16) + self.draw_below(block, denominator)) // denominator
        if share >= 1 << 16:
            return WORD
        if share == 0:
            return 0
        bits = [share >> k & 1 for k in range(16)]
        bits = bits[bits.index(1) :]
        mask = 0
        for bit in bits:
            word = self.draw(block)
            mask = mask | word if bit else mask & word
        return mask

    def draw_forgetting(self, block: int) -> list[int]:
        share, remainder = divmod(int(self.rule.forget), 1 << 16)
        n_words = len(self.lanes[block])
        if share >= 1 << 8:
            return [WORD] * n_words
        bits = [share >> k & 1 for k in range(8)]
        if remainder == 0:
            while len(bits) > 2 and bits[:2] == [0, 0]:
                bits = bits[2:]
        masks = []
        for w in range(n_words):
            x = self.lanes[block][w]
            start = 0
            if remainder:
                x = xorshift(x)
                start = WORD if x >> 48 < remainder else 0
            words = []
            for _ in bits:
                x = xorshift(x)
                words.append(x)
            self.lanes[block][w] = x
            masks.append(fold(start, words, bits))
        return masks

    # Clauses and feedback.

    def literals(self, x: list[int]) -> list[int]:
        return [*x, *(1 - bit for bit in x)]

    def holds(self, j: int, values: list[int]) -> bool:
        return all(value for value, state in zip(values, self.states[j], strict=True) if state >= self.first)

    def votes(self, outputs: list[bool]) -> int:
        return sum(
            (-1 if j % 2 else 1) * self.weights[j] for j in range(self.n_clauses) if outputs[j]
        )  # even places vote for

    def moved(self, j: int, steps: list[int]) -> list[int]:
        """The states of clause j after these steps, within their range."""
        low, high = int(self.rule.floor), 255 - int(self.rule.floor)
        return [min(max(state + step, low), high) for state, step in zip(self.states[j], steps, strict=True)]

    def fresh(self, j: int, after: list[int]) -> list[int]:
        """Literals that the new states include and the old ones exclude."""
        return [l for l, state in enumerate(after) if self.states[j][l] < self.first <= state]  # noqa: E741

    def room(self, j: int) -> int:
        """Literals that clause j may still get."""
        return int(self.rule.max_literals) - sum(state >= self.first for state in self.states[j])

    def place(self, literal: int) -> int:
        """Bit position of a literal: negations begin at a new word."""
        if literal < self.n_features:
            return literal
        return -(-self.n_features // 64) * 64 + literal - self.n_features

    def type_one(self, j: int, holds: bool, values: list[int]) -> None:
        masks = self.draw_forgetting(j // 64)
        forgets = [masks[self.place(l) // 64] >> (self.place(l) % 64) & 1 for l in range(len(values))]  # noqa: E741
        down = [-forgotten for forgotten in forgets]
        steps = down
        if holds:
            steps = [
                int(bool(self.rule.boost) or not forgotten) if value else -forgotten
                for value, forgotten in zip(values, forgets, strict=True)
            ]
            if len(self.fresh(j, self.moved(j, steps))) > self.room(j):
                steps = down
        self.states[j] = self.moved(j, steps)
        if self.rule.weighted and holds:
            self.weights[j] += 1

    def type_two(self, j: int, values: list[int]) -> None:
        if self.rule.weighted and self.weights[j] > 1:
            self.weights[j] -= 1
        excluded = [state < self.first for state in self.states[j]]
        after = self.moved(j, [int(out and not value) for out, value in zip(excluded, values, strict=True)])
        fresh, room = self.fresh(j, after), self.room(j)
        if len(fresh) > room:
            for _ in range(room):
                fresh.pop(self.draw_below(j // 64, len(fresh)))
            for l in fresh:  # noqa: E741
                after[l] = self.states[j][l]
        self.states[j] = after

    def learn(self, x: list[int], wanted: int) -> None:
        """Algorithm 1 for one example."""
        threshold = int(self.rule.threshold)
        values = self.literals(x)
        outputs = [self.holds(j, values) for j in range(self.n_clauses)]
        votes = min(max(self.votes(outputs), -threshold), threshold)
        urge = threshold - votes if wanted else threshold + votes
        if urge == 0:
            return
        for block in range(-(-self.n_clauses // 64)):
            chosen = self.draw_choice(block, urge, 2 * threshold)
            for j in range(64 * block, min(64 * block + 64, self.n_clauses)):
                if not chosen >> (j % 64) & 1:
                    continue
                if (j % 2 == 0) == bool(wanted):
                    self.type_one(j, outputs[j], values)
                elif outputs[j]:
                    self.type_two(j, values)


def literal_states(machine: Machine, n_clauses: int, n_features: int) -> np.ndarray:
    """(n_clauses, 2 n_features) automaton states, put together from the planes."""
    n_half = machine.included.shape[2]
    planes = np.unpackbits(
        machine.planes[:n_clauses].astype("<u8").view(np.uint8), axis=2, bitorder="little"
    ).astype(np.int64)
    states = (planes << np.arange(8)[None, :, None]).sum(axis=1)
    return np.concatenate([states[:, :n_features], states[:, n_half : n_half + n_features]], axis=1)
