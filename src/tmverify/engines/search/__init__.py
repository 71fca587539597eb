"""Deciding by search: an exact branch and bound over flips, bounded by linear relaxation in integers.

``engine`` decides queries, ``tree`` searches one ``problem``, ``kernels`` compiles the ``_*`` files before
the clock starts, and ``_bound`` explains the mathematics.
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
