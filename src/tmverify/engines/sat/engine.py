"""The ``sat`` engine, in a process of its own: as fast as it can, or with evidence."""

from __future__ import annotations

from tmverify.engines.subprocesses.isolation import isolated

decide = isolated("tmverify.engines.sat.reduced:solve", proving="tmverify.engines.sat.proving:solve")
