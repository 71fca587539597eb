"""Put the sections that the experiments left together as docs/results.md."""

from __future__ import annotations

from lab.arguments import ROOT

SECTIONS = (
    "training_tables",
    "robustness_mnist",
    "robustness_imdb",
    "similarity_imdb",
    "accuracy_mnist_c",
    "robustness_back_image",
    "radius_published_networks",
)
INTRODUCTION = """\
# The paper's evaluation, run again

Every table of *Verifying Properties of Tsetlin Machines* (arXiv 2303.14464), with our machines and our
engines beside the paper's figures. Each section was written by the script it names, from what that script
measured; nothing is typed in by hand. `make experiments` runs them all (with `TMVERIFY_DATA` set to the
data folder), each goes on where it was stopped, and `--quick` is a smoke run that needs no data. The plans
are in `experiments/plans/`, the figures of the paper in `experiments/lab/paper.py`. Times are from two
shared and noisy cores; a ratio to the paper's seconds is between two machines as much as between two
methods. `docs/benchmarks.md` compares with the paper's own method on one machine.
"""


def main() -> None:
    folder = ROOT / "experiments" / "results"
    found = [folder / f"{name}.md" for name in SECTIONS if (folder / f"{name}.md").exists()]
    text = "\n".join([INTRODUCTION, *(path.read_text(encoding="utf-8") for path in found)])
    (ROOT / "docs" / "results.md").write_text(text, encoding="utf-8")
    print(f"docs/results.md: {len(found)} of {len(SECTIONS)} sections")


if __name__ == "__main__":
    main()
