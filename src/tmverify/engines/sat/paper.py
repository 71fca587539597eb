"""The paper's engine: Eqs. 2-5 and NotRob / NotSim, clause by clause, solved with Glucose 4.

It is the baseline that tmverify is measured against, so it follows the paper exactly:

- Eq. 3: a variable per clause, equivalent to its conjunction;
- Eq. 4: a full sequential counter per polarity;
- Eq. 5: o_j <-> (r-_j -> r+_j), o <-> and_j o_j: "the votes against never outnumber the votes for";
- NotRob: flip variables, not rho(sum l_j >= eps + 1), x_j <-> I[j] xor l_j, and the output differs;
- NotSim and equivalence: both encodings over the same x, and o_1 xor o_2.

What the paper does not specify follows the same pattern. A clause of weight w counts w times. A constraint
``P - N >= b`` between two sums is o_j <-> (N >= j -> P >= j + b), for every j: a bias or a tie rule only
shifts the index. For a plain machine this is exactly Eq. 5, with o for class 1 and not o for class 0
(``tie="negative"``: the counters are swapped, as in Eq. 1). Several cases are one disjunction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Answer, EncodingTooLargeError
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.sequential import sequential_counter
from tmverify.engines.sat.formula import Formula, add_conjunction, solve_formulas
from tmverify.errors import InvalidInputError
from tmverify.properties.query import Query

SOLVER = "glucose4"
# A cell takes four clauses: with more cells, a formula takes more than about ten gigabytes in the solver.
MAX_COUNTER_CELLS = 25_000_000


def solve(query: Query) -> Answer:
    """Decide ``query``, without a time limit."""
    return solve_formulas(lambda: iter([encode_paper(query)]), SOLVER)


def encode_paper(query: Query) -> Formula:
    """The query in the paper's encoding.

    Raises
    ------
    InvalidInputError
        If columns are more than bits.
    """
    check_about_bits(query)
    _check_size(query)
    cnf = Cnf()
    x = cnf.new_vars(query.region.n_features).tolist()
    clause_vars = [
        add_conjunction(cnf, (x[abs(lit) - 1] if lit > 0 else -x[abs(lit) - 1] for lit in clause))
        for clause in query.clauses
    ]
    outputs: dict[tuple[bytes, int], int] = {}
    holds = [
        _constraint(cnf, clause_vars, constraint.weights(query.votes), constraint.bound, outputs)
        for constraint in query.constraints
    ]
    cnf.add(*(add_conjunction(cnf, (holds[c] for c in case)) for case in query.cases))
    if query.region.center is not None:
        _stay_in_ball(cnf, query, x)
    return Formula(cnf, query.region.origin, dict(enumerate(x)), dict(enumerate(clause_vars)))


def check_about_bits(query: Query, _certificate: bool = False) -> None:
    """Raise InvalidInputError if ``query`` is about columns: the paper's encoding is about bits."""
    if not query.region.plain:
        raise InvalidInputError(
            "The engine and the encoding 'paper' are about bits. Pass distance='bits', which also takes "
            "inputs that can't exist, or use another engine."
        )


def _stay_in_ball(cnf: Cnf, query: Query, x: list[int]) -> None:
    region = query.region
    flips = cnf.new_vars(region.n_features).tolist()
    if region.radius < region.n_features:
        cnf.add(-int(sequential_counter(cnf, flips, region.radius + 1)[-1]))
    for var, flip, bit, mutable in zip(
        x, flips, region.origin.tolist(), region.mutable.tolist(), strict=True
    ):
        same = var if bit else -var
        cnf.add(flip, same)
        cnf.add(-flip, -same)
        if not mutable:
            cnf.add(-flip)


def _constraint(
    cnf: Cnf,
    clause_vars: list[int],
    weights: NDArray[np.int64],
    bound: int,
    outputs: dict[tuple[bytes, int], int],
) -> int:
    """A literal equivalent to ``weights . clauses >= bound``; a machine and its negation share one o."""
    negated, weights, bound = _as_output(weights, bound)
    key = (weights.tobytes(), bound)
    if key not in outputs:
        outputs[key] = _output(cnf, clause_vars, weights, bound)
    return -outputs[key] if negated else outputs[key]


def _as_output(weights: NDArray[np.int64], bound: int) -> tuple[bool, NDArray[np.int64], int]:
    """Write ``weights . clauses >= bound`` with a bound <= 0, as o or as not o."""
    return (False, weights, bound) if bound <= 0 else (True, -weights, 1 - bound)


def _output(cnf: Cnf, clause_vars: list[int], weights: NDArray[np.int64], bound: int) -> int:
    """The paper's o, for ``P - N >= bound`` with bound <= 0."""
    positive = _counted(clause_vars, weights)
    negative = _counted(clause_vars, -weights)
    r_plus = sequential_counter(cnf, positive, len(positive)).tolist()
    r_minus = sequential_counter(cnf, negative, len(negative)).tolist()
    each = []
    for j in range(1, len(negative) + 1):
        needed = j + bound
        if needed <= 0:
            continue  # P >= 0 always
        o_j = cnf.new_var()
        minus = r_minus[j - 1]
        cnf.add(o_j, minus)
        if needed <= len(positive):
            plus = r_plus[needed - 1]
            cnf.add(-o_j, -minus, plus)
            cnf.add(o_j, -plus)
        else:
            cnf.add(-o_j, -minus)
        each.append(o_j)
    return add_conjunction(cnf, each)


def _counted(clause_vars: list[int], weights: NDArray[np.int64]) -> list[int]:
    """Each clause of positive weight, repeated as often as its weight."""
    return [var for var, w in zip(clause_vars, weights.tolist(), strict=True) for _ in range(w)]


def _check_size(query: Query) -> None:
    cells = {}
    for constraint in query.constraints:
        _, weights, bound = _as_output(constraint.weights(query.votes), constraint.bound)
        sizes = (int(weights[weights > 0].sum()), int(weights[weights < 0].sum()))
        cells[weights.tobytes(), bound] = sizes[0] ** 2 + sizes[1] ** 2
    region = query.region
    flips = 0 if region.center is None else region.n_features * (region.radius + 1)
    total = sum(cells.values()) + flips
    if total > MAX_COUNTER_CELLS:
        raise EncodingTooLargeError(
            f"the paper's counters would have {total} cells, more than the {MAX_COUNTER_CELLS} "
            f"that this engine tries to hold in memory"
        )
