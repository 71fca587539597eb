"""A short tour: train a Tsetlin machine on handwritten digits, then prove what flipped pixels can do to it.

Run it with ``make demo``, or ``python examples/demo.py [FOLDER]``; it leaves the model, the test digits and a
report in FOLDER (``build/demo`` by default) for the commands that it suggests at the end. With
``--only-train`` it leaves the model and the digits, and ends.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import tmverify as tv
from tmverify.campaign import Ask, InputSet
from tmverify.data import load_table, split_table

EPSILONS = (1, 3, 5)
BAR = 40  # characters

LOANS = Path(__file__).with_name("loans.csv")

console = Console(highlight=False)
Digit = NDArray[np.uint8]


def train(data: tv.Dataset) -> tv.Model:
    """The machine that ``tmverify train digits`` makes: 300 clauses for each digit."""
    console.rule("1. Train", align="left")
    console.print(
        f"{len(data.X_train)} handwritten digits of 8 x 8 pixels to learn from, {len(data.X_test)} to test.\n"
        "(The very first run also compiles the kernels, for about half a minute in all.)"
    )
    started = time.perf_counter()
    classifier = tv.TsetlinMachineClassifier(
        300, 30, 8.0, 60, boost_true_positive=False, n_jobs=-1, random_state=0
    )
    classifier.fit(data.X_train, data.y_train)
    console.print(
        f"{classifier.n_epochs_} epochs took {time.perf_counter() - started:.1f} s. "
        f"[bold]{classifier.score(data.X_test, data.y_test):.1%}[/] of the test digits are recognised.\n"
    )
    return replace(classifier.model_, space=data.space)  # so that it knows its pixels


def measure(model: tv.Model, X: NDArray[np.uint8]) -> list[tv.Radius]:
    """The exact radius of every digit in ``X``."""
    console.rule("2. Prove: how many flipped pixels change the answer?", align="left")
    tv.robustness_radius(model, X[0], timeout=None)  # compiles, the first time
    started = time.perf_counter()
    asking = track(X, "asking", console=console, transient=True, disable=not console.is_terminal)
    radii = [tv.robustness_radius(model, x) for x in asking]
    exact = [r.lower for r in radii if r.exact]
    console.print(
        f"The radius of a digit is the least number that does. {len(exact)} of {len(X)} are exact, "
        f"in {time.perf_counter() - started:.1f} s:\n"
    )
    console.print(histogram(Counter(exact)), "")
    return radii


def histogram(counts: Counter[float]) -> Table:
    """A bar for each radius, and the share of digits that so many flips are enough for."""
    table = Table(box=None, pad_edge=False)
    for header in ("radius", "digits", "so far"):
        table.add_column(header, justify="right")
    ink = "#" if console.options.ascii_only else "█"
    so_far, most = 0, max(counts.values())
    for radius, n in sorted(counts.items()):
        so_far += n
        bar = ink * math.ceil(BAR * n / most)
        table.add_row(f"{radius:g}", str(n), f"{so_far / counts.total():.0%}", bar)
    return table


def check(model: tv.Model, x: Digit, radius: tv.Radius) -> None:
    """The other question, about one digit: is the answer the same everywhere within epsilon flips?"""
    console.print(f"The same digit, asked about one epsilon after the other (its radius is {radius}):")
    for epsilon in EPSILONS:
        verdict = tv.check_robustness(model, x, epsilon)
        console.print(f"  at most {epsilon} flipped: {verdict.status}, {verdict.seconds * 1000:.0f} ms")
    console.print()


def show_changes(
    model: tv.Model, X: NDArray[np.uint8], y: NDArray[np.int64], radii: Sequence[tv.Radius]
) -> None:
    """Of the digits that are recognised, one that is easily changed, and one that is hardest to change."""
    console.rule("3. Look: the nearest change", align="left")
    known = [i for i, r in enumerate(radii) if r.decisions is not None and r.decisions[0] == y[i]]
    weakest = min(known, key=lambda i: radii[i].upper)
    strongest = max(known, key=lambda i: radii[i].lower)
    for i in (weakest, strongest):
        console.print(pictures(X[i], radii[i]))
    check(model, X[strongest], radii[strongest])


def pictures(x: Digit, nearest: tv.Radius) -> Table:
    """The digit, the flipped pixels in it, and what it has become, side by side."""
    assert nearest.flips is not None
    assert nearest.witness is not None
    assert nearest.decisions is not None
    places = " ".join(f"({f // 8},{f % 8})" for f in nearest.flips.tolist())
    flipped = f"{len(nearest.flips)} pixel{'s' if len(nearest.flips) > 1 else ''} flipped: {places}"
    before, after = nearest.decisions
    table = Table.grid(padding=(0, 5, 0, 0))
    table.add_row(f"classified {before}", flipped, f"classified {after}", style="bold")
    table.add_row(picture(x), picture(x, set(nearest.flips.tolist())), picture(nearest.witness))
    return table


def picture(x: Digit, flips: set[int] | frozenset[int] = frozenset()) -> Text:
    """8 x 8 pixels, each two characters wide; ++ and -- where one is set and cleared."""
    ink, paper = ("##", " .") if console.options.ascii_only else ("██", " ·")
    text = Text()
    for feature, bit in enumerate(x.tolist()):
        if feature in flips:
            text.append("--" if bit else "++", style="bold white on red" if bit else "bold black on green")
        else:
            text.append(ink if bit else paper, style="" if bit else "dim")
        if feature % 8 == 7:
            text.append("\n")
    return text


def show_paper_machine() -> None:
    """Example 1 of the paper: two clauses for, two against; together they recognise x0 = x1."""
    console.rule("4. A machine made by hand: the example of the paper, x0 = x1", align="left")
    model = tv.Model.from_clauses(2, clauses=[[1, 2], [-1, -2], [1, -2], [-1, 2]], weights=[[1, 1, -1, -1]])
    console.print(model.to_text(), markup=False)
    same = tv.Model.from_clauses(2, clauses=[[1, -2], [-1, 2]], weights=[[-2, -2]], bias=1)
    verdict = tv.check_equivalence(model, same)
    console.print(f"Do its two clauses against suffice, from a bias of 1? [bold]{verdict.status}[/].\n")


def certify(model: tv.Model, x: Digit, folder: Path) -> None:
    """The radius of one digit with its evidence, and the checker that needs no part of the prover."""
    console.rule("5. Believe nobody: a certificate", align="left")
    radius = tv.robustness_radius(model, x, certificate=True)
    if radius.certificate is None:
        console.print(f"No certificate: {radius.detail or 'the radius is open'}.\n")
        return
    path = folder / "radius.tmcert"
    radius.certificate.save(path)
    started = time.perf_counter()
    words = radius.certificate.check(model)
    console.print(
        f"{path} proves the radius of a digit in {path.stat().st_size:,} bytes. A checker of one file that\n"
        f"shares no code with the prover, took {time.perf_counter() - started:.2f} s for:\n"
        f"[bold]accepted[/]: {words}\n"
    )


def campaign(folder: Path) -> Path:
    """Many questions at once, kept in a store, and drawn."""
    console.rule("6. Ask hundreds of questions: a campaign", align="left")
    plan = tv.Plan(
        title="Handwritten digits",
        models={"digits": folder / "digits.tm"},
        inputs={"test": InputSet(folder / "digits-test.npz", n=100)},
        asks=(
            Ask(question="robustness", models=(("digits",),), inputs=("test",), epsilons=EPSILONS),
            Ask(question="radius", models=(("digits",),), inputs=("test",)),
        ),
    )
    store, report = folder / "results.db", folder / "report.html"
    started = time.perf_counter()
    tally = tv.run_campaign(plan, store, jobs=2, verbose=console.is_terminal)
    tv.write_report(store, report, title=plan.title)
    console.print(
        f"{tally.done} tasks are answered, {tally.solved} solved, in {time.perf_counter() - started:.1f} s. "
        f"Each answer went into {store}\nas it came: a run that is interrupted goes on where it was.\n"
    )
    return report


def show_table() -> None:
    """The same for a table: the model reads its rows, and answers in the words of its columns."""
    console.rule("7. Your own table, in your own words", align="left")
    data = split_table(load_table(LOANS, "decision", drop=("id",)), LOANS.stem)
    assert data.space is not None
    assert data.raw_test is not None
    classifier = tv.TsetlinMachineClassifier(n_jobs=-1, random_state=0).fit(data.X_train, data.y_train)
    model = replace(classifier.model_, space=data.space)
    accuracy = classifier.score(data.X_test, data.y_test)
    console.print(f"{LOANS.name}, a made-up table of loans: {accuracy:.0%} of the test rows are right.")
    rows = [dict(zip(data.raw_test.names, cells, strict=True)) for cells in data.raw_test.cells]
    answers = [(row, tv.robustness_radius(model, row)) for row in rows]
    # A row whose nearest change is one that a row can make.
    row, nearest = next(
        (row, found)
        for row, found in answers
        if data.space.possible([found.witness])[0] and found.radius == 2
    )
    console.print(", ".join(f"{name} {value}" for name, value in row.items() if name != "id"), markup=False)
    changes = ", ".join(map(str, nearest.changes))
    console.print(f"is [bold]{model.predict(row)[0]}[/]; {nearest.radius} facts must change: {changes}\n")


def suggest(folder: Path) -> None:
    tmverify = Path(sys.executable).with_name("tmverify")
    program, shown = (
        path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        for path in (tmverify, LOANS.resolve())
    )
    console.print(f"The model and the test digits are in {folder}. Now try:")
    for command in (
        f"studio {folder}/digits.tm --data {folder}/digits-test.npz",
        f"info {folder}/digits.tm --clauses 3",
        f"robustness {folder}/digits.tm {folder}/digits-test.npz --epsilon 1 --n 100",
        f"radius {folder}/digits.tm {folder}/digits-test.npz --direction add --csv radii.csv",
        f"certify {folder}/radius.tmcert {folder}/digits.tm",
        f"campaign status {folder}/results.db",
        "train digits --weighted --max-literals 8 -o short.tm",
        f"train {shown} --target decision --drop id -o loans.tm",
    ):
        console.print(f"  {program} {command}", soft_wrap=True)


def save(model: tv.Model, data: tv.Dataset, folder: Path) -> None:
    model.save(folder / "digits.tm")
    np.savez_compressed(folder / "digits-test.npz", X=data.X_test, y=data.y_test)


def main() -> None:
    only_train = "--only-train" in sys.argv[1:]
    (given,) = [name for name in sys.argv[1:] if name != "--only-train"] or ["build/demo"]
    folder = Path(given)
    folder.mkdir(parents=True, exist_ok=True)
    data = tv.load_dataset("digits")
    model = train(data)
    save(model, data, folder)
    if only_train:  # for ``make studio``
        return
    radii = measure(model, data.X_test)
    show_changes(model, data.X_test, data.y_test, radii)
    show_paper_machine()
    certify(model, data.X_test[max(range(len(radii)), key=lambda i: radii[i].lower)], folder)
    report = campaign(folder)
    show_table()
    suggest(folder)
    console.print(f"\n[bold]The report of the campaign:[/] {report.resolve()}", soft_wrap=True)


if __name__ == "__main__":
    main()
