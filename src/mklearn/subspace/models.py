"""Models of the subspace methods: the fields that a study file may set."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mklearn.contract.fit_spec import Implementation
from mklearn.contract.method import (
    Count,
    Embedding,
    FeatureMethod,
    FixedCombination,
    KernelMethod,
    LandmarkMethod,
    Method,
    NonNegative,
    Positive,
    Scaling,
    Share,
    TradeOff,
    Tuned,
)

Constraint = Literal["rkhs", "coef", "sample"]


class OneKernel(FixedCombination, Embedding):
    """Embeddings by one kernel, or by a fixed combination."""


class LearnedCombination(KernelMethod, Embedding):
    """Embeddings with kernel weights that are learned."""

    def learns_weights(self) -> bool:
        """Return True."""
        return True


class ComparedCombination(LearnedCombination):
    """Embeddings whose learned weights can be compared with equal ones in the same machinery."""

    kernel_weights: Literal["learned", "uniform"] = "learned"
    """Learned, or equal ones in the same machinery: the reference that shows what learning them alone changes."""

    def learns_weights(self) -> bool:
        """Return whether they are learned, not equal."""
        return self.kernel_weights == "learned"


class LinearEmbedding(FeatureMethod, Embedding):
    """Linear projections of features."""


class Discriminant(OneKernel):
    """Ratio-trace methods on one kernel."""

    ridge: Tuned[Positive] = 1e-3
    """Ridge on both matrices of the A-step, relative to their scale."""
    scaling: Scaling = "total"
    """Scale of the projection's columns; 1-nearest-neighbour rates depend on it."""


class KernelFDA(LandmarkMethod, Discriminant):
    """Kernel Fisher discriminant analysis, multi-class."""

    title = "Kernel Fisher discriminant"
    reference = "Mika, Raetsch, Weston, Schoelkopf, Mueller 1999"
    implementation = "mklearn.subspace.kfd:KernelFDA"
    advice = (
        "The reference of most studies: on the uniform average of the kernels it is hard to beat. For two classes "
        "that overlap, kernel_svc is the better classifier: nearest neighbours follow every training sample."
    )

    kind: Literal["kernel_fda"]


class KernelLDE(Discriminant):
    """Kernel local discriminant embedding."""

    title = "Kernel local discriminant embedding"
    reference = "Chen, Chang, Liu 2005"
    implementation = "mklearn.subspace.kernel_lde:KernelLDE"
    advice = (
        "For classes that are several clusters: neighbours decide, not class means. Take the cosine rule; by the "
        "Euclidean one it can fall far behind."
    )

    kind: Literal["kernel_lde"]
    k: Count = 5
    """Neighbours of the same class."""
    k_prime: Count = 20
    """Neighbours of other classes."""


class KernelPCA(LandmarkMethod, OneKernel):
    """Kernel principal components."""

    title = "Kernel PCA"
    reference = "Schoelkopf, Smola, Mueller 1998"
    implementation = "mklearn.subspace.kernel_pca:KernelPCA"
    advice = "Without labels, and as a calibration of data and protocol. It discriminates nothing."

    kind: Literal["kernel_pca"]


class KernelMMC(LandmarkMethod, OneKernel):
    """Kernel maximum margin criterion."""

    title = "Kernel maximum margin criterion"
    reference = "Li, Jiang, Zhang 2006; Gu, Zhou 2009, equation (13)"
    implementation = "mklearn.subspace.kernel_mmc:KernelMMC"
    advice = "To reproduce the tables of Gu and Zhou. kernel_fda needs no trade-off between the scatters."

    kind: Literal["kernel_mmc"]
    constraint: Constraint = "rkhs"
    """A'KA = I, the printed A'A = I (coef), or orthonormal features (sample)."""
    trade_off: TradeOff = 1.0
    """Weight of the within-class scatter, or the ratio of the traces of the two scatters."""


