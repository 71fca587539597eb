"""Evidence: the certificate of one answer, as a file that ``tmcheck`` reads."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from hashlib import sha256

from tmverify.certificates import Certificate
from tmverify.errors import CertificateError, InvalidInputError
from tmverify.studio import live
from tmverify.studio.asked import Proof
from tmverify.studio.opened import Opened, OpenModel
from tmverify.verify import nearest

_MOST_BYTES = 1 << 28


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A certificate: the name of its file, its content, and the command that checks it."""

    name: str
    content: bytes
    command: str


def evidence_of(opened: Opened, asked: Proof) -> Evidence:
    """Ask again, with evidence.

    Raises
    ------
    CertificateError
        If there is none; the message says why.
    """
    models = opened.models if asked.what == "disagree" else (opened.models[asked.model],)
    if asked.what == "disagree" and len(models) != 2:
        raise InvalidInputError("Only two models disagree: start the studio with a second one.")
    impossible = live.impossible_text(opened, asked.point)
    if impossible:
        raise CertificateError(impossible)
    for each in models:
        if not each.certifiable:
            raise CertificateError(
                f"{each.file} does not say which of its bits are one column, so nothing that is proved about "
                "columns can be checked with it alone. Train it on the columns of the other, with tmverify "
                "train --like."
            )
    found, why = _asked(opened, asked, models)
    if found is None:
        raise CertificateError(f"There is no certificate: {why}.")
    return _file(asked.what, found, models)


def _asked(opened: Opened, asked: Proof, models: tuple[OpenModel, ...]) -> tuple[Certificate | None, str]:
    """The certificate; or why there is none."""
    if asked.what == "reason":
        reason = live.reason_at(asked.point, models[0].model, certificate=True, tell=lambda event: None)
        return reason.certificate, live.why_open(reason)
    query = (
        live.radius_query(asked.point, models[0].model)
        if asked.what == "radius"
        else live.disagreement_query(opened.space, asked.point, models[0].model, models[1].model)
    )
    radius = nearest(query, timeout=live.SECONDS, certificate=True)
    if not radius.exact:
        return None, f"the distance is not known exactly ({live.why_open(radius)})"
    made = radius.certificate
    return (made if isinstance(made, Certificate) else None), radius.detail


def _file(what: str, certificate: Certificate, models: tuple[OpenModel, ...]) -> Evidence:
    pieces, size = [], 0
    for block in certificate.blocks():
        size += len(block)
        if size > _MOST_BYTES:
            raise CertificateError(
                f"The certificate is longer than {_MOST_BYTES >> 20} MiB. The commands write longer ones: "
                "tmverify radius --certificate."
            )
        pieces.append(block)
    content = b"".join(pieces)
    name = f"{what}-{sha256(content).hexdigest()[:16]}.tmcert"
    return Evidence(name, content, shlex.join(["tmcheck", name, *map(_path, models)]))


def _path(model: OpenModel) -> str:
    """What to write for a model's file: never an option; in words where two files are called the same."""
    if model.which:
        return f"{model.which.upper()}/{model.file}"
    return f"./{model.file}" if model.file.startswith("-") else model.file
