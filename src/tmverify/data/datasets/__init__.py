"""Named datasets, read from files and never from pickles, as bits or raw.

::

    dataset       load_dataset: name + options -> Raw -> binarizer -> Dataset
    mnist         MNIST, Fashion-MNIST and MNIST-C: files or OpenML
    imdb          movie reviews: two tab-separated files or the aclImdb folder
    sources       a loader's request, where the files are, and what it returns
    binary_files  idx and npy files, plain or compressed
"""

from tmverify.data.datasets.dataset import Dataset, load_dataset
from tmverify.data.datasets.mnist import MNIST_C_CORRUPTIONS

__all__ = ["MNIST_C_CORRUPTIONS", "Dataset", "load_dataset"]
