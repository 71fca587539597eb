"""Clausal proofs: LRAT, checked line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.reader import Reader

Lines = Iterator[list[int]]  # of an LRAT proof; a deletion is a line for each clause, of its number alone
OnFormula = Callable[[list[tuple[int, ...]], Lines], Lines]


def follow_lrat(clauses: list[tuple[int, ...]] | None, reader: Reader, on_formula: OnFormula | None) -> None:
    """The lines up to 'qed' prove that the formula, if there is any, has no solution."""
    lines = _until_qed(reader)
    if clauses is not None:
        lines = lines if on_formula is None else on_formula(clauses, lines)
        check_lrat(clauses, lines)
    for _ in lines:  # whatever comes after the empty clause
        pass


def _until_qed(reader: Reader) -> Lines:
    while (line := reader.text()) != "qed":
        first = line.find(" ")
        if first < 0:
            raise reader.wrong("is no line of a clausal proof")
        if not line.startswith(" d ", first):
            yield reader.numbers(line)
        elif line.endswith(" 0"):
            reader.natural(line[:first])
            yield from ([number] for number in reader.long_list(line, first + 3, len(line) - 2))
        else:
            raise reader.wrong("deletes clauses and does not end with 0")


def check_lrat(clauses: list[tuple[int, ...]], lines: Iterable[list[int]]) -> None:
    """Each line adds a clause that follows by unit propagation along its hints, or deletes some."""
    given: list[Sequence[int] | None] = [None, *clauses]
    added: dict[int, Sequence[int]] = {}
    n = last = len(clauses)
    kept = 0
    for number, *rest in lines:
        if not rest:  # deleted
            if 0 < number <= n:
                given[number] = None
            elif number in added:
                kept -= 4 + len(added.pop(number))
            continue
        if 0 not in rest:
            raise Refused("a line of a clausal proof has no end")
        middle = rest.index(0)
        clause, hints = rest[:middle], rest[middle + 1 : -1]
        if number <= last or rest[-1] != 0 or rest.count(0) != 2:
            raise Refused(f"line {number} of a clausal proof is out of order")
        false = set(clause)
        for hint in hints:
            reason = given[hint] if 0 < hint <= n else added.get(hint)
            if reason is None:
                raise Refused(f"line {number} of a clausal proof refers to a clause that is not there")
            unknown = [literal for literal in reason if literal not in false]
            if len(unknown) > 1:
                raise Refused(f"line {number} of a clausal proof does not propagate")
            if not unknown:
                break
            false.add(-unknown[0])
        else:
            raise Refused(f"line {number} of a clausal proof ends without a conflict")
        if not clause:
            return
        added[number], last = tuple(clause), number
        kept += 4 + len(clause)
        if kept > limits.MOST_ADDED:
            raise Refused("a clausal proof keeps too many clauses: it should delete what it no longer needs")
    raise Refused("a clausal proof does not reach the empty clause")
