"""Kernel stacks from kernel specs: on features, which may be completed and scaled first, or on pairwise values."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mklearn.checks import Array, as_float_matrix, check_choice, check_keys, regular_array
from mklearn.errors import ConfigError, ConstantKernel, DataError, NotApplicable
from mklearn.kernels.base import Kernel
from mklearn.kernels.completion import Mask, MeanCompletion
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.features import is_sparse
from mklearn.kernels.gaussian import GaussianKernel
from mklearn.kernels.kernel_cache import CachingViews
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.source import FEATURE_KEYS, Source, measured, own_values
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.table import KERNELS
from mklearn.kernels.views import Views, as_views
from mklearn.loading import load

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with "kind" or "implementation", the parameters of the kernel's class and its input."""


def kernel_class(spec: KernelSpec) -> type[Kernel]:
    """Return the class that a spec names: of a kind of mklearn's own, by default the Gaussian, or ``implementation``.

    Raises `ConfigError` if there is no such kind, or `implementation` is no subclass of `Kernel`.
    """
    given = {"kind": spec} if isinstance(spec, str) else spec
    implementation = given.get("implementation")
    if implementation is None:
        kind = given.get("kind", "gaussian")
        check_choice(kind, "kind", tuple(KERNELS))
        implementation = KERNELS[kind].implementation
    of_class = load(str(implementation))
    if not (isinstance(of_class, type) and issubclass(of_class, Kernel)):
        raise ConfigError(f"`implementation` {implementation!r} is not a subclass of mklearn.kernels.Kernel")
    return of_class


def spec_mapping(spec: Any, name: object) -> Mapping[str, Any]:
    """Return the spec of a kernel as a mapping; raise `ConfigError` if it is neither that nor a kind."""
    given = {"kind": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping):
        kinds = ", ".join(KERNELS)
        raise ConfigError(f"the spec of kernel {name!r} is {spec!r}; expected a kind ({kinds}) or a mapping")
    return given


def is_one_spec(kernels: Any) -> bool:
    """Return whether these are one spec, and not several, in a sequence or by name.

    A mapping is one spec if it has a key of a spec and no mapping as a value: no kernel is named "kind".
    """
    if isinstance(kernels, str):
        return True
    known = {"id", "kind", "implementation", *FEATURE_KEYS, *declared(GaussianKernel)}
    return (
        isinstance(kernels, Mapping)
        and any(key in known for key in kernels)
        and not any(isinstance(value, Mapping) for value in kernels.values())
    )


def spec_list(kernels: Any) -> list[KernelSpec]:
    """Return one spec, a sequence of specs, or a mapping of names to specs as a list of specs."""
    if is_one_spec(kernels):
        return [kernels]
    if not isinstance(kernels, Mapping):
        return list(kernels)
    specs: list[KernelSpec] = []
    for name, given in kernels.items():
        spec = spec_mapping(given, name)
        if spec.get("id", str(name)) != str(name):
            raise ConfigError(f"kernel {name!r} has the id {spec['id']!r} in its spec; omit `id`")
        specs.append({**spec, "id": str(name)})
    return specs


def spec_parameters(spec: KernelSpec) -> dict[str, Any]:
    """Return the parameters of a kernel on features: those in its spec, and the defaults of the others (else None)."""
    given = {"kind": spec} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "id"}
    parameters = declared(kernel_class(given)).items()
    defaults = {key: None if each.default is each.empty else each.default for key, each in parameters}
    kind = {} if "implementation" in given else {"kind": "gaussian"}
    of_features = dict.fromkeys(FEATURE_KEYS) | {"impute": "none", "feature_scaling": "none", "missing_views": "error"}
    return {**kind, **of_features, **defaults, **given}


