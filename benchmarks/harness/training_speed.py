"""Seconds an epoch, ours against every peer that trains the same machine: same bits, same settings.

One repeat runs every library once, in turn, so that other work on the machine falls on all of them alike;
the median is over epochs and repeats. Then green-tsetlin, which trains another machine: the training time
that it and ours need to reach the accuracy that the vanilla machines had at the end.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.bench import Bench, judged
from harness.processes import GREEN, OURS, VANILLA_PEERS, Contender, Run, median_epoch
from harness.report import Section

WANTED_SPEED = 4.0
WANTED_SCALING = 1.7
ALLOWED_LOSS = 0.3  # points of test accuracy
MORE_EPOCHS = 30  # to reach a target, at most

Key = tuple[str, int]  # library, threads


@dataclass(frozen=True)
class Plan:
    title: str
    data: str
    n_clauses: int
    threshold: int
    specificity: float
    epochs: int
    repeats: int
    evaluate: str  # predicting after every epoch would take the slower peers longer than training
    green: dict[str, Any]
    ours: tuple[Contender, ...] = (OURS,)  # the first is the one that is compared
    remark: str = ""


PLANS = {
    "train-mnist-500": Plan(
        "Training: MNIST, 500 clauses a class",
        "mnist",
        500,
        25,
        10.0,
        5,
        2,
        "every",
        {"n_clauses": 5000, "threshold": 500, "specificity": 10.0},
    ),
    "train-mnist-2000": Plan(
        "Training: MNIST, 2,000 clauses a class",
        "mnist",
        2000,
        50,
        10.0,
        3,
        1,
        "last",
        {"n_clauses": 5000, "threshold": 500, "specificity": 10.0},
    ),
    "train-imdb": Plan(
        "Training: IMDB, 10,000 reviews, 5,000 words, 1,000 clauses a class",
        "imdb-10k",
        1000,
        1280,
        2.0,
        1,
        1,
        "last",
        {"n_clauses": 2000, "threshold": 1280, "specificity": 2.0},
        (
            replace(OURS, name="tmverify, as many clauses as theirs", options={"times": 2}),
            replace(OURS, name="tmverify, N clauses"),
        ),
        "Two classes: the peers train two machines of N clauses, ours one; compared is ours with 2 N.",
    ),
}


def measure(bench: Bench, plan: Plan) -> Iterator[Section]:
    """The section as it grows, one process at a time."""
    epochs = bench.epochs or (min(2, plan.epochs) if bench.quick else plan.epochs)
    repeats = bench.repeats or (1 if bench.quick else plan.repeats)
    n_clauses = plan.n_clauses // 10 if bench.quick else plan.n_clauses
    job: dict[str, Any] = {
        "data": bench.data(plan.data),
        "n_clauses": n_clauses,
        "threshold": plan.threshold,
        "specificity": plan.specificity,
        "epochs": epochs,
        "evaluate": plan.evaluate,
    }
    section = Section(
        plan.title + (" (a tenth, few rows)" if bench.quick else ""),
        {
            "clauses a class": n_clauses,
            "T": plan.threshold,
            "s": plan.specificity,
            "epochs": epochs,
            "repeats": repeats,
            "state bits": 8,
            "boost of true positives": "on",
            "one call": "an epoch, with the library's own encoding of the bits",
        },
        (
            "library",
            "threads",
            "s/epoch, median",
            "epochs timed",
            f"test % after {epochs}",
            "s/epoch over ours",
        ),
    )
    section.findings += [plan.remark] if plan.remark else []
    runs: dict[Key, list[Run]] = {}
    for threads in sorted({1, bench.cores}):
        for repeat in range(repeats):
            for contender in (*plan.ours, *VANILLA_PEERS):
                if threads == 1 or contender.threaded:
                    run = bench.start(section, contender, threads=threads, seed=repeat, **job)
                    runs.setdefault((contender.name, threads), []).append(run)
                    section.rows = rows(runs, plan)
                    yield section
    section.findings += compare(section, plan, runs, bench.cores)
    yield section
    section.findings += time_to_accuracy(bench, section, plan, job, runs)
    section.complete = True
    yield section


def final_accuracy(runs: list[Run]) -> float | None:
    found = [run.accuracy for run in runs if run.accuracy is not None and run.problem is None]
    return 100 * statistics.median(found) if found else None


def rows(runs: dict[Key, list[Run]], plan: Plan) -> list[list[str]]:
    table = []
    for (name, threads), done in runs.items():
        seconds, accuracy = median_epoch(done), final_accuracy(done)
        ours = median_epoch(runs[plan.ours[0].name, threads])
        problems = ", ".join(sorted({run.problem for run in done if run.problem}))
        table.append(
            [
                name,
                str(threads),
                problems if seconds is None else f"{seconds:.3g}" + (f" ({problems})" if problems else ""),
                str(sum(len(run.seconds) for run in done)),
                "-" if accuracy is None else f"{accuracy:.2f}",
                "-"
                if seconds is None or ours is None or name == plan.ours[0].name
                else f"{seconds / ours:.2f}",
            ]
        )
    return table


def compare(section: Section, plan: Plan, runs: dict[Key, list[Run]], cores: int) -> list[str]:
    """Our speed over the fastest peer's, our accuracy under the best peer's, our two threads over one."""
    said, own = [], plan.ours[0].name
    theirs = {key: done for key, done in runs.items() if key[0] not in {c.name for c in plan.ours}}
    for threads in sorted({1, cores}):
        ours = median_epoch(runs[own, threads])
        # With all cores a peer may use them or not, whichever is faster.
        timed = {key: median_epoch(done) for key, done in theirs.items() if key[1] <= threads}
        peers = {key: seconds for key, seconds in timed.items() if seconds is not None}
        if ours is None or not peers:
            continue
        fastest = min(peers, key=lambda key: peers[key])
        ratio = peers[fastest] / ours
        section.ratios[f"speed over the fastest peer, {threads} threads"] = ratio
        with_threads = "1 thread" if threads == 1 else f"{threads} threads"
        said.append(f"With {with_threads}: fastest peer {fastest[0]}; ours {judged(ratio, WANTED_SPEED)}.")
    one, many = median_epoch(runs[own, 1]), median_epoch(runs[own, cores])
    if cores > 1 and one is not None and many is not None:
        section.ratios[f"{cores} threads over 1"] = one / many
        said.append(f"{cores} threads over 1: {judged(one / many, WANTED_SCALING)}.")
    ours_accuracy = final_accuracy([run for key, done in runs.items() if key[0] == own for run in done])
    found = [final_accuracy(done) for done in theirs.values()]
    best = max((accuracy for accuracy in found if accuracy is not None), default=None)
    if ours_accuracy is not None and best is not None:
        section.ratios["accuracy over the best peer's, points"] = ours_accuracy - best
        verdict = "reached" if ours_accuracy >= best - ALLOWED_LOSS else "missed"
        said.append(
            f"Test accuracy {ours_accuracy:.2f} %, best peer {best:.2f} % "
            f"(wanted: no worse by {ALLOWED_LOSS} points, {verdict})."
        )
    return said


def time_to_accuracy(
    bench: Bench, section: Section, plan: Plan, job: dict[str, Any], runs: dict[Key, list[Run]]
) -> list[str]:
    """Training seconds of ours and of green-tsetlin to the median final accuracy of the vanilla machines."""
    others = {contender.name for contender in plan.ours[1:]}
    ends = [final_accuracy(done) for key, done in runs.items() if key[0] not in others]
    found = [accuracy for accuracy in ends if accuracy is not None]
    if not found:
        return []
    target = statistics.median(found) / 100
    # Stopping is between epochs, hence well before the limit of the process.
    goal = {"evaluate": "every", "target": target, "epochs": MORE_EPOCHS, "stop_after": bench.limit / 2}
    green = plan.green | ({"n_clauses": plan.green["n_clauses"] // 10} if bench.quick else {})
    said = []
    for threads in [1] if bench.quick else sorted({1, bench.cores}):
        times: list[float] = []
        for contender, own in ((GREEN, green), (plan.ours[0], {})):
            run = bench.start(section, contender, **{**job, **goal, **own, "threads": threads})
            at, spent = run.reached(target), sum(run.seconds)
            times += [at["spent"]] if at else []
            said.append(
                f"To {100 * target:.2f} % on the test set, threads: {threads}: {contender.name} "
                + (f"{at['spent']:.1f} s, epochs: {at['epoch']}" if at else f"not reached in {spent:.0f} s")
                + (f" ({own['n_clauses']} shared clauses, T {own['threshold']})." if own else ".")
            )
        if len(times) == 2:
            section.ratios[f"time to accuracy, green-tsetlin over ours, {threads} threads"] = (
                times[0] / times[1]
            )
    return said
