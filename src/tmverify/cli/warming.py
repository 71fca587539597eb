"""Notices about what takes long once: compiling the kernels of the search at first use."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tmverify.bnn import BnnModel
from tmverify.bnn.either import Classifier
from tmverify.cli.output import print_note
from tmverify.engines import prepare

_SOON = 1.0  # seconds
_LONGER_THAN_LOADING = 3.0  # seconds: compiled kernels come from numba's cache in less
_SEARCHING = ("auto", "search")


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


def warm_up(engine: str, models: Iterable[Classifier]) -> None:
    """Have what ``engine`` needs compiled, with a notice if that takes long."""
    if engine not in _SEARCHING:
        return
    import numba  # noqa: F401 - numba itself is not what the notice is about

    with notice("compiling the kernels of the search (first time only) …", after=_LONGER_THAN_LOADING):
        for network in {isinstance(model, BnnModel) for model in models}:
            prepare(engine, network=network)
