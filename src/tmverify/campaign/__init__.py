"""Many questions: planned, decided in parallel, kept as they come, resumed where they were left.

::

    Plan ─expand→ tasks ─due?→ workers (this machine, or a Dask cluster) ─answers→ Store ─→ report
"""

from tmverify.campaign.answers import TaskAnswer
from tmverify.campaign.plan import Ask, InputSet, Plan, read_plan
from tmverify.campaign.run import run_campaign
from tmverify.campaign.store import Row, Store
from tmverify.campaign.tallies import Group, Tally, grouped
from tmverify.campaign.tasks import Task

__all__ = [
    "Ask",
    "Group",
    "InputSet",
    "Plan",
    "Row",
    "Store",
    "Tally",
    "Task",
    "TaskAnswer",
    "grouped",
    "read_plan",
    "run_campaign",
]
