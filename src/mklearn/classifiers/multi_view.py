"""Classification from several views by kernel ridge regression on a dictionary of kernels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.kernel_source import n_samples
from mklearn.base.multi_view_ridge import MultiViewRidge
from mklearn.base.parameters import ClassWeight, parameters
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.classifiers.class_scores import ClassScores
from mklearn.estimator_input import checked_labels, checked_sample_weight
from mklearn.graphs import class_structure
from mklearn.optimize.calibration import fit_inverse_temperature, score_range, set_thresholds, softmax
from mklearn.optimize.leave_one_out_ridge import class_targets
from mklearn.optimize.left_out import LeftOut, group_codes
from mklearn.optimize.targets import gain_in_standard_errors, target_cosines

Array = NDArray[np.floating[Any]]
Decision = Literal["auto", "ridge", "cosine"]
LARGEST_PART = 0.75
"""Limit of the prior weight of learned kernel weights for many classes. With 1, some settings lose two points."""


@parameters
class MultiViewClassifier(ClassScores, MultiViewRidge):
    """Weighted mean of kernel ridge classifiers on families of kernels, with equal and with learned kernel weights.

    No parameter has to be chosen, and none is chosen by cross-validation:

    1. Each view has a dictionary of kernels: a Gaussian and a linear kernel on unscaled, standardised, unit-length and
       rank-transformed features, and on logarithms of nonnegative, heavy-tailed features. Histograms have the
       chi-squared distance in place of standardised bins (`mklearn.kernels.dictionary`). All kernels have unit centred
       trace. Scaled features of new samples are clipped to the training range, extended by half its width on each side
       (`mklearn.kernels.feature_scaling`). Features that are constant over the training samples are ignored.
    2. Views unrelated to the classes are left out of all further steps. A view is a candidate if its kernels, at equal
       weights, agree with the classes by less than three standard deviations of noise
       (`mklearn.optimize.targets`). Candidates are left out if the leave-one-out error of a ridge regression
       is smaller without them by more than a standard error, except the 1, 2, 4, ... that agree most if the error is
       smaller with these by more than a standard error.
    3. Kernel weights minimise the leave-one-out error of a ridge regression, and are shrunk towards equal ones
       (`mklearn.optimize.leave_one_out_ridge`).
    4. The outputs are a weighted mean of kernel ridge regressions of the class indicators: on all kernels with equal
       and with learned weights, and on families of kernels with equal weights, as in
       `mklearn.regressors.MultiViewRegressor`. Each has the ridge with the smallest leave-one-out error
       (`mklearn.optimize.ridge_path`). Their weights minimise the left-out squared error, with a prior that favours the
       first two (`mklearn.optimize.stacking`).
    5. The predicted class has the largest output. It has instead the largest cosine between output and class indicator,
       both centred at the class frequencies, if this rule is better for left-out training samples by more than a
       standard error.
    6. Probabilities and prediction sets are calibrated on the outputs for left-out training samples.

    Parameters
    ----------
    kernels : "dictionary", "precomputed", or specs
        By default the dictionary for every view of X. Else kernel matrices or specs of kernels, as for
        `mklearn.subspace.KernelFDA`.
    learned : "auto" or float
        "auto" chooses the weights of all regressions by left-out errors (step 4); a number from 0 to 1 is the weight of
        the regression with learned kernel weights, the one with equal weights has the rest, and families have none. The
        prior weight of learned kernel weights is 3/4 (1 - 1/c) for c classes: 0.375 for two, 0.5 for three, 0.675 for
        ten. All c - 1 independent outputs share them, and more outputs determine them better. With landmarks, the prior
        weights are used.
    shrinkage : float
        Factor from 0 to 1 by which log ratios of the learned weights shrink. 0 keeps the weights with the smallest
        leave-one-out error; 1 gives equal weights to the kernels with positive weight.
    least_agreement : float
        Agreement with the classes, in standard deviations of noise, below which views are left out if the leave-one-out
        error is smaller without them (step 2). If all agree less, none is left out. 0 keeps all views.
    alphas : sequence of float
        Candidate ridges, in units of the variance of the samples in the feature space (the centred trace).
    decision : {"auto", "ridge", "cosine"}
        The largest output ("ridge"), the largest cosine, or the better of both for left-out samples ("auto", step 5).
    class_weight : None, "balanced" or dict
        Weights of the classes, by label, which multiply the sample weights; "balanced" gives all classes the same total
        weight.
    weight_samples : int
        Largest number of training samples from which views are chosen, the weights of kernels and regressions are
        learned, and missing views are completed. More samples are subsampled, in proportion to the classes. The
        regressions are fitted to all samples.
    missing_views : {"regression", "error"}
        For the dictionary only. With "regression" samples may lack a view (a row of NaN). The missing row is estimated
        by kernel ridge regression on their other views that are used (step 2), with equal weights, without the classes;
        see `mklearn.optimize.view_regression`. The regression is fitted to at most ``weight_samples`` training samples.
        Samples that lack every view are ignored in training, with a warning; their scores and probabilities are NaN,
        and `predict` raises `DataError`. A view that fewer than two training samples have gets no share.
    impute : {"none", "mean", "median"}
        Statistic that replaces single missing values of features; for the dictionary only.
    n_kernels : int, optional
        Largest number of kernels with a positive weight, chosen from many, such as kernels of gene sets, by a group
        lasso (`mklearn.optimize.kernel_lasso`) on all training samples or on the landmarks. Replaces leaving out views
        (step 2). By default all kernels are taken.
    random_state : int
        Seed of the subsamples and the landmarks.
    landmarks : int, optional
        Number of training samples drawn as landmarks, in proportion to the classes; for large data sets. Kernels and
        their weights are learned from the landmarks. The regressions are fitted to all samples with the kernels'
        Nystroem approximation, which takes memory for two features per landmark and sample. By default kernels of all
        samples.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    part_weights_ : dict of str to float
        Weights of the regressions, by name, as for `mklearn.regressors.MultiViewRegressor`.
    learned_ : float
        Weight of the regression with learned kernel weights.
    kernel_ids_ : tuple of str
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Weights of the unscaled kernels, averaged over the regressions with their weights.
    shares_ : array of shape (n_kernels,), sum 1
        The same weights for kernels scaled to unit centred trace: the share of each kernel in the variance of the
        decision. 0 for kernels that are constant over the training samples.
    learned_shares_ : array of shape (n_kernels,), sum 1
        The same for the learned weights alone.
    view_shares_ : dict of str to float
        Sums of ``shares_`` by view.
    view_agreements_ : dict of str to float
        Agreement of each view with the classes, in standard deviations of noise. A precomputed kernel or a product of
        kernels counts as a view of its own. Empty with ``n_kernels``.
    alphas_ : array of shape (n_parts,)
        Ridges of the regressions in ``part_weights_``; NaN at weight 0.
    decision_ : {"ridge", "cosine"}
    left_out_accuracy_ : float
        Accuracy on left-out training samples, in closed form (weighted by the sample weights). It is slightly
        optimistic, because weights, ridges and decision were chosen on these samples, and more so if few of many
        kernels were chosen.
    left_out_r2_ : float
        R^2 of the class indicators on left-out training samples, in closed form: 1 minus the squared error of the
        outputs over the squared error of the class frequencies.
    inverse_temperature_ : float
        Factor of the class scores in the exponent of the probabilities.
    coefficients_ : array of shape (n_parts, n_train, n_classes)
        Coefficients of the regressions, times their weights. With landmarks (n_parts, n_landmarks, n_classes).
    intercept_ : array of shape (n_classes,)
    n_features_in_ : int

    Raises
    ------
    DataError
        Among others: invalid labels, weights or groups, kernels far from positive semidefinite, or, in `predict`,
        samples that lack every view.
    NotApplicable
        A single class, all samples in one group, a view that fewer than two samples have, or all kernels constant over
        the samples.
    ConfigError
        An invalid kernel; scikit-learn's InvalidParameterError, a ValueError, for another invalid parameter.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (left-out outputs). The combination is this library's own.

    Notes
    -----
    The bandwidth, the centring and the scaling of features are fitted to all training samples, so that left-out outputs
    depend a little on the features, not on the labels, of the sample that is left out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> views = {"upper": X[:, :32], "lower": X[:, 32:]}
    >>> train, test = slice(0, 200), slice(200, None)
    >>> model = MultiViewClassifier().fit({name: table[train] for name, table in views.items()}, y[train])
    >>> model.score({name: table[test] for name, table in views.items()}, y[test]) > 0.8
    True
    """

    decision: Decision = "auto"
    class_weight: ClassWeight = None
    _prior_precision = 30.0
    _stacks_landmarks = False

    @property
    def _prior_of_learned(self) -> float:  # type: ignore[override]
        return LARGEST_PART * (1.0 - 1.0 / len(self.classes_))

    def _fit(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> None:
        samples = self._checked_samples(X)
        classes = class_structure(checked_labels(self, y, n_samples(samples)))
        self.classes_ = classes.labels
        indicators = np.eye(len(self.classes_))[classes.codes]
        weights = checked_sample_weight(
            self._known_weights(samples, sample_weight, groups), classes.codes, self.classes_, self.class_weight
        )
        problem = RidgeProblem.of(indicators, weights, groups, classes.codes)
        fits = self._fit_problem(samples, problem)
        self.alphas_ = self.alphas_[:, 0]
        outputs = fits.left_out.sum(axis=0)
        self._set_views(fits, outputs - self.intercept_, samples)
        self._choose_decision(problem, outputs)

    def _weighing_targets(self, problem: RidgeProblem) -> Array:
        assert problem.codes is not None
        return class_targets(class_structure(problem.codes), problem.weights)

    def _choose_decision(self, problem: RidgeProblem, outputs: Array) -> None:
        assert problem.codes is not None
        weights = np.ones(len(outputs)) if problem.weights is None else problem.weights
        sums = np.bincount(problem.codes, weights, minlength=len(self.classes_))
        self._frequencies = sums / sums.sum()
        error, spread = (
            float((weights @ (problem.targets - each) ** 2).sum()) for each in (outputs, self._frequencies)
        )
        self.left_out_r2_ = 1.0 - error / spread
        cosines = target_cosines(outputs, self._frequencies)
        by_output, by_cosine = (scores.argmax(axis=1) == problem.codes for scores in (outputs, cosines))
        self.decision_ = self.decision
        left_out = LeftOut(len(problem.codes), problem.groups)
        if self.decision == "auto":
            gain = gain_in_standard_errors(by_cosine, by_output, left_out, problem.weights)
            self.decision_ = "cosine" if gain > 1 + 1e-9 else "ridge"
        scores, correct = (outputs, by_output) if self.decision_ == "ridge" else (cosines, by_cosine)
        self.left_out_accuracy_ = float(np.average(correct, weights=problem.weights))
        self._score_range = score_range(scores)
        of_sets = float(left_out.squares(problem.targets - outputs, weights).sum())
        n_errors = error / of_sets if of_sets > 0 else left_out.n_sets
        self.inverse_temperature_ = fit_inverse_temperature(scores, problem.codes, problem.weights, n_errors)
        self._errors_ = self._errors_of(scores, problem.codes)
        self._error_codes_, self._error_weights_ = problem.codes, problem.weights
        self._error_groups_ = None if problem.groups is None else group_codes(problem.groups, len(scores))

    def class_scores(self, X: Any) -> Array:
        """Compute the outputs, or their cosines with the class indicators if ``decision_`` says so, (m, n_classes)."""
        return self._decided(self._outputs_of(X))

    def _decided(self, outputs: Array) -> Array:
        return outputs if self.decision_ == "ridge" else target_cosines(outputs, self._frequencies)

    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of the classes, shape (m, n_classes), calibrated on left-out training samples.

        `predict` returns the class of the largest probability.
        """
        return self.probabilities_of(self.class_scores(X))

    def probabilities_of(self, scores: Array) -> Array:
        """Return the probabilities for class scores that are already computed."""
        return softmax(scores, self.inverse_temperature_, self._score_range)

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Compute prediction sets, which contain the class of a new sample with a given probability.

        A set holds each class whose probability reaches the threshold of this class, which comes from its left-out
        training samples; classes with too few of them share one (`mklearn.optimize.calibration.set_thresholds`). Sets
        of uncertain samples have several classes. Sets can be empty: a classifier that is right for 98 % of the samples
        has a coverage of 0.9 only with empty sets.

        The probability is an average over new samples of a class that are like the training samples or, with
        ``groups``, from new groups; for classes that share a threshold, an average over all their samples. It is not
        guaranteed for a finite number of samples: the thresholds come from left-out probabilities of one fit, whose
        kernel weights, ridges, decision and temperature are chosen with all training samples, as in the jackknife.

        Samples that lack views have a second threshold, from training samples predicted as if they had no others
        (`mklearn.base.left_out_views.LeftOutPatterns`) or, with kernels other than the dictionary, from training
        samples with at most the same views; the larger threshold counts.

        Parameters
        ----------
        X : as for ``predict``
        coverage : float
            Above 0, below 1.

        Returns
        -------
        array of bool, shape (m, n_classes)
            Whether each class, in the order of ``classes_``, is in the set. Sets of samples that lack every view hold
            all classes, and so do all sets if there are too few training samples, or groups, for this coverage.
        """
        errors = 1.0 - self.predict_proba(X)
        thresholds = np.tile(self._thresholds(self._errors_, slice(None), coverage), (len(errors), 1))
        for lacking, outputs, rows in self._without_views(X):
            left_out = self._errors_of(self._decided(outputs + self.intercept_), self._error_codes_[rows])
            thresholds[lacking] = np.maximum(thresholds[lacking], self._thresholds(left_out, rows, coverage))
        return ~(errors > thresholds)  # True for NaN

    def _errors_of(self, scores: Array, codes: NDArray[np.intp]) -> Array:
        """Return one minus the probability of each sample's class, (n,)."""
        return np.asarray(1.0 - self.probabilities_of(scores)[np.arange(len(codes)), codes])

    def _thresholds(self, errors: Array, rows: Any, coverage: float) -> Array:
        weights, groups = (None if each is None else each[rows] for each in (self._error_weights_, self._error_groups_))
        return set_thresholds(errors, self._error_codes_[rows], len(self.classes_), coverage, weights, groups)
