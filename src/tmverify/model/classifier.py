"""Classifier: what Tsetlin machines and binarized networks share, and all that questions need of them.

A classifier reads ``n_features`` bits and puts each input into one of its classes. It has one exact encoding
as a file, whose hash is its identity. To add a new kind of classifier, write a subclass, a decoder in
``model.file``, and a query registered with ``properties.query.query_change``; how it works inside concerns
only the engines for its queries.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, shown
from tmverify.model.container import write
from tmverify.space import Space

if TYPE_CHECKING:
    from tmverify.model.inputs import Rows

Label = int | str
TEAM = "team"
"""The scope that means the decision of the whole classifier; no class may have this name."""


class Classifier(ABC):
    """A frozen classifier of bits, in integers.

    Attributes
    ----------
    classes : tuple of int or of str
        The label of each class index.
    space : Space
        What the bits mean; flags without names if nothing is known.
    """

    kind: ClassVar[str]
    """The kind of classifier, in words."""

    classes: tuple[Label, ...]
    space: Space

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the bits; without them, features are called x0, x1, … by their index."""
        return self.space.bit_names if self.space.named else None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Width of an input."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of scores for an input."""

    @property
    def n_clauses(self) -> int:
        """Number of clauses; 0 if it has none."""
        return 0

    @property
    @abstractmethod
    def cells(self) -> int:
        """Rough cost of evaluating one input: how many numbers the plain evaluator reads."""

    @property
    def attainable(self) -> NDArray[np.bool_]:
        """The features whose bit can be both 0 and 1, (n_features,)."""
        return np.ones(self.n_features, np.bool_)

    def class_index(self, c: Label) -> int:
        """Position of label ``c`` in ``classes``."""
        if isinstance(c, bool) or not isinstance(c, (int, str, np.integer)) or c not in self.classes:
            known = ", ".join(repr(label) for label in self.classes[:20])
            raise InvalidInputError(f"The class must be one of {known}. Got {shown(c)} instead.")
        return self.classes.index(c)

    @property
    @abstractmethod
    def scopes(self) -> tuple[Label, ...]:
        """The classes with their own yes/no decision, about which questions can be asked as well."""

    @abstractmethod
    def in_scope(self, scope: Label) -> Self:
        """The classifier that ``scope`` names: itself for ``"team"``, else that of one of ``scopes``.

        Raises
        ------
        InvalidInputError
            If ``scope`` is neither.
        """

    @abstractmethod
    def class_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class index of each row of a checked uint8 matrix, by the plain evaluator."""

    @abstractmethod
    def scores(self, X: Rows) -> NDArray[np.int64]:
        """Scores of each row of a 0/1 matrix, or of raw rows, (n, n_outputs)."""

    @abstractmethod
    def predict(self, X: Rows) -> NDArray[Any]:
        """Label of each row of a 0/1 matrix (n, n_features), or of raw rows."""

    @abstractmethod
    def to_text(self, max_clauses: int | None = None, max_conditions: int | None = 12) -> str:
        """Its decision rules as readable text; InvalidInputError if it has none."""

    @abstractmethod
    def encode(self, sha256: str | None = None) -> bytes:
        """The bytes of its file, its one exact encoding; ``sha256``, if given, replaces its content hash."""

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) of its whole content, names included: its identity."""
        return hashlib.sha256(self.encode("")).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to ``path`` atomically: an old file stays intact until the new one is complete."""
        write(path, self.encode())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)
