"""Inputs from files: what is read, and what each kind of damage is called."""

from __future__ import annotations

import contextlib
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tmverify import Model, Space
from tmverify.data import load_inputs, match_labels
from tmverify.errors import DataFormatError, InvalidInputError

X = np.array([[0, 1, 1], [1, 0, 0]], np.uint8)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("dtype", [np.bool_, np.int64, np.float32, np.uint8])
def test_npz_with_labels(tmp_path: Path, dtype: type) -> None:
    np.savez(tmp_path / "d.npz", X=X.astype(dtype), y=[3, 4])
    inputs = load_inputs(tmp_path / "d.npz")
    assert inputs.X.dtype == np.uint8
    assert np.array_equal(inputs.X, X)
    assert inputs.y is not None
    assert inputs.y.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("y", "expected"),
    [([1.0, 0.0], [1, 0]), ([True, False], [1, 0]), (["a", "b"], ["a", "b"]), ([b"a", b"b"], ["a", "b"])],
)
def test_labels_of_every_kind(tmp_path: Path, y: list[Any], expected: list[Any]) -> None:
    np.savez(tmp_path / "d.npz", X=X, y=y)
    inputs = load_inputs(tmp_path / "d.npz")
    assert inputs.y is not None
    assert inputs.y.tolist() == expected


def test_npy_has_no_labels(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", X)
    inputs = load_inputs(tmp_path / "d.npy")
    assert np.array_equal(inputs.X, X)
    assert inputs.y is None


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("0,1,1\n1,0,0\n", None),
        ("\ufeff0,1,1\r\n\r\n1,0,0", None),
        ("a,b,c\n0,1,1\n1,0,0\n", None),
        ("a,b,c,label\n0,1,1,7\n1,0,0,8\n", [7, 8]),
        ("Y,0,1,2\ncat, 0,1.0,1\ndog,1,0,0\n", ["cat", "dog"]),
        ("0,y,1,2\n0,01,1,1\n1,2,0,0\n", ["01", "2"]),
    ],
)
def test_csv(tmp_path: Path, text: str, labels: list[Any] | None) -> None:
    inputs = load_inputs(write(tmp_path / "d.csv", text))
    assert np.array_equal(inputs.X, X)
    assert (None if inputs.y is None else inputs.y.tolist()) == labels


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0,1,1\n1,0,0\n", None),
        ("a, b ,c\n0,1,1\n1,0,0\n", ("a", "b", "c")),
        ("a,y,b,c\n0,5,1,1\n1,5,0,0\n", ("a", "b", "c")),
        ("x2,x0,x1\n0,1,1\n1,0,0\n", ("x2", "x0", "x1")),
        ("2,0,1\n0,1,1\n1,0,0\n", ("2", "0", "1")),  # no row of bits: it numbers the columns
        ("1,2,0,label\n0,1,1,a\n1,0,0,b\n", ("1", "2", "0")),
    ],
)
def test_names_in_a_csv_file(tmp_path: Path, text: str, names: tuple[str, ...] | None) -> None:
    inputs = load_inputs(write(tmp_path / "d.csv", text))
    assert np.array_equal(inputs.X, X)
    assert inputs.feature_names == names


def test_two_columns_of_bits_are_no_numbering(tmp_path: Path) -> None:
    inputs = load_inputs(write(tmp_path / "d.csv", "0,1\n1,0\n"))
    assert (inputs.X.tolist(), inputs.feature_names) == ([[0, 1], [1, 0]], None)


@pytest.mark.parametrize("names", [["a", "b", "ü"], np.array(["a", "b", "ü".encode()], "S")])
def test_names_in_an_npz_file(tmp_path: Path, names: Any) -> None:
    np.savez(tmp_path / "d.npz", X=X, feature_names=names)
    assert load_inputs(tmp_path / "d.npz").feature_names == ("a", "b", "ü")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], r"a name for each of the 3 columns of X. Found shape \(2,\)"),
        ([["a", "b", "c"]], "a name for each of the 3 columns"),
        ([0, 1, 2], "must be text: save np.array"),
        (np.array(["a", "b", "c"], object), "must be text: save np.array"),
        (["a", "b", "a"], "must name each column once. Got 'a' twice"),
    ],
)
def test_names_that_are_none(tmp_path: Path, names: Any, message: str) -> None:
    np.savez(tmp_path / "d.npz", X=X, feature_names=names)
    with pytest.raises(DataFormatError, match=message) as caught:
        load_inputs(tmp_path / "d.npz")
    assert "feature_names" in str(caught.value)
    assert "d.npz" in str(caught.value)


