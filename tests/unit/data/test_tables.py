"""Tables: what load_table reads, and the bits that TableBinarizer makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tmverify.data import Table, TableBinarizer, load_table
from tmverify.errors import DataFormatError, InvalidInputError

ADULT = """age, city ,owner, member, income
39, Oslo,1,True,>50K
20,Bergen, 0,false,<=50K

31,"Oslo",1,TRUE,<=50K
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def bits_of(table: Table, **parameters: Any) -> tuple[list[list[int]], list[str]]:
    binarizer = TableBinarizer(column_names=table.feature_names, **parameters)
    return binarizer.fit_transform(table.X).tolist(), binarizer.get_feature_names_out().tolist()


def test_csv_with_columns_of_every_kind(tmp_path: Path) -> None:
    table = load_table(write(tmp_path / "d.csv", "\ufeff" + ADULT), "income")
    assert table.feature_names == ("age", "city", "owner", "member")
    assert table.y.tolist() == [">50K", "<=50K", "<=50K"]
    bits, names = bits_of(table)
    assert names == ["age > 25.5", "age > 35", "city = Bergen", "city = Oslo", "owner", "member"]
    assert bits == [[1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 1, 1]]


def test_csv_of_numbers_and_of_bits(tmp_path: Path) -> None:
    table = load_table(write(tmp_path / "d.csv", "Label,a,b\n7,0.5,2\n8,1,2\n"))
    assert table.X.dtype == np.float64
    assert table.y.tolist() == [7, 8]
    assert bits_of(table) == ([[0], [1]], ["a > 0.75"])
    table = load_table(write(tmp_path / "d.csv", "a,b,y\n0,1,x\n0,0,y\n"))
    assert bits_of(table) == ([[0, 1], [0, 0]], ["a", "b"])


def test_numbers_met_before_text_stay_as_written(tmp_path: Path) -> None:
    table = load_table(write(tmp_path / "d.csv", "floor,y\n01,0\n2.0,0\nroof,1\nnan,1\n"))
    assert table.X[:, 0].tolist() == ["01", "2.0", "roof", "nan"]


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", X=np.array([[0, 200], [0, 100]], np.uint8), y=["a", "b"])
    for target in (None, "y"):
        assert bits_of(load_table(tmp_path / "d.npz", target)) == ([[0, 1], [0, 0]], ["x0", "x1 > 150"])
    np.savez(
        tmp_path / "d.npz", X=np.array([[0, 200], [0, 100]]), y=["a", "b"], feature_names=["wet", "size"]
    )
    assert bits_of(load_table(tmp_path / "d.npz"))[1] == ["wet", "size > 150"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("age,income\n", "no row below"),
        ("age,wage\n1,2\n", "expected one column named 'income'. The columns of line 1 are age, wage"),
        ("income\n1\n", "no column beside"),
        ("age,age,income\n", "'age' twice"),
        ("age,,income\n", "an empty name"),
        ("age,income\n1,2\n1,2,3\n", "line 3: 3 values, where line 1 has 2"),
        ("age,income\n1,2\n ,2\n", "line 3, column 'age': a value is missing.*an empty cell"),
        ("age,income\n1,2\n5,\n", "line 3, column 'income': a value is missing"),
        ("city,income\nOslo,2\n,3\n", "line 3, column 'city': a value is missing"),
        ("age,income\n1,2\nNA,2\n", "line 3, column 'age': a value is missing.*'NA'"),
        ("age,city,income\n1,Oslo,2\n?,Oslo,2\n", "line 3, column 'age': a value is missing.*'?'"),
        ("age,income\n1,2\nnan,2\n", "line 3, column 'age'.*'nan'"),
        ("age,income\n1,2\n-inf,2\n", "line 3, column 'age'.*'-inf'"),
        ('age,income\n"' + "x" * 200_000 + '",2\n', "field larger"),
    ],
)
def test_broken_csv(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFormatError, match=message) as caught:
        load_table(write(tmp_path / "d.csv", text), "income")
    assert "d.csv" in str(caught.value)


