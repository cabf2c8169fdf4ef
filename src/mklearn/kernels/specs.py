"""Kernel stacks from lists of kernel specs: on cached pairwise matrices (workflow) or on features (estimators)."""

from __future__ import annotations

import contextlib
import difflib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.bandwidth import resolve_bandwidth
from mklearn.kernels.checks import Array, as_float_matrix, check_nonnegative
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.transform import LEGAL_MEASURES, KernelTransform

_TRANSFORM_KEYS = tuple(name for name in inspect.signature(KernelTransform).parameters if name != "name")
_PRODUCT_KEYS = ("id", "kind", "factors", "centre", "normalise", "psd", "identity_like_below")
_FACTOR_KEYS = ("id", "pairwise", "measure", "bandwidth", "bandwidth_rule")

KernelSpec = str | Mapping[str, Any]
"""A kind, or a mapping with the parameters of `KernelTransform` and where to find its input."""


def build_stack(
    pairwise: Mapping[str, ArrayLike], specs: Sequence[Mapping[str, Any]], train: ArrayLike, test: ArrayLike
) -> tuple[KernelStack, KernelStack, list[dict[str, Any]]]:
    """Kernels of the training samples and of the test samples, fitted on the training samples.

    Parameters
    ----------
    pairwise : mapping of str to array_like, shape (N, N)
        Pairwise matrices on all samples.
    specs : sequence of mappings
        Each has "id" (unique), "pairwise" (a key of `pairwise`) and the parameters of
        `mklearn.kernels.transform.KernelTransform`. Parameters that a kind does not use are ignored. Of kind "product"
        are products of Gaussian kernels: see Notes.
    train, test : array_like of int (indices) or bool (N,)
        Test samples change nothing about the training kernels. `test` may be empty.

    Returns
    -------
    train_stack : KernelStack
        M kernels, (n, n).
    test_stack : KernelStack
        M kernels, (m, n).
    infos : list of dict
        `KernelTransform.info_` of each kernel, with its "id" and "pairwise"; of products with their "factors".

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, a pairwise matrix that does not exist, illegal parameters.
    DataError
        Indices out of range, or a matrix that a kernel can't be computed from; the message names the kernel.

    Notes
    -----
    A product has "factors" in place of "pairwise": a list of mappings with "pairwise" and, optionally, "id", "measure",
    "bandwidth" and "bandwidth_rule", each a Gaussian kernel exp(-d_m^2/gamma_m) with gamma_m fitted on the training
    samples as its own would be. The kernel is the elementwise geometric mean of the M factors,

        k = exp(-(1/M) sum_m d_m^2/gamma_m),

    the product kernel of Gehler and Nowozin (ICCV 2009). "centre", "normalise" and "psd" are about the product; nothing
    of the kind is done to the factors.
    """
    parsed = [_parse(spec, number, _stack_keys(spec)) for number, spec in enumerate(specs)]
    _check_ids([spec["id"] for spec in parsed])
    needed = [_sources(spec) for spec in parsed]
    for spec, names in zip(parsed, needed, strict=True):
        for name in names:
            if name not in pairwise:
                raise ConfigError(
                    f"kernel {spec['id']!r} asks for the pairwise matrix {name!r}; "
                    f"there are: {', '.join(map(repr, pairwise)) or 'none'}"
                )
    n_samples = np.shape(pairwise[needed[0][0]])[0]
    train_index = _indices(train, n_samples, "train")
    test_index = _indices(test, n_samples, "test", may_be_empty=True)

    for name in dict.fromkeys(name for names in needed for name in names):
        shape = np.shape(pairwise[name])
        if shape != (n_samples, n_samples):
            raise DataError(
                f"the pairwise matrix {name!r} has shape {shape}, but the first one is over {n_samples} samples; all "
                "must be square and over the same samples"
            )

    dtype = np.result_type(*(_float_dtype(pairwise[name]) for names in needed for name in names))
    n, m = train_index.size, test_index.size
    train_matrices: Array = np.empty((len(parsed), n, n), dtype=dtype)
    test_matrices: Array = np.empty((len(parsed), m, n), dtype=dtype)
    infos = []
    for number, spec in enumerate(parsed):
        fit_one = _fit_product if spec.get("kind") == "product" else _fit_kernel
        with _named(spec["id"]):
            train_matrices[number], rows, info = fit_one(spec, pairwise, train_index, test_index)
            if rows is not None:
                test_matrices[number] = rows
        infos.append({"id": spec["id"], **info})
    ids = [spec["id"] for spec in parsed]
    return KernelStack(train_matrices, ids), KernelStack(test_matrices, ids), infos


