"""The paper's similarity table on IMDB, and whether two machines of the same setting ever disagree."""

from __future__ import annotations

from lab.arguments import read_arguments
from lab.campaigns import run_plan
from lab.paper import SIMILARITY
from lab.reviews import write_reviews
from lab.robustness import finish
from lab.subjects import Subjects
from lab.tables import Section, seconds

from tmverify.campaign import grouped

NAME = "similarity_imdb"
HEADERS = ("machines", "eps", "asked", "solved", "paper", "similar", "paper", "mean s")


def main() -> None:
    setting = read_arguments(__doc__ or "")
    subjects = Subjects(setting)
    for name in ("imdb-1", "imdb-2", "imdb-3"):
        subjects.machine(name)
    write_reviews(subjects, "imdb-any")
    rows = run_plan(NAME, setting)
    section = Section(NAME, "Similarity and equivalence on IMDB", HEADERS)
    for group, tally in grouped(rows).items():
        pair, mean = " and ".join(group.names), seconds(tally.mean_seconds)
        if group.question == "similarity" and len(group.names) == 2:
            solved, similar = SIMILARITY[(group.names[0], group.names[1]), group.epsilon or 0]
            section.rows.append(
                (pair, group.epsilon, tally.total, tally.solved, solved, tally.positive, similar, mean)
            )
        if group.question == "equivalence":
            answer = "proved" if tally.positive else "refuted" if tally.violated else "unknown"
            section.remarks.append(f"Equivalence of {pair}: {answer}, in {mean} s (paper: refuted).")
    section.remarks.append(
        "The reviews are the first 100 of a shuffled test set, whatever the machines make of them; machines "
        "that disagree on a review itself are not similar at any epsilon. The paper gives no seconds."
    )
    finish(section, rows, setting)


if __name__ == "__main__":
    main()
