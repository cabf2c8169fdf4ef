"""Ridge regression on a dictionary of kernels of several views, part of it with learned kernel weights."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from mklearn.base.kernel_mixtures import KernelMixtures, Mixture, RidgeFits, length, mixed_kernels, numbers_of, of_sets
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE, Interval, StrOptions, at_least, one_of
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.view_completion import CompletedProducts, ViewCompletion, present_views
from mklearn.checks import check_positive, invalid, nonnegative_weights
from mklearn.errors import ConfigError
from mklearn.kernels.dictionary import kernel_dictionary, views_of_kernels
from mklearn.kernels.imputation import Impute
from mklearn.kernels.matrices import IdentityLikeKernelWarning
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.transform import KernelPasses, StackTransform
from mklearn.kernels.views import Views, repeated_rows, select_rows
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.ridge_path import feature_ridge_path, ridge_path

Array = NDArray[np.floating[Any]]
ALPHAS = (1e-3, 10**-2.5, 1e-2, 10**-1.5, 1e-1, 10**-0.5, 1.0)
# Largest rank of a kernel while few of many are chosen; all that follows takes the kernels themselves.
_RANK_OF_CHOICE = 50
# New samples are predicted in blocks of so many.
_BLOCK = 4096
MissingViews = Literal["regression", "error"]


class SamplesWithoutViewsWarning(UserWarning):
    """Training samples lack every view."""


class RepeatedSamplesWarning(UserWarning):
    """Training samples have the same values as others in every view: errors of left-out samples are too small."""


class MultiViewRidge(KernelMixtures):
    """Base of estimators whose outputs are a mean of two ridge regressions, of equal and of learned kernel weights.

    A subclass checks its targets, begins ``fit`` with `_samples`, and calls `_fit_problem` with the targets as numbers;
    its predictions are made of `_outputs_of`. It defines `_weighing_targets` and `_chosen_part`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelsMixin._parameter_constraints,
        "learned": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "least_agreement": [Interval(Real, 0, None, closed="left")],
        "alphas": ["array-like"],
        "weight_samples": [at_least(2)],
        "missing_views": [one_of(MissingViews)],
        "impute": [one_of(Impute)],
        "n_kernels": [None, at_least(1)],
        "memory": [POSITIVE],
        "random_state": [at_least(0)],
        "landmarks": [None, at_least(2)],
    }

    missing_views: MissingViews
    impute: Impute
    landmarks: int | None
    coefficients_: Array
    intercept_: Array
    view_shares_: dict[str, Any]
    _products: CompletedProducts
    _few: NDArray[np.intp]
    _parts: Array  # (n_sets, 2), parts of the outputs with equal and with learned weights

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

    def _samples(self, X: Any) -> tuple[Any, int]:
        """Return training kernels that are given, or checked samples, and the number of samples."""
        if self._is_precomputed:
            if self.landmarks is not None:
                raise ConfigError("landmarks choose among samples, and kernels='precomputed' are matrices: set None")
            stack = self._training_stack(X)
            self._views_of_kernels = list(stack.ids)
            return stack, stack.n_columns
        specs: Any = self.kernels
        if self._is_dictionary:
            at_mean = self.missing_views == "regression"
            specs = kernel_dictionary(X, missing_views="mean" if at_mean else "error", impute=self.impute)
        self._transform_ = StackTransform(specs, drop_constant=self._has_many)
        table = self._checked_features(X, self._transform_, reset=True)
        return table, int(table.shape[0])

    def _present(self, samples: Any) -> NDArray[np.bool_] | None:
        """Return which views samples have, (n, n_views); None where kernels are not completed by other views."""
        if not self._is_dictionary or self.missing_views == "error":
            return None
        return self._present_views(samples)

    def _present_views(self, samples: Any) -> NDArray[np.bool_] | None:
        """Return which views of the kernels samples have, (n, n_views); None where there are no views."""
        if not isinstance(samples, Views):
            return None
        factors = itertools.chain(*(spec.get("factors", [spec]) for spec in self._transform_.specs))
        return present_views(samples, list(dict.fromkeys(spec.get("view", samples.names[0]) for spec in factors)))

    def _unknown(self, samples: Any) -> NDArray[np.bool_]:
        """Return which samples lack every view, of those that are not used too."""
        if self._present(samples) is None:
            return np.zeros(length(samples), dtype=bool)
        return np.asarray(~present_views(samples, samples.names).any(axis=1))

    def _known_weights(self, samples: Any, n: int, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Any:
        """Return the sample weights, with zeros for samples that lack every view: nothing is learned from them.

        Of the others, warn of those that are there twice, unless they are in one group.
        """
        unknown = self._unknown(samples)
        self._warn_of_repeats(samples, unknown, groups)
        if not unknown.any():
            return sample_weight
        warnings.warn(
            f"{np.count_nonzero(unknown)} of {n} samples lack every view: nothing is learned from them",
            SamplesWithoutViewsWarning,
            stacklevel=6,
        )
        weights = nonnegative_weights(sample_weight, n)
        return np.where(unknown, 0.0, 1.0 if weights is None else weights)

    def _warn_of_repeats(self, samples: Any, unknown: NDArray[np.bool_], groups: ArrayLike | None) -> None:
        if isinstance(samples, KernelStack):
            return
        found = {row: first for row, first in repeated_rows(samples).items() if not unknown[row]}
        if groups is not None and len(codes := np.asarray(groups)) == len(unknown):
            found = {row: first for row, first in found.items() if codes[row] != codes[first]}
        if found:
            row, first = next(iter(found.items()))
            warnings.warn(
                f"{len(found)} of {len(unknown)} samples have the values of another one in every view (the first: "
                f"positions {first} and {row}). Are they the same sample? Errors of left-out samples and "
                "cross-validation are then too small: leave them out, or give both the same group in `groups`",
                RepeatedSamplesWarning,
                stacklevel=7,
            )

    # --- fit

    def _fit_problem(self, samples: Any, problem: RidgeProblem) -> None:
        """Fit to all samples, or to landmarks among them; ``_left_out`` are the left-out outputs, (n_used, c)."""
        with warnings.catch_warnings():
            if self._has_many:  # of many kernels some say little; they are given no share for it
                warnings.simplefilter("ignore", IdentityLikeKernelWarning)
            n = len(problem.rows)
            chosen = problem.drawn(self.landmarks or n, self.random_state)
            if self.n_kernels is not None:
                samples = self._with_few_kernels(samples, problem, chosen)
            present = self._present(samples)
            self._completes = present is not None
            problem = replace(problem, present=None if present is None else present[problem.rows])
            if len(chosen) == n:
                self._fit_combinations(samples, problem)
            else:
                self._fit_nystroem(samples, problem, chosen)

    def _with_few_kernels(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp]) -> Any:
        """Choose few kernels by some of the samples; return the samples, or the chosen of kernels that are given."""
        if isinstance(samples, KernelStack):
            self._few = self._few_kernels(KernelPasses(samples), problem)
            self._every_view = self._views_of_kernels
            stack = samples.select(self._few.tolist())
            self._views_of_kernels = list(stack.ids)
            return stack
        every, known, own = self._transform_, samples, problem
        if len(chosen) < len(problem.rows):  # landmarks
            known, own = _rows_of(samples, problem.rows[chosen]), problem.alone(chosen)
        self._few = self._few_kernels(KernelPasses(transform=every, samples=known, keep=False), own)
        self.kernel_ids_, self._every_view = every.ids, views_of_kernels(every.fitted_specs)
        self._transform_ = every.of_kernels(self._few)
        return samples

    def _few_kernels(self, passes: KernelPasses, problem: RidgeProblem) -> NDArray[np.intp]:
        """Choose at most `n_kernels` kernels by the group lasso, and return their positions."""
        assert self.n_kernels is not None
        factors = [
            kernel_factor(problem.part(K), _RANK_OF_CHOICE, sample_weight=problem.weights) for K in passes.every()
        ]
        weights = np.ones(len(problem.rows)) if problem.weights is None else problem.weights
        targets = self._weighing_targets(problem)
        centred = np.sqrt(weights)[:, None] * (targets - weights @ targets / weights.sum())
        return KernelLasso(factors, centred).largest_choice(self.n_kernels).chosen

    def _fit_combinations(self, samples: Any, problem: RidgeProblem) -> None:
        """Fit the regressions with equal and with learned weights."""
        fits = RidgeFits(problem, problem.n)
        completion, mixtures = self._mixtures(self._passes(samples), problem)
        for mixture, K in mixtures:
            for columns, known in problem.patterns(mixture.columns):
                own = problem if len(known) == len(problem.rows) else problem.of_rows(known)
                values = K if own is problem else K[np.ix_(known, known)]
                path = self._path(ridge_path, values, own, columns)
                fits.add(mixture, columns, known, path, problem.rows[known], path.coefficients)
        self._set_fits(fits, problem, completion, np.arange(len(problem.rows)))

    def _fit_nystroem(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp]) -> None:
        """Fit the regressions to the features that landmarks give: those of the kernels' Nystroem approximation."""
        own, known = problem.alone(chosen), _rows_of(samples, problem.rows[chosen])
        completion, mixtures = self._mixtures(self._passes(known), own)
        maps = [(mixture, _whitening(K)) for mixture, K in mixtures]
        fits = RidgeFits(problem, own.n)
        for first in range(0, len(maps), 2):  # features of all samples: of two mixtures at a time
            some = maps[first : first + 2]
            features = self._features(samples, problem, some, own, completion)
            for (mixture, each), F in zip(some, features, strict=True):
                for columns, present in problem.patterns(mixture.columns):
                    part = problem if len(present) == len(F) else problem.of_rows(present)
                    path = self._path(feature_ridge_path, F if part is problem else F[present], part, columns)
                    fits.add(mixture, columns, present, path, own.rows, each @ path.coefficients)
        self._set_fits(fits, own, completion, chosen)

    def _features(
        self,
        samples: Any,
        problem: RidgeProblem,
        maps: Sequence[tuple[Mixture, Array]],
        own: RidgeProblem,
        completion: ViewCompletion | None,
    ) -> list[Array]:
        """Return the products of mixed kernels of all samples and maps, given the problem of landmarks."""
        if completion is not None and maps[0][0] is not self._combined[0]:  # what views are completed by goes first
            first = (self._combined[0], np.zeros((len(own.rows), 0)))
            return self._features(samples, problem, [first, *maps], own, completion)[1:]
        products = self._products_of(maps, own, completion)
        features: list[Array] = [np.empty((len(problem.rows), each.shape[1])) for _, each in maps]
        weights = [mixture.weights for mixture, _ in maps]
        for start in range(0, len(problem.rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            of_block = self._applied(products, weights, _rows_of(samples, problem.rows[block]))
            for F, values in zip(features, of_block, strict=True):
                F[block] = values
        return features

    def _chosen_part(self, fits: RidgeFits, columns: NDArray[np.intp], shares: Array) -> float:
        """Return the part of the outputs that ``learned="auto"`` means, given a set of targets and shares of halves."""
        raise NotImplementedError

    @property
    def learned_(self) -> Any:
        """The part of the outputs that learned weights have."""
        return of_sets(self._parts[:, 1])

    def _set_parts(self, fits: RidgeFits) -> None:
        """Choose the parts of both halves, and set what is told of the weights."""
        shares, sets = self._shares_of_halves, self._sets(fits.problem.targets.shape[1])
        learned = [
            self._chosen_part(fits, columns, own) if self.learned == "auto" else float(self.learned)
            for columns, own in zip(sets, shares, strict=True)
        ]
        self._parts = np.array([[1.0 - part, part] for part in learned])
        fits.weigh(self._parts, sets)
        self._set_weights(shares, self._scales)
        del self._shares_of_halves, self._scales

    def _set_weights(self, shares: Array, scales: Array) -> None:
        """Set what is told of the weights, given the shares of all sets of targets, (n_sets, 2, n_kernels)."""
        weights = shares * scales
        weights /= weights.sum(axis=2, keepdims=True)
        every = self._of_every_kernel
        self.learned_shares_ = of_sets(every(shares[:, 1]))
        self.shares_ = of_sets(every(np.einsum("sh,shk->sk", self._parts, shares)))
        self.kernel_weights_ = of_sets(every(np.einsum("sh,shk->sk", self._parts, weights)))
        self.view_shares_ = dict.fromkeys(self._named_views, 0.0)
        parts = list(self.shares_.T) if len(shares) > 1 else self.shares_.tolist()
        for view, share in zip(self._named_views, parts, strict=True):
            self.view_shares_[view] = self.view_shares_[view] + share

    @property
    def _named_views(self) -> Sequence[str]:
        """The views of all kernels, chosen or not."""
        return self._views_of_kernels if self.n_kernels is None else self._every_view

    def _of_every_kernel(self, values: Array) -> Array:
        """Return values of the chosen kernels, (n_sets, n_chosen), with zeros for the others."""
        if self.n_kernels is None:
            return values
        every = np.zeros((len(values), len(self._every_view)))
        every[:, self._few] = values
        return every

    def _set_fits(
        self, fits: RidgeFits, problem: RidgeProblem, completion: ViewCompletion | None, chosen: NDArray[np.intp]
    ) -> None:
        self._set_parts(fits)
        self.coefficients_ = fits.coefficients if problem.units is None else fits.coefficients * problem.units
        self.alphas_, self.intercept_ = fits.ridges, fits.intercept.sum(axis=0)
        self._left_out: Array = fits.left_out.sum(axis=0)
        Z = [mixture.of_users(self.coefficients_)[problem.rows][:, mixture.columns] for mixture in self._combined]
        self._products = self._products_of(list(zip(self._combined, Z, strict=True)), problem, completion)
        if completion is not None:
            self._keep_donors(completion, Z, chosen[completion.donors])
        del self._rows_of_donors

    def _keep_donors(self, completion: ViewCompletion, Z: list[Array], donors: NDArray[np.intp]) -> None:
        """Keep what is needed of the donors, at these positions among the samples of positive weight."""

    def _products_of(
        self, maps: Sequence[tuple[Mixture, Array]], problem: RidgeProblem, completion: ViewCompletion | None
    ) -> CompletedProducts:
        """Return what computes products of the mixed kernels of new samples and maps."""
        products = CompletedProducts([each for _, each in maps], problem.rows, problem.n, completion)
        if completion is not None:
            products.fit(
                zip(*(self._rows_of_donors[self._combined.index(mixture)] for mixture, _ in maps), strict=True)
            )
        return products

    def _applied(self, products: CompletedProducts, weights: Sequence[Array], samples: Any) -> list[Array]:
        mixed = mixed_kernels(self._kernels_of(samples), weights, self._view_numbers)
        return products(mixed, self._present(samples))

    def _kernels_of(self, samples: Any) -> Iterable[NDArray[Any]]:
        return samples if isinstance(samples, KernelStack) else self._transform_.new_kernels(samples)

    # --- predictions

    def _outputs_of(self, X: Any) -> Array:
        """Compute the outputs of new samples, (m, c); NaN for those that lack every view."""
        check_is_fitted(self)
        weights = [mixture.weights for mixture in self._combined]
        found = []
        for block in self._blocks(X):
            outputs = np.tile(self.intercept_, (length(block), 1))
            for mixture, values in zip(self._combined, self._applied(self._products, weights, block), strict=True):
                outputs[:, mixture.columns] += values
            outputs[self._unknown(block)] = np.nan
            found.append(outputs)
        return np.concatenate(found)

    def _blocks(self, X: Any) -> Iterator[Any]:
        """Yield blocks of new samples in order; kernels that are given are one block."""
        check_is_fitted(self)
        if self._is_precomputed:
            stack = self._new_stack(X)[0]
            yield stack if self.n_kernels is None else stack.select(self._few.tolist())
        else:
            yield from _row_blocks(self._checked_features(X, self._transform_, reset=False))

    def clipped_values(self, X: Any) -> dict[str, tuple[int, int]]:
        """Count the values of new samples that are clipped: they lie far outside the range of the training samples.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        dict of str to (int, int)
            By view, "X" if there is one table: the number of values that are clipped, and of all values. Empty for
            kernels other than the dictionary.
        """
        if self._is_precomputed:
            return {}
        found: dict[str, tuple[int, int]] = {}
        for block in self._blocks(X):
            for view, (clipped, values) in self._transform_.n_clipped(block).items():
                name = "X" if view is None else view
                more, of = found.get(name, (0, 0))
                found[name] = more + clipped, of + values
        return found

    def contributions(self, X: Any) -> dict[str, Array]:
        """Compute what each view adds to the outputs: their sum over views and ``intercept_`` are the outputs.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        dict of str to array of shape (m, c)
            By view, in units of the targets, of classes in those of class indicators. Without
            landmarks, and if no sample lacks a view, the mean over the training samples is 0 for kernels that are
            centred, as those of the dictionary are. A kernel that is given, or a product of kernels, is a view of its
            own. NaN for samples that lack every view.
        """
        parts = [self._contributions(block) for block in self._blocks(X)]
        return {view: np.concatenate([part[view] for part in parts]) for view in parts[0]}

    def _contributions(self, block: Any) -> dict[str, Array]:
        shape = length(block), len(self.intercept_)
        found: dict[str, Array] = {view: np.zeros(shape) for view in dict.fromkeys(self._named_views)}
        views = [view for view, _ in itertools.groupby(self._views_of_kernels)]  # kernels of a view may stand apart
        numbers, weights = numbers_of(self._views_of_kernels), [mixture.weights for mixture in self._combined]
        mixed = mixed_kernels(self._kernels_of(block), weights, numbers)
        for number, products in self._products.by_view(mixed, self._present(block)):
            for mixture, values in zip(self._combined, products, strict=True):
                found[views[number]][:, mixture.columns] += values
        for values in found.values():
            values[self._unknown(block)] = np.nan
        return found


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
