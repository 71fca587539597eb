"""A short tour: the machine of the paper's examples, and a small hand-made one that sorts messages.

Run it with ``make demo``, or ``python examples/demo.py [FOLDER]``; it leaves its files in FOLDER
(``build/demo`` by default) for the commands that it suggests at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

import tmverify as tv

console = Console()

WORDS = ["free", "winner", "click", "invoice", "meeting", "thanks", "urgent", "lottery"]


def paper_machine() -> tv.Model:
    """Example 1: two clauses for, two against; it recognises x1 = x2."""
    return tv.Model.from_clauses(
        n_features=2,
        clauses=[[1, 2], [-1, -2], [1, -2], [-1, 2]],
        weights=[[1, 1, -1, -1]],
        tie="positive",
    )


def spam_filter(extra: list[int] | None = None) -> tv.Model:
    """Hand-made rules over eight words; a positive score means spam."""
    clauses = [[1, 2], [8], [1, 3], [7, 3], [4, -2], [5], [6], extra or [1, 7]]
    return tv.Model.from_clauses(
        n_features=len(WORDS),
        clauses=clauses,
        weights=[[2, 2, 1, 1, -1, -2, -1, 1]],
        tie="negative",
        classes=["ham", "spam"],
        feature_names=WORDS,
    )


def message(*words: str) -> np.ndarray:  # type: ignore[type-arg]
    """A message as bits: which of the words it has."""
    return np.array([word in words for word in WORDS], np.uint8)


MESSAGES = [
    ("free", "winner", "click"),
    ("lottery", "winner", "urgent", "click"),
    ("invoice", "meeting", "thanks"),
    ("free", "winner", "meeting"),
    ("meeting",),
]


def show_paper_machine() -> None:
    model = paper_machine()
    console.print(Panel(escape(model.to_text()), title="1. The paper's machine", expand=False))
    v = tv.check_robustness(model, [0, 0], epsilon=1)
    console.print(f"Input 00 is class {model.predict([[0, 0]])[0]}. Can one flipped bit change that?")
    console.print(
        f"  [bold]{v.status}[/]: flip feature {v.flips}, and {v.witness} is class {v.decisions[1]}\n"
    )  # type: ignore[index]


def show_spam_filter(model: tv.Model, X: np.ndarray) -> None:  # type: ignore[type-arg]
    console.print(Panel(escape(model.to_text()), title="2. A hand-made spam filter", expand=False))
    table = Table(title="Can a spammer, or an accident, change the verdict?")
    for column in ("message", "class", "1 word changed", "2 changed", "2 words inserted only"):
        table.add_column(column)
    for words, x in zip(MESSAGES, X, strict=True):
        verdicts = [
            tv.check_robustness(model, x, 1),
            tv.check_robustness(model, x, 2),
            tv.check_robustness(model, x, 2, direction="add"),
        ]
        table.add_row(" ".join(words), model.predict(x[None])[0], *(describe(v, x) for v in verdicts))
    console.print(table)


def describe(v: tv.Verdict, x: np.ndarray) -> str:  # type: ignore[type-arg]
    """A verdict in a table cell: proved, or the change that breaks it."""
    if v.flips is None:
        return f"[green]{v.status}[/]"
    return "[red]" + " ".join(("-" if x[f] else "+") + WORDS[f] for f in v.flips) + "[/]"


def show_many(model: tv.Model, X: np.ndarray) -> None:  # type: ignore[type-arg]
    v = tv.check_universal_robustness(model, X, epsilon=1, eta="3/5")
    console.print(
        f"\nIs it robust to one change on at least 3/5 of these messages? [bold]{v.status}[/] "
        f"({v.required} of {v.n_inputs} required, {len(v.verdicts)} looked at)"
    )
    reordered = tv.Model.from_clauses(
        model.n_features,
        model.clauses[::-1],
        model.weights[:, ::-1],
        tie=model.tie,
        classes=model.classes,
        feature_names=WORDS,
    )
    v2 = tv.check_equivalence(model, reordered)
    console.print(f"Do the rules mean the same in reverse order? [bold]{v2.status}[/] (over all inputs)")
    v3 = tv.check_equivalence(model, spam_filter(extra=[1, 7, -5]))
    words = "no words" if v3.witness is None else " ".join(np.array(WORDS)[v3.witness == 1])
    console.print(f"And with one rule changed? [bold]{v3.status}[/]: '{words}' is {v3.decisions}")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
    folder.mkdir(parents=True, exist_ok=True)
    model, X = spam_filter(), np.array([message(*words) for words in MESSAGES])
    show_paper_machine()
    show_spam_filter(model, X)
    show_many(model, X)

    model.save(folder / "spam.tm")
    spam_filter(extra=[1, 7, -5]).save(folder / "spam2.tm")
    np.savez(folder / "messages.npz", X=X, y=model.predict(X))
    tv.to_dimacs(tv.robustness_query(model, X[0], 1), folder / "first.cnf")
    assert tv.load(folder / "spam.tm") == model
    console.print(f"\nThe models, the messages and a DIMACS file are in {folder}. Now try:")
    tmverify = Path(sys.executable).with_name("tmverify")
    program = tmverify.relative_to(Path.cwd()) if tmverify.is_relative_to(Path.cwd()) else tmverify
    for command in (
        f"info {folder}/spam.tm --clauses 10",
        f"robustness {folder}/spam.tm {folder}/messages.npz --epsilon 1 --epsilon 2",
        f"equivalence {folder}/spam.tm {folder}/spam2.tm",
    ):
        console.print(f"  {program} {command}", soft_wrap=True, highlight=False)


if __name__ == "__main__":
    main()
