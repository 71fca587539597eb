"""Runner for treecf, exact: the nearest row, or the k nearest with different sets of columns.

Told: the range of each number, and which numbers are whole. Its distance is its own, the sum of changes in
units of each column's spread.

A nearest row is proved if treecf says so. Of k rows, each is the best for its columns; they are proved to be
the nearest of their kind if also every set of up to ``MAX_COLUMNS`` columns was settled in the time.
"""

from __future__ import annotations

from typing import Any

import treecf
from recourse_frame import Answer, Ask, Job, run
from recourse_table import CATEGORY, NUMBER, WHOLE, Subject, Table

MAX_COLUMNS = 3  # its default
NODES = 10**9  # with its default, two million, searches on breast cancer ended after a third of the time
MARGIN = 1e-9  # beyond the boundary: at 0 itself scikit-learn decides for the first class


def prepare(job: Job, table: Table, subject: Subject) -> Ask:
    rows = table.frame(table.rows)
    codes = table.codes(rows)
    names = subject.model.feature_names_in_ if hasattr(subject.model, "feature_names_in_") else None
    called = [f"f{i}" for i in range(len(table.columns))] if names is None else list(names)
    numbers = table.of_kind(WHOLE, NUMBER)
    explainer = treecf.Explainer(
        subject.model,
        background=codes[table.train],
        constraints=[treecf.Range(called[i], *map(float, table.values[i])) for i in numbers],
        value_policy={called[i]: "integer" for i in table.of_kind(WHOLE)},
        categories={called[i]: table.values[i] for i in table.of_kind(CATEGORY)} or None,
    )

    def ask(row: int) -> list[Answer]:
        upwards = subject.predict(rows.iloc[[row]])[0] == 0
        target = treecf.Target.raw(op=">=" if upwards else "<=", value=MARGIN if upwards else -MARGIN)
        budget: dict[str, Any] = {"backend": "exact", "seed": job.seed, "node_budget": NODES}
        if job.options["several"]:
            found = explainer.explain_diverse(
                codes[row], target, k=job.k, max_levers=MAX_COLUMNS, total_budget_s=0.9 * job.limit, **budget
            )
            settled = found.menu.complete
            return [Answer(table.decoded(p.x_cf), settled and p.proof == "optimal") for p in found.values()]
        one = explainer.explain(codes[row], target, time_budget_s=0.75 * job.limit, **budget)
        if isinstance(one, treecf.Infeasible):
            return []
        return [Answer(table.decoded(one.x_cf), one.proof == "optimal")]

    return ask


if __name__ == "__main__":
    run(("treecf", "numpy", "scikit-learn"), prepare)
