"""An experiment's plan, run: its tasks go to a store, and the store to an HTML report.

The plan is copied to where the models and inputs are; ``tmverify campaign run`` does the same with that copy.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import tmverify as tv
from lab.arguments import Setting
from tmverify.campaign import Asked, Store

PLANS = Path(__file__).parents[1] / "plans"
_QUICK_INPUTS = 10
_QUICK_SECONDS = 20.0


def run_plan(name: str, setting: Setting) -> list[Asked]:
    """Ask what ``plans/name.toml`` asks, and return all tasks with their answers."""
    place = Path(shutil.copy(PLANS / f"{name}.toml", setting.folder / f"{name}.toml"))
    plan = tv.read_plan(place)
    plan = plan.with_draws(seed=setting.seed, n=_QUICK_INPUTS if setting.quick else None)
    if setting.quick or setting.timeout is not None:
        plan = replace(plan, timeout=setting.timeout or _QUICK_SECONDS)
    store = setting.folder / f"{name}.db"
    tv.run_campaign(plan, store, jobs=setting.jobs, verbose=True)
    report = setting.folder / f"{name}.html"
    tv.write_report(store, report, title=plan.title)
    print(f"report: {report}", file=sys.stderr)
    with Store.reading(store) as opened:
        return list(opened.rows())
