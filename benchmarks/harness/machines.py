"""The machines themselves: what they were trained with, and what they reach."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.proving import Proving
from harness.report import Section
from harness.trained import RECIPES

COLUMNS = (
    "machine",
    "clauses a class",
    "T",
    "s",
    "epochs",
    "seed",
    "train %",
    "test %",
    "the paper's test %",
    "literals a clause",
    "hash",
)


def measure(bench: Proving) -> Iterator[Section]:
    """The section as it grows, one machine at a time."""
    sheet = bench.begin(
        "machines", "Machines", {"trained by": "tmverify", "boost of true positives": "IMDB only"}, COLUMNS
    )
    section = sheet.section
    for name in RECIPES:
        recipe, model = bench.subjects.recipe(name), bench.subjects.model(name)
        train, test = (bench.subjects.accuracy(name, part) for part in ("train", "test"))
        lengths = model.clauses.lengths
        section.rows.append(
            [
                name,
                str(recipe.n_clauses),
                str(recipe.threshold),
                f"{recipe.specificity:g}",
                str(recipe.epochs),
                str(recipe.seed),
                f"{train:.2f}",
                f"{test:.2f}",
                "-" if recipe.papers_accuracy is None else f"{recipe.papers_accuracy:.2f}",
                f"{np.mean(lengths[lengths > 0]):.0f}",
                model.content_hash[:8],
            ]
        )
        section.ratios[f"test accuracy, {name}"] = test
        sheet.row_done()
        yield section
    section.complete = True
    yield section
