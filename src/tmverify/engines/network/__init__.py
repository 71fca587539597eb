"""Deciding questions about binarized networks."""
