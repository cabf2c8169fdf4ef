"""Kernels of samples that lack views, completed by what their other views predict of the missing ones.

See `mklearn.optimize.view_regression`. The kernels come with such samples at the mean, their rows zero
(`mklearn.kernels.completion`). With C the matrix that has a row of the identity for each training sample that has a
view and b(x_i)' for each that lacks it, the completed kernel is ``C K C'``: positive semidefinite if K is. Rows k(x) of
new samples become ``k(x) C'``, and ``b(x)' K C'`` for those that lack the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mklearn.kernels.completion import lacking
from mklearn.kernels.views import Pairwise, SampleView, Views
from mklearn.optimize.view_regression import ViewRegression, presence, view_regression

Array = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


def present_views(X: Views, names: Sequence[str]) -> Mask:
    """Find which samples have which views, (n, n_views)."""

    def absent(view: Any) -> Mask:
        if isinstance(view, Pairwise):
            return view.lacking()
        return np.zeros(len(X), dtype=bool) if isinstance(view, SampleView) else lacking(view)

    return np.stack([~absent(X[name]) for name in names], axis=1)


class ViewCompletion:
    """Completion of the kernels among training samples, and of what is linear in them, view by view.

    ``rows``, (n_views, n_donors, n), are for each view a sum of its kernels, samples without the view at the mean
    (zero), and ``factors``, (n_views,), what these are multiplied by in the sum over views, to which views bring
    ``shares`` (sum 1). ``donors`` are the training samples that the others are completed by, as positions among the n;
    ``present`` is (n, n_views).
    """

    def __init__(self, rows: Array, factors: Array, donors: NDArray[np.intp], shares: Array, present: Mask) -> None:
        self.donors, self.present, self.factors = donors, present, factors
        among = rows.take(donors, axis=2) * factors[:, None, None]
        self.regressions = [view_regression(k, among, shares, present[donors]) for k in range(len(shares))]
        total = np.tensordot(factors, rows, axes=1).T
        lacks = [np.flatnonzero(~each) for each in present.T]
        self._weights = [
            regression(total[absent], present[absent])
            for regression, absent in zip(self.regressions, lacks, strict=True)
        ]
        self._lacks = lacks

    @property
    def incomplete(self) -> list[int]:
        """The views that training samples lack."""
        return [view for view, absent in enumerate(self._lacks) if len(absent)]

    def complete(self, view: int, K: NDArray[Any], *, of_donors: bool = False) -> None:
        """Complete a kernel of a view among the training samples, or among the donors alone, in place."""
        absent, weights, donors = self._lacks[view], self._weights[view], self.donors
        if of_donors:
            places = np.searchsorted(donors, absent)
            own = np.isin(absent, donors)
            absent, weights, donors = places[own], weights[own], np.arange(len(donors))
        if not len(absent):
            return
        rows = weights @ K[donors]
        rows[:, absent] = rows[:, donors] @ weights.T
        K[absent] = rows
        K[:, absent] = rows.T

    def folded(self, view: int, Z: Array) -> Array:
        """Return C'Z for Z of shape (n, q): products of kernel rows at the mean with it are those of completed rows."""
        absent = self._lacks[view]
        folded = np.array(Z)
        folded[absent] = 0.0
        folded[self.donors] += self._weights[view].T @ Z[absent]
        return folded


