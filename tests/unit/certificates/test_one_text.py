"""Each claim has only one text: of several possible spellings, the checker accepts one.

Inputs are counted, and identified by a hash, as they are written.
"""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from typing import Any

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import claim_line, refusal, stubborn_model, text_of
from support.certified_networks import Case, random_network
from tmverify.bnn.file import encode as encode_network
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.sat import refutation
from tmverify.model.file import encode

MODEL = tv.Model.from_clauses(12, [[1, 9], [2], [-3, 1]], [[1, 1, 1]], bias=-2)
X = [1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0]


def unreadable(text: bytes, *models: tv.Model) -> str | None:
    """Why the text can't be read, or None if it is accepted; it is not merely refused."""
    try:
        tmcheck.check(io.BytesIO(text), [encode(model) for model in models])
    except tmcheck.Unreadable as reason:
        return str(reason)
    return None


def test_inputs_are_distinct_in_one_spelling_alone() -> None:
    """aa, aA, Aa and AA are one input."""
    verdict = tv.check_universal_robustness(MODEL, [X] * 4, 0, 1, certificate=True)
    assert verdict.certificate is not None
    text = text_of(verdict.certificate)
    assert text.count(b"input aa40\n") == 4
    assert verdict.certificate.check(MODEL).count(", 1 distinct)") == 1
    for other in (b"aA40", b"Aa40", b"AA40"):
        said = unreadable(text.replace(b"input aa40", b"input " + other, 1), MODEL)
        assert said is not None
        assert "lower case" in said


def test_hexadecimal_is_in_lower_case_everywhere() -> None:
    mask = [1] * 10 + [0, 0]
    violated = tv.check_robustness(MODEL, X, 3, features=mask, certificate=True)
    text = text_of(violated.certificate)
    assert refusal(text, [MODEL]) is None
    (witness,) = re.findall(rb"\nwitness (\w+)\n", text)
    places = [b'"ffc0"', b"\ninput aa40\n", b"\nwitness " + witness + b"\n", MODEL.content_hash.encode()]
    for place in places:
        hexadecimal = re.findall(rb"[0-9a-f]{4,}", place)[0]
        respelled = place.replace(hexadecimal, hexadecimal.upper())
        assert respelled != place
        assert unreadable(text.replace(place, respelled), MODEL)


SPELLINGS = {
    '"ffc0"': ['"ffc8"', '" fc0"', '"ffc00"', '"ff c0"'],
    "input aa40": ["input aa41", "input aa4", "input aa40 ", "input  aa40", "input\taa40", "input 0xaa40"],
    '"epsilon":3': [f'"epsilon":{n}' for n in ("3.0", "03", "3e0", " 3", "+3", '"3"', '3,"epsilon":3')],
    '"version":4': ['"version":true', '"version":4.0', '"version":3'],
    '"distance":"bits"': ['"distance":null', '"distance":"Bits"', '"distance":["bits"]'],
    '"columns":null': ['"columns":[]', '"columns":{}', '"columns":false', '"columns":[[0,"keep",null,1]]'],
    '"apart":null': ['"apart":[]', '"apart":[[]]', '"apart":[[1,0]]', '"apart":[[0],[0]]', '"apart":[0]'],
    '"reason":null': ['"reason":[]', '"reason":{}', '"reason":false', '"reason":[[0,[1]]]'],
    '"property":null': ['"property":[]', '"property":{}', '"property":false'],
    '"margin":0': ['"margin":null', '"margin":false', '"margin":0.0', '"margin":-1', '"margin":2147483648'],
    '"target":null': ['"target":[]', '"target":true', '"target":0.0', '"target":0,"target":0'],
    '"inputs":1': ['"inputs":true', '"inputs":1.0', '"inputs":1E0'],
    '"1/1"': [
        '"2/2"',
        '"01/1"',
        '"1/1 "',
        '"1"',
        '"+1/1"',
        '"1.0"',
        '"1_/1"',
        '"\N{ARABIC-INDIC DIGIT ONE}/1"',
    ],
    '"radius":null': ['"radius":NaN', '"radius":null,"radius":null'],
    '"robustness"': ['"\\u0072obustness"'],
    '"team"': ['"\\u0074eam"', '"te\\u0061m"'],
    '{"format"': [' {"format"', '\ufeff{"format"', '{ "format"', '{"FORMAT"'],
    '"1/1"}': ['"1/1"} ', '"1/1"}\r', '"1/1"}\t', '"1/1",}'],
    "end\n": ["end \n", "end\r\n", "end", "END\n", " end\n", "end\n\n"],
}


@pytest.mark.parametrize(("plain", "other"), [(a, b) for a, others in SPELLINGS.items() for b in others])
def test_another_spelling_is_unreadable(plain: str, other: str) -> None:
    verdict = tv.check_robustness(MODEL, X, 3, features=[1] * 10 + [0, 0], certificate=True)
    text = text_of(verdict.certificate)
    assert refusal(text, [MODEL]) is None
    assert text.count(plain.encode()) == 1
    assert unreadable(text.replace(plain.encode(), other.encode()), MODEL)


