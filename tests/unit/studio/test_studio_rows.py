"""Rows of a file: found, ordered, ranked; texts and cells as bits; and wrong questions about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.studios import Client, as_bits, as_text, opened, served
from tmverify.studio.opened import open_files

SPACE = tv.Space([tv.Number("age", (25, 40)), tv.Category("city", ["Oslo", "Bergen"])], target="risk")
MODEL = tv.Model.from_clauses(
    4, [[2], [-1, 3], [4]], [[2, -2, -1]], bias=-1, space=SPACE, classes=("high", "low")
)
TABLE = """id,age,city,risk
Ann,31,Oslo,low
Bob,24,Oslo,high
Cy,66,Bergen,low
Di,66,Oslo,high
Eve,50,Oslo,low
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("rows")
    MODEL.save(folder / "loans.tm")
    (folder / "people.csv").write_text(TABLE)
    with served(open_files([folder / "loans.tm"], folder / "people.csv", "id")) as found:
        yield found


def names(found: dict[str, Any]) -> list[str]:
    assert found["total"] == len(found["rows"])
    return [row["name"] for row in found["rows"]]


def test_what_the_page_is_told_of_the_file(client: Client) -> None:
    about = client.ask("rows")
    decisions = MODEL.predict(SPACE.encode([{"age": 31, "city": "Oslo"}])).tolist()
    assert about["rows"][0] == {
        "index": 0,
        "name": "Ann",
        "line": 2,
        "label": "low",
        "decision": decisions[0],
        "decisions": decisions,
        "radius": None,
        "at_least": None,
        "never": False,
    }


def test_rows_are_found(client: Client) -> None:
    everyone = client.ask("rows")["rows"]
    wrong = [row["name"] for row in everyone if row["label"] != row["decision"]]
    low = [row["name"] for row in everyone if row["decision"] == "low"]
    assert 0 < len(wrong) < 5
    assert 0 < len(low) < 5
    assert names(client.ask("rows", filter={"wrong": True})) == wrong
    assert names(client.ask("rows", filter={"decided": "low"})) == low
    assert names(client.ask("rows", filter={"labelled": "high"})) == ["Bob", "Di"]
    assert names(client.ask("rows", filter={"text": "BERGEN"})) == ["Cy"]
    assert names(client.ask("rows", filter={"text": "e"})) == ["Cy", "Eve"]
    assert names(client.ask("rows", filter={"text": "oslo", "labelled": "low"})) == ["Ann", "Eve"]
    page = client.ask("rows", offset=1, limit=2)
    assert (page["total"], [row["name"] for row in page["rows"]]) == (5, ["Bob", "Cy"])


def test_a_whole_row(client: Client) -> None:
    row = client.ask("row", index=2)
    assert row["cells"] == {"age": "66", "city": "Bergen"}
    assert as_bits(row["bits"]).tolist() == SPACE.encode([row["cells"]])[0].tolist()
    assert (row["name"], row["line"], row["text"]) == ("Cy", 4, None)


def test_rows_are_ranked_by_their_radius(client: Client) -> None:
    with client.stream("rank", tab="a", filter={"text": "oslo"}, limit=3) as events:
        told = [data for kind, data in events if kind == "rank"]
    assert [event["index"] for event in told] == [0, 1, 3]
    for event in told:
        row = client.ask("row", index=event["index"])
        exact = tv.robustness_radius(MODEL, as_bits(row["bits"])).radius
        assert event["radius"] == row["radius"] == event["at_least"] == exact
    with client.stream("rank", tab="a") as events:
        rest = [data["index"] for kind, data in events if kind == "rank"]
    assert rest == [2, 4]  # the others are known
    rows = client.ask("rows", sort="radius")["rows"]
    assert [row["radius"] for row in rows] == sorted(row["radius"] for row in rows)


def test_cells_become_bits(client: Client) -> None:
    assert client.ask("encode", cells={"age": 30, "city": "Bergen"}) == {"bits": "1001"}
    status, why = client.refused("encode", {"cells": {"age": "young", "city": "Oslo"}})
    assert (status, why) == (400, "Column 'age' must be a number. Got 'young' in this row instead.")
    assert client.refused("encode", {"cells": {"age": 30}})[1].startswith("This row must have all columns")
    assert client.refused("encode", {"text": "good"}) == (400, "The model reads no such text.")


def test_texts_become_bits_and_known_words_are_marked() -> None:
    space = tv.Space([tv.Flag("paid"), tv.Text(["good", "it's", "über"], "note")])
    model = tv.Model.from_clauses(4, [[2]], [[1]], space=space)
    with served(opened(model)) as client:
        text = "Good! 😀 it's not über; GOOD"
        found = client.ask("encode", text=text, part="note")
        assert found["bits"] == "111"
        marked = [(text[start:end], column) for start, end, column in found["known"]]
        assert marked == [("Good", 1), ("it's", 2), ("über", 3), ("GOOD", 1)]
        assert client.refused("encode", {"text": text, "part": "other"})[0] == 400


