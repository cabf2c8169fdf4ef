"""The methods that a study can name, one row a name.

A new method is the file of its estimator and a row. Its parameters, their valid values and their texts stand with the
estimator: in ``__init__``, ``_parameter_constraints`` and the docstring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mklearn.rows import Row


@dataclass(frozen=True)
class Refit:
    """Fits for each of several numbers of components, where these do not follow from one fit."""

    path: str | None = None
    """``module:function`` that fits all of them and does their common work once; None: they are fitted one by one."""
    at_most: str = ""
    """What limits the number of components, see :class:`mklearn.study.specs.fit_spec.RefitSpec`."""


@dataclass(frozen=True)
class Part:
    """A parameter that is an estimator itself: the kinds that it can be, and their parameters that the method sets."""

    kinds: Sequence[str]
    without: Sequence[str] = ()


@dataclass(frozen=True)
class MethodRow(Row):
    """What a study needs to know of a method."""

    takes: Literal["kernels", "dictionary", "descriptor", "descriptors", "images"] = "kernels"
    """What it learns from: kernels of the study; unless a study names kernels for it, a dictionary of kernels of every
    descriptor (`mklearn.kernels.dictionary`); features of one descriptor, or of several side by side; or images."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Parameters that name a descriptor which it takes beside that, with the default; "" if a study has to name one."""
    embeds: bool = False
    """Whether it is an embedding, whose components are swept; else it predicts labels or numbers itself."""
    combines: bool = False
    """Whether it takes one kernel or a fixed combination, which the study's ``kernel_weights`` chooses."""
    landmarks: bool = False
    """Whether it can learn from landmarks."""
    scales_features: bool = False
    """Whether its own parameter ``feature_scaling`` scales its features."""
    tuned: Sequence[str] = ()
    """Parameters of which a study can give a list: inner cross-validation chooses from it. Candidates are tried in the
    order of the first parameter's values, then of the next one's; of equally good ones the first is chosen."""
    parts: Mapping[str, Part] = field(default_factory=dict)
    fixed: Sequence[str] = ()
    """Parameters that a study can't set, beside those of every method."""
    targets: Sequence[str] = ("classes",)
    """The kinds of target that it predicts: "classes", "numbers"."""
    learns_weights: bool = False
    """Whether it learns kernel weights: a report then says whether they paid."""
    refit: Refit | None = None
    """How it is fitted for several numbers of components, if these do not follow from one fit."""
    order_decides: bool = False
    """Whether the order of its kernels, or of the descriptors whose features are side by side, changes more than
    rounding: as the first of equals, or by what is drawn for each. A study then keeps the order that it gives."""
    in_model_files: bool = True
    """Whether a model file can hold it: not trees, whose arrays scikit-learn reads without a look at their indices."""
    convex_solver: bool = False
    """Whether its parameter ``solver`` names a convex solver, which may need a licence."""


