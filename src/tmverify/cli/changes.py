"""``tmverify changes``: the nearest changes of inputs, and what they are called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.cli import options
from tmverify.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from tmverify.asking.subject import Subject
    from tmverify.certificates import Certificate
    from tmverify.verify import NearestChanges

Index = Annotated[
    int | None,
    typer.Option("--index", min=0, help="One row of DATA, by its index (from 0). Default: every row."),
]
HowMany = Annotated[int, typer.Option("--k", "-k", min=1, help="How many changes of a row, at most.")]
Target = Annotated[
    str | None,
    typer.Option("--target", metavar="CLASS", help="The decision wished for. Default: any other than now."),
]
CHANGES_TIMEOUT = 60.0


def changes(
    model: options.ModelFile,
    data: options.DataFile,
    index: Index = None,
    k: HowMany = 5,
    target: Target = None,
    id: options.IdColumn = None,
    n: options.SampleSize = None,
    seed: options.Seed = 0,
    distance: options.Distance = "columns",
    columns: options.Columns = [],  # noqa: B006 (typer copies it)
    freeze: options.Freeze = [],  # noqa: B006
    increase: options.Increase = [],  # noqa: B006
    decrease: options.Decrease = [],  # noqa: B006
    within: options.Within = [],  # noqa: B006
    cost: options.Cost = [],  # noqa: B006
    known_values: options.KnownValues = False,
    features: options.Features = None,
    direction: options.Direction = None,
    engine: options.Engine = "auto",
    timeout: options.Timeout = CHANGES_TIMEOUT,
    as_json: options.AsJson = False,
    certificate: options.CertificateFolder = None,
) -> None:
    """What would have to change for another decision? The cheapest changes of each input, all proved.

    A change is a set of columns; no set contains another. The cheapest come first, by default those of the
    fewest columns, with the values that do it. It is proved that none is left out that is cheaper, but those
    that contain a listed one, or lie within one; --certificate writes the proofs down.
    Say what can't change with --freeze age,sex, and what is hard to change with --cost.

    Example: [cyan]tmverify changes people.tm people.csv --index 7 --k 5[/cyan]
    a wished decision: [cyan]tmverify changes loans.tm loans.csv --index 3 --target yes --freeze age[/cyan]
    """
    from tmverify.asking.subject import Chosen, about_inputs, machines, open_inputs, open_models, text_of
    from tmverify.cli.ask import typed_of
    from tmverify.cli.output import described, show_json, tell_of_rows

    allowed = typed_of(
        {
            "distance": distance,
            "columns": columns,
            "freeze": freeze,
            "increase": increase,
            "decrease": decrease,
            "within": within,
            "cost": cost,
            "known_values": known_values,
            "features": features,
            "direction": direction,
        }
    )
    opened = machines([model], open_models([model]))
    inputs = open_inputs(data, opened, id)
    tell_of_rows(data, inputs.ignored, inputs.notes)
    chosen = Chosen(n=n, seed=seed, index=index, allowed=allowed)
    subject = about_inputs((text_of(model.stem),), opened, inputs, chosen, data=text_of(data.stem))
    asked = _Asked(subject, k, target, engine, timeout, certificate)
    if as_json:
        head = described("changes", [model], opened)
        rows = [asked.document(place) for place in range(len(subject.rows))]
        how = {"data": str(data), "k": k, "target": asked.target, "rules": subject.rules.to_json()}
        show_json({**head, **how, "results": rows})
    else:
        asked.show_heading(model.name)
        for place in range(len(subject.rows)):
            asked.show(place)
        asked.show_certificates(model)
    raise typer.Exit(ExitCode.HOLDS if asked.complete else ExitCode.UNKNOWN)


class _Asked:
    """The answers for rows of a subject, one after the other."""

    def __init__(
        self,
        subject: Subject,
        k: int,
        target: str | None,
        engine: str,
        timeout: float | None,
        certificates: Path | None,
    ) -> None:
        from tmverify.asking.subject import read_class
        from tmverify.campaign.run import check_folder

        self.subject, self.k, self.engine, self.timeout = subject, k, engine, timeout
        self.model: Any = subject.models[0]
        self.rules = subject.rules.rules(self.model.n_features)
        self.target = None if target is None else read_class(self.model, target, "--target")
        self.certificates = certificates
        check_folder(certificates, stored=False)
        self.complete = True
        self.written: list[Path] = []

    def ask(self, place: int) -> NearestChanges:
        from tmverify.verify.changes import find_changes

        assert self.subject.X is not None
        found = find_changes(
            self.model,
            self.subject.X[place],
            self.k,
            target=self.target,
            allowed=self.rules,
            timeout=self.timeout,
            engine=self.engine,
            certificate=self.certificates is not None,
        )
        self.complete &= found.complete
        written = [(f"{number}", change.certificate) for number, change in enumerate(found, 1)]
        for name, certificate in [*written, ("no-more", found.certificate)]:
            if certificate is not None:
                path = self._path(place, name, certificate)
                certificate.save(path)
                self.written.append(path)
        return found

    def _path(self, place: int, name: str, certificate: Certificate) -> Path:
        """The file's name has a digest of what is claimed: another question is another file."""
        from tmverify.asking.bits import pack
        from tmverify.asking.task import digest

        assert self.certificates is not None
        assert self.subject.X is not None
        asked = digest([dict(certificate.claim), pack(self.subject.X[place]).hex()])
        return self.certificates / f"changes-{self.subject.rows[place]:04d}-{name}-{asked}.tmcert"

    def _named(self, place: int) -> tuple[int | None, int | None, str | None]:
        """The row's index, its line and its name, as far as they are known."""
        index, inputs = self.subject.rows[place], self.subject.inputs
        if index is None or inputs is None:
            return index, None, None
        line = None if inputs.lines is None else inputs.lines[index]
        return index, line, None if inputs.ids is None else inputs.ids[index]

    def document(self, place: int) -> dict[str, Any]:
        """The answer for one row, for JSON."""
        found = self.ask(place)
        index, line, name = self._named(place)
        sets = [
            {
                "cost": change.cost,
                "decision": change.decision,
                "optimal": change.optimal,
                "changes": [
                    {"column": one.column, "before": one.before, "after": one.after} for one in change.changes
                ],
                "witness": change.witness.tolist(),
                "certificate": None
                if change.certificate is None
                else str(self._path(place, f"{number}", change.certificate)),
            }
            for number, change in enumerate(found, 1)
        ]
        return {
            "index": index,
            "line": line,
            "name": name,
            "decision": found.before,
            "complete": found.complete,
            "exhausted": found.exhausted,
            "detail": found.detail,
            "seconds": found.seconds,
            "changes": sets,
        }

    def show_heading(self, model: str) -> None:
        """Print what was asked."""
        from rich.text import Text

        from tmverify.cli.output import counted, plain, show

        wished = "" if self.target is None else f" to {self.target}"
        show(Text(plain(f"nearest changes{wished} of {model}"), style="bold"))
        said = [counted(len(self.subject.rows)), *self.subject.rules.words(self.model.space)]
        said += [f"at most {self.k} each", f"cost in {self.subject.rules.unit}", f"engine {self.engine}"]
        show(plain(" · ".join(said).replace("cost in cost", "weighted cost")))

    def show(self, place: int) -> None:
        """Print the answer for one row."""
        from rich.text import Text

        from tmverify.cli.output import plain, show

        found = self.ask(place)
        index, line, name = self._named(place)
        called = name or (f"input {index}" if line is None else f"line {line}")
        show(Text(plain(f"{called}: class {found.before}"), style="bold"))
        for change in found:
            text = Text("  class ").append(plain(change.decision), style="cyan")
            said = str(change) if change.changes else "no change at all"
            text.append(f", {self.subject.rules.counted(change.cost)}: ").append(plain(said))
            if not change.optimal:
                text.append("  (open: there may be a cheaper one)", style="yellow")
            elif change.detail:
                text.append(f"  ({plain(change.detail)})", style="yellow")
            show(text)
        show(Text(f"  {plain(self._end(found))}", style="dim" if found.complete else "yellow"))

    def _end(self, found: NearestChanges) -> str:
        """Whether there may be others."""
        if not found.complete:
            return f"open: {found.detail}"
        leads = "alters the decision" if self.target is None else f"leads to class {self.target}"
        if not found:
            return f"proved: nothing that is allowed {leads}"
        if found.exhausted:
            note = f" ({found.detail})" if found.detail else ""
            return f"proved: these are all; nothing else that is allowed {leads} without one of them{note}"
        return f"proved: none is cheaper; there may be others (--k {2 * self.k})"

    def show_certificates(self, model: Path) -> None:
        """Print what was written, and how it is checked."""
        from tmverify.cli.output import plain, show

        if self.written:
            show(f"certificates: {len(self.written)} written to {plain(self.certificates)}; check them with")
            show(f"  tmcheck --dir {plain(self.certificates)} {plain(model)}")
