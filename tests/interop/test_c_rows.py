"""Raw rows in C: the bits of ``encode`` and the model's classes, exactly; errors where ``encode`` raises."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from raw_rows import HOSTILE, model_of, random_rows, random_space
from tmverify.interop import c_source
from tmverify.interop.c_source import to_c

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
TYPES: dict[str, Any] = {"double": ctypes.c_double, "int32_t": ctypes.c_int32, "uint8_t": ctypes.c_uint8}
MEMBER = re.compile(r"^    (\w+) (\w+)(?:\[(\d+)\])?;$", re.M)


@pytest.fixture(autouse=True)
def _compilers() -> None:
    for program in ("gcc", "g++"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} (Debian: apt install {program})")


def quiet(*command: str | Path) -> str:
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def library(folder: Path, models: list[tv.Model], *options: str) -> ctypes.CDLL:
    """All models in one library, as m0, m1, …; each file is compiled as C, and all of them as C++ too."""
    for i, model in enumerate(models):
        to_c(model, folder / f"m{i}.c", name=f"m{i}")
    source, compiled, shared = folder / "all.c", folder / "all.o", folder / "all.so"
    source.write_text("".join(f'#include "m{i}.c"\n' for i in range(len(models))))
    quiet("gcc", "-std=c99", *WARNINGS, *options, "-fPIC", "-c", "-o", compiled, source)
    # Linked with -ffast-math, the library would have this process take the smallest numbers for zero.
    quiet("gcc", *(o for o in options if o != "-ffast-math"), "-shared", "-o", shared, compiled)
    quiet("g++", "-x", "c++", "-std=c++11", *WARNINGS, "-fsyntax-only", source)
    return ctypes.CDLL(str(shared))


def members(text: str, name: str) -> list[tuple[str, str, str]]:
    """Type, name and length of each member of the struct, as the file declares them."""
    (body,) = re.findall(rf"^typedef struct {{\n(.*?)^}} {name}_row;$", text, re.M | re.S)
    return MEMBER.findall(re.sub(r"/\*.*?\*/", "", body, flags=re.S))


def struct_of(file: Path) -> type[ctypes.Structure]:
    found = members(file.read_text(), file.stem)
    layout = [(name, TYPES[kind] * int(size) if size else TYPES[kind]) for kind, name, size in found]
    return type("Row", (ctypes.Structure,), {"_fields_": layout})


def assert_equal(lib: ctypes.CDLL, file: Path, model: tv.Model, rows: list[Any]) -> None:
    make, name = struct_of(file), file.stem
    encode, predict = getattr(lib, f"{name}_encode"), getattr(lib, f"{name}_predict_row")
    for row in rows:
        filled = make(*[tuple(value) if isinstance(value, list) else value for value in row.values])
        words = np.full(-(-model.n_features // 64), 0xA5A5_A5A5_A5A5_A5A5, np.uint64)
        said = encode(ctypes.byref(filled), ctypes.c_void_p(words.ctypes.data))
        decision = predict(ctypes.byref(filled))
        if row.wrong:
            assert (said, decision) == (-row.wrong, -row.wrong)
            continue
        assert said == 0
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        np.testing.assert_array_equal(bits[: model.n_features], row.bits)
        assert not bits[model.n_features :].any()
        assert model.classes[decision] == model.predict(row.bits[None])[0]


@pytest.mark.parametrize(
    "options", [("-O2",), ("-O3", "-ffast-math"), ("-O0", "-fsanitize=undefined", "-fno-sanitize-recover")]
)
def test_random_spaces(tmp_path: Path, options: tuple[str, ...]) -> None:
    rng = np.random.default_rng(len(options))
    models = [model_of(rng, random_space(rng, images=True)) for _ in range(80)]
    lib = library(tmp_path, models, *options)
    wrong = 0
    for i, model in enumerate(models):
        rows = random_rows(rng, model.space, 150, flags_checked=True)
        assert_equal(lib, tmp_path / f"m{i}.c", model, rows)
        wrong += sum(row.wrong > 0 for row in rows)
    assert 0.05 < wrong / (150 * len(models)) < 0.6  # both kinds of rows are met


def test_a_wide_space(tmp_path: Path) -> None:
    """Bits of one column in several words."""
    rng = np.random.default_rng(3)
    cuts = sorted(rng.normal(size=150).tolist())
    space = tv.Space(
        [
            tv.Category("city", [f"city {i}" for i in range(90)], other=True, missing=True),
            tv.Number("size", cuts, missing=True),
            tv.Text([f"word{i}" for i in range(70)]),
            tv.Image((9, 9), rng.normal(size=81).tolist()),
        ]
    )
    model = model_of(rng, space)
    lib = library(tmp_path, [model], "-O2")
    assert_equal(lib, tmp_path / "m0.c", model, random_rows(rng, space, 2000, flags_checked=True))


def test_dark_pictures_are_levels(tmp_path: Path) -> None:
    """Python refuses them, if alone, because they could be bits."""
    model = tv.Model.from_clauses(4, [[1]], [[1]], space=tv.Space([tv.Image((2, 2), 75.0)]))
    lib = library(tmp_path, [model])
    levels = (ctypes.c_double * 4)(0, 1, 1, 0)
    words = np.ones(1, np.uint64)
    assert lib.m0_encode(levels, ctypes.c_void_p(words.ctypes.data)) == 0
    assert words[0] == 0


LOANS = tv.Space(
    [
        tv.Number("Age (years)", [25, 40.1], missing=True),
        tv.Category("class", ["A11", "<0", "-1", "1"], other=True, missing=True),
        tv.Number("always", []),
        tv.Flag("owner", ("no", "yes")),
        tv.Text(["good", "bad"]),
        tv.Image((2, 2), 75.0),
    ]
)
PROGRAM = """
#define LOANS_DECLARATIONS
#include "loans.c"
#include <math.h>
#include <stdio.h>

