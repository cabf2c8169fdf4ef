"""Kernel stacks from kernel specs: on cached pairwise matrices (workflow) or on features (estimators)."""

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

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with "kind" or "implementation", the parameters of the kernel's class and its input."""


@dataclass(frozen=True)
class _Entry:
    """A kernel with its spec."""

    id: str
    kernel: Kernel
    spec: Mapping[str, Any]

    @property
    def pairwise_names(self) -> list[Any]:
        """Names of the pairwise matrices, one for each input of the kernel."""
        return [part.get("pairwise") for part in self.spec.get("factors", [self.spec])]


def build_stack(
    pairwise: Mapping[str, ArrayLike], specs: Sequence[Mapping[str, Any]], train: ArrayLike, test: ArrayLike
) -> tuple[KernelStack, KernelStack, list[dict[str, Any]]]:
    """Compute the kernels of the training samples and of the test samples, fitted on the training samples.

    Parameters
    ----------
    pairwise : mapping of str to array_like, shape (N, N)
        Pairwise matrices on all samples.
    specs : sequence of mappings
        Each has "id" (unique), "kind" (a key of `KERNELS`, default "gaussian"), "pairwise" (a key of `pairwise`) and
        the parameters of the kernel's class. In place of "kind", "implementation" names the class of another package,
        "module:Class", a subclass of `mklearn.kernels.base.Kernel`. A class with the parameter "factors" has
        "pairwise" in each factor (see `mklearn.kernels.product.ProductKernel`).
    train, test : array_like of int
        Indices. The training kernels do not depend on the test samples. `test` may be empty.

    Returns
    -------
    train_stack : KernelStack
        M kernels, (n, n).
    test_stack : KernelStack
        M kernels, (m, n).
    infos : list of dict
        `Kernel.info_` of each kernel, with its "id" and "pairwise" (a list if there are factors).

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, an unknown pairwise matrix, invalid parameters, a class that
        can't be loaded.
    DataError
        Indices out of range, or a matrix that a kernel can't be computed from; the message names the kernel.
    """
    entries = _parse(specs, "pairwise")
    for entry in entries:
        for name in entry.pairwise_names:
            if name not in pairwise:
                raise ConfigError(
                    f"kernel {entry.id!r} needs the pairwise matrix {name!r}; "
                    f"available: {', '.join(map(repr, pairwise)) or 'none'}"
                )
    names = list(dict.fromkeys(name for entry in entries for name in entry.pairwise_names))
    matrices = {name: np.asarray(pairwise[name]) for name in names}
    n_samples = matrices[names[0]].shape[0]
    train_index, test_index = _indices(train, n_samples, "train"), _indices(test, n_samples, "test")
    if train_index.size == 0:
        raise DataError("there are no train samples")
    for name, matrix in matrices.items():
        if matrix.shape != (n_samples, n_samples):
            raise DataError(
                f"the pairwise matrix {name!r} has shape {matrix.shape}, but the first one has {n_samples} samples; "
                "all must be square and over the same samples"
            )

    dtype = np.float32 if all(matrix.dtype == np.float32 for matrix in matrices.values()) else np.float64
    train_kernels: Array = np.empty((len(entries), train_index.size, train_index.size), dtype=dtype)
    test_kernels: Array = np.empty((len(entries), test_index.size, train_index.size), dtype=dtype)
    infos = []
    for number, entry in enumerate(entries):
        inputs = [matrices[name] for name in entry.pairwise_names]
        kernel = copy.copy(entry.kernel)
        with _error_prefix(entry.id):
            kernel.fit(*(matrix[np.ix_(train_index, train_index)] for matrix in inputs))
            train_kernels[number] = kernel.kernel_train_
            if test_index.size:
                rows = [matrix[np.ix_(test_index, train_index)] for matrix in inputs]
                own = [matrix[test_index, test_index] for matrix in inputs]
                test_kernels[number] = kernel.transform(*rows, own=own)
        infos.append({"id": entry.id, "pairwise": entry.spec.get("pairwise", entry.pairwise_names), **kernel.info_})
        del kernel  # only one fitted kernel at a time in memory
    ids = [entry.id for entry in entries]
    return KernelStack(train_kernels, ids), KernelStack(test_kernels, ids), infos


class StackTransform:
    """Kernels on features, fitted on training features and applied to new ones.

    Parameters
    ----------
    kernels : sequence of specs
        A kind ("gaussian", "linear", "polynomial"), or a mapping with "kind" or "implementation" and the parameters
        of the kernel's class as in `build_stack`, and optionally "id" (default: its number) and "columns" (the
        features it is computed from: a list of indices, a boolean list or a slice; default: all).

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
        self._entries = _parse([kernels] if isinstance(kernels, str | Mapping) else kernels, "columns")
        for entry in self._entries:
            unknown = [measure for _, measure in entry.kernel.inputs if measure not in MEASURES]
            if unknown or any(name is not None for name in entry.pairwise_names):
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
        matrices = []
        for entry in self._entries:
            with _error_prefix(entry.id):
                chosen = _columns(self._train, entry.spec)
                entry.kernel.fit(*(MEASURES[measure](chosen) for _, measure in entry.kernel.inputs))
                matrices.append(entry.kernel.kernel_train_)
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
        for number, entry in enumerate(self._entries):
            with _error_prefix(entry.id):
                rows, columns = _columns(features, entry.spec), _columns(self._train, entry.spec)
                blocks = [MEASURES[measure](rows, columns) for _, measure in entry.kernel.inputs]
                # used for inner products only: distances to oneself are zero
                own = [np.einsum("ij,ij->i", rows, rows)] * len(blocks)
                matrices[number] = entry.kernel.transform(*blocks, own=own)
        return KernelStack(matrices, [entry.id for entry in self._entries])


def compute_stack(X: ArrayLike, kernels: Sequence[KernelSpec], Y: ArrayLike | None = None) -> KernelStack:
    """Compute M kernels, (n, m), between samples `X`, (n, d), and training samples `Y`, (m, d), fitted on `Y`.

    Without `Y` they are the training kernels of `X`. Specs and errors are those of `StackTransform`, which fits the
    kernels only once for several sets of new samples.
    """
    if Y is None:
        return StackTransform(kernels).fit(X).stack_train_
    return StackTransform(kernels).fit(Y).transform(X)


def _parse(specs: Sequence[KernelSpec], source_key: str) -> list[_Entry]:
    """Construct the kernels; `source_key` is the key that names a kernel's input."""
    entries = [_entry(spec, number, source_key) for number, spec in enumerate(specs)]
    if not entries:
        raise ConfigError("the list of kernels is empty; at least one is needed")
    ids = [entry.id for entry in entries]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(f"kernel ids must be unique; given twice: {', '.join(map(repr, twice))}")
    return entries


def _entry(spec: KernelSpec, number: int, source_key: str) -> _Entry:
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        raise ConfigError(f"kernel spec {number} is {spec!r}; expected a kind ({', '.join(KERNELS)}) or a mapping")
    name = str(spec.get("id", number))
    with _error_prefix(name):
        kernel_class = _kernel_class(spec)
    parameters = {key: value for key, value in inspect.signature(kernel_class).parameters.items() if key != "name"}
    sources = [] if source_key == "pairwise" and "factors" in parameters else [source_key]
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