def test_without_rows_there_are_none() -> None:
    with served(opened(MODEL)) as client:
        for path, body in (("rows", {}), ("row", {"index": 0}), ("rank", {"tab": "a"})):
            assert client.refused(path, body) == (
                400,
                "There are no rows: start the studio with --data FILE to have some.",
            )
        for path in ("summary", "store", "gallery", "answer"):
            assert client.refused(path, {"task": "a"} if path == "answer" else {}) == (
                400,
                "There is no store: start the studio with one, tmverify studio FILE.db.",
            )


GOOD: dict[str, dict[str, Any]] = {
    "watch": {
        "tab": "a",
        "number": 1,
        "bits": "1010",
        "fixed": [0],
        "within": 1,
        "want": ["look"],
        "view": 0,
    },
    "rows": {"filter": {"text": "a"}, "sort": "number", "offset": 0, "limit": 1},
    "row": {"index": 0},
    "rank": {"tab": "a", "limit": 1, "filter": {}},
    "encode": {"cells": {"age": 1, "city": "Oslo"}},
    "certificate": {"bits": "1010", "what": "radius", "model": 0, "fixed": [], "within": None},
}
WRONG: list[Any] = [
    None, True, -1, 7.5, 1 << 70, "", "x", "1" * 5000, "\ud800",
    [], [1], [[[]]], [None], ["x", 1], {}, {"a": {}},
]  # fmt: skip
FITS: dict[tuple[str, str], list[Any]] = {
    ("watch", "tab"): ["x", ""],
    ("watch", "fixed"): [[], [1]],
    ("watch", "within"): [None],
    ("watch", "want"): [[]],
    ("rows", "filter"): [None, {}],
    ("rank", "tab"): ["x", ""],
    ("rank", "filter"): [None, {}],
    ("encode", "cells"): [],
    ("certificate", "fixed"): [[], [1]],
    ("certificate", "within"): [None],
}


@pytest.mark.parametrize(("path", "key"), [(path, key) for path, body in GOOD.items() for key in body])
def test_wrong_types_are_refused_with_a_sentence(client: Client, path: str, key: str) -> None:
    for value in WRONG:
        if any(type(value) is type(fit) and value == fit for fit in FITS.get((path, key), [])):
            continue
        status, why = client.refused(path, {**GOOD[path], key: value})
        assert status == 400
        assert why.endswith((".", "columns)."))
        assert len(why) < 500
    body = {**GOOD[path], "unknown": 1}
    assert client.refused(path, body) == (400, "The question has the unknown key 'unknown'.")


def test_what_is_asked_rightly_is_answered(client: Client) -> None:
    for path, body in GOOD.items():
        answer, said = client.post(path, body)
        assert answer.status == 200, said


@pytest.mark.parametrize(
    ("path", "key"), [("watch", "bits"), ("watch", "tab"), ("row", "index"), ("certificate", "what")]
)
def test_what_is_lacking_is_named(client: Client, path: str, key: str) -> None:
    body = {name: value for name, value in GOOD[path].items() if name != key}
    assert client.refused(path, body) == (400, f"The question lacks {key!r}.")


def test_bits_have_to_fit_the_model(client: Client) -> None:
    for bits in ("101", "10100", "10x0", "１０１０"):  # noqa: RUF001 (digits of another script)
        status, why = client.refused("watch", {**GOOD["watch"], "bits": bits})
        assert (status, why.startswith("'bits' must be 4 characters, each 0 or 1.")) == (400, True)
    for fixed in ([2], [0, 0], [0, 1, 0], [0] * 100_000):
        status, why = client.refused("watch", {**GOOD["watch"], "fixed": fixed})
        assert (status, why.startswith("'fixed' must be a list of different numbers of columns")) == (
            400,
            True,
        )
    assert (
        client.refused("certificate", {**GOOD["certificate"], "what": "reason", "within": "auto"})[0] == 400
    )
    assert client.refused("watch", {**GOOD["watch"], "view": 1})[0] == 400
    assert client.refused("certificate", {**GOOD["certificate"], "what": "disagree"}) == (
        400,
        "Only two models disagree: start the studio with a second one.",
    )
    assert as_text(as_bits("1010")) == "1010"


def test_what_is_not_read_from_disk(client: Client, tmp_path: Path) -> None:
    """Whatever is asked for, files are read at the start only."""
    (tmp_path / "other.csv").write_text(TABLE)
    status, why = client.refused("rows", {"data": str(tmp_path / "other.csv")})
    assert (status, why) == (400, "The question has the unknown key 'data'.")
