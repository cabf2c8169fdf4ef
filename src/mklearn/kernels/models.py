"""Bases of the models of kernels. Their own fields are the parameters of the kernels, see :mod:`mklearn.cards`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from mklearn.contract.fit_spec import FeatureScaling
from mklearn.contract.model import NamePattern, Registered, Slug


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
    (``standard``), to 0..1 (``minmax``), each sample to length 1 (``unit``), quantiles among the training samples
    (``rank``), or standardised logarithms of nonnegative values (``log``). A list makes one kernel of each, as weights
    can be learned for. ``auto`` is one kernel: on each split the training samples choose, of all but ``minmax`` and
    ``log``, the scaling with the smallest left-out error, the same for all kernels of the descriptor in all methods."""

    measures: ClassVar[tuple[str, ...]]
    """Measures of pairwise matrices that it can be computed from."""

    def measure_for(self, suited: str) -> str:
        """Return the measure that the study names, else ``suited``, which is that of the features, if it fits."""
        named: str | None = getattr(self, "measure", None)
        return named or (suited if suited in self.measures else self.measures[0])


class MatrixKernel(DescriptorKernel):
    """The model of a kernel that is a matrix of the data set."""

    feature_scaling: Literal["none"] = "none"
    """A matrix has no features."""


class Product(Kernel):
    """The model of a kernel of Gaussian kernels."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"of"})

    of: Literal["all"] | Annotated[list[Slug], Field(min_length=2)] = "all"
    """Its factors, by the names that methods know them by; ``all``: every Gaussian kernel that applies to the data."""

    @field_validator("of")
    @classmethod
    def _each_once(cls, of: Literal["all"] | list[str]) -> Literal["all"] | list[str]:
        twice = sorted({name for name in of if of.count(name) > 1}) if isinstance(of, list) else []
        if twice:
            raise ValueError(f"names {', '.join(twice)} more than once; a product has each factor once.")
        return of
