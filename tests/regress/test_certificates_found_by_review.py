"""Faults that a review of certificates found: a false claim accepted, true ones refused, bombs, odd words."""

from __future__ import annotations

import hashlib
import json
import pickle
import time
from pathlib import Path

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import claim, refusal, text_of
from support.copies import halved
from tmcheck.cli import main
from tmverify.engines.proof_log import packed_numbers, packed_step
from tmverify.model.file import encode


def test_a_feature_fixed_for_good_does_not_come_back() -> None:
    """The models differ on (1, 1); a cover looked for the difference in the wrong subcube."""
    a = tv.Model.from_clauses(2, [[1, 2]], [[1]], bias=-1)
    b = tv.Model.from_clauses(2, [], np.zeros((1, 0), int), bias=-1)
    steps = (
        claim("equivalence", a, b)
        + b"everywhere\nconstraints 0:-1>=0 0:1>=1 1:-1>=0 1:1>=1\n"
        + b"refute 3 2 1\nclose\nrefute 1 2 2 -1,2\nclose\nrefute 1 2 2 bits\n"
        + packed_step("set", packed_numbers([0, 2, 0]))
        + b"fix\nshrink\n"
    )
    cover = steps + packed_step("rewrite", packed_numbers([0, 0])) + b"cover 1\nend\n"
    assert "not there" in str(refusal(cover, [a, b]))
    assert "meets every need" in str(refusal(steps + b"split 1 1\nclose\nclose\nend\n", [a, b]))


