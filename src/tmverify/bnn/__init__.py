"""Binarized neural networks, for comparison: training (``BnnClassifier``), frozen form (``BnnModel``), files.

``check_robustness``, ``robustness_radius`` and ``check_universal_robustness`` accept a ``BnnModel`` as well
as a ``Model``. Only training needs PyTorch (``pip install 'tmverify[bnn]'``), which is imported at first use.
"""

from typing import TYPE_CHECKING

from tmverify.bnn.file import load_bnn
from tmverify.bnn.folding import BatchNorm, fold_block, fold_output, fold_pixels
from tmverify.bnn.model import BnnModel, Layer, PixelCuts
from tmverify.bnn.query import NetworkQuery
from tmverify.lazy import names_at_first_use

if TYPE_CHECKING:
    from tmverify.bnn.training import BnnClassifier

__all__ = [
    "BatchNorm",
    "BnnClassifier",
    "BnnModel",
    "Layer",
    "NetworkQuery",
    "PixelCuts",
    "fold_block",
    "fold_output",
    "fold_pixels",
    "load_bnn",
]

_, __getattr__ = names_at_first_use(__name__, {"training": "BnnClassifier"})
