"""Certificates under test: both front ends of the checker, and the truth of any claim about a tiny model."""

from __future__ import annotations

import contextlib
import io
import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmcheck
import tmverify as tv
from support.tiny import all_inputs
from tmcheck.cli import main
from tmverify.model.file import encode

STANDALONE = Path(__file__).parents[2] / "src" / "tmcheck"

_MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], timeout=60).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


@dataclass(frozen=True)
class Run:
    """The outcome of the stand-alone checker in its own process: exit code, output, most memory in bytes."""

    code: int
    said: str
    memory: int


def run_standalone(folder: Path, certificate: bytes | None, models: Sequence[bytes]) -> Run:
    """``tmcheck``, a folder run by Python, on these files; without a certificate, on the one in the folder.

    A small process starts the checker and measures it: Linux counts the memory that a process had before it
    became another program, and the process of pytest uses much.
    """
    paths = [folder / "c.tmcert", *(folder / f"{k}.tm" for k in range(len(models)))]
    for path, data in zip(paths, [certificate, *models], strict=True):
        if data is not None:
            path.write_bytes(data)
    checker = [sys.executable, "-I", str(STANDALONE), *map(str, paths)]
    done = subprocess.run([sys.executable, "-I", "-c", _MEASURED, *checker], capture_output=True, text=True)
    *complaints, memory = done.stderr.splitlines()
    assert not complaints, done.stderr
    return Run(done.returncode, done.stdout, int(memory) * (1 if sys.platform == "darwin" else 1024))


def claim_line(claim: Mapping[str, Any]) -> bytes:
    """The first line of a certificate."""
    return json.dumps(claim, separators=(",", ":")).encode() + b"\n"


def claim(question: str, *models: tv.Model, **others: object) -> bytes:
    """The first line of a certificate: the ``question`` holds, unless ``others`` say something else."""
    fields = {
        "format": "tmverify-certificate", "version": 4, "question": question, "answer": "holds",
        "models": [model.content_hash for model in models], "scope": "team", "target": None, "margin": 0,
        "epsilon": None, "radius": None, "distance": "bits", "features": None, "direction": None,
        "columns": None, "apart": None, "reason": None, "property": None, "inputs": 1, "eta": "1/1", **others,
    }  # fmt: skip
    return claim_line(fields)


def text_of(certificate: Any) -> bytes:
    """The bytes of the file."""
    assert certificate is not None
    return b"".join(certificate.blocks())


def refusal(text: bytes, models: Sequence[tv.Model | bytes]) -> str | None:
    """Why the checker does not accept this text, or None if it does."""
    data = [model if isinstance(model, bytes) else encode(model) for model in models]
    try:
        tmcheck.check(io.BytesIO(text), data)
    except (tmcheck.Refused, tmcheck.Unreadable) as reason:
        return str(reason) or "no reason"
    return None


def check_by_both(certificate: Any, models: Sequence[tv.Model], folder: Path) -> None:
    """Check that the library accepts it, and so does the command, reading files."""
    assert certificate is not None
    words = certificate.check(*models)
    path = folder / "c.tmcert"
    path.write_bytes(text_of(certificate))
    paths = [str(path)]
    for model in models:
        place = folder / f"{model.content_hash[:16]}.tm"
        if not place.exists():
            model.save(place)
        paths.append(str(place))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = main(paths)
    assert (code, said.getvalue()) == (0, f"accepted: {words}\n")


def stubborn_model(rng: np.random.Generator, n_features: int, share: float) -> tv.Model:
    """A machine that says 1 only after many flips, if ever: its bound is loose, the search must branch."""
    clauses = [
        [int(f) * int(rng.choice([-1, 1])) for f in rng.choice(range(1, n_features + 1), 3, replace=False)]
        for _ in range(3 * n_features)
    ]
    weights = rng.integers(1, 4, size=len(clauses))
    signed = np.where(rng.random(len(clauses)) < 0.2, -weights, weights)
    return tv.Model.from_clauses(n_features, clauses, [signed], bias=-int(share * weights.sum()))


def is_true(text: bytes, models: Sequence[tv.Model]) -> bool:
    """Whether the claim in a certificate's text is true of these models, by looking at every input."""
    first, *rest = text.splitlines()
    claim = json.loads(first)
    machines = (
        list(models) if claim["scope"] == "team" else [model.single(claim["scope"]) for model in models]
    )
    everything = all_inputs(machines[0].n_features)
    decided = [np.asarray(machine.predict(everything)) for machine in machines]
    if claim["question"] == "equivalence":
        return bool((decided[0] == decided[1]).all() == (claim["answer"] == "holds"))
    inputs = [
        _bits(line.split()[1].decode(), everything.shape[1]) for line in rest if line.startswith(b"input ")
    ]
    if claim["answer"] == "radius":
        distances = _violating_distances(claim, inputs[0], everything, decided)
        wanted = math.inf if claim["radius"] is None else claim["radius"]
        return bool(min(distances, default=math.inf) == wanted and len(inputs) == 1)
    holds = [
        min(_violating_distances(claim, x, everything, decided), default=math.inf) > claim["epsilon"]
        for x in inputs
    ]
    enough = sum(holds) >= Fraction(claim["eta"]) * len(inputs)
    return bool(enough == (claim["answer"] == "holds") and len(inputs) == claim["inputs"])


def _violating_distances(
    claim: dict[str, Any], x: NDArray[np.uint8], everything: NDArray[np.uint8], decided: list[NDArray[Any]]
) -> list[int]:
    """The distances of all violating inputs that the free features can reach."""
    changed = everything != x
    inside = np.ones(len(everything), np.bool_)
    if claim["features"] is not None:
        inside &= ~changed[:, _bits(claim["features"], len(x)) == 0].any(axis=1)
    if claim["direction"] == "add":
        inside &= (everything >= x).all(axis=1)
    if claim["direction"] == "remove":
        inside &= (everything <= x).all(axis=1)
    here = (everything == x).all(axis=1)
    other = decided[0][here] if claim["question"] == "robustness" else decided[1]
    return [int(d) for d in changed.sum(axis=1)[inside & (decided[0] != other)]]


def _bits(word: str, n: int) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(bytes.fromhex(word), np.uint8))[:n]
