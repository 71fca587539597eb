"""Explanation: a reason for a decision, and how it is put into words.

    IF age over 25 AND savings is not little THEN good
    IF savings little → moderate THEN good instead of bad

The first is a *sufficient* reason: every possible input with these facts is decided so (within a distance, if
one was given). The second is a *contrastive* one: this change of these columns alters the decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tmverify.certificates import Certificate
from tmverify.model import Label
from tmverify.model.names import Named, feature_name, printable
from tmverify.properties.region import Region
from tmverify.properties.setting import Setting, conditions_of_rules
from tmverify.properties.trust import CHECKED
from tmverify.properties.verdict import Status, StopReason
from tmverify.space import Change, Space
from tmverify.space.phrases import Condition, Fact, quoted

Kind = Literal["sufficient", "contrastive"]
Minimal = Literal["smallest", "subset", "open"]
MOST_FACTS = 12  # in a rule; ``facts`` has all of them


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """A reason for one decision; what it claims is proved, and what is not proved is named.

    Attributes
    ----------
    kind : {"sufficient", "contrastive"}
    decision : label
        The decision on the input.
    target : label or None
        If the question was "why not this class?": the class.
    columns : tuple of str
        The names of the columns.
    places : tuple of int
        Their numbers in the model's space (of bits, where the question was about bits).
    facts : tuple of Fact
        The columns with the values that they have, or, widened, may have.
    rule : str
        The reason as a sentence; of many facts it has the first ones.
    then : str
        What stands behind its THEN.
    sufficient : Status
        HOLDS: the columns are proved to do what the kind says. For a contrastive reason, VIOLATED means that
        no change that is allowed alters the decision (or leads to the target). UNKNOWN: not known,
        ``detail`` says why.
    minimal : {"smallest", "subset", "open"}
        No reason has fewer columns; no column can be left out (and, widened, no value added); not known of
        ``undecided``.
    undecided : tuple of str
        The columns that might be left out, or have further values.
    within : int or None
        The distance within which it holds; None: wherever columns may change.
    widened : bool
    witness : uint8 array or None
        Of a contrastive reason: an input that differs in these columns alone, and is decided otherwise.
    changes : tuple of Change
        How it differs.
    outcome : label or None
        How it is decided.
    engine : str
    questions : int
        How many questions were asked.
    seconds : float
    certificate : Certificate or None
        Evidence that can be checked independently, if it was asked for.
    stop_reason, detail
        Why something is not known.
    setting : Setting or None
        What was asked, so that it can be shown by itself.
    """

    kind: Kind
    decision: Label
    columns: tuple[str, ...]
    places: tuple[int, ...]
    facts: tuple[Fact, ...]
    rule: str
    then: str
    sufficient: Status
    minimal: Minimal
    seconds: float
    engine: str
    questions: int = 0
    target: Label | None = None
    undecided: tuple[str, ...] = ()
    within: int | None = None
    widened: bool = False
    values: tuple[tuple[int, ...], ...] = ()
    witness: NDArray[np.uint8] | None = None
    changes: tuple[Change, ...] = ()
    outcome: Label | None = None
    certificate: Certificate | None = None
    stop_reason: StopReason | None = None
    detail: str = ""
    rests_on: tuple[str, ...] = ()
    setting: Setting | None = None

    @property
    def trusts(self) -> tuple[str, ...]:
        """What must be correct for it to be correct; see ``docs/trust.md``."""
        if self.sufficient is Status.UNKNOWN:
            return ()
        if self.certificate is None:
            return self.rests_on
        shown = self.certificate.claim["answer"]
        if self.minimal == "open" or not self.columns or shown == self.minimal:
            return CHECKED
        if self.minimal == "subset" and shown != "suffices":
            return CHECKED
        return (*CHECKED, *self.rests_on)  # it shows less than is said here

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        return self.rule

    def __repr__(self) -> str:
        size = f"{len(self)} column{'s' * (len(self) != 1)}"
        known = {"smallest": "smallest", "subset": "minimal", "open": f"{len(self.undecided)} undecided"}
        took = f"{self.seconds:.3g} s" if self.seconds >= 0.9995 else f"{1000 * self.seconds:.3g} ms"
        said = [self.kind, self.sufficient.value, size, known[self.minimal], took]
        return f"<{printable(self.rule)} ({', '.join(said)})>"

    def _repr_html_(self) -> str:
        from tmverify.verify.card import explanation_card

        return explanation_card(self)


class Spaced(Named, Protocol):
    """A model, or what a store knows of one."""

    @property
    def space(self) -> Space:
        """What its features mean."""


class Words:
    """The words for columns and values of the region of one input."""

    def __init__(self, model: Spaced, region: Region) -> None:
        self.model, self.region = model, region
        # Where single bits of a column change, columns are called like their bits.
        self.by_bits = region.space is None and not model.space.only_flags
        # Values that are too far away are not said: they are no part of what a rule is about.
        self._near = {own.column: own.values[own.costs <= region.radius].tolist() for own in region.options}

    def name(self, column: int) -> str:
        """The name of a column, by its number in the region."""
        return feature_name(self.model, column) if self.by_bits else self.model.space.columns[column].name

    def fact(self, column: int, values: Sequence[int]) -> Fact:
        """That a column has one of these values, by their numbers."""
        if self.by_bits:
            name = quoted(self.name(column))
            return Fact(self.name(column), str(values[0]), name if values[0] else f"not {name}")
        values = [value for value in values if value in self._near.get(column, values)]
        own = self.model.space.columns[column]
        text = Condition(own, tuple(i in set(values) for i in range(len(own.values)))).said()
        value = own.values[values[0]] if len(values) == 1 else text.removeprefix(quoted(own.name)).strip()
        return Fact(own.name, value, text)

    def rule(self, facts: Sequence[Fact], then: str, within: int | None) -> str:
        """``IF … THEN …``; ``then`` is what follows."""
        shown = [f"({fact})" if " or " in fact.text else fact.text for fact in facts[:MOST_FACTS]]
        if len(facts) == 1:
            shown = [facts[0].text]
        if len(facts) > MOST_FACTS:
            shown.append(f"{len(facts) - MOST_FACTS} more")
        where = self.where(within)
        if not facts:
            return f"{then}, whatever changes{where}"
        return f"IF {' AND '.join(shown)} THEN {then}{where}"

    def where(self, within: int | None) -> str:
        """What limits a rule: a distance, and columns that may not change as they like."""
        rules = self.region.rules
        said = []
        if within is not None and any(rule.cost != 1 for rule in rules.columns):
            said.append(f"within cost {within}")
        elif within is not None:
            unit = "step" if rules.distance == "steps" else "change"
            said.append(f"within {within} {unit}{'s' * (within != 1)}")
        said += conditions_of_rules(self.model.space, rules)
        return f" ({'; '.join(said)})" if said else ""

    def then(self, decision: Label, target: Label | None, scope: Label) -> str:
        """What follows from a rule."""
        return decided(decision, scope) if target is None else f"not {quoted(str(target))}"


def decided(decision: Label, scope: Label) -> str:
    """A decision in words; that of one class's own machine is about this class."""
    if scope == "team":
        return quoted(str(decision))
    return quoted(str(scope)) if decision else f"not {quoted(str(scope))}"


def contrastive_rule(changes: Sequence[Change], then: str) -> str:
    """``IF … THEN … instead of …``."""
    shown = [str(change) for change in changes[:MOST_FACTS]]
    if len(changes) > MOST_FACTS:
        shown.append(f"{len(changes) - MOST_FACTS} more")
    return f"IF {' AND '.join(shown)} THEN {then}"


def values_of(
    places: Sequence[int], own: Mapping[int, int], wider: Mapping[int, set[int]]
) -> list[list[int]]:
    """The values of each column of a reason, by their numbers."""
    return [sorted(wider.get(place, {own[place]})) for place in places]
