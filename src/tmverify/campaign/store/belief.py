"""What is believed of a store: tasks that can be asked, and answers that are possible for their questions.

A store is a file, and files get damaged, edited and mixed up. So an answer is believed only if its question
could have it. This module decides that from the task, the answer and the store's description of the models;
it needs no model file. Which fields an answer has depends on its question::

                  robustness, similarity, equivalence       radius
    status        holds         violated      unknown       exact                unknown
    lower, upper  -             -             -             lower = upper        lower < upper
    witness       -             yes           -             if upper is finite   if upper is finite
    decisions     -             yes           -             with the witness     with the witness
    leads         of a question with a margin: with the witness
    stop_reason   -             -             yes           -                    yes
    trusts        the proof     the replay    -             the proof if lower > 0, the replay if there is
                                                            a witness
    certificate   if it was asked for; or ``detail`` says why there is none      -

An explanation is ``holds`` with a reason, or ``unknown`` with one of which some columns are undecided, or
with none at all. Its columns may change, and have the values of the input; it rests on the proof and on the
replay of witnesses.

A witness lies in the region; its changes cost ``upper``, and at most epsilon; for one model without a margin
it is not the input itself. Where columns change, the input and the witness are possible ones, and the rules
speak of columns and values that the model has. (Only the file of a network tells which pixels no grey level
changes.) Decisions are two classes; if the scope is a class, 1 and 0. They differ; or there is a margin, and
one of them stands by fewer votes. A row of a file has a cell for each part of the model's space. An answer
comes from the engine that was asked, or from one that it may pass the question to, and ``trusts`` repeats the
declarations of these engines.

No rule notices a consistent lie: a row that was changed as a whole, a lower bound that was raised while the
upper one is open, another input in place of the witness. ``docs/trust.md`` says what does notice it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tmverify.asking.answer import EXACT, MERGED, UNKNOWN, TaskAnswer
from tmverify.asking.bits import is_packed, unpack
from tmverify.asking.reason import n_columns, region_of
from tmverify.asking.rules import KeptRules
from tmverify.asking.task import MOST_CHARS, Task
from tmverify.campaign.store.tables import StoredModel
from tmverify.engines import ENGINE_NAMES, ENGINES, trust_in
from tmverify.engines.engine import Engine, Signer
from tmverify.errors import shown
from tmverify.model import Label
from tmverify.model.classifier import TEAM
from tmverify.model.clauses import MAX_FEATURES
from tmverify.model.names import named_first
from tmverify.properties import Status, StopReason
from tmverify.properties.conditions import MOST_VOTES
from tmverify.properties.questions import PLANNED, margin_text
from tmverify.properties.region import MOST, Region, region_in
from tmverify.properties.trust import CHECKED, NO_CERTIFICATE
from tmverify.space import Space

_HOLDS, _VIOLATED = Status.HOLDS.value, Status.VIOLATED.value
_REASONS = frozenset(StopReason) - {StopReason.UNDECIDED_INPUTS}  # only universal questions have that one
_LONGEST = 1e9  # seconds, some thirty years
_ATTEMPTS = (1, 2)


_CERTIFYING = {engine.name for engine in ENGINES if engine.certifies}


def check_task(task: Task) -> None:
    """Raise ValueError with the reason if ``task`` can't be asked."""
    for fault in _faults_of_task(task):
        raise ValueError(fault)


def check_answer(task: Task, answer: TaskAnswer, models: Sequence[StoredModel]) -> None:
    """Raise ValueError with the reason if ``task``, about ``models``, can't have this answer."""
    for fault in _faults_of_answer(task, answer, models):
        raise ValueError(fault)


# Only the first fault counts: each check relies on those before it having found none.


