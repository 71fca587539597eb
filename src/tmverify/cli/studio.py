"""``tmverify studio``: one local page on which decisions are seen, bent and proved."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options
from tmverify.errors import InvalidInputError

_LOOPBACK = "127.0.0.1"

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL [MODEL_B]",
        help="The model file, and perhaps a second one with the same features and classes, to be shown "
        "beside it. Or a store of results, FILE.db, and the models that it is about.",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="Rows to look at. " + options.DATA_HELP),
]
Port = Annotated[
    int,
    typer.Option("--port", metavar="N", min=0, max=65535, help="The port to listen on. 0: a free one."),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="The address to listen on. The default is reached from this machine alone; with any other, "
        "whoever has the printed address can use the studio, over a connection that is not encrypted.",
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]


def studio(
    files: Files,
    data: Data = None,
    id: options.IdColumn = None,
    port: Port = 0,
    host: Host = _LOOPBACK,
    no_browser: NoBrowser = False,
) -> None:
    """See a decision, bend it, and watch the proof: one page in the browser, served by this machine alone.

    Pick a row or make one. The page shows the votes and the clauses behind the decision, how far it is to
    another one and which change that would be, and the facts that suffice for it: all proved, all live.
    It serves until Ctrl-C. Nothing leaves this machine.

    Example: [cyan]tmverify studio digits.tm --data digits-test.npz[/cyan]
    two models: [cyan]tmverify studio trained.tm pruned.tm --data digits-test.npz[/cyan]
    your table: [cyan]tmverify studio loans.tm --data loans.csv --id customer[/cyan]
    what a campaign found: [cyan]tmverify studio results.db digits.tm[/cyan]
    """
    from tmverify.cli.output import print_note
    from tmverify.studio import need_extra, open_browser

    need_extra()
    from tmverify.studio.guard import is_loopback
    from tmverify.studio.named import open_named
    from tmverify.studio.server import Studio

    if id is not None and data is None:
        raise InvalidInputError("--id names a column of the rows: give these with --data FILE.")
    views, store = open_named(files, data, id)
    started: Studio | None = None
    try:
        with Studio(views, host, port, store) as started:
            if not is_loopback(host):
                print_note(
                    f"--host {host}: other machines can reach this studio. Whoever has the address below, "
                    "token included, can see the models and the rows and use this machine's time; the "
                    "connection is not encrypted. Leave --host out to keep it to this machine."
                )
            typer.echo(f"Studio: {started.url}")
            if not no_browser:
                open_browser(started.url)
            started.wait()
    except KeyboardInterrupt:
        pass  # that is how a studio ends
    if started is not None:
        # Nobody wants to wait for a kernel that is being compiled, during which Python can't be taken apart,
        # nor until a large store is.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
