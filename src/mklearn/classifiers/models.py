"""Models of the classifiers: the fields that a study file may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mklearn.contract.fit_spec import Components, Implementation, NeighbourRule
from mklearn.contract.method import (
    Classifier,
    ConcatenationMethod,
    Count,
    DescriptorMethod,
    FeatureMethod,
    FixedCombination,
    Input,
    KernelMethod,
    LandmarkMethod,
    Method,
    NonNegative,
    Positive,
    Share,
    Tuned,
)
from mklearn.contract.model import Slug, Strict


class KernelVoting(KernelMethod, Classifier):
    """One discriminant and 1-nearest neighbour per kernel; they vote."""

    title = "KFD-Voting"
    reference = "Lin, Liu, Fuh 2008, section 5"
    implementation = "mklearn.classifiers.kernel_voting:KernelVoting"
    advice = "A baseline of the MKL-DR paper. On Caltech-101 it is below the uniform average of the same kernels."

    kind: Literal["kernel_voting"]
    neighbour: NeighbourRule = "cosine"


class KernelSAMME(KernelMethod, Classifier):
    """The same weak learners, weighted by boosting with errors from inner cross-validation."""

    title = "KFD-SAMME"
    reference = "Zhu, Zou, Rosset, Hastie 2009; Lin, Liu, Fuh 2008, section 5"
    implementation = "mklearn.classifiers.kernel_samme:KernelSAMME"
    advice = "A baseline of the MKL-DR paper. On Caltech-101 it is below voting."

    kind: Literal["kernel_samme"]
    neighbour: NeighbourRule = "cosine"
    cv: Annotated[int, Field(ge=2)] = 3
    """Folds of the weak learners' errors; a 1-nearest neighbour makes none on its own training samples."""


class KernelRidge(LandmarkMethod, FixedCombination, Classifier):
    """Ridge regression of the class labels on a fixed combination of kernels."""

    title = "Kernel ridge classification"
    reference = "Saunders, Gammerman, Vovk 1998"
    implementation = "mklearn.classifiers.kernel_ridge:KernelRidgeClassifier"
    advice = "A fast classifier on the average kernel. On digits it can't be told from kernel_fda."

    kind: Literal["kernel_ridge"]
    alpha: Tuned[Positive] = 1e-3
    """Ridge, relative to the kernel's scale."""


class KernelSVC(FixedCombination, Classifier):
    """A support vector machine on a fixed combination of kernels, one class against one."""

    title = "Kernel SVC"
    reference = "Cortes, Vapnik 1995"
    implementation = "mklearn.classifiers.kernel_svc:KernelSVC"
    advice = "Two classes that overlap, on a single kernel or the average of several."

    kind: Literal["kernel_svc"]
    C: Tuned[Positive] = 10.0
    """In the unit that ``C_scale`` says."""
    C_scale: Literal["variance", "none"] = "variance"
    """C is for a kernel whose variance of the training samples in feature space is 1, or for the kernel as it is."""


class MKLSVC(KernelMethod, Classifier):
    """A support vector machine with kernel weights of the largest margin, one class against the rest."""

    title = "MKL SVC"
    reference = "Bach, Lanckriet, Jordan 2004; Kloft, Brefeld, Sonnenburg, Zien 2011"
    implementation = "mklearn.classifiers.mkl_svc:MKLSVC"
    advice = (
        "To learn weights of the largest margin. In the tables of the LMKL paper no interval to the uniform "
        "average excludes 0."
    )

    kind: Literal["mkl_svc"]
    C: Tuned[Positive] = 10.0
    """For the kernels as they are (kernel_svc with C_scale: none)."""
    p: Tuned[Annotated[float, Field(ge=1)]] = 1.0
    """Norm of the kernel weights: 1 is sparse, larger ones are ever closer to the uniform average."""
    tol: Positive = 1e-5
    """Of the relative duality gap."""
    max_iter: Count = 100
    svm_tol: Positive = 1e-5

    def learns_weights(self) -> bool:
        """Return True."""
        return True


