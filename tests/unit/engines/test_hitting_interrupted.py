"""Hitting sets: what PySAT's solver does with Ctrl-C."""

from __future__ import annotations

import pytest

from tmverify.engines import hitting
from tmverify.engines.engine import Deadline


class _Struck:
    """Fails as PySAT's solvers do."""

    def __init__(self, message: str) -> None:
        self.message = message

    def get(self) -> None:
        raise RuntimeError(self.message)


@pytest.mark.parametrize(
    ("message", "raised"),
    [("Caught keyboard interrupt", KeyboardInterrupt), ("Cannot decref", RuntimeError)],
)
def test_ctrl_c_in_a_solver_is_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, message: str, raised: type[BaseException]
) -> None:
    monkeypatch.setattr(hitting, "_finder", lambda *_: _Struck(message))
    sets = hitting.HittingSets(smallest=False)
    sets.hit([1, 2])
    with pytest.raises(raised):
        sets.next(Deadline(None))
