"""scikit-learn's discriminant analysis with shrinkage on standardised features, a baseline without kernels."""

from __future__ import annotations

from numbers import Real
from typing import Literal

from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.base.parameters import Interval, StrOptions
from mklearn.cards import CONCATENATED, MethodCard
from mklearn.classifiers.shrinkage_lda import ShrinkageLDA
from mklearn.kernels.standard_scaler import StandardScaler


@MethodCard(
    kind="standardised_shrinkage_lda",
    title="LDA with shrinkage, standardised features",
    about="scikit-learn's LDA with shrinkage on standardised features of several descriptors side by side.",
    reference="Ledoit, Wolf 2004",
    advice=(
        "Shows what kernels are worth beside all features side by side. On digits it is about two points below the"
        " average kernel."
    ),
    inputs=CONCATENATED,
    tuned=("shrinkage",),
    fit_seconds=1.2,  # a covariance of all features for each class (measured: 40 of 1024)
    valid={
        "solver": [StrOptions({"lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
    },
)
def standardised_shrinkage_lda(
    solver: Literal["lsqr", "eigen"] = "lsqr", shrinkage: Literal["auto"] | float = "auto"
) -> Pipeline:
    """Build linear discriminant analysis with shrinkage on features of mean 0 and variance 1.

    Parameters
    ----------
    solver, shrinkage
        As in :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`. With "auto" scikit-learn also scales
        the features within each class, so that the outer scaling changes little; a number shrinks towards a multiple of
        the identity, which has a meaning for features of one scale only.
    """
    return make_pipeline(StandardScaler(), ShrinkageLDA(solver=solver, shrinkage=shrinkage))
