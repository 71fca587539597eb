"""Mutants of certificates about columns: spaces, costs, boxes, targets and sets kept apart.

The models are tiny, so the truth of any claim is known by enumeration. A mutant may be accepted only if its
claim is true of the models that it is checked with.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import claim_line, refusal, text_of
from support.column_claims import is_true
from support.columns import random_allowed, random_machine, random_row, random_space
from tmverify.properties.allowed import Allowed

Rng = np.random.Generator
Subject = tuple[bytes, tuple[tv.Model, ...]]


def subjects(rng: Rng, n: int) -> Iterator[Subject]:
    """Certificates of every kind of question about columns."""
    while n > 0:
        space = random_space(rng, bits=6)
        outputs = int(rng.choice([1, 2, 3]))
        a, b = (random_machine(rng, space, outputs) for _ in range(2))
        x, allowed = random_row(rng, space), random_allowed(rng, space)
        if allowed.distance == "bits":
            continue
        given = {name: getattr(allowed, name) for name in Allowed.__dataclass_fields__}
        how: dict[str, Any] = {"engine": str(rng.choice(["auto", "search"])), "certificate": True}
        epsilon = int(rng.integers(0, min(5, space.n_bits + 1)))
        target = a.classes[int(rng.integers(len(a.classes)))]
        changes = tv.nearest_changes(a, x, 4, target=target, certificate=True, **given)
        answers: list[tuple[Any, tuple[tv.Model, ...]]] = [
            (tv.check_robustness(a, x, epsilon, **how, **given), (a,)),
            (tv.robustness_radius(a, x, **how, **given), (a,)),
            (tv.check_similarity(a, b, x, epsilon, **how, **given), (a, b)),
            (tv.check_equivalence(a, b if rng.random() < 0.5 else a, **how), (a, b)),
            *((change, (a,)) for change in changes),
            (changes, (a,)),
        ]
        for answer, models in answers:
            if answer.certificate is not None:
                text = text_of(answer.certificate)
                if json.loads(text.splitlines()[0])["question"] == "equivalence":
                    models = (a, a) if models == (a, b) and refusal(text, (a, a)) is None else models
                yield text, models
                n -= 1


def mutants(rng: Rng, text: bytes, models: tuple[tv.Model, ...]) -> Iterator[Subject]:
    """One of each kind, where there is such a thing to change."""
    first, *lines = text.splitlines()
    claim = json.loads(first)
    space = models[0].space

    def claiming(**changed: Any) -> Subject:
        return claim_line({**claim, **changed}) + b"\n".join([*lines, b""]), models

    for key in ("epsilon", "radius"):
        if claim[key] is not None:
            yield claiming(**{key: claim[key] + 1})
            yield claiming(**{key: max(0, claim[key] - 1)})
    if claim["answer"] == "radius":
        yield claiming(radius=None if claim["radius"] is not None else 2)
    yield claiming(answer={"holds": "violated", "violated": "holds"}.get(claim["answer"], claim["answer"]))
    if claim["question"] != "equivalence":
        yield claiming(distance="steps" if claim["distance"] == "columns" else "columns")
        place = int(rng.integers(len(space.columns)))
        others = [rule for rule in claim["columns"] or [] if rule[0] != place]
        n_values = len(space.columns[place].values)
        some = sorted(rng.permutation(n_values)[: max(1, n_values - 1)].tolist())
        for rule in (
            [place, "any", None, int(rng.integers(0, 4))],
            [place, "keep", None, 1],
            [place, str(rng.choice(["up", "down"])), None, 1],
            [place, "any", some, 1],
            None,
        ):
            rules = sorted([*others, *([] if rule is None else [rule])])
            yield claiming(columns=rules or None)
    if claim["question"] == "robustness":
        yield claiming(target=str(rng.choice([str(label) for label in models[0].classes])))
        yield claiming(target=models[0].classes[int(rng.integers(len(models[0].classes)))])
        yield claiming(target=None)
        apart = claim["apart"] or []
        yield claiming(apart=apart[1:] or None)
        yield claiming(apart=[*apart, [int(rng.integers(len(space.columns)))]])
    other = tv.Model(
        models[0].clauses,
        models[0].weights,
        models[0].bias,
        tie=models[0].tie,
        clamp=models[0].clamp,
        classes=models[0].classes,
        space=tv.Space.flags(models[0].n_features),
    )
    hashes = [other.content_hash, *claim["models"][1:]]
    yield claiming(models=hashes)[0], (other, *models[1:])  # the same clauses, without their columns
    for place, line in enumerate(lines):
        words = line.split(b" ")
        if len(lines) > 8 and rng.random() < 0.5:
            continue
        yield _with(first, lines, place, None), models
        if words[0] in (b"input", b"witness"):
            bits = np.frombuffer(bytes.fromhex(words[1].decode()), np.uint8).copy()
            bits[0] ^= 1 << int(rng.integers(8 - min(8, space.n_bits), 8))
            yield _with(first, lines, place, words[0] + b" " + bits.tobytes().hex().encode()), models
        for k, word in enumerate(words[1:], 1):
            if word.lstrip(b"-").isdigit():
                changed = str(max(0, int(word) + int(rng.choice([-1, 1])))).encode()
                yield _with(first, lines, place, b" ".join([*words[:k], changed, *words[k + 1 :]])), models


def _with(first: bytes, lines: list[bytes], place: int, line: bytes | None) -> bytes:
    new = [*lines[:place], *([] if line is None else [line]), *lines[place + 1 :]]
    return b"\n".join([first, *new, b""])


def check_mutants(seed: int, n: int, least: int) -> None:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for text, models in subjects(rng, n):
        assert refusal(text, models) is None
        for mutant, checked in mutants(rng, text, models):
            if mutant == text:
                continue
            accepted = refusal(mutant, checked) is None
            seen["accepted" if accepted else "refused"] += 1
            if accepted:
                assert is_true(mutant, checked), mutant.decode()
    assert seen["accepted"] + seen["refused"] >= least, seen
    assert min(seen.values()) > least // 100, seen


@pytest.mark.parametrize("seed", range(2))
def test_mutants(seed: int) -> None:
    check_mutants(seed, 60, 800)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 18))
def test_mutants_more(seed: int) -> None:
    check_mutants(seed, 600, 8000)