@functools.cache
def declared(of_class: type[Kernel]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a kernel's class, without its name; ``set_params`` asks for those of every kernel."""
    return {key: each for key, each in inspect.signature(of_class).parameters.items() if key != "name"}


class KernelEntry:
    """A kernel with its spec and what it reads.

    Parameters
    ----------
    spec : kind or mapping
        See `mklearn.kernels.specs.StackTransform`.
    number : int
        Names the kernel if its spec has no "id".

    Attributes
    ----------
    id : str
    kernel : Kernel
    spec : dict
        With "id".
    parts : list of mappings
        What says which features the kernel reads, or each of its factors, which take over what they do not say.
    sources : list of Source
        One for each part; fitted by `read`.
    observed : (n,) bool array
        Which training samples have every view that the kernel reads. Set by `fit`.
    is_constant : bool
        Whether the kernel could not be fitted, as the training samples coincide in it, and is zero.
    info : dict
        See `mklearn.kernels.specs.StackTransform.infos`.
    """

    def __init__(self, spec: KernelSpec, number: int) -> None:
        given = spec_mapping(spec, number)
        self.id = str(given.get("id", number))
        self.spec = {**given, "id": self.id}
        with error_prefix(self.id):
            of_class = kernel_class(given)
        parameters = declared(of_class)
        valid = tuple(dict.fromkeys(("id", "kind", "implementation", *FEATURE_KEYS, *parameters)))
        check_keys(given, valid, f"kernel {self.id!r}")
        missing = [key for key, each in parameters.items() if each.default is each.empty and key not in given]
        if missing:
            raise ConfigError(f"kernel {self.id!r} needs a value for {', '.join(f'`{key}`' for key in missing)}")
        with error_prefix(self.id):
            self.kernel = of_class(**{key: given[key] for key in parameters if key in given}, name=self.id)
            own = {key: value for key, value in given.items() if key in FEATURE_KEYS}
            self.parts: list[dict[str, Any]] = [{**own, **factor} for factor in given.get("factors", [{}])]
            self.sources = [Source(part) for part in self.parts]

    def read(self, table: Any, shared: dict[Any, Source]) -> None:
        """Fit what the kernel reads to the training samples; `shared` are the sources of other kernels, by key."""
        self.sources = []
        for part, (_, measure) in zip(self.parts, self.kernel.inputs, strict=True):
            view = part.get("view")
            if isinstance(table, Views):
                hint = "; say which one with `view`" if view is None else ""
                view = str(self.id if view is None else view)
                if view not in table.names:
                    raise DataError(f"X has no view {view!r}: its views are {', '.join(map(repr, table.names))}{hint}")
            elif view is not None:
                raise DataError(
                    f"it needs view {view!r}, but X is one table; pass a dict of tables or `mklearn.kernels.Views`"
                )
            if measure not in MEASURES and not isinstance(table if view is None else table[view], Pairwise):
                raise ConfigError(
                    f"measure {measure} can't be computed from features: its view must be mklearn.kernels.Pairwise; or "
                    "pass all kernels themselves with kernels='precomputed'"
                )
            source = Source(part, view)
            if source.key not in shared:
                shared[source.key] = source.fit(table, shared.get(source.selection))
                shared.setdefault(source.selection, source)
            self.sources.append(shared[source.key])

    def fit(self, blocks: list[Array], *, spectrum: bool, overwrite: bool, drop_constant: bool) -> Array:
        """Fit the kernel to the values that it reads, and return it among the training samples, completed.

        The list is emptied, and the training kernel dropped from the kernel's object, to save memory. Other parameters
        are those of `mklearn.kernels.Kernel.fit` and `mklearn.kernels.specs.StackTransform`.
        """
        self.observed = np.logical_and.reduce([source.observed_ for source in self.sources])
        n, n_observed = len(self.observed), int(self.observed.sum())
        if n_observed < 2 <= n:
            raise NotApplicable(f"{n_observed} of the {n} training samples have its view; at least two are needed")
        training = []
        for block, source in zip(blocks, self.sources, strict=True):
            kept = self.observed[source.observed_]
            training.append(_part(block, kept, kept))
        blocks.clear()
        computed = not any(isinstance(source.train_, Pairwise) for source in self.sources)
        self._completion: MeanCompletion | None = None
        self.is_constant = False
        try:
            self.kernel.fit(*training, spectrum=spectrum, measured=computed, overwrite=overwrite)
        except ConstantKernel:
            if not drop_constant:
                raise
            self.is_constant = True
            self.info: dict[str, Any] = {"id": self.id, "constant": True}
            return np.zeros((n, n), dtype=training[0].dtype)
        del training
        kernel, repair = self.kernel.kernel_train_, self.kernel.repair_
        self.info = {"id": self.id, **self._described_parts(), **self.kernel.info_}
        if any(source.completes for source in self.sources):
            self.info["n_missing"] = n - n_observed
            self._completion = MeanCompletion.of(self.kernel, self.observed)
            kernel = self._completion.training_kernel(kernel)
        del self.kernel.kernel_train_  # new samples need neither it nor the kernel in the repair
        self.kernel.repair_ = replace(repair, kernel=np.empty((0, n_observed), dtype=repair.kernel.dtype))
        return kernel

    def rows(self, new: Sequence[tuple[Any, Mask]], blocks: Sequence[Array], dtype: Any) -> Array:
        """Return the kernel between new samples and the training samples, (m, n), completed.

        Parameters
        ----------
        new : sequence of (values, mask)
            See `mklearn.kernels.source.Source.transform`.
        blocks : sequence of arrays of shape (m_present, n_observed)
            The measures that the kernel reads.
        dtype : dtype
            Of rows without any value.
        """
        present = np.logical_and.reduce([mask for _, mask in new])
        if self.is_constant:
            return np.zeros((len(present), len(self.observed)), dtype=dtype)
        kernel: Array = np.empty((0, int(self.observed.sum())), dtype=dtype)
        if present.any():
            rows = [
                _part(block, present[mask], self.observed[source.observed_])
                for (_, mask), source, block in zip(new, self.sources, blocks, strict=True)
            ]
            unit = self.kernel.normalise == "unit_diagonal"
            own = [_part(own_values(values), present[mask]) for values, mask in new] if unit else None
            kernel = self.kernel.transform(*rows, own=own)
        return kernel if self._completion is None else self._completion.rows(kernel, present)

    def _described_parts(self) -> dict[str, Any]:
        """Return what the kernel is computed from, as its spec says; lists if it has factors."""
        parts = [
            part if source.view is None else {**part, "view": source.view}
            for part, source in zip(self.parts, self.sources, strict=True)
        ]
        keys = [key for key in ("view", "feature_scaling", "impute") if any(key in part for part in parts)]
        values = {key: [part.get(key) for part in parts] for key in keys}
        return values if "factors" in self.spec else {key: of_parts[0] for key, of_parts in values.items()}


def kernel_entries(specs: Sequence[KernelSpec]) -> list[KernelEntry]:
    """Construct the kernels of specs; raise `ConfigError` if there are none, or two have one id."""
    entries = [KernelEntry(spec, number) for number, spec in enumerate(specs)]
    if not entries:
        raise ConfigError("the list of kernels is empty; at least one is needed")
    ids = [entry.id for entry in entries]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(f"kernel ids must be unique; given twice: {', '.join(map(repr, twice))}")
    return entries


def shared_blocks(
    entries: Sequence[KernelEntry], compute: Callable[[Source, str], Array]
) -> Iterator[tuple[KernelEntry, list[Array], bool]]:
    """Yield each kernel with the values that it reads, and whether it may write over them.

    Values of a measure that several kernels read are computed once, and dropped after the last of them. `compute` takes
    a source and a measure.
    """
    names = [
        [(source.key, measure) for source, (_, measure) in zip(entry.sources, entry.kernel.inputs, strict=True)]
        for entry in entries
    ]
    left = Counter(name for of_entry in names for name in of_entry)
    kept: dict[Any, Array] = {}
    for entry, of_entry in zip(entries, names, strict=True):
        taken = []
        with error_prefix(entry.id):
            for source, name in zip(entry.sources, of_entry, strict=True):
                if name not in kept:
                    kept[name] = compute(source, name[1])
                left[name] -= 1
                taken.append(kept[name] if left[name] else kept.pop(name))
        yield entry, taken, len(set(of_entry)) == len(of_entry) and not any(left[name] for name in of_entry)


@contextlib.contextmanager
def error_prefix(name: str) -> Iterator[None]:
    """Prefix the message of an error with the id of the kernel."""
    try:
        yield
    except (ConfigError, DataError, NotApplicable) as error:
        raise type(error)(f"kernel {name!r}: {error}") from error


def _part(block: Any, rows: Mask, columns: Mask | None = None) -> Any:
    """Return some rows and columns of a block, or None of None; all of them without a copy."""
    if block is None or (rows.all() and (columns is None or columns.all())):
        return block
    return block[rows] if columns is None else block[np.ix_(rows, columns)]


class KernelsOfSpecs:
    """Kernels by their specs, and what each of them reads, fitted on training samples.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        See `StackTransform`, also for what is raised.

    Attributes
    ----------
    specs : list of dict
        Those of the kernels, with "id".
    for_each_view : bool
        Whether of several views there is a kernel on each: of one spec that names no view.
    reads_views : bool
        Whether it was fitted to several views.
    """

    reads_views: bool

    def __init__(self, kernels: Sequence[KernelSpec] | Mapping[str, Any] | str) -> None:
        self._entries = kernel_entries(spec_list(kernels))
        self.specs = [entry.spec for entry in self._entries]
        self.for_each_view = is_one_spec(kernels) and all(part.get("view") is None for part in self._entries[0].parts)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the kernels; those of one spec on each view are known after the fit."""
        return tuple(entry.id for entry in self._entries)

    def reads_as_given(self, X: Any) -> bool:
        """Return whether one table is read with its column names, or entries that are no numbers, or as sparse."""
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
    copied unless columns of it are chosen by index or it is preprocessed: do not change it afterwards. Sparse features
    stay sparse, for kernels of inner products and squared Euclidean distances. Views of the class
    `mklearn.kernels.kernel_cache.CachingViews` keep the kernels: nothing is computed twice.
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

    @property
    def infos(self) -> list[dict[str, Any]]:
        """What is known of each fitted kernel."""
        return [entry.info for entry in self._entries]

    @property
    def fitted_specs(self) -> list[dict[str, Any]]:
        """Those of the fitted kernels, with "id"; of one spec on several views one for each."""
        return [dict(entry.spec) for entry in self._entries]

    def of_kernels(self, numbers: Iterable[int]) -> StackTransform:
        """Return a transform of some of the kernels, by position, that is not fitted."""
        specs = [self._entries[number].spec for number in numbers]
        return StackTransform(specs, spectra=self.spectra, drop_constant=self.drop_constant)

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
        found = X.fitted(self.specs, self.spectra, self.drop_constant) if keeps else None
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

        Parameters and errors are those of `fit_transform`. One kernel at a time is in memory; kernels of new samples
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
                kernel = entry.fit(
                    values, spectrum=self.spectra, overwrite=may_overwrite, drop_constant=self.drop_constant
                )
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
        read: dict[Any, Any] = {}
        masks: dict[Any, Any] = {}
        dtypes = []
        for entry in self._entries:
            for source in entry.sources:
                if source.key not in read:
                    with error_prefix(entry.id):
                        values, masks[source.key] = source.transform(table)
                        read[source.key] = values, source.training_values()
                dtypes += [source.dtype, read[source.key][0].dtype]
        dtype = np.result_type(*dtypes)
        blocks = shared_blocks(self._entries, lambda source, measure: measured(measure, *read[source.key]))
        for entry, taken, _ in blocks:
            with error_prefix(entry.id):
                new = [(read[source.key][0], masks[source.key]) for source in entry.sources]
                kernel = entry.rows(new, taken, dtype)
            yield kernel.astype(dtype, copy=False)

    def n_clipped(self, X: Any) -> dict[str | None, tuple[int, int]]:
        """Count, for each view that has clipped features, the values of new samples that are, and all of them.

        Of the scalings of a view the one that has the most counts. Parameters and errors are those of `transform`.
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


def compute_stack(X: Any, kernels: Sequence[KernelSpec] | Mapping[str, Any], Y: Any = None) -> KernelStack:
    """Compute M kernels, (n, m), between samples `X`, (n, d), and training samples `Y`, (m, d), fitted on `Y`.

    Without `Y` they are the training kernels of `X`. Specs and errors are those of `StackTransform`, which fits the
    kernels only once for several sets of new samples.
    """
    if Y is None:
        return StackTransform(kernels).fit_transform(X)
    return StackTransform(kernels).fit(Y).transform(X)
