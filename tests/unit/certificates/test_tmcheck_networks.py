"""The checker on networks: a shell is accepted only if it holds, by enumeration of every input."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from itertools import chain, combinations
from typing import IO, Any

import numpy as np
import pytest
from pysat.solvers import Solver

import tmcheck
import tmverify as tv
from support.certified import refusal
from support.certified_networks import Bits, Case, hexadecimal, random_network, random_network_case
from support.tiny import all_inputs
from tmcheck.errors import Refused, Unreadable
from tmcheck.network import Network
from tmcheck.shell import Counting, Shell
from tmverify.bnn.evaluate import activations, reference_classes
from tmverify.bnn.file import encode
from tmverify.certificates import claims
from tmverify.properties.questions import robustness_query

Rng = np.random.Generator


def network_of(case: Case) -> Network:
    network, digest = tmcheck.read_model(encode(case.model))
    assert isinstance(network, Network)
    assert digest == case.model.content_hash
    return network


def shell_of(case: Case, flips: int) -> Shell:
    return Shell(network_of(case), case.x.tolist(), case.mutable.tolist(), flips)


def accepts(case: Case, text: bytes) -> bool:
    return refusal(text, [encode(case.model)]) is None


def is_closed(shell: Shell) -> bool:
    with contextlib.suppress(Refused):
        shell.close()
        return True
    return False


def is_enumerated(shell: Shell) -> bool:
    with contextlib.suppress(Refused):
        shell.try_all()
        return True
    return False


def proof_of(clauses: list[tuple[int, ...]]) -> list[str] | None:
    """LRAT by CaDiCaL, or None if there is a solution."""
    import pysolvers
    from pysat.solvers import Cadical195

    solver = Cadical195()
    solver.configure({"lrat": 1, "binary": 0})
    solver.prfile = tempfile.TemporaryFile()  # noqa: SIM115
    proof: IO[bytes] = os.fdopen(os.dup(solver.prfile.fileno()), "rb")
    with proof:
        try:
            solver.prfp = pysolvers.cadical195_tracepr(solver.cadical, solver.prfile)
            for clause in clauses:
                solver.add_clause(list(clause))
            solved = solver.solve()
        finally:
            solver.delete()
        proof.seek(0)
        return None if solved else proof.read().decode().splitlines()


def test_a_network_is_decided_as_by_the_plain_evaluator() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        case = random_network_case(rng)
        network, everything = network_of(case), all_inputs(len(case.x))
        decided = [network.decide(x) for x in everything.tolist()]
        assert decided == reference_classes(case.model, everything).tolist()
        assert network.changeable == case.model.attainable.tolist()


def test_every_way_to_show_a_shell_agrees_with_enumeration() -> None:
    """'enumerate' shows all that is true, 'close' nothing else, and the formula has the right solutions."""
    rng = np.random.default_rng(1)
    counts = {"holds": 0, "closed": 0, "violated": 0, "formulas": 0, "certain": 0}
    for _ in range(300):
        case = random_network_case(rng)
        places = np.flatnonzero(case.mutable)
        for flips, bad in case.violating().items():
            shell = shell_of(case, flips)
            counts["holds" if not bad else "violated"] += 1
            assert is_enumerated(shell) == (not bad)
            assert not (is_closed(shell) and bad)
            counts["closed"] += is_closed(shell)
            if shell.certain:
                counts["certain"] += 1
                with pytest.raises(Refused, match="whatever flips"):
                    shell.formula()
                assert bad
                continue
            clauses = shell.formula()
            assert (clauses is None) == is_closed(shell)
            if clauses is not None:
                counts["formulas"] += 1
                wanted = {tuple(np.flatnonzero(z[places] != case.x[places]) + 1) for z in bad}
                assert solutions(clauses, len(places)) == wanted
    assert all(count >= 50 for count in counts.values()), counts


def solutions(clauses: list[tuple[int, ...]], n_flips: int) -> set[tuple[int, ...]]:
    """The flips of every solution."""
    found = set()
    with Solver("g4", bootstrap_with=clauses) as solver:
        while solver.solve():
            model = solver.get_model()[:n_flips]
            found.add(tuple(v for v in model if v > 0))
            assert len(found) <= 1 << n_flips
            solver.add_clause([-v for v in model])
    return found


def test_wide_blocks() -> None:
    """More neurons than bits in a word, and more patterns."""
    rng = np.random.default_rng(2)
    said = set()
    for _ in range(12):
        model = random_network(rng, [11, 80, 70, 3])
        case = Case(model, rng.integers(0, 2, size=11).astype(np.uint8), None, None)
        for flips, bad in list(case.violating().items())[:4]:
            assert is_enumerated(shell_of(case, flips)) == (not bad)
            said.add(not bad)
    assert said == {True, False}


def test_patterns_are_those_of_all_sets() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        case = Case(
            random_network(rng, [9, 6, 2, 2]), rng.integers(0, 2, size=9).astype(np.uint8),
            (rng.random(9) < 0.9).astype(np.uint8), None,
        )  # fmt: skip
        places = np.flatnonzero(case.mutable)
        before = activations(case.model, case.x[None, :])[0][0]
        for flips in range(1, len(places) + 1):
            shell = shell_of(case, flips)
            chosen = np.array(list(combinations(places, flips)))
            Z = np.repeat(case.x[None, :], len(chosen), axis=0)
            Z[np.arange(len(chosen))[:, None], chosen] ^= 1
            changed = activations(case.model, Z)[0] != before
            varies = (changed.min(axis=0) != changed.max(axis=0)).sum()
            patterns = shell._patterns()
            assert len(shell.changing) == varies
            assert len(patterns) == len(np.unique(changed, axis=0))


@pytest.mark.parametrize("n", range(1, 8))
def test_counters_count(n: int) -> None:
    """For all k and all values of the literals, with either sign: the result is forced, and right."""
    for k in range(1, n + 1):
        cnf = Counting(n)
        result = cnf.at_least(k, [v if v % 3 else -v for v in range(1, n + 1)])
        assert all(len(clause) > 1 for clause in cnf.clauses)
        with Solver("g4", bootstrap_with=cnf.clauses) as solver:
            for bits in all_inputs(n).tolist():
                assumed = [v if bit else -v for v, bit in enumerate(bits, 1)]
                true = sum(bit == (v % 3 > 0) for v, bit in enumerate(bits, 1)) >= k
                assert solver.solve([*assumed, result]) == true
                assert solver.solve([*assumed, -result]) != true


def test_a_repeated_literal_is_written_once() -> None:
    cnf = Counting(1)
    result = cnf.at_least(2, [1, 1])
    assert all(len(set(map(abs, clause))) == len(clause) for clause in cnf.clauses)
    with Solver("g4", bootstrap_with=cnf.clauses) as solver:
        assert not solver.solve([1, -result])
        assert not solver.solve([-1, result])


# ------------------------------------------------------------------------------------------- certificates


def shells(case: Case, most: int, rng: Rng) -> list[list[str]]:
    """For each shell up to so many flips, lines that show it in some way."""
    found = []
    for flips in range(1, most + 1):
        shell = shell_of(case, flips)
        way = str(rng.choice(["enumerate", "lrat", "close"] if is_closed(shell) else ["enumerate", "lrat"]))
        lines = [f"shell {flips} {way}"]
        if way == "lrat":
            clauses = shell.formula()
            proof = [] if clauses is None else proof_of(clauses)
            assert proof is not None
            lines += [*proof, "qed"]
        found.append(lines)
    return found


def radius_of(case: Case) -> int | None:
    return min((flips for flips, bad in case.violating().items() if bad), default=None)


def test_true_claims_are_accepted_and_false_ones_refused() -> None:
    """Radius, holds and violated, each as it is, and with another radius, epsilon, model or witness."""
    rng = np.random.default_rng(4)
    kinds = set()
    for _ in range(80):
        case = random_network_case(rng)
        other = random_network_case(rng).model
        radius, reach = radius_of(case), int(case.mutable.sum())
        safe = reach if radius is None else radius - 1
        parts = shells(case, safe, rng)
        lines = list(chain(*parts))
        kinds.add((radius is None, safe > 1, any("lrat" in line for line in lines)))

        def claims(*lines: str, _case: Case = case, **claim: Any) -> bool:
            return accepts(_case, _case.certificate(*lines, **claim))

        for epsilon in range(len(case.x) + 2):
            asked = chain(*parts[:epsilon])
            assert claims(*asked, epsilon=epsilon) == (epsilon <= safe or radius is None)
            assert epsilon >= safe or not claims(*lines, epsilon=epsilon)  # more than is asked
        if radius is None:
            assert claims(*lines, answer="radius", epsilon=None)
            assert not claims(*lines, answer="radius", epsilon=None, radius=reach + 1)
            assert not claims(*lines, answer="radius", epsilon=None, radius=reach)
            continue
        z = case.violating()[radius][0]
        witness = f"witness {hexadecimal(z)}"
        about: dict[str, Any] = {"answer": "radius", "epsilon": None}
        assert claims(witness, *lines, **about, radius=radius)
        assert claims(*lines, witness, **about, radius=radius)
        for wrong in {None, 0, radius - 1, radius + 1} - {radius}:
            assert not claims(witness, *lines, **about, radius=wrong)
        assert not claims(*lines, **about, radius=radius)
        assert not claims(*lines, **about)
        assert claims(witness, answer="violated", epsilon=radius)
        assert not claims(witness, answer="violated", epsilon=radius - 1)
        assert not claims(f"witness {hexadecimal(case.x)}", answer="violated", epsilon=radius)
        assert not claims(witness, epsilon=radius)
        assert not claims(*lines, f"shell {radius} enumerate", epsilon=radius)
        assert not claims(*lines, f"shell {radius} close", epsilon=radius)
        if other.content_hash != case.model.content_hash:
            assert refusal(case.certificate(*lines, epsilon=safe), [encode(other)])
    assert len(kinds) >= 5, kinds


def a_case(seed: int, least: int) -> tuple[Case, list[str]]:
    """A case of a radius of at least so many flips whose last shell before takes a proof, and its lines."""
    rng = np.random.default_rng(seed)
    while True:
        case = random_network_case(rng)
        radius = radius_of(case)
        if radius is not None and radius >= least and case.model.cuts is None:
            clauses = shell_of(case, radius - 1).formula()
            proof = None if clauses is None else proof_of(clauses)
            if proof is not None and len(proof) > 3:
                before = [f"shell {k} enumerate" for k in range(1, radius - 1)]
                return case, [*before, f"shell {radius - 1} lrat", *proof, "qed"]


def test_every_shell_is_needed_in_its_place_and_once() -> None:
    case, lines = a_case(5, 3)
    last = next(i for i, line in enumerate(lines) if "lrat" in line)
    flips = last + 1

    def refused(*lines: str, epsilon: int = flips) -> str | None:
        return refusal(case.certificate(*lines, epsilon=epsilon), [encode(case.model)])

    assert refused(*lines) is None
    for k in range(last):
        assert "shown to hold on 0" in str(refused(*lines[:k], *lines[k + 1 :]))
    assert "shown to hold on 0" in str(refused(*lines[:last]))
    assert refused(*lines[last:], *lines[:last]) is None  # in any order
    assert "shown before" in str(refused(*lines, "shell 1 enumerate"))
    for wrong in (0, len(case.x) + 1, flips + 1):
        assert "outside the region" in str(refused(*lines, f"shell {wrong} enumerate"))
    for line in (
        "shell", "shell 1", "shell 1 other", "shell x close", "shell -1 close", "shell 1 close now", "lrat",
        "shell 01 ", "refute 0 1 256", "constraints 0:1>=1", "constraints", "rewrite AAAA", "everywhere",
    ):  # fmt: skip
        with pytest.raises((Unreadable, Refused)):
            tmcheck.check(io.BytesIO(case.certificate(line, epsilon=flips)), [encode(case.model)])


def test_a_proof_without_one_of_its_parts_is_refused() -> None:
    """Without its end; with a hint that is not there; of another shell."""
    for seed in range(6, 12):
        case, lines = a_case(seed, 2)
        start = next(i for i, line in enumerate(lines) if "lrat" in line)
        added = [i for i in range(start + 1, len(lines) - 1) if lines[i].split()[1] != "d"]

        def refused(lines: list[str], epsilon: int = start + 1, case: Case = case) -> bool:
            return not accepts(case, case.certificate(*lines, epsilon=epsilon))

        assert not refused(lines)
        end = next(i for i in added if lines[i].split()[1] == "0")
        assert refused([*lines[:end], "qed"])
        assert refused(lines[:-1])
        number, zero, *hints = lines[end].split()
        assert refused([*lines[:end], " ".join([number, zero, *hints[1:-1], "999999", "0"]), "qed"])
        assert refused([*lines[:end], f"{number} 0 0", "qed"])
        assert refused([*lines[: start + 1], "qed"])
        later = [line.replace(f"shell {start + 1} lrat", f"shell {start + 2} lrat") for line in lines]
        shown = [f"shell {start + 1} enumerate"]
        assert refused([*later[:start], *shown, *later[start:]], start + 2)  # where it does not hold


def test_mutated_proofs_show_no_shell_that_does_not_hold() -> None:
    rng = np.random.default_rng(13)
    tried = 0
    while tried < 300:
        case = random_network_case(rng)
        radius = radius_of(case)
        shell = None if radius is None else shell_of(case, radius)
        if shell is None or radius is None or shell.certain:
            continue
        clauses = shell.formula()
        assert clauses is not None
        # A proof that there is none of those solutions that the first flip is part of, or not.
        proof = proof_of([*clauses[:-1], (int(rng.choice([-1, 1])),), clauses[-1]])
        if proof is None:
            continue
        before = [f"shell {k} enumerate" for k in range(1, radius)]
        for _ in range(5):
            lines = list(proof)
            for _ in range(int(rng.integers(0, 3))):
                place = int(rng.integers(0, len(lines)))
                words = lines[place].split()
                words[int(rng.integers(0, len(words)))] = str(rng.integers(-9, len(clauses) + 9))
                lines[place] = " ".join(words)
            text = case.certificate(*before, f"shell {radius} lrat", *lines, "qed", epsilon=radius)
            assert not accepts(case, text)
            tried += 1


def test_pixels_that_no_grey_level_changes_stay() -> None:
    """A witness that flips one is outside the region; what stays is part of the claim in words."""
    rng = np.random.default_rng(14)
    seen = 0
    while seen < 10:
        case = random_network_case(rng)
        here = reference_classes(case.model, case.x[None, :])[0]
        stuck = np.flatnonzero(~case.model.attainable).tolist()
        changed = [f for f in stuck if reference_classes(case.model, flipped(case, f)[None, :])[0] != here]
        if not changed or case.features is not None or case.direction is not None:
            continue
        witness = f"witness {hexadecimal(flipped(case, changed[0]))}"
        text = case.certificate(witness, answer="violated", epsilon=len(case.x))
        assert "outside the region" in str(refusal(text, [encode(case.model)]))
        reach = int(case.mutable.sum())
        assert not accepts(case, case.certificate(f"shell {reach + 1} enumerate", epsilon=reach + 1))
        claim = tmcheck.check(io.BytesIO(case.certificate(epsilon=0)), [encode(case.model)])
        assert f"the {len(stuck)} pixels that no grey level changes staying" in tmcheck.in_words(claim)
        seen += 1


def flipped(case: Case, feature: int) -> Bits:
    z = case.x.copy()
    z[feature] ^= 1
    return z


def test_several_inputs() -> None:
    """One of two inputs is enough for a half, and not for more."""
    case, lines = a_case(15, 2)
    data = [encode(case.model)]
    other, epsilon = [f"input {hexadecimal(case.x)}"], sum(line.startswith("shell") for line in lines)
    for eta, enough in (("1/2", True), ("0/1", True), ("2/3", False), ("1/1", False)):
        text = case.certificate(*lines, *other, inputs=2, eta=eta, epsilon=epsilon)
        assert (refusal(text, data) is None) == enough
    assert refusal(case.certificate(*lines, *other, *lines, inputs=2, epsilon=epsilon), data) is None


def test_only_robustness_of_the_whole_network_can_be_claimed() -> None:
    rng = np.random.default_rng(16)
    case = random_network_case(rng)
    data, name = encode(case.model), case.model.content_hash
    for claim, models in (
        ({"scope": 0}, [data]),
        ({"scope": "0"}, [data]),
        ({"question": "similarity", "models": [name, name]}, [data, data]),
        ({"question": "equivalence", "models": [name, name], "epsilon": None}, [data, data]),
        ({"models": [name, name]}, [data, data]),
    ):
        assert refusal(case.certificate(epsilon=0) if not claim else case.certificate(**claim), models)
    machine = tv.Model.from_clauses(len(case.x), [[1]], [[1]], classes=[0, 1])
    same = random_network(rng, [len(case.x), 2, 2])
    from tmverify.model.file import encode as encode_machine

    pair = {"question": "similarity", "models": [machine.content_hash, same.content_hash]}
    assert "only robustness" in str(
        refusal(case.certificate(**pair), [encode_machine(machine), encode(same)])
    )
    about = case.certificate("shell 1 close", models=[machine.content_hash], features=None, direction=None)
    with pytest.raises(Unreadable, match="not expected"):
        tmcheck.check(io.BytesIO(about), [encode_machine(machine)])


def test_an_input_of_an_epsilon_of_zero_or_without_mutable_features_needs_no_shell() -> None:
    rng = np.random.default_rng(17)
    case = random_network_case(rng)
    assert accepts(case, case.certificate(epsilon=0))
    still = Case(case.model, case.x, np.zeros_like(case.x), None)
    assert accepts(still, still.certificate(epsilon=len(case.x)))
    assert accepts(still, still.certificate(answer="radius", epsilon=None))
    assert not accepts(still, still.certificate("shell 1 close", epsilon=1))


def test_claims_of_a_query_are_about_the_network() -> None:
    """The claim as asked, no constraints, and ``Certificate.check`` takes the network."""
    case, lines = a_case(18, 2)
    epsilon = sum(line.startswith("shell") for line in lines)
    query = robustness_query(
        case.model, case.x, epsilon, allowed=tv.Allowed(features=case.features, direction=case.direction)
    )
    holds = claims.holds(query, lambda: ["\n".join([*lines, ""]).encode()])
    assert b"constraints" not in b"".join(holds.blocks())
    assert holds.check(case.model) == tmcheck.in_words(
        tmcheck.check(io.BytesIO(case.certificate(*lines, epsilon=epsilon)), [encode(case.model)])
    )
    z = case.violating()[epsilon + 1][0]
    radius = claims.radius(query, epsilon + 1, z, lambda: ["\n".join([*lines, ""]).encode()])
    assert f"decides otherwise {epsilon + 1} flip(s) from" in radius.check(case.model)
    with pytest.raises(tv.CertificateError, match="refused"):
        claims.violated(query, z).check(case.model)
    with pytest.raises(tv.CertificateError, match="about model"):
        holds.check(random_network(np.random.default_rng(0), [3, 2, 2]))
