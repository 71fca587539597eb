"""Encodings of counting as clauses, one per file; the tests verify each on every small input."""
