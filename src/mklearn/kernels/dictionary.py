"""Dictionary of a few kernels for each view, for methods that choose among kernels instead of scalings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklearn.checks import are_distances, as_float_matrix
from mklearn.errors import DataError
from mklearn.kernels.completion import MissingViews, lacking
from mklearn.kernels.feature_scaling import is_heavy_tailed
from mklearn.kernels.features import is_sparse
from mklearn.kernels.functions import GaussianKernel, LinearKernel
from mklearn.kernels.imputation import Impute
from mklearn.kernels.views import LearnedView, Pairwise, SampleView, Views, as_views, select_rows

Spec = dict[str, Any]
SCALINGS = ("none", "standard", "unit", "rank", "log")
# Classes, not names, so that the code of these kernels counts as code of the fit.
KINDS = {"gaussian": GaussianKernel, "linear": LinearKernel}
# Largest relative difference between the sums of histograms.
_EQUAL_SUMS = 1e-6


def kernel_dictionary(X: Any, *, missing_views: MissingViews = "mean", impute: Impute = "none") -> list[Spec]:
    """Return the specs of the dictionary's kernels of every view, view by view, for `StackTransform`.

    The kernels of a view depend on its form in the training samples X: sparse, pairwise, histograms (dense, nonnegative
    rows with equal sums) or other features. Pairwise values with a zero diagonal and no negative value count as
    distances, all others as kernel values. `missing_views` and `impute` are as in a spec; the former applies to several
    views only.
    """
    filling = {} if impute == "none" else {"impute": impute}
    views = as_views(X)
    if views is None:
        return _of_table("X", None, X, filling)
    return [spec for name in views.names for spec in _of_view(name, views, missing_views, filling)]


def _of_view(name: str, views: Views, missing_views: MissingViews, filling: Spec) -> list[Spec]:
    table = views[name]
    others: Spec = {} if isinstance(table, LearnedView) else {"missing_views": missing_views}
    if isinstance(table, Pairwise):
        return _pairwise_kernels(name, table, others)
    if isinstance(table, SampleView):
        return _feature_kernels(name, name, others)
    return _of_table(name, name, table, {**others, **filling})


def _of_table(name: str, view: str | None, table: Any, others: Spec) -> list[Spec]:
    if is_sparse(table):
        present = _present(table.tocsr())
        if "impute" in others and present.dtype.kind == "f" and np.isnan(present.data).any():
            raise DataError(
                f"view {view or name!r} has NaN: `impute` does not take sparse features; pass a dense table"
            )
        others = {key: value for key, value in others.items() if key != "impute"}
        return _feature_kernels(name, view, others, heavy_tailed=is_heavy_tailed(present), sparse=True)
    values = _numbers(table)
    shape = {} if values is None else {"histogram": _are_histograms(values), "heavy_tailed": is_heavy_tailed(values)}
    return _feature_kernels(name, view, others, **shape)


def _feature_kernels(
    name: str, view: str | None, others: Spec, *, histogram: bool = False, heavy_tailed: bool = False,
    sparse: bool = False,
) -> list[Spec]:  # fmt: skip
    """Return the specs of a view of features: a Gaussian and a linear kernel for each scaling.

    Features have four scalings; heavy-tailed features are also scaled by the logarithm. Histograms are not
    standardised, since this would amplify rarely filled bins, and also have a kernel of the chi-squared distance.
    Sparse views have no ranks, which would make them dense. Scaled features of new samples are clipped.
    `view` is None if the samples are one table; `others` are keys that all specs share.
    """
    source = others if view is None else {"view": view, **others}
    left_out = {"standard": histogram, "rank": sparse, "log": not heavy_tailed}
    specs = [
        {"id": f"{name}-{kind}-{scaling}", "kind": kind, "feature_scaling": scaling, "clip": True, **source}
        for scaling in SCALINGS
        if not left_out.get(scaling)
        for kind in KINDS
    ]
    chi2 = {"id": f"{name}-gaussian-chi2", "kind": "gaussian", "measure": "chi2", "clip": True, **source}
    return [*specs, chi2] if histogram else specs


def _pairwise_kernels(view: str, values: Pairwise, others: Spec) -> list[Spec]:
    """Return the specs of a view of pairwise values: kernel values as they are, or two kernels of distances.

    Nonnegative values with a zero diagonal are distances d. They give ``exp(-d / gamma)`` and ``exp(-d^2 / gamma)``,
    whether or not they are squared distances.
    """
    present = _present(values)
    among = as_float_matrix(present.among(), f"view {view!r}") if present.shape[0] else np.eye(1)
    if not are_distances(among):
        return [{"id": view, "kind": "precomputed", "view": view, **others}]
    equal = np.flatnonzero(among[np.count_nonzero(among, axis=1).argmin()] == 0)  # of distances: to each other too
    if 2 * np.count_nonzero(among) < among.size and among[np.ix_(equal, equal)].any():
        raise DataError(
            f"view {view!r} has zeros on its diagonal, as distances have, and mostly elsewhere: give similarities, "
            "such as an adjacency matrix, positive values on the diagonal"
        )
    return [
        {"id": f"{view}-{suffix}", "kind": "gaussian", "measure": measure, "view": view, **others}
        for suffix, measure in (("distance", "squared_euclidean"), ("squared", "distance"))
    ]


def _present(table: Any) -> Any:
    return select_rows(table, np.flatnonzero(~lacking(table)))


def _numbers(table: Any) -> Any:
    """Return a dense table without the samples that lack the view, or None if an entry is not a number."""
    if len(shape := getattr(table, "shape", ())) != 2 or 0 in shape:
        return None
    try:
        values = np.asarray(_present(table), dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values if len(values) else None


def _are_histograms(values: Any) -> bool:
    """Return whether all rows are histograms: nonnegative, with equal sums."""
    if values.shape[1] < 2 or not (values >= 0).all():  # False for NaN
        return False
    sums = values.sum(axis=1)
    return bool(sums.max() > 0 and np.ptp(sums) <= _EQUAL_SUMS * sums.max())
