"""Completion of the kernels of samples that lack views, by regression on their other views.

See `mklearn.optimize.view_regression`. In the input kernels such samples are at the mean, so that their rows are zero
(`mklearn.kernels.completion`). Let C have a row of the identity for each training sample that has the view, and the row
b(x_i)' for each sample that lacks it. The completed kernel is ``C K C'``, positive semidefinite if K is. For new
samples the rows k(x) become ``k(x) C'``, or ``b(x)' K C'`` if the sample lacks the view.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import cached_rows
from mklearn.optimize.view_regression import ViewRegression, view_regression

Array = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


class ViewCompletion:
    """Completion, view by view, of training kernels and of quantities that are linear in them.

    ``donors`` are the positions, among the n training samples, from which missing views are completed. ``rows``,
    (n_views, n_donors, n), are the donors' rows of the sum of each view's kernels, zero for samples without the view.
    The sum over views multiplies them by ``factors``, (n_views,), which give the views the ``shares`` (sum 1).
    ``present``, (n, n_views), marks the views of each sample.
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
        """Views that at least one training sample lacks."""
        return [view for view, absent in enumerate(self._lacks) if len(absent)]

    def complete(self, view: int, K: NDArray[Any], *, of_donors: bool = False) -> None:
        """Complete a kernel of a view among the training samples, or only among the donors, in place."""
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
        """Compute C'Z for Z, (n, q), so that uncompleted rows times C'Z equal completed rows times Z."""
        absent = self._lacks[view]
        folded = np.array(Z)
        folded[absent] = 0.0
        folded[self.donors] += self._weights[view].T @ Z[absent]
        return folded


class MixtureProducts:
    """Products of kernel rows and coefficients for several mixtures of kernels, with missing views completed.

    ``mixtures`` are pairs of kernel weights, (n_kernels,), and coefficients Z, (n_used, q); with ``completion``, the
    first mixture is the sum that completes views. ``views``, (n_kernels,), numbers the view of each kernel, ascending;
    it is the same for all kernels if none is completed. ``rows`` are the positions of the n_used samples of Z among the
    n samples in the columns of the kernels. ``donor_rows`` has for each mixture the donors' rows of its kernels, by
    view, (n_views, n_donors, n_used).
    """

    def __init__(
        self,
        mixtures: Sequence[tuple[Array, Array]],
        views: NDArray[np.intp],
        rows: NDArray[np.intp],
        n: int,
        completion: ViewCompletion | None = None,
        donor_rows: Sequence[Array] = (),
    ) -> None:
        def every(values: Array) -> Array:
            padded = np.zeros((n, values.shape[1]))
            padded[rows] = values
            return padded

        self._weights, self._views = [weights for weights, _ in mixtures], views
        self._factors = [every(Z) for _, Z in mixtures]
        self._folded: dict[int, list[Array]] = {}
        self._predicted: list[list[ViewRegression]] = []  # products of each view as predicted from the other views
        if completion is None:
            return
        self._donors = rows[completion.donors]
        for view in completion.incomplete:
            self._folded[view] = [every(completion.folded(view, Z)) for _, Z in mixtures]
        for view, regression in enumerate(completion.regressions):
            factors = self._folded.get(view, self._factors)
            self._predicted.append(
                [regression.of(own[view] @ Z[rows]) for own, Z in zip(donor_rows, factors, strict=True)]
            )

    def __call__(self, kernels: Iterable[NDArray[Any]], present: Mask | None = None) -> list[Array]:
        """Compute the products for new samples, (m, q) for each mixture.

        ``kernels`` (m, n) are those of the new samples, one in memory at a time, whose rows are zero (the mean) for
        samples that lack the view. ``present``, (m, n_views), marks the views that the samples have: by default, all.
        """
        every = (products for _, products in self.by_view(kernels, present))
        sums = list(next(every))
        for products in every:
            for total, product in zip(sums, products, strict=True):
                total += product
        return sums

    def by_view(
        self, kernels: Iterable[NDArray[Any]], present: Mask | None = None, views: NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, list[Array]]]:
        """Yield the number of each view with its products, then with the products predicted for samples that lack it.

        Arguments are as for a call; ``views`` numbers the view of each kernel if views are not completed.
        """
        total: Any = 0.0
        incomplete = present is not None and not present.all()
        for view, mixed in self._mixed(kernels, self._views if views is None else views):
            if incomplete:
                total = total + mixed[0][:, self._donors]
            yield view, [K @ Z for K, Z in zip(mixed, self._folded.get(view, self._factors), strict=True)]
        if present is not None and incomplete:
            for view, (predicted, has) in enumerate(zip(self._predicted, present.T, strict=True)):
                absent = np.flatnonzero(~has)
                products: list[Array] = [
                    np.zeros((len(present), regression.slopes.shape[1])) for regression in predicted
                ]
                for product, regression in zip(products, predicted, strict=True):
                    product[absent] = regression(total[absent], present[absent])
                yield view, products

    def _mixed(self, kernels: Iterable[NDArray[Any]], views: NDArray[np.intp]) -> Iterator[tuple[int, list[Array]]]:
        """Yield the number of each view and the mixtures of its kernels, (m, n)."""
        numbered = zip(views, itertools.count(), kernels)
        for view, group in itertools.groupby(numbered, operator.itemgetter(0)):
            mixed: list[Array] = []
            for _, number, kernel in group:
                mixed = mixed or [np.zeros(kernel.shape) for _ in self._weights]
                for total, weights in zip(mixed, self._weights, strict=True):
                    if weights[number]:
                        add_kernel(total, weights[number], kernel)
            yield int(view), mixed


def add_kernel(total: Array, factor: float, kernel: NDArray[Any]) -> None:
    """Add a multiple of a kernel to a sum in double precision, in place."""
    for part in cached_rows(kernel):
        total[part] += factor * kernel[part].astype(np.float64, copy=False)
