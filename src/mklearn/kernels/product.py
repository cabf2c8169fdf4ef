"""Products of Gaussian kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mklearn.checks import Array, check_keys
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.base import Kernel
from mklearn.kernels.gaussian import GaussianKernel, gaussian_kernel

PARAMETERS = ("measure", "bandwidth", "bandwidth_rule")
LABELS = ("id", "view", "columns", "preprocessing", "impute", "feature_scaling")
"""Name of a factor, and what it is computed from: see `mklearn.kernels.specs.StackTransform`."""


@dataclass(kw_only=True, eq=False)
class ProductKernel(Kernel):
    """Elementwise geometric mean of M Gaussian kernels, ``exp(-(1/M) sum_m d_m^2/gamma_m)``.

    Centring, normalisation and repair apply to the product, not to the factors.

    Parameters
    ----------
    factors : sequence of mappings
        For each factor "measure", "bandwidth" and "bandwidth_rule" as in `mklearn.kernels.gaussian.GaussianKernel`,
        all optional; "id" names it in messages (default: its number). "view", "columns", "preprocessing", "impute" and
        "feature_scaling" say what it is computed from, see `mklearn.kernels.specs.StackTransform`. Each gamma_m is
        fitted on the training samples as that of the single kernel.
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
        """Name and measure of the pairwise matrix of each factor."""
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
        exponent: Array | float = 0.0
        for factor, block in zip(self._gaussians, blocks, strict=True):
            d2 = factor.exponent(block)
            exponent = exponent + d2 / d2.dtype.type(factor.bandwidth_ * len(self._gaussians))
        return gaussian_kernel(exponent, 1.0)

    def parameter_info(self) -> dict[str, Any]:
        """Return the factors with their fitted bandwidths."""
        fitted = [{"measure": factor.measure, **factor.parameter_info()} for factor in self._gaussians]
        return {"factors": [{**given, **values} for given, values in zip(self.factors, fitted, strict=True)]}
