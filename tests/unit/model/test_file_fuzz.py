"""Mutated files: ``load`` raises ModelFormatError, or returns a sound model that saves to the same bytes.

Half of the mutators spoil bytes, which the hash catches; the other half edit JSON values and array cells
and write a correct hash again, so that only the checks after the hash can refuse the file.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.file_builder import Parts, sealed, take_apart
from tmverify import Model, ModelFormatError
from tmverify.model.evaluate import reference_scores
from tmverify.model.file import encode

SECONDS_EACH = 1.0  # of CPU, for one load
EDGES = [0, 1, -1, 2, 3, 7, 8, 63, 64, 255, 1 << 15, (1 << 24) + 1, 1 << 30]
EDGES += [
    sign * (1 << bits) + step for sign in (1, -1) for bits in (31, 32, 62, 63, 64) for step in (-1, 0, 1)
]
HOSTILE: list[Any] = [
    None,
    True,
    False,
    0.0,
    1.5,
    1e300,
    float("nan"),
    float("-inf"),
    "",
    "1",
    "\0",
    "\ud800",
    "\U0001f600",
]
HOSTILE += [
    "x" * 300,
    [],
    {},
    [[]],
    {"": 0},
    [0, 0],
    ["a", "a"],
    "positive",
    "negative",
    "silent",
    "fires",
    "I64",
    "F64",
    *EDGES,
]


def corpus() -> list[bytes]:
    rng = np.random.default_rng(0)
    wide = [(rng.permutation(70)[:5] + 1) * rng.choice([-1, 1], 5) for _ in range(30)]
    models = [
        Model.from_clauses(1, [], []),
        Model.from_clauses(2, [[1, 2], [-1, -2], [1, -2], [-1, 2]], [1, 1, -1, -1]),
        Model.from_clauses(
            3,
            [[1, -2], [], [3, -3]],
            rng.integers(-9, 9, (3, 3)),
            clamp=3,
            tie="negative",
            classes=["a", "b", "c"],
            feature_names=["x", "y", "z"],
        ),
        Model.from_clauses(70, wide, rng.integers(-5, 5, (4, 30)), bias=[3, 2, 1, 0], empty_clause="fires"),
    ]
    return [encode(model) for model in models]


CORPUS = corpus()


# Mutators of bytes


def flip_bits(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def set_bytes(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 3])):
        out[rng.randrange(len(out))] = rng.choice(
            [0, 0x20, 0x22, 0x5B, 0x7B, 0x7F, 0x80, 0xFF, rng.randrange(256)]
        )
    return bytes(out)


def insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice([1, 4, 8, 100])) + data[at:]


def delete(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 4, 8, 100]) :]


def truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def swap_blocks(rng: random.Random, data: bytes) -> bytes:
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def splice(rng: random.Random, data: bytes) -> bytes:
    other = rng.choice(CORPUS)
    at = rng.randrange(len(data))
    return data[:at] + other[rng.choice([at, rng.randrange(len(other))]) :]


def spoil_header_length(rng: random.Random, data: bytes) -> bytes:
    length = rng.choice([*EDGES, int.from_bytes(data[:8], "little") + rng.choice([-8, -1, 1, 8])])
    return (length % (1 << 64)).to_bytes(8, "little") + data[8:]


# Mutators of content, sealed again


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [place for key, value in items for place in [(tree, key), *places(value)]]


def spoil_tree(rng: random.Random, tree: Any) -> None:
    container, key = rng.choice(places(tree))
    value = container[key]
    action = rng.randrange(6)
    if action == 0:
        del container[key]
    elif action == 1 and isinstance(container, list):
        container.insert(key, rng.choice([value, *HOSTILE]))
    elif action == 1:
        container[rng.choice(["extra", "", key.upper(), key + " "])] = value
    elif action == 2 and type(value) is int:
        container[key] = value + rng.choice([-1, 1])
    elif action == 3 and isinstance(value, str):
        container[key] = value + rng.choice(["x", "\0", "é", "\ud800"])
    else:
        container[key] = rng.choice(HOSTILE)


def edit_header(rng: random.Random, data: bytes) -> bytes:
    parts = take_apart(data)
    header = parts.header()
    spoil_tree(rng, header)
    return sealed(header, joined(parts))


def edit_options(rng: random.Random, data: bytes) -> bytes:
    parts = take_apart(data)
    spoil_tree(rng, parts.options)
    return parts.to_bytes()


def swap_options(rng: random.Random, data: bytes) -> bytes:
    parts = take_apart(data)
    other = take_apart(rng.choice(CORPUS))
    name = rng.choice([*parts.options])
    return parts.with_options(**{name: other.options[name]}).to_bytes()


def edit_cells(rng: random.Random, data: bytes) -> bytes:
    parts = take_apart(data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        name = rng.choice([*parts.arrays])
        array = parts.arrays[name].copy()
        if not array.size:
            continue
        cell = rng.randrange(array.size)
        limits = np.iinfo(array.dtype)
        value = rng.choice([*EDGES, int(array.flat[cell]) + rng.choice([-1, 1]), -int(array.flat[cell])])
        array.flat[cell] = min(max(value, limits.min), limits.max)
        parts.with_arrays(**{name: array})
    return parts.to_bytes()


def reshape(rng: random.Random, data: bytes) -> bytes:
    """An array longer, shorter or of another file, the header telling the truth about it."""
    parts = take_apart(data)
    name = rng.choice([*parts.arrays])
    array = parts.arrays[name]
    changed = rng.choice(
        [
            array[:-1],
            np.concatenate([array, array[-1:]]),
            take_apart(rng.choice(CORPUS)).arrays[name],
            array.T,
            array[..., :0],
        ]
    )
    return parts.with_arrays(**{name: np.ascontiguousarray(changed)}).to_bytes()


def joined(parts: Parts) -> bytes:
    return b"".join(array.tobytes() for array in parts.arrays.values())


MUTATORS: list[Callable[[random.Random, bytes], bytes]] = [
    flip_bits,
    set_bytes,
    insert,
    delete,
    truncate,
    swap_blocks,
    splice,
    spoil_header_length,
    edit_header,
    edit_options,
    swap_options,
    edit_cells,
    reshape,
]


def check_sound(model: Model) -> None:
    """The invariants that the evaluators rely on (in this order: they would crash without the first)."""
    offsets, literals = model.clauses.offsets.tolist(), model.clauses.literals.tolist()
    assert offsets == sorted(offsets)
    assert (offsets[0], offsets[-1]) == (0, len(literals))
    rebuilt = Model.from_clauses(
        model.n_features,
        [literals[a:b] for a, b in pairwise(offsets)],
        model.weights,
        bias=model.bias,
        tie=model.tie,
        clamp=model.clamp,
        empty_clause=model.empty_clause,
        classes=model.classes,
        space=model.space,
    )
    assert rebuilt == model
    if model.n_features <= 1000:
        X = np.random.default_rng(0).integers(0, 2, (4, model.n_features), dtype=np.uint8)
        assert (model.scores(X) == reference_scores(model, X)).all()
        assert set(model.predict(X).tolist()) <= set(model.classes)
        assert model.to_text()


def load_or_message(path: Path) -> Model | str:
    try:
        return tv.load(path)
    except ModelFormatError as error:
        return str(error)


def outcome_of(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    start = time.process_time()
    loaded = load_or_message(path)
    assert time.process_time() - start < SECONDS_EACH
    if isinstance(loaded, str):
        assert loaded.startswith(f"{path}: ")
        return "refused"
    check_sound(loaded)
    loaded.save(path)
    assert path.read_bytes() == data
    return "loaded"


def fuzz(path: Path, mutator: Callable[[random.Random, bytes], bytes], n: int, seed: str) -> Counter[str]:
    rng = random.Random(f"{mutator.__name__} {seed}")
    outcomes: Counter[str] = Counter()
    for number in range(n):
        origin = rng.choice(CORPUS)
        data = mutator(rng, origin)
        try:
            outcomes["same" if data == origin else outcome_of(path, data)] += 1
        except Exception as error:
            error.add_note(f"mutant {number} of {mutator.__name__}, seed {seed!r}: {data!r}")
            raise
    return outcomes


def test_the_corpus_itself_loads(tmp_path: Path) -> None:
    for data in CORPUS:
        assert outcome_of(tmp_path / "a.tm", data) == "loaded"
        assert json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


@pytest.mark.parametrize("mutator", MUTATORS)
def test_mutants(mutator: Callable[[random.Random, bytes], bytes], tmp_path: Path) -> None:
    outcomes = fuzz(tmp_path / "a.tm", mutator, 80, "short")
    assert outcomes["refused"] > 0
    if mutator is edit_cells:  # else the honest hash is not honest, and nothing behind it was tried
        assert outcomes["loaded"] > 0


@pytest.mark.deep
@pytest.mark.parametrize("mutator", MUTATORS)
def test_many_mutants(mutator: Callable[[random.Random, bytes], bytes], tmp_path: Path) -> None:
    fuzz(tmp_path / "a.tm", mutator, 2000, "long")


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4))
def test_mutants_of_mutants(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)

    def several(_: random.Random, data: bytes) -> bytes:
        for _step in range(rng.choice([2, 3])):
            mutator = rng.choice(MUTATORS)
            try:
                data = mutator(rng, data)
            except Exception:  # the step before left nothing that could be taken apart
                break
        return data

    fuzz(tmp_path / "a.tm", several, 2000, str(seed))
