"""The checker's use of resources is bounded by the model, not by what a certificate says.

Memory is measured, not limited: with a limit there would be a MemoryError, which the checker handles too.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import claim, refusal, run_standalone, text_of
from tmcheck import limits
from tmcheck.lrat import check_lrat
from tmverify.engines.proof_log import packed_numbers, packed_step
from tmverify.errors import InvalidInputError
from tmverify.model.clauses import MAX_FEATURES
from tmverify.model.file import encode
from tmverify.model.machine import MAX_OUTPUTS
from tmverify.properties.query import MAX_COMPARED_CLASSES

ACCEPTED, REFUSED, UNREADABLE = 0, 1, 2
MANY = 3_000_000
LITTLE = 150 << 20  # bytes; Python itself takes a tenth

MODEL = tv.Model.from_clauses(3, [[1], [2], [-3, 1]], [[1, 1, 1]], bias=-2)


HEAD = claim("robustness", MODEL, epsilon=1) + b"input 20\nconstraints 0:1>=2\n"
REFUTE = HEAD + b"refute 0 1 256\n"


@pytest.mark.parametrize(
    ("before", "word", "after", "code"),
    [
        (REFUTE + b"mix 1", b" 1", b"\n", UNREADABLE),
        (REFUTE + b"cover 1", b" 1", b"\n", UNREADABLE),
        (REFUTE + b"split 1 1", b" 1", b"\n", UNREADABLE),
        (REFUTE + b"lrat\n99 1", b" 1", b" 0 1 0\n", UNREADABLE),
        (HEAD + b"refute 0", b",0", b" 1 256\n", UNREADABLE),
        (HEAD + b"refute 0 1 256 1", b",1", b"\n", UNREADABLE),
        (HEAD + b"refute 0 1 256", b" 1", b"\n", UNREADABLE),
        (HEAD + b"constraints 0:1", b",0:1", b">=1\n", UNREADABLE),
        (HEAD + b"constraints 0", b":1", b">=1\n", UNREADABLE),
        (HEAD + b"constraints 0:1>=1", b" 0:1>=1", b"\n", REFUSED),
        (HEAD + b"unheard of", b" 1", b"\n", UNREADABLE),
    ],
    ids=lambda value: value[-20:] if isinstance(value, bytes) else value,
)
def test_a_line_of_millions_of_numbers(
    tmp_path: Path, before: bytes, word: bytes, after: bytes, code: int
) -> None:
    done = run_standalone(tmp_path, before + word * MANY + after + b"end\n", [encode(MODEL)])
    assert (done.code, done.memory < LITTLE) == (code, True), done


def test_a_number_of_millions_of_digits(tmp_path: Path) -> None:
    for before, after in (
        (REFUTE + b"split 1 ", b"\n"),
        (REFUTE + b"lrat\n99 ", b" 0 1 0\nqed\n"),
        (REFUTE + b"lrat\n99 d ", b" 0\nqed\n"),
        (HEAD + b"constraints 0:1>=", b"\n"),
        (HEAD.replace(b'"epsilon":1', b'"epsilon":1' + b"1" * MANY)[: -len(b"\n")], b"\n"),
    ):
        done = run_standalone(tmp_path, before + b"1" * MANY + after + b"end\n", [encode(MODEL)])
        assert (done.code, done.memory < LITTLE) == (UNREADABLE, True), done


def test_a_long_list_of_deletions_is_read_in_pieces(tmp_path: Path) -> None:
    """A solver may delete a million clauses at once."""
    model = tv.Model.from_clauses(3, [[1, 2], [2, 3]], [[1, 1]], bias=-3)
    head = claim("robustness", model, epsilon=3) + b"input 00\nconstraints 0:1>=2\nrefute 0 3 1\nlrat\n"
    numbers = b" ".join(b"%d" % n for n in range(10**6, 2 * 10**6))
    done = run_standalone(tmp_path, head + b"1 d " + numbers + b" 0\nqed\nend\n", [encode(model)])
    assert (done.code, done.memory < LITTLE) == (REFUSED, True), done
    assert "does not reach the empty clause" in done.said


def test_features_that_no_clause_looks_at_take_next_to_nothing(tmp_path: Path) -> None:
    """A model of a few hundred bytes may have sixteen million of them."""
    n = MAX_FEATURES
    model = tv.Model.from_clauses(n, [[1], [2], [-3, n]], [[1, 1, 1]], bias=-2)
    zeros = b"0" * (n // 4)
    same = b"constraints 0:1>=2 1:-1>=-1 0:-1>=-1 1:1>=2\nrefute 0,1 %d 1\nclose\nrefute 2,3 %d 1\nclose\n"
    near = b"input " + zeros + b"\nconstraints 0:1>=2\nrefute 0 1 256\nclose\n"
    for text, models in (
        (claim("equivalence", model, model) + b"everywhere\n" + same % (n, n), [model, model]),
        (claim("robustness", model, epsilon=1) + near, [model]),
        (claim("robustness", model, epsilon=1, features="7f" + "f" * (n // 4 - 2)) + near, [model]),
        (
            claim("robustness", model, epsilon=n, answer="violated")
            + b"input " + zeros + b"\nwitness " + b"f" * (n // 4) + b"\n",
            [model],
        ),
    ):  # fmt: skip
        done = run_standalone(tmp_path, text + b"end\n", [encode(model) for model in models])
        assert (done.code, done.memory < 2 * LITTLE) == (ACCEPTED, True), done


def test_what_is_kept_of_a_proof_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refutations, constraints, and the clauses that a clausal proof adds and does not delete."""
    model = tv.Model.from_clauses(8, [[i + 1] for i in range(8)], [[1] * 8], bias=-3)
    same = claim("equivalence", model, model) + b"everywhere\nconstraints 0:1>=99\n"

    def corners() -> Iterator[bytes]:
        for k in range(256):
            literals = (f + 1 if k >> f & 1 else -f - 1 for f in range(8))
            yield b"refute 0 8 1 " + ",".join(map(str, literals)).encode() + b"\nclose\n"

    many = same + b"".join(corners()) + b"end\n"
    assert "shown to hold on 0" in str(refusal(many, [model, model]))
    monkeypatch.setattr(limits, "MOST_KEPT", 100 * (8 + 1 + 8))
    assert "more refutations" in str(refusal(many, [model, model]))
    again = same + next(corners()) * 200 + b"end\n"  # the same again is not kept again
    assert "shown to hold on 0" in str(refusal(again, [model, model]))

    clauses = [(1, 2), (1, -2), (-1,)]
    monkeypatch.setattr(limits, "MOST_ADDED", 100)
    added = [[4 + k, 1, 2, 5 + k, 0, 1, 0] for k in range(99)]
    last = [103, 0, 3, 1, 2, 0]
    with pytest.raises(tmcheck.Refused, match="keeps too many"):
        check_lrat(clauses, [*added, last])
    check_lrat(clauses, [line for new in added for line in (new, new[:1])] + [last])

    monkeypatch.setattr(limits, "MOST_CONSTRAINTS", 3)
    for declared, refused in ((b" 0:1>=1" * 3, False), (b" 0:1>=1" * 4, True)):
        text = HEAD.replace(b"constraints 0:1>=2\n", b"constraints" + declared + b"\nend\n")
        assert ("3 constraints" in str(refusal(text, [MODEL]))) == refused


