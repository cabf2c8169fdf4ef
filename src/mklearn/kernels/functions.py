"""Kernels: functions of pairwise distances, inner products or kernel values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from mklearn.checks import (
    Array,
    cached_rows,
    check_choice,
    check_integer,
    check_keys,
    check_nonnegative,
    check_positive,
)
from mklearn.errors import ConfigError, ConstantKernel, DataError
from mklearn.kernels.base import Kernel

BandwidthRule = Literal["squared_mean_distance", "mean_squared_distance", "absolute"]


@dataclass(kw_only=True, eq=False)
class GaussianKernel(Kernel):
    """Gaussian kernel ``exp(-d^2 / gamma)``, without a factor of 2, as in MKMMC and MKL-DR.

    Parameters
    ----------
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study, a list makes one kernel for each value.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        gamma = multiple x mean squared distance of the training samples (the usual choice for MKL-DR, whose paper does
        not state its rule), multiple x (mean distance)^2 (MKMMC), or the number itself.
    measure : {"squared_euclidean", "chi2", "point_set", "distance"}
        "distance" is a plain distance d, which is squared (`measure: distance` for a matrix in a study); the others
        enter the exponent as they are. Default in a study: the measure that suits the descriptor, which is
        "squared_euclidean" for scaled features.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    Attributes
    ----------
    bandwidth_ : float
        gamma, in the units of the exponent.
    """

    kind: ClassVar[str] = "gaussian"
    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean", "chi2", "point_set", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"squared_euclidean", "chi2"})

    bandwidth: float = 1.0
    bandwidth_rule: BandwidthRule = "mean_squared_distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.bandwidth = check_positive(self.bandwidth, "bandwidth")
        check_choice(self.bandwidth_rule, "bandwidth_rule", get_args(BandwidthRule))

    def exponent(self, block: Array) -> Array:
        """Return d^2: square plain distances, and return other measures unchanged."""
        return np.square(block) if self.measure == "distance" else block

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the bandwidth."""
        if self.bandwidth_rule == "absolute":
            self.bandwidth_ = self.bandwidth
            return
        distances = self.exponent(blocks[0])
        n = len(distances)
        if n < 2:
            raise DataError("a bandwidth needs at least two training samples, got 1")
        squared_mean = self.bandwidth_rule == "squared_mean_distance"
        entries = np.sqrt(distances) if squared_mean else distances
        # the mean of the entries i < j, computed without indexing the pairs
        mean = (float(entries.sum(dtype=np.float64)) - float(np.trace(entries, dtype=np.float64))) / (n * (n - 1))
        reference = mean**2 if squared_mean else mean
        if reference <= 0:
            raise ConstantKernel(
                "all training samples have distance zero to each other, so no bandwidth can be derived from them; "
                "set one with bandwidth_rule='absolute' or leave this descriptor out"
            )
        self.bandwidth_ = self.bandwidth * reference

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute ``exp(-d^2 / gamma)``."""
        return _exponential(self.exponent(blocks[0]), self.bandwidth_)


def _exponential(d2: Array, gamma: float) -> Array:
    kernel = np.empty_like(d2)
    for part in cached_rows(d2):
        np.divide(d2[part], d2.dtype.type(-gamma), out=kernel[part])
        np.exp(kernel[part], out=kernel[part])
    return kernel


@dataclass(kw_only=True, eq=False)
class LaplacianKernel(GaussianKernel):
    """Laplacian kernel ``exp(-|x - y|_1 / gamma)``.

    Parameters
    ----------
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study, a list makes one kernel for each value.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        gamma = multiple x mean distance of the training samples, multiple x (mean square root of the distance)^2, or
        the number itself.
    measure : {"manhattan"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.
    """

    kind: ClassVar[str] = "laplacian"
    measures: ClassVar[tuple[str, ...]] = ("manhattan",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"manhattan"})


SMOOTHNESS = (0.5, 1.5, 2.5)


@dataclass(kw_only=True, eq=False)
class MaternKernel(GaussianKernel):
    """Matern kernel of r = d / l, the Euclidean distance divided by the length scale l.

    The kernel is ``exp(-r)`` for nu = 1/2, ``(1 + 3^(1/2) r) exp(-3^(1/2) r)`` for 3/2, and
    ``(1 + 5^(1/2) r + 5 r^2 / 3) exp(-5^(1/2) r)`` for 5/2.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}
        Smoothness: larger values are closer to the Gaussian kernel.
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study, a list makes one kernel for each value.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        l^2 = multiple x mean squared distance of the training samples, multiple x (mean distance)^2, or the number
        itself.
    measure : {"squared_euclidean", "distance"}
        Squared Euclidean distances, or plain distances, which are squared.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    References
    ----------
    Rasmussen, Williams, "Gaussian processes for machine learning", 2006, eq. (4.16) and (4.17).
    """

    kind: ClassVar[str] = "matern"
    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"squared_euclidean"})

    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.nu, "nu", SMOOTHNESS)

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute the kernel from distances."""
        exponent = self.exponent(blocks[0])
        r = np.sqrt(exponent * exponent.dtype.type(2 * self.nu / self.bandwidth_))
        kernel: Array = np.exp(-r)
        if self.nu == 1.5:
            kernel *= 1 + r
        elif self.nu == 2.5:
            kernel *= 1 + r + r * r / 3
        return kernel


PARAMETERS = ("measure", "bandwidth", "bandwidth_rule")
LABELS = ("id", "view", "columns", "preprocessing", "impute", "feature_scaling")
"""Keys of a factor for its name and its input, see `mklearn.kernels.transform.StackTransform`."""


