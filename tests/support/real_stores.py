"""Stores of real answers: every question, engine and kind of answer, decided in this process to be quick."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.campaigns import N_FEATURES, make_plan
from tmverify.asking.answer import decide_task
from tmverify.bnn import BnnModel
from tmverify.campaign import Asked, Store, Tally, Task, TaskAnswer, run
from tmverify.campaign.expansion import Campaign, expand
from tmverify.cli.status import status_document
from tmverify.model import Classifier
from tmverify.report.page import table_json
from tmverify.report.report import collect

MACHINES = """
    [[ask]]
    question = "robustness"
    models = ["a"]
    epsilons = [0, 1, 3]
    [[ask]]
    question = "robustness"
    models = ["three"]
    scope = "own"
    direction = "add"
    features = "0-6"
    epsilons = [2, 3]
    [[ask]]
    question = "radius"
    models = ["a", "three", ["a", "b"]]
    [[ask]]
    question = "radius"
    models = ["a"]
    features = "0"
    [[ask]]
    question = "similarity"
    models = [["a", "b"]]
    epsilons = [0, 1, 3]
    [[ask]]
    question = "similarity"
    models = [["a", "again"]]
    scope = "1"
    [[ask]]
    question = "equivalence"
    models = [["a", "b"], ["a", "again"], ["parity", "split"]]
"""
NETWORKS = """
    [[ask]]
    question = "robustness"
    models = ["net"]
    epsilons = [0, 1, 3]
    [[ask]]
    question = "radius"
    models = ["net"]
    [[ask]]
    question = "radius"
    models = ["net"]
    features = "0"
    direction = "add"
"""
TABLES = """
    [[ask]]
    question = "robustness"
    epsilons = [0, 1, 2]
    [[ask]]
    question = "robustness"
    distance = "steps"
    epsilons = [3]
    columns = ["age", "city", "owner"]
    increase = ["age"]
    within = { age = "..60", city = ["Bergen", "missing"] }
    cost = { city = 2, owner = 0 }
    [[ask]]
    question = "radius"
    models = ["loan", ["loan", "other"]]
    [[ask]]
    question = "radius"
    models = ["loan"]
    freeze = ["age"]
    cost = { city = 0 }
    [[ask]]
    question = "radius"
    models = ["loan"]
    distance = "bits"
    [[ask]]
    question = "similarity"
    models = [["loan", "other"]]
    epsilons = [0, 2]
    [[ask]]
    question = "equivalence"
    models = [["loan", "other"], ["loan", "same"]]
    [[ask]]
    question = "equivalence"
    models = [["loan", "other"]]
    distance = "bits"
"""
SPACE = tv.Space(
    [
        tv.Number("age", (25, 40, 60)),
        tv.Category("city", ("Bergen", "Oslo"), missing=True),
        tv.Flag("owner", ("no", "yes")),
    ],
    target="loan",
)


_made: list[Path] = []


def real_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder with ``s.db``, real answers of every kind, and ``open.db``, from runs without time."""
    if not _made:
        _made.append(factory.mktemp("real"))
        _fill(_made[0])
    return _made[0]


def _fill(folder: Path) -> None:
    for engine in ("auto", "search", "sat", "paper", "brute"):
        answer_here(folder / "s.db", real_campaign(folder, engine))
        answer_here(folder / "open.db", real_campaign(folder, engine, n=1, timeout=1e-6))
    for engine in ("auto", "search", "sat"):
        answer_here(folder / "s.db", real_campaign(folder, engine, n=1, certificates="evidence"))


def real_campaign(folder: Path, engine: str, *, n: int = 2, **options: object) -> Campaign:
    """All that an engine can be asked; ``options`` are the plan's (timeout, certificates)."""
    save_models(folder)
    said = "\n".join(f"{key} = {value!r}" for key, value in options.items())
    names = ("a", "b", "again", "three", "parity", "split", "net")
    models = "\n".join(f'{name} = "{name}.tm"' for name in names)
    asks = MACHINES if engine == "paper" else MACHINES + NETWORKS
    head = f'title = "{engine} {sorted(options)}"\nengine = "{engine}"\n{said}'
    inputs = '[inputs.d]\nfile = "d.npz"'
    return expand(make_plan(folder, f"{head}\n[models]\n{models}\n{inputs}\n{asks}", n))


