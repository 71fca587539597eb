"""How every kernel is compiled, and the notice that is printed meanwhile.

numba compiles a kernel at its first call and keeps the machine code on disk, so a user waits once. Half of
that wait was for code that is never used: by default each function also gets an entry for C callbacks, and
each division a path that raises ZeroDivisionError. Our kernels have neither (they never divide by 0).

Before its first kernel, compiled or loaded, numba checks that SciPy's linear algebra is available by
importing it, which takes a quarter of a second. tmverify requires SciPy, and no kernel uses it: we skip the
check.

At level DEBUG, numba logs every instruction that it compiles. A library that sets the root logger to DEBUG
would turn that into a hundred thousand lines, so numba's loggers are set to WARNING, unless the user set
them.
"""

import logging
import sys
from contextlib import suppress
from typing import Any

import numba
from numba.core import event

from tmverify import kernels

njit: Any = numba.njit
kernel: Any = njit(cache=True, nogil=True, no_cfunc_wrapper=True, error_model="numpy")
# For functions that only kernels call: they need no entry point for Python.
part: Any = njit(cache=True, nogil=True, no_cfunc_wrapper=True, error_model="numpy", no_cpython_wrapper=True)
NOTICE = "tmverify: compiling kernels (first time only, some ten seconds) …"


def _skip_blas_check() -> None:
    """Import the numba module that checks for SciPy's BLAS, with the check disabled."""
    import numba.np.linalg as algebra

    look, algebra.ensure_blas = algebra.ensure_blas, lambda: None
    try:
        import numba.np.arraymath as users
    finally:
        algebra.ensure_blas = look
    users.ensure_blas = look  # type: ignore[attr-defined]


class _Notice(event.Listener):
    """Says on standard error that kernels are being compiled, once per process."""

    def on_start(self, what: Any) -> None:
        if kernels.announce_compiling and what.data["dispatcher"].py_func.__module__.startswith("tmverify."):
            kernels.announce_compiling = False
            print(NOTICE, file=sys.stderr, flush=True)

    def on_end(self, what: Any) -> None:
        pass


with suppress(ImportError, AttributeError):  # these names are private to numba, and may disappear
    _skip_blas_check()
event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]

if logging.getLogger("numba").level == logging.NOTSET:
    logging.getLogger("numba").setLevel(logging.WARNING)
