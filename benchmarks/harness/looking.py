"""What a person waits for at the studio: votes, bounds, the radius, the reason; and how soon work is dropped.

The server runs as the command, in a process of its own. Times are from sending a question to the arrival of
the event, so they have the way there and back in them, and what other answers were given first.
"""

from __future__ import annotations

import http.client
import json
import runpy
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

import tmverify as tv
from harness.asking import at_most
from harness.report import Section
from harness.subjects import Subjects
from tmverify.asking.answer import TaskAnswer, decide_task
from tmverify.asking.subject import Chosen, about_inputs
from tmverify.campaign import Store
from tmverify.campaign.store import tables
from tmverify.data import Inputs
from tmverify.engines.follow import Follower, Withdrawn, followed_by
from tmverify.properties.questions import RADIUS, ROBUSTNESS
from tmverify.studio.pool import THREADS

COMMAND = [sys.executable, "-c", "import sys; from tmverify.cli import main; sys.exit(main())", "studio"]
DEMO = Path(__file__).parents[2] / "examples" / "demo.py"
VERSIONS = {"tmverify": tv.__version__}
PATIENCE = 300.0  # seconds
WANTED = {
    "digits": {"votes": 0.03, "first bounds": 0.1, "radius": 1.0, "reason": 1.0},
    "mnist-500": {"radius": 0.5, "reason within radius + 1": 2.0},
}
Timed = tuple[float, str, dict[str, Any]]


@dataclass(frozen=True)
class Settings:
    subjects: Subjects
    work_dir: Path
    images: int
    cancels: int
    answers: int


@dataclass
class Waits:
    """Seconds that were waited for one kind of answer."""

    what: str
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def cells(self) -> list[str]:
        nine = sorted(self.seconds)[int(0.9 * (len(self.seconds) - 1))]
        shown = (self.median, nine, max(self.seconds))
        return [self.what, str(len(self.seconds)), *(f"{1000 * each:.1f}" for each in shown)]


COLUMNS = ("waited for", "times", "median, ms", "9 of 10, ms", "most, ms")


class Page:
    """A page of a studio, as far as it asks."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host = parts.netloc
        self._base = f"/t/{parse_qs(parts.query)['token'][0]}/api/"
        self._number = 0

    def ask(self, path: str, **body: Any) -> Any:
        with self._sent(path, body) as answer:
            return json.loads(answer.read())

    @contextmanager
    def watched(self, bits: str, *, tab: str = "page", **body: Any) -> Iterator[Iterator[Timed]]:
        """Events about an input, each with the seconds since it was asked about."""
        self._number += 1
        start = time.perf_counter()

        def events(answer: http.client.HTTPResponse) -> Iterator[Timed]:
            kind = ""
            for line in answer:
                name, _, text = line.decode().strip().partition(": ")
                if name == "event":
                    kind = text
                elif name == "data":
                    yield time.perf_counter() - start, kind, json.loads(text)

        with self._sent("watch", {"tab": tab, "number": self._number, "bits": bits, **body}) as answer:
            yield events(answer)

    @contextmanager
    def _sent(self, path: str, body: dict[str, Any]) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self._host, timeout=PATIENCE)
        headers = {"Content-Type": "application/json"}
        try:
            connection.request("POST", self._base + path, json.dumps(body), headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise RuntimeError(answer.read().decode())
            yield answer
            answer.close()
        finally:
            connection.close()


@contextmanager
def studio(*arguments: str) -> Iterator[Page]:
    """The command, with everything compiled; it is ended by Ctrl-C."""
    process = subprocess.Popen([*COMMAND, *arguments, "--no-browser"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Page(process.stdout.readline().split()[1])
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        process.stdout.close()


def as_text(bits: Any) -> str:
    return "".join(map(str, np.asarray(bits).tolist()))


def wait_for_warmth(page: Page, bits: str, **asked: Any) -> None:
    """The first question: what is left to compile is compiled."""
    with page.watched(bits, **asked) as events:
        for _ in events:
            pass


def measure_digits(settings: Settings) -> Iterator[Section]:
    """The demo's digits: each is changed by one pixel, and looked at."""
    data = tv.load_dataset("digits")
    model: tv.Model = runpy.run_path(str(DEMO))["train"](data)
    rng = np.random.default_rng(settings.subjects.seed)
    inputs = data.X_test[rng.permutation(len(data.X_test))[: settings.images]]
    title = "The demo's digits, 300 clauses a class"
    yield from _measure(settings, title, "digits", model, inputs, within=None)


