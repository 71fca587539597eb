"""Certificate: a claim and its proof, as text that ``tmcheck`` reads; see ``docs/certificates.md``."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tmcheck
from tmverify.atomic import replacing
from tmverify.errors import CertificateError
from tmverify.model import Classifier

IN_MEMORY = 1 << 22  # bytes; while it is checked, a longer certificate goes to a temporary file


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The part of a certificate about one input: a few lines, then refutations or shells (maybe long)."""

    lines: bytes
    refutations: Callable[[], Iterable[bytes]] = tuple


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """Evidence for one answer, tied to the models' content and to the exact claim.

    Attributes
    ----------
    claim : mapping
        The first line of the file: question, answer, models, region.
    bodies : sequence of Body
        What is proved about each input, in order.
    """

    claim: Mapping[str, object]
    bodies: Sequence[Body]

    def blocks(self) -> Iterator[bytes]:
        """The text of the file, piece by piece."""
        yield json.dumps(dict(self.claim), separators=(",", ":")).encode() + b"\n"
        for body in self.bodies:
            yield body.lines
            yield from body.refutations()
        yield b"end\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to ``path``: complete or not at all."""
        with replacing(path) as draft, open(draft, "wb") as file:
            file.writelines(self.blocks())

    def check(self, *models: Classifier) -> str:
        """Check the certificate against the models, as ``tmcheck`` does; return the claim in words.

        Raises
        ------
        CertificateError
            If the certificate does not prove its claim about these models.
        """
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            file.writelines(self.blocks())
            file.seek(0)
            try:
                return tmcheck.in_words(tmcheck.check(file, [model.encode() for model in models]))
            except (tmcheck.Refused, tmcheck.Unreadable) as reason:
                raise CertificateError(f"The certificate is refused: {reason}.") from None

    def __repr__(self) -> str:
        return f"<Certificate: {tmcheck.in_words(dict(self.claim))}>"
