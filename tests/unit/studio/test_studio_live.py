"""What is told of an input equals what the public functions say; its certificates are accepted."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.studios import Client, Event, as_bits, as_text, last, opened, served
from support.tiny import perturbed, random_model
from support.tiny_columns import random_row, random_space, with_space
from tmverify.engines.follow import Follower, followed_by
from tmverify.studio import live
from tmverify.studio.asked import Point, Proof
from tmverify.studio.evidence import evidence_of
from tmverify.studio.opened import Opened, together

Told = list[dict[str, Any]]


def pair(seed: int) -> tuple[np.random.Generator, tv.Model, tv.Model]:
    """Two random models of the same columns."""
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    outputs = int(rng.integers(1, 4))
    a = random_model(rng, space.n_bits, outputs)
    b = perturbed(rng, a) if rng.random() < 0.5 else random_model(rng, space.n_bits, outputs)
    return rng, with_space(a, space), with_space(b, space)


def random_point(rng: np.random.Generator, space: tv.Space) -> tuple[Point, list[str]]:
    fixed = tuple(int(c) for c in range(len(space.columns)) if rng.random() < 0.3)
    within = None if rng.random() < 0.5 else int(rng.integers(0, len(space.columns) + 1))
    return Point(random_row(rng, space), fixed, within), [space.columns[c].name for c in fixed]


def check_change(model: tv.Model, x: str, told: dict[str, Any], radius: tv.Radius) -> None:
    """The last event about a distance, and its change, which the evaluator replays."""
    bounds = [None if bound == math.inf else bound for bound in (radius.lower, radius.upper)]
    assert [told["lower"], told["upper"]] == bounds
    assert told["status"] == ("never" if radius.lower == math.inf else "exact")
    assert told["trusts"] == list(radius.trusts)
    change = told["change"]
    if radius.witness is None:
        assert change is None
        return
    assert change["cost"] == radius.upper
    before, after = as_bits(x), as_bits(change["bits"])
    said = model.space.changes(before, after)
    assert [own["text"] for own in change["changes"]] == [str(each) for each in said]
    assert [model.space.columns[own["column"]].name for own in change["changes"]] == [
        each.column for each in said
    ]
    assert len(change["changes"]) == radius.upper


@pytest.mark.parametrize("seed", range(40))
def test_radius_and_disagreement_equal_the_functions(seed: int) -> None:
    rng, a, b = pair(seed)
    point, names = random_point(rng, a.space)
    x = as_text(point.bits)
    about: Told = []
    query = live.radius_query(point, a)
    distance = live.Distance(query, a.space, 0, about.append)
    with followed_by(Follower(distance.told)):
        final = distance.answer(60)
    check_change(a, x, final, tv.robustness_radius(a, point.bits, freeze=names))
    if final["change"] is not None:
        (decision,) = a.predict(as_bits(final["change"]["bits"])[None, :])
        assert final["change"]["decision"] == str(decision) != str(a.predict(point.bits[None, :])[0])
    check_bounds_on_the_way(about, final)

    about.clear()
    query = live.disagreement_query(a.space, point, a, b)
    distance = live.Distance(query, a.space, None, about.append)
    with followed_by(Follower(distance.told)):
        final = distance.answer(60)
    check_change(a, x, final, tv.similarity_radius(a, b, point.bits, freeze=names))
    if final["change"] is not None:
        z = as_bits(final["change"]["bits"])[None, :]
        assert final["change"]["decisions"] == [str(model.predict(z)[0]) for model in (a, b)]
    check_bounds_on_the_way(about, final)


def check_bounds_on_the_way(about: Told, final: dict[str, Any]) -> None:
    """What was told before contains the answer, and never widens; no witness, no upper bound."""
    answer = math.inf if final["lower"] is None else final["lower"]
    best = math.inf
    for event in about:
        lower, upper = (math.inf if event[key] is None else event[key] for key in ("lower", "upper"))
        assert not event["done"]
        assert lower <= answer <= upper <= best
        best = upper
        assert (event["change"] is None) == (upper == math.inf)


@pytest.mark.parametrize("seed", range(40))
def test_reasons_equal_the_function(seed: int) -> None:
    rng, a, _ = pair(seed)
    point, names = random_point(rng, a.space)
    event = live.reason_event(live.reason_at(point, a, certificate=False, tell=lambda told: None))
    found = tv.explain(a, point.bits, within=point.within, freeze=names, widen=True)
    assert event["columns"] == list(found.places)
    assert event["rule"] == found.rule
    assert [fact["text"] for fact in event["facts"]] == [str(fact) for fact in found.facts]
    assert (event["status"], event["minimal"], event["undecided"]) == ("holds", found.minimal, [])
    assert event["within"] == point.within


def test_a_claim_that_does_not_replay_is_not_shown() -> None:
    model = tv.Model.from_clauses(3, [[1], [2]], [[1, 1]], bias=-1)
    point = Point(np.array([1, 1, 0], np.uint8), (), None)
    about: Told = []
    distance = live.Distance(live.radius_query(point, model), model.space, 0, about.append)
    distance.told(0, 1, np.array([0, 1, 0], np.uint8))  # is decided alike
    distance.told(0, 1, np.array([0, 0, 0], np.uint8))  # costs more
    assert about == []
    distance.told(0, 2, np.array([0, 0, 0], np.uint8))
    assert about[0]["change"]["bits"] == "000"


SPACE = tv.Space([tv.Flag("owner"), tv.Number("age", (25, 40)), tv.Category("city", ["Oslo", "Bergen"])])
A = tv.Model.from_clauses(
    5, [[1, 2], [3], [-1, 4], [-3, 5]], [[2, 1, -2, -1]], space=SPACE, classes=("no", "yes")
)
B = tv.Model.from_clauses(5, [[1, 2], [3], [-1]], [[2, 1, -2]], space=SPACE, classes=("no", "yes"))


@pytest.fixture(scope="module")
def compared() -> Opened:
    return opened(A, B)


@pytest.fixture(scope="module")
def client(compared: Opened) -> Iterator[Client]:
    with served(compared) as found:
        yield found


def test_events_come_in_order(client: Client) -> None:
    events = client.watch("11001", within="auto")
    done = [name for name, data in events if data.get("done", True)]
    assert done == ["look", "radius", "radius", "reason", "reason", "disagree", "end"]
    x = as_bits("11001")
    for m, model in enumerate((A, B)):
        radius = tv.robustness_radius(model, x)
        told = last(events, "radius", model=m)
        assert told["lower"] == told["upper"] == radius.radius
        reason, within = last(events, "reason", model=m), int(radius.upper) + 1
        assert reason["within"] == within
        assert reason["rule"] == tv.explain(model, x, within=within, widen=True).rule
    assert last(events, "disagree")["lower"] == tv.similarity_radius(A, B, x).radius


def test_only_what_is_wanted_is_told(client: Client) -> None:
    assert [name for name, _ in client.watch("11001", want=["reason"])] == ["reason", "reason", "end"]
    assert [name for name, _ in client.watch("11001", want=[])] == ["end"]


def test_one_further_than_the_radius_may_be_everywhere() -> None:
    model = tv.Model.from_clauses(2, [[1], [2]], [[1, 1]], bias=-1)
    with served(opened(model)) as client:
        for fixed, radius, within in (([], 2, None), ([0], None, None)):
            events = client.watch("11", want=["radius", "reason"], within="auto", fixed=fixed)
            assert last(events, "radius")["lower"] == radius
            assert (last(events, "reason")["status"], last(events, "reason")["within"]) == ("holds", within)
        assert last(client.watch("10", want=["radius", "reason"], within="auto"), "reason")["within"] is None
    with served(opened(tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 1, 1]], bias=-3))) as client:
        assert last(client.watch("111", want=["radius", "reason"], within="auto"), "reason")["within"] == 2


def test_columns_that_are_fixed_stay(client: Client) -> None:
    events = client.watch("11001", fixed=[0, 1])
    change = last(events, "radius", model=0)["change"]
    assert change is None or {own["column"] for own in change["changes"]} <= {2}
    nothing = last(client.watch("11001", fixed=[0, 1, 2]), "radius", model=0)
    assert (nothing["status"], nothing["lower"], nothing["change"]) == ("never", None, None)


def test_impossible_bits_are_looked_at_and_not_asked_about(client: Client) -> None:
    events = client.watch("10111")
    look = last(events, "look")
    assert (look["possible"], look["impossible_columns"]) == (False, [1, 2])
    why = "No row can have these bits: column age is impossible (over 40, not over 25)."
    for kind in ("radius", "reason", "disagree"):
        told = last(events, kind)
        assert told["status"] == "unknown"
        assert told["why"].startswith(why)
    assert client.refused("certificate", {"bits": "10111", "what": "radius"})[0] == 422


@pytest.mark.parametrize("what", ["radius", "reason", "disagree"])
@pytest.mark.parametrize("fixed", [[], [0]])
def test_certificates_are_accepted_by_the_checker(
    client: Client, tmp_path: Path, what: str, fixed: list[int]
) -> None:
    A.save(tmp_path / "a.tm")
    B.save(tmp_path / "b.tm")
    model = 0 if what == "disagree" else 1
    asked = {"bits": "11001", "what": what, "model": model, "fixed": fixed, "within": 2}
    answer, content = client.post("certificate", asked)
    assert answer.status == 200, content
    command = unquote(answer.headers["X-Tmverify-Check"]).split()
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{command[1]}"'
    assert command == ["tmcheck", command[1], *(["a.tm", "b.tm"] if what == "disagree" else ["b.tm"])]
    with open(tmp_path / command[1], "w+b") as file:
        file.write(content)
        file.seek(0)
        claim = tmcheck.check(file, [(tmp_path / name).read_bytes() for name in command[2:]])
    assert claim["answer"] in ("radius", "minimal", "smallest", "widest", "suffices")


def test_the_command_that_checks_can_be_typed() -> None:
    """Two files of one name are told apart, none is taken for an option, and no name breaks a line."""
    model = tv.Model.from_clauses(2, [[1], [2]], [[1, 1]], bias=-1)

    def said(*names: str) -> tuple[list[str], list[str]]:
        both = Opened(together([(name, model) for name in names]))
        point = Point(as_bits("11"), (), None)
        evidence = evidence_of(both, Proof(point, "radius", len(names) - 1))
        return shlex.split(evidence.command)[2:], [each.title for each in both.models]

    assert said("a.tm", "b.tm") == (["b.tm"], ["a", "b"])
    assert said("m.tm", "m.tm") == (["SECOND/m.tm"], ["m (first)", "m (second)"])
    assert said("-x.tm") == (["./-x.tm"], ["-x"])


def test_no_certificate_without_the_columns_in_the_file() -> None:
    plain = tv.Model.from_clauses(5, list(A.clauses), A.weights, classes=A.classes)
    with served(opened(A, plain)) as client:
        events = client.watch("11001")
        (a, b) = (last(events, "radius", model=m) for m in (0, 1))
        assert (a["lower"], a["change"]) == (b["lower"], b["change"])  # it is asked as if it knew
        status, why = client.refused("certificate", {"bits": "11001", "what": "radius", "model": 1})
    assert (status, "b.tm does not say which of its bits are one column" in why) == (422, True)


def test_an_error_of_ours_is_no_traceback_on_the_page(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: Any, **more: Any) -> Any:
        raise ZeroDivisionError("in /home/me/secret.py")

    monkeypatch.setattr(live, "radius_query", broken)
    events: list[Event] = client.watch("11001")
    errors = [data for name, data in events if name == "error"]
    assert len(errors) == 2
    assert all(data["error"].startswith("An internal error") for data in errors)
    assert "secret" not in str(events)
    assert last(events, "reason")["status"] == "holds"
    assert client.refused("certificate", {"bits": "11001", "what": "radius"})[0] == 500
    assert "secret.py" in capsys.readouterr().err
