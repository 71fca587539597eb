"""The published binarized networks: how many pixels of a picture must change? 40 real pictures, 60 s each.

The networks are those of the BNN verification benchmark (Max-SAT Evaluation 2020, MIPLIB 2024), which asks
for the least change that lets another class reach the score of the right one. Two of the pictures have a
number of pixels that was proved elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from lab.arguments import Setting, read_arguments
from lab.back_image import SIDE
from lab.campaigns import run_plan
from lab.robustness import finish
from lab.subjects import Subjects
from lab.tables import Section, seconds
from numpy.typing import NDArray

import tmverify as tv
from tmverify.bnn import load_bnn
from tmverify.campaign import Asked

Index = NDArray[np.integer[Any]]

NAME = "radius_published_networks"
HEADERS = ("network", "accuracy %", "pictures", "exact", "median", "least", "largest", "median s")
NETWORKS = {"published-mnist": "bnn_mnist", "published-back-image": "bnn_mnist_back_image"}
PICTURES = {"published-mnist": "mnist", "published-back-image": "mnist_back_image"}
PROVED_ELSEWHERE = {("published-mnist", 7): 4, ("published-back-image", 32): 2}


def main() -> None:
    setting = read_arguments(__doc__ or "")
    pictures: dict[str, Index]
    if setting.data_dir is None:
        write_stand_ins(setting)
        pictures = dict.fromkeys(NETWORKS, np.arange(10))
    else:
        pictures = {name: write_network(name, setting, setting.data_dir) for name in NETWORKS}
    rows = run_plan(NAME, setting)
    section = Section(NAME, "Changed pixels, published networks", HEADERS)
    for name in NETWORKS:
        own = [row for row in rows if row.task.names == (name,)]
        section.rows.append(line(name, own, setting))
        section.remarks += known(name, own, pictures[name])
    section.remarks += [
        "Real pictures of the two test sets, 20 of each; a pixel that no grey level changes for the network "
        "stays. The networks' own test pictures of MNIST-back-image could not be had, so its accuracy is not "
        "measured; both classify all 20 pictures as labelled.",
    ]
    finish(section, rows, setting)


def write_network(name: str, setting: Setting, data_dir: Path) -> Index:
    """A network and its pictures where the plan looks for them; which rows of the test set they are."""
    network = load_bnn(data_dir / "bnn_models" / f"{NETWORKS[name]}.npz")
    replace(network, space=tv.Space([tv.Image((SIDE, SIDE))])).save(setting.folder / "models" / f"{name}.bnn")
    with np.load(data_dir / "mnist_variations" / "real60.npz") as real:
        chosen = real["dataset"] == PICTURES[name]
        bits, labels, index = network.binarize(real["images"][chosen]), real["labels"], real["test_index"]
        Subjects(setting).write_inputs(name, bits, labels[chosen].astype(np.int64))
        found: Index = index[chosen]
        return found


def write_stand_ins(setting: Setting) -> None:
    """Without data, for a smoke run: a small network on some digits, twice."""
    subjects = Subjects(setting)
    network, digits = subjects.network("bnn-mnist").model, subjects.data("mnist")
    for name in NETWORKS:
        network.save(setting.folder / "models" / f"{name}.bnn")
        subjects.write_inputs(name, digits.X_test[:10], digits.y_test[:10])


def line(name: str, rows: Sequence[Asked], setting: Setting) -> Sequence[object]:
    answers = [row.answer for row in rows if row.answer is not None]
    exact = [answer.lower for answer in answers if answer.lower is not None and answer.lower == answer.upper]
    middle = median(answer.lower or 0 for answer in answers)
    most = f"{max(exact):g}" if exact else None
    return (
        name, accuracy(name, setting), len(rows), len(exact), f"{middle:g}", f"{min(exact, default=0):g}",
        most, seconds(median(answer.seconds for answer in answers)),
    )  # fmt: skip


def accuracy(name: str, setting: Setting) -> str | None:
    """On MNIST's test set."""
    if name != "published-mnist" or setting.data_dir is None:
        return None
    network = load_bnn(setting.folder / "models" / f"{name}.bnn")
    data = tv.load_dataset("mnist", data_dir=setting.data_dir, binarizer=None)
    return f"{100 * float((network.predict(network.binarize(data.X_test)) == data.y_test).mean()):.2f}"


def known(name: str, rows: Sequence[Asked], pictures: Index) -> list[str]:
    """What is known of a picture from elsewhere, beside what was found."""
    found = []
    for row in rows:
        picture = int(pictures[row.task.index or 0])
        proved = PROVED_ELSEWHERE.get((name, picture))
        if proved is not None and row.answer is not None:
            bounds = {row.answer.lower, row.answer.upper}
            ours = " to ".join(
                f"{bound:g}" for bound in sorted(bound for bound in bounds if bound is not None)
            )
            found.append(
                f"{name}, picture {picture} (label {row.task.label}): {ours}, in "
                f"{seconds(row.answer.seconds)} s; proved elsewhere: {proved}."
            )
    return found


if __name__ == "__main__":
    main()
