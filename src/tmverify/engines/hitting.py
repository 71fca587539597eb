"""Minimal hitting sets of sets that come one by one, by PySAT.

A set *hits* others if it has an element of each. Smallest hitting sets are found by MaxSAT (``Hitman``, RC2),
which may take long where there are many elements: then it runs in a process of its own, which is killed at
the deadline. Minimal ones of any size are easy: any model of a SAT solver, from which elements are taken as
long as everything is hit. No part of it contains what is blocked if the model does not. One call of the
solver is several times faster than the enumeration of ``Hitman`` (LBX), which makes one for each element.
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
        self._finder: Any = None
        self.failure: Failure | None = None

    def hit(self, one: Iterable[int]) -> None:
        """One more set to be hit; it is not empty."""
        elements = frozenset(one)
        assert elements, "nothing hits the empty set"
        self._sets.append(elements)
        self._elements |= elements
        if self._finder is not None:
            self._finder.hit(sorted(elements))

    def block(self, one: Iterable[int]) -> None:
        """Hitting sets that contain this one are not wanted any more."""
        elements = frozenset(one)
        self._blocked.append(elements)
        if self._finder is not None and elements:
            self._finder.block(sorted(elements))

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
        if self._finder is None:
            self._finder = _finder(self._sets, self._blocked, self._smallest)
        return _answer(self._finder)


class _Minimal:
    """Finds minimal hitting sets of any size; element e is the variable e + 1."""

    def __init__(self) -> None:
        from pysat.solvers import Solver

        self._solver = Solver(name=_SOLVER)
        self._sets: list[int] = []  # as bits

    def hit(self, elements: list[int]) -> None:
        self._solver.add_clause([element + 1 for element in elements])
        self._solver.set_phases([-element - 1 for element in elements])
        self._sets.append(sum(1 << element for element in elements))

    def block(self, elements: list[int]) -> None:
        self._solver.add_clause([-element - 1 for element in elements])

    def get(self) -> list[int] | None:
        if not self._solver.solve():
            return None
        elements = [lit - 1 for lit in self._solver.get_model() if lit > 0]
        chosen = sum(1 << element for element in elements)
        for element in elements:
            fewer = chosen & ~(1 << element)
            if all(fewer & one for one in self._sets):
                chosen = fewer
        return [element for element in elements if chosen >> element & 1]

    def delete(self) -> None:
        self._solver.delete()


def smallest(sets: list[frozenset[int]], blocked: list[frozenset[int]]) -> frozenset[int] | None:
    """A smallest hitting set that contains no blocked one; None if there is none."""
    finder = _finder(sets, blocked, True)
    try:
        return _answer(finder)
    finally:
        finder.delete()


def _finder(sets: list[frozenset[int]], blocked: list[frozenset[int]], in_order: bool) -> Any:
    from pysat.examples.hitman import Hitman

    finder: Any = Hitman(solver=_SOLVER, htype="sorted") if in_order else _Minimal()
    for one in sets:
        finder.hit(sorted(one))
    for one in blocked:
        finder.block(sorted(one))
    return finder


def _answer(finder: Any) -> frozenset[int] | None:
    try:
        found = finder.get()
    except Exception as error:  # PySAT catches Ctrl-C while its solver runs, and raises an error of its own
        if "keyboard interrupt" in str(error):
            raise KeyboardInterrupt from None
        raise
    return None if found is None else frozenset(found)