class StackTransform:
    """Kernels on features: distances and kernels fitted on training features, applied to new ones.

    Parameters
    ----------
    kernels : sequence of specs
        A kind ("gaussian", "linear", "polynomial"), or a mapping with the parameters of
        `mklearn.kernels.transform.KernelTransform` and optionally "id" (default: its number) and "columns" (the
        features it acts on: a list of indices, a boolean list or a slice; default: all).

    Attributes
    ----------
    stack_train_ : KernelStack
        M kernels, (n, n).
    infos_ : list of dict

    Raises
    ------
    ConfigError
        No specs, unknown keys, ids that are not unique, illegal parameters, kind "precomputed".
    """

    def __init__(self, kernels: Sequence[KernelSpec]) -> None:
        if isinstance(kernels, str | Mapping):
            kernels = [kernels]
        legal = ("id", "columns", *_TRANSFORM_KEYS)
        self._specs = [_parse(spec, number, legal) for number, spec in enumerate(kernels)]
        _check_ids([spec["id"] for spec in self._specs])
        for spec in self._specs:
            if spec.get("kind") == "precomputed" or spec.get("measure") == "distance":
                raise ConfigError(
                    f"kernel {spec['id']!r} can't be computed from features; pass the matrices themselves with "
                    "kernels='precomputed'"
                )
        self._transforms = [_transform(spec) for spec in self._specs]

    def fit(self, X: ArrayLike) -> StackTransform:
        """Fit every kernel on the training features, shape (n, d).

        Raises
        ------
        DataError
            Features or columns that a kernel can't be computed from; the message names the kernel.
        """
        features = as_float_matrix(X, "X")
        self._train = features
        matrices: Array = np.empty((len(self._specs), len(features), len(features)), dtype=features.dtype)
        for number, (spec, transform) in enumerate(zip(self._specs, self._transforms, strict=True)):
            with _named(spec["id"]):
                chosen = _columns(features, spec)
                transform.fit(MEASURES[transform.measure](chosen))
                matrices[number] = transform.kernel_train_
        self.stack_train_ = KernelStack(matrices, self._ids)
        self.infos_ = [
            {"id": name, **transform.info_} for name, transform in zip(self._ids, self._transforms, strict=True)
        ]
        return self

    def transform(self, X: ArrayLike) -> KernelStack:
        """Kernels between new features, shape (m, d), and the training features: M kernels, (m, n).

        Raises
        ------
        DataError
            Not fitted, or a number of features other than that of the training samples.
        """
        if not hasattr(self, "_train"):
            raise DataError("this StackTransform is not fitted; call fit with the training features first")
        features = as_float_matrix(X, "X")
        if features.shape[1] != self._train.shape[1]:
            raise DataError(f"X has {features.shape[1]} features, but the training samples had {self._train.shape[1]}")
        dtype = np.result_type(features.dtype, self._train.dtype)
        matrices: Array = np.empty((len(self._specs), len(features), len(self._train)), dtype=dtype)
        for number, (spec, transform) in enumerate(zip(self._specs, self._transforms, strict=True)):
            with _named(spec["id"]):
                rows, columns = _columns(features, spec), _columns(self._train, spec)
                own = np.einsum("ij,ij->i", rows, rows) if transform.measure == "inner_product" else None
                matrices[number] = transform.transform(MEASURES[transform.measure](rows, columns), own)
        return KernelStack(matrices, self._ids)

    @property
    def _ids(self) -> list[str]:
        return [spec["id"] for spec in self._specs]


