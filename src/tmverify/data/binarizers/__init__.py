"""From numbers, images, words and tables to bits: scikit-learn transformers, one idea per file.

::

    ThresholdBinarizer          bit = value > a fixed number
    AdaptiveGaussianBinarizer   bit = pixel > Gaussian mean of its neighbourhood - offset
    ThermometerBinarizer        bits = value > cut, for cuts learnt per column
    WordBinarizer               bit = the text contains the word
    TableBinarizer              columns of numbers, Booleans and categories, each by its own rule

Importing this package imports scikit-learn; ``tmverify.data`` does that at the first use of a name from here.
"""

from tmverify.data.binarizers.adaptive_gaussian import AdaptiveGaussianBinarizer
from tmverify.data.binarizers.table import TableBinarizer
from tmverify.data.binarizers.thermometer import ThermometerBinarizer
from tmverify.data.binarizers.threshold import ThresholdBinarizer
from tmverify.data.binarizers.words import WordBinarizer

__all__ = [
    "AdaptiveGaussianBinarizer",
    "TableBinarizer",
    "ThermometerBinarizer",
    "ThresholdBinarizer",
    "WordBinarizer",
]
