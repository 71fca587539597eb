"""Words: what questions, statuses, reasons, decisions and numbers are called in a report."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from tmverify.campaign import Asked, Task, TaskAnswer
from tmverify.campaign.store import NOT_BELIEVED
from tmverify.display.words import shortened
from tmverify.properties.questions import PLANNED, RADIUS, ROBUSTNESS, margin_text, votes_text
from tmverify.properties.scope import decision_text
from tmverify.properties.summary import by_votes
from tmverify.space import Change, Column, Space

PENDING = "pending"
NOT_POSSIBLE = "no possible input"

MINUS = "\u2212"
_BITS = ("0", "1")
_LONGEST = 200  # characters of a change

# By the number of models: what inputs are called that no change of up to ε features affects; what radii are.
UNAFFECTED = {1: ROBUSTNESS.adjective, 2: "decided alike"}
_RADIUS_TITLES = {
    1: "Radius: changes needed to alter the decision",
    2: "Distance to the nearest disagreement",
}


def radius_title(n_models: int, margin: int) -> str:
    """What radii are."""
    return _RADIUS_TITLES[n_models] + (f", or to fewer than {votes_text(margin)}" if margin else "")


# What an epsilon is, and the name of an axis, by what is counted (``Series.counted``).
EPSILONS: Mapping[str, str] = {
    "features": "ε is how many features may change at once",
    "bits": "ε is how many features, single bits of the columns, may change at once",
    "columns": "ε is how many columns may change at once",
    "steps": "ε is how many steps are allowed: the cuts that a number crosses, and 1 for any other change",
    "cost": "ε is what all changes together may cost",
}
AXES: Mapping[str, tuple[str, str]] = {
    "features": ("features that may change", "features changed"),
    "bits": ("bits that may flip", "bits flipped"),
    "columns": ("columns that may change", "columns changed"),
    "steps": ("steps that are allowed", "steps"),
    "cost": ("what changes may cost", "cost of the changes"),
}

STATUSES: Mapping[str, str] = {
    **{question.adjective: question.proved for question in PLANNED.values()},
    "violated": "Disproved by an example: a changed input that is decided otherwise, found and replayed.",
    "unknown": "Not decided: the search was stopped before it was through. This says nothing for or against; "
    "it is never counted as robust nor as violated. Bounds of a radius are proved all the same.",
    PENDING: "Planned, and not answered yet.",
    NOT_BELIEVED: "What the store says can be no answer to this question: the store was damaged, or "
    "another program wrote to it. It counts as no answer; running the plan again asks anew.",
}

_MARGINS: Mapping[str, str] = {
    **{
        question.adjective: " Where it says by how many votes, it also stands by at least so many: every "
        "other class has so many less."
        for question in PLANNED.values()
        if question.has_margin and not question.is_distance
    },
    RADIUS.adjective: " Where it says by how many votes, changes that leave it fewer count too.",
    "violated": " Or it is decided alike, but by fewer votes than were asked for.",
}

REASONS: Mapping[str, str] = {
    "timeout": "The time allowed for one task ran out; more time may decide it.",
    "node-limit": "The search reached its limit of steps.",
    "region-too-large": "There are too many inputs for this engine to go through one by one.",
    "encoding-too-large": "The question as a formula would be too large.",
    "out-of-memory": "The memory allowed for one task ran out; more memory may decide it.",
    "crashed": "The process that worked on it died.",
    "answer-rejected": "An engine gave an answer that failed a check, so it was thrown away. "
    "This is a defect: please report it.",
    "undecided-inputs": "Some of the inputs that it depends on are undecided.",
}


def status_of(row: Asked) -> str:
    """The status of a task, one of STATUSES."""
    if row.answer is None:
        return PENDING if row.refused is None else NOT_BELIEVED
    status = row.answer.status
    return row.task.asks.adjective if status in ("holds", "exact") else status


def question_text(task: Task) -> str:
    """The question, with its epsilon and its margin if it has them."""
    within = "" if task.epsilon is None else f" ε {task.epsilon}"
    return f"{task.question}{within}{f' {margin_text(task.margin)}' if task.margin else ''}"


def bounds_text(lower: float | None, upper: float | None) -> str:
    """A radius, or the bounds that are proved for it."""
    if lower is None or upper is None:
        return ""
    if lower == upper:
        return "∞" if lower == math.inf else f"{lower:g}"
    return f"≥ {lower:g}" if upper == math.inf else f"{lower:g}…{upper:g}"


def decisions_text(task: Task, answer: TaskAnswer) -> tuple[str, ...]:
    """The two decisions that differ, or none; if the scope is a class, each is that class or its negation.

    If they are the same, by how many votes they stand; of one model that is one text, "good by 1 vote".
    """
    decisions = answer.decisions or ()
    words = tuple(decision_text(task.scope, decision) for decision in decisions)
    return by_votes(decisions, answer.leads, words) or words


def sign_of(task: Task, answer: TaskAnswer) -> str:
    """What stands between these texts."""
    if answer.decisions is not None and answer.decisions[0] == answer.decisions[1]:
        return "and"
    return "→" if len(task.models) == 1 else "≠"


def meanings(statuses: Collection[str], *, margins: bool) -> dict[str, str]:
    """What each of these statuses means; ``margins``: also where decisions must stand by some votes."""
    found = {status: meaning for status, meaning in STATUSES.items() if status in statuses}
    return {status: f"{found[status]}{_MARGINS.get(status, '') if margins else ''}" for status in found}


def shape_of(task: Task, space: Space) -> tuple[int, int] | None:
    """Rows and columns, if the input is a picture."""
    shape = task.image or space.picture_shape
    return (shape[0], shape[1]) if shape and shape[0] * shape[1] == task.n_features else None


def place_text(task: Task) -> str:
    """Where the input is in its file, if its heading does not say so."""
    if task.index is None:
        return ""
    line = "" if task.line is None or task.row_name is None else f"line {task.line}, "
    return f"{line}index {task.index}"


def changes_text(row: Asked, space: Space) -> tuple[str, ...]:
    """What the counterexample of an answer changes in the input, a text for each column; often none.

    Everything that says on one line what changed is made here: "age: 25 to 40 → over 60"; of words "+ good",
    and with a minus those that are removed; "pixel_3_4 on"; and "x3 0 → 1" of flags without names.
    """
    return tuple(
        shortened(_change_text(column, change, space.named), _LONGEST)
        for column, change in changed_columns(row, space)
    )


def changed_columns(row: Asked, space: Space) -> list[tuple[Column, Change]]:
    """The columns that the counterexample changes, with what they were and are."""
    flips = () if row.flips is None else row.flips.tolist()
    places = dict.fromkeys(map(space.column_of, flips))
    return [(space.columns[place], change) for place, change in zip(places, row.changes(space), strict=True)]


def _change_text(column: Column, change: Change, named: bool) -> str:
    added = change.after == column.values[-1]
    if column.kind == "word":
        return f"{'+' if added else MINUS} {column.name}"
    if column.kind == "pixel":
        return f"{column.name} {'on' if added else 'off'}"
    if column.values == _BITS and column.kind == "flag":
        return f"{column.name}{':' if named else ''} {change.before} → {change.after}"
    return f"{column.name}: {change.before} → {change.after}"


def percent(part: int, whole: int) -> str:
    """A share; only none is 0 %, and only all is 100 %."""
    if not whole:
        return "—"
    if part in (0, whole):
        return "100 %" if part else "0 %"
    share = min(max(100 * part / whole, 0.1), 99.9)
    return f"{share:.1f} %".replace(".0 %", " %")
