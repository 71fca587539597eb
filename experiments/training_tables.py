"""The paper's training table: three machines for MNIST and three for IMDB."""

from __future__ import annotations

from lab.arguments import read_arguments
from lab.paper import EPOCHS, TRAINING
from lab.subjects import Subjects
from lab.tables import Section, times

HEADERS = (
    "machine",
    "clauses",
    "T",
    "s",
    "epochs",
    "train %",
    "paper",
    "test %",
    "paper",
    "literals a clause",
    "paper",
    "seconds",
    "paper",
    "paper / ours",
)


def main() -> None:
    setting = read_arguments(__doc__ or "")
    subjects = Subjects(setting)
    section = Section("training_tables", "Training", HEADERS)
    for name, (train, test, seconds, literals) in TRAINING.items():
        machine = subjects.machine(name)
        recipe = machine.recipe
        section.rows.append(
            (
                name,
                recipe.n_clauses,
                recipe.threshold,
                f"{recipe.specificity:g}",
                recipe.n_epochs,
                f"{machine.train_accuracy:.2f}",
                f"{train:.2f}",
                f"{machine.test_accuracy:.2f}",
                f"{test:.2f}",
                f"{machine.literals:.0f}",
                literals,
                f"{machine.seconds:.0f}",
                seconds,
                times(seconds, machine.seconds),
            )
        )
    section.remarks += [
        f"The paper trains every machine for {EPOCHS} epochs, on a GTX 1070; ours run on two shared CPU "
        "cores, so the ratio of seconds is between machines as much as between programs. The IMDB machines "
        "have far fewer epochs here; the paper gives no seconds for them.",
        "Clauses are those of a class; IMDB's two classes share one machine. Ours for IMDB boost true "
        "positives. Literals are all those of a clause, as they stand in the model.",
    ]
    section.write(setting)


if __name__ == "__main__":
    main()
