"""Regression from several views by kernel ridge regression on a dictionary of kernels."""

from __future__ import annotations

import numpy as np

from mklearn.base.multi_view_ridge import Alphas
from mklearn.base.parameters import parameters
from mklearn.regressors.ridge_regressor import RidgeRegressor

ALPHAS = tuple(10.0 ** (power / 2) for power in range(-18, 7))


@parameters
class MultiViewRegressor(RidgeRegressor):
    """Weighted mean of kernel ridge regressions on families of kernels, with equal and with learned weights.

    The first steps are as in `mklearn.classifiers.MultiViewClassifier`, with numbers in place of class indicators:
    build the dictionary of kernels, leave out views unrelated to the targets, learn the kernel weights that minimise
    the leave-one-out error and shrink them towards equal ones. Targets are standardised, and each has its own ridge.

    The prediction is a weighted mean of ridge regressions: on all kernels with equal weights, on all with learned
    weights, and on families of kernels with equal weights. A family holds the kernels of one kind (linear or Gaussian),
    of one kind and scaling, or of one kind and view (for the ten views that agree most with the targets, if any agrees
    by ``least_agreement``). The weights of the regressions minimise the squared error of the mean for left-out training
    samples, corrected for the optimism of learned kernel weights, with a prior that favours the first two
    (`mklearn.optimize.stacking`). A family that predicts far better than the others therefore has most of the weight,
    as linear kernels with a tiny ridge do on near-infrared spectra.

    Parameters
    ----------
    kernels : "dictionary", "precomputed", or specs
        By default the dictionary for every view of X. Else kernels as for `mklearn.subspace.KernelFDA`.
    learned : "auto" or float
        "auto" chooses the weights of all regressions by left-out errors; a number from 0 to 1 is the weight of the
        regression with learned kernel weights, the one with equal weights has the rest, and families have none.
    shrinkage : float
        Factor from 0 to 1 by which log ratios of the learned weights shrink, towards equal weights.
    least_agreement : float
        Agreement with the targets, in standard deviations of noise, below which views are left out if the left-out
        error is smaller without them by more than a standard error; the 1, 2, 4, ... of them that agree most are kept
        if it is smaller with these. If all agree less, none is left out. 0 keeps all views.
    weight_samples : int
        Largest number of training samples from which views are chosen, the weights of kernels and regressions are
        learned, and missing views are completed. More samples are subsampled, without regard to the targets. The
        regressions are fitted to all samples.
    n_kernels : int, optional
        Largest number of kernels with a positive weight, chosen by a group lasso. By default all kernels are taken.
    missing_views, impute, random_state, landmarks
        As for `mklearn.classifiers.MultiViewClassifier`; predictions for samples that lack every view are NaN.
    alphas : sequence of float
        Candidate ridges, in units of the variance of the samples in the feature space (the centred trace). The largest
        one is taken whose left-out error exceeds the smallest error by less than the fraction 2/n (with groups, n is
        the effective number of errors). Errors with few degrees of freedom count with their upper confidence bound
        (`mklearn.optimize.ridge_path`).

    Attributes
    ----------
    part_weights_ : dict of str to float
        Weights of the regressions, by name: "equal", "learned", and those families with a weight of 0.01 or more, such
        as "linear", "linear, unit" or "linear of blood".
    learned_ : float
        Weight of the regression with learned kernel weights.
    kernel_ids_ : tuple of str
    kernel_weights_, shares_, learned_shares_ : arrays of shape (n_kernels,), sum 1
        As for the classifier, as means over the regressions.
    view_shares_, view_agreements_ : dicts of str to float
        As for the classifier.
    alphas_ : array of shape (n_parts, n_targets)
        Ridges of the regressions in ``part_weights_``; NaN at weight 0.
    left_out_predictions_ : array of shape (n,) or (n, n_targets)
        Predictions for left-out training samples (with ``groups``, whole groups are left out), in closed form; NaN
        for samples that lack a target or have weight 0.
    left_out_r2_ : float, or array of shape (n_targets,)
        R^2 of ``left_out_predictions_`` (weighted by the sample weights). It is slightly optimistic, because weights
        and ridges were chosen on these samples. NaN for a constant target.
    coefficients_ : array of shape (n_parts, n_train, n_targets)
        Coefficients of the regressions, times their weights. With landmarks (n_parts, n_landmarks, n_targets).
    intercept_ : array of shape (n_targets,)
    n_features_in_ : int

    Raises
    ------
    DataError
        Among others: targets that are not numbers or have fewer than two values, invalid weights or groups, or kernels
        far from positive semidefinite.
    NotApplicable
        All samples with a value in one group, a view that fewer than two samples have, or all kernels constant over the
        samples.
    ConfigError
        An invalid kernel; scikit-learn's InvalidParameterError, a ValueError, for another invalid parameter.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (left-out outputs). Dupre la Tour, Eickenberg, Nunez-Elizalde, Gallant, "Feature-space selection
    with banded ridge regression", NeuroImage 264, 2022 (kernel weights by the left-out error). Breiman, "Stacked
    regressions", Machine Learning 1996 (weights from left-out predictions). The combination is this library's own.

    Notes
    -----
    Several targets share the weights, and samples without all of them are left out;
    `sklearn.multioutput.MultiOutputRegressor` learns weights of each (banded ridge regression).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> views = {"body": X[:, :4], "blood": X[:, 4:]}
    >>> train, test = slice(0, 300), slice(300, None)
    >>> model = MultiViewRegressor().fit({name: table[train] for name, table in views.items()}, y[train])
    >>> model.score({name: table[test] for name, table in views.items()}, y[test]) > 0.4
    True
    """

    alphas: Alphas = ALPHAS
    _dtype_of_parts = np.float64  # small ridges need it
    _tied_parameters = 2.0
    _prior_of_learned = 0.5
