"""Seeded random tiny networks and certificates about them; the truth is known by enumeration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.certified import claim_line
from support.tiny import all_inputs
from tmverify.bnn import BnnModel, PixelCuts
from tmverify.bnn.evaluate import reference_classes
from tmverify.properties.allowed import Direction

Rng = np.random.Generator
Bits = NDArray[np.uint8]
DIRECTIONS: tuple[Direction, Direction] = ("add", "remove")


def random_network(rng: Rng, widths: Iterable[int], *, pixels: bool = False) -> BnnModel:
    """A network of these widths whose neurons are mostly undecided."""
    sizes = list(widths)

    def signs(rows: int, columns: int) -> NDArray[np.int64]:
        return rng.choice([-1, 1], size=(rows, columns))

    blocks = []
    for n, size in pairwise(sizes[:-1]):
        thresholds = rng.binomial(n, 0.5, size=size) + rng.integers(0, 2, size=size)
        extreme = rng.random(size) < 0.1
        blocks.append((signs(size, n), np.where(extreme, rng.integers(0, n + 2, size=size), thresholds)))
    model = BnnModel.from_layers(
        blocks,
        signs(sizes[-1], sizes[-2]),
        scale=int(rng.integers(1, 4)),
        bias=rng.integers(-3, 4, size=sizes[-1]) if rng.random() < 0.5 else 0,
    )
    if not pixels:
        return model
    levels = rng.choice([0, 1, 100, 255, 256], size=sizes[0])
    return replace(model, cuts=PixelCuts(levels, rng.random(sizes[0]) < 0.5))


@dataclass(frozen=True)
class Case:
    """A network, an input, and which features may change."""

    model: BnnModel
    x: Bits
    features: Bits | None
    direction: Direction | None

    @property
    def mutable(self) -> NDArray[np.bool_]:
        may = self.model.attainable.copy()
        if self.features is not None:
            may &= self.features == 1
        if self.direction is not None:
            may &= self.x == (0 if self.direction == "add" else 1)
        return may

    def violating(self) -> dict[int, list[Bits]]:
        """The inputs with another decision, by the number of flips."""
        everything = all_inputs(len(self.x))
        changed = everything != self.x
        here = reference_classes(self.model, self.x[None, :])[0]
        bad = (reference_classes(self.model, everything) != here) & ~changed[:, ~self.mutable].any(axis=1)
        found: dict[int, list[Bits]] = {k: [] for k in range(1, int(self.mutable.sum()) + 1)}
        for z in everything[bad]:
            found[int((z != self.x).sum())].append(z)
        return found

    def certificate(self, *lines: str, **claim: Any) -> bytes:
        """The text of a certificate about the input, which claims that the property holds."""
        first = {
            "format": "tmverify-certificate",
            "version": 4,
            "question": "robustness",
            "answer": "holds",
            "models": [self.model.content_hash],
            "scope": "team",
            "target": None,
            "margin": 0,
            "epsilon": 1,
            "radius": None,
            "distance": "bits",
            "features": None if self.features is None or self.features.all() else hexadecimal(self.features),
            "direction": self.direction,
            "columns": None,
            "apart": None,
            "reason": None,
            "property": None,
            "inputs": 1,
            "eta": "1/1",
            **claim,
        }
        return claim_line(first) + "\n".join([f"input {hexadecimal(self.x)}", *lines, "end\n"]).encode()


def hexadecimal(bits: Bits) -> str:
    return np.packbits(bits).tobytes().hex()


def random_network_case(rng: Rng) -> Case:
    n = int(rng.integers(3, 8))
    blocks = rng.integers(2, 6, size=rng.integers(1, 4)).tolist()
    model = random_network(rng, [n, *blocks, int(rng.integers(2, 5))], pixels=rng.random() < 0.3)
    return Case(
        model,
        rng.integers(0, 2, size=n).astype(np.uint8),
        (rng.random(n) < 0.7).astype(np.uint8) if rng.random() < 0.3 else None,
        DIRECTIONS[int(rng.integers(0, 2))] if rng.random() < 0.2 else None,
    )
