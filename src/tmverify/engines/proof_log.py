"""The proof log: an engine writes its refutations into it, for a certificate.

A refutation says that some constraints of a Query can't hold together within a radius (and, where a question
about every input was split, inside a subcube). Its text is a series of steps that a checker follows; see
``docs/certificates.md``. Text beyond a few megabytes goes to a temporary file.
"""

from __future__ import annotations

import base64
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.properties.query import Query

IN_MEMORY = 1 << 22  # bytes
_BLOCK = 1 << 16
_LEVEL = 1  # of zlib: a higher level takes longer than the search and saves little

Literals = tuple[int, ...]


class Where(NamedTuple):
    """The part of the region that a refutation is about: a subcube, or where some columns keep their values.

    ``bits``: all combinations of bits, possible or not, which is more than the region.
    """

    inside: Literals = ()
    keep: tuple[int, ...] = ()
    bits: bool = False

    def proves(self, other: Where) -> bool:
        """Whether a refutation here is one there."""
        return self == other or (self.bits and other == EVERYWHERE)

    @property
    def words(self) -> tuple[str, ...]:
        """As the first line of a refutation says it."""
        if self.bits:
            return ("bits",)
        if self.inside:
            return (_listed(self.inside),)
        return ("keep", _listed(self.keep)) if self.keep else ()


EVERYWHERE = Where()


@dataclass(frozen=True, slots=True)
class Refutation:
    """Where a refutation is in the text, and what it says."""

    constraints: tuple[int, ...]
    radius: int
    where: Where
    start: int
    end: int
    needs: tuple[Refutation, ...] = ()
    """The refutations in subcubes that this one refers to."""


