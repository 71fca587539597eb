"""``tmverify certify``: does a certificate prove its claim?

No other part of tmverify takes part in judging a claim: ``tmcheck`` reads the files itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tmverify.cli import options
from tmverify.cli.exit_codes import CheckCode
from tmverify.errors import InvalidInputError

_STYLE = {
    CheckCode.ACCEPTED: "bold green",
    CheckCode.REFUSED: "bold red",
    CheckCode.UNREADABLE: "bold yellow",
}
_LONG = 3.0  # seconds

CertificateFile = Annotated[
    Path,
    typer.Argument(metavar="CERT", help="Certificate, as written with --certificate."),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The model file that it is about.")]
SecondModelFile = Annotated[
    Path | None,
    typer.Argument(metavar="MODEL2", help="The second one, if two are compared, in the same order."),
]
FormulaFolder = Annotated[
    Path | None,
    typer.Option(
        "--formulas",
        metavar="DIR",
        help="Write each proof by a SAT solver in the certificate into this folder, made if needed, for "
        "other checkers: 1.cnf (DIMACS) and 1.lrat, and so on. Often there are none.",
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
    The command tmcheck is the same checker alone: a folder of its own that needs Python and no tmverify.

    --formulas is for those who trust a SAT solver more: each CNF has no solution (cadical 1.cnf), as its LRAT
    proof shows (lrat-check 1.cnf 1.lrat). That it is the right CNF is still the checker's word.

    Example: [cyan]tmverify certify proofs/robustness-0007-eps3-*.tmcert model.tm[/cyan]
    two models: [cyan]tmverify certify proofs/equivalence-*.tmcert trained.tm pruned.tm[/cyan]
    """
    models = [model] if second is None else [model, second]
    raise typer.Exit(_check_and_report(certificate, models, formulas, as_json=as_json))


@dataclass(frozen=True, slots=True)
class Finding:
    """The checker's result: the claim in words if it is accepted, else the reason."""

    code: CheckCode
    text: str
    claim: dict[str, Any] | None = None


def _check_and_report(
    certificate: Path, models: Sequence[Path], formulas: Path | None, *, as_json: bool
) -> CheckCode:
    """Check the certificate, write its formulas if wanted, report, and return the exit code."""
    from rich.text import Text

    from tmverify import __version__
    from tmverify.cli.output import notice, plain, show, show_json

    try:
        folder = None if formulas is None else _Formulas(formulas)
        with notice("checking: a long proof takes a while …", after=_LONG):
            finding = _check(certificate, models, folder)
    except _NotWrittenError as error:
        raise InvalidInputError(str(error)) from None
    result, accepted = finding.code.name.lower(), finding.code is CheckCode.ACCEPTED
    if as_json:
        document = {
            "tmverify": __version__,
            "result": result,
            "reason": None if accepted else finding.text,
            "claim": finding.claim,
            "in_words": finding.text if accepted else None,
            "formulas": None if folder is None else folder.count,
        }
        show_json(document)
        return finding.code
    said = f": {' '.join(plain(finding.text).split())}"
    show(Text(result, style=_STYLE[finding.code]).append(said, style="default"))
    if folder is not None:
        show(f"formulas: {folder.count} written to {plain(folder.folder)}")
    return finding.code


class _Formulas:
    """Where the clausal proofs of a certificate are written, and how many there are."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _NotWrittenError(folder, error) from None

    def __call__(self, clauses: Sequence[tuple[int, ...]], lines: Iterable[list[int]]) -> Iterator[list[int]]:
        """Write a formula, then each line of its proof as it is read and before it is checked."""
        self.count += 1
        try:
            with open(self.folder / f"{self.count}.cnf", "w", encoding="ascii") as file:
                n_vars = max((abs(literal) for clause in clauses for literal in clause), default=0)
                file.write(f"p cnf {n_vars} {len(clauses)}\n")
                file.writelines(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
            with open(self.folder / f"{self.count}.lrat", "w", encoding="ascii") as file:
                yield from _write_lrat(file, lines)
        except OSError as error:
            raise _NotWrittenError(self.folder, error) from None


class _NotWrittenError(Exception):
    """A formula could not be written; not a ValueError, for which the checker would blame the certificate."""

    def __init__(self, folder: Path, error: OSError) -> None:
        why = f"no files can be written there ({error.strerror or error}); choose another folder"
        super().__init__(f"--formulas {folder}: {why}.")


def _write_lrat(file: IO[str], lines: Iterable[list[int]]) -> Iterator[list[int]]:
    """The lines up to the empty clause; deletions, which are single numbers, are left out."""
    ended = False
    for line in lines:
        if len(line) > 1 and not ended:
            file.write(" ".join(map(str, line)) + "\n")
            ended = line[1] == 0
        yield line


def _check(certificate: Path, models: Sequence[Path], formulas: _Formulas | None) -> Finding:
    import tmcheck

    try:
        data = [tmcheck.model_bytes(str(path)) for path in models]
        with tmcheck.opened(str(certificate)) as file:
            claim = tmcheck.check(file, data, formulas)
    except tmcheck.Refused as reason:
        return Finding(CheckCode.REFUSED, str(reason))
    except tmcheck.Unreadable as reason:
        return Finding(CheckCode.UNREADABLE, str(reason))
    except OSError as error:
        place = certificate if error.filename is None else error.filename
        return Finding(CheckCode.UNREADABLE, f"{place}: {error.strerror or error}")
    except ValueError as error:  # the path is not valid
        return Finding(CheckCode.UNREADABLE, str(error))
    except MemoryError:
        return Finding(CheckCode.UNREADABLE, "more than fits in memory")
    return Finding(CheckCode.ACCEPTED, tmcheck.in_words(claim), claim)
