"""The threshold of pyTsetlinMachine and pyTsetlinMachineParallel, as their C code has it.

Python hands T to the C machine when that is made. To set ``tm.T`` later and to go on training (annealing) has
no effect: the machine cuts its scores at the old T, and no function tells which. So it is read where it
lies. The layout is that of the versions named here, and is believed only if all numbers beside it are right.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from tmverify.errors import ModelError

# The pointers of a machine between its first numbers and its last.
_POINTERS = {("pyTsetlinMachine", "0.6.6"): 9, ("pyTsetlinMachineParallel", "0.2.1"): 8}


class _Team(ctypes.Structure):
    _fields_: ClassVar = [
        ("number_of_classes", ctypes.c_int),
        ("machines", ctypes.POINTER(ctypes.c_void_p)),
    ]


def threshold_in_use(tm: Any, library: str) -> int:
    """T of a fitted ``MultiClassTsetlinMachine``; of an unknown version, what Python says.

    Raises
    ------
    ModelError
        If the C machine has other classes or clauses than Python says.
    """
    try:
        n_pointers = _POINTERS.get((library, version(library)))
    except PackageNotFoundError:
        n_pointers = None
    if n_pointers is None:
        return int(tm.T)
    team = ctypes.cast(tm.mc_tm, ctypes.POINTER(_Team)).contents
    _check(library, "number_of_classes", team.number_of_classes, tm.number_of_classes)
    machine = ctypes.cast(team.machines[0], ctypes.POINTER(_machine(n_pointers))).contents
    for name in ("number_of_clauses", "number_of_features", "number_of_ta_chunks", "number_of_state_bits"):
        _check(library, name, getattr(machine, name), getattr(tm, name))
    return int(machine.T)


def _machine(n_pointers: int) -> type[ctypes.Structure]:
    first = ("number_of_clauses", "number_of_features", "number_of_clause_chunks")
    last = ("number_of_patches", "number_of_ta_chunks", "number_of_state_bits", "T")
    fields: list[tuple[str, type]] = [(name, ctypes.c_int) for name in first]
    fields += [(f"pointer_{i}", ctypes.c_void_p) for i in range(n_pointers)]
    fields += [(name, ctypes.c_int) for name in last]
    return type("_Machine", (ctypes.Structure,), {"_fields_": fields})


def _check(library: str, name: str, found: int, expected: int) -> None:
    if found != expected:
        raise ModelError(
            f"The machine of {library} predicts with {name} = {found}, but says {expected}: it was fitted "
            "again to other data, or changed by hand. Fit a new one."
        )
