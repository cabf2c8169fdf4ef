"""scikit-learn's discriminant analysis with shrinkage on standardised features, a baseline without kernels."""

from __future__ import annotations

from typing import Literal

from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.base.parameters import SHARE, StrOptions, constrained
from mklearn.classifiers.shrinkage_lda import ShrinkageLDA
from mklearn.kernels.standard_scaler import StandardScaler


@constrained(solver=[StrOptions({"lsqr", "eigen"})], shrinkage=[StrOptions({"auto"}), SHARE])
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