def test_deep_trees_below_the_root_are_written_as_they_were_closed() -> None:
    """A node fixed features, moved its multipliers on and closed; the record had the last ones alone."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        n = int(rng.integers(14, 19))
        clauses = [
            (rng.choice(range(1, n + 1), 4, replace=False) * rng.choice([-1, 1], 4)).tolist()
            for _ in range(24)
        ]
        a = tv.Model.from_clauses(n, clauses, rng.integers(-3, 4, size=(2, 24)))
        b = halved(halved(a, rng), rng)
        x = rng.integers(0, 2, n)
        verdict = tv.check_similarity(a, b, x, 6, engine="search", certificate=True, timeout=None)
        text = text_of(verdict.certificate)
        assert text.count(b"split") > 100
        assert refusal(text, [a, b]) is None


def heavy(n: int) -> tv.Model:
    """Clauses of weights 1, 2, 4, …: every sum is another."""
    return tv.Model.from_clauses(
        n, [[i + 1] for i in range(n)], [[2**i for i in range(n)]], bias=-(2**n) // 2
    )


def refused_in_time(text: bytes, models: list[tv.Model]) -> str:
    started = time.monotonic()
    reason = refusal(text, models)
    assert time.monotonic() - started < 30
    assert reason is not None
    return reason


def test_a_formula_that_would_be_too_large_is_refused_before_it_is_built() -> None:
    model = heavy(26)
    head = (
        claim("robustness", model, epsilon=26) + b"input 00000000\nconstraints 0:1>=33554432 0:1>=99999999\n"
    )
    assert "too large" in refused_in_time(head + b"refute 0 26 1\nlrat\nqed\nend\n", [model])
    many = head + b"refute 0,1 26 1\nlrat\nqed\n" * 3000 + b"end\n"  # the second is out of reach: no formula
    assert "shown to hold on 0" in refused_in_time(many, [model])


def test_no_growth_without_end() -> None:
    model = tv.Model.from_clauses(20, [[1], [2], range(3, 21)], [[1, 1, 1]], bias=-1)
    everywhere = b"everywhere\nconstraints 0:1>=1\nrefute 0 20 1 bits\n"
    both = claim("equivalence", model, model) + everywhere
    head = claim("robustness", model, epsilon=20) + b"input 000000\nconstraints 0:1>=1\nrefute 0 20 1\n"
    doubling = b"".join(
        packed_step("rewrite", packed_numbers([n for j in range(2**k) for n in (j, k + 1)]))
        for k in range(1, 13)
    )
    assert "too many" in refused_in_time(both + doubling, [model, model])
    assert "nothing follows" in refused_in_time(head + b"fix\n" * 10_000, [model])
    assert "nothing is ruled out" in refused_in_time(head + b"shrink\n" * 10_000, [model])
    assert "twice" in refused_in_time(both + b"divide\n" * 10_000, [model, model])
    repeated = head.replace(b"refute 0 20", b"refute " + b",".join([b"0"] * 10_000) + b" 20")
    assert "repeat" in refused_in_time(repeated + b"close\nend\n", [model])


def test_many_classes_without_a_proof() -> None:
    model = tv.Model.from_clauses(2, [], np.zeros((400, 0), int))
    text = claim("equivalence", model, model) + b"everywhere\nend\n"
    assert "class by class" in refused_in_time(text, [model, model])


def test_the_words_say_which_input_and_which_features() -> None:
    model = tv.Model.from_clauses(3, [[1], [2]], [[1, 1]], bias=-2)
    said = set()
    for x in ([0, 0, 0], [0, 0, 1]):
        v = tv.check_robustness(model, x, 1, certificate=True)
        assert v.certificate is not None
        said.add(v.certificate.check(model))
    assert len(said) == 2
    v = tv.check_robustness(model, [0, 0, 0], 2, features=[0, 0, 1], certificate=True)
    assert v.certificate is not None
    assert v.certificate.check(model).endswith("of the input 00, only 1 of 3 features changing")
    twice = tv.check_universal_robustness(model, [[0, 0, 0]] * 5, 1, 1, certificate=True)
    assert twice.certificate is not None
    assert "1 distinct" in twice.certificate.check(model)


@pytest.mark.parametrize("wrong", ["\ud800", "\x1b[2K\raccepted: ", "\naccepted: all", "x" * 64])
def test_a_hash_that_is_none_is_not_printed(
    wrong: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = tv.Model.from_clauses(1, [[1]], [[1]])
    text = claim("robustness", model, epsilon=0, models=[wrong]) + b"input 00\nend\n"
    (tmp_path / "c").write_bytes(text)
    model.save(tmp_path / "m")
    assert main([str(tmp_path / "c"), str(tmp_path / "m")]) == 2
    assert capsys.readouterr().out == "unreadable: models\n"


def test_odd_paths_and_names_are_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tv.Model.from_clauses(1, [[1]], [[1]])
    model.save(tmp_path / "m")
    for path in ("a\0b", str(tmp_path), "/dev/null", str(tmp_path / "none")):
        assert main([path, str(tmp_path / "m")]) == 2
        assert main([str(tmp_path / "m"), path]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_hostile_model_options_are_unreadable() -> None:
    data = encode(tv.Model.from_clauses(1, [[1]], [[1]]))
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    for options in (
        "\ud800",
        json.dumps({"n_features": 10**30}),
        json.dumps({"n_features": 10**9}),
        "[" * 990,
    ):
        header["__metadata__"].update(model=options, sha256="")
        digest = hashlib.sha256(_file(header, body)).hexdigest()
        header["__metadata__"]["sha256"] = digest
        with pytest.raises(tmcheck.Unreadable):
            tmcheck.read_model(_file(header, body))
    header["deep"] = json.loads("[" * 900 + "]" * 900)
    assert refusal(b"{}\n", [_file(header, body)])


def _file(header: dict[str, object], body: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def test_a_verdict_with_a_certificate_can_be_pickled() -> None:
    model = tv.Model.from_clauses(3, [[1], [2], [1, -3]], [[1, 1, 1]], bias=-2)
    v = tv.check_robustness(model, [0, 0, 1], 1, certificate=True)
    again = pickle.loads(pickle.dumps(v))
    assert text_of(again.certificate) == text_of(v.certificate)
    assert again.certificate.check(model) == v.certificate.check(model)  # type: ignore[union-attr]
