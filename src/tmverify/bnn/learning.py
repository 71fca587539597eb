"""Learning, epoch by epoch: Adam on the cross entropy, its rate falling to 0 along a cosine.

Rate of step t of T: learning_rate (1 + cos(pi t / T)) / 2. As it falls, weights stop turning, and the running
averages of batch normalisation come to rest on the network that is frozen in the end. What an interrupt
leaves is the last finished epoch: ``finished`` is replaced in one assignment, and never half.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.network import Network, Noise, Tensor, as_values, pytorch
from tmverify.progress import ProgressBar

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast."""

    n_epochs: int
    batch_size: int
    learning_rate: float


@dataclass(frozen=True, slots=True)
class Finished:
    """Where the network stood after its last whole epoch, and a line for each."""

    state: list[Tensor]
    history: list[Line]


class Learner:
    """A network, the examples that it learns from, and how far it is."""

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
        # Batches of at least batch_size, never of one row, which has no variance.
        self._n_batches = max(1, len(self._values) // schedule.batch_size)
        self._optimizer = torch.optim.Adam(network.parameters, lr=schedule.learning_rate)

    def run(self, bar: ProgressBar) -> None:
        """All epochs."""
        for epoch in range(1, self.schedule.n_epochs + 1):
            started = time.perf_counter()
            loss, accuracy = self._epoch(epoch)
            seconds = time.perf_counter() - started
            line = {"epoch": epoch, "loss": loss, "accuracy": accuracy, "seconds": seconds}
            self.finished = Finished(self.network.state(), [*self.finished.history, line])
            bar.advance(f"loss {loss:.3f}, training accuracy {accuracy:.2%}")

    def settle(self) -> None:
        """The network as after its last finished epoch."""
        self.network.restore(self.finished.state)

    def _epoch(self, epoch: int) -> tuple[float, float]:
        """Mean loss, and the share that was right, each batch before it was learnt from."""
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