def measure_mnist(settings: Settings) -> Iterator[Section]:
    """MNIST, 500 clauses a class."""
    subjects = settings.subjects
    rows = subjects.shuffled("mnist")[: settings.images]
    inputs = [subjects.test_input("mnist", row) for row in rows]
    title = "MNIST, 500 clauses a class"
    model = subjects.model("mnist-500")
    yield from _measure(settings, title, "mnist-500", model, inputs, within="auto")


def _measure(
    settings: Settings, title: str, name: str, model: tv.Model, inputs: Sequence[Any], within: Any
) -> Iterator[Section]:
    """Votes, first bounds, radius and reason after a change of one bit."""
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    path = settings.work_dir / f"{name}.tm"
    model.save(path)
    rng = np.random.default_rng(settings.subjects.seed)
    said = "reason" if within is None else "reason within radius + 1"
    waits = [Waits(what) for what in ("votes", "votes, asked with the rest", "first bounds", "radius", said)]
    votes, beside, first, radius, reason = waits
    section = Section(
        title,
        {"machine": model.content_hash[:8], "inputs": len(inputs), "change": "one bit"},
        COLUMNS,
        versions=VERSIONS,
        raw=waits,
    )
    with studio(str(path)) as page:
        wait_for_warmth(page, as_text(inputs[0]), within=within)
        for x in inputs:
            x = np.array(x, np.uint8)
            x[rng.integers(len(x))] ^= 1
            with page.watched(as_text(x), want=["look"]) as events:
                votes.seconds.append(next(events)[0])
            last: dict[str, float] = {}
            with page.watched(as_text(x), within=within) as events:
                for seconds, kind, told in events:
                    if kind == "look":
                        beside.seconds.append(seconds)
                    if kind == "radius" and told["upper"] is not None:
                        last.setdefault("first", seconds)
                    if told.get("done"):
                        last[kind] = seconds
            for own, key in ((first, "first"), (radius, "radius"), (reason, "reason")):
                own.seconds.append(last[key])
            section.rows = [own.cells() for own in waits]
            yield section
    section.settings["radius and reason"] = "asked together, the radius first"
    for own in waits:
        wanted = WANTED[name].get(own.what)
        if wanted is not None:
            section.findings.append(f"{own.what}: median {at_most(own.median, wanted, 's')}.")
    section.complete = True
    yield section


def hard_machine() -> tv.Model:
    """A machine whose radii take minutes."""
    rng, n = np.random.default_rng(3), 100
    clauses = [((rng.choice(n, 4, replace=False) + 1) * rng.choice([-1, 1], 4)).tolist() for _ in range(800)]
    return tv.Model.from_clauses(n, clauses, [rng.integers(-9, 10, len(clauses)).tolist()], bias=-300)


def measure_cancel(settings: Settings) -> Iterator[Section]:
    """All threads work on hard questions; a newer input of one tab is answered when its thread is free."""
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    path, model = settings.work_dir / "hard.tm", hard_machine()
    model.save(path)
    rng = np.random.default_rng(settings.subjects.seed)
    waits = Waits("the answer to a newer, easy question")
    spent = Waits("processor time that the thread spends until it ends")
    section = Section(
        "Withdrawing a question",
        {"threads that work": THREADS, "each after": "0.2 to 3 s of work on a radius that takes minutes"},
        COLUMNS,
        versions=VERSIONS,
        raw=[waits, spent],
    )
    easy = {"want": ["radius"], "fixed": list(range(model.n_features))}
    with studio(str(path)) as page:
        wait_for_warmth(page, "0" * model.n_features, **easy)
        for _ in range(settings.cancels):
            bits = as_text(rng.integers(0, 2, model.n_features))
            with ExitStack() as working:
                for tab in range(THREADS):
                    working.enter_context(page.watched(bits, tab=str(tab), want=["radius"]))
                time.sleep(float(rng.uniform(0.2, 3.0)))
                with page.watched(bits, tab="0", **easy) as events:
                    waits.seconds.append(next(s for s, _, told in events if told.get("done")))
            time.sleep(0.2)
            spent.seconds += _spent_until_it_ends(model, bits, float(rng.uniform(0.2, 3.0)))
            section.rows = [waits.cells(), spent.cells()]
            yield section
    section.findings = [f"{own.what}: median {at_most(own.median, 0.1, 's')}." for own in (waits, spent)]
    section.complete = True
    yield section


