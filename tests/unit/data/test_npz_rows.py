"""Raw rows in ``.npz`` files are kept if they have the model's columns, and are the very inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tmverify as tv
from tmverify.data import load_inputs
from tmverify.data.files import RawRows
from tmverify.data.inputs import save_inputs
from tmverify.space import Part

AGE, CITY = tv.Number("age", (25, 40)), tv.Category("city", ("Bergen", "Oslo"))
ROWS = RawRows(("age", "city"), [["31", "Oslo"], ["66", "Bergen"]], (2, 3))


def model(*parts: Part) -> tv.Model:
    return tv.Model.from_clauses(4, [[1]], [1], space=tv.Space(parts))


def saved(path: Path, rows: RawRows = ROWS) -> Path:
    space = tv.Space([AGE, CITY])
    bits = space.encode([dict(zip(ROWS.names, row, strict=True)) for row in ROWS.cells])
    save_inputs(path, bits, np.array([0, 1]), space.bit_names, rows)
    return path


def test_cells_are_in_the_order_of_the_model(tmp_path: Path) -> None:
    path = saved(tmp_path / "d.npz")
    own, turned = (load_inputs(path, model(*parts)) for parts in ((AGE, CITY), (CITY, AGE)))
    assert own.raw is not None
    assert turned.raw is not None
    assert [*map(tuple, own.raw.cells)] == [("31", "Oslo"), ("66", "Bergen")]
    assert [*map(tuple, turned.raw.cells)] == [("Oslo", "31"), ("Bergen", "66")]
    assert turned.raw.lines == turned.lines == (2, 3)


def test_cells_that_are_not_the_bits_or_the_columns_are_not_kept(tmp_path: Path) -> None:
    wrong = RawRows(ROWS.names, [["31", "Oslo"], ["31", "Bergen"]])
    assert load_inputs(saved(tmp_path / "d.npz", wrong), model(AGE, CITY)).raw is None
    names = tv.Space([AGE, CITY]).bit_names
    assert load_inputs(saved(tmp_path / "e.npz"), model(*map(tv.Flag, names))).raw is None
