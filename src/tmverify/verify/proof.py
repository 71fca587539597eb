"""From a proof log to the text of a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tmverify.engines.proof_log import ProofLog, Refutation
from tmverify.properties.query import AnyQuery

Text = Callable[[], Iterator[bytes]]
NO_CERTIFICATE = "no certificate: "  # how the detail of an answer begins that is right, but without evidence


def proof_of(query: AnyQuery, radius: int, log: ProofLog) -> Text | None:
    """The proof that there is no witness within ``radius``, or None if it is not complete."""
    refutations = log.proof_of(query, radius)
    return None if refutations is None else Proof(log, refutations)


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The text of some refutations, from where the engine wrote it; a pickle has the text itself."""

    log: ProofLog
    refutations: list[Refutation]

    def __call__(self) -> Iterator[bytes]:
        yield self.log.preamble
        for refutation in self.refutations:
            yield from self.log.text(refutation)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptProof, (b"".join(self()),)


@dataclass(frozen=True, slots=True)
class KeptProof:
    """A proof as plain bytes."""

    text: bytes

    def __call__(self) -> Iterator[bytes]:
        yield self.text
