"""Are two models equivalent? ``tmverify equivalence``."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.campaign.scopes import read_scope
from tmverify.cli.certificate_names import name_for_everywhere
from tmverify.cli.certificates import check_wanted, open_folder
from tmverify.cli.equivalence_report import Comparison, report
from tmverify.cli.exit_codes import ExitCode, exit_code
from tmverify.cli.limits import read_limit
from tmverify.cli.records import names_array
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import machines, open_inputs, open_models
from tmverify.engines import check_engine
from tmverify.progress import counting
from tmverify.verify import check_equivalence


def compare(
    a: Path,
    b: Path,
    data: Path | None,
    *,
    scope: str,
    engine: str,
    timeout: float,
    as_json: bool,
    witness_file: Path | None,
    certificate_folder: Path | None,
) -> ExitCode:
    """Decide whether two models are equivalent, report, and say how it went."""
    name, limit = check_engine(engine), read_limit(timeout, "--timeout")
    check_wanted(certificate_folder, name)
    if witness_file is not None:
        check_target(witness_file, "--save-witnesses", [".npz"])
        check_apart([a, b], [witness_file], "A, B and --save-witnesses")
    opened = open_models((a, b))
    label = read_scope(opened[0].model, scope)
    hints = None if data is None else open_inputs(data, machines(opened)).X
    comparison = Comparison(
        opened=opened,
        scope=label,
        engine=name,
        timeout=limit,
        certificates=open_folder(certificate_folder, (a, b)),
    )
    _decide(comparison, hints)
    if witness_file is not None:
        _save(witness_file, comparison)
    report(comparison, as_json=as_json)
    comparison.certificates.raise_failure()
    return exit_code(comparison.verdict.status, interrupted=comparison.interrupted)


def _decide(comparison: Comparison, hints: NDArray[np.uint8] | None) -> None:
    """Find the verdict and keep its certificate, unless Ctrl-C comes first."""
    start = time.perf_counter()
    scope, certificates = comparison.scope, comparison.certificates
    left, right = machines(comparison.opened)
    try:
        with counting("equivalence", 1) as count:
            comparison.answer = check_equivalence(
                left,
                right,
                scope=scope,
                X=hints,
                timeout=comparison.timeout,
                engine=comparison.engine,
                certificate=certificates.wanted,
            )
            count(comparison.answer.status)
        comparison.kept = certificates.keep(comparison.answer, name_for_everywhere("equivalence", scope))
    except KeyboardInterrupt:
        comparison.interrupted = True
        comparison.seconds = time.perf_counter() - start


def _save(path: Path, comparison: Comparison) -> None:
    model, witness = comparison.named, comparison.verdict.witness
    found = [] if witness is None else [witness]
    X = np.array(found, np.uint8).reshape(len(found), model.n_features)
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(file, X=X, feature_names=names_array(model))
