"""What a certificate shows about one input, or about every input: witnesses, refutations, shells."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.formula import formula
from tmcheck.lrat import OnFormula, follow_lrat
from tmcheck.model import Machine, lead
from tmcheck.network import Network
from tmcheck.reader import Reader
from tmcheck.reason import Reason
from tmcheck.refutation import Refutation
from tmcheck.region import Region
from tmcheck.rewriting import Bits
from tmcheck.shell import Shell
from tmcheck.statement import Statement
from tmcheck.surroundings import Pool, Surroundings
from tmcheck.ways import Case, Constraint, ways_to_violate

# A group that repeats would take memory for each time that it does.
_NUMBER = "(0|-?[1-9][0-9]{0,18})"
_TERM, _BOUND = re.compile(f"{_NUMBER}:{_NUMBER}"), re.compile(_NUMBER)

Where = tuple[tuple[int, ...], tuple[int, ...]]  # the literals of a subcube, the columns that keep


class Subject:
    """One input, or every input: what is shown about it."""

    def __init__(
        self,
        models: Sequence[Machine] | Sequence[Network],
        region: Region,
        expected: int | None,
        target: int | None = None,
        margin: int = 0,
        reason: Reason | None = None,
        whole: Region | None = None,
    ) -> None:
        self.models, self.region, self.expected, self.target = models, region, expected, target
        self.margin, self.reason = margin, reason
        # The region may be a part, to which a reason or a property comes down: witnesses lie in the whole.
        self.whole = region if whole is None else whole
        most = region.whole_cost()
        # A proof within the whole cost is one about all of the region.
        self.needed = most if region.budget is None else min(region.budget, most)
        self.witness_cost: int | None = None

    def take_witness(self, z: bytes) -> None:
        """An input in the region that violates the property."""
        cost = self.whole.cost_of(z)
        if self.whole.budget is not None and cost > self.whole.budget:
            raise Refused("the witness lies outside the region")
        self.check_violates(z)
        self.witness_cost = cost
        if self.reason is not None:
            self.reason.take(z)

    def check_violates(self, z: bytes) -> None:
        """Raise Refused unless an input, of the region, violates the property."""
        decisions = [model.decide(z) for model in self.models]
        if self.target is not None:
            if decisions != [self.target]:
                raise Refused("the witness is not decided as the target")
        elif len({*decisions, self.expected} - {None}) < 2 and not self._is_close(z):
            raise Refused("the witness does not change the decision")

    def _is_close(self, z: bytes) -> bool:
        """Whether some decision on an input stands by less than the margin."""
        machines = [model for model in self.models if isinstance(model, Machine)] if self.margin else []
        scores = [(machine, machine.votes_on(z)) for machine in machines]
        return any(lead(votes, [machine.winner(votes)]) < self.margin for machine, votes in scores)

    def take(self, reader: Reader, on_formula: OnFormula | None) -> bool:
        """Follow what the reader's current line begins; whether that is anything."""
        raise NotImplementedError

    def holds_within(self, cost: int) -> bool:
        """Whether it is shown that no input of at most this cost violates the property."""
        raise NotImplementedError

    def holds(self) -> bool:
        """Whether it is shown that no input of the region violates the property."""
        return self.holds_within(self.needed)


