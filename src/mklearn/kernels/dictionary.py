"""A small dictionary of kernels for each view, for methods that choose among kernels instead of scalings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mklearn.errors import DataError
from mklearn.kernels.completion import MissingViews, lacking, present_rows
from mklearn.kernels.features import is_sparse
from mklearn.kernels.gaussian import GaussianKernel
from mklearn.kernels.imputation import Impute
from mklearn.kernels.linear import LinearKernel
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.views import LearnedView, SampleView, Views, as_views

Spec = dict[str, Any]
SCALINGS = ("none", "standard", "unit", "rank")
# By class: the code of a fit with a dictionary has them, though its specification names no kernels.
KINDS = {"gaussian": GaussianKernel, "linear": LinearKernel}
# Histograms have equal sums up to this, relatively.
_EQUAL_SUMS = 1e-6


def feature_kernels(name: str, view: str | None = None, *, histogram: bool = False, **others: Any) -> list[Spec]:
    """Return the specs of a view of features: scalings, each with a Gaussian and a linear kernel.

    Features have four scalings. The bins of a histogram have one unit, and dividing them by their standard deviations
    raises those that are seldom filled: histograms are not standardised, and have the chi-squared distance as well.

    Parameters
    ----------
    name : str
        Beginning of the kernels' names.
    view : str, optional
        The view; None for samples that are one table.
    histogram : bool
        Whether the features are bins of a histogram.
    **others
        The same in all specs: "impute", "missing_views", "columns".
    """
    source = others if view is None else {"view": view, **others}
    specs = [
        {"id": f"{name}-{kind}-{scaling}", "kind": kind, "feature_scaling": scaling, **source}
        for scaling in SCALINGS
        if not (histogram and scaling == "standard")
        for kind in KINDS
    ]
    chi2 = {"id": f"{name}-gaussian-chi2", "kind": "gaussian", "measure": "chi2", **source}
    return [*specs, chi2] if histogram else specs


def sparse_kernels(name: str, view: str | None = None, **others: Any) -> list[Spec]:
    """Return the specs of a sparse view: as it is, by standard deviations without a shift, and of unit length.

    Ranks would fill it.
    """
    from sklearn.preprocessing import Normalizer, StandardScaler

    source = others if view is None else {"view": view, **others}
    scalers = {"none": None, "standard": StandardScaler(with_mean=False), "unit": Normalizer()}
    return [
        {"id": f"{name}-{kind}-{scaling}", "kind": kind, "preprocessing": scaler, **source}
        for scaling, scaler in scalers.items()
        for kind in KINDS
    ]


def pairwise_kernels(name: str, view: str, values: str, **others: Any) -> list[Spec]:
    """Return the specs of a view of pairwise values.

    Parameters
    ----------
    name, view : str
        As for `feature_kernels`.
    values : {"kernel", "distance"}
        Kernel values are taken as they are. Of distances d there are ``exp(-d / gamma)`` and ``exp(-d^2 / gamma)``,
        whether or not they are squares.
    """
    if values == "kernel":
        return [{"id": name, "kind": "precomputed", "view": view, **others}]
    return [
        {"id": f"{name}-{suffix}", "kind": "gaussian", "measure": measure, "view": view, **others}
        for suffix, measure in (("distance", "squared_euclidean"), ("squared", "distance"))
    ]


def kernel_dictionary(X: Any, *, missing_views: MissingViews = "mean", impute: Impute = "none") -> list[Spec]:
    """Return the specs of a dictionary of kernels on every view.

    Parameters
    ----------
    X : table or views
        Training samples, of which the form of each view is read: sparse, pairwise, histograms (dense, nonnegative rows
        with equal sums). Pairwise values are distances if they are zero between each sample and
        itself and nowhere negative, else kernel values.
    missing_views : {"mean", "error"}
        What is done with samples that lack a view, of several views: see `mklearn.kernels.specs.StackTransform`.
    impute : {"none", "mean", "median"}
        Filling of single missing values of features.

    Returns
    -------
    list of dict
        As `StackTransform` takes them, view by view.
    """
    filling = {} if impute == "none" else {"impute": impute}
    views = as_views(X)
    if views is None:
        return _of_table("X", None, X, filling)
    found: list[Spec] = []
    for name in views.names:
        found += _of_view(name, views, missing_views, filling)
    return found


def _of_view(name: str, views: Views, missing_views: MissingViews, filling: Spec) -> list[Spec]:
    table = views[name]
    others: Spec = {} if isinstance(table, LearnedView) else {"missing_views": missing_views}
    if isinstance(table, Pairwise):
        return pairwise_kernels(name, name, _meaning(table), **others)
    if isinstance(table, SampleView):
        return feature_kernels(name, name, **others)
    return _of_table(name, name, table, {**others, **filling})


def _of_table(name: str, view: str | None, table: Any, others: Spec) -> list[Spec]:
    if is_sparse(table):
        if others.get("impute", "none") != "none" and _has_gaps(table):
            raise DataError(
                f"view {view or name!r} has NaN: `impute` does not take sparse features; pass a dense table"
            )
        return sparse_kernels(name, view, **{key: value for key, value in others.items() if key != "impute"})
    return feature_kernels(name, view, histogram=_holds_histograms(table), **others)


def _has_gaps(table: Any) -> bool:
    """Return whether a sparse table has NaN in the rows of samples that it does not lack."""
    present = present_rows(table.tocsr(), ~lacking(table))
    return present.dtype.kind == "f" and bool(np.isnan(present.data).any())


def _meaning(values: Pairwise) -> str:
    """Return whether pairwise values are distances or kernel values."""
    present = values[np.flatnonzero(~values.lacking())]
    if not len(present.shape) or present.shape[0] == 0:
        return "kernel"
    among = present.among()
    return "distance" if not np.diagonal(among).any() and (among >= 0).all() else "kernel"


def _holds_histograms(table: Any) -> bool:
    """Return whether the samples that have a dense table are histograms of one total."""
    if len(getattr(table, "shape", ())) != 2 or table.shape[1] < 2:
        return False
    try:
        values = np.asarray(present_rows(table, ~lacking(table)), dtype=np.float64)
    except (TypeError, ValueError):
        return False
    if not len(values) or not (values >= 0).all():  # NaN are not
        return False
    sums = values.sum(axis=1)
    return bool(sums.max() > 0 and np.ptp(sums) <= _EQUAL_SUMS * sums.max())


def views_of_kernels(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the view that each kernel reads; of a product, and of kernels of one table, the kernel's own name."""
    return [str(spec.get("view", spec["id"])) if "factors" not in spec else str(spec["id"]) for spec in specs]
