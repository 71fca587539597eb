"""Series: the answers that may be counted together.

A store keeps the answers of earlier plans: a model that was trained anew may have the name of the old one,
and an input may be asked about again with other features free to change. A number that mixed these would mean
nothing, so everything in a report is counted for each series.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tmverify.asking.rules import KeptRules
from tmverify.asking.tally import line_of
from tmverify.campaign import Asked
from tmverify.campaign.store import StoredModel
from tmverify.properties.questions import margin_text
from tmverify.space import Space

HASH_CHARS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Models (by the names to show, and by content), inputs, whose decision, what may change, how decided.

    ``margin`` is by how many votes decisions must stand.
    """

    names: tuple[str, ...]
    models: tuple[str, ...]
    data: str
    scope: str
    margin: int = 0
    rules: KeptRules = KeptRules()  # noqa: RUF009 (it is frozen)
    n_features: int = 0
    engine: str = "auto"
    certified: bool = False
    space: Space | None = field(default=None, compare=False, repr=False)

    @property
    def model(self) -> str:
        """The name of the model, or of both."""
        return " ↔ ".join(self.names)

    @property
    def counted(self) -> str:
        """What epsilons and radii of it count: features, bits, columns, steps or cost."""
        if self.rules.about_bits:
            return "bits" if self.space is not None and not self.space.only_flags else "features"
        return self.rules.unit

    @property
    def inputs(self) -> str:
        """The inputs that it is about: the name of some, or every one."""
        return self.data or ("every input" if self.rules.about_bits else "every possible input")

    @property
    def conditions(self) -> str:
        """Every setting that is not the default one, in words; often none."""
        words = [margin_text(self.margin)] if self.margin else []
        words += self.rules.words(self.space)
        if self.rules.direction is not None:
            adding = self.rules.direction == "add"
            words.append("only setting features" if adding else "only clearing features")
        free = self.rules.free(self.n_features)
        if free is not None:
            words.append(f"{int(free.sum())} of {self.n_features} features free")
        if self.engine != "auto":
            words.append(f"engine {self.engine}")
        if self.certified:
            words.append("with certificates")
        return ", ".join(words)

    @property
    def title(self) -> str:
        """The whole series on one line."""
        scope = "" if self.scope == "team" else f"scope {self.scope}"
        return " · ".join(part for part in (self.model, self.data, scope, self.conditions) if part)


def series_of(rows: Sequence[Asked], models: Mapping[str, StoredModel] | None = None) -> list[Series]:
    """The series of each row; ``models`` are those that the store describes."""
    known = models or {}
    hashes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, key in zip(row.task.names, row.task.models, strict=True):
            hashes[name].add(key)

    def shown(name: str, key: str) -> str:
        """The name, with some of the model's hash if other models have the same name."""
        return name if len(hashes[name]) == 1 else f"{name} ({key[:HASH_CHARS]})"

    return [
        Series(
            names=tuple(map(shown, task.names, task.models)),
            models=task.models,
            data=task.data,
            scope=str(line_of(task).scope),
            margin=task.margin,
            rules=task.rules,
            n_features=task.n_features,
            engine=task.engine,
            certified=task.certified,
            space=task.named(known).space if all(key in known for key in task.models) else None,
        )
        for task in (row.task for row in rows)
    ]
