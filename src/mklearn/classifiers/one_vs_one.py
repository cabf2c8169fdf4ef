"""Base of linear classifiers that solve a two-class problem for each pair of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import fit_context
from mklearn.base.parameters import Positive, parameters
from mklearn.classifiers.class_scores import ClassScores
from mklearn.errors import NotApplicable
from mklearn.estimator_input import checked_array, checked_labels
from mklearn.graphs import class_structure
from mklearn.kernels.feature_scaling import constant_features
from mklearn.optimize.hinge_program import GAP

Floats = NDArray[np.floating[Any]]
LinearScaling = Literal["minmax", "standard", "none"]


@dataclass(frozen=True, eq=False)
class PairFit:
    """The linear machine of a pair of classes: outputs Xw + b, positive for the first class.

    ``objective`` comes from the solver; ``gap`` is the relative duality gap, recomputed outside the solver.
    """

    w: Floats
    b: float
    objective: float
    gap: float


def class_pairs(n_classes: int) -> NDArray[np.intp]:
    """Return all pairs of classes as positions, shape (n_pairs, 2); the first of a pair is the lower one."""
    return np.array(list(combinations(range(n_classes), 2)), dtype=np.intp)


def scores_by_votes(outputs: Floats, n_classes: int) -> Floats:
    """Return the score of each class, (m, n_classes): its votes plus its outputs, squashed to less than half a vote.

    ``outputs``, (m, n_pairs), are positive for the first class of each pair of `class_pairs`.
    """
    return np.asarray(_ovr_decision_function(outputs <= 0, -outputs, n_classes))


@parameters
class OneVsOneLinear(ClassScores, BaseEstimator):
    """Base of one-vs-one linear classifiers.

    A subclass implements `_fit_pair`. Features are scaled as fitted on the training samples; the fitted coefficients
    apply to unscaled features.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    pairs_ : array of shape (n_pairs, 2)
        Positions of the two classes in ``classes_``. Outputs of a pair are positive for its first class.
    coef_ : array of shape (n_pairs, d)
    intercept_ : array of shape (n_pairs,)
    constant_features_ : array of int
        Columns that are constant over the training samples and therefore ignored.
    objectives_ : array of shape (n_pairs,)
        The solver's objective of each pair.
    objective_ : float
        Sum of ``objectives_``.
    gap_ : array of shape (n_pairs,)
        Relative duality gap, recomputed outside the solver.
    certificate_ : dict
        Name of the solver, and the largest gap.
    status_ : {"ok", "inaccurate"}
        "inaccurate" if a gap is above 1e-6.
    message_ : str
        Remarks on an inaccurate fit, classes with one sample and ignored columns; empty without remarks.
    n_features_in_ : int

    Raises
    ------
    DataError
        X or y malformed.
    NotApplicable
        One class only, or two classes whose features are all constant.
    SolverFailed
        The solver ended without a usable solution.
    """

    C: Positive = field(default=1.0, kw_only=False)
    feature_scaling: LinearScaling = "minmax"
    _solver: ClassVar[str] = "interior point"

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels.
        """
        features = checked_array(self, X, reset=True).astype(np.float64)
        classes = class_structure(checked_labels(self, y, len(features)))
        self.classes_ = classes.labels
        constant = constant_features(features)
        self.constant_features_ = np.flatnonzero(constant)
        centre, spread = _centre_and_spread(features, self.feature_scaling)
        spread = np.where(constant, np.inf, spread)  # coefficients are 0
        scaled = (features - centre) / spread
        self.pairs_ = class_pairs(classes.n_classes)
        fits = []
        for first, second in self.pairs_:
            rows = np.isin(classes.codes, (first, second))
            fits.append(self._fit_varying(scaled[rows], np.where(classes.codes[rows] == first, 1.0, -1.0)))
        self.coef_ = np.array([fit.w for fit in fits]) / spread
        self.intercept_ = np.array([fit.b for fit in fits]) - self.coef_ @ centre
        self.objectives_ = np.array([fit.objective for fit in fits])
        self.objective_ = float(self.objectives_.sum())
        self.gap_ = np.array([fit.gap for fit in fits])
        self.certificate_ = {"solver": self._solver, "gap": float(self.gap_.max())}
        self._set_status(classes.labels[classes.counts < 2])
        self._collect(fits)
        return self

    def outputs(self, X: ArrayLike) -> Floats:
        """Compute the output of each pair of classes, shape (m, n_pairs), positive for its first class."""
        check_is_fitted(self)
        features = checked_array(self, X, reset=False).astype(np.float64)
        return np.asarray(features @ self.coef_.T + self.intercept_)

    def class_scores(self, X: ArrayLike) -> Floats:
        """Compute class scores, shape (m, n_classes): plus and minus half the output for two classes, else votes."""
        outputs = self.outputs(X)
        if len(self.classes_) == 2:
            return np.column_stack([outputs, -outputs]) / 2
        return scores_by_votes(outputs, len(self.classes_))

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        """Fit the machine of two classes to scaled features and labels 1 (first class) and -1."""
        raise NotImplementedError

    def _collect(self, fits: Sequence[PairFit]) -> None:
        """Set further attributes from the fits of all pairs."""

    def _fit_varying(self, X: Floats, y: Floats) -> PairFit:
        """Fit the columns that vary over a pair of classes; the others get coefficient 0."""
        varying = ~constant_features(X)
        if not varying.any():
            raise NotApplicable("all features are constant over two classes: no class can be discriminated")
        if varying.all():
            return self._fit_pair(X, y)
        fit = self._fit_pair(X[:, varying], y)
        w = np.zeros(X.shape[1])
        w[varying] = fit.w
        return replace(fit, w=w)

    def _set_status(self, single: NDArray[Any]) -> None:
        """Set status and message; ``single`` are labels of classes with one sample."""
        worst, ignored = float(self.gap_.max()), self.constant_features_
        self.status_, remarks = "ok", []
        if worst > GAP:
            self.status_ = "inaccurate"
            remarks.append(f"the relative duality gap is {worst:.1e}, above {GAP:g}: choose a smaller C")
        if len(single):
            remarks.append(f"only one training sample of class {_listed(single)}: give more, or leave the class out")
        if len(ignored):
            many = f"{len(ignored)} of {self.n_features_in_} columns"
            remarks.append(f"constant over the training samples, so ignored: {many} ({_listed(ignored)})")
        self.message_ = "; ".join(remarks)


def _listed(values: NDArray[Any]) -> str:
    """Return the first five values, separated by commas."""
    return ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")


def _centre_and_spread(X: Floats, scaling: LinearScaling) -> tuple[Floats, Floats]:
    """Return the offset that is subtracted from each feature, and its divisor."""
    if scaling == "minmax":
        return X.min(axis=0), np.ptp(X, axis=0)
    if scaling == "standard":
        return X.mean(axis=0), X.std(axis=0)
    return np.zeros(X.shape[1]), np.ones(X.shape[1])