@dataclass(kw_only=True, eq=False)
class ProductKernel(Kernel):
    """Elementwise geometric mean of M Gaussian kernels, ``exp(-(1/M) sum_m d_m^2/gamma_m)``.

    Centring, normalisation and repair apply to the product, not to the factors.

    Parameters
    ----------
    factors : sequence of mappings
        For each factor "measure", "bandwidth" and "bandwidth_rule" as in `mklearn.kernels.functions.GaussianKernel`,
        all optional. "id" names the factor in messages (default: its number). "view", "columns", "preprocessing",
        "impute" and "feature_scaling" specify its input, see `mklearn.kernels.transform.StackTransform`. Each gamma_m
        is fitted on the training samples as for a single kernel.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    References
    ----------
    Gehler and Nowozin, ICCV 2009 (the product kernel).
    """

    kind: ClassVar[str] = "product"
    measures: ClassVar[tuple[str, ...]] = ("product",)
    psd_measures: ClassVar[frozenset[str]] = GaussianKernel.psd_measures

    factors: Sequence[Mapping[str, Any]]
    measure: str = field(init=False, default="product")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.factors, Sequence) or isinstance(self.factors, str) or not self.factors:
            raise ConfigError("a product kernel needs `factors`: a list of Gaussian kernels")
        self._gaussians = []
        for number, factor in enumerate(self.factors):
            if not isinstance(factor, Mapping):
                raise ConfigError(f"factor {number} is {factor!r}; expected a mapping")
            label = f"factor {str(factor.get('id', number))!r}"
            check_keys(factor, (*LABELS, *PARAMETERS), label)
            parameters = {key: factor[key] for key in PARAMETERS if key in factor}
            try:
                self._gaussians.append(GaussianKernel(**parameters, name=label))
            except ConfigError as error:
                raise ConfigError(f"{label}: {error}") from error

    @property
    def inputs(self) -> list[tuple[str, str]]:
        """Return the name and the measure of each factor's pairwise matrix."""
        return [(f"{factor.name} ({measure})", measure) for factor in self._gaussians for _, measure in factor.inputs]

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the bandwidth of each factor."""
        for factor, block in zip(self._gaussians, blocks, strict=True):
            try:
                factor.fit_parameters([block])
            except DataError as error:
                raise DataError(f"{factor.name}: {error}") from error

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute ``exp(-(1/M) sum_m d_m^2/gamma_m)``."""
        exponent = np.zeros_like(blocks[0])
        for factor, block in zip(self._gaussians, blocks, strict=True):
            d2 = factor.exponent(block)
            exponent = exponent + d2 / d2.dtype.type(factor.bandwidth_ * len(self._gaussians))
        return _exponential(exponent, 1.0)


@dataclass(kw_only=True, eq=False)
class TanimotoKernel(Kernel):
    """Tanimoto (Jaccard) kernel ``<x, y> / (|x|^2 + |y|^2 - <x, y>)``, 1 for two samples without any bit set.

    It is positive semidefinite for any real features, dense or sparse.

    Parameters
    ----------
    measure : {"tanimoto", "distance"}
        Distance that equals 1 minus the kernel.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    References
    ----------
    Ralaivola, Swamidass, Saigo, Baldi, "Graph kernels for chemical informatics", Neural Networks 18, 2005.
    """

    kind: ClassVar[str] = "tanimoto"
    measures: ClassVar[tuple[str, ...]] = ("tanimoto", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"tanimoto"})

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute 1 minus the distance."""
        return 1 - blocks[0]


@dataclass(kw_only=True, eq=False)
class LinearKernel(Kernel):
    """Linear kernel: the inner product of the features.

    Parameters
    ----------
    measure : {"inner_product"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.
    """

    kind: ClassVar[str] = "linear"
    measures: ClassVar[tuple[str, ...]] = ("inner_product",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"inner_product"})
    of_features: ClassVar[bool] = True

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Return the inner products."""
        return blocks[0]


@dataclass(kw_only=True, eq=False)
class PolynomialKernel(Kernel):
    """Polynomial kernel ``(scale <x, y> + offset)^degree``.

    Parameters
    ----------
    degree : int
        >= 1.
    scale : float, optional
        > 0, in inverse units of the inner products. Default: 1 divided by the mean self-similarity of the training
        samples.
    offset : float
        >= 0, since the kernel is indefinite with a negative offset.
    measure : {"inner_product"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    Attributes
    ----------
    scale_ : float
    """

    kind: ClassVar[str] = "polynomial"
    measures: ClassVar[tuple[str, ...]] = ("inner_product",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"inner_product"})

    degree: int = 2
    scale: float | None = None
    offset: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.degree = check_integer(self.degree, "degree")
        self.scale = None if self.scale is None else check_positive(self.scale, "scale")
        self.offset = check_nonnegative(self.offset, "offset")

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the scale, unless it is given."""
        gram = blocks[0]
        if self.scale is not None:
            self.scale_ = self.scale
            return
        mean = float(np.trace(gram, dtype=np.float64)) / len(gram)
        if mean <= 0:
            raise ConstantKernel(
                f"the mean self-similarity of the training samples is {mean:.3g}, so no scale of the polynomial kernel "
                "can be derived from it; set `scale` to a number"
            )
        self.scale_ = 1 / mean

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute ``(scale <x, y> + offset)^degree``."""
        gram = blocks[0]
        base = gram * gram.dtype.type(self.scale_) + gram.dtype.type(self.offset)
        power: Array = base**self.degree
        return power


@dataclass(kw_only=True, eq=False)
class PrecomputedKernel(Kernel):
    """Precomputed kernel: a matrix of kernel values, which may be indefinite.

    Parameters
    ----------
    measure : {"kernel"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.
    """

    kind: ClassVar[str] = "precomputed"
    measures: ClassVar[tuple[str, ...]] = ("kernel",)

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Return the kernel values."""
        return blocks[0]
