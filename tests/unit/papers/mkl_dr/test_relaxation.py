"""The table of MKL-DR's relaxation counts mixed signs and measures gaps over all beta-steps."""

import pandas as pd

from mklearn.papers.mkl_dr.relaxation import relaxation
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import FitRecord


def test_the_table_pools_the_beta_steps_of_a_method() -> None:
    steps = pd.DataFrame({"value": [2.0, 4.0, 5.0], "bound": [1.0, 4.0, 4.0], "mixed_sign": [True, False, True]})
    shown = (("mkl", steps[:2]), ("mkl", steps[2:]), ("svm", pd.DataFrame({"ratio": [1.0]})))
    fits = [FitRecord("faces", "random", None, name, name.upper(), diagnostics=each) for name, each in shown]
    (table,) = relaxation(StudyResults(pd.DataFrame(), None, {}, fits)).tables
    assert [[cell.text for cell in row] for row in table.rows] == [["MKL", "3", "66.7", "0.2", "0.5"]]
    assert relaxation(StudyResults(pd.DataFrame(), None, {}, fits[2:])).tables == ()
