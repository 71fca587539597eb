"""The certificates of a run: written as the answers come, and what is said about them at the end.

An answer whose certificate can't be written is an answer all the same: it is reported, without one, and the
run ends with the error.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from rich.text import Text

from tmverify.atomic import make_folder
from tmverify.cli.output import plain
from tmverify.engines import check_certifying
from tmverify.errors import InvalidInputError
from tmverify.properties import Radius, UniversalVerdict, Verdict
from tmverify.verify.proof import NO_CERTIFICATE

Answer = TypeVar("Answer", bound=Verdict | UniversalVerdict | Radius)


@dataclass(frozen=True, slots=True)
class Kept:
    """What an answer rests on, and the file of its certificate; ``reason``: why there is none."""

    trusts: tuple[str, ...] = ()
    path: Path | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"certificate": None if self.path is None else str(self.path), "trusts": list(self.trusts)}


@dataclass(slots=True)
class Certificates:
    """The folder of ``--certificate``, or None; the model files; what was kept so far."""

    folder: Path | None
    models: Sequence[Path]
    kept: list[Kept] = field(default_factory=list)
    failure: OSError | None = None

    @property
    def wanted(self) -> bool:
        return self.folder is not None

    def keep(self, answer: Verdict | UniversalVerdict | Radius, name: str) -> Kept:
        """Write the certificate of ``answer``, if it is wanted and there is one."""
        kept = self._keep(answer, name)
        self.kept.append(kept)
        return kept

    def _keep(self, answer: Verdict | UniversalVerdict | Radius, name: str) -> Kept:
        if self.folder is None:
            return Kept(answer.trusts)
        if answer.certificate is None:
            return Kept(answer.trusts, reason=why_none(answer))
        path = self.folder / name
        try:
            answer.certificate.save(path)
        except OSError as error:
            self.failure = self.failure or error
            return Kept(uncertified(answer).trusts, reason=f"{path}: {error.strerror or error}")
        return Kept(answer.trusts, path)

    def lines(self) -> list[Text]:
        """Where the certificates are and how to check them; why there are fewer than answers."""
        if self.folder is None:
            return []
        paths = [kept.path for kept in self.kept if kept.path is not None]
        lines = []
        if len(self.kept) == 1 and paths:
            lines = [f"certificate: {paths[0]}", f"  check it: {self._command(paths[0])}"]
        elif paths:
            lines = [f"certificates: {len(paths)} written to {self.folder}"]
            lines.append(f"  check one: {self._command(paths[0])}")
        elif not self.kept:
            lines = [f"{NO_CERTIFICATE}interrupted before one was written"]
        return [Text(plain(line)) for line in [*lines, *self._lacking()]]

    def _lacking(self) -> list[str]:
        """A line for each reason why an answer has no certificate."""
        reasons = Counter(kept.reason for kept in self.kept if kept.path is None)
        if len(self.kept) == 1:
            return [f"{NO_CERTIFICATE}{reason}" for reason in reasons]
        asked = len(self.kept)
        return [f"no certificate for {n} of {asked} answers: {why}" for why, n in reasons.most_common()]

    def _command(self, path: Path) -> str:
        return shlex.join(["tmverify", "certify", str(path), *map(str, self.models)])

    def raise_failure(self) -> None:
        """Raise what stood in the way of writing, if anything did."""
        if self.failure is not None:
            raise self.failure


def check_wanted(folder: Path | None, engine: str) -> None:
    """Raise InvalidInputError if certificates are wanted and this engine writes none, or not there."""
    if folder is None:
        return
    check_certifying(engine)
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"--certificate {folder}: not a folder; give the name of one, or a new name.")


def open_folder(folder: Path | None, models: Sequence[Path]) -> Certificates:
    """Where certificates go, made if needed."""
    if folder is not None:
        try:
            make_folder(folder)
        except OSError as error:
            raise InvalidInputError(
                f"--certificate {folder}: no files can be written there ({error.strerror or error}); "
                "choose another folder."
            ) from None
    return Certificates(folder, models)


def uncertified(answer: Answer) -> Answer:
    """The answer without its certificate, which may hold much memory, and a file open."""
    return replace(answer, certificate=None)


def why_none(answer: Verdict | UniversalVerdict | Radius) -> str:
    """Why an answer has no certificate although one was wanted."""
    if answer.detail.startswith(NO_CERTIFICATE):
        return answer.detail.removeprefix(NO_CERTIFICATE)
    if isinstance(answer, Radius):
        return "the radius is not exact, and bounds have none"
    return "unknown claims nothing that could be proved"
