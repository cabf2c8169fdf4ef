"""Kernel stacks from kernel specs: on cached pairwise matrices, or on features that are scaled first."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import Array, as_float_array, as_float_matrix, check_choice, check_keys, regular_array
from mklearn.contract.loading import load
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.base import Kernel
from mklearn.kernels.completion import MeanCompletion, check_missing_views, lacking
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_scaling import FeatureScaler, FeatureScaling
from mklearn.kernels.feature_source import FEATURE_KEYS, FeatureSource, SelectedFeatures, TableForms
from mklearn.kernels.features import is_sparse, squared_norms
from mklearn.kernels.gaussian import GaussianKernel
from mklearn.kernels.imputation import FeatureImputer, Impute, impute_features
from mklearn.kernels.linear import LinearKernel
from mklearn.kernels.polynomial import PolynomialKernel
from mklearn.kernels.precomputed import PrecomputedKernel
from mklearn.kernels.product import ProductKernel
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views, as_views

KERNELS: Mapping[str, type[Kernel]] = MappingProxyType(
    {
        kernel.kind: kernel
        for kernel in (GaussianKernel, LinearKernel, PolynomialKernel, PrecomputedKernel, ProductKernel)
    }
)
"""The kernel classes of mklearn by kind."""

SOURCES = ("pairwise", "features", "feature_scaling", "impute")
"""Keys of a spec, or of its factors, that name its input: a pairwise matrix, or features and what is done to them."""

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with "kind" or "implementation", the parameters of the kernel's class and its input."""


@dataclass(frozen=True)
class _Entry:
    """A kernel with its spec."""

    id: str
    kernel: Kernel
    spec: Mapping[str, Any]

    @property
    def parts(self) -> list[Mapping[str, Any]]:
        """What names the input of the kernel, or of each of its factors."""
        found: list[Mapping[str, Any]] = self.spec.get("factors", [self.spec])
        return found

    @property
    def completes(self) -> bool:
        """Whether samples may lack its views."""
        return self.spec.get("missing_views") == "mean"

    @property
    def source(self) -> dict[str, Any]:
        """What the kernel is computed from, as its spec names it; lists if it has factors."""
        keys = [key for key in SOURCES if any(key in part for part in self.parts)]
        return {key: self.spec.get(key, [part.get(key) for part in self.parts]) for key in keys}


