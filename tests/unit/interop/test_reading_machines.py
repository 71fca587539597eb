"""Importers without their libraries: layouts, saved states, and the self-check. The libraries themselves are
asked in ``tests/interop``."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import tmverify as tv
from support.batteries import few_or_many
from support.tiny import random_model
from tmverify.interop import from_green, from_pytsetlin, from_tmu
from tmverify.interop.machines import (
    check_agreement,
    clauses_of_lists,
    included_in_slices,
    probes,
)
from tmverify.model.clauses import clauses_of_matrix


def test_literals_of_matrices_and_lists() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        n, n_clauses = int(rng.integers(1, 80)), int(rng.integers(0, 6))
        included = rng.random((n_clauses, 2 * n)) < 0.3
        expected = [
            sorted(
                (lit + 1 if lit < n else n - lit - 1 for lit in np.flatnonzero(row).tolist()),
                key=lambda lit: (abs(lit), lit),
            )
            for row in included
        ]
        assert [*clauses_of_matrix(included, n)] == [tuple(clause) for clause in expected]
        assert clauses_of_lists([np.flatnonzero(row) for row in included], n) == clauses_of_matrix(
            included, n
        )
        positive = clauses_of_matrix(included[:, :n], n)
        assert [*positive] == [tuple(lit for lit in clause if lit > 0) for clause in expected]
    with pytest.raises(tv.ModelError, match="literals of 2 features are 0 to 3"):
        clauses_of_lists([[4]], 2)
    with pytest.raises(tv.ModelError, match=r"or twice\. Got 5"):
        clauses_of_matrix(np.ones((1, 5), np.bool_), 2)


def sliced(included: NDArray[np.bool_], n_state_bits: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Automata in bit slices, literal by literal, with noise in the lower bits and in the padding."""
    n_clauses, n_literals = included.shape
    words = (n_literals - 1) // 32 + 1
    states = rng.integers(0, 2**32, (n_clauses, words, n_state_bits), np.uint32)
    for j, lit in np.ndindex(n_clauses, n_literals):
        bit = np.uint32(1 << (lit % 32))
        top = states[j, lit // 32, -1]
        states[j, lit // 32, -1] = top | bit if included[j, lit] else top & ~bit
    return states.reshape(-1)


def test_literals_of_bit_slices() -> None:
    rng = np.random.default_rng(1)
    for n_literals in (1, 31, 32, 33, 70):
        for n_state_bits in (1, 3, 8):
            included = rng.random((4, n_literals)) < 0.4
            states = sliced(included, n_state_bits, rng)
            assert np.array_equal(included_in_slices(states, 4, n_state_bits, n_literals), included)
    with pytest.raises(tv.ModelError, match="take 16 words"):
        included_in_slices(states, 4, 2, 33)


class Gpu:
    """What a fitted MultiClassTsetlinMachine of the CUDA library shows; no GPU is needed for that."""

    T, number_of_classes, number_of_clauses, number_of_state_bits, number_of_ta_chunks = 4, 3, 6, 8, 2
    number_of_features, append_negated = 40, True

    def __init__(self, on_gpu: bool) -> None:
        rng = np.random.default_rng(5)
        self.included = rng.random((3, 6, 40)) < 0.05
        self.state: dict[str, Any] = {
            "ta_state": np.concatenate([sliced(part, 8, rng) for part in self.included]),
            "clause_weights": rng.integers(1, 4, 18).astype(np.uint8),
        }
        empty = {"ta_state": np.array([]), "clause_weights": np.array([])}
        self.__dict__.update(empty if on_gpu else self.state)

    def __getstate__(self) -> dict[str, Any]:
        return self.state

    def predict(self, X: NDArray[np.uint32]) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = self.score(X).argmax(axis=0)
        return labels

    def score(self, X: NDArray[np.uint32]) -> NDArray[np.int64]:
        literals = np.concatenate([X, 1 - X], axis=1).astype(np.bool_)
        sums = np.zeros((len(X), 3), np.int64)
        for c, j in np.ndindex(3, 6):
            wanted = self.included[c, j]
            holds = literals[:, wanted].all(axis=1) & bool(wanted.any())
            sums[:, c] += holds * int(self.state["clause_weights"][6 * c + j]) * (1 - 2 * (j % 2))
        return np.clip(sums, -4, 4).T


@pytest.mark.parametrize("on_gpu", [True, False])
def test_the_layout_of_the_cuda_library(on_gpu: bool) -> None:
    kind = type("MultiClassTsetlinMachine", (Gpu,), {"__module__": "PyTsetlinMachineCUDA.tm"})
    machine = kind(on_gpu)
    X = np.random.default_rng(6).integers(0, 2, (500, 20)).astype(np.uint8)
    model = from_pytsetlin(machine, X)
    assert model.clamp == 4
    assert model.predict(X).tolist() == machine.predict(X).tolist()
    wrong = type("RegressionTsetlinMachine", (Gpu,), {"__module__": "PyTsetlinMachineCUDA.tm"})
    with pytest.raises(
        tv.ModelError, match="RegressionTsetlinMachine of PyTsetlinMachineCUDA can't be imported"
    ):
        from_pytsetlin(wrong(on_gpu))


@pytest.mark.parametrize("importer", [from_tmu, from_pytsetlin, from_green])
def test_what_is_no_machine(importer: Any) -> None:
    for wrong in (None, 3, object(), tv.Model.from_clauses(1, [[1]], [[1]])):
        with pytest.raises(tv.InvalidInputError, match="takes a"):
            importer(wrong)


def state_of(model: tv.Model) -> tuple[NDArray[np.int8], NDArray[np.int16]]:
    """``model`` as green-tsetlin would keep it."""
    automata = np.full((model.n_clauses, 2 * model.n_features), -3, np.int8)
    for j, clause in enumerate(model.clauses):
        for lit in clause:
            automata[j, lit - 1 if lit > 0 else model.n_features - lit - 1] = j % 3
    return automata, model.weights.T.astype(np.int16)


@pytest.mark.parametrize("names", [("c", "w"), ("ta_state", "weights")])
def test_saved_states(tmp_path: Path, names: tuple[str, str]) -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        model = random_model(rng, 5, 3)
        if not model.n_clauses:
            continue
        automata, weights = state_of(model)
        (tmp_path / "state.npz").write_bytes(archive(**{names[0]: automata, names[1]: weights}))
        read = from_green(tmp_path / "state.npz", classes=["a", "b", "c"], feature_names=list("vwxyz"))
        assert read.clauses == model.clauses
        assert np.array_equal(read.weights, model.weights)
        assert (read.classes, read.clamp, read.empty_clause) == (("a", "b", "c"), None, "silent")
        assert read.feature_names == tuple("vwxyz")


def archive(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def zipped(*members: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, content in members:
            file.writestr(name, content)
    return stream.getvalue()


C, W = np.zeros((4, 6), np.int8), np.ones((4, 2), np.int16)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an .npz file"),
        (b"not a zip", "not an .npz file"),
        (pickle.dumps({"c": 1}), "not an .npz file"),
        (archive(c=C), "Found c"),
        (archive(c=C, w=W, ta_state=C, weights=W), "Found c, ta_state, w, weights"),
        (zipped(("c", b"hello"), ("w", b"hello")), "a member is no array"),
        (zipped(("c.npy", b"hello"), ("c", b"hello"), ("w.npy", b"")), "Found c, c, w"),
        (archive(c=C, w=W)[:-60], "npz|can't be read"),
        (archive(c=C, w=W)[:200] + b"\0" * 50 + archive(c=C, w=W)[250:], "can't be read"),
        (archive(c=np.array([{}]), w=W), "Python objects, which are never loaded"),
        (archive(c=C[0], w=W), "must be a matrix of signed integers"),
        (archive(c=C.astype(float), w=W), "must be a matrix of signed integers"),
        (archive(c=C, w=W.astype(np.uint16)), "must be a matrix of signed integers"),
        (archive(c=C[:, :5], w=W), "n_clauses, 2 . n_features"),
        (archive(c=C[:3], w=W), "n_clauses, 2 . n_features"),
        (archive(c=C[:0], w=W[:0]), "must be a matrix"),
        (archive(c=C, w=W[:, :1]), "at least two classes"),
        (archive(c=C, w=W.astype(np.int64) << 40), "overflow the 16 bits|weights must be between"),
        (archive(c=C, w=W * 30_000), "overflow the 16 bits"),
    ],
)
def test_files_that_are_no_state(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "state.npz").write_bytes(content)
    with pytest.raises((tv.DataFormatError, tv.ModelError), match=message):
        from_green(tmp_path / "state.npz")


def test_a_file_that_unpacks_to_too_much(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as bomb:
        bomb.writestr("c.npy", b"")
        bomb.infolist()[0].file_size = 1 << 31  # what the table of contents promises
    with pytest.raises(tv.DataFormatError, match="bytes unpacked"):
        from_green(tmp_path / "bomb.npz")


def test_a_file_that_holds_less_than_it_promises(tmp_path: Path) -> None:
    header = io.BytesIO()
    shape = {"descr": "|i1", "fortran_order": False, "shape": (1 << 30, 1 << 12)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(tmp_path / "empty.npz", "w") as promise:
        for name in ("c.npy", "w.npy"):
            promise.writestr(name, header.getvalue())
    with pytest.raises(tv.DataFormatError, match=r"too large|can't be read"):
        from_green(tmp_path / "empty.npz")


def test_nothing_to_compare_is_no_comparison() -> None:
    model = tv.Model.from_clauses(3, [[1]], [[1], [2]])
    with pytest.raises(tv.InvalidInputError, match="X has no rows"):
        check_agreement(model, "it", lambda bits: (model.predict(bits), None), np.zeros((0, 3)))
    check_agreement(model, "it", lambda bits: (model.predict(bits), None), csr_matrix(np.eye(3)))


def test_a_wrong_clause_is_seen_through_the_clauses() -> None:
    """Where a library shows no scores: a lost clause that changes no prediction is seen all the same."""
    model = tv.Model.from_clauses(8, [[1, 2, 3, 4], [5]], [[1, 0], [0, 9]])
    lost = tv.Model.from_clauses(8, [[1, 2, 3, 4, 6], [5]], model.weights)

    def ask_clauses(bits: NDArray[np.uint8]) -> NDArray[Any]:
        return model.clauses.outputs(bits, empty_fires=True)

    check_agreement(model, "it", lambda bits: (model.predict(bits), None), None, ask_clauses=ask_clauses)
    with pytest.raises(tv.ImportMismatchError, match="clause 0 holds") as caught:
        check_agreement(lost, "it", lambda bits: (lost.predict(bits), None), None, ask_clauses=ask_clauses)
    assert caught.value.input[:6].tolist() == [1, 1, 1, 1, caught.value.input[4], 0]


def test_sets_have_no_order() -> None:
    with pytest.raises(tv.ModelError, match="classes must be a list"):
        tv.Model.from_clauses(1, [[1]], [[1]], classes={"a", "b"})  # type: ignore[arg-type]


def test_a_file_can_not_be_compared(tmp_path: Path) -> None:
    with pytest.raises(tv.InvalidInputError, match="no library to ask"):
        from_green(tmp_path / "state.npz", np.zeros((1, 3)))
    with pytest.raises(tv.DataFormatError, match="no such file"):
        from_green(tmp_path / "state.npz")


def test_probes_meet_clauses_that_hold_and_that_just_fail() -> None:
    rng = np.random.default_rng(3)
    clauses = [(rng.choice(300, 30, replace=False) + 1) * rng.choice([-1, 1], 30) for _ in range(10)]
    model = tv.Model.from_clauses(300, [c.tolist() for c in clauses], np.ones((2, 10), int))
    bits = probes(model)
    assert np.array_equal(bits, probes(model))
    outputs = model.clauses.outputs(bits, empty_fires=False)
    assert outputs.any(axis=0).all()  # a random input would hold none of them
    violated = np.stack([(bits[:, np.abs(c) - 1] != (c > 0)).sum(axis=1) for c in clauses])
    assert (violated == 1).any()


@few_or_many(20, 60)
def test_any_misreading_is_found(n_cases: int) -> None:
    """One literal, weight or rule changed in the model: the library disagrees somewhere, and is believed."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(n_cases):
        clauses = [
            ((rng.choice(12, 4, replace=False) + 1) * rng.choice([-1, 1], 4)).tolist() for _ in range(6)
        ]
        library = tv.Model.from_clauses(12, clauses, rng.integers(-3, 4, (3, 6)))
        clauses[2] = [*clauses[2][:-1], -clauses[2][-1]]
        misread = tv.Model.from_clauses(12, clauses, library.weights)

        def ask(bits: NDArray[np.uint8], model: tv.Model = library) -> tuple[Any, Any]:
            return model.predict(bits), model.scores(bits)

        check_agreement(library, "it", ask, None)
        if (library.weights[:, 2] == 0).all():
            continue
        with pytest.raises(tv.ImportMismatchError) as caught:
            check_agreement(misread, "it", ask, None)
        z = caught.value.input[None, :]
        assert not np.array_equal(library.scores(z), misread.scores(z))
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.input.tolist()) == (str(caught.value), z[0].tolist())
        found += 1
    assert found > n_cases * 5 // 6
