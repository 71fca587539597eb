"""tmverify: train Tsetlin machines fast, and prove what they will and will not do.

::

    rows ─Space.encode→ bits ─train→ automata ─freeze→ Model

    Model(s) + question ─compile→ Query ─engine→ answer ─replayed→ Verdict ─→ Certificate ─tmcheck→ accepted

    errors        one exception tree
    kernels/      numba primitives that several packages use
    estimators/   how the parameters of estimators are checked
    atomic        files that are written whole or not at all
    extras        packages that only some uses need
    interrupts    a second Ctrl-C is ignored while results are saved
    lazy          names that are imported at their first use
    progress      the one progress bar
    space/        what bits mean: columns in the user's words, raw rows to bits and back
    display/      what people see of inputs, changes and reasons: pictures, cells, words; cards for notebooks
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
    report/       the answers in a store as one HTML file
    studio/       a decision, seen and bent on a local page, with its proofs
    interop/      other libraries' models in; solver formats, C and Verilog out
    cli/          the command line

Imports point one way: cli → studio → report, interop, training → campaign → asking → data → verify →
engines, certificates → bnn → properties → model → display → space → kernels, estimators, atomic, extras,
interrupts, progress → errors.
``docs/glossary.md`` explains the terms. Every public name is imported at its first use, and with it NumPy,
numba, scikit-learn or a solver, if it needs them: ``import tmverify`` takes no time.
"""

from typing import TYPE_CHECKING

from tmverify.lazy import names_at_first_use

if TYPE_CHECKING:
    from tmverify.campaign import Plan as Plan
    from tmverify.campaign import read_plan as read_plan
    from tmverify.campaign import run_campaign as run_campaign
    from tmverify.certificates import Certificate as Certificate
    from tmverify.data import Dataset as Dataset
    from tmverify.data import load_dataset as load_dataset
    from tmverify.data.binarizers import AdaptiveGaussianBinarizer as AdaptiveGaussianBinarizer
    from tmverify.data.binarizers import TableBinarizer as TableBinarizer
    from tmverify.data.binarizers import ThermometerBinarizer as ThermometerBinarizer
    from tmverify.data.binarizers import ThresholdBinarizer as ThresholdBinarizer
    from tmverify.data.binarizers import WordBinarizer as WordBinarizer
    from tmverify.errors import CertificateError as CertificateError
    from tmverify.errors import ClusterError as ClusterError
    from tmverify.errors import DataFormatError as DataFormatError
    from tmverify.errors import ImportMismatchError as ImportMismatchError
    from tmverify.errors import InvalidInputError as InvalidInputError
    from tmverify.errors import MissingExtraError as MissingExtraError
    from tmverify.errors import ModelError as ModelError
    from tmverify.errors import ModelFormatError as ModelFormatError
    from tmverify.errors import PlanError as PlanError
    from tmverify.errors import StoreError as StoreError
    from tmverify.errors import TmVerifyError as TmVerifyError
    from tmverify.errors import TrainingStateError as TrainingStateError
    from tmverify.interop import to_c as to_c
    from tmverify.interop import to_dimacs as to_dimacs
    from tmverify.interop import to_lp as to_lp
    from tmverify.interop import to_opb as to_opb
    from tmverify.interop import to_smtlib as to_smtlib
    from tmverify.interop import to_verilog as to_verilog
    from tmverify.interop import to_wcnf as to_wcnf
    from tmverify.model import Model as Model
    from tmverify.model.file import load as load
    from tmverify.properties import Query as Query
    from tmverify.properties import Radius as Radius
    from tmverify.properties import Status as Status
    from tmverify.properties import StopReason as StopReason
    from tmverify.properties import UniversalVerdict as UniversalVerdict
    from tmverify.properties import Verdict as Verdict
    from tmverify.properties import equivalence_query as equivalence_query
    from tmverify.properties import robustness_query as robustness_query
    from tmverify.properties import similarity_query as similarity_query
    from tmverify.properties.allowed import Allowed as Allowed
    from tmverify.properties.expressions import column as column
    from tmverify.properties.expressions import decision as decision
    from tmverify.properties.expressions import votes as votes
    from tmverify.properties.side_by_side import side_by_side as side_by_side
    from tmverify.report import write_report as write_report
    from tmverify.space import Category as Category
    from tmverify.space import Change as Change
    from tmverify.space import Column as Column
    from tmverify.space import Flag as Flag
    from tmverify.space import Image as Image
    from tmverify.space import Number as Number
    from tmverify.space import Space as Space
    from tmverify.space import Text as Text
    from tmverify.studio import studio as studio
    from tmverify.training import TsetlinMachineClassifier as TsetlinMachineClassifier
    from tmverify.training import freeze as freeze
    from tmverify.verify import ChangeSet as ChangeSet
    from tmverify.verify import Explanation as Explanation
    from tmverify.verify import Explanations as Explanations
    from tmverify.verify import Importance as Importance
    from tmverify.verify import NearestChanges as NearestChanges
    from tmverify.verify import Pair as Pair
    from tmverify.verify import check_equivalence as check_equivalence
    from tmverify.verify import check_fairness as check_fairness
    from tmverify.verify import check_monotonicity as check_monotonicity
    from tmverify.verify import check_robustness as check_robustness
    from tmverify.verify import check_similarity as check_similarity
    from tmverify.verify import check_universal_robustness as check_universal_robustness
    from tmverify.verify import check_universal_similarity as check_universal_similarity
    from tmverify.verify import decide as decide
    from tmverify.verify import explain as explain
    from tmverify.verify import explanations as explanations
    from tmverify.verify import importance as importance
    from tmverify.verify import nearest_changes as nearest_changes
    from tmverify.verify import prove as prove
    from tmverify.verify import robustness_radius as robustness_radius
    from tmverify.verify import similarity_radius as similarity_radius

__version__ = "0.1.0"

_HOMES = {
    "campaign": "Plan read_plan run_campaign",
    "certificates": "Certificate",
    "data": "Dataset load_dataset",
    "data.binarizers": "AdaptiveGaussianBinarizer TableBinarizer ThermometerBinarizer ThresholdBinarizer "
    "WordBinarizer",
    "errors": "CertificateError ClusterError DataFormatError ImportMismatchError InvalidInputError "
    "MissingExtraError ModelError ModelFormatError PlanError StoreError TmVerifyError "
    "TrainingStateError",
    "interop": "to_c to_dimacs to_lp to_opb to_smtlib to_verilog to_wcnf",
    "model": "Model",
    "model.file": "load",
    "properties": "Query Radius Status StopReason UniversalVerdict Verdict equivalence_query "
    "robustness_query similarity_query",
    "report": "write_report",
    "space": "Category Change Column Flag Image Number Space Text",
    "studio": "studio",
    "training": "TsetlinMachineClassifier freeze",
    "properties.allowed": "Allowed",
    "properties.expressions": "column decision votes",
    "properties.side_by_side": "side_by_side",
    "verify": "ChangeSet Explanation Explanations Importance NearestChanges Pair check_equivalence "
    "check_fairness check_monotonicity check_robustness check_similarity check_universal_robustness "
    "check_universal_similarity decide explain explanations importance nearest_changes prove "
    "robustness_radius similarity_radius",
}
_PACKAGES = {*(home.split(".")[0] for home in _HOMES), "bnn", "engines", "kernels"}

__all__, __getattr__ = names_at_first_use(__name__, _HOMES, _PACKAGES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
