"""The command line.

::

    app         the subcommands by name, those of the questions from their registry; runs one of them
    ask         what they do: read and check what was typed, make tasks, ask them
    tables      the answers as tables; documents has them as JSON, CSV and files of counterexamples
    campaign    run, status and export of a campaign, and report; status shows how far a store is
    certify, train, importers, info, predict, export
                the other subcommands, each with its arguments, its help and what it does; training_run
                does what train says
    options     arguments and options that several subcommands have
    output      everything that is printed; saving checks the files that will be written

To show the help takes typer alone; what a subcommand needs is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``tmverify`` with the given arguments (default: those of the process); return the exit code."""
    try:
        from tmverify.cli.app import run

        return run(argv)
    except KeyboardInterrupt:
        return 130