def _faults_of_task(task: Task) -> Iterator[str]:
    if task.question not in PLANNED:
        yield f"there is no question {shown(task.question)}"
        return
    asks = task.asks
    if len(task.models) not in asks.models:
        yield f"{task.question} is not about {len(task.models)} models"
    if len(task.names) != len(task.models):
        yield f"{len(task.models)} models have {len(task.names)} names"
    n = task.n_features
    if not 1 <= n <= MAX_FEATURES:
        yield f"there are no inputs of {n} features"
    if (task.index is not None, task.bits is not None) != (asks.about_input, asks.about_input):
        yield f"{task.question} is {'' if asks.about_input else 'not '}about an input"
    if (task.index or 0) < 0:
        yield f"there is no input {task.index}"
    if not asks.about_input and (task.line, task.row_name, task.raw) != (None, None, None):
        yield f"{task.question} is about no row of a file"
    if task.line is not None and task.line < 1:
        yield f"there is no line {task.line}"
    if task.row_name is not None and len(task.row_name) > MOST_CHARS:
        yield f"its row has a name of {len(task.row_name)} characters"
    if any(len(cell) > MOST_CHARS for cell in task.raw or ()):
        yield f"its row has cells of more than {MOST_CHARS} characters"
    if task.bits is not None and not is_packed(task.bits, n):
        yield f"its input has not {n} features"
    if asks.has_epsilon != (task.epsilon is not None) and not asks.gives_reason:
        yield f"{task.question} has {'an' if asks.has_epsilon else 'no'} epsilon"
    most = n if task.rules.about_bits else MOST
    if not 0 <= (task.epsilon or 0) <= most:
        yield f"epsilon {task.epsilon} is not between 0 and {most}"
    if task.margin and not asks.has_margin:
        yield f"{task.question} has no margin"
    if not 0 <= task.margin < MOST_VOTES:
        yield f"no decision can stand by {shown(task.margin)} votes"
    if not asks.about_input and (not task.rules.everything or task.own):
        yield f"{task.question} is about all inputs, with no limits to what may change"
    yield from _faults_of_rules(task.rules, n)
    if task.engine not in ENGINE_NAMES:
        yield f"there is no engine {shown(task.engine)}"
    if task.certified and task.engine not in _CERTIFYING:
        yield f"engine {task.engine} writes no certificates"


def _faults_of_answer(task: Task, answer: TaskAnswer, models: Sequence[StoredModel]) -> Iterator[str]:
    is_distance = task.asks.is_distance
    statuses = (EXACT, UNKNOWN) if is_distance else (_HOLDS, _VIOLATED, UNKNOWN)
    statuses = (_HOLDS, UNKNOWN) if task.asks.gives_reason else statuses
    if answer.task != task.id:
        yield f"it is the answer to task {shown(answer.task)}"
    yield from _faults_of_models(task, models)
    if answer.status not in statuses:
        yield f"{task.question} has no status {shown(answer.status)}, only {', '.join(statuses)}"
    try:
        region = _region_of(task, models)
    except ValueError as error:
        yield str(error)
        return
    if is_distance:
        yield from _faults_of_bounds(task, answer, region)
    elif answer.lower is not None or answer.upper is not None:
        yield f"{task.question} has no bounds, and here are {answer.lower} and {answer.upper}"
    seen = answer.upper != math.inf if is_distance else answer.status == _VIOLATED
    if seen != (answer.witness is not None):
        yield f"{_said(answer)}, {'and there is no witness' if seen else 'but there is a witness'}"
    if answer.witness is not None:
        yield from _faults_of_witness(task, answer, answer.witness, models, region)
    yield from _faults_of_decisions(task, answer, models)
    if (answer.status == UNKNOWN) != (answer.stop_reason is not None):
        yield f"{_said(answer)}, {'without' if answer.status == UNKNOWN else 'but with'} a reason to stop"
    if answer.stop_reason is not None and answer.stop_reason not in _REASONS:
        yield f"there is no reason to stop called {shown(answer.stop_reason)}"
    yield from _faults_of_reason(task, answer, models)
    yield from _faults_of_trust(task, answer, models)
    yield from _faults_of_certificate(task, answer)
    if not 0 <= answer.seconds < _LONGEST:
        yield f"it took {answer.seconds:g} seconds"
    if answer.attempts not in _ATTEMPTS:
        yield f"it took {answer.attempts} attempts, and there are at most {_ATTEMPTS[-1]}"
    if "tmverify" not in answer.versions:
        yield "it names no version of tmverify"


