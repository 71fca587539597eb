"""Fast inference of Tsetlin machines: three layouts of a model, each with its numba kernels beside it."""
