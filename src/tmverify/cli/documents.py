"""The part of a JSON document that every command shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tmverify.cli.subject import OpenModel, Subject
from tmverify.model.names import feature_name


def document(question: str, opened: Sequence[OpenModel]) -> dict[str, Any]:
    """Which tmverify, which question, which model (``model``) or models (``models``)."""
    from tmverify import __version__

    described = [{"path": str(each.path), "sha256": each.model.content_hash} for each in opened]
    models = {"model": described[0]} if len(described) == 1 else {"models": described}
    return {"tmverify": __version__, "question": question, **models}


def subject_json(subject: Subject) -> dict[str, Any]:
    """Which inputs are asked about, whose decision, and what may change."""
    wanted = subject.wanted
    features = None if subject.features is None else np.flatnonzero(subject.features).tolist()
    names = None if features is None else [feature_name(subject.named, i) for i in features]
    return {
        "data": {"path": str(wanted.data), "n": wanted.n, "seed": wanted.seed},
        "scope": wanted.scope,
        "features": features,
        "feature_names": names,
        "direction": subject.direction,
    }
