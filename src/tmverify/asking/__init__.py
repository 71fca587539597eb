"""Asking many questions: the questions (``Task``), their answers (``TaskAnswer``), and counts of these.

::

    subject ─→ tasks ─decide→ answers ─→ tallies and tables

A command makes tasks from its arguments, a campaign from its plan. Both ask them in the same loop
(``campaign.run``): in this process or in several, with or without a store.
"""
