"""The command line.

::

    entry         parse, run, and turn every outcome into an exit code
    app           the subcommands by name
    options       arguments and options that several of them have
    train         a subcommand: its arguments and its help; training_run does what they ask
    importers … export  the same for import, info, predict and export
    commands/     the arguments and the help of the other subcommands
    subject       what is asked about: models, inputs, region, read and checked before any work
    many          the loop over (epsilon, input), shared by robustness and similarity
    universal     the same for the two universal questions
    radii         the same for the radius; radius_report and radius_files belong to it
    stored        --store and --jobs of robustness, similarity and radius: their questions as a campaign
    campaign      run, status, export; campaign_report belongs to it; report draws a store
    certificates  the files of --certificate; certificate_names says what they are called
    output        everything that is printed

To show the help takes typer alone; what a subcommand needs is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``tmverify`` with the given arguments (default: those of the process); return the exit code."""
    try:
        from tmverify.cli.entry import run

        return run(argv)
    except KeyboardInterrupt:
        return 130
