"""Deciding by search: an exact branch and bound over flips, bounded by linear relaxation in integers.

``engine`` asks the questions, ``tree`` is the policy, ``problem`` what is searched; ``kernels`` compiles the
``_*`` files before a clock starts, and the mathematics is in ``_bound``.
"""

from tmverify.engines.engine import Engine, Signer, at_first_use

SEARCH = Engine(
    name="search",
    decide=at_first_use("search.engine:decide"),
    find_nearest=at_first_use("search.engine:nearest"),
    prepare=at_first_use("search.kernels:prepare"),
    certifies=True,
    trust={"search": ("the engine search (tmverify.engines.search)", "numba", "NumPy")},
    signers=(Signer("search", (("search",),)),),
)
