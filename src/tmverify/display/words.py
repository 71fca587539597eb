"""Long names and texts, shortened; times."""

from __future__ import annotations


def shortened(text: str, most: int) -> str:
    """The text; of a longer one the first ``most`` characters, and how many there are more."""
    return text if len(text) <= most else f"{text[:most]}… (and {len(text) - most} more characters)"


def seconds_text(seconds: float | None) -> str:
    """A time to three digits, in a suitable unit."""
    if seconds is None:
        return "—"
    if seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 99.95:
        return f"{seconds:.3g} s"
    if seconds < 5999.5:
        return f"{seconds / 60:.3g} min" if seconds >= 599.5 else f"{seconds:.0f} s"
    return f"{seconds / 3600:.3g} h"
