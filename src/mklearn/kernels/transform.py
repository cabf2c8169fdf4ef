"""Kernels defined by specs, fitted on training samples and applied to new ones."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mklearn.checks import Array, as_float_matrix, regular_array
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.completion import Mask
from mklearn.kernels.features import is_sparse
from mklearn.kernels.kernel_entry import KernelEntry, error_prefix, shared_blocks
from mklearn.kernels.source import Source, measured
from mklearn.kernels.specs import KernelSpecs, is_one_spec, spec_list
from mklearn.kernels.stack import KernelStack, check_unique_ids
from mklearn.kernels.views import CachingViews, Views, as_views


class StackTransform:
    """Kernels on features or pairwise values, fitted on training samples and applied to new ones.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        A spec is a kind ("gaussian", "laplacian", "linear", "matern", "polynomial", "precomputed", "product",
        "tanimoto"), or a mapping with "kind" or "implementation" ("module:Class", a subclass of
        `mklearn.kernels.Kernel`), the parameters of the kernel's class, and optionally

        - "id" in a sequence: the kernel's name (default: its number);
        - "view": the input view (default: the view with the kernel's name). Values of a view of the class
          `mklearn.kernels.Pairwise` are looked up; otherwise they are computed from features;
        - "columns": the features of X or of the view: a list of indices or of names, a boolean list or a slice
          (default: all);
        - "preprocessing": a transformer with ``fit`` and ``transform``. A copy is fitted to these features of the
          training samples, without labels. It may change the number of features and accept non-numeric entries;
        - "impute": "mean" or "median" of the training samples replaces NaN (default: "none"), in rows
          without any value too, unless "missing_views" is "mean";
        - "feature_scaling": the scaling after these steps (default: "none"; see
          `mklearn.kernels.feature_scaling.FeatureScaler`);
        - "clip": whether scaled features of new samples are clipped, as in the dictionary of kernels (default: no).
          Features that are constant in the training samples are then ignored, and sparse features can be scaled;
        - "missing_views": treatment of samples that lack the view: rows in which all of these features are NaN (in a
          sparse view, all stored entries). "error" (default) refuses them. "mean" fits the kernel to the other training
          samples and places the missing samples at their mean: see `mklearn.kernels.completion.MeanCompletion`.

        A factor of a product may have these keys too, except the last. A single spec stands for one kernel on X or, if
        X is several views and neither the spec nor a factor names a `view`, for one kernel on each view.
    drop_constant : bool, default=False
        Whether a kernel in which all training samples coincide, or whose views fewer than two of them have, becomes
        zero, for training and new samples, instead of raising an error. Its entry of `infos` then has only "id" and
        "constant".

    Attributes
    ----------
    specs : list of dict
        Specs of the kernels, with "id".
    for_each_view : bool
        Whether a single spec without a view stands for one kernel on each of several views.
    reads_views : bool
        Whether the transform was fitted to several views.
    stack_train_ : KernelStack
        M training kernels, (n, n) each. Set by `fit` only.
    infos : list of dict
        For each kernel "id", "n_missing", the number of training samples that lack one of its views, and
        `mklearn.kernels.Kernel.info_`.

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, invalid parameters, or keys for features with a measure that is
        not computed from features.

    Notes
    -----
    `transform` needs the training features, which are kept once for all kernels with the same inputs. An array is
    copied only if it is preprocessed or its columns are chosen by index: do not change it afterwards. Sparse features
    stay sparse for kernels of inner products and squared Euclidean distances. Views of the class
    `mklearn.kernels.views.CachingViews` cache the kernels: nothing is computed twice.
    """

    def __init__(self, kernels: KernelSpecs, *, drop_constant: bool = False) -> None:
        self.drop_constant = drop_constant
        self.entries = [KernelEntry(spec) for spec in spec_list(kernels)]
        if not self.entries:
            raise ConfigError("the list of kernels is empty; at least one is needed")
        check_unique_ids(self.ids, ConfigError)
        self.specs = [entry.spec for entry in self.entries]
        self.for_each_view = is_one_spec(kernels) and all(part.get("view") is None for part in self.entries[0].parts)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the kernels. If one spec stands for a kernel on each view, they are known after the fit."""
        return tuple(entry.id for entry in self.entries)

    def reads_as_given(self, X: Any) -> bool:
        """Return whether the single table X must be kept: column names, non-numeric entries or a sparse format."""
        sources = [source for entry in self.entries for source in entry.sources]
        return any(source.reads_tables or (source.clips and is_sparse(X)) for source in sources)

    def without_view(self, view: str) -> list[Mapping[str, Any]]:
        """Return the specs of the kernels that do not read a view (for a product, in any factor)."""
        return [
            entry.spec for entry in self.entries if view not in [part.get("view") or entry.id for part in entry.parts]
        ]

    def fit_sources(self, X: Any) -> None:
        """Fit the sources of the kernels on the training samples; sources of the same features share them."""
        table = self.read(X)
        specs: Sequence[Any] = self.specs
        if isinstance(table, Views) and self.for_each_view:
            specs = [{**specs[0], "id": name, "view": name} for name in table.names]
        # new entries, since another transform may share the fitted ones
        self.entries = [KernelEntry(spec) for spec in specs]
        shared: dict[Any, Source] = {}
        for entry in self.entries:
            with error_prefix(entry.id):
                entry.read(table, shared, drop_constant=self.drop_constant)
        self.reads_views = isinstance(table, Views)

    def read(self, X: Any, *, new: bool = False) -> Any:
        """Return X as views or as one table, which becomes a float matrix unless a kernel needs the original.

        Raises `DataError` if new samples are views and the training samples were one table, or the reverse.
        """
        views = as_views(X)
        if new and self.reads_views != (views is not None):
            names = dict.fromkeys(repr(source.view) for entry in self.entries for source in entry.sources)
            expected = f"the views {', '.join(names)}" if self.reads_views else "one table of features"
            raise DataError(f"X must be {expected}, as in fit")
        if views is not None:
            return views
        if self.reads_as_given(X):
            return X if hasattr(X, "iloc") or is_sparse(X) else regular_array(X, "X")
        return as_float_matrix(X, "X")

    @property
    def infos(self) -> list[dict[str, Any]]:
        """Bandwidth and diagnostics of each fitted kernel."""
        return [entry.info for entry in self.entries]

    @property
    def fitted_specs(self) -> list[dict[str, Any]]:
        """Specs of the fitted kernels, with "id"; a single spec for all views becomes one for each view."""
        return [dict(entry.spec) for entry in self.entries]

    def of_kernels(self, numbers: Iterable[int]) -> StackTransform:
        """Return an unfitted transform of the kernels at the given positions."""
        specs = [self.entries[number].spec for number in numbers]
        return StackTransform(specs, drop_constant=self.drop_constant)

    def fit(self, X: Any) -> StackTransform:
        """Fit every kernel on the training samples and keep the training kernels; see `fit_transform`."""
        self.stack_train_ = self.fit_transform(X)
        return self

    def fit_transform(self, X: Any) -> KernelStack:
        """Fit every kernel on the training samples and return the M training kernels, (n, n), without keeping them.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d), or views
            See `mklearn.kernels.views.as_views`.

        Raises
        ------
        DataError
            A kernel can't be computed from these features, columns or views; the message names it.
        NotApplicable
            All values of a kernel's features are missing; or, without `drop_constant`, fewer than two training samples
            have its views.
        """
        keeps = isinstance(X, CachingViews) and not self.for_each_view
        found = X.fitted(self.specs, self.drop_constant) if keeps else None
        if found is not None:
            whole, chosen, stack = found
            self._whole: tuple[StackTransform, Sequence[int]] | None = (whole, chosen)
            self.entries, self.reads_views = [whole.entries[number] for number in chosen], True
            return stack
        stack = self._stacked(self.training_kernels(X))
        if keeps:
            whole = copy.copy(self)  # since this transform may be fitted again
            self._whole = whole, range(len(self.entries))
            X.fits.append((whole, stack))
        return stack

    def training_kernels(self, X: Any) -> Iterator[Array]:
        """Fit every kernel on the training samples and yield the training kernels, (n, n), one by one.

        Parameters and errors are as for `fit_transform`. Only one kernel at a time is in memory. Kernels of new samples
        can be computed once the iterator is exhausted.
        """
        self.fit_sources(X)
        yield from self._fitted_kernels()

    def training_kernels_again(self, numbers: Iterable[int]) -> Iterator[Array]:
        """Yield the training kernels at some positions again, from the same features: nothing is redrawn."""
        numbers = list(numbers)
        some = self.of_kernels(numbers)
        for entry, number in zip(some.entries, numbers, strict=True):
            entry.sources = self.entries[number].sources
        return some._fitted_kernels()

    def _fitted_kernels(self) -> Iterator[Array]:
        self._whole = None
        dtype = np.result_type(*(source.dtype for entry in self.entries for source in entry.sources))
        blocks = shared_blocks(self.entries, lambda source, measure: measured(measure, source.training_values()))
        for entry, values, may_overwrite in blocks:
            with error_prefix(entry.id):
                kernel = entry.fit(values, overwrite=may_overwrite, drop_constant=self.drop_constant)
            yield kernel.astype(dtype, copy=False)
            del kernel  # frees the memory for the next one

    def transform(self, X: Any) -> KernelStack:
        """Compute the kernels between new samples, given as in `fit`, and the training samples: M kernels, (m, n).

        Raises
        ------
        DataError
            Not fitted, or views, features or columns differ from the training samples.
        """
        if not hasattr(self, "reads_views"):
            raise DataError("this StackTransform is not fitted; call fit with the training features first")
        if not isinstance(X, CachingViews):
            return self._stacked(self.new_kernels(X))
        whole, chosen = self._whole or (self, range(len(self.entries)))
        if whole not in X.new:
            X.new[whole] = whole._stacked(whole.new_kernels(X))
        return X.new[whole].select(chosen)

    def new_kernels(self, X: Any) -> Iterator[Array]:
        """Yield the kernels of `transform` one by one."""
        table = self.read(X, new=True)
        new: dict[Any, tuple[Any, Mask]] = {}
        training: dict[Any, Any] = {}
        for entry in self.entries:
            for source in entry.sources:
                if source.key not in new:
                    with error_prefix(entry.id):
                        new[source.key], training[source.key] = source.transform(table), source.training_values()
        sources = (source for entry in self.entries for source in entry.sources)
        dtype = np.result_type(*(dtype for each in sources for dtype in (each.dtype, new[each.key][0].dtype)))

        def compute(source: Source, measure: str) -> Array:
            return measured(measure, new[source.key][0], training[source.key])

        for entry, taken, _ in shared_blocks(self.entries, compute):
            with error_prefix(entry.id):
                kernel = entry.rows([new[source.key] for source in entry.sources], taken, dtype)
            yield kernel.astype(dtype, copy=False)

    def _stacked(self, kernels: Iterator[Array]) -> KernelStack:
        first = next(kernels)
        matrices: Array = np.empty((len(self.entries), *first.shape), dtype=first.dtype)
        for number, kernel in enumerate(itertools.chain([first], kernels)):
            matrices[number] = kernel
        return KernelStack(matrices, [entry.id for entry in self.entries])
