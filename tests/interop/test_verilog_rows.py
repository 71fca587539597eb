"""Raw rows in Verilog: simulated by Icarus, the bits of ``encode`` and the model's classes, exactly."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from raw_rows import HOSTILE, Row, model_of, random_rows, random_space
from tmverify.interop.verilog import to_verilog

PORT = re.compile(r"^    (input|output) +(?:\[(\d+):0\] )?(\w+),?$", re.M)
RESULTS = ("valid", "x", "scores", "decision")

BENCH = """
reg [{width}-1:0] rows_{i} [0:{n}-1];
reg [{width}-1:0] row_{i};
{wires}
m{i}_row machine_{i} ({connections});
integer count_{i};
initial begin
    $readmemb("m{i}.txt", rows_{i});
    #{start};
    for (count_{i} = 0; count_{i} < {n}; count_{i} = count_{i} + 1) begin
        row_{i} = rows_{i}[count_{i}];
        #1 $display("{i} %b %b %b %b", valid_{i}, x_{i}, scores_{i}, decision_{i});
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


def ports(text: str, module: str) -> tuple[dict[str, int], dict[str, int]]:
    """The inputs and the outputs of a module, in order, with their widths."""
    (body,) = re.findall(rf"^module {module} \(\n(.*?)^\);", text, re.M | re.S)
    found: dict[str, dict[str, int]] = {"input": {}, "output": {}}
    for way, high, name in PORT.findall(body):
        found[way][name] = int(high or 0) + 1
    return found["input"], found["output"]


def as_bits(value: Any, width: int) -> str:
    """What a port gets, highest bit first."""
    if isinstance(value, list):
        return "".join(str(bit) for bit in reversed(value))
    number = struct.unpack("<Q", struct.pack("<d", value))[0] if isinstance(value, float) else value
    return f"{number:0{width}b}"


def fits(row: Row, widths: list[int]) -> bool:
    """Whether the port of each code has room for it."""
    pairs = zip(row.values, widths, strict=True)
    return all(0 <= value < 1 << width for value, width in pairs if isinstance(value, int))


def assert_equal(folder: Path, models: list[tv.Model], rows: list[list[Row]]) -> None:
    blocks, start = [], 1
    for i, model in enumerate(models):
        to_verilog(model, folder / f"m{i}.v", name=f"m{i}")
        inputs, outputs = ports((folder / f"m{i}.v").read_text(), f"m{i}_row")
        assert tuple(outputs) == RESULTS
        widths = list(inputs.values())
        rows[i] = [row for row in rows[i] if fits(row, widths)]
        lines = ["".join(map(as_bits, row.values, widths)) for row in rows[i]]
        (folder / f"m{i}.txt").write_text("".join(f"{line}\n" for line in lines))
        connections, end = [], sum(widths)
        for name, width in inputs.items():
            connections.append(f".{name}(row_{i}[{end - 1}:{end - width}])")
            end -= width
        connections += [f".{name}({name}_{i})" for name in outputs]
        wires = "\n".join(f"wire [{width}-1:0] {name}_{i};" for name, width in outputs.items())
        sizes = {"width": sum(widths), "n": len(lines), "start": start}
        blocks.append(BENCH.format(i=i, wires=wires, connections=", ".join(connections), **sizes))
        start += 2 * len(lines)
    (folder / "bench.v").write_text(f"module bench;\n{''.join(blocks)}\nendmodule\n")
    files = [f"m{i}.v" for i in range(len(models))]
    said = quiet(folder, "iverilog", "-g2001", "-Wall", "-s", "bench", "-o", "bench.vvp", *files, "bench.v")
    assert said == ""
    shown: list[list[list[str]]] = [[] for _ in models]
    for line in quiet(folder, "vvp", "-n", "bench.vvp").splitlines():
        number, *found = line.split()
        shown[int(number)].append(found)
    for model, own, lines_of in zip(models, rows, shown, strict=True):
        for row, (valid, bits, _, decision) in zip(own, lines_of, strict=True):
            assert valid == str(int(not row.wrong))
            if row.bits is not None:
                assert bits == "".join(map(str, row.bits[::-1].tolist()))
                assert model.classes[int(decision, 2)] == model.predict(row.bits[None])[0]


def test_random_spaces(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    models = [model_of(rng, random_space(rng, images=False)) for _ in range(60)]
    rows = [random_rows(rng, model.space, 100, flags_checked=False) for model in models]
    assert_equal(tmp_path, models, rows)
    wrong = sum(row.wrong > 0 for own in rows for row in own)
    assert 0.03 < wrong / sum(map(len, rows)) < 0.6  # both kinds of rows are met


def test_pixels_are_bits(tmp_path: Path) -> None:
    space = tv.Space([tv.Number("n", [0.0]), tv.Image((1, 3), 75.0)])
    model = tv.Model.from_clauses(4, [[1, 2], [-4]], [[1, -2]], space=space)
    given = [([1.0, [1, 0, 0]], [1, 1, 0, 0]), ([-0.0, [0, 0, 1]], [0, 0, 0, 1])]
    assert_equal(tmp_path, [model], [[Row(values, 0, np.array(bits, np.uint8)) for values, bits in given]])
    assert "1 iff the level is over 75.0" in (tmp_path / "m0.v").read_text()


@pytest.mark.parametrize(
    "space",
    [
        tv.Space.flags(["a", "b", "c"]),
        tv.Space([tv.Text(["a", "b", "c"])]),
        tv.Space([tv.Image((1, 3), 75.0)]),
    ],
)
def test_there_are_no_rows_where_raw_values_are_bits(tmp_path: Path, space: tv.Space) -> None:
    to_verilog(tv.Model.from_clauses(3, [[1]], [[1]], space=space), tmp_path / "m.v")
    assert "_row" not in (tmp_path / "m.v").read_text()


def test_hostile_names_stay_in_their_comments(tmp_path: Path) -> None:
    names = [f"{HOSTILE}{i}" for i in range(3)]
    parts = [
        tv.Number(HOSTILE, [0.0], True),
        tv.Category(names[0], names),
        tv.Flag(names[1], (names[0], "*/")),
    ]
    model = tv.Model.from_clauses(6, [[1], [-6]], [[1, -1]], space=tv.Space(parts))
    rng = np.random.default_rng(2)
    assert_equal(tmp_path, [model], [random_rows(rng, model.space, 100, flags_checked=False)])
    text = (tmp_path / "m0.v").read_bytes()
    assert set(text) <= {10, *range(32, 127)}
    assert b"`" not in text
    head = text[: text.index(b"\nmodule m0 (")].split(b"\n")
    assert all(line.startswith(b"//") for line in head)
    code = text[text.index(b"\nmodule m0 (") :].decode()
    assert [line for line in code.splitlines() if '"' in line or "\\" in line] == []


@pytest.mark.parametrize("name", ["valid", "machine", "age", "key_1", "ok_1"])
def test_a_module_may_be_called_like_its_ports(tmp_path: Path, name: str) -> None:
    space = tv.Space([tv.Number("age", [1.0], True), tv.Category("c", ["a", "b", "d"])])
    to_verilog(tv.Model.from_clauses(5, [[1]], [[1]], space=space), tmp_path / "m.v", name=name)
    assert quiet(tmp_path, "iverilog", "-g2001", "-Wall", "-s", f"{name}_row", "-o", "m.vvp", "m.v") == ""