def _spent_until_it_ends(model: tv.Model, bits: str, after: float) -> list[float]:
    """Seconds of processor time after a question is withdrawn: what a busy machine does not lengthen.

    None at all if it was answered before.
    """
    follower = Follower()
    ended: list[float] = []

    def ask() -> None:
        try:
            with followed_by(follower):
                tv.robustness_radius(model, list(map(int, bits)))
        except Withdrawn:
            ended.append(time.thread_time())

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(after)
    if not thread.is_alive() or thread.ident is None:
        return []
    before = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    follower.withdraw()
    thread.join()
    return [end - before for end in ended]


def measure_store(settings: Settings) -> Iterator[Section]:
    """A store of many answers about digits: the first page, and pages that are sorted and filtered."""
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    path = settings.work_dir / "large.db"
    _write_store(path, settings.answers)
    sorted_, filtered, drawn = Waits("a sorted page"), Waits("a filtered page"), Waits("24 of the gallery")
    section = Section(
        f"A store of {settings.answers:,} answers",
        {"page": "50 answers"},
        COLUMNS,
        versions=VERSIONS,
        raw=[sorted_, filtered, drawn],
    )
    start = time.perf_counter()
    with studio(str(path)) as page:
        page.ask("store")
        first = time.perf_counter() - start
        while not page.ask("summary")["complete"]:
            time.sleep(0.2)
        complete = time.perf_counter() - start
        for sort in ("name", "status", "radius", "seconds", "place", "label"):
            for descending in (False, True):
                _timed(sorted_, page, "store", sort=sort, descending=descending)
                _timed(filtered, page, "store", sort=sort, filter={"status": "violated", "text": "7"})
                _timed(drawn, page, "gallery", limit=24, offset=100 * len(drawn.seconds))
    section.rows = [waits.cells() for waits in section.raw]
    section.findings = [
        f"The first page came {first:.1f} s after the command was started; all answers were read, judged and "
        f"counted after {complete:.0f} s, in the background."
    ]
    section.complete = True
    yield section


def _timed(waits: Waits, page: Page, path: str, **body: Any) -> None:
    start = time.perf_counter()
    page.ask(path, **body)
    waits.seconds.append(time.perf_counter() - start)


def _write_store(path: Path, n: int) -> None:
    """Half radii, half robustness; the digits repeat, so that it does not take hours."""
    data = tv.load_dataset("digits")
    classifier = tv.TsetlinMachineClassifier(20, 30, 8.0, 10, random_state=0).fit(data.X_train, data.y_train)
    model: tv.Model = classifier.model_
    X = np.asarray(data.X_test, np.uint8)[np.arange(n // 2) % len(data.X_test)]
    subject = about_inputs(("digits",), (model,), Inputs(X, model.predict(X)), Chosen(), data="test")
    tasks = [*subject.tasks(RADIUS), *subject.tasks(ROBUSTNESS, [1])]
    known: dict[tuple[str, bytes | None], TaskAnswer] = {}
    path.unlink(missing_ok=True)
    with Store.writing(path) as store:
        store.plan(tasks, [("digits", model)], title="large")
        rows = []
        for task in tasks:
            key = task.question, task.bits
            if key not in known:
                known[key] = decide_task(task, (model,))
            rows.append(tables.result_values(task, replace(known[key], task=task.id)))
        with store._database:
            store._write("result", rows)
