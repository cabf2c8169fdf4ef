"""Regression from several views: a dictionary of kernels, half of the prediction with learned kernel weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mklearn.regressors.ridge_regressor import ALPHAS, RidgeRegressor, WeightSharing


@dataclass(kw_only=True, eq=False, repr=False)
class MultiViewRegressor(RidgeRegressor):
    """Kernel ridge regression on a dictionary of kernels of each view, half of it with learned weights.

    It predicts numbers as `mklearn.classifiers.MultiViewClassifier` predicts class indicators, by the same steps: the
    dictionary of kernels; views that say nothing of the targets left out; kernel weights of the smallest leave-one-out
    error, shrunk towards equal ones; the mean of two ridge regressions, with equal and with learned weights. Targets
    are standardised first, and each has a ridge of its own. Learned weights have all of the prediction where that is
    clearly better for the training samples, left out.

    Parameters
    ----------
    kernels : "dictionary", "precomputed", or specs
        By default the dictionary, of every view of X. Else kernels as for `mklearn.subspace.KernelFDA`.
    learned : "auto" or float
        Part of the predictions that is computed with learned kernel weights, from 0 (equal weights alone) to 1. "auto"
        is 0.5, or 1 if that has a smaller left-out error by more than one standard error and the optimism of weights
        that are learned from the same samples.
    shrinkage : float
        From 0 to 1: log ratios of the learned weights shrink by this factor, towards equal ones.
    least_agreement : float
        Views that agree less with the targets, in standard deviations of noise, are left out if the left-out error is
        smaller without them, by more than a standard error. If all agree less, none is left out. 0 takes all.
    weight_samples : int
        Of more training samples, the kernel weights are learned from so many, drawn by ``random_state`` without regard
        to the targets. Everything else uses all.
    n_kernels : int, optional
        Of many kernels at most so many are chosen, by a group lasso, and the others have weight 0. By default all
        kernels are taken.
    missing_views, impute, memory, random_state, landmarks
        As for `mklearn.classifiers.MultiViewClassifier`; predictions for samples that lack every view are NaN.
    alphas : sequence of float
        Candidate ridges, in units of the variance of the samples in the feature space (the centred trace).
    weights : {"shared", "per_target"}
        Whether several targets share kernel weights, or each learns its own (banded ridge regression).

    Attributes
    ----------
    learned_ : float, or array of shape (n_targets,)
        The part that learned weights have; by target for several targets with weights of their own.
    kernel_ids_ : tuple of str
    kernel_weights_, shares_, learned_shares_ : arrays of shape (n_kernels,), sum 1
        As for the classifier; (n_targets, n_kernels) for several targets with weights of their own.
    view_shares_, view_agreements_ : dicts of str to float
        As for the classifier; to arrays of shape (n_targets,) for several targets with weights of their own.
    alphas_ : array of shape (2, n_targets)
        Ridges of the regressions with equal and with learned weights.
    left_out_predictions_ : array of shape (n,) or (n, n_targets)
        Predictions for training samples that are left out in closed form, with their groups; NaN where there is no
        target, or no weight.
    left_out_r2_ : float, or array of shape (n_targets,)
        R^2 of these (weighted by the sample weights). The weights and the ridges were chosen on these samples: it is a
        little optimistic. NaN for a constant target.
    coefficients_ : array of shape (2, n_train, n_targets)
        With landmarks (2, n_landmarks, n_targets).
    intercept_ : array of shape (n_targets,)
    n_features_in_ : int

    Raises
    ------
    DataError
        Among others: targets that are no numbers, or with fewer than two values; weights or groups that do not fit;
        kernels far from positive semidefinite.
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
