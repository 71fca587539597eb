"""Every verdict about columns is certified, by every engine that certifies, and the checker accepts it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import refusal, text_of
from support.columns import random_allowed, random_machine, random_row, random_space
from tmverify.properties import equivalence_query, robustness_query, similarity_query
from tmverify.verify import nearest


def check_seed(seed: int, n: int) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for case in range(n):
        space = random_space(rng)
        x, allowed = random_row(rng, space), random_allowed(rng, space)
        outputs, engine = int(rng.choice([1, 2, 3])), str(rng.choice(["auto", "search", "sat"]))
        a, b = random_machine(rng, space, outputs), random_machine(rng, space, outputs)
        question = int(rng.integers(4))
        query: Any
        models: tuple[tv.Model, ...] = (a,) if question < 2 else (a, b)
        if question == 0:
            query = robustness_query(a, x, None, allowed=allowed)
        elif question == 1:
            target = a.classes[int(rng.integers(len(a.classes)))]
            query = robustness_query(a, x, None, allowed=allowed, target=target)
        elif question == 2:
            query = similarity_query(a, b, x, None, allowed=allowed)
        else:
            models = (a, b if rng.random() < 0.5 else a)
            query = equivalence_query(*models)
        answer: Any
        if question < 3 and rng.random() < 0.5:
            answer = nearest(query, engine=engine, certificate=True)
            assert answer.exact, (seed, case)
        else:
            if question < 3:
                query = replace(query, region=query.region.within(int(rng.integers(0, 5))))
            answer = tv.decide(query, engine=engine, certificate=True)
        assert answer.certificate is not None, (seed, case, answer.detail)
        text = text_of(answer.certificate)
        assert refusal(text, models) is None, (seed, case, text.decode())
        seen[answer.certificate.claim["answer"]] += 1
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_every_verdict_is_certified(seed: int) -> None:
    seen = check_seed(seed, 150)
    assert min(seen["holds"], seen["violated"], seen["radius"]) > 10


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 110))
def test_every_verdict_is_certified_more(seed: int) -> None:
    check_seed(seed, 2000)
