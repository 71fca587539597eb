"""Properties of one model, asked one after the other; what came of them, also as JSON.

Everything is read and compiled before the first question is asked. Ctrl-C at any moment loses at most the
answer that is being found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tmverify.asking.allowed import Typed
from tmverify.asking.bits import pack
from tmverify.asking.property import Property
from tmverify.asking.subject import Chosen, Subject, about_inputs, open_inputs, text_of
from tmverify.asking.task import digest
from tmverify.campaign.run import check_folder
from tmverify.certificates import Certificate
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.output import counted, described, tell_of_rows
from tmverify.engines import check_certifying, check_engine
from tmverify.errors import InvalidInputError
from tmverify.model import Model
from tmverify.progress import ProgressBar, counts
from tmverify.properties import Status, UniversalVerdict, Verdict
from tmverify.properties.allowed import Allowed
from tmverify.properties.side_by_side import SideBySide, side_by_side
from tmverify.properties.universal import exact_fraction
from tmverify.verify.stated import Stated
from tmverify.verify.vacuous import IN_DOUBT, why_vacuous

_COLOURS = {"holds": "green", "violated": "red", "unknown": "yellow", "vacuous": "yellow"}
VACUOUS_WORD = "vacuous"
_CODES = {  # the worst first
    "violated": ExitCode.VIOLATED,
    "unknown": ExitCode.UNKNOWN,
    VACUOUS_WORD: ExitCode.UNKNOWN,  # nothing is violated, and nothing is claimed
    "holds": ExitCode.HOLDS,
}
_LONGEST_SLUG = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """Which rows of data, what may change around them, how it is decided, what is kept."""

    id: str | None = None
    n: int | None = None
    seed: int = 0
    allowed: Typed = Typed()  # noqa: RUF009 (it is frozen)
    engine: str = "auto"
    every: bool = False  # also rows that can't change the outcome
    certificates: Path | None = None


@dataclass(slots=True, eq=False)
class Asked:
    """A property and its answer.

    ``seen`` are the answers about rows so far, by their place, also if it was interrupted; None of those that
    the assumption is not about.
    """

    said: Property
    stated: Stated
    subject: Subject | None
    answer: Verdict | UniversalVerdict | None = None
    seen: dict[int, Verdict | None] = field(default_factory=dict)
    path: Path | None = None

    @property
    def status(self) -> Status:
        return Status.UNKNOWN if self.answer is None else self.answer.status

    @property
    def vacuous(self) -> bool:
        return self.answer is not None and self.answer.vacuous

    @property
    def why_vacuous(self) -> str:
        """Why it says nothing, if it is vacuous."""
        if self.subject is None:
            return why_vacuous(self.stated.statement)
        return f"the assumption is about none of {counted(self.rows, 'row')}"

    @property
    def word(self) -> str:
        """The answer in a word: that of its status, or "vacuous" if that fails the run."""
        return VACUOUS_WORD if self.vacuous and self.said.vacuous == "error" else self.status.value

    @property
    def words(self) -> str:
        """The same for people, with "as rounded" where it may be true of the rounded property only."""
        rounded = self.answer is not None and self.answer.as_rounded
        return f"{self.word}, as rounded" if rounded else self.word

    @property
    def reason(self) -> str:
        """Why it is unknown."""
        if self.answer is None:
            return "interrupted by Ctrl-C"
        stop, detail = self.answer.stop_reason, self.answer.detail
        if stop is None:
            return ""
        return f"{stop.value}: {detail}" if detail else stop.value

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known besides the answer."""
        if self.answer is None:
            return ()
        found = [IN_DOUBT] if IN_DOUBT in self.answer.detail else []
        return (*found, *self.stated.notes_of(self.answer))

    @property
    def rows(self) -> int:
        """How many steps it is for a progress bar."""
        return 1 if self.subject is None else len(self.subject.rows)

    @property
    def verdicts(self) -> dict[int, Verdict]:
        """The answers about rows that count, by their place."""
        return {place: verdict for place, verdict in self.seen.items() if verdict is not None}

    @property
    def counting(self) -> int:
        """How many rows count, as far as that is known."""
        return self.rows - len(self.seen) + len(self.verdicts)

    @property
    def only_some_count(self) -> bool:
        """Whether it is known which rows count: those that the assumption is about."""
        return isinstance(self.answer, UniversalVerdict) and self.answer.about is not None

    @property
    def violated(self) -> list[tuple[int | None, Verdict]]:
        """The answers with counterexamples, each with the place of its row."""
        if self.subject is not None:
            found = sorted(self.verdicts.items())
            return [(place, verdict) for place, verdict in found if verdict.status is Status.VIOLATED]
        return [(None, self.answer)] if self.status is Status.VIOLATED else []  # type: ignore[list-item]

    def words_of(self, place: int | None, verdict: Verdict) -> SideBySide:
        """A counterexample in words."""
        x = None if self.subject is None or self.subject.X is None else self.subject.X[place or 0]
        return side_by_side(self.stated.model, verdict, x)

    def called(self, place: int) -> str:
        """The name of a row: its own, its line or its index."""
        index, line, name = self._row(place)
        return name or (f"input {index}" if line is None else f"line {line}")

    def _row(self, place: int) -> tuple[int | None, int | None, str | None]:
        assert self.subject is not None
        index, inputs = self.subject.rows[place], self.subject.inputs
        if index is None or inputs is None:
            return index, None, None
        line = None if inputs.lines is None else inputs.lines[index]
        return index, line, None if inputs.ids is None else inputs.ids[index]

    def document(self) -> dict[str, Any]:
        """Everything, for JSON."""
        said, answer = self.said, self.answer
        stop = None if answer is None or answer.stop_reason is None else answer.stop_reason.value
        found: dict[str, Any] = {
            "name": said.name or None,
            "kind": said.kind,
            "property": said.words,
            **{key: getattr(said, key) for key in ("assume", "expect", "monotone", "toward", "margin")},
            "protected": list(said.protected),
            "round": said.round,
            "known_values": said.known_values,
            "severity": said.severity,
            "if_vacuous": said.vacuous,
            "why": said.why,
            "timeout": said.timeout,
            "status": self.word,
            "as_rounded": answer is not None and answer.as_rounded,
            "vacuous": self.vacuous,
            "rounded": list(self.stated.notes),
            "stop_reason": stop,
            "detail": self.reason if answer is None else answer.detail,
            "engine": None if answer is None else answer.engine,
            "seconds": None if answer is None else round(answer.seconds, 6),
            "certificate": None if self.path is None else str(self.path),
            "trusts": [] if answer is None else list(answer.trusts),
        }
        if self.subject is None:
            return {**found, "counterexample": next((self._shown(*each) for each in self.violated), None)}
        tally = Counter(verdict.status.value for verdict in self.verdicts.values())
        rows = {
            "data": str(said.data),
            "epsilon": said.epsilon,
            "eta": str(exact_fraction(said.eta)),
            "rules": self.subject.rules.to_json(),
            "rows": len(self.subject.rows),
            "about": None if answer is None else self.counting,
            "looked_at": len(self.verdicts),
            "required": answer.required if isinstance(answer, UniversalVerdict) else None,
            **{status.value: tally[status.value] for status in Status},
        }
        violations = [
            dict(zip(("index", "line", "name"), self._row(place or 0), strict=True))
            | {"counterexample": self._shown(place, verdict)}
            for place, verdict in self.violated
        ]
        return {**found, **rows, "violations": violations}

    def _shown(self, place: int | None, verdict: Verdict) -> dict[str, Any]:
        """A counterexample for JSON: each input with all its columns."""
        words, columns = self.words_of(place, verdict), self.stated.model.space.columns
        bits = [verdict.witness] if verdict.pair is None else list(verdict.pair)
        if words.heads[0] == "row":
            assert self.subject is not None
            assert self.subject.X is not None
            bits.insert(0, self.subject.X[place or 0])
        return {
            "differ": [line.column for line in words.lines if line.differs],
            "inputs": [
                {
                    "input": head,
                    "values": {column.name: column.words(own) for column in columns},
                    "bits": own,
                    "decision": decided.decision,
                    "lead": decided.lead,
                    "votes": decided.votes,
                }
                for head, own, decided in zip(words.heads, bits, words.decided, strict=True)
                if own is not None
            ],
        }