class WeightedSVC(KernelMethod, Classifier):
    """Support vector machines on kernels whose weights another method learns first."""

    C: Tuned[Positive] = 10.0
    """In the unit that ``C_scale`` says."""
    C_scale: Literal["variance", "none"] = "variance"
    """C is for a kernel whose variance of the training samples in feature space is 1, or for the kernel as it is."""

    def learns_weights(self) -> bool:
        """Return True."""
        return True


class ConvexMKLDRSVC(WeightedSVC):
    """A support vector machine on the kernel weights of convex MKL-DR."""

    title = "Convex MKL-DR weights + SVC"
    reference = "Ye, Ji, Chen 2008; Cortes, Vapnik 1995"
    implementation = "mklearn.classifiers.convex_mkl_dr_svc:ConvexMKLDRSVC"
    advice = (
        "Weights of convex_mkl_dr for a support vector machine. In the tables of the LMKL paper no interval to the "
        "uniform average excludes 0."
    )

    kind: Literal["convex_mkl_dr_svc"]
    p: Tuned[Annotated[float, Field(ge=1)]] = 2.0
    """Norm of the kernel weights: 1 is sparse, larger ones are ever closer to the uniform average."""
    denominator: Literal["total", "within"] = "total"
    ridge: Tuned[Positive] = 1e-2
    """On the feature-space norm, relative to the kernels' mean centred trace."""


class EasyMKL(WeightedSVC):
    """A support vector machine on the kernel weights of EasyMKL."""

    title = "EasyMKL"
    reference = "Aiolli, Donini 2015"
    implementation = "mklearn.classifiers.easy_mkl:EasyMKL"
    advice = (
        "Many kernels: one quadratic program gives all weights. In the tables of the LMKL paper no interval to the "
        "uniform average excludes 0."
    )

    kind: Literal["easy_mkl"]
    trade_off: Tuned[Annotated[float, Field(gt=0, le=1)]] = 0.1
    """1 weights kernels by the distance of the class means, small values by that of the classes' convex hulls."""


class LMKLSVC(KernelMethod, Classifier):
    """A support vector machine with kernel weights that a gate gives to each sample, one class against the rest."""

    title = "Localized MKL SVC"
    reference = "Gonen, Alpaydin 2008; gate scale and ridge are this library's own"
    implementation = "mklearn.classifiers.lmkl_svc:LMKLSVC"
    advice = (
        "With gate: sigmoid, gate_scale: average, solver: lbfgs and ridge: [uniform, 0.1, 0.01]. That was above "
        "the uniform average in all six tables of the paper; a Gaussian kernel on 16 x 16 pixels needs no gates "
        "and was about as good."
    )
    inputs: ClassVar[Mapping[str, Input]] = {"kernels": Input("kernels"), "gating": Input("features", field="gating")}

    kind: Literal["lmkl_svc"]
    gating: Slug = "pixels"
    """The descriptor whose features gate the kernels; they are standardised on the training samples."""
    gate: Literal["softmax", "sigmoid"] = "softmax"
    gate_scale: Literal["published", "average"] = "published"
    """With ``average`` untrained gates (V = 0) give the uniform average, so that C means the same for both gates."""
    solver: Literal["line_search", "lbfgs"] = "line_search"
    """The published line search along the normalised gradient, or L-BFGS."""
    ridge: Tuned[Literal["uniform"] | NonNegative] = 0.0
    """On the gate's coefficients; 0 is the published method. ``uniform`` is the limit of a large ridge, the uniform
    average: first in a list, it is chosen unless a gate is better in inner cross-validation."""
    C: Tuned[Positive] = 10.0
    """For the kernels as they are (kernel_svc with C_scale: none)."""
    n_restarts: Annotated[int, Field(ge=0)] = 0
    """Further starts, a diagnostic of spread that chooses nothing."""
    max_iter: Count = 200

    def learns_weights(self) -> bool:
        """Return True."""
        return True


class EmbeddedLinearSVC(FixedCombination, Classifier):
    """A linear support vector machine in the reduced space of a kernel discriminant."""

    title = "Linear SVC in the KFD space"
    reference = "Lin, Liu, Fuh 2008; Fan, Chang, Hsieh, Wang, Lin 2008"
    implementation = "mklearn.classifiers.embedded_linear_svc:EmbeddedLinearSVC"
    advice = "In place of nearest neighbours after a kernel discriminant."

    kind: Literal["embedded_linear_svc"]
    ridge: Tuned[Positive] = 1e-3
    C: Tuned[Positive] = 1.0