def test_the_keys_of_a_claim_have_one_order() -> None:
    text = text_of(tv.check_robustness(MODEL, X, 0, certificate=True).certificate)
    first, rest = text.split(b"\n", 1)
    claim: dict[str, Any] = json.loads(first)
    assert claim_line(claim) + rest == text
    assert unreadable(claim_line(dict(sorted(claim.items()))) + rest, MODEL)
    assert unreadable(json.dumps(claim).encode() + b"\n" + rest, MODEL)
    assert unreadable(json.dumps(claim, indent=0).replace("\n", "").encode() + b"\n" + rest, MODEL)


def test_all_features_are_written_as_null() -> None:
    text = text_of(tv.check_robustness(MODEL, X, 0, features=[1] * 12, certificate=True).certificate)
    assert b'"features":null' in text
    said = unreadable(text.replace(b'"features":null', b'"features":"fff0"'), MODEL)
    assert said is not None
    assert "null" in said


def spellings(line: bytes) -> list[bytes]:
    """The line with one of its numbers written in another way, for each of them; or its data."""
    word, _, rest = line.partition(b" ")
    if word in (b"set", b"rewrite"):
        data = zlib.decompress(base64.b64decode(rest))
        longer = data[:-1] + bytes([data[-1] | 128, 0])  # the last number, ended by a zero
        others = [base64.b64encode(zlib.compress(longer))]
        if rest.endswith(b"="):  # unused bits
            alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            end = len(rest.rstrip(b"="))
            higher = alphabet[alphabet.index(rest[end - 1]) + 1 : alphabet.index(rest[end - 1]) + 2]
            others.append(rest[: end - 1] + higher + rest[end:])
        return [word + b" " + other for other in others]
    found = []
    for number in re.finditer(rb"(?<![0-9a-z])-?[0-9]+", line):
        start, end, digits = number.start(), number.end(), number[0]
        others = [digits.replace(b"-", b"-0") if digits[:1] == b"-" else b"0" + digits, b" " + digits]
        others += [b"+" + digits, digits + b"_", digits + b".0"] if digits[:1] != b"-" else []
        others += [b"-0"] if digits == b"0" else []
        found += [line[:start] + other + line[end:] for other in others]
    return found


def certificates() -> list[tuple[bytes, list[bytes]]]:
    """Of every kind of line: trees, clausal proofs, subcubes, clauses rewritten, shells."""
    rng = np.random.default_rng(2)
    stubborn = stubborn_model(rng, 8, 0.3)
    x = rng.integers(0, 2, 8)
    found = [(text_of(tv.robustness_radius(stubborn, x, certificate=True).certificate), [encode(stubborn)])]
    a = tv.Model.from_clauses(3, [[1], [2, 3], [-1, 3]], [[1, 2, -1], [1, -1, 1]])
    b = tv.Model.from_clauses(3, [[1, 2], [1, -2], [2, 3], [-1, 3]], [[1, 1, 2, -1], [1, 1, -1, 1]])
    found.append((text_of(tv.check_equivalence(a, b, certificate=True).certificate), [encode(a), encode(b)]))
    query = tv.robustness_query(stubborn, x, 1)
    evidence = ProofLog()
    refutation.prove(query, evidence, sweep=False)
    proof = evidence.proof_of(query, 1)
    assert proof is not None
    text = text_of(tv.check_robustness(stubborn, x, 1, certificate=True).certificate)
    found.append((text[: text.index(b"refute")] + b"".join(proof()) + b"end\n", [encode(stubborn)]))
    while True:
        network = Case(random_network(rng, [8, 5, 3]), np.zeros(8, np.uint8), None, None)
        flips = min(k for k, inputs in network.violating().items() if inputs) - 1
        if flips:
            break
    shells = [f"shell {k} enumerate" for k in range(1, flips + 1)]
    found.append((network.certificate(*shells, epsilon=flips), [encode_network(network.model)]))
    return found


def test_numbers_and_data_have_one_spelling() -> None:
    seen = set()
    for text, models in certificates():
        assert refusal(text, models) is None
        lines = text.splitlines(keepends=True)
        for k, line in enumerate(lines):
            if k and not line.startswith((b"input", b"witness")):
                for other in spellings(line.rstrip(b"\n")):
                    respelled = b"".join([*lines[:k], other + b"\n", *lines[k + 1 :]])
                    assert refusal(respelled, models), other
                    seen.add(line.split(b" ")[0])
    assert seen > {b"constraints", b"refute", b"split", b"set", b"mix", b"rewrite", b"shell"}
    assert any(word.isdigit() for word in seen)  # a line of a clausal proof


def test_a_clausal_proof_deletes_by_numbers_that_are_some() -> None:
    text, models = certificates()[2]
    assert text.count(b"\nlrat\n") >= 1
    for line, fine in (
        (b"1 d 999999 0", True),
        (b"1 d 999999 999998 0", True),
        (b"999999", False),
        (b"x d 999999 0", False),
        (b"01 d 999999 0", False),
        (b"1 d 999999", False),
        (b"1 d 999999 1", False),
        (b"1 d 0999999 0", False),
        (b"1  d 999999 0", False),
    ):
        other = text.replace(b"\nlrat\n", b"\nlrat\n" + line + b"\n", 1)
        assert (refusal(other, models) is None) == fine, line
