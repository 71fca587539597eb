"""The engines, which decide queries; each is declared as an ``engine.Engine``.

- ``auto``    the default: ``search``, then ``brute`` or ``sat`` for what it leaves open (few or many inputs)
- ``search``  exact branch and bound over flips
- ``sat``     specialise to the region, encode compactly, CaDiCaL
- ``paper``   the paper's encoding, clause by clause, Glucose 4: the baseline
- ``brute``   enumeration, for tests

The engines for binarized networks have the same names, except that there is no ``paper``.
"""

from __future__ import annotations

from collections.abc import Iterable

from tmverify.engines import equivalence
from tmverify.engines.brute import BRUTE
from tmverify.engines.engine import Engine, Signer, at_first_use
from tmverify.engines.network import NETWORK_ENGINES
from tmverify.engines.sat.engine import PAPER, SAT
from tmverify.engines.search import SEARCH
from tmverify.errors import InvalidInputError, shown

AUTO = Engine(
    name="auto",
    decide=at_first_use("auto:decide"),
    find_nearest=at_first_use("auto:nearest"),
    prepare=at_first_use("auto:prepare"),
    certifies=True,
    trust=equivalence.TRUST,
    signers=(
        Signer("search", (("search",), ("search", "sat")), region="ball"),
        Signer("sat", (("search", "sat"),), region="ball"),
        *equivalence.SIGNERS,
        *BRUTE.signers,
    ),
)
ENGINES: tuple[Engine, ...] = (AUTO, SEARCH, SAT, PAPER, BRUTE, *NETWORK_ENGINES)
ENGINE_NAMES = tuple(dict.fromkeys(engine.name for engine in ENGINES))
_TRUST = {name: words for engine in ENGINES for name, words in engine.trust.items()}


def check_engine(name: object) -> str:
    """Return the name of an engine, or raise InvalidInputError."""
    if not isinstance(name, str) or name not in ENGINE_NAMES:
        raise InvalidInputError(
            f"engine must be one of {', '.join(ENGINE_NAMES)}. Got {shown(name)} instead."
        )
    return name


def check_certifying(name: str) -> None:
    """Raise InvalidInputError unless the engines of that name write certificates."""
    able = dict.fromkeys(engine.name for engine in ENGINES if engine.certifies)
    if name not in able:
        raise InvalidInputError(
            f"engine must be one of {', '.join(able)} for a certificate. Got {name!r} instead."
        )


def engine_for(name: object, asked: object) -> Engine:
    """The engine of that name that takes this query, or queries about this model.

    Raises
    ------
    InvalidInputError
        If there is none.
    """
    wanted = check_engine(name)
    for engine in ENGINES:
        if engine.name == wanted and engine.accepts(asked):
            return engine
    able = [engine for engine in ENGINES if engine.accepts(asked)]
    subject = able[0].subject if able else type(asked).__name__
    raise InvalidInputError(
        f"engine must be one of {', '.join(engine.name for engine in able)} for {subject}. "
        f"Got {wanted!r} instead."
    )


def trust_in(names: Iterable[str]) -> tuple[str, ...]:
    """What a proof by these engines, or parts of engines, rests on if there is no certificate."""
    return tuple(dict.fromkeys(words for name in names for words in _TRUST[name]))
