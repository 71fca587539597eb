"""From arguments to an exit code: the one place where exceptions end.

typer carries a copy of click inside, under a private name; so usage errors are recognised by typer's own
names, and click is never imported.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import typer

from tmverify.cli.app import app
from tmverify.cli.exit_codes import ExitCode
from tmverify.errors import TmVerifyError

_USAGE_ERROR = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def run(argv: Sequence[str] | None) -> int:
    """Run the command line and return its exit code. A bug of ours is shown, and ends as "unknown"."""
    command = typer.main.get_command(app)
    try:
        code = command.main(
            args=None if argv is None else list(argv), prog_name="tmverify", standalone_mode=False
        )
        return code if isinstance(code, int) else ExitCode.HOLDS
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except SystemExit:  # how typer and rich say that nobody reads the output any more
        from tmverify.cli.output import stop_writing

        stop_writing()
        return ExitCode.UNKNOWN
    except Exception as error:
        from tmverify.cli.output import print_error

        message = _explain(error)
        if message is None:
            traceback.print_exc()
            print_error("an internal error, so nothing is claimed; please report it with the lines above")
            return ExitCode.UNKNOWN
        print_error(message)
        return ExitCode.ERROR


def _explain(error: Exception) -> str | None:
    """One line for the user, or None if the error is a bug."""
    if isinstance(error, _USAGE_ERROR):
        context = getattr(error, "ctx", None)
        path = "tmverify" if context is None else context.command_path
        return f"{_text_of(error)} See '{path} --help'."
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{reason}." if error.filename is None else f"{error.filename}: {reason}."
    return str(error) if isinstance(error, TmVerifyError) else None


def _text_of(error: Exception) -> str:
    describe = getattr(error, "format_message", None)
    text = str(error if describe is None else describe())
    return text if text.endswith((".", "?", "!", ")")) else f"{text}."
