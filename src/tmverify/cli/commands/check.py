"""Check a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options

CertificateFile = Annotated[
    Path,
    typer.Argument(metavar="CERT", help="Certificate, as written with --certificate.", show_default=False),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model file that it is about.", show_default=False)
]
SecondModelFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="MODEL2", help="The second one, if two are compared, in the same order.", show_default=False
    ),
]
FormulaFolder = Annotated[
    Path | None,
    typer.Option(
        "--formulas",
        metavar="DIR",
        help="Write each proof by a SAT solver in the certificate into this folder, made if needed, for "
        "other checkers: 1.cnf (DIMACS) and 1.lrat, and so on. Often there are none.",
        show_default=False,
    ),
]


def certify(
    certificate: CertificateFile,
    model: ModelFile,
    second: SecondModelFile = None,
    formulas: FormulaFolder = None,
    as_json: options.AsJson = False,
) -> None:
    """Does a certificate prove its claim about this model?

    Every step of the proof is followed in whole numbers, from the model file to the claim: it doesn't matter
    who found the answer, or how. What was asked is part of the claim, and the model's content too.
    [bold]accepted[/bold]: the claim is proved, and printed: read it, it may not be the one you wanted.
    tools/tmcheck.py is the same checker as one file, which needs Python but no tmverify.

    --formulas is for those who trust a SAT solver more: each CNF has no solution (cadical 1.cnf), as its LRAT
    proof shows (lrat-check 1.cnf 1.lrat). That it is the right CNF is still the checker's word.

    Example: [cyan]tmverify certify proofs/robustness-0007-eps3.tmcert model.tm[/cyan]
    two models: [cyan]tmverify certify proofs/equivalence.tmcert trained.tm pruned.tm[/cyan]
    """
    from tmverify.cli.certify import check_certificate

    models = [model] if second is None else [model, second]
    raise typer.Exit(check_certificate(certificate, models, formulas, as_json=as_json))
