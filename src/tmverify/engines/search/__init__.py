"""Deciding by search: an exact branch and bound over flips, bounded by linear relaxation in integers.

``deciding`` asks the questions, ``tree`` is the policy, ``problem`` what is searched; the ``_*`` files are
kernels, the mathematics in ``_bound``.
"""
