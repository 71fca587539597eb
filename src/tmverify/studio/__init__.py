"""The studio: one local page on which an owner of a model sees a decision, bends it, and watches the proof.

::

    opened   the models and rows that were named at the start
    form     what the page needs to know of them: columns, values, patterns of bits
    look     a decision, and the clauses that vote on it, in words
    live     radius, reason, disagreement: told while they are found out
    evidence certificates                        rows    the user's rows, found and ordered
    asked    what arrives, read strictly         guard   who may ask at all
    pool     the threads that work, the tabs     stream  events, as a page reads them
    watching what a tab is told about an input   view    what is shown at a time: models and rows
    answers, opening: a store, browsed           named   the files on the command line
    server   the routes, and the thread that serves them

The page (``static/``) keeps the input; the server knows nothing of it but what is being asked. Calling this
package is calling ``studio``: ``tv.studio(model, rows)``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tmverify.extras import need

if TYPE_CHECKING:
    from tmverify.studio.server import Studio as Studio

__all__ = ["studio"]


def studio(
    model: Any,
    data: Any = None,
    *,
    against: Any = None,
    labels: Any = None,
    id_column: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
) -> Studio:
    """Serve one local page on which a model's decisions can be seen, bent and proved.

    Parameters
    ----------
    model : Model
    data : rows, as ``Model.predict`` takes them, or the path of a file; optional
        What can be looked at; the page can make inputs of its own, too.
    against : Model, optional
        A second model, which is shown beside the first.
    labels : array, optional
        The true class of each row, if ``data`` is no file.
    id_column : str, optional
        The column of the file that says what each row is called.
    host, port : str and int
        Where to listen. The default is this machine alone, and a free port.
    browser : bool
        Whether to open the page in a browser, where there is one.

    Returns
    -------
    Studio
        Its ``url`` is the address of the page; it serves until ``close``, or to the end of the process.
        ``tv.studio(model).wait()`` serves until Ctrl-C.

    Raises
    ------
    InvalidInputError
        If the models can't be compared, a model is too large for a page, or the port is taken.
    MissingExtraError
        If Starlette or uvicorn is not installed.
    """
    need_extra()
    from tmverify.studio.opened import open_objects
    from tmverify.studio.server import Studio
    from tmverify.studio.view import View

    models = [model] if against is None else [model, against]
    started = Studio([View(open_objects(models, data, labels, id_column))], host, port)
    print(f"Studio: {started.url}", flush=True)
    if browser:
        open_browser(started.url)
    return started


def need_extra() -> None:
    """Raise MissingExtraError unless what the studio needs is installed."""
    for package in ("starlette", "uvicorn"):
        need(package, extra="studio", what="tmverify studio")


def open_browser(url: str) -> None:
    """Open an address in the browser, where there is one; a text browser in the terminal is none."""
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return
    if not isinstance(found, webbrowser.GenericBrowser) or isinstance(found, webbrowser.BackgroundBrowser):
        found.open(url)


class _Callable(ModuleType):
    """A package that is called like its function: Python binds the name of a package to the package."""

    __call__ = staticmethod(studio)


sys.modules[__name__].__class__ = _Callable
