"""Regression from several views by kernel ridge regression on a dictionary of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mklearn.regressors.ridge_regressor import ALPHAS, RidgeRegressor, WeightSharing


@dataclass(kw_only=True, eq=False, repr=False)
class MultiViewRegressor(RidgeRegressor):
    """Kernel ridge regression on a dictionary of kernels per view, with equal and with learned weights.

    The steps are those of `mklearn.classifiers.MultiViewClassifier`, with numbers in place of class indicators: build
    the dictionary of kernels, leave out views unrelated to the targets, learn the kernel weights of the smallest
    leave-one-out error and shrink them towards equal ones, and average two ridge regressions, one with equal and one
    with learned weights. Targets are standardised first, and each has its own ridge. Learned weights are used alone if
    they are clearly better for left-out training samples.

    Parameters
    ----------
    kernels : "dictionary", "precomputed", or specs
        By default the dictionary for every view of X. Else kernels as for `mklearn.subspace.KernelFDA`.
    learned : "auto" or float
        Share of the predictions computed with learned kernel weights, from 0 (equal weights alone) to 1. "auto" is 0.5,
        or 1 if the left-out error is then smaller by more than one standard error plus the optimism of weights learned
        from the same samples.
    shrinkage : float
        Factor from 0 to 1 by which log ratios of the learned weights shrink, towards equal weights.
    least_agreement : float
        Agreement with the targets, in standard deviations of noise, below which views are left out if the left-out
        error is smaller without them by more than a standard error. If all agree less, none is left out. 0 keeps all
        views.
    weight_samples : int
        Largest number of training samples from which kernel weights are learned. More samples are subsampled, without
        regard to the targets. Everything else uses all samples.
    n_kernels : int, optional
        Largest number of kernels with a positive weight, chosen by a group lasso. By default all kernels are taken.
    missing_views, impute, memory, random_state, landmarks
        As for `mklearn.classifiers.MultiViewClassifier`; predictions for samples that lack every view are NaN.
    alphas : sequence of float
        Candidate ridges, in units of the variance of the samples in the feature space (the centred trace).
    weights : {"shared", "per_target"}
        Kernel weights of several targets: one set for all, or one learned per target (banded ridge regression).

    Attributes
    ----------
    learned_ : float, or array of shape (n_targets,)
        Share of the predictions computed with learned weights; one per target for several targets with
        ``weights="per_target"``.
    kernel_ids_ : tuple of str
    kernel_weights_, shares_, learned_shares_ : arrays of shape (n_kernels,), sum 1
        As for the classifier; shape (n_targets, n_kernels) for several targets with ``weights="per_target"``.
    view_shares_, view_agreements_ : dicts of str to float
        As for the classifier; the values are arrays of shape (n_targets,) for several targets with
        ``weights="per_target"``.
    alphas_ : array of shape (2, n_targets)
        Ridges of the regressions with equal and with learned weights.
    left_out_predictions_ : array of shape (n,) or (n, n_targets)
        Predictions for left-out training samples (with ``groups``, whole groups are left out), in closed form; NaN
        where the target is missing or the sample weight is 0.
    left_out_r2_ : float, or array of shape (n_targets,)
        R^2 of ``left_out_predictions_`` (weighted by the sample weights). It is slightly optimistic, because weights
        and ridges were chosen on these samples. NaN for a constant target.
    coefficients_ : array of shape (2, n_train, n_targets)
        With landmarks (2, n_landmarks, n_targets).
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
        An invalid parameter.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (left-out outputs). Dupre la Tour, Eickenberg, Nunez-Elizalde, Gallant, "Feature-space selection
    with banded ridge regression", NeuroImage 264, 2022 (weights of each target). The combination is this library's own.

    Notes
    -----
    Where values of targets are missing, each target is fitted to the samples that have it. Shared weights are learned
    from all samples with a value of any target, missing ones at the target's mean.

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

    alphas: Any = ALPHAS
    weights: WeightSharing = "shared"