class _Sources:
    """The inputs of kernels on one split; what is computed from features is shared by the kernels."""

    def __init__(
        self, pairwise: Mapping[str, ArrayLike], features: Mapping[str, ArrayLike], entries: Sequence[_Entry],
        train: ArrayLike, test: ArrayLike,
    ) -> None:  # fmt: skip
        parts = [part for entry in entries for part in entry.parts]
        incomplete = {
            part.get("features")
            for entry in entries
            for part in entry.parts
            if entry.completes or part.get("impute", "none") != "none"
        }
        names = dict.fromkeys(part["pairwise"] for part in parts if "pairwise" in part)
        tables = dict.fromkeys(part["features"] for part in parts if "features" in part)
        self._matrices = {name: np.asarray(pairwise[name]) for name in names}
        self._features = {
            name: as_float_array(features[name], f"the features {name!r}", ndim=2, may_have_nan=name in incomplete)
            for name in tables
        }
        arrays = [*self._matrices.values(), *self._features.values()]
        n_samples = arrays[0].shape[0]
        self.train, self.test = _indices(train, n_samples, "train"), _indices(test, n_samples, "test")
        if self.train.size == 0:
            raise DataError("there are no train samples")
        for name, matrix in self._matrices.items():
            if matrix.shape != (n_samples, n_samples):
                raise DataError(
                    f"the pairwise matrix {name!r} has shape {matrix.shape}, but the first one has {n_samples} "
                    "samples; all must be square and over the same samples"
                )
        for name, table in self._features.items():
            if len(table) != n_samples:
                raise DataError(
                    f"the features {name!r} are of {len(table)} samples, but the first input of {n_samples}"
                )
        self.dtype = np.float32 if all(array.dtype == np.float32 for array in arrays) else np.float64
        self._scaled: dict[tuple[Any, ...], tuple[Array, Array]] = {}
        self._blocks: dict[tuple[Any, ...], tuple[Array, Array, Array]] = {}

    def present(self, entry: _Entry) -> NDArray[np.bool_] | None:
        """Find the samples that have all views of a kernel; None if it takes no others."""
        if not entry.completes:
            return None
        absent = [
            lacking(self._matrices[part["pairwise"]] if "pairwise" in part else self._features[part["features"]])
            for part in entry.parts
        ]
        return ~np.logical_or.reduce(absent)

    def blocks(
        self, part: Mapping[str, Any], measure: str, present: NDArray[np.bool_] | None
    ) -> tuple[Array, Array, Array]:
        """Return a measure among training samples, of test samples (rows) with these, and of each with itself.

        Samples that are not present have no row and no column.
        """
        train, test = self._rows(present)
        if "pairwise" in part:
            matrix = self._matrices[part["pairwise"]]
            return matrix[np.ix_(train, train)], matrix[np.ix_(test, train)], matrix[test, test]
        features = part["features"], part.get("feature_scaling", "none"), part.get("impute", "none")
        key = (*features, None if present is None else present.tobytes())
        if (*key, measure) not in self._blocks:
            if key not in self._scaled:
                self._scaled[key] = self._scaled_features(*features, train, test)
            known, asked = self._scaled[key]
            compute = MEASURES[measure]
            rows = compute(asked, known) if len(asked) else np.empty((0, len(known)), dtype=known.dtype)
            self._blocks[*key, measure] = compute(known), rows, squared_norms(asked)
        return self._blocks[*key, measure]

    def _rows(self, present: NDArray[np.bool_] | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        if present is None:
            return self.train, self.test
        return self.train[present[self.train]], self.test[present[self.test]]

    def _scaled_features(
        self, name: str, scaling: FeatureScaling, impute: Impute, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[Array, Array]:
        known, asked = self._features[name][train], self._features[name][test]
        if impute != "none":
            known, asked = impute_features(known, asked, impute)
        scaler = FeatureScaler(scaling).fit(known)
        return scaler.transform(known), scaler.transform(asked) if len(asked) else asked


def build_stack(
    pairwise: Mapping[str, ArrayLike], specs: Sequence[Mapping[str, Any]], train: ArrayLike, test: ArrayLike,
    features: Mapping[str, ArrayLike] | None = None, *, spectra: bool = True,
) -> tuple[KernelStack, KernelStack, list[dict[str, Any]]]:  # fmt: skip
    """Compute the kernels of the training samples and of the test samples, fitted on the training samples.

    Parameters
    ----------
    pairwise : mapping of str to array_like, shape (N, N)
        Pairwise matrices on all samples.
    specs : sequence of mappings
        Each has "id" (unique), "kind" (a key of `KERNELS`, default "gaussian"), "pairwise" (a key of `pairwise`) and
        the parameters of the kernel's class. In place of "pairwise", "features" (a key of `features`) with
        "feature_scaling" (default "none", see `mklearn.kernels.feature_scaling.FeatureScaler`) computes the kernel's
        measure from features that are scaled by the training samples; "impute" ("mean" or "median", default "none")
        fills in values that are NaN before that, by the training samples. "missing_views" ("mean", default "error")
        takes samples whose row is NaN in an input of the kernel; see
        `mklearn.kernels.completion.MeanCompletion`. In place of "kind", "implementation" names the
        class of another package, "module:Class", a subclass of `mklearn.kernels.base.Kernel`. A class with the
        parameter "factors" has its inputs in each factor (see `mklearn.kernels.product.ProductKernel`).
    train, test : array_like of int
        Indices. The training kernels do not depend on the test samples. `test` may be empty.
    features : mapping of str to array_like, shape (N, d), optional
        Features of all samples.
    spectra : bool
        Whether `Kernel.info_` has eigenvalues of kernels that need no repair.

    Returns
    -------
    train_stack : KernelStack
        M kernels, (n, n).
    test_stack : KernelStack
        M kernels, (m, n).
    infos : list of dict
        `Kernel.info_` of each kernel, with its "id" and what it was computed from (lists if there are factors); with
        "missing_views" the number "n_missing" of training samples that lack it.

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, an unknown pairwise matrix or table of features, features of
        a measure that is not computed from features, invalid parameters, a class that can't be loaded.
    DataError
        Indices out of range, or an input that a kernel can't be computed from; the message names the kernel.
    NotApplicable
        Fewer than two training samples have the view of a kernel, or all values of its features are missing.
    """
    entries = _parse(specs, SOURCES)
    features = features or {}
    for entry in entries:
        _check_sources(entry, pairwise, features)
    sources = _Sources(pairwise, features, entries, train, test)
    n_train, n_test = sources.train.size, sources.test.size
    train_kernels: Array = np.empty((len(entries), n_train, n_train), dtype=sources.dtype)
    test_kernels: Array = np.empty((len(entries), n_test, n_train), dtype=sources.dtype)
    infos = []
    for number, entry in enumerate(entries):
        kernel = copy.copy(entry.kernel)
        with _error_prefix(entry.id):
            present = sources.present(entry)
            observed = None if present is None else present[sources.train]
            if observed is not None and observed.sum() < 2:
                raise NotApplicable(
                    f"{observed.sum()} of the {n_train} training samples have its view; at least two are needed"
                )
            parts = [
                sources.blocks(part, measure, present)
                for part, (_, measure) in zip(entry.parts, kernel.inputs, strict=True)
            ]
            blocks, rows, own = zip(*parts, strict=True)
            kernel.fit(*blocks, spectrum=spectra, measured=all("features" in part for part in entry.parts))
            info = {"id": entry.id, **entry.source, **kernel.info_}
            if present is None or observed is None:
                train_kernels[number] = kernel.kernel_train_
                if n_test:
                    test_kernels[number] = kernel.transform(*rows, own=own)
            else:
                info["n_missing"] = int(n_train - observed.sum())
                completion = MeanCompletion.of(kernel, observed)
                train_kernels[number] = completion.training_kernel(kernel.kernel_train_)
                kernel_rows = kernel.transform(*rows, own=own) if len(rows[0]) else rows[0]
                test_kernels[number] = completion.rows(kernel_rows, present[sources.test])
        infos.append(info)
        del kernel  # only one fitted kernel at a time in memory
    ids = [entry.id for entry in entries]
    return KernelStack(train_kernels, ids), KernelStack(test_kernels, ids), infos


def _check_sources(entry: _Entry, pairwise: Mapping[str, Any], features: Mapping[str, Any]) -> None:
    """Check that each input of a kernel is there, and that features are only asked for what is computed from them."""
    for part, (_, measure) in zip(entry.parts, entry.kernel.inputs, strict=True):
        if "features" not in part:
            if part.get("pairwise") not in pairwise:
                raise ConfigError(
                    f"kernel {entry.id!r} needs the pairwise matrix {part.get('pairwise')!r}; "
                    f"available: {', '.join(map(repr, pairwise)) or 'none'}"
                )
            for key in ("feature_scaling", "impute"):
                if key in part:
                    raise ConfigError(f"kernel {entry.id!r}: `{key}` needs `features` in place of `pairwise`")
        elif "pairwise" in part:
            raise ConfigError(f"kernel {entry.id!r} has `pairwise` and `features`; give one of the two")
        elif part["features"] not in features:
            raise ConfigError(
                f"kernel {entry.id!r} needs the features {part['features']!r}; "
                f"available: {', '.join(map(repr, features)) or 'none'}"
            )
        elif measure not in MEASURES:
            raise ConfigError(
                f"kernel {entry.id!r}: measure {measure} can't be computed from features; "
                f"valid measures: {', '.join(MEASURES)}"
            )


class FeatureKernels:
    """Kernels that are computed from features, and what each of them reads, fitted on training features.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        See `StackTransform`, also for what is raised.
    """

    def __init__(self, kernels: Sequence[KernelSpec] | Mapping[str, Any] | str) -> None:
        self._each_view = is_one_spec(kernels)
        self._specs = spec_list(kernels)
        self._entries = _feature_entries(self._specs)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the kernels; those of one spec on each view are known after the fit."""
        return tuple(entry.id for entry in self._entries)

    @property
    def reads_tables(self) -> bool:
        """Whether a kernel needs X as it was given, with column names or entries that are no numbers."""
        return any(SelectedFeatures(entry.spec, None).reads_tables for entry in self._entries)

    @property
    def reads_views(self) -> bool:
        """Whether it was fitted to several views."""
        return self._forms.are_views

    def _fit_sources(self, X: Any) -> None:
        """Fit what the kernels read on the training features; sources of the same features share them."""
        table = self._as_read(X)
        if isinstance(table, Views) and self._each_view:
            one = self._specs[0]
            spec = {"kind": one} if isinstance(one, str) else one
            self._entries = _feature_entries([{**spec, "id": name, "view": name} for name in table.names])
        shared: dict[Any, SelectedFeatures] = {}
        self._sources: list[FeatureSource] = []
        for entry in self._entries:
            with self._error_prefix(entry):
                selected = SelectedFeatures(entry.spec, _view_of(entry, table))
                key = selected.key
                if key not in shared:
                    shared[key] = selected.fit(table)
                self._sources.append(FeatureSource(shared[key], entry.spec.get("feature_scaling", "none")))
        self._forms = TableForms(table, {selected.view for selected in shared.values()})

    def _as_read(self, X: Any) -> Any:
        """Return X as views, or as one table: a float matrix unless a kernel needs it as it was given."""
        views = as_views(X)
        if views is not None:
            return views
        if self.reads_tables:
            return X if hasattr(X, "iloc") or is_sparse(X) else regular_array(X, "X")
        return as_float_matrix(X, "X")

    @staticmethod
    def _error_prefix(entry: _Entry) -> contextlib.AbstractContextManager[None]:
        return _error_prefix(entry.id)


class StackTransform(FeatureKernels):
    """Kernels on features, fitted on training features and applied to new ones.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        A spec is a kind ("gaussian", "linear", "polynomial"), or a mapping with "kind" or "implementation", the
        parameters of the kernel's class as in `build_stack`, and optionally

        - "id" in a sequence: the kernel's name (default: its number);
        - "view": the view that it is computed from (default: the view with the kernel's name);
        - "columns": the features of X or of the view: a list of indices or of names, a boolean list or a slice
          (default: all);
        - "preprocessing": a transformer with ``fit`` and ``transform``. A copy is fitted to these features of the
          training samples, without labels. It may change their number, and take what is no number;
        - "impute": "mean" or "median" fills in values that are NaN, by the training samples (default: "none");
        - "feature_scaling" of what results (default: "none"; see `mklearn.kernels.feature_scaling.FeatureScaler`);
        - "missing_views": what is done with samples that lack the view, rows in which all of these features are NaN.
          "error" (default) refuses them. "mean" puts them at the mean of the training samples that have the view, to
          which alone the kernel is fitted: see `mklearn.kernels.completion.MeanCompletion`. In a sparse view these
          are rows whose stored entries are all NaN.

        One spec alone stands for a kernel on X or, of several views, for a kernel on each.

    Attributes
    ----------
    stack_train_ : KernelStack
        M kernels, (n, n). Set by `fit` only.

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, invalid parameters, a kernel that needs a given matrix.

    Notes
    -----
    `transform` needs the training features, which are kept once for all kernels that read the same. An array is not
    copied unless columns of it are chosen by index or it is preprocessed: do not change it afterwards.

    Sparse features stay sparse, for kernels of inner products and squared Euclidean distances.
    """

    def fit(self, X: Any) -> StackTransform:
        """Fit every kernel on the training features and keep the training kernels; see `fit_transform`."""
        self.stack_train_ = self.fit_transform(X)
        return self

    def fit_transform(self, X: Any) -> KernelStack:
        """Fit every kernel on the training features and return the training kernels, M of (n, n), without keeping them.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d), or views
            See `mklearn.kernels.views.as_views`.

        Raises
        ------
        DataError
            Features, columns or views that a kernel can't be computed from; the message names the kernel.
        """
        self._fit_sources(X)
        self._completions: list[MeanCompletion | None] = []
        selected = [source.selected for source in self._sources]
        n, dtype = len(selected[0].observed_), np.result_type(*(each.train_.dtype for each in selected))
        matrices: Array = np.empty((len(self._entries), n, n), dtype=dtype)
        for number, (entry, source) in enumerate(zip(self._entries, self._sources, strict=True)):
            with _error_prefix(entry.id):
                features = source.training_features()
                blocks = [MEASURES[measure](features) for _, measure in entry.kernel.inputs]
                entry.kernel.fit(*blocks, spectrum=False, measured=True, overwrite=True)
                del blocks  # kernels need the memory
                kernel, completion = entry.kernel.kernel_train_, None
                if source.selected.completes:
                    completion = MeanCompletion.of(entry.kernel, source.selected.observed_)
                    kernel = completion.training_kernel(kernel)
                matrices[number] = kernel
                self._completions.append(completion)
                entry.kernel.drop_training_kernel()
        return KernelStack(matrices, [entry.id for entry in self._entries])

    def transform(self, X: Any) -> KernelStack:
        """Compute the kernels between new features and the training features: M kernels, (m, n).

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
        table = self._as_read(X)
        self._forms.check(table)
        features: dict[Any, tuple[Any, NDArray[np.bool_], Any]] = {}
        for entry, source in zip(self._entries, self._sources, strict=True):
            if source.key not in features:
                with _error_prefix(entry.id):
                    features[source.key] = *source.transform(table), source.training_features()
        shape = (len(self._entries), table.shape[0], len(self._sources[0].selected.observed_))
        dtypes = [each.dtype for rows, _, columns in features.values() for each in (rows, columns)]
        matrices: Array = np.empty(shape, dtype=np.result_type(*dtypes))
        for number, (entry, source) in enumerate(zip(self._entries, self._sources, strict=True)):
            with _error_prefix(entry.id):
                rows, present, columns = features[source.key]
                kernel: Array = np.empty((0, columns.shape[0]), dtype=columns.dtype)
                if rows.shape[0]:
                    blocks = [MEASURES[measure](rows, columns) for _, measure in entry.kernel.inputs]
                    kernel = entry.kernel.transform(*blocks, own=[squared_norms(rows)] * len(blocks))
                completion = self._completions[number]
                matrices[number] = kernel if completion is None else completion.rows(kernel, present)
        return KernelStack(matrices, [entry.id for entry in self._entries])


def _feature_entries(specs: Sequence[KernelSpec]) -> list[_Entry]:
    """Construct kernels that are computed from features."""
    entries = _parse(specs, FEATURE_KEYS)
    for entry in entries:
        unknown = [measure for _, measure in entry.kernel.inputs if measure not in MEASURES]
        if unknown or any("pairwise" in part or "features" in part for part in entry.parts):
            raise ConfigError(
                f"kernel {entry.id!r} can't be computed from features; pass the matrices themselves with "
                "kernels='precomputed'"
            )
        preprocessing = entry.spec.get("preprocessing")
        if preprocessing is not None and not (hasattr(preprocessing, "fit") and hasattr(preprocessing, "transform")):
            raise ConfigError(
                f"kernel {entry.id!r}: Invalid value {preprocessing!r} for `preprocessing`: expected an object with "
                "`fit` and `transform`, such as StandardScaler()"
            )
    return entries


def _view_of(entry: _Entry, table: Any) -> str | None:
    """Return the name of the view that a kernel is computed from; None if there is one table."""
    view = entry.spec.get("view")
    if not isinstance(table, Views):
        if view is None:
            return None
        raise DataError(f"it needs view {view!r}, but X is one table; pass a dict of tables or `mklearn.kernels.Views`")
    name = entry.id if view is None else view
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


def is_one_spec(kernels: Any) -> bool:
    """Return whether these are one spec, and not several, in a sequence or by name.

    A mapping is one spec if it has a key of a spec and no mapping as a value: no kernel is named "kind".
    """
    if isinstance(kernels, str):
        return True
    known = {"id", "kind", "implementation", *FEATURE_KEYS, *inspect.signature(GaussianKernel).parameters} - {"name"}
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
    return [_with_id(str(name), spec) for name, spec in kernels.items()]


def spec_parameters(spec: KernelSpec) -> dict[str, Any]:
    """Return the parameters of a kernel on features: those in its spec, and the defaults of the others (else None).

    Raises `ConfigError` for an unknown kind or class.
    """
    given = {"kind": spec} if isinstance(spec, str) else {key: value for key, value in spec.items() if key != "id"}
    declared = inspect.signature(_kernel_class(given)).parameters.items()
    defaults = {key: None if each.default is each.empty else each.default for key, each in declared if key != "name"}
    kind = {} if "implementation" in given else {"kind": "gaussian"}
    of_features = dict.fromkeys(FEATURE_KEYS) | {"impute": "none", "feature_scaling": "none", "missing_views": "error"}
    return {**kind, **of_features, **defaults, **given}


def _with_id(name: str, spec: Any) -> dict[str, Any]:
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        kinds = ", ".join(KERNELS)
        raise ConfigError(f"the spec of kernel {name!r} is {spec!r}; expected a kind ({kinds}) or a mapping")
    if spec.get("id", name) != name:
        raise ConfigError(f"kernel {name!r} has the id {spec['id']!r} in its spec; omit `id`")
    return {**spec, "id": name}


def _parse(specs: Sequence[KernelSpec], source_keys: Sequence[str]) -> list[_Entry]:
    """Construct the kernels; `source_keys` are the keys that name a kernel's input."""
    entries = [_entry(spec, number, source_keys) for number, spec in enumerate(specs)]
    if not entries:
        raise ConfigError("the list of kernels is empty; at least one is needed")
    ids = [entry.id for entry in entries]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(f"kernel ids must be unique; given twice: {', '.join(map(repr, twice))}")
    return entries


def _entry(spec: KernelSpec, number: int, source_keys: Sequence[str]) -> _Entry:
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        raise ConfigError(f"kernel spec {number} is {spec!r}; expected a kind ({', '.join(KERNELS)}) or a mapping")
    name = str(spec.get("id", number))
    with _error_prefix(name):
        kernel_class = _kernel_class(spec)
    parameters = {key: value for key, value in inspect.signature(kernel_class).parameters.items() if key != "name"}
    sources = [] if source_keys == SOURCES and "factors" in parameters else source_keys
    valid = dict.fromkeys(("id", "kind", "implementation", *sources, "missing_views", *parameters))
    check_keys(spec, tuple(valid), f"kernel {name!r}")
    with _error_prefix(name):
        check_missing_views(spec.get("missing_views", "error"))
        FeatureImputer(spec.get("impute", "none"))
    missing = [key for key, parameter in parameters.items() if parameter.default is parameter.empty and key not in spec]
    if missing:
        raise ConfigError(f"kernel {name!r} needs a value for {', '.join(f'`{key}`' for key in missing)}")
    with _error_prefix(name):
        kernel = kernel_class(**{key: spec[key] for key in parameters if key in spec}, name=name)
    return _Entry(name, kernel, dict(spec))


def _kernel_class(spec: Mapping[str, Any]) -> type[Kernel]:
    if "implementation" not in spec:
        kind = spec.get("kind", "gaussian")
        check_choice(kind, "kind", tuple(KERNELS))
        return KERNELS[kind]
    implementation = str(spec["implementation"])
    found = load(implementation)
    if not (isinstance(found, type) and issubclass(found, Kernel)):
        raise ConfigError(f"`implementation` {implementation!r} is not a subclass of mklearn.kernels.Kernel")
    return found


@contextlib.contextmanager
def _error_prefix(name: str) -> Iterator[None]:
    """Prefix the message of an error with the id of the kernel."""
    try:
        yield
    except (ConfigError, DataError, NotApplicable) as error:
        raise type(error)(f"kernel {name!r}: {error}") from error


def _indices(values: ArrayLike, n_samples: int, name: str) -> NDArray[np.intp]:
    index = np.asarray(values)
    if index.size == 0:
        return np.empty(0, dtype=np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise DataError(f"the {name} samples must be a list of indices; got shape {index.shape}, dtype {index.dtype}")
    if index.min() < 0 or index.max() >= n_samples:
        raise DataError(
            f"the {name} samples have indices from {index.min()} to {index.max()}, but there are {n_samples} samples"
        )
    return index.astype(np.intp)
