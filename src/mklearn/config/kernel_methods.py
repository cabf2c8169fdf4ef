"""Methods: what is fitted on the kernels of a training set. One model per method, with its reference."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from mklearn.config.base import Registered, Slug

Positive = Annotated[float, Field(gt=0)]
Tuned = Positive | Annotated[list[Positive], Field(min_length=1)]
GivenWeights = Annotated[dict[Slug, Annotated[float, Field(ge=0)]], Field(min_length=1)]
TunedCount = Annotated[int, Field(ge=1)] | Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]


class MethodBase(Registered):
    """What every method has. A list in place of a number is a grid that inner cross-validation chooses from."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"label", "kernels"})

    label: str | None = None
    """Name in tables and figures; by default the method's key."""
    kernels: Literal["all", "each"] | Annotated[list[Slug], Field(min_length=1)] = "all"
    """The kernels it gets: all, these, or ``each`` - then it is run once for every kernel."""
    n_components: Annotated[int, Field(ge=1)] | None = None
    """Dimensions of the embedding; by default all that the method has."""
    ridge: Tuned = 1e-3
    """Ridge on both matrices of the A-step, relative to their scale."""


class SingleKernel(MethodBase):
    """Methods on one kernel, or on a fixed combination."""

    kernel_weights: Literal["uniform", "best_single"] | GivenWeights = "uniform"
    """How the kernels are combined: their average, the single one that inner cross-validation chooses, or given."""
    scaling: Literal["total", "within", "unit", "orthonormal"] = "total"
    """Scale of the projection's columns; 1-nearest-neighbour rates depend on it."""

    @model_validator(mode="after")
    def _one_kernel_needs_no_weights(self) -> SingleKernel:
        if self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError(
                "kernels: each runs on one kernel at a time, so that kernel_weights have no meaning there."
            )
        return self


class KernelFDA(SingleKernel):
    """Kernel Fisher discriminant analysis, multi-class."""

    title = "Kernel Fisher discriminant"
    reference = "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999"
    implementation = "mklearn.subspace.kfd:KernelFDA"

    kind: Literal["kernel_fda"]


class KernelLDE(SingleKernel):
    """Kernel local discriminant embedding."""

    title = "Kernel local discriminant embedding"
    reference = "Chen, Chang, Liu 2005"
    implementation = "mklearn.subspace.kernel_lde:KernelLDE"

    kind: Literal["kernel_lde"]
    k: Annotated[int, Field(ge=1)] = 5
    """Neighbours of the same class."""
    k_prime: Annotated[int, Field(ge=1)] = 20
    """Neighbours of other classes."""


class MKLDR(MethodBase):
    """Multiple kernel learning for dimensionality reduction: the projection and the kernel weights in turn."""

    title = "MKL-DR"
    reference = "Lin, Liu, Fuh 2008"
    implementation = "mklearn.subspace.mkldr:MKLDR"

    kind: Literal["mkl_dr"]
    graph: Literal["lda", "lde"] = "lda"
    """Affinities: MKL-LDA or MKL-LDE."""
    k: Annotated[int, Field(ge=1)] = 5
    k_prime: Annotated[int, Field(ge=1)] = 20
    beta_step: Literal["exact", "dnn", "sdp", "central_path"] = "exact"
    """Kernel weights by support enumeration, the doubly nonnegative relaxation, or the paper's SDP."""
    a_step: Literal["ratio_trace", "trace_ratio"] = "ratio_trace"
    init: Literal["uniform", "orthonormal"] = "uniform"
    """Start from equal weights, or from AA' = I as the paper has it."""
    max_iter: TunedCount = 5
    """Iterations at most; fewer is early stopping."""
    scaling: Literal["total", "within", "unit", "orthonormal"] = "total"
    solver: Literal["auto", "MOSEK", "CLARABEL"] = "auto"
    """For the SDP: MOSEK where a licence works, else CLARABEL."""


MethodConfig = Annotated[KernelFDA | KernelLDE | MKLDR, Field(discriminator="kind")]
