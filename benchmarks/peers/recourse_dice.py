"""Runner for dice-ml: k counterfactuals a row, by one of its methods, with its defaults.

It gets the whole table, not the training part alone: it refuses rows with values outside of what it has seen.
With the option ``decimals`` it is told how many decimals the numbers of each column have. By itself it takes
those of the most frequent value, and rounds all numbers to that, after it has looked at the decision.
Where there are more than two classes it must be told one, and is told the second best.
"""

from __future__ import annotations

import contextlib
import os
import random
from decimal import Decimal
from typing import Any

import dice_ml
import numpy as np
from recourse_frame import Answer, Ask, Job, run
from recourse_table import CATEGORY, NUMBER, WHOLE, Subject, Table

TARGET = "decided"


def prepare(job: Job, table: Table, subject: Subject) -> Ask:
    rows = table.frame(table.rows)
    numbers = [table.columns[i] for i in table.of_kind(WHOLE, NUMBER)]
    places = {label: i for i, label in enumerate(subject.classes)}
    labelled = rows.assign(**{TARGET: [places[label] for label in table.labels]})
    data = dice_ml.Data(
        dataframe=labelled,
        continuous_features=numbers,
        continuous_features_precision=_precision(table) if job.options["decimals"] else {},
        outcome_name=TARGET,
    )
    model = dice_ml.Model(model=subject, backend="sklearn", model_type="classifier")
    method = job.options["method"]
    explainer = dice_ml.Dice(data, model, method=method)
    options: dict[str, Any] = {"random_seed": job.seed} if method == "random" else {}
    np.random.seed(job.seed)
    random.seed(job.seed)

    def ask(row: int) -> list[Answer]:
        given = rows.iloc[[row]]
        wanted: Any = "opposite"
        if len(subject.classes) > 2:
            wanted = int(np.argsort(subject.predict_proba(given)[0])[-2])
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):  # progress bars
            found = explainer.generate_counterfactuals(
                given, total_CFs=job.k, desired_class=wanted, **options
            )
        frame = found.cf_examples_list[0].final_cfs_df
        if frame is None:
            return []
        values = frame[table.columns].to_numpy(object)
        return [
            Answer([_value(v, kind) for v, kind in zip(line, table.kinds, strict=True)]) for line in values
        ]

    return ask


def _precision(table: Table) -> dict[str, int]:
    """The most decimals that a number of each column has."""
    numbers = {table.columns[i]: [row[i] for row in table.rows] for i in table.of_kind(NUMBER)}
    return {name: max(map(_decimals, values)) for name, values in numbers.items()}


def _decimals(value: float) -> int:
    return max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent))


def _value(value: Any, kind: str) -> Any:
    """Numbers are sometimes given as text."""
    return value if kind == CATEGORY else float(value)


if __name__ == "__main__":
    run(("dice-ml", "numpy", "pandas", "scikit-learn"), prepare)
