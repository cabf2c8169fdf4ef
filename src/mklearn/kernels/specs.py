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
from mklearn.kernels.gaussian import GaussianKernel
from mklearn.kernels.linear import LinearKernel
from mklearn.kernels.polynomial import PolynomialKernel
from mklearn.kernels.precomputed import PrecomputedKernel
from mklearn.kernels.product import ProductKernel
from mklearn.kernels.stack import KernelStack

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
            self._blocks[name, scaling, measure] = compute(known), rows, _squared_norms(asked)
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
        Whether `Kernel.info_` has eigenvalues of kernels that are not repaired.

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


def _squared_norms(rows: Array) -> Array:
    """Return the inner product of each row with itself; distances to oneself are zero, and no kernel asks for them."""
    norms: Array = np.einsum("ij,ij->i", rows, rows)
    return norms


class StackTransform:
    """Kernels on features, fitted on training features and applied to new ones.

    Parameters
    ----------
    kernels : sequence of specs
        A kind ("gaussian", "linear", "polynomial"), or a mapping with "kind" or "implementation" and the parameters
        of the kernel's class as in `build_stack`, and optionally "id" (default: its number), "columns" (the
        features it is computed from: a list of indices, a boolean list or a slice; default: all) and
        "feature_scaling" (default: "none"; see `mklearn.kernels.feature_scaling.FeatureScaler`).

    Attributes
    ----------
    stack_train_ : KernelStack
        M kernels, (n, n).

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, invalid parameters, a kernel that needs a given matrix.
    """

    def __init__(self, kernels: Sequence[KernelSpec]) -> None:
        self._entries = _parse(
            [kernels] if isinstance(kernels, str | Mapping) else kernels, ("columns", "feature_scaling")
        )
        for entry in self._entries:
            unknown = [measure for _, measure in entry.kernel.inputs if measure not in MEASURES]
            if unknown or any("pairwise" in part or "features" in part for part in entry.parts):
                raise ConfigError(
                    f"kernel {entry.id!r} can't be computed from features; pass the matrices themselves with "
                    "kernels='precomputed'"
                )

    def fit(self, X: ArrayLike) -> StackTransform:
        """Fit every kernel on the training features, shape (n, d).

        Raises
        ------
        DataError
            Features or columns that a kernel can't be computed from; the message names the kernel.
        """
        self._train = as_float_matrix(X, "X")
        self._scalers = []
        matrices = []
        for entry in self._entries:
            with _error_prefix(entry.id):
                chosen = _columns(self._train, entry.spec)
                scaler = FeatureScaler(entry.spec.get("feature_scaling", "none")).fit(chosen)
                chosen = scaler.transform(chosen)
                entry.kernel.fit(*(MEASURES[measure](chosen) for _, measure in entry.kernel.inputs))
                matrices.append(entry.kernel.kernel_train_)
                self._scalers.append(scaler)
        self.stack_train_ = KernelStack(matrices, [entry.id for entry in self._entries])
        return self

    def transform(self, X: ArrayLike) -> KernelStack:
        """Compute the kernels between new features, shape (m, d), and the training features: M kernels, (m, n).

        Raises
        ------
        DataError
            Not fitted, or a number of features that differs from the training samples.
        """
        if not hasattr(self, "_train"):
            raise DataError("this StackTransform is not fitted; call fit with the training features first")
        features = as_float_matrix(X, "X")
        if features.shape[1] != self._train.shape[1]:
            raise DataError(f"X has {features.shape[1]} features, but the training samples had {self._train.shape[1]}")
        dtype = np.result_type(features.dtype, self._train.dtype)
        matrices: Array = np.empty((len(self._entries), len(features), len(self._train)), dtype=dtype)
        for number, (entry, scaler) in enumerate(zip(self._entries, self._scalers, strict=True)):
            with _error_prefix(entry.id):
                rows, columns = (scaler.transform(_columns(table, entry.spec)) for table in (features, self._train))
                blocks = [MEASURES[measure](rows, columns) for _, measure in entry.kernel.inputs]
                matrices[number] = entry.kernel.transform(*blocks, own=[_squared_norms(rows)] * len(blocks))
        return KernelStack(matrices, [entry.id for entry in self._entries])


def compute_stack(X: ArrayLike, kernels: Sequence[KernelSpec], Y: ArrayLike | None = None) -> KernelStack:
    """Compute M kernels, (n, m), between samples `X`, (n, d), and training samples `Y`, (m, d), fitted on `Y`.

    Without `Y` they are the training kernels of `X`. Specs and errors are those of `StackTransform`, which fits the
    kernels only once for several sets of new samples.
    """
    if Y is None:
        return StackTransform(kernels).fit(X).stack_train_
    return StackTransform(kernels).fit(Y).transform(X)


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


def _columns(features: Array, spec: Mapping[str, Any]) -> Array:
    chosen = spec.get("columns")
    if chosen is None:
        return features
    try:
        columns = features[:, chosen if isinstance(chosen, slice) else np.asarray(chosen)]
    except IndexError as error:
        raise DataError(f"`columns` {chosen!r} do not fit {features.shape[1]} features") from error
    if columns.ndim != 2 or columns.shape[1] == 0:
        raise DataError(f"`columns` {chosen!r} select no features; expected a list of indices or a slice")
    return columns


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
