"""Figures as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WIDTH = 50
_EIGHTHS = " ▏▎▍▌▋▊▉"


def bars(values: Mapping[str, float], remarks: Sequence[str] = ()) -> list[str]:
    """A line each: name, bar, value, remark; the largest value has the longest bar."""
    top = max(values.values(), default=0) or 1
    width = max(map(len, values), default=0)
    lines = [f"{name:>{width}} {_bar(v / top):<{WIDTH}} {v:,.4g}" for name, v in values.items()]
    return [f"{line}, {remark}" for line, remark in zip(lines, remarks, strict=True)] if remarks else lines


def _bar(share: float) -> str:
    eighths = round(8 * WIDTH * min(max(share, 0.0), 1.0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
