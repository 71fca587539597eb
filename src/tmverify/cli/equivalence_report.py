"""The answer of ``tmverify equivalence``, in words or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.text import Text

from tmverify.cli.certificates import Certificates, Kept
from tmverify.cli.documents import document
from tmverify.cli.output import headline, plain, show, show_json
from tmverify.cli.records import decisions_text, verdict_json
from tmverify.cli.subject import OpenModel
from tmverify.model import Classifier, Label
from tmverify.model.names import feature_name, named_first
from tmverify.model.text import printable_name
from tmverify.properties import Status, Verdict

_MAX_ONES = 20


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What was asked of two models, and the answer unless Ctrl-C came first."""

    opened: Sequence[OpenModel]
    scope: Label
    engine: str
    timeout: float | None
    certificates: Certificates
    answer: Verdict | None = None
    kept: Kept = field(default_factory=Kept)
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def named(self) -> Classifier:
        """The model whose names of features are used."""
        return named_first([each.model for each in self.opened])

    @property
    def verdict(self) -> Verdict:
        if self.answer is not None:
            return self.answer
        return Verdict(Status.UNKNOWN, self.seconds, self.engine, detail="interrupted before an answer")


def report(comparison: Comparison, *, as_json: bool) -> None:
    """Print the comparison."""
    if as_json:
        show_json(_document(comparison))
        return
    verdict = comparison.verdict
    names = " and ".join(plain(each.path.name) for each in comparison.opened)
    meaning = {
        Status.HOLDS: f"{names} agree on every input",
        Status.VIOLATED: f"{names} differ: {decisions_text(verdict, comparison.scope, 2)}",
        Status.UNKNOWN: f"{names}: {plain(verdict.detail)}",
    }[verdict.status]
    show(headline(verdict.status, meaning, interrupted=comparison.interrupted))
    if verdict.witness is not None:
        show(_witness_line(comparison.named, verdict))
    show(Text(f"  engine {verdict.engine}, {verdict.seconds:.2f} s", style="dim"))
    show(*comparison.certificates.lines())


def _witness_line(model: Classifier, verdict: Verdict) -> str:
    assert verdict.witness is not None
    ones = np.flatnonzero(verdict.witness).tolist()
    names = ", ".join(printable_name(model, i) for i in ones[:_MAX_ONES]) or "none"
    more = f" and {len(ones) - _MAX_ONES} more" if len(ones) > _MAX_ONES else ""
    return f"  features that are 1 there: {names}{more}"


def _document(comparison: Comparison) -> dict[str, Any]:
    verdict, model = comparison.verdict, comparison.named
    ones = None if verdict.witness is None else np.flatnonzero(verdict.witness).tolist()
    return {
        **document("equivalence", comparison.opened),
        "scope": str(comparison.scope),
        "timeout": comparison.timeout,
        **verdict_json(verdict, model),
        "witness": verdict.witness,
        "features_set": None if ones is None else [feature_name(model, i) for i in ones],
        "interrupted": comparison.interrupted,
        **comparison.kept.as_json(),
    }