class ProofLog:
    """All refutations of a question so far."""

    no_proof = ""
    """Why a proof may be missing, if the reason is always the same."""

    def __init__(self, path: str | None = None) -> None:
        self.refutations: list[Refutation] = []
        self.preamble = b""
        """Steps before all refutations: they rewrite clauses for the refutations that are about ``bits``."""
        self._text: IO[bytes] = (
            tempfile.SpooledTemporaryFile(IN_MEMORY) if path is None else open(path, "w+b")  # noqa: SIM115
        )
        self._end = 0
        self._close = weakref.finalize(self, self._text.close)  # when no certificate refers to it any more

    def __enter__(self) -> ProofLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def adopt(self, path: str, refutations: Iterable[Refutation]) -> None:
        """Take over refutations that another process wrote to a file, if it wrote any."""
        written = list(refutations)
        if not written:
            return
        with open(path, "rb") as file:
            for theirs in written:
                file.seek(theirs.start)
                unit = int(file.readline().split()[3])  # we write the rest of the first line ourselves
                ours = self.draft(theirs.constraints, theirs.radius, theirs.where)
                ours.start(unit)
                while block := file.read(min(_BLOCK, theirs.end - file.tell())):
                    ours.block(block)
                ours.keep()

    def portion(self, constraints: Sequence[int], where: Where) -> ProofLog:
        """The log for a part of the question: some of its constraints, in a part of the region."""
        return _Portion(self, constraints, where)

    def draft(self, constraints: Sequence[int], radius: int, where: Where = EVERYWHERE) -> Draft:
        """A refutation to be written, one at a time; it counts only once it is finished (``keep``)."""
        return Draft(self, tuple(constraints), radius, where)

    def covers(self, case: Iterable[int], radius: int, where: Where = EVERYWHERE) -> Refutation | None:
        """The refutation of ``case`` within ``radius`` that uses the fewest constraints, or None."""
        asked = set(case)
        known = (
            r
            for r in self.refutations
            if r.radius >= radius and r.where.proves(where) and asked.issuperset(r.constraints)
        )
        return min(known, key=lambda r: (len(r.constraints), r.end - r.start), default=None)

    def proof_of(self, query: Any, radius: int) -> Proof | None:
        """The proof that there is no witness within ``radius``, or None if it is not complete."""
        refutations = self.refutations_of(query, radius)
        return None if refutations is None else Proof(self, refutations)

    def refutations_of(self, query: Any, radius: int) -> list[Refutation] | None:
        """Refutations of every case within ``radius``, and those they refer to; None if one is missing."""
        needed: dict[Refutation, None] = {}
        # Cases refuted by few constraints come first, because their refutations also cover other cases.
        known = {case: self.covers(case, radius) for case in query.cases}
        for case, refutation in sorted(
            known.items(), key=lambda item: len(item[1].constraints) if item[1] else 0
        ):
            if refutation is None:
                return None
            if not any(set(other.constraints).issubset(case) for other in needed if not other.where.inside):
                needed.update(dict.fromkeys((*refutation.needs, refutation)))
        # A checker can reuse its work on a subcube and a radius if their refutations come in a row.
        return sorted(needed, key=lambda r: (not r.where.inside, r.where.inside, r.radius))

    def left_open(self, query: Any, radius: int) -> Query | None:
        """The query with only the cases that are not refuted within ``radius``; None if all are."""
        cases = tuple(case for case in query.cases if self.covers(case, radius) is None)
        ball = replace(query.region, radius=radius)
        return replace(query, region=ball, cases=cases) if cases else None

    def text(self, refutation: Refutation) -> Iterator[bytes]:
        """The text of a refutation, in blocks."""
        at = refutation.start
        while at < refutation.end:
            self._text.seek(at)
            block = self._text.read(min(_BLOCK, refutation.end - at))
            at += len(block)
            yield block


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The text of some refutations, read from their log; pickling stores the text itself."""

    log: ProofLog
    refutations: list[Refutation]

    def __call__(self) -> Iterator[bytes]:
        yield self.log.preamble
        for refutation in self.refutations:
            yield from self.log.text(refutation)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial, (iter, (b"".join(self()),))


class _Portion(ProofLog):
    """The log of a part of a question, which writes into the log of the whole question."""

    def __init__(self, whole: ProofLog, constraints: Sequence[int], where: Where) -> None:
        self._whole, self._constraints, self._where = whole, constraints, where

    def draft(self, constraints: Sequence[int], radius: int, where: Where = EVERYWHERE) -> Draft:
        return self._whole.draft([self._constraints[c] for c in constraints], radius, self._where)

    def covers(self, case: Iterable[int], radius: int, where: Where = EVERYWHERE) -> Refutation | None:
        return self._whole.covers((self._constraints[c] for c in case), radius, self._where)


class Draft:
    """An unfinished refutation: steps are appended, then it is kept or given up."""

    def __init__(self, log: ProofLog, constraints: tuple[int, ...], radius: int, where: Where) -> None:
        self.log, self.constraints, self.radius, self.where = log, constraints, radius, where
        self._file = log._text
        self._start = self._end = 0

    def start(self, unit: int = 1) -> None:
        """Write the first line: what is refuted, and the unit of multipliers."""
        self._start = self._end = self.log._end
        self.step("refute", _listed(self.constraints), self.radius, unit, *self.where.words)

    def start_shell(self, how: str) -> None:
        """Write the first line about a shell of a network: how it is refuted."""
        self._start = self._end = self.log._end
        self.step("shell", self.radius, how)

    def step(self, *words: str | int) -> None:
        """Write one line."""
        self.block(" ".join(map(str, words)).encode() + b"\n")

    def block(self, text: bytes) -> None:
        """Write several lines."""
        self._file.seek(self._end)
        self._end += self._file.write(text)

    def keep(self, needs: tuple[Refutation, ...] = ()) -> None:
        """Add the finished refutation to the log."""
        self.log.refutations.append(
            Refutation(self.constraints, self.radius, self.where, self._start, self._end, needs)
        )
        self.log._end = self._end


def packed_step(word: str, numbers: bytes) -> bytes:
    """A line with packed numbers, compressed and in base64."""
    return word.encode() + b" " + base64.b64encode(zlib.compress(numbers, _LEVEL)) + b"\n"


def packed_numbers(numbers: Sequence[int] | NDArray[np.int64]) -> bytes:
    """Numbers as bytes, 7 bits in each, lowest first; the last byte of a number is below 128."""
    out = bytearray()
    for number in numbers:
        value = int(number)
        while value >= 128:
            out.append(value % 128 + 128)
            value //= 128
        out.append(value)
    return bytes(out)


def _listed(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
