"""The table of what each stage of a run cost."""

from __future__ import annotations

from mklearn.report.stage_table import TITLES, stage_table
from mklearn.steps.stage_costs import STAGES


def test_the_table_says_what_is_not_known(study):
    table = stage_table(study["run"]["stages"])
    read, fit = ([cell.text for cell in row] for row in table.rows)
    assert read == [TITLES["read"], "1", "not known", "not known", "–", "0 B"]
    assert fit == [TITLES["fit"], "4", "62", "40", "random / mkldr", "12.3 kB"]
    assert table.rows[1][2].below == "3 of 4 jobs known"


def test_there_is_no_table_where_nothing_is_known(study):
    assert stage_table([]) is None
    assert stage_table(study["run"]["stages"][:1]) is None
    assert set(TITLES) == set(STAGES)
