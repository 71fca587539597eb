"""Engines that give the answers that a test wants, in place of the declared ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tmverify import engines
from tmverify.engines.engine import Engine


def declared(name: str) -> Engine:
    """The engine of machines of that name."""
    return next(engine for engine in engines.ENGINES if engine.name == name)


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Let the engine of machines of that name decide, or find the nearest, in another way."""
    old = declared(name)
    new = replace(old, **changes)
    monkeypatch.setattr(engines, "ENGINES", tuple(new if each is old else each for each in engines.ENGINES))
    monkeypatch.setattr(engines, "_TRUST", {"auto": ("what a test says",), **engines._TRUST})
