"""NetworkQuery: what a question about a binarized network compiles to.

    Is there an input z in the region that the network does not put into class ``expected``?

A network has no clauses to pool, so this is all there is to compile; engines specialise the network to the
region themselves. As for a Query, ``refuted_by`` judges a witness by the plain evaluator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.evaluate import reference_classes
from tmverify.bnn.model import BnnModel
from tmverify.errors import InvalidInputError
from tmverify.properties.query import Query
from tmverify.properties.region import Region


@dataclass(frozen=True, slots=True, eq=False)
class NetworkTopic:
    """What was asked, of whom."""

    models: tuple[BnnModel]
    question: Literal["robustness"] = "robustness"
    scope: Literal["team"] = "team"


@dataclass(frozen=True, slots=True, eq=False)
class NetworkQuery:
    """One decision problem about a network. Built by ``robustness_query``."""

    network: BnnModel
    region: Region
    expected: int

    @property
    def topic(self) -> NetworkTopic:
        """For the certificate: what was asked is always the same."""
        return NetworkTopic((self.network,))

    @property
    def machines(self) -> tuple[BnnModel]:
        """Whose decisions are compared with ``expected``."""
        return (self.network,)

    @property
    def cells(self) -> int:
        """What evaluating one input takes, roughly."""
        return sum(layer.weights.size for layer in self.network.layers)

    def decisions(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Class indices that should agree, (n, 2), on each row of a checked uint8 matrix."""
        found = reference_classes(self.network, bits)
        return np.stack([np.full(len(bits), self.expected), found], axis=1)

    def refuted_by(self, z: NDArray[np.uint8]) -> bool:
        """Whether ``z`` lies in the region and is decided otherwise, by the plain evaluator."""
        first, second = self.decisions(z[None, :])[0]
        return self.region.contains(z) and bool(first != second)


AnyQuery = Query | NetworkQuery


def check_any_query(query: object) -> None:
    """Raise InvalidInputError unless ``query`` is a Query, of machines or of a network."""
    if not isinstance(query, Query | NetworkQuery):
        raise InvalidInputError(
            f"query must be a Query, from robustness_query, similarity_query or equivalence_query. "
            f"Got {type(query).__name__} instead."
        )


def network_query(network: BnnModel, region: Region) -> NetworkQuery:
    """Can the decision at the centre of ``region`` change within it?"""
    expected = int(reference_classes(network, region.origin[None, :])[0])
    return NetworkQuery(network, region, expected)
