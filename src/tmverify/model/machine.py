"""The Model: a frozen Tsetlin machine, trained by any tool.

    score_c(x) = bias_c + sum_j weights[c, j] * clause_j(x)

One output row is a binary machine, several rows are decided by argmax (``model.evaluate``). So one type
covers the plain machine (weights +1 and -1), the weighted one, the coalesced one (clauses shared by
classes) and the paper's team of one machine per class, whose member for class c is ``model.single(c)``.

Invariants: clauses are canonical (``model.clauses``); weights, bias and clamp are integers small enough
that every score, and every difference of two scores, is exact in int64.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.atomic import replacing
from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.model.checks import as_array, check_options, integers, labels_of, listed, space_of
from tmverify.model.classifier import TEAM, Classifier, Label
from tmverify.model.clauses import MAX_CLAUSES, Clauses
from tmverify.model.evaluate import Tie
from tmverify.model.inference.packed import PackedModel
from tmverify.model.inputs import Rows, bits_or_encoded, with_remedy
from tmverify.space import Space

if TYPE_CHECKING:
    from tmverify.model.top_features import TopFeatures

EmptyClause = Literal["silent", "fires"]

MAX_OUTPUTS = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Model(Classifier):
    """A frozen Tsetlin machine. Make one with ``Model.from_clauses`` or ``tmverify.load``.

    Attributes
    ----------
    clauses : Clauses
        Sequence of tuples of signed, 1-based literals: 1 is x0, feature 0, and -1 is "not x0".
    weights : int64 array, (outputs, n_clauses)
    bias : int64 array, (outputs,)
    tie : {"positive", "negative"}
        What a score of 0 means in a binary machine (and in ``single(c)`` of a multiclass one).
    clamp : int or None
        Scores are cut to [-clamp, clamp] before deciding.
    empty_clause : {"silent", "fires"}
        Output of a clause without literals: 0 or 1.
    classes : tuple of int or of str
        The label of each class index; two labels for a binary machine.
    space : Space
        What the bits mean, in columns of the user's data; flags without names if nothing is known.
    feature_names : tuple of str, or None
        The names of the bits; without them, features are called x0, x1, … by their index.
    """

    kind: ClassVar[str] = "Tsetlin machine"

    clauses: Clauses
    weights: NDArray[np.int64]
    bias: NDArray[np.int64]
    tie: Tie = "positive"
    clamp: int | None = None
    empty_clause: EmptyClause = "silent"
    classes: tuple[Label, ...] = (0, 1)
    space: Space = None  # type: ignore[assignment]  # set in __post_init__

    @classmethod
    def from_clauses(
        cls,
        n_features: int,
        clauses: Iterable[Iterable[int]],
        weights: ArrayLike,
        *,
        bias: ArrayLike = 0,
        tie: Tie = "positive",
        clamp: int | None = None,
        empty_clause: EmptyClause = "silent",
        classes: Sequence[Label] | None = None,
        feature_names: Sequence[str] | None = None,
        space: Space | None = None,
    ) -> Model:
        """Build a model from lists of literals and their votes.

        Parameters
        ----------
        n_features : int
        clauses : lists of int
            Signed, 1-based literals, as in DIMACS: ``[1, -3]`` is "x0 and not x2", features 0 and 2.
        weights : array of int, (outputs, n_clauses)
            One row makes a binary machine; (n_clauses,) is read as one row.
        bias : int or array of int, (outputs,)
        tie, clamp, empty_clause, classes, space
            See the attributes of ``Model``. ``classes`` defaults to 0, 1, …
        feature_names : sequence of str, optional
            Instead of a space: a flag for each name.

        Raises
        ------
        ModelError
            If the parts do not fit together or a number is out of range.
        """
        built = Clauses.from_lists(n_features, clauses)
        votes, base = np.atleast_2d(as_array(weights, "weights")), as_array(bias, "bias")
        n_outputs = len(votes)
        if base.ndim == 0:
            base = np.full(n_outputs, base)
        return cls(
            clauses=built,
            weights=votes,
            bias=base,
            tie=tie,
            clamp=clamp,
            empty_clause=empty_clause,
            classes=tuple(range(max(2, n_outputs)))
            if classes is None
            else labels_of(listed(classes, "classes")),
            space=space_of(feature_names, space, built.n_features),
        )

    def __post_init__(self) -> None:
        n_clauses = len(self.clauses)
        weights, bias = integers(self.weights, "weights"), integers(self.bias, "bias")
        if n_clauses > MAX_CLAUSES:
            raise ModelError(f"A model may have at most {MAX_CLAUSES} clauses. Got {n_clauses} instead.")
        if weights.ndim != 2 or weights.shape[1] != n_clauses or weights.shape[0] < 1:
            raise ModelError(
                f"weights must have shape (outputs, n_clauses={n_clauses}). Got {weights.shape} instead."
            )
        if weights.shape[0] > MAX_OUTPUTS:
            raise ModelError(f"weights may have at most {MAX_OUTPUTS} rows. Got {weights.shape[0]} instead.")
        if bias.shape != weights.shape[:1]:
            raise ModelError(f"bias must have shape ({weights.shape[0]},). Got {bias.shape} instead.")
        if self.space is None:
            object.__setattr__(self, "space", Space.flags(self.n_features))
        check_options(self)
        for name, array in (("weights", weights), ("bias", bias)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def n_features(self) -> int:
        """Width of an input."""
        return self.clauses.n_features

    @property
    def n_clauses(self) -> int:
        """Number of clauses, empty and contradictory ones included."""
        return len(self.clauses)

    @property
    def n_outputs(self) -> int:
        """Number of score rows: 1 for a binary machine, else the number of classes."""
        return len(self.bias)

    @property
    def cells(self) -> int:
        """Number of literals."""
        return len(self.clauses.literals)

    @property
    def scopes(self) -> tuple[Label, ...]:
        """All classes: each has a score of its own, and so a ``single`` machine."""
        return self.classes

    def in_scope(self, scope: Label) -> Model:
        """The machine itself for ``"team"``, ``single(scope)`` for a class."""
        if isinstance(scope, str) and scope == TEAM:
            return self
        expected = "scope must be 'team' or a class of the model."
        if not isinstance(scope, (str, int, np.integer)):
            raise InvalidInputError(f"{expected} Got {shown(scope)} instead.")
        try:
            return self.single(scope)
        except InvalidInputError as error:
            raise InvalidInputError(f"{expected} {error}") from None

    def class_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class index of each row of a checked uint8 matrix, by the plain evaluator."""
        from tmverify.model.evaluate import reference_classes

        return reference_classes(self, bits)

    def scores(self, X: Rows) -> NDArray[np.int64]:
        """Scores before clamp and decision, (n, outputs) int64; ``X`` is as in ``predict``."""
        bits = bits_or_encoded(X, self)
        try:
            return self._packed.scores(bits)
        except InvalidInputError as error:
            raise with_remedy(error, self.space) from None

    def predict(self, X: Rows) -> NDArray[Any]:
        """Label of each row of a 0/1 matrix (n, n_features), or of raw rows.

        Raw rows are frames and lists of mappings with the columns of ``space``, texts and pictures
        (``model.inputs``); one mapping or one text is a single row.
        """
        # Arrays skip the question: a row takes a microsecond, so even an empty call would matter.
        plain = (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[1] == self.clauses.n_features
            and X.dtype.kind != "f"
        )
        bits = X if plain else bits_or_encoded(X, self)
        try:
            return self._packed.predict(bits)  # type: ignore[arg-type]
        except InvalidInputError as error:
            raise with_remedy(error, self.space) from None

    def single(self, c: Label) -> Model:
        """The binary machine that says 1 ("it is class c") or 0, by the sign of c's own score.

        For a binary machine, ``single`` of its second class is the machine itself, and of its first
        class the negated one (with the opposite tie rule, so that the two always disagree). A clamp stays:
        it changes no sign, but it limits by how many votes a class can stand.
        """
        index = self.class_index(c)
        tie = self.tie
        weights, bias = self.weights, self.bias
        if self.n_outputs > 1:
            weights, bias = weights[[index]], bias[[index]]
        elif index == 0:
            weights, bias = -weights, -bias
            tie = "negative" if tie == "positive" else "positive"
        return Model(
            clauses=self.clauses,
            weights=weights,
            bias=bias,
            tie=tie,
            clamp=self.clamp,
            empty_clause=self.empty_clause,
            space=self.space,
        )

    def encode(self, sha256: str | None = None) -> bytes:
        """The bytes of the model's file, as ``model.file`` describes it."""
        from tmverify.model.file import encode

        return encode(self, sha256)

    def to_text(self, max_clauses: int | None = None, max_conditions: int | None = 12) -> str:
        """The machine as rules that a person can read.

        At most ``max_clauses`` per class, the strongest first, each with at most ``max_conditions``
        conditions and the number of those left out; None for all.
        """
        from tmverify.model.rules import to_text

        return to_text(self, max_clauses, max_conditions)

    def top_features(self, c: Label, n: int = 10) -> TopFeatures:
        """The conditions on columns that bring class ``c`` the most votes, and those that cost the most."""
        from tmverify.model.top_features import top_features

        return top_features(self, c, n)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The machine as a list of clauses in JSON, for other tools and people; also written to ``path``."""
        from tmverify.model.rules import to_json

        text = to_json(self)
        if path is not None:
            with replacing(path) as draft:
                draft.write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, text: str) -> Model:
        """The machine in a JSON text, written by ``to_json``, another trainer or a person."""
        from tmverify.model.rules import from_json

        return from_json(text)

    def __repr__(self) -> str:
        kind = "binary" if self.n_outputs == 1 else f"{self.n_outputs} classes"
        return f"<Model: {self.n_features} features, {self.n_clauses} clauses, {kind}>"

    def _repr_html_(self) -> str:
        from tmverify.model.card import model_card

        return model_card(self)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_packed"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for array in (self.weights, self.bias):
            array.flags.writeable = False

    @cached_property
    def _packed(self) -> PackedModel:
        return PackedModel(self)