METHODS: dict[str, MethodRow] = {
    "convex_mkl_dr": MethodRow(
        "mklearn.subspace.convex_mkldr:ConvexMKLDR",
        "Convex MKL-DR",
        reference="Ye, Ji, Chen 2008; Yan, Kittler, Mikolajczyk, Tahir 2012; Vemulapalli, Boda, Chellappa 2014",
        advice=(
            "Where learned weights are wanted: the problem has one optimum. On Caltech-101 it was above the "
            "uniform average in all 16 split-roles, by +1.0 [0.7, 1.2] points in ten of them."
        ),
        embeds=True,
        landmarks=True,
        tuned=("p", "ridge", "max_iter"),
        learns_weights=True,
    ),
    "fisherface": MethodRow(
        "mklearn.subspace.fisherface:Fisherface",
        "LDA (Fisherface)",
        reference="Belhumeur, Hespanha, Kriegman 1997",
        advice=(
            "The LDA column of the papers on faces; its accuracy depends on the scale of the projection's columns. "
            "With few samples per class take ledoit_wolf_lda."
        ),
        takes="descriptor",
        embeds=True,
        tuned=("ridge",),
    ),
    "kernel_lde": MethodRow(
        "mklearn.subspace.kernel_lde:KernelLDE",
        "Kernel local discriminant embedding",
        reference="Chen, Chang, Liu 2005",
        advice=(
            "For classes that are several clusters: neighbours decide, not class means. Take the cosine rule; by "
            "the Euclidean one it can fall far behind."
        ),
        embeds=True,
        combines=True,
        tuned=("ridge",),
    ),
    "kernel_mmc": MethodRow(
        "mklearn.subspace.kernel_mmc:KernelMMC",
        "Kernel maximum margin criterion",
        reference='Li, Jiang, Zhang 2006; Gu, Zhou 2009, "Multiple kernel maximum margin criterion", equation (13)',
        advice="To reproduce the tables of Gu and Zhou. kernel_fda needs no trade-off between the scatters.",
        embeds=True,
        combines=True,
        tuned=("trade_off",),
    ),
    "kernel_pca": MethodRow(
        "mklearn.subspace.kernel_pca:KernelPCA",
        "Kernel PCA",
        reference="Schoelkopf, Smola, Mueller 1998",
        advice=(
            "Without labels, and as a calibration of data and protocol. It discriminates nothing. With all "
            "components every bandwidth of a Gaussian kernel has the same nearest neighbours: choose one with "
            "components: one_standard_error."
        ),
        embeds=True,
        combines=True,
        landmarks=True,
    ),
    "kernel_fda": MethodRow(
        "mklearn.subspace.kfd:KernelFDA",
        "Kernel Fisher discriminant",
        reference="Mika, Raetsch, Weston, Schoelkopf, Mueller 1999",
        advice=(
            "The reference of most studies: on the uniform average of the kernels it is hard to beat. For two "
            "classes that overlap, kernel_svc is the better classifier: nearest neighbours follow every training "
            "sample."
        ),
        embeds=True,
        combines=True,
        landmarks=True,
        tuned=("ridge",),
    ),
    "loo_mkl": MethodRow(
        "mklearn.subspace.loo_mkl:LeaveOneOutMKL",
        "Leave-one-out MKL",
        reference="Allen 1974; Ye 2007; the criterion is this library's own",
        advice=(
            "Weights from a fast regression. It won four of 20 published settings for certain, and was 2.5 points "
            "below the average at worst."
        ),
        embeds=True,
        tuned=("regularisation", "shrinkage", "ridge", "max_iter"),
        learns_weights=True,
    ),
    "mkl_dr": MethodRow(
        "mklearn.subspace.mkldr:MKLDR",
        "MKL-DR",
        reference="Lin, Liu, Fuh 2008",
        advice=(
            "To learn weights as MKL-DR does, solved exactly. Choose the ridge by cross-validation, and compare "
            "with kernel_weights: uniform: the gain over equal weights is seldom larger than its interval. With "
            "graph: lpp the objective hardly depends on the weights, and mostly the equal weights of the start are "
            "returned."
        ),
        embeds=True,
        landmarks=True,
        tuned=("ridge", "max_iter"),
        learns_weights=True,
        convex_solver=True,
    ),
    "mmc": MethodRow(
        "mklearn.subspace.mmc:MMC",
        "Maximum margin criterion",
        reference="Li, Jiang, Zhang 2003",
        advice="More features than samples, without an inverse or a ridge.",
        takes="descriptor",
        embeds=True,
        tuned=("trade_off",),
    ),
    "null_space_lda": MethodRow(
        "mklearn.subspace.null_space_lda:NullSpaceLDA",
        "Null-space LDA",
        reference="Chen, Liao, Ko, Lin, Yu 2000",
        advice="More features than samples: it needs a null space, and maps every training class to a point.",
        takes="descriptor",
        embeds=True,
    ),
    "pca": MethodRow(
        "mklearn.subspace.pca:PCA",
        "PCA",
        reference="Turk, Pentland 1991",
        advice="A baseline. With all its components it is the nearest neighbour in the features.",
        takes="descriptor",
        embeds=True,
    ),
    "easy_mkl": MethodRow(
        "mklearn.classifiers.easy_mkl:EasyMKL",
        "EasyMKL",
        reference="Aiolli, Donini 2015",
        advice=(
            "Many kernels: one quadratic program gives all weights. In the tables of the LMKL paper no interval to "
            "the uniform average excludes 0."
        ),
        tuned=("C", "trade_off"),
        learns_weights=True,
    ),
    "embedded_linear_svc": MethodRow(
        "mklearn.classifiers.embedded_linear_svc:EmbeddedLinearSVC",
        "Linear SVC in the KFD space",
        reference="Lin, Liu, Fuh 2008; Fan, Chang, Hsieh, Wang, Lin 2008",
        advice="In place of nearest neighbours after a kernel discriminant.",
        combines=True,
        tuned=("ridge", "C"),
    ),
    "fsvc": MethodRow(
        "mklearn.classifiers.fsvc:FSVC",
        "F-SVM",
        reference="Wu, Zuo, Zhu, Lin 2015",
        advice=(
            "To study F-SVM. On eleven UCI sets it can't be told from a plain machine; with many features it loses "
            "(LFW: 7 points)."
        ),
        takes="descriptor",
        scales_features=True,
        tuned=("C", "power", "step_size"),
    ),
    "gaussian_svc": MethodRow(
        "mklearn.classifiers.baselines:gaussian_svc",
        "SVC with a Gaussian kernel",
        reference="Cortes, Vapnik 1995",
        advice="Shows what a kernel of each view is worth beside one kernel of all features.",
        takes="descriptors",
        tuned=("C", "bandwidth"),
    ),
    "gradient_boosting": MethodRow(
        "mklearn.classifiers.baselines:gradient_boosting",
        "Gradient boosting",
        reference="Friedman 2001",
        advice=(
            "Needs no scaling of the features. Strong on many samples of few features; slow where there are many "
            "classes (a tree for each class and iteration), weak on a few samples of each class."
        ),
        takes="descriptors",
        tuned=("learning_rate", "min_samples_leaf", "l2_regularization"),
        order_decides=True,
        in_model_files=False,
    ),
    "kernel_pca_classifier": MethodRow(
        "mklearn.classifiers.kernel_pca_classifier:KernelPCAClassifier",
        "Kernel PCA and a linear classifier",
        reference="Wu, Zuo, Zhu, Lin 2015; Schoelkopf, Smola, Mueller 1998",
        advice=(
            "To study F-SVM, RMM and R-SVM+ with kernels. With 80 components F-SVM is below the plain machine on "
            "ten of eleven sets; with all of them C has no say."
        ),
        combines=True,
        tuned=("n_components",),
        parts={"machine": Part(("fsvc", "r_svm_plus", "r_svm_plus_mu", "rmm_svc"), without=("feature_scaling",))},
        refit=Refit("mklearn.classifiers.kernel_pca_classifier:fit_path"),
    ),
    "kernel_ridge": MethodRow(
        "mklearn.classifiers.kernel_ridge:KernelRidgeClassifier",
        "Kernel ridge classification",
        reference="Saunders, Gammerman, Vovk 1998",
        advice="A fast classifier on the average kernel. On digits it can't be told from kernel_fda.",
        combines=True,
        landmarks=True,
        tuned=("alpha",),
    ),
    "kernel_svc": MethodRow(
        "mklearn.classifiers.kernel_svc:KernelSVC",
        "Kernel SVC",
        reference="Cortes, Vapnik 1995",
        advice="Two classes that overlap, on a single kernel or the average of several.",
        combines=True,
        tuned=("C",),
    ),
    "ledoit_wolf_lda": MethodRow(
        "mklearn.classifiers.ledoit_wolf_lda:LedoitWolfLDA",
        "Ledoit-Wolf LDA, cosine class means",
        reference="Ledoit, Wolf 2004",
        advice=(
            "Few samples per class and many features; it has no parameter. With two images per person it was above "
            "every method of the papers on faces."
        ),
        takes="descriptor",
    ),
    "linear_svc": MethodRow(
        "mklearn.classifiers.baselines:linear_svc",
        "Linear SVC, one against the rest",
        reference="Fan, Chang, Hsieh, Wang, Lin 2008",
        advice="A strong baseline on the features of one descriptor.",
        takes="descriptor",
        tuned=("C",),
    ),
    "lmkl_svc": MethodRow(
        "mklearn.classifiers.lmkl_svc:LMKLSVC",
        "Localized MKL SVC",
        reference=(
            'Gonen, Alpaydin 2008, "Localized multiple kernel learning"; Gonen, Alpaydin 2009, "Localized '
            'Multiple Kernel Machines for Image Recognition" (sigmoid gates); gate scale and ridge are this '
            "library's own"
        ),
        advice=(
            "With gate: sigmoid, gate_scale: average, solver: lbfgs and ridge: [uniform, 0.1, 0.01]. That was "
            "above the uniform average in all six settings of the paper, and in none for certain after Holm's "
            "correction; a Gaussian kernel on 16 x 16 pixels needs no gates and was about as good."
        ),
        views={"gating": "pixels"},
        tuned=("ridge", "C"),
        learns_weights=True,
        order_decides=True,
    ),
    "logistic_regression": MethodRow(
        "mklearn.classifiers.baselines:logistic_regression",
        "Logistic regression",
        reference="Cox 1958",
        advice=(
            "Shows what kernels are worth beside all features side by side. On digits it is about two points below "
            "the average kernel."
        ),
        takes="descriptors",
        tuned=("C",),
    ),
    "majority": MethodRow(
        "mklearn.classifiers.baselines:MajorityClassifier",
        "Majority class",
        reference="Witten, Frank, Hall 2011 (ZeroR)",
        advice="Classes that differ in size: the rate that others have to beat.",
        takes="descriptors",
    ),
    "mkl_svc": MethodRow(
        "mklearn.classifiers.mkl_svc:MKLSVC",
        "MKL SVC",
        reference="Bach, Lanckriet, Jordan 2004; Kloft, Brefeld, Sonnenburg, Zien 2011",
        advice=(
            "To learn weights of the largest margin. In the tables of the LMKL paper no interval to the uniform "
            "average excludes 0."
        ),
        tuned=("C", "p"),
        learns_weights=True,
    ),
    "multi_view": MethodRow(
        "mklearn.classifiers.multi_view:MultiViewClassifier",
        "Multi-view classifier",
        reference="Allen 1974; the combination is this library's own",
        advice=(
            "The one to start with: it chooses scalings, kernels, weights and ridge by closed-form leave-one-out, "
            "without inner cross-validation."
        ),
        fixed=("missing_views", "impute", "memory"),
        takes="dictionary",
        tuned=("n_kernels",),
    ),
    "nearest_neighbour": MethodRow(
        "mklearn.classifiers.baselines:NearestNeighbours",
        "1-nearest neighbour",
        reference="Cover, Hart 1967",
        advice="The baseline of every embedding: what the features say without any learning.",
        takes="descriptor",
        tuned=("n_neighbors",),
        defaults={"n_neighbors": 1},
    ),
    "random_forest": MethodRow(
        "mklearn.classifiers.baselines:random_forest",
        "Random forest",
        reference="Breiman 2001",
        advice="Needs no scaling of the features; a strong baseline where few of many features matter.",
        takes="descriptors",
        tuned=("max_features", "min_samples_leaf"),
        order_decides=True,
        in_model_files=False,
    ),
    "shrinkage_lda": MethodRow(
        "mklearn.classifiers.baselines:ShrinkageLDA",
        "LDA with shrinkage (scikit-learn)",
        reference="Ledoit, Wolf 2004",
        advice=(
            "Enough samples in each class. Each class shrinks its own covariance: with two samples per class take "
            "ledoit_wolf_lda."
        ),
        takes="descriptor",
        defaults={"solver": "lsqr", "shrinkage": "auto"},
    ),
    "standardised_shrinkage_lda": MethodRow(
        "mklearn.classifiers.baselines:standardised_shrinkage_lda",
        "LDA with shrinkage, standardised features",
        reference="Ledoit, Wolf 2004",
        advice=(
            "Shows what kernels are worth beside all features side by side. On digits it is about two points below "
            "the average kernel."
        ),
        takes="descriptors",
        tuned=("shrinkage",),
    ),
    "elastic_net": MethodRow(
        "mklearn.regressors.baselines:elastic_net",
        "Elastic net",
        reference="Zou, Hastie 2005",
        advice="Many features of which few matter.",
        takes="descriptors",
        tuned=("alpha", "l1_ratio"),
        targets=("numbers",),
        order_decides=True,
    ),
    "gradient_boosting_regressor": MethodRow(
        "mklearn.regressors.baselines:gradient_boosting_regressor",
        "Gradient boosting",
        reference="Friedman 2001; Ke et al. 2017",
        advice="Many samples of few features; slow where features are thousands.",
        takes="descriptors",
        tuned=("learning_rate",),
        targets=("numbers",),
        order_decides=True,
        in_model_files=False,
    ),
    "kernel_ridge_regressor": MethodRow(
        "mklearn.regressors.kernel_ridge:KernelRidge",
        "Kernel ridge regression",
        reference="Saunders, Gammerman, Vovk 1998",
        advice="Kernels and weights of your own choice; the ridge is chosen by closed-form leave-one-out.",
        combines=True,
        landmarks=True,
        targets=("numbers",),
    ),
    "mean_regressor": MethodRow(
        "mklearn.regressors.baselines:mean_regressor",
        "Mean of the training samples",
        reference="Witten, Frank, Hall 2011 (ZeroR)",
        advice="The error that others have to beat: its R² is 0 or a little below.",
        takes="descriptors",
        targets=("numbers",),
    ),
    "multi_view_regressor": MethodRow(
        "mklearn.regressors.multi_view:MultiViewRegressor",
        "Multi-view regression",
        reference="Allen 1974; Dupre la Tour et al. 2022; the combination is this library's own",
        advice=(
            "The one to start with where numbers are predicted: it chooses scalings, kernels, weights and ridge by "
            "closed-form leave-one-out, without inner cross-validation."
        ),
        fixed=("missing_views", "impute", "memory"),
        takes="dictionary",
        tuned=("n_kernels",),
        targets=("numbers",),
    ),
    "random_forest_regressor": MethodRow(
        "mklearn.regressors.baselines:random_forest_regressor",
        "Random forest",
        reference="Breiman 2001",
        advice="A baseline that needs no scaling and finds interactions.",
        takes="descriptors",
        targets=("numbers",),
        order_decides=True,
        in_model_files=False,
    ),
    "ridge": MethodRow(
        "mklearn.regressors.baselines:ridge",
        "Ridge regression",
        reference="Hoerl, Kennard 1970; Golub, Heath, Wahba 1979",
        advice="Shows what kernels are worth beside all features side by side.",
        takes="descriptors",
        targets=("numbers",),
    ),
    "r_svm_plus": MethodRow(
        "mklearn.papers.fsvm.machines:RSVMPlus",
        "R-SVM+ (reconstruction)",
        reference="Do, Kalousis 2013",
        advice="To compare with F-SVM. On UCI sets it is level with a plain machine, at three times its time.",
        takes="descriptor",
        scales_features=True,
        tuned=("C", "lam"),
    ),
    "r_svm_plus_mu": MethodRow(
        "mklearn.papers.fsvm.machines:RSVMPlusMu",
        "R-SVM+_mu (reconstruction)",
        reference="Do, Kalousis 2013",
        advice="To compare with F-SVM. On UCI sets it is level with a plain machine, at seven times its time.",
        takes="descriptor",
        scales_features=True,
        tuned=("C", "lam"),
    ),
    "rmm_svc": MethodRow(
        "mklearn.papers.fsvm.machines:RMMSVC",
        "RMM",
        reference="Shivaswamy, Jebara 2010",
        advice="To compare with F-SVM. On UCI sets it is level with a plain machine, at 1.1 times its time.",
        takes="descriptor",
        scales_features=True,
        tuned=("C", "B"),
    ),
    "kernel_samme": MethodRow(
        "mklearn.papers.mkl_dr.kernel_ensembles:KernelSAMME",
        "SAMME over kernels",
        reference="Zhu, Zou, Rosset, Hastie 2009; Lin, Liu, Fuh 2008, section 4.4",
        advice="A baseline of the MKL-DR paper. On Caltech-101 it is below voting.",
        tuned=("ridge",),
        order_decides=True,
        fixed=("max_iter",),
    ),
    "kernel_voting": MethodRow(
        "mklearn.papers.mkl_dr.kernel_ensembles:KernelVoting",
        "Voting over kernels",
        reference="Lin, Liu, Fuh 2008, section 4.4",
        advice="A baseline of the MKL-DR paper. On Caltech-101 it is below the uniform average of the same kernels.",
        tuned=("ridge",),
    ),
    "mkmmc": MethodRow(
        "mklearn.papers.mkmmc.mkmmc:MKMMC",
        "MKMMC",
        reference='Gu, Zhou 2009, "Multiple kernel maximum margin criterion"',
        advice=(
            "To reproduce the paper. It selects one kernel, by its scale, and was above the uniform average for "
            "certain in one of nine published settings."
        ),
        embeds=True,
        tuned=("max_iter",),
        learns_weights=True,
        refit=Refit("mklearn.papers.mkmmc.mkmmc:fit_path", at_most="n_classes"),
    ),
    "glram": MethodRow(
        "mklearn.papers.two_d_mmc.glram:GLRAM",
        "GLRAM",
        reference="Ye 2005",
        advice="Compression of images without labels; the unsupervised baseline of 2DMMC.",
        takes="images",
        embeds=True,
        refit=Refit(at_most="image_side"),
        fixed=("n_components", "shape", "init"),
    ),
    "two_d_lda": MethodRow(
        "mklearn.papers.two_d_mmc.two_d_lda:TwoDLDA",
        "2DLDA",
        reference="Ye, Janardan, Li 2004",
        advice="To reproduce the tables of 2DMMC. It depends on a ridge and a scale that its paper does not state.",
        takes="images",
        embeds=True,
        refit=Refit(at_most="image_side"),
        fixed=("n_components", "shape", "init"),
    ),
    "two_d_mmc": MethodRow(
        "mklearn.papers.two_d_mmc.two_d_mmc:TwoDMMC",
        "2DMMC",
        reference='Gu, Zhou 2009, "Two dimensional maximum margin criterion"',
        advice=(
            "To reproduce the paper. It can't be told from mmc on the same pixels; ledoit_wolf_lda is above it in "
            "every cell."
        ),
        takes="images",
        embeds=True,
        tuned=("trade_off",),
        refit=Refit(at_most="image_side"),
        fixed=("n_components", "shape", "init"),
    ),
}
