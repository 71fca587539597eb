"""Our classifier with its defaults, and scikit-learn's usual ones, on the same splits.

Three quarters of each table are for training, evenly over the labels; a seed draws the split and ours. The
others get what suits them: logistic regression standardised numbers and one bit per category, a tree of depth
5 the same, gradient boosting (HistGradientBoosting) numbers as they are and categories as such. Ours gets the
table itself, missing values and all.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tmverify
from harness.report import Section
from tmverify import TsetlinMachineClassifier, load_dataset
from tmverify.cli.train import DEFAULTS
from tmverify.data import TableBinarizer, WordBinarizer

USUAL = ("logistic regression", "tree, depth 5", "gradient boosting")
OURS = "tmverify"
TEST_SIZE = 0.25
N_WORDS = 3000
VERSIONS = {"tmverify": tmverify.__version__, "scikit-learn": sklearn.__version__}
Table = tuple[pd.DataFrame, np.ndarray]


class Source(NamedTuple):
    """A mixed table in the data folder, and its column of labels."""

    file: str
    target: str


OF_SKLEARN: dict[str, Callable[..., Any]] = {
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "diabetes, above the median": load_diabetes,
}
MIXED = {
    "German credit, 20 columns": Source("german_credit_20.csv", "creditability"),
    "German credit, 9 columns": Source("german_credit_9.csv", "risk"),
    "credit data": Source("credit_data.csv", "Status"),
    "credit card": Source("credit_card.csv", "card"),
}


def measure_tables(data_dir: Path | None, n_seeds: int) -> Iterator[Section]:
    """Test accuracy on each table, mean over the splits."""
    section = Section(
        "Tables",
        {"splits": n_seeds, "test part": f"{TEST_SIZE:.0%}", "accuracy": "mean over the splits, in %"},
        ("table", "rows", *USUAL, OURS, "ours - best of the three", "ours - tree", "s, ours"),
        versions=VERSIONS,
    )
    gaps, over_tree = [], []
    for name, (X, y) in tables(data_dir):
        filled = _filled(X)
        found = {who: [] for who in (*USUAL, OURS)}  # type: dict[str, list[float]]
        seconds = []
        for seed in range(n_seeds):
            rows = np.arange(len(y))
            train, test = train_test_split(rows, test_size=TEST_SIZE, random_state=seed, stratify=y)
            gaps_in = [str(name) for name in X if X[name].isna().any()]
            for who, classifier in _classifiers(filled, gaps_in, seed).items():
                table = X if who == OURS else filled
                started = time.perf_counter()
                classifier.fit(table.iloc[train], y[train])
                found[who].append(100 * classifier.score(table.iloc[test], y[test]))
                if who == OURS:
                    seconds.append(time.perf_counter() - started)
        means = {who: float(np.mean(values)) for who, values in found.items()}
        gaps.append(means[OURS] - max(means[who] for who in USUAL))
        over_tree.append(means[OURS] - means[USUAL[1]])
        section.rows.append(
            [
                *(name, str(len(y))),
                *(f"{means[who]:.1f}" for who in (*USUAL, OURS)),
                *(f"{gaps[-1]:+.1f}", f"{over_tree[-1]:+.1f}", f"{np.median(seconds):.1f}"),
            ]
        )
        section.raw.append({"table": name, **found})
        yield section
    section.findings = [
        f"On average over the tables, ours is {np.mean(gaps):+.2f} points from the best of the three.",
        f"It is above the tree on {sum(gap > 0 for gap in over_tree)} of {len(over_tree)} tables.",
    ]
    section.complete = True
    yield section


def measure_texts(data_dir: Path | None, n_seeds: int) -> Iterator[Section]:
    """Positive or negative sentences: logistic regression and ours on the same words."""
    texts, labels = _snippets(_needed(data_dir))
    section = Section(
        "Short texts (movie snippets, positive or negative)",
        {"texts": len(texts), "words": N_WORDS, "test part": f"{TEST_SIZE:.0%}", "accuracy": "in %"},
        ("seed", "logistic regression", OURS, "ours - logistic regression", "s, ours", "epochs"),
        versions=VERSIONS,
    )
    gaps = []
    for seed in range(n_seeds):
        train, test, y, wanted = train_test_split(
            texts, labels, test_size=TEST_SIZE, random_state=seed, stratify=labels
        )
        words = WordBinarizer(N_WORDS).fit(train)
        X, held = words.transform(train), words.transform(test)
        usual = 100 * LogisticRegression(max_iter=1000).fit(X, y).score(held, wanted)
        started = time.perf_counter()
        ours = TsetlinMachineClassifier(random_state=seed, n_jobs=-1).fit(X, y)
        seconds, accuracy = time.perf_counter() - started, 100 * ours.score(held, wanted)
        gaps.append(accuracy - usual)
        numbers = [f"{usual:.1f}", f"{accuracy:.1f}", f"{gaps[-1]:+.1f}", f"{seconds:.0f}"]
        section.rows.append([str(seed), *numbers, str(ours.n_epochs_)])
        yield section
    section.findings = [f"On average, ours is {np.mean(gaps):+.2f} points from logistic regression."]
    section.complete = True
    yield section


def measure_imdb(data_dir: Path | None, n_seeds: int) -> Iterator[Section]:
    """IMDB with the settings of ``tmverify train imdb``: the test accuracy after each epoch."""
    data = load_dataset("imdb", data_dir=_needed(data_dir))
    settings = DEFAULTS["imdb"]._asdict()
    section = Section(
        "IMDB, 5,000 words",
        {**settings, "accuracy": "on the test set, in %"},
        ("seed", "after each epoch", "after the last", "s"),
        versions=VERSIONS,
    )
    for seed in range(n_seeds):
        started = time.perf_counter()
        ours = TsetlinMachineClassifier(**settings, random_state=seed, n_jobs=-1)
        ours.fit(data.X_train, data.y_train, X_val=data.X_test, y_val=data.y_test)
        curve = [f"{100 * line['accuracy']:.1f}" for line in ours.history_]
        last = f"{100 * ours.history_[-1]['accuracy']:.2f}"
        section.rows.append([str(seed), " ".join(curve), last, f"{time.perf_counter() - started:.0f}"])
        yield section
    section.complete = True
    yield section


def tables(data_dir: Path | None) -> Iterator[tuple[str, Table]]:
    """Each table with its name: rows and labels."""
    for name, load in OF_SKLEARN.items():
        table = load(as_frame=True)
        y = table.target.to_numpy()
        yield name, (table.data, (y > np.median(y)).astype(int) if "median" in name else y)
    if data_dir is None:
        return
    for name, source in MIXED.items():
        frame = pd.read_csv(data_dir / "tables" / source.file)
        y = frame.pop(source.target).to_numpy()
        yield name, (frame, y)


def _filled(frame: pd.DataFrame) -> pd.DataFrame:
    """For the others: missing numbers as the median and a column that says so, missing text as a category."""
    columns: dict[str, Any] = {}
    for name, column in frame.items():
        missing = column.isna()
        if not missing.any():
            columns[str(name)] = column
        elif pd.api.types.is_numeric_dtype(column):
            columns |= {str(name): column.fillna(column.median()), f"{name} missing": missing.astype(int)}
        else:
            columns[str(name)] = column.astype(object).where(~missing, "missing")
    return pd.DataFrame(columns)


def _classifiers(X: pd.DataFrame, gaps_in: list[str], seed: int) -> dict[str, Any]:
    """``gaps_in`` are the columns in which values are missing, be it in the test part alone."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X if name not in texts]

    def spelt_out() -> Any:
        one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        return make_column_transformer((one_hot, texts), (StandardScaler(), numbers))

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    coded = make_column_transformer((codes, texts), ("passthrough", numbers))
    boosting = HistGradientBoostingClassifier(
        categorical_features=np.arange(len(texts)) if texts else None, random_state=seed
    )
    tree = DecisionTreeClassifier(max_depth=5, random_state=seed)
    return {
        USUAL[0]: make_pipeline(spelt_out(), LogisticRegression(max_iter=2000)),
        USUAL[1]: make_pipeline(spelt_out(), tree),
        USUAL[2]: make_pipeline(coded, boosting),
        OURS: TsetlinMachineClassifier(
            random_state=seed, binarize=TableBinarizer(missing=gaps_in) if gaps_in else "auto"
        ),
    }


def _snippets(data_dir: Path) -> tuple[list[str], np.ndarray]:
    with gzip.open(data_dir / "small" / "vader_movie_snippets.tsv.gz", "rt", encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split("\t", 1) for line in file]
    rated = [(float(rating), text) for rating, text in pairs if float(rating) != 0]
    return [text for _, text in rated], np.array([int(rating > 0) for rating, _ in rated])


def _needed(data_dir: Path | None) -> Path:
    if data_dir is None:
        raise FileNotFoundError("Give --data-dir, or set TMVERIFY_DATA: the texts are there.")
    return data_dir
