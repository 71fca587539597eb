"""The lines of a certificate, one at a time, each with one spelling and of bounded length."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from tmcheck import limits
from tmcheck.errors import Unreadable

_ZEROS_AND_ONES = bytes.maketrans(b"01", b"\0\1")


class Reader:
    """The lines of a certificate, one at a time, of bounded length.

    Whatever is read has one spelling: it is written again and compared. What a line lists is counted before
    a list is made of it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.number = file, 0
        self.line = self.word = self.rest = ""

    def wrong(self, what: str) -> Unreadable:
        return Unreadable(f"line {self.number} {what}")

    def raw(self, longest: int = limits.LONGEST_LINE) -> bytes:
        line = self.file.readline(longest)
        self.number += 1
        if not line.endswith(b"\n"):
            if len(line) == longest:
                raise self.wrong("is too long")
            raise Unreadable(f"the certificate ends in or before line {self.number}")
        return line[:-1]

    def text(self) -> str:
        """The next line."""
        try:
            return self.raw().decode("ascii")
        except UnicodeDecodeError:
            raise self.wrong("is not plain text") from None

    def next(self) -> None:
        """The next line is now ``line``; its first ``word`` and the ``rest`` are separated by a space."""
        self.line = self.text()
        self.word, _, self.rest = self.line.partition(" ")

    def numbers(self, text: str, separator: str = " ") -> list[int]:
        """The integers that a text lists."""
        if text.count(separator) >= limits.MOST_NUMBERS:
            raise self.wrong(f"lists more than {limits.MOST_NUMBERS} numbers")
        words = text.split(separator)
        longest = max(map(len, words))
        if longest > limits.LONGEST_NUMBER:  # not for int(), which takes long for many digits
            raise self.wrong("has a number that is too large, or no number")
        try:
            values = list(map(int, words))
        except ValueError:
            raise self.wrong("has no numbers where there should be") from None
        if separator.join(map(str, values)) != text:
            raise self.wrong("has a number in another spelling than the plain one, such as 01, +1 or -0")
        if longest > 18 and max(map(abs, values)) >= limits.LARGEST_NUMBER:
            raise self.wrong("has a number that is too large")
        return values

    def naturals(self, text: str, separator: str = " ") -> list[int]:
        """The integers that a text lists, none of them negative."""
        values = self.numbers(text, separator)
        if min(values) < 0:
            raise self.wrong("has negative numbers")
        return values

    def natural(self, text: str) -> int:
        """A text that is one integer, not negative."""
        values = self.naturals(text)
        if len(values) != 1:
            raise self.wrong("has several numbers where one is expected")
        return values[0]

    def long_list(self, text: str, start: int, end: int) -> Iterator[int]:
        """The integers that a part of a text lists, however many, some at a time."""
        while (cut := text.find(" ", start + limits.MOST_NUMBERS, end)) >= 0:
            yield from self.numbers(text[start:cut])
            start = cut + 1
        yield from self.numbers(text[start:end])

    def packed(self, word: str, most: int) -> Iterator[int]:
        """Numbers in base64 of zlib of 7 bits a byte, lowest first; a number ends with a byte below 128.

        There are no more than ``most`` bytes of them.
        """
        unpack = zlib.decompressobj()
        try:
            zipped = base64.b64decode(word, validate=True) if len(word) <= 2 * most + 100 else b""
            data = unpack.decompress(zipped, most)
        except (ValueError, binascii.Error, zlib.error):
            raise self.wrong("is not packed as it should be") from None
        whole = unpack.eof and not unpack.unused_data and (not data or data[-1] < 128)
        if not whole or base64.b64encode(zipped).decode() != word:
            raise self.wrong("is not packed as it should be")
        value = shift = 0
        for byte in data:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                if shift > 7 and (not byte or value >= limits.LARGEST_NUMBER):
                    raise self.wrong("has a packed number that is too large, or ends in zeros")
                yield value
                value = shift = 0
            elif shift > 63:
                raise self.wrong("has a packed number that is too large")

    def pairs(self, word: str, most: int) -> list[tuple[int, int]]:
        """Packed numbers, two by two, at most so many pairs."""
        values = list(islice(self.packed(word, 20 * (most + 1)), 2 * most + 1))
        if len(values) % 2 or len(values) > 2 * most:
            raise self.wrong("has half a pair, or too many")
        return list(zip(values[::2], values[1::2], strict=True))

    def bits(self, word: Any, n: int) -> bytes:
        """An input in hexadecimal, feature 0 first, as a byte for each feature: 0 or 1."""
        if type(word) is not str or len(word) != 2 * ((n + 7) // 8):
            raise self.wrong(f"has no input of {n} features where there should be")
        try:
            data = bytes.fromhex(word)
        except ValueError:
            data = b""
        if data.hex() != word:
            raise self.wrong("has an input that is not in hexadecimal, in lower case")
        value, unused = int.from_bytes(data, "big"), -n % 8
        if value & ((1 << unused) - 1):
            raise self.wrong("has an input that is too long")
        return f"{value >> unused:0{n}b}".encode().translate(_ZEROS_AND_ONES)
