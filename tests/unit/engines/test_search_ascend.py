"""Walks and easing: the kernels do step by step what the definitions say, and what they find is there."""

from __future__ import annotations

import numpy as np

from support.flips import Flips, Toy, mask, random_toy
from tmverify.engines.search._ascend import TENURE, ascend, count_position, ease
from tmverify.engines.search.oracle import Position

PATIENCE = 20


def shortfall(toy: Toy, flips: Flips) -> int:
    return sum(max(0, need - votes) for need, votes in zip(toy.needs, toy.sums(flips), strict=True))


def twin_ascend(toy: Toy, may: Flips, beyond: Flips, start: Flips) -> tuple[bool, Flips, dict[int, Flips]]:
    """Whether the walk arrives, where it ends, and what it finds for features beyond."""
    flips, best, idle, step = start, None, 0, 0
    until = dict.fromkeys(range(toy.n), 0)
    found: dict[int, Flips] = {}
    while shortfall(toy, flips):
        step += 1
        room = [i for i in range(toy.n) if i in flips or len(flips) < toy.radius]
        for i in room:
            if i in beyond - may and i not in found and not shortfall(toy, flips ^ {i}):
                found[i] = flips
        short = shortfall(toy, flips)
        idle = 0 if best is None or short < best else idle + 1
        best = short if best is None else min(best, short)
        able = [i for i in room if i in may and until[i] < step]
        if not able or idle > PATIENCE:
            return False, flips, found
        chosen = min(able, key=lambda i: shortfall(toy, flips ^ {i}))
        flips ^= {chosen}
        until[chosen] = step + TENURE
    return True, flips, found


def somewhere(toy: Toy) -> Position:
    """Whatever was there before makes no difference."""
    k = len(toy.needs)
    return Position(
        np.ones(toy.n, np.bool_),
        np.full(len(toy.clauses), 7, np.int32),
        np.full(k, 7, np.int64),
        np.full((k, toy.n), 7, np.int64),
        np.full(len(toy.clauses), 7, np.int32),
    )


def position_at(toy: Toy, flips: Flips) -> Position:
    """A position at these flips, counted."""
    here = somewhere(toy)
    here.flips[:] = mask(flips, toy.n)
    count_position(toy.problem().arrays, here)
    return here


def same(here: Position, there: Position) -> bool:
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(here, there, strict=True))


def walk(
    toy: Toy, may: Flips, beyond: Flips, start: Flips, room: int = 1000
) -> tuple[bool, Flips, dict[int, Flips]]:
    """The kernel, as ``twin_ascend``; there are so many numbers of room for what it finds."""
    flips, left = mask(start, toy.n), mask(beyond, toy.n)
    before = frozenset(range(0, toy.n, 2))
    near, here = position_at(toy, before), somewhere(toy)
    ends, found = np.zeros(toy.n + 2, np.int64), np.zeros(room, np.int32)
    problem = toy.problem()
    until, watched = np.full((2, toy.n), 7, np.int64)
    reached = ascend(
        *(problem.arrays, mask(may, toy.n), left, toy.radius, PATIENCE),
        *(flips, near, here, until, watched, ends, found),
    )
    assert same(near, position_at(toy, start))
    assert same(here, position_at(toy, frozenset(np.flatnonzero(here.flips).tolist())))
    listed = [found[ends[i] : ends[i + 1]].tolist() for i in range(ends[-1])]
    assert beyond - set(np.flatnonzero(left).tolist()) == {one[0] for one in listed}
    assert len({one[0] for one in listed}) == len(listed)
    return (
        bool(reached),
        frozenset(np.flatnonzero(here.flips).tolist()),
        {i: frozenset(some) for i, *some in listed},
    )


def random_set(rng: np.random.Generator, n: int, share: float) -> Flips:
    return frozenset(np.flatnonzero(rng.random(n) < share).tolist())


