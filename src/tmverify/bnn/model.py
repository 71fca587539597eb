"""BnnModel: a frozen binarized neural network, in integers.

A value in the network is a bit, which stands for +1 or -1, and a weight is +1 or -1. ``matches(x, w)`` is the
number of inputs that have the sign of their weight, so that w . x = 2 matches - n, and

    neuron_j(x) = 1  iff  matches(x, weights[j]) >= thresholds[j]
    score_c(x)  = scale * matches(x, output[c]) + bias[c]

The largest score wins; the first class wins ties. Batch normalisation and biases were turned into thresholds
exactly (``bnn.folding``): nothing here is a float. Scores order the classes as the network's do, ties
included, but are not logits.

A network that was trained on grey levels has ``cuts``, its first batch normalisation and sign:

    bit_i = 1  iff  grey_i >= levels[i]   (rising[i])
    bit_i = 1  iff  grey_i <  levels[i]   (otherwise)

with ``levels`` between 0 and 256, so a bit may be the same for all 256 grey levels: then no change of that
pixel reaches the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.model.checks import (
    as_array,
    as_bit_vector,
    check_classes,
    check_space,
    integer,
    integers,
    labels_of,
    listed,
    space_of,
)
from tmverify.model.classifier import TEAM, Classifier, Label
from tmverify.model.inputs import Rows, input_rows
from tmverify.space import Space

MAX_WIDTH = 1 << 16
MAX_LAYERS = 64
N_LEVELS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A block of the network: neuron j is 1 iff at least ``thresholds[j]`` inputs match ``weights[j]``.

    Attributes
    ----------
    weights : int8 array of +1 and -1, (n_neurons, n_inputs)
    thresholds : int64 array, (n_neurons,)
        Between 0 (always 1) and n_inputs + 1 (never 1); values outside are clipped.
    """

    weights: NDArray[np.int8]
    thresholds: NDArray[np.int64]

    def __post_init__(self) -> None:
        weights = signs(self.weights, "weights")
        thresholds = integers(as_array(self.thresholds, "thresholds"), "thresholds")
        if thresholds.shape != (len(weights),):
            raise ModelError(
                f"thresholds must have one value for each of {len(weights)} neurons. "
                f"Got shape {thresholds.shape} instead."
            )
        thresholds = np.clip(thresholds, 0, weights.shape[1] + 1)
        thresholds.flags.writeable = False
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "thresholds", thresholds)


