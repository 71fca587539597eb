"""Binarizers: their definitions, their names, and what they refuse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from tmverify.data import (
    AdaptiveGaussianBinarizer,
    TableBinarizer,
    ThermometerBinarizer,
    ThresholdBinarizer,
    WordBinarizer,
)
from tmverify.errors import InvalidInputError

# Their data are no grey levels, or no square number of them; what they check is tested on images below.
NEED_IMAGES = {
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
}


@pytest.mark.parametrize(
    "binarizer",
    [
        ThresholdBinarizer(),
        ThermometerBinarizer(),
        ThermometerBinarizer(n_bins=3, strategy="uniform"),
        TableBinarizer(),
    ],
    ids=repr,
)
def test_scikit_learn_checks(binarizer: Any) -> None:
    check_estimator(binarizer, on_skip=None)


def test_scikit_learn_checks_of_images() -> None:
    results = check_estimator(AdaptiveGaussianBinarizer(), on_skip=None, on_fail=None)
    assert sum(result["status"] == "passed" for result in results) > 10
    assert {result["check_name"] for result in results if result["status"] == "failed"} <= NEED_IMAGES


GREY = np.random.default_rng(0).integers(0, 256, (20, 36)).astype(np.uint8)
DENSE = [
    ThresholdBinarizer(100),
    AdaptiveGaussianBinarizer(window=5),
    AdaptiveGaussianBinarizer((4, 9), offset=-3.5),
    ThermometerBinarizer(4),
    TableBinarizer(4),
]


@pytest.mark.parametrize("binarizer", DENSE, ids=repr)
def test_clones_pipelines_pickles_and_frames(binarizer: Any) -> None:
    pd = pytest.importorskip("pandas")

    bits = clone(binarizer).fit_transform(GREY)
    assert bits.dtype == np.uint8
    assert set(np.unique(bits)) == {0, 1}
    pipeline = make_pipeline(clone(binarizer)).fit(GREY)
    assert np.array_equal(pipeline.transform(GREY), bits)
    assert np.array_equal(pickle.loads(pickle.dumps(pipeline)).transform(GREY), bits)
    assert np.array_equal(clone(binarizer).fit_transform(GREY.astype(np.float32)), bits)
    frame = pd.DataFrame(GREY, columns=[f"p{i}" for i in range(36)])
    named = clone(binarizer).set_output(transform="pandas").fit(frame)
    out = named.transform(frame)
    assert np.array_equal(out.to_numpy(), bits)
    assert list(out.columns) == list(named.get_feature_names_out())
    assert all(name.startswith("p") for name in out.columns)
    assert len(set(out.columns)) == bits.shape[1]
    with pytest.raises(ValueError, match="feature names"):
        named.transform(frame.rename(columns={"p0": "other"}))


def test_threshold_per_column() -> None:
    binarizer = ThresholdBinarizer([0, 1.5]).fit([[0, 0]])
    assert binarizer.transform([[0, 1.5], [1, 2]]).tolist() == [[0, 0], [1, 1]]
    assert binarizer.get_feature_names_out(["a", "b"]).tolist() == ["a > 0", "b > 1.5"]


@pytest.mark.parametrize("threshold", [np.nan, np.inf, "75", None, [1], [1, np.nan], True, [[1, 2]], 1j])
def test_threshold_refused(threshold: Any) -> None:
    with pytest.raises(InvalidInputError, match="'threshold' parameter of ThresholdBinarizer must be"):
        ThresholdBinarizer(threshold).fit([[1, 2]])


def naive_adaptive(image: NDArray[Any], window: int, offset: float) -> NDArray[Any]:
    """The definition, pixel by pixel."""
    radius = window // 2
    sigma = 0.3 * (radius - 1) + 0.8
    weights = np.exp(-(np.arange(-radius, radius + 1) ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    padded = np.pad(image.astype(float), radius, mode="edge")
    bits = np.empty(image.shape, np.uint8)
    for r, c in np.ndindex(*image.shape):
        mean = np.rint(weights @ padded[r : r + window, c : c + window] @ weights)
        bits[r, c] = image[r, c] > mean - offset
    return bits


@pytest.mark.parametrize(
    ("window", "offset", "shape"), [(11, 2, (6, 6)), (11, -4, (4, 9)), (13, 0.5, (12, 3))]
)
def test_adaptive_gaussian_is_its_definition(window: int, offset: float, shape: tuple[int, int]) -> None:
    smooth = np.sort(GREY, axis=1)  # neighbours alike, so that the offset matters
    bits = AdaptiveGaussianBinarizer(shape, window, offset).fit_transform(smooth)
    expected = [naive_adaptive(image.reshape(shape), window, offset).ravel() for image in smooth]
    assert np.array_equal(bits, expected)


OPENCV = {
    3: "0010010001001001011011110010010101000111011010100",
    5: "0010010001001001011011100010010100000111011010100",
    7: "0010010001111001011011100010010100000111011011100",
    9: "0010010001111001011011100010010100000111011011100",
    11: "0010010001111101011011100010010100000111011011100",
}


def test_adaptive_gaussian_as_opencv_has_it() -> None:
    """cv2.adaptiveThreshold(image, 1, ADAPTIVE_THRESH_GAUSSIAN_C, THRESH_BINARY, window, 2), opencv 5.0.0."""
    image = (np.arange(49) ** 2 * 37 % 256).astype(np.uint8)[None, :]
    for window, expected in OPENCV.items():
        bits = AdaptiveGaussianBinarizer(window=window).fit_transform(image)
        assert "".join(map(str, bits[0])) == expected, window


def test_adaptive_gaussian_on_plain_images_and_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = np.repeat(np.array([[0], [255]], np.uint8), 36, axis=1)
    assert AdaptiveGaussianBinarizer().fit_transform(plain).all()
    assert not AdaptiveGaussianBinarizer(offset=0).fit_transform(plain).any()
    whole = AdaptiveGaussianBinarizer().fit_transform(GREY)
    monkeypatch.setattr("tmverify.space.local_mean._CHUNK_PIXELS", 100)
    assert np.array_equal(AdaptiveGaussianBinarizer().fit_transform(GREY), whole)


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"window": 4}, GREY, r"'window' .* must be an odd integer of at least 3\. Got 4 instead"),
        ({"window": 1}, GREY, "'window'"),
        ({"window": 11.0}, GREY, "'window'"),
        ({"offset": np.nan}, GREY, "'offset'"),
        ({"image_shape": (6,)}, GREY, "'image_shape'"),
        ({"image_shape": (0, 36)}, GREY, "'image_shape'"),
        ({"image_shape": (5, 7)}, GREY, "35 columns"),
        ({}, GREY[:, :35], "square number"),
        ({}, GREY / 255, "whole numbers from 0 to 255"),
        ({}, GREY.astype(int) - 1000, "grey levels"),
        ({}, GREY * np.nan, "NaN in row 0, column 'x0'"),
    ],
)
def test_adaptive_gaussian_refused(parameters: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        AdaptiveGaussianBinarizer(**parameters).fit(X)


def cuts(values: Any, **parameters: Any) -> list[float]:
    names = ThermometerBinarizer(**parameters).fit(np.array(values)[:, None]).get_feature_names_out(["v"])
    return [float(name.removeprefix("v > ")) for name in names]


def test_thermometer_cuts() -> None:
    assert cuts([0, 1, 0]) == [0.5]
    assert cuts([3, 1, 2]) == [1.5, 2.5]
    assert cuts(range(100), n_bins=4) == [24.5, 49.5, 74.5]
    assert cuts(range(101), n_bins=4, strategy="uniform") == [25, 50, 75]
    assert cuts([0] * 99 + list(range(1, 12)), n_bins=4) == [0.5]
    assert cuts([50] * 99 + list(range(12)), n_bins=4) == [30.5]  # one value fills it: still a bit
    assert cuts([1e6 + 1, 1e6 + 2]) == [1000001.5]
    assert cuts([0, 1 / 3]) == [0.167]  # short where it makes no difference
    assert cuts([0.0, 5e-324]) == [0]
    assert cuts([-1.7e308, 1.7e308]) == [0]


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_thermometer_bits_are_what_their_names_say(strategy: str) -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [rng.normal(size=500), rng.integers(0, 5, 500), np.ones(500), rng.lognormal(9, 3, 500)]
    )
    binarizer = ThermometerBinarizer(6, strategy).fit(X)
    bits = binarizer.transform(X)
    assert [len(c) for c in binarizer.cuts_][1:3] == [4, 0]
    for j, name in enumerate(binarizer.get_feature_names_out()):
        column, cut = name.split(" > ")
        assert np.array_equal(bits[:, j], X[:, int(column[1:])] > float(cut))
        assert 0 < bits[:, j].mean() < 1
    assert len({row.tobytes() for row in bits.T}) == bits.shape[1]


def test_thermometer_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'n_bins' .* at least 2\. Got 1"):
        ThermometerBinarizer(1).fit([[1], [2]])
    with pytest.raises(InvalidInputError, match="'strategy'"):
        ThermometerBinarizer(strategy="kmeans").fit([[1], [2]])
    with pytest.raises(InvalidInputError, match="all of its 1 columns are constant"):
        ThermometerBinarizer().fit([[1], [1]])
    with pytest.raises(InvalidInputError, match="NaN in row 1, column 'x0'"):
        ThermometerBinarizer().fit([[1], [np.nan]])


def test_words() -> None:
    texts = ["The cat's HAT!\tThe-cat", "a bat,a hat\nÄ bat\x85x", "the the the"]
    binarizer = WordBinarizer(4)
    bits = binarizer.fit_transform(texts)
    assert binarizer.get_feature_names_out().tolist() == ["the", "a", "hat", "bat"]
    assert bits.dtype == np.uint8
    assert bits.format == "csr"
    assert bits.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0]]
    assert np.array_equal(binarizer.transform(texts).toarray(), bits.toarray())
    assert WordBinarizer().fit(texts).get_feature_names_out().tolist()[4:] == [
        "bat\x85x",
        "cat",
        "cat's",
        "Ä",
    ]
    assert pickle.loads(pickle.dumps(binarizer)).transform(["Bat?"]).toarray().tolist() == [[0, 0, 0, 1]]
    assert WordBinarizer(1).fit_transform(["a " * 256]).toarray().tolist() == [[1]]


def test_words_with_a_given_vocabulary() -> None:
    binarizer = WordBinarizer(vocabulary=["dog", "cat"])
    assert binarizer.fit_transform(["cat"]).toarray().tolist() == [[0, 1]]
    assert clone(binarizer).fit(["x"]).get_feature_names_out().tolist() == ["dog", "cat"]


@pytest.mark.parametrize(
    ("parameters", "texts", "message"),
    [
        ({"n_words": 0}, ["a"], "'n_words'"),
        ({"vocabulary": ["a", "a"]}, ["a"], "'vocabulary'"),
        ({"vocabulary": []}, ["a"], "'vocabulary'"),
        ({"vocabulary": "abc"}, ["a"], "'vocabulary'"),
        ({}, "a text", "for one text"),
        ({}, 3, "sequence of texts"),
        ({}, ["a", None], "Got None at index 1"),
        ({}, [], "at least one text"),
        ({}, ["", "?!"], "no words"),
    ],
)
def test_words_refused(parameters: dict[str, Any], texts: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        WordBinarizer(**parameters).fit(texts)
