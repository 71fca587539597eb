"""``python -m tmcheck``, and ``python FOLDER`` wherever this folder was copied to."""

import sys


def _make_importable() -> None:
    """Make this folder the package ``tmcheck``, where Python was told to run the folder itself.

    Python then knows the folder as a place to import from, and not as a package. It is no longer such a place
    afterwards, and neither is the folder around it: files there can't stand in for Python's own.
    """
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != folder]
    spec = spec_from_file_location(
        "tmcheck", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = module_from_spec(spec)
    sys.modules["tmcheck"] = package
    spec.loader.exec_module(package)


if not __package__:
    _make_importable()

from tmcheck.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
