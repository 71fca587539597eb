"""How a Query is decided: the engines by name.

- ``auto``    the one to use: at present ``sat``
- ``sat``     specialise to the region, encode compactly, CaDiCaL
- ``paper``   the paper's encoding, clause by clause, Glucose 4: the baseline
- ``brute``   enumeration, for tests
"""

from __future__ import annotations

from collections.abc import Mapping

from tmverify.engines import brute
from tmverify.engines.isolation import isolated
from tmverify.engines.protocol import Answer, Deadline, Engine
from tmverify.errors import InvalidInputError, shown
from tmverify.properties.query import Query

ENGINES: Mapping[str, Engine] = {
    "sat": isolated("tmverify.engines.sat.reduced:solve"),
    "paper": isolated("tmverify.engines.sat.paper:solve"),
    "brute": brute.decide,
}
ENGINE_NAMES = ("auto", *ENGINES)


def check_engine(engine: object) -> str:
    """Return the name of the engine that will run, or raise InvalidInputError."""
    if not isinstance(engine, str) or engine not in ENGINE_NAMES:
        raise InvalidInputError(
            f"engine must be one of {', '.join(ENGINE_NAMES)}. Got {shown(engine)} instead."
        )
    return "sat" if engine == "auto" else engine


def run(engine: str, query: Query, deadline: Deadline) -> Answer:
    """Put ``query`` to the engine of that name."""
    return ENGINES[engine](query, deadline)
