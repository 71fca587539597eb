"""A survey: one question about many inputs at several epsilons, and the answers so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tmverify.cli.certificates import Certificates
from tmverify.cli.records import Record
from tmverify.cli.subject import Subject
from tmverify.properties import Query, Status, robustness_query, similarity_query


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one input: its name, what an input is when it holds, and how it is compiled."""

    name: str
    adjective: str
    compile: Callable[..., Query]

    def query(self, subject: Subject, place: int, epsilon: int) -> Query:
        """The question about the input at ``place`` of ``subject``."""
        return self.compile(
            *subject.models,
            subject.X[place],
            epsilon,
            scope=subject.scopes[place],
            features=subject.features,
            direction=subject.direction,
        )


ROBUSTNESS = Question("robustness", "robust", robustness_query)
SIMILARITY = Question("similarity", "similar", similarity_query)


@dataclass(slots=True, kw_only=True)
class Survey:
    """What was asked, and the answers so far."""

    question: Question
    subject: Subject
    epsilons: Sequence[int]
    engine: str
    timeout: float | None
    certificates: Certificates
    records: list[Record] = field(default_factory=list)
    interrupted: bool = False

    @property
    def n_queries(self) -> int:
        return len(self.epsilons) * len(self.subject.rows)

    @property
    def status(self) -> Status:
        """Over all queries: violated if any is, else unknown if any is or was not asked, else holds."""
        seen = {record.verdict.status for record in self.records}
        if len(self.records) < self.n_queries:
            seen.add(Status.UNKNOWN)
        return next((status for status in (Status.VIOLATED, Status.UNKNOWN) if status in seen), Status.HOLDS)
