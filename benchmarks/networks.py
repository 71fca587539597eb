"""Networks: one formula of reified counts (the method of the literature) and ours, side by side in one run.

    TMVERIFY_DATA=… python benchmarks/networks.py [--inputs 5] [--timeout 30] [--epsilon 1 --epsilon 2]

The two published benchmark networks, on real pictures. ``sat`` is the formula of each shell, after intervals;
a time-out counts as the limit, and a ratio whose slower median is the limit is a lower bound, marked >.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from engines import Measured
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import tmverify as tv
from tmverify.bnn import BnnModel, load_bnn

NETWORKS = {"bnn_mnist": "mnist", "bnn_mnist_back_image": "mnist_back_image"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("--epsilon", type=int, action="append")
    given = parser.parse_args()
    if "TMVERIFY_DATA" not in os.environ:
        parser.error("set TMVERIFY_DATA to the data folder: the networks and pictures are there")
    data = Path(os.environ["TMVERIFY_DATA"])
    table = Table(
        "network", "epsilon", "sat: median (mean) s, solved", "auto: median (mean) s, solved", "sat / auto"
    )
    for name, pictures in NETWORKS.items():
        network = load_bnn(data / "bnn_models" / f"{name}.npz")
        with np.load(data / "mnist_variations" / "real60.npz") as real:
            images = real["images"][real["dataset"] == pictures][: given.inputs]
        for epsilon in given.epsilon or [1, 2]:
            slow, fast = (
                measure(network, images, epsilon, engine, given.timeout) for engine in ("sat", "auto")
            )
            bound = "> " if slow.median >= given.timeout else ""
            ratio = f"{bound}{slow.median / fast.median:,.0f} x"
            table.add_row(name, str(epsilon), str(slow), str(fast), ratio)
    Console(width=140).print(table)


def measure(
    network: BnnModel, images: NDArray[np.uint8], epsilon: int, engine: str, limit: float
) -> Measured:
    bits = network.binarize(images)
    tv.check_robustness(network, bits[0], 1, engine=engine)  # compiled, the solver's process started
    return Measured(
        [tv.check_robustness(network, x, epsilon, timeout=limit, engine=engine) for x in bits], limit
    )


if __name__ == "__main__":
    main()
