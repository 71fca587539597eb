"""The driver's side of ``training.py``: environments, data, processes, and one file per kind of section."""
