"""TaskAnswer: the answer to a task, as plain values that can be sent between machines and kept in a store.

``decide_task`` finds it, in this process. ``Asked`` is a task with its answer: tables, files, stores and
reports are made from these.

``status`` is that of a verdict (holds, violated, unknown). For a radius it is ``exact``, or ``unknown`` with
the bounds that could be proved. For an explanation it is ``holds`` if no column can be left out, else
``unknown`` with a reason that suffices all the same.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.bits import pack, unpack, unpack_rows
from tmverify.asking.reason import KeptReason
from tmverify.asking.task import Task
from tmverify.certificates import Certificate
from tmverify.model import Classifier, Label
from tmverify.properties import Radius, Status, StopReason, Verdict
from tmverify.properties.query import AnyQuery, Query
from tmverify.properties.region import region_in
from tmverify.properties.trust import NO_CERTIFICATE
from tmverify.space import Change, Space
from tmverify.verify import decide, nearest
from tmverify.verify.explaining import find_explanation
from tmverify.verify.questions import possible_hints
from tmverify.verify.verdict import replay

EXACT = "exact"
UNKNOWN = Status.UNKNOWN.value
MERGED = f"{NO_CERTIFICATE}its bounds come from two runs"
SOLVED = (Status.HOLDS.value, Status.VIOLATED.value, EXACT)


@dataclass(frozen=True, kw_only=True)
class TaskAnswer:
    """The answer to the task ``task`` (its id).

    Attributes
    ----------
    witness : packed bits, or None
    decisions : the two labels that differ, or None; with a margin, they may be the same
    leads : with a margin, by how many votes the decision of each model on the witness stands
    lower, upper : bounds of a radius, else None
    reason : the columns that suffice for the decision, if these were asked for
    trusts : what must be correct for the answer to be correct
    trusts_alone : the same if its certificate is not kept
    certificate : the certificate until it is written to its file, or None
    certificate_path : the path of that file
    attempts : 2 if the process that decided it died once
    versions : the versions of the programs that decided it
    """

    task: str
    status: str
    seconds: float
    engine: str
    witness: bytes | None = None
    decisions: tuple[Label, ...] | None = None
    leads: tuple[int, ...] | None = None
    lower: float | None = None
    upper: float | None = None
    reason: KeptReason | None = None
    stop_reason: str | None = None
    detail: str = ""
    trusts: tuple[str, ...] = ()
    trusts_alone: tuple[str, ...] = ()
    certificate: Certificate | None = None
    certificate_path: str | None = None
    attempts: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def solved(self) -> bool:
        return self.status in SOLVED


@dataclass(frozen=True, slots=True)
class Asked:
    """A task and its answer, or None while it has none.

    ``refused`` is the reason why the answer in a store is not believed.
    """

    task: Task
    answer: TaskAnswer | None
    refused: str | None = None

    @property
    def found(self) -> TaskAnswer:
        """The answer; to be used only if there is one."""
        assert self.answer is not None
        return self.answer

    @property
    def witness(self) -> NDArray[np.uint8] | None:
        """The counterexample."""
        packed = None if self.answer is None else self.answer.witness
        return None if packed is None else unpack(packed, self.task.n_features)

    @property
    def flips(self) -> NDArray[np.intp] | None:
        """The features in which the witness differs from the input, where there are both."""
        witness, x = self.witness, self.task.x
        return None if witness is None or x is None else np.flatnonzero(witness != x)

    def cost(self, space: Space) -> int | None:
        """What the changes from the input to the witness cost, where there are both: flips, if bits flip."""
        witness, x = self.witness, self.task.x
        if witness is None or x is None:
            return None
        if self.task.rules.about_bits:
            return int((witness != x).sum())
        if self.found.upper is not None:
            return int(self.found.upper)
        return region_in(space, x, None, self.task.rules.rules(self.task.n_features)).cost(witness)

    def changes(self, space: Space) -> tuple[Change, ...]:
        """The columns in which the witness differs from the input, in words."""
        witness, x = self.witness, self.task.x
        return () if witness is None or x is None else space.changes(x, witness)

    def possible(self, space: Space) -> bool | None:
        """Whether some raw row has the bits of the witness; None if there is none."""
        witness = self.witness
        return None if witness is None else bool(space.possible(witness[None, :])[0])


def changes_of(asked: Asked, space: Space) -> list[dict[str, str]]:
    """The columns in which the witness differs from the input, as plain values for JSON."""
    return [
        {"column": change.column, "before": change.before, "after": change.after}
        for change in asked.changes(space)
    ]


def decide_task(task: Task, models: Sequence[Classifier]) -> TaskAnswer:
    """Decide ``task``; its seconds are the time for compiling the question plus that of the engine."""
    if task.asks.gives_reason:
        return _explained(task, models[0])
    start = time.perf_counter()
    query = task.query(models)
    compiling = time.perf_counter() - start
    if task.hints is not None and task.engine == "auto":
        assert isinstance(query, Query)
        hints = possible_hints(unpack_rows(task.hints, task.n_features), query)
        query = replace(query, hints=hints if len(hints) else None)
    ask = nearest if task.asks.is_distance else decide
    found = ask(query, timeout=task.timeout, engine=task.engine, certificate=task.certified)
    return answered(task, replace(found, seconds=compiling + found.seconds))


def _explained(task: Task, model: Classifier) -> TaskAnswer:
    """A sufficient reason, as wide as it can be. While columns are undecided, there is no certificate."""
    start = time.perf_counter()
    assert task.x is not None
    found = find_explanation(
        model,
        task.x,
        kind="sufficient",
        epsilon=task.epsilon,
        smallest=False,
        widen=True,
        target=None,
        scope=task.scope,
        allowed=task.rules.rules(task.n_features),
        timeout=task.timeout,
        engine=task.engine,
        certificate=task.certified,
    )
    minimal = found.minimal != "open"
    certificate = found.certificate if minimal and isinstance(found.certificate, Certificate) else None
    alone = replace(found, certificate=None)
    return TaskAnswer(
        task=task.id,
        status=Status.HOLDS.value if minimal else UNKNOWN,
        seconds=time.perf_counter() - start,
        engine=found.engine,
        reason=KeptReason.of(found),
        stop_reason=None if minimal or found.stop_reason is None else found.stop_reason.value,
        detail=found.detail,
        trusts=(alone if certificate is None else found).trusts,
        trusts_alone=alone.trusts,
        certificate=certificate,
        versions=versions(),
    )


def replayed(task: Task, answer: TaskAnswer, models: Mapping[str, Classifier]) -> TaskAnswer:
    """The answer; UNKNOWN if its counterexample, perhaps from another machine, does not replay here."""
    if answer.witness is None or replays(task.query([models[key] for key in task.models]), task, answer):
        return answer
    detail = "the counterexample of a worker does not replay here"
    return unanswered(task, StopReason.REJECTED, detail, answer.seconds)


def replays(query: AnyQuery, task: Task, answer: TaskAnswer) -> bool:
    """Whether the witness, run through the models, gives the decisions and the status of the answer."""
    seen = None if answer.witness is None else replay(query, unpack(answer.witness, task.n_features))
    if (answer.decisions, answer.leads) != ((None, None) if seen is None else (seen.decisions, seen.leads)):
        return False
    if answer.upper is None:
        return (seen is not None) == (answer.status == Status.VIOLATED.value)
    return answer.upper == (math.inf if seen is None else query.region.cost(seen.witness))


def answered(task: Task, found: Verdict | Radius) -> TaskAnswer:
    """A verdict or radius as plain values."""
    if isinstance(found, Radius):
        status = EXACT if found.exact else UNKNOWN
        bounds: tuple[float | None, float | None] = (found.lower, found.upper)
    else:
        status, bounds = found.status.value, (None, None)
    return TaskAnswer(
        task=task.id,
        status=status,
        seconds=found.seconds,
        engine=found.engine,
        witness=None if found.witness is None else pack(found.witness),
        decisions=found.decisions,
        leads=found.leads,
        lower=bounds[0],
        upper=bounds[1],
        stop_reason=None if found.stop_reason is None else found.stop_reason.value,
        detail=found.detail,
        trusts=found.trusts,
        trusts_alone=replace(found, certificate=None).trusts,
        certificate=found.certificate if isinstance(found.certificate, Certificate) else None,
        versions=versions(),
    )


def unanswered(task: Task, reason: StopReason, detail: str, seconds: float = 0.0) -> TaskAnswer:
    """The answer "unknown" to a task that could not be decided, with the reason."""
    open_radius = task.asks.is_distance
    return TaskAnswer(
        task=task.id,
        status=UNKNOWN,
        seconds=seconds,
        engine=task.engine,
        lower=0 if open_radius else None,
        upper=math.inf if open_radius else None,
        stop_reason=reason.value,
        detail=detail,
        versions=versions(),
    )


def better(before: TaskAnswer, now: TaskAnswer) -> TaskAnswer:
    """Two answers to the same task combined; ``before`` itself if the second adds nothing.

    If the two contradict each other, neither is believed.
    """
    if _contradict(before, now):
        return _rejected(now)
    if now.solved:
        return now
    if before.solved:
        return before
    if before.reason is not None and now.reason is not None:
        return min(now, before, key=lambda answer: len(answer.reason.undecided) if answer.reason else 0)
    if before.lower is None or before.upper is None or now.lower is None or now.upper is None:
        return now if before.reason is None else before
    # Bounds of a radius stay valid, so those of both answers hold.
    nearer = before if before.upper < now.upper else now
    lower, upper = max(before.lower, now.lower), nearer.upper
    exact = lower == upper
    return replace(
        now,
        status=EXACT if exact else UNKNOWN,
        lower=lower,
        upper=upper,
        witness=nearer.witness,
        decisions=nearer.decisions,
        leads=nearer.leads,
        seconds=before.seconds + now.seconds,
        stop_reason=None if exact else now.stop_reason,
        detail=MERGED if exact else now.detail,
        trusts=tuple(dict.fromkeys((*before.trusts, *now.trusts))),
        trusts_alone=tuple(dict.fromkeys((*before.trusts_alone, *now.trusts_alone))),
    )


def _contradict(one: TaskAnswer, other: TaskAnswer) -> bool:
    if one.lower is None or one.upper is None or other.lower is None or other.upper is None:
        return one.solved and other.solved and one.status != other.status
    return max(one.lower, other.lower) > min(one.upper, other.upper)


def _rejected(answer: TaskAnswer) -> TaskAnswer:
    radius = answer.lower is not None
    return replace(
        answer,
        status=UNKNOWN,
        lower=0 if radius else None,
        upper=math.inf if radius else None,
        witness=None,
        decisions=None,
        leads=None,
        reason=None,
        stop_reason=StopReason.REJECTED.value,
        detail="this answer and an earlier one contradict each other: a bug, please report it",
        trusts=(),
        trusts_alone=(),
        certificate_path=None,
    )


@cache
def versions() -> Mapping[str, str]:
    """The versions of all programs that an answer depends on."""
    packages = {name: version(name) for name in ("tmverify", "numpy", "numba", "python-sat")}
    return {**packages, "python": platform.python_version()}