@dataclass(frozen=True, slots=True, eq=False)
class PixelCuts:
    """For each pixel, at which grey level its bit changes, and in which direction."""

    levels: NDArray[np.int64]
    rising: NDArray[np.bool_]

    def __post_init__(self) -> None:
        levels = integers(as_array(self.levels, "levels"), "levels").copy()
        rising = np.array(self.rising)
        if rising.dtype.kind not in "biu" or not np.isin(rising, (0, 1)).all():
            raise ModelError("rising must hold only true and false.")
        rising = rising.astype(np.bool_)
        if levels.ndim != 1 or levels.shape != rising.shape:
            raise ModelError(
                f"levels and rising must be of the same pixels. Got {levels.shape}, {rising.shape}."
            )
        if levels.min(initial=0) < 0 or levels.max(initial=0) > N_LEVELS:
            raise ModelError(f"levels must be between 0 and {N_LEVELS}.")
        for name, array in (("levels", levels), ("rising", rising)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def flippable(self) -> NDArray[np.bool_]:
        """The pixels whose bit some change of grey level flips."""
        flips: NDArray[np.bool_] = (self.levels > 0) & (self.levels < N_LEVELS)
        return flips

    def bits(self, images: ArrayLike) -> NDArray[np.uint8]:
        """The bits of images: one row for a single image, a matrix for several."""
        grey = np.asarray(images)
        n = len(self.levels)
        if grey.dtype.kind not in "iu" or (grey.size and (grey.min() < 0 or grey.max() >= N_LEVELS)):
            raise InvalidInputError(
                f"images must hold grey levels, integers from 0 to 255. Got dtype {grey.dtype} instead."
                if grey.dtype.kind not in "iu"
                else f"images must hold grey levels from 0 to 255. Got {grey.min()} to {grey.max()} instead."
            )
        if grey.shape[-1:] != (n,):
            if grey.ndim < 2 or grey.shape[-1] * grey.shape[-2] != n:
                raise InvalidInputError(f"images must have {n} pixels each. Got shape {grey.shape} instead.")
            grey = grey.reshape(*grey.shape[:-2], n)
        bits: NDArray[np.uint8] = ((grey >= self.levels) == self.rising).astype(np.uint8)
        return bits

    def nearest_grey(self, image: ArrayLike, bits: ArrayLike) -> NDArray[np.uint8]:
        """The image with these bits that differs least from ``image`` in grey levels; for one image.

        Raises
        ------
        InvalidInputError
            If ``image`` is not one image, ``bits`` are not bits, or a pixel can't have the bit asked for.
        """
        now = self.bits(image)
        if now.ndim != 1:
            raise InvalidInputError(f"image must be one image. Got shape {np.shape(image)} instead.")
        grey = np.asarray(image).reshape(now.shape).astype(np.int64)
        change = now != as_bit_vector(bits, len(now), name="bits")
        if (change & ~self.flippable).any():
            raise InvalidInputError("No grey level gives some pixel the bit asked for.")
        # The nearest level on the other side of the cut.
        grey[change] = np.where(grey >= self.levels, self.levels - 1, self.levels)[change]
        return grey.astype(np.uint8).reshape(np.shape(image))


@dataclass(frozen=True, eq=False, repr=False)
class BnnModel(Classifier):
    """A frozen binarized network. Made by ``BnnClassifier``, ``load_bnn`` or ``BnnModel.from_layers``.

    Attributes
    ----------
    layers : tuple of Layer
        The blocks before the last; at least one.
    output : int8 array of +1 and -1, (n_classes, n_inputs of the last layer)
    scale : int
    bias : int64 array, (n_classes,)
    classes : tuple of int or of str
    space : Space
        What the bits mean; flags without names if nothing is known.
    cuts : PixelCuts or None
        How grey levels become the network's input bits, if it has its own rule for that.
    """

    kind: ClassVar[str] = "binarized network"

    layers: tuple[Layer, ...]
    output: NDArray[np.int8]
    scale: int
    bias: NDArray[np.int64]
    classes: tuple[Label, ...]
    space: Space = None  # type: ignore[assignment]  # set in __post_init__
    cuts: PixelCuts | None = None

    @classmethod
    def from_layers(
        cls,
        layers: Sequence[tuple[ArrayLike, ArrayLike]],
        output: ArrayLike,
        *,
        scale: int = 1,
        bias: ArrayLike = 0,
        classes: Sequence[Label] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> BnnModel:
        """Build a network from (weights, thresholds) of each block and the weights of the last layer.

        Raises
        ------
        ModelError
            If the parts do not fit together.

        Examples
        --------
        >>> from tmverify.bnn import BnnModel
        >>> both = BnnModel.from_layers([([[1, 1]], [2])], [[-1], [1]])  # class 1 iff both bits are set
        >>> both.predict([[1, 1], [1, 0]]).tolist()
        [1, 0]
        """
        try:
            pairs = [(weights, thresholds) for weights, thresholds in layers]
        except (TypeError, ValueError):
            raise ModelError(
                f"layers must be pairs of weights and thresholds. Got {shown(layers)} instead."
            ) from None
        rows = signs(as_array(output, "output"), "output")
        base = integers(as_array(bias, "bias"), "bias")
        built = tuple(Layer(as_array(w, "weights"), as_array(t, "thresholds")) for w, t in pairs)
        return cls(
            layers=built,
            output=rows,
            scale=scale,
            bias=np.full(len(rows), base) if base.ndim == 0 else base,
            classes=tuple(range(len(rows))) if classes is None else labels_of(listed(classes, "classes")),
            space=space_of(feature_names, None, built[0].weights.shape[1] if built else 1),
        )

    def __post_init__(self) -> None:
        output, bias = signs(self.output, "output"), integers(self.bias, "bias").copy()
        bias.flags.writeable = False
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "bias", bias)
        if not 1 <= len(self.layers) <= MAX_LAYERS:
            raise ModelError(f"A network must have 1 to {MAX_LAYERS} blocks. Got {len(self.layers)} instead.")
        widths = [*(len(layer.weights) for layer in self.layers)]
        inputs = [*(layer.weights.shape[1] for layer in self.layers[1:]), output.shape[1]]
        if widths != inputs:
            raise ModelError(
                f"Each layer must read what the one before has. "
                f"Got {widths} neurons and {inputs} inputs instead."
            )
        object.__setattr__(self, "scale", integer(self.scale, "scale", 1, MAX_WIDTH))
        if bias.shape != (len(output),):
            raise ModelError(f"bias must have {len(output)} values. Got shape {bias.shape} instead.")
        check_classes(self.classes, len(output))
        if len(output) < 2:
            raise ModelError("A network must have at least two classes. Got one instead.")
        if self.space is None:
            object.__setattr__(self, "space", Space.flags(self.n_features))
        check_space(self.space, self.n_features)
        if self.cuts is not None and len(self.cuts.levels) != self.n_features:
            raise ModelError(
                f"cuts must be of n_features={self.n_features} pixels. Got {len(self.cuts.levels)}."
            )

    @property
    def n_features(self) -> int:
        """Width of an input."""
        return int(self.layers[0].weights.shape[1])

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return len(self.output)

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, neurons of each block, classes."""
        return self.n_features, *(len(layer.weights) for layer in self.layers), self.n_outputs

    @property
    def attainable(self) -> NDArray[np.bool_]:
        """The features whose bit can be both 0 and 1: all except pixels whose bit no grey level changes."""
        return np.ones(self.n_features, np.bool_) if self.cuts is None else self.cuts.flippable

    @property
    def cells(self) -> int:
        """Number of weights before the last layer."""
        return sum(layer.weights.size for layer in self.layers)

    @property
    def scopes(self) -> tuple[Label, ...]:
        """Empty: no class of a network has a decision of its own."""
        return ()

    def in_scope(self, scope: Label) -> BnnModel:
        """The network itself, for ``"team"``."""
        if not isinstance(scope, str) or scope != TEAM:
            raise InvalidInputError(f"scope must be 'team' for a {self.kind}. Got {shown(scope)} instead.")
        return self

    def class_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class index of each row of a checked uint8 matrix, by the plain evaluator."""
        from tmverify.bnn.evaluate import reference_classes

        return reference_classes(self, bits)

    def scores(self, X: Rows) -> NDArray[np.int64]:
        """Scores of each class, (n, n_classes); integers that order classes as the network does."""
        from tmverify.bnn.evaluate import reference_scores

        return reference_scores(self, input_rows(X, self))

    def predict(self, X: Rows) -> NDArray[Any]:
        """Labels of the rows of ``X``, 0s and 1s, (n, n_features); a frame's columns are matched by name."""
        labels: NDArray[Any] = np.array(self.classes)[self.scores(X).argmax(axis=1)]
        return labels

    def to_text(self, max_clauses: int | None = None, max_conditions: int | None = 12) -> str:
        """Raise InvalidInputError: a network has no rules to read."""
        raise InvalidInputError(f"Clauses are what Tsetlin machines decide by: a {self.kind} has none.")

    def binarize(self, images: ArrayLike) -> NDArray[np.uint8]:
        """Grey levels 0 to 255, (…, n_features) or images of that many pixels, as the network's input bits.

        Raises
        ------
        InvalidInputError
            If the network has no ``cuts``, or a value is not a grey level.
        """
        if self.cuts is None:
            raise InvalidInputError("This network reads bits: it has no rule of its own for grey levels.")
        return self.cuts.bits(images)

    def encode(self, sha256: str | None = None) -> bytes:
        """The bytes of the network's file, as ``bnn.file`` describes it."""
        from tmverify.bnn.file import encode

        return encode(self, sha256)

    def __repr__(self) -> str:
        return (
            f"<BnnModel {'-'.join(map(str, self.widths))}{'' if self.cuts is None else ', of grey levels'}>"
        )


def signs(values: NDArray[np.generic], name: str) -> NDArray[np.int8]:
    """A matrix of +1 and -1 as a read-only int8 array, or ModelError."""
    if values.ndim != 2 or not all(1 <= size <= MAX_WIDTH for size in values.shape):
        raise ModelError(
            f"{name} must be a matrix of +1 and -1 of at most {MAX_WIDTH} rows and columns. "
            f"Got shape {values.shape} instead."
        )
    if values.dtype.kind not in "if" or not ((values == 1) | (values == -1)).all():
        raise ModelError(f"{name} must hold only +1 and -1. Got {shown(values)} instead.")
    result = values.astype(np.int8)
    result.flags.writeable = False
    return result
