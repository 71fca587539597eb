"""The 1,797 handwritten digits of scikit-learn, 8 x 8 pixels of grey levels 0..16; they need no files.

The split is fixed: a quarter of each class, 450 digits, for testing. As bits, pixel > 5.5: in
cross-validation on the 1,347 training digits Tsetlin machines did equally well, within the noise, from 5.5
to 7.5.
"""

from __future__ import annotations

import numpy as np

from tmverify.data.datasets.request import Raw, Request

THRESHOLD = 5.5


def load_digits(request: Request) -> Raw:
    """The digits, training and test."""
    from sklearn.datasets import load_digits as bundled
    from sklearn.model_selection import train_test_split

    images, labels = bundled(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        images.astype(np.uint8), labels.astype(np.int64), test_size=0.25, stratify=labels, random_state=0
    )
    return Raw(X_train, y_train, X_test, y_test, (8, 8))
