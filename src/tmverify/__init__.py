"""tmverify: train Tsetlin machines fast, and prove what they will and will not do.

::

    arrays ─binarize→ bits ─train→ automata ─freeze→ Model

    Model(s) + question ─compile→ Query ─engine→ answer ─replayed→ Verdict ─→ Certificate ─tmcheck→ accepted

    errors        one exception tree
    kernels/      numba primitives that several packages use
    estimators/   how the parameters of estimators are checked
    atomic        files that are written whole or not at all
    extras        packages that only some uses need
    interrupts    Ctrl-C once
    progress      the one progress bar
    model/        what a classifier is, and a Tsetlin machine: clauses, decision rule, inference, file format
    properties/   what can be asked (``questions``: each compiles to a Query), and what an answer is
    bnn/          what a binarized network is, how it is trained and frozen, its NetworkQuery
    engines/      how a Query is decided: search, sat, paper, brute; network/ for binarized networks
    certificates/ why an answer can be believed: claim, proof, and the checker of both
    verify/       decide(query) → Verdict, the check_* functions, the radius
    data/         inputs from files, datasets, binarizers
    asking/       many questions as tasks, their answers, and tallies of these
    campaign/     plans, a store of answers, workers, and the one loop that asks: ``run.ask``
    training/     how a Model is learnt (Algorithm 1): scikit-learn estimator, numba kernels
    report/       a store as one HTML file
    interop/      other libraries' models in; solver formats, C and Verilog out
    cli/          the command line

Imports point one way: cli → report, interop, training → campaign → asking → data → verify → engines,
certificates → bnn → properties → model → kernels, estimators, atomic, extras, interrupts, progress → errors.
``docs/glossary.md`` has the words. Every public name is imported at its first use, and with it NumPy, numba,
scikit-learn or a solver, if it needs them: ``import tmverify`` takes no time.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmverify.campaign import Plan, read_plan, run_campaign
    from tmverify.certificates import Certificate
    from tmverify.data import Dataset, load_dataset
    from tmverify.data.binarizers import (
        AdaptiveGaussianBinarizer,
        TableBinarizer,
        ThermometerBinarizer,
        ThresholdBinarizer,
        WordBinarizer,
    )
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
    from tmverify.model.load import load
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
    from tmverify.report import write_report
    from tmverify.training import TsetlinMachineClassifier
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

__version__ = "0.1.0"

# Where a public name is at home, and the packages that are reached as attributes.
_HOME = {
    "AdaptiveGaussianBinarizer": "data.binarizers",
    "Certificate": "certificates",
    "CertificateError": "errors",
    "ClusterError": "errors",
    "DataFormatError": "errors",
    "Dataset": "data",
    "ImportMismatchError": "errors",
    "InvalidInputError": "errors",
    "MissingExtraError": "errors",
    "Model": "model",
    "ModelError": "errors",
    "ModelFormatError": "errors",
    "Plan": "campaign",
    "PlanError": "errors",
    "Query": "properties",
    "Radius": "properties",
    "Status": "properties",
    "StopReason": "properties",
    "StoreError": "errors",
    "TableBinarizer": "data.binarizers",
    "ThermometerBinarizer": "data.binarizers",
    "ThresholdBinarizer": "data.binarizers",
    "TmVerifyError": "errors",
    "TrainingStateError": "errors",
    "TsetlinMachineClassifier": "training",
    "UniversalVerdict": "properties",
    "Verdict": "properties",
    "WordBinarizer": "data.binarizers",
    "check_equivalence": "verify",
    "check_robustness": "verify",
    "check_similarity": "verify",
    "check_universal_robustness": "verify",
    "check_universal_similarity": "verify",
    "decide": "verify",
    "equivalence_query": "properties",
    "load": "model.load",
    "load_dataset": "data",
    "read_plan": "campaign",
    "robustness_query": "properties",
    "robustness_radius": "verify",
    "run_campaign": "campaign",
    "similarity_query": "properties",
    "similarity_radius": "verify",
    "to_c": "interop",
    "to_dimacs": "interop",
    "to_lp": "interop",
    "to_opb": "interop",
    "to_smtlib": "interop",
    "to_verilog": "interop",
    "to_wcnf": "interop",
    "write_report": "report",
}
_PACKAGES = {*(home.split(".")[0] for home in _HOME.values()), "bnn", "engines", "kernels"}

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
    from importlib import import_module

    if name in _HOME:
        found = getattr(import_module(f"tmverify.{_HOME[name]}"), name)
        globals()[name] = found  # from now on without this function
        return found
    if name in _PACKAGES:
        return import_module(f"tmverify.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
