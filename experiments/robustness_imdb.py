"""The paper's robustness table on IMDB: 100 reviews that both machines classify correctly."""

from __future__ import annotations

from lab.arguments import read_arguments
from lab.campaigns import run_plan
from lab.reviews import write_reviews
from lab.robustness import finish, radius_remark, robustness_section
from lab.subjects import Subjects

NAME = "robustness_imdb"


def main() -> None:
    setting = read_arguments(__doc__ or "")
    subjects = Subjects(setting)
    machines = [subjects.machine(name) for name in ("imdb-1", "imdb-2")]
    write_reviews(subjects, "imdb-right", [machine.model for machine in machines])
    rows = run_plan(NAME, setting)
    section = robustness_section(NAME, "Robustness on IMDB", rows)
    section.remarks += [
        "A flip adds a word to the review or removes one. The reviews are the first 100 of a shuffled test "
        "set that both machines classify correctly; the paper's are not known.",
        *radius_remark(rows),
    ]
    finish(section, rows, setting)


if __name__ == "__main__":
    main()
