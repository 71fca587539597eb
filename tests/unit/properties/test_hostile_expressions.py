"""Hostile expressions and files of properties end in clear errors, or mean something; nothing else happens.

Valid ones are mutated by characters, by tokens, by nesting, by huge numbers, by strange text. Each must be
read in a moment; those that are taken must also be decided, or left open, without an exception.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tmverify as tv
from support.stated import ROWS, lender, three_parties
from tmverify.asking.property_file import read_properties
from tmverify.cli import main
from tmverify.properties.allowed import Allowed
from tmverify.verify.stated import Pair, Stated

LIMIT = 5.0  # seconds for one text; it takes milliseconds
ASSUMED = [
    "age > 60 and sex == 'f'",
    "not (owner or age is None)",
    'sex in ("f", "m") and 25 < age <= 60',
    "age == 'over 60' or `age` != '25 to 60'",
    "same except sex where a.sex == 'f' and age > 25",
    "same except age, `sex` where a.age <= b.age",
    "True",
]
EXPECTED = [
    "decision == 'yes'",
    "decision in ('no', 'yes') and owner",
    "votes('yes') - votes('no') >= 3",
    "2 * votes('yes') - 2 * votes('no') + 1 != -4",
    "a.decision == b.decision",
    "a.decision != b.decision or a.votes('yes') - a.votes('no') < 7",
]
TOKENS = [
    *("and", "or", "not", "in", "is", "None", "True", "(", ")", "[", "]", "{", "}", ",", ".", ":", ";"),
    *("<", "<=", ">", ">=", "==", "!=", "=", ":=", "+", "-", "*", "**", "/", "//", "%", "@", "~", "^", "|"),
    *("age", "sex", "owner", "a", "b", "a.age", "b.sex", "decision", "a.decision", "votes", "votes('yes')"),
    *("votes(", "'yes'", "'", '"', "`", "`age`", "``", "\\", "lambda x: x", "[x for x in age]", "f'{age}'"),
    *(
        "b'x'",
        "1j",
        "...",
        "__import__('os')",
        "age.__class__",
        "age[0]",
        "*age",
        "yield",
        "await x",
        "x if y",
    ),
    *("same except", "where", "same", "except", "#", "\n", "\r", "\t", "\f", "\v", "\0", "\ufeff", "\u2028"),
    *(
        "1e999",
        "-1e999",
        "nan",
        "inf",
        "0x10",
        "0b1",
        "1_0",
        "1.",
        ".5",
        "1e-999",
        "00",
        "9" * 400,
        "9" * 5000,
    ),
    *(
        "-" * 60,
        "not " * 60,
        "(" * 60,
        "(" * 3000,
        "-" * 3000,
        "a.b.c",
        "é",
        "\u202e",
        "\U0001f600",
        "\uff41\uff47\uff45",
    ),
    *("\ud800", "\N{COMBINING ACUTE ACCENT}" * 20, "%s%n", "<script>", "'; DROP", "{0}", "$(x)", " " * 100),
]
_ALPHABET = "abgesxowr019.,()[]{}<>=!'\"`\\#@+-*/% \n\t\0é\u2028\U0001f600"


def characters(text: str, rng: random.Random) -> str:
    found = list(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found) + 1)
        found[at : at + rng.randint(0, 2)] = rng.choices(_ALPHABET, k=rng.randint(0, 2))
    return "".join(found)


def tokens(text: str, rng: random.Random) -> str:
    found = text.replace("(", " ( ").replace(")", " ) ").split(" ")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(found) + 1)
        found[at : at + rng.randint(0, 2)] = rng.choices(TOKENS, k=rng.randint(0, 2))
    return " ".join(found)


def nested(text: str, rng: random.Random) -> str:
    depth = rng.choice((3, 30, 49, 50, 51, 90, 150, 400, 2000))
    before, after = rng.choice((("(", ")"), ("not ", ""), ("not (", ")"), ("-", ""), ("owner and (", ")")))
    return before * depth + text + after * depth


def repeated(text: str, rng: random.Random) -> str:
    return rng.choice((" and ", " or ", ", ", " + ", " < ", "\n")).join([text] * rng.choice((2, 9, 60, 700)))


def numbers(text: str, rng: random.Random) -> str:
    huge = (
        "9" * rng.choice((3, 20, 300, 4300, 4400)),
        "1e308",
        "1e400",
        "-0.0",
        "25.0000000000001",
        "1e-320",
    )
    for number in ("60", "25", "3", "4", "7", "2"):
        if number in text and rng.random() < 0.6:
            return text.replace(number, rng.choice(huge), 1)
    return f"age > {rng.choice(huge)} or {text}"


MUTATIONS: list[Callable[[str, random.Random], str]] = [
    characters,
    characters,
    tokens,
    tokens,
    nested,
    repeated,
    numbers,
]


def hostile(texts: list[str], rng: random.Random) -> str:
    text = rng.choice(texts)
    for _ in range(rng.choice((1, 1, 2))):
        text = rng.choice(MUTATIONS)(text, rng)
    return text


def try_expressions(n: int, seed: int) -> int:
    """How many were taken."""
    rng, models, taken = random.Random(seed), [lender(), three_parties()], 0
    for _ in range(n):
        model = models[rng.random() < 0.1]
        assume: str | Pair | None = rng.choice((None, rng.choice(ASSUMED), hostile(ASSUMED, rng)))
        if rng.random() < 0.1:
            assume = Pair([hostile(["sex", "age"], rng)], hostile(["a.sex == 'f'"], rng))
        expect = hostile(EXPECTED, rng) if rng.random() < 0.7 else rng.choice(EXPECTED)
        round_ = rng.choice((None, "outer", "inner"))
        start = time.process_time()
        try:
            stated = Stated(model, assume, expect, round=round_, margin=rng.choice((0, 0, 1)))  # type: ignore[arg-type]
            query = stated.query(None, None, stated.rules(Allowed()))
            query.violates(query.region.origin[None, :])
            taken += 1
        except tv.InvalidInputError as error:
            check_message(str(error))
        assert time.process_time() - start < LIMIT, (assume, expect)
    return taken


def check_message(message: str) -> None:
    """It says something, in few and printable lines, and is no other library's."""
    assert 10 < len(message) < 2000, message
    lines = message.split("\n")
    assert len(lines) <= 3
    assert len(lines) == 1 or set(lines[-1]) <= set(" ^")
    assert all(line.isprintable() for line in lines), message


