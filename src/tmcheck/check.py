"""Checking a certificate: the claim, the models, and what is shown about each input."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from collections.abc import Sequence
from fractions import Fraction
from typing import IO, Any

from tmcheck import limits
from tmcheck.claim import Terms, is_everywhere, read_claim
from tmcheck.errors import Refused, Unreadable, readable, strictly
from tmcheck.lrat import OnFormula
from tmcheck.model import Loaded, Machine, read_model
from tmcheck.network import Network
from tmcheck.property import check_margin, read_property
from tmcheck.reader import Reader
from tmcheck.reason import Reason
from tmcheck.statement import Statement
from tmcheck.subject import OfMachines, OfNetwork, OfStatement, Subject
from tmcheck.surroundings import Pool
from tmcheck.words import because, changing, stated


def check(
    certificate: IO[bytes], models: Sequence[bytes | Loaded], on_formula: OnFormula | None = None
) -> dict[str, Any]:
    """The claim of a certificate, if it is proved for these models; raises Refused or Unreadable.

    Models are the bytes of their files, or what ``read_model`` makes of them. The result also says which
    input, or inputs, it is ``about``, what is ``changing``, and ``because`` of what a decision stays, in
    words. ``on_formula`` is called with the CNF and the LRAT lines of every clausal proof, for other
    checkers; it returns the lines as it goes through them.
    """
    with strictly():
        return _Check(certificate, on_formula).result(models)


class _Check:
    """One certificate on its way."""

    def __init__(self, certificate: IO[bytes], on_formula: OnFormula | None) -> None:
        self.certificate, self.on_formula = certificate, on_formula
        self.reader = Reader(certificate)
        self.claim = read_claim(self.reader.raw(limits.LONGEST_CLAIM))

    def result(self, models: Sequence[bytes | Loaded]) -> dict[str, Any]:
        """What is proved; raises if it is not."""
        claim, reader = self.claim, self.reader
        read = self._models(models)
        terms = Terms(claim, read, reader)
        scoped = [model.in_scope(claim["scope"]) for model in read]
        self.machines = [model for model in scoped if isinstance(model, Machine)]
        self.pool, self.statement = Pool(self.machines), None
        if claim["property"] is not None:
            self.statement = Statement(read_property(claim["property"]), self.machines[0], terms.space)
        for machine in self.machines:
            check_margin(machine, claim["margin"])
        n_bits = terms.n_bits if self.statement is None else self.statement.joint.space.n_bits
        inputs = Inputs()
        holds = violated = 0
        reader.next()
        while reader.line != "end":
            inputs.take(reader.rest)
            subject = self._subject(terms, scoped)
            if inputs.count > claim["inputs"]:
                raise Refused(f"the claim is about {claim['inputs']} input(s), the certificate about more")
            self._read_about(subject, n_bits)
            if claim["answer"] == "radius":
                _check_radius(claim, subject)
            elif subject.reason is not None:
                _check_reason(subject.reason, subject)
            else:
                violated += subject.witness_cost is not None
                holds += subject.witness_cost is None and subject.holds()
        readable(not self.certificate.read(1), "something follows the end")
        _count(claim, inputs.count, holds, violated)
        said = {
            "about": "every input" if is_everywhere(claim) else inputs.in_words(),
            "changing": _changing(claim, terms),
            "because": because(claim, terms.names),
            "stated": stated(claim, terms.names, terms.models[0]),
        }
        return {**claim, **said}

    def _models(self, models: Sequence[bytes | Loaded]) -> list[Machine | Network]:
        """The models, if they are those of the claim."""
        claim = self.claim
        wanted = claim["models"]
        if len(models) != len(wanted):
            raise Refused(f"the claim is about {len(wanted)} model(s); {len(models)} given")
        loaded = [model if isinstance(model, Loaded) else read_model(model) for model in models]
        for (_, digest), name in zip(loaded, wanted, strict=True):
            if digest != name:
                raise Refused(f"the claim is about model {name[:16]}, not {digest[:16]}")
        read = [model for model, _ in loaded]
        first = read[0]
        for model in read[1:]:
            if model.n_features != first.n_features or model.classes != first.classes:
                raise Refused("the models differ in features or classes")
        if len(read) > 1 and claim["scope"] == "team" and len(first.classes) > limits.MOST_COMPARED:
            raise Refused(
                f"models of more than {limits.MOST_COMPARED} classes are compared class by class: as scope"
            )
        if any(isinstance(model, Network) for model in read):
            if claim["question"] != "robustness":
                raise Refused("of networks, only robustness can be claimed")
            plain = claim["target"] is None and claim["apart"] is None and claim["margin"] == 0
            if claim["distance"] != "bits" or not plain:
                raise Refused(
                    "of networks, only flips of bits can be claimed, without target, margin and apart"
                )
        return read

    def _subject(self, terms: Terms, models: Sequence[Machine | Network]) -> Subject:
        """What the reader's current line says that the next ones are about."""
        reader, claim, first = self.reader, self.claim, models[0]
        if is_everywhere(claim):
            if reader.line != "everywhere":
                raise reader.wrong("is not 'everywhere', as it should be")
            reader.next()
            if self.statement is not None:
                return OfStatement(self.statement, None)
            return OfMachines(self.machines, self.pool, terms.everywhere(), None, None, everywhere=True)
        if reader.word != "input":
            raise reader.wrong("is no 'input', as it should be")
        centre = reader.bits(reader.rest, terms.n_bits)
        reader.next()
        region, reason = terms.around(centre), None
        if self.statement is not None:
            return OfStatement(self.statement, region)
        whole = region
        if claim["reason"] is not None:
            reason = Reason(claim["answer"], claim["reason"], region, by_flips=isinstance(first, Network))
            region = reason.part
        if isinstance(first, Network):
            return OfNetwork(first, region, first.decide(centre), reason)
        asked = claim["question"] == "robustness" and terms.target is None
        expected = first.decide(centre) if asked else None
        return OfMachines(
            self.machines,
            self.pool,
            region,
            expected,
            terms.target,
            margin=claim["margin"],
            reason=reason,
            whole=whole,
        )

    def _read_about(self, subject: Subject, n_bits: int) -> None:
        reader = self.reader
        while reader.word not in ("input", "everywhere", "end"):
            if reader.word == "witness":
                subject.take_witness(reader.bits(reader.rest, n_bits))
            elif not subject.take(reader, self.on_formula):
                raise reader.wrong(f"has {reader.word!r:.40}, which is not expected there")
            reader.next()


