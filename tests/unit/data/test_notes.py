"""What a reader should know of a file: values never seen, unknown words, rare labels and gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tmverify as tv
from tmverify.data import load_inputs, load_table, split_table
from tmverify.errors import DataFormatError, InvalidInputError


def model(*parts: tv.space.Part) -> tv.Model:
    space = tv.Space(parts, target="loan")
    return tv.Model.from_clauses(space.n_bits, [[1]], [1], space=space)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_unseen_categories_are_named_with_their_lines(tmp_path: Path) -> None:
    city = tv.Category("city", ["Bergen", "Oslo"], other=True, missing=True)
    file = written(tmp_path / "a.csv", "city,loan\nOslo,1\noslo,0\nRome,1\n,1\noslo,1\n")
    found = load_inputs(file, model(city))
    assert found.notes == (
        "lines 3, 6: 'oslo' in column city was not seen in training, and is read as 'unseen' "
        "(is 'Oslo' meant?)",
        "line 4: 'Rome' in column city was not seen in training, and is read as 'unseen'",
    )
    assert load_inputs(written(tmp_path / "b.csv", "city\nOslo\n"), model(city)).notes == ()


def test_texts_without_a_known_word(tmp_path: Path) -> None:
    text = model(tv.Text(("good", "bad"), "review"))
    file = written(tmp_path / "a.txt", "Good!\n\nZxq blorp\nbad\n???\n")
    assert load_inputs(file, text).notes == ("the model knows no word of lines 3, 5",)


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    weight = model(tv.Number("weight", [20.25]), tv.Category("size", ["1,000"]))
    file = written(tmp_path / "a.csv", "weight;size\n20,5;1,000\n20,1;1,000\n-3;1,000\n")
    assert load_inputs(file, weight).X[:, 0].tolist() == [1, 0, 0]
    table = load_table(written(tmp_path / "b.csv", "weight;y\n20,5;a\n 3,25 ;b\n"))
    assert table.X.tolist() == [[20.5], [3.25]]
    with pytest.raises(InvalidInputError, match=r"must be a number. Got '20,5' in line 2"):
        load_inputs(written(tmp_path / "c.csv", 'weight,size\n"20,5","1,000"\n'), weight)


def test_rows_of_a_spreadsheet_that_are_empty(tmp_path: Path) -> None:
    table = load_table(written(tmp_path / "a.csv", "age,y\n3,a\n,\n4,b\n,\n"))
    assert table.lines == (2, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,y\n" + "1,a\n2,b\n" * 10 + "99,total\n", "'total' only once, in line 22: is it a total"),
        ("age,y\n" + "".join(f"{i % 7},{i / 8}\n" for i in range(60)), "60 different ones in 60 rows"),
    ],
)
def test_labels_that_are_no_classes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        split_table(load_table(written(tmp_path / "a.csv", text)), "a.csv")


def test_a_misspelt_target(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "age,Status\n1,a\n")
    with pytest.raises(DataFormatError, match="Is 'Status' meant"):
        load_table(file, "status")


def test_few_gaps_and_columns_that_number_the_rows_are_reported(tmp_path: Path) -> None:
    rows = "".join(f"{100 + 7 * i},{'' if i == 5 else i % 9},{'ab'[i % 2]}\n" for i in range(40))
    file = written(tmp_path / "a.csv", "nr,age,y\n" + rows)
    with pytest.warns(UserWarning, match=r"Column 'nr' numbers the rows \(100, 107, …\)"):
        table = load_table(file)
    with pytest.warns(UserWarning, match="Of 40 rows, hardly any lack a value .*: age in 1"):
        split_table(table, "a.csv")


def test_one_picture_in_a_file(tmp_path: Path) -> None:
    picture = np.array([[200, 0], [0, 90]], np.uint8)
    np.save(tmp_path / "a.npy", picture)
    image = model(tv.Image((2, 2), threshold=75.0))
    assert load_inputs(tmp_path / "a.npy", image).X.tolist() == [[1, 0, 0, 1]]


def test_labels_that_are_missing() -> None:
    with pytest.raises(InvalidInputError, match="It is missing in row 1"):
        tv.TsetlinMachineClassifier().fit([["a", 1], ["b", 2], ["a", 3]], ["x", None, "y"])


def test_held_out_rows_stay_as_they_are(tmp_path: Path) -> None:
    ids = [f"{i:05}" if i % 2 else str(1234567890123456700 + i) for i in range(40)]
    rows = "".join(f"{each},{i / 7:.2f},{i % 2}\n" for i, each in enumerate(ids))
    table = load_table(written(tmp_path / "a.csv", "id,a,y\n" + rows), drop=["id"])
    held = split_table(table, "a.csv").raw_test
    assert held is not None
    assert held.lines is not None
    assert [line.split(",")[:2] for line in rows.splitlines()] == [
        [ids[i], f"{i / 7:.2f}"] for i in range(40)
    ]
    assert [list(row) for row in held.cells] == [
        [ids[line - 2], f"{(line - 2) / 7:.2f}"] for line in held.lines
    ]


NUMBERS_AS_LABELS = {
    "fractions": [f"{i * 7 % 97}.5" for i in range(100)],
    "fractions, each often": [f"{i % 25}.5" for i in range(2000)],
    "whole numbers, few rows each": [str(i % 60) for i in range(400)],
    "one of them once": [*(str(i % 60) for i in range(400)), "77"],
    "in a small table": [str(i) for i in range(18)],
}


@pytest.mark.parametrize("name", NUMBERS_AS_LABELS)
def test_numbers_are_no_classes(tmp_path: Path, name: str) -> None:
    labels = NUMBERS_AS_LABELS[name]
    rows = "".join(f"{i % 13},{label}\n" for i, label in enumerate(labels))
    table = load_table(written(tmp_path / "a.csv", "a,price\n" + rows), "price")
    with pytest.raises(
        InvalidInputError, match=r"'price' of a must be classes. Got numbers.*above the median"
    ):
        split_table(table, "a")


def test_numbers_that_are_classes(tmp_path: Path) -> None:
    """The letters of the alphabet, ratings by halves, and a handful of labels in a tiny table."""
    for labels in ([i % 26 for i in range(2000)], [i % 9 / 2 for i in range(200)], [0, 1, 2, 3, 4]):
        rows = "".join(f"{i % 13},{label}\n" for i, label in enumerate(labels))
        table = load_table(written(tmp_path / "a.csv", "a,y\n" + rows))
        assert len(split_table(table, "a", test_size=0).y_train) == len(labels)


def test_a_line_that_is_too_short_between_semicolons(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match="line 3: 1 values, where line 1 has 2"):
        load_table(written(tmp_path / "a.csv", "age;y\n3;a\n4\n5;b\n"))


def test_one_long_text(tmp_path: Path) -> None:
    table = load_table(written(tmp_path / "a.csv", 'text,y\n"' + "word " * 40_000 + '",1\n"b",0\n'))
    assert len(table.X[0, 0]) == 5 * 40_000


def test_booleans_with_gaps_are_read_as_they_were_learnt() -> None:
    frame = pd.DataFrame({"a": [True, False, None] * 20, "b": np.arange(60.0)})
    for each in (frame, frame.astype({"a": "boolean"})):
        binarizer = tv.TableBinarizer().fit(each)
        bits = binarizer.transform(each)
        assert (binarizer.space_.encode(each) == bits).all()
        assert len({tuple(row[:3]) for row in bits.tolist()}) == 3
        assert binarizer.space_.encode([{"a": "True", "b": 1}, {"a": "0", "b": 1}])[:, :3].tolist() == [
            [0, 1, 0],
            [1, 0, 0],
        ]


def test_gaps_and_spaces_in_files_are_those_of_frames(tmp_path: Path) -> None:
    """pandas reads NA as a gap, and keeps the space behind a comma; the files are read as it reads them."""
    text = "alley, size,y\n" + "Grvl, big,1\nNA, small,0\nPave, big,1\n" * 20
    file = written(tmp_path / "a.csv", text)
    frame = pd.read_csv(file)
    y = frame.pop("y")
    frame.columns = ["alley", "size"]
    clf = tv.TsetlinMachineClassifier(10, 5, n_epochs=2, random_state=0).fit(frame, y)
    assert (clf.space_.encode(frame) == load_inputs(file, clf.model_).X).all()


def test_numbers_as_text_are_reported() -> None:
    mixed = [str(i) for i in range(30)] + ["20,5"]
    with pytest.warns(UserWarning, match="decimal comma as text, such as '20,5'"):
        tv.TableBinarizer().fit(pd.DataFrame({"age": mixed, "b": range(31)}))
    with pytest.warns(UserWarning, match=r"numbers as text, such as '0', and besides '\?'"):
        tv.TableBinarizer().fit(pd.DataFrame({"age": [*mixed[:30], "?"], "b": range(31)}))
    for dates in (["3 Jan 2020", "4 Feb 2021"], ["12:34", "13:35"]):
        with pytest.warns(UserWarning, match="holds dates as text"):
            tv.TableBinarizer().fit(pd.DataFrame({"when": dates * 10}))


def test_frames_with_odd_columns() -> None:
    numbered = pd.DataFrame({0: ["a", "b"] * 20, 1: np.arange(40.0)})
    clf = tv.TsetlinMachineClassifier(10, 5, n_epochs=2, random_state=0).fit(numbered, [0, 1] * 20)
    assert (clf.model_.predict(numbered) == clf.predict(numbered)).all()
    coded = pd.DataFrame({"zip": pd.Categorical([1, 2, 3, 4] * 10), "x": np.arange(40.0)})
    (code, _) = tv.TableBinarizer().fit(coded).space_.parts
    assert code == tv.Category("zip", ["1", "2", "3", "4"], other=True)
    bits = pd.DataFrame({"a": [0, 1] * 20, "b": [1, 1, 0, 0] * 10})
    given = tv.TsetlinMachineClassifier(10, 5, binarize=tv.TableBinarizer(kinds={"a": "category"}))
    assert given.fit(bits, [0, 1] * 20).space_.parts[0].kind == "category"


def test_a_refused_gap_is_refused_later_too() -> None:
    frame = pd.DataFrame({"city": ["Oslo", "Rome"] * 20, "x": np.arange(40.0)})
    refusing = tv.TableBinarizer(missing="refuse")
    clf = tv.TsetlinMachineClassifier(10, 5, n_epochs=2, binarize=refusing).fit(frame, [0, 1] * 20)
    with pytest.raises(InvalidInputError, match="'city' has a missing value"):
        clf.model_.predict({"city": None, "x": 3})


def test_the_target_is_no_column() -> None:
    with pytest.raises(tv.ModelError, match="can't be a column"):
        tv.Space([tv.Flag("age")], target="age")


def test_a_table_read_as_another_model_reads_it(tmp_path: Path) -> None:
    """Cells are encoded as they stand: what a column is was learnt elsewhere."""
    first = "ans,code,y\n" + "true,007,1\nfalse,012,0\nmaybe,A1,1\n" * 8
    space = split_table(load_table(written(tmp_path / "a.csv", first)), "a.csv").space
    assert space is not None
    second = load_table(written(tmp_path / "b.csv", "ans,code,y\n" + "true,007,1\nfalse,012,0\n" * 8))
    found = split_table(second, "b.csv", test_size=0, like=space)
    expected = space.encode([{"ans": "true", "code": "007"}, {"ans": "false", "code": "012"}] * 8)
    assert (found.X_train == expected).all()


def test_truth_values_with_gaps_in_files_and_frames(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "ok,y\n" + "TRUE,1\nFALSE,0\n,1\n" * 10)
    space = split_table(load_table(file), "a.csv", test_size=0).space
    assert space is not None
    frame = pd.read_csv(file)
    bits = space.encode([{"ok": "TRUE"}, {"ok": "FALSE"}, {"ok": ""}])
    assert (space.encode(frame)[:3] == bits).all()
    assert len(np.unique(bits, axis=0)) == 3
    words = tv.Category("c", ["FALSE", "TRUE"], other=True, missing=True)
    assert words.encode([True, False, None, "true"]).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_codes_are_not_truth_values() -> None:
    code = tv.Category("code", ["00", "01"], other=True, missing=True)
    for other in ("1", "001", "true", "1e0"):
        assert code.encode([other]).tolist() == [[0, 0, 0]]
    assert tv.Category("c", ["1"], other=True).encode(["01", "true", "1"]).tolist() == [[0], [1], [1]]
    assert tv.Category("c", ["0", "1", "2"]).encode([True, False]).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_a_dropped_column_is_not_read(tmp_path: Path) -> None:
    space = tv.Space([tv.Number("age", [20.0])])
    table = load_table(written(tmp_path / "a.csv", "age,b,y\n" + "3,1,a\n30,2,b\n" * 5), drop=["age"])
    with pytest.raises(InvalidInputError, match="lacks 'age'"):
        split_table(table, "a.csv", like=space)
