"""What is measured of certificates: the settings, a row of a table, one question, a section."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tmverify as tv
from harness.asking import Answered, is_solved
from harness.subjects import Subjects

CHECKER = Path(__file__).parents[2] / "src" / "tmcheck"


def checker_digest() -> str:
    files = sorted(CHECKER.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]


CHECKER_READ = checker_digest()
COLUMNS = (
    "machine",
    "question",
    "inputs",
    "holds",
    "certified",
    "accepted",
    "mean ms without",
    "with",
    "ratio of means",
    "median of ratios",
    "bytes: median",
    "largest",
    "check ms: median",
    "largest",
    "process ms: median",
)
WANTED_RATIO = 1.5
WANTED_CHECK = 1.0  # seconds, the median
N_PROCESSES = 5
N_LISTED = 20
ACCEPTED, UNDECIDED = "accepted", "undecided"


@dataclass(frozen=True)
class Certifying:
    """What every section is given. Limits are in seconds, counts before a smoke run cuts them down."""

    subjects: Subjects
    stored: Path  # the report's JSON
    folder: Path  # for models and certificates; those that were not accepted stay there
    resume: bool
    quick: bool
    until: float  # by time.monotonic
    images: int  # of each class
    reviews: int
    radius_inputs: int
    sat_inputs: int
    limit: float
    sat_limit: float
    check_limit: float

    def few(self, n: int, quick: int) -> int:
        return min(n, quick) if self.quick else n

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() > self.until

    def model_file(self, model: tv.Model) -> Path:
        """A model as a file; it has one encoding, so this is the trained file byte for byte."""
        path = self.folder / f"{model.content_hash[:16]}.tm"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            model.save(path)
        return path


@dataclass(frozen=True)
class Kind:
    """One row of a table: a machine, a question, the inputs. ``claim`` is what a certificate must say."""

    of: dict[str, Any]
    rows: list[int]
    ask: Callable[[int, bool], Answered]
    models: Callable[[], list[tv.Model]]
    claim: Callable[[int], dict[str, Any]]


class Measured(NamedTuple):
    """One question; times in seconds. Without a certificate, what would be about it is None."""

    row: int
    without: str  # the answer without recording
    recorded: str  # the answer with
    outcome: str
    seconds_without: float
    seconds_with: float
    seconds_saving: float | None = None
    n_bytes: int | None = None
    n_clausal: int | None = None  # refutations that end in a clausal proof
    seconds_checking: float | None = None
    seconds_process: float | None = None
    same_work: bool | None = None  # a search has as many nodes and steps both ways

    @property
    def ratio(self) -> float | None:
        decided = is_solved(self.without) and is_solved(self.recorded)
        return self.seconds_with / self.seconds_without if decided else None


@dataclass
class Group:
    """What was measured of a kind, of ``wanted`` inputs."""

    of: dict[str, Any]
    wanted: int
    columns: tuple[str, ...] = Measured._fields
    measured: list[Measured] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    name: str
    title: str
    kinds: Callable[[Certifying], list[Kind]]
    note: str = ""
