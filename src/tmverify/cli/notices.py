"""Notices about what takes long, printed only if it does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tmverify.cli.output import print_note

_SOON = 1.0  # seconds


@contextmanager
def notice(text: str, *, wanted: bool = True, after: float = _SOON) -> Iterator[None]:
    """Print ``text`` to standard error if the block takes longer than ``after`` seconds."""
    timer = threading.Timer(after, print_note, [text])
    if wanted:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