class MKLDR(LandmarkMethod, ComparedCombination):
    """Multiple kernel learning for dimensionality reduction: the projection and the kernel weights in turn."""

    title = "MKL-DR"
    reference = "Lin, Liu, Fuh 2008"
    implementation = "mklearn.subspace.mkldr:MKLDR"
    advice = (
        "To learn weights as MKL-DR does, solved exactly. Choose the ridge by cross-validation, and compare with "
        "kernel_weights: uniform: the gain over equal weights is seldom larger than its interval."
    )

    kind: Literal["mkl_dr"]
    ridge: Tuned[Positive] = 1e-3
    """Ridge on both matrices of the A-step, relative to their scale."""
    graph: Literal["lda", "lde", "pca", "lpp"] = "lda"
    """Affinities: MKL-LDA, MKL-LDE, or without labels principal components and locality preserving projections."""
    k: Count = 5
    k_prime: Count = 20
    beta_step: Literal["exact", "dnn", "sdp", "central_path"] = "exact"
    """Kernel weights by support enumeration, the doubly nonnegative relaxation, or the paper's SDP."""
    a_step: Literal["ratio_trace", "trace_ratio"] = "ratio_trace"
    init: Literal["uniform", "orthonormal"] = "uniform"
    """Start from equal weights, or from AA' = I as the paper has it."""
    max_iter: Tuned[Annotated[int, Field(ge=0)]] = 5
    """Largest number of iterations; fewer is early stopping, and 0 the weights of the start."""
    scaling: Scaling = "total"
    solver: Literal["auto", "MOSEK", "CLARABEL"] = "auto"
    """For the SDP: MOSEK where a licence works, else CLARABEL."""

    def needs_kernels(self) -> str:
        """Return the neighbour graphs, which join samples: jobs on landmarks pass on moments only."""
        return f"graph: {self.graph}" if self.graph in ("lde", "lpp") else super().needs_kernels()


class MKMMC(LandmarkMethod, LearnedCombination):
    """Multiple-kernel maximum margin criterion: projection and simplex weights in turn."""

    title = "MKMMC"
    reference = "Gu, Zhou 2009"
    implementation = "mklearn.subspace.mkmmc:MKMMC"
    advice = (
        "To reproduce the paper. It selects one kernel, by its scale, and was above the uniform average for "
        "certain in none of nine published settings."
    )

    kind: Literal["mkmmc"]
    constraint: Constraint = "rkhs"
    """A'KA = I, or the printed A'A = I (coef)."""
    trade_off: Positive = 1.0
    theta_step: Literal["exact", "local"] = "exact"
    """Global maximum over the simplex, or a local one from the current weights."""
    max_iter: Tuned[Count] = 50
    keep: Literal["best", "last"] = "best"
    """The iterate of largest objective, or the last one: with A'KA = I the alternation can cycle."""
    sizes: Annotated[list[Count], Field(min_length=1)] | None = None
    """Numbers of components to learn weights for, each by its own fit as the paper does; those above the number of
    classes are left out. By default one fit, whose leading components are swept with its weights."""

    def needs_kernels(self) -> str:
        """Return ``sizes``, each of which is a fit."""
        return super().needs_kernels() if self.sizes is None else "sizes"

    def sweep(self) -> Implementation:
        """Return the sweep over leading components, or over ``sizes`` with their common work done once."""
        if self.sizes is None:
            return super().sweep()
        parameters = {"sizes": list(self.sizes), "at_most": "n_classes", "path": "mklearn.subspace.mkmmc:fit_path"}
        return Implementation(implementation="mklearn.evaluation.sweeps:Refit", parameters=parameters)


class ConvexMKLDR(LandmarkMethod, ComparedCombination):
    """Kernel weights by a concave ratio-trace problem, solved to its global optimum; the successor of MKL-DR."""

    title = "Convex MKL-DR"
    reference = "Ye, Ji, Chen 2008; Yan, Kittler, Mikolajczyk, Tahir 2012; Vemulapalli, Boda, Chellappa 2014"
    implementation = "mklearn.subspace.convex_mkldr:ConvexMKLDR"
    advice = (
        "Where learned weights are wanted: the problem has one optimum. On Caltech-101 it was above the uniform "
        "average in all 14 split-roles, by about the size of the interval."
    )

    kind: Literal["convex_mkl_dr"]
    p: Tuned[Annotated[float, Field(ge=1)]] = 2.0
    """Norm of the kernel weights: 1 is sparse, larger ones are ever closer to the uniform average."""
    denominator: Literal["total", "within"] = "total"
    ridge: Tuned[Positive] = 1e-2
    """On the feature-space norm, relative to the kernels' mean centred trace."""
    max_iter: Tuned[Count] = 50
    scaling: Scaling = "total"


