"""The table of MKL-DR's relaxation counts mixed signs and measures gaps over all beta-steps."""

import pandas as pd

from mklearn.papers.mkl_dr.relaxation import relaxation
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import FitRecord


def test_the_table_pools_the_beta_steps_of_a_method() -> None:
    steps = pd.DataFrame({"value": [2.0, 4.0, 5.0], "bound": [1.0, 4.0, 4.0], "mixed_sign": [True, False, True],
                          "seconds": [1.0, 2.0, 9.0], "a_step_seconds": [None, 0.25, 0.75]})  # fmt: skip
    shown = (("mkl", steps[:2]), ("mkl", steps[2:]), ("svm", pd.DataFrame({"ratio": [1.0]})))
    fits = [FitRecord("faces", "random", None, name, name.upper(), diagnostics=each) for name, each in shown]
    (table,) = relaxation(StudyResults(pd.DataFrame(), None, {}, fits)).tables
    assert [[cell.text for cell in row] for row in table.rows] == [["MKL", "3", "66.7", "0.2", "0.5", "0.5", "2.0"]]
    assert relaxation(StudyResults(pd.DataFrame(), None, {}, fits[2:])).tables == ()


def test_learned_and_equal_weights_of_one_graph_are_drawn_and_no_other_method() -> None:
    points = pd.DataFrame({"x": [0.0], "y": [1.0], "label": ["cat"], "role": ["test"]})
    steps = pd.DataFrame({"value": [1.0], "bound": [1.0], "mixed_sign": [False], "seconds": 1.0, "a_step_seconds": 1.0})
    fits = [FitRecord("faces", "random", None, name, name.upper(), diagnostics=steps, embedding=points)
            for name in ("lda", "lda-equal", "mfa")]  # fmt: skip
    drawn = relaxation(StudyResults(pd.DataFrame(), None, {}, fits)).figures
    assert [(figure.caption, figure.draw()["title"]["text"]) for figure in drawn] == [
        ("LDA, faces", "LDA"), ("LDA-EQUAL, faces", "LDA-EQUAL"),
    ]  # fmt: skip
