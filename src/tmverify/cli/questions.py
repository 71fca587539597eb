"""The commands that ask, one for each question of ``properties.questions``.

A question says what its arguments are; here they become arguments and options that can be typed. What is
asked, and how the answers are shown, is in ``ask`` and ``tables``, imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Any

import typer

from tmverify.cli import options
from tmverify.properties.questions import Question

_REQUIRED = Parameter.empty


def command_of(question: Question) -> Callable[..., None]:
    """The function behind ``tmverify <question>``."""

    def command(**given: Any) -> None:
        from tmverify.cli.ask import Given, ask_and_report

        raise typer.Exit(ask_and_report(question, Given.of(given)))

    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, kind, default in _parameters(question)
    ]
    command.__signature__ = Signature(named)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in named}
    command.__doc__ = question.help
    return command


def _parameters(question: Question) -> Iterator[tuple[str, Any, Any]]:
    """Each argument and option: its name, what it is, and its default."""
    if question.models == (2,):
        yield "a", options.ModelA, _REQUIRED
        yield "b", options.ModelB, _REQUIRED
    else:
        yield "model", options.ModelFile, _REQUIRED
    if question.about_input:
        yield "data", options.DataFile, _REQUIRED
    else:
        yield "data", options.HintFile, None
    if question.models == (1, 2):
        yield "against", options.Against, None
    if question.has_eta:
        yield "epsilon", options.Epsilon, 1
        yield "eta", options.Eta, "0.9"
    elif question.has_epsilon:
        yield "epsilon", options.Epsilons, options.DEFAULT_EPSILONS
    if question.about_input:
        yield "n", options.SampleSize, None
        yield "seed", options.Seed, 0
    own = question.about_input and not question.has_eta
    yield "scope", options.ManyScope if own else options.Scope, "team"
    if question.about_input:
        yield "features", options.Features, None
        yield "direction", options.Direction, None
    yield "engine", options.Engine, "auto"
    if question.has_eta:
        yield "timeout", options.TotalTimeout, 300.0
        yield "timeout_per_input", options.InputTimeout, None
    else:
        yield "timeout", options.RadiusTimeout if question.is_distance else options.Timeout, 300.0
        yield "jobs", options.Jobs, 1
        yield "store", options.StoreFile, None
    if question.is_distance:
        yield "rows", options.Rows, 20
    yield "as_json", options.AsJson, False
    if question.is_distance:
        yield "csv", options.CsvFile, None
    yield "witnesses", options.NearestFile if question.is_distance else options.WitnessFile, None
    yield "certificate", options.CertificateFolder, None
