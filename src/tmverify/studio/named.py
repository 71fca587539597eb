"""Named: the files on the command line, as views and perhaps a store; no other files are ever read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

from tmverify.campaign import Store
from tmverify.errors import InvalidInputError
from tmverify.studio.answers import Answers
from tmverify.studio.opened import open_files
from tmverify.studio.view import View

_STORE = b"SQLite format 3\0"


def open_named(
    files: Sequence[Path], data: Path | None, id_column: str | None
) -> tuple[list[View], Answers | None]:
    """The views of model files, and of a store if the first file is one.

    Raises
    ------
    InvalidInputError, ModelFormatError, DataFormatError, StoreError
    """
    if _is_store(files[0]):
        if data is not None:
            raise InvalidInputError(
                "A store has inputs of its own: leave --data out, or name the model alone to look at rows."
            )
        return _of_store(files[0], files[1:])
    if len(files) > 2:
        raise InvalidInputError(f"The studio shows one model, or two side by side. Got {len(files)} files.")
    return [View(open_files(files, data, id_column))], None


def _of_store(path: Path, models: Sequence[Path]) -> tuple[list[View], Answers]:
    """A view for each model, and for each two that the store compares."""
    with Store.reading(path) as store:
        asked = store.subjects()
    views = [View(open_files([model])) for model in models]
    pairs = list(permutations(zip(models, [view.opened.hashes[0] for view in views], strict=True), 2))
    for (left, first), (right, second) in pairs:
        if (first, second) in asked:
            views.append(View(open_files([left, right])))
    return views, Answers(path, views)


def _is_store(path: Path) -> bool:
    if not path.is_file():
        return False  # whoever opens it says what is wrong
    with open(path, "rb") as file:
        return file.read(len(_STORE)) == _STORE