def test_expressions() -> None:
    assert try_expressions(600, seed=0) > 50  # some are expressions all the same


@pytest.mark.parametrize("sizes", [(140, 140, 200), (1, 900, 900), (30, 30, 30, 30), (2,) * 200])
def test_conditions_that_explode(sizes: tuple[int, ...]) -> None:
    """The ways in which "all of these, or all of those, …" fails are a product."""
    model = tv.Model.from_clauses(2000, [[1]], [[1]], bias=-1)
    names = iter(range(2000))
    parts = [" and ".join(f"x{next(names)}" for _ in range(size)) for size in sizes]
    text = " or ".join(f"({part})" for part in parts)
    start = time.process_time()
    with pytest.raises(tv.InvalidInputError, match=r"too long to be taken apart|at most 10000 characters"):
        tv.prove(model, text, "decision == 0")
    assert time.process_time() - start < LIMIT


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1, 11))
def test_many_expressions(seed: int) -> None:
    try_expressions(500, seed)


FILE = f"""
data = "rows.csv"
timeout = 0.2
severity = "error"
[[property]]
name = "one"
assume = "{ASSUMED[0]}"
expect = "{EXPECTED[0]}"
margin = 1
round = "outer"
why = "because"
[[property]]
name = "two"
protected = ["sex", "age"]
eta = "2/3"
epsilon = 1
[[property]]
name = "three"
monotone = "age"
toward = "yes"
"""
LINES = [
    *(
        "[[property]]",
        "[property]",
        "[[property.x]]",
        "[properties.x]",
        'name = "one"',
        "name = 1",
        "= 1",
        "a",
    ),
    *(
        "margin = 1e9",
        "margin = 99999999999999999999",
        "epsilon = -1",
        "eta = nan",
        'eta = "1e-99999"',
        "eta = {}",
    ),
    *(
        "timeout = -inf",
        "timeout = []",
        'data = "/dev/null"',
        'data = "."',
        'data = "\\u0000"',
        'data = "p.toml"',
    ),
    *("toward = {}", "toward = nan", "toward = true", "protected = [[]]", 'protected = ["", 1]', "round = 1"),
    *(
        'expect = """',
        "expect = '''owner'''",
        f'expect = "{"(" * 3000}"',
        f"x = {'[' * 3000}",
        f"y = {'9' * 5000}",
    ),
    *(
        'monotone = "sex"',
        "severity = 1979-05-27",
        'why = "\\uD800"',
        "\x00",
        "\ufeff",
        "a.b.c.d = 1",
        "property = 3",
    ),
]


def hostile_file(rng: random.Random) -> str:
    lines = FILE.splitlines()
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines[at] = characters(lines[at], rng)
        elif kind == 1:
            lines[at : at + rng.randint(0, 1)] = [rng.choice(LINES)]
        elif kind == 2:
            del lines[at]
        elif kind == 3:
            lines.insert(at, rng.choice(lines))
        else:
            name, mark, value = lines[at].partition(" = ")
            lines[at] = f"{name}{mark}{tokens(value, rng)}"
        lines = lines or ["x"]
    return "\n".join(lines)


def try_files(n: int, seed: int, folder: Path) -> int:
    """How many were taken."""
    rng, taken = random.Random(seed), 0
    path, model = folder / "p.toml", lender()
    (folder / "rows.csv").write_text(ROWS)
    for _ in range(n):
        text = hostile_file(rng)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        start = time.process_time()
        try:
            for each in read_properties(path):
                each.stated(model)
            taken += 1
        except tv.InvalidInputError as error:
            check_message(str(error))
        assert time.process_time() - start < LIMIT, text
    return taken


def test_files(tmp_path: Path) -> None:
    assert try_files(400, 0, tmp_path) > 20


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_files(seed: int, tmp_path: Path) -> None:
    try_files(1000, seed, tmp_path)


def test_the_command_ends_with_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole runs: 0, 1 or 2 if the file was taken, else 3 with one error and nothing on standard output."""
    rng, seen = random.Random(7), set()
    monkeypatch.chdir(tmp_path)
    lender().save("m.tm")
    Path("rows.csv").write_text(ROWS)
    for n in range(25):
        Path("p.toml").write_bytes(hostile_file(rng).encode("utf-8", "surrogatepass"))
        junit = ["--junit", "r.xml"] if n % 2 else ["--json"]
        code = main(["check", "m.tm", "p.toml", *junit])
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        assert code in (0, 1, 2, 3)
        if code == 3:
            assert out == ""
            assert err.count("error: ") == 1
        seen.add(code)
        if os.path.exists("r.xml"):
            os.remove("r.xml")
    assert {1, 3} <= seen