int main(void)
{
    loans_row row = {.age_years = 40.2, .c_class = LOANS_C_CLASS_LESS_0, .owner = 1, .text = {0, 1}};
    uint64_t x[LOANS_WORDS];
    row.image[3] = 76;
    printf("%d", loans_encode(&row, x));
    printf(" %d %d", (int)x[0], loans_predict_row(&row));
    row.c_class = LOANS_C_CLASS_UNSEEN;
    row.age_years = NAN;
    printf(" %d", loans_encode(&row, x));
    row.c_class = LOANS_C_CLASS_MISSING + 1;
    printf(" %d %d", (int)x[0], loans_predict_row(&row));
    row.c_class = LOANS_C_CLASS_MISSING;
    row.text[1] = 2;
    printf(" %d %d", loans_predict_row(&row), LOANS_COLUMNS);
    return 0;
}
"""


def loans(folder: Path) -> tv.Model:
    model = tv.Model.from_clauses(LOANS.n_bits, [[1, 6], [-9]], [[2, -1]], bias=-1, space=LOANS)
    to_c(model, folder / "loans.c", name="loans")
    return model


def test_a_program_that_uses_names(tmp_path: Path) -> None:
    model = loans(tmp_path)
    (tmp_path / "main.c").write_text(PROGRAM)
    quiet("gcc", "-std=c99", *WARNINGS, "-o", tmp_path / "main", tmp_path / "main.c", tmp_path / "loans.c")
    picture = np.array([[0.0, 0.0], [0.0, 76.0]])
    first = {"Age (years)": 40.2, "class": "<0", "owner": "yes", "text": "Bad!", "image": picture}
    raws = [first, {**first, "class": "new", "Age (years)": None}]
    one, two = (int(bits @ (1 << np.arange(LOANS.n_bits))) for bits in LOANS.encode(raws).astype(np.int64))
    decision = model.predict([first])[0]
    assert quiet(tmp_path / "main") == f"0 {one} {decision} 0 {two} -2 -4 5"


def test_the_program_of_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "interop.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```c\n(.*?)```", page, re.S)
    city = tv.Category("city", ["Bergen", "Oslo"])
    space = tv.Space([tv.Number("Age (years)", [25, 40], missing=True), city, tv.Flag("owner")])
    model = tv.Model.from_clauses(6, [[1, -2, 5, 6]], np.eye(2, 1, -1, dtype=np.int64), bias=0, space=space)
    to_c(model, tmp_path / "model.c")
    (tmp_path / "main.c").write_text(program)
    quiet("gcc", "-std=c99", *WARNINGS, "-o", tmp_path / "main", tmp_path / "main.c", tmp_path / "model.c")
    assert quiet(tmp_path / "main") == "1\n"
    assert model.predict([{"Age (years)": 31.5, "city": "Oslo", "owner": 1}])[0] == 1


def test_names_of_members_and_codes(tmp_path: Path) -> None:
    loans(tmp_path)
    text = (tmp_path / "loans.c").read_text()
    assert [name for _, name, _ in members(text, "loans")] == [
        "age_years",
        "c_class",
        "owner",
        "text",
        "image",
    ]
    codes = re.findall(r"^    LOANS_(\w+) = (\d+),? /\* (.*) \*/$", text, re.M)
    assert codes == [
        ("C_CLASS_A11", "0", '"A11"'),
        ("C_CLASS_LESS_0", "1", '"<0"'),
        ("C_CLASS_MINUS_1", "2", '"-1"'),
        ("C_CLASS_1", "3", '"1"'),
        ("C_CLASS_UNSEEN", "4", "any other value"),
        ("C_CLASS_MISSING", "5", "a missing value"),
    ]


def test_without_rows_there_is_no_double(tmp_path: Path) -> None:
    loans(tmp_path)
    seen = quiet("gcc", "-std=c99", *WARNINGS, "-DLOANS_NO_ROWS", "-E", "-P", tmp_path / "loans.c")
    assert "loans_predict(" in seen
    assert "double" not in seen
    assert "_row" not in seen
    quiet("gcc", "-std=c99", *WARNINGS, "-DLOANS_NO_ROWS", "-c", "-o", tmp_path / "m.o", tmp_path / "loans.c")


def test_short_doubles_are_refused(tmp_path: Path) -> None:
    """As on small processors: there, cuts would move."""
    loans(tmp_path)
    (tmp_path / "short.c").write_text(
        "#include <float.h>\n#undef DBL_MANT_DIG\n#define DBL_MANT_DIG 24\n" + '#include "loans.c"\n'
    )
    command = ["gcc", "-std=c99", "-fsyntax-only", str(tmp_path / "short.c")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "Rows need doubles of 64 bits" in run.stderr


@pytest.mark.parametrize(
    "space",
    [
        tv.Space.flags(3),
        tv.Space.flags(["a", "b", "c"]),
        tv.Space([tv.Text(["a", "b", "c"])]),
        tv.Space([tv.Image((1, 3))]),
        tv.Space([tv.Flag("a"), tv.Number("n", []), tv.Image((1, 2))]),
    ],
)
def test_there_are_no_rows_where_raw_values_are_bits(tmp_path: Path, space: tv.Space) -> None:
    to_c(tv.Model.from_clauses(3, [[1]], [[1]], space=space), tmp_path / "m.c")
    assert "_row" not in (tmp_path / "m.c").read_text()


def test_hostile_names_stay_in_their_comments(tmp_path: Path) -> None:
    parts = [
        tv.Number(HOSTILE, [0.0]),
        tv.Category(f"{HOSTILE}2", [f"{HOSTILE}{i}" for i in range(3)] + ["*/", "/*", '"*/', "x" * 100_000]),
        tv.Flag("y" * 100_000, (HOSTILE, f"{HOSTILE}2" * 1000)),
    ]
    model = tv.Model.from_clauses(9, [[1], [-9]], [[1, -1]], space=tv.Space(parts))
    lib = library(tmp_path, [model])
    rng = np.random.default_rng(1)
    assert_equal(lib, tmp_path / "m0.c", model, random_rows(rng, model.space, 200, flags_checked=True))
    text = (tmp_path / "m0.c").read_bytes()
    assert set(text) <= {10, *range(32, 127)}
    assert b"int y" not in re.sub(rb"/\*.*?\*/", b"", text, flags=re.S)
    assert max(map(len, text.split(b"\n"))) < 4096


def test_many_values_that_look_alike(tmp_path: Path) -> None:
    values = [char * n for char in "?!#年" for n in range(1, 1000)] + [f"a{char}" for char in "?!#*"]
    space = tv.Space([tv.Category("年", values), tv.Number("!", [math.pi])])
    model = tv.Model.from_clauses(space.n_bits, [[1]], [[1]], space=space)
    library(tmp_path, [model])
    text = (tmp_path / "m0.c").read_text()
    codes = re.findall(r"^    (M0_\w+) = (\d+)", text, re.M)
    assert [int(code) for _, code in codes] == list(range(len(values)))
    assert len({name for name, _ in codes}) == len(values)
    assert [name for name, _ in codes[-4:]] == [f"M0_COLUMN_1_A{end}" for end in ("", "_2", "_3", "_4")]


def test_too_many_cuts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_source, "MAX_ENTRIES", 3)
    space = tv.Space([tv.Number("n", [1, 2]), tv.Category("c", ["a", "b"])])
    with pytest.raises(tv.InvalidInputError, match="at most 3 cuts, thresholds and categories"):
        to_c(tv.Model.from_clauses(4, [[1]], [[1]], space=space), tmp_path / "m.c")
    assert not list(tmp_path.iterdir())
