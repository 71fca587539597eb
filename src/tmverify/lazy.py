"""Names of a package that are imported at their first use, so that importing the package takes no time."""

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def names_at_first_use(
    package: str, homes: Mapping[str, str], submodules: Collection[str] = ()
) -> tuple[list[str], Callable[[str], Any]]:
    """The names that modules of ``package`` define, and a ``__getattr__`` for the package that imports them.

    Parameters
    ----------
    homes : the names that each module defines, with spaces between them
    submodules : modules that are attributes of the package themselves
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in home_of:
            found = getattr(import_module(f"{package}.{home_of[name]}"), name)
            setattr(sys.modules[package], name, found)  # later uses do not call this function
            return found
        if name in submodules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return sorted(home_of), find
