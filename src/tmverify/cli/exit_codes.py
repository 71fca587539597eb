"""The exit codes, and the text that documents them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the subcommands; on success, those that decide nothing return HOLDS."""

    HOLDS = 0
    VIOLATED = 1
    UNKNOWN = 2
    ERROR = 3
    INTERRUPTED = 130


class CheckCode(IntEnum):
    """Exit codes of ``certify``: those of ``tmcheck``."""

    ACCEPTED = 0
    REFUSED = 1
    UNREADABLE = 2


EPILOG = """[bold]Exit codes[/bold]

[green]0[/green] the property holds, proved (for every input asked about);
[red]1[/red] violated: there is a counterexample;
[yellow]2[/yellow] unknown: nothing violated, but something was left undecided, by a time limit or a fault;
[red]3[/red] usage or input error;
[yellow]130[/yellow] interrupted by Ctrl-C, after printing what is known so far."""

EPILOG_STATED = """[bold]Exit codes[/bold]

[green]0[/green] the property holds, proved (for enough rows, if it is about rows);
[red]1[/red] violated: there is a counterexample;
[yellow]2[/yellow] unknown: a time limit or a fault left it undecided; or vacuous: nothing satisfies what is
assumed, so it holds, and says nothing (--allow-vacuous makes that 0);
[red]3[/red] usage or input error;
[yellow]130[/yellow] interrupted by Ctrl-C, after printing what is known so far."""

EPILOG_CHECK = """[bold]Exit codes[/bold]

[green]0[/green] every property holds, proved, but for those whose severity is "warning";
[red]1[/red] one is violated, and is no warning;
[yellow]2[/yellow] none is violated, but one that is no warning is unknown, or vacuous (nothing satisfies
what it assumes) without vacuous = "ok";
[red]3[/red] usage or input error, also in the file of properties: nothing was checked;
[yellow]130[/yellow] interrupted by Ctrl-C, after printing and saving what is known so far."""

EPILOG_RADIUS = """[bold]Exit codes[/bold]

[green]0[/green] every radius is exact, however small: a radius violates nothing
(to ask for a least one, use tmverify robustness --epsilon);
[yellow]2[/yellow] some are open: a time limit or a fault left bounds only;
[red]3[/red] usage or input error;
[yellow]130[/yellow] interrupted by Ctrl-C, after printing and saving what is known so far."""

EPILOG_CHANGES = """[bold]Exit codes[/bold]

[green]0[/green] all changes that were asked for are found and proved, or there are no more;
[yellow]2[/yellow] some are open: a time limit or a fault left them unproved or unfound;
[red]3[/red] usage or input error;
[yellow]130[/yellow] interrupted by Ctrl-C; the rows before are printed."""

EPILOG_EXPLAIN = """[bold]Exit codes[/bold]

[green]0[/green] every reason that was asked for is proved, and proved to be minimal;
[yellow]2[/yellow] something is open: a time limit or a fault left columns undecided, or reasons unfound;
[red]3[/red] usage or input error;
[yellow]130[/yellow] interrupted by Ctrl-C, after printing what is known so far."""

EPILOG_PLAIN = """[bold]Exit codes[/bold]

[green]0[/green] success;
[red]3[/red] usage or input error."""

EPILOG_TRAIN = """[bold]Exit codes[/bold]

[green]0[/green] success;
[red]3[/red] usage or input error;
[yellow]130[/yellow] interrupted by Ctrl-C, after saving what was learnt, if an epoch was finished."""

EPILOG_CAMPAIGN = """[bold]Exit codes[/bold]

[green]0[/green] every task is solved, whatever its answer: a campaign measures, and violates nothing;
[yellow]2[/yellow] some are unknown: a limit or a fault left them undecided;
[red]3[/red] usage or input error, or the cluster was lost;
[yellow]130[/yellow] interrupted by Ctrl-C; what is answered is kept, and the same command goes on."""

EPILOG_CERTIFY = """[bold]Exit codes[/bold]

[green]0[/green] accepted: the claim that is printed is proved;
[red]1[/red] refused: a certificate, but it does not prove its claim about these models;
[yellow]2[/yellow] unreadable: a file is missing, damaged, or no certificate or model; nothing is claimed;
[red]3[/red] usage error, or the formulas can't be written;
[yellow]130[/yellow] interrupted by Ctrl-C."""
