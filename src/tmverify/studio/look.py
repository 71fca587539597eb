"""Look: how a model decides an input, and the clauses that vote on it, in words.

    score_c(x) = bias_c + sum_j weights[c, j] * clause_j(x)

Which clauses hold is computed by the plain evaluator. Their words are made when a clause is first shown, and
kept: a person who draws sees much the same clauses again and again.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Model
from tmverify.model.evaluate import decide
from tmverify.model.rules import clause_text
from tmverify.properties.formula import leads
from tmverify.space.phrases import conditions_of
from tmverify.studio.opened import Opened, OpenModel

MOST_CLAUSES = 40
_MOST_FOR_DECISION = 25  # of them, so that those against it are seen too
_MOST_CONDITIONS = 12  # of a clause, in words; its columns are all named
_KEPT = 1 << 14


class Look:
    """How one model looks at inputs."""

    def __init__(self, opened: OpenModel) -> None:
        self.model: Model = opened.asked
        self._clause = lru_cache(maxsize=_KEPT)(self._described)
        counted = (self.model.weights != 0).any(axis=0)
        self._voters = np.flatnonzero(counted & ~self.model.clauses.contradictory)
        self._lengths = self.model.clauses.lengths

    def at(self, bits: NDArray[np.uint8]) -> str:
        """The decision, the votes and the strongest clauses that hold on an input, as JSON."""
        model = self.model
        holds = model.clauses.outputs(bits[None, :], empty_fires=model.empty_clause == "fires")
        scores = holds.astype(np.int64) @ model.weights.T + model.bias
        decision = int(decide(scores, model.tie, model.clamp)[0])
        cut = scores if model.clamp is None else np.clip(scores, -model.clamp, model.clamp)
        firing = self._voters[holds[0, self._voters]]
        shown = self._strongest(firing, decision)
        head = {
            "decision": str(model.classes[decision]),
            "votes": self._votes(cut[0]),
            "margin": int(leads(cut, np.array([decision]))[0]),
            **self._runner_up(cut[0], decision),
            "score": int(cut[0, 0]) if model.n_outputs == 1 else None,
            "cut": bool((scores != cut).any()),
            "firing": len(firing),
        }
        clauses = ",".join(self._clause(int(j)) for j in shown)
        return f'{json.dumps(head)[:-1]}, "clauses": [{clauses}]}}'

    def _votes(self, scores: NDArray[np.int64]) -> list[dict[str, Any]]:
        """The votes of each class; a binary machine has one score, and its first class the opposite."""
        votes = [-int(scores[0]), int(scores[0])] if self.model.n_outputs == 1 else scores.tolist()
        return [{"class": str(c), "votes": own} for c, own in zip(self.model.classes, votes, strict=True)]

    def _runner_up(self, scores: NDArray[np.int64], decision: int) -> dict[str, Any]:
        """The class that comes next, and whether it has as many votes: then the order of classes decides."""
        if self.model.n_outputs == 1:
            other, tie = 1 - decision, scores[0] == 0
        else:
            others = scores.copy()
            others[decision] = np.iinfo(np.int64).min
            other = int(others.argmax())
            tie = scores[other] == scores[decision]
        return {"runner_up": str(self.model.classes[other]), "tie": bool(tie)}

    def _strongest(self, firing: NDArray[np.int64], decision: int) -> NDArray[np.int64]:
        """The clauses that are shown: the most votes first, among equals those for the decision, then short.

        Some are against the decision, if there are any.
        """
        weights = self.model.weights[:, firing]
        favour = self._favour(weights, decision)
        order = np.lexsort((firing, self._lengths[firing], -favour, -np.abs(weights).max(axis=0)))
        first = order[favour[order] > 0][:_MOST_FOR_DECISION]
        rest = order[favour[order] <= 0][: MOST_CLAUSES - len(first)]
        more = order[favour[order] > 0][len(first) : MOST_CLAUSES - len(rest)]
        chosen = np.concatenate([first, rest, more])
        return np.asarray(firing[order[np.isin(order, chosen)]])

    def _favour(self, weights: NDArray[np.int64], decision: int) -> NDArray[np.int64]:
        """1 where a clause votes for the decision, -1 where it votes against it, else 0."""
        own = weights[0] * (1 if decision else -1) if self.model.n_outputs == 1 else weights[decision]
        return np.asarray(np.sign(own))

    def _described(self, j: int) -> str:
        """A clause as JSON: votes, words, columns."""
        model, votes = self.model, self.model.weights[:, j]
        row = int(np.abs(votes).argmax())
        if model.n_outputs == 1:
            label, most = model.classes[int(votes[0] > 0)], abs(int(votes[0]))
        else:
            label, most = model.classes[row], int(votes[row])
        return json.dumps(
            {
                "id": j,
                "for": str(label),
                "votes": most,
                "weight": votes.tolist(),
                "text": clause_text(model, j, _MOST_CONDITIONS),
                "columns": self._columns(j),
            }
        )

    def _columns(self, j: int) -> list[list[int]]:
        """The columns that a clause reads, by number; of a single bit, whether it wants it set."""
        space, clause = self.model.space, self.model.clauses[j]
        if space.only_flags:
            return [[abs(lit) - 1, int(lit > 0)] for lit in clause]
        wide = set(space.wide_columns)
        found = []
        for condition in conditions_of(space, clause):
            place = space.column_of(condition.column.bits.start)
            found.append([place, 1 if place in wide else int(condition.allowed[1])])
        return found


class Looks:
    """How all models of a studio look at an input."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._looks = [Look(each) for each in opened.models]

    def at(self, bits: NDArray[np.uint8]) -> str:
        """What each model says of an input, and whether any row can have its bits, as JSON."""
        impossible = self._opened.impossible(bits)
        models = ", ".join(look.at(bits) for look in self._looks)
        return (
            f'{{"models": [{models}], "possible": {json.dumps(not impossible)}, '
            f'"impossible_columns": {json.dumps(impossible)}}}'
        )
