"""Deciding questions about every input: are two models equivalent?

``engine`` runs the steps: ``hunt`` looks for a disagreement, ``structure`` proves that there is none
where sums cancel, or says where one would have to be. ``normal`` brings clauses into a form in which sums
cancel, and ``proof`` writes such an argument down.
"""

from tmverify.engines.engine import Signer

TRUST = {"structure": ("the engine structure (tmverify.engines.equivalence)", "NumPy")}
SIGNERS = (
    Signer("hunt", region="everything"),
    Signer("structure", (("structure",),), finds=False, region="everything"),
    Signer("search", (("structure", "search"),), region="everything"),
    Signer("sat", (("structure", "search", "sat"),), region="everything"),
)