@dataclass(frozen=True, eq=False)
class LeftOutPatterns:
    """Left-out outputs, less the intercept, of the donors if they had some of their views only.

    With all of its views the output f of a donor changes from the fit to all to the left-out one by d, which is known.
    With some of them, and what these predict of the others, it changes by about ``d q / q_all``: q is the kernel of the
    donor with itself, completed from the same views. What views predict of others is left out exactly. Errors of
    outputs with few views are larger than those of refits, by 10 to 20 % with 60 samples of three views.
    """

    present: Mask  # (n_donors, n_views)
    own: Array  # (n_donors, n_views, c + 1), what each view adds to the c outputs, and to q
    predicted: Array  # (n_donors, n_views, n_views, c + 1), what a view says, before scaling, of what another one adds
    constants: Array  # (n_donors, n_views, c + 1)
    others: Array  # (n_views, n_views), shares of all views in what predicts each
    optimism: Array  # (n_donors, c), d / q_all

    @classmethod
    def of(
        cls,
        completion: ViewCompletion,
        rows: Array,
        kernels: Array,
        parts: Array,
        left_out: Array,
        groups: NDArray[np.intp] | None,
    ) -> LeftOutPatterns:
        """Return them, given the fit to all donors.

        ``rows`` and ``kernels``, (n_views, n_donors, n_donors), are of each view, in the sum that views are completed
        by and in the mixtures that the outputs use; ``parts``, (n_views, n_donors, c), what each view adds to the
        outputs for donors that have it, else zero; ``left_out``, (n_donors, c), left-out outputs less the intercept,
        NaN without a target. Donors of a group are left out together.
        """
        present = completion.present[completion.donors]
        n, n_views, c = len(present), len(rows), parts.shape[2]
        codes = np.arange(n) if groups is None else groups
        of_groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
        others = np.stack([regression.others for regression in completion.regressions])
        own = np.concatenate([parts, np.einsum("vii->vi", kernels)[:, :, None]], axis=2).swapaxes(0, 1)

        def predictions(sets: list[NDArray[np.intp]], left: bool) -> LeftOutPatterns:
            predicted, constants = np.zeros((n, n_views, n_views, c + 1)), np.zeros((n, n_views, c + 1))
            for view, regression in enumerate(completion.regressions):
                every = regression.of(np.concatenate([parts[view], kernels[view]], axis=1))
                for some in sets:
                    columns = np.concatenate([np.arange(c), c + some])
                    slopes, constant = every.slopes[:, columns], every.constants[columns]
                    has = some[present[some, view] & left]
                    change = np.linalg.pinv(regression.slopes[np.ix_(has, has)]) @ slopes[has]
                    slopes = slopes - regression.slopes[:, has] @ change
                    constant = constant - regression.constants[has] @ change
                    found, each = (rows[:, some] @ slopes).swapaxes(0, 1), np.arange(len(some))
                    predicted[some, :, view, :c], constants[some, view, :c] = found[:, :, :c], constant[:c]
                    predicted[some, :, view, c], constants[some, view, c] = found[each, :, c + each], constant[c + each]
            return cls(present, own, predicted, constants, others, np.zeros((n, c)))

        fit = predictions([np.arange(n)], left=False)
        of_all = np.stack([fit._sums(has, [row])[0] for row, has in enumerate(present)])
        amount = np.maximum(of_all[:, c:], np.finfo(np.float64).tiny)
        return replace(predictions(of_groups, left=True), optimism=(of_all[:, :c] - left_out) / amount)

    def rows(self, pattern: Mask) -> NDArray[np.intp]:
        """Return the donors that have these views, (n_views,)."""
        return np.flatnonzero(self.present[:, pattern].all(axis=1))

    def outputs(self, pattern: Mask, rows: NDArray[np.intp]) -> Array:
        """Compute the left-out outputs of some donors as if they had these views alone, (n_rows, c)."""
        found = self._sums(pattern, rows)
        return np.asarray(found[:, :-1] - self.optimism[rows] * found[:, -1:])

    def _sums(self, pattern: Mask, rows: Any) -> Array:
        found = self.own[rows][:, pattern].sum(axis=1)
        for view in np.flatnonzero(~pattern):
            scale = np.sqrt(presence(self.others[view], pattern))
            found += self.predicted[rows][:, pattern, view].sum(axis=1) / scale + self.constants[rows, view]
        return np.asarray(found)


class CompletedProducts:
    """Products Z of kernel rows, summed over views: for samples that lack views, of the completed rows.

    There is one Z, (n_used, q), for each of several mixtures of the kernels, the first of which is the sum over views
    of the completion; ``rows`` are the samples that they are of, among the n that kernels are computed with. Without a
    completion all kernels are one view, which no sample lacks.
    """

    def __init__(
        self, Z: Sequence[Array], rows: NDArray[np.intp], n: int, completion: ViewCompletion | None = None
    ) -> None:
        def every(values: Array) -> Array:
            found = np.zeros((n, values.shape[1]))
            found[rows] = values
            return found

        self._factors, self._rows = [every(each) for each in Z], rows
        self._predicted: list[list[ViewRegression]] = []
        self._folded: dict[int, list[Array]] = {}
        if completion is not None:
            self.donors, self._regressions = rows[completion.donors], completion.regressions
            for view in completion.incomplete:
                self._folded[view] = [every(completion.folded(view, each)) for each in Z]

    def fit(self, mixtures: Iterable[Sequence[Array]]) -> Self:
        """Learn what the other views predict of each view's products.

        ``mixtures`` are for each view the mixtures of its kernels, rows of the donors: (n_donors, n_used) each.
        """
        for view, (own, regression) in enumerate(zip(mixtures, self._regressions, strict=True)):
            factors = self._folded.get(view, self._factors)
            products = [kernel @ Z[self._rows] for kernel, Z in zip(own, factors, strict=True)]
            self._predicted.append([regression.of(each) for each in products])
        del self._regressions, self._rows
        return self

    def __call__(self, mixtures: Iterable[Sequence[Array]], present: Mask | None = None) -> list[Array]:
        """Compute the products of new samples, (m, q) each.

        ``mixtures`` are for each view the mixtures of its kernels, (m, n) each, samples that lack the view at the mean
        (zero); ``present``, (m, n_views), says which views they have, by default all.
        """
        every = (products for _, products in self.by_view(mixtures, present))
        found = list(next(every))
        for products in every:
            for each, product in zip(found, products, strict=True):
                each += product
        return found

    def by_view(
        self, mixtures: Iterable[Sequence[Array]], present: Mask | None = None
    ) -> Iterator[tuple[int, list[Array]]]:
        """Yield the products of each view with its number, as for a call; then what is predicted of a view."""
        total: Any = 0.0
        incomplete = present is not None and not present.all()
        for view, own in enumerate(mixtures):
            if incomplete:
                total = total + own[0][:, self.donors]
            yield view, self._products(view, own)
        if present is not None and incomplete:
            for view, (predicted, has) in enumerate(zip(self._predicted, present.T, strict=True)):
                absent = np.flatnonzero(~has)
                products: list[Array] = []
                for regression in predicted:
                    product = np.zeros((len(present), regression.slopes.shape[1]))
                    product[absent] = regression(total[absent], present[absent])
                    products.append(product)
                yield view, products

    def _products(self, view: int, own: Sequence[Array]) -> list[Array]:
        return [rows @ Z for rows, Z in zip(own, self._folded.get(view, self._factors), strict=True)]
