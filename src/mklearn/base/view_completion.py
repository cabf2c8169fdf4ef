"""Kernels of samples that lack views, completed by what their other views predict of the missing ones.

See `mklearn.optimize.view_regression`. The kernels come with such samples at the mean, their rows zero
(`mklearn.kernels.completion`). With C the matrix that has a row of the identity for each training sample that has a
view and b(x_i)' for each that lacks it, the completed kernel is ``C K C'``: positive semidefinite if K is. Rows k(x) of
new samples become ``k(x) C'``, and ``b(x)' K C'`` for those that lack the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mklearn.kernels.completion import lacking
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.views import SampleView, Views
from mklearn.optimize.view_regression import ViewRegression, view_regression

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

    Parameters
    ----------
    rows : array of shape (n_views, n_donors, n)
        Of each view, a sum of its kernels, samples without the view at the mean (zero).
    factors : array of shape (n_views,)
        What these are multiplied by in the sum over views.
    donors : array of shape (n_donors,)
        The training samples that the others are completed by: positions among the n.
    shares : array of shape (n_views,), sum 1
        Of the views in the sum.
    present : bool array of shape (n, n_views)
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


class CompletedProducts:
    """Products Z of kernel rows, summed over views: for samples that lack views, of the completed rows.

    Parameters
    ----------
    Z : list of arrays of shape (n_used, q)
        One for each of several mixtures of the kernels. The first mixture is the sum over views of the completion.
    rows : array of shape (n_used,)
        The samples that they are of, among the n that kernels are computed with.
    n : int
    completion : ViewCompletion, optional
        Without it all kernels are one view, which no sample lacks.
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

        Parameters
        ----------
        mixtures : iterable of sequences of arrays of shape (n_donors, n_used)
            For each view the mixtures of its kernels: rows of the donors.
        """
        for view, (own, regression) in enumerate(zip(mixtures, self._regressions, strict=True)):
            factors = self._folded.get(view, self._factors)
            products = [kernel @ Z[self._rows] for kernel, Z in zip(own, factors, strict=True)]
            self._predicted.append([regression.of(each) for each in products])
        del self._regressions, self._rows
        return self

    def __call__(self, mixtures: Iterable[Sequence[Array]], present: Mask | None = None) -> list[Array]:
        """Compute the products of new samples, (m, q) each.

        Parameters
        ----------
        mixtures : iterable of lists of arrays of shape (m, n)
            For each view the mixtures of its kernels, samples that lack the view at the mean (zero).
        present : bool array of shape (m, n_views), optional
            Which views they have; by default all.
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
