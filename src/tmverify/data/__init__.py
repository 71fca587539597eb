"""Inputs from files."""
