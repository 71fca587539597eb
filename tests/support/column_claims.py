"""Claims about columns, tiny: their truth by looking at every input, and proofs found by trying steps out.

``is_true`` is slow and obviously correct: it knows models and spaces of the library, and nothing of the
checker. ``prove`` writes certificates: it asks the checker's own steps how a branch can be closed, and splits
it until it can be.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.certified import claim as claim_text
from support.columns import values_of
from support.tiny import all_inputs
from tmcheck.branches import MoveBranch
from tmcheck.claim import Terms
from tmcheck.errors import Refused
from tmcheck.model import Machine, read_model
from tmcheck.moves import places
from tmcheck.reader import Reader
from tmcheck.refutation import Refutation
from tmcheck.surroundings import Pool, Surroundings
from tmcheck.ways import Constraint, ways_to_violate
from tmverify.model.file import encode

Bits = NDArray[np.uint8]
Rng = np.random.Generator


def hexadecimal(bits: Bits) -> str:
    return np.packbits(bits).tobytes().hex()


def random_space(rng: Rng) -> tv.Space:
    """A space of four to seven bits."""
    parts: list[Any] = []
    bits = 0
    while bits < 4 or (bits < 6 and rng.random() < 0.6):
        name, kind = f"c{len(parts)}", int(rng.integers(0, 4))
        part: Any = tv.Flag(name)
        if kind == 1:
            part = tv.Number(name, list(range(int(rng.integers(0, 4)))), bool(rng.random() < 0.3))
        elif kind == 2:
            values = [f"v{i}" for i in range(int(rng.integers(1, 4)))]
            part = tv.Category(name, values, bool(rng.random() < 0.4), bool(rng.random() < 0.3))
        elif kind == 3:
            part = tv.Text(["good", "bad"][: int(rng.integers(1, 3))], name)
        if bits + part.n_bits <= 7:
            parts.append(part)
            bits += part.n_bits
    return tv.Space(parts)


# ------------------------------------------------------------------------------------------------- the truth


def cost_of_change(claim: dict[str, Any], column: Any, number: int, before: int, after: int) -> int | None:
    """What a change costs, None if it is not allowed."""
    rules = {rule[0]: rule[1:] for rule in claim["columns"] or []}
    way, values, factor = rules.get(number, ["any", None, 1])
    if before == after:
        return 0
    intervals = range(len(column.part.cuts) + 1) if column.kind == "number" else range(0)
    ordered = range(2) if column.kind in ("flag", "word", "pixel") else intervals
    if way == "keep" or (values is not None and after not in values):
        return None
    wrong_way = before not in ordered or after not in ordered or (after > before) != (way == "up")
    if way in ("up", "down") and wrong_way:
        return None
    steps = claim["distance"] == "steps" and before in intervals and after in intervals
    return int(factor) * (abs(after - before) if steps else 1)


def region_of(claim: dict[str, Any], space: tv.Space, x: Bits) -> list[tuple[Bits, int]] | None:
    """All inputs of the region without its budget, and what they cost; None if x is impossible."""
    found = []
    flags = claim["distance"] == "bits"
    mask = None
    if claim["features"] is not None:
        mask = np.unpackbits(np.frombuffer(bytes.fromhex(claim["features"]), np.uint8))[: len(x)]
    columns = tv.Space.flags(len(x)) if flags else space
    here = values_of(columns, x[None, :])[0].tolist()
    if -1 in here:
        return None
    prices = [
        [cost_of_change(claim, column, i, here[i], v) for v in range(len(column.part.patterns))]
        for i, column in enumerate(columns.columns)
    ]
    inputs = all_inputs(len(x))
    for z, there in zip(inputs, values_of(columns, inputs).tolist(), strict=True):
        if -1 in there:
            continue
        changed = {i for i, (a, b) in enumerate(zip(here, there, strict=True)) if a != b}
        if any(changed.issuperset(some) for some in claim["apart"] or []):
            continue
        if flags:
            if mask is not None and any(not mask[i] for i in changed):
                continue
            if claim["direction"] and any(z[i] != (claim["direction"] == "add") for i in changed):
                continue
            costs: list[int | None] = [len(changed)]
        else:
            costs = [prices[i][v] for i, v in enumerate(there)]
        if None not in costs:
            found.append((z, sum(cost for cost in costs if cost is not None)))
    return found


def scores_of(model: tv.Model, bits: Bits) -> list[int]:
    """The scores of an input, clause by clause."""
    scores = [int(b) for b in model.bias]
    for j, clause in enumerate(model.clauses):
        fires = all(bool(bits[abs(literal) - 1]) == (literal > 0) for literal in clause)
        if fires and (len(clause) or model.empty_clause == "fires"):
            scores = [score + int(w) for score, w in zip(scores, model.weights[:, j], strict=True)]
    return scores


def decided_by(model: tv.Model, votes: list[int]) -> int:
    if len(votes) > 1:
        return votes.index(max(votes))
    return int(votes[0] > 0 or (votes[0] == 0 and model.tie == "positive"))


def votes_of(model: tv.Model, bits: Bits) -> list[int]:
    """The scores, cut if the model says so."""
    scores, top = scores_of(model, bits), model.clamp
    return scores if top is None else [max(-top, min(top, score)) for score in scores]


def lead_of(votes: Any, c: int) -> int:
    """By how many votes a class is ahead of all others."""
    if len(votes) == 1:
        return int(votes[0]) if c == 1 else -int(votes[0])
    return int(votes[c]) - max(int(v) for i, v in enumerate(votes) if i != c)


def violating_costs(claim: dict[str, Any], models: Sequence[tv.Model], x: Bits) -> list[int] | None:
    """The costs of all inputs of the region that violate the property."""
    space = next((model.space for model in models if model.space.named), models[0].space)
    region = region_of(claim, space, x)
    if region is None:
        return None
    machines = [model if claim["scope"] == "team" else model.single(claim["scope"]) for model in models]
    inputs = np.array([z for z, _ in region])
    decided = [np.asarray(machine.predict(inputs)) for machine in machines]
    if claim["target"] is not None:
        bad = decided[0] == claim["target"]
    elif len(machines) == 2:
        bad = decided[0] != decided[1]
    else:
        bad = decided[0] != machines[0].predict(x[None, :])[0]
    if claim["margin"]:
        close = [any(_stands_by(machine, z) < claim["margin"] for machine in machines) for z in inputs]
        bad = bad | np.array(close)
    return [cost for (_, cost), wrong in zip(region, bad, strict=True) if wrong]


def _stands_by(model: tv.Model, z: Bits) -> int:
    """By how many votes the decision on an input stands."""
    votes = votes_of(model, z)
    return lead_of(votes, decided_by(model, votes))


def is_true(text: bytes, models: Sequence[tv.Model]) -> bool:
    """Whether the claim in a certificate's text is true of these models, by looking at every input."""
    first, *rest = text.splitlines()
    claim = json.loads(first)
    n = models[0].n_features
    if claim["question"] == "equivalence":
        everything = all_inputs(n)
        if claim["distance"] != "bits":
            space = next((model.space for model in models if model.space.named), models[0].space)
            everything = everything[space.possible(everything)]
        machines = [model if claim["scope"] == "team" else model.single(claim["scope"]) for model in models]
        a, b = (np.asarray(machine.predict(everything)) for machine in machines)
        return bool((a == b).all() == (claim["answer"] == "holds"))
    inputs = [
        np.unpackbits(np.frombuffer(bytes.fromhex(line.split()[1].decode()), np.uint8))[:n]
        for line in rest
        if line.startswith(b"input ")
    ]
    costs = [violating_costs(claim, models, x) for x in inputs]
    if None in costs or len(inputs) != claim["inputs"]:
        return False
    nearest = [min(some, default=math.inf) for some in costs if some is not None]
    if claim["answer"] == "radius":
        return bool(nearest[0] == (math.inf if claim["radius"] is None else claim["radius"]))
    holds = sum(cost > claim["epsilon"] for cost in nearest)
    enough = holds >= Fraction(claim["eta"]) * len(inputs)
    return bool(enough == (claim["answer"] == "holds"))


