"""Campaigns: many questions are planned, decided in parallel, and stored; an interrupted run can be resumed.

::

    Plan ─expand→ tasks ─due?→ workers (this machine, or a Dask cluster) ─answers→ Store ─→ report
"""

from tmverify.asking.answer import Asked, TaskAnswer
from tmverify.asking.tally import Tally, grouped
from tmverify.asking.task import Task
from tmverify.campaign.plan import Ask, InputSet, Plan, read_plan
from tmverify.campaign.run import run_campaign
from tmverify.campaign.store import Store

__all__ = [
    "Ask",
    "Asked",
    "InputSet",
    "Plan",
    "Store",
    "Tally",
    "Task",
    "TaskAnswer",
    "grouped",
    "read_plan",
    "run_campaign",
]
