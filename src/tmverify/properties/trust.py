"""What an answer rests on, in words; ``docs/trust.md`` says it at length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

CHECKED = ("the checker tools/tmcheck.py, once it accepts the certificate", "the model file", "Python")
REPLAYED = ("the plain evaluator (tmverify.model.evaluate)", "NumPy")
NETWORK_REPLAYED = ("the plain evaluator of networks (tmverify.bnn.evaluate)", "NumPy")

_ENGINES: Mapping[str, tuple[str, ...]] = {
    "search": ("the engine search (tmverify.engines.search)", "numba", "NumPy"),
    "structure": ("the engine structure (tmverify.engines.equivalence)", "NumPy"),
    "sat": ("the engine sat (tmverify.engines.sat)", "CaDiCaL 1.9.5 in PySAT", "NumPy"),
    "paper": ("the engine paper (tmverify.engines.sat.paper)", "Glucose 4 in PySAT", "NumPy"),
    "network-intervals": ("intervals (tmverify.engines.network.shell)", "NumPy"),
    "network-search": (
        "the enumeration of patterns (tmverify.engines.network.enumerating)",
        "numba",
        "NumPy",
    ),
    "network-sat": (
        "the encoding of networks (tmverify.engines.network.encoding)",
        "CaDiCaL 1.9.5 in PySAT",
        "NumPy",
    ),
    "network-brute": NETWORK_REPLAYED,
    "brute": REPLAYED,
}


def replayed(engines: Iterable[str]) -> tuple[str, ...]:
    """What a counterexample rests on that one of these engines found."""
    return NETWORK_REPLAYED if any(name.startswith("network-") for name in engines) else REPLAYED


def trust_in(engines: Iterable[str]) -> tuple[str, ...]:
    """What a proof by these engines, without a certificate, rests on."""
    return tuple(dict.fromkeys(trusted for name in engines for trusted in _ENGINES[name]))
