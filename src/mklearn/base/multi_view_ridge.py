"""Ridge regression on a dictionary of kernels of several views, with equal and with learned kernel weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import fit_context
from mklearn.base.kernel_mixtures import (
    KernelMixer,
    Mixture,
    RidgeFits,
    agreeing_kernels,
    few_kernels,
    kernel_families,
    learned_shares,
    stacked,
    whitening,
)
from mklearn.base.kernel_source import (
    BLOCK,
    KernelSource,
    PrecomputedKernels,
    n_samples,
    numbers_of,
    row_blocks,
)
from mklearn.base.kernels_mixin import Kernels, KernelsMixin
from mklearn.base.left_out_views import LeftOutViews
from mklearn.base.parameters import Nonnegative, NonnegativeInt, PositiveInt, Share, at_least, parameters
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.view_completion import MixtureProducts
from mklearn.checks import check_positive, invalid
from mklearn.errors import ConfigError, DataError, warn
from mklearn.estimator_input import nonnegative_weights
from mklearn.kernels.dictionary import kernel_dictionary
from mklearn.kernels.imputation import Impute
from mklearn.kernels.matrices import IdentityLikeKernelWarning
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Views, repeated_rows, select_rows
from mklearn.optimize.stacking import PRECISION

Array = NDArray[np.floating[Any]]
Alphas = Annotated[Any, "array-like"]
ALPHAS = (1e-3, 10**-2.5, 1e-2, 10**-1.5, 1e-1, 10**-0.5, 1.0)
MissingViews = Literal["regression", "error"]


class SamplesWithoutViewsWarning(UserWarning):
    """Warning that training samples lack every view."""


class RepeatedSamplesWarning(UserWarning):
    """Warning that training samples repeat others in every view, so that left-out errors are too small."""


@parameters
class MultiViewParameters:
    """Parameters that the multi-view classifier and regressor share; other estimators fix some of them."""

    kernels: Kernels = "dictionary"
    learned: Literal["auto"] | Share = "auto"
    shrinkage: Share = 0.5
    least_agreement: Nonnegative = 3.0
    alphas: Alphas = ALPHAS
    weight_samples: Annotated[int, at_least(2)] = 500
    missing_views: MissingViews = "regression"
    impute: Impute = "none"
    n_kernels: PositiveInt | None = None
    random_state: NonnegativeInt = 0
    landmarks: Annotated[int, at_least(2)] | None = None


class MultiViewRidge(MultiViewParameters, KernelsMixin, BaseEstimator):
    """Base class of weighted means of ridge regressions with different kernel weights: equal, learned, or others.

    A subclass implements `_fit`, which calls `_checked_samples`, checks the targets, and calls `_fit_problem` with
    numeric targets. It computes predictions from `_outputs_of`, implements `_weighing_targets`, and sets
    `_prior_of_learned`.
    """

    coefficients_: Array
    intercept_: Array
    view_shares_: dict[str, float]
    view_agreements_: dict[str, float]
    _source: KernelSource
    _left_out_views_: LeftOutViews | None
    _products: MixtureProducts  # one for each distinct mixture of kernels
    _dtype_of_parts: type = np.float32  # data type of the kernels from which weights are learned
    _prior_of_learned: float  # prior weight of the part "learned"; "equal" has the rest, families have none
    _prior_precision = PRECISION
    _stacks_landmarks = True  # whether families of kernels are weighted with landmarks too, which takes time

    # --- input

    @property
    def _is_dictionary(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "dictionary"

    @property
    def _has_many(self) -> bool:
        """Whether constant kernels are allowed: among many kernels they get no share."""
        return self._is_dictionary or self.n_kernels is not None

    @property
    def _has_specs(self) -> bool:
        return super()._has_specs and not self._is_dictionary

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

    def _checked_samples(self, X: Any) -> Any:
        """Check the candidate ridges and X, set the source, and return samples or a stack of precomputed kernels."""
        self._check_alphas()
        if self._is_precomputed:
            if self.landmarks is not None:
                raise ConfigError("landmarks choose among samples, and kernels='precomputed' are matrices: set None")
            stack = self._training_stack(X)
            self._source = KernelSource(PrecomputedKernels(list(range(len(stack))), stack.ids), completes=False)
            return stack
        specs: Any = self.kernels
        completes = self._is_dictionary and self.missing_views == "regression"
        if self._is_dictionary:
            specs = kernel_dictionary(X, missing_views="mean" if completes else "error", impute=self.impute)
        transform = StackTransform(specs, drop_constant=self._has_many)
        table = self._checked_features(X, transform, reset=True)
        self._source = KernelSource(transform, completes and isinstance(table, Views))
        return table

    def _known_weights(self, samples: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Any:
        """Return the sample weights, with zeros for samples that lack every view.

        Warns about these samples, and about repeated samples that are not in the same group.
        """
        unknown = self._source.without_views(samples)
        repeated = {} if isinstance(samples, KernelStack) else repeated_rows(samples)
        names = None if groups is None or len(groups) != len(unknown) else np.asarray(groups)  # type: ignore[arg-type]
        pairs = [
            (first, row)
            for row, first in repeated.items()
            if not unknown[row] and (names is None or names[row] != names[first])
        ]
        if pairs:
            warn(
                f"{len(pairs)} of {len(unknown)} samples have the values of another one in every view (the first: "
                f"positions {pairs[0][0]} and {pairs[0][1]}). Are they the same sample? Errors of left-out samples and "
                "cross-validation are then too small: leave them out, or give both the same group in `groups`",
                RepeatedSamplesWarning,
            )
        if unknown.all():
            raise DataError("all samples lack every view: their rows are NaN")
        if not unknown.any():
            return sample_weight
        warn(
            f"{np.count_nonzero(unknown)} of {len(unknown)} samples lack every view: nothing is learned from them",
            SamplesWithoutViewsWarning,
        )
        weights = nonnegative_weights(sample_weight, len(unknown))
        return np.where(unknown, 0.0, 1.0 if weights is None else weights)

    # --- fit

    @fit_context
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Fit the estimator.

        Parameters
        ----------
        X : views, array of shape (n, d), or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels. For a regressor, numbers in any unit, also (n, n_targets); samples with a NaN are left out.
        sample_weight : array of shape (n,), optional
            Sample weights. A sample of weight 2 counts as two equal samples that are left out together, a sample of
            weight 0 as none. Kernels of features are fitted to all samples, unweighted; missing views are completed
            from the samples of positive weight, unweighted.
        groups : array of shape (n,), optional
            Groups, such as patients or photographs, whose samples are left out together.
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> None:
        raise NotImplementedError

    def _fit_problem(self, samples: Any, problem: RidgeProblem) -> RidgeFits:
        """Fit with the kernels of all samples, or of landmarks drawn from them."""
        with warnings.catch_warnings():
            if self._has_many:  # among many kernels, uninformative ones get no share
                warnings.simplefilter("ignore", IdentityLikeKernelWarning)
            chosen = problem.drawn(self.landmarks or len(problem.rows), self.random_state)
            return self._fit_chosen(samples, problem, None if len(chosen) == len(problem.rows) else chosen)

    def _fit_chosen(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp] | None) -> RidgeFits:
        """Fit with the kernels of all samples, or of landmarks at positions `chosen` among the weighted samples."""
        source, base, known = self._source, problem, samples
        if chosen is not None:
            base, known = problem.alone(chosen), select_rows(samples, problem.rows[chosen])
        if self.n_kernels is not None:
            passes = source.among(known, once=True)
            source.choose(few_kernels(passes, base, self._weighing_targets(base), self.n_kernels))
        if (present := source.completed_views(known)) is not None:
            base = replace(base, present=present[base.rows])
        drawn = base.drawn(self.weight_samples, self.random_state)
        mixer = KernelMixer(source.among(known), source, base, drawn, self._dtype_of_parts)
        mixer.landmarks = chosen
        self.kernel_ids_ = source.ids_and_views[0]
        fits = RidgeFits(problem, mixer, self._parts(mixer))
        dense = ((mixture, K, None) for mixture, K in mixer.mix(fits.mixtures))
        for mixture, values, W in dense if chosen is None else self._landmark_features(samples, fits):
            fits.fit(mixture, values, W, self.alphas)
        self._set_weights(fits)
        self.coefficients_, self.alphas_ = fits.coefficients, fits.ridges
        self.intercept_ = fits.intercept.sum(axis=0)
        self._products = self._products_of([(each, fits.of_mixture(each)) for each in fits.mixtures], fits.mixer)
        return fits

    def _landmark_features(self, samples: Any, fits: RidgeFits) -> Iterator[tuple[Mixture, Array, Array]]:
        """Yield mixtures with the Nystroem features of all samples, (n_used, q), and the maps from kernels to them."""
        rows, maps = fits.problem.rows, [(mixture, whitening(K)) for mixture, K in fits.mixer.mix(fits.mixtures)]
        for first in range(0, len(maps), 2):  # two mixtures in each pass over the samples
            some = needed = maps[first : first + 2]
            if fits.mixer.completion is not None and some[0][0] is not fits.mixtures[0]:
                # the mixture that completes views has to be first
                needed = [(fits.mixtures[0], np.zeros((fits.mixer.problem.n, 0))), *some]
            products = self._products_of(needed, fits.mixer)
            features = [np.empty((len(rows), W.shape[1])) for _, W in needed]
            for start in range(0, len(rows), BLOCK):
                block = slice(start, start + BLOCK)
                for F, values in zip(features, self._applied(products, select_rows(samples, rows[block])), strict=True):
                    F[block] = values
            for (mixture, W), F in zip(some, features[-len(some) :], strict=True):
                yield mixture, F, W

    def _weighing_targets(self, problem: RidgeProblem) -> Array:
        """Return the targets, (n_used, c), for learning weights, where the scale of a column is its importance."""
        raise NotImplementedError

    # --- kernel weights

    def _parts(self, mixer: KernelMixer) -> dict[str, tuple[float, Array]]:
        """Return the weight and the kernel shares, (n_kernels,), of each part of the predictions, by name."""
        problem = mixer.problem.of_rows(mixer.chosen)
        problem, kernels = replace(problem, targets=self._weighing_targets(problem)), mixer.parts
        equal = self._equal_shares(mixer, problem)
        mixer.complete(equal > 0)
        learned = self._prior_of_learned if self.learned == "auto" else float(self.learned)
        chosen = {
            "equal": (1.0 - learned, equal),
            "learned": (learned, self._learned_shares(kernels, problem, equal)),
        }
        if self.learned == "auto" and (self._stacks_landmarks or mixer.landmarks is None):
            specs, views, used = self._source.transform.fitted_specs, self._source.views, equal > 0
            families = kernel_families(specs, views, used, self.view_agreements_, self.least_agreement)
            chosen |= {name: (0.0, family / family.sum()) for name, family in families.items()}
            chosen = stacked(chosen, kernels, mixer.scales, problem, self.alphas, self._prior_precision)
        return chosen

    def _equal_shares(self, mixer: KernelMixer, problem: RidgeProblem) -> Array:
        """Return equal shares of the kernels of views that agree with the targets, (n_kernels,)."""
        used, self.view_agreements_ = mixer.scales > 0, {}
        if self.n_kernels is None:
            used, self.view_agreements_ = agreeing_kernels(
                mixer.parts, mixer.scales, self._source.views, problem, self.least_agreement, self.alphas
            )
        return np.asarray(used / used.sum())

    def _learned_shares(self, kernels: list[NDArray[Any]], problem: RidgeProblem, equal: Array) -> Array:
        return equal if self.learned == 0 else learned_shares(kernels, problem, equal, self.shrinkage)

    # --- results

    def _set_weights(self, fits: RidgeFits) -> None:
        """Set the weights of the parts and of the kernels."""
        every, (_, views) = self._source.of_every_kernel, self._source.ids_and_views
        weights = fits.shares * fits.mixer.scales
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        self.part_weights_ = dict(zip(fits.names, fits.weights.tolist(), strict=True))
        self.learned_ = self.part_weights_["learned"]
        self.learned_shares_ = every(fits.shares[fits.names.index("learned")])
        self.shares_ = every(fits.weights @ fits.shares)
        self.kernel_weights_ = every(fits.weights @ weights)
        self.view_shares_ = dict.fromkeys(views, 0.0)
        for view, share in zip(views, self.shares_.tolist(), strict=True):
            self.view_shares_[view] += share

    def _products_of(self, maps: Sequence[tuple[Mixture, Array]], mixer: KernelMixer) -> MixtureProducts:
        """Return a function of new kernels that multiplies mixtures by their coefficients, (n_used, q)."""
        weighted = [(mixture.weights, values) for mixture, values in maps]
        rows, donor_rows = mixer.problem.rows, [mixture.donor_rows for mixture, _ in maps]
        return MixtureProducts(weighted, mixer.view_numbers, rows, mixer.problem.n, mixer.completion, donor_rows)

    def _set_views(self, fits: RidgeFits, left_out: Array, samples: Any) -> None:
        """Set the left-out outputs for samples that lack views; ``left_out``, (n_used, c), excludes the intercept."""
        self._used_, present = fits.problem.rows, self._source.present(samples)
        self._left_out_views_ = None if present is None else LeftOutViews.of(fits, left_out, present[self._used_])

    # --- predictions

    def _without_views(self, X: Any) -> Iterator[tuple[NDArray[np.bool_], Array, NDArray[np.intp]]]:
        """Yield a mask of the samples that lack the same views, and left-out outputs predicted without these views.

        The outputs exclude the intercept. The third item has the positions of their samples in the problem.
        """
        if (left_out := self._left_out_views_) is not None:
            present = np.concatenate([self._source.present(block) for block in self._blocks(X)])
            for pattern, lacking in left_out.incomplete(present):
                outputs, rows = left_out.with_views(pattern)
                yield lacking, outputs, rows

    def _applied(self, products: MixtureProducts, block: Any) -> list[Array]:
        return products(self._source.transform.new_kernels(block), self._source.completed_views(block))

    def _outputs_of(self, X: Any) -> Array:
        """Compute the outputs of new samples, (m, c); NaN for samples that lack every view."""
        outputs = []
        for block in self._blocks(X):
            values = sum(self._applied(self._products, block), self.intercept_)
            values[self._source.without_views(block)] = np.nan
            outputs.append(values)
        return np.concatenate(outputs)

    def _blocks(self, X: Any) -> Iterator[Any]:
        """Yield checked new samples in consecutive blocks; precomputed kernels form one block."""
        check_is_fitted(self)
        transform = self._source.transform
        if isinstance(transform, PrecomputedKernels):
            return row_blocks(self._new_stack(X)[0])
        return row_blocks(self._checked_features(X, transform, reset=False))

    def contributions(self, X: Any) -> dict[str, Array]:
        """Compute the contribution of each view to the outputs; with ``intercept_`` they sum to the outputs.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        dict of str to array of shape (m, c)
            Contribution of each view in units of the targets (class indicators for classes); NaN for samples that lack
            every view. For centred kernels, such as the dictionary's, the mean over the training samples is 0 without
            landmarks and missing views. A precomputed kernel or a product of kernels counts as a view.
        """
        parts = [self._contributions(block) for block in self._blocks(X)]
        return {view: np.concatenate([part[view] for part in parts]) for view in parts[0]}

    def _contributions(self, block: Any) -> dict[str, Array]:
        shape, names = (n_samples(block), len(self.intercept_)), list(dict.fromkeys(self._source.views))
        parts: dict[str, Array] = {view: np.zeros(shape) for view in dict.fromkeys(self._source.ids_and_views[1])}
        kernels, present = self._source.transform.new_kernels(block), self._source.completed_views(block)
        for number, products in self._products.by_view(kernels, present, numbers_of(self._source.views)):
            for values in products:
                parts[names[number]] += values
        for values in parts.values():
            values[self._source.without_views(block)] = np.nan
        return parts
