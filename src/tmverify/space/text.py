"""Texts: for each known word, whether the text contains it."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import ModelError, shown
from tmverify.space.checks import (
    check_distinct,
    check_name,
    texts_in,
    wrong_value,
)
from tmverify.space.parts import Part
from tmverify.space.values import is_missing

_SEPARATORS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n\r'
_LETTERS = string.ascii_uppercase
_TABLE = str.maketrans(_LETTERS + _SEPARATORS, _LETTERS.lower() + " " * len(_SEPARATORS))


def split_words(text: str) -> list[str]:
    """The words of a text, in order.

    They are separated by spaces, after ASCII letters are lowercased and each of
    ``!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~``, tab and line end is replaced by a space; the apostrophe stays. This
    is the rule behind Keras' IMDB word index. Other marks and capital letters stay as they are.
    """
    return [word for word in text.translate(_TABLE).split(" ") if word]


def words_in_place(text: str) -> list[tuple[str, int]]:
    """The words of ``split_words``, each with the index of its first character in the text."""
    return [(found[0], found.start()) for found in re.finditer("[^ ]+", text.translate(_TABLE))]


@dataclass(frozen=True)
class Text(Part):
    """A text: for each known word, whether the text contains it. Other words are not seen.

    Parameters
    ----------
    words : texts
        The word of each bit, as ``split_words`` gives it: lowercase, without marks.
    name : str, default "text"
        What the text is called in a row of several columns.
    """

    kind: ClassVar[str] = "text"

    words: Sequence[str]
    name: str = "text"

    def __post_init__(self) -> None:
        check_name(self.name)
        words = texts_in(self.words, "words")
        if not words:
            raise ModelError("A text must have at least one word. Got none.")
        check_distinct(words, "The words of a text")
        for word in words:
            if split_words(word) != [word]:
                raise ModelError(
                    f"A word must be one that texts are cut into: lowercase, without spaces and marks. "
                    f"Got {shown(word)} instead."
                )
        object.__setattr__(self, "words", words)

    @property
    def n_bits(self) -> int:
        return len(self.words)

    @property
    def bit_names(self) -> tuple[str, ...]:
        return tuple(self.words)

    @cached_property
    def places(self) -> dict[str, int]:
        """The bit of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def encode(self, values: Any, rows: Sequence[str] | None = None) -> NDArray[np.uint8]:
        texts = list(values)
        bits = np.zeros((len(texts), self.n_bits), np.uint8)
        places = self.places
        for i, text in enumerate(texts):
            if isinstance(text, tuple | list) and _are_words(text):
                text = " ".join(text)  # the words of ``decode``
            if not isinstance(text, str):
                if is_missing(text):
                    continue  # a text that is not there has no words
                raise wrong_value(self.name, text, i, rows, "must be a text")
            bits[i, [places[word] for word in set(split_words(text)) if word in places]] = 1
        return bits

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "words": list(self.words)}


def _are_words(texts: Sequence[Any]) -> bool:
    """Whether these are single words, as ``decode`` gives them, or one text; several texts are neither."""
    if not all(isinstance(text, str) for text in texts):
        return False
    return len(texts) == 1 or all(split_words(text) == [text] for text in texts)
