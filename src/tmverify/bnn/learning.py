"""How a network learns: latent weights, batch normalisation, gradients straight through the sign, and Adam.

A block is z = sign(W) a, normalised over the batch, then sign; the last layer is sign(W) a alone; bits enter
as +1 and -1, and the sign of 0 is +1. The sign has no useful gradient. It is replaced by that of
hardtanh(v) = min(1, max(-1, v)): 1 where |v| <= 1, else 0 (Hubara, Courbariaux, Soudry, El-Yaniv, Bengio,
"Binarized neural networks", NeurIPS 2016). Latent weights W are kept in [-1, 1], where that gradient is 1.

Adam lowers the cross entropy, epoch by epoch, at a rate that falls to 0 along a cosine: step t of T has the
rate learning_rate (1 + cos(pi t / T)) / 2. As it falls, weights stop changing sign, and the running averages
of batch normalisation settle on those of the network that is frozen in the end.

All randomness comes from the network's own generator: PyTorch's global one is neither read nor seeded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.folding import BatchNorm, fold_block, fold_output
from tmverify.bnn.model import BnnModel, Layer
from tmverify.extras import need
from tmverify.model import Label
from tmverify.progress import ProgressBar
from tmverify.space import Space

EPSILON = 1e-5
SPREAD = 0.3  # of class scores; with 1 the softmax saturates too soon (digits: 92 % on test data, not 94 %)
MOMENTUM = 0.1  # weight of a batch in the running mean and variance
_ROWS = 1 << 12  # rows classified at a time

Tensor = Any


def pytorch() -> Any:
    """The package ``torch``, or MissingExtraError."""
    return need("torch", extra="bnn", what="training a binarized network")


@dataclass(frozen=True, slots=True)
class Norm:
    """The batch normalisation of a block's neurons."""

    gamma: Tensor
    beta: Tensor
    mean: Tensor
    variance: Tensor


@dataclass(frozen=True, slots=True)
class Noise:
    """Random changes to values during training, so that the network cannot rely on any single one.

    Attributes
    ----------
    flips : chance that an input bit is flipped
    dropout : chance that a neuron's value is 0 for an example
    """

    flips: float
    dropout: float
    generator: Any


