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

from mklearn.contract.loading import load
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.base import Kernel
from mklearn.kernels.checks import Array, as_float_matrix, check_choice, check_keys
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_scaling import FeatureScaler, FeatureScaling
from mklearn.kernels.feature_source import FEATURE_KEYS, FeatureSource, SelectedFeatures, TableForms
from mklearn.kernels.features import is_sparse, squared_norms
from mklearn.kernels.gaussian import GaussianKernel
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

SOURCES = ("pairwise", "features", "feature_scaling")
"""Keys of a spec, or of its factors, that name its input: a pairwise matrix, or features and their scaling."""

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
        names = dict.fromkeys(part["pairwise"] for part in parts if "pairwise" in part)
        tables = dict.fromkeys(part["features"] for part in parts if "features" in part)
        self._matrices = {name: np.asarray(pairwise[name]) for name in names}
        self._features = {name: as_float_matrix(features[name], f"the features {name!r}") for name in tables}
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
        self._scaled: dict[tuple[str, FeatureScaling], tuple[Array, Array]] = {}
        self._blocks: dict[tuple[str, FeatureScaling, str], tuple[Array, Array, Array]] = {}

    def blocks(self, part: Mapping[str, Any], measure: str) -> tuple[Array, Array, Array]:
        """Return a measure among training samples, of test samples (rows) with these, and of each with itself."""
        if "pairwise" in part:
            matrix, train, test = self._matrices[part["pairwise"]], self.train, self.test
            return matrix[np.ix_(train, train)], matrix[np.ix_(test, train)], matrix[test, test]
        name, scaling = part["features"], part.get("feature_scaling", "none")
        if (name, scaling, measure) not in self._blocks:
            known, asked = self._scaled_features(name, scaling)
            compute = MEASURES[measure]
            rows = compute(asked, known) if len(asked) else np.empty((0, len(known)), dtype=known.dtype)
            self._blocks[name, scaling, measure] = compute(known), rows, squared_norms(asked)
        return self._blocks[name, scaling, measure]

    def _scaled_features(self, name: str, scaling: FeatureScaling) -> tuple[Array, Array]:
        if (name, scaling) not in self._scaled:
            known, asked = (self._features[name][index] for index in (self.train, self.test))
            scaler = FeatureScaler(scaling).fit(known)
            self._scaled[name, scaling] = scaler.transform(known), scaler.transform(asked) if len(asked) else asked
        return self._scaled[name, scaling]


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
        measure from features that are scaled by the training samples. In place of "kind", "implementation" names the
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
        `Kernel.info_` of each kernel, with its "id" and what it was computed from (lists if there are factors).

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, an unknown pairwise matrix or table of features, features of
        a measure that is not computed from features, invalid parameters, a class that can't be loaded.
    DataError
        Indices out of range, or an input that a kernel can't be computed from; the message names the kernel.
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
            measures = [measure for _, measure in kernel.inputs]
            blocks, rows, own = zip(*map(sources.blocks, entry.parts, measures), strict=True)
            kernel.fit(*blocks, spectrum=spectra)
            train_kernels[number] = kernel.kernel_train_
            if n_test:
                test_kernels[number] = kernel.transform(*rows, own=own)
        infos.append({"id": entry.id, **entry.source, **kernel.info_})
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
            if "feature_scaling" in part:
                raise ConfigError(f"kernel {entry.id!r}: `feature_scaling` needs `features` in place of `pairwise`")
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


class StackTransform:
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
        - "feature_scaling" of what results (default: "none"; see `mklearn.kernels.feature_scaling.FeatureScaler`).

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

    def __init__(self, kernels: Sequence[KernelSpec] | Mapping[str, Any] | str) -> None:
        self._each_view = is_one_spec(kernels)
        self._specs = spec_list(kernels)
        self._entries = _feature_entries(self._specs)

    @property
    def reads_tables(self) -> bool:
        """Whether a kernel needs X as it was given, with column names or entries that are no numbers."""
        return any(SelectedFeatures(entry.spec, None).reads_tables for entry in self._entries)

    @property
    def reads_views(self) -> bool:
        """Whether it was fitted to several views."""
        return self._forms.are_views

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
        table = self._as_read(X)
        if isinstance(table, Views) and self._each_view:
            one = self._specs[0]
            spec = {"kind": one} if isinstance(one, str) else one
            self._entries = _feature_entries([{**spec, "id": name, "view": name} for name in table.names])
        shared: dict[Any, SelectedFeatures] = {}
        self._sources: list[FeatureSource] = []
        matrices = []
        for entry in self._entries:
            with _error_prefix(entry.id):
                selected = SelectedFeatures(entry.spec, _view_of(entry, table))
                key = selected.key
                if key not in shared:
                    shared[key] = selected.fit(table)
                source = FeatureSource(shared[key], entry.spec.get("feature_scaling", "none"))
                features = source.training_features()
                entry.kernel.fit(*(MEASURES[measure](features) for _, measure in entry.kernel.inputs), spectrum=False)
                matrices.append(entry.kernel.kernel_train_)
                entry.kernel.drop_training_kernel()
                self._sources.append(source)
        self._forms = TableForms(table, {selected.view for selected in shared.values()})
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
        features: dict[Any, tuple[Any, Any]] = {}
        for entry, source in zip(self._entries, self._sources, strict=True):
            if source.key not in features:
                with _error_prefix(entry.id):
                    features[source.key] = source.transform(table), source.training_features()
        tables = [each for pair in features.values() for each in pair]
        shape = (len(self._entries), table.shape[0], tables[1].shape[0])
        matrices: Array = np.empty(shape, dtype=np.result_type(*(each.dtype for each in tables)))
        for number, (entry, source) in enumerate(zip(self._entries, self._sources, strict=True)):
            with _error_prefix(entry.id):
                rows, columns = features[source.key]
                blocks = [MEASURES[measure](rows, columns) for _, measure in entry.kernel.inputs]
                matrices[number] = entry.kernel.transform(*blocks, own=[squared_norms(rows)] * len(blocks))
        return KernelStack(matrices, [entry.id for entry in self._entries])

    def _as_read(self, X: Any) -> Any:
        """Return X as views, or as one table: a float matrix unless a kernel needs it as it was given."""
        views = as_views(X)
        if views is not None:
            return views
        if self.reads_tables:
            return X if hasattr(X, "iloc") or is_sparse(X) else np.asarray(X)
        return as_float_matrix(X, "X")


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
                f"kernel {entry.id!r}: invalid value {preprocessing!r} for `preprocessing`: expected an object with "
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
    return {**kind, **dict.fromkeys(FEATURE_KEYS[:-1]), "feature_scaling": "none", **defaults, **given}


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
    check_keys(spec, ("id", "kind", "implementation", *sources, *parameters), f"kernel {name!r}")
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
    except (ConfigError, DataError) as error:
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
