"""Verilog modules: simulated by Icarus, they give the model's scores and classes, exactly.

All models of a test go into one simulation. The test bench reads their inputs and prints ``scores`` and
``decision`` in binary; the bits are taken apart here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv
from support.tiny import all_inputs, random_model
from tmverify.interop import verilog
from tmverify.interop.verilog import to_verilog

HEAVIEST = 2**31 - 1

BENCH = """
reg [{n_features}-1:0] inputs_{i} [0:{n}-1];
reg [{n_features}-1:0] x_{i};
wire [{score_bits}-1:0] scores_{i};
wire [{index_bits}-1:0] decision_{i};
m{i} machine_{i} (.x(x_{i}), .scores(scores_{i}), .decision(decision_{i}));
integer row_{i};
initial begin
    $readmemb("m{i}.txt", inputs_{i});
    #{start};
    for (row_{i} = 0; row_{i} < {n}; row_{i} = row_{i} + 1) begin
        x_{i} = inputs_{i}[row_{i}];
        #1 $display("{i} %b %b", scores_{i}, decision_{i});
    end
end
"""


@pytest.fixture(autouse=True)
def _icarus() -> None:
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        pytest.skip("no iverilog (Debian: apt install iverilog)")


def quiet(folder: Path, *command: str) -> str:
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def port_bits(text: str, port: str) -> int:
    found = re.search(rf"^    output +\[(\d+):0\] {port}\b", text, re.M)
    assert found is not None
    return int(found[1]) + 1


def simulate(folder: Path, models: list[tv.Model], X: list[NDArray[np.uint8]]) -> list[list[list[str]]]:
    """For each model and input, what its ports show: the bits of ``scores`` and of ``decision``."""
    blocks, start = [], 1
    for i, (model, rows) in enumerate(zip(models, X, strict=True)):
        file = folder / f"m{i}.v"
        to_verilog(model, file, name=f"m{i}")
        # Bit 0 is written last.
        (folder / f"m{i}.txt").write_text("".join("".join(map(str, r[::-1].tolist())) + "\n" for r in rows))
        text = file.read_text()
        sizes = {"score_bits": port_bits(text, "scores"), "index_bits": port_bits(text, "decision")}
        blocks.append(BENCH.format(i=i, n=len(rows), n_features=model.n_features, start=start, **sizes))
        start += 2 * len(rows)
    (folder / "bench.v").write_text(f"module bench;\n{''.join(blocks)}\nendmodule\n")
    files = [f"m{i}.v" for i in range(len(models))]
    assert (
        quiet(folder, "iverilog", "-g2001", "-Wall", "-s", "bench", "-o", "bench.vvp", *files, "bench.v")
        == ""
    )
    shown: list[list[list[str]]] = [[] for _ in models]
    for line in quiet(folder, "vvp", "-n", "bench.vvp").splitlines():
        number, *ports = line.split()
        shown[int(number)].append(ports)
    return shown


def signed(bits: str) -> int:
    return int(bits, 2) - (int(bits[0]) << len(bits))


def assert_equal(folder: Path, models: list[tv.Model], X: list[NDArray[np.uint8]]) -> None:
    for model, rows, shown in zip(models, X, simulate(folder, models, X), strict=True):
        assert len(shown) == len(rows)
        width = len(shown[0][0]) // model.n_outputs
        for (bits, decision), scores, label in zip(
            shown, model.scores(rows).tolist(), model.predict(rows).tolist(), strict=True
        ):
            parts = [bits[a : a + width] for a in range(0, len(bits), width)]
            assert [signed(part) for part in reversed(parts)] == scores
            assert model.classes[int(decision, 2)] == label


def inputs(model: tv.Model, n: int, seed: int) -> NDArray[np.uint8]:
    """Every input of a small model; else dense, thin and even ones, so that long clauses are met as well."""
    if model.n_features <= 6:
        return all_inputs(model.n_features)
    rng = np.random.default_rng(seed)
    share = rng.choice([0.0, 0.05, 0.5, 0.95, 1.0], size=(n, 1))
    return np.asarray(rng.random((n, model.n_features)) < share, np.uint8)


def extremes() -> list[tv.Model]:
    build = tv.Model.from_clauses
    many = [[1 + j % 65, -(1 + (7 * j + 3) % 65)] for j in range(300)]
    own = np.eye(70, 300, dtype=np.int64) * 5 - np.eye(70, 300, 70, dtype=np.int64) * 3
    return [
        build(1, [], np.zeros((1, 0), np.int64)),
        build(1, [], np.zeros((2, 0), np.int64), bias=-1),
        build(65, [], np.zeros((3, 0), np.int64), bias=[-1, 4, 4], clamp=2),
        build(1, [[1]], [[1]], tie="negative"),
        build(1, [[1]], [[-1]], tie="positive"),
        build(2, [[1], [2], [-1], [1, -1]], [[HEAVIEST, HEAVIEST, -HEAVIEST, HEAVIEST]], bias=-HEAVIEST),
        build(2, [[], [], [1]], [[-HEAVIEST, -1, 1]], bias=0, empty_clause="fires", tie="negative"),
        build(2, [[], [], [2]], [[-HEAVIEST] * 3, [HEAVIEST] * 3], bias=[-HEAVIEST, 1], empty_clause="fires"),
        build(65, [[65], [-65], [1, 64, 65], [-1, -64]], [[1, -1, 2, 0], [0, 3, -1, 1]], clamp=HEAVIEST),
        # Just as wide as the scores need: -512 to 511, -8 to 7, -8 to 0, and one beyond at either end.
        build(1, [[1]], [[1023]], bias=-512),
        build(2, [[1], [2]], [[15, 0], [0, -15]], bias=[-8, 7], clamp=7),
        build(2, [[1], [2]], [[8, -8], [-8, 8], [0, 0]], bias=[0, 0, -8], clamp=8),
        build(2, [[1], [2]], [[8, -8], [-8, 9], [8, 8]], clamp=7),
        build(65, many, own, clamp=4, classes=[f"label {k}" for k in range(70)]),
        build(200, [list(range(1, 201)), [-lit for lit in range(1, 201)]], [[300, -70_000]]),
    ]


def test_digits_on_two_thousand_inputs(tmp_path: Path) -> None:
    data = tv.load_dataset("digits")
    models, X = [], []
    rng = np.random.default_rng(5)
    for weighted in (False, True):
        clf = tv.TsetlinMachineClassifier(100, n_epochs=3, weighted=weighted, random_state=1)
        models.append(clf.fit(data.X_train, data.y_train).model_)
        rows = data.X_train[rng.integers(len(data.X_train), size=1000)].astype(np.uint8)
        rows[:800] ^= rng.random((800, rows.shape[1])) < rng.choice([0.02, 0.1, 0.5], size=(800, 1))
        X.append(rows)
    assert_equal(tmp_path, models, X)


def test_tiny_models_on_all_inputs(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    models = [random_model(rng, 1 + i % 6, 1 + i % 4) for i in range(80)]
    assert_equal(tmp_path, models, [all_inputs(model.n_features) for model in models])


def test_extremes(tmp_path: Path) -> None:
    models = extremes()
    assert_equal(tmp_path, models, [inputs(model, 200, i) for i, model in enumerate(models)])


def test_scores_are_as_wide_as_they_must_be(tmp_path: Path) -> None:
    for bias, weight, bits in [(0, 1, 2), (-1, 1, 1), (-512, 1023, 10), (-512, 1024, 11), (-513, 1, 11)]:
        to_verilog(tv.Model.from_clauses(1, [[1]], [[weight]], bias=bias), tmp_path / "m.v")
        assert port_bits((tmp_path / "m.v").read_text(), "scores") == bits


def test_hostile_names_stay_in_their_comments(tmp_path: Path) -> None:
    code = "endmodule `error module m0; // synthesis translate_off"
    names = [f"\n{code}", f"\r{code}", f"\r\n{code}", f"\u2028{code}", f"\x85{code}", f"\x0b\x0c\x00{code}"]
    names += ["*/ `include `x", "/* (* full_case *)", "\\", "ü\u202e", "x" * 100_000]
    model = tv.Model.from_clauses(11, [[1], [-11]], [[1, -1], [0, 2]], feature_names=names, classes=names[:2])
    assert_equal(tmp_path, [model], [inputs(model, 50, 4)])
    text = (tmp_path / "m0.v").read_bytes()
    assert set(text) <= {10, *range(32, 127)}
    head = text[: text.index(b"\nmodule m0 (")].split(b"\n")
    assert all(line.startswith(b"//") for line in head)
    assert b"`" not in text
    assert model.content_hash.encode() in b"".join(head)
    assert [line for line in head if line.startswith(b"//   10 = ")]


@pytest.mark.parametrize("name", ["clause_0", "is_0", "score_0", "Wire"])
def test_a_module_may_be_called_like_its_wires(tmp_path: Path, name: str) -> None:
    to_verilog(tv.Model.from_clauses(2, [[1], [2]], [[1, 0], [0, 1]]), tmp_path / "m.v", name=name)
    assert quiet(tmp_path, "iverilog", "-g2001", "-Wall", "-s", name, "-o", "m.vvp", "m.v") == ""


@pytest.mark.parametrize(
    "name",
    ["", "1a", "a-b", "wire", "logic", "x", "scores", "decision", "_x", "a$", "ü", "a\n", "x" * 64, 7, None],
)
def test_name_must_be_an_identifier(tmp_path: Path, name: object) -> None:
    model = tv.Model.from_clauses(1, [[1]], [[1]])
    with pytest.raises(tv.InvalidInputError, match="name must be"):
        to_verilog(model, tmp_path / "m.v", name=name)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_what_is_no_model_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.v"
    with pytest.raises(tv.InvalidInputError, match="Model"):
        to_verilog("model", path)  # type: ignore[arg-type]
    with pytest.raises(tv.InvalidInputError, match="at most 65,536 features"):
        to_verilog(tv.Model.from_clauses(2**16 + 1, [[1]], [[1]]), path)
    with pytest.raises(tv.InvalidInputError, match="at most 65,536 bits of scores"):
        to_verilog(tv.Model.from_clauses(1, [[1]], [[HEAVIEST]] * 3000), path)
    model = tv.Model.from_clauses(4, [[1, 2], [3, 4]], [[1, 1], [1, 1]])
    for limit, what in (("MAX_VOTES", "votes"), ("MAX_LITERALS", "literals")):  # literals are checked first
        monkeypatch.setattr(verilog, limit, 3)
        with pytest.raises(tv.InvalidInputError, match=f"at most 3 {what}"):
            to_verilog(model, path)
    assert not list(tmp_path.iterdir())
