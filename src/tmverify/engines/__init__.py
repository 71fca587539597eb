"""How a Query is decided: the engines by name.

- ``auto``    the one to use: ``search``, then ``sat`` on what is left when a budget runs out
- ``search``  exact branch and bound over flips
- ``sat``     specialise to the region, encode compactly, CaDiCaL
- ``paper``   the paper's encoding, clause by clause, Glucose 4: the baseline
- ``brute``   enumeration, for tests

Each decides, and each can be asked how near the nearest witness is. numba is imported at first use.
"""

from __future__ import annotations

from collections.abc import Mapping

from tmverify.bnn.model import BnnModel
from tmverify.bnn.query import NetworkQuery
from tmverify.engines import brute
from tmverify.engines.proof_log import Evidence
from tmverify.engines.protocol import Answer, Deadline, Engine, Nearest, NearestEngine
from tmverify.engines.radius_by_steps import nearest_by_steps, nothing_known
from tmverify.engines.sat.engine import decide as sat
from tmverify.engines.subprocesses.isolation import isolated
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier
from tmverify.properties.query import AnyQuery, Query


def _auto(query: Query, deadline: Deadline, evidence: Evidence | None = None) -> Answer:
    from tmverify.engines.auto import decide

    return decide(query, deadline, evidence)


def _search(query: Query, deadline: Deadline, evidence: Evidence | None = None) -> Answer:
    from tmverify.engines.search.engine import decide

    return decide(query, deadline, evidence)


def _auto_nearest(query: Query, deadline: Deadline, evidence: Evidence | None = None) -> Nearest:
    from tmverify.engines.auto import nearest

    return nearest(query, deadline, evidence)


def _search_nearest(query: Query, deadline: Deadline, evidence: Evidence | None = None) -> Nearest:
    from tmverify.engines.search.engine import nearest

    return nearest(query, deadline, evidence)


ENGINES: Mapping[str, Engine] = {
    "auto": _auto,
    "search": _search,
    "sat": sat,
    "paper": isolated("tmverify.engines.sat.paper:solve"),
    "brute": brute.decide,
}
ENGINE_NAMES = tuple(ENGINES)
CERTIFYING = ("auto", "search", "sat")
# The others go up one flip at a time.
_NEAREST: Mapping[str, NearestEngine] = {"auto": _auto_nearest, "search": _search_nearest}


def check_engine(engine: object) -> str:
    """Return the name of an engine, or raise InvalidInputError."""
    if not isinstance(engine, str) or engine not in ENGINES:
        raise InvalidInputError(
            f"engine must be one of {', '.join(ENGINE_NAMES)}. Got {shown(engine)} instead."
        )
    return engine


def check_certifying(engine: str) -> None:
    """Raise InvalidInputError unless the engine of that name leaves evidence."""
    if engine not in CERTIFYING:
        raise InvalidInputError(
            f"engine must be one of {', '.join(CERTIFYING)} for a certificate. Got {engine!r} instead."
        )


def check_engine_for(asked: AnyQuery | Classifier, engine: str) -> None:
    """Raise InvalidInputError unless the engine of that name takes this query, or those of this model."""
    if isinstance(asked, NetworkQuery | BnnModel) and engine == "paper":
        raise InvalidInputError(
            "engine must be one of auto, search, sat, brute for a binarized network. Got 'paper' instead."
        )


def prepare(engine: str, query: AnyQuery, *, certificate: bool) -> None:
    """Load or compile the kernels that the engine needs for such a query: done before a clock starts."""
    if isinstance(query, NetworkQuery):
        if engine in ("auto", "search"):
            from tmverify.engines.network import warming as network

            network.compile_kernels()
        return
    assert isinstance(query, Query)
    if engine in ("auto", "search") or certificate:
        from tmverify.engines.search import warming as search

        several = any(len(case) > 1 for case in query.cases)
        search.compile_kernels(several=several, recorded=certificate)
    if engine == "auto" and query.region.center is None:
        from tmverify.engines.equivalence import warming as everywhere

        everywhere.compile_kernels()


def run(engine: str, query: AnyQuery, deadline: Deadline, evidence: Evidence | None = None) -> Answer:
    """Put ``query`` to the engine of that name."""
    if isinstance(query, NetworkQuery):
        from tmverify.engines.network.engine import decide

        return (
            brute.decide(query, deadline) if engine == "brute" else decide(engine, query, deadline, evidence)
        )
    assert isinstance(query, Query)
    return ENGINES[engine](query, deadline, evidence)


def run_nearest(
    engine: str, query: AnyQuery, deadline: Deadline, evidence: Evidence | None = None
) -> Nearest:
    """Ask the engine of that name for the nearest witness in the query's region."""
    if isinstance(query, NetworkQuery):
        from tmverify.engines.network.engine import nearest

        return (
            brute.nearest(query, deadline)
            if engine == "brute"
            else nearest(engine, query, deadline, evidence)
        )
    assert isinstance(query, Query)
    if engine in _NEAREST:
        return _NEAREST[engine](query, deadline, evidence)
    known = nothing_known(query, engine)
    return nearest_by_steps(ENGINES[engine], engine, query, known, deadline, evidence)
