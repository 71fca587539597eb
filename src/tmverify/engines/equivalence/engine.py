"""Deciding a question about every input, in these steps:

1. Look at inputs (``hunt``): most pairs of models differ on one of them.
2. Argue by structure: cases that cancel are refuted, others are confined to *parts*, small subcubes.
3. In every part: walk towards a disagreement, then search exactly; repeat both with more effort.
4. Give the parts that are left to ``sat``, each with a share of the time.

If there are few inputs, all of them are evaluated: before step 3 if that takes next to no time, else after
its first round.

``.engine`` of an answer says which step gave it: ``hunt`` (samples and walks), ``structure``, ``search``,
``brute`` or ``sat``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tmverify.engines import brute
from tmverify.engines.engine import Answer, Deadline, Decide, Outcome, found, none_exists, stopped
from tmverify.engines.equivalence.hunt import find_among_samples, find_by_walking
from tmverify.engines.equivalence.normal import normal_form
from tmverify.engines.equivalence.proof import Writer
from tmverify.engines.equivalence.structure import Part, arguments, parts_of
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.search.engine import decide_within
from tmverify.engines.search.tree import Budget
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason

# For each part: steps of walks, and nodes of the search.
ROUNDS = ((2_000, 100), (40_000, 2_000), (400_000, 100_000))
QUICK = 1.0  # seconds for evaluating all inputs before anything else is tried in the parts
# The search around given inputs: how many of them, within how many flips, with how many nodes each.
BALLS, FLIPS, BALL_NODES = 16, 3, 200
# What a proof relies on. An enumeration looks at the decisions themselves and relies on no earlier step.
_RESTS_ON: Mapping[str | None, tuple[str, ...]] = {
    "hunt": ("structure", "search"),
    "search": ("structure", "search"),
    "sat": ("structure", "search", "sat"),
    "brute": ("brute",),
}


def decide(query: Query, deadline: Deadline, last: Decide, log: ProofLog | None = None) -> Answer:
    """Decide ``query``, whose region is every input; ``last`` decides what the search leaves open."""
    try:
        return _decide(query, deadline, last, log)
    except MemoryError:
        return stopped(StopReason.OUT_OF_MEMORY, "the comparison ran out of memory")
    except Exception as error:  # after an error of any kind there is no answer
        return stopped(StopReason.CRASHED, f"the comparison failed with {error!r}: a bug, please report it")


def _decide(query: Query, deadline: Deadline, last: Decide, log: ProofLog | None) -> Answer:
    witness = find_among_samples(query, deadline)
    if witness is not None:
        return replace(found(witness), engine="hunt")
    form = normal_form(query, deadline)
    argued = list(arguments(query, form, deadline))
    used = {"arguments": tuple(argument for argument in argued if argument.multipliers)}
    plain = replace(query, hints=None)
    parts = [part for argument in argued for part in parts_of(plain, argument, log)]
    if parts:
        answer = _Pursuit(query, parts, deadline, certified=log is not None).run(last)
        answer = replace(answer, relies_on=_RESTS_ON[answer.engine], stats={**used, **answer.stats})
    else:
        answer = replace(none_exists(**used), engine="structure")
    if log is not None and answer.outcome is Outcome.NO_WITNESS:
        writer = Writer(query, form, log)
        for argument in argued:
            writer.write(argument)
    return answer


@dataclass(slots=True, eq=False)
class _Pursuit:
    """Looks for a witness in the parts that are not refuted yet, which are ``left``."""

    query: Query
    left: list[Part]
    deadline: Deadline
    certified: bool  # whether evidence is wanted, which an enumeration does not leave
    counts: dict[str, Any] = field(default_factory=lambda: {"nodes": 0, "steps": 0, "walked": 0})

    def run(self, last: Decide) -> Answer:
        self.counts["parts"] = len(self.left)
        looked = brute.decide_if_small(self.query, self.deadline, QUICK)
        answer = self._if_enough(looked)
        if answer is not None:
            return answer
        for number, (steps, nodes) in enumerate(ROUNDS):
            answer = self._walk(steps, number)
            if answer is None and number == 0:
                answer = self._look_around()
            answer = answer or self._search(nodes)
            if answer is None and number == 0 and looked is None:
                looked = brute.decide_if_small(self.query, self.deadline)
                answer = self._if_enough(looked)
            if answer is not None:
                return answer
        answer = self._finish(last)
        if looked is not None and answer.outcome is Outcome.STOPPED:
            return self._answer(looked, "brute")
        return answer

    def _if_enough(self, looked: Answer | None) -> Answer | None:
        """The answer of an enumeration, or None if evidence is wanted and it has none."""
        if looked is None or (self.certified and looked.outcome is not Outcome.WITNESS):
            return None
        return self._answer(looked, "brute")

    def _walk(self, steps: int, seed: int) -> Answer | None:
        for part in self.left:
            deadline = self.deadline.share(1 / (4 * len(self.left)))
            witness, walked = find_by_walking(part.query, self.query.hints, steps, seed, deadline)
            self.counts["walked"] += walked
            if witness is not None:
                return self._answer(found(witness), "hunt")
        return None

    def _look_around(self) -> Answer | None:
        """Search small balls around some of the given inputs."""
        hints = self.query.hints
        if hints is None:
            return None
        for x in hints[:: max(1, len(hints) // BALLS)][:BALLS]:
            if self.deadline.passed():
                return None
            near = replace(self.query, region=self.query.region.around(x, FLIPS), hints=None)
            answer = decide_within(near, Budget(self.deadline.share(1 / (2 * BALLS)), BALL_NODES))
            if answer.outcome is Outcome.WITNESS:
                return self._answer(answer, "search")
        return None

    def _search(self, nodes: int) -> Answer | None:
        for part in self.left.copy():
            if self.deadline.passed():
                return None
            budget = Budget(self.deadline.share(1 / (2 * len(self.left))), nodes)
            answer = decide_within(part.query, budget, part.log)
            for count in ("nodes", "steps"):
                self.counts[count] += answer.stats.get(count, 0)
            if answer.outcome is Outcome.WITNESS:
                return self._answer(answer, "search")
            if answer.outcome is Outcome.NO_WITNESS:
                self.left.remove(part)
        return None if self.left else self._answer(none_exists(), "search")

    def _finish(self, engine: Decide) -> Answer:
        """Ask ``engine`` about every part, and again with more time if other parts have not used theirs."""
        reason, detail = StopReason.TIMEOUT, ""
        name = "search" if self.deadline.passed() else "sat"
        while self.left and not self.deadline.passed():
            for k, part in enumerate(waiting := self.left.copy()):
                answer = engine(part.query, self.deadline.share(1 / (len(waiting) - k)), part.log)
                if answer.outcome is Outcome.WITNESS:
                    return self._answer(answer, "sat")
                if answer.outcome is Outcome.NO_WITNESS:
                    self.left.remove(part)
                elif answer.stop_reason not in (None, StopReason.TIMEOUT):
                    reason, detail = answer.stop_reason, answer.detail
            if detail:
                break
        if not self.left:
            return self._answer(none_exists(), "sat")
        if not detail:
            detail = f"no answer within {self.deadline.seconds:g} s"
        return self._answer(stopped(reason, detail), name)

    def _answer(self, answer: Answer, engine: str) -> Answer:
        return replace(answer, engine=engine, stats={**answer.stats, **self.counts})
