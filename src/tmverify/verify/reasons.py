"""Reasons for a decision, found with an oracle: which columns suffice for it, and which can alter it.

Let A(F) say that some witness differs from the input in columns of F only. Then

    K is sufficient       iff  not A(everything but K)
    D is contrastive      iff  A(D)

Both are monotone, and each kind is the minimal hitting sets of the other: a sufficient set has a column of
every contrastive one. So a witness is worth more than its answer: whatever suffices keeps one of its columns.

*One sufficient reason.* As long as there is a witness that changes free columns only, one of its columns is
kept, one that is in many witnesses. What is kept then suffices, by a single proof. After that, columns are
freed again one by one if they can be; a witness of free columns and one kept column shows that this one is
needed, now and later, because free columns only become more. Most of these witnesses come from walks that
look at many columns at once.

*A smallest one* (implicit hitting sets): a smallest set that hits all contrastive sets known so far; if it
does not suffice, there is a witness that it does not hit.

*All of them*: minimal hitting sets of the contrastive sets known so far, until each suffices. Then there are
no other reasons, of either kind (J. Marques-Silva 2024, Logic-based explainability).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Answer, Deadline, Outcome, stopped
from tmverify.engines.hitting import HittingSets
from tmverify.engines.oracle import Effort, Input, Mask, Oracle
from tmverify.properties.verdict import StopReason

_DECAY = 0.95  # of how often a column was in the latest witnesses
_LEAP = 16  # if a question is left open, the 16th part of the free columns is kept
_FEWER = 0.7  # another round of witnesses pays if the last left so many of the columns undecided, or fewer
_TIME = "no time was left"

Told = Callable[[int, int], None]
"""Told how many columns are decided, and of how many."""


class Gap(NamedTuple):
    """Why something is not known."""

    stop_reason: StopReason
    detail: str


NO_REPLAY = Gap(StopReason.REJECTED, "a witness does not replay: a bug, please report it")
CONTRADICTION = Gap(StopReason.REJECTED, "the engine contradicts itself: a bug, please report it")


@dataclass(slots=True, eq=False)
class Sufficient:
    """A sufficient set of columns, by their places among the oracle's.

    Attributes
    ----------
    kept : bool array
    needed : dict
        For columns that can't be left out, a witness of it: of the kept columns, it changes this one only.
    values : dict
        For columns of a widened reason, the values they may have.
    limits : dict
        For such a column and a value that can't be added: a witness that has it.
    """

    kept: Mask
    needed: dict[int, Input] = field(default_factory=dict)
    values: dict[int, set[int]] = field(default_factory=dict)
    limits: dict[tuple[int, int], Input] = field(default_factory=dict)
    open_values: set[int] = field(default_factory=set)
    smallest: bool = False
    gap: Gap | None = None

    @property
    def places(self) -> list[int]:
        """The columns."""
        found: list[int] = np.flatnonzero(self.kept).tolist()
        return found

    @property
    def undecided(self) -> list[int]:
        """Columns that might be left out, or made wider."""
        if self.smallest:
            return sorted(place for place in self.open_values if self.kept[place])
        return [place for place in self.places if place not in self.needed or place in self.open_values]


@dataclass(slots=True, eq=False)
class Contrastive:
    """A set of columns whose change can alter the decision; ``undecided`` ones might be left out."""

    changed: Mask
    witness: Input
    undecided: list[int]
    smallest: bool = False
    gap: Gap | None = None

    @property
    def places(self) -> list[int]:
        """The columns."""
        found: list[int] = np.flatnonzero(self.changed).tolist()
        return found


class Reasons:
    """Finds reasons; witnesses that were met once are kept (``pool``)."""

    def __init__(self, oracle: Oracle, deadline: Deadline, told: Told | None = None) -> None:
        self.oracle, self.deadline = oracle, deadline
        self.n = len(oracle.columns)
        self.weights = oracle.weights()
        self.pool: list[tuple[Mask, Input]] = []
        self._often = np.zeros(self.n)
        self._value_of: dict[tuple[int, bytes], int] = {}
        self._told = told or (lambda done, total: None)

    # One sufficient reason.

    def sufficient(self) -> Sufficient:
        """A sufficient set from which no column can be left out, or as near to that as time allows."""
        found = Sufficient(np.zeros(self.n, np.bool_))
        # What alters the decision by itself is needed, whatever else is kept.
        for z in self.oracle.near(found.kept, ~found.kept, thorough=True):
            self._need(found, z, self.oracle.changed(z))
        found.kept[list(found.needed)] = True
        n_left = self.n
        self._cover(found)
        while found.gap is None:
            found.needed = {place: z for place, z in found.needed.items() if self._is_needed(z, found.kept)}
            self._shown_by_pool(found)
            self._sweep(found, thorough=True)
            if not 0 < len(found.undecided) < n_left * _FEWER or self.deadline.passed():
                self._minimise(found)
                break
            # A proof for each column would be dear: better have further witnesses, and one proof for all.
            n_left = len(found.undecided)
            fewer = self._without_superfluous(found)
            self._cover(fewer)
            if fewer.gap is None:
                found = fewer
        return found

    def _cover(self, found: Sufficient) -> None:
        """Keep a column of each further witness, until there is none."""
        half = self.deadline.share(1 / 2, unlimited=600.0)
        while True:
            self._tell(int(found.kept.sum()))
            answer = self._ask(~found.kept, Effort.LITTLE)
            if answer.outcome is Outcome.NO_WITNESS:
                return
            if self.deadline.passed():
                found.kept[:] = True
                found.gap = self._no_time()
                return
            if answer.witness is not None:
                found.kept[self._most_frequent(self._pooled(answer.witness), 1)] = True
            if answer.witness is None or half.passed():  # too hard: keep more than witnesses demand
                n = int((~found.kept).sum()) // _LEAP
                found.kept[self._most_frequent(~found.kept, n + 1)] = True

    def _without_superfluous(self, found: Sufficient) -> Sufficient:
        """Undecided columns freed, as long as every known witness changes a kept one; no longer proved."""
        kept = found.kept.copy()
        sets = np.array([changed for changed, _ in self.pool], np.bool_).reshape(-1, self.n)
        n_kept = (sets & kept).sum(axis=1)
        undecided = np.zeros(self.n, np.bool_)
        undecided[found.undecided] = True
        for place in self._most_frequent(undecided, self.n)[::-1]:
            has = sets[:, place]
            if (n_kept[has] > 1).all():
                kept[place] = False
                n_kept -= has
        return Sufficient(kept, dict(found.needed))

    def _is_needed(self, z: Input, kept: Mask) -> bool:
        return int((self.oracle.changed(z) & kept).sum()) == 1

    def _pooled(self, z: Input) -> Mask:
        """The columns of a witness without needless changes, which is remembered."""
        z = self.eased(z)
        changed = self.oracle.changed(z)
        self.pool.append((changed, z))
        self._often *= _DECAY
        self._often += changed
        return changed

    def eased(self, z: Input) -> Input:
        """A witness without needless changes; as it is, if easing leaves no change, or makes others."""
        fewer = self.oracle.eased(z, self.weights)
        changed = self.oracle.changed(fewer)
        return fewer if changed.any() and not (changed & ~self.oracle.changed(z)).any() else z

    def _most_frequent(self, among: Mask, n: int) -> NDArray[np.int64]:
        places = np.flatnonzero(among)
        order = np.lexsort((-self.weights[places], -self._often[places]))
        return np.asarray(places[order[:n]], np.int64)

    def _minimise(self, found: Sufficient) -> None:
        """Free the columns that can be freed, and show that the others can't."""
        for effort in Effort:
            self._free(found, effort)
            if not found.undecided:
                found.gap = None
            if found.gap in (None, CONTRADICTION) or self.deadline.passed():
                break

    def _free(self, found: Sufficient, effort: Effort) -> None:
        """Free undecided columns one by one, those that matter least first, unless a witness needs them."""
        found.gap = None
        for place in sorted(found.undecided, key=lambda place: (self.weights[place], place)):
            if place in found.needed:
                continue
            self._tell(self.n - len(found.undecided))
            if self.deadline.passed():
                found.gap = self._no_time()
                return
            free = ~found.kept
            free[place] = True
            answer = self._ask(free, effort, must=place)
            if answer.outcome is Outcome.NO_WITNESS:
                found.kept[place] = False
            elif answer.witness is None:
                found.gap = gap_of(answer)
            elif self._need(found, answer.witness, self.oracle.changed(answer.witness) & found.kept):
                self._sweep(found, thorough=False)
            else:  # a witness against what was proved: nothing is believed any more
                found.kept[:] = True
                found.needed.clear()
                found.gap = CONTRADICTION
                return

    def _need(self, found: Sufficient, z: Input, changed: Mask) -> bool:
        """Note that a column is needed, if it is the only one of the kept that a witness changes."""
        places = np.flatnonzero(changed)
        if len(places) != 1:
            return False
        found.needed.setdefault(int(places[0]), z)
        return True

    def _shown_by_pool(self, found: Sufficient) -> Sufficient:
        """Note the columns that known witnesses show to be needed."""
        for changed, z in self.pool:
            self._need(found, z, changed & found.kept)
        return found

    def _sweep(self, found: Sufficient, *, thorough: bool) -> None:
        wanted = np.zeros(self.n, np.bool_)
        wanted[found.undecided] = True
        if not wanted.any():
            return
        for z in self.oracle.near(~found.kept, wanted, thorough=thorough):
            self._need(found, z, self.oracle.changed(z) & found.kept)

    # One contrastive reason.

    def contrastive(self) -> Contrastive | Gap | None:
        """A set of columns that can alter the decision, none to spare; None if there is none."""
        answer = self._ask(np.ones(self.n, np.bool_), Effort.ALL)
        if answer.witness is None:
            return None if answer.outcome is Outcome.NO_WITNESS else gap_of(answer)
        return self.contrast(answer.witness)

    def contrast(self, z: Input) -> Contrastive:
        """A minimal set of columns within those that ``z``, a witness, changes."""
        z = self.eased(z)
        changed = self.oracle.changed(z)
        decided: set[int] = set()
        found = Contrastive(changed, z, [])
        while left := [place for place in found.places if place not in decided]:
            place = left[0]
            free = found.changed.copy()
            free[place] = False
            answer = self._ask(free, Effort.ALL)
            if answer.witness is not None:
                found.witness = self.eased(answer.witness)
                found.changed = self.oracle.changed(found.witness)
                continue
            decided.add(place)
            if answer.outcome is Outcome.STOPPED:
                found.undecided.append(place)
                found.gap = gap_of(answer)
        found.undecided = [place for place in found.undecided if found.changed[place]]
        if not found.undecided:
            found.gap = None
        return found

    # Smallest ones.

    def smallest_sufficient(self) -> Sufficient:
        """A sufficient set of as few columns as can be; if time runs out, one that may not be smallest."""
        known = self.sufficient()
        if known.undecided and self.deadline.passed():
            return known
        hitting = HittingSets(smallest=True)
        for changed, _ in self.pool:
            hitting.hit(np.flatnonzero(changed).tolist())
        for z in known.needed.values():
            self._hit(hitting, z)
        while True:
            self._tell(0)
            hit = hitting.next(self.deadline)
            if hit is None:
                reason = hitting.failure
                known.gap = Gap(reason.stop_reason, reason.detail) if reason else self._no_time()
                return known
            if len(hit) == known.kept.sum():
                known.smallest, known.gap = True, None  # nothing smaller hits what must be hit
                return known
            kept = np.zeros(self.n, np.bool_)
            kept[list(hit)] = True
            free = ~kept
            answer = self._ask(free, Effort.ALL)
            if answer.outcome is Outcome.NO_WITNESS:
                return self._shown_by_pool(Sufficient(kept, smallest=True))
            if answer.witness is None:
                known.gap = gap_of(answer)
                return known
            further: Input | None = answer.witness
            while further is not None:  # apart from those before
                free &= ~self._hit(hitting, further)
                further = self.oracle.guess(free)
                if further is not None and not self._is_new(further, free):
                    break

    def _hit(self, hitting: HittingSets, z: Input) -> Mask:
        changed = self._pooled(z)
        hitting.hit(np.flatnonzero(changed).tolist())
        return changed

    def smallest_contrastive(self) -> Contrastive | Gap | None:
        """A contrastive set of as few columns as can be: a smallest one that hits all sufficient sets."""
        first = self.contrastive()
        if not isinstance(first, Contrastive):
            return first
        hitting = HittingSets(smallest=True)
        while True:
            hit = hitting.next(self.deadline)
            if hit is None:
                reason = hitting.failure
                first.gap = Gap(reason.stop_reason, reason.detail) if reason else self._no_time()
                return first
            if len(hit) == first.changed.sum():
                first.smallest, first.gap, first.undecided = True, None, []
                return first
            free = np.zeros(self.n, np.bool_)
            free[list(hit)] = True
            answer = self._ask(free, Effort.ALL)
            if answer.witness is not None:
                return Contrastive(self.oracle.changed(answer.witness), answer.witness, [], smallest=True)
            if answer.outcome is Outcome.STOPPED:
                first.gap = gap_of(answer)
                return first
            known = Sufficient(~free)
            self._minimise(known)
            if known.gap is CONTRADICTION or not known.places:  # nothing alters the decision, says the oracle
                first.gap = CONTRADICTION
                return first
            hitting.hit(known.places)

    # All of them.

    def all(self) -> Iterator[Sufficient | Contrastive | Gap]:
        """Reasons of both kinds, as they are found; in the end, a Gap if there may be others."""
        hitting = HittingSets(smallest=False)
        while True:
            hit = hitting.next(self.deadline)
            if hit is None:
                if hitting.failure is not None:
                    yield Gap(hitting.failure.stop_reason, hitting.failure.detail)
                return
            kept = np.zeros(self.n, np.bool_)
            kept[list(hit)] = True
            answer = self._ask(~kept, Effort.ALL)
            if answer.outcome is Outcome.STOPPED:
                yield gap_of(answer)
                return
            if answer.witness is None:
                hitting.block(hit)
                yield self._shown_by_pool(Sufficient(kept))
                continue
            contrast = self.contrast(answer.witness)
            if contrast.undecided:
                yield contrast.gap or self._no_time()
                return
            self.pool.append((contrast.changed, contrast.witness))
            hitting.hit(contrast.places)
            yield contrast

    def origin_values(self, places: list[int]) -> dict[int, int]:
        """The value that the input has in each of these columns, by its number."""
        return {place: self.value_in(place, self.oracle.query.region.origin) for place in places}

    def value_in(self, place: int, z: Input) -> int:
        """The number of the value that an input has in a column."""
        region, column = self.oracle.query.region, int(self.oracle.columns[place])
        if region.space is None:
            return int(z[column])
        own = region.space.columns[column]
        bits = z[own.bits.start : own.bits.stop]
        key = place, bits.tobytes()
        if key not in self._value_of:
            self._value_of[key] = int(own.part.value_indices(bits[None, :])[0])
        return self._value_of[key]

    def _ask(self, free: Mask, effort: Effort, must: int | None = None) -> Answer:
        if not free.any():
            return Answer(Outcome.NO_WITNESS)  # the input itself is no witness
        if self.deadline.passed():  # a walk might find a witness all the same, again and again
            return stopped(*self._no_time())
        answer = self.oracle.ask(free, self.deadline, effort, must=must)
        z = answer.witness
        return REJECTED if z is not None and not self._is_new(z, free) else answer

    def _is_new(self, z: Input, free: Mask) -> bool:
        """Whether an oracle's witness changes something, and only what is free; else loops might not end.

        It is replayed later, with all others, if something rests on it.
        """
        changed = self.oracle.changed(z)
        return bool(changed.any()) and not (changed & ~free).any() and self.oracle.query.region.contains(z)

    def _tell(self, done: int) -> None:
        self._told(done, self.n)

    def _no_time(self) -> Gap:
        seconds = self.deadline.seconds
        return Gap(StopReason.TIMEOUT, _TIME if seconds is None else f"{_TIME} after {seconds:g} s")


REJECTED = stopped(*NO_REPLAY)


def gap_of(answer: Answer) -> Gap:
    """Why a question was left open."""
    return Gap(answer.stop_reason or StopReason.CRASHED, answer.detail)
