"""tmverify: prove what a Tsetlin machine will and will not do.

::

    Model(s) + question ─compile→ Query ─engine→ answer ─replayed→ Verdict

    errors        one exception tree
    model/        what a Tsetlin machine is: clauses, decision rule, evaluators, file format
    kernels/      numba primitives
    properties/   what can be asked: one file per question, each compiles to a Query
    engines/      how a Query is decided: sat, paper, brute
    verify/       decide(query) → Verdict, and the check_* functions
    data/         inputs from files
    interop/      DIMACS out
    cli/          one file per subcommand

Imports point one way: cli → interop, data → verify → engines → properties → model → kernels, errors.
"""

from tmverify.errors import DataFormatError, InvalidInputError, ModelError, ModelFormatError, TmVerifyError
from tmverify.interop.dimacs import to_dimacs
from tmverify.model import Model
from tmverify.model.file import load
from tmverify.properties import (
    Query,
    Status,
    StopReason,
    UniversalVerdict,
    Verdict,
    equivalence_query,
    robustness_query,
    similarity_query,
)
from tmverify.verify import (
    check_equivalence,
    check_robustness,
    check_similarity,
    check_universal_robustness,
    check_universal_similarity,
    decide,
)

__version__ = "0.1.0"

__all__ = [
    "DataFormatError",
    "InvalidInputError",
    "Model",
    "ModelError",
    "ModelFormatError",
    "Query",
    "Status",
    "StopReason",
    "TmVerifyError",
    "UniversalVerdict",
    "Verdict",
    "check_equivalence",
    "check_robustness",
    "check_similarity",
    "check_universal_robustness",
    "check_universal_similarity",
    "decide",
    "equivalence_query",
    "load",
    "robustness_query",
    "similarity_query",
    "to_dimacs",
]