def compute_stack(X: ArrayLike, kernels: Sequence[KernelSpec], Y: ArrayLike | None = None) -> KernelStack:
    """Kernels between the samples of `X` (rows) and the training samples `Y` (columns), fitted on `Y`.

    Parameters
    ----------
    X : array_like, shape (n, d)
    kernels : sequence of specs
        See `StackTransform`.
    Y : array_like, shape (m, d), optional
        The training samples, to which bandwidths and the rest are fitted. Default: `X`, which gives the training stack.

    Returns
    -------
    KernelStack
        M kernels, (n, m).

    Raises
    ------
    ConfigError, DataError
        As `StackTransform`, which is the better choice when there is more than one set of new samples.
    """
    if Y is None:
        return StackTransform(kernels).fit(X).stack_train_
    return StackTransform(kernels).fit(Y).transform(X)


# A training kernel, the rows of the test samples (None if there are none) and what is known of the kernel.
_Fitted = tuple[Array, Array | None, dict[str, Any]]


def _fit_kernel(
    spec: Mapping[str, Any], pairwise: Mapping[str, ArrayLike], train: NDArray[np.intp], test: NDArray[np.intp]
) -> _Fitted:
    matrix = np.asarray(pairwise[spec["pairwise"]])
    transform = _transform(spec).fit(matrix[np.ix_(train, train)])
    rows = transform.transform(matrix[np.ix_(test, train)], matrix[test, test]) if test.size else None
    return transform.kernel_train_, rows, {"pairwise": spec["pairwise"], **transform.info_}


def _fit_product(
    spec: Mapping[str, Any], pairwise: Mapping[str, ArrayLike], train: NDArray[np.intp], test: NDArray[np.intp]
) -> _Fitted:
    """The mean of the factors' exponents, as the squared distance of one Gaussian kernel of bandwidth 1."""
    factors = [{"measure": "squared_euclidean", **factor} for factor in spec["factors"]]
    exponent: Array | float = 0.0
    exponent_rows: Array | float = 0.0
    for number, factor in enumerate(factors):
        matrix = np.asarray(pairwise[factor["pairwise"]])
        rule = {"multiple": factor.get("bandwidth", 1.0), "rule": factor.get("bandwidth_rule", "mean_squared_distance")}
        label = f"factor {factor.get('id', number)!r}"
        try:
            among = _squared(matrix[np.ix_(train, train)], factor["measure"], label)
            factor["bandwidth"] = gamma = resolve_bandwidth(among, **rule)
            rows = _squared(matrix[np.ix_(test, train)], factor["measure"], label) if test.size else among[:0]
        except ConfigError as error:
            raise ConfigError(f"kernel {spec['id']!r}, {label}: {error}") from error
        except DataError as error:
            raise DataError(f"{label}: {error}") from error
        factor |= {"bandwidth_multiple": rule["multiple"], "bandwidth_rule": rule["rule"]}
        exponent = exponent + among / among.dtype.type(gamma * len(factors))
        exponent_rows = exponent_rows + rows / rows.dtype.type(gamma * len(factors))
    one = {"kind": "gaussian", "measure": "squared_euclidean", "bandwidth": 1.0, "bandwidth_rule": "absolute"}
    transform = _transform({key: value for key, value in spec.items() if key != "factors"} | one).fit(exponent)
    kernel_rows = transform.transform(exponent_rows) if test.size else None
    own: dict[str, Any] = {"kind": "product", "measure": "product", "bandwidth_rule": None, "bandwidth_multiple": None}
    own |= {"bandwidth": None, "pairwise": _sources(spec), "factors": factors}
    return transform.kernel_train_, kernel_rows, transform.info_ | own


def _squared(block: NDArray[Any], measure: str, label: str) -> Array:
    """What stands in a Gaussian kernel's exponent: distances squared, measures of squared distances as they are."""
    distances = check_nonnegative(as_float_matrix(block, label), label)
    return np.square(distances) if measure == "distance" else distances


def _stack_keys(spec: Any) -> tuple[str, ...]:
    product = isinstance(spec, Mapping) and spec.get("kind") == "product"
    return _PRODUCT_KEYS if product else ("id", "pairwise", *_TRANSFORM_KEYS)


