"""Hitting sets: is there a small set of columns that has a column of each of some sets?

A set of ``most`` columns that hits all sets has a column c of any set that one looks at. So, with the columns
looked at before c left out: take c, go on with the sets that c is not in and with one column less. A branch
has no solution if some set has no column left, or if more sets than columns that may still be taken have no
column in common, two by two.
"""

from __future__ import annotations

from collections.abc import Sequence

from tmcheck import limits
from tmcheck.errors import Refused


def is_hit(sets: Sequence[tuple[int, ...]], most: int) -> bool:
    """Whether some set of at most ``most`` columns has a column of each of these sets."""
    if most < 0:
        return False
    place = {column: i for i, column in enumerate(sorted(set().union(*sets)))}
    if len(place) * len(sets) > limits.MOST_CELLS:
        raise Refused("the witnesses differ in too many columns to see that no smaller reason is there")
    masks = {_mask([place[column] for column in columns], len(place)) for columns in sets}
    return _Search(list(masks), len(place)).finds(most)


def _mask(places: list[int], n: int) -> int:
    data = bytearray(n // 8 + 1)
    for i in places:
        data[i >> 3] |= 1 << (i & 7)
    return int.from_bytes(data, "little")


class _Search:
    """A search through the columns that may hit some sets, as masks.

    ``levels`` are the columns taken so far: for each, the sets that were not hit before, the columns that
    could be taken, those of them that are still to be tried, and how many more may be.
    """

    def __init__(self, masks: list[int], n_columns: int) -> None:
        self.masks, self.columns = masks, (1 << n_columns) - 1
        self.looked_at, self.weight = 0, n_columns // 1024 + 1

    def finds(self, most: int) -> bool:
        """Whether at most so many columns hit all sets."""
        levels: list[tuple[list[int], int, int, int]] = []
        unhit, free, left = self.masks, self.columns, most
        while True:
            self._look_at(unhit, len(levels))
            if not unhit:
                return True
            smallest = min((mask & free for mask in unhit), key=int.bit_count)
            if smallest and self._disjoint(unhit, free, left) <= left:
                levels.append((unhit, free, smallest, left))
            while levels and not levels[-1][2]:
                levels.pop()
            if not levels:
                return False
            unhit, free, untried, left = levels.pop()
            column = untried & -untried
            levels.append((unhit, free ^ column, untried ^ column, left))
            self._look_at(unhit, len(levels))
            unhit, free, left = [mask for mask in unhit if not mask & column], free ^ column, left - 1

    def _disjoint(self, unhit: list[int], free: int, enough: int) -> int:
        """How many sets, at least, have no column in common; counted until they are more than ``enough``."""
        taken = count = 0
        for mask in sorted([mask & free for mask in unhit], key=int.bit_count):
            if not mask & taken:
                taken |= mask
                count += 1
                if count > enough:
                    break
        return count

    def _look_at(self, sets: list[int], depth: int) -> None:
        self.looked_at += self.weight * (1 + len(sets))
        if self.looked_at > limits.MOST_HITTING or depth * len(self.masks) > limits.MOST_WAITING:
            raise Refused("too many sets of columns to see that no smaller reason is there")