class Inputs:
    """The inputs that a certificate is about: how many, which, how many distinct ones."""

    def __init__(self) -> None:
        self.count, self.first, self.whole = 0, "", hashlib.sha256()
        self.distinct: set[bytes] = set()

    def take(self, text: str) -> None:
        """One more, in hexadecimal."""
        digest = hashlib.sha256(text.encode()).digest()
        self.first = self.first if self.count else text
        self.count += 1
        self.whole.update(digest)
        if len(self.distinct) < limits.MOST_DISTINCT:
            self.distinct.add(digest)

    def in_words(self) -> str:
        """What identifies them."""
        if self.count > 1:
            at_least = "" if len(self.distinct) < limits.MOST_DISTINCT else "at least "
            return f"the inputs of sha256 {self.whole.hexdigest()}, {at_least}{len(self.distinct)} distinct"
        if len(self.first) <= 32:
            return f"the input {self.first}"
        return f"the input of sha256 {hashlib.sha256(self.first.encode()).hexdigest()}"


def _changing(claim: dict[str, Any], terms: Terms) -> str:
    """What may change, in words, with numbers and names that the claim alone does not have."""
    first = terms.models[0]
    said = changing({**claim, "features": None}, terms.names)
    if terms.allowed is not None:
        said = f", only {terms.allowed.count(1)} of {terms.n_bits} features changing{said}"
    if isinstance(first, Network) and not all(first.changeable):
        said += f", the {first.changeable.count(False)} pixels that no grey level changes staying"
    return said


def _count(claim: dict[str, Any], count: int, holds: int, violated: int) -> None:
    inputs = claim["inputs"]
    if count != inputs:
        raise Refused(f"the claim is about {inputs} input(s), the certificate about {count}")
    if claim["answer"] not in ("holds", "violated"):
        return
    required = math.ceil(Fraction(claim["eta"]) * inputs)
    if claim["answer"] == "holds" and holds < required:
        raise Refused(f"shown to hold on {holds} of {inputs} input(s); {required} required")
    if claim["answer"] == "violated" and violated <= inputs - required:
        raise Refused(f"shown to be violated on {violated} of {inputs} input(s): not enough")


def _check_radius(claim: dict[str, Any], subject: Subject) -> None:
    radius = claim["radius"]
    if radius is None:
        if subject.witness_cost is not None or not subject.holds():
            raise Refused("not shown that nothing in the region changes the decision")
    elif subject.witness_cost != radius:
        raise Refused(f"no witness at a cost of {radius}")
    elif radius > 0 and not subject.holds_within(radius - 1):
        raise Refused(f"not shown that nothing at a cost below {radius} changes the decision")


def _check_reason(reason: Reason, subject: Subject) -> None:
    if not subject.holds():
        raise Refused(f"not shown that {reason.what_holds}")
    reason.check_witnesses()


def opened(path: str) -> IO[bytes]:
    """A regular file; others might never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Unreadable(f"{path} is not a regular file")
    return open(path, "rb")


def model_bytes(path: str) -> bytes:
    """The bytes of a model file, as far as a model goes."""
    with opened(path) as file:
        fits = os.fstat(file.fileno()).st_size <= limits.LARGEST_MODEL
        readable(fits, f"{path} is too large for a model")
        return file.read()
