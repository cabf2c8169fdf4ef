"""Kernel stacks from kernel specs: on features, which may be completed and scaled first, or on pairwise values."""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mklearn.checks import Array, as_float_matrix, check_keys, invalid, regular_array
from mklearn.errors import ConfigError, ConstantKernel, DataError, NotApplicable
from mklearn.kernels.base import Kernel
from mklearn.kernels.completion import Mask, MeanCompletion, check_missing_views
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_source import (
    FEATURE_KEYS,
    FeatureSource,
    NewSamples,
    PairwiseSource,
    SelectedFeatures,
    Source,
    TableForms,
)
from mklearn.kernels.features import is_sparse
from mklearn.kernels.imputation import FeatureImputer
from mklearn.kernels.kernel_cache import CachingViews
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.spec_forms import KernelSpec, declared, is_one_spec, kernel_class, spec_list, valid_kinds
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views, as_views


@dataclass(frozen=True, eq=False)
class _Entry:
    """A kernel with its spec."""

    id: str
    kernel: Kernel
    spec: Mapping[str, Any]

    @property
    def parts(self) -> list[Mapping[str, Any]]:
        """What says which features the kernel reads, or each of its factors, which take over what they do not say."""
        own = {key: value for key, value in self.spec.items() if key in FEATURE_KEYS}
        return [{**own, **factor} for factor in self.spec.get("factors", [{}])]

    @property
    def named_views(self) -> list[str | None]:
        """The view that the spec or each factor names; None stands for the view with the kernel's name."""
        return [part.get("view") for part in self.parts]

    def views(self, table: Any) -> list[str | None]:
        """Return the names of the views that the kernel or its factors read; None if there is one table."""
        return [_view_of(self.id, view, table) for view in self.named_views]


