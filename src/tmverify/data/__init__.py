"""Inputs from files, and the labels that come with them."""

from tmverify.data.files import Inputs, load_inputs
from tmverify.data.labels import match_labels

__all__ = ["Inputs", "load_inputs", "match_labels"]
