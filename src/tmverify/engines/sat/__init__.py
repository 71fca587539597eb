"""Deciding by satisfiability: CNF, encodings, and the two engines built on them."""
