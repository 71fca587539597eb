"""The examples of docs/interop.md run as written: those of the libraries installed here, clause lists."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.interop import from_clauses, from_green

PAGE = (Path(__file__).parents[2] / "docs" / "interop.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize(
    "package", ["tmu", "pyTsetlinMachine", "pyTsetlinMachineParallel", "pytsetlin", "green_tsetlin"]
)
def test_the_block_of_a_library(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed here")
    original = "pyTsetlinMachine" if package == "pyTsetlinMachineParallel" else package
    (block,) = (code for code in BLOCKS if re.search(rf"^(from|import) {original}\b", code, re.M))
    monkeypatch.chdir(tmp_path)
    digits = tv.load_dataset("digits")
    space: dict[str, Any] = {"X": digits.X_train, "y": digits.y_train.astype("uint32")}
    exec(block.replace(f"from {original}.", f"from {package}."), space)
    model = space["model"]
    assert isinstance(model, tv.Model)
    assert (model.predict(digits.X_train) == digits.y_train).mean() > 0.7


def test_the_clause_lists(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    (table,) = re.findall(r"```\n(# feature_names.*?)```", PAGE, re.S)
    (tmp_path / "rules.csv").write_text(table)
    by_hand, listed = tv.Model.from_json(text), from_clauses(tmp_path / "rules.csv")
    assert by_hand.classes == listed.classes == ("well", "ill")
    assert by_hand.clauses == listed.clauses
    assert by_hand.predict([[1, 0, 0]])[0] == "ill"


def test_the_public_model_of_green_tsetlin() -> None:
    """Trained by others; its page says 96.2 % on the MNIST test set."""
    try:
        mnist = tv.load_dataset("mnist", binarizer=None)
    except tv.DataFormatError as error:
        pytest.skip(f"no data: {error}")
    file = Path(os.environ["TMVERIFY_DATA"]) / "tm_models" / "green_mnist_1k.npz"
    if not file.exists():
        pytest.skip(f"no file {file}")
    model = from_green(file)
    X = (mnist.X_test > 75).astype(np.uint8)
    assert round(float((model.predict(X) == mnist.y_test).mean()), 3) == 0.962
    found = tv.robustness_radius(model, X[0])
    assert found.radius is not None
    assert found.radius >= 1
