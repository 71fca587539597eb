"""The file of a network: one encoding, read back exactly; anything else is a ModelFormatError."""

from __future__ import annotations

import errno
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

import tmverify as tv
from support.tiny_networks import random_network
from tmverify import ModelError, ModelFormatError
from tmverify.bnn import BnnModel, PixelCuts, load_bnn
from tmverify.bnn.file import decode, encode
from tmverify.model.file import load_classifier


def rich_network(**changes: Any) -> BnnModel:
    """Two blocks, a width that fills no byte and one that does, names, grey levels."""
    rng = np.random.default_rng(0)
    model = BnnModel.from_layers(
        [(rng.choice([-1, 1], (8, 3)), [0, 1, 2, 3, 4, 1, 2, 3]), (rng.choice([-1, 1], (9, 8)), [4] * 9)],
        rng.choice([-1, 1], (3, 9)),
        scale=3,
        bias=[(1 << 31) - 1, 0, 1 - (1 << 31)],
        classes=["red", "green", "blue \U0001f535"],
        feature_names=["hot", 'wet "\\\n\0', "größe"],
    )
    cuts = PixelCuts(np.array([0, 100, 256]), np.array([True, False, True]))
    return replace(model, **{"cuts": cuts, **changes})


PLAIN = BnnModel.from_layers([([[1]], [1])], [[1], [-1]])


@pytest.mark.parametrize(
    "model",
    [
        rich_network(),
        rich_network(cuts=None),
        rich_network(space=tv.Space.flags(3)),
        rich_network(classes=(-(1 << 63), 0, (1 << 63) - 1)),
        PLAIN,
        BnnModel.from_layers([(np.ones((1, 1), int), [0])] * 64, [[1], [1]]),
        BnnModel.from_layers([(np.ones((1, 1 << 16), int), [1 << 16])], [[1], [1]]),
    ],
    ids=["rich", "bits", "without names", "wide labels", "smallest", "deepest", "widest"],
)
def test_round_trip(model: BnnModel, tmp_path: Path) -> None:
    path = tmp_path / "a.bnn"
    model.save(path)
    for again in (load_bnn(path), load_bnn(str(path)), load_classifier(path)):
        assert isinstance(again, BnnModel)
        assert again == model
        assert encode(again) == path.read_bytes() == encode(model)
        assert (again.output == model.output).all()
        assert again.bias.tolist() == model.bias.tolist()
        for ours, theirs in zip(again.layers, model.layers, strict=True):
            assert (ours.weights == theirs.weights).all()
            assert (ours.thresholds == theirs.thresholds).all()
        for name in ("scale", "classes", "feature_names", "widths"):
            assert getattr(again, name) == getattr(model, name)
        assert (again.cuts is None) == (model.cuts is None)
        if again.cuts is not None and model.cuts is not None:
            assert again.cuts.levels.tolist() == model.cuts.levels.tolist()
            assert again.cuts.rising.tolist() == model.cuts.rising.tolist()


def test_random_networks_survive() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        model = random_network(rng, int(rng.integers(1, 20)))
        assert encode(decode(encode(model))) == encode(model)


def test_equal_networks_are_equal_files() -> None:
    again = BnnModel.from_layers(
        [(np.array([[1.0]]), np.array([1], np.uint8))], np.array([[1], [-1]], np.int8), bias=[0, 0]
    )
    assert encode(again) == encode(PLAIN)
    assert again.content_hash == PLAIN.content_hash
    assert PLAIN.content_hash.encode() in encode(PLAIN)


def test_safetensors_sees_the_arrays_that_are_documented(tmp_path: Path) -> None:
    model = rich_network()
    model.save(tmp_path / "a.bnn")
    with safe_open(str(tmp_path / "a.bnn"), framework="numpy") as file:
        seen = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    assert {name: f"{array.dtype} {array.shape}" for name, array in seen.items()} == {
        "block.0.thresholds": "int64 (8,)",
        "block.0.weights": "uint8 (8, 1)",
        "block.1.thresholds": "int64 (9,)",
        "block.1.weights": "uint8 (9, 1)",
        "output.bias": "int64 (3,)",
        "output.weights": "uint8 (3, 2)",
        "pixels.levels": "int32 (3,)",
        "pixels.rising": "uint8 (3,)",
    }
    first = "".join("1" if weight > 0 else "0" for weight in model.layers[0].weights[0])
    assert f"{seen['block.0.weights'][0, 0]:08b}" == first + "00000"
    assert (metadata["format"], metadata["version"]) == ("tmverify-bnn", "2")
    assert metadata["sha256"] == model.content_hash


@pytest.mark.parametrize("model", [rich_network(), PLAIN], ids=["rich", "plain"])
def test_every_damaged_file_is_refused(model: BnnModel, tmp_path: Path) -> None:
    """Several hundred single-byte changes, each length, and some bytes too many."""
    data, path = encode(model), tmp_path / "a.bnn"
    rng = random.Random(2)
    spoilt = [data[:size] for size in range(0, len(data), 7)] + [data[:-1], data + b"\0", data + data]
    for at in range(0, len(data), 2):
        new = rng.choice([data[at] ^ (1 << rng.randrange(8)), 0, 0x20, 0x22, 0xFF, rng.randrange(256)])
        spoilt.append(data[:at] + bytes([new]) + data[at + 1 :])
    for mutant in spoilt:
        if mutant == data:
            continue
        path.write_bytes(mutant)
        with pytest.raises(ModelFormatError, match=r"a\.bnn: "):
            (load_classifier if rng.random() < 0.2 else load_bnn)(path)


def test_an_edited_file_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.bnn").write_bytes(encode(rich_network()).replace(b"green", b"brown"))
    with pytest.raises(ModelFormatError, match="damaged or edited"):
        load_bnn(tmp_path / "a.bnn")


def test_each_kind_of_file_names_the_other(tmp_path: Path) -> None:
    PLAIN.save(tmp_path / "a.bnn")
    tv.Model.from_clauses(1, [[1]], [1]).save(tmp_path / "a.tm")
    with pytest.raises(
        ModelFormatError, match=r"a\.bnn: a binarized network; tmverify\.bnn\.load_bnn reads it"
    ):
        tv.load(tmp_path / "a.bnn")
    with pytest.raises(
        ModelFormatError, match=r"a\.tm: not a tmverify model \(the header names another format"
    ):
        load_bnn(tmp_path / "a.tm")
    assert isinstance(load_classifier(tmp_path / "a.tm"), tv.Model)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("weights: 1 -1\n" * 100)
    (tmp_path / "empty").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    for name in ("a.txt", "empty", "pipe", "."):
        with pytest.raises(ModelFormatError):
            load_bnn(tmp_path / name)
    for name in ("none", "a.txt/none"):
        with pytest.raises(OSError, match="none"):
            load_bnn(tmp_path / name)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "broken"), KeyboardInterrupt()], ids=repr)
def test_saving_is_complete_or_not_at_all(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error

    PLAIN.save(tmp_path / "a.bnn")
    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(type(error)):
            rich_network().save(tmp_path / "a.bnn")
    assert os.listdir(tmp_path) == ["a.bnn"]
    assert load_bnn(tmp_path / "a.bnn") == PLAIN


def test_a_network_too_large_for_the_format_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tmverify.model.container.MAX_FILE_BYTES", 100)
    with pytest.raises(ModelError, match="bytes"):
        PLAIN.save(tmp_path / "a.bnn")
    assert os.listdir(tmp_path) == []
