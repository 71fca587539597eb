"""The loop over inputs of ``tmverify radius``.

Everything is read and checked first; then each input is asked about by itself, so that Ctrl-C at any moment
loses at most the one being decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tmverify.cli.certificate_names import name_for_input
from tmverify.cli.certificates import check_wanted, open_folder, uncertified
from tmverify.cli.distances import Distance, Distances
from tmverify.cli.exit_codes import ExitCode, exit_code
from tmverify.cli.limits import read_limit
from tmverify.cli.radius_files import save_csv, save_nearest
from tmverify.cli.radius_report import report
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.stored import Keeping, answers_from
from tmverify.cli.subject import Wanted, open_subject
from tmverify.engines import check_engine
from tmverify.progress import Count, counting
from tmverify.properties import Status
from tmverify.properties.network import AnyQuery
from tmverify.verify import nearest

_SHOWN = {"exact": "green", "open": "yellow"}


@dataclass(frozen=True, slots=True)
class RadiusFiles:
    """What is written, besides the screen."""

    csv: Path | None
    witnesses: Path | None
    certificates: Path | None


def ask_radii(
    wanted: Wanted,
    *,
    engine: str,
    timeout: float,
    rows: int,
    as_json: bool,
    files: RadiusFiles,
    keeping: Keeping,
) -> ExitCode:
    """Ask for the radius of every input, report, and say how it went."""
    name, limit = check_engine(engine), read_limit(timeout, "--timeout")
    check_wanted(files.certificates, name)
    _check(files, wanted, keeping.store)
    subject = open_subject(wanted, ())
    certificates = open_folder(files.certificates, wanted.models)
    distances = Distances(subject=subject, engine=name, timeout=limit, certificates=certificates)
    try:
        if keeping.wanted:
            _ask_campaign(distances, keeping)
        else:
            _ask_here(distances)
    except KeyboardInterrupt:
        distances.interrupted = True
    if files.csv is not None:
        save_csv(files.csv, distances)
    if files.witnesses is not None:
        save_nearest(files.witnesses, distances)
    report(distances, rows=rows, as_json=as_json, csv=files.csv, witnesses=files.witnesses)
    distances.certificates.raise_failure()
    status = Status.HOLDS if distances.all_exact else Status.UNKNOWN
    return exit_code(status, interrupted=distances.interrupted)


def _check(files: RadiusFiles, wanted: Wanted, store: Path | None) -> None:
    if files.csv is not None:
        check_target(files.csv, "--csv", [".csv"])
    if files.witnesses is not None:
        check_target(files.witnesses, "--save-witnesses", [".npz"])
    written = [files.csv, files.witnesses, store]
    check_apart([*wanted.models, wanted.data], written, "MODEL, DATA, --csv, --save-witnesses and --store")


def _ask_here(distances: Distances) -> None:
    with counting("radius", len(distances.subject.rows), _SHOWN) as count:
        _ask_all(distances, count)


def _ask_campaign(distances: Distances, keeping: Keeping) -> None:
    """By several processes, or what a store knows already."""
    for asked in answers_from(
        keeping,
        distances.subject,
        "radius",
        [None],
        engine=distances.engine,
        timeout=distances.timeout,
        certificates=distances.certificates,
    ):
        task, found = asked.task, asked.answer.as_radius(asked.task)
        assert task.index is not None
        assert task.x is not None
        kept = asked.kept(distances.certificates, found)
        distances.answers.append(
            Distance(task.index, task.scope, task.x, _decision(asked.query), found, kept)
        )


def _ask_all(distances: Distances, count: Count) -> None:
    subject, certificates = distances.subject, distances.certificates
    name = "radius" if len(subject.models) == 1 else "radius-against"
    n_features = subject.models[0].n_features
    for place, index in enumerate(subject.rows.tolist()):
        query = distances.question.query(subject, place, n_features)
        found = nearest(
            query, timeout=distances.timeout, engine=distances.engine, certificate=certificates.wanted
        )
        kept = certificates.keep(found, name_for_input(name, subject, place))
        scope, x = subject.scopes[place], subject.X[place]
        answer = Distance(index, scope, x, _decision(query), uncertified(found), kept)
        distances.answers.append(answer)
        count("exact" if found.exact else "open")


def _decision(query: AnyQuery) -> int | str:
    """What the (first) machine says of the input itself."""
    decided = query.decisions(np.atleast_2d(query.region.origin))[0, 0]
    label: int | str = query.machines[0].classes[decided]
    return label