def _faults_of_models(task: Task, models: Sequence[StoredModel]) -> Iterator[str]:
    for model in models:
        if model.n_features != task.n_features:
            yield f"it is about {task.n_features} features, and {_called(model)} has {model.n_features}"
        if model.classes != models[0].classes:
            yield f"{_called(model)} has other classes than {_called(models[0])}"
        if task.scope != TEAM and task.scope not in model.classes:
            yield f"{_called(model)} has no class {shown(task.scope)}"
    named = named_first(models)
    yield from _faults_of_rules(task.rules, task.n_features, named.space)
    if task.raw is not None and not (named.space.named and len(task.raw) == len(named.space.parts)):
        n_columns = len(named.space.parts) if named.space.named else "no"
        yield f"its row has {len(task.raw)} cells, and {_called(named)} has {n_columns} columns"


def _faults_of_rules(rules: KeptRules, n_features: int, space: Space | None = None) -> Iterator[str]:
    try:
        rules.check(n_features, space)
    except ValueError as error:
        yield str(error)


def _region_of(task: Task, models: Sequence[StoredModel]) -> Region | None:
    """Where the witness must lie; None if bits flip, which are counted without it, or there is no input.

    ValueError if the input is none that the columns can have.
    """
    x = task.x
    if x is None or task.rules.about_bits:
        return None
    return region_in(named_first(models).space, x, task.epsilon, task.rules.rules(task.n_features))


def _faults_of_bounds(task: Task, answer: TaskAnswer, region: Region | None) -> Iterator[str]:
    lower, upper = answer.lower, answer.upper
    if lower is None or upper is None:
        yield "a radius has two bounds, and there are fewer"
        return
    if not 0 <= lower <= upper:
        yield f"its bounds are {lower} and {upper}, not two distances in order"
    if (answer.status == EXACT) != (lower == upper):
        yield f"{_said(answer)}, with bounds {lower} and {upper}"
    most = _free(task).bit_count() if region is None else region.reach
    for bound in (lower, upper):
        if bound != math.inf and bound > most:
            said = "features that may change" if region is None else "that all changes together cost"
            yield f"its bound {bound} is more than the {most} {said}"
    free = region is not None and region.free_changes
    if len(task.models) == 1 and not task.margin and lower == 0 and upper != math.inf and not free:
        yield "its lower bound is 0, but no model decides an input otherwise than itself"


def _faults_of_witness(
    task: Task, answer: TaskAnswer, witness: bytes, models: Sequence[StoredModel], region: Region | None
) -> Iterator[str]:
    if not is_packed(witness, task.n_features):
        yield f"its witness has not {task.n_features} features"
    if task.bits is None:
        if not task.rules.about_bits and not _is_possible(task, witness, models):
            yield "its witness is no possible input"
        return
    changed = _number(witness) ^ _number(task.bits)
    if region is None:
        cost = None if changed & ~_free(task) else changed.bit_count()
    else:
        cost = region.cost(unpack(witness, task.n_features))
    if cost is None:
        yield f"its witness changes {'features' if region is None else 'columns'} that may not change so"
        return
    away = task.rules.counted(cost)
    if task.epsilon is not None and cost > task.epsilon:
        yield f"its witness is {away} away, more than epsilon {task.epsilon}"
    if answer.upper is not None and cost != answer.upper:
        yield f"its witness is {away} away, and its upper bound is {answer.upper}"
    if len(task.models) == 1 and not changed:
        if not task.margin:
            yield "its witness is the input itself"
        elif answer.decisions is not None and answer.decisions[0] != answer.decisions[1]:
            yield "its witness is the input itself, and no model decides an input otherwise than itself"


