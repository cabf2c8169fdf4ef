"""Concatenation of the features of several views, for estimators of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import fit_context
from mklearn.base.parameters import parameters
from mklearn.checks import as_float_array
from mklearn.errors import DataError
from mklearn.kernels.feature_scaling import FeatureScaler, FeatureScaling
from mklearn.kernels.imputation import FeatureImputer, Impute
from mklearn.kernels.source import check_form, table_form
from mklearn.kernels.views import LearnedView, SampleView, Views, as_views


@parameters
class SideBySide(TransformerMixin, BaseEstimator):
    """Transformer that concatenates the features of several views, with scaling fitted on the training samples.

    Parameters
    ----------
    views : sequence of str or None, default=None
        Names of the views, in the order of their features; None for all views of the training samples.
    feature_scaling : {"none", "standard", "minmax", "unit", "rank", "log"}, default="none"
        Scaling of the concatenated features, so that "unit" scales the whole row of a sample to length 1. See
        `mklearn.kernels.feature_scaling.FeatureScaler`.
    impute : {"none", "mean", "median"}, default="none"
        Imputation of missing values from the training samples, before scaling. It includes samples that lack a view,
        whose features there are all NaN. Features without any training value are left out.

    Attributes
    ----------
    widths_ : dict of str to int
        Number of features of each view.
    n_features_out_ : int

    Examples
    --------
    >>> views = {"shape": np.eye(2), "colour": np.ones((2, 1))}
    >>> SideBySide(["colour", "shape"]).fit_transform(views)
    array([[1., 1., 0.],
           [1., 0., 1.]])
    """

    views: Annotated[Sequence[str] | None, None, list, tuple] = field(default=None, kw_only=False)
    feature_scaling: FeatureScaling = field(default="none", kw_only=False)
    impute: Impute = field(default="none", kw_only=False)

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit imputation and scaling to the views X of the training samples; `y` is ignored.

        Raises `DataError` if X is not several views, lacks a view, or has features that are not finite numbers.
        """
        views = self._views_of(X)
        names = views.names if self.views is None else list(map(str, self.views))
        self._learned = {
            name: views[name].transformer().fit(views[name]) for name in names if isinstance(views[name], LearnedView)
        }
        self._forms = {name: table_form(views[name]) for name in names}
        tables = self._tables(views)
        self.widths_ = {name: int(table.shape[1]) for name, table in tables.items()}
        features = np.concatenate(list(tables.values()), axis=1)
        self._imputer = FeatureImputer(self.impute).fit(features)
        features = self._imputer.transform(features)
        numbers = np.repeat(np.arange(len(tables)), list(self.widths_.values()))
        self._scaler = FeatureScaler(self.feature_scaling).fit(features, self._imputer.held(numbers))
        self.n_features_out_ = features.shape[1]
        return self

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Return the scaled features of the views X, shape ``(m, n_features_out_)``.

        Raises `DataError` as for ``fit``, or if a view has another number of features than in ``fit``.
        """
        check_is_fitted(self)
        views = self._views_of(X)
        for name, form in self._forms.items():
            check_form(views[name], form, f"view {name!r}")
        tables = self._tables(views)
        return self._scaler.transform(self._imputer.transform(np.concatenate(list(tables.values()), axis=1)))

    def _tables(self, views: Views) -> dict[str, NDArray[Any]]:
        """Return the features of each view."""
        tables = {}
        for name in self._forms:
            view = views[name]
            if isinstance(view, SampleView) and name not in self._learned:
                raise DataError(f"view {name!r} is {view!r} and has no features")
            table = self._learned[name].transform(view) if name in self._learned else view
            tables[name] = as_float_array(table, f"view {name!r}", ndim=2, may_have_nan=self.impute != "none")
        return tables

    @staticmethod
    def _views_of(X: Any) -> Views:
        views = as_views(X)
        if views is None:
            raise DataError("X is one table; expected several views, such as a dict of tables by name")
        return views