def _sources(spec: Mapping[str, Any]) -> list[Any]:
    """The pairwise matrices that a kernel is made from, in the order of its factors; checks a product's factors."""
    if spec.get("kind") != "product":
        return [spec.get("pairwise")]
    factors = spec.get("factors")
    if not isinstance(factors, Sequence) or isinstance(factors, str) or not factors:
        raise ConfigError(f"kernel {spec['id']!r} is a product and needs factors: a list of Gaussian kernels")
    legal = LEGAL_MEASURES["gaussian"]
    for number, factor in enumerate(factors):
        parsed = _parse(factor, number, _FACTOR_KEYS, f"kernel {spec['id']!r}, factor")
        if parsed.get("measure", legal[0]) not in legal:
            raise ConfigError(
                f"kernel {spec['id']!r}, factor {parsed['id']!r}: measure {parsed['measure']!r} makes no Gaussian "
                f"kernel; legal: {', '.join(legal)}"
            )
    return [factor.get("pairwise") for factor in factors]


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Put the kernel's id in front of the message of a `DataError` raised inside."""
    try:
        yield
    except DataError as error:
        raise DataError(f"kernel {name!r}: {error}") from error


def _parse(spec: KernelSpec, number: int, legal: Sequence[str], what: str = "kernel") -> dict[str, Any]:
    """The spec as a dict with an "id"; refuses keys that nobody would read."""
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping):
        raise ConfigError(
            f"{what} spec {number} is {spec!r}; a kind ({', '.join(LEGAL_MEASURES)}) or a mapping is needed"
        )
    name = str(spec.get("id", number))
    for key in spec:
        if key not in legal:
            near = difflib.get_close_matches(str(key), legal, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise ConfigError(f"{what} {name!r} has the unknown key {key!r}{hint}; legal: {', '.join(legal)}")
    return {**spec, "id": name}


def _check_ids(ids: Sequence[str]) -> None:
    if not ids:
        raise ConfigError("the list of kernels is empty; at least one is needed")
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(f"kernel ids must be unique; given twice: {', '.join(map(repr, twice))}")


def _transform(spec: Mapping[str, Any]) -> KernelTransform:
    parameters = {key: value for key, value in spec.items() if key in _TRANSFORM_KEYS}
    try:
        return KernelTransform(**parameters, name=spec["id"])
    except ConfigError as error:
        raise ConfigError(f"kernel {spec['id']!r}: {error}") from error


def _float_dtype(values: ArrayLike) -> np.dtype:
    return np.dtype(np.float32 if np.asarray(values).dtype == np.float32 else np.float64)


def _columns(features: Array, spec: Mapping[str, Any]) -> Array:
    chosen = spec.get("columns")
    if chosen is None:
        return features
    try:
        columns = features[:, chosen if isinstance(chosen, slice) else np.asarray(chosen)]
    except IndexError as error:
        raise DataError(f"columns {chosen!r} do not fit {features.shape[1]} features") from error
    if columns.ndim != 2 or columns.shape[1] == 0:
        raise DataError(f"columns {chosen!r} choose no features; a list of indices or a slice is needed")
    return columns


def _indices(values: ArrayLike, n_samples: int, name: str, *, may_be_empty: bool = False) -> NDArray[np.intp]:
    index = np.asarray(values)
    if index.dtype == bool:
        if index.shape != (n_samples,):
            raise DataError(f"the {name} mask has shape {index.shape}, but there are {n_samples} samples")
        index = np.flatnonzero(index)
    if index.size == 0:
        if may_be_empty:
            return np.empty(0, dtype=np.intp)
        raise DataError(f"there are no {name} samples")
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise DataError(f"the {name} samples must be a list of indices; got shape {index.shape}, dtype {index.dtype}")
    if index.min() < 0 or index.max() >= n_samples:
        raise DataError(
            f"the {name} samples have indices from {index.min()} to {index.max()}, but there are {n_samples} samples"
        )
    return index.astype(np.intp)