def test_other_broken_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "no_y.npz", X=[[1, 2]])
    np.savez(tmp_path / "flat.npz", X=[1, 2], y=[1, 2])
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x80,\n")
    write(tmp_path / "no_label.csv", "a,b\n1,2\n")
    for name, target, message in [
        ("no_y.npz", None, "named y"),
        ("no_y.npz", "income", "array y"),
        ("flat.npz", None, r"shape \(2,\)"),
        ("d.txt", None, ".csv or .npz"),
        ("gone.csv", None, "no such file"),
        ("gone.npz", None, "no such file"),
        ("binary.csv", None, "UTF-8"),
        ("no_label.csv", None, "as target"),
    ]:
        with pytest.raises(DataFormatError, match=message):
            load_table(tmp_path / name, target)


def test_frames_and_unseen_values() -> None:
    pd = pytest.importorskip("pandas")

    frame = pd.DataFrame(
        {
            "n": pd.array([1, 2, 5], "Int64"),
            "b": [True, False, True],
            "c": pd.Categorical(["x", "y", "x"]),
            "s": ["u", "v", "v"],
        }
    )
    binarizer = TableBinarizer().set_output(transform="pandas").fit(frame)
    out = binarizer.transform(frame)
    assert list(out.columns) == ["n > 1.5", "n > 3.5", "b", "c = x", "c = y", "s = u", "s = v"]
    assert out.to_numpy().tolist()[2] == [1, 1, 1, 1, 0, 0, 1]
    unseen = binarizer.transform(pd.DataFrame({"n": [9], "b": [0], "c": ["z"], "s": ["w"]}))
    assert unseen.to_numpy().tolist() == [[1, 1, 0, 0, 0, 0, 0]]
    for column, value, message in [
        ("b", 2, "'b' held only 0 and 1 in fit. Got 2 in row 0"),
        ("n", "many", "'n' held numbers in fit. Got text"),
        ("c", 3, "'c' held text in fit. Got numbers"),
        ("n", None, "missing values .* column 'n'"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            binarizer.transform(
                pd.DataFrame({"n": [1], "b": [0], "c": ["x"], "s": ["u"]} | {column: [value]})
            )
    missing = frame.assign(n=pd.array([1, None, 2], "Int64"))
    with pytest.raises(InvalidInputError, match="row 1, column 'n'"):
        TableBinarizer().fit(missing)
    with pytest.raises(InvalidInputError, match=r"unique column names|'n' more than once"):
        TableBinarizer().fit(pd.concat([frame[["n"]], frame[["n"]]], axis=1))


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"n_bins": 1}, [[1]], "'n_bins'"),
        ({"max_categories": 0}, [[1]], "'max_categories'"),
        ({"strategy": "best"}, [[1]], "'strategy'"),
        ({"column_names": ["a"]}, [[1, 2]], r"one name per column of X \(2\). Got 1"),
        ({"column_names": ["a"]}, [[5], [5]], "all of its 1 columns are constant"),
        (
            {"column_names": ["id"]},
            [[f"u{i}"] for i in range(65)],
            "'id' has 65 distinct texts.*max_categories=64",
        ),
        ({}, [[1, "a"], ["b", "c"]], "'x0' mixes numbers and text"),
        ({}, [[1, "a"], [None, "c"]], "row 1, column 'x0'"),
        ({}, [[1, "a"], [np.nan, "c"]], "missing values .*row 1, column 'x0'"),
        ({}, [[1.0], [np.inf]], r"infinity \(inf\) in row 1, column 'x0'"),
        ({}, np.array([["2020-01-01"]], "datetime64[D]"), "numbers, Booleans and text only"),
        ({}, [[1, 2], [3]], "X must be a table"),
        ({}, [1, 2], "Expected 2D array"),
    ],
)
def test_table_binarizer_refuses(parameters: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TableBinarizer(**parameters).fit(X)
