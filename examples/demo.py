"""A short tour: train a Tsetlin machine on handwritten digits, then prove what flipped pixels can do to it.

Run it with ``make demo``, or ``python examples/demo.py [FOLDER]``; it leaves the model and the test digits in
FOLDER (``build/demo`` by default) for the commands that it suggests at the end.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import tmverify as tv

EPSILONS = (1, 3, 5)
N_DIGITS = 24
SECONDS_A_QUESTION = 1.0

console = Console(highlight=False)
Digit = NDArray[np.uint8]


def train(data: tv.Dataset) -> tv.Model:
    """A small machine, so that the questions are quick; ``tmverify train digits`` makes a larger one."""
    console.rule("1. Train", align="left")
    console.print(
        f"{len(data.X_train)} handwritten digits of 8 x 8 pixels to learn from, {len(data.X_test)} to test.\n"
        "(The very first run also compiles the kernels, for about ten seconds.)"
    )
    started = time.perf_counter()
    classifier = tv.TsetlinMachineClassifier(
        n_clauses=100, threshold=15, specificity=5.0, n_epochs=60, n_jobs=-1, random_state=0
    )
    classifier.fit(data.X_train, data.y_train)
    console.print(
        f"{classifier.n_epochs_} epochs took {time.perf_counter() - started:.1f} s. "
        f"[bold]{classifier.score(data.X_test, data.y_test):.1%}[/] of the test digits are recognised.\n"
    )
    return classifier.model_


def check(model: tv.Model, X: NDArray[np.uint8]) -> dict[int, list[tv.Verdict]]:
    """For each epsilon the verdicts on the digits ``X``."""
    console.rule("2. Verify: can a few flipped pixels change the answer?", align="left")
    verdicts: dict[int, list[tv.Verdict]] = {epsilon: [] for epsilon in EPSILONS}
    questions = [(epsilon, x) for epsilon in EPSILONS for x in X]
    for epsilon, x in track(
        questions, "asking", console=console, transient=True, disable=not console.is_terminal
    ):
        verdicts[epsilon].append(tv.check_robustness(model, x, epsilon, timeout=SECONDS_A_QUESTION))
    console.print(count(verdicts))
    console.print(
        "robust: proved, no such change alters the answer.\n"
        "changed: one does; the model was run on it.\n"
        f"unknown: not decided within {SECONDS_A_QUESTION:g} s, so nothing is claimed.\n"
    )
    return verdicts


def count(verdicts: dict[int, list[tv.Verdict]]) -> Table:
    table = Table()
    for header in ("pixels flipped, at most", "digits", "robust", "changed", "unknown", "seconds"):
        table.add_column(header, justify="right")
    for epsilon, answers in verdicts.items():
        seen = Counter(v.status for v in answers)
        counts = [seen[status] for status in (tv.Status.HOLDS, tv.Status.VIOLATED, tv.Status.UNKNOWN)]
        seconds = sum(v.seconds for v in answers)
        table.add_row(str(epsilon), str(len(answers)), *map(str, counts), f"{seconds:.1f}")
    return table


def show_changes(X: NDArray[np.uint8], y: NDArray[np.int64], verdicts: dict[int, list[tv.Verdict]]) -> None:
    """Of the digits that are recognised, the first that one pixel changes, and the first that takes more."""
    console.rule("3. Look at the counterexamples", align="left")
    robust_to_one = [v.status == "holds" for v in verdicts[1]]
    for epsilon, robust in ((1, False), (3, True)):
        for i, verdict in enumerate(verdicts[epsilon]):
            recognised = verdict.decisions is not None and verdict.decisions[0] == y[i]
            if recognised and robust_to_one[i] == robust:
                console.print(pictures(X[i], verdict))
                break


def pictures(x: Digit, verdict: tv.Verdict) -> Table:
    """The digit, the flipped pixels in it, and what it has become, side by side."""
    assert verdict.flips is not None
    assert verdict.witness is not None
    assert verdict.decisions is not None
    places = " ".join(f"({f // 8},{f % 8})" for f in verdict.flips.tolist())
    flipped = f"{len(verdict.flips)} pixel{'s' if len(verdict.flips) > 1 else ''} flipped: {places}"
    before, after = verdict.decisions
    table = Table.grid(padding=(0, 5, 0, 0))
    table.add_row(f"classified {before}", flipped, f"classified {after}", style="bold")
    table.add_row(picture(x), picture(x, set(verdict.flips.tolist())), picture(verdict.witness))
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
    """Example 1 of the paper: two clauses for, two against; together they recognise x1 = x2."""
    console.rule("4. A machine made by hand: the example of the paper, x1 = x2", align="left")
    model = tv.Model.from_clauses(2, clauses=[[1, 2], [-1, -2], [1, -2], [-1, 2]], weights=[[1, 1, -1, -1]])
    console.print(model.to_text(), markup=False)
    same = tv.Model.from_clauses(2, clauses=[[1, -2], [-1, 2]], weights=[[-2, -2]], bias=1)
    verdict = tv.check_equivalence(model, same)
    console.print(f"Do its two clauses against suffice, from a bias of 1? [bold]{verdict.status}[/].\n")


def suggest(folder: Path) -> None:
    tmverify = Path(sys.executable).with_name("tmverify")
    program = tmverify.relative_to(Path.cwd()) if tmverify.is_relative_to(Path.cwd()) else tmverify
    console.print(f"The model and the test digits are in {folder}. Now try:")
    for command in (
        f"info {folder}/digits.tm --clauses 3",
        f"robustness {folder}/digits.tm {folder}/digits-test.npz --epsilon 1 --n 100",
        "train digits --weighted --max-literals 8 -o short.tm",
    ):
        console.print(f"  {program} {command}", soft_wrap=True)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
    folder.mkdir(parents=True, exist_ok=True)
    data = tv.load_dataset("digits")
    model = train(data)
    rows = np.random.default_rng(0).choice(len(data.X_test), N_DIGITS, replace=False)
    X, y = data.X_test[rows], data.y_test[rows]
    show_changes(X, y, check(model, X))
    show_paper_machine()
    model.save(folder / "digits.tm")
    np.savez_compressed(folder / "digits-test.npz", X=data.X_test, y=data.y_test)
    suggest(folder)


if __name__ == "__main__":
    main()
