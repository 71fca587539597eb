"""Mutants of certificates about reasons: accepted only if what they claim is true, by looking at every input.

Where evidence is taken away that every proof needs, a mutant is refused, true or not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from support.certified import claim_line, refusal, text_of
from support.reasons import Asked, honest, is_true, random_asked, random_network_asked

Rng = np.random.Generator
ANSWERS = ("suffices", "minimal", "widest", "smallest", "contrastive", "holds", "violated")


def other_claims(rng: Rng, claim: dict[str, Any], asked: Asked) -> Iterator[dict[str, Any]]:
    """One of each kind, where there is such a thing to change."""
    reason, truth = claim["reason"], asked.truth
    for answer in ANSWERS:
        same = [[c, None if answer == "contrastive" else v or [truth.here[c]]] for c, v in reason]
        yield {"answer": answer, "reason": same if answer not in ("holds", "violated") else None}
    epsilon = claim["epsilon"]
    for other in (None, 0, 3) if epsilon is None else (None, epsilon + 1, max(0, epsilon - 1)):
        yield {"epsilon": other}
    for place in range(len(reason)):
        yield {"reason": [*reason[:place], *reason[place + 1 :]]}
    kept = claim["answer"] == "contrastive"
    for c, options in enumerate(truth.options):
        rest = [pair for pair in reason if pair[0] != c]
        yield {"reason": sorted([*rest, [c, None if kept else [truth.here[c]]]])}
        if not kept:
            some = set(rng.choice(options, size=int(rng.integers(1, len(options) + 1))).tolist())
            yield {"reason": sorted([*rest, [c, sorted(some | {truth.here[c]})]])}
            yield {"reason": sorted([*rest, [c, sorted(some)]])}
    for place, (c, values) in enumerate(reason):
        for v in truth.options[c] if values else ():
            changed = sorted(set(values) ^ {v})
            yield {"reason": [*reason[:place], [c, changed], *reason[place + 1 :]]}
    yield {"target": None}
    yield {"target": asked.model.classes[int(rng.integers(len(asked.model.classes)))], "scope": "team"}
    yield {"scope": "team"}
    yield {"distance": "steps" if claim["distance"] == "columns" else "columns"}
    yield {"distance": "bits", "columns": None, "features": None, "direction": None}
    yield {"columns": None}
    yield {"apart": [[0]]}


def other_lines(rng: Rng, lines: list[bytes], n_bits: int) -> Iterator[list[bytes]]:
    """Other inputs, other witnesses, refutations without one of their lines."""
    for place, line in enumerate(lines):
        words = line.split(b" ")
        if words[0] in (b"input", b"witness"):
            bits = np.frombuffer(bytes.fromhex(words[1].decode()), np.uint8).copy()
            bit = int(rng.integers(n_bits))
            bits[bit // 8] ^= 128 >> (bit % 8)
            other = words[0] + b" " + bits.tobytes().hex().encode()
            yield [*lines[:place], other, *lines[place + 1 :]]
        if words[0] != b"input" and rng.random() < 0.5:
            yield [*lines[:place], *lines[place + 1 :]]
        for k, word in enumerate(words[1:], 1):
            if word.isdigit() and words[0] not in (b"input", b"witness") and rng.random() < 0.3:
                changed = str(max(0, int(word) + int(rng.choice([-1, 1])))).encode()
                yield [*lines[:place], b" ".join([*words[:k], changed, *words[k + 1 :]]), *lines[place + 1 :]]
    swapped = [line.replace(b"witness", b"input") for line in lines if line.startswith(b"witness")]
    if swapped:
        yield [swapped[0], *lines[1:]]


def text_with(claim: dict[str, Any], lines: list[bytes]) -> bytes:
    return claim_line(claim) + b"\n".join([*lines, b""])


def check_mutants(seed: int, n: int, least: int, *, networks: bool) -> None:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for _ in range(n):
        asked = random_network_asked(rng) if networks else random_asked(rng)
        model: Any = [asked.model.encode()]
        for certificate in honest(rng, asked):
            first, *lines = text_of(certificate).splitlines()
            claim = json.loads(first)
            assert refusal(text_with(claim, lines), model) is None
            texts = [text_with({**claim, **change}, lines) for change in other_claims(rng, claim, asked)]
            texts += [text_with(claim, other) for other in other_lines(rng, lines, asked.model.n_features)]
            for text in texts:
                if refusal(text, model) is not None:
                    seen["refused"] += 1
                else:
                    seen["accepted"] += 1
                    assert is_true(text, asked.model), text.decode()
            check_that_evidence_is_needed(claim, lines, model)
    assert seen["refused"] > 5 * least, seen
    assert seen["accepted"] > least, seen


def check_that_evidence_is_needed(claim: dict[str, Any], lines: list[bytes], model: Any) -> None:
    """No witness of an honest certificate can be left out, but of the smallest reasons; nor its proof."""
    witnesses = [place for place, line in enumerate(lines) if line.startswith(b"witness")]
    for place in witnesses if claim["answer"] != "smallest" else ():
        without = [*lines[:place], *lines[place + 1 :]]
        assert refusal(text_with(claim, without), model) is not None
    if claim["answer"] == "smallest" and claim["reason"]:
        without = [line for line in lines if not line.startswith(b"witness")]
        assert refusal(text_with(claim, without), model) is not None
    ends = [place for place, line in enumerate(lines) if line.startswith((b"refute", b"shell"))]
    if ends:
        assert refusal(text_with(claim, [*lines[: ends[-1]], b"end"]), model) is not None


@pytest.mark.parametrize("seed", range(2))
def test_mutants(seed: int) -> None:
    check_mutants(seed, 12, 60, networks=False)


def test_mutants_about_networks() -> None:
    check_mutants(0, 8, 30, networks=True)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 18))
def test_mutants_more(seed: int) -> None:
    check_mutants(seed, 150, 800, networks=False)
    check_mutants(seed, 50, 250, networks=True)
