"""The rows of a file, explained one after the other: asked, kept as they are found, and as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tmverify.asking.bits import pack
from tmverify.asking.coverage import Coverage, Rows, Rule, rules_of
from tmverify.asking.subject import Origin, Subject
from tmverify.asking.task import digest
from tmverify.campaign.run import check_folder
from tmverify.certificates import Certificate
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.saving import save_lines
from tmverify.data import match_labels
from tmverify.errors import InvalidInputError
from tmverify.model import Label
from tmverify.progress import ProgressBar
from tmverify.properties import Status
from tmverify.verify.explaining import (
    MOST_LISTED,
    Importance,
    find_explanation,
    find_explanations,
    importance_in,
    told_to,
)
from tmverify.verify.explanation import Explanation, Kind

INTERRUPTED = "interrupted by Ctrl-C"
_CSV = (
    *("index", "line", "name", "decision", "label", "kind", "rule", "columns", "facts", "changes", "outcome"),
    *("sufficient", "minimal", "undecided", "covers", "questions", "seconds", "certificate", "stop_reason"),
    "detail",
)
_LISTS = ("columns", "facts", "changes", "undecided")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of each row; ``limit`` is that of ``--all``, or None for one reason."""

    kind: Kind | None
    epsilon: int | None
    smallest: bool
    widen: bool
    target: Label | None
    limit: int | None
    engine: str
    timeout: float | None

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of reasons that are asked for."""
        if self.kind is not None:
            return (self.kind,)
        return ("sufficient",) if self.limit is None else ("sufficient", "contrastive")

    def met_by(self, reason: Explanation) -> bool:
        """Whether a reason is all that was asked for: proved, and minimal."""
        if reason.sufficient is not Status.HOLDS:
            return reason.sufficient is Status.VIOLATED
        return reason.minimal == "smallest" or (reason.minimal == "subset" and not self.smallest)


@dataclass(slots=True, eq=False)
class Row:
    """What is known of one row: its reasons, each with the rows that it covers.

    ``already``: it is decided as the target, so there is nothing to explain. With ``--all``, ``complete``
    says whether all reasons were found, and ``more`` of which kinds there are some that are not kept.
    """

    place: int
    decision: Label
    already: bool = False
    reasons: list[tuple[Explanation, Rows]] = field(default_factory=list)
    paths: list[Path | None] = field(default_factory=list)
    complete: bool = False
    more: set[str] = field(default_factory=set)
    importance: Importance | None = None
    stop_reason: str | None = None
    detail: str = ""
    seconds: float = 0.0


class Listener(Protocol):
    """Is told of what is found, as it is found."""

    def begin(self, row: Row) -> None:
        """The reasons of a row are going to be listed."""

    def listed(self, row: Row, reason: Explanation) -> None:
        """One of several reasons for the same row."""

    def end(self, row: Row) -> None:
        """A row is done."""


class Explained:
    """The rows of a subject, and what is found of them."""

    def __init__(self, subject: Subject, wanted: Wanted, certificates: Path | None) -> None:
        assert subject.X is not None
        assert subject.inputs is not None
        self.subject, self.wanted, self.certificates = subject, wanted, certificates
        self.model, self.X = subject.models[0], subject.X
        self.allowed = subject.rules.rules(self.model.n_features)
        self.decisions: list[Label] = self.model.predict(self.X).tolist()
        if set(self.decisions) == {wanted.target}:
            raise InvalidInputError(
                f"--target asks why it is not that class. Got {wanted.target!r}, as which it is decided "
                "already."
            )
        self.coverage = Coverage(self.model, subject.inputs.X, subject.rules)
        self.origins = subject.origins()
        y = subject.inputs.y
        self.labels = None if y is None else match_labels(y, self.model.classes)
        check_folder(certificates, stored=False)
        self.rows: list[Row] = []
        self.complete, self.interrupted = True, False

    @property
    def many(self) -> bool:
        """Whether there are several rows."""
        return len(self.subject.rows) > 1

    @property
    def code(self) -> ExitCode:
        if self.interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.HOLDS if self.complete else ExitCode.UNKNOWN

    @property
    def n_columns(self) -> int:
        """How many columns a row has; bits, if the question is about bits."""
        return self.model.n_features if self.allowed.about_bits else len(self.model.space.columns)

    def run(self, listener: Listener | None) -> None:
        """Explain each row; Ctrl-C ends it, and what is found is kept."""
        try:
            with ProgressBar("explaining", len(self.subject.rows)) as bar:
                for place in range(len(self.subject.rows)):
                    self._explain(place, bar, listener)
                    if self.many:
                        bar.advance()
        except KeyboardInterrupt:
            self.interrupted = True

    def _explain(self, place: int, bar: ProgressBar, listener: Listener | None) -> None:
        row = Row(place, self.decisions[place], already=self.decisions[place] == self.wanted.target)
        start = time.perf_counter()
        if row.already:
            self.rows.append(row)
        elif self.wanted.limit is None:
            reason = self._ask(place, bar)
            self._keep(row, reason)
            self.rows.append(row)
            self.complete &= self.wanted.met_by(reason)
        else:
            row.detail = INTERRUPTED  # as long as it is not explained to the end
            self.rows.append(row)
            self._ask_all(row, bar, listener, self.wanted.limit)
        row.seconds = time.perf_counter() - start
        if listener is not None:
            listener.end(row)

    def _ask(self, place: int, bar: ProgressBar) -> Explanation:
        wanted = self.wanted
        return find_explanation(
            self.model,
            self.X[place],
            kind=wanted.kinds[0],
            epsilon=wanted.epsilon,
            smallest=wanted.smallest,
            widen=wanted.widen,
            target=wanted.target,
            scope=self.subject.scopes[place],
            allowed=self.allowed,
            timeout=wanted.timeout,
            engine=wanted.engine,
            certificate=self.certificates is not None,
            told=None if self.many else told_to(bar),
        )

    def _ask_all(self, row: Row, bar: ProgressBar, listener: Listener | None, limit: int) -> None:
        """Find reasons, until there are more than ``limit`` of each kind that is wanted."""
        wanted, start = self.wanted, time.perf_counter()
        if listener is not None:
            listener.begin(row)
        found = find_explanations(
            self.model,
            self.X[row.place],
            limit=MOST_LISTED,
            kind=wanted.kind,
            epsilon=wanted.epsilon,
            target=wanted.target,
            scope=self.subject.scopes[row.place],
            allowed=self.allowed,
            timeout=wanted.timeout,
            engine=wanted.engine,
        )
        seen: dict[str, list[Explanation]] = {kind: [] for kind in wanted.kinds}
        try:
            for reason in found:
                seen[reason.kind].append(reason)
                if len(seen[reason.kind]) > limit:
                    row.more.add(reason.kind)
                    if len(row.more) == len(seen):
                        break
                else:
                    self._keep(row, reason)
                    if listener is not None:
                        listener.listed(row, reason)
                bar.say(f"explaining ({sum(map(len, seen.values()))} reasons)")
            row.detail = ""
        finally:
            row.complete, row.detail = found.complete, row.detail or found.detail
            row.stop_reason = None if found.stop_reason is None else found.stop_reason.value
            self.complete &= row.stop_reason is None
            if "sufficient" in seen:
                row.importance = importance_in(seen["sufficient"], found, time.perf_counter() - start)

    def _keep(self, row: Row, reason: Explanation) -> None:
        path = None
        if self.certificates is not None and isinstance(reason.certificate, Certificate):
            # Its name has a digest of what is claimed: another question is another file.
            asked = digest([dict(reason.certificate.claim), pack(self.X[row.place]).hex()])
            name = f"explain-{self.subject.rows[row.place]:04d}-{reason.kind}-{asked}.tmcert"
            path = self.certificates / name
            reason.certificate.save(path)
        row.reasons.append((reason, self.coverage.of(reason, self.X[row.place])))
        row.paths.append(path)

    def rules(self) -> list[Rule]:
        """The rules that cover rows, most rows first."""
        return [rule for rule in rules_of(list(self._reasons())) if rule.n_rows]

    def _reasons(self) -> Iterator[tuple[int, Explanation, Rows]]:
        for row in self.rows:
            for reason, covered in row.reasons:
                yield row.place, reason, covered

    @property
    def n_done(self) -> int:
        """How many rows are explained to the end."""
        return sum(row.detail != INTERRUPTED for row in self.rows)

    def as_labelled(self, rule: Rule) -> int | None:
        """How many of the rows that a rule covers have a label that agrees with it; None without labels."""
        if self.labels is None:
            return None
        own, target = rule.reason.decision, rule.reason.target
        covered = [self.labels[row] for row in np.flatnonzero(rule.covered).tolist()]
        if target is None:
            return sum(label == own for label in covered)
        return sum(label not in (None, target) for label in covered)

    def raw(self, place: int) -> Sequence[str] | None:
        """The cells of a row in its file, one for each part of the space, if they are known."""
        index, inputs = self.subject.rows[place], self.subject.inputs
        if index is None or inputs is None or inputs.raw is None:
            return None
        return inputs.raw.cells[index]

    def document(self, head: dict[str, Any], data: Path) -> dict[str, Any]:
        """Everything, for JSON."""
        wanted = self.wanted
        rules = [
            {
                "rule": rule.reason.rule,
                "decision": rule.reason.decision,
                "facts": _facts(rule.reason),
                "rows": rule.n_rows,
                "as_labelled": self.as_labelled(rule),
                "indices": np.flatnonzero(rule.covered).tolist(),
                "found_for": [self.subject.rows[place] for place in rule.found_for],
            }
            for rule in self.rules()
        ]
        return {
            **head,
            "data": str(data),
            "kind": wanted.kind,
            "within": wanted.epsilon,
            "smallest": wanted.smallest,
            "widen": wanted.widen,
            "target": wanted.target,
            "all": wanted.limit,
            "rules": self.subject.rules.to_json(),
            "timeout": wanted.timeout,
            "interrupted": self.interrupted,
            "complete": self.complete
            and not self.interrupted
            and (wanted.limit is None or all(row.complete for row in self.rows)),
            "n_rows": len(self.coverage.X),
            "results": [self._document(row) for row in self.rows],
            "covering": rules,
        }

    def save_csv(self, path: Path) -> None:
        """Write a line for every reason, and one for a row that has none; lists are in JSON.

        ``facts`` has them all, as texts, where ``rule`` has the first ones. There is a column ``certificate``
        if certificates were wanted; and with ``--all``, ``complete`` says whether these are all of the row's.
        """
        columns = [column for column in _CSV if self.certificates is not None or column != "certificate"]
        if self.wanted.limit is not None:
            columns.append("complete")
        lines = [
            {**self._about(row), **self._ending(row), **_csv_line(reason)}
            for row in self.rows
            for reason in _documents(row) or [{}]
        ]
        save_lines(path, columns, lines)

    def _ending(self, row: Row) -> dict[str, Any]:
        """How the search for all reasons of a row ended."""
        if self.wanted.limit is None:
            return {}
        ended = {"stop_reason": row.stop_reason, "detail": row.detail}
        return {"complete": row.complete, **(ended if not row.reasons else {})}

    def _about(self, row: Row) -> dict[str, Any]:
        origin: Origin = self.origins[row.place]
        return {
            "index": origin.index,
            "line": origin.line,
            "name": origin.name,
            "decision": row.decision,
            "label": origin.label,
        }

    def _document(self, row: Row) -> dict[str, Any]:
        about, reasons = self._about(row), _documents(row)
        about["already"] = row.already
        if self.wanted.limit is None:
            return {**about, **(reasons[0] if reasons else {})}
        important = row.importance
        return {
            **about,
            "complete": row.complete,
            "more": sorted(row.more),
            "reasons": reasons,
            "importance": None
            if important is None
            else {
                "shares": dict(important.shares),
                "n_reasons": important.n_reasons,
                "complete": important.complete,
            },
            "seconds": row.seconds,
            "stop_reason": row.stop_reason,
            "detail": row.detail,
        }


def _documents(row: Row) -> list[dict[str, Any]]:
    return [
        _reason(reason, int(covered.sum()), path)
        for (reason, covered), path in zip(row.reasons, row.paths, strict=True)
    ]


def _csv_line(reason: dict[str, Any]) -> dict[str, Any]:
    """A reason with its lists as JSON, where there are any."""
    texts = {**reason, "facts": [fact["text"] for fact in reason.get("facts", ())]}
    lists = {key: json.dumps(texts[key], ensure_ascii=False) for key in _LISTS if texts.get(key)}
    return {**reason, **dict.fromkeys(_LISTS, ""), **lists}


def _facts(reason: Explanation) -> list[dict[str, str]]:
    return [{"column": fact.column, "value": fact.value, "text": fact.text} for fact in reason.facts]


def _reason(reason: Explanation, covers: int, path: Path | None) -> dict[str, Any]:
    """A reason for JSON, complete."""
    changes = [
        {"column": change.column, "before": change.before, "after": change.after} for change in reason.changes
    ]
    return {
        "kind": reason.kind,
        "rule": reason.rule,
        "columns": list(reason.columns),
        "facts": _facts(reason),
        "sufficient": reason.sufficient.value,
        "minimal": reason.minimal,
        "undecided": list(reason.undecided),
        "widened": reason.widened,
        "covers": covers,
        "changes": changes,
        "witness": None if reason.witness is None else reason.witness.tolist(),
        "outcome": reason.outcome,
        "engine": reason.engine,
        "questions": reason.questions,
        "seconds": reason.seconds,
        "trusts": list(reason.trusts),
        "certificate": None if path is None else str(path),
        "stop_reason": None if reason.stop_reason is None else reason.stop_reason.value,
        "detail": reason.detail,
    }
