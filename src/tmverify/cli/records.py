"""One answer about one input, kept with the question: as JSON, as a line, as a row of a witness file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from tmverify.atomic import replacing
from tmverify.campaign.scopes import TEAM
from tmverify.cli.certificates import Kept
from tmverify.cli.output import plain
from tmverify.model import Classifier, Label
from tmverify.model.names import Named, feature_name, feature_names, named_first
from tmverify.model.text import printable_name
from tmverify.properties.radius import Radius
from tmverify.properties.verdict import Status, Verdict

_MAX_LINES = 5
_MAX_FLIPS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """The verdict on input ``index`` of the data file, whose bits are ``x``."""

    index: int
    epsilon: int
    scope: Label
    x: NDArray[np.uint8]
    verdict: Verdict
    kept: Kept

    def as_json(self, model: Named) -> dict[str, Any]:
        """As plain values, with the names that ``model`` has for features."""
        return {
            "index": self.index,
            "epsilon": self.epsilon,
            "scope": self.scope,
            **verdict_json(self.verdict, model),
            **self.kept.as_json(),
        }


def verdict_json(verdict: Verdict, model: Named) -> dict[str, Any]:
    """A verdict as plain values."""
    return {
        "status": verdict.status.value,
        "seconds": round(verdict.seconds, 6),
        "engine": verdict.engine,
        **flips_json(verdict, model),
        "decisions": None if verdict.decisions is None else list(verdict.decisions),
        "stop_reason": None if verdict.stop_reason is None else verdict.stop_reason.value,
        "detail": verdict.detail,
    }


def flips_json(found: Verdict | Radius, model: Named) -> dict[str, Any]:
    """The features that the counterexample flips: by index, and by name."""
    flips = None if found.flips is None else found.flips.tolist()
    names = None if flips is None else [feature_name(model, i) for i in flips]
    return {"flips": flips, "flipped_features": names}


def names_array(model: Named) -> NDArray[np.str_]:
    """The names of the features for an .npz file, so that it can be fed back whatever the order."""
    return np.array(feature_names(model), np.str_)


def save_witnesses(path: Path, records: Sequence[Record], model: Named) -> None:
    """Write the counterexamples: X, where they come from (X0, index), epsilon, names; perhaps none."""
    found = [record for record in records if record.verdict.witness is not None]
    X = np.array([record.verdict.witness for record in found], np.uint8)
    X0 = np.array([record.x for record in found], np.uint8)
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(
            file,
            X=X.reshape(len(found), model.n_features),
            X0=X0.reshape(len(found), model.n_features),
            index=np.array([record.index for record in found], np.int64),
            epsilon=np.array([record.epsilon for record in found], np.int64),
            feature_names=names_array(model),
        )


def witness_lines(records: Sequence[Record], models: Sequence[Classifier]) -> list[Text]:
    """A line for each of the first counterexamples, and how many more there are."""
    found = [record for record in records if record.verdict.status is Status.VIOLATED]
    lines = [_line(record, models) for record in found[:_MAX_LINES]]
    if len(found) > _MAX_LINES:
        more = f"… and {len(found) - _MAX_LINES} more; --save-witnesses FILE.npz keeps them all"
        lines.append(Text(f"  {more}", style="dim"))
    return lines


def decisions_text(found: Verdict | Radius, scope: Label, n_models: int) -> str:
    """What the two decisions are that should agree."""
    first, second = (_decision(label, scope) for label in found.decisions or ("?", "?"))
    return f"{first} → {second}" if n_models == 1 else f"A says {first}, B says {second}"


def decision_text(label: Label, scope: Label) -> str:
    """A class; or with a class as scope, that class or "not" it."""
    if scope == TEAM:
        return plain(label)
    return plain(scope) if label else f"not {plain(scope)}"


def _decision(label: Label, scope: Label) -> str:
    text = decision_text(label, scope)
    return f"class {text}" if scope == TEAM or label else f"not class {plain(scope)}"


def _line(record: Record, models: Sequence[Classifier]) -> Text:
    line = Text(f"  input {record.index}, epsilon {record.epsilon}: ")
    line.append(decisions_text(record.verdict, record.scope, len(models)), style="bold")
    return line.append(flips_text(record.verdict, named_first(models)))


def flips_text(found: Verdict | Radius, model: Classifier) -> str:
    """Which features the counterexample flips, and how."""
    flips, witness = found.flips, found.witness
    if flips is None or witness is None or not len(flips):
        return ", at the input itself"
    shown = flips[:_MAX_FLIPS].tolist()
    names = [f"{printable_name(model, i)} {1 - witness[i]}→{witness[i]}" for i in shown]
    more = f" and {len(flips) - _MAX_FLIPS} more" if len(flips) > _MAX_FLIPS else ""
    return f" by flipping {', '.join(names)}{more}"
