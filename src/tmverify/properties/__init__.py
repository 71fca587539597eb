"""What can be asked, and what an answer is. ``questions`` knows every question by name.

Names are imported at their first use: ``questions`` is read by ``tmverify --help``, which needs no NumPy.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmverify.properties.query import Query
    from tmverify.properties.questions import equivalence_query, robustness_query, similarity_query
    from tmverify.properties.verdict import Radius, Status, StopReason, UniversalVerdict, Verdict

_HOME = {
    "Query": "query",
    **dict.fromkeys(("Radius", "Status", "StopReason", "UniversalVerdict", "Verdict"), "verdict"),
    **dict.fromkeys(("equivalence_query", "robustness_query", "similarity_query"), "questions"),
}

__all__ = [
    "Query",
    "Radius",
    "Status",
    "StopReason",
    "UniversalVerdict",
    "Verdict",
    "equivalence_query",
    "robustness_query",
    "similarity_query",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
