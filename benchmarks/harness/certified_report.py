"""What the report says of measured certificates: a row for each kind of question, and findings."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from harness.asking import at_most, is_solved, ms
from harness.certified import (
    ACCEPTED,
    CHECKER,
    CHECKER_READ,
    N_LISTED,
    WANTED_CHECK,
    WANTED_RATIO,
    Group,
    Measured,
    checker_digest,
)
from harness.report import Section


def fill(section: Section, groups: Sequence[Group], opening: Sequence[str]) -> None:
    section.rows = [cells(group) for group in groups]
    every = [one for group in groups for one in group.measured]
    section.findings = [*opening, *_findings(section, groups, every)] if every else [*opening]
    missing = [f"{_name(g)} ({g.wanted - len(g.measured)})" for g in groups if len(g.measured) < g.wanted]
    if missing:
        section.findings.append(f"Not reached (inputs that are missing): {'; '.join(missing)}.")


def _name(group: Group) -> str:
    of = group.of
    words = [of["question"], of["against"] or of["scope"]]
    return ", ".join([*words, f"eps {of['epsilon']}"] if of["epsilon"] is not None else words)


def _values(measured: Sequence[Measured], what: str) -> list[float]:
    return [value for one in measured if (value := getattr(one, what)) is not None]


def _compared(measured: Sequence[Measured]) -> list[Measured]:
    """The questions that were decided both ways."""
    return [one for one in measured if one.ratio is not None]


def _ratio_of_means(both: Sequence[Measured]) -> float:
    return sum(one.seconds_with for one in both) / sum(one.seconds_without for one in both)


def _decided(measured: Sequence[Measured]) -> int:
    return sum(is_solved(one.without) or is_solved(one.recorded) for one in measured)


def cells(group: Group) -> list[str]:
    measured, both = group.measured, _compared(group.measured)
    n = str(len(measured)) if len(measured) == group.wanted else f"{len(measured)} of {group.wanted}"
    sizes, checks = _values(measured, "n_bytes"), _values(measured, "seconds_checking")
    alone = _values(measured, "seconds_process")
    accepted = sum(one.outcome == ACCEPTED for one in measured)
    return [
        group.of["machine"],
        _name(group),
        n,
        "-" if group.of["question"] == "radius" else str(sum(one.recorded == "holds" for one in measured)),
        f"{len(sizes)} of {_decided(measured)}",
        str(accepted),
        ms(float(np.mean([one.seconds_without for one in both]))) if both else "-",
        ms(float(np.mean([one.seconds_with for one in both]))) if both else "-",
        f"{_ratio_of_means(both):.2f}" if both else "-",
        f"{np.median(_values(both, 'ratio')):.2f}" if both else "-",
        f"{np.median(sizes):,.0f}" if sizes else "-",
        f"{max(sizes):,.0f}" if sizes else "-",
        ms(float(np.median(checks))) if checks else "-",
        ms(max(checks)) if checks else "-",
        f"{ms(float(np.median(alone)))} ({len(alone)})" if alone else "-",
    ]


def _findings(section: Section, groups: Sequence[Group], every: Sequence[Measured]) -> list[str]:
    """The whole section against what was wanted."""
    decided, sizes = _decided(every), _values(every, "n_bytes")
    accepted = sum(one.outcome == ACCEPTED for one in every)
    said = [
        f"Decided: {decided} of {len(every)} questions. "
        f"Certified: {len(sizes)} of {decided} verdicts{_percent(len(sizes), decided)}. "
        f"Accepted by the checker: {accepted} of {len(sizes)}{_percent(accepted, len(sizes))}."
    ]
    if lost := sum(is_solved(one.without) and not is_solved(one.recorded) for one in every):
        said.append(f"{lost} decided without recording, but not with; they are in no ratio.")
    if both := _compared(every):
        ratio, median = _ratio_of_means(both), float(np.median(_values(both, "ratio")))
        rows = [
            (_ratio_of_means(b), f"{g.of['machine']}, {_name(g)}")
            for g in groups
            if (b := _compared(g.measured))
        ]
        section.ratios |= {"with over without, of means": ratio, "with over without, median": median}
        said.append(
            f"Recording: ratio of means {at_most(ratio, WANTED_RATIO, 'times')}, median of ratios "
            f"{at_most(median, WANTED_RATIO, 'times')}, over {len(both)} questions that were decided both "
            f"ways; ratio of means in a row at most {max(rows)[0]:.3g} ({max(rows)[1]})."
        )
        said += _same_work(both)
    if sizes:
        checks, saving = _values(every, "seconds_checking"), _values(every, "seconds_saving")
        said += [
            f"Size: median {np.median(sizes):,.0f} bytes, largest {max(sizes):,.0f}. Saving is not counted "
            f"as recording: median {ms(float(np.median(saving)))} ms, largest {ms(max(saving))} ms.",
            _checking(section, checks),
        ]
    if alone := _values(every, "seconds_process"):
        said.append(
            f"As a process of its own, start-up included: median {np.median(alone):.2f} s, largest "
            f"{max(alone):.2f} s, of {len(alone)}."
        )
    n_clausal = sum(n > 0 for n in _values(every, "n_clausal"))
    if n_clausal or any(group.of["engine"] == "sat" for group in groups):
        said.append(f"Certificates that hold clausal proofs (LRAT): {n_clausal} of {len(sizes)}.")
    if checker_digest() != CHECKER_READ:
        said.append(f"**{CHECKER.name} changed during the run**: processes ran another than was timed here.")
    return said + _unwanted(groups) + [f"Load when this was written: {os.getloadavg()[0]:.2f}."]


def _same_work(both: Sequence[Measured]) -> list[str]:
    """How often the search was the same; where it was not, a ratio is not the cost of writing alone."""
    searched = [one for one in both if one.same_work is not None]
    same = [one for one in searched if one.same_work]
    if not searched:
        return []
    alike = f", ratio of means {_ratio_of_means(same):.3g}" if same else ""
    other = [one for one in searched if not one.same_work]
    others = (
        f"; on {len(other)} recording led to another search, {_ratio_of_means(other):.3g}" if other else ""
    )
    return [
        f"As many nodes and steps with recording as without: {len(same)} of {len(searched)}{alike}{others}."
    ]


def _checking(section: Section, checks: Sequence[float]) -> str:
    median = float(np.median(checks))
    section.ratios |= {"median check in s": median, "largest check in s": max(checks)}
    verdict = "reached" if median < WANTED_CHECK else "missed"
    return (
        f"Checking in plain Python, reading the model included: median {median:.3f} s (wanted: under "
        f"{WANTED_CHECK:g} s, {verdict}), largest {max(checks):.2f} s; "
        f"{sum(t >= WANTED_CHECK for t in checks)} of {len(checks)} took {WANTED_CHECK:g} s or more."
    )


def _percent(n: int, of: int) -> str:
    if not of:
        return ""
    return f", {100 * n / of:.2f} % (wanted: 100 %, {'reached' if n == of else 'missed'})"


def _unwanted(groups: Sequence[Group]) -> list[str]:
    """What has no accepted certificate, each with the reason."""
    found = [
        f"{_name(group)}, test row {one.row}: {one.outcome}"
        for group in groups
        for one in group.measured
        if one.outcome != ACCEPTED
    ]
    more = f"; and {len(found) - N_LISTED} more" if len(found) > N_LISTED else ""
    return [f"No accepted certificate: {'; '.join(found[:N_LISTED])}{more}."] if found else []
