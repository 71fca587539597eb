"""Questions and answers. ``questions`` declares every question by name.

Names are imported at their first use, because ``tmverify --help`` reads ``questions`` and needs no NumPy.
"""

from typing import TYPE_CHECKING

from tmverify.lazy import names_at_first_use

if TYPE_CHECKING:
    from tmverify.properties.query import Query as Query
    from tmverify.properties.questions import equivalence_query as equivalence_query
    from tmverify.properties.questions import robustness_query as robustness_query
    from tmverify.properties.questions import similarity_query as similarity_query
    from tmverify.properties.verdict import Radius as Radius
    from tmverify.properties.verdict import Status as Status
    from tmverify.properties.verdict import StopReason as StopReason
    from tmverify.properties.verdict import UniversalVerdict as UniversalVerdict
    from tmverify.properties.verdict import Verdict as Verdict

_HOMES = {
    "query": "Query",
    "questions": "equivalence_query robustness_query similarity_query",
    "verdict": "Radius Status StopReason UniversalVerdict Verdict",
}
__all__, __getattr__ = names_at_first_use(__name__, _HOMES)
