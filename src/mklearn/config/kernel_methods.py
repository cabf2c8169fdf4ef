"""Methods on kernels: one, a fixed combination, or several whose weights they learn."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from mklearn.config.method_base import Deciding, Embedding, Method, TradeOff, Tuned, TunedCount
from mklearn.contract.model import Slug

GivenWeights = Annotated[dict[Slug, Annotated[float, Field(ge=0)]], Field(min_length=1)]
Constraint = Literal["rkhs", "coef", "sample"]
Share = Annotated[float, Field(ge=0, le=1)]


class KernelMethod(Method):
    """What every method on kernels has."""

    bookkeeping: ClassVar[frozenset[str]] = Method.bookkeeping | {"kernels"}

    kernels: Literal["all", "each"] | Annotated[list[Slug], Field(min_length=1)] = "all"
    """The kernels it gets: all, these, or ``each`` - then it is run once for every kernel. Products of kernels are
    combinations already: they are neither among ``all`` nor among ``each``, and are named where they are wanted."""


class FixedCombination(KernelMethod):
    """Methods on one kernel, or on a fixed combination."""

    kernel_weights: Literal["uniform", "best_single", "cv_accuracy", "oracle_single"] | GivenWeights = "uniform"
    """How the kernels are combined: their average, the single one that inner cross-validation chooses, all of them by
    the squared accuracy that each reaches there alone, the single one of the best mean accuracy on the test samples (an
    upper bound and no method: it has no inner-CV value), or given."""

    @model_validator(mode="after")
    def _one_kernel_needs_no_weights(self) -> FixedCombination:
        if self.kernels == "each" and self.kernel_weights != "uniform":
            raise ValueError(
                "kernels: each runs on one kernel at a time, so that kernel_weights have no meaning there."
            )
        return self


class OneKernel(FixedCombination, Embedding):
    """Embeddings by one kernel, or by a fixed combination."""


class LearnedCombination(KernelMethod, Embedding):
    """Embeddings with kernel weights that are learned."""


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


class MKLDR(LearnedCombination):
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
    max_iter: Annotated[int, Field(ge=0)] | Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = 5
    """Iterations at most; fewer is early stopping, and 0 the weights of the start."""
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
    trade_off: TradeOff = 1.0
    """Weight of the within-class scatter, or the ratio of the traces of the two scatters."""


class MKMMC(LearnedCombination):
    """Multiple-kernel maximum margin criterion: projection and simplex weights in turn."""

    title = "MKMMC"
    reference = "Gu, Zhou 2009"
    implementation = "mklearn.subspace.mkmmc:MKMMC"

    kind: Literal["mkmmc"]
    constraint: Constraint = "rkhs"
    """A'KA = I, or the printed A'A = I (coef)."""
    trade_off: Annotated[float, Field(gt=0)] = 1.0
    theta_step: Literal["exact", "local"] = "exact"
    """Global maximum over the simplex, or a local one from the current weights."""
    max_iter: TunedCount = 50
    keep: Literal["best", "last"] = "best"
    """The iterate of largest objective, or the last one: with A'KA = I the alternation can cycle."""
    sizes: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] | None = None
    """Dimensions to learn weights for, each anew as the paper does; those above the number of classes are left out.
    By default one fit, whose leading dimensions are gone through with its weights."""

    def sweep(self) -> dict[str, Any]:
        """A fit for each size, with what they share computed once."""
        if self.sizes is None:
            return super().sweep()
        implementation = "mklearn.subspace.mkmmc:fit_path"
        return {"kind": "refit", "sizes": list(self.sizes), "most": "classes", "implementation": implementation}


class ConvexMKLDR(LearnedCombination):
    """Kernel weights by a concave ratio-trace problem, solved to its global optimum; the successor of MKL-DR."""

    title = "Convex MKL-DR"
    reference = "Ye, Ji, Chen 2008; Yan, Kittler, Mikolajczyk, Tahir 2012; Vemulapalli, Boda, Chellappa 2014"
    implementation = "mklearn.subspace.convex_mkldr:ConvexMKLDR"

    kind: Literal["convex_mkl_dr"]
    p: Annotated[float, Field(ge=1)] | Annotated[list[Annotated[float, Field(ge=1)]], Field(min_length=1)] = 2.0
    """Norm of the kernel weights: 1 is sparse, larger ones are ever closer to the uniform average."""
    denominator: Literal["total", "within"] = "total"
    ridge: Tuned = 1e-2
    """On the feature-space norm, relative to the kernels' mean centred trace."""
    max_iter: TunedCount = 50
    scaling: Literal["total", "within", "unit", "orthonormal"] = "total"


class LeaveOneOutMKL(LearnedCombination):
    """Kernel weights that foretell samples left out, then the kernel Fisher discriminant with them."""

    title = "Leave-one-out MKL"
    reference = "Allen 1974; Ye 2007; the criterion is this library's own"
    implementation = "mklearn.subspace.loo_mkl:LeaveOneOutMKL"

    kind: Literal["loo_mkl"]
    regularisation: Tuned = 1.0
    """Ridge of the regression that ranks the kernels, in units of the samples' variance in feature space."""
    shrinkage: Share | Annotated[list[Share], Field(min_length=1)] = 0.5
    """By how much log ratios of the kernels' shares shrink: 0 is the optimum, 1 the average of the kernels it uses."""
    ridge: Tuned = 1e-3
    """Of the discriminant: on both matrices, relative to their scale."""
    max_iter: TunedCount = 100
    scaling: Literal["total", "within", "unit", "orthonormal"] = "total"


class KernelVoting(KernelMethod, Deciding):
    """One discriminant and 1-nearest neighbour per kernel; they vote."""

    title = "KFD-Voting"
    reference = "Lin, Liu, Fuh 2008, section 5"
    implementation = "mklearn.classifiers.kernel_voting:KernelVoting"

    kind: Literal["kernel_voting"]
    neighbour: Literal["cosine", "euclidean"] = "cosine"


class KernelSAMME(KernelMethod, Deciding):
    """The same weak learners, weighted by boosting with errors from inner cross-validation."""

    title = "KFD-SAMME"
    reference = "Zhu, Zou, Rosset, Hastie 2009; Lin, Liu, Fuh 2008, section 5"
    implementation = "mklearn.classifiers.kernel_samme:KernelSAMME"

    kind: Literal["kernel_samme"]
    neighbour: Literal["cosine", "euclidean"] = "cosine"
    cv: Annotated[int, Field(ge=2)] = 3
    """Folds of the weak learners' errors; a 1-nearest neighbour makes none on its own training samples."""


class KernelRidge(FixedCombination, Deciding):
    """Ridge regression of the class labels on a fixed combination of kernels."""

    title = "Kernel ridge classification"
    reference = "Saunders, Gammerman, Vovk 1998"
    implementation = "mklearn.classifiers.kernel_ridge:KernelRidgeClassifier"

    kind: Literal["kernel_ridge"]
    alpha: Tuned = 1e-3
    """Ridge, relative to the kernel's scale."""


class EmbeddedLinearSVC(FixedCombination, Deciding):
    """A linear support vector machine in the reduced space of a kernel discriminant."""

    title = "Linear SVC in the KFD space"
    reference = "Lin, Liu, Fuh 2008; Fan, Chang, Hsieh, Wang, Lin 2008"
    implementation = "mklearn.classifiers.embedded_linear_svc:EmbeddedLinearSVC"

    kind: Literal["embedded_linear_svc"]
    ridge: Tuned = 1e-3
    C: Tuned = 1.0
