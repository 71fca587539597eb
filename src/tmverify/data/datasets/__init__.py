"""Named datasets, read from files and never from pickles, as bits or raw.

::

    loading    load_dataset: name + options -> Raw -> binarizer -> Dataset
    digits     scikit-learn's digits, which need no files
    mnist      MNIST and Fashion-MNIST: idx files or OpenML
    mnist_c    MNIST test images under 15 corruptions
    imdb       movie reviews: two tab-separated files or the aclImdb folder
    folders    where data lie, and what to say if they do not
    request    what a loader is asked for and hands back
"""

from tmverify.data.datasets.loading import Dataset, load_dataset
from tmverify.data.datasets.mnist_c import MNIST_C_CORRUPTIONS

__all__ = ["MNIST_C_CORRUPTIONS", "Dataset", "load_dataset"]