class LeaveOneOutMKL(ComparedCombination):
    """Kernel weights minimising the leave-one-out error of a regression, then the kernel Fisher discriminant."""

    title = "Leave-one-out MKL"
    reference = "Allen 1974; Ye 2007; the criterion is this library's own"
    implementation = "mklearn.subspace.loo_mkl:LeaveOneOutMKL"
    advice = (
        "Weights from a fast regression. It won six and lost one of 20 published settings, by 2.5 points at worst; "
        "guarded_mkl guards against that."
    )

    kind: Literal["loo_mkl"]
    regularisation: Tuned[Positive] = 1.0
    """Ridge of the regression that ranks the kernels, in units of the samples' variance in feature space."""
    shrinkage: Tuned[Share] = 0.5
    """By how much log ratios of the kernels' shares shrink: 0 is the optimum, 1 the average of the kernels it uses."""
    ridge: Tuned[Positive] = 1e-3
    """Of the discriminant: on both matrices, relative to their scale."""
    max_iter: Tuned[Count] = 100
    scaling: Scaling = "total"


class GuardedMKL(LearnedCombination):
    """Leave-one-out weights where they are better than equal ones in validation; else the uniform average."""

    title = "Guarded MKL"
    reference = "this library's own; no paper"
    implementation = "mklearn.subspace.guarded_mkl:GuardedMKL"
    advice = (
        "Where learned weights must not lose: it takes equal ones unless validation says otherwise. In 20 "
        "published settings the differences to the average were -0.1 to +1.6 points, none outside its interval."
    )

    kind: Literal["guarded_mkl"]
    standard_errors: NonNegative = 1.0
    """By how many standard errors of the paired difference learned weights have to be better than equal ones."""
    folds: Annotated[int, Field(ge=2)] = 5
    """Folds of the cross-validation inside the training samples."""
    repeats: Count = 3
    """Number of times that these folds are drawn."""
    neighbour: Literal["cosine", "euclidean"] = "cosine"
    """Nearest-neighbour rule of the validation."""
    regularisation: Tuned[Positive] = 1.0
    """As for leave-one-out MKL."""
    shrinkage: Tuned[Share] = 0.5
    """As for leave-one-out MKL."""
    max_iter: Tuned[Count] = 100
    ridge: Tuned[Positive] = 1e-3
    """Of the discriminant: on both matrices, relative to their scale."""
    scaling: Scaling = "total"


class PCA(LinearEmbedding):
    """Principal components."""

    title = "PCA"
    reference = "Turk, Pentland 1991"
    implementation = "mklearn.subspace.pca:PCA"
    advice = "A baseline. With all its components it is the nearest neighbour in the features."

    kind: Literal["pca"]


class MMC(LinearEmbedding):
    """Maximum margin criterion."""

    title = "Maximum margin criterion"
    reference = "Li, Jiang, Zhang 2003"
    implementation = "mklearn.subspace.mmc:MMC"
    advice = "More features than samples, without an inverse or a ridge."

    kind: Literal["mmc"]
    trade_off: TradeOff = 1.0
    """Weight of the within-class scatter, or the ratio of the traces of the two scatters."""


class Fisherface(LinearEmbedding):
    """Linear discriminants after principal components."""

    title = "LDA (Fisherface)"
    reference = "Belhumeur, Hespanha, Kriegman 1997"
    implementation = "mklearn.subspace.fisherface:Fisherface"
    advice = (
        "The LDA column of the papers on faces; its accuracy depends on the scale of the projection's columns. "
        "With few samples per class take ledoit_wolf_lda."
    )

    kind: Literal["fisherface"]
    n_pca: Literal["n-c", "all"] | Count = "n-c"
    """Principal components that come first."""
    scaling: Scaling = "total"
    """Scale of the projection's columns: V'S_tV = I reproduces the papers' column, others differ by up to 50 points."""
    ridge: Tuned[NonNegative] = 0.0


class NullSpaceLDA(LinearEmbedding):
    """Discriminants in the null space of the within-class scatter."""

    title = "Null-space LDA"
    reference = "Chen, Liao, Ko, Lin, Yu 2000"
    implementation = "mklearn.subspace.null_space_lda:NullSpaceLDA"
    advice = "More features than samples: it needs a null space, and maps every training class to a point."

    kind: Literal["null_space_lda"]


METHODS: tuple[type[Method], ...] = (
    KernelFDA,
    KernelLDE,
    KernelPCA,
    KernelMMC,
    MKLDR,
    MKMMC,
    ConvexMKLDR,
    LeaveOneOutMKL,
    GuardedMKL,
    PCA,
    MMC,
    Fisherface,
    NullSpaceLDA,
)
"""The methods of this room that a study can name: a new one adds its line."""
