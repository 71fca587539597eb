"""Held-out rows are written as they stand in the user's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tmverify.data import load_table, save_rows, split_table
from tmverify.data.files import csv_lines

FILES = {
    "quotes and spaces": 'id,note,y\n1,"two, three",a\n2, plain ,b\n3,"say ""hi""",a\n4,"x",b\n',
    "lines of Windows": "id;a;y\r\n1;20,5;a\r\n2;3,25;b\r\n3;1,5;a\r\n4;1;b\r\n",
    "a cell of several lines": 'note,y\n"one\n\ntwo",a\n"b",b\n\n\n"c\nd",a\ne,b\n',
    "tabs": 'a\tb\ty\n1\t"\ta\n2\tx\tb\n3\ty"\ta\n4\tz\tb\n',
    "a mark of the byte order": "\ufeffa,y\n1,a\n2,b\n3,a\n4,b\n",
    "no end of the last line": "a,y\n1,a\n2,b\n3,a\n4,b",
}


@pytest.mark.parametrize("name", FILES)
def test_the_text_is_kept(name: str, tmp_path: Path) -> None:
    source, target = tmp_path / "a.csv", tmp_path / "t.csv"
    source.write_bytes(FILES[name].encode())
    data = split_table(load_table(source, "y"), str(source), test_size=0.5)
    assert data.raw_test is not None
    assert data.raw_test.lines is not None
    save_rows(target, data.raw_test, data.y_test, "y", source=source)
    rows = dict(csv_lines(source, "values", skip_spaces=True))
    wanted = [rows[1], *(rows[line] for line in data.raw_test.lines)]
    assert [cells for _, cells in csv_lines(target, "values", skip_spaces=True)] == wanted
    content, copy = source.read_bytes(), target.read_bytes()
    header = content.split(b"\n")[0]
    assert copy.startswith(header)
    for piece in copy.removeprefix(header).strip().split(b"\n"):
        assert piece.strip() in content


def test_rows_that_would_be_read_otherwise_alone_are_written_anew(tmp_path: Path) -> None:
    """All quoted cells of the held-out rows are quoted as a whole; those of the file are not."""
    source, target = tmp_path / "a.tsv", tmp_path / "t.csv"
    rows = ['"1"\ta', '2"\tb', '"3"\ta', '4"\tb']
    source.write_text("n\ty\n" + "\n".join(rows) + "\n")
    table = load_table(source, "y")
    raw = split_table(table, "a", test_size=0.5).raw_test
    assert raw is not None
    chosen = raw._replace(cells=[['"1"'], ['"3"']], lines=(2, 4))
    save_rows(target, chosen, np.array(["a", "a"]), "y", source=source)
    assert [cells for _, cells in csv_lines(target, "values")] == [["n", "y"], ['"1"', "a"], ['"3"', "a"]]
