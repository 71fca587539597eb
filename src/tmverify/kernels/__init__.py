"""numba primitives on arrays: no policy, no exceptions, nothing of tmverify imported.

``announce_compiling``: whether the next kernel that must be compiled says so on standard error (``jit``).
Processes that work for another one set it to False, and so does a user who wants silence.
"""

announce_compiling = True
