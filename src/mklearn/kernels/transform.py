"""Kernels of specs, fitted on training samples and applied to new ones."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mklearn.checks import Array, as_float_matrix, regular_array
from mklearn.errors import DataError
from mklearn.kernels.completion import Mask
from mklearn.kernels.features import is_sparse
from mklearn.kernels.kernel_entry import error_prefix, kernel_entries, shared_blocks
from mklearn.kernels.source import Source, measured
from mklearn.kernels.specs import KernelSpecs, is_one_spec, spec_list
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import CachingViews, Pairwise, Views, as_views


class KernelsOfSpecs:
    """Kernels by their specs, and what each of them reads, fitted on training samples.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        See `StackTransform`, also for what is raised.

    Attributes
    ----------
    specs : list of dict
        Specs of the kernels, with "id".
    for_each_view : bool
        Whether one spec that names no view stands for a kernel on each of several views.
    reads_views : bool
        Whether it was fitted to several views.
    """

    reads_views: bool

    def __init__(self, kernels: KernelSpecs) -> None:
        self._entries = kernel_entries(spec_list(kernels))
        self.specs = [entry.spec for entry in self._entries]
        self.for_each_view = is_one_spec(kernels) and all(part.get("view") is None for part in self._entries[0].parts)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the kernels; the names of one spec's kernels on each view are known after the fit."""
        return tuple(entry.id for entry in self._entries)

    def reads_as_given(self, X: Any) -> bool:
        """Return whether one table is read with its column names, its entries that are no numbers, or as sparse."""
        sources = [source for entry in self._entries for source in entry.sources]
        return any(source.reads_tables or (source.clips and is_sparse(X)) for source in sources)

    def without_view(self, view: str) -> list[Mapping[str, Any]]:
        """Return the specs of the kernels that do not read a view; of a product no factor does."""
        return [
            entry.spec for entry in self._entries if view not in [part.get("view") or entry.id for part in entry.parts]
        ]

    def _fit_sources(self, X: Any) -> None:
        """Fit what the kernels read on the training samples; sources of the same features share them."""
        table = self._as_read(X)
        specs: Sequence[Any] = self.specs
        if isinstance(table, Views) and self.for_each_view:
            specs = [{**specs[0], "id": name, "view": name} for name in table.names]
        self._entries = kernel_entries(specs)  # the fitted kernels may be those of another transform, too
        shared: dict[Any, Source] = {}
        for entry in self._entries:
            with error_prefix(entry.id):
                entry.read(table, shared)
        self.reads_views = isinstance(table, Views)

    def _as_read(self, X: Any, *, new: bool = False) -> Any:
        """Return X as views, or as one table: a float matrix unless a kernel needs it as it was given.

        New samples must be given as the training samples were, else `DataError`.
        """
        views = as_views(X)
        if new and self.reads_views != (views is not None):
            names = dict.fromkeys(repr(source.view) for entry in self._entries for source in entry.sources)
            expected = f"the views {', '.join(names)}" if self.reads_views else "one table of features"
            raise DataError(f"X must be {expected}, as in fit")
        if views is not None:
            return views
        if self.reads_as_given(X):
            return X if hasattr(X, "iloc") or is_sparse(X) else regular_array(X, "X")
        return as_float_matrix(X, "X")


