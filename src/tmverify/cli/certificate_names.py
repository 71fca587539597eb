"""What the files of ``--certificate`` are called.

A name says the question, the input by its index in the data file, and epsilon; then whatever narrows the
question, only where it does: the class whose machine it is about, the direction, the features. So two
different questions about the same models and data never share a name, on any file system: names differ in
more than the case of their letters.
"""

from __future__ import annotations

import re
from fractions import Fraction
from hashlib import sha256

from tmverify.campaign.scopes import TEAM
from tmverify.cli.subject import Subject
from tmverify.model import Label

SUFFIX = ".tmcert"

_DIGEST_CHARS = 8
_MAX_CHARS = 40
_PLAIN_NUMBER = re.compile(r"[0-9]{1,20}")
_PLAIN_WORD = re.compile(rf"[a-z_][a-z0-9_]{{0,{_MAX_CHARS - 1}}}")


def name_for_input(question: str, subject: Subject, place: int, epsilon: int | None = None) -> str:
    """For the input at ``place``: ``robustness-0007-eps3.tmcert``, ``radius-0007-class-3-add.tmcert``."""
    within = "" if epsilon is None else f"-eps{epsilon}"
    return f"{question}-{subject.rows[place]:04d}{within}{_narrowed(subject, subject.scopes[place])}{SUFFIX}"


def name_for_all(question: str, subject: Subject, epsilon: int, eta: Fraction) -> str:
    """For a set of inputs: ``universal-robustness-eps3-eta9of10-n200-seed0.tmcert``."""
    wanted = subject.wanted
    drawn = "" if wanted.n is None else f"-n{wanted.n}-seed{wanted.seed}"
    share = f"-eta{eta.numerator}of{eta.denominator}"
    return f"{question}-eps{epsilon}{share}{drawn}{_narrowed(subject, subject.scopes[0])}{SUFFIX}"


def name_for_everywhere(question: str, scope: Label) -> str:
    """For every input: ``equivalence.tmcert``, ``equivalence-class-3.tmcert``."""
    return f"{question}{_of_scope(scope)}{SUFFIX}"


def _narrowed(subject: Subject, scope: Label) -> str:
    direction = "" if subject.direction is None else f"-{subject.direction}"
    features = "" if subject.features is None else f"-features-{_digest(subject.features.tobytes())}"
    return f"{_of_scope(scope)}{direction}{features}"


def _of_scope(scope: Label) -> str:
    """The class, if it may stand in a file name as it is; else what may, and a digest of the whole."""
    if scope == TEAM:
        return ""
    text = str(scope)
    harmless = (_PLAIN_NUMBER if isinstance(scope, int) else _PLAIN_WORD).fullmatch(text)
    if harmless:
        return f"-class-{text}"
    cleaned = re.sub(r"[^A-Za-z0-9_]", "_", text[:_MAX_CHARS])
    return f"-class-{cleaned}-{_digest(repr(scope).encode())}"


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGEST_CHARS]
