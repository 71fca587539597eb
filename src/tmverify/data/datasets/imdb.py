"""The Large Movie Review Dataset (Maas et al. 2011): 25,000 + 25,000 reviews, 1 positive and 0 negative.

Two layouts, in the same order (positive reviews by file number, then negative ones):

- ``imdb/imdb_train.tsv.xz`` and ``imdb/imdb_test.tsv.xz``: UTF-8, one review a line, fields label, rating,
  number of the original file and text. Lines end at newline only and fields at the first three tabs only,
  since reviews contain other line separators and tabs;
- the folder ``aclImdb`` of the original archive, with ``{train,test}/{pos,neg}/<number>_<rating>.txt``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets.binary_files import opened
from tmverify.data.datasets.sources import Layout, Raw, Request, find_files
from tmverify.errors import DataFormatError

_PARTS = ("train", "test")
_LAYOUTS = (
    Layout(Path("imdb"), tuple(f"imdb_{part}.tsv" for part in _PARTS), (".xz", ".gz", "")),
    Layout(Path("aclImdb"), tuple(f"{part}/{label}" for part in _PARTS for label in ("pos", "neg"))),
)
_REMEDY = "Get aclImdb_v1.tar.gz at https://ai.stanford.edu/~amaas/data/sentiment/ and unpack it in data_dir."
Reviews = tuple[list[str], NDArray[np.int64]]


def load_imdb(request: Request) -> Raw:
    """The reviews as texts, training and test."""
    paths = find_files("IMDB", request.folder, _LAYOUTS, _REMEDY)
    if len(paths) == 2:
        train, test = _read_tsv(paths[0]), _read_tsv(paths[1])
    else:
        train, test = _read_folders(*paths[:2]), _read_folders(*paths[2:])
    return Raw(*train, *test, None)


def _read_tsv(file: Path) -> Reviews:
    lines = _text(file).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise DataFormatError(f"{file}: the file is empty; expected one review a line.")
    texts, labels = [], np.empty(len(lines), np.int64)
    for i, line in enumerate(lines):
        fields = line.split("\t", 3)
        if len(fields) != 4 or fields[0] not in ("0", "1"):
            raise DataFormatError(
                f"{file}, line {i + 1}: expected label (0 or 1), rating, number and text, separated by tabs. "
                f"Found {line[:40]!r}."
            )
        labels[i] = fields[0] == "1"
        texts.append(fields[3])
    return texts, labels


def _read_folders(positive: Path, negative: Path) -> Reviews:
    good, bad = _reviews_in(positive), _reviews_in(negative)
    return good + bad, np.repeat(np.array([1, 0], np.int64), [len(good), len(bad)])


def _reviews_in(folder: Path) -> list[str]:
    # Shorter numbers first, then by digits: this is numerical order.
    files = sorted(folder.glob("*.txt"), key=lambda file: (len(file.stem.partition("_")[0]), file.name))
    if not files:
        raise DataFormatError(f"{folder}: no reviews (*.txt) found. {_REMEDY}")
    return [_text(file) for file in files]


def _text(file: Path) -> str:
    try:
        with opened(file) as stream:
            return stream.read().decode("utf-8")
    except UnicodeDecodeError:
        raise DataFormatError(f"{file}: not a text in UTF-8; get it again.") from None
