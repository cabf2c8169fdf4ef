"""Table of the methods that a study can name, one row for each name.

To add a method, add the file of its estimator and a row. The estimator declares its parameters with their valid
values (`mklearn.base.parameters.parameters`) and describes them in its docstring.
"""

from __future__ import annotations

from functools import partial

from mklearn.rows import MethodRow, Part

_features = partial(MethodRow, takes="descriptor")
_margin_machine = partial(_features, scales_features=True)
_embedding = partial(MethodRow, embeds=True)
_feature_embedding = partial(_embedding, takes="descriptor")
_kernel_embedding = partial(_embedding, combines=True)
_mkl_embedding = partial(_embedding, learns_weights=True)
_image_embedding = partial(_embedding, takes="images", refit=True, at_most="image_side", fixed=("n_components",))
_baseline = partial(MethodRow, takes="descriptors")
_trees = partial(_baseline, order_decides=True, in_model_files=False)
_regression_baseline = partial(_baseline, targets=("numbers",))
_regression_trees = partial(_trees, targets=("numbers",))
_survival_baseline = partial(_trees, targets=("survival",))

METHODS: dict[str, MethodRow] = {
    "convex_mkl_dr": _mkl_embedding(
        "mklearn.subspace.convex_mkldr:ConvexMKLDR",
        "Convex MKL-DR",
        reference="Ye, Ji, Chen 2008; Yan, Kittler, Mikolajczyk, Tahir 2012; Vemulapalli, Boda, Chellappa 2014",
        advice="Where learned weights are wanted: the problem has one optimum. On Caltech-101 it was above the "
        "uniform average in all 24 split-roles, by +0.9 [0.6, 1.1] points in ten of them.",
        landmarks=True,
        tuned=("p", "ridge", "max_iter"),
    ),
    "fisherface": _feature_embedding(
        "mklearn.subspace.fisherface:Fisherface",
        "LDA (Fisherface)",
        reference="Belhumeur, Hespanha, Kriegman 1997",
        advice="The LDA column of the papers on faces; its accuracy depends on the scale of the projection's columns. "
        "With few samples per class take ledoit_wolf_lda.",
        tuned=("ridge",),
    ),
    "kernel_lde": _kernel_embedding(
        "mklearn.subspace.kernel_lde:KernelLDE",
        "Kernel local discriminant embedding",
        reference="Chen, Chang, Liu 2005",
        advice="For classes of several clusters: neighbours decide, not class means. Prefer the cosine rule.",
        tuned=("ridge",),
    ),
    "kernel_mmc": _kernel_embedding(
        "mklearn.subspace.kernel_mmc:KernelMMC",
        "Kernel maximum margin criterion",
        reference='Li, Jiang, Zhang 2006; Gu, Zhou 2009, "Multiple kernel maximum margin criterion", equation (13)',
        advice="To reproduce the tables of Gu and Zhou. kernel_fda needs no trade-off between the scatters.",
        tuned=("trade_off",),
    ),
    "kernel_pca": _kernel_embedding(
        "mklearn.subspace.kernel_pca:KernelPCA",
        "Kernel PCA",
        reference="Schoelkopf, Smola, Mueller 1998",
        advice="Without labels, and as a calibration of data and protocol. It discriminates nothing. With all "
        "components every bandwidth of a Gaussian kernel has the same nearest neighbours: choose one with "
        "components: one_standard_error.",
        landmarks=True,
    ),
    "kernel_fda": _kernel_embedding(
        "mklearn.subspace.kfd:KernelFDA",
        "Kernel Fisher discriminant",
        reference="Mika, Raetsch, Weston, Schoelkopf, Mueller 1999",
        advice="The reference of most studies: on the uniform average of the kernels it is hard to beat. For two "
        "classes that overlap, kernel_svc is the better classifier: nearest neighbours follow every training "
        "sample.",
        landmarks=True,
        tuned=("ridge",),
    ),
    "loo_mkl": _mkl_embedding(
        "mklearn.subspace.loo_mkl:LeaveOneOutMKL",
        "Leave-one-out MKL",
        reference="Allen 1974; Ye 2007; the criterion is this library's own",
        advice="Weights from a fast regression: above the average for certain in 5 of 20 settings, at worst 2.5 below.",
        tuned=("regularisation", "shrinkage", "ridge", "max_iter"),
    ),
    "mkl_dr": _mkl_embedding(
        "mklearn.subspace.mkldr:MKLDR",
        "MKL-DR",
        reference="Lin, Liu, Fuh 2008",
        advice="To learn weights as MKL-DR does, solved exactly. Choose the ridge by cross-validation, and compare "
        "with kernel_weights: uniform: the gain over equal weights is seldom larger than its interval. With "
        "graph: lpp or sda the objective hardly depends on the weights, and mostly the equal weights of the start "
        "are returned; with lde and mfa they stay near.",
        landmarks=True,
        tuned=("ridge", "max_iter"),
    ),
    "mmc": _feature_embedding(
        "mklearn.subspace.mmc:MMC",
        "Maximum margin criterion",
        reference="Li, Jiang, Zhang 2003",
        advice="More features than samples, without an inverse or a ridge.",
        tuned=("trade_off",),
    ),
    "null_space_lda": _feature_embedding(
        "mklearn.subspace.null_space_lda:NullSpaceLDA",
        "Null-space LDA",
        reference="Chen, Liao, Ko, Lin, Yu 2000",
        advice="More features than samples: it needs a null space, and maps every training class to a point.",
    ),
    "pca": _feature_embedding(
        "mklearn.subspace.pca:PCA",
        "PCA",
        reference="Turk, Pentland 1991",
        advice="A baseline. With all its components it is the nearest neighbour in the features.",
    ),
    "easy_mkl": MethodRow(
        "mklearn.classifiers.easy_mkl:EasyMKL",
        "EasyMKL",
        reference="Aiolli, Donini 2015",
        advice="Many kernels: one program. On the LMKL paper's data no gain over the average is significant.",
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
    "fsvc": _margin_machine(
        "mklearn.classifiers.fsvc:FSVC",
        "F-SVM",
        reference="Wu, Zuo, Zhu, Lin 2015",
        advice="To study F-SVM. Level with a plain machine on eleven UCI sets; 7 points below it on LFW.",
        tuned=("C", "power", "step_size"),
    ),
    "gaussian_svc": _baseline(
        "mklearn.classifiers.baselines:gaussian_svc",
        "SVC with a Gaussian kernel",
        reference="Cortes, Vapnik 1995",
        advice="Shows what a kernel of each view is worth beside one kernel of all features.",
        tuned=("C", "bandwidth"),
    ),
    "gradient_boosting": _trees(
        "mklearn.classifiers.baselines:gradient_boosting",
        "Gradient boosting",
        reference="Friedman 2001",
        advice="Needs no scaling of the features. Strong on many samples of few features; slow where there are many "
        "classes (a tree for each class and iteration), weak on a few samples of each class.",
        tuned=("learning_rate", "min_samples_leaf", "l2_regularization"),
    ),
    "kernel_pca_classifier": MethodRow(
        "mklearn.classifiers.kernel_pca_classifier:KernelPCAClassifier",
        "Kernel PCA and a linear classifier",
        reference="Wu, Zuo, Zhu, Lin 2015; Schoelkopf, Smola, Mueller 1998",
        advice="To study F-SVM, RMM and R-SVM+ with kernels. With 80 components F-SVM is below the plain machine on "
        "ten of eleven sets; with all of them C has no effect.",
        combines=True,
        tuned=("n_components",),
        parts={"machine": Part(("fsvc", "r_svm_plus", "r_svm_plus_mu", "rmm_svc"), without=("feature_scaling",))},
        refit=True,
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
    "ledoit_wolf_lda": _features(
        "mklearn.classifiers.ledoit_wolf_lda:LedoitWolfLDA",
        "Ledoit-Wolf LDA, cosine class means",
        reference="Ledoit, Wolf 2004",
        advice="Few samples per class and many features; it has no parameter. With two images per person it was above "
        "every method of the papers on faces.",
    ),
    "linear_svc": _features(
        "mklearn.classifiers.baselines:linear_svc",
        "Linear SVC, one against the rest",
        reference="Fan, Chang, Hsieh, Wang, Lin 2008",
        advice="A strong baseline on the features of one descriptor.",
        tuned=("C",),
    ),
    "lmkl_svc": MethodRow(
        "mklearn.classifiers.lmkl_svc:LMKLSVC",
        "Localized MKL SVC",
        reference='Gonen, Alpaydin 2008, "Localized multiple kernel learning"; Gonen, Alpaydin 2009, "Localized '
        'Multiple Kernel Machines for Image Recognition" (sigmoid gates); gate scale and ridge are this '
        "library's own",
        advice="With gate: sigmoid, gate_scale: average, solver: lbfgs and ridge: [uniform, 0.1, 0.01]. That was "
        "above the uniform average in all six settings of the paper, and in two for certain after Holm's "
        "correction; a Gaussian kernel on 16 x 16 pixels needs no gates and was about as good.",
        views={"gating": "pixels"},
        tuned=("ridge", "C"),
        learns_weights=True,
        order_decides=True,
    ),
    "logistic_regression": _baseline(
        "mklearn.classifiers.baselines:logistic_regression",
        "Logistic regression",
        reference="Cox 1958",
        advice="Shows what kernels add to plain features: on digits two points above it.",
        tuned=("C",),
    ),
    "majority": _baseline(
        "mklearn.classifiers.baselines:majority",
        "Majority class",
        reference="Witten, Frank, Hall 2011 (ZeroR)",
        advice="Classes that differ in size: the rate that others have to beat.",
    ),
    "mkl_svc": MethodRow(
        "mklearn.classifiers.mkl_svc:MKLSVC",
        "MKL SVC",
        reference="Bach, Lanckriet, Jordan 2004; Kloft, Brefeld, Sonnenburg, Zien 2011",
        advice="Weights of the largest margin. On the LMKL paper's data no gain over the average is significant.",
        tuned=("C", "p"),
        learns_weights=True,
    ),
    "multi_view": MethodRow(
        "mklearn.classifiers.multi_view:MultiViewClassifier",
        "Multi-view classifier",
        reference="Allen 1974; the combination is this library's own",
        advice="Start with it: closed-form leave-one-out chooses scalings, kernels, weights and ridge.",
        fixed=("missing_views", "impute"),
        takes="dictionary",
        tuned=("n_kernels", "learned", "landmarks"),
    ),
    "nearest_neighbour": _features(
        "mklearn.classifiers.baselines:NearestNeighbours",
        "1-nearest neighbour",
        reference="Cover, Hart 1967",
        advice="The baseline of every embedding: what the features say without any learning.",
        tuned=("n_neighbors",),
        defaults={"n_neighbors": 1},
    ),
    "random_forest": _trees(
        "mklearn.classifiers.baselines:random_forest",
        "Random forest",
        reference="Breiman 2001",
        advice="Needs no scaling of the features; a strong baseline where few of many features matter.",
        tuned=("max_features", "min_samples_leaf"),
    ),
    "shrinkage_lda": _features(
        "mklearn.classifiers.baselines:ShrinkageLDA",
        "LDA with shrinkage (scikit-learn)",
        reference="Ledoit, Wolf 2004",
        advice="Each class shrinks its own covariance: take ledoit_wolf_lda for few samples per class.",
        defaults={"solver": "lsqr", "shrinkage": "auto"},
    ),
    "stacking": MethodRow(
        "mklearn.classifiers.stacking_svc:StackingSVC",
        "Stacked SVCs (late fusion)",
        reference="Wolpert 1992; Ting, Witten 1999",
        advice="Late fusion to compare with: an SVC on each kernel, and logistic regression on their probabilities.",
        tuned=("C",),
    ),
    "standardised_shrinkage_lda": _baseline(
        "mklearn.classifiers.baselines:standardised_shrinkage_lda",
        "LDA with shrinkage, standardised features",
        reference="Ledoit, Wolf 2004",
        advice="Shows what kernels add to plain features: on digits one to two points above it.",
        tuned=("shrinkage",),
    ),
    "elastic_net": _regression_baseline(
        "mklearn.regressors.baselines:elastic_net",
        "Elastic net",
        reference="Zou, Hastie 2005",
        advice="Many features of which few matter.",
        tuned=("alpha", "l1_ratio"),
        order_decides=True,
    ),
    "gradient_boosting_regressor": _regression_trees(
        "mklearn.regressors.baselines:gradient_boosting_regressor",
        "Gradient boosting",
        reference="Friedman 2001; Ke et al. 2017",
        advice="Many samples of few features; slow where features are thousands.",
        tuned=("learning_rate",),
    ),
    "kernel_ridge_regressor": MethodRow(
        "mklearn.regressors.kernel_ridge:KernelRidge",
        "Kernel ridge regression",
        reference="Saunders, Gammerman, Vovk 1998",
        advice="The average of kernels of your choice, or the best one; closed-form leave-one-out chooses the ridge.",
        combines=True,
        fixed=("shrinkage",),
        targets=("numbers",),
    ),
    "mean_regressor": _regression_baseline(
        "mklearn.regressors.baselines:mean_regressor",
        "Mean of the training samples",
        reference="Witten, Frank, Hall 2011 (ZeroR)",
        advice="The error that others have to beat: its R² is 0 or a little below.",
    ),
    "multi_view_regressor": MethodRow(
        "mklearn.regressors.multi_view:MultiViewRegressor",
        "Multi-view regression",
        reference="Allen 1974; Dupre la Tour et al. 2022; the combination is this library's own",
        advice="Start with it: closed-form leave-one-out chooses scalings, kernels, weights and ridge.",
        fixed=("missing_views", "impute"),
        takes="dictionary",
        tuned=("n_kernels", "learned", "landmarks"),
        targets=("numbers",),
    ),
    "random_forest_regressor": _regression_trees(
        "mklearn.regressors.baselines:random_forest_regressor",
        "Random forest",
        reference="Breiman 2001",
        advice="A baseline that needs no scaling and finds interactions.",
    ),
    "ridge": _regression_baseline(
        "mklearn.regressors.baselines:ridge",
        "Ridge regression",
        reference="Hoerl, Kennard 1970; Golub, Heath, Wahba 1979",
        advice="Shows what kernels add to plain features.",
    ),
    "cox_elastic_net": _survival_baseline(
        "mklearn.survival.baselines:cox_elastic_net",
        "Cox model, elastic net",
        reference="Cox 1972; Simon, Friedman, Hastie, Tibshirani 2011",
        advice="Many features of which few matter.",
        tuned=("alpha", "l1_ratio"),
    ),
    "cox_ridge": _survival_baseline(
        "mklearn.survival.baselines:cox_ridge",
        "Cox model, ridge",
        reference="Cox 1972; Verweij, Van Houwelingen 1994",
        advice="With the clinical view alone it is the baseline that many methods do not reach.",
        tuned=("alpha",),
    ),
    "kaplan_meier": MethodRow(
        "mklearn.survival.baselines:KaplanMeierSurvival",
        "Kaplan-Meier",
        reference="Kaplan, Meier 1958",
        advice="The same curve for every sample: C is 0.5, and its Brier score is the one to beat.",
        takes="descriptors",
        targets=("survival",),
    ),
    "multi_view_survival": MethodRow(
        "mklearn.survival.multi_view:MultiViewSurvival",
        "Multi-view survival",
        reference="Andersen, Hansen, Klein 2004; Andersen, Perme 2010; the combination is this library's own",
        advice="Start with it: regression of pseudo-observations on a dictionary of kernels of every view.",
        fixed=("missing_views", "impute"),
        takes="dictionary",
        tuned=("n_kernels", "learned", "landmarks"),
        targets=("survival",),
    ),
    "random_survival_forest": _survival_baseline(
        "mklearn.survival.baselines:random_survival_forest",
        "Random survival forest",
        reference="Ishwaran, Kogalur, Blackstone, Lauer 2008",
        advice="A baseline that needs no scaling and finds interactions; slow with thousands of features.",
        tuned=("min_samples_leaf",),
    ),
    "r_svm_plus": _margin_machine(
        "mklearn.papers.fsvm.machines:RSVMPlus",
        "R-SVM+ (reconstruction)",
        reference="Do, Kalousis 2013",
        advice="To compare with F-SVM. On UCI sets it is level with a plain machine, at three times its time.",
        tuned=("C", "lam"),
    ),
    "r_svm_plus_mu": _margin_machine(
        "mklearn.papers.fsvm.machines:RSVMPlusMu",
        "R-SVM+_mu (reconstruction)",
        reference="Do, Kalousis 2013",
        advice="To compare with F-SVM. On UCI sets it is level with a plain machine, at eight times its time.",
        tuned=("C", "lam"),
    ),
    "rmm_svc": _margin_machine(
        "mklearn.papers.fsvm.machines:RMMSVC",
        "RMM",
        reference="Shivaswamy, Jebara 2010",
        advice="To compare with F-SVM. On UCI sets it is level with a plain machine, in the same time.",
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
    "mkmmc": _mkl_embedding(
        "mklearn.papers.mkmmc.mkmmc:MKMMC",
        "MKMMC",
        reference='Gu, Zhou 2009, "Multiple kernel maximum margin criterion"',
        advice="To reproduce the paper. It selects one kernel; significantly above the average in one of nine cells.",
        tuned=("max_iter",),
        refit=True,
        at_most="n_classes",
    ),
    "glram": _image_embedding(
        "mklearn.papers.two_d_mmc.glram:GLRAM",
        "GLRAM",
        reference="Ye 2005",
        advice="Compression of images without labels; the unsupervised baseline of 2DMMC.",
    ),
    "two_d_lda": _image_embedding(
        "mklearn.papers.two_d_mmc.two_d_lda:TwoDLDA",
        "2DLDA",
        reference="Ye, Janardan, Li 2004",
        advice="To reproduce the tables of 2DMMC. It depends on a ridge and a scale that its paper does not state.",
    ),
    "two_d_mmc": _image_embedding(
        "mklearn.papers.two_d_mmc.two_d_mmc:TwoDMMC",
        "2DMMC",
        reference='Gu, Zhou 2009, "Two dimensional maximum margin criterion"',
        advice="To reproduce the paper. It is level with mmc on the same pixels, below ledoit_wolf_lda everywhere.",
        tuned=("trade_off",),
    ),
}
