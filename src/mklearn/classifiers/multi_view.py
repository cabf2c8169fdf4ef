"""Classification from several views: a dictionary of kernels, half of the decision with learned kernel weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from mklearn.base.kernel_passes import KernelPasses
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE, Interval, StrOptions, at_least, fit_context, one_of
from mklearn.base.validation import checked_labels
from mklearn.cards import KERNEL_DICTIONARY, MethodCard, list_of
from mklearn.cards import POSITIVE as POSITIVE_NUMBER
from mklearn.checks import cached_rows, check_positive, invalid
from mklearn.classifiers.class_scores import ClassScores
from mklearn.errors import ConfigError, NotApplicable
from mklearn.graphs import class_structure
from mklearn.kernels.completion import MissingViews
from mklearn.kernels.dictionary import kernel_dictionary, views_of_kernels
from mklearn.kernels.identity_like import IdentityLikeKernelWarning
from mklearn.kernels.imputation import Impute
from mklearn.kernels.specs import StackTransform, is_one_spec
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views, select_rows
from mklearn.optimize.calibration import fit_inverse_temperature, score_range, softmax
from mklearn.optimize.class_agreement import class_agreement
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, class_targets, kernel_traces, leave_one_out_weights
from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import RidgePath, feature_ridge_path, ridge_path
from mklearn.optimize.target_cosine import gain_in_standard_errors, target_cosines
from mklearn.optimize.validation import checked_sample_weight

Array = NDArray[np.floating[Any]]
Decision = Literal["auto", "ridge", "cosine"]
ALPHAS = (1e-3, 10**-2.5, 1e-2, 10**-1.5, 1e-1, 10**-0.5, 1.0)
# Smallest ridge of the regression that the weights are learned with.
_LEAST_RIDGE = 1.0
# Largest rank of a kernel while few of many are chosen; all that follows takes the kernels themselves.
_RANK_OF_CHOICE = 50
# New samples are predicted in blocks of so many.
_BLOCK = 4096


@MethodCard(
    kind="multi_view",
    title="Multi-view classifier",
    reference="Allen 1974; the combination is this library's own",
    advice=(
        "The one to start with: it chooses scalings, kernels, weights and ridge by closed-form leave-one-out, without"
        " inner cross-validation."
    ),
    inputs=KERNEL_DICTIONARY,
    library_only=("missing_views", "impute", "memory", "random_state", "landmarks"),
    tuned=("n_kernels",),
    valid={"alphas": [list_of(POSITIVE_NUMBER)], "class_weight": [{"enum": ["balanced"]}, None]},
)
class MultiViewClassifier(ClassScores, KernelsMixin, BaseEstimator):
    """Kernel ridge classification on a dictionary of kernels of each view, half of it with learned weights.

    Nothing has to be chosen, and nothing is chosen by cross-validation:

    1. Each view has a dictionary of kernels: features as they are, standardised, of unit length and as ranks, each with
       a Gaussian and a linear kernel (`mklearn.kernels.dictionary`). All have unit centred trace.
    2. Views that say nothing of the classes are left out of everything that follows: those whose kernels, at equal
       weights, agree with the classes by less than three standard deviations of noise
       (`mklearn.optimize.class_agreement`).
    3. Kernel weights minimise the leave-one-out error of a ridge regression, and are shrunk towards equal ones
       (`mklearn.optimize.leave_one_out_ridge`).
    4. One kernel ridge regression of the class indicators has equal weights and one the learned weights, each with the
       ridge of the smallest leave-one-out error (`mklearn.optimize.ridge_path`). The outputs are their mean.
    5. The class is that of the largest output; or that of the largest cosine of the output with the class's indicator,
       both about the class frequencies, if this is better for left-out training samples by more than a standard error.
    6. Probabilities are calibrated on the outputs for left-out training samples.

    Parameters
    ----------
    kernels : "dictionary", "precomputed", or specs
        By default the dictionary, of every view of X. Else kernels as for `mklearn.subspace.KernelFDA`: kernel
        matrices, or specs of kernels of views.
    learned : float
        Part of the outputs that is computed with learned kernel weights, from 0 (equal weights alone) to 1.
    shrinkage : float
        From 0 to 1: log ratios of the learned weights shrink by this factor. 0 for weights of the smallest
        leave-one-out error, 1 for equal weights of the kernels that these use.
    least_agreement : float
        Views that agree less with the classes, in standard deviations of noise, are left out; if all do, none is. 0
        takes all. A view that is informative only jointly with another one is left out too.
    alphas : sequence of float
        Candidate ridges, in units of the variance of the samples in the feature space (the centred trace).
    decision : {"auto", "ridge", "cosine"}
        The largest output, the largest cosine, or what step 5 says.
    class_weight : None, "balanced" or dict
        Weights of the classes, by label, which multiply the sample weights; "balanced" gives all classes the same sum.
    weight_samples : int
        Of more training samples, the kernel weights are learned from so many, of each class in proportion, drawn by
        ``random_state``. Everything else uses all.
    missing_views : {"mean", "error"}
        Of the dictionary: samples may lack a view, their row in it is NaN, and are then at the mean of those that have
        it; see `mklearn.kernels.completion.MeanCompletion`.
    impute : {"none", "mean", "median"}
        Of the dictionary: what fills in single missing values of features.
    n_kernels : int, optional
        Of many kernels, such as those of gene sets (`mklearn.kernels.group_kernels`), at most so many are chosen, by a
        group lasso (`mklearn.optimize.kernel_lasso`), and the others have weight 0. It takes the place of step 2, and
        is fitted to all training samples. By default all kernels are taken.
    memory : float
        GiB. Training kernels that need more are computed one by one, those with learned weights twice.
    random_state : int
    landmarks : int, optional
        For many samples: so many training samples are drawn, of each class in proportion. Kernels are fitted to them,
        weights are learned from them, and the regressions are those of all samples on the kernels' Nystroem
        approximation. Memory is that of two features of all samples for each landmark. By default all samples.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    kernel_ids_ : tuple of str
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Mean of the equal and the learned weights, in the parts that ``learned`` says: of the kernels as given.
    shares_ : array of shape (n_kernels,), sum 1
        The same for kernels at unit centred trace: shares of the variance that the kernels bring to the decision. 0 for
        kernels that are constant over the training samples.
    learned_shares_ : array of shape (n_kernels,), sum 1
        Shares of the learned half alone.
    view_shares_ : dict of str to float
        Sums of ``shares_`` by view.
    view_agreements_ : dict of str to float
        How far each view agrees with the classes, in standard deviations of noise. A kernel that is given, or a product
        of kernels, is a view of its own. Empty with ``n_kernels``.
    alphas_ : array of shape (2,)
        Ridges of the regressions with equal and with learned weights.
    decision_ : {"ridge", "cosine"}
    left_out_accuracy_ : float
        Accuracy for training samples that are left out in closed form (weighted by the sample weights). The weights,
        the ridges and the decision were chosen on these samples: it is a little optimistic, and more so where few of
        many kernels were.
    inverse_temperature_ : float
        Factor of the class scores in the exponent of the probabilities.
    coefficients_ : array of shape (2, n_train, n_classes)
        With landmarks (2, n_landmarks, n_classes).
    intercept_ : array of shape (n_classes,)
    n_features_in_ : int

    Raises
    ------
    DataError
        Among others: a view that lacks for too many samples, labels, weights or groups that do not fit, kernels far
        from positive semidefinite.
    NotApplicable
        A single class, all samples in one group, or all kernels constant over the samples.
    ConfigError
        An invalid parameter.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (left-out outputs). The combination is this library's own.

    Notes
    -----
    Equal weights are drowned by many views of noise: on three_sources with 8 samples per class the accuracy falls from
    89.1 to 81.5 and 75.7 % with 5 and 20 of them, and without the views that step 2 leaves out from 89.1 to 89.1 and
    88.4 %. Of the visible sets (mfeat, protein_fold, three_sources, digits; 5 to 20 per class, 5 splits) it leaves out
    at most one of 12 views of protein_fold with 5 per class, which gains 0.1 points, and nothing else.

    The bandwidth, the centring and the scaling of features are fitted to all training samples, so that left-out outputs
    depend a little on the features, not on the labels, of the sample that is left out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> views = {"upper": X[:, :32], "lower": X[:, 32:]}
    >>> train, test = slice(0, 200), slice(200, None)
    >>> model = MultiViewClassifier().fit({name: table[train] for name, table in views.items()}, y[train])
    >>> model.score({name: table[test] for name, table in views.items()}, y[test]) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelsMixin._parameter_constraints,
        "learned": [Interval(Real, 0, 1, closed="both")],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "least_agreement": [Interval(Real, 0, None, closed="left")],
        "alphas": ["array-like"],
        "decision": [one_of(Decision)],
        "class_weight": [None, StrOptions({"balanced"}), Mapping],
        "weight_samples": [at_least(2)],
        "missing_views": [one_of(MissingViews)],
        "impute": [one_of(Impute)],
        "n_kernels": [None, at_least(1)],
        "memory": [POSITIVE],
        "random_state": [at_least(0)],
        "landmarks": [None, at_least(2)],
    }

    def __init__(
        self,
        *,
        kernels: Any = "dictionary",
        learned: float = 0.5,
        shrinkage: float = 0.5,
        least_agreement: float = 3.0,
        alphas: Any = ALPHAS,
        decision: Decision = "auto",
        class_weight: Any = None,
        weight_samples: int = 500,
        missing_views: MissingViews = "mean",
        impute: Impute = "none",
        n_kernels: int | None = None,
        memory: float = 1.0,
        random_state: int = 0,
        landmarks: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.learned = learned
        self.shrinkage = shrinkage
        self.least_agreement = least_agreement
        self.alphas = alphas
        self.decision = decision
        self.class_weight = class_weight
        self.weight_samples = weight_samples
        self.missing_views = missing_views
        self.impute = impute
        self.n_kernels = n_kernels
        self.memory = memory
        self.random_state = random_state
        self.landmarks = landmarks

    @fit_context
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : views, array of shape (n, d), or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), optional
            A sample of weight 2 counts as two equal ones, which are left out together; a sample of weight 0 as none.
            Kernels of features are fitted to the samples without weights.
        groups : array of shape (n,), optional
            Samples of a group (a patient, a photograph) are left out together.
        """
        self._check_alphas()
        with warnings.catch_warnings():
            if self._has_many:  # of many kernels some say little; they are given no share for it
                warnings.simplefilter("ignore", IdentityLikeKernelWarning)
            samples = self._samples(X)
            n = int(samples.n_columns if isinstance(samples, KernelStack) else samples.shape[0])
            classes = class_structure(checked_labels(self, y, n))
            self.classes_ = classes.labels
            problem = _Problem.of(classes.codes, self._weights(classes.codes, sample_weight), groups)
            if self.landmarks is None or self.landmarks >= len(problem.codes):
                self._fit_combinations(self._passes(samples, problem), problem)
            else:
                self._fit_landmarks(samples, problem, problem.drawn(self.landmarks, self.random_state))
        self._choose_decision(problem)
        return self

    # --- input

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._is_dictionary
        return tags

    def _check_alphas(self) -> None:
        values = np.asarray(self.alphas)
        if values.ndim != 1 or not len(values) or values.dtype.kind not in "fiu":
            raise invalid(self.alphas, "alphas", "one or more positive numbers")
        for value in values:
            check_positive(float(value), "alphas")

    @property
    def _is_dictionary(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "dictionary"

    @property
    def _has_many(self) -> bool:
        return self._is_dictionary or self.n_kernels is not None

    @property
    def _has_specs(self) -> bool:
        return super()._has_specs and not self._is_dictionary

    def _samples(self, X: Any) -> Any:
        """Return training kernels that are given, or checked samples, with what is to compute kernels of them."""
        if self._is_precomputed:
            if self.landmarks is not None:
                raise ConfigError("landmarks choose among samples, and kernels='precomputed' are matrices: set None")
            stack = self._training_stack(X)
            self._views_of_kernels = list(stack.ids)
            return stack
        specs: Any = self.kernels
        if self._is_dictionary:
            specs = kernel_dictionary(X, missing_views=self.missing_views, impute=self.impute)
        self._transform_ = StackTransform(specs, drop_constant=self._has_many)
        return self._checked_features(X, self._transform_, reset=True)

    def _passes(self, samples: Any, problem: _Problem) -> KernelPasses:
        """Return the kernels among samples, or those of them that are chosen."""
        if self.n_kernels is not None:
            return self._few_passes(samples, problem)
        if isinstance(samples, KernelStack):
            return KernelPasses(samples)
        n_kernels = len(self._transform_.specs)
        if isinstance(samples, Views) and is_one_spec(self.kernels) and not self._is_dictionary:
            n_kernels *= len(samples.names)
        return self._computed(samples, n_kernels)

    def _computed(self, samples: Any, n_kernels: int) -> KernelPasses:
        keep = n_kernels * int(samples.shape[0]) ** 2 * 8 <= self.memory * 2**30
        return KernelPasses(transform=self._transform_, samples=samples, keep=keep)

    def _few_passes(self, samples: Any, problem: _Problem) -> KernelPasses:
        """Choose kernels and return them; keep the names of all."""
        if isinstance(samples, KernelStack):
            self._few = self._few_kernels(KernelPasses(samples), problem)
            return KernelPasses(samples.select(self._few.tolist()))
        every = self._transform_
        self._few = self._few_kernels(KernelPasses(transform=every, samples=samples, keep=False), problem)
        self.kernel_ids_, self._views_of_kernels = every.ids, views_of_kernels(every.fitted_specs)
        self._transform_ = every.of_kernels(self._few)
        return self._computed(samples, len(self._few))

    def _few_kernels(self, passes: KernelPasses, problem: _Problem) -> NDArray[np.intp]:
        """Choose at most `n_kernels` kernels by the group lasso, and return their positions."""
        assert self.n_kernels is not None
        factors = [
            kernel_factor(problem.part(K), _RANK_OF_CHOICE, sample_weight=problem.weights) for K in passes.every()
        ]
        weights = np.ones(len(problem.codes)) if problem.weights is None else problem.weights
        targets = class_targets(class_structure(problem.codes), problem.weights)
        centred = np.sqrt(weights)[:, None] * (targets - weights @ targets / weights.sum())
        return KernelLasso(factors, centred).largest_choice(self.n_kernels).chosen

    def _weights(self, codes: NDArray[np.intp], sample_weight: ArrayLike | None) -> Array | None:
        weights = checked_sample_weight(sample_weight, codes, self.classes_)
        if self.class_weight is None:
            return weights
        labels = self.classes_[codes]
        if isinstance(self.class_weight, Mapping):
            self._check_class_weight(self.class_weight)
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)
        if self.class_weight == "balanced" and weights is not None:
            sums = np.bincount(codes, weights)
            by_class = weights.sum() / (len(sums) * sums)
        return by_class[codes] if weights is None else weights * by_class[codes]

    def _check_class_weight(self, by_label: Mapping[Any, Any]) -> None:
        unknown = [label for label in by_label if label not in set(self.classes_.tolist())]
        if unknown:
            known = ", ".join(map(repr, self.classes_.tolist()[:10]))
            raise ConfigError(f"class_weight names the class {unknown[0]!r}, which is not in y; classes: {known}")
        for label, value in by_label.items():
            check_positive(value, f"class_weight[{label!r}]")

    # --- fit

    def _fit_combinations(self, passes: KernelPasses, problem: _Problem) -> None:
        """Fit the regressions with equal and with learned weights."""
        fits = [self._path(K, problem) for K in self._mixtures(passes, problem)]
        coefficients = np.zeros((2, problem.n, len(self.classes_)))
        coefficients[:, problem.rows] = [fit.coefficients for fit in (fits[0], fits[-1])]
        self._set_fits(coefficients, fits)

    def _fit_landmarks(self, samples: Any, problem: _Problem, chosen: NDArray[np.intp]) -> None:
        """Fit the regressions to the features that landmarks give: those of the kernels' Nystroem approximation."""
        rows = problem.rows[chosen]
        own = problem.of_rows(chosen)
        own = replace(own, n=len(rows), rows=np.arange(len(rows)))
        known = _rows_of(samples, rows)
        maps = [_whitening(K) for K in self._mixtures(self._passes(known, own), own)]
        features = [np.empty((len(problem.rows), each.shape[1])) for each in maps]
        for start in range(0, len(problem.rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            mixed = self._mixed(self._transform_.new_kernels(_rows_of(samples, problem.rows[block])), len(maps))
            for F, products, each in zip(features, mixed, maps, strict=True):
                F[block] = products @ each
        fits = [self._path(F, problem, of_features=True) for F in features]
        coefficients = [each @ fit.coefficients for each, fit in zip(maps, fits, strict=True)]
        self._set_fits(np.array([coefficients[0], coefficients[-1]]), fits)

    def _mixtures(self, passes: KernelPasses, problem: _Problem) -> list[Array]:
        """Return the kernels with equal and with learned weights, once if these are the same; set all weights."""
        chosen = problem.drawn(self.weight_samples, self.random_state)
        total = np.zeros((len(problem.codes), len(problem.codes)))
        traces, parts = [], []
        for K in passes.every():
            kernel = problem.part(K)
            (trace,) = kernel_traces([kernel], problem.weights)
            traces.append(trace)
            parts.append(kernel if len(chosen) == len(kernel) else kernel[np.ix_(chosen, chosen)].astype(np.float32))
            if trace > 0:
                _add(total, 1.0 / trace, kernel)
        self._name_kernels(passes)
        scales = np.divide(1.0, traces, out=np.zeros(len(traces)), where=np.array(traces) > 0)
        if not scales.any():
            raise NotApplicable("all kernels are constant over the samples: no class can be discriminated")
        kept = self._agreeing(parts, scales, problem.of_rows(chosen))
        equal = kept / kept.sum()
        learned = self._learned_shares(parts, problem.of_rows(chosen), equal)
        del parts
        self._set_weights(equal, learned, scales)
        for number, kernel in _numbered(passes, np.flatnonzero((scales > 0) & ~kept), problem):
            _add(total, -scales[number], kernel)
        total *= equal.max()
        if np.allclose(learned, equal, rtol=1e-12, atol=0):
            return [total]
        mixed = np.zeros_like(total)
        for number, kernel in _numbered(passes, np.flatnonzero(learned), problem):
            _add(mixed, (learned * scales)[number], kernel)
        return [total, mixed]

    def _agreeing(self, kernels: list[NDArray[Any]], scales: Array, problem: _Problem) -> NDArray[np.bool_]:
        """Return which kernels are of views that agree with the classes; all that vary if no view does."""
        self.view_agreements_: dict[str, float] = {}
        if self.n_kernels is not None:
            return scales > 0
        targets = class_targets(class_structure(problem.codes), problem.weights)
        views, varies = np.array(self._views_of_kernels), scales > 0
        for view in dict.fromkeys(self._views_of_kernels):
            total = np.zeros((len(targets), len(targets)))
            for number in np.flatnonzero((views == view) & varies):
                _add(total, scales[number], kernels[number])
            agreement = class_agreement(total, targets, sample_weight=problem.weights, groups=problem.groups)
            self.view_agreements_[view] = agreement
        agrees = np.array([self.view_agreements_[view] >= self.least_agreement for view in self._views_of_kernels])
        return agrees & varies if (agrees & varies).any() and self.least_agreement > 0 else varies

    def _name_kernels(self, passes: KernelPasses) -> None:
        if self._is_precomputed:
            return
        if self.n_kernels is None:
            self.kernel_ids_ = self._transform_.ids
            self._views_of_kernels = views_of_kernels(self._transform_.fitted_specs)
        self._dtype_ = np.dtype(np.float64)

    def _path(self, values: Array, problem: _Problem, *, of_features: bool = False) -> RidgePath:
        """Fit a regression of the class indicators to a kernel of unit centred trace, or to features like that."""
        path = feature_ridge_path if of_features else ridge_path
        indicators = np.eye(len(self.classes_))[problem.codes]
        return path(values, indicators, self.alphas, sample_weight=problem.weights, groups=problem.groups)

    def _learned_shares(self, kernels: list[NDArray[Any]], problem: _Problem, equal: Array) -> Array:
        """Return the learned shares of the kernels; equal ones if none are to be learned."""
        if self.learned == 0 or np.count_nonzero(equal) == 1:
            return equal
        classes = class_structure(problem.codes)
        targets = class_targets(classes, problem.weights)
        kept = np.flatnonzero(equal)
        objective = LeaveOneOutRidge(
            [kernels[number] for number in kept], targets, _LEAST_RIDGE, problem.weights, problem.groups
        )
        found = leave_one_out_weights(objective, shrinkage=self.shrinkage)
        if found.status == "uniform":
            return equal
        shares = np.zeros(len(equal))
        shares[kept] = found.shares
        return shares

    def _set_weights(self, equal: Array, learned: Array, scales: Array) -> None:
        parts, both = self._parts, np.array([equal, learned])
        self._weights_of_kernels = both * scales
        self.learned_shares_ = self._of_every_kernel(learned)
        self.shares_ = self._of_every_kernel(parts @ both)
        weights = self._weights_of_kernels / self._weights_of_kernels.sum(axis=1, keepdims=True)
        self.kernel_weights_ = self._of_every_kernel(parts @ weights)
        self.view_shares_: dict[str, float] = dict.fromkeys(self._views_of_kernels, 0.0)
        for view, share in zip(self._views_of_kernels, self.shares_, strict=True):
            self.view_shares_[view] += float(share)

    def _of_every_kernel(self, values: Array) -> Array:
        """Return values of the chosen kernels with zeros for the others."""
        if self.n_kernels is None:
            return values
        every = np.zeros(len(self._views_of_kernels))
        every[self._few] = values
        return every

    @property
    def _parts(self) -> Array:
        """Parts of the outputs with equal and with learned weights."""
        return np.array([1.0 - self.learned, self.learned])

    def _set_fits(self, coefficients: Array, fits: Sequence[RidgePath]) -> None:
        """Set the mean of two regressions, of equal and of learned weights; of a single one if these are the same."""
        both = (fits[0], fits[-1])
        self.coefficients_ = self._parts[:, None, None] * coefficients
        self.alphas_ = np.array([fit.ridge for fit in both])
        self.intercept_ = self._parts @ [fit.intercept for fit in both]
        self._left_out: Array = np.tensordot(self._parts, [fit.left_out for fit in both], axes=1)

    def _choose_decision(self, problem: _Problem) -> None:
        weights = np.bincount(problem.codes, problem.weights, minlength=len(self.classes_))
        self._frequencies = weights / weights.sum()
        outputs = self._left_out
        del self._left_out
        cosines = target_cosines(outputs, self._frequencies)
        by_output, by_cosine = (scores.argmax(axis=1) == problem.codes for scores in (outputs, cosines))
        self.decision_ = self.decision
        if self.decision == "auto":
            left_out = LeftOut(len(problem.codes), problem.groups)
            gain = gain_in_standard_errors(by_cosine, by_output, left_out, problem.weights)
            self.decision_ = "cosine" if gain > 1 + 1e-9 else "ridge"
        scores, correct = (outputs, by_output) if self.decision_ == "ridge" else (cosines, by_cosine)
        self.left_out_accuracy_ = float(np.average(correct, weights=problem.weights))
        self._score_range = score_range(scores)
        self.inverse_temperature_ = fit_inverse_temperature(scores, problem.codes, problem.weights)

    # --- predictions

    def class_scores(self, X: Any) -> Array:
        """Compute the outputs, or their cosines with the class indicators if ``decision_`` says so, (m, n_classes)."""
        check_is_fitted(self)
        if self._is_precomputed:
            stack = self._new_stack(X)[0]
            outputs = self._outputs(stack if self.n_kernels is None else stack.select(self._few.tolist()))
        else:
            table = self._checked_features(X, self._transform_, reset=False)
            blocks = [self._outputs(self._transform_.new_kernels(block)) for block in _row_blocks(table)]
            outputs = np.concatenate(blocks)
        return outputs if self.decision_ == "ridge" else target_cosines(outputs, self._frequencies)

    def _outputs(self, kernels: Iterable[NDArray[Any]]) -> Array:
        products = (mixed @ A for mixed, A in zip(self._mixed(kernels, 2), self.coefficients_, strict=True))
        return np.asarray(sum(products, start=self.intercept_))

    def _mixed(self, kernels: Iterable[NDArray[Any]], count: int) -> list[Any]:
        """Return the kernels of samples with equal weights, and for two with learned weights too."""
        mixtures: list[Any] = [0.0] * count
        for weights, kernel in zip(self._weights_of_kernels.T, kernels, strict=True):
            for number, weight in enumerate(weights[:count]):
                if np.isscalar(mixtures[number]):
                    mixtures[number] = np.zeros(kernel.shape)
                if weight:
                    _add(mixtures[number], weight, kernel)
        return mixtures

    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of the classes, shape (m, n_classes), calibrated on left-out training samples.

        The class of the largest probability is that of `predict`.
        """
        return softmax(self.class_scores(X), self.inverse_temperature_, self._score_range)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Training samples of positive weight.

    Attributes
    ----------
    n : int
        Number of all training samples.
    rows : array of shape (n_used,)
        Positions of those of positive weight.
    codes : array of shape (n_used,)
        Classes.
    weights : array of shape (n_used,), or None
    groups : array of shape (n_used,), or None
    """

    n: int
    rows: NDArray[np.intp]
    codes: NDArray[np.intp]
    weights: Array | None
    groups: NDArray[Any] | None

    @classmethod
    def of(cls, codes: NDArray[np.intp], weights: Array | None, groups: ArrayLike | None) -> _Problem:
        n = len(codes)
        LeftOut(n, groups)  # refuses groups that do not fit
        names = None if groups is None else np.asarray(groups)
        every = cls(n, np.arange(n), codes, weights, names)
        return every if weights is None or weights.all() else every.of_rows(np.flatnonzero(weights))

    def of_rows(self, rows: NDArray[np.intp]) -> _Problem:
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return _Problem(self.n, self.rows[rows], self.codes[rows], weights, groups)

    def part(self, K: NDArray[Any]) -> NDArray[Any]:
        return K if len(self.rows) == self.n else K[np.ix_(self.rows, self.rows)]

    def drawn(self, most: int, seed: int) -> NDArray[np.intp]:
        """Draw positions among the rows, ascending: of each class in proportion, two or more if it has them."""
        n = len(self.codes)
        if n <= most:
            return np.arange(n)
        rng, found = np.random.default_rng(seed), []
        for code, count in enumerate(np.bincount(self.codes)):
            members = np.flatnonzero(self.codes == code)
            found.append(rng.permutation(members)[: min(count, max(2, round(count * most / n)))])
        return np.sort(np.concatenate(found))


def _add(total: Array, factor: float, kernel: NDArray[Any]) -> None:
    """Add a multiple of a kernel to a sum in double precision, in place."""
    for part in cached_rows(kernel):
        total[part] += factor * kernel[part].astype(np.float64, copy=False)


def _numbered(passes: KernelPasses, numbers: NDArray[np.intp], problem: _Problem) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the kernels at some positions with these, among the samples of a problem."""
    if len(numbers):
        for number, K in zip(numbers, passes.some(numbers), strict=True):
            yield int(number), problem.part(K)


def _whitening(K: Array) -> Array:
    """Return W, (n, q), with ``K W W' K = K``: products of k(x) and W are features of x."""
    values, vectors = eigh(K, check_finite=False)
    kept = values > len(K) * np.finfo(np.float64).eps * values[-1] * 100
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _rows_of(table: Any, rows: Any) -> Any:
    return table[rows] if isinstance(table, Views) else select_rows(table, rows)


def _row_blocks(table: Any) -> Iterator[Any]:
    n = int(table.shape[0])
    if n <= _BLOCK:
        yield table
        return
    for start in range(0, n, _BLOCK):
        yield _rows_of(table, slice(start, start + _BLOCK))
