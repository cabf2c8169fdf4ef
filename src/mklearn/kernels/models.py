"""Kernels: elementwise maps of cached pairwise matrices; what depends on data is fitted on training samples."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from mklearn.contract.model import Registered, Slug

Positive = Annotated[float, Field(gt=0)]


class OfDescriptors(Registered):
    """What kernels have that compare samples by one descriptor."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"descriptor"})

    descriptor: Slug | Annotated[list[Slug], Field(min_length=1)] = "each"
    """The descriptor that it compares samples by; a list, or ``each``, makes one kernel of each."""


class AnyKernel(Registered):
    """What every kernel has."""

    implementation = "mklearn.kernels.transform:KernelTransform"

    centre: bool = False
    """Centre in feature space about the training mean."""
    normalise: Literal["none", "unit_diagonal", "centred_trace"] = "centred_trace"
    """Bring kernels to one scale: k(x,x) = 1, or unit variance of the training samples in feature space."""
    psd: Literal["clip", "shift", "flip", "none"] = "clip"
    """What to do about negative eigenvalues; ``shift`` is warned about (identity-like kernels steal weight)."""


class KernelBase(AnyKernel, OfDescriptors):
    """Kernels on one descriptor."""


class Gaussian(KernelBase):
    """exp(-d^2 / gamma); with the chi-square distance it is the chi2-exponential kernel."""

    title = "Gaussian, and chi2-exponential"
    reference = "Lin, Liu, Fuh 2008, eq. (8); Gu, Zhou 2009, section 5"

    kind: Literal["gaussian"]
    measure: Literal["squared_euclidean", "chi2", "point_set"] | None = None
    """Distance; by default the one that suits the descriptor."""
    bandwidth: Positive | Annotated[list[Positive], Field(min_length=1)] = 1.0
    """Multiple of the training distances' scale; a list makes one kernel of each."""
    bandwidth_rule: Literal["squared_mean_distance", "mean_squared_distance", "absolute"] = "mean_squared_distance"
    """gamma = multiple x (mean distance)^2, multiple x mean squared distance, or the number itself."""


class Linear(KernelBase):
    """Inner products of the features."""

    title = "linear"

    kind: Literal["linear"]


class Polynomial(KernelBase):
    """(scale <x, y> + offset)^degree."""

    title = "polynomial"

    kind: Literal["polynomial"]
    degree: Annotated[int, Field(ge=1)] = 2
    scale: Positive | None = None
    """Factor of the inner product; by default 1 / mean self-similarity of the training samples."""
    offset: Annotated[float, Field(ge=0)] = 1.0


class Given(KernelBase):
    """The matrix that the data set brings, used as the kernel itself."""

    title = "precomputed"

    kind: Literal["precomputed"]


class Product(AnyKernel):
    """Elementwise geometric mean of Gaussian kernels, exp(-(1/M) sum_m d_m^2/gamma_m): a baseline without weights.

    Each gamma_m is fitted on the training samples as its kernel's own; ``centre``, ``normalise`` and ``psd`` are done
    to the product, not to its factors. A product is a combination already: methods with ``kernels: all`` or ``each``
    leave it out, one that is to have it names it.
    """

    title = "Product of Gaussian kernels"
    reference = "Gehler, Nowozin 2009"
    bookkeeping: ClassVar[frozenset[str]] = frozenset({"of"})

    kind: Literal["product"]
    of: Literal["all"] | Annotated[list[Slug], Field(min_length=2)] = "all"
    """Its factors, by the names that methods know them by; ``all``: every Gaussian kernel that applies to the data."""

    @field_validator("of")
    @classmethod
    def _each_once(cls, of: Literal["all"] | list[str]) -> Literal["all"] | list[str]:
        twice = sorted({name for name in of if of.count(name) > 1}) if isinstance(of, list) else []
        if twice:
            raise ValueError(f"names {', '.join(twice)} more than once; a product has each factor once.")
        return of


KernelConfig = Annotated[Gaussian | Linear | Polynomial | Given | Product, Field(discriminator="kind")]