def random_question(rng: np.random.Generator) -> tuple[Toy, Flips, Flips, Flips]:
    """A toy, what may flip, what is beyond, and where the walk starts."""
    toy = random_toy(
        rng,
        n=int(rng.integers(1, 10)),
        n_clauses=int(rng.integers(0, 20)),
        n_constraints=int(rng.integers(1, 4)),
        heaviest=int(rng.choice([1, 3, 2**32])),
        radius=int(rng.integers(0, 10)),
    )
    may, beyond = random_set(rng, toy.n, 0.6), random_set(rng, toy.n, 0.5)
    start = random_set(rng, toy.n, 0.4) & may
    if rng.random() < 0.3:  # flips that are never taken back
        start |= random_set(rng, toy.n, 0.2) - beyond
    return toy, may, beyond, frozenset(sorted(start)[: toy.radius])


def test_a_walk_goes_where_the_definition_says() -> None:
    rng = np.random.default_rng(0)
    met = {True: 0, False: 0}
    n_found = 0
    for _ in range(1200):
        toy, may, beyond, start = random_question(rng)
        reached, end, found = walk(toy, may, beyond, start)
        assert (reached, end, found) == twin_ascend(toy, may, beyond, start)
        assert end <= may | start
        assert len(end) <= max(toy.radius, len(start))
        if reached:
            assert toy.solved_by(end)
        for feature, flips in found.items():
            assert feature in beyond - may
            assert flips <= may | start
            assert toy.solved_by(flips | {feature})
        met[reached] += 1
        n_found += len(found)
    assert min(met.values()) > 50
    assert n_found > 60


def test_a_planted_witness_is_found() -> None:
    """One further flip is all that lacks: whatever the walk does later, it has seen that."""
    rng = np.random.default_rng(1)
    planted = 0
    for _ in range(400):
        toy, may, _, start = random_question(rng)
        if shortfall(toy, start) == 0:
            continue
        missing = [i for i in range(toy.n) if i not in may and toy.solved_by(start | {i}) and i not in start]
        _, _, found = walk(toy, may, frozenset(missing), start)
        assert {i: found[i] for i in missing} == dict.fromkeys(missing, start)
        planted += len(missing)
    assert planted > 40


def test_no_room_for_what_is_found() -> None:
    """What does not fit is not written; what is written is right."""
    rng = np.random.default_rng(2)
    cut = 0
    for _ in range(800):
        toy, may, beyond, start = random_question(rng)
        _, _, everything = walk(toy, may, beyond, start)
        room = int(rng.integers(0, 6))
        reached, _, found = walk(toy, may, beyond, start, room)
        assert sum(1 + len(flips) for flips in found.values()) <= room
        assert reached == twin_ascend(toy, may, beyond, start)[0]
        for feature, flips in found.items():
            assert toy.solved_by(flips | {feature})
        cut += len(found) < len(everything)
    assert cut > 20


def twin_ease(toy: Toy, order: list[int], flips: Flips) -> Flips | None:
    if shortfall(toy, flips):
        return None
    while True:
        superfluous = [i for i in sorted(flips) if not shortfall(toy, flips - {i})]
        if not superfluous:
            return flips
        flips -= {min(superfluous, key=lambda i: order[i])}


def test_needless_flips_are_taken_back() -> None:
    rng = np.random.default_rng(3)
    eased = 0
    for _ in range(600):
        toy, *_ = random_question(rng)
        start = random_set(rng, toy.n, 0.6)
        order = rng.integers(-3, 4, toy.n)
        here = position_at(toy, random_set(rng, toy.n, 0.5))
        good = ease(toy.problem().arrays, order, mask(start, toy.n), here)
        expected = twin_ease(toy, order.tolist(), start)
        assert good == (expected is not None)
        end = frozenset(np.flatnonzero(here.flips).tolist())
        assert same(here, position_at(toy, end))
        assert end == (start if expected is None else expected)
        eased += end < start
    assert eased > 50
