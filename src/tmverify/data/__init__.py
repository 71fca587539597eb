"""Inputs from files, named datasets, and transformers that turn data into bits.

scikit-learn is imported at the first use of a binarizer, not before.
"""

from typing import TYPE_CHECKING

from tmverify.data.datasets import MNIST_C_CORRUPTIONS, Dataset, load_dataset
from tmverify.data.files import match_labels
from tmverify.data.inputs import Inputs, load_inputs, save_inputs
from tmverify.data.kept_rows import save_rows
from tmverify.data.tables import Table, load_table, split_table
from tmverify.lazy import names_at_first_use

if TYPE_CHECKING:
    from tmverify.data.binarizers import (
        AdaptiveGaussianBinarizer,
        TableBinarizer,
        ThermometerBinarizer,
        ThresholdBinarizer,
        WordBinarizer,
    )

__all__ = [
    "MNIST_C_CORRUPTIONS",
    "AdaptiveGaussianBinarizer",
    "Dataset",
    "Inputs",
    "Table",
    "TableBinarizer",
    "ThermometerBinarizer",
    "ThresholdBinarizer",
    "WordBinarizer",
    "load_dataset",
    "load_inputs",
    "load_table",
    "match_labels",
    "save_inputs",
    "save_rows",
    "split_table",
]

_BINARIZERS = "AdaptiveGaussianBinarizer TableBinarizer ThermometerBinarizer ThresholdBinarizer WordBinarizer"
_, __getattr__ = names_at_first_use(__name__, {"binarizers": _BINARIZERS})
