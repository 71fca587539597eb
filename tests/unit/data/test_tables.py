"""Tables: what load_table reads, and the bits that TableBinarizer makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tmverify.data import Table, TableBinarizer, load_table, split_table
from tmverify.data.files import separation
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.space import Category, Flag, Number, Text

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
    assert bits_of(load_table(tmp_path / "d.npz")) == ([[0, 1], [0, 0]], ["x0", "x1 > 150"])
    with pytest.raises(DataFormatError, match="leave target out"):
        load_table(tmp_path / "d.npz", "y")
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
        ("age,,income\n", r"no name for column 2 \(pandas writes its index so"),
        ("age,income\n1,2\n1,2,3\n", "line 3: 3 values, where line 1 has 2"),
        ("age,income\n1,2\n ,2\n", "line 3, column 'age': a value is missing"),
        ("age,income\n1,2\n5,\n", "line 3: the label, in column 'income', is missing"),
        ("city,income\nOslo,2\n,3\n", "line 3, column 'city': a value is missing"),
        ("age,income\n1,2\nNA,2\n", "line 3, column 'age': a value is missing"),
        ("age,city,income\n1,Oslo,2\n?,Oslo,2\n", "line 3, column 'age': a value is missing"),
        ("age,income\n1,2\nnan,2\n", "line 3, column 'age': a value is missing"),
    ],
)
def test_broken_csv(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataFormatError, match=message) as caught:
        load_table(write(tmp_path / "d.csv", text), "income", missing="refuse")
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
        ("d.txt", None, ".csv, .tsv or .npz"),
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
        ("b", 2, "'b' must be 0 or 1. Got 2 in row 0"),
        ("n", "many", "'n' must be a number. Got 'many'"),
        ("n", None, "'n' has a missing value"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            binarizer.transform(
                pd.DataFrame({"n": [1], "b": [0], "c": ["x"], "s": ["u"]} | {column: [value]})
            )
    missing = frame.assign(n=pd.array([1, None, 2], "Int64"))
    with pytest.raises(InvalidInputError, match="row 1, column 'n'"):
        TableBinarizer(missing="refuse").fit(missing)
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
        ({"missing": "refuse"}, [[1, "a"], [None, "c"]], "row 1, column 'x0'"),
        ({"missing": "refuse"}, [[1, "a"], [np.nan, "c"]], "missing values .*row 1, column 'x0'"),
        ({}, [[1.0], [np.inf]], r"infinity \(inf\) in row 1, column 'x0'"),
        ({}, np.array([["2020-01-01"]], "datetime64[D]"), "dates or times"),
        ({}, [[1, 2], [3]], "X must be a table"),
        ({}, [1, 2], "Expected 2D array"),
    ],
)
def test_table_binarizer_refuses(parameters: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TableBinarizer(**parameters).fit(X)


def parts_of(X: Any, **parameters: Any) -> list[Any]:
    names = parameters.pop("column_names", None)
    return list(TableBinarizer(column_names=names, **parameters).fit(X).space_.parts)


def test_what_columns_become() -> None:
    X = [[1, 0, "no", "NO", "u", 2.5], [2, 1, "yes", "Yes", "v", 2.5], [3, 1, "no", "NO", "w", 2.5]]
    number, flag, words, shouted, category, constant = parts_of(X)
    assert number == Number("x0", (1.5, 2.5))
    assert flag == Flag("x1")
    assert words == Flag("x2", ("no", "yes"))
    assert shouted == Flag("x3", ("NO", "Yes"))
    assert category == Category("x4", ("u", "v", "w"), other=True)
    assert constant == Number("x5", ())


def test_missing_values_have_a_bit_where_fit_saw_some() -> None:
    X = [[1, "a", "no", 0], [2, "b", "yes", 1], [np.nan, None, None, None]]
    number, category, words, flag = parts_of(X)
    assert number == Number("x0", (1.5,), missing=True)
    assert category == Category("x1", ("a", "b"), other=True, missing=True)
    assert words == Category("x2", ("no", "yes"), other=True, missing=True)
    assert flag == Category("x3", ("0", "1"), other=True, missing=True)
    binarizer = TableBinarizer().fit(X)
    assert binarizer.transform([[None, " ", np.nan, None]]).tolist() == [[0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]]
    named = parts_of([[1, "a"], [2, "b"]], missing=["x1"])
    assert named == [Number("x0", (1.5,)), Category("x1", ("a", "b"), other=True, missing=True)]
    with pytest.raises(InvalidInputError, match="'x0' has a missing value"):
        TableBinarizer(missing=["x1"]).fit([[1, "a"], [2, "b"]]).transform([[None, None]])
    with pytest.raises(InvalidInputError, match="row 2, column 'x0'"):
        TableBinarizer(missing=["x1"]).fit(X)
    with pytest.raises(InvalidInputError, match="'missing'"):
        TableBinarizer(missing="maybe").fit([[1], [2]])


def test_kinds() -> None:
    X = [[1, 0, "good film", "a"], [2, 1, "bad film", "b"], [3, 0, "", "a"]]
    code, flag, text, _ = parts_of(X, kinds={"x0": "category", "x1": "number", "x2": "text"}, n_words=2)
    assert code == Category("x0", ("1", "2", "3"), other=True)
    assert flag == Number("x1", (0.5,))
    assert text == Text(("film", "bad"), "x2")
    for kinds, message in [
        ({"x3": "number"}, "'x3' can't be taken as numbers: row 0 holds 'a'"),
        ({"x0": "text"}, "'x0' can't be cut into words"),
        ({"x9": "text"}, "must name columns of X"),
        ({"x0": "date"}, "'kinds'"),
        ("text", "'kinds'"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            TableBinarizer(kinds=kinds).fit(X)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["20,5", "7,25", "1,5"], "decimal comma as text, such as '1,5'.*decimal=','"),
        (["1,000", "2,500", "12,000,000"], "marks between thousands.*thousands=','"),
        (["12 %", "5%", "7.5 %"], "numbers with a unit"),
        (["$5", "€7.50"], "numbers with a unit"),
        (["2020-01-31", "2021/2/3", "31.12.2020"], "dates as text"),
        (["2020-01-31T10:00", "2020-02-01 11:00"], "dates as text"),
    ],
    ids=str,
)
def test_numbers_and_dates_as_text_are_reported(cells: list[str], message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        TableBinarizer(column_names=["n"]).fit([[cell] for cell in cells])
    with pytest.raises(InvalidInputError, match=f"(?s){message}.*kinds=.*max_categories"):
        TableBinarizer(column_names=["n"], max_categories=1).fit([[cell] for cell in cells])


@pytest.mark.parametrize("cells", [["Oslo", "20,5"], ["A-1", "B-2"], ["1,5"], ["v1.2.3", "v2.0.0"]], ids=str)
def test_other_texts_are_not_reported(cells: list[str]) -> None:
    TableBinarizer().fit([[cell] for cell in cells])


def test_too_many_texts_name_both_remedies() -> None:
    with pytest.raises(InvalidInputError, match=r"kinds=\{'id': 'text'\}.*drop the column.*max_categories"):
        TableBinarizer(column_names=["id"]).fit([[f"u{i}"] for i in range(65)])


def test_transform_is_what_the_space_encodes() -> None:
    X = [[1, "a", " no"], [2.5, None, "yes"], [np.nan, "b", "yes"]]
    binarizer = TableBinarizer().fit(X)
    assert np.array_equal(binarizer.transform(X), binarizer.space_.encode(X))
    assert binarizer.space_.parts[2] == Flag("x2", ("no", "yes"))


def test_infinite_numbers_in_a_file_do_not_become_categories(tmp_path: Path) -> None:
    table = load_table(write(tmp_path / "d.csv", "age,city,y\n1,Oslo,0\n-inf,Oslo,1\n"))
    with pytest.raises(InvalidInputError, match=r"infinity \(inf\) in row 1, column 'age'"):
        bits_of(table)
    with pytest.raises(InvalidInputError, match=r"d, line 3, column 'age': numbers must be finite"):
        split_table(table, "d", test_size=0)


@pytest.mark.parametrize(
    ("text", "suffix", "mark"),
    [
        ("a,b\n1,2\n", ".csv", ","),
        ("a;b\n1;2\n", ".csv", ";"),
        ("a;b\n1,5;2,5\n", ".csv", ";"),
        ("a\tb\n1\t2\n", ".csv", "\t"),
        ("a\tb\n1\t2\n", ".tsv", "\t"),
        ('a,b\n"1;2;3",2\n"1;2;4",2\n', ".csv", ","),
        ('a,b\n"two\nlines, and a comma",2\n', ".csv", ","),
        ('a;b\n"two\nlines; and more";2\n', ".csv", ";"),
        ('review\ty\na good, "good" film\t1\nbad, bad, bad\t0\n', ".tsv", "\t"),
        ('"review"\t"y"\r\n"a ""good"" film"\t1\r\n', ".tsv", "\t"),
        ('a\tb\n"two\nlines"\t2\n', ".tsv", "\t"),
        ("review\ty\nline\u2028sep \"x\" \x85\t1\n", ".tsv", "\t"),
        ("a\n1\n", ".csv", ","),
        ("a\n1\n", ".tsv", "\t"),
        ("a,b\n\n1,2\n\n", ".csv", ","),
        ("", ".csv", ","),
    ],
    ids=ascii,
)  # fmt: skip
def test_what_separates_cells(text: str, suffix: str, mark: str) -> None:
    assert separation(text, suffix) == mark


def test_quoted_cells_of_tsv_files(tmp_path: Path) -> None:
    """As R writes them."""
    path = write(tmp_path / "d.tsv", '"city"\t"y"\n"Oslo"\t1\n"Ber""gen"\t0\n')
    table = load_table(path)
    assert table.feature_names == ("city",)
    assert table.X.tolist() == [["Oslo"], ['Ber"gen']]


def test_columns_to_drop_may_have_commas_in_their_names(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", '"a,b",a,b,n,y\n1,2,3,4,0\n5,6,7,8,1\n')
    for drop, names in [
        (["a,b"], ("a", "b", "n")),
        (["b,a"], ("a,b", "n")),
        (["a,b", "n"], ("a", "b")),
        (["a", " b , n"], ("a,b",)),
    ]:
        assert load_table(path, drop=drop).feature_names == names
    for drop in (["a,y"], ["y"]):
        with pytest.raises(DataFormatError, match="'y' holds the labels"):
            load_table(path, drop=drop)
