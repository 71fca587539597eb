"""Which counter for votes? The instances that the bound leaves open, each encoding, the same solver.

    python benchmarks/encodings.py [--instances 8] [--timeout 10] [--epsilon 4] [--seed 0]

Our three counters and two of PySAT's. A time-out counts as the limit. Each solve runs in a process of its
own, which is ended at the limit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Iterator, Sequence

import numpy as np
from pysat.card import CardEnc, EncType
from pysat.solvers import Solver
from rich.console import Console
from rich.table import Table
from workload import Workload, workloads

import tmverify as tv
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.adder import adder_at_most
from tmverify.engines.sat.encodings.sequential import sequential_counter
from tmverify.engines.sat.encodings.totalizer import totalizer_at_most
from tmverify.engines.sat.specialised import SOLVER, AtMost, encode
from tmverify.engines.search.problem import Problem, part, problem_of
from tmverify.engines.search.sweep import swept


def sequential_at_most(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int], limit: int) -> list[int]:
    repeated = [lit for lit, w in zip(inputs, weights, strict=True) for _ in range(w)]
    return [int(sequential_counter(cnf, repeated, limit + 1)[-1])]


def pysat_at_most(encoding: int) -> AtMost:
    def at_most(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int], limit: int) -> list[int]:
        repeated = [lit for lit, w in zip(inputs, weights, strict=True) for _ in range(w)]
        exceeds = cnf.new_var()
        made = CardEnc.atmost(repeated, limit, top_id=cnf.n_vars, encoding=encoding)
        cnf.n_vars = max(cnf.n_vars, made.nv)
        for clause in made.clauses:
            cnf.add(*clause, exceeds)
        return [exceeds]

    return at_most


ENCODINGS: dict[str, AtMost] = {
    "totalizer": totalizer_at_most,
    "adder": adder_at_most,
    "sequential": sequential_at_most,
    "PySAT kmtotalizer": pysat_at_most(EncType.kmtotalizer),
    "PySAT cardnetwrk": pysat_at_most(EncType.cardnetwrk),
}


def open_instances(workload: Workload, epsilon: int, n: int, rng: np.random.Generator) -> Iterator[Problem]:
    """Single cases that the sweep before the solver does not settle, one for each input."""
    for i in rng.permutation(len(workload.X)):
        query = tv.robustness_query(workload.model, workload.X[i], epsilon, scope=int(workload.y[i]))
        whole = problem_of(query, epsilon)
        rest = (swept(part(whole, case, whole.radius)) for case in query.cases)
        one = next((problem for closed, problem in rest if not closed and len(problem.middles)), None)
        if one is not None:
            yield one
            n -= 1
        if n == 0:
            return


def solve(problem: Problem, encoding: str, result: multiprocessing.queues.Queue[tuple[float, int]]) -> None:
    start = time.perf_counter()
    cnf, _, _ = encode(problem, [range(len(problem.bounds))], ENCODINGS[encoding])
    with Solver(name=SOLVER) as solver:
        for block in cnf.blocks():
            solver.append_formula(block)
        solver.solve()
    result.put((time.perf_counter() - start, cnf.n_clauses))


def measure(problem: Problem, encoding: str, limit: float) -> tuple[float, int | None]:
    context = multiprocessing.get_context("fork")
    result = context.Queue()
    process = context.Process(target=solve, args=(problem, encoding, result))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return limit, None
    seconds, size = result.get()
    return seconds, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--epsilon", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for workload in workloads(options.seed):
        rng = np.random.default_rng(options.seed)
        instances = list(open_instances(workload, options.epsilon, options.instances, rng))
        table = Table(title=f"{workload.name}: {len(instances)} open instances at epsilon {options.epsilon}")
        for column in ("encoding", "median s", "mean s", "solved", "median clauses"):
            table.add_column(column)
        for encoding in ENCODINGS:
            runs = [measure(one, encoding, options.timeout) for one in instances]
            sizes = [size for _, size in runs if size is not None]
            seconds = [t for t, _ in runs]
            table.add_row(
                encoding,
                f"{np.median(seconds):.3f}" if runs else "-",
                f"{np.mean(seconds):.3f}" if runs else "-",
                f"{len(sizes)} of {len(runs)}",
                f"{np.median(sizes):.0f}" if sizes else "-",
            )
        Console(width=120).print(table)


if __name__ == "__main__":
    main()
