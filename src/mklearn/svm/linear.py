"""The linear support vector machine that other methods are compared with."""

from __future__ import annotations

from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC


def linear_svc(C: float = 1.0) -> Pipeline:
    """One-vs-rest linear SVM on features standardised with the training samples' means and deviations.

    Parameters
    ----------
    C : float
        As in :class:`sklearn.svm.LinearSVC` (squared hinge loss). Without standardisation raw pixels (0..255) make its
        solver stop long before it has converged.
    """
    return make_pipeline(StandardScaler(), LinearSVC(C=C, random_state=0, max_iter=10_000))
