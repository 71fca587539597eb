"""Other tools: their models in, models and questions in their formats out."""

from tmverify.interop.dimacs import to_dimacs
from tmverify.interop.green import from_green
from tmverify.interop.pytsetlin import from_pytsetlin
from tmverify.interop.tmu import from_tmu

__all__ = ["from_green", "from_pytsetlin", "from_tmu", "to_dimacs"]
