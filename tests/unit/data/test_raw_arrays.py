"""Raw numbers in array files: a command takes what ``train`` took, and bits are never taken for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import tmverify as tv
from support.cli_cases import Capture, run
from tmverify.data import load_inputs
from tmverify.errors import DataFormatError, InvalidInputError

NUMBERS = tv.Space([tv.Number("x0", (2, 5)), tv.Flag("x1"), tv.Number("x2", ()), tv.Number("x3", (1,))])
ONE_BIT = tv.Space([tv.Number("a", (8,)), tv.Number("b", (8,))])
PICTURE = tv.Space([tv.Image((1, 2), 8)])


def model(space: tv.Space) -> tv.Model:
    return tv.Model.from_clauses(space.n_bits, [[1]], [1], space=space)


def saved(path: Path, X: Any, **more: Any) -> Path:
    np.savez(path, X=X, **more)
    return path


def test_what_train_took_the_other_commands_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = load_digits(return_X_y=True)
    saved(Path("raw.npz"), X[:200], y=y[:200])
    assert run("train raw.npz -o m.tm --epochs 2 --clauses 20 --drop x5,x9 --quiet") == 0
    assert run("predict m.tm raw.npz") == 0
    assert run("radius m.tm raw.npz --n 2") == 0
    assert "2 inputs" in capsys.readouterr().out
    trained = tv.load("m.tm")
    assert isinstance(trained, tv.Model)
    kept = [int(part.name[1:]) for part in trained.space.parts]
    wanted = trained.space.encode(X[:200][:, kept])
    assert (wanted == load_inputs(Path("raw.npz"), trained).X).all()
    saved(Path("kept.npz"), X[:200][:, kept])
    assert (wanted == load_inputs(Path("kept.npz"), trained).X).all()
    with pytest.raises(InvalidInputError, match=r"model\.space\.encode"):
        trained.predict(X[:2])


def test_columns_by_position_or_by_name(tmp_path: Path) -> None:
    rows = np.array([[3.0, 1, 9, 0], [7, 0, 9, 2]])
    wanted = [[1, 0, 1, 0], [1, 1, 0, 1]]
    named = model(NUMBERS)
    assert load_inputs(saved(tmp_path / "a.npz", rows.astype(int)), named).X.tolist() == wanted
    np.save(tmp_path / "a.npy", rows)
    assert load_inputs(tmp_path / "a.npy", named).X.tolist() == wanted
    turned = saved(tmp_path / "b.npz", rows[:, [3, 1, 0, 1]], feature_names=["x3", "x1", "x0", "more"])
    found = load_inputs(turned, named)
    assert (found.X.tolist(), found.ignored) == (wanted, ("more",))
    bits = saved(tmp_path / "c.npz", np.array(wanted), feature_names=NUMBERS.bit_names)
    assert load_inputs(bits, named).X.tolist() == wanted
    with pytest.raises(InvalidInputError, match="missing value"):
        load_inputs(saved(tmp_path / "d.npz", rows * [np.nan, 1, 1, 1]), named)


@pytest.mark.parametrize("space", [ONE_BIT, PICTURE], ids=["columns", "picture"])
def test_an_array_that_could_be_either(space: tv.Space, tmp_path: Path) -> None:
    """Values that are no bits say so; of 0 and 1, integers are bits, and floats are refused."""
    for dtype in (float, int):
        grey = saved(tmp_path / "grey.npz", np.array([[9, 0], [1, 16]], dtype))
        assert load_inputs(grey, model(space)).X.tolist() == [[1, 0], [0, 1]]
    bits = saved(tmp_path / "bits.npz", np.array([[1, 0], [0, 1]]))
    assert load_inputs(bits, model(space)).X.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(DataFormatError, match=r"could be bits, or raw rows.*astype\(np.uint8\)"):
        load_inputs(saved(tmp_path / "floats.npz", np.array([[1.0, 0], [0, 1]])), model(space))


def test_the_pixels_of_pictures_go_by_name(tmp_path: Path) -> None:
    file = saved(tmp_path / "p.npz", np.array([[0, 99]]), feature_names=["pixel_0_1", "pixel_0_0"])
    assert load_inputs(file, model(PICTURE)).X.tolist() == [[1, 0]]


def test_flags_of_floats_are_bits_as_before(tmp_path: Path) -> None:
    for space in (tv.Space.flags(2), tv.Space.flags(["a", "b"]), tv.Space([tv.Image((1, 2))])):
        floats = saved(tmp_path / "f.npz", np.array([[1.0, 0]]))
        assert load_inputs(floats, model(space)).X.tolist() == [[1, 0]]
