"""One table by many routes: training, its file, frames, mappings, arrays, saved rows give equal bits."""

from __future__ import annotations

import csv
import math
import tracemalloc
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tmverify as tv
from tmverify.data import Dataset, load_inputs, load_table, save_inputs, save_rows, split_table
from tmverify.errors import DataFormatError, InvalidInputError

NAMES = ("age", "city", "note", "owner")
BLANKS = ("", " ", "\xa0", "\u2003 ")
AGES = ("1", "2.5", "-3", "1e3", " 7 ", "12", "0.1", "1.0", *BLANKS, "NA", "?")
CITIES = (
    "Oslo",
    "\xa0Oslo",
    "oslo ",
    "20,5",
    "20.5",
    "1,0",
    "007",
    "7",
    "7.0",
    "True",
    "NA",
    "unseen",
    '"a" b',
    '"',
)
NOTES = (
    "good film",
    "good\xa0film",
    "\xa0",
    "\xa0good\xa0",
    'a "good" film',
    '"good" film',
    '"all"',
    "a\tb\nc",
    "",
)
OWNERS = ("true", "False", "0", "1", "no", "yes", "Yes ", *BLANKS)

Rows = list[tuple[str, ...]]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Rows of four columns; each uses only some of the values, so that kinds of columns vary."""
    n = draw(st.integers(4, 10))
    columns = []
    for values in (AGES, CITIES, NOTES, OWNERS):
        some = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4))
        columns.append(draw(st.lists(st.sampled_from(some), min_size=n, max_size=n)))
    columns[1][0] = "Oslo"  # so that 20,5 is no number there
    return list(zip(*columns, strict=True))


def write(path: Path, rows: Rows, mark: str) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text, delimiter=mark)
        writer.writerow([*NAMES, "y"])
        writer.writerows([*row, "ab"[i % 2]] for i, row in enumerate(rows))
    return path


def learnt(path: Path, texts: tuple[str, ...] = ("note",), **options: Any) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return split_table(load_table(path, "y"), path.name, texts=texts, **options)


def model_of(space: tv.Space) -> tv.Model:
    return tv.Model.from_clauses(space.n_bits, [[1]], [1], space=space)


def frames(rows: Rows) -> dict[str, pd.DataFrame]:
    """The cells as a frame: as objects, as texts, as categories; and typed, with gaps."""
    cells = pd.DataFrame(rows, columns=NAMES, dtype=object)
    typed = cells.copy()
    ages = [math.nan if not cell.strip() or cell in ("NA", "?") else float(cell) for cell in cells["age"]]
    if not all(map(math.isnan, ages)):
        typed["age"] = ages
    for name in ("city", "owner"):
        typed[name] = pd.Series([cell if cell.strip() else None for cell in cells[name]], dtype=object)
    return {
        "objects": cells,
        "texts": cells.astype(str),
        "coded": cells.astype({"city": "category", "owner": "category"}),
        "typed": typed,
    }


@settings(deadline=None, max_examples=150)
@given(tables(), st.sampled_from(",;\t"), st.booleans())
def test_every_route_gives_the_same_bits(rows: Rows, mark: str, as_text: bool) -> None:
    with TemporaryDirectory() as folder:
        check_routes(Path(folder), rows, mark, ("note",) if as_text else ())


def check_routes(folder: Path, rows: Rows, mark: str, texts: tuple[str, ...]) -> None:
    file = write(folder / "t.csv", rows, mark)
    try:
        data = learnt(file, texts, test_size=0)
    except (InvalidInputError, DataFormatError):
        assume(False)  # no bit, or no words
    bits, space = data.X_train, data.space
    assert space is not None
    model = model_of(space)

    def same(found: NDArray[Any]) -> bool:
        return np.array_equal(found, bits)

    found = load_inputs(file, model)
    assert same(found.X)
    names = [part.name for part in space.parts]
    mappings = [dict(zip(NAMES, row, strict=True)) for row in rows]
    assert same(space.encode(mappings))
    assert same(np.stack([tv.model.inputs.input_row(row, model) for row in mappings]))
    for name, frame in frames(rows).items():
        assert same(space.encode(frame)), name
        assert same(tv.model.inputs.input_rows(frame[[*NAMES[::-1]]], model)), name
        assert same(space.encode(frame[names].to_numpy(object))), name
    assert data.binarizer is not None
    assert same(data.binarizer.transform(frames(rows)["objects"][names].to_numpy(object)))
    assert found.raw is not None
    y = np.array([0, 1] * len(rows))[: len(rows)]
    save_inputs(folder / "t.npz", bits, y, space.bit_names, found.raw)
    again = load_inputs(folder / "t.npz", model)
    assert same(again.X)
    assert again.raw is not None
    assert [*map(tuple, again.raw.cells)] == [*map(tuple, found.raw.cells)]
    save_rows(folder / "u.csv", found.raw, y, "y")
    assert same(load_inputs(folder / "u.csv", model).X)


def saved(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_cell_between_tabs_does_not_depend_on_other_cells(tmp_path: Path) -> None:
    """Quotes after the first lines, beside cells without or with other quotes, were read otherwise."""
    city = model_of(tv.Space([tv.Category("city", ["Oslo"], other=True), tv.Text(("good",), "note")]))
    plain = "Bergen\tgood\n" * 30
    for others in ("", plain, '"Bergen"\t"good"\n', '"Ber" gen\t"good\n', 'Bergen\t"two\nlines"\n'):
        file = saved(tmp_path / "a.tsv", f'city\tnote\n{others}"Oslo"\tbad\n')
        assert load_inputs(file, city).X[-1].tolist() == [1, 0], others
    rows = "Bergen\ta\n" * 30 + '"Os""lo"\tb\n'
    table = load_table(saved(tmp_path / "b.tsv", f"city\ty\n{rows}"))
    assert table.X[-1].tolist() == ['Os"lo']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a\tb\n"1\t2\n3"\t4\n', "is that one cell"),
        ('a\tb\n"1" x\t2\n3\n', "line 3: 1 values, where line 1 has 2"),
        ('a\tb\n"1\t2\n3\n', "line 3: 1 values, where line 1 has 2"),
    ],
)
def test_quotes_between_tabs_that_are_not_clear(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFormatError, match=message):
        load_table(saved(tmp_path / "a.tsv", text), "b")


def test_decimal_commas_are_numbers_only(tmp_path: Path) -> None:
    rows = "3,5;20,5;0,5 l;1,0;a\n4;Oslo;20,5;;b\n0,1;20.5;x;0,0;a\n5;2;y;1,0;b\n"
    file = saved(tmp_path / "a.csv", f"w;city;note;own;y\n{rows}")
    data = learnt(file, test_size=0)
    space = data.space
    assert space is not None
    assert space.parts[1] == tv.Category("city", ("2", "20,5", "20.5", "Oslo"), other=True)
    assert space.parts[3] == tv.Category("own", ("0", "1"), other=True, missing=True)
    found = load_inputs(file, model_of(space))
    assert np.array_equal(found.X, data.X_train)
    row = {"w": "3.5", "city": "20,5", "note": "0,5 l", "own": 1.0}
    assert space.encode([row]).tolist() == [found.X[0].tolist()]
    assert found.raw is not None
    assert tuple(found.raw.cells[0]) == ("3.5", "20,5", "0,5 l", "1.0")
    bits = model_of(tv.Space.flags(["a", "b"]))
    assert load_inputs(saved(tmp_path / "b.csv", "1,0;0,0\n0;1\n"), bits).X.tolist() == [[1, 0], [0, 1]]


def test_columns_of_true_and_false(tmp_path: Path) -> None:
    file = saved(tmp_path / "a.csv", "a,b,y\n" + "True,False,1\nfalse,TRUE,0\n" * 2)
    data = learnt(file, (), test_size=0)
    assert data.space is not None
    model = model_of(data.space)
    assert load_inputs(file, model).X.tolist() == data.X_train.tolist() == [[1, 0], [0, 1]] * 2
    assert load_inputs(saved(tmp_path / "b.csv", "true,false\nTrue,0\n"), model).X.tolist() == [
        [1, 0],
        [1, 0],
    ]


def test_underscores_are_no_part_of_numbers(tmp_path: Path) -> None:
    """Python takes 1_000 for a number; files of people don't mean it."""
    table = load_table(saved(tmp_path / "a.csv", "n,y\n1_000,a\n2,b\n"))
    assert table.X.tolist() == [["1_000"], ["2"]]