def test_data_for_a_model(tmp_path: Path) -> None:
    """The columns of a file are those that its names say, not those of its positions."""
    model = Model.from_clauses(3, [[1]], [1], feature_names=["a", "b", "c"])
    matched = load_inputs(write(tmp_path / "d.csv", "c,a,label,b\n1,0,7,1\n0,1,8,0\n"), model)
    assert np.array_equal(matched.X, X)
    assert matched.X.flags.c_contiguous
    assert matched.X.dtype == np.uint8
    assert matched.feature_names == ("a", "b", "c")
    assert matched.y is not None
    assert matched.y.tolist() == [7, 8]
    more = load_inputs(write(tmp_path / "d.csv", "c,a,income,b\n1,0,500,1\n0,1,100,0\n"), model)
    assert np.array_equal(more.X, X)
    assert more.ignored == ("income",)
    with pytest.raises(InvalidInputError, match=r"d.csv must .*lacks 'b', and the model has no 'income'"):
        load_inputs(write(tmp_path / "d.csv", "c,a,income\n1,0,1\n"), model)
    np.save(tmp_path / "d.npy", X[:, :2])
    with pytest.raises(InvalidInputError, match=r"d.npy must have n_features=3 columns\. Got 2"):
        load_inputs(tmp_path / "d.npy", model)
    with pytest.raises(InvalidInputError, match=r"d.csv must have n_features=3 columns\. Got 2"):
        load_inputs(write(tmp_path / "d.csv", "fever,rash\n1,0\n"), replace(model, space=Space.flags(3)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,a\n0,1,1\n", "d.csv must name each column once. Got 'a' twice"),
        ("a,,\n0,1,1\n", "must name each column once. Got '' twice"),
        ("a,b,a,y\n0,1,1,1\n", "must name each column once"),
        ("", "empty"),
        ("\n\n", "empty"),
        ("a,b\n", "no input below"),
        ("0,1\n1\n", "line 2: 1 values, where line 1 has 2"),
        ("0,1\n1,zebra\n", "line 2, column x1: .*'zebra'"),
        ("a,b,y\n1,zebra,1\n", "line 2, column 'b': .*'zebra'"),
        ("0,1,cat\n1,0,dog\n", "line 1, column x2: .*header"),
        ("0,1\n1,\n", "line 2, column x1"),
        ("0,1\n0,,\n", "line 2: 3 values"),
        ("0 1\n1 0\n", "no input below|separated by commas"),
        ("y,label\n0,1\n", "2 columns"),
        ("0,1\n1,0\x00\n", "line 2"),
    ],
)
def test_broken_csv(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFormatError, match=message) as caught:
        load_inputs(write(tmp_path / "d.csv", text))
    assert "d.csv" in str(caught.value)


@pytest.mark.parametrize("value", ["2", "-1", "0.5", "nan", "inf"])
def test_csv_with_other_numbers(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidInputError, match=r"d.csv, line 2, column x0: .*binarize"):
        load_inputs(write(tmp_path / "d.csv", f"0,1\n{value},1\n"))


