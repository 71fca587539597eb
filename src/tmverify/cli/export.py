"""``tmverify export``: a question for solvers, or the model itself for other programs and devices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tmverify.asking.subject import TEAM
from tmverify.atomic import replacing
from tmverify.cli.commands.export import FORMATS, MODEL_FORMATS
from tmverify.cli.export_question import Asked, compile_question, meaning_of, write_question
from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import machines, open_models
from tmverify.errors import InvalidInputError
from tmverify.interop.c_source import to_c
from tmverify.interop.verilog import to_verilog
from tmverify.model import Model


def export_to_file(
    model: Path, against: Path | None, output: Path, file_format: str | None, name: str | None, asked: Asked
) -> None:
    """Write the model, or the question that was asked, in the format named or that ``output`` ends in."""
    check_target(output, "--output")
    check_apart([model, asked.data, against], [output], "MODEL, DATA, --against and --output")
    chosen = _format(file_format, output)
    asked = replace(asked, file_format=chosen)
    if chosen in MODEL_FORMATS:
        _check_model_alone(asked, against)
        if name is not None and chosen == "json":
            raise InvalidInputError("--name is for c and v. Leave it out for json.")
        _write_model(machines(open_models((model,)))[0], chosen, output, name)
        show(f"wrote {plain(output)}: {plain(model.name)}, {output.stat().st_size} bytes")
        return
    if name is not None:
        raise InvalidInputError(f"--name is for c and v. Leave it out for {chosen}.")
    query, said = compile_question(open_models((model,) if against is None else (model, against)), asked)
    with replacing(output) as draft:
        write_question(query, draft, asked)
        size = draft.stat().st_size
    show(f"wrote {plain(output)}: {said}", f"  {size} bytes", f"  {meaning_of(asked)}")


def _format(given: str | None, output: Path) -> str:
    chosen = output.suffix.lower().removeprefix(".") if given is None else given
    if chosen in FORMATS:
        return chosen
    known = ", ".join(FORMATS)
    if given is not None:
        raise InvalidInputError(f"--format must be one of {known}. Got {given!r} instead.")
    raise InvalidInputError(f"--output must end in one of {known}, or --format say it. Got {output} instead.")


def _check_model_alone(asked: Asked, against: Path | None) -> None:
    """Raise InvalidInputError if anything was typed that is about a question."""
    typed = {
        "DATA": asked.data,
        "--against": against,
        "--index": asked.index,
        "--epsilon": asked.epsilon,
        "--nearest": asked.nearest or None,
        "--encoding": asked.encoding,
        "--scope": None if asked.scope == TEAM else asked.scope,
        "--features": asked.features,
        "--direction": asked.direction,
    }
    given = [option for option, value in typed.items() if value is not None]
    if given:
        raise InvalidInputError(
            f"A .{asked.file_format} file is of the model, not of a question: leave {', '.join(given)} out."
        )


def _write_model(model: Model, chosen: str, output: Path, name: str | None) -> None:
    if chosen == "json":
        model.to_json(output)
    else:
        {"c": to_c, "v": to_verilog}[chosen](model, output, name="tm" if name is None else name)
