"""The command line.

::

    app         the subcommands by name (those for questions come from the registry); runs one of them
    ask         what the questions' subcommands do: read and check the arguments, make tasks, ask them
    tables      the answers as tables; documents has them as JSON, CSV and files of counterexamples
    campaign    run, status and export of a campaign, and report; status shows the progress of a campaign
    stating     prove, fairness, monotonicity and check; properties asks what they state, property_tables
                and junit show the answers
    certify, train, importers, info, predict, export
                the other subcommands, each with its arguments, its help and what it does; training_run
                does the work of train
    options     arguments and options that several subcommands have
    output      everything that is printed; saving checks the files that will be written

Showing the help imports only typer; a subcommand imports what it needs when it runs.
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
