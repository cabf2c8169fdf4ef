"""The published table of learned kernel weights says what its numbers say."""

from __future__ import annotations

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def script(import_from_docs):
    return import_from_docs("weights_table")


def test_the_published_table_is_that_of_its_numbers(script):
    table = pd.read_csv(script.FOLDER / "differences.csv")
    assert (script.FOLDER / "differences.md").read_text(encoding="utf-8") == script.page(table)
    assert set(table["study"]) == {"weights", "weights-weak-views"}
    published = {study: pd.read_csv(script.FOLDER.parent / study / "summary.csv") for study in set(table["study"])}
    for row in table[table["reference"] == "average"].itertuples():
        summary = published[row.study]
        same = (summary["dataset"] == row.dataset) & (summary["train_size"] == row.train_size)
        (found,) = summary[same & (summary["method"] == row.method) & (summary["selection"] == "inner_cv")].itertuples()
        expected = [100 * found.difference, 100 * found.difference_low, 100 * found.difference_high]
        assert [row.difference, row.low, row.high] == pytest.approx(expected, abs=1e-3)


def test_wins_losses_and_ties_by_hand(script, import_from_docs):
    """Three settings: a win, a loss, a tie below 0."""
    rows = [
        ("weights", "a", 2, 1.04, 0.5, 1.5, 10, 0, 10, 0.2),
        ("weights", "a", 5, -0.5, -0.9, -0.1, 10, 9, 1, -2.0),
        ("weights-weak-views", "a", 2, -0.04, -0.3, 0.3, 10, 4, 5, -0.7),
    ]
    pairs, columns = script.PAIRS, import_from_docs("paired_differences").COLUMNS
    table = pd.DataFrame([(*row[:3], *pair, *row[3:]) for row in rows for pair in pairs], columns=columns)
    lines = script.page(table).splitlines()
    n = len(script.AGAINST_AVERAGE)

    def line(title, cell, count=n):
        return f"| {title} |" + f" {cell} |" * count

    assert line("a, descriptors, 2", "+1.0 [+0.5, +1.5] ▲") in lines
    assert line("a, descriptors, 5", "-0.5 [-0.9, -0.1] ▼") in lines
    assert line("a, patches, 2", "0.0 [-0.3, +0.3]") in lines
    assert line("**wins / losses / ties**", "1 / 1 / 1") in lines
    assert line("**wins / losses / ties**", "1 / 1 / 1", 3) in lines
    assert line("**settings below 0**", "2") in lines
    assert line("**mean**", "+0.17") in lines
    assert line("**worst setting**", "-0.50") in lines
    assert line("**repeats below / above**", "13 / 16 of 30") in lines
    assert line("**worst repeat**", "-2.0") in lines
