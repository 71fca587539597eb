"""The robustness table, which three of the paper's tables share the form of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from lab.arguments import Setting
from lab.paper import BNN_BACK_IMAGE, ROBUSTNESS
from lab.tables import Section, seconds, times
from tmverify.campaign import Asked, Tally, Task, grouped
from tmverify.report import write_figures

HEADERS = (
    "machine", "scope", "eps", "asked", "solved", "paper", "robust", "paper", "mean s", "paper",
    "paper / ours",
)  # fmt: skip


def robustness_section(name: str, title: str, rows: Sequence[Asked]) -> Section:
    """A line for each machine, scope and epsilon; the paper's figures beside the scope that it has."""
    section = Section(name, title, HEADERS)
    for group, tally in grouped(rows).items():
        if group.question == "robustness":
            section.rows.append(_line(group, tally))
    return section


def radius_remark(rows: Sequence[Asked]) -> list[str]:
    """What the radii add: a sentence for each machine."""
    bounds: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        answer = row.answer
        if row.task.question == "radius" and answer is not None:
            assert answer.lower is not None
            assert answer.upper is not None
            bounds.setdefault(row.task.names[0], []).append((answer.lower, answer.upper))
    return [_radius_words(name, found, rows) for name, found in bounds.items()]


def _radius_words(name: str, bounds: Sequence[tuple[float, float]], rows: Sequence[Asked]) -> str:
    exact = [lower for lower, upper in bounds if lower == upper]
    low, high = median(lower for lower, _ in bounds), median(upper for _, upper in bounds)
    middle = f"{low:g}" if low == high else f"{low:g}..{high:g}"
    mean = next(
        tally.mean_seconds
        for group, tally in grouped(rows).items()
        if group.question == "radius" and group.names[0] == name
    )
    spread = f", {min(exact):g} to {max(exact):g}" if exact else ""
    return (
        f"Radius of {name} (team): exact for {len(exact)} of {len(bounds)}; median {middle}{spread}; "
        f"mean {seconds(mean)} s."
    )


def _line(group: Task, tally: Tally) -> Sequence[object]:
    # The paper asks the machine of an image's class; with two classes there is one machine only.
    paper = _papers(group.names[0], group.epsilon or 0) if _papers_scope(group) else None
    solved, robust, mean = paper or (None, None, None)
    return (
        group.names[0],
        group.scope,
        group.epsilon,
        tally.total,
        tally.solved,
        solved,
        tally.positive,
        robust,
        seconds(tally.mean_seconds),
        None if mean is None else f"{mean:g}",
        times(mean, tally.mean_seconds),
    )


def _papers(name: str, epsilon: int) -> tuple[int, int, float | None] | None:
    if name.startswith("bnn"):
        return (*BNN_BACK_IMAGE[epsilon], None)
    return ROBUSTNESS.get((name, epsilon))


def _papers_scope(group: Task) -> bool:
    return group.scope == "own" or group.names[0].startswith(("imdb", "bnn"))


def unsolved(rows: Sequence[Asked]) -> Mapping[str, int]:
    """How many answers are unknown, by reason."""
    found: dict[str, int] = {}
    for row in rows:
        if row.answer is None or not row.answer.solved:
            reason = "not asked" if row.answer is None else f"{row.answer.stop_reason}: {row.answer.detail}"
            found[reason] = found.get(reason, 0) + 1
    return found


def finish(section: Section, rows: Sequence[Asked], setting: Setting) -> None:
    """Draw, say what is unsolved, and write."""
    section.plots.update(write_figures(setting.folder / f"{section.name}.db", setting.figures))
    open_ones = unsolved(rows)
    section.remarks.append(
        "; ".join(f"{n} unknown ({reason})" for reason, n in open_ones.items())
        if open_ones
        else f"All {len(rows)} tasks of the plan are solved."
    )
    section.write(setting)
