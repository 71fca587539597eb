"""A property as it is typed in a command or written in a file, read for a model, and in words.

    expect (and assume)     what is expected of every input that meets the assumption
    protected               columns whose change alone never alters the decision
    monotone and toward     a column that, raised, never turns the decision away from a class

It is about every possible input; or, with an epsilon, about rows of data and what is around them, and then it
must hold for a share ``eta`` of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from tmverify.asking.subject import Subject, read_class
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Model
from tmverify.properties import UniversalVerdict, Verdict
from tmverify.properties.expressions import ExpressionError
from tmverify.properties.meaning import Round
from tmverify.properties.questions import DEFAULT_TIMEOUT
from tmverify.verify.stated import SAME_DECISION, OnRow, Pair, Stated, ask_property, monotone

Kind = Literal["prove", "fairness", "monotonicity"]
Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What is stated.

    Attributes
    ----------
    name : str
        What it is called, where there are several.
    expect, protected, monotone
        One of them is given: it says which kind of property this is.
    toward : the class, as it is typed; with ``monotone``
    known_values : whether missing and unseen values are left out
    epsilon : int or None
        How much may change around a row; None if the property is about every possible input.
    data : Path or None
        The rows; with epsilon.
    eta : the share of rows for which it must hold, not read yet
    severity : a violated "warning" is told, and fails nothing
    vacuous : whether a property that holds for want of anything that satisfies its assumption fails the run
    why : what it is good for, for readers
    """

    name: str = ""
    assume: str | None = None
    expect: str | None = None
    protected: tuple[str, ...] = ()
    monotone: str | None = None
    toward: Any = None
    margin: int = 0
    round: Round | None = None
    known_values: bool = False
    data: Path | None = None
    epsilon: int | None = None
    eta: Any = 1
    timeout: float | None = DEFAULT_TIMEOUT
    severity: Severity = "error"
    vacuous: Literal["error", "ok"] = "error"
    why: str = ""

    @property
    def kind(self) -> Kind:
        """The command that asks it."""
        if self.expect is not None:
            return "prove"
        return "monotonicity" if self.monotone is not None else "fairness"

    @property
    def about_rows(self) -> bool:
        """Whether it is about rows of data, not about every possible input."""
        return self.epsilon is not None

    def stated(self, model: Model) -> Stated:
        """The property of a model.

        Raises
        ------
        InvalidInputError
            If it says nothing about this model; the message has the name and the place.
        """
        try:
            return self._stated(model)
        except ExpressionError as error:
            raise ExpressionError(f"{self.place}{error.said}", error.place) from None
        except InvalidInputError as error:
            raise InvalidInputError(f"{self.place}{error}") from None

    @property
    def place(self) -> str:
        """How an error begins that is about it."""
        return f"property {shown(self.name)}: " if self.name else ""

    def _stated(self, model: Model) -> Stated:
        how: Any = {key: getattr(self, key) for key in ("margin", "round", "known_values")}
        if self.expect is not None:
            return Stated(model, self.assume, self.expect, **how)
        if self.monotone is not None:
            toward = read_class(model, str(self.toward), "toward")
            return monotone(model, self.monotone, toward, assume=self.assume, **how)
        return Stated(model, Pair(self.protected, self.assume), SAME_DECISION, **how)

    def ask(
        self,
        stated: Stated,
        subject: Subject | None,
        *,
        engine: str = "auto",
        certificate: bool = False,
        on_row: OnRow | None = None,
        every: bool = False,
    ) -> Verdict | UniversalVerdict:
        """Decide it: for every possible input, or for the rows of a subject, which says what may change."""
        if subject is None:
            return ask_property(stated, timeout=self.timeout, engine=engine, certificate=certificate)
        return ask_property(
            stated,
            epsilon=self.epsilon,
            X=subject.X,
            eta=self.eta,
            allowed=subject.rules.rules(stated.model.n_features),
            timeout=self.timeout,
            engine=engine,
            certificate=certificate,
            on_row=on_row,
            every=every,
        )

    @property
    def words(self) -> str:
        """The property as a sentence."""
        by = f", by at least {self.margin} vote{'' if self.margin == 1 else 's'}" if self.margin else ""
        if self.kind == "fairness":
            said = f"same decision whatever {' and '.join(self.protected)} is"
        elif self.kind == "monotonicity":
            said = f"more {self.monotone} never turns the decision away from {self.toward}"
            by = f"{by}, before and after" if by else ""
        else:
            said = f"expected: {cast('str', self.expect).strip()}"
        where = "" if self.assume is None else f", if {self.assume.strip()}"
        known = ", known values only" if self.known_values else ""
        return " ".join(f"{said}{by}{where}{known}".split())
