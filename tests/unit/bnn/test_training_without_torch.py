"""Without PyTorch everything but training a network works; training says what to install."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from tmverify.bnn import BnnClassifier
from tmverify.errors import InvalidInputError, MissingExtraError

BITS = np.array([[0, 1], [1, 0], [1, 1]], np.uint8)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed here")
def test_fit_names_the_extra() -> None:
    clf = BnnClassifier()
    with pytest.raises(MissingExtraError, match=r"training a binarized network .*tmverify\[bnn\]"):
        clf.fit(BITS, [0, 1, 1])
    assert not hasattr(clf, "model_")


def test_wrong_data_are_told_before_pytorch_is_missed() -> None:
    with pytest.raises(InvalidInputError, match="only 0 and 1"):
        BnnClassifier().fit(BITS + 1, [0, 1, 1])
