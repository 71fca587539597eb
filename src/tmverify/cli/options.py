"""Every argument and option of the command line, with the help that explains it, written once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from tmverify.errors import InvalidInputError

ENGINES = ("auto", "search", "sat", "paper", "brute")

_INPUTS = "Which inputs"
_REGION = "Which changes"
_EFFORT = "How to decide"
_OUTPUT = "Output"

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as written by Model.save.")]
ModelA = Annotated[Path, typer.Argument(metavar="A", help="First model file.")]
ModelB = Annotated[
    Path,
    typer.Argument(
        metavar="B",
        help="Second model file: same features in the same order, same classes.",
    ),
]
DATA_HELP = (
    "Your own rows: .csv or .tsv with the model's columns (found by name; others are ignored), or .txt with "
    "a text a line. Or .npz with X (and y, feature_names), or .npy: bits, or raw numbers with a column for "
    "each of the model's. Or a .csv of 0/1. Labels are in the column that the model was trained on, or in "
    "one named y or label."
)
DataFile = Annotated[Path, typer.Argument(metavar="DATA", help=DATA_HELP)]

HintFile = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DATA",
        help="Inputs to look for a disagreement among and around, such as the test data; it may find one "
        "sooner, and is no part of the question. " + DATA_HELP,
    ),
]

DEFAULT_EPSILONS = [1]
Epsilons = Annotated[
    list[int],
    typer.Option(
        "--epsilon",
        "-e",
        help="Change at most this many columns, or flip this many features where each is a bit; see "
        "--distance and --cost. Repeat it for several rows.",
    ),
]
Epsilon = Annotated[
    int,
    typer.Option(
        "--epsilon",
        "-e",
        help="Change at most this many columns, or flip this many features where each is a bit; see "
        "--distance and --cost.",
    ),
]
Margin = Annotated[
    int,
    typer.Option(
        "--margin",
        metavar="VOTES",
        min=0,
        help="The decision must also stand by at least so many votes: every other class has so many less. "
        "0: the decision as such, ties as the model declares them.",
    ),
]
Eta = Annotated[
    str,
    typer.Option(
        "--eta", metavar="FRACTION", help="Share of the inputs on which it must hold, read exactly: 0.9, 2/3."
    ),
]

IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column of DATA that says what each row is called, in tables and files. Rows of text files "
        "have their line in any case.",
        rich_help_panel=_INPUTS,
    ),
]
Index = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="ROWS",
        help="Only these rows of DATA, by index from 0: 7, or 0,3,10-19. Or by name, with --id. Default: "
        "every row.",
    ),
]
SampleSize = Annotated[
    int | None,
    typer.Option(
        "--n",
        min=1,
        help="Draw this many inputs at random, without repetition, evenly over the labels if there are any. "
        "Default: all inputs, in order.",
        rich_help_panel=_INPUTS,
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.", rich_help_panel=_INPUTS)]

ManyScope = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="team|own|CLASS",
        help="Whose decision: the whole model's (team), that of one class's own machine (its label), or for "
        "each input the machine of its own class (own: the label y, else the predicted class).",
        rich_help_panel=_REGION,
    ),
]
Scope = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="team|CLASS",
        help="Whose decision: the whole model's (team), or that of one class's own machine (its label).",
        rich_help_panel=_REGION,
    ),
]
Distance = Annotated[
    str,
    typer.Option(
        "--distance",
        metavar="columns|steps|bits",
        help="What is counted. columns: each column of your table that changes is 1. steps: a number counts "
        "the cuts that it crosses, anything else 1. bits: any bits flip by themselves, as in the paper, "
        "which takes rows for possible that can't be. Where every column is a bit, all three are the same.",
        rich_help_panel=_REGION,
    ),
]
AnyDistance = Annotated[
    str,
    typer.Option(
        "--distance",
        metavar="columns|bits",
        help="columns: every input that a row of your table can be. bits: any bits, also those of no row.",
        rich_help_panel=_REGION,
    ),
]
Columns = Annotated[
    list[str],
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="Only these columns may change, e.g. income,savings. Repeat it for a name with a comma in it; "
        "so with the other lists. Default: all.",
        rich_help_panel=_REGION,
    ),
]
Freeze = Annotated[
    list[str],
    typer.Option(
        "--freeze",
        metavar="NAMES",
        help="These columns may not change, e.g. age,sex.",
        rich_help_panel=_REGION,
    ),
]
Increase = Annotated[
    list[str],
    typer.Option(
        "--increase",
        metavar="NAMES",
        help="Numbers that may only grow, flags that may only be set, e.g. age.",
        rich_help_panel=_REGION,
    ),
]
Decrease = Annotated[
    list[str],
    typer.Option(
        "--decrease",
        metavar="NAMES",
        help="Numbers that may only fall, flags that may only be cleared.",
        rich_help_panel=_REGION,
    ),
]
Within = Annotated[
    list[str],
    typer.Option(
        "--within",
        metavar="COLUMN=VALUES",
        help="The values that a column may change to: a range of a number, age=18..65, age=18.. or age=..65; "
        "or values, city=Oslo,Bergen. Repeat it for more columns, or for a value with a comma in it.",
        rich_help_panel=_REGION,
    ),
]
Cost = Annotated[
    list[str],
    typer.Option(
        "--cost",
        metavar="COLUMN=COST",
        help="What a change of a column costs (a step, with --distance steps), instead of 1: age=2. Repeat "
        "it for more columns. Epsilon and radius are costs then.",
        rich_help_panel=_REGION,
    ),
]
KnownValues = Annotated[
    bool,
    typer.Option(
        "--known-values",
        help="Change columns only to values that training has seen: not to missing, not to unseen ones. "
        "Columns of --within change to the values that it gives.",
        rich_help_panel=_REGION,
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="LIST",
        help="Only these bits may flip, where every column is a bit or with --distance bits: names, indices "
        "or ranges, e.g. 3,10-20,colour. Indices count from 0; features without names are x0, x1, … "
        "Default: all.",
        rich_help_panel=_REGION,
    ),
]
Direction = Annotated[
    str | None,
    typer.Option(
        "--direction",
        metavar="add|remove",
        help="Bits may only be set (add) or only be cleared (remove), like --features. Default: both.",
        rich_help_panel=_REGION,
    ),
]

Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="|".join(ENGINES),
        help="How to decide. auto: search, then every input if they are few, else sat (equivalence: looks "
        "for a disagreement and for structure that cancels before); search: exact branch and bound "
        "over flips; sat: a compact encoding and CaDiCaL; paper: the paper's own encoding and Glucose; "
        "brute: enumerates small regions.",
        rich_help_panel=_EFFORT,
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit for each question (inf: none). What it leaves open is unknown, never holds.",
        rich_help_panel=_EFFORT,
    ),
]
TotalTimeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit for the whole call (inf: none). What it leaves open is unknown, never holds.",
        rich_help_panel=_EFFORT,
    ),
]
InputTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout-per-input",
        metavar="SECONDS",
        help="Time limit for each input, within --timeout. Default: none.",
        rich_help_panel=_EFFORT,
    ),
]

StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE.db",
        help="Keep every answer in this file as it comes, and ask only what it does not know: the same "
        "command goes on where it was stopped. tmverify report draws it.",
        rich_help_panel=_EFFORT,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", help="Processes that work side by side (-1: one a core).", rich_help_panel=_EFFORT
    ),
]

AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document instead of a table.", rich_help_panel=_OUTPUT),
]
CertificateFolder = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="DIR",
        help="Write the evidence into this folder, made if needed: a file for each answer as it comes, or "
        "one for a universal question. tmcheck checks them. Engines auto, search and sat write it.",
        rich_help_panel=_OUTPUT,
    ),
]
WitnessFile = Annotated[
    Path | None,
    typer.Option(
        "--save-witnesses",
        "--save-witness",
        metavar="FILE.npz",
        help="Write the counterexamples (X), the inputs they come from (X0), index, line, name, epsilon, "
        "feature_names, the changes in words (JSON), and whether a row can be so (possible). Also after "
        "Ctrl-C.",
        rich_help_panel=_OUTPUT,
    ),
]
RadiusTimeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="Time limit for each input (inf: none). When it strikes, the bounds proved so far are given.",
        rich_help_panel=_EFFORT,
    ),
]
NearestFile = Annotated[
    Path | None,
    typer.Option(
        "--save-witnesses",
        "--save-witness",
        metavar="FILE.npz",
        help="Write the nearest inputs that are decided otherwise (X), the inputs they come from (X0), "
        "index, line, name, lower, upper, feature_names, the changes in words (JSON), and whether a row can "
        "be so (possible). Also after Ctrl-C.",
        rich_help_panel=_OUTPUT,
    ),
]
CsvFile = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE.csv",
        help="Write a line for every answer, with the bits that flip by index (from 0) and by name, and the "
        "changes in words. Also after Ctrl-C.",
        rich_help_panel=_OUTPUT,
    ),
]
ReasonsCsv = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE.csv",
        help="Write a line for every reason, with its rule, its facts and what is proved. Also after Ctrl-C.",
        rich_help_panel=_OUTPUT,
    ),
]
ChangesCsv = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE.csv",
        help="Write a line for every set of changes, with its cost. Also after Ctrl-C.",
        rich_help_panel=_OUTPUT,
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        "--rows",
        min=0,
        help="Lines of the table, and of the changes below it: with more inputs than that, those with the "
        "least radius. 0: none. Default: 20, and of the changes 5.",
        rich_help_panel=_OUTPUT,
    ),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="MODEL2",
        help="A second model: how near is an input on which the two disagree?",
    ),
]
Image = Annotated[
    str | None,
    typer.Option(
        "--image",
        metavar="ROWSxCOLUMNS",
        help="The inputs are pictures of this shape, e.g. 28x28. Default: what the model or the plan says, "
        "or the features' names (pixel_0_0, …).",
    ),
]


def read_shape(text: str | None) -> tuple[int, int] | None:
    """The rows and columns that ``--image`` gives; None if it is not given."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})[xX](\d{1,6})", text)
    if match is None:
        raise InvalidInputError(f"--image must be rows x columns, such as 28x28. Got {text!r} instead.")
    return int(match[1]), int(match[2])
