"""Mutants of real certificates: none whose claim is unproved is accepted.

The models are tiny, so the truth of any claim is known by enumeration. A mutant may be accepted only if its
claim is true. If the claim is unchanged but the proof has lost a step that nothing can replace, it must be
refused although the claim is true.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import claim_line, is_true, refusal, stubborn_model, text_of
from support.tiny import random_case
from tmverify.engines import auto
from tmverify.engines.engine import Deadline
from tmverify.engines.proof_log import ProofLog, packed_numbers, packed_step
from tmverify.engines.sat import refutation
from tmverify.model.clauses import Clauses

Rng = np.random.Generator


@dataclass(frozen=True)
class Subject:
    """A certificate's lines and the models that it is about."""

    lines: tuple[bytes, ...]
    models: tuple[tv.Model, ...]

    @property
    def text(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    @property
    def claim(self) -> dict[str, Any]:
        claim: dict[str, Any] = json.loads(self.lines[0])
        return claim

    def claiming(self, **changes: Any) -> Subject:
        first = claim_line({**self.claim, **changes})
        return replace(self, lines=(first[:-1], *self.lines[1:]))

    def about(self, *models: tv.Model) -> Subject:
        """The same certificate, made out to other models."""
        return replace(self.claiming(models=[model.content_hash for model in models]), models=models)

    def places(self, *words: bytes) -> list[int]:
        return [k for k, line in enumerate(self.lines) if line.split(b" ")[0] in words]

    def without(self, place: int) -> Subject:
        return replace(self, lines=self.lines[:place] + self.lines[place + 1 :])

    def with_line(self, place: int, line: bytes) -> Subject:
        return replace(self, lines=(*self.lines[:place], line, *self.lines[place + 1 :]))


def subjects(rng: Rng, n: int) -> list[Subject]:
    """Certificates of every kind, of tiny models; those with a proof more often than mere witnesses."""
    found: list[Subject] = []
    while len(found) < n:
        case = random_case(rng)
        engine = str(rng.choice(["search", "auto"]))
        how: dict[str, Any] = {"engine": engine, "certificate": True}
        a, b, x, options = case.a, case.b, case.x, case.options
        answers: list[tuple[Any, tuple[tv.Model, ...]]] = [
            (tv.check_robustness(a, x, case.epsilon, **how, **options), (a,)),
            (tv.check_similarity(a, b, x, case.epsilon, **how, **options), (a, b)),
            (tv.check_equivalence(a, b, scope=case.scope, **how), (a, b)),
            (tv.robustness_radius(a, x, **how, **options), (a,)),
            (tv.similarity_radius(a, b, x, **how, **options), (a, b)),
            (tv.check_universal_robustness(a, case.X, case.epsilon, "2/3", **how, **options), (a,)),
        ]
        small = stubborn_model(rng, 7, rng.uniform(0.1, 0.3))
        answers.append((tv.robustness_radius(small, rng.integers(0, 2, 7), **how), (small,)))
        for answer, models in answers:
            text = text_of(answer.certificate)
            if b"\nrefute" in text or rng.random() < 0.2:
                found.append(Subject(tuple(text.splitlines()), models))
        found.append(by_solver(case.a, case.x, min(2, case.a.n_features)))
    return [subject for subject in found if refusal(subject.text, subject.models) is None][:n]


def by_solver(model: tv.Model, x: Any, epsilon: int) -> Subject:
    """A certificate whose refutations are all clausal proofs, or a witness."""
    query = tv.robustness_query(model, x, epsilon)
    verdict = tv.check_robustness(model, x, epsilon, engine="search", certificate=True)
    lines = text_of(verdict.certificate).splitlines()
    evidence = ProofLog()
    if verdict.status is tv.Status.HOLDS:
        refutation.prove(query, evidence, sweep=False)
        text = evidence.proof_of(query, query.region.radius)
        assert text is not None
        start = next(k for k, line in enumerate(lines) if line.startswith((b"refute", b"end")))
        lines = [*lines[:start], *b"".join(text()).splitlines(), b"end"]
    return Subject(tuple(lines), (model,))


# ------------------------------------------------------------------------------------------- kinds of mutants


def other_claim(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    claim = subject.claim
    changes: list[dict[str, Any]] = [
        {"epsilon": None if claim["epsilon"] is None else claim["epsilon"] + int(rng.choice([-1, 1, 2]))},
        {"radius": None if claim["radius"] is None else claim["radius"] + int(rng.choice([-1, 1]))},
        {"radius": 1 if claim["radius"] is None else None},
        {"answer": str(rng.choice(["holds", "violated", "radius"]))},
        {"question": str(rng.choice(["robustness", "similarity", "equivalence"]))},
        {"scope": [*subject.models[0].classes, "team"][rng.integers(0, len(subject.models[0].classes) + 1)]},
        {"features": None if claim["features"] else "fc"},
        {"direction": [None, "add", "remove"][rng.integers(0, 3)]},
        {"eta": str(rng.choice(["0/1", "1/1", "1/2"]))},
        {"inputs": claim["inputs"] + 1},
        {"models": claim["models"][::-1]},
        {"version": 1},
        {"distance": str(rng.choice(["bits", "columns", "steps"]))},
        {"target": [*subject.models[0].classes, None][rng.integers(0, len(subject.models[0].classes) + 1)]},
        {"apart": [[0], [0, 1]][: rng.integers(1, 3)]},
        {"columns": [[0, str(rng.choice(["keep", "up", "down"])), None, 1]]},
    ]
    return subject.claiming(**changes[rng.integers(0, len(changes))])


def other_input(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    """A bit of the input or of the witness flipped, or the two exchanged."""
    places = subject.places(b"input", b"witness")
    if not places:
        return subject.with_line(1, b"input 00")
    place = places[rng.integers(0, len(places))]
    word, value = subject.lines[place].split(b" ")
    if len(places) == 2 and rng.random() < 0.3:
        other = subject.lines[places[0] + places[1] - place].split(b" ")[1]
        return subject.with_line(place, word + b" " + other)
    bits = bytearray.fromhex(value.decode())
    bits[0] ^= 128 >> int(rng.integers(0, min(8, subject.models[0].n_features)))
    return subject.with_line(place, word + b" " + bits.hex().encode())


def other_model(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    """A model with another tie, weight, bias, clamp or clause; the certificate is made out to it."""
    k = int(rng.integers(0, len(subject.models)))
    old = subject.models[k]
    weights, literals = old.weights.copy(), old.clauses.literals.copy()
    options: dict[str, Any] = {}
    kind = int(rng.integers(0, 6))
    if kind == 0:
        options = {"tie": "positive" if old.tie == "negative" else "negative"}
    elif kind == 1 and weights.size:
        weights[rng.integers(0, len(weights)), rng.integers(0, weights.shape[1])] += rng.choice(
            [-2, -1, 1, 2]
        )
    elif kind == 2:
        options = {"bias": old.bias + rng.integers(-1, 2, size=len(old.bias))}
    elif kind == 3:
        options = {"clamp": None if old.clamp else 1}
    elif kind == 4 and weights.shape[1] > 1:
        weights[:, rng.integers(0, weights.shape[1])] = 0
    elif len(literals):
        literals[rng.integers(0, len(literals))] *= -1
    try:
        clauses = Clauses(old.n_features, literals, old.clauses.offsets)
        new = replace(old, clauses=clauses, weights=weights, **options)
    except tv.ModelError:
        new = old
    models = list(subject.models)
    models[k] = new
    return subject.about(*models)


def lost_line(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    return subject.without(int(rng.integers(1, len(subject.lines))))


def repeated_or_moved_line(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    place, to = (int(k) for k in rng.integers(1, len(subject.lines), size=2))
    line = subject.lines[place]
    lines = list((subject if rng.random() < 0.5 else subject.without(place)).lines)
    return replace(subject, lines=(*lines[:to], line, *lines[to:]))


def other_decision(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    places = subject.places(b"split")
    if not places:
        return other_step(subject, rng, others)
    place = places[rng.integers(0, len(places))]
    feature = int(rng.integers(0, subject.models[0].n_features + 1))
    return subject.with_line(place, b"split %d %d" % (feature, rng.integers(0, 2)))


def other_step(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    place = int(rng.integers(1, len(subject.lines)))
    steps = [
        b"close",
        b"fix",
        b"shrink",
        b"divide",
        b"cover",
        b"cover 0",
        b"split 0 1",
        b"lrat",
        b"qed",
        b"mix 1",
    ]
    return subject.with_line(place, steps[rng.integers(0, len(steps))])


def other_numbers(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    """A number changed in a line of the proof: constraint, radius, unit, mixture, clausal proof."""
    places = [k for k in range(1, len(subject.lines)) if b" " in subject.lines[k]]
    place = places[rng.integers(0, len(places))]
    words = subject.lines[place].split(b" ")
    k = int(rng.integers(0, len(words)))
    digits = words[k].lstrip(b"-").isdigit()
    words[k] = b"%d" % (int(words[k]) + rng.choice([-1, 1, 2])) if digits else words[k][:-1] + b"1"
    return subject.with_line(place, b" ".join(words))


def other_multipliers(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    """A step that sets multipliers at random, put anywhere or in the place of another."""
    numbers = packed_numbers(rng.integers(0, 300, size=rng.integers(1, 12)))
    draft = ProofLog().draft([0], 1)
    draft.start()
    draft.block(packed_step("set", numbers))
    line = b"".join(_written(draft)).splitlines()[1]
    place = int(rng.integers(1, len(subject.lines)))
    if rng.random() < 0.5:
        return subject.with_line(place, line)
    return replace(subject, lines=(*subject.lines[:place], line, *subject.lines[place:]))


def _written(draft: Any) -> list[bytes]:
    draft.keep()
    return list(draft.log.text(draft.log.refutations[-1]))


def spliced(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    """The claim of one, the refutations of another; or the second half of another."""
    other = others[rng.integers(0, len(others))]
    if rng.random() < 0.5:
        cut = int(rng.integers(1, len(subject.lines)))
        return replace(subject, lines=(*subject.lines[:cut], *other.lines[min(cut, len(other.lines) - 1) :]))
    theirs = [line for line in other.lines[1:] if not line.startswith((b"input", b"constraints", b"witness"))]
    ours = [
        line for line in subject.lines if line.startswith((b"{", b"input", b"everywhere", b"constraints"))
    ]
    return replace(subject, lines=(*ours, *[line for line in theirs if line != b"everywhere"]))


def truncated(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    cut = int(rng.integers(1, len(subject.lines)))
    return replace(subject, lines=subject.lines[:cut])


def flipped_byte(subject: Subject, rng: Rng, others: list[Subject]) -> Subject:
    data = bytearray(subject.text[:-1])
    data[rng.integers(0, len(data))] = int(rng.integers(32, 127))
    return replace(subject, lines=tuple(bytes(data).split(b"\n")))


KINDS: list[Callable[[Subject, Rng, list[Subject]], Subject]] = [
    other_claim,
    other_input,
    other_model,
    lost_line,
    repeated_or_moved_line,
    other_decision,
    other_step,
    other_numbers,
    other_multipliers,
    spliced,
    truncated,
    flipped_byte,
]


def accepted_rightly(mutant: Subject) -> bool:
    """Whether a mutant that was accepted claims something true."""
    return is_true(mutant.text, mutant.models)


def run_mutants(seed: int, n_subjects: int, each: int) -> Counter[str]:
    """Mutants of every kind; how many were refused of each."""
    rng = np.random.default_rng(seed)
    whole = subjects(rng, n_subjects)
    refused: Counter[str] = Counter()
    for subject in whole:
        for kind in KINDS:
            for _ in range(each):
                mutant = kind(subject, rng, whole)
                reason = refusal(mutant.text, mutant.models)
                if reason is None:
                    assert accepted_rightly(mutant), (kind.__name__, subject, mutant)
                else:
                    refused[kind.__name__] += 1
                    refused["false"] += kind in (other_input, other_model) and not is_true(
                        mutant.text, mutant.models
                    )
    return refused


@pytest.fixture(autouse=True)
def auto_soon_asks_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def sat(query: tv.Query, deadline: Deadline, evidence: ProofLog | None = None) -> Any:
        return refutation.prove(query, ProofLog() if evidence is None else evidence)

    monkeypatch.setattr(auto, "sat", sat)
    monkeypatch.setattr(auto, "NODES", 1)


@pytest.mark.parametrize("seed", range(3))
def test_no_mutant_with_a_false_claim_is_accepted(seed: int) -> None:
    """3 x 30 x 12 kinds x 3 = 3,240 mutants."""
    refused = run_mutants(seed, 30, 3)
    assert min(refused[kind.__name__] for kind in KINDS) > 10, refused
    assert refused["truncated"] == 30 * 3
    assert refused["false"] > 3, refused  # claims that were no longer true


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 140))
def test_no_mutant_with_a_false_claim_is_accepted_deep(seed: int) -> None:
    """40 x 70 x 12 kinds x 3 = 100,800 mutants."""
    assert min(run_mutants(seed, 70, 3).values()) > 10


def test_a_proof_with_a_node_less_is_refused() -> None:
    """Every line that opens or ends a branch, a refutation or the whole is needed, true claim or not."""
    rng = np.random.default_rng(9)
    tried = 0
    for subject in subjects(rng, 60):
        for place in subject.places(b"refute", b"close", b"split", b"qed", b"lrat", b"end", b"input"):
            assert refusal(subject.without(place).text, subject.models), subject.without(place).lines
            tried += 1
    assert tried > 300


def test_every_refutation_that_is_there_is_needed() -> None:
    """Without one, some way to violate the property is not refuted."""
    rng = np.random.default_rng(10)
    tried = 0
    for subject in subjects(rng, 60):
        starts = [*subject.places(b"refute"), len(subject.lines) - 1]
        if subject.claim["inputs"] > 1:
            continue
        for start, end in pairwise(starts):
            shorter = replace(subject, lines=subject.lines[:start] + subject.lines[end:])
            assert refusal(shorter.text, subject.models), shorter.lines
            tried += 1
    assert tried > 50


def test_a_certificate_is_about_its_models_alone() -> None:
    rng = np.random.default_rng(11)
    for subject in subjects(rng, 40):
        others = tuple(
            replace(model, space=tv.Space.flags(f"f{i}" for i in range(model.n_features)))
            for model in subject.models
        )
        assert "about model" in str(refusal(subject.text, others))
        assert refusal(subject.text, (*subject.models, subject.models[0]))
        assert refusal(subject.text, ())
