"""Comments in exported files: the question asked, and the features and clauses that variables stand for.

The lines are the same in every format, each after the format's own comment sign:

    question robustness, scope team        or: scope class 3 (ill), by index and label
    target class 1 (well)                  if a certain class is wished
    model 0 = sha256 54a4c399…             the whole model, also where the scope is one of its classes
    region at most 2 flips of the input, only 0 to 1
    input from 0 = 0110…                   features 0 to 99 of that input, and so on
    mutable from 0 = 1101…                 likewise, if not all features may flip: 1 where one may
    bit 17 = feature 4 (contrast)          variable 17 is true (1) iff feature 4 is 1 in the witness
    bit -17 = feature 4 (contrast)         variable 17 is true iff feature 4 is 0 in the witness (CNF only)
    cost feature 4 = 2                     what its flip costs, if that is not 1
    fixed feature 5 = 1 (size)             feature 5 is 1 in the witness: it can't or need not change
    clause 23 = model 0 clause 7           variable 23 stands for the output of that clause

Where columns may change, the region is in words, and columns that are more than a bit have a variable for
each value that they may take instead of their own. At most one of a column is true:

    region changes that cost at most 3 together; each changed column costs 1
    region every possible input; each changed column costs 1
    start from 0 = 0110…                   without an input, what costs are counted from
    rule column 0 (age) may only increase  or: may only decrease; does not change; costs 2 (a cut)
    rule column 3 (city) allows Oslo       it may change to this, and to what other such lines allow
    column 3 (city) is Bergen, unless a value of it is true
    column 3 from 10 = 1000                features 10 to 13 of the witness then
    value 19 = column 3 is Oslo, cost 1
    value 19 from 10 = 0010                features 10 to 13 of the witness if variable 19 is true
    part feature 10 = column 3 (city = Bergen)

Features, clauses and columns are numbered from 0; names of features follow if the model has them. A clause
variable may be tied to its clause in one direction only, and clauses that cannot change have no variable. Of
values of a column between which no clause tells, only the cheapest has one.

Invariant: names may come from untrusted files, and a comment stays a comment whatever they contain. A name
has no line break of any kind, no control character, and few more bytes than ``MAX_NAME_BYTES``: readers with
a fixed buffer may take the rest of a long line for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.settled import Move
from tmverify.model import Classifier
from tmverify.model.names import named_first
from tmverify.properties.allowed import Distance, Rule
from tmverify.properties.query import Query
from tmverify.space import Column, Space

MAX_NAME_BYTES = 90  # keeps these lines below 255, the lowest limit of LP readers
BITS_A_LINE = 100

Variable = int | str
_UNITS = {
    "columns": "each changed column costs 1",
    "steps": "each cut that a number crosses costs 1, any other change 1",
}
_WAYS = {"keep": "does not change", "up": "may only increase", "down": "may only decrease"}


@dataclass(frozen=True, slots=True, eq=False)
class Variables:
    """What the variables of a file stand for.

    Attributes
    ----------
    origin : uint8 array, (n_features,)
        The value of each feature that no variable changes.
    clauses : mapping of pool clause index to variable
    bits : mapping of feature index to variable
    costs : mapping of feature index to int
        What the flip of a feature costs, if that is not 1.
    values : sequence of (variable, Move)
        The values of columns, in the order of the columns.
    """

    origin: NDArray[np.uint8]
    clauses: Mapping[int, Variable]
    bits: Mapping[int, Variable]
    costs: Mapping[int, int] = field(default_factory=dict)
    values: Sequence[tuple[Variable, Move]] = ()


def comment_lines(sign: str, query: Query, meaning: str, variables: Variables) -> Iterator[str]:
    """The comments, each after the format's comment sign.

    Parameters
    ----------
    sign : str
    query : Query
    meaning : str
        What the solver's answer means.
    variables : Variables
    """
    yield f"{sign} tmverify: {meaning}"
    for line in (*_question(query), *_region(query), *_inputs(query, variables)):
        yield f"{sign} {line}"
    for index, variable in variables.clauses.items():
        machine_index, clause = query.sources[index]
        yield f"{sign} clause {variable} = model {machine_index} clause {clause}"


def least(query: Query) -> str:
    """What an optimum is, in words."""
    return "number of flips" if query.region.rules.about_bits else "cost of changes"


def _question(query: Query) -> Iterator[str]:
    models: Sequence[Classifier] = query.machines if query.topic is None else query.topic.models
    if query.topic is not None:
        scope = query.topic.scope
        if scope != "team":
            scope = f"class {models[0].class_index(scope)} ({comment_text(str(scope))})"
        yield f"question {query.topic.question}, scope {scope}"
    if query.wanted is not None:
        yield f"target class {query.wanted} ({comment_text(str(query.machines[0].classes[query.wanted]))})"
    for m, model in enumerate(models):
        yield f"model {m} = sha256 {model.content_hash}"


def _region(query: Query) -> Iterator[str]:
    region, rules = query.region, query.region.rules
    if region.center is None:
        said = "every input" if rules.about_bits else f"every possible input; {_UNITS['columns']}"
        yield f"region {said}"
    elif rules.about_bits:
        way = {None: "", "add": ", only 0 to 1", "remove": ", only 1 to 0"}[rules.direction]
        yield f"region at most {region.radius} flips of the input{way}"
    else:
        yield f"region changes that cost at most {region.radius} together; {_UNITS[rules.distance]}"
        space = named_first(query.machines).space
        for rule in rules.columns:
            for words in _rule(space.columns[rule.column], rule, rules.distance):
                yield f"rule {_column(space, rule.column)} {words}"
    if region.center is not None:
        yield from _bits("input", region.center)
    elif not rules.about_bits:
        yield from _bits("start", region.origin)
    if region.center is not None and rules.about_bits and not region.mutable.all():
        yield from _bits("mutable", region.mutable.astype(np.uint8))


def _rule(column: Column, rule: Rule, distance: Distance) -> Iterator[str]:
    if rule.way != "any":
        yield _WAYS[rule.way]
    if rule.cost != 1:
        by_steps = distance == "steps" and column.kind == "number"
        yield f"costs {rule.cost}{' a cut' if by_steps else ''}"
    for value in rule.values or ():
        yield f"allows {comment_text(column.values[value])}"


def _inputs(query: Query, variables: Variables) -> Iterator[str]:
    """Each feature, and each column that has values."""
    model, bits = named_first(query.machines), variables.bits
    names = model.feature_names
    parts = {feature: move.column for _, move in variables.values for feature in move.flips}
    for feature in range(query.region.n_features):
        name = "" if names is None else f" ({comment_text(names[feature])})"
        if feature in bits:
            yield f"bit {bits[feature]} = feature {feature}{name}"
            if variables.costs.get(feature, 1) != 1:
                yield f"cost feature {feature} = {variables.costs[feature]}"
        elif feature in parts:
            yield f"part feature {feature} = column {parts[feature]}{name}"
        else:
            yield f"fixed feature {feature} = {variables.origin[feature]}{name}"
    for place, own in groupby(variables.values, key=lambda item: item[1].column):
        yield from _values(model.space, place, list(own), variables.origin)


def _values(
    space: Space, place: int, own: Sequence[tuple[Variable, Move]], origin: NDArray[np.uint8]
) -> Iterator[str]:
    """A column and the values that it may take."""
    column = space.columns[place]
    span = slice(column.bits.start, column.bits.stop)
    kept = comment_text(column.words(origin))
    yield f"{_column(space, place)} is {kept}, unless a value of it is true"
    yield from _bits(f"column {place}", origin[span], span.start)
    for variable, move in own:
        bits = origin[span].copy()
        bits[[feature - span.start for feature in move.flips]] ^= 1
        said = comment_text(column.values[move.value])
        yield f"value {variable} = column {place} is {said}, cost {move.cost}"
        yield from _bits(f"value {variable}", bits, span.start)


def _column(space: Space, place: int) -> str:
    return f"column {place} ({comment_text(space.columns[place].name)})"


def _bits(what: str, values: NDArray[np.uint8], first: int = 0) -> Iterator[str]:
    for start in range(0, len(values), BITS_A_LINE):
        bits = "".join(map(str, values[start : start + BITS_A_LINE].tolist()))
        yield f"{what} from {first + start} = {bits}"


def comment_text(name: str) -> str:
    """``name`` in a form that can't end a comment."""
    # ``split`` removes every line break and separator of Unicode; other unprintable characters are escaped.
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(name.split()))
    encoded = text.encode()
    if len(encoded) <= MAX_NAME_BYTES:
        return text
    return encoded[:MAX_NAME_BYTES].decode(errors="ignore") + "…"