def _faults_of_decisions(task: Task, answer: TaskAnswer, models: Sequence[StoredModel]) -> Iterator[str]:
    if (answer.decisions is None) != (answer.witness is None):
        yield "decisions that differ come with a witness, and here is one without the other"
    yield from _faults_of_leads(task, answer)
    if answer.decisions is None:
        return
    if answer.decisions[0] == answer.decisions[1]:
        if not task.margin:
            yield f"the decisions are said to differ, and both are {shown(answer.decisions[0])}"
        elif min(answer.leads or (0,)) >= task.margin:
            yield f"both decisions are {shown(answer.decisions[0])}, {margin_text(task.margin)}"
    for decision in answer.decisions:
        if decision not in _decisions(task, models):
            yield f"there is no decision {shown(decision)}"


def _faults_of_leads(task: Task, answer: TaskAnswer) -> Iterator[str]:
    """With a margin, it says of each model by how many votes its decision on the witness stands."""
    wanted = len(task.models) if task.margin and answer.witness is not None else 0
    leads = answer.leads or ()
    if len(leads) != wanted or (answer.leads is None) != (wanted == 0):
        yield f"it says of {len(leads)} decisions by how many votes they stand, and not of {wanted}"
    elif min(leads, default=0) < 0:
        yield f"no decision stands by {shown(leads)} votes"


def _faults_of_reason(task: Task, answer: TaskAnswer, models: Sequence[StoredModel]) -> Iterator[str]:
    reason = answer.reason
    if reason is None:
        if task.asks.gives_reason and answer.status == _HOLDS:
            yield f"{_said(answer)}, without the columns that suffice"
        return
    if not task.asks.gives_reason:
        yield f"{task.question} has no columns that suffice, and here are some"
        return
    if reason.decision not in _decisions(task, models):
        yield f"there is no decision {shown(reason.decision)}"
    yield from reason.faults(region_of(task, named_first(models)))
    if (answer.status == _HOLDS) == bool(reason.undecided):
        yield f"{_said(answer)}, with {len(reason.undecided)} undecided columns"


def _faults_of_trust(task: Task, answer: TaskAnswer, models: Sequence[StoredModel]) -> Iterator[str]:
    if answer.reason is not None:
        yield from _faults_of_trust_in_reason(task, answer, models)
        return
    merged = _may_be_merged(task, answer)
    proved = answer.lower != 0 if task.asks.is_distance else answer.status == _HOLDS
    seen = answer.witness is not None
    signers: list[Signer] = []
    for engine in _asked(task, models):
        some = engine.signers_of(everything=not task.asks.about_input, certified=task.certified)
        if _rests_on(engine, some, answer.engine, proved, seen, merged, answer.trusts_alone):
            return
        signers += some
    if answer.engine not in {task.engine, *(signer.name for signer in signers)}:
        yield f"engine {task.engine} was asked, and {shown(answer.engine)} does not answer for it"
    yield f"{_said(answer)} by {shown(answer.engine)} does not rest on {shown(answer.trusts_alone)}"


def _faults_of_trust_in_reason(
    task: Task, answer: TaskAnswer, models: Sequence[StoredModel]
) -> Iterator[str]:
    """A reason comes from many questions, so it rests on all that any of them rests on.

    If it has every column, or time ran out, there may have been nothing to prove. Of a network, only its file
    tells which pixels can change at all.
    """
    assert answer.reason is not None
    region = region_of(task, named_first(models))
    unproved = answer.status == UNKNOWN or len(answer.reason.columns) == n_columns(region)
    unproved |= models[0].n_clauses == 0
    for engine in _asked(task, models):
        signers = engine.signers_of(everything=False, certified=False)
        if _rests_on(engine, signers, answer.engine, True, True, True, answer.trusts_alone):
            return
        if unproved and answer.engine == engine.name and answer.trusts_alone == engine.replayed:
            return
    yield f"{_said(answer)} by {shown(answer.engine)} does not rest on {shown(answer.trusts_alone)}"