def test_rewritten_clauses_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tv.Model.from_clauses(20, [[1], range(2, 21)], [[1, 1]], bias=-3)
    monkeypatch.setattr(limits, "LARGEST_FORMULA", 30)
    head = claim("equivalence", model, model) + b"everywhere\nconstraints 0:1>=3\nrefute 0 20 1 bits\n"
    longer = [packed_step("rewrite", packed_numbers([0, f])) for f in range(1, 10)]
    assert "too long" in str(refusal(head + b"".join(longer) + b"end\n", [model, model]))


def test_distinct_inputs_are_counted_as_far_as_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8)]
    text = text_of(tv.check_universal_robustness(MODEL, inputs, 0, 0, certificate=True).certificate)

    def about() -> str:
        return str(tmcheck.check(io.BytesIO(text), [encode(MODEL)])["about"])

    before = about()
    assert before.endswith(", 8 distinct")
    monkeypatch.setattr(limits, "MOST_DISTINCT", 5)
    assert about() == before.replace("8 distinct", "at least 5 distinct")
    more = text.replace(b"end\n", b"input 00\nend\n")
    assert "the claim is about 8 input(s)" in str(refusal(more, [MODEL]))


def test_the_library_and_the_checker_have_the_same_limits() -> None:
    assert limits.MOST_COMPARED == MAX_COMPARED_CLASSES
    assert limits.MOST_CLASSES == MAX_OUTPUTS
    assert limits.MOST_FEATURES == MAX_FEATURES
    assert limits.LONGEST_CLAIM > MAX_FEATURES // 4 + 10_000  # a mask, labels and hashes


def of_classes(n: int) -> tv.Model:
    """A model whose first class wins at 00 with two votes of its bias."""
    weights = np.zeros((n, 2), int)
    weights[-1] = 1, -1
    return tv.Model.from_clauses(2, [[1], [2]], weights, bias=[2] + [0] * (n - 1))


def test_two_models_of_many_classes_are_compared_class_by_class() -> None:
    most = MAX_COMPARED_CLASSES
    small, large, huge = of_classes(most), of_classes(most + 1), of_classes(256)
    assert (
        refusal(text_of(tv.check_equivalence(small, small, certificate=True).certificate), [small] * 2)
        is None
    )
    for model in (large, huge):
        with pytest.raises(InvalidInputError, match="class by class"):
            tv.check_equivalence(model, model)
        everywhere = claim("equivalence", model, model) + b"everywhere\nend\n"
        assert "class by class" in str(refusal(everywhere, [model] * 2))
        around = claim("similarity", model, model, epsilon=1) + b"input 00\nend\n"
        assert "class by class" in str(refusal(around, [model] * 2))
        for scope in (0, len(model.classes) - 1):
            verdict = tv.check_equivalence(model, model, scope=scope, certificate=True)
            assert refusal(text_of(verdict.certificate), [model] * 2) is None
        assert (
            refusal(text_of(tv.check_robustness(model, [0, 0], 1, certificate=True).certificate), [model])
            is None
        )


def test_robustness_with_very_many_classes(tmp_path: Path) -> None:
    """A refutation for each rival: what it takes is linear, within the time that the process has."""

    def text(model: tv.Model) -> bytes:
        n = len(model.classes)
        rivals = b"".join(b" 0:-1,%d:1>=3" % r for r in range(1, n))
        steps = b"".join(b"refute %d 1 1\nclose\n" % r for r in range(n - 1))
        head = claim("robustness", model, epsilon=1) + b"input 00\nconstraints" + rivals
        return head + b"\n" + steps + b"end\n"

    few, many = of_classes(50), of_classes(MAX_OUTPUTS)
    assert refusal(text(few), [few]) is None
    assert "shown to hold on 0" in str(refusal(text(few).replace(b"refute 7 1 1\nclose\n", b""), [few]))
    done = run_standalone(tmp_path, text(many), [encode(many)])
    assert (done.code, done.memory < 2 * LITTLE) == (ACCEPTED, True), done
