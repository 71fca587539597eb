"""Exchange with other tools: import their models, export models and questions in their formats."""

from tmverify.interop.c_source import to_c
from tmverify.interop.clauses import from_clauses
from tmverify.interop.cnf import to_dimacs, to_wcnf
from tmverify.interop.green import from_green
from tmverify.interop.linear import to_lp, to_opb
from tmverify.interop.pytsetlin import from_pytsetlin
from tmverify.interop.smtlib import to_smtlib
from tmverify.interop.tmu import from_tmu
from tmverify.interop.verilog import to_verilog

__all__ = [
    "from_clauses",
    "from_green",
    "from_pytsetlin",
    "from_tmu",
    "to_c",
    "to_dimacs",
    "to_lp",
    "to_opb",
    "to_smtlib",
    "to_verilog",
    "to_wcnf",
]
