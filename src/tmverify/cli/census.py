"""A census: one question about a set of inputs as a whole, and the answers so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from tmverify.cli.certificates import Certificates, Kept
from tmverify.cli.records import Record
from tmverify.cli.subject import Subject
from tmverify.properties import Status, UniversalVerdict
from tmverify.properties.universal import required_count
from tmverify.verify import check_universal_robustness, check_universal_similarity


@dataclass(frozen=True, slots=True)
class UniversalQuestion:
    """A question about a set of inputs: its name, what an input is that counts, and who decides it."""

    name: str
    adjective: str
    check: Callable[..., UniversalVerdict]


ROBUSTNESS = UniversalQuestion("universal-robustness", "robust", check_universal_robustness)
SIMILARITY = UniversalQuestion("universal-similarity", "similar", check_universal_similarity)


@dataclass(slots=True, kw_only=True)
class Census:
    """What was asked, the answers so far, and the outcome unless Ctrl-C came first.

    The one certificate is of the outcome; an input's own answer has none.
    """

    question: UniversalQuestion
    subject: Subject
    epsilon: int
    eta: Fraction
    engine: str
    timeout: float | None
    timeout_per_input: float | None
    certificates: Certificates
    records: list[Record] = field(default_factory=list)
    outcome: UniversalVerdict | None = None
    kept: Kept = field(default_factory=Kept)
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        return Status.UNKNOWN if self.outcome is None else self.outcome.status

    @property
    def required(self) -> int:
        """The least number of inputs on which it must hold."""
        return required_count(self.eta, len(self.subject.rows))

    def count(self, status: Status) -> int:
        return sum(record.verdict.status is status for record in self.records)
