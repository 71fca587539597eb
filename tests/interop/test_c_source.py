"""C files: compiled without a warning, they give the model's scores and classes, exactly."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv
from support.tiny import all_inputs, random_model
from tmverify.interop import c_source
from tmverify.interop.c_source import to_c

WARNINGS = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
HEAVIEST = 2**31 - 1


@pytest.fixture(autouse=True)
def _compilers() -> None:
    for program in ("gcc", "g++"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} (Debian: apt install {program})")


def library(folder: Path, models: list[tv.Model]) -> ctypes.CDLL:
    """All models in one library, as m0, m1, …; each file is compiled as C, and all of them as C++ too."""
    for i, model in enumerate(models):
        to_c(model, folder / f"m{i}.c", name=f"m{i}")
    source = folder / "all.c"
    source.write_text("".join(f'#include "m{i}.c"\n' for i in range(len(models))))
    shared = folder / "all.so"
    commands = [
        ["gcc", "-std=c99", *WARNINGS, "-shared", "-fPIC", "-o", str(shared), str(source)],
        ["g++", "-x", "c++", "-std=c++11", *WARNINGS, "-fsyntax-only", str(source)],
    ]
    for command in commands:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout + run.stderr) == (0, "")
    return ctypes.CDLL(str(shared))


def packed(lib: ctypes.CDLL, prefix: str, bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The words of one input, by the C function; what was there before must not matter."""
    row = np.ascontiguousarray(bits, np.uint8)
    words = np.full(-(-len(bits) // 64), 0xA5A5_A5A5_A5A5_A5A5, np.uint64)
    getattr(lib, f"{prefix}_pack")(ctypes.c_void_p(row.ctypes.data), ctypes.c_void_p(words.ctypes.data))
    return words


def assert_equal(lib: ctypes.CDLL, prefix: str, model: tv.Model, X: NDArray[np.uint8]) -> None:
    scores_of, predict = getattr(lib, f"{prefix}_scores"), getattr(lib, f"{prefix}_predict")
    found = np.zeros((len(X), model.n_outputs), np.int64)
    classes = []
    for bits, scores in zip(X, found, strict=True):
        words = packed(lib, prefix, bits)
        scores_of(ctypes.c_void_p(words.ctypes.data), ctypes.c_void_p(scores.ctypes.data))
        classes.append(model.classes[predict(ctypes.c_void_p(words.ctypes.data))])
    np.testing.assert_array_equal(found, model.scores(X))
    np.testing.assert_array_equal(classes, model.predict(X))


def extremes() -> list[tv.Model]:
    build = tv.Model.from_clauses
    many = [[1 + j % 65, -(1 + (7 * j + 3) % 65)] for j in range(300)]
    own = np.eye(70, 300, dtype=np.int64) * 5 - np.eye(70, 300, 70, dtype=np.int64) * 3
    return [
        build(1, [], np.zeros((1, 0), np.int64)),
        build(65, [], np.zeros((3, 0), np.int64), bias=[-1, 4, 4], clamp=2),
        build(1, [[1]], [[1]], tie="negative"),
        build(2, [[1], [2], [-1], [1, -1]], [[HEAVIEST, HEAVIEST, -HEAVIEST, HEAVIEST]], bias=-HEAVIEST),
        build(2, [[], [], [1]], [[-HEAVIEST, -1, 1]], bias=0, empty_clause="fires", tie="negative"),
        build(2, [[], [], [2]], [[-HEAVIEST] * 3, [HEAVIEST] * 3], bias=[-HEAVIEST, 1], empty_clause="fires"),
        build(65, [[65], [-65], [1, 64, 65], [-1, -64]], [[1, -1, 2, 0], [0, 3, -1, 1]], clamp=HEAVIEST),
        build(64, [[64], [-64, 1]], [[-128, 127]]),
        build(65, many, own, clamp=4, classes=[f"label {k}" for k in range(70)]),
        build(200, [list(range(1, 201)), [-lit for lit in range(1, 201)]], [[300, -70_000]]),
    ]


def inputs(model: tv.Model, n: int, seed: int) -> NDArray[np.uint8]:
    """Dense, thin and even inputs, so that long clauses are met as well."""
    rng = np.random.default_rng(seed)
    share = rng.choice([0.0, 0.05, 0.5, 0.95, 1.0], size=(n, 1))
    return np.asarray(rng.random((n, model.n_features)) < share, np.uint8)


@pytest.mark.parametrize("weighted", [False, True])
def test_digits_on_ten_thousand_inputs(tmp_path: Path, weighted: bool) -> None:
    data = tv.load_dataset("digits")
    clf = tv.TsetlinMachineClassifier(200, n_epochs=3, weighted=weighted, random_state=1)
    model = clf.fit(data.X_train, data.y_train).model_
    rng = np.random.default_rng(5)
    X = data.X_train[rng.integers(len(data.X_train), size=10_000)].astype(np.uint8)
    X[:8000] ^= rng.random((8000, model.n_features)) < rng.choice([0.02, 0.1, 0.5], size=(8000, 1))
    assert_equal(library(tmp_path, [model]), "m0", model, X)


def test_tiny_models_on_all_inputs(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    models = [random_model(rng, 1 + i % 6, 1 + i % 4) for i in range(120)]
    lib = library(tmp_path, models)
    for i, model in enumerate(models):
        assert_equal(lib, f"m{i}", model, all_inputs(model.n_features))


def test_extremes(tmp_path: Path) -> None:
    models = extremes()
    lib = library(tmp_path, models)
    for i, model in enumerate(models):
        few = model.n_features <= 6
        assert_equal(lib, f"m{i}", model, all_inputs(model.n_features) if few else inputs(model, 500, i))


def test_thousands_of_outputs_and_a_word_beyond_a_byte(tmp_path: Path) -> None:
    model = tv.Model.from_clauses(
        20_000, [[j + 1, -20_000] for j in range(3000)], np.eye(3000, dtype=np.int64), bias=0
    )
    text_of_tables = r"static const (\w+) m0_(\w+)\["
    lib = library(tmp_path, [model])
    types = {name: kind for kind, name in re.findall(text_of_tables, (tmp_path / "m0.c").read_text())}
    assert types["word"] == types["vote_output"] == "uint16_t"
    assert types["vote_weight"] == types["bias"] == "uint8_t"
    assert_equal(lib, "m0", model, inputs(model, 40, 1))


def test_unused_bits_do_not_matter(tmp_path: Path) -> None:
    model = tv.Model.from_clauses(65, [[65], [-65, 1], [-64]], [[1, -2, 3], [2, 1, 1]])
    lib = library(tmp_path, [model])
    rng = np.random.default_rng(2)
    for bits in inputs(model, 200, 3):
        words = packed(lib, "m0", bits)
        assert words[1] == bits[64]  # the packer leaves none
        words[1] |= np.uint64(int(rng.integers(1 << 62)) << 1)
        scores = np.zeros(2, np.int64)
        lib.m0_scores(ctypes.c_void_p(words.ctypes.data), ctypes.c_void_p(scores.ctypes.data))
        np.testing.assert_array_equal(scores, model.scores(bits[None])[0])
        assert lib.m0_predict(ctypes.c_void_p(words.ctypes.data)) == model.predict(bits[None])[0]


def test_hostile_names_stay_in_their_comment(tmp_path: Path) -> None:
    code = 'int m0_bias = 1; #error "out"'
    names = [f"*/ {code}", f"/* {code}", f"??/\n{code}", f"\\\n{code}", f"\r{code}", f"\u2028{code}", "\\"]
    names += [f"\x85\x0b\x0c\x1b[2J\x00{code}", "\u202eü*\u200b/", '"*/', "*", "/", "x" * 100_000]
    model = tv.Model.from_clauses(13, [[1], [-13]], [[1, -1], [0, 2]], feature_names=names, classes=names[:2])
    lib = library(tmp_path, [model])
    assert_equal(lib, "m0", model, inputs(model, 50, 4))
    text = (tmp_path / "m0.c").read_bytes()
    assert set(text) <= {10, *range(32, 127)}
    head = text[: text.index(b"*/")]
    assert model.content_hash.encode() in head
    assert len(re.findall(rb"^ \*   12 = ", head, re.M)) == 1  # the last name: all are in the one comment
    assert max(map(len, text.split(b"\n"))) < 4096


@pytest.mark.parametrize(
    "name", ["", "1a", "a-b", "a b", "int", "_x", "ü", "class", "a\n", "x" * 64, 7, None]
)
def test_name_must_be_an_identifier(tmp_path: Path, name: object) -> None:
    model = tv.Model.from_clauses(1, [[1]], [[1]])
    with pytest.raises(tv.InvalidInputError, match="name must be"):
        to_c(model, tmp_path / "m.c", name=name)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_what_is_no_model_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tv.InvalidInputError, match="Model"):
        to_c("model", tmp_path / "m.c")  # type: ignore[arg-type]
    monkeypatch.setattr(c_source, "MAX_ENTRIES", 3)
    wide = tv.Model.from_clauses(300, [[1, 70, 140, 300]], [[1]])
    with pytest.raises(tv.InvalidInputError, match="at most 3 words that clauses look at"):
        to_c(wide, tmp_path / "m.c")
    with pytest.raises(tv.InvalidInputError, match="at most 3 votes"):
        to_c(tv.Model.from_clauses(1, [[1]], [[1]] * 4), tmp_path / "m.c")
    assert not list(tmp_path.iterdir())
