"""The claim of a certificate: its form, and the region that it speaks of around an input.

One claim has one text. What can be checked without the models is *unreadable* if it is wrong; what does not
fit the models' columns and classes is refused.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from tmcheck import limits
from tmcheck.errors import Refused, readable
from tmcheck.model import Machine
from tmcheck.network import Network
from tmcheck.property import read_property
from tmcheck.reader import Reader
from tmcheck.reason import CONTRASTIVE, REASONS, SMALLEST
from tmcheck.region import Region, Rule, everywhere
from tmcheck.space import CATEGORY, Space
from tmcheck.strict import is_ascending, is_natural, read_json, written

FORMAT, VERSION = "tmverify-certificate", 4
KEYS = [
    *("format", "version", "question", "answer", "models", "scope", "target", "margin", "epsilon", "radius"),
    *("distance", "features", "direction", "columns", "apart", "reason", "property", "inputs", "eta"),
]
ABOUT_ONE, ABOUT_TWO = ("robustness", "property"), ("similarity", "equivalence")
_HASH = re.compile("[0-9a-f]{64}")


def read_claim(text: bytes) -> dict[str, Any]:
    """The claim in the first line of a certificate; its form is checked."""
    claim = read_json(text, "certificate")
    readable(claim.get("format") == FORMAT, "no tmverify certificate")
    readable(
        type(claim.get("version")) is int and claim["version"] == VERSION,
        f"this checker reads version {VERSION} of the format",
    )
    readable(sorted(claim) == sorted(KEYS), f"a claim has the keys {', '.join(KEYS)}")
    _check_question(claim)
    _check_region(claim)
    _check_reason(claim)
    _check_property(claim)
    _check_share(claim)
    plain = list(claim) == KEYS and written(claim) == text
    readable(plain, "the claim is not as json.dumps writes it: keys in their order, separators ',' and ':'")
    return claim


def _check_question(claim: dict[str, Any]) -> None:
    question, answer = claim["question"], claim["answer"]
    readable(question in (*ABOUT_ONE, *ABOUT_TWO), "the question is unknown")
    readable(answer in ("holds", "violated", "radius", *REASONS), "the answer is unknown")
    models, scope, target = claim["models"], claim["scope"], claim["target"]
    names = type(models) is list and all(type(m) is str and _HASH.fullmatch(m) for m in models)
    readable(names and len(models) == (1 if question in ABOUT_ONE else 2), "models")
    readable(type(scope) in (int, str), "scope")
    readable(target is None or type(target) in (int, str), "target")
    readable(target is None or (question == "robustness" and scope == "team"), "target")
    readable(question not in ("equivalence", "property") or answer in ("holds", "violated"), "answer")
    readable(question != "property" or scope == "team", "scope")
    margin = claim["margin"]
    plain = question in ("robustness", "similarity") and target is None and answer not in REASONS
    readable(is_natural(margin, limits.MOST_MARGIN) and (plain or margin == 0), "margin")
    asked = answer != "radius" and question != "equivalence"
    cost, radius = claim["epsilon"], claim["radius"]
    unlimited = cost is None and (answer in REASONS or question == "property" or not asked)
    readable(unlimited or (asked and is_natural(cost, limits.LARGEST_COST)), "epsilon")
    found = answer == "radius" and is_natural(radius, limits.LARGEST_COST)
    readable(radius is None or found, "radius")


def _check_region(claim: dict[str, Any]) -> None:
    distance, everywhere = claim["distance"], is_everywhere(claim)
    readable(distance in ("bits", "columns", "steps"), "distance")
    readable(not (everywhere and distance == "steps"), "distance")
    readable(not (everywhere and claim["property"] is not None and distance != "columns"), "distance")
    features, direction = claim["features"], claim["direction"]
    readable(features is None or type(features) is str, "features")
    readable(direction in (None, "add", "remove"), "direction")
    restricted = features is not None or direction is not None
    readable(not restricted or (distance == "bits" and not everywhere), "features or direction")
    rules, apart = claim["columns"], claim["apart"]
    readable(rules is None or (distance != "bits" and not everywhere and _are_rules(rules)), "columns")
    readable(apart is None or (claim["question"] == "robustness" and _are_lists(apart)), "apart")


def is_everywhere(claim: dict[str, Any]) -> bool:
    """Whether a claim is about every input, and not about some around others."""
    question = claim["question"]
    return bool(question == "equivalence" or (question == "property" and claim["epsilon"] is None))


def _are_rules(rules: Any) -> bool:
    if type(rules) is not list or not rules:
        return False
    if not all(type(rule) is list and len(rule) == 4 for rule in rules):
        return False
    return is_ascending([rule[0] for rule in rules]) and all(_is_rule(*rule[1:]) for rule in rules)


def _is_rule(way: Any, values: Any, factor: Any) -> bool:
    """Whether it says something, and is well formed."""
    if way not in ("any", "keep", "up", "down") or not is_natural(factor, limits.LARGEST_FACTOR + 1):
        return False
    if values is not None and not is_ascending(values):
        return False
    free = values is None and factor == 1
    return free if way == "keep" else way != "any" or not free


def _are_lists(apart: Any) -> bool:
    if type(apart) is not list or not 1 <= len(apart) <= limits.MOST_APART:
        return False
    return all(map(is_ascending, apart)) and len(set(map(tuple, apart))) == len(apart)


def _check_reason(claim: dict[str, Any]) -> None:
    answer, reason = claim["answer"], claim["reason"]
    if answer not in REASONS:
        readable(reason is None, "reason")
        return
    readable(claim["question"] == "robustness" and claim["apart"] is None, "a reason is one of robustness")
    readable(type(reason) is list and len(reason) <= limits.MOST_REASONS, "reason")
    readable(all(type(pair) is list and len(pair) == 2 for pair in reason), "reason")
    readable(is_ascending([column for column, _ in reason]) or not reason, "columns of the reason")
    if answer == CONTRASTIVE:
        readable(reason and all(values is None for _, values in reason), "columns of the reason")
    else:
        readable(all(is_ascending(values) for _, values in reason), "values of the reason")
        plain = all(len(values) == 1 for _, values in reason)
        readable(plain or answer != SMALLEST, "a smallest reason has one value of each column")


def _check_property(claim: dict[str, Any]) -> None:
    stated = claim["property"]
    readable((stated is not None) == (claim["question"] == "property"), "property")
    if stated is not None:
        read_property(stated)


def _check_share(claim: dict[str, Any]) -> None:
    inputs, eta = claim["inputs"], claim["eta"]
    readable(is_natural(inputs) and inputs >= 1, "inputs")
    single = claim["answer"] in ("radius", *REASONS) or is_everywhere(claim)
    readable(inputs == 1 or not single, "a radius, a reason, or what is said of every input, is one question")
    parts = eta.split("/") if type(eta) is str else []
    digits = len(parts) == 2 and all(p.isascii() and p.isdigit() and len(p) < 1000 for p in parts)
    readable(digits and 0 <= int(parts[0]) <= int(parts[1]) and int(parts[1]) > 0, "eta")
    lowest = Fraction(eta)
    readable(eta == f"{lowest.numerator}/{lowest.denominator}", "eta is not in lowest terms")
    readable(eta == "1/1" or not single, "eta")


class Terms:
    """What a claim says about these models: the columns, what may change, and the class to be reached."""

    def __init__(self, claim: dict[str, Any], models: list[Machine | Network], reader: Reader) -> None:
        self.claim, self.models = claim, models
        first = models[0]
        self.n_bits = first.n_features
        self.space = _space(claim, models)
        self.names = first.space if claim["distance"] == "bits" else self.space
        mask = claim["features"]
        self.allowed = None if mask is None else reader.bits(mask, self.n_bits)
        readable(self.allowed is None or 0 in self.allowed, "features is null where all of them may change")
        self.target = None if claim["target"] is None else _class(first, claim["target"])
        if claim["property"] is not None and claim["distance"] == "bits" and _is_of_several_bits(first):
            raise Refused("a property is about columns, and some of the model's have several bits")
        self.rules = {number: self._rule(number, *rule) for number, *rule in claim["columns"] or ()}
        self.apart = claim["apart"] or []
        if any(columns[-1] >= self.space.n_columns for columns in self.apart):
            raise Refused("columns are kept apart that are not there")

    def _rule(self, number: int, way: str, values: list[int] | None, factor: int) -> Rule:
        if number >= self.space.n_columns:
            raise Refused(f"there is a rule for column {number}, which is not there")
        column = self.space.column(number)
        if column.kind == CATEGORY and way in ("up", "down"):
            raise Refused(f"column {number} is a category: it has no {way}")
        if values is None:
            return Rule(way, None, factor)
        if values[-1] >= column.n_values:
            raise Refused(f"column {number} has no value {values[-1]}")
        readable(len(values) < column.n_values, "a rule lists all values of a column: null says so")
        return Rule(way, frozenset(values), factor)

    def everywhere(self) -> Region:
        """Every possible input."""
        return everywhere(self.space)

    def around(self, centre: bytes) -> Region:
        """The region of an input."""
        claim, first = self.claim, self.models[0]
        if claim["distance"] != "bits":
            if not self.space.is_possible(centre):
                raise Refused("an input is not possible: no values of the columns have these bits")
            return Region(
                self.space,
                centre,
                claim["epsilon"],
                rules=self.rules,
                steps=claim["distance"] == "steps",
                apart=self.apart,
            )
        mutable = b"\1" * self.n_bits if self.allowed is None else self.allowed
        if claim["direction"] is not None:
            barred = 1 if claim["direction"] == "add" else 0
            mutable = bytes(may and bit != barred for may, bit in zip(mutable, centre, strict=True))
        if isinstance(first, Network):
            mutable = bytes(may and can for may, can in zip(mutable, first.changeable, strict=True))
        return Region(self.space, centre, claim["epsilon"], mutable=mutable, apart=self.apart)


def _is_of_several_bits(model: Machine | Network) -> bool:
    return model.space is not None and bool(model.space.several)


def _space(claim: dict[str, Any], models: list[Machine | Network]) -> Space:
    """The columns that a claim is about."""
    n = models[0].n_features
    if claim["distance"] == "bits":
        return Space.flags(n)
    known = [model.space for model in models if model.space is not None]
    wide = [space for space in known if not space.has_plain_flags]
    if len(known) == 2 and len(wide) != 1 and not known[0].is_like(known[1]):
        raise Refused("the models' columns are not the same")
    return [*wide, *known, Space.flags(n)][0]


def _class(model: Machine | Network, label: int | str) -> int:
    """The index of the class with a label."""
    for i, own in enumerate(model.classes):
        if type(own) is type(label) and own == label:
            return i
    raise Refused(f"the target {label!r:.60} is no class of the model")