def _faults_of_certificate(task: Task, answer: TaskAnswer) -> Iterator[str]:
    path, lacking = answer.certificate_path, answer.detail.startswith(NO_CERTIFICATE)
    if path is not None and not (os.path.isabs(path) and os.path.basename(path) == task.file_name):
        yield f"its certificate is not called {task.file_name}"
    if answer.status == UNKNOWN or not task.certified:
        if path is not None:
            yield f"{_said(answer)}, with a certificate that nobody can have written"
        if answer.status != UNKNOWN and answer.detail not in ("", MERGED):
            yield f"{_said(answer)}, with the detail {shown(answer.detail)}"
    elif (answer.detail and not lacking) or (path is None and (not lacking or answer.status == _VIOLATED)):
        yield f"{_said(answer)}, without the certificate that was asked for, and why"
    if answer.detail == MERGED and not _may_be_merged(task, answer):
        yield f"{_said(answer)} does not come from two runs"
    certified = path is not None and not lacking
    possible = {CHECKED if certified else answer.trusts_alone}
    if certified and answer.reason is not None:  # it may show less than is said: not that all is needed
        possible.add((*CHECKED, *answer.trusts_alone))
    if answer.trusts not in possible:
        yield f"{_said(answer)} does not rest on {shown(answer.trusts)}"


def _may_be_merged(task: Task, answer: TaskAnswer) -> bool:
    """Whether the answer may combine bounds of several runs (``asking.answer.better``)."""
    return task.asks.is_distance and (answer.status == UNKNOWN or answer.detail == MERGED)


def _asked(task: Task, models: Sequence[StoredModel]) -> list[Engine]:
    """The engines that the task may mean; those for networks only if the model has no clauses.

    A network has none, but a machine may have none either, so then both kinds of engine are possible.
    """
    named = [engine for engine in ENGINES if engine.name == task.engine]
    may_be_network = task.asks.about_input and task.scope == TEAM and not task.margin
    may_be_network &= len(models) == 1 and models[0].n_clauses == 0
    return named if may_be_network else named[:1]


@lru_cache(maxsize=1 << 8)  # a store has few different values of ``trusts``
def _rests_on(
    engine: Engine,
    signers: tuple[Signer, ...],
    by: str,
    proved: bool,
    seen: bool,
    merged: bool,
    trusts: tuple[str, ...],
) -> bool:
    """Whether ``by`` may answer for ``engine``, and an answer of this kind rests on exactly ``trusts``.

    A proof that several runs made together (``merged``) rests on all that each of them rests on.
    """
    own = [signer for signer in signers if signer.name == by]
    if not own and not (by == engine.name and (merged or not (proved or seen))):
        return False
    replay = set(engine.replayed) if seen else set()
    if len(set(trusts)) != len(trusts):
        return False
    if not proved:
        return set(trusts) == replay and (not seen or merged or any(signer.finds for signer in own))
    proofs = [set(trust_in(proof)) for signer in (signers if merged else own) for proof in signer.proofs]
    if not merged:
        return any(set(trusts) == proof | replay for proof in proofs)
    named = [proof for proof in proofs if proof <= set(trusts)]
    return bool(named) and set(trusts) == set().union(replay, *named)


def _decisions(task: Task, models: Sequence[StoredModel]) -> Sequence[Label]:
    return models[0].classes if task.scope == TEAM else (0, 1)


def _said(answer: TaskAnswer) -> str:
    return f"an answer {answer.status!r}"


def _called(model: StoredModel) -> str:
    return f"model {model.hash[:8]}"


def _is_possible(task: Task, witness: bytes, models: Sequence[StoredModel]) -> bool:
    bits = unpack(witness, task.n_features)
    return bool(named_first(models).space.possible(bits[None, :])[0])


def _number(packed: bytes) -> int:
    """Packed bits as one integer: counting and comparing them is then quick."""
    return int.from_bytes(packed, "big")


def _free(task: Task) -> int:
    """The features that may change, as an integer like that of ``_number``."""
    n = task.n_features
    mask, direction = task.rules.mask, task.rules.direction
    free = ((1 << n) - 1) << (-n % 8) if mask is None else _number(mask)
    if direction is None or task.bits is None:
        return free
    ones = _number(task.bits)
    return free & ones if direction == "remove" else free & ~ones
