"""Numbers as they are written in files."""

from __future__ import annotations

from typing import Any


def is_number(value: Any) -> bool:
    """Tell whether a value is a number or text that writes one, as 1.5e3 does; 1_500 is a number in Python alone."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return "_" not in str(value)
