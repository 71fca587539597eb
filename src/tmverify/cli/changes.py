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

HowMany = Annotated[int, typer.Option("--k", "-k", min=1, help="How many changes of a row, at most.")]
Target = Annotated[
    str | None,
    typer.Option("--target", metavar="CLASS", help="The decision wished for. Default: any other than now."),
]
CHANGES_TIMEOUT = 60.0


def changes(
    model: options.ModelFile,
    data: options.DataFile,
    index: options.Index = None,
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
    csv: options.ChangesCsv = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """What would have to change for another decision? The cheapest changes of each input, all proved.

    A change is a set of columns; no set contains another. The cheapest come first, by default those of the
    fewest columns, with the values that do it. It is proved that none is left out that is cheaper, but those
    that contain a listed one, or lie within one; --certificate writes the proofs down.
    Say what can't change with --freeze age,sex, and what is hard to change with --cost; --known-values leaves
    out changes to missing and unseen values. If DATA has labels, it says which rows are decided otherwise.

    Example: [cyan]tmverify changes people.tm people.csv --index 7 --k 5[/cyan]
    a wished decision: [cyan]tmverify changes loans.tm loans.csv --index 3 --target yes --freeze age[/cyan]
    """
    from tmverify.asking.subject import Chosen, about_inputs, machines, open_inputs, open_models, text_of
    from tmverify.cli.ask import typed_of
    from tmverify.cli.output import described, show_json, tell_of_rows
    from tmverify.cli.saving import check_apart, check_target

    if csv is not None:
        check_target(csv, "--csv", [".csv"])
        check_apart([model, data], [csv], "MODEL, DATA and --csv")
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
    if not as_json:
        asked.show_heading(model.name)
    asked.run(show=not as_json)
    if csv is not None:
        asked.save_csv(csv)
    if as_json:
        head = described("changes", [model], opened)
        how = {"data": str(data), "k": k, "target": asked.target, "rules": subject.rules.to_json()}
        rows = [asked.document(place) for place in range(len(asked.found))]
        show_json({**head, **how, "interrupted": asked.interrupted, "results": rows})
    else:
        asked.show_end(model, csv)
    raise typer.Exit(asked.code)


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
        self.origins = subject.origins()
        self.found: list[NearestChanges] = []
        self.written: list[Path] = []
        self.interrupted = False

    @property
    def code(self) -> ExitCode:
        if self.interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.HOLDS if all(found.complete for found in self.found) else ExitCode.UNKNOWN

    def run(self, *, show: bool) -> None:
        """Ask about each row, and print what is found; Ctrl-C ends it, and the rows before are kept."""
        try:
            for place in range(len(self.subject.rows)):
                self.found.append(self._ask(place))
                if show:
                    self._show(place)
        except KeyboardInterrupt:
            self.interrupted = True

    def _ask(self, place: int) -> NearestChanges:
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

    def document(self, place: int) -> dict[str, Any]:
        """The answer for one row, for JSON."""
        found, origin = self.found[place], self.origins[place]
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
            "index": origin.index,
            "line": origin.line,
            "name": origin.name,
            "decision": found.before,
            "label": origin.label,
            "complete": found.complete,
            "exhausted": found.exhausted,
            "detail": found.detail,
            "seconds": found.seconds,
            "changes": sets,
        }

    def save_csv(self, path: Path) -> None:
        """Write a line for every set of changes (``changes`` in JSON), and one for a row that has none."""
        import json

        from tmverify.cli.saving import save_lines

        columns = ["index", "line", "name", "decision", "label", "number", "outcome", "cost", "optimal"]
        columns += ["changes", "complete", "exhausted", "seconds", "certificate", "detail"]
        if self.certificates is None:
            columns.remove("certificate")
        lines = []
        for row in map(self.document, range(len(self.found))):
            lines += [
                {
                    **row,
                    **one,
                    "decision": row["decision"],
                    "outcome": one["decision"],
                    "number": number,
                    "changes": json.dumps(one["changes"], ensure_ascii=False),
                }
                for number, one in enumerate(row["changes"], 1)
            ] or [{**row, "changes": ""}]
        save_lines(path, columns, lines)

    def show_heading(self, model: str) -> None:
        """Print what was asked."""
        from rich.text import Text

        from tmverify.cli.output import counted, plain, show

        wished = "" if self.target is None else f" to {self.target}"
        show(Text(plain(f"nearest changes{wished} of {model}"), style="bold"))
        said = [counted(len(self.subject.rows)), *self.subject.rules.words(self.model.space)]
        said += [f"at most {self.k} each", f"cost in {self.subject.rules.unit}", f"engine {self.engine}"]
        show(plain(" · ".join(said).replace("cost in cost", "weighted cost")))

    def _show(self, place: int) -> None:
        """Print the answer for one row."""
        from rich.text import Text

        from tmverify.cli.output import plain, show

        found, origin = self.found[place], self.origins[place]
        show(Text(plain(f"{origin.called}: {origin.decided(found.before)}"), style="bold"))
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

    def show_end(self, model: Path, csv: Path | None) -> None:
        """Print what was written, how it is checked, and whether it was interrupted."""
        from rich.text import Text

        from tmverify.cli.output import counted, plain, show

        if csv is not None:
            n = counted(sum(map(len, self.found)), "set")
            show(f"{n} of changes of {counted(len(self.found), 'row')} written to {plain(csv)}")
        if self.written:
            show(f"certificates: {len(self.written)} written to {plain(self.certificates)}; check them with")
            show(f"  tmcheck --dir {plain(self.certificates)} {plain(model)}")
        if self.interrupted:
            of = counted(len(self.subject.rows), "row")
            show(Text(f"INTERRUPTED after {len(self.found)} of {of}", style="bold yellow"))