class OfMachines(Subject):
    """What is shown by refutations."""

    def __init__(
        self,
        machines: list[Machine],
        pool: Pool,
        region: Region,
        expected: int | None,
        target: int | None,
        *,
        margin: int = 0,
        everywhere: bool = False,
        reason: Reason | None = None,
        whole: Region | None = None,
    ) -> None:
        super().__init__(machines, region, expected, target, margin, reason, whole)
        self.machines, self.pool, self.everywhere = machines, pool, everywhere
        self.constraints: list[Constraint] = []  # declared, so that refutations can name them
        self.n_terms = 0  # of them, and commas between them
        # By place, and by one of the constraints: all constraints of a refutation, and its radius.
        self.refuted: dict[Where, dict[Constraint, dict[Case, int]]] = {}
        self.kept = 0
        self.covering: dict[frozenset[tuple[int, ...]], bool] = {}

    @cached_property
    def surroundings(self) -> Surroundings:
        """The clauses around the input; a witness needs none."""
        return Surroundings(self.pool, self.region)

    @cached_property
    def bits(self) -> Bits:
        """The clauses over single bits, for structural proofs."""
        return Bits(self.pool, self.region.space.n_bits)

    def take(self, reader: Reader, on_formula: OnFormula | None) -> bool:
        """Constraints, clauses rewritten, or a refutation."""
        if reader.word == "constraints":
            self.declare(reader)
        elif reader.word == "rewrite":
            if not self.everywhere:
                raise Refused("'rewrite' where not every input is looked at")
            self.bits.rewrite(reader.pairs(reader.rest, len(self.pool.clauses)))
        elif reader.word == "refute":
            self.refute(reader, on_formula)
        else:
            return False
        return True

    def declare(self, reader: Reader) -> None:
        """Constraints, each as row:coefficient,…>=bound."""
        if reader.line == "constraints":
            return
        if len(self.constraints) + reader.rest.count(" ") >= limits.MOST_CONSTRAINTS:
            raise Refused(f"more than {limits.MOST_CONSTRAINTS} constraints are declared")
        self.n_terms += reader.rest.count(":") + reader.rest.count(",")
        if self.n_terms > limits.MOST_TERMS:
            raise reader.wrong("has constraints that are too long")
        self.constraints += [self._constraint(reader, word) for word in reader.rest.split(" ")]

    def _constraint(self, reader: Reader, word: str) -> Constraint:
        said, _, bound = word.partition(">=")
        pairs: list[tuple[int, int]] = []
        for said_term in said.split(","):
            term = _TERM.fullmatch(said_term)
            if term is None or _BOUND.fullmatch(bound) is None:
                raise reader.wrong(f"has {word!r:.60}, which is no constraint")
            pairs.append((int(term[1]), int(term[2])))
        largest = max(abs(int(bound)), *(max(row, abs(k)) for row, k in pairs))
        if not all(0 <= row < self.pool.n_rows for row, _ in pairs) or largest >= limits.LARGEST_NUMBER:
            raise reader.wrong(f"has {word!r:.60}, a row that is not there or a number that is too large")
        return tuple(sorted(pairs)), int(bound)

    def refute(self, reader: Reader, on_formula: OnFormula | None) -> None:
        """Read one refutation, whose first line is the reader's current one."""
        words = reader.rest.split(" ", 5)
        if len(words) not in (3, 4, 5) or (len(words) == 5 and words[3] != "keep"):
            raise reader.wrong("has a 'refute' without constraints, radius and unit, or with more")
        numbers = reader.naturals(words[0], ",")
        radius, unit = map(reader.natural, words[1:3])
        most, repeat = self.region.budget, len(set(numbers)) != len(numbers)
        if repeat or max(numbers) >= len(self.constraints) or not 1 <= unit <= limits.LARGEST_UNIT:
            raise Refused("'refute' of constraints that are not declared or repeat, or in too large units")
        chosen = [self.constraints[c] for c in numbers]
        case = frozenset(chosen)
        inside: tuple[int, ...] = ()
        keep: tuple[int, ...] = ()
        if words[3:] == ["bits"]:
            if not self.everywhere or radius != self.region.space.n_bits:
                raise Refused("'refute' of bits where not every input is looked at")
            tree = Refutation(self.bits.problem(chosen), unit, self.bits.free)
            radius = max(radius, self.needed)  # all inputs are looked at
        else:
            if most is not None and radius > most:
                raise Refused("'refute' beyond the region")
            inside = self._cube(reader, words[3]) if len(words) == 4 else ()
            keep = self._columns(reader, words[4]) if len(words) == 5 else ()
            tree = Refutation(self.surroundings.problem(chosen, (radius, inside, keep)), unit)
        while not tree.done:
            self._step(reader, tree, case, on_formula)
        self._keep(case, (inside, keep), radius)

    def _cube(self, reader: Reader, word: str) -> tuple[int, ...]:
        """The literals of a subcube, by feature."""
        inside = sorted(reader.numbers(word, ","), key=abs)
        features = {abs(literal) for literal in inside}
        there = all(1 <= f <= self.region.space.n_bits for f in features)
        if not self.everywhere or len(features) != len(inside) or not there:
            raise Refused("'refute' in a subcube that is none")
        return tuple(inside)

    def _columns(self, reader: Reader, word: str) -> tuple[int, ...]:
        """Columns that keep their value."""
        columns = reader.naturals(word, ",")
        if not self.region.apart or columns[-1] >= self.region.space.n_columns:
            raise Refused("'refute' where columns keep that are not there, or none are kept apart")
        if sorted(set(columns)) != columns:
            raise reader.wrong("has columns that do not ascend")
        return tuple(columns)

    def _keep(self, case: Case, where: Where, radius: int) -> None:
        known = self.refuted.setdefault(where, {}).setdefault(min(case), {})
        if case not in known:
            self.kept += 8 + len(case) + len(where[0]) + len(where[1])
            if self.kept > limits.MOST_KEPT:
                raise Refused("there are more refutations than this checker keeps")
        known[case] = max(radius, known.get(case, 0))

    def _step(self, reader: Reader, tree: Refutation, case: Case, on_formula: OnFormula | None) -> None:
        reader.next()
        step, rest = reader.word, reader.rest
        if reader.line in ("fix", "close", "shrink", "divide"):
            getattr(tree, step)()
        elif reader.line == "lrat":
            if not tree.branch.untouched:
                raise Refused("'lrat' where options are ruled out: 'shrink' first")
            follow_lrat(formula(tree.problem), reader, on_formula)
            tree.done = True
        elif step == "split":
            numbers = reader.naturals(rest)
            if len(numbers) != 2:
                raise reader.wrong("has a 'split' that is not at a column and a value")
            tree.split(*numbers)
        elif step == "mix":
            tree.set_mix(reader.naturals(rest))
        elif step == "set":
            tree.set_multipliers(reader.packed(rest, tree.by.most_bytes()))
        elif step == "rewrite":
            tree.rewrite(reader.pairs(rest, len(tree.problem.keys)))
        elif step == "cover":
            tree.cover(reader.naturals(rest), lambda cube: self._is_empty_or_refuted(case, cube))
        else:
            raise reader.wrong(f"has {step!r:.40}, which is no step of a refutation")

    def _is_empty_or_refuted(self, case: Case, cube: tuple[int, ...]) -> bool:
        if self._is_refuted(case, (cube, ()), self.needed):
            return True
        return not self.surroundings.is_possible(cube)

    def _is_refuted(self, case: Case, where: Where, least: int) -> bool:
        known = self.refuted.get(where, {})
        return any(
            some <= case and least <= radius
            for constraint in case
            if constraint in known
            for some, radius in known[constraint].items()
        )

    def holds_within(self, cost: int) -> bool:
        """Whether every way to violate is refuted within this cost."""
        least = min(cost, self.needed)
        return all(self._is_ruled_out(way, least) for way in self.ways())

    def ways(self) -> Iterable[Case]:
        """All ways to violate the property."""
        return ways_to_violate(self.machines, self.expected, self.target, self.margin)

    def _is_ruled_out(self, way: Case, least: int) -> bool:
        if self._is_refuted(way, ((), ()), least):
            return True
        if not self.region.apart:
            return False
        keeps = frozenset(
            keep
            for inside, keep in self.refuted
            if not inside and self._is_refuted(way, (inside, keep), least)
        )
        if keeps not in self.covering:
            self.covering[keeps] = covers(self.region.apart, keeps)
        return self.covering[keeps]


