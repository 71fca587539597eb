"""Clause lists in files, CSV above all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tmverify as tv
from tmverify.interop import from_clauses

TABLE = """# who wrote this: a person
# feature_names = ["fever", "cough", "rash"]
# empty_clause = "fires"

clause,well,ill
1 -3,0,2
fever and not rash,0,+3
"",1,-1
"""


def read(tmp_path: Path, text: str, name: str = "rules.csv") -> tv.Model:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return from_clauses(tmp_path / name)


def test_a_table(tmp_path: Path) -> None:
    model = read(tmp_path, TABLE)
    assert [*model.clauses] == [(1, -3), (1, -3), ()]
    assert model.weights.tolist() == [[0, 0, 1], [2, 3, -1]]
    assert model.classes == ("well", "ill")
    assert model.empty_clause == "fires"
    assert read(tmp_path, "\ufeff" + TABLE.replace("\n", "\r\n")) == model
    assert read(tmp_path, model.to_json(), "rules.json") == model
    assert read(tmp_path, model.to_json(), "RULES.JSON") == model


def test_a_table_without_clauses(tmp_path: Path) -> None:
    assert read(tmp_path, "# n_features = 2\nclause,a,b\n").predict([[0, 0]])[0] == "a"
    assert read(tmp_path, "# n_features = 2\nclause,a,b,c\n").n_outputs == 3


def test_a_binary_table(tmp_path: Path) -> None:
    model = read(tmp_path, "#n_features=2\n#bias=-1\nclause,weight\n1,1\n-2 1,2\n")
    assert model.n_outputs == 1
    assert [*model.clauses] == [(1,), (1, -2)]
    assert model.bias.tolist() == [-1]
    numbered = read(tmp_path, "# n_features = 2\nclause,3,7\n1,1,0\n")
    assert numbered.classes == (3, 7)


def test_features_without_names_are_called_by_their_index(tmp_path: Path) -> None:
    model = read(tmp_path, "# n_features = 3\nclause,weight\nx0 and not x2,1\n1 -3,1\n")
    assert [*model.clauses] == [(1, -3), (1, -3)]
    assert "x0 and not x2" in model.to_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must begin with the line clause,weight"),
        ("1 2,3\n", "must begin with the line clause,weight"),
        ("# n_features = 2\nclause,votes\n1,1\n", "must be called weight"),
        ("clause,weight\n1,1\n", "n_features must be an integer"),
        ("# n_features = 2\nclause,weight\n1,1,1\n", "clause 0 has 3 columns, and the table 2"),
        ("# n_features = 2\nclause,weight\n1,1.5\n", "clause 0 has the weight '1.5'"),
        ("# n_features = 2\nclause,weight\n1,\u0661\n", "clause 0 has the weight"),
        ("# n_features = 2\nclause,weight\n3,1\n", "n_features=2"),
        ("# n_features = 2\nclause,weight\nx2,1\n", "'x2', which names no feature"),
        ("# n_features = 2\nclause,weight\nX1,1\n", "'X1', which names no feature"),
        ('# feature_names = ["a", "b"]\nclause,weight\nx1,1\n', "'x1', which names no feature"),
        ("# n_features = two\nclause,weight\n1,1\n", "line 1: n_features must be as in JSON"),
        ("# n_feature = 2\nclause,weight\n1,1\n", "line 1 sets 'n_feature'"),
        ("# n_features = 2\n# n_features = 3\nclause,weight\n1,1\n", "line 2 sets 'n_features'"),
        ("# n_features = 2\n# classes = [1, 0]\nclause,0,1\n1,1,1\n", "are not those of its columns"),
        ('# n_features = 2\nclause,weight\n"1,1\n', "no valid CSV"),
        ('# feature_names = ["a and b", "a", "b"]\nclause,weight\na and b,1\n', "can't say the feature name"),
        (
            '# feature_names = ["a", "and b", "a and", "b"]\nclause,weight\na,1\n',
            "can't say the feature name",
        ),
        ('# feature_names = ["0", "1", "2"]\nclause,weight\n1,1\n', "can't say the feature name '0'"),
        ('# feature_names = [" a", "a"]\nclause,weight\na,1\n', "can't say the feature name ' a'"),
        ("# n_features = 2\n# clamp: 3\nclause,a,b\n1,1,2\n", "line 2 sets nothing: write clamp ="),
        ("# n_features = 2\n# - Clamp: 3\nclause,a,b\n1,1,2\n", "line 2 sets nothing: write clamp ="),
        ("# n_features = 2\n# bias = [1]\nclause,a,b\n1,1,2\n", "bias must have shape"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(tv.ModelFormatError, match=rf"rules\.csv: .*{message}"):
        read(tmp_path, text)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        from_clauses(tmp_path / "none.json")
    with pytest.raises(tv.ModelFormatError, match=r"ends in \.json or \.csv"):
        read(tmp_path, "{}", "rules.txt")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(tv.ModelFormatError, match="not text in UTF-8"):
        from_clauses(tmp_path / "bytes.json")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(tv.ModelFormatError, match="not a regular file"):
        from_clauses(tmp_path / "folder.csv")
    with open(tmp_path / "huge.json", "wb") as file:
        os.truncate(file.fileno(), 1 << 29)
    with pytest.raises(tv.ModelFormatError, match="at most"):
        from_clauses(tmp_path / "huge.json")
