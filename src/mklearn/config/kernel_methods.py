"""Methods on kernels: one, a fixed combination, or several whose weights they learn."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from mklearn.config.base import Slug
from mklearn.config.method_base import Lam, MethodBase, Tuned, TunedCount

GivenWeights = Annotated[dict[Slug, Annotated[float, Field(ge=0)]], Field(min_length=1)]
Constraint = Literal["rkhs", "coef", "sample"]


class KernelMethod(MethodBase):
    """What every method on kernels has."""

    bookkeeping: ClassVar[frozenset[str]] = MethodBase.bookkeeping | {"kernels"}

    kernels: Literal["all", "each"] | Annotated[list[Slug], Field(min_length=1)] = "all"
    """The kernels it gets: all, these, or ``each`` - then it is run once for every kernel."""


class OneKernel(KernelMethod):
    """Methods on one kernel, or on a fixed combination."""

    kernel_weights: Literal["uniform", "best_single"] | GivenWeights = "uniform"
    """How the kernels are combined: their average, the single one that inner cross-validation chooses, or given."""

    @model_validator(mode="after")
    def _one_kernel_needs_no_weights(self) -> OneKernel:
        if self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError(
                "kernels: each runs on one kernel at a time, so that kernel_weights have no meaning there."
            )
        return self


class Discriminant(OneKernel):
    """Ratio-trace methods on one kernel."""

    ridge: Tuned = 1e-3
    """Ridge on both matrices of the A-step, relative to their scale."""
    scaling: Literal["total", "within", "unit", "orthonormal"] = "total"
    """Scale of the projection's columns; 1-nearest-neighbour rates depend on it."""


class KernelFDA(Discriminant):
    """Kernel Fisher discriminant analysis, multi-class."""

    title = "Kernel Fisher discriminant"
    reference = "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999"
    implementation = "mklearn.subspace.kfd:KernelFDA"

    kind: Literal["kernel_fda"]


class KernelLDE(Discriminant):
    """Kernel local discriminant embedding."""

    title = "Kernel local discriminant embedding"
    reference = "Chen, Chang, Liu 2005"
    implementation = "mklearn.subspace.kernel_lde:KernelLDE"

    kind: Literal["kernel_lde"]
    k: Annotated[int, Field(ge=1)] = 5
    """Neighbours of the same class."""
    k_prime: Annotated[int, Field(ge=1)] = 20
    """Neighbours of other classes."""


class MKLDR(KernelMethod):
    """Multiple kernel learning for dimensionality reduction: the projection and the kernel weights in turn."""

    title = "MKL-DR"
    reference = "Lin, Liu, Fuh 2008"
    implementation = "mklearn.subspace.mkldr:MKLDR"

    kind: Literal["mkl_dr"]
    ridge: Tuned = 1e-3
    """Ridge on both matrices of the A-step, relative to their scale."""
    graph: Literal["lda", "lde", "pca", "lpp"] = "lda"
    """Affinities: MKL-LDA, MKL-LDE, or without labels principal components and locality preserving projections."""
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


class KernelPCA(OneKernel):
    """Kernel principal components."""

    title = "Kernel PCA"
    reference = "Schoelkopf, Smola, Mueller 1998"
    implementation = "mklearn.subspace.kernel_pca:KernelPCA"

    kind: Literal["kernel_pca"]


class KernelMMC(OneKernel):
    """Kernel maximum margin criterion."""

    title = "Kernel maximum margin criterion"
    reference = "Li, Jiang, Zhang 2006; Gu, Zhou 2009, equation (13)"
    implementation = "mklearn.subspace.kernel_mmc:KernelMMC"

    kind: Literal["kernel_mmc"]
    constraint: Constraint = "rkhs"
    """A'KA = I, the printed A'A = I (coef), or orthonormal features (sample)."""
    lam: Lam = 1.0
    """Weight of the within-class scatter, or the ratio of the traces of the two scatters."""


class MKMMC(KernelMethod):
    """Multiple-kernel maximum margin criterion: projection and simplex weights in turn."""

    title = "MKMMC"
    reference = "Gu, Zhou 2009"
    implementation = "mklearn.subspace.mkmmc:MKMMC"

    kind: Literal["mkmmc"]
    constraint: Constraint = "rkhs"
    """A'KA = I, or the printed A'A = I (coef)."""
    lam: Annotated[float, Field(gt=0)] = 1.0
    theta_step: Literal["exact", "local"] = "exact"
    """Global maximum over the simplex, or a local one from the current weights."""
    max_iter: TunedCount = 50
    keep: Literal["best", "last"] = "best"
    """The iterate of largest objective, or the last one: with A'KA = I the alternation can cycle."""