class OfStatement(OfMachines):
    """What is shown about a property that was stated: about joint inputs around one, or about all of them."""

    def __init__(self, statement: Statement, around: Region | None) -> None:
        self.statement = statement
        part: Region | None
        if around is None:
            whole, part, self.violations = statement.everywhere()
        else:
            whole, part, self.violations = statement.around(around)
        region = whole if part is None else part
        machines, pool = statement.joint.machines, self.violations.pool
        super().__init__(machines, pool, region, None, None, everywhere=around is None, whole=whole)

    def check_violates(self, z: bytes) -> None:
        """Raise Refused unless a joint input violates the property."""
        if not self.statement.violated_by(z):
            raise Refused("the witness does not violate the property")

    def ways(self) -> Iterable[Case]:
        """All ways to violate the property."""
        return self.violations.ways


def covers(apart: Sequence[Sequence[int]], keeps: frozenset[tuple[int, ...]]) -> bool:
    """Whether every input of the region keeps all columns of one of ``keeps``.

    An input of the region keeps a column of each list of ``apart``; so the sets of columns that it may keep
    are built up, a list at a time, until they contain one of ``keeps``.
    """
    sets = [frozenset(keep) for keep in keeps]
    seen: set[bytes] = set()  # digests: the sets may be large
    stack: list[Any] = [None]  # each set as its last column and the set before
    while stack:
        last = stack.pop()
        kept = _unrolled(last)
        if any(keep <= kept for keep in sets):
            continue
        unmet = next((columns for columns in apart if kept.isdisjoint(columns)), None)
        if unmet is None:
            return False
        for column in unmet:
            digest = hashlib.sha256(repr(sorted((*kept, column))).encode()).digest()
            if digest not in seen:
                seen.add(digest)
                stack.append((column, last))
        if len(seen) >= limits.MOST_SETS_APART:
            raise Refused("too many sets of columns to see that refutations cover the region")
    return True


def _unrolled(linked: Any) -> set[int]:
    kept = set()
    while linked is not None:
        column, linked = linked
        kept.add(column)
    return kept


class OfNetwork(Subject):
    """What is shown by shells."""

    def __init__(self, network: Network, region: Region, expected: int, reason: Reason | None) -> None:
        whole = None if reason is None else reason.region
        super().__init__([network], region, expected, reason=reason, whole=whole)
        self.network = network
        self.shown: set[int] = set()  # numbers of flips

    def take(self, reader: Reader, on_formula: OnFormula | None) -> bool:
        """A shell."""
        if reader.word != "shell":
            return False
        number, _, way = reader.rest.partition(" ")
        flips = reader.natural(number)
        region = self.region
        if not 1 <= flips <= self.needed or flips in self.shown:
            raise Refused(f"shell {flips} lies outside the region, or was shown before")
        shell = Shell(self.network, region.centre, region.mutable, flips)
        if way == "close":
            shell.close()
        elif way == "patterns":
            shell.try_patterns()
        elif way == "enumerate":
            shell.try_all()
        elif way == "lrat":
            follow_lrat(shell.formula(), reader, on_formula)
        else:
            raise reader.wrong(f"has {way!r:.40}, which shows no shell")
        self.shown.add(flips)
        return True

    def holds_within(self, cost: int) -> bool:
        """Whether every shell up to so many flips is shown."""
        return self.shown.issuperset(range(1, min(cost, self.needed) + 1))
