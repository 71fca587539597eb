"""Makes the example files of the documentation: ``loans.csv`` and ``reviews.csv``, both made up.

Nobody in ``loans.csv`` exists: the rows are drawn, and the decision is a noisy rule of income, savings, the
amount and the years in the job. The sentences of ``reviews.csv`` are put together from words of praise and
blame. They are small enough to read, and behave like real tables: numbers, categories, missing values, free
text, and labels that no rule gets all right.

Run it with ``python examples/make_examples.py [FOLDER]``; the files come out the same every time.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

LOANS, REVIEWS = 900, 700
HEADER = [
    "id", "age", "income", "savings", "years_in_job", "housing", "purpose", "amount", "guarantor", "decision",
]  # fmt: skip
SAVINGS = ("none", "little", "moderate", "rich")
HOUSING = ("own", "rent", "free")
PURPOSES = ("car", "education", "furniture", "business", "repairs")
THINGS = (
    "film",
    "story",
    "plot",
    "cast",
    "music",
    "camera work",
    "dialogue",
    "ending",
    "script",
    "direction",
)
PRAISE = (
    "great", "moving", "funny", "warm", "clever", "beautiful", "gripping", "honest", "charming", "superb",
)  # fmt: skip
BLAME = (
    "dull", "boring", "clumsy", "tired", "shallow", "noisy", "predictable", "weak", "awful", "lifeless",
)  # fmt: skip
OPENINGS = ("I think", "Honestly,", "For me,", "After all,", "In short,", "As so often,", "This time")
LINKS = ("and", "but", "while", "although")


def loans(rng: np.random.Generator) -> list[list[object]]:
    """Rows of people who ask for a loan."""
    rows: list[list[object]] = []
    for i in range(LOANS):
        age = int(rng.integers(19, 75))
        years = int(min(age - 18, rng.exponential(6)))
        income = round(float(rng.lognormal(3.4, 0.45)), 1)
        savings = int(rng.choice(4, p=[0.25, 0.4, 0.25, 0.1]))
        amount = int(rng.lognormal(8, 0.7))
        housing = str(rng.choice(HOUSING, p=[0.5, 0.4, 0.1]))
        guarantor = bool(rng.random() < 0.2)
        worth = 0.05 * (income - 30) + 0.9 * savings - 0.00035 * amount + 0.06 * years + 1.2 * guarantor
        worth += 0.4 * (housing == "own") - 0.3 + float(rng.normal(0, 0.6))
        shown = "" if rng.random() < 0.06 else income
        purpose = str(rng.choice(PURPOSES))
        row = [f"L{i + 1:04}", age, shown, SAVINGS[savings], years, housing, purpose, amount]
        rows.append([*row, "yes" if guarantor else "no", "good" if worth > 0 else "bad"])
    return rows


def reviews(rng: np.random.Generator) -> list[list[object]]:
    """Sentences that praise or blame, some of them both."""
    rows: list[list[object]] = []
    for _ in range(REVIEWS):
        good = bool(rng.random() < 0.5)
        mixed = bool(rng.random() < 0.3)
        first, second = rng.choice(THINGS, 2, replace=False)
        own = PRAISE if good else BLAME
        other = (BLAME if good else PRAISE) if mixed else own
        words = rng.choice(own), rng.choice(other), rng.choice(own)
        text = f"{rng.choice(OPENINGS)} the {first} is {words[0]} {rng.choice(LINKS)} the {second} {words[1]}"
        text += f": a {words[2]} evening." if rng.random() < 0.6 else "."
        rows.append([text, "positive" if good else "negative"])
    return rows


def write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    """Write a table with a header line."""
    with open(path, "w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main(folder: Path) -> None:
    """Write both files into ``folder``."""
    header = [
        "id",
        "age",
        "income",
        "savings",
        "years_in_job",
        "housing",
        "purpose",
        "amount",
        "guarantor",
        "decision",
    ]
    write(folder / "loans.csv", header, loans(np.random.default_rng(1)))
    write(folder / "reviews.csv", ["review", "sentiment"], reviews(np.random.default_rng(2)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
