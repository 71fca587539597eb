"""Reasons for decisions are certified by what engines prove of parts of a region; the checker accepts it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import refusal, text_of
from support.columns import random_row
from support.reasons import decided, decided_apart, honest, is_true, random_asked, random_network_asked
from tmverify.certificates import claims
from tmverify.properties.allowed import Allowed
from tmverify.properties.region import Region


def check_seed(seed: int, n: int, *, networks: bool = False) -> Counter[Any]:
    rng = np.random.default_rng(seed)
    seen: Counter[Any] = Counter()
    for _ in range(n):
        asked = random_network_asked(rng) if networks else random_asked(rng)
        for certificate in honest(rng, asked):
            text = text_of(certificate)
            assert is_true(text, asked.model), text.decode()
            assert refusal(text, [asked.model.encode()]) is None, text.decode()
            seen[certificate.claim["answer"]] += 1
            reason: Any = certificate.claim["reason"]
            seen["wide"] += any(len(values or ()) > 1 for _, values in reason)
    return seen


@pytest.mark.parametrize("seed", range(2))
def test_reasons_of_machines(seed: int) -> None:
    seen = check_seed(seed, 100)
    assert min(seen.values()) > 40
    assert len(seen) == 6


def test_reasons_of_networks() -> None:
    seen = check_seed(0, 60, networks=True)
    assert min(seen[answer] for answer in ("suffices", "minimal", "widest", "smallest", "contrastive")) > 30


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 108))
def test_reasons_more(seed: int) -> None:
    check_seed(seed, 1500)
    check_seed(seed, 300, networks=True)


SPACE = tv.Space(
    [
        tv.Number("age", range(20, 70, 5), missing=True),
        tv.Category("city", ["Bergen", "Oslo", "Tromsø", "Bodø"], other=True),
        *(tv.Flag(f"f{i}") for i in range(6)),
        tv.Number("income", range(8)),
        tv.Category("job", ["a", "b", "c", "d", "e"], missing=True),
    ]
)


def random_question(rng: np.random.Generator) -> tv.Query:
    """About a model whose bounds are loose."""
    n = SPACE.n_bits
    clauses = [(rng.choice(n, 3, replace=False) + 1) * rng.choice([-1, 1], 3) for _ in range(4 * n)]
    weights = rng.integers(-3, 4, size=(1, len(clauses)))
    model = tv.Model.from_clauses(n, [clause.tolist() for clause in clauses], weights, space=SPACE)
    allowed = Allowed("steps", increase=["income"], cost={"age": 2, "f0": 3, "job": 0})
    return tv.robustness_query(model, random_row(rng, SPACE), 6, allowed=allowed)


def options_of(query: tv.Query) -> dict[int, list[int]]:
    """The options of each column that may change, the present one first."""
    region = query.region
    found = {own.column: own.values.tolist() for own in region.options}
    for bit in np.flatnonzero(region.mutable).tolist():
        own = int(region.origin[bit])
        found[SPACE.column_of(bit)] = [own, 1 - own]
    return found


@pytest.mark.parametrize("engine", ["search", "sat"])
def test_proofs_that_branch(engine: str) -> None:
    """Refutations in parts of the region split columns, or are clausal."""
    rng = np.random.default_rng(0)
    assert sum(check_question(rng, engine) for _ in range(10)) > 6


def check_question(rng: np.random.Generator, engine: str) -> bool:
    """Check that reasons found by deciding are certified; whether some proof is more than a bound."""
    query = random_question(rng)
    options = options_of(query)

    def witness(region: Region) -> Any:
        return tv.decide(replace(query, region=region), engine=engine).witness

    values = {c: some[:1] for c, some in options.items()}
    for c in rng.permutation(list(options)).tolist():
        fewer = {d: some for d, some in values.items() if d != c}
        values = fewer if witness(query.region.among(fewer)) is None else values
    for c, v in [(column, value) for column in values for value in options[column]]:
        wider = {**values, c: [*values[c], v]}
        if v not in values[c] and witness(query.region.among(wider)) is None:
            values = wider
    without = [{d: some for d, some in values.items() if d != c} for c in values]
    shown = [witness(query.region.among(fewer)) for fewer in without]
    proof = decided(query, query.region.among(values), engine)
    text = text_of(claims.reason(query, "minimal", list(values.items()), shown, proof, limited=True))
    assert refusal(text, query.machines) is None
    branches = any(step in text for step in (b"\nsplit", b"\nlrat"))

    columns = SPACE.columns_of(np.flatnonzero(witness(query.region) != query.region.origin)).tolist()
    columns = sorted(set(columns))
    for c in list(columns):
        others = [d for d in options if d not in columns or d == c]
        columns = columns if witness(query.region.keeping(others)) is None else sorted({*columns} - {c})
    others = [d for d in options if d not in columns]
    apart = decided_apart(query, columns, others, engine)
    changed = witness(query.region.keeping(others))
    reason = [(c, None) for c in columns]
    text = text_of(claims.reason(query, "contrastive", reason, [changed], apart, limited=True))
    assert refusal(text, query.machines) is None
    return branches or any(step in text for step in (b"\nsplit", b"\nlrat"))