# ------------------------------------------------------------------------------------------------ the proofs


def free_columns(tree: Refutation) -> list[tuple[int, list[int]]]:
    """The columns with several options left, and these."""
    if isinstance(tree.branch, MoveBranch):
        problem = tree.branch.problem
        found = [
            (c, [some.values[o] for o in places(mask)])
            for c, mask, some in zip(problem.columns, tree.branch.alive, problem.options, strict=True)
        ]
        return [(c, values) for c, values in found if len(values) > 1]
    flips = tree.branch.problem
    return [(c, list(flips.values(c))) for c in flips.columns if c not in tree.branch.fixed]


def steps_of(tree: Refutation, rng: Rng) -> Iterator[str]:
    """Steps that refute a problem; Refused if it has a solution."""
    while not tree.done:
        try:
            tree.close()
            yield "close"
            continue
        except Refused as reason:
            if "meets every need" in str(reason):
                raise
        for step in ("fix", "shrink"):
            if rng.random() < 0.5:
                try:
                    getattr(tree, step)()
                    yield step
                except Refused:
                    pass
        free = free_columns(tree)
        if free and not tree.done:
            c, values = free[rng.integers(0, len(free))]
            v = int(rng.choice(values))
            tree.split(c, v)
            yield f"split {c} {v}"