class StackTransform(KernelsOfSpecs):
    """Kernels on features or pairwise values, fitted on training samples and applied to new ones.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        A spec is a kind ("gaussian", "linear", "polynomial", "precomputed", "product"), or a mapping with "kind" or
        "implementation" ("module:Class", a subclass of `mklearn.kernels.Kernel`), the parameters of the kernel's class,
        and optionally

        - "id" in a sequence: the kernel's name (default: its number);
        - "view": the view that it is computed from (default: the view with the kernel's name). Of a view that is
          `mklearn.kernels.Pairwise` the values are looked up, else they are computed from features;
        - "columns": the features of X or of the view: a list of indices or of names, a boolean list or a slice
          (default: all);
        - "preprocessing": a transformer with ``fit`` and ``transform``. A copy is fitted to these features of the
          training samples, without labels. It may change their number, and take what is no number;
        - "impute": "mean" or "median" fills in values that are NaN, by the training samples (default: "none");
        - "feature_scaling" of what results (default: "none"; see `mklearn.kernels.feature_scaling.FeatureScaler`);
        - "clip": whether scaled features of new samples are clipped, as they are in the dictionary of kernels (default:
          no). It ignores features that are constant in the training samples, and sparse features can then be scaled;
        - "missing_views": what is done with samples that lack the view, rows in which all of these features are NaN.
          "error" (default) refuses them. "mean" puts them at the mean of the training samples that have the view, to
          which alone the kernel is fitted: see `mklearn.kernels.completion.MeanCompletion`. In a sparse view these
          are rows whose stored entries are all NaN.

        Each factor of a product may have these too, all but the last. One spec alone stands for a kernel on X or, of
        several views, for a kernel on each; if it or a factor names a `view`, for one kernel.
    drop_constant : bool, default=False
        Whether a kernel that can't be fitted because the training samples coincide in it is zero, for these and for new
        samples, in place of an error. `infos` has its "id" and "constant" alone.

    Attributes
    ----------
    stack_train_ : KernelStack
        M kernels, (n, n). Set by `fit` only.
    infos : list of dict
        For each kernel "id", "view", "feature_scaling" and "impute" (lists if there are factors), the number
        "n_missing" of training samples that lack its views, and `mklearn.kernels.Kernel.info_`.

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, invalid parameters, features of a measure that is not computed
        from features.

    Notes
    -----
    `transform` needs the training features, which are kept once for all kernels that read the same. An array is not
    copied unless columns of it are chosen by index or it is preprocessed: do not change it afterwards. Sparse features
    stay sparse, for kernels of inner products and squared Euclidean distances. Views of the class
    `mklearn.kernels.views.CachingViews` keep the kernels: nothing is computed twice.
    """

    def __init__(self, kernels: KernelSpecs, *, drop_constant: bool = False) -> None:
        super().__init__(kernels)
        self.drop_constant = drop_constant

    @property
    def infos(self) -> list[dict[str, Any]]:
        """Inputs, parameters and diagnostics of each fitted kernel."""
        return [entry.info for entry in self._entries]

    @property
    def fitted_specs(self) -> list[dict[str, Any]]:
        """Specs of the fitted kernels, with "id"; one for each view where one spec stands for several."""
        return [dict(entry.spec) for entry in self._entries]

    def of_kernels(self, numbers: Iterable[int]) -> StackTransform:
        """Return a transform of some of the kernels, by position, that is not fitted."""
        specs = [self._entries[number].spec for number in numbers]
        return StackTransform(specs, drop_constant=self.drop_constant)

    def fit(self, X: Any) -> StackTransform:
        """Fit every kernel on the training samples and keep the training kernels; see `fit_transform`."""
        self.stack_train_ = self.fit_transform(X)
        return self

    def fit_transform(self, X: Any) -> KernelStack:
        """Fit every kernel on the training samples and return the training kernels, M of (n, n), without keeping them.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d), or views
            See `mklearn.kernels.views.as_views`.

        Raises
        ------
        DataError
            Features, columns or views that a kernel can't be computed from; the message names the kernel.
        NotApplicable
            Fewer than two training samples have the views of a kernel, or all values of its features are missing.
        """
        keeps = isinstance(X, CachingViews) and not self.for_each_view
        found = X.fitted(self.specs, self.drop_constant) if keeps else None
        if found is not None:
            whole, chosen, stack = found
            self._whole: tuple[StackTransform, Sequence[int]] | None = (whole, chosen)
            self._entries, self.reads_views = [whole._entries[number] for number in chosen], True
            return stack
        stack = self._stacked(self.training_kernels(X))
        if keeps:
            whole = copy.copy(self)  # this one may be fitted again
            self._whole = whole, range(len(self._entries))
            X.fits.append((whole, stack))
        return stack

    def training_kernels(self, X: Any) -> Iterator[Array]:
        """Fit every kernel on the training samples and yield the training kernels, (n, n) each, one after the other.

        Parameters and errors are as for `fit_transform`. One kernel at a time is in memory; kernels of new samples
        can be computed when all have been taken.
        """
        self._fit_sources(X)
        yield from self._fitted_kernels()

    def training_kernels_again(self, numbers: Iterable[int]) -> Iterator[Array]:
        """Yield some training kernels, by position, once more: of the same features, so that nothing is drawn anew."""
        numbers = list(numbers)
        some = self.of_kernels(numbers)
        for entry, number in zip(some._entries, numbers, strict=True):
            entry.sources = self._entries[number].sources
        return some._fitted_kernels()

    def _fitted_kernels(self) -> Iterator[Array]:
        self._whole = None
        dtype = np.result_type(*(source.dtype for entry in self._entries for source in entry.sources))
        blocks = shared_blocks(self._entries, lambda source, measure: measured(measure, source.training_values()))
        for entry, values, may_overwrite in blocks:
            with error_prefix(entry.id):
                kernel = entry.fit(values, overwrite=may_overwrite, drop_constant=self.drop_constant)
            yield kernel.astype(dtype, copy=False)
            del kernel  # the next one needs the memory

    def transform(self, X: Any) -> KernelStack:
        """Compute the kernels between new samples, given as in `fit`, and the training samples: M kernels, (m, n).

        Raises
        ------
        DataError
            Not fitted, or views, features or columns that differ from the training samples'.
        """
        if not hasattr(self, "reads_views"):
            raise DataError("this StackTransform is not fitted; call fit with the training features first")
        if not isinstance(X, CachingViews):
            return self._stacked(self.new_kernels(X))
        whole, chosen = self._whole or (self, range(len(self._entries)))
        if whole not in X.new:
            X.new[whole] = whole._stacked(whole.new_kernels(X))
        return X.new[whole].select(chosen)

    def new_kernels(self, X: Any) -> Iterator[Array]:
        """Yield the kernels of `transform` one after the other."""
        table = self._as_read(X, new=True)
        new: dict[Any, tuple[Any, Mask]] = {}
        training: dict[Any, Any] = {}
        for entry in self._entries:
            for source in entry.sources:
                if source.key not in new:
                    with error_prefix(entry.id):
                        new[source.key], training[source.key] = source.transform(table), source.training_values()
        sources = (source for entry in self._entries for source in entry.sources)
        dtype = np.result_type(*(dtype for each in sources for dtype in (each.dtype, new[each.key][0].dtype)))

        def compute(source: Source, measure: str) -> Array:
            return measured(measure, new[source.key][0], training[source.key])

        for entry, taken, _ in shared_blocks(self._entries, compute):
            with error_prefix(entry.id):
                kernel = entry.rows([new[source.key] for source in entry.sources], taken, dtype)
            yield kernel.astype(dtype, copy=False)

    def n_clipped(self, X: Any) -> dict[str | None, tuple[int, int]]:
        """Count, for each view that has clipped features, the values of new samples that are, and all of them.

        Where a view has several scalings, the largest count is returned. Parameters and errors are as in `transform`.
        """
        table = self._as_read(X, new=True)
        sources = {source.key: source for entry in self._entries for source in entry.sources}
        counts: dict[str | None, tuple[int, int]] = {}
        for source in sources.values():
            if source.clips and not isinstance(source.train_, Pairwise):
                counts[source.view] = max(counts.get(source.view, (0, 0)), source.n_clipped(table))
        return counts

    def _stacked(self, kernels: Iterator[Array]) -> KernelStack:
        first = next(kernels)
        matrices: Array = np.empty((len(self._entries), *first.shape), dtype=first.dtype)
        for number, kernel in enumerate(itertools.chain([first], kernels)):
            matrices[number] = kernel
        return KernelStack(matrices, [entry.id for entry in self._entries])


