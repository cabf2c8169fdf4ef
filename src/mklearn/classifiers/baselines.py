"""Baseline classifiers on features: scikit-learn's, with scaled features and the errors of this package."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from mklearn.base.fit_context import aligned
from mklearn.base.parameters import ClassWeight, Nonnegative, Positive, PositiveInt, Share, at_least, constrained
from mklearn.classifiers.kernel_svc import KernelSVC
from mklearn.errors import NotApplicable
from mklearn.kernels.feature_scaling import StandardScaler, constant_features

UNSHRUNK = (
    "scikit-learn shrinks the covariance of each class, and with two samples per class the Ledoit-Wolf estimate of the "
    "shrinkage is 0: the pooled covariance stays singular; give more samples per class or shrinkage as a number, or "
    "use ledoit_wolf_lda, which pools before shrinking"
)
MOST_FEATURES = 4096


def majority() -> DummyClassifier:
    """Build a classifier that always predicts the largest training class; of equally large ones the first, sorted."""
    return DummyClassifier()


@constrained()
def linear_svc(C: Positive = 10.0) -> Pipeline:
    """Build a one-vs-rest linear SVM on features scaled to unit spread.

    Parameters
    ----------
    C : float
        Penalty as in :class:`sklearn.svm.LinearSVC` (squared hinge loss). Features are scaled so that two training
        samples have a root mean squared distance of 1; the same C then suits pixels of 0..255 and of 0..1.
    """
    return make_pipeline(UnitSpread(), LinearSVC(C=C, random_state=0, max_iter=10_000))


@constrained()
def gaussian_svc(C: Positive = 10.0, bandwidth: Positive = 1.0) -> Pipeline:
    """Build support vector machines on the Gaussian kernel of features of mean 0 and variance 1.

    Every feature counts the same, so a descriptor with more features counts more than one with fewer.

    Parameters
    ----------
    C : float
        Penalty as in `mklearn.classifiers.KernelSVC`, for a kernel of unit variance.
    bandwidth : float
        Bandwidth as a multiple of the mean squared distance between training samples.
    """
    return make_pipeline(StandardScaler(), KernelSVC(kernels=[{"kind": "gaussian", "bandwidth": bandwidth}], C=C))


@constrained()
def logistic_regression(C: Positive = 1.0, class_weight: ClassWeight = None) -> Pipeline:
    """Build multinomial logistic regression on features of mean 0 and variance 1.

    Every feature counts the same, so a descriptor with more features counts more than one with fewer.

    Parameters
    ----------
    C : float
        Inverse of the ridge penalty, as in :class:`sklearn.linear_model.LogisticRegression`.
    class_weight : None, "balanced" or dict
        Weights of the classes, by label; "balanced" gives all classes the same total weight.
    """
    return make_pipeline(StandardScaler(), LogisticRegression(C=C, class_weight=class_weight, max_iter=10_000))


@constrained()
def standardised_shrinkage_lda(
    solver: Literal["lsqr", "eigen"] = "lsqr", shrinkage: Literal["auto"] | Share = "auto"
) -> Pipeline:
    """Build linear discriminant analysis with shrinkage on features of mean 0 and variance 1.

    Parameters
    ----------
    solver, shrinkage
        As in :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`. With "auto" scikit-learn also scales
        the features within each class, so that the outer scaling changes little; a number shrinks towards a multiple of
        the identity, which is meaningful only for features of one scale.
    """
    return make_pipeline(StandardScaler(), ShrinkageLDA(solver=solver, shrinkage=shrinkage))


@constrained()
def random_forest(
    n_estimators: PositiveInt = 300, max_features: Literal["sqrt", "log2"] | Share = "sqrt",
    min_samples_leaf: PositiveInt = 1, random_state: int = 0,
) -> RandomForestClassifier:  # fmt: skip
    """Build a random forest, as in :class:`sklearn.ensemble.RandomForestClassifier`.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    max_features : {"sqrt", "log2"} or float
        Number of features tried at each split: the square root or the logarithm of their number, or a share.
    min_samples_leaf : int
        Smallest number of training samples in a leaf.
    random_state : int
        Seed of the draws.
    """
    return RandomForestClassifier(
        n_estimators, max_features=max_features, min_samples_leaf=min_samples_leaf, random_state=random_state, n_jobs=1
    )


@constrained()
def gradient_boosting(
    max_iter: PositiveInt = 100,
    learning_rate: Positive = 0.1,
    max_leaf_nodes: Annotated[int, at_least(2)] = 31,
    min_samples_leaf: PositiveInt = 5,
    l2_regularization: Nonnegative = 0.0,
    max_features: Share = 1.0,
    random_state: int = 0,
) -> HistGradientBoostingClassifier:
    """Build gradient boosting, as in :class:`sklearn.ensemble.HistGradientBoostingClassifier`, without early stopping.

    Parameters
    ----------
    max_iter : int
        Number of boosting iterations. Each adds one tree, or one tree per class for more than two classes.
    learning_rate : float
        Factor by which the output of each tree is multiplied.
    max_leaf_nodes : int
        Largest number of leaves of a tree.
    min_samples_leaf : int
        Smallest number of training samples in a leaf. With scikit-learn's default, 20, trees may have no split on small
        training sets (five samples per class).
    l2_regularization : float
        L2 penalty on the leaf values.
    max_features : float
        Share of the features tried at each split.
    random_state : int
        Seed of the draws.
    """
    return HistGradientBoostingClassifier(
        max_iter=max_iter, learning_rate=learning_rate, max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=min_samples_leaf, l2_regularization=l2_regularization, max_features=max_features,
        early_stopping=False, random_state=random_state,
    )  # fmt: skip


class NearestNeighbours(KNeighborsClassifier):
    """Nearest-neighbour classifier on the features themselves, a baseline for every embedding.

    `sklearn.neighbors.KNeighborsClassifier`, with a clear error for more neighbours than training samples, and without
    a search tree for ``algorithm="auto"``, because a model file can't store one. Other parameters and attributes are
    scikit-learn's.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours that vote; ``fit`` raises `NotApplicable` for more than there are training samples.
    """

    score = aligned(KNeighborsClassifier.score)

    @aligned
    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y."""
        super().fit(X, y)
        n_samples = self.n_samples_fit_
        if self.n_neighbors > n_samples:
            raise NotApplicable(f"n_neighbors={self.n_neighbors}: there are too few training samples, {n_samples=}")
        if self.algorithm == "auto":
            self._fit_method, self._tree = "brute", None
        return self


class ShrinkageLDA(LinearDiscriminantAnalysis):
    """scikit-learn's linear discriminant analysis with shrinkage, which shrinks the covariance of each class.

    With two samples v and -v about their mean, the Ledoit-Wolf estimate of the shrinkage is exactly 0, and scikit-learn
    uses a singular covariance without a warning. Here ``status_`` reports it. Other parameters and attributes are
    scikit-learn's.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}
        Least squares ("lsqr") or an eigenvalue decomposition ("eigen"); "svd", scikit-learn's default, does not shrink.
    shrinkage : "auto", float or None
        Shrinkage intensity from 0 to 1; "auto" is the Ledoit-Wolf estimate, None, the default, no shrinkage.

    Attributes
    ----------
    status_ : {"ok", "inaccurate"}
    message_ : str
        Reason why the fit is inaccurate; else empty.
    """

    score = aligned(LinearDiscriminantAnalysis.score)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # scikit-learn supports it with solver="svd" only
        return tags

    @aligned
    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y.

        Raises `NotApplicable` for d > 4,096: the d x d covariance of each class would be far larger than the data.
        """
        table = np.asarray(X)
        n_features = table.shape[1] if table.ndim == 2 else 0
        if n_features > MOST_FEATURES:
            raise NotApplicable(
                f"LDA with shrinkage needs the covariance of all {n_features:,} features; with more than "
                f"{MOST_FEATURES:,}, use logistic regression, a method on kernels, or fewer features"
            )
        _, counts = np.unique(np.asarray(y), return_counts=True)
        unshrunk = self.shrinkage == "auto" and counts.max() <= 2
        self.status_ = "inaccurate" if unshrunk else "ok"
        self.message_ = UNSHRUNK if unshrunk else ""
        if table.ndim == 2 and table.size and table.dtype.kind == "f" and np.isfinite(table).all():
            # scikit-learn divides by within-class deviations, even where they are only rounding errors
            table = np.where(constant_features(table), table[0], table)
            super().fit(table, y)
            validate_data(self, X, skip_check_array=True)  # keeps the names of the features
            return self
        return super().fit(X, y)


class UnitSpread(TransformerMixin, BaseEstimator):
    """Transformer that centres features, rotates them into the span of the training samples, and scales all alike.

    The rotation does not change a linear classifier with a quadratic penalty, and reduces d features to at most n. The
    scale makes the mean squared distance between two training samples 1; on raw pixels (0..255) the solver of a linear
    SVM would stop before convergence.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> UnitSpread:
        """Learn the centre, rotation and scale from X of shape (n, d)."""
        self.span_ = PCA(svd_solver="full").fit(X)
        spread = np.sqrt(2.0 * self.span_.explained_variance_.sum())  # E|x - x'|^2 = 2 tr(covariance)
        self.scale_ = float(spread) if spread > 0 else 1.0
        validate_data(self, X, skip_check_array=True)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Centre, rotate and scale X; return shape (m, min(n, d))."""
        check_is_fitted(self)
        return np.asarray(self.span_.transform(X) / self.scale_)
