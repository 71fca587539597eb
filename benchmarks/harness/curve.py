"""Time and share solved against epsilon, for each number of clauses: team scope, the same images for all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.asking import Answers, ms
from harness.drawing import bars
from harness.proving import Proving
from harness.report import Section
from harness.robustness import ask, warm_up
from harness.trained import MNIST

COLUMNS = ("machine", "eps", "solved %", "robust %", "mean ms", "median ms", "p90 ms", "largest ms")
EPSILONS = range(1, 21)


def measure(bench: Proving) -> Iterator[Section]:
    """The section as it grows, one question at a time."""
    rows = bench.subjects.shuffled("mnist")[: bench.few(bench.curve_inputs, 5)]
    settings = {
        "machines": bench.named(*MNIST),
        "inputs": len(rows),
        "scope": "team",
        "engine": "auto",
        "limit in seconds": bench.curve_limit,
        "cores": 1,
    }
    sheet = bench.begin("curve", "Time against epsilon: MNIST, team scope", settings, COLUMNS)
    section = sheet.section
    yield section
    warm_up(bench, sheet, MNIST[0], ["team"], rows[0])
    for model in MNIST:
        groups: dict[int, Answers] = {}
        drawn = list(section.drawing)
        for epsilon in EPSILONS[::4] if bench.quick else EPSILONS:
            group = sheet.answers(
                bench.curve_limit, model=model, scope="team", epsilon=epsilon, engine="auto"
            )
            groups[epsilon] = group
            section.rows.append([])
            for row in rows:
                question = partial(ask, bench, model, "team", row, epsilon, "auto", bench.curve_limit)
                sheet.ask(group, row, question)
                section.rows[-1] = [model, str(epsilon), *_cells(group)]
                yield section
            sheet.row_done()
            section.drawing = drawn + _drawn(model, groups)
        n, solved = sum(len(g.answers) for g in groups.values()), sum(g.solved for g in groups.values())
        section.ratios[f"solved %, {model}"] = 100 * solved / n
        section.findings.append(f"{model}: {solved} of {n} questions solved.")
    section.complete = True
    yield section


def _cells(group: Answers) -> list[str]:
    n = len(group.answers)
    shares = [f"{100 * count / n:.0f}" for count in (group.solved, group.count("holds"))]
    return [*shares, *map(ms, (group.mean, group.median, group.percentile(90), group.largest))]


def _drawn(model: str, groups: dict[int, Answers]) -> list[str]:
    means = {str(epsilon): 1000 * group.mean for epsilon, group in groups.items()}
    solved = [f"{100 * group.solved / len(group.answers):.0f} % solved" for group in groups.values()]
    return [f"{model}: mean ms by epsilon", *bars(means, remarks=solved), ""]
