"""Long names and texts, shortened."""

from __future__ import annotations


def shortened(text: str, most: int) -> str:
    """The text; of a longer one the first ``most`` characters, and how many there are more."""
    return text if len(text) <= most else f"{text[:most]}… (and {len(text) - most} more characters)"
