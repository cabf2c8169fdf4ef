"""Kernels: elementwise maps of cached pairwise matrices; what depends on data is fitted on training samples."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mklearn.config.base import Registered, Slug

Positive = Annotated[float, Field(gt=0)]


class KernelBase(Registered):
    """What every kernel has."""

    implementation = "mklearn.kernels.transform:KernelTransform"
    bookkeeping: ClassVar[frozenset[str]] = frozenset({"descriptor"})

    descriptor: Slug | Annotated[list[Slug], Field(min_length=1)] = "each"
    """The descriptor that it compares samples by; a list, or ``each``, makes one kernel of each."""
    centre: bool = False
    """Centre in feature space about the training mean."""
    normalise: Literal["none", "unit_diagonal", "centred_trace"] = "centred_trace"
    """Bring kernels to one scale: k(x,x) = 1, or unit variance of the training samples in feature space."""
    psd: Literal["clip", "shift", "flip", "none"] = "clip"
    """What to do about negative eigenvalues; ``shift`` is warned about (identity-like kernels steal weight)."""


class Gaussian(KernelBase):
    """exp(-d^2 / gamma); with the chi-square distance it is the chi2-exponential kernel."""

    title = "Gaussian, and chi2-exponential"
    reference = "Lin, Liu, Fuh 2008, eq. (8); Gu, Zhou 2009, section 5"

    kind: Literal["gaussian"]
    measure: Literal["squared_euclidean", "chi2"] | None = None
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


KernelConfig = Annotated[Gaussian | Linear | Polynomial | Given, Field(discriminator="kind")]
