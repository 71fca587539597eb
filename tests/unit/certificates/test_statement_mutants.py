"""Mutants of certificates about properties and margins: claims, formulas, witnesses, steps.

The models are tiny, so the truth of any claim is known by enumeration. A mutant may be accepted only if its
claim is true.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support import column_claims
from support import statement_claims as statements
from support.certified import claim_line, refusal, text_of
from support.columns import random_allowed, random_machine, random_row, random_space
from tmverify.properties import robustness_query, similarity_query
from tmverify.verify import nearest

Rng = np.random.Generator


def _with(first: bytes, lines: list[bytes], place: int, line: bytes | None) -> bytes:
    new = [*lines[:place], *([] if line is None else [line]), *lines[place + 1 :]]
    return b"\n".join([first, *new, b""])


def other_lines(rng: Rng, first: bytes, lines: list[bytes]) -> Iterator[bytes]:
    """Lines left out, bits flipped, numbers changed."""
    for place, line in enumerate(lines):
        if len(lines) > 8 and rng.random() < 0.6:
            continue
        yield _with(first, lines, place, None)
        word, *rest = line.split(b" ")
        if word in (b"input", b"witness"):
            bits = np.frombuffer(bytes.fromhex(rest[0].decode()), np.uint8).copy()
            bits[int(rng.integers(len(bits)))] ^= 1 << int(rng.integers(8))
            yield _with(first, lines, place, word + b" " + bits.tobytes().hex().encode())
        for k, number in enumerate(rest):
            if number.lstrip(b"-").isdigit():
                changed = str(max(0, int(number) + int(rng.choice([-1, 1])))).encode()
                yield _with(first, lines, place, b" ".join([word, *rest[:k], changed, *rest[k + 1 :]]))
        if word == b"constraints" and rest:
            k = int(rng.integers(len(rest)))
            terms, _, bound = rest[k].partition(b">=")
            changed = terms + b">=" + str(int(bound) + int(rng.choice([-1, 1]))).encode()
            yield _with(first, lines, place, b" ".join([word, *rest[:k], changed, *rest[k + 1 :]]))


def other_claims(rng: Rng, text: bytes, model: tv.Model) -> Iterator[bytes]:
    """Other claims about properties, with the same proof."""
    first, *lines = text.splitlines()
    claim = json.loads(first)

    def claiming(**changed: Any) -> bytes:
        return claim_line({**claim, **changed}) + b"\n".join([*lines, b""])

    for stated in statements.all_formulas(rng, claim["property"], model):
        yield claiming(property=stated)
    yield claiming(answer={"holds": "violated", "violated": "holds"}[claim["answer"]])
    if claim["epsilon"] is None:
        x = column_claims.hexadecimal(np.zeros(model.n_features, np.uint8))
        yield claiming(epsilon=2).replace(b"\neverywhere\n", f"\ninput {x}\n".encode())
        return
    yield claiming(epsilon=claim["epsilon"] + 1)
    yield claiming(epsilon=max(0, claim["epsilon"] - 1))
    everywhere = claiming(epsilon=None, distance="columns", columns=None, features=None, direction=None)
    yield b"\n".join([everywhere.splitlines()[0], b"everywhere", *lines[1:], b""])
    if claim["distance"] != "bits":
        yield claiming(distance="steps" if claim["distance"] == "columns" else "columns")
        place = int(rng.integers(len(model.space.columns)))
        others = [rule for rule in claim["columns"] or [] if rule[0] != place]
        for rule in ([place, "any", None, 0], [place, "keep", None, 1], [place, "up", None, 1], None):
            yield claiming(columns=sorted([*others, *([] if rule is None else [rule])]) or None)


def check_statements(seed: int, n: int) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for _ in range(n):
        case = statements.random_case(rng)
        model = case.stated.model
        verdict = tv.decide(case.query, engine="search", certificate=True)
        text = text_of(verdict.certificate)
        first, *lines = text.splitlines()
        for mutant in (*other_claims(rng, text, model), *other_lines(rng, first, lines)):
            accepted = mutant != text and refusal(mutant, [model]) is None
            seen["accepted" if accepted else "refused"] += 1
            if accepted:
                assert statements.is_true(mutant, model), mutant.decode()
    return seen


@pytest.mark.parametrize("seed", range(2))
def test_mutants_of_properties(seed: int) -> None:
    seen = check_statements(seed, 60)
    assert seen["refused"] > 800, seen
    assert seen["accepted"] > 50, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 18))
def test_mutants_of_properties_more(seed: int) -> None:
    check_statements(seed, 1200)


def check_margins(seed: int, n: int) -> Counter[str]:
    """Robustness, similarity and radius by a margin: certified, true, accepted; and mutants of them."""
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    while n:
        space = random_space(rng, bits=6)
        outputs = int(rng.choice([1, 2, 3]))
        a, b = (random_machine(rng, space, outputs) for _ in range(2))
        x, allowed = random_row(rng, space), random_allowed(rng, space)
        margin, scope = int(rng.integers(1, 3)), "team" if rng.random() < 0.7 else a.classes[0]
        how: dict[str, Any] = {"scope": scope, "allowed": allowed, "margin": margin}
        models, epsilon = (a,) if rng.random() < 0.5 else (a, b), int(rng.integers(0, 3))
        near = rng.random() < 0.4
        try:
            ask: Any = robustness_query if len(models) == 1 else similarity_query
            query = ask(*models, x, None if near else epsilon, **how)
        except tv.InvalidInputError as error:
            if not any(word in str(error) for word in ("margin", "epsilon")):
                raise
            continue
        engine = str(rng.choice(["search", "sat", "auto"], p=[0.7, 0.15, 0.15]))
        answer: Any = (nearest if near else tv.decide)(query, engine=engine, certificate=True)
        assert answer.certificate is not None, answer
        text = text_of(answer.certificate)
        assert column_claims.is_true(text, models), text.decode()
        assert refusal(text, models) is None, text.decode()
        seen[answer.certificate.claim["answer"]] += 1
        first, *lines = text.splitlines()
        claim = json.loads(first)
        changed: list[dict[str, Any]] = [{"margin": m} for m in range(6)]
        changed += [{"target": a.classes[0]}, {"scope": a.classes[1], "margin": margin}]
        changed += [{"epsilon": 1}, {"radius": 1}, {"question": "equivalence", "epsilon": None}]
        mutants = [claim_line({**claim, **one}) + b"\n".join([*lines, b""]) for one in changed]
        for mutant in (*mutants, *other_lines(rng, first, lines)):
            accepted = mutant != text and refusal(mutant, models) is None
            seen["accepted" if accepted else "refused"] += 1
            if accepted:
                assert column_claims.is_true(mutant, models), mutant.decode()
        n -= 1
    return seen


@pytest.mark.parametrize("seed", range(2))
def test_margins(seed: int) -> None:
    seen = check_margins(seed, 100)
    assert min(seen["holds"], seen["violated"], seen["radius"], seen["accepted"]) > 15, seen
    assert seen["refused"] > 500, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 16))
def test_margins_more(seed: int) -> None:
    check_margins(seed, 1500)
