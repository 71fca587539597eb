"""The engines ``sat`` and ``paper``, which run in a separate process.

So a solver that hangs, crashes or fills the memory spoils only its own question.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from typing import Any

from tmverify.engines.engine import Answer, Deadline, Decide, Engine, Signer, at_first_use, stopped
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.search import SEARCH
from tmverify.engines.subprocesses.call import Failure, call
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason


def isolated(solver: str, proving: str | None = None) -> Decide:
    """The engine that runs ``solver``, a ``"module:function"`` from Query to Answer, in a worker.

    If evidence is wanted, ``proving`` is run instead, with the path of a file for the evidence; then
    ``solver`` runs only if the problem is too large for a proof.
    """

    def decide(query: Query, deadline: Deadline, log: ProofLog | None = None, /) -> Answer:
        # The machines are for replaying answers; a solver does not need them.
        job = replace(query, machines=(), topic=None)
        if log is None or proving is None:
            return _ask(solver, (job,), deadline)
        try:
            with tempfile.TemporaryDirectory(prefix="tmverify-") as folder:
                path = os.path.join(folder, "evidence")
                answer = _ask(proving, (job, path), deadline)
                log.adopt(path, answer.refutations)
            if answer.stop_reason is StopReason.ENCODING_TOO_LARGE:
                return _ask(solver, (job,), deadline)  # an answer without evidence is better than none
            return replace(answer, refutations=())
        except OSError as error:
            return stopped(StopReason.CRASHED, f"no place for the evidence: {error}")

    return decide


def _ask(solver: str, arguments: tuple[Any, ...], deadline: Deadline) -> Answer:
    reply = call(solver, arguments, deadline)
    if isinstance(reply, Failure):
        return stopped(reply.stop_reason, reply.detail)
    if not isinstance(reply, Answer):
        return stopped(StopReason.CRASHED, f"the solver answered with {type(reply).__name__}")
    return reply


def _prepare(query: Query, certificate: bool) -> None:
    """The worker specialises the query with the search's kernels: compile them into numba's cache."""
    SEARCH.prepare(query, certificate)


SAT = Engine(
    name="sat",
    decide=isolated(
        "tmverify.engines.sat.specialised:solve", proving="tmverify.engines.sat.refutation:solve"
    ),
    prepare=_prepare,
    certifies=True,
    trust={"sat": ("the engine sat (tmverify.engines.sat)", "CaDiCaL 1.9.5 in PySAT", "NumPy")},
    signers=(Signer("sat", (("sat",),)),),
)
PAPER = Engine(
    name="paper",
    decide=isolated("tmverify.engines.sat.paper:solve"),
    prepare=at_first_use("sat.paper:check_about_bits"),
    trust={"paper": ("the engine paper (tmverify.engines.sat.paper)", "Glucose 4 in PySAT", "NumPy")},
    signers=(Signer("paper", (("paper",),)),),
)
