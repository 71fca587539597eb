"""Solvers that misbehave, for the tests of isolation: each runs in a worker process."""

import os
import sys
from pathlib import Path

from tmverify.engines.engine import Answer
from tmverify.properties import Query


def raise_error(query: Query) -> Answer:
    raise RuntimeError("a bug")


def exhaust_memory(query: Query) -> Answer:
    raise MemoryError


def exit_at_once(query: Query) -> Answer:
    os._exit(7)


def talk_and_answer_nonsense(query: Query) -> Answer:
    print("solvers may print")
    sys.stdout.flush()
    return "nonsense"  # type: ignore[return-value]


def spin(query: Query) -> Answer:
    """Hold the interpreter in one C call, as a SAT solver does."""
    Path(os.environ["SPIN_PID"]).write_text(str(os.getpid()))
    9**99999999  # noqa: B018
    raise AssertionError
