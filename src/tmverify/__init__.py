"""tmverify: train Tsetlin machines fast, and prove what they will and will not do.

::

    arrays ─binarize→ bits ─train→ automata ─freeze→ Model

    Model(s) + question ─compile→ Query ─engine→ answer ─replayed→ Verdict ─→ Certificate ─tmcheck→ accepted

    errors        one exception tree
    model/        what a Tsetlin machine is: clauses, decision rule, evaluators, file format
    bnn/          what a binarized network is, how it is trained and frozen
    kernels/      numba primitives
    properties/   what can be asked: one file per question, each compiles to a Query
    engines/      how a Query is decided: search, sat, paper, brute; network/ for binarized networks
    certificates/ why an answer can be believed: claim, proof, and the checker of both
    verify/       decide(query) → Verdict, the check_* functions, the radius
    data/         inputs from files, datasets, binarizers
    campaign/     many questions: plans, a store of answers, workers
    report/       a store as one HTML file
    training/     how a Model is learnt (Algorithm 1): scikit-learn estimator, numba kernels
    drafts        files that are written whole or not at all
    extras        packages that only some uses need
    interrupts    Ctrl-C once
    estimators/   what estimators share: parameters checked, a line while they learn
    interop/      other libraries' models in; solver formats, C and Verilog out
    cli/          one file per subcommand

Imports point one way: cli → report, interop, training → campaign → data → verify → engines, certificates →
properties → bnn → model → kernels, drafts, extras → errors. scikit-learn, numba, joblib and the solvers are
imported at first use.
"""

from typing import TYPE_CHECKING, Any

from tmverify.certificates import Certificate
from tmverify.data import Dataset, load_dataset
from tmverify.errors import (
    CertificateError,
    ClusterError,
    DataFormatError,
    ImportMismatchError,
    InvalidInputError,
    MissingExtraError,
    ModelError,
    ModelFormatError,
    PlanError,
    StoreError,
    TmVerifyError,
    TrainingStateError,
)
from tmverify.interop import to_c, to_dimacs, to_lp, to_opb, to_smtlib, to_verilog, to_wcnf
from tmverify.model import Model
from tmverify.model.file import load
from tmverify.properties import (
    Query,
    Radius,
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
    robustness_radius,
    similarity_radius,
)

if TYPE_CHECKING:
    from tmverify.campaign import Plan, read_plan, run_campaign
    from tmverify.data.binarizers import (
        AdaptiveGaussianBinarizer,
        TableBinarizer,
        ThermometerBinarizer,
        ThresholdBinarizer,
        WordBinarizer,
    )
    from tmverify.report import write_report
    from tmverify.training import TsetlinMachineClassifier

__version__ = "0.1.0"

_AT_FIRST_USE = {
    "Plan": "tmverify.campaign",
    "read_plan": "tmverify.campaign",
    "run_campaign": "tmverify.campaign",
    "write_report": "tmverify.report",
    "AdaptiveGaussianBinarizer": "tmverify.data.binarizers",
    "TableBinarizer": "tmverify.data.binarizers",
    "ThermometerBinarizer": "tmverify.data.binarizers",
    "ThresholdBinarizer": "tmverify.data.binarizers",
    "TsetlinMachineClassifier": "tmverify.training",
    "WordBinarizer": "tmverify.data.binarizers",
}

__all__ = [
    "AdaptiveGaussianBinarizer",
    "Certificate",
    "CertificateError",
    "ClusterError",
    "DataFormatError",
    "Dataset",
    "ImportMismatchError",
    "InvalidInputError",
    "MissingExtraError",
    "Model",
    "ModelError",
    "ModelFormatError",
    "Plan",
    "PlanError",
    "Query",
    "Radius",
    "Status",
    "StopReason",
    "StoreError",
    "TableBinarizer",
    "ThermometerBinarizer",
    "ThresholdBinarizer",
    "TmVerifyError",
    "TrainingStateError",
    "TsetlinMachineClassifier",
    "UniversalVerdict",
    "Verdict",
    "WordBinarizer",
    "check_equivalence",
    "check_robustness",
    "check_similarity",
    "check_universal_robustness",
    "check_universal_similarity",
    "decide",
    "equivalence_query",
    "load",
    "load_dataset",
    "read_plan",
    "robustness_query",
    "robustness_radius",
    "run_campaign",
    "similarity_query",
    "similarity_radius",
    "to_c",
    "to_dimacs",
    "to_lp",
    "to_opb",
    "to_smtlib",
    "to_verilog",
    "to_wcnf",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _AT_FIRST_USE:
        from importlib import import_module

        return getattr(import_module(_AT_FIRST_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
