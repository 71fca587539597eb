"""How every kernel is compiled, and what is said meanwhile.

numba compiles a kernel at its first call and keeps the machine code on disk, so a user waits once. Half of
that wait was for code that nobody calls: each function also gets an entry for C callbacks, and each division
a path that raises ZeroDivisionError. Kernels have neither (they divide by nothing that can be 0).

numba logs every instruction that it compiles, at DEBUG. A library that sets the root logger to DEBUG would
turn that into a hundred thousand lines, so numba's loggers are held at WARNING, unless the user has set them.
"""

import logging
import sys
from typing import Any

import numba
from numba.core import event

from tmverify import kernels

njit: Any = numba.njit
kernel: Any = njit(cache=True, nogil=True, no_cfunc_wrapper=True, error_model="numpy")
NOTICE = "tmverify: compiling kernels (first time only, some ten seconds) …"


class _Notice(event.Listener):
    """Says on standard error that kernels are being compiled, once in a process."""

    def on_start(self, what: Any) -> None:
        if kernels.announce_compiling and what.data["dispatcher"].py_func.__module__.startswith("tmverify."):
            kernels.announce_compiling = False
            print(NOTICE, file=sys.stderr, flush=True)

    def on_end(self, what: Any) -> None:
        pass


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]

if logging.getLogger("numba").level == logging.NOTSET:
    logging.getLogger("numba").setLevel(logging.WARNING)
