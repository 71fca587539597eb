"""A bar for a line of the summary: how much of it holds, is violated, is unknown, is yet to come."""

from __future__ import annotations

from tmverify.campaign import Tally


def share_bar(tally: Tally) -> str:
    """An SVG of four parts, as wide as their share of the tasks; the numbers stand beside it in the table."""
    pending = tally.total - tally.done
    parts = (
        ("good", tally.positive),
        ("bad", tally.violated),
        ("open", tally.unknown),
        ("pending", pending),
    )
    drawn, start = [], 0.0
    for kind, n in parts:
        width = 100 * n / max(tally.total, 1)
        if n:
            drawn.append(f'<rect class="{kind}" x="{start:.2f}" y="0" width="{width:.2f}" height="8"/>')
        start += width
    body = "".join(drawn)
    return (
        f'<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{body}</svg>'
    )
