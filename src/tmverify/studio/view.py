"""View: what a page shows at a time: one model, or two that are compared, and perhaps rows.

A studio of model files has one view. That of a store has one for each model file that was named, and one for
each two of them that the store compares.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tmverify.errors import InvalidInputError
from tmverify.studio.form import form_of
from tmverify.studio.look import Looks
from tmverify.studio.opened import Opened
from tmverify.studio.rows import Rows


class View:
    """A view."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.looks = opened, Looks(opened)
        self._rows = None if opened.data is None else Rows(opened)

    @property
    def title(self) -> str:
        return " and ".join(each.title for each in self.opened.models)

    @property
    def rows(self) -> Rows:
        """The rows; InvalidInputError if there are none."""
        if self._rows is None:
            raise InvalidInputError("There are no rows: start the studio with --data FILE to have some.")
        return self._rows

    @cached_property
    def about(self) -> dict[str, Any]:
        """What a page needs to know of it."""
        return {**form_of(self.opened), "data": self._about_data()}

    def _about_data(self) -> dict[str, Any] | None:
        data = self.opened.data
        if data is None:
            return None
        return {
            "name": data.file,
            "rows": len(data),
            "labelled": data.inputs.y is not None,
            "accuracy": data.accuracy,
            "raw": data.inputs.raw is not None,
            "notes": list(data.inputs.notes),
        }
