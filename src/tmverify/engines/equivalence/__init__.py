"""Deciding a question about every input: are two models equivalent?

``deciding`` is the order of things: ``sampling`` looks for a disagreement among random and given inputs,
``structure`` proves that there is none where sums cancel, or says where one would have to be, and ``walking``
looks for one there. ``normal`` is the form in which sums cancel, ``multipliers`` guesses what to add up.
"""
