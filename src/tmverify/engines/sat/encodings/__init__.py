"""Counting in clauses: one encoding per file, each proved in the tests by looking at every small input."""
