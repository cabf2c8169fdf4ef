"""The table of MKL-DR's relaxation counts mixed signs and measures gaps over all beta-steps."""

import pandas as pd

from mklearn.papers.mkl_dr.relaxation import relaxation
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import FitRecord


def test_the_table_pools_the_beta_steps_of_a_method() -> None:
    steps = [(2.0, 1.0, True), (4.0, 4.0, False), (5.0, 4.0, True)]
    diagnostics = pd.DataFrame(steps, columns=["value", "bound", "mixed_sign"])
    fits = [
        FitRecord("faces", "random", None, "mkl", "MKL", diagnostics=each)
        for each in (diagnostics[:2], diagnostics[2:])
    ]
    fits.append(FitRecord("faces", "random", None, "svm", "SVM", diagnostics=pd.DataFrame({"ratio": [1.0]})))
    (table,) = relaxation(StudyResults(pd.DataFrame(), None, {}, fits)).tables
    assert [[cell.text for cell in row] for row in table.rows] == [["MKL", "3", "66.7", "0.2", "0.5"]]
    assert relaxation(StudyResults(pd.DataFrame(), None, {}, fits[2:])).tables == ()
