"""What can be typed: each command with its arguments and its help, by the panels of ``tmverify --help``.

Nothing is imported here but typer, until a command runs: ``tmverify --help`` is there at once.
"""
