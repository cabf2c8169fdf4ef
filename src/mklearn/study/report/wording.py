"""Formats of numbers, settings and rules, shared by the page, the Markdown and the figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

RULE_TITLES = {
    "cosine": "1-NN cosine", "euclidean": "1-NN Euclidean", "class_mean": "class mean", "clusters": "k-means", "": "–",
}  # fmt: skip
DASH = "–"
MINUS = "−"


def rule_title(neighbour: str) -> str:
    """Return the title of a nearest-neighbour rule."""
    return RULE_TITLES.get(neighbour, neighbour)


def percent(fraction: Any, digits: int = 1) -> str:
    """Format a fraction in percent: ``0.7239`` as ``72.4``."""
    return DASH if pd.isna(fraction) else _number(100.0 * float(fraction), digits)


def value(number: Any, in_percent: bool = True) -> str:
    """Format a value of a metric, in percent or in its own unit."""
    return percent(number) if in_percent else in_own_unit(number)[0]


def spread(mean: Any, std: Any, in_percent: bool = True) -> str:
    """Format mean and standard deviation as ``72.4 ± 0.8``, or only the mean if the deviation is unknown."""
    has_both = not (pd.isna(mean) or pd.isna(std))
    middle, half = [percent(mean), percent(std)] if in_percent else in_own_unit(mean, std, size=mean)
    return f"{middle} ± {half}" if has_both else middle


def interval(low: Any, high: Any, in_percent: bool = True, mean: Any = None) -> str:
    """Format an interval as ``[71.9, 73.0]``, with the decimals of its ``mean``."""
    ends = [percent(low), percent(high)] if in_percent else in_own_unit(low, high, size=mean)
    return DASH if DASH in ends else f"[{ends[0]}, {ends[1]}]"


def value_and_interval(row: Mapping[str, Any], in_percent: bool = True, name: str = "mean") -> str:
    """Format a value of a row with its interval as ``72.4 [71.9, 73.0]``, or without an interval as ``72.4``."""
    ends = interval(row["ci_low"], row["ci_high"], in_percent, row[name])
    return f"{value(row[name], in_percent)} {ends}".removesuffix(f" {DASH}")


def change(difference: Any, in_percent: bool = True) -> str:
    """Format a difference with its sign, in percentage points with one decimal or in the metric's unit."""
    return change_and_interval({"difference": difference}, in_percent)


def change_and_interval(row: Mapping[str, Any], in_percent: bool = True, comma: str = ", ") -> str:
    """Format a difference as ``+0.3 [−0.5, +1.1]``, or without an interval as ``+0.3``, with the decimals of a mean."""
    values = [row.get(f"difference{end}") for end in ("", "_low", "_high")]
    texts = list(map(percent, values)) if in_percent else in_own_unit(*values, size=row.get("mean"))
    middle, *ends = map(_with_sign, texts)
    return middle if DASH in ends else f"{middle} [{comma.join(ends)}]"


def signed(value: Any, digits: int) -> str:
    """Format a number with its sign: ``+1.3``, ``−0.2``, ``0.0``."""
    return DASH if pd.isna(value) else _with_sign(_number(float(value), digits))


def _with_sign(text: str) -> str:
    return text if text.startswith((MINUS, DASH)) or not text.strip("0.,") else f"+{text}"


def seconds(value: Any) -> str:
    """Format a duration in seconds with about two significant digits."""
    if pd.isna(value):
        return DASH
    value = float(value)
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def p_value(value: Any) -> str:
    """Format a p-value with three decimals."""
    return DASH if pd.isna(value) else "< 0.001" if value < 0.001 else f"{float(value):.3f}"


def times_as_long(ratio: Any) -> str:
    """Format a ratio of times with two significant digits, as ``12 ×``."""
    if pd.isna(ratio):
        return DASH
    rounded = float(f"{ratio:.2g}")
    return f"{rounded:,.0f} ×" if rounded >= 10 else f"{rounded:g} ×"


def scientific(value: Any) -> str:
    """Format a number with three significant digits, in scientific notation if it is very large or small."""
    if pd.isna(value):
        return DASH
    text = f"{value:,.0f}" if 999.5 <= abs(value) < 1e6 else f"{value:.3g}"
    return text.replace("-", MINUS)


def in_own_unit(*numbers: Any, size: Any = None) -> list[str]:
    """Format numbers of one unit with the same decimals: three for a ``size`` of 0.01 to 10, more below, fewer above.

    The default size is the largest number, which has two to four significant digits. Very large or small numbers have
    exponents.
    """
    sizes = [abs(float(number)) for number in (numbers if size is None else [size]) if not pd.isna(number)]
    size = max(sizes, default=0.0)
    exponent = math.floor(math.log10(size)) if size else 0
    digits = max(3 - max(exponent, 0), 1 - exponent, 0)
    if -5 < exponent < 7:
        return [DASH if pd.isna(number) else _number(float(number), digits) for number in numbers]
    return [DASH if pd.isna(number) else f"{float(number):.3g}".replace("-", MINUS) for number in numbers]


def count(value: Any) -> str:
    """Format an integer with thousands separators."""
    return DASH if pd.isna(value) else f"{int(value):,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: ``1 repeat`` or ``2 repeats``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def enumeration(parts: Sequence[str], limit: int | None = 6) -> str:
    """Format a list as ``a, b and c``, cut after ``limit`` parts; use semicolons if a part has commas itself."""
    parts = list(parts)
    if limit is not None and len(parts) > limit:
        parts = [*parts[:limit], f"{len(parts) - limit} more"]
    if len(parts) < 2:
        return "".join(parts)
    has_commas = any("," in re.sub(r"\(.*?\)|\[.*?\]", "", part) for part in parts)
    between, last = ("; ", "; and ") if has_commas else (", ", " and ")
    return f"{between.join(parts[:-1])}{last}{parts[-1]}"


def setting_title(dataset_title: str, train_size: Any, protocol: str = "") -> str:
    """Format a setting as ``ORL, training size 5``, followed by ``protocol`` if given."""
    size = "" if pd.isna(train_size) else f"training size {int(train_size)}"
    return ", ".join(filter(None, (dataset_title, size, protocol)))


def _number(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return (text if text.strip("-0.,") else text.lstrip("-")).replace("-", MINUS)
