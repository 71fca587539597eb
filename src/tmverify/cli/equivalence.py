"""``tmverify equivalence``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.text import Text

from tmverify.cli import options
from tmverify.cli.documents import document
from tmverify.cli.exit_codes import exit_code
from tmverify.cli.limits import read_limit
from tmverify.cli.output import headline, plain, show, show_json
from tmverify.cli.progress import counting
from tmverify.cli.records import decisions_text, verdict_json
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.scopes import read_scope
from tmverify.cli.subject import OpenModel, open_inputs, open_models
from tmverify.drafts import replacing
from tmverify.engines import check_engine
from tmverify.model import Label
from tmverify.model.text import feature_name
from tmverify.properties import Status, Verdict
from tmverify.verify import check_equivalence

_MAX_ONES = 20


def equivalence(
    a: options.ModelA,
    b: options.ModelB,
    data: options.HintFile = None,
    scope: options.Scope = "team",
    engine: options.Engine = "auto",
    timeout: options.Timeout = 300.0,
    as_json: options.AsJson = False,
    save_witnesses: options.WitnessFile = None,
) -> None:
    """Do two models agree on every input there is?

    [bold]holds[/bold]: proved, no input tells them apart.
    [bold]violated[/bold]: one does; it is shown, after both models were run on it.
    --save-witnesses writes it as X, one row or none. The engine shown is the one that answered:
    [bold]hunt[/bold] (inputs tried, and walks), [bold]structure[/bold] (both sums cancel), search or sat.

    Example: [cyan]tmverify equivalence trained.tm pruned.tm[/cyan]
    """
    name, limit = check_engine(engine), read_limit(timeout, "--timeout")
    if save_witnesses is not None:
        check_target(save_witnesses, "--save-witnesses", [".npz"])
        check_apart([a, b], [save_witnesses], "A, B and --save-witnesses")
    opened = open_models((a, b))
    label = read_scope(opened[0].model, scope)
    hints = None if data is None else open_inputs(data, opened[0].model).X
    verdict, interrupted = _decide(opened, label, hints, name, limit)
    if save_witnesses is not None:
        _save(save_witnesses, verdict, opened[0].model.n_features)
    if as_json:
        show_json(_document(opened, scope, limit, verdict, interrupted=interrupted))
    else:
        _report(opened, label, verdict, interrupted=interrupted)
    raise typer.Exit(exit_code(verdict.status, interrupted=interrupted))


def _decide(
    opened: Sequence[OpenModel],
    scope: Label,
    hints: NDArray[np.uint8] | None,
    engine: str,
    timeout: float | None,
) -> tuple[Verdict, bool]:
    """The verdict, and whether Ctrl-C came first."""
    start = time.perf_counter()
    try:
        with counting("equivalence", 1) as count:
            left, right = (each.model for each in opened)
            verdict = check_equivalence(left, right, scope=scope, X=hints, timeout=timeout, engine=engine)
            count(verdict.status)
            return verdict, False
    except KeyboardInterrupt:
        seconds = time.perf_counter() - start
        return Verdict(Status.UNKNOWN, seconds, engine, detail="interrupted before an answer"), True


def _report(opened: Sequence[OpenModel], scope: Label, verdict: Verdict, *, interrupted: bool) -> None:
    names = " and ".join(plain(each.path.name) for each in opened)
    meaning = {
        Status.HOLDS: f"{names} agree on every input",
        Status.VIOLATED: f"{names} differ: {decisions_text(verdict, scope, 2)}",
        Status.UNKNOWN: f"{names}: {plain(verdict.detail)}",
    }[verdict.status]
    show(headline(verdict.status, meaning, interrupted=interrupted))
    if verdict.witness is not None:
        show(_witness_line(opened, verdict))
    show(Text(f"  engine {verdict.engine}, {verdict.seconds:.2f} s", style="dim"))


def _witness_line(opened: Sequence[OpenModel], verdict: Verdict) -> str:
    assert verdict.witness is not None
    ones = np.flatnonzero(verdict.witness).tolist()
    names = ", ".join(plain(feature_name(opened[0].model, i)) for i in ones[:_MAX_ONES]) or "none"
    more = f" and {len(ones) - _MAX_ONES} more" if len(ones) > _MAX_ONES else ""
    return f"  features that are 1 there: {names}{more}"


def _save(path: Path, verdict: Verdict, n_features: int) -> None:
    found = [] if verdict.witness is None else [verdict.witness]
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(file, X=np.array(found, np.uint8).reshape(len(found), n_features))


def _document(
    opened: Sequence[OpenModel], scope: str, timeout: float | None, verdict: Verdict, *, interrupted: bool
) -> dict[str, Any]:
    return {
        **document("equivalence", opened),
        "scope": scope,
        "timeout": timeout,
        **verdict_json(verdict),
        "witness": verdict.witness,
        "interrupted": interrupted,
    }
