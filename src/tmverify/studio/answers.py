"""Answers: a store of a campaign, browsed: its tables and its gallery, and each answer opened in a view.

The store is read in the background, answer by answer, and each is believed or not, as the report does
(``campaign.store``). What is read can be sorted and filtered at once; what counts all of them (the summary,
the gallery) comes when all are read. Words, shares and pictures are the report's own.

A store holds no models, only their names, hashes and spaces. An answer opens in the view whose model files
have these hashes; for others the page says which file to name.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from tmverify.asking.subject import text_of
from tmverify.campaign import Asked, Store, Task
from tmverify.campaign.store import StoredModel
from tmverify.display.words import seconds_text
from tmverify.errors import InvalidInputError, StoreError
from tmverify.model.names import printable
from tmverify.report.gallery import Entry, entry_of, gallery_of
from tmverify.report.page import said_of
from tmverify.report.reasons import ReasonEntry, reason_entry
from tmverify.report.report import Report, collect, median_seconds
from tmverify.report.series import Series, series_of
from tmverify.report.tiles import tiles_of
from tmverify.report.words import percent, status_of
from tmverify.studio.asked import AnswerPage
from tmverify.studio.form import bits_text
from tmverify.studio.opening import drawn, fixed_in, notes_on, remedy_for
from tmverify.studio.pool import INTERNAL
from tmverify.studio.view import View

SORTS = (
    "place", "name", "question", "model", "data", "label", "status", "epsilon", "radius", "seconds",
)  # fmt: skip
_OPTIONS = ("question", "model", "data", "status", "label")
FILTERS = (*_OPTIONS, "text")
_MOST_OPTIONS = 200
_ALL = 1 << 62  # entries of the gallery
_AT_ONCE = 100  # answers, between which others get their turn
_PAUSE = 0.001  # seconds
_HASH_CHARS = 16


class Key(NamedTuple):
    """By what one answer is sorted, filtered and found; what it has not is None, and comes last."""

    place: int
    name: tuple[str, int]
    question: str
    model: str
    data: str
    label: str
    status: str
    epsilon: int | None
    radius: tuple[float, float] | None
    seconds: float | None
    searched: str


class Answers:
    """The answers of a store, as far as they are read."""

    def __init__(self, path: Path, views: Sequence[View]) -> None:
        self._path, self._views = path, views
        self._view_of = {view.opened.hashes: i for i, view in enumerate(views)}
        self._rows: list[Asked] = []
        self._keys: list[Key] = []
        self._options: dict[str, dict[str, None]] = {name: {} for name in _OPTIONS}
        self._named: dict[str, dict[str, Asked]] = {}  # by name and hash of a model a row: two for each name
        self._place: dict[str, int] = {}
        self._report: Report | None = None
        self._error, self._closed = "", False
        with Store.reading(path) as store:  # so that a wrong file is said before anything starts
            self.models = store.models()
            self._total = store.n_asked
        self._thread = threading.Thread(target=self._read, name="studio-store", daemon=True)

    @property
    def about(self) -> dict[str, Any]:
        """What a page needs to know first."""
        views = [{"view": i, "title": view.title} for i, view in enumerate(self._views)]
        return {"name": self.name, "views": views}

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """Have the reading stop; ``alive`` is its thread, while it has not."""
        self._closed = True

    @property
    def alive(self) -> list[threading.Thread]:
        """The thread that reads, or counts what is read."""
        return [self._thread] if self._thread.is_alive() else []

    def summary(self) -> dict[str, Any]:
        """How much is read, what can be filtered by; and, when all is read, the tables of the report."""
        report = self._report
        return {
            **self._progress,
            "error": self._error,
            "options": {name: sorted(filter(None, values.copy())) for name, values in self._options.items()},
            "tiles": None if report is None else [asdict(tile) for tile in tiles_of(report)],
            "lines": None if report is None else [_line(report, i) for i in range(len(report.lines))],
            "unknowns": None if report is None else [asdict(each) for each in report.unknowns],
            "refusals": None if report is None else asdict(report.refusals),
            "gallery": None if report is None else report.gallery.total,
            "reasons": None if report is None else report.reasons.total,
            "models": [_model(model, self._view_of.get((key,))) for key, model in self.models.items()],
        }

    def page(self, asked: AnswerPage) -> dict[str, Any]:
        """Some of the answers, sorted and filtered."""
        n = len(self._keys)
        keys = self._keys[:n]
        for name, value in asked.filter.items():
            if name == "text":
                text = value.lower()
                keys = [key for key in keys if text in key.searched]
            else:
                keys = [key for key in keys if getattr(key, name) == value]
        if asked.sort != "place" or asked.descending:
            by = attrgetter(asked.sort)
            without = [key for key in keys if by(key) is None]
            keys = [key for key in keys if by(key) is not None]
            keys = sorted(keys, key=by, reverse=asked.descending) + without
        shown = keys[asked.offset : asked.offset + asked.limit]
        return {**self._progress, "total": len(keys), "answers": self._told([key.place for key in shown])}

    def gallery(self, what: str, offset: int, limit: int) -> dict[str, Any]:
        """Changes or reasons, drawn as in the report."""
        report = self._report
        if report is None:
            return {"total": 0, "entries": []}
        if what == "reasons":
            places = report.reasons.places[offset : offset + limit]
            rows = [self._rows[place] for place in places]
            found = [
                self._drawn(row.task, reason_entry(place, row, self.models, own.model))
                for place, row, own in zip(places, rows, self._series(rows), strict=True)
            ]
            return {"total": report.reasons.total, "entries": found}
        changes = report.gallery.changes[offset : offset + limit]
        entries = [self._drawn(each.task, entry_of(each, report.rows, self.models)) for each in changes]
        return {"total": report.gallery.total, "entries": entries}

    def answer(self, task: str) -> dict[str, Any]:
        """One answer, and what opens it in a view."""
        place = self._place.get(task)
        if place is None:
            raise InvalidInputError("The store has no such task, or it is not read yet.")
        row = self._rows[place]
        (told,) = self._told([place])
        (series,) = self._series([row])
        x, view = row.task.x, self._view_of.get(row.task.models)
        shown = row.witness if x is None else x
        return {
            "answer": told,
            "view": view,
            "remedy": "" if view is not None else remedy_for(row.task, self.name),
            "bits": None if shown is None else bits_text(shown),
            "fixed": fixed_in(row.task, self.models),
            "within": row.task.epsilon,
            "witness": None if row.witness is None else bits_text(row.witness),
            "notes": notes_on(row.task, series, self.models),
            "entry": self._entry(row, series),
        }

    @property
    def name(self) -> str:
        """What the file is called, without folders."""
        return printable(text_of(self._path.name))

    @property
    def _progress(self) -> dict[str, Any]:
        return {"read": len(self._keys), "of": self._total, "complete": self._report is not None}

    def _read(self) -> None:
        """Read all answers, and then count them; in a thread of its own."""
        try:
            with Store.reading(self._path) as store:
                for row in store.rows():
                    self._add(row)
                    if len(self._keys) % _AT_ONCE == 0:
                        time.sleep(_PAUSE)
                    if self._closed:
                        return
            self._total = len(self._keys)
            self._report = collect(self._rows, self.models, title="", source=self.name, gallery=_ALL)
        except Exception as error:
            if not isinstance(error, StoreError):
                traceback.print_exc()
                error = StoreError(INTERNAL)
            self._error = str(error).replace(str(self._path), self.name)

    def _add(self, row: Asked) -> None:
        key = _key(len(self._rows), row)
        self._rows.append(row)
        for name, model in zip(row.task.names, row.task.models, strict=True):
            own = self._named.setdefault(name, {})
            if len(own) < 2:
                own.setdefault(model, row)
        self._place.setdefault(row.task.id, key.place)
        for name, values in self._options.items():
            if len(values) < _MOST_OPTIONS:
                values.setdefault(getattr(key, name))
        self._keys.append(key)  # the last: what has a key is complete

    def _series(self, rows: Sequence[Asked]) -> list[Series]:
        """The series of some rows; models with one name are told apart, whichever rows are shown."""
        names = dict.fromkeys(name for row in rows for name in row.task.names)
        known = [row for name in names for row in self._named[name].copy().values()]
        return series_of([*known, *rows], self.models)[len(known) :]

    def _entry(self, row: Asked, series: Series) -> dict[str, Any] | None:
        """What is to be drawn of one answer: its change or its reason, if it has one."""
        if row.witness is not None:
            (change,) = gallery_of([row], [series], limit=1).changes
            return self._drawn(row.task, entry_of(change, [row], self.models))
        if row.answer is not None and row.answer.reason is not None:
            return self._drawn(row.task, reason_entry(0, row, self.models, series.model))
        return None

    def _drawn(self, task: Task, entry: Entry | ReasonEntry) -> dict[str, Any]:
        return {**drawn(task, entry), "view": self._view_of.get(task.models)}

    def _told(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """Answers in words, as the report has them."""
        rows = [self._rows[place] for place in places]
        found = []
        for place, row, own in zip(places, rows, self._series(rows), strict=True):
            known = all(key in self.models for key in row.task.models)
            space = row.task.named(self.models).space if known else None
            impossible = space is not None and row.possible(space) is False
            said = said_of(row, own, self.models, impossible=impossible)
            view = self._view_of.get(row.task.models)
            found.append({"task": row.task.id, "place": place, **said, "view": view})
        return found


def _key(place: int, row: Asked) -> Key:
    task, answer = row.task, row.answer
    decided = () if answer is None else answer.decisions or ()
    label = "" if task.label is None else str(task.label)
    bounds = None if answer is None else (answer.lower, answer.upper)
    model = " ↔ ".join(task.names)
    found = (task.called, model, task.data, label, *map(str, decided))
    return Key(
        place=place,
        name=(task.row_name or "", -1 if task.index is None else task.index),
        question=task.question,
        model=model,
        data=task.data,
        label=label,
        status=status_of(row),
        epsilon=task.epsilon,
        radius=None if bounds is None or None in bounds else bounds,  # type: ignore[arg-type]
        seconds=None if answer is None else answer.seconds,
        searched="\n".join(found).lower(),
    )


def _line(report: Report, place: int) -> dict[str, Any]:
    """A line of the summary, with its share of positive answers."""
    line = report.lines[place]
    tally = line.tally
    return {
        "title": line.series.title,
        "question": line.question,
        "epsilon": line.epsilon,
        "adjective": line.asks.adjective,
        "total": tally.total,
        "done": tally.done,
        "positive": tally.positive,
        "violated": tally.violated,
        "unknown": tally.unknown,
        "share": percent(tally.positive, line.whole),
        "median": seconds_text(median_seconds(tally)),
        "longest": seconds_text(line.max_seconds),
    }


def _model(model: StoredModel, view: int | None) -> dict[str, Any]:
    return {
        "name": model.name,
        "hash": model.hash[:_HASH_CHARS],
        "n_features": model.n_features,
        "n_clauses": model.n_clauses,
        "classes": [str(label) for label in model.classes],
        "view": view,
    }
