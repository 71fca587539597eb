"""Copies: one or two inputs of a model, seen as one joint input.

The two inputs of a pair share the columns in which they must be equal, so a joint input has these once, and
each of the others twice: first a's, then b's, in the order of the model's columns. A *copy* of the model is
the model with its clauses moved to the bits of one of the inputs. So a question about two inputs is one about
two models on the same (joint) input; clauses over shared columns are the same in both copies, and cancel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Model
from tmverify.model.clauses import Clauses
from tmverify.model.evaluate import decide, reference_scores
from tmverify.properties.expressions import INPUTS
from tmverify.space import Space
from tmverify.space.parts import Part

Bits = NDArray[np.uint8]


class Copies:
    """One input of ``model``, or two that differ in the columns ``differ``, by their numbers.

    Attributes
    ----------
    models : tuple of Model
        The copies, over joint inputs.
    space : Space
        The columns of joint inputs.
    columns : tuple of int64 arrays, (n_columns,)
        For each input: where its columns are among the joint ones.
    bits : tuple of int64 arrays, (n_features,)
        For each input: where its bits are among the joint ones.
    """

    models: tuple[Model, ...]

    def __init__(self, model: Model, differ: Iterable[int] | None = None) -> None:
        self.model = model
        self.differ = None if differ is None else frozenset(differ)
        n_bits, n_columns = model.n_features, len(model.space.columns)
        if self.differ is None:
            self.models, self.space = (model,), model.space
            self.columns: tuple[NDArray[np.int64], ...] = (np.arange(n_columns),)
            self.bits: tuple[NDArray[np.int64], ...] = (np.arange(n_bits),)
            return
        places = [np.empty(n_columns, np.int64) for _ in INPUTS]
        bits = [np.empty(n_bits, np.int64) for _ in INPUTS]
        parts: list[Part] = []
        n_joint = 0
        taken = {column.name for column in model.space.columns}
        for number, column in enumerate(model.space.columns):
            owners = [(0,), (1,)] if number in self.differ else [(0, 1)]
            for inputs in owners:
                for i in inputs:
                    places[i][number] = len(parts)
                    bits[i][column.bits.start : column.bits.stop] = n_joint + np.arange(len(column.bits))
                n_joint += len(column.bits)
                name = column.name if len(inputs) == 2 else _own_name(INPUTS[inputs[0]], column.name, taken)
                parts.append(replace(column.part, name=name))  # type: ignore[type-var]
        if not n_joint:
            raise InvalidInputError("The model looks at no column: every two inputs are decided alike.")
        self.space, self.columns, self.bits = Space(parts), tuple(places), tuple(bits)
        self.models = tuple(_moved(model, own, self.space) for own in bits)

    @property
    def n(self) -> int:
        """How many inputs."""
        return len(self.models)

    def joined(self, *inputs: Bits) -> Bits:
        """The joint input of one input each; of two, what they share is taken from the second."""
        found = np.zeros(self.space.n_bits, np.uint8)
        for own, bits in zip(self.bits, inputs, strict=True):
            found[own] = bits
        return found

    def apart(self, joint: Bits) -> tuple[Bits, ...]:
        """The inputs of a joint one, or of rows of these."""
        return tuple(joint[..., own] for own in self.bits)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The first score row of each copy, in a pool of all."""
        return tuple(i * self.model.n_outputs for i in range(self.n))

    def facts(self, joint: Bits, *, fast: bool = False) -> JointFacts:
        """What formulas are evaluated on, for rows of joint inputs; by the plain evaluator, unless fast."""
        return JointFacts(self, joint, fast)


class JointFacts:
    """Values, votes and decisions of joint inputs."""

    def __init__(self, copies: Copies, joint: Bits, fast: bool) -> None:
        self.copies, self.joint, self.n, self._fast = copies, joint, len(joint), fast
        self._scores: dict[int, NDArray[np.int64]] = {}

    def values(self, of: int, column: int) -> NDArray[np.int64]:
        own = self.copies.space.columns[int(self.copies.columns[of][column])]
        return own.part.value_indices(self.joint[:, own.bits.start : own.bits.stop])

    def scores(self, of: int) -> NDArray[np.int64]:
        if of not in self._scores:
            model = self.copies.models[of]
            scores = model.scores(self.joint) if self._fast else reference_scores(model, self.joint)
            self._scores[of] = scores
        return self._scores[of]

    def votes(self, of: int) -> NDArray[np.int64]:
        clamp = self.copies.model.clamp
        return self.scores(of) if clamp is None else np.clip(self.scores(of), -clamp, clamp)

    def decisions(self, of: int) -> NDArray[np.int64]:
        model = self.copies.model
        return decide(self.scores(of), model.tie, model.clamp)


def _own_name(owner: str, name: str, taken: set[str]) -> str:
    found = f"{owner}.{name}"
    while found in taken:
        found += "'"
    taken.add(found)
    return found


def _moved(model: Model, bits: NDArray[np.int64], space: Space) -> Model:
    """The model with its clauses over other bits, in the same order."""
    literals = model.clauses.literals
    moved = np.sign(literals) * (bits[np.abs(literals) - 1] + 1).astype(np.int32)
    return replace(
        model,
        clauses=Clauses(space.n_bits, moved.astype(np.int32), model.clauses.offsets),
        space=space,
    )