class NearestNeighbour(FeatureMethod, Classifier):
    """The nearest neighbour in the features themselves: a baseline for every embedding."""

    title = "1-nearest neighbour"
    reference = "Cover, Hart 1967"
    implementation = "mklearn.classifiers.nearest_neighbours:NearestNeighbours"
    advice = "The baseline of every embedding: what the features say without any learning."

    kind: Literal["nearest_neighbour"]
    n_neighbors: Tuned[Count] = 1
    """Number of neighbours that vote."""


class LedoitWolfLDA(FeatureMethod, Classifier):
    """Pooled covariance with Ledoit-Wolf shrinkage, cosine to the class means."""

    title = "Ledoit-Wolf LDA, cosine class means"
    reference = "Ledoit, Wolf 2004"
    implementation = "mklearn.classifiers.ledoit_wolf_lda:LedoitWolfLDA"
    advice = (
        "Few samples per class and many features; it has no parameter. With two images per person it was above "
        "every method of the papers on faces."
    )

    kind: Literal["ledoit_wolf_lda"]
    rule: NeighbourRule = "cosine"


class ShrinkageLDA(FeatureMethod, Classifier):
    """scikit-learn's discriminant analysis with shrinkage of each class's own covariance."""

    title = "LDA with shrinkage (scikit-learn)"
    reference = "Ledoit, Wolf 2004"
    implementation = "mklearn.classifiers.shrinkage_lda:ShrinkageLDA"
    advice = (
        "Enough samples in each class. Each class shrinks its own covariance: with two samples per class take "
        "ledoit_wolf_lda."
    )

    kind: Literal["shrinkage_lda"]
    solver: Literal["lsqr", "eigen"] = "lsqr"
    shrinkage: Literal["auto"] | Share = "auto"


class LinearSVC(FeatureMethod, Classifier):
    """One-vs-rest linear support vector machine."""

    title = "Linear SVC, one against the rest"
    reference = "Fan, Chang, Hsieh, Wang, Lin 2008"
    implementation = "mklearn.classifiers.linear_svc:linear_svc"
    advice = "A strong baseline on the features of one descriptor."

    kind: Literal["linear_svc"]
    C: Tuned[Positive] = 10.0
    """For features whose mean squared distance between two training samples is 1."""


class LogisticRegression(ConcatenationMethod, Classifier):
    """Multinomial logistic regression on standardised features of several descriptors side by side."""

    title = "Logistic regression"
    reference = "Cox 1958"
    implementation = "mklearn.classifiers.logistic_regression:logistic_regression"
    advice = (
        "Shows what kernels are worth beside all features side by side. On digits it is about two points below the "
        "average kernel."
    )

    kind: Literal["logistic_regression"]
    C: Tuned[Positive] = 1.0
    """Inverse of the ridge penalty, for features of variance 1."""


class StandardisedShrinkageLDA(ConcatenationMethod, Classifier):
    """scikit-learn's LDA with shrinkage on standardised features of several descriptors side by side."""

    title = "LDA with shrinkage, standardised features"
    reference = "Ledoit, Wolf 2004"
    implementation = "mklearn.classifiers.standardised_shrinkage_lda:standardised_shrinkage_lda"
    advice = (
        "Shows what kernels are worth beside all features side by side. On digits it is about two points below the "
        "average kernel."
    )

    kind: Literal["standardised_shrinkage_lda"]
    solver: Literal["lsqr", "eigen"] = "lsqr"
    shrinkage: Tuned[Literal["auto"] | Share] = "auto"


class Majority(ConcatenationMethod, Classifier):
    """The largest class of the training samples for every sample: the rate that others have to beat."""

    title = "Majority class"
    reference = "Witten, Frank, Hall 2011 (ZeroR)"
    implementation = "mklearn.classifiers.majority:MajorityClassifier"
    advice = "Classes that differ in size: the rate that others have to beat."

    kind: Literal["majority"]


