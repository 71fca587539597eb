"""The command ``tmcheck``: which certificates prove their claims?"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence

from tmcheck.check import check, model_bytes, opened
from tmcheck.claim import FORMAT, VERSION
from tmcheck.errors import Refused, Unreadable
from tmcheck.model import Loaded, read_model
from tmcheck.words import in_words

HELP = f"""\
tmcheck: does a certificate prove its claim about a model? It needs nothing but Python.

    tmcheck CERTIFICATE... MODEL [MODEL_B]       check these certificates
    tmcheck --dir FOLDER MODEL [MODEL_B]         check every *.tmcert in a folder

A certificate (.tmcert) is what tmverify writes with --certificate; MODEL is the model file that it is about,
and MODEL_B the second one if two are compared, in the same order. Which file is which is seen from the files.

One line is printed for each certificate, and a count if there are several:

    accepted     the claim is proved, and printed: read it, it may not be the one you wanted
    refused      well formed, but it does not prove its claim about these models; the reason is printed
    unreadable   no certificate of version {VERSION}, or a model that is none

The exit code is 0 if all are accepted, 1 if some are refused, 2 if some are unreadable.

Every step of a proof is followed in whole numbers, from the model file to the claim: it does not matter who
found the answer, or how. The folder of this program can be copied to any machine with Python 3.11, and run
there, without installing anything and without reading anything else:

    python -I -S tmcheck proof.tmcert model.tm
"""

_NAMES = ("accepted", "refused", "unreadable")
_HEAD = b'{"format":"' + FORMAT.encode() + b'"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Check certificates given by path; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if "-h" in given or "--help" in given:
            print(HELP, end="")
            return 0
        return _run(given)
    except _WrongUseError as wrong:
        print(f"tmcheck: {_plain(str(wrong))}\n\n{HELP}", end="", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped")
        return 130


class _WrongUseError(Exception):
    """The arguments make no sense."""


def _run(given: list[str]) -> int:
    folder = None
    if "--dir" in given:
        place = given.index("--dir")
        if place + 1 == len(given):
            raise _WrongUseError("--dir needs a folder")
        folder = given[place + 1]
        given = given[:place] + given[place + 2 :]
    unknown = [argument for argument in given if argument.startswith("--")]
    if unknown:
        raise _WrongUseError(f"there is no option {unknown[0]}")
    models = [path for path in given if _is_model(path)]
    certificates = [path for path in given if path not in models]
    if folder is None and len(given) < 2:
        raise _WrongUseError("a certificate and a model are needed")
    if not models and len(given) >= 2 - (folder is not None):
        models = [certificates.pop()]  # the place of a model: what is wrong with it is said
    if len(models) > 2:
        raise _WrongUseError("there are more than two models")
    if folder is not None:
        try:
            found = sorted(name for name in os.listdir(folder) if name.endswith(".tmcert"))
        except (OSError, ValueError) as error:
            print(f"unreadable: {_plain(str(error))}")
            return 2
        certificates += [os.path.join(folder, name) for name in found]
    if not models or not certificates:
        raise _WrongUseError("a certificate and a model are needed")
    return _check_all(certificates, models, alone=folder is None and len(certificates) == 1)


def _check_all(certificates: list[str], models: list[str], *, alone: bool) -> int:
    """Check each of them, say what came out, and return the exit code."""
    try:
        loaded = [read_model(model_bytes(path)) for path in models]
    except (Unreadable, OSError, ValueError) as reason:
        print(f"unreadable: {_plain(str(reason))}")
        return 2
    except MemoryError:
        print("unreadable: more than fits in memory")
        return 2
    counts: Counter[int] = Counter()
    for path in certificates:
        code, said = _check_one(path, loaded)
        counts[code] += 1
        before = "" if alone else f"{path}: "
        print(_plain(f"{before}{_NAMES[code]}: {said}"), flush=True)
    if not alone:
        numbers = ", ".join(f"{counts[code]} {name}" for code, name in enumerate(_NAMES))
        print(f"{len(certificates)} certificate(s): {numbers}")
    return max(counts)


def _check_one(path: str, models: list[Loaded]) -> tuple[int, str]:
    try:
        with opened(path) as file:
            return 0, in_words(check(file, models))
    except Refused as reason:
        return 1, str(reason)
    except (Unreadable, OSError, ValueError) as reason:
        return 2, str(reason)
    except MemoryError:
        return 2, "more than fits in memory"


def _is_model(path: str) -> bool:
    """Whether a file looks like a model: an 8-byte length, then JSON. Certificates begin with theirs."""
    try:
        with opened(path) as file:
            head = file.read(len(_HEAD))
    except (Unreadable, OSError, ValueError):
        return False
    return not head.startswith(_HEAD) and head[8:9] == b"{"


def _plain(text: str) -> str:
    """A text without line breaks and terminal codes, since paths may have any."""
    escaped = text.encode("ascii", "backslashreplace").decode()
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in escaped)