class Checked:
    """The properties of a model, and what came of them."""

    def __init__(self, path: Path, model: Model, properties: Sequence[Property], how: How) -> None:
        check_engine(how.engine)
        if how.certificates is not None:
            check_certifying(how.engine)
        self.path, self.model, self.how = path, model, how
        self._subjects: dict[Path, Subject] = {}
        read = [(said, self._stated(said)) for said in properties]  # before any file of data
        self.asked = [self._asked(*each) for each in read]
        check_folder(how.certificates, stored=False)
        self.interrupted = False
        self.failure: OSError | None = None

    def _stated(self, said: Property) -> Stated:
        """Read what a property says, and compile it, so that errors come before any work."""
        stated = said.stated(self.model)
        with _named(said):
            exact_fraction(said.eta)
            if not said.about_rows:
                stated.query(None, None, stated.rules(Allowed()))
        return stated

    def _asked(self, said: Property, stated: Stated) -> Asked:
        subject = self._subject(said)
        if subject is not None and subject.X is not None:
            with _named(said):
                rules = stated.rules(subject.rules.rules(self.model.n_features))
                stated.query(subject.X[0], said.epsilon, rules)
        return Asked(said, stated, subject)

    def _subject(self, said: Property) -> Subject | None:
        """The rows that a property is about; a file is read once."""
        if not said.about_rows:
            return None
        assert said.data is not None
        if said.data not in self._subjects:
            inputs = open_inputs(said.data, (self.model,), self.how.id)
            tell_of_rows(said.data, inputs.ignored, inputs.notes)
            self._subjects[said.data] = about_inputs(
                (text_of(self.path.stem),),
                (self.model,),
                inputs,
                Chosen(n=self.how.n, seed=self.how.seed, allowed=self.how.allowed),
                data=text_of(said.data.stem),
            )
        return self._subjects[said.data]

    def run(self) -> None:
        """Ask; Ctrl-C ends it, and what is answered is kept."""
        total = sum(asked.rows for asked in self.asked)
        try:
            with ProgressBar("checking", total) as bar:
                done = 0
                for number, asked in enumerate(self.asked, start=1):
                    if len(self.asked) > 1:
                        bar.say(f"property {number} of {len(self.asked)}")
                    self._ask(asked, bar)
                    done += asked.rows
                    bar.done = done - 1  # a share may be decided before its last row
                    bar.advance(*self._notes())
        except KeyboardInterrupt:
            self.interrupted = True

    def _notes(self) -> list[str]:
        if len(self.asked) == 1:
            found = self.asked[0].verdicts.values()
            return counts(Counter(verdict.status.value for verdict in found), _COLOURS)
        known = [asked.word for asked in self.asked if asked.answer is not None]
        return counts(Counter(known), _COLOURS)

    def _ask(self, asked: Asked, bar: ProgressBar) -> None:
        def keep(place: int, verdict: Verdict | None) -> None:
            asked.seen[place] = verdict
            if len(asked.seen) < asked.rows:
                bar.advance(*self._notes())

        answer = asked.said.ask(
            asked.stated,
            asked.subject,
            engine=self.how.engine,
            certificate=self.how.certificates is not None,
            on_row=keep,
            every=self.how.every,
        )
        asked.answer = answer
        if self.how.certificates is not None and isinstance(answer.certificate, Certificate):
            path = self.how.certificates / self._file_name(asked, answer.certificate)
            try:
                answer.certificate.save(path)
                asked.path = path
            except OSError as error:
                self.failure = error

    @staticmethod
    def _file_name(asked: Asked, certificate: Certificate) -> str:
        """Like that of any question: what is asked, and a digest of the claim and of the rows."""
        said, rows = asked.said, b""
        parts = ["property", *([slug] if (slug := _slug(said.name)) else [])]
        if asked.subject is not None and asked.subject.X is not None:
            eta: Fraction = exact_fraction(said.eta)
            parts += [f"eps{said.epsilon}", f"eta{eta.numerator}of{eta.denominator}"]
            rows = b"".join(pack(x) for x in asked.subject.X)
        return f"{'-'.join(parts)}-{digest([dict(certificate.claim), rows.hex()])}.tmcert"

    @property
    def word(self) -> str:
        """What the errors among the properties come to: warnings do not count."""
        found = {asked.word for asked in self.asked if asked.said.severity == "error"}
        return next((word for word in _CODES if word in found), Status.HOLDS.value)

    @property
    def code(self) -> ExitCode:
        return ExitCode.INTERRUPTED if self.interrupted else _CODES[self.word]

    def document(self, what: str) -> dict[str, Any]:
        """The beginning of a JSON document."""
        return {
            **described(what, [self.path], [self.model]),
            "engine": self.how.engine,
            "interrupted": self.interrupted,
        }


@contextmanager
def _named(said: Property) -> Iterator[None]:
    """Errors in the block have the name of the property, if it has one."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{said.place}{error}") from None


def _slug(name: str) -> str:
    """A name as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].rstrip("-")
