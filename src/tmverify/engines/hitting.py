"""Minimal hitting sets of sets that come one by one, by PySAT's ``Hitman``.

A set *hits* others if it has an element of each. Smallest hitting sets are found by MaxSAT (RC2), which may
take long where there are many elements: then it runs in a process of its own, which is killed at the
deadline. Minimal ones of any size are easy: MCS enumeration (LBX).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tmverify.engines.engine import Deadline
from tmverify.engines.subprocesses.call import Failure, call

FEW = 40  # elements: with no more, MaxSAT is a matter of milliseconds
_SOLVER = "g4"


class HittingSets:
    """The minimal hitting sets of the sets so far, the smallest first if ``smallest``; blocked ones are not.

    Attributes
    ----------
    failure : Failure or None
        Why the last ``next`` has no answer, if that is not because there is none.
    """

    def __init__(self, *, smallest: bool) -> None:
        self._smallest = smallest
        self._sets: list[frozenset[int]] = []
        self._blocked: list[frozenset[int]] = []
        self._elements: set[int] = set()
        self._hitman: Any = None
        self.failure: Failure | None = None

    def hit(self, one: Iterable[int]) -> None:
        """One more set to be hit; it is not empty."""
        elements = frozenset(one)
        assert elements, "nothing hits the empty set"
        self._sets.append(elements)
        self._elements |= elements
        if self._hitman is not None:
            self._hitman.hit(sorted(elements))

    def block(self, one: Iterable[int]) -> None:
        """Hitting sets that contain this one are not wanted any more."""
        elements = frozenset(one)
        self._blocked.append(elements)
        if self._hitman is not None and elements:
            self._hitman.block(sorted(elements))

    def next(self, deadline: Deadline) -> frozenset[int] | None:
        """A hitting set, or None: there is no other, or no time (``failure``)."""
        self.failure = None
        if frozenset() in self._blocked:
            return None
        if not self._sets:
            return frozenset()
        if self._smallest and len(self._elements) > FEW:
            result = call("tmverify.engines.hitting:smallest", (self._sets, self._blocked), deadline)
            if isinstance(result, Failure):
                self.failure = result
                return None
            return result  # type: ignore[no-any-return]
        if self._hitman is None:
            self._hitman = _hitman(self._sets, self._blocked, self._smallest)
        return _answer(self._hitman)


def smallest(sets: list[frozenset[int]], blocked: list[frozenset[int]]) -> frozenset[int] | None:
    """A smallest hitting set that contains no blocked one; None if there is none."""
    hitman = _hitman(sets, blocked, True)
    try:
        return _answer(hitman)
    finally:
        hitman.delete()


def _hitman(sets: list[frozenset[int]], blocked: list[frozenset[int]], in_order: bool) -> Any:
    from pysat.examples.hitman import Hitman

    hitman = Hitman(
        bootstrap_with=[sorted(one) for one in sets], solver=_SOLVER, htype="sorted" if in_order else "lbx"
    )
    for one in blocked:
        hitman.block(sorted(one))
    return hitman


def _answer(hitman: Any) -> frozenset[int] | None:
    try:
        found = hitman.get()
    except Exception as error:  # PySAT catches Ctrl-C while its solver runs, and raises an error of its own
        if "keyboard interrupt" in str(error):
            raise KeyboardInterrupt from None
        raise
    return None if found is None else frozenset(found)
