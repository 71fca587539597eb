"""Task: one complete question: about which models and which input, and what may change.

A task is identified by its content: ``id`` is a digest of everything that the answer depends on (question,
content of the models, bits and place of the input, region, whose decision, engine, whether evidence is
wanted). Names and places of files and the limits are not part of it: moving a folder or allowing more time
changes no id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.bits import unpack
from tmverify.asking.rules import KeptRules
from tmverify.model import Classifier, Label
from tmverify.model.names import NamedT, named_first
from tmverify.properties.query import AnyQuery
from tmverify.properties.questions import DEFAULT_TIMEOUT, QUESTIONS, Question

_ID_CHARS = 16
MOST_CHARS = 20_000
"""Of the name of a row, or of one of its cells: the rest is cut off."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One question.

    Attributes
    ----------
    question : a name from ``properties.questions``
        ``radius`` with two models is the distance to their nearest disagreement.
    models : content hashes of the one or two models
    names, data, label, image, own
        The names of the models and of the inputs, the label of the input, (rows, columns) of pictures, and
        whether the scope is each input's own class; not part of the question.
    index, bits, n_features
        The row of the data file and its bits, packed; None for equivalence.
    line, row_name, raw
        The input in the user's file: its line, what it is called, and its cells, one for each part of the
        model's space; each None if unknown. Not part of the question.
    hints : packed inputs that may be counterexamples, or None; not part of the question either
    epsilon : int or None
        For robustness and similarity.
    margin : by how many votes decisions must stand; 0 for the decisions as such
    rules : what may change, and what is counted
    engine, timeout, memory, certified
        How it is decided: the limits in seconds and bytes, and whether evidence is wanted.
    """

    question: str
    models: tuple[str, ...]
    names: tuple[str, ...]
    n_features: int
    index: int | None = None
    line: int | None = None
    row_name: str | None = None
    raw: tuple[str, ...] | None = None
    bits: bytes | None = None
    data: str = ""
    label: Label | None = None
    image: tuple[int, int] | None = None
    epsilon: int | None = None
    margin: int = 0
    scope: Label = "team"
    rules: KeptRules = KeptRules()  # noqa: RUF009 (it is frozen)
    engine: str = "auto"
    timeout: float | None = DEFAULT_TIMEOUT
    memory: int | None = None
    certified: bool = False
    own: bool = False
    hints: bytes | None = None

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits."""
        asked: dict[str, Any] = {
            "question": self.question,
            "models": self.models,
            "index": self.index,
            "input": None if self.bits is None else [self.n_features, self.bits.hex()],
            "epsilon": self.epsilon,
            "scope": self.scope,
            "mask": None if self.rules.mask is None else self.rules.mask.hex(),
            "direction": self.rules.direction,
            "engine": self.engine,
            "certified": self.certified,
        }
        if not self.rules.about_bits:  # a question about bits keeps the id that it has always had
            asked["rules"] = self.rules.to_json()
        if self.margin:  # and so does one without a margin
            asked["margin"] = self.margin
        return digest(asked)

    @property
    def asks(self) -> Question:
        """The question, from the registry."""
        return QUESTIONS[self.question]

    @property
    def called(self) -> str:
        """What the input is called: by its own name, its line, or its index."""
        if self.index is None:
            return "any input"
        if self.row_name is not None:
            return self.row_name
        return f"input {self.index}" if self.line is None else f"line {self.line}"

    @property
    def file_name(self) -> str:
        """The name of its certificate's file: ``robustness-0007-eps3-0123456789abcdef.tmcert``."""
        place = "" if self.index is None else f"-{self.index:04d}"
        within = "" if self.epsilon is None else f"-eps{self.epsilon}"
        return f"{self.question}{place}{within}-{self.id}.tmcert"

    @property
    def x(self) -> NDArray[np.uint8] | None:
        """The input."""
        return None if self.bits is None else unpack(self.bits, self.n_features)

    @property
    def free(self) -> NDArray[np.bool_] | None:
        """The bits that may change; None for all."""
        return self.rules.free(self.n_features)

    def query(self, models: Sequence[Classifier]) -> AnyQuery:
        """The question about these models, compiled; for a radius, all may change that is allowed."""
        return self.asks.query(
            models,
            self.x,
            epsilon=self.epsilon,
            scope=self.scope,
            allowed=self.rules.rules(self.n_features),
            margin=self.margin,
        )

    def named(self, models: Mapping[str, NamedT]) -> NamedT:
        """The model whose feature names are used, among a store's models by hash.

        For a task with a believed answer, the store has the models.
        """
        return named_first([models[key] for key in self.models])


def digest(asked: Any) -> str:
    """A short hash of a question's content."""
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:_ID_CHARS]