class OneVsOneMethod(DescriptorMethod, Classifier):
    """Linear machines on features, one class against one, which scale the features themselves."""

    C: Tuned[Positive] = 1.0
    """For samples of mean squared norm 1 about the mean of two classes, after any whitening."""
    feature_scaling: Literal["minmax", "standard", "none"] = "minmax"
    """Scaling of each feature, fitted on the training samples: to 0..1, to mean 0 and variance 1, or none."""


class FSVMParameters(Strict):
    """What the linear and the kernel F-SVM have in common."""

    power: Tuned[Annotated[float, Field(ge=0, le=0.5)]] = 0.5
    """p of S^-p: 0 is a support vector machine, 0.25 semi-whitening, 0.5 the exact F-SVM."""
    solver: Literal["exact", "alternating"] = "exact"
    """``alternating`` is the published algorithm, from semi-whitened samples; it has no power."""
    rho: Tuned[Positive] = 1.0
    """Changes the alternation with geometric steps only."""
    step: Literal["fixed", "decaying", "geometric", "armijo"] = "decaying"
    """Step lengths of the alternation."""
    step_size: Tuned[Positive] = 0.5
    n_iter: Annotated[int, Field(ge=0)] = 15
    """Steps of the alternation."""


class FSVC(FSVMParameters, OneVsOneMethod):
    """F-SVM, exactly or by its alternation; with another power a support vector machine on whitened samples."""

    title = "F-SVM"
    reference = "Wu, Zuo, Lin, Jia, Zhang 2018"
    implementation = "mklearn.classifiers.fsvc:FSVC"
    advice = (
        "To study F-SVM. On eleven UCI sets it can't be told from a plain machine; with many features it loses "
        "(LFW: 8 points)."
    )

    kind: Literal["fsvc"]


class RMMSVC(OneVsOneMethod):
    """Relative margin machine: outputs of the training samples are bounded."""

    title = "RMM"
    reference = "Shivaswamy, Jebara 2010"
    implementation = "mklearn.classifiers.rmm_svc:RMMSVC"
    advice = "To compare with F-SVM. On UCI sets it is level with a plain machine, at 1.3 times its time."

    kind: Literal["rmm_svc"]
    B: Tuned[Literal["inf"] | Annotated[float, Field(gt=1)]] = 2.0
    """Bound of the outputs; ``inf`` is a support vector machine."""


class RSVMPlus(OneVsOneMethod):
    """Margin and radius of the samples weighted by w, our reconstruction."""

    title = "R-SVM+ (reconstruction)"
    reference = "Do, Kalousis 2013"
    implementation = "mklearn.classifiers.r_svm_plus:RSVMPlus"
    advice = "To compare with F-SVM. On UCI sets it is level with a plain machine, at three times its time."

    kind: Literal["r_svm_plus"]
    lam: Tuned[Positive] = 1.0
    """Weight of the squared radius."""


class RSVMPlusMu(OneVsOneMethod):
    """Feature weights learned from margin and radius, our reconstruction."""

    title = "R-SVM+_mu (reconstruction)"
    reference = "Do, Kalousis 2013"
    implementation = "mklearn.classifiers.r_svm_plus_mu:RSVMPlusMu"
    advice = "To compare with F-SVM. On UCI sets it is level with a plain machine, at ten times its time."

    kind: Literal["r_svm_plus_mu"]
    lam: Tuned[Positive] = 1.0
    """Only C^2 / lam matters."""


class LedoitWolfSVC(OneVsOneMethod):
    """A support vector machine on samples whitened by the shrunk within-class covariance."""

    title = "Ledoit-Wolf whitening and SVC"
    reference = "Ledoit, Wolf 2004"
    implementation = "mklearn.classifiers.ledoit_wolf_svc:LedoitWolfSVC"
    advice = (
        "To compare with F-SVM: whitening that is regularised. On UCI sets it is level with a plain machine, on "
        "LFW 4 points below it."
    )

    kind: Literal["ledoit_wolf_svc"]


