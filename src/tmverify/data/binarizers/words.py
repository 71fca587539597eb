"""Bag of words as bits: bit j of a text is 1 iff the text contains word j.

``space.text.split_words`` says what a word is. Words are ranked by how often they occur in all training
texts; words with equal counts are in alphabetical order, so that the order of the texts does not matter.

scikit-learn's CountVectorizer does the counting. Its ``max_features`` is not suitable here: with
``binary=True`` it ranks by the number of texts a word occurs in, and it breaks ties arbitrarily.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from tmverify.data.binarizers.base import Binarizer
from tmverify.errors import InvalidInputError, shown
from tmverify.estimators.parameters import check_integer, wrong_parameter
from tmverify.space import Space, Text
from tmverify.space.text import split_words


class WordBinarizer(Binarizer):
    """Presence of the ``n_words`` most frequent words, as a sparse matrix of bits.

    Parameters
    ----------
    n_words : int, default 5000
        How many words to keep; all of them if the texts have fewer.
    vocabulary : sequence of str or None, default None
        The words and their order, instead of learning them; ``n_words`` is then not used.
    name : str or None, default None
        What the text is called, such as the column of a table that it comes from. None: the name of the
        series that fit gets, or "text".

    Attributes
    ----------
    space_ : Space
        A text.
    vocabulary_ : object array of str
        Word of each bit, most frequent first.
    name_ : str
        What the text is called.

    Examples
    --------
    >>> from tmverify.data import WordBinarizer
    >>> binarizer = WordBinarizer(n_words=2)
    >>> binarizer.fit_transform(["Good, good film!", "A bad film"]).toarray()
    array([[1, 1],
           [1, 0]], dtype=uint8)
    >>> binarizer.get_feature_names_out().tolist()
    ['film', 'good']
    """

    def __init__(
        self, n_words: int = 5000, vocabulary: Sequence[str] | None = None, name: str | None = None
    ) -> None:
        self.n_words = n_words
        self.vocabulary = vocabulary
        self.name = name

    def fit(self, X: Iterable[str], y: Any = None) -> WordBinarizer:
        """Learn which words are the most frequent.

        Parameters
        ----------
        X : sequence of str
            The texts.
        y : ignored

        Raises
        ------
        InvalidInputError
            If X is not a sequence of str, or has no words.
        """
        self._learn_words(_texts(X), getattr(X, "name", None))
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> Any:
        """Learn the words and return the bits, reading the texts only once."""
        texts = _texts(X)
        learnt = self._learn_words(texts, getattr(X, "name", None))
        return self._bits_of(texts) if learnt is None else learnt

    def transform(self, X: Iterable[str]) -> Any:
        """The bits of each text, a scipy CSR matrix of uint8, (n, n_words); other words are ignored."""
        check_is_fitted(self, "vocabulary_")
        return self._bits_of(_texts(X))

    def _make_space(self, names: list[str]) -> Space:
        return Space([Text(tuple(self.vocabulary_), self.name_)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The words."""
        check_is_fitted(self, "space_")
        return self.vocabulary_.copy()

    def _learn_words(self, texts: list[str], series_name: object) -> Any:
        """Set ``vocabulary_``. Returns the bits of ``texts`` if they were counted for that, else None."""
        n_words = check_integer(self, "n_words", 1)
        named = isinstance(series_name, str) and bool(series_name.strip())
        self.name_ = self.name if self.name is not None else str(series_name) if named else "text"
        if self.vocabulary is not None:
            self.vocabulary_ = self._given_words()
            self._learn(())
            return None
        self.vocabulary_, bits = frequent_words(texts, n_words)
        self._learn(())
        return bits

    def _bits_of(self, texts: list[str]) -> Any:
        columns = {word: j for j, word in enumerate(self.vocabulary_)}
        counter = CountVectorizer(analyzer=split_words, vocabulary=columns, binary=True, dtype=np.uint8)
        return counter.transform(texts)

    def _given_words(self) -> NDArray[Any]:
        words = [] if isinstance(self.vocabulary, str) else list(self.vocabulary or ())
        if not words or not all(isinstance(word, str) for word in words) or len(set(words)) != len(words):
            raise wrong_parameter(self, "vocabulary", "None or distinct words, at least one")
        return np.array(words, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def frequent_words(texts: list[str], n_words: int) -> tuple[NDArray[Any], Any]:
    """The most frequent words of all texts, and which texts contain them, as a CSR matrix of uint8."""
    counter = CountVectorizer(analyzer=split_words)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:
        raise InvalidInputError("X has no words: every text is empty or nothing but marks.") from None
    totals = np.asarray(counts.sum(axis=0)).ravel()
    kept = np.argsort(-totals, kind="stable")[:n_words]  # stable: the columns come in alphabetical order
    bits = counts[:, kept].astype(np.uint8)
    bits.data.fill(1)
    bits.sort_indices()
    return counter.get_feature_names_out()[kept], bits


def _texts(X: Iterable[str]) -> list[str]:
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise InvalidInputError(
            f"X must be a sequence of texts (str). Got {shown(X)} instead; for one text, pass [text]."
        )
    if hasattr(X, "columns"):
        raise InvalidInputError("X must be a sequence of texts (str). Got a table; pass its column of texts.")
    texts = list(X)
    wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
    if wrong is not None:
        raise InvalidInputError(
            f"X must be a sequence of texts (str). Got {shown(texts[wrong])} at index {wrong} instead."
        )
    if not texts:
        raise InvalidInputError("X must hold at least one text. Got none.")
    return texts
