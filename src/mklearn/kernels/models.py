"""Models of the kernels that a study can name. What depends on data is fitted on training samples."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from mklearn.contract.fit_spec import FeatureScaling
from mklearn.contract.model import Count, NamePattern, NonNegative, Positive, Registered, Slug


class Kernel(Registered):
    """The model of a kernel."""

    centre: bool = True
    """Centre in feature space at the training mean. Without it, a constant that is added to the features of a linear
    kernel changes discriminants with a ridge, and those with learned weights differ from the others in more than
    their weights."""
    normalise: Literal["none", "unit_diagonal", "centred_trace"] = "centred_trace"
    """Bring kernels to one scale: k(x,x) = 1, or unit variance of the training samples in feature space."""
    psd: Literal["clip", "shift", "flip", "none"] = "clip"
    """How negative eigenvalues are repaired; ``shift`` is warned about (identity-like kernels steal weight)."""


class DescriptorKernel(Kernel):
    """The model of a kernel that compares samples by one descriptor."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"descriptor", "feature_scaling"})

    descriptor: NamePattern | Annotated[list[NamePattern], Field(min_length=1)] = "each"
    """The descriptor that it compares samples by; a list, a name with ``*``, or ``each``, makes one kernel of each."""
    feature_scaling: FeatureScaling | Literal["auto"] | Annotated[list[FeatureScaling], Field(min_length=1)] = "none"
    """Scaling of the descriptor's features, fitted on the training samples: mean 0 and standard deviation 1
    (``standard``), to 0..1 (``minmax``), each sample to length 1 (``unit``), or quantiles among the training samples
    (``rank``). A list makes one kernel of each, as weights can be learned for. ``auto`` is one kernel: inner
    cross-validation chooses one of all but ``minmax``, the same for all kernels of a method with ``auto``, together
    with the method's own grid."""

    def measure_for(self, suited: str) -> str:
        """Return the pairwise measure that the kernel needs, where ``suited`` is the distance of its features."""
        return "inner_product"


class Gaussian(DescriptorKernel):
    """exp(-d^2 / gamma); with the chi-square distance it is the chi2-exponential kernel."""

    implementation = "mklearn.kernels.gaussian:GaussianKernel"
    title = "Gaussian, and chi2-exponential"
    reference = "Lin, Liu, Fuh 2008, eq. (8); Gu, Zhou 2009, section 5"

    kind: Literal["gaussian"]
    measure: Literal["squared_euclidean", "chi2", "point_set"] | None = None
    """Distance; by default the one that suits the descriptor, of scaled features ``squared_euclidean``."""
    bandwidth: Positive | Annotated[list[Positive], Field(min_length=1)] = 1.0
    """Multiple of the training distances' scale; a list makes one kernel of each."""
    bandwidth_rule: Literal["squared_mean_distance", "mean_squared_distance", "absolute"] = "mean_squared_distance"
    """gamma = multiple x (mean distance)^2, multiple x mean squared distance, or the number itself."""

    def measure_for(self, suited: str) -> str:
        """Return the distance that the study names, else the one that suits the descriptor."""
        return self.measure or suited


class Linear(DescriptorKernel):
    """Inner products of the features."""

    implementation = "mklearn.kernels.linear:LinearKernel"
    title = "linear"

    kind: Literal["linear"]


class Polynomial(DescriptorKernel):
    """(scale <x, y> + offset)^degree."""

    implementation = "mklearn.kernels.polynomial:PolynomialKernel"
    title = "polynomial"

    kind: Literal["polynomial"]
    degree: Count = 2
    scale: Positive | None = None
    """Factor of the inner product; by default 1 / mean self-similarity of the training samples."""
    offset: NonNegative = 1.0


class PrecomputedKernel(DescriptorKernel):
    """A matrix of the data set, used as the kernel itself."""

    implementation = "mklearn.kernels.precomputed:PrecomputedKernel"
    title = "precomputed"

    kind: Literal["precomputed"]
    feature_scaling: Literal["none"] = "none"
    """A matrix has no features."""


class Product(Kernel):
    """Elementwise geometric mean of Gaussian kernels, exp(-(1/M) sum_m d_m^2/gamma_m): a baseline without weights.

    Each gamma_m is fitted on the training samples as its kernel's own; ``centre``, ``normalise`` and ``psd`` apply to
    the product, not to its factors. A product is a combination already: methods with ``kernels: all`` or ``each``
    leave it out, a method that needs it names it.
    """

    implementation = "mklearn.kernels.product:ProductKernel"
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


KERNELS: tuple[type[Kernel], ...] = (Gaussian, Linear, Polynomial, PrecomputedKernel, Product)
