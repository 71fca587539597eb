"""What was measured, as markdown and JSON, section by section.

A section that is run again replaces its older self; sections measured on another machine are dropped. No
paths and no host names are written.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Report:
    """A report: its files are ``name``.md and ``name``.json, its sections come in ``order``."""

    name: str
    title: str
    script: str
    order: tuple[str, ...]


@dataclass
class Section:
    """One section of the report. ``drawing`` is lines of text; ``findings`` are sentences.

    ``raw``, of dicts or dataclasses, is for the JSON only.
    """

    title: str
    settings: dict[str, Any]
    columns: tuple[str, ...] = ()
    rows: list[list[str]] = field(default_factory=list)
    drawing: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    raw: list[Any] = field(default_factory=list)
    began: str = field(default_factory=lambda: time.strftime("%Y-%m-%d %H:%M", time.gmtime()))
    load_before: float = field(default_factory=lambda: round(os.getloadavg()[0], 2))
    complete: bool = False


def machine() -> dict[str, Any]:
    """CPU, cores, system."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        cpu = next((ln.split(":", 1)[1].strip() for ln in lines if ln.startswith("model name")), cpu)
        flags = next((ln for ln in lines if ln.startswith("flags")), "").split()
        cpu += ", AVX-512" if "avx512f" in flags else ", AVX2" if "avx2" in flags else ""
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def save(name: str, section: Section, folder: Path, report: Report) -> None:
    """Put a section into the report's files."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / f"{report.name}.json"
    content: dict[str, Any] = {"machine": machine(), "sections": stored_sections(stored)}
    content["sections"][name] = asdict(section)
    content["sections"] = {
        key: content["sections"][key] for key in report.order if key in content["sections"]
    }
    _replace(stored, _json(content))
    _replace(folder / f"{report.name}.md", markdown(content, report))


def stored_sections(stored: Path) -> dict[str, Any]:
    """The sections in a report's JSON, if they were measured on this machine."""
    if not stored.exists():
        return {}
    older = json.loads(stored.read_text())
    sections: dict[str, Any] = older["sections"] if older["machine"] == machine() else {}
    return sections


def markdown(content: dict[str, Any], report: Report) -> str:
    m = content["machine"]
    lines = [
        f"# {report.title}",
        "",
        f"{m['cpu']}, {m['cores']} cores, {m['system']}, Python {m['python']}.",
        f"Written by `{report.script}`; `{report.name}.json` beside it has every single measurement.",
    ]
    for section in content["sections"].values():
        lines += ["", *section_lines(section)]
    return "\n".join(lines) + "\n"


def section_lines(section: dict[str, Any]) -> list[str]:
    lines = [f"## {section['title']}", ""]
    lines += ["; ".join(f"{key}: {value}" for key, value in section["settings"].items()) + "."]
    versions = ", ".join(f"{name} {number}" for name, number in sorted(section["versions"].items()))
    lines += [f"Begun {section['began']} UTC at load {section['load_before']}. {versions}".rstrip(". ") + "."]
    if not section["complete"]:
        lines += ["**Not finished**: what follows was measured before it was stopped."]
    if section["rows"]:
        lines += ["", _row(section["columns"]), _row(["---"] * len(section["columns"]))]
        lines += [_row(row) for row in section["rows"] if row]
    if section.get("drawing"):
        lines += ["", "```text", *section["drawing"], "```"]
    return lines + [""] * bool(section["findings"]) + [f"- {finding}" for finding in section["findings"]]


def _row(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _json(content: dict[str, Any]) -> str:
    """Indented, but lists of plain values on one line: there may be thousands in them."""
    text = json.dumps(content, indent=1)
    # A JSON string holds no line break, so what is matched is never inside one.
    return re.sub(r"\[\n[^\[\]{}]*\n\s*\]", lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def _replace(path: Path, text: str) -> None:
    fresh = path.with_suffix(path.suffix + ".new")
    fresh.write_text(text)
    fresh.replace(path)
