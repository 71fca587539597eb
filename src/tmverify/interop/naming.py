"""Names: the comments that lead from a solver's variables back to features and clauses.

The same lines in every format, each behind the format's own comment sign:

    bit 17 = feature 4 (contrast)          variable 17 is true (1) iff feature 4 is 1 in the witness
    bit -17 = feature 4 (contrast)         variable 17 is true iff feature 4 is 0 in the witness (CNF only)
    fixed feature 5 = 1 (size)             feature 5 is 1 in every witness
    clause 23 = model 0 clause 7           variable 23 stands for the output of that clause

Indices count from 0, the features' names follow where the model has them. A clause variable may be tied to
its clause in one direction only, and clauses that cannot change have none.

Invariant: names come from files of strangers, and a comment stays a comment whatever they hold. A name has
no line break of any kind, no control character, and not many more than ``MAX_NAME_BYTES``: readers with a
fixed buffer may take the rest of a long line for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tmverify.properties.query import Query

MAX_NAME_BYTES = 180  # a line of the map stays below 255, the shortest limit of LP readers


def map_lines(
    query: Query,
    meaning: str,
    origin: NDArray[np.uint8],
    bits: Mapping[int, int | str],
    clauses: Mapping[int, int | str],
) -> Iterator[str]:
    """The map back, line by line, without comment signs.

    Parameters
    ----------
    query : Query
    meaning : str
        What the solver's answer says.
    origin : uint8 array, (n_features,)
        The value of each feature that has no variable.
    bits : mapping of feature index to variable
    clauses : mapping of pool clause index to variable
    """
    yield f"tmverify: {meaning}"
    for m, machine in enumerate(query.machines):
        yield f"model {m} = sha256 {machine.content_hash}"
    for feature in range(query.region.n_features):
        name = _name(query, feature)
        if feature in bits:
            yield f"bit {bits[feature]} = feature {feature}{name}"
        else:
            yield f"fixed feature {feature} = {origin[feature]}{name}"
    for index, variable in clauses.items():
        machine_index, clause = query.sources[index]
        yield f"clause {variable} = model {machine_index} clause {clause}"


def _name(query: Query, feature: int) -> str:
    names = query.machines[0].feature_names
    return "" if names is None else f" ({comment_text(names[feature])})"


def comment_text(name: str) -> str:
    """``name`` in a form that can't end a comment."""
    # ``split`` knows every line break and separator of Unicode; what else does not print is escaped.
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(name.split()))
    encoded = text.encode()
    if len(encoded) <= MAX_NAME_BYTES:
        return text
    return encoded[:MAX_NAME_BYTES].decode(errors="ignore") + "…"
