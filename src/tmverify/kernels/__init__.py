"""numba primitives on arrays: no policy, no exceptions, nothing of tmverify imported."""
