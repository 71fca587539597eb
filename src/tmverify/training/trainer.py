"""A training in progress: its machines, and how many epochs they have seen.

All random numbers follow from one seed: machine c uses its child (0, c), and the plan of epoch e its child
(1, e). Machines, or the blocks of a single one, are distributed over threads, which changes no random number:
the result is the same for every ``n_jobs``. An epoch that is interrupted leaves no trace.

For two classes there is one machine, which sees every example. For more classes there is one machine
for each: an example is shown to the machine of its own class, which should say yes, and to that of one other
class, drawn at random, which should say no. Machines share nothing else, so each can run through its own
list on its own thread.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.training.machine import Machine, Rule, copy_machine, new_machine

_CACHE_LINE = 8  # int64 numbers, as in training._meeting, which is loaded with the kernels


class Lesson(NamedTuple):
    """The examples of one machine: row numbers in order, and 1 where it should say yes."""

    rows: NDArray[np.int64]
    wanted: NDArray[np.uint8]


def plan_epoch(
    targets: NDArray[np.int64], n_classes: int, shuffle: bool, random: np.random.Generator
) -> list[Lesson]:
    """A lesson for each machine; ``targets`` are class indices."""
    n = len(targets)
    order = random.permutation(n) if shuffle else np.arange(n)
    targets = targets[order]
    if n_classes == 2:
        return [Lesson(order, targets.astype(np.uint8))]
    others = (targets + random.integers(1, n_classes, n)) % n_classes
    lessons = []
    for c in range(n_classes):
        shown = (targets == c) | (others == c)
        lessons.append(Lesson(order[shown], (targets[shown] == c).astype(np.uint8)))
    return lessons


@dataclass(slots=True, eq=False)
class Trainer:
    """Machines, and the number of epochs that they have been trained for."""

    seed: int
    n_clauses: int
    n_features: int
    n_classes: int
    n_states: int
    machines: list[Machine]
    n_epochs: int = 0
    costs: NDArray[np.float64] = field(init=False)  # seconds of each machine in the last epoch

    def __post_init__(self) -> None:
        self.costs = np.zeros(len(self.machines))

    @classmethod
    def start(cls, *, seed: int, n_clauses: int, n_features: int, n_classes: int, n_states: int) -> Trainer:
        """Machines with empty clauses: one for two classes, else one per class."""
        machines = [
            new_machine(n_clauses, n_features, np.random.SeedSequence(seed, spawn_key=(0, c)))
            for c in range(1 if n_classes == 2 else n_classes)
        ]
        return cls(seed, n_clauses, n_features, n_classes, n_states, machines)

    def prepare(self, inputs: NDArray[np.uint64], rule: Rule) -> None:
        """Load the kernels, or compile them if this is their first use on this computer."""
        nothing = Lesson(np.zeros(0, np.int64), np.zeros(0, np.uint8))
        self._learn([nothing] * len(self.machines), inputs, rule, 1)

    def run_epoch(
        self,
        inputs: NDArray[np.uint64],
        targets: NDArray[np.int64],
        *,
        rule: Rule,
        shuffle: bool,
        n_jobs: int,
    ) -> None:
        """Show every example once. On any exception, Ctrl-C included, the machines are as before."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(1, self.n_epochs))
        lessons = plan_epoch(targets, self.n_classes, shuffle, np.random.default_rng(sequence))
        before = self.copy_machines()
        try:
            self.costs = self._learn(lessons, inputs, rule, n_jobs)
        except BaseException:
            self.machines = before
            raise
        self.n_epochs += 1

    def copy_machines(self) -> list[Machine]:
        """A copy of the machines as they are now."""
        return [copy_machine(machine) for machine in self.machines]

    def _learn(
        self, lessons: list[Lesson], inputs: NDArray[np.uint64], rule: Rule, n_jobs: int
    ) -> NDArray[np.float64]:
        """Run the kernels on other threads, so that this one can handle Ctrl-C; return machines' times."""
        n_parts = 1
        if len(self.machines) == 1:
            # Threads of one machine wait for each other at every example: more threads than cores are slow.
            n_parts = max(1, min(n_jobs, len(self.machines[0].real), _n_cores()))
        stop = np.zeros(1, np.int64)
        jobs: list[Future[None]] = []
        costs = np.zeros(len(self.machines))
        with ThreadPoolExecutor(max(n_jobs, n_parts)) as pool:
            try:
                # Machines that took longest in the last epoch start first: threads then end together.
                for c in np.argsort(-self.costs, kind="stable"):
                    machine, lesson = self.machines[c], lessons[c]
                    brought = np.zeros((2, n_parts, _CACHE_LINE), np.int64)
                    arrived = np.zeros((n_parts, _CACHE_LINE), np.int64)
                    for part, blocks in enumerate(_shares(len(machine.real), n_parts)):
                        task = (*lesson, inputs, machine, rule, blocks, part, brought, arrived, stop)
                        jobs.append(pool.submit(_run, task, stop, costs[c:]))
                for job in jobs:
                    job.result()
            except BaseException:
                stop[0] = 1
                for job in jobs:
                    job.cancel()
                raise
        return costs


def _run(task: tuple[Any, ...], stop: NDArray[np.int64], cost: NDArray[np.float64]) -> None:
    """Call the kernel with the arguments ``task``; record its time."""
    started = perf_counter()
    try:
        from tmverify.training._learn import learn

        learn(*task)
        cost[0] = perf_counter() - started
    except BaseException:
        stop[0] = 1  # otherwise the other parts of the machine would wait for ever
        raise


def _shares(n_blocks: int, n_parts: int) -> list[NDArray[np.int64]]:
    """First and last block (exclusive) of each part, as even as can be."""
    cuts = np.linspace(0, n_blocks, n_parts + 1).round().astype(np.int64)
    return [cuts[part : part + 2] for part in range(n_parts)]


def _n_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
