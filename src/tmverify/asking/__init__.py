"""Asking many questions: what is asked (``Task``), what came of it (``TaskAnswer``), how they are counted.

::

    subject ─→ tasks ─decide→ answers ─→ tallies and tables

A command makes tasks of what was typed, a campaign of its plan; both ask them in the same loop
(``campaign.run``): in this process, or by several, with or without a store.
"""
