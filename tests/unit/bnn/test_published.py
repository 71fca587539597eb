"""Published networks: archives of floats, folded to the same decisions; anything else is refused."""

from __future__ import annotations

import os
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv
from tmverify import ModelFormatError
from tmverify.bnn import BnnModel, load_bnn

Arrays = dict[str, NDArray[Any]]
DATA = os.environ.get("TMVERIFY_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="TMVERIFY_DATA names no folder with the real data")


def norm(rng: np.random.Generator, name: str, n: int, center: float, spread: float) -> Arrays:
    return {
        f"{name}.gamma": rng.standard_normal(n).astype(np.float32),
        f"{name}.beta": (rng.standard_normal(n) / 2).astype(np.float32),
        f"{name}.avg_mean": (center + spread * rng.standard_normal(n)).astype(np.float32),
        f"{name}.avg_var": (spread * rng.random(n)).astype(np.float32),
        f"{name}.N": np.array(1000),
    }


def random_arrays(rng: np.random.Generator, widths: list[int]) -> Arrays:
    """A network as the published ones are written."""
    arrays = norm(rng, "input_bn", widths[0], 0.5, 0.3)
    for i, (n, size) in enumerate(pairwise(widths[:-1])):
        arrays[f"blocks.{i}.lin.W"] = rng.standard_normal((size, n)).astype(np.float32)
        arrays[f"blocks.{i}.lin.W"][0, 0] = 0  # whose sign is +1
        arrays[f"blocks.{i}.lin.b"] = rng.standard_normal(size).astype(np.float32)
        arrays |= norm(rng, f"blocks.{i}.bn", size, 0, float(n) ** 0.5)
    arrays["output_lin.W"] = rng.standard_normal((widths[-1], widths[-2])).astype(np.float32)
    arrays["output_lin.b"] = rng.standard_normal(widths[-1]).astype(np.float32)
    return arrays


def evaluate(arrays: Arrays, images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Logits in float64; chance keeps the random parameters away from ties."""
    wide = {name: array.astype(np.float64) for name, array in arrays.items()}

    def bits(name: str, z: NDArray[np.float64]) -> NDArray[np.float64]:
        gamma, beta, mean, variance = (wide[f"{name}.{x}"] for x in ("gamma", "beta", "avg_mean", "avg_var"))
        return np.where(gamma * (z - mean) / np.sqrt(variance + 2e-5) + beta >= 0, 1.0, -1.0)

    def linear(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = x @ np.where(wide[f"{name}.W"] >= 0, 1.0, -1.0).T + wide[f"{name}.b"]
        return product

    x = bits("input_bn", images / 255)
    for i in range(sum(name.endswith(".lin.W") for name in arrays)):
        x = bits(f"blocks.{i}.bn", linear(f"blocks.{i}.lin", x))
    return linear("output_lin", x)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("blocks", [[5], [9, 4], [6, 70, 8]], ids=str)
def test_decides_as_the_floats_do(save: Any, blocks: list[int], tmp_path: Path) -> None:
    rng = np.random.default_rng(len(blocks))
    classes = set()
    for _ in range(10):
        arrays = random_arrays(rng, [12, *blocks, 4])
        save(tmp_path / "n.npz", **arrays)
        model = load_bnn(tmp_path / "n.npz")
        assert model.widths == (12, *blocks, 4)
        images = rng.integers(0, 256, size=(200, 3, 4)).astype(np.uint8)
        logits = evaluate(arrays, images.reshape(200, 12))
        bits = model.binarize(images)
        assert model.predict(bits).tolist() == logits.argmax(axis=1).tolist()
        assert (np.argsort(model.scores(bits), axis=1) == np.argsort(logits, axis=1)).all()
        classes |= set(model.predict(bits).tolist())
        model.save(tmp_path / "n.bnn")
        assert load_bnn(tmp_path / "n.bnn") == model
    assert len(classes) > 2


def spoilt(tmp_path: Path, **changes: Any) -> Path:
    """A network's archive with some arrays replaced; left out, where None."""
    arrays: dict[str, Any] = random_arrays(np.random.default_rng(0), [6, 4, 3])
    kept = {name: array for name, array in (arrays | changes).items() if array is not None}
    np.savez(tmp_path / "n.npz", **kept)
    return tmp_path / "n.npz"


NAMES = sorted(set(random_arrays(np.random.default_rng(0), [6, 4, 3])))


@pytest.mark.parametrize("name", NAMES)
def test_every_array_is_needed_as_it_is(name: str, tmp_path: Path) -> None:
    assert load_bnn(spoilt(tmp_path)).widths == (6, 4, 3)
    if name.endswith(".N"):
        assert load_bnn(spoilt(tmp_path, **{name: None})).widths == (6, 4, 3)
        return
    good = random_arrays(np.random.default_rng(0), [6, 4, 3])[name]
    bad: list[Any] = [
        None,
        good[None],
        good[0],
        good[:-1],
        good[:0],
        good.astype(np.int64),
        good.astype(np.complex64),
        np.full(good.shape, np.nan, np.float32),
        np.full(good.shape, np.inf, np.float32),
        np.full(good.shape, "1"),
        np.full(good.shape, None),  # pickled
    ]
    for array in bad:
        with pytest.raises(ModelFormatError, match=r"n\.npz: "):
            load_bnn(spoilt(tmp_path, **{name: array}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output_lin.b": None}, "no array 'output_lin.b'"),
        ({"blocks.0.bn.gamma": np.full(4, np.nan, np.float32)}, "blocks.0.bn.gamma must be finite"),
        ({"blocks.0.bn.avg_var": np.full(4, -1, np.float32)}, "must be positive in every channel"),
        ({"blocks.0.lin.W": np.ones((4, 6, 1), np.float32)}, "must be floats in 2 dimensions"),
        ({"blocks.0.lin.b": np.array([None] * 4)}, "allow_pickle=False"),
        ({"blocks.0.lin.b": np.ones(3, np.float32)}, "4 neurons must have 4 biases. Got 3"),
        ({"blocks.2.lin.W": np.ones((4, 4), np.float32)}, "no array 'blocks.1.lin.W'"),
        ({f"blocks.{i}.lin.W": np.ones((1, 1), np.float32) for i in range(65)}, "65 blocks; .* at most 64"),
        ({"output_lin.W": np.ones((3, 5), np.float32)}, "Each layer must read"),
        ({"output_lin.b": np.full(3, 1e30, np.float32)}, "bias is too large"),
        ({"blocks.0.lin.W": None}, "1 to 64 blocks. Got 0"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=message):
        load_bnn(spoilt(tmp_path, **changes))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_archives(save: Any, tmp_path: Path) -> None:
    """One byte changed: the network as it was, perhaps with other numbers, or ModelFormatError."""
    rng = np.random.default_rng(5)
    path = tmp_path / "n.npz"
    save(path, **random_arrays(rng, [6, 4, 3]))
    data = path.read_bytes()
    refused = 0
    for _ in range(150):
        at = int(rng.integers(2, len(data)))
        path.write_bytes(data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :])
        try:
            assert isinstance(load_bnn(path), BnnModel)
        except ModelFormatError:
            refused += 1
    assert refused > 50
    for size in range(2, len(data), 97):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFormatError):
            load_bnn(path)


def test_members_that_are_no_arrays(tmp_path: Path) -> None:
    for member, content in {
        "output_lin.b": b"text",
        "output_lin.b.npy": b"text",
        "readme.txt": b"text",
        "a.npy": claiming("(10000000000000,)"),
        "b.npy": claiming("(99999999999999999999999,)"),
        "c.npy": claiming("(-5,)"),
        "d.npy": claiming("((((("),
    }.items():
        with zipfile.ZipFile(tmp_path / "n.npz", "w") as archive:
            archive.writestr(member, content)
        with pytest.raises(ModelFormatError):
            load_bnn(tmp_path / "n.npz")


def test_an_archive_that_would_grow_is_not_read(tmp_path: Path) -> None:
    """A megabyte of zeros that says it is a gigabyte and more; nothing is unpacked."""
    with (
        zipfile.ZipFile(tmp_path / "n.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w") as member,
    ):
        for _ in range(3):
            member.write(bytes(1 << 20))
    size = (3 << 20).to_bytes(4, "little")
    data = (tmp_path / "n.npz").read_bytes()
    assert data.count(size) == 2
    (tmp_path / "n.npz").write_bytes(data.replace(size, (3 << 30).to_bytes(4, "little")))
    with pytest.raises(ModelFormatError, match="3221225472 bytes of arrays; a network has at most"):
        load_bnn(tmp_path / "n.npz")


def test_an_archive_too_large_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "n.npz", "wb") as file:
        file.write(b"PK")
        file.truncate((1 << 30) + 1)  # a hole
    with pytest.raises(ModelFormatError, match="1073741825 bytes"):
        load_bnn(tmp_path / "n.npz")


def claiming(shape: str) -> bytes:
    """The start of a .npy file of that shape, without its numbers."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


# The real ones.


def published(name: str) -> tuple[BnnModel, NDArray[np.uint8], NDArray[np.uint8], list[int]]:
    """A published network, and its pictures of real60.npz: grey levels, labels, their numbers."""
    assert DATA is not None
    model = load_bnn(Path(DATA) / "bnn_models" / f"bnn_{name}.npz")
    with np.load(Path(DATA) / "mnist_variations" / "real60.npz") as real:
        chosen = real["dataset"] == name
        return model, real["images"][chosen], real["labels"][chosen], real["test_index"][chosen].tolist()


@needs_data
def test_accuracy_on_mnist() -> None:
    data = tv.load_dataset("mnist", binarizer=None)
    model = published("mnist")[0]
    right = model.predict(model.binarize(data.X_test)) == data.y_test
    assert float(right.mean()) == 0.9587


@needs_data
@pytest.mark.parametrize("name", ["mnist", "mnist_back_image"])
def test_real_pictures_are_decided_right(name: str) -> None:
    model, images, labels, _ = published(name)
    assert len(images) == 20
    assert model.widths == (784, 200, 100, 100, 100, 10)
    assert model.predict(model.binarize(images)).tolist() == labels.tolist()


@needs_data
@pytest.mark.deep
@pytest.mark.parametrize(("name", "index", "radius"), [("mnist", 7, 4), ("mnist_back_image", 32, 2)])
def test_the_radius_of_a_real_picture(name: str, index: int, radius: int) -> None:
    model, images, labels, numbers = published(name)
    place = numbers.index(index)
    found = tv.robustness_radius(model, model.binarize(images[place]), certificate=True)
    assert found.radius == radius
    assert found.decisions is not None
    assert found.decisions[0] == labels[place]
    assert found.certificate is not None
    assert f"otherwise {radius} flip(s) from" in found.certificate.check(model)  # type: ignore[arg-type]
