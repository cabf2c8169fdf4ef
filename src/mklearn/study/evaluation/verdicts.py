"""The verdict on one method in one setting: what the interval of its difference to the reference shows, and what not.

Every sentence, table and figure of the report takes it from here. A difference holds where its 95 % interval excludes 0
and Holm's adjusted p-value is below 5 %. Where it does not, the interval may exclude a gain that matters (1 percentage
point, or what the study says); if it does not exclude one, nothing is shown.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

LEVEL = 0.05
MATTERS = 0.01
"""The smallest gain that matters, as a fraction, where a study says nothing."""
BETTER, WORSE, NO_GAIN, NOT_SHOWN = "better", "worse", "no gain", "not shown"


def verdicts(rows: pd.DataFrame, matters: float, larger_is_better: bool = True) -> pd.Series:
    """Return the verdict of each row.

    Parameters
    ----------
    rows : DataFrame
        ``difference_low``, ``difference_high`` and, where there are several comparisons, ``p_holm``.
    matters : float
        The smallest gain that matters, as a fraction.
    larger_is_better : bool
        Of the metric.
    """
    low, high = rows["difference_low"].astype("float64"), rows["difference_high"].astype("float64")
    if not larger_is_better:
        low, high = -high, -low
    adjusted = rows["p_holm"].astype("float64") if "p_holm" in rows else pd.Series(float("nan"), rows.index)
    holds = adjusted.isna() | adjusted.lt(LEVEL)
    found = pd.Series(NOT_SHOWN, rows.index, dtype=object)
    found[high < matters] = NO_GAIN
    found[(high < 0) & holds] = WORSE
    found[(low > 0) & holds] = BETTER
    return found.where(low.notna() & high.notna(), "")


def verdict(row: dict[str, Any], matters: float, larger_is_better: bool = True) -> str:
    """Return the verdict of one row; empty without an interval."""
    known = {name: row.get(name) for name in ("difference_low", "difference_high", "p_holm")}
    return str(verdicts(pd.DataFrame([known]), matters, larger_is_better).iloc[0])


def only_before_holm(row: dict[str, Any]) -> bool:
    """Tell whether the interval excludes 0, but not after the correction for the number of comparisons."""
    low, high, adjusted = (row.get(name) for name in ("difference_low", "difference_high", "p_holm"))
    if pd.isna(low) or pd.isna(high) or pd.isna(adjusted):
        return False
    return bool((low > 0 or high < 0) and adjusted >= LEVEL)
