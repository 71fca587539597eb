"""NetworkQuery: the compiled form of a question about a binarized network.

    Is there an input z in the region that the network does not put into class ``expected``?

A network has no clauses to pool, so there is nothing more to compile; engines specialise the network to the
region themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from tmverify.bnn.model import BnnModel
from tmverify.errors import InvalidInputError
from tmverify.properties.query import AnyQuery, query_change
from tmverify.properties.region import Region


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NetworkQuery(AnyQuery):
    """One decision problem about a network. Built by ``robustness_query``."""

    machines: tuple[BnnModel]
    expected: int

    @property
    def network(self) -> BnnModel:
        """The network that the question is about."""
        return self.machines[0]

    def proof_header(self) -> tuple[str, ...]:
        """Empty: a proof about a network goes by shells, the inputs that are exactly k flips away."""
        return ()


@query_change.register
def query_network_change(
    network: BnnModel, expected: int, region: Region, wanted: int | None = None, margin: int = 0
) -> NetworkQuery:
    """``query_change`` for a network."""
    if margin:
        raise InvalidInputError(
            "A binarized network can't be asked about a margin: its outputs are no votes."
        )
    if wanted is not None:
        raise InvalidInputError("A binarized network can't be asked about a target.")
    if not region.rules.about_bits:
        raise InvalidInputError(
            "A binarized network can be asked about bits only: pass distance='bits', features or direction."
        )
    return NetworkQuery(machines=(network,), expected=expected, region=region)
