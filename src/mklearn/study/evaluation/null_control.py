"""Null control: the left-out R^2 of a multi-view method on the target of a data set and on shuffled targets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.atomic import read_npz
from mklearn.base.permutation import PermutationTest, permutation_test
from mklearn.study.artefacts import read_record
from mklearn.study.evaluation.candidates import MethodOnViews, candidates, with_chosen_scalings
from mklearn.study.evaluation.split import EXPECTED
from mklearn.study.specs.fit_spec import NULL_SAMPLES, NullSpec

LARGEST_P = 0.05
"""Largest p-value of a control that is passed; with too few shuffles for it, the smallest possible p-value."""


def null_test(problem: MethodOnViews, spec: NullSpec) -> tuple[PermutationTest, str]:
    """Fit a method to the target of all samples, or of `NULL_SAMPLES` random ones, and to shuffled targets.

    The score is the method's R^2 on left-out samples, in closed form, with the first candidate of a grid. Everything
    that depends on the target, such as kernel weights, is chosen anew for each shuffle. The samples of a group are left
    out together, and targets are shuffled as in `mklearn.base.permutation.shuffled_rows`. If a fit fails with an
    expected error, the test has no scores, and the second result is the message of the error.
    """
    rows = np.sort(np.random.default_rng(spec.fit.seed).permutation(len(problem.y))[:NULL_SAMPLES])
    every = np.arange(len(rows))
    groups = None if problem.groups is None else problem.groups[rows]
    problem = replace(problem, views=problem.of(rows), groups=groups)

    def left_out_r2(y: NDArray[Any]) -> float:
        own = with_chosen_scalings(replace(problem, y=y), every, every[:0])
        estimator = own.unfitted(candidates(own.method, len(own.kernels))[0])
        r2 = estimator.fit(own.views, y, **own.fit_parameters(every, every[:0])).left_out_r2_
        return float(np.mean(r2))  # an array for survival at several times

    try:
        with warnings.catch_warnings(action="ignore"):  # warnings concern the data, and are the same in each fit
            return permutation_test(
                left_out_r2, problem.y[rows], groups, n_shuffles=spec.n_shuffles, seed=spec.fit.seed
            ), ""
    except EXPECTED as error:
        return PermutationTest(np.nan, np.array([])), str(error)


@dataclass(frozen=True)
class NullControl:
    """Result of a null control, as the page and ``validate`` show it."""

    dataset: str
    method: str
    test: PermutationTest
    message: str

    @classmethod
    def read(cls, path: Path) -> NullControl:
        """Read the artefact of the rule ``null_control``."""
        arrays, fit = read_npz(path), read_record(path)["spec"]["fit"]
        test = PermutationTest(float(arrays["score"]), arrays["shuffled"])
        return cls(fit["dataset"], fit["method"]["id"], test, str(arrays["message"]))

    @property
    def is_passed(self) -> bool:
        """Whether the p-value is at most `LARGEST_P`, or the smallest possible one for this number of shuffles."""
        return not self.message and self.test.p_value <= max(LARGEST_P, 1 / (1 + len(self.test.shuffled)))

    @property
    def sentence(self) -> str:
        """Sentence with the scores and the p-value."""
        if self.message:
            return f"the null control of {self.method} has no result: {self.message}"
        score, shuffled = self.test
        end = "" if self.is_passed else ": the views are not shown to predict the target of these samples"
        return (
            f"null control: the left-out R² of {self.method} is {score:.2f}, on {len(shuffled)} shuffled targets at "
            f"most {shuffled.max():.2f} (p = {self.test.p_value:.3f}){end}"
        )