def test_csv_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(DataFormatError, match="UTF-8"):
        load_inputs(tmp_path / "d.csv")


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ({"x": X, "labels": X}, DataFormatError, "named X .*Found labels, x"),
        ({}, DataFormatError, "no array at all"),
        ({"X": X[0]}, DataFormatError, r"shape \(inputs, features\)"),
        ({"X": X[None]}, DataFormatError, r"Found shape \(1, 2, 3\)"),
        ({"X": X[:0]}, DataFormatError, "at least one input"),
        ({"X": X[:, :0]}, DataFormatError, "at least one input"),
        ({"X": X * 2}, InvalidInputError, "d.npz must hold only 0 and 1"),
        ({"X": X * np.nan}, InvalidInputError, "Got nan"),
        ({"X": X.astype(str)}, InvalidInputError, "dtype"),
        ({"X": X, "y": [1, 2, 3]}, DataFormatError, r"one label per input, shape \(2,\)"),
        ({"X": X, "y": [0.5, 1]}, DataFormatError, "fractions or NaN"),
        ({"X": X, "y": [1j, 1]}, DataFormatError, "integers or strings"),
        ({"X": X, "y": np.array([2**63, 1], np.uint64)}, DataFormatError, "64 signed bits"),
    ],
)
def test_wrong_arrays(tmp_path: Path, arrays: dict[str, Any], error: type[Exception], message: str) -> None:
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(error, match=message) as caught:
        load_inputs(tmp_path / "d.npz")
    assert "d.npz" in str(caught.value)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    objects = np.array([[{}, 1]], dtype=object)
    np.save(tmp_path / "d.npy", objects)
    np.savez(tmp_path / "d.npz", X=objects)
    for name in ("d.npy", "d.npz"):
        with pytest.raises(DataFormatError, match=f"{name}.*never loaded"):
            load_inputs(tmp_path / name)


def test_every_truncation_is_a_data_format_error(tmp_path: Path) -> None:
    for name in ("d.npz", "d.npy"):
        whole = tmp_path / name
        if name == "d.npz":
            np.savez_compressed(whole, X=np.tile(X, (50, 1)), y=np.arange(100))
        else:
            np.save(whole, X)
        data = whole.read_bytes()
        for size in range(0, len(data), 7):
            whole.write_bytes(data[:size])
            with pytest.raises(DataFormatError, match=name):
                load_inputs(whole)


def test_flipped_bytes_never_escape(tmp_path: Path) -> None:
    whole = tmp_path / "d.npz"
    np.savez_compressed(whole, X=np.tile(X, (50, 1)), y=np.arange(100))
    data = bytearray(whole.read_bytes())
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        whole.write_bytes(damaged)
        with contextlib.suppress(DataFormatError, InvalidInputError):
            load_inputs(whole)


def test_a_header_that_promises_too_much(tmp_path: Path) -> None:
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000, 1000000), }"
    head = head.ljust(117) + "\n"
    member = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    (tmp_path / "d.npy").write_bytes(member)
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.writestr("X.npy", member)
    for name in ("d.npy", "d.npz"):
        with pytest.raises(DataFormatError, match=name):
            load_inputs(tmp_path / name)


def test_suffixes_and_missing_files(tmp_path: Path) -> None:
    for name, message in [
        ("d.txt", "a text a line"),
        ("d.xls", ".npz, .npy, .csv"),
        ("d", "no suffix"),
        ("d.npz", "no such file"),
        ("d.csv", "no such"),
    ]:
        with pytest.raises(DataFormatError, match=message):
            load_inputs(tmp_path / name)
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(DataFormatError, match="regular file"):
        load_inputs(tmp_path / "folder.npz")


def test_npz_and_npy_mixed_up(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X)
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    (tmp_path / "b.npz").rename(tmp_path / "b.npy")
    with pytest.raises(DataFormatError, match=r"rename it to end in \.npy"):
        load_inputs(tmp_path / "a.npz")
    with pytest.raises(DataFormatError, match=r"rename it to end in \.npz"):
        load_inputs(tmp_path / "b.npy")


def test_labels_are_matched_by_their_written_form() -> None:
    assert match_labels(np.array([1, 0, 5]), (0, 1)) == [1, 0, None]
    assert match_labels(np.array(["1", "0.0", "x", "nan"]), (0, 1)) == [1, 0, None, None]
    assert match_labels(np.array([3, 4]), ("3", "x")) == ["3", None]
    assert match_labels(np.array(["cat"]), ("dog", "cat")) == ["cat"]


def test_a_column_without_a_name_is_no_feature(tmp_path: Path) -> None:
    """pandas writes its index so, and the first two rows of it are 0 and 1."""
    (tmp_path / "d.csv").write_text(",b,c\n0,1,0\n1,0,1\n")
    with pytest.raises(DataFormatError, match=r"column without a name, number 0\. .*index=False"):
        load_inputs(tmp_path / "d.csv")
