"""Runner for PyXAI: a sufficient reason for each row, of a random forest or of boosted trees.

The job names a table (``Table.write``). The trees are trained here, with their defaults, on the codes of the
table, and PyXAI is told that all columns are numbers. Not timed: training, converting the trees. Each row
makes one line of output, ``reason``: the seconds, how many conditions it has, and of how many columns.

For boosted trees the limit is kept from outside only: with ``time_limit``, PyXAI goes on until it is over.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from frame import emit
from pyxai import Explaining, Learning, Tools
from recourse_frame import OutOfTimeError, time_limit
from recourse_table import Table
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

SEED = 0


@dataclass(frozen=True)
class Job:
    table: str
    rows: int
    limit: float  # seconds a row
    total: float  # seconds for all rows: those that do not fit are not asked
    options: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    warnings.simplefilter("ignore")
    Tools.set_verbose(0)
    emit("start", versions={name: version(name) for name in ("pyxai", "xgboost", "scikit-learn")})
    table = Table.read(job.table)
    codes, labels = table.codes(table.frame(table.rows)), np.unique(table.labels, return_inverse=True)[1]
    forest = job.options["model"] == "forest"
    kind = RandomForestClassifier if forest else XGBClassifier
    trees = kind(random_state=SEED, n_jobs=1).fit(codes[table.train], labels[table.train])
    _, model = Learning.ModelIO.import_models(trees, instances_type="tabular")
    model.learner_information.feature_names = table.columns  # without these, it miscounts unused columns
    explainer = Explaining.initialize(
        model, instance=codes[table.ask[0]], features_type={"numerical": Learning.DEFAULT}
    )
    begun = time.perf_counter()
    for row in table.ask[: job.rows]:
        if time.perf_counter() - begun > job.total:
            return
        _answer(explainer, codes[row], job.limit, forest=forest)


def _answer(explainer: Any, x: Any, limit: float, *, forest: bool) -> None:
    reason, problem = None, "none found"
    started = time.perf_counter()
    try:
        with time_limit(limit):
            explainer.set_instance(x)
            if forest:
                reason = explainer.sufficient_reason(time_limit=limit)
            else:
                reason = explainer.tree_specific_reason(history=False)
    except OutOfTimeError:
        problem = "time limit"
    except Exception as error:
        # Whatever it raises on a row is its answer to that row.
        problem = type(error).__name__
        print(f"{error!r:.300}", file=sys.stderr)
    seconds = time.perf_counter() - started
    if reason is None:
        emit("reason", seconds=seconds, problem=problem)
    else:
        columns = len(explainer.to_features(reason, details=True))
        emit("reason", seconds=seconds, problem=None, conditions=len(reason), columns=columns)


if __name__ == "__main__":
    main()