class KernelPCAMethod(FixedCombination, Classifier):
    """Linear machines on leading kernel principal components, one class against one."""

    n_components: Tuned[Count | Literal["all"]] = 20
    """Components that are taken, at most as many as there are. A list of numbers is swept: the report shows the
    accuracy at each, and inner cross-validation chooses the best."""
    C: Tuned[Positive] = 1.0
    """For samples of mean squared norm 1 about the mean of two classes, after any whitening."""

    def sizes(self) -> list[int]:
        """Return the numbers of components to sweep; none for a single one, or a list with "all" in it."""
        listed = self.n_components if isinstance(self.n_components, list) else []
        numbers = sorted({size for size in listed if isinstance(size, int)})
        return [] if "all" in listed else numbers

    def parameters(self) -> dict[str, Any]:
        """Return the estimator's parameters, without components that are swept."""
        return _without_components(super().parameters()) if self.sizes() else super().parameters()

    def grid(self) -> dict[str, list[Any]]:
        """Return the candidate values, without components that are swept."""
        return _without_components(super().grid()) if self.sizes() else super().grid()

    def sweep(self) -> Implementation:
        """Return the sweep over numbers of components, whose kernel principal components are computed once."""
        if not self.sizes():
            return super().sweep()
        parameters = {"sizes": self.sizes(), "path": "mklearn.classifiers.kernel_pca_classifier:fit_path"}
        return Implementation(implementation="mklearn.evaluation.sweeps:RefitPredictions", parameters=parameters)

    def component_choice(self) -> Components | None:
        """Return the best: fewer components are another classifier, not a part of the same one."""
        return "best"


def _without_components(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != "n_components"}


class KernelFSVC(FSVMParameters, KernelPCAMethod):
    """F-SVM on kernel principal components; with power 0 and all of them a support vector machine."""

    title = "Kernel F-SVM"
    reference = "Wu, Zuo, Lin, Jia, Zhang 2018"
    implementation = "mklearn.classifiers.kernel_fsvc:KernelFSVC"
    advice = (
        "To study F-SVM with kernels. With 80 components it is below the plain machine on eight of ten sets; with "
        "all of them C has no say."
    )

    kind: Literal["kernel_fsvc"]


class KernelRMMSVC(KernelPCAMethod):
    """Relative margin machine on kernel principal components."""

    title = "Kernel RMM"
    reference = "Shivaswamy, Jebara 2010"
    implementation = "mklearn.classifiers.kernel_rmm_svc:KernelRMMSVC"
    advice = "To compare with kernel_fsvc."

    kind: Literal["kernel_rmm_svc"]
    B: Tuned[Literal["inf"] | Annotated[float, Field(gt=1)]] = 2.0
    """Bound of the outputs; ``inf`` is a support vector machine."""


class KernelRSVMPlus(KernelPCAMethod):
    """R-SVM+, our reconstruction, on kernel principal components."""

    title = "Kernel R-SVM+ (reconstruction)"
    reference = "Do, Kalousis 2013"
    implementation = "mklearn.classifiers.kernel_r_svm_plus:KernelRSVMPlus"
    advice = "To compare with kernel_fsvc."

    kind: Literal["kernel_r_svm_plus"]
    lam: Tuned[Positive] = 1.0
    """Weight of the squared radius."""


class KernelRSVMPlusMu(KernelPCAMethod):
    """R-SVM+_mu, our reconstruction, on kernel principal components."""

    title = "Kernel R-SVM+_mu (reconstruction)"
    reference = "Do, Kalousis 2013"
    implementation = "mklearn.classifiers.kernel_r_svm_plus_mu:KernelRSVMPlusMu"
    advice = "To compare with kernel_fsvc."

    kind: Literal["kernel_r_svm_plus_mu"]
    lam: Tuned[Positive] = 1.0
    """Only C^2 / lam matters."""


METHODS: tuple[type[Method], ...] = (
    KernelVoting,
    KernelSAMME,
    KernelRidge,
    KernelSVC,
    MKLSVC,
    LMKLSVC,
    ConvexMKLDRSVC,
    EasyMKL,
    EmbeddedLinearSVC,
    NearestNeighbour,
    LedoitWolfLDA,
    ShrinkageLDA,
    LinearSVC,
    LogisticRegression,
    StandardisedShrinkageLDA,
    Majority,
    FSVC,
    RMMSVC,
    RSVMPlus,
    RSVMPlusMu,
    LedoitWolfSVC,
    KernelFSVC,
    KernelRMMSVC,
    KernelRSVMPlus,
    KernelRSVMPlusMu,
)
"""The methods of this room that a study can name: a new one adds its line."""
