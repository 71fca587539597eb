"""numba primitives on arrays: no policy, no exceptions, no imports from the rest of tmverify.

``announce_compiling``: whether a notice on standard error announces the next compilation (``jit``).
Worker processes set it to False, and so can a user who wants no notice.
"""

announce_compiling = True