def test_a_column_without_values_among_the_training_rows(tmp_path: Path) -> None:
    rows = [
        f"{i % 3},{'Oslo' if i == 7 else ''},{'good' if i == 7 else ' '},{'ab'[i % 2]}" for i in range(40)
    ]
    file = saved(tmp_path / "a.csv", "\n".join(["n,city,note,y", *rows]) + "\n")
    table, left_out = load_table(file), 0
    for seed in range(12):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = split_table(table, "a", random_state=seed, texts=("note",))
        assert data.space is not None
        said = any(
            "blank in all training rows, and are left out: city, note" in str(w.message) for w in caught
        )
        assert said == (len(data.space.parts) == 1)
        left_out += said
        bits = np.concatenate([data.X_train, data.X_test])
        assert load_inputs(file, model_of(data.space)).X.sum(axis=0).tolist() == bits.sum(axis=0).tolist()
    assert 0 < left_out < 12
    for kind in ("category", "text"):
        with pytest.raises(InvalidInputError, match="'c'"):
            tv.TableBinarizer(kinds={"c": kind}).fit(pd.DataFrame({"c": [None, " "], "n": [1, 2]}))


def test_a_constant_column_of_another_model(tmp_path: Path) -> None:
    space = tv.Space([tv.Number("c", ()), tv.Number("n", (2,))])
    save = learnt(saved(tmp_path / "a.csv", "n,y\n1,a\n2,b\n3,a\n4,b\n"), (), like=space, test_size=0.5)
    assert save.raw_test is not None
    save_inputs(tmp_path / "t.npz", save.X_test, save.y_test, space.bit_names, save.raw_test)
    found = load_inputs(tmp_path / "t.npz", model_of(space))
    assert found.raw is not None
    assert [cells[0] for cells in found.raw.cells] == ["", ""]


def test_one_long_cell_does_not_make_all_cells_long(tmp_path: Path) -> None:
    space = tv.Space([tv.Text(("good",), "note")])
    raw = tv.data.files.RawRows(("note", "id"), [["good " * 200_000, "ü"], *[["bad", ""]] * 20_000])
    bits = space.encode([{"note": row[0]} for row in raw.cells])
    tracemalloc.start()
    save_inputs(tmp_path / "t.npz", bits, np.zeros(len(bits), int), space.bit_names, raw)
    found = load_inputs(tmp_path / "t.npz", model_of(space))
    assert tracemalloc.get_traced_memory()[1] < 1 << 26  # as an array of texts, it would be 160 GB
    tracemalloc.stop()
    assert found.raw is not None
    assert [row[0] for row in found.raw.cells] == [row[0] for row in raw.cells]
