"""Named datasets, from small files of the real formats; the real files too where TMVERIFY_DATA names them."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from tmverify.data import MNIST_C_CORRUPTIONS, ThresholdBinarizer, WordBinarizer, load_dataset
from tmverify.errors import DataFormatError, InvalidInputError

RNG = np.random.default_rng(0)
IMAGES = {
    part: RNG.integers(0, 256, (n, 28, 28)).astype(np.uint8) for part, n in [("train", 12), ("t10k", 30)]
}
LABELS = {part: (np.arange(len(images)) % 10).astype(np.uint8) for part, images in IMAGES.items()}
REAL = os.environ.get("TMVERIFY_DATA")
needs_real = pytest.mark.skipif(not REAL, reason="TMVERIFY_DATA names no folder with the real data")


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMVERIFY_DATA", raising=False)


def idx(array: NDArray[np.uint8]) -> bytes:
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes((0, 0, 8, array.ndim)) + sizes + array.tobytes()


def write_mnist(folder: Path, *, packed: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for part in IMAGES:
        for kind, array in (("images-idx3", IMAGES[part]), ("labels-idx1", LABELS[part])):
            data, name = idx(array), f"{part}-{kind}-ubyte"
            (folder / (name + ".gz" if packed else name)).write_bytes(gzip.compress(data) if packed else data)
    return folder


def corrupted(number: int) -> NDArray[np.uint8]:
    """Stand-in for corruption ``number``: every pixel has that value."""
    return np.full_like(IMAGES["t10k"], number)


def write_mnist_c(root: Path) -> Path:
    write_mnist(root / "mnist")
    (root / "mnist_c").mkdir()
    for number, name in enumerate(MNIST_C_CORRUPTIONS):
        with lzma.open(root / "mnist_c" / f"{name}.npy.xz", "wb") as stream:
            np.save(stream, corrupted(number))
    return root


def test_digits_need_no_files() -> None:
    digits = load_dataset("digits")
    assert (len(digits.y_train), len(digits.y_test)) == (1347, 450)
    assert digits.X_train.dtype == np.uint8
    assert set(np.unique(digits.X_test)) == {0, 1}
    assert digits.y_train.dtype == np.int64
    assert digits.image_shape == (8, 8)
    assert digits.feature_names is not None
    assert digits.feature_names[10] == "pixel_1_2"
    assert "X_train" not in repr(digits)
    raw = load_dataset("digits", binarizer=None)
    assert raw.X_train.max() == 16
    assert raw.binarizer is None
    assert np.array_equal(raw.X_test > 5.5, digits.X_test)
    assert np.array_equal(np.bincount(raw.y_test), np.bincount(load_dataset("digits").y_test))


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("mnist", "mnist"),
        ("mnist", "MNIST/raw"),
        ("fashion-mnist", "fashion-mnist"),
        ("fashion-mnist", "FashionMNIST/raw"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_idx_files(
    tmp_path: Path, name: str, folder: str, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mnist(tmp_path / folder, packed=packed)
    raw = load_dataset(name, data_dir=tmp_path, binarizer=None)
    assert np.array_equal(raw.X_train, IMAGES["train"].reshape(12, 784))
    assert np.array_equal(raw.y_test, LABELS["t10k"])
    assert raw.y_test.dtype == np.int64
    assert raw.feature_names is not None
    assert (raw.feature_names[29], raw.image_shape) == ("pixel_1_1", (28, 28))
    monkeypatch.setenv("TMVERIFY_DATA", str(tmp_path))
    bits = load_dataset(name)
    assert bits.X_test.shape == (30, 784)
    assert set(np.unique(bits.X_test)) == {0, 1}
    assert type(bits.binarizer).__name__ == "AdaptiveGaussianBinarizer"


def test_a_given_binarizer_is_cloned_and_sees_the_training_part_only(tmp_path: Path) -> None:
    write_mnist(tmp_path / "mnist")
    given = ThresholdBinarizer(100)
    dataset = load_dataset("mnist", data_dir=tmp_path, binarizer=given)
    assert not hasattr(given, "thresholds_")
    assert np.array_equal(dataset.X_test, dataset.binarizer.transform(IMAGES["t10k"].reshape(30, 784)))
    assert dataset.feature_names is not None
    assert dataset.feature_names[0] == "pixel_0_0 > 100"
    with pytest.raises(InvalidInputError, match="binarizer's output for X_train must hold only 0 and 1"):
        load_dataset("mnist", data_dir=tmp_path, binarizer=StandardScaler())


DAMAGES: list[tuple[str, Callable[[bytes], bytes], str]] = [
    (
        "t10k-images-idx3-ubyte",
        lambda data: b"PK" + data[2:],
        "must start with the bytes 00 00 08 03. Found 50 4b",
    ),
    ("t10k-images-idx3-ubyte", lambda data: b"", "Found nothing"),
    ("t10k-images-idx3-ubyte", lambda data: data[:10], "cut short"),
    (
        "t10k-images-idx3-ubyte",
        lambda data: data[:-1],
        "cut short: 23520 more bytes are expected, 23519 found",
    ),
    ("t10k-images-idx3-ubyte", lambda data: data + b"\0", "longer than its header says"),
    (
        "t10k-images-idx3-ubyte",
        lambda data: idx(IMAGES["t10k"][:, :27]),
        r"shape \(28, 28\). Found \(27, 28\)",
    ),
    ("t10k-images-idx3-ubyte", lambda data: idx(IMAGES["t10k"][:29]), "29 images and .* 30 labels"),
    ("t10k-images-idx3-ubyte", lambda data: data[:4] + b"\xff" * 4 + data[8:], "between 1 and 1000000 items"),
    ("t10k-labels-idx1-ubyte", lambda data: data[:-1] + b"\x0a", "labels must be 0 to 9. Found 10"),
    ("t10k-labels-idx1-ubyte", lambda data: idx(LABELS["t10k"][:0]), "Found 0"),
]


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGES)
def test_damaged_idx_files(tmp_path: Path, name: str, damage: Callable[[bytes], bytes], message: str) -> None:
    file = write_mnist(tmp_path / "mnist") / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DataFormatError, match=message) as caught:
        load_dataset("mnist", data_dir=tmp_path)
    assert name in str(caught.value)


def test_damaged_gzip(tmp_path: Path) -> None:
    file = write_mnist(tmp_path / "mnist", packed=True) / "train-images-idx3-ubyte.gz"
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for data in (b"", b"not gzip at all", whole[:200], whole[:-4], bytes(flipped), whole[:-8] + bytes(8)):
        file.write_bytes(data)
        with pytest.raises(DataFormatError, match=r"train-images-idx3-ubyte\.gz: "):
            load_dataset("mnist", data_dir=tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(DataFormatError, match="can't be read: Is a directory"):
        load_dataset("mnist", data_dir=tmp_path)


def test_missing_files_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        DataFormatError, match=r"pass data_dir .* or set TMVERIFY_DATA.*<data_dir>/mnist or .*openml"
    ):
        load_dataset("mnist")
    with pytest.raises(
        DataFormatError, match=r"t10k-labels-idx1-ubyte \(plain or \.gz\) in .*MNIST/raw\. Get"
    ):
        load_dataset("mnist", data_dir=tmp_path)
    with pytest.raises(DataFormatError, match=r"Expected .*/usr/share/datasets/fashion-mnist"):
        load_dataset("fashion-mnist", data_dir=tmp_path)
    (write_mnist(tmp_path / "mnist") / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataFormatError, match=r"Missing from .*mnist: t10k-labels-idx1-ubyte"):
        load_dataset("mnist", data_dir=tmp_path)
    with pytest.raises(DataFormatError, match=r"imdb_train\.tsv, .*; or train/pos, .* in .*aclImdb"):
        load_dataset("imdb", data_dir=tmp_path)
    with pytest.raises(
        DataFormatError, match=r"fog.* in .*mnist_c; or test_images\.npy, test_labels\.npy in .*fog"
    ):
        load_dataset("mnist-c", data_dir=tmp_path, corruption="fog")
    with pytest.raises(DataFormatError, match="no such folder; data_dir must name one"):
        load_dataset("mnist", data_dir=tmp_path / "gone")
    monkeypatch.setenv("TMVERIFY_DATA", str(tmp_path / "gone"))
    with pytest.raises(DataFormatError, match="variable TMVERIFY_DATA must name one"):
        load_dataset("mnist")


def test_one_corruption(tmp_path: Path) -> None:
    write_mnist_c(tmp_path)
    fog = MNIST_C_CORRUPTIONS.index("fog")
    raw = load_dataset("mnist-c", data_dir=tmp_path, corruption="fog", binarizer=None)
    assert np.array_equal(raw.X_train, IMAGES["train"].reshape(12, 784))
    assert (raw.X_test == fog).all()
    half = load_dataset("mnist-c", data_dir=tmp_path, corruption="fog", corrupted_share=0.5, binarizer=None)
    foggy = (half.X_test == fog).all(axis=1)
    assert 0 < foggy.sum() < 30
    assert np.array_equal(half.X_test[~foggy], IMAGES["t10k"].reshape(30, 784)[~foggy])


def test_a_mixture_of_corruptions(tmp_path: Path) -> None:
    write_mnist_c(tmp_path)
    first, again, other = (
        load_dataset("mnist-c", data_dir=tmp_path, binarizer=None, random_state=seed).X_test
        for seed in (0, 0, 1)
    )
    assert np.array_equal(first[:, 0], np.random.default_rng(0).integers(15, size=30))
    assert (first == first[:, :1]).all()
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    clean = load_dataset("mnist-c", data_dir=tmp_path, binarizer=None, corrupted_share=0)
    assert np.array_equal(clean.X_test, IMAGES["t10k"].reshape(30, 784))


def test_the_layout_of_the_mnist_c_archive(tmp_path: Path) -> None:
    write_mnist(tmp_path / "MNIST/raw")
    folder = tmp_path / "mnist_c" / "fog"
    folder.mkdir(parents=True)
    np.save(folder / "test_images.npy", corrupted(7)[..., None])
    np.save(folder / "test_labels.npy", LABELS["t10k"].astype(np.int64))
    assert (load_dataset("mnist-c", data_dir=tmp_path, corruption="fog", binarizer=None).X_test == 7).all()
    np.save(folder / "test_labels.npy", LABELS["t10k"][::-1].copy())
    with pytest.raises(DataFormatError, match=r"test_labels\.npy: the labels are not those"):
        load_dataset("mnist-c", data_dir=tmp_path, corruption="fog")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (corrupted(0)[:29], r"shape \(30, 28, 28\) or .* Found uint8 \(29, 28, 28\)"),
        (corrupted(0).astype(np.uint16), "must be uint8"),
        (corrupted(0) / 255, "Found float64"),
        (np.asfortranarray(IMAGES["t10k"]), "column-major"),
        (np.array([{}] * 30, object), "whole numbers is expected. Found object"),
    ],
)
def test_wrong_mnist_c_arrays(tmp_path: Path, array: NDArray[Any], message: str) -> None:
    write_mnist(tmp_path / "mnist")
    (tmp_path / "mnist_c").mkdir()
    np.save(tmp_path / "mnist_c" / "fog.npy", array)
    with pytest.raises(DataFormatError, match=message):
        load_dataset("mnist-c", data_dir=tmp_path, corruption="fog")


def test_damaged_mnist_c_files(tmp_path: Path) -> None:
    file = write_mnist_c(tmp_path) / "mnist_c" / "fog.npy.xz"
    whole = file.read_bytes()
    npy = lzma.decompress(whole)
    version_9 = npy[:6] + b"\x09" + npy[7:]
    for data in (
        b"",
        b"no xz",
        whole[:100],
        whole[:-5],
        *map(lzma.compress, (b"", npy[:50], npy[:-1], version_9)),
    ):
        file.write_bytes(data)
        with pytest.raises(DataFormatError, match=r"fog\.npy\.xz: "):
            load_dataset("mnist-c", data_dir=tmp_path, corruption="fog")


TRAIN = ["good\tfilm\x85yes", "very good", "bad film"]
TEST = ["good", "bad, bad"]


def test_imdb_from_tab_separated_files(tmp_path: Path) -> None:
    (tmp_path / "imdb").mkdir()
    lines = {"train": zip("110", TRAIN, strict=True), "test": zip("10", TEST, strict=True)}
    for part, rows in lines.items():
        text = "".join(f"{label}\t7\t{i}\t{review}\n" for i, (label, review) in enumerate(rows))
        with lzma.open(tmp_path / "imdb" / f"imdb_{part}.tsv.xz", "wb") as stream:
            stream.write(text.encode())
    raw = load_dataset("imdb", data_dir=tmp_path, binarizer=None)
    assert (raw.X_train, raw.X_test) == (TRAIN, TEST)
    assert (raw.y_train.tolist(), raw.y_test.tolist()) == ([1, 1, 0], [1, 0])
    assert raw.feature_names is None
    bits = load_dataset("imdb", data_dir=tmp_path)
    assert bits.feature_names == ("good", "bad", "film", "film\x85yes", "very")
    assert bits.X_test.toarray().tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]
    two = load_dataset(
        "imdb", data_dir=tmp_path, binarizer=CountVectorizer(vocabulary=["bad", "good"], binary=True)
    )
    assert two.X_test.dtype == np.uint8
    assert two.X_test.toarray().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InvalidInputError, match=r"X_test \(its stored values\) must hold only 0 and 1"):
        load_dataset("imdb", data_dir=tmp_path, binarizer=CountVectorizer())


def test_imdb_from_its_own_folders(tmp_path: Path) -> None:
    for part in ("train", "test"):
        for label in ("pos", "neg"):
            (tmp_path / "aclImdb" / part / label).mkdir(parents=True)
            for number in (10, 9, 0):
                file = tmp_path / "aclImdb" / part / label / f"{number}_7.txt"
                file.write_text(f"{part} {label} {number}", encoding="utf-8")
    raw = load_dataset("imdb", data_dir=tmp_path, binarizer=None)
    assert raw.X_test == [f"test {label} {number}" for label in ("pos", "neg") for number in (0, 9, 10)]
    assert raw.y_train.tolist() == [1, 1, 1, 0, 0, 0]
    (tmp_path / "aclImdb/test/neg/9_7.txt").write_bytes(b"\xff")
    with pytest.raises(DataFormatError, match=r"9_7\.txt: not a text in UTF-8"):
        load_dataset("imdb", data_dir=tmp_path)
    for file in (tmp_path / "aclImdb/test/neg").iterdir():
        file.unlink()
    with pytest.raises(DataFormatError, match="neg: no reviews"):
        load_dataset("imdb", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"1\t7\t0\tgood\n2\t7\t0\tbad\n", r"line 2: expected label"),
        (b"1\t7\tgood\n", r"line 1: .*Found '1\\t7\\tgood'"),
        (b"1\t7\t0\t\xff\n", "UTF-8"),
    ],
)
def test_wrong_imdb_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "imdb").mkdir()
    for part in ("train", "test"):
        (tmp_path / "imdb" / f"imdb_{part}.tsv").write_bytes(content)
    with pytest.raises(DataFormatError, match=message) as caught:
        load_dataset("imdb", data_dir=tmp_path)
    assert "imdb_train.tsv" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cifar", {}, "'name' .* one of digits, mnist, fashion-mnist, mnist-c, imdb. Got 'cifar'"),
        (["mnist"], {}, "'name'"),
        ("digits", {"binarizer": "none"}, "'binarizer'"),
        ("digits", {"binarizer": 75}, "'binarizer'"),
        ("digits", {"source": "openml"}, "'files' for digits"),
        ("mnist", {"source": "web"}, "'source'"),
        ("mnist", {"corruption": "fog"}, "only mnist-c"),
        ("mnist", {"corrupted_share": 0.5}, "only mnist-c"),
        ("mnist-c", {"corrupted_share": 1.5}, "'corrupted_share' .* from 0 to 1"),
        ("mnist-c", {"corrupted_share": np.nan}, "'corrupted_share'"),
        ("mnist-c", {"corruption": "rain"}, "shot_noise, .*canny_edges. Got 'rain'"),
        ("mnist-c", {"random_state": -1}, "'random_state'"),
    ],
)
def test_wrong_arguments(name: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        load_dataset(name, **options)


def bunch(**changes: Any) -> SimpleNamespace:
    data = np.zeros((70_000, 784), np.uint8)
    data[60_000:] = 9
    return SimpleNamespace(**{"data": data, "target": np.resize(list("0123456789"), 70_000)} | changes)


@pytest.mark.parametrize(("name", "asked"), [("mnist", "mnist_784"), ("fashion-mnist", "Fashion-MNIST")])
def test_openml(monkeypatch: pytest.MonkeyPatch, name: str, asked: str) -> None:
    calls = []

    def fetch(*args: Any, **options: Any) -> SimpleNamespace:
        calls.append(args)
        return bunch()

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    raw = load_dataset(name, source="openml", binarizer=None)
    assert calls == [(asked,)]
    assert (raw.X_train.shape, raw.X_test.shape) == ((60_000, 784), (10_000, 784))
    assert (raw.X_test == 9).all()
    assert raw.y_test[:3].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "error", [URLError("no route to host"), TimeoutError("timed out"), ValueError("md5")]
)
def test_openml_out_of_reach(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(
        DataFormatError, match=r"fetched from OpenML: .*(no route|timed out|md5).*Check the network"
    ):
        load_dataset("mnist", source="openml")


@pytest.mark.parametrize(
    "changes",
    [{"data": np.zeros((3, 784))}, {"data": np.full((70_000, 784), -1, np.int8)}, {"target": ["a"]}],
)
def test_openml_with_other_data(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> None:
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *args, **_: bunch(**changes))
    with pytest.raises(DataFormatError, match="MNIST from OpenML: expected"):
        load_dataset("mnist", source="openml")


@needs_real
def test_real_mnist() -> None:
    raw = load_dataset("mnist", data_dir=REAL, binarizer=None)
    assert raw.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert raw.y_test[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert abs(raw.X_train.mean() - 33.3184) < 1e-4


@needs_real
def test_real_imdb_words() -> None:
    assert REAL is not None
    with np.load(Path(REAL) / "imdb" / "imdb_bow10k.npz") as expected:
        words = expected["vocab"][:1000].tolist()
        dataset = load_dataset("imdb", data_dir=REAL, binarizer=WordBinarizer(vocabulary=words))
        for part, X in (("train", dataset.X_train), ("test", dataset.X_test)):
            few = expected[f"{part}_indices"] < 1000
            assert np.array_equal(X.indices, expected[f"{part}_indices"][few])
            counts = np.concatenate([[0], np.cumsum(few)])
            assert np.array_equal(X.indptr, counts[expected[f"{part}_indptr"]])