def compute_stack(X: Any, kernels: KernelSpecs, Y: Any = None) -> KernelStack:
    """Compute M kernels, (n, m), between samples `X`, (n, d), and training samples `Y`, (m, d), fitted on `Y`.

    Without `Y` they are the training kernels of `X`. Specs and errors are as for `StackTransform`, which fits the
    kernels only once for several sets of new samples.
    """
    if Y is None:
        return StackTransform(kernels).fit_transform(X)
    return StackTransform(kernels).fit(Y).transform(X)


class KernelPasses:
    """Kernels among the training samples, for methods that need each of them once or twice.

    They are the kernels of ``stack``, or computed by ``transform`` from the training ``samples``: at once if ``keep``,
    else one by one and again in each pass. The transform is fitted after the first pass over all of them.
    """

    def __init__(
        self, stack: KernelStack | None = None, *, transform: StackTransform | None = None, samples: Any = None,
        keep: bool = True,
    ) -> None:  # fmt: skip
        self._transform, self._samples = transform, samples
        if stack is None and keep and transform is not None:
            stack = transform.fit_transform(samples)
        self.stack = stack

    def every(self) -> Iterator[Array]:
        """Yield all kernels, (n, n) each."""
        if self.stack is not None:
            return iter(self.stack)
        assert self._transform is not None
        return self._transform.training_kernels(self._samples)

    def some(self, numbers: Iterable[int]) -> Iterator[Array]:
        """Yield the kernels at some positions, after a pass over all of them."""
        if self.stack is not None:
            return (self.stack[number] for number in numbers)
        assert self._transform is not None
        return self._transform.training_kernels_again(numbers)
