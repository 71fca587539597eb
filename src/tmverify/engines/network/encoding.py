"""The formula of a shell: flips, changed neurons, the blocks after them and the rivals, as one CNF.

Exact both ways: its solutions are the inputs of the shell that are decided otherwise, one each. It is the
formula that ``docs/certificates.md`` describes, clause by clause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.network.shell import Shell, Stage
from tmverify.engines.protocol import EncodingTooLargeError
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.reified import at_least, at_least_size

MAX_LITERALS = 30_000_000  # some gigabytes in the solver


@dataclass(frozen=True, slots=True, eq=False)
class ShellFormula:
    """A CNF; variable i + 1 is the flip of ``features[i]``."""

    cnf: Cnf
    features: NDArray[np.int64]

    def flips(self, assignment: list[int]) -> NDArray[np.int64]:
        """The features that flip in a solution."""
        true = set(assignment)
        return self.features[[i + 1 in true for i in range(len(self.features))]]


def encode_shell(shell: Shell) -> ShellFormula:
    """The formula of a shell in which rivals are open and none is certain.

    Raises
    ------
    EncodingTooLargeError
        If it would have more than ``MAX_LITERALS``.
    """
    if formula_size(shell) > MAX_LITERALS:
        raise EncodingTooLargeError(f"the formula would have more than {MAX_LITERALS} literals")
    cnf = Cnf()
    demands, literals = encode_first_block(cnf, shell)
    for stage in shell.stages:
        literals = _stage(cnf, stage, literals)
    demands.append(literals)
    # CaDiCaL numbers clauses as they come, and would derive others after a unit: there is one, the last.
    demand = cnf.new_var()
    for clause in demands:
        cnf.add(*clause, -demand)
    cnf.add(demand)
    return ShellFormula(cnf, shell.features)


def encode_first_block(cnf: Cnf, shell: Shell) -> tuple[list[list[int]], list[int]]:
    """Flips, as the first variables: clauses that say how many there are; literals of what they change."""
    flips = [cnf.new_var() for _ in shell.features]
    demands = [[at_least(cnf, flips, shell.flips)]]
    if shell.flips < len(flips):
        demands.append([-at_least(cnf, flips, shell.flips + 1)])
    return demands, _changed(cnf, shell, flips)


def first_block_size(shell: Shell) -> int:
    """The number of literals that ``encode_first_block`` writes, roughly."""
    n, k = len(shell.features), shell.flips
    total = 2 * at_least_size(n, min(k + 1, n))
    for quota, favourable in zip(shell.quotas.tolist(), shell.favourable.sum(axis=1).tolist(), strict=True):
        few = quota <= k - quota + 1
        total += at_least_size(favourable, quota) if few else at_least_size(n - favourable, k - quota + 1)
    return total


def formula_size(shell: Shell) -> int:
    """The number of literals of a shell's formula, roughly."""
    total = first_block_size(shell)
    for stage in shell.stages:
        widths = (stage.weights != 0).sum(axis=1)
        sizes = zip(widths.tolist(), stage.needs.tolist(), strict=True)
        total += sum(at_least_size(width, need) for width, need in sizes)
    return total


def _changed(cnf: Cnf, shell: Shell, flips: list[int]) -> list[int]:
    """A literal for each open neuron of the first block: it has changed."""
    result = []
    for quota, favourable in zip(shell.quotas.tolist(), shell.favourable.tolist(), strict=True):
        others = shell.flips - quota + 1  # so many unfavourable flips keep it
        if quota <= others:
            result.append(at_least(cnf, [y for y, yes in zip(flips, favourable, strict=True) if yes], quota))
        else:
            against = [y for y, yes in zip(flips, favourable, strict=True) if not yes]
            result.append(-at_least(cnf, against, others))
    return result


def _stage(cnf: Cnf, stage: Stage, inputs: list[int]) -> list[int]:
    """A literal for each neuron of a stage."""
    result = []
    for weights, need in zip(stage.weights.tolist(), stage.needs.tolist(), strict=True):
        matching = [lit * weight for lit, weight in zip(inputs, weights, strict=True) if weight]
        result.append(at_least(cnf, matching, need))
    return result