def spelled(constraint: Constraint) -> str:
    terms, bound = constraint
    return ",".join(f"{row}:{k}" for row, k in terms) + f">={bound}"


def refutations(models: Sequence[tv.Model], claim: dict[str, Any], x: Bits, rng: Rng) -> list[str] | None:
    """Lines that refute every way to violate within epsilon; None if one of them has a solution."""
    read = [read_model(encode(model)).model for model in models]
    region = Terms(claim, read, Reader(io.BytesIO())).around(x.tobytes())
    scoped = [model.in_scope(claim["scope"]) for model in read]
    machines = [machine for machine in scoped if isinstance(machine, Machine)]
    around = Surroundings(Pool(machines), region)
    radius, expected, target = claim["epsilon"], None, None
    if claim["target"] is not None:
        target = list(models[0].classes).index(claim["target"])
    elif len(machines) == 1:
        expected = machines[0].decide(region.centre)
    lines: list[str] = []
    numbers: dict[Constraint, int] = {}
    for way in ways_to_violate(machines, expected, target, claim["margin"]):
        chosen = sorted(way)
        for constraint in chosen:
            if constraint not in numbers:
                numbers[constraint] = len(numbers)
                lines.append(f"constraints {spelled(constraint)}")
        listed = ",".join(str(numbers[constraint]) for constraint in chosen)
        for keep in hitting_sets(region.apart):
            tree = Refutation(around.problem(chosen, (radius, (), keep)), 4)
            kept = f" keep {','.join(map(str, keep))}" if keep else ""
            try:
                lines += [f"refute {listed} {radius} 4{kept}", *steps_of(tree, rng)]
            except Refused:
                return None
    return lines


def hitting_sets(apart: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Sets of columns, with a column of each list: every set that has one contains one of these."""
    found: set[frozenset[int]] = {frozenset()}
    for some in apart:
        met = {kept for kept in found if not kept.isdisjoint(some)}
        found = met | {kept | {c} for kept in found - met for c in some}
    return sorted(tuple(sorted(kept)) for kept in found)


def prove(question: str, models: Sequence[tv.Model], x: Bits, rng: Rng, **others: Any) -> bytes | None:
    """A certificate that the property holds, or None if there is no proof."""
    text = claim_text(question, *models, **others)
    lines = refutations(models, json.loads(text), x, rng)
    if lines is None:
        return None
    return text + "\n".join([f"input {hexadecimal(x)}", *lines, "end\n"]).encode()