class KernelsOfSpecs:
    """Kernels by their specs, and what each of them reads, fitted on training samples.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        See `StackTransform`, also for what is raised.
    """

    def __init__(self, kernels: Sequence[KernelSpec] | Mapping[str, Any] | str) -> None:
        self._entries = _entries(spec_list(kernels))
        self.specs = [entry.spec for entry in self._entries]
        """Those of the kernels as mappings with "id"."""
        self.for_each_view = is_one_spec(kernels) and all(view is None for view in self._entries[0].named_views)
        """Whether of several views there is a kernel on each: of one spec that names no view."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the kernels; those of one spec on each view are known after the fit."""
        return tuple(entry.id for entry in self._entries)

    @property
    def reads_tables(self) -> bool:
        """Whether a kernel needs X as it was given, with column names or entries that are no numbers."""
        return any(SelectedFeatures(part, None).reads_tables for entry in self._entries for part in entry.parts)

    def reads_as_given(self, X: Any) -> bool:
        """Return whether one table is read as it is given: for these, and if it is sparse, for kernels that clip."""
        clips = is_sparse(X) and any(part.get("clip") for entry in self._entries for part in entry.parts)
        return clips or self.reads_tables

    @property
    def reads_views(self) -> bool:
        """Whether it was fitted to several views."""
        return self._forms.are_views

    def without_view(self, view: str) -> list[Mapping[str, Any]]:
        """Return the specs of the kernels that do not read a view; of a product no factor does."""
        return [
            entry.spec
            for entry in self._entries
            if view not in [entry.id if name is None else name for name in entry.named_views]
        ]

    def _fit_sources(self, X: Any) -> None:
        """Fit what the kernels read on the training samples; sources of the same features share them."""
        table = self._as_read(X)
        specs: Sequence[Any] = self.specs
        if isinstance(table, Views) and self.for_each_view:
            specs = [{**specs[0], "id": name, "view": name} for name in table.names]
        self._entries = _entries(specs)  # the fitted kernels may be those of another transform, too
        shared: dict[Any, Any] = {}
        self._sources: list[list[Source]] = []
        read: set[str | None] = set()
        for entry in self._entries:
            with self._error_prefix(entry):
                views = entry.views(table)
                read.update(views)
                parts = zip(entry.parts, views, entry.kernel.inputs, strict=True)
                self._sources.append(
                    [_source(part, view, measure, table, shared) for part, view, (_, measure) in parts]
                )
        self._forms = TableForms(table, read)

    def _as_read(self, X: Any) -> Any:
        """Return X as views, or as one table: a float matrix unless a kernel needs it as it was given."""
        views = as_views(X)
        if views is not None:
            return views
        if self.reads_as_given(X):
            return X if hasattr(X, "iloc") or is_sparse(X) else regular_array(X, "X")
        return as_float_matrix(X, "X")

    @staticmethod
    def _error_prefix(entry: _Entry) -> contextlib.AbstractContextManager[None]:
        return _error_prefix(entry.id)


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
    spectra : bool, default=False
        Whether `infos` has eigenvalues of kernels that need no repair.
    drop_constant : bool, default=False
        Whether a kernel that can't be fitted because the training samples coincide in it is zero, for these and for new
        samples, in place of an error. `infos` has its "id" and "constant" alone.

    Attributes
    ----------
    stack_train_ : KernelStack
        M kernels, (n, n). Set by `fit` only.
    infos : list of dict
        Of each kernel "id", "view", "feature_scaling" and "impute" (lists if there are factors), the number
        "n_missing" of training samples that lack its views, and `mklearn.kernels.Kernel.info_`.

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, invalid parameters, features of a measure that is not computed
        from features.

    Notes
    -----
    `transform` needs the training features, which are kept once for all kernels that read the same. An array is not
    copied unless columns of it are chosen by index or it is preprocessed: do not change it afterwards.

    Sparse features stay sparse, for kernels of inner products and squared Euclidean distances.

    Views of the class `mklearn.kernels.kernel_cache.CachingViews` keep the kernels: nothing is computed twice.
    """

    def __init__(
        self,
        kernels: Sequence[KernelSpec] | Mapping[str, Any] | str,
        *,
        spectra: bool = False,
        drop_constant: bool = False,
    ) -> None:
        super().__init__(kernels)
        self.spectra = spectra
        self.drop_constant = drop_constant

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
        self._whole: tuple[StackTransform, Sequence[int]] | None = None
        if not isinstance(X, CachingViews) or self.for_each_view:
            return self._fit_kernels(X)
        found = X.fitted(self.specs, self.spectra, self.drop_constant)
        if found is None:
            stack = self._fit_kernels(X)
            whole = copy.copy(self)  # this one may be fitted again
            self._whole = whole, range(len(self._entries))
            X.keep_fitted(whole, stack)
            return stack
        whole, chosen, stack = found
        for name in ("_entries", "_sources", "_completions", "_is_constant", "infos"):
            setattr(self, name, [getattr(whole, name)[number] for number in chosen])
        self._forms = TableForms(X, {view for entry in self._entries for view in entry.views(X)})
        self._whole = whole, chosen
        return stack

    def _fit_kernels(self, X: Any) -> KernelStack:
        return self._stacked(self.training_kernels(X))

    def _stacked(self, kernels: Iterator[Array]) -> KernelStack:
        first = next(kernels)
        matrices: Array = np.empty((len(self._entries), *first.shape), dtype=first.dtype)
        for number, kernel in enumerate(itertools.chain([first], kernels)):
            matrices[number] = kernel
        return KernelStack(matrices, [entry.id for entry in self._entries])

    def training_kernels(self, X: Any) -> Iterator[Array]:
        """Fit every kernel on the training samples and yield the training kernels, (n, n) each, one after the other.

        Parameters and errors are those of `fit_transform`. One kernel at a time is in memory; kernels of new samples
        can be computed when all have been taken.
        """
        self._fit_sources(X)
        yield from self._kernels_of_sources()

    def training_kernels_again(self, numbers: Iterable[int]) -> Iterator[Array]:
        """Yield some training kernels, by position, once more: of the same features, so that nothing is drawn anew."""
        numbers = list(numbers)
        some = self.of_kernels(numbers)
        some._sources, some._forms = [self._sources[number] for number in numbers], self._forms
        return some._kernels_of_sources()

    def _kernels_of_sources(self) -> Iterator[Array]:
        self._whole = None
        self._completions: list[MeanCompletion | None] = []
        self._is_constant: list[bool] = []
        self.infos: list[dict[str, Any]] = []
        dtype = np.result_type(*(source.dtype for sources in self._sources for source in sources))
        blocks = _SharedBlocks(self._entries, self._sources, lambda source, measure: source.among_training(measure))
        for entry, sources in zip(self._entries, self._sources, strict=True):
            with _error_prefix(entry.id):
                kernel = self._fitted_kernel(entry, sources, blocks)
            yield kernel.astype(dtype, copy=False)
            del kernel  # the next one needs the memory

    @property
    def fitted_specs(self) -> list[dict[str, Any]]:
        """Those of the fitted kernels, with "id"; of one spec on several views one for each."""
        return [dict(entry.spec) for entry in self._entries]

    def of_kernels(self, numbers: Iterable[int]) -> StackTransform:
        """Return a transform of some of the kernels, by position, that is not fitted."""
        specs = self.fitted_specs
        return StackTransform(
            [specs[number] for number in numbers], spectra=self.spectra, drop_constant=self.drop_constant
        )

    def has_dropped(self, numbers: Iterable[int]) -> bool:
        """Tell whether one of some fitted kernels, by position, is constant and was dropped."""
        return any(self._is_constant[number] for number in numbers)

    def _fitted_kernel(self, entry: _Entry, sources: Sequence[Source], blocks: _SharedBlocks) -> Array:
        """Fit a kernel and return it among the training samples, completed; it is dropped from its object."""
        observed = _all_of(source.observed_ for source in sources)
        n = len(observed)
        if observed.sum() < 2 <= n:
            raise NotApplicable(f"{observed.sum()} of the {n} training samples have its view; at least two are needed")
        taken, may_overwrite = blocks.take(entry, sources)
        taken = [
            _part(block, observed[source.observed_], observed[source.observed_])
            for block, source in zip(taken, sources, strict=True)
        ]
        measured = all(source.measured for source in sources)
        self._completions.append(None)
        self._is_constant.append(False)
        try:
            entry.kernel.fit(*taken, spectrum=self.spectra, measured=measured, overwrite=may_overwrite)
        except ConstantKernel:
            if not self.drop_constant:
                raise
            self._is_constant[-1] = True
            self.infos.append({"id": entry.id, "constant": True})
            return np.zeros((n, n), dtype=taken[0].dtype)
        del taken  # kernels need the memory
        kernel = entry.kernel.kernel_train_
        self.infos.append({"id": entry.id, **_described(entry, self._forms.are_views), **entry.kernel.info_})
        if any(source.completes for source in sources):
            self.infos[-1]["n_missing"] = int(n - observed.sum())
            completion = self._completions[-1] = MeanCompletion.of(entry.kernel, observed)
            kernel = completion.training_kernel(kernel)
        del entry.kernel.kernel_train_  # new samples need neither it nor the kernel in the repair
        repair = entry.kernel.repair_
        entry.kernel.repair_ = replace(repair, kernel=np.empty((0, len(repair.kernel)), dtype=repair.kernel.dtype))
        return kernel

    def transform(self, X: Any) -> KernelStack:
        """Compute the kernels between new samples and the training samples: M kernels, (m, n).

        Parameters
        ----------
        X : array or DataFrame of shape (m, d), or views
            As in `fit`.

        Raises
        ------
        DataError
            Not fitted, or views, features or columns that differ from the training samples'.
        """
        if not hasattr(self, "_forms"):
            raise DataError("this StackTransform is not fitted; call fit with the training features first")
        if not isinstance(X, CachingViews):
            return self._new_kernels(X)
        whole, chosen = self._whole or (self, range(len(self._entries)))
        stack = X.rows_of(whole)
        if stack is None:
            stack = whole._new_kernels(X)
            X.keep_rows(whole, stack)
        return stack.select(chosen)

    def _new_kernels(self, X: Any) -> KernelStack:
        return self._stacked(self.new_kernels(X))

    def new_kernels(self, X: Any) -> Iterator[Array]:
        """Yield the kernels between new samples and the training samples, (m, n) each, one after the other.

        Parameters and errors are those of `transform`.
        """
        table = self._as_read(X)
        self._forms.check(table)
        every = [(entry, source) for entry, own in zip(self._entries, self._sources, strict=True) for source in own]
        read: dict[Any, NewSamples] = {}
        for entry, source in every:
            if source.key not in read:
                with _error_prefix(entry.id):
                    read[source.key] = source.new_samples(table)
        dtype = np.result_type(*(each.dtype for each in read.values()), *(source.dtype for _, source in every))
        blocks = _SharedBlocks(
            self._entries, self._sources, lambda source, measure: read[source.key].against_training(measure)
        )
        for number, (entry, sources) in enumerate(zip(self._entries, self._sources, strict=True)):
            with _error_prefix(entry.id):
                new = [read[source.key] for source in sources]
                kernel = self._rows_of_kernel(number, new, blocks.take(entry, sources)[0], dtype)
            yield kernel.astype(dtype, copy=False)

    def n_clipped(self, X: Any) -> dict[str | None, tuple[int, int]]:
        """Count, for each view that has clipped features, the values of new samples that are, and all of them.

        Of the scalings of a view the one that has the most counts. Parameters and errors are those of `transform`.
        """
        table = self._as_read(X)
        self._forms.check(table)
        sources = {each.key: each for own in self._sources for each in own if isinstance(each, FeatureSource)}
        found: dict[str | None, tuple[int, int]] = {}
        for source in sources.values():
            if source.clips:
                view = source.selected.view
                found[view] = max(found.get(view, (0, 0)), source.n_clipped(table))
        return found

    def _rows_of_kernel(self, number: int, new: Sequence[NewSamples], taken: Sequence[Array], dtype: Any) -> Array:
        """Return a kernel between new samples and the training samples, completed."""
        entry, sources, completion = self._entries[number], self._sources[number], self._completions[number]
        present = _all_of(each.present for each in new)
        observed = _all_of(source.observed_ for source in sources)
        if self._is_constant[number]:
            return np.zeros((len(present), len(observed)), dtype=dtype)
        own = [_part(each.own(), present[each.present]) for each in new]
        rows = [
            _part(block, present[each.present], observed[source.observed_])
            for block, each, source in zip(taken, new, sources, strict=True)
        ]
        kernel: Array = np.empty((0, int(observed.sum())), dtype=dtype)
        if present.any():
            kernel = entry.kernel.transform(*rows, own=None if any(each is None for each in own) else own)
        return kernel if completion is None else completion.rows(kernel, present)


class _SharedBlocks:
    """Values of a measure that several kernels read: computed once, and dropped after the last of them.

    Parameters
    ----------
    entries, sources
        The kernels, and what each reads.
    compute : callable
        Takes a source and a measure and returns their values.
    """

    def __init__(
        self, entries: Sequence[_Entry], sources: Sequence[Sequence[Source]], compute: Callable[[Source, str], Array]
    ) -> None:
        self._compute = compute
        self._left = Counter(
            (source.key, measure)
            for entry, read in zip(entries, sources, strict=True)
            for source, (_, measure) in zip(read, entry.kernel.inputs, strict=True)
        )
        self._kept: dict[Any, Array] = {}

    def take(self, entry: _Entry, sources: Sequence[Source]) -> tuple[list[Array], bool]:
        """Return the values that a kernel reads, and whether it may write over them."""
        names = [(source.key, measure) for source, (_, measure) in zip(sources, entry.kernel.inputs, strict=True)]
        taken = []
        for name, source in zip(names, sources, strict=True):
            if name not in self._kept:
                self._kept[name] = self._compute(source, name[1])
            self._left[name] -= 1
            taken.append(self._kept[name] if self._left[name] else self._kept.pop(name))
        return taken, len(set(names)) == len(names) and not any(self._left[name] for name in names)


def _part(block: Any, rows: Mask, columns: Mask | None = None) -> Any:
    """Return some rows and columns of a block, or None of None; all of them without a copy."""
    if block is None or (rows.all() and (columns is None or columns.all())):
        return block
    return block[rows] if columns is None else block[np.ix_(rows, columns)]


def _all_of(masks: Iterable[Mask]) -> Mask:
    return functools.reduce(np.logical_and, masks)


def _described(entry: _Entry, are_views: bool) -> dict[str, Any]:
    """Return what a kernel is computed from, as its spec says; lists if it has factors."""
    parts = [{**part, **({"view": part.get("view", entry.id)} if are_views else {})} for part in entry.parts]
    keys = [key for key in ("view", "feature_scaling", "impute") if any(key in part for part in parts)]
    values = {key: [part.get(key) for part in parts] for key in keys}
    return values if "factors" in entry.spec else {key: found[0] for key, found in values.items()}


def _entries(specs: Sequence[KernelSpec]) -> list[_Entry]:
    """Construct the kernels of specs."""
    entries = [_entry(spec, number) for number, spec in enumerate(specs)]
    if not entries:
        raise ConfigError("the list of kernels is empty; at least one is needed")
    ids = [entry.id for entry in entries]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(f"kernel ids must be unique; given twice: {', '.join(map(repr, twice))}")
    return entries


def _source(part: Mapping[str, Any], view: str | None, measure: str, table: Any, shared: dict[Any, Any]) -> Source:
    """Return what a kernel or a factor reads, fitted to the training samples; `shared` holds what others read."""
    values = table if view is None else table[view]
    if isinstance(values, Pairwise):
        assert view is not None
        return PairwiseSource(values, part, view)
    if measure not in MEASURES:
        raise ConfigError(
            f"measure {measure} can't be computed from features: its view must be mklearn.kernels.Pairwise; or pass "
            "all kernels themselves with kernels='precomputed'"
        )
    selected, scaling = SelectedFeatures(part, view), (part.get("feature_scaling", "none"), bool(part.get("clip")))
    key = selected.key
    if key not in shared:
        shared[key] = selected.fit(table)
    if (key, scaling) not in shared:
        shared[key, scaling] = FeatureSource(shared[key], *scaling)
    source: FeatureSource = shared[key, scaling]
    return source


def _view_of(kernel: str, view: str | None, table: Any) -> str | None:
    """Return the name of the view that a kernel is computed from; None if there is one table."""
    if not isinstance(table, Views):
        if view is None:
            return None
        raise DataError(f"it needs view {view!r}, but X is one table; pass a dict of tables or `mklearn.kernels.Views`")
    name = kernel if view is None else view
    if name not in table:
        hint = "" if view is not None else "; say which one with `view`"
        raise DataError(f"X has no view {name!r}: its views are {', '.join(map(repr, table.names))}{hint}")
    return str(name)


def compute_stack(X: Any, kernels: Sequence[KernelSpec] | Mapping[str, Any], Y: Any = None) -> KernelStack:
    """Compute M kernels, (n, m), between samples `X`, (n, d), and training samples `Y`, (m, d), fitted on `Y`.

    Without `Y` they are the training kernels of `X`. Specs and errors are those of `StackTransform`, which fits the
    kernels only once for several sets of new samples.
    """
    if Y is None:
        return StackTransform(kernels).fit_transform(X)
    return StackTransform(kernels).fit(Y).transform(X)


def _entry(spec: KernelSpec, number: int) -> _Entry:
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        raise ConfigError(f"kernel spec {number} is {spec!r}; expected a kind ({valid_kinds()}) or a mapping")
    name = str(spec.get("id", number))
    with _error_prefix(name):
        found = kernel_class(spec)
    parameters = declared(found)
    check_keys(
        spec, tuple(dict.fromkeys(("id", "kind", "implementation", *FEATURE_KEYS, *parameters))), f"kernel {name!r}"
    )
    missing = [key for key, parameter in parameters.items() if parameter.default is parameter.empty and key not in spec]
    if missing:
        raise ConfigError(f"kernel {name!r} needs a value for {', '.join(f'`{key}`' for key in missing)}")
    with _error_prefix(name):
        kernel = found(**{key: spec[key] for key in parameters if key in spec}, name=name)
        entry = _Entry(name, kernel, {**spec, "id": name})
        for part in entry.parts:
            check_missing_views(part.get("missing_views", "error"))
            FeatureImputer(part.get("impute", "none"))
            preprocessing = part.get("preprocessing")
            if preprocessing is not None and not (
                hasattr(preprocessing, "fit") and hasattr(preprocessing, "transform")
            ):
                expected = "an object with `fit` and `transform`, such as StandardScaler()"
                raise invalid(preprocessing, "preprocessing", expected)
    return entry


@contextlib.contextmanager
def _error_prefix(name: str) -> Iterator[None]:
    """Prefix the message of an error with the id of the kernel."""
    try:
        yield
    except (ConfigError, DataError, NotApplicable) as error:
        raise type(error)(f"kernel {name!r}: {error}") from error
