"""Runner for NICE: one counterfactual a row, on the way to the nearest training row of another class."""

from __future__ import annotations

from typing import Any

import numpy as np
from nice import NICE
from numpy.typing import NDArray
from recourse_frame import Answer, Ask, Job, run
from recourse_table import CATEGORY, NUMBER, WHOLE, Subject, Table


def prepare(job: Job, table: Table, subject: Subject) -> Ask:
    rows = table.frame(table.rows)
    codes = table.codes(rows)
    places = {label: i for i, label in enumerate(subject.classes)}
    labels = np.array([places[label] for label in table.labels])

    def predict(values: NDArray[Any]) -> NDArray[np.float64]:
        return subject.predict_proba(table.frame([table.decoded(row) for row in values]))

    explainer = NICE(
        predict,
        codes[table.train],
        table.of_kind(CATEGORY),
        table.of_kind(WHOLE, NUMBER),
        labels[table.train],
        optimization="sparsity",
    )
    return lambda row: [Answer(table.decoded(found)) for found in explainer.explain(codes[[row]])]


if __name__ == "__main__":
    run(("NICEx", "numpy", "pandas", "scikit-learn"), prepare)
