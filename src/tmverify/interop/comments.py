"""Comments in exported files: the question asked, and the features and clauses that variables stand for.

The lines are the same in every format, each after the format's own comment sign:

    question robustness, scope team        or: scope class 3 (ill), by index and label
    model 0 = sha256 54a4c399…             the whole model, also where the scope is one of its classes
    region at most 2 flips of the input, only 0 to 1
    input from 0 = 0110…                   features 0 to 99 of that input, and so on
    mutable from 0 = 1101…                 likewise, if not all features may flip: 1 where one may
    bit 17 = feature 4 (contrast)          variable 17 is true (1) iff feature 4 is 1 in the witness
    bit -17 = feature 4 (contrast)         variable 17 is true iff feature 4 is 0 in the witness (CNF only)
    fixed feature 5 = 1 (size)             feature 5 is 1 in the witness: it can't or need not change
    clause 23 = model 0 clause 7           variable 23 stands for the output of that clause

Features and clauses are numbered from 0; feature names follow if the model has them. A clause variable may be
tied to its clause in one direction only, and clauses that cannot change have no variable.

Invariant: names may come from untrusted files, and a comment stays a comment whatever they contain. A name
has no line break of any kind, no control character, and few more bytes than ``MAX_NAME_BYTES``: readers with
a fixed buffer may take the rest of a long line for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Classifier
from tmverify.model.names import named_first
from tmverify.properties.query import Query

MAX_NAME_BYTES = 90  # keeps these lines below 255, the lowest limit of LP readers
BITS_A_LINE = 100


def comment_lines(
    sign: str,
    query: Query,
    meaning: str,
    origin: NDArray[np.uint8],
    bits: Mapping[int, int | str],
    clauses: Mapping[int, int | str],
) -> Iterator[str]:
    """The comments, each after the format's comment sign.

    Parameters
    ----------
    sign : str
    query : Query
    meaning : str
        What the solver's answer means.
    origin : uint8 array, (n_features,)
        The value of each feature that has no variable.
    bits : mapping of feature index to variable
    clauses : mapping of pool clause index to variable
    """
    yield f"{sign} tmverify: {meaning}"
    for line in _question(query):
        yield f"{sign} {line}"
    names = named_first(query.machines).feature_names
    for feature in range(query.region.n_features):
        name = "" if names is None else f" ({comment_text(names[feature])})"
        if feature in bits:
            yield f"{sign} bit {bits[feature]} = feature {feature}{name}"
        else:
            yield f"{sign} fixed feature {feature} = {origin[feature]}{name}"
    for index, variable in clauses.items():
        machine_index, clause = query.sources[index]
        yield f"{sign} clause {variable} = model {machine_index} clause {clause}"


def _question(query: Query) -> Iterator[str]:
    models: Sequence[Classifier] = query.machines if query.topic is None else query.topic.models
    if query.topic is not None:
        scope = query.topic.scope
        if scope != "team":
            scope = f"class {models[0].class_index(scope)} ({comment_text(str(scope))})"
        yield f"question {query.topic.question}, scope {scope}"
    for m, model in enumerate(models):
        yield f"model {m} = sha256 {model.content_hash}"
    region = query.region
    if region.center is None:
        yield "region every input"
        return
    way = {None: "", "add": ", only 0 to 1", "remove": ", only 1 to 0"}[region.rules.direction]
    yield f"region at most {region.radius} flips of the input{way}"
    yield from _bits("input", region.center)
    if not region.mutable.all():
        yield from _bits("mutable", region.mutable.astype(np.uint8))


def _bits(what: str, values: NDArray[np.uint8]) -> Iterator[str]:
    for start in range(0, len(values), BITS_A_LINE):
        yield f"{what} from {start} = {''.join(map(str, values[start : start + BITS_A_LINE].tolist()))}"


def comment_text(name: str) -> str:
    """``name`` in a form that can't end a comment."""
    # ``split`` removes every line break and separator of Unicode; other unprintable characters are escaped.
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(name.split()))
    encoded = text.encode()
    if len(encoded) <= MAX_NAME_BYTES:
        return text
    return encoded[:MAX_NAME_BYTES].decode(errors="ignore") + "…"