def table_campaign(folder: Path, engine: str, **options: object) -> Campaign:
    """Questions about the columns of a table."""
    loan: dict[str, Any] = {"space": SPACE, "classes": ["bad", "good"]}
    clauses = [[3], [5, -7], [1, -6], [4, 7]]
    tv.Model.from_clauses(7, clauses, [-2, 1, 1, 2], bias=-1, **loan).save(folder / "loan.tm")
    tv.Model.from_clauses(7, clauses[::-1], [2, 1, 1, -2], bias=-1, **loan).save(folder / "same.tm")
    tv.Model.from_clauses(7, clauses[:2], [-2, 1], bias=1, **loan).save(folder / "other.tm")
    rows = "age,city,owner\n31,Oslo,yes\n70,Bergen,no\n18,,no\n"
    (folder / "t.csv").write_text(rows)
    said = "\n".join(f"{key} = {value!r}" for key, value in options.items())
    models = "\n".join(f'{name} = "{name}.tm"' for name in ("loan", "other", "same"))
    head = f'title = "table {engine} {sorted(options)}"\nengine = "{engine}"\n{said}'
    text = f'{head}\n[models]\n{models}\n[inputs.t]\nfile = "t.csv"\n{TABLES}'
    return expand(make_plan(folder, text))


def save_models(folder: Path) -> None:
    """Beside ``a`` and ``b``: ``a`` in another order, three classes, two that are alike, and a network."""
    n = N_FEATURES
    clauses = [[i + 1] for i in range(n)]
    tv.Model.from_clauses(n, clauses[::-1], [2] * n, bias=-n).save(folder / "again.tm")
    rows = [[1 if i % 3 == c else -1 for i in range(n)] for c in range(3)]
    tv.Model.from_clauses(n, clauses, rows, classes=[0, 1, 2]).save(folder / "three.tm")
    tv.Model.from_clauses(n, [[1, 2], [-1, -2], [3]], [1, 1, -2]).save(folder / "parity.tm")
    split = [[1, 2, 4], [1, 2, -4], [-1, -2], [3]]
    tv.Model.from_clauses(n, split, [1, 1, 1, -2]).save(folder / "split.tm")
    weights = [[1, 1, -1, 1, 1, 1, -1, 1, 1], [1, -1, 1, 1, -1, 1, 1, 1, -1], [-1, 1, 1, 1, 1, -1, 1, 1, 1]]
    BnnModel.from_layers([(weights, [4, 5, 5])], [[1, 1, -1], [-1, 1, 1]]).save(folder / "net.tm")


def answer_here(path: Path, campaign: Campaign) -> None:
    """Run a campaign as ``run_campaign`` does, without its workers."""

    def run_tasks(
        tasks: Sequence[Task], models: Mapping[str, Classifier], **_: object
    ) -> Iterator[tuple[Task, TaskAnswer]]:
        for task in tasks:
            yield task, decide_task(task, [models[key] for key in task.models])

    with pytest.MonkeyPatch.context() as patched, Store.writing(path) as store:
        patched.setattr(run, "run_tasks", run_tasks)
        run.check_folder(campaign.certificates)
        for _ in run.ask(campaign, Tally(0), store):
            pass


def kind(row: Asked) -> tuple[object, ...]:
    """The kind of an answer: the properties that tell it from others."""
    found = row.answer
    assert found is not None
    subject = (row.task.names == ("net",), len(row.task.models), row.task.scope == "team")
    bounds = (found.upper is None, found.upper == math.inf)
    return row.task.question, found.status, subject, bounds, row.task.certified


def looked_at(opened: Store) -> list[Asked]:
    """Read a store in every way that commands do; the only error allowed is that it is damaged."""
    rows = list(opened.rows())
    json.dumps(status_document(opened, rows), allow_nan=False)
    report = collect(rows, opened.models(), title="t", source="s")
    table_json(report)
    return rows


def text(*parts: str) -> str:
    """A list as JSON."""
    return json.dumps(parts)