class Network:
    """Layers of the given widths: inputs, neurons of each block, classes."""

    def __init__(self, widths: Sequence[int], generator: Any) -> None:
        torch = pytorch()
        self.widths = tuple(widths)
        self.weights = [
            (torch.rand(out, n, generator=generator) * 2 - 1).requires_grad_() for n, out in pairwise(widths)
        ]
        self.norms = [
            Norm(
                torch.ones(n).requires_grad_(), torch.zeros(n).requires_grad_(), torch.zeros(n), torch.ones(n)
            )
            for n in widths[1:-1]
        ]

    @property
    def parameters(self) -> list[Tensor]:
        """The tensors that gradients change."""
        return [*self.weights, *(each for norm in self.norms for each in (norm.gamma, norm.beta))]

    def logits(self, values: Tensor, noise: Noise | None = None) -> Tensor:
        """Class scores of rows of +1 and -1; with ``noise`` as in training, and averages updated."""
        torch = pytorch()
        if noise is not None and noise.flips:
            values = torch.where(_chances(values, noise) < noise.flips, -values, values)
        for weights, norm in zip(self.weights[:-1], self.norms, strict=True):
            values = _sign(_normalised(values @ _sign(weights).T, norm, learning=noise is not None))
            if noise is not None and noise.dropout:
                kept = _chances(values, noise) >= noise.dropout
                values = values * kept / (1 - noise.dropout)
        return values @ _sign(self.weights[-1]).T * (SPREAD / math.sqrt(self.widths[-2]))

    def clip(self) -> None:
        """Clip latent weights to [-1, 1]."""
        with pytorch().no_grad():
            for weights in self.weights:
                weights.clamp_(-1, 1)

    def state(self) -> list[Tensor]:
        """A copy of everything learnt."""
        return [each.detach().clone() for each in self._tensors()]

    def restore(self, state: Sequence[Tensor]) -> None:
        """Go back to a copy made by ``state``."""
        with pytorch().no_grad():
            for tensor, kept in zip(self._tensors(), state, strict=True):
                tensor.copy_(kept)

    def decide(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class index of each row, in floating point: the network as PyTorch evaluates it."""
        torch = pytorch()
        found = np.empty(len(bits), np.int64)
        with torch.no_grad():
            for start in range(0, len(bits), _ROWS):
                rows = bits[start : start + _ROWS]
                # NumPy's argmax takes the first of equal scores; PyTorch does not promise which.
                found[start : start + _ROWS] = self.logits(as_values(rows)).numpy().argmax(axis=1)
        return found

    def freeze(self, classes: tuple[Label, ...], space: Space) -> BnnModel:
        """The network in integers; every parameter is converted exactly."""
        scale, bias = fold_output([0] * self.widths[-1])
        return BnnModel(
            layers=tuple(
                _frozen(weights, norm) for weights, norm in zip(self.weights[:-1], self.norms, strict=True)
            ),
            output=_signs(self.weights[-1]),
            scale=scale,
            bias=bias,
            classes=classes,
            space=space,
        )

    def _tensors(self) -> list[Tensor]:
        return [*self.parameters, *(each for norm in self.norms for each in (norm.mean, norm.variance))]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast the network learns."""

    n_epochs: int
    batch_size: int
    learning_rate: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The network after its last whole epoch, and a record of each: kept on an interrupt."""

    state: list[Tensor]
    history: list[dict[str, Any]]


class Learner:
    """A network, the examples that it learns from, and its progress."""

    def __init__(
        self,
        network: Network,
        examples: tuple[NDArray[np.uint8], NDArray[np.int64]],
        schedule: Schedule,
        noise: Noise,
    ) -> None:
        torch = pytorch()
        self.network, self.schedule, self.noise = network, schedule, noise
        self.finished = Finished([], [])
        self._values, self._targets = as_values(examples[0]), torch.from_numpy(examples[1])
        # Batches have at least batch_size rows, and never one row, which has no variance.
        self._n_batches = max(1, len(self._values) // schedule.batch_size)
        self._optimizer = torch.optim.Adam(network.parameters, lr=schedule.learning_rate)

    def run(self, bar: ProgressBar) -> None:
        """Run all epochs."""
        for epoch in range(1, self.schedule.n_epochs + 1):
            started = time.perf_counter()
            loss, accuracy = self._epoch(epoch)
            seconds = time.perf_counter() - started
            line = {"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds}
            self.finished = Finished(self.network.state(), [*self.finished.history, line])
            bar.advance(f"loss {loss:.3f}, training accuracy {accuracy:.2%}")

    def settle(self) -> None:
        """Go back to the network after its last finished epoch."""
        self.network.restore(self.finished.state)

    def _epoch(self, epoch: int) -> tuple[float, float]:
        """Mean loss and accuracy, each batch measured before it is learnt from."""
        loss, right = 0.0, 0
        for done, rows in enumerate(self._batches(), (epoch - 1) * self._n_batches):
            self._set_rate(done)
            of_batch, right_in_batch = self._step(rows)
            loss += of_batch * len(rows)
            right += right_in_batch
        return loss / len(self._values), right / len(self._values)

    def _batches(self) -> Iterator[Tensor]:
        torch = pytorch()
        order = torch.randperm(len(self._values), generator=self.noise.generator)
        yield from torch.tensor_split(order, self._n_batches)

    def _step(self, rows: Tensor) -> tuple[float, int]:
        targets = self._targets[rows]
        logits = self.network.logits(self._values[rows], self.noise)
        loss = pytorch().nn.functional.cross_entropy(logits, targets)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        self.network.clip()
        return loss.item(), int((logits.argmax(dim=1) == targets).sum())

    def _set_rate(self, done: int) -> None:
        share = done / (self.schedule.n_epochs * self._n_batches)
        for group in self._optimizer.param_groups:
            group["lr"] = self.schedule.learning_rate * (1 + math.cos(math.pi * share)) / 2


def as_values(bits: NDArray[np.uint8]) -> Tensor:
    """Turn 0 and 1 into -1 and +1."""
    return pytorch().from_numpy(bits.astype(np.float32) * 2 - 1)


def _sign(values: Tensor) -> Tensor:
    """+1 or -1, exactly, with the gradient of hardtanh."""
    torch = pytorch()
    hard = values.clamp(-1, 1)
    return torch.where(values >= 0, 1.0, -1.0) + (hard - hard.detach())


def _normalised(z: Tensor, norm: Norm, *, learning: bool) -> Tensor:
    return pytorch().nn.functional.batch_norm(
        z, norm.mean, norm.variance, norm.gamma, norm.beta, learning, MOMENTUM, EPSILON
    )


def _chances(values: Tensor, noise: Noise) -> Tensor:
    return pytorch().rand(values.shape, generator=noise.generator)


def _frozen(weights: Tensor, norm: Norm) -> Layer:
    gamma, beta, mean, variance = (
        each.detach().numpy() for each in (norm.gamma, norm.beta, norm.mean, norm.variance)
    )
    return fold_block(_signs(weights), [0] * len(gamma), BatchNorm(gamma, beta, mean, variance, EPSILON))


def _signs(weights: Tensor) -> NDArray[np.int8]:
    return np.where(weights.detach().numpy() >= 0, 1, -1).astype(np.int8)
