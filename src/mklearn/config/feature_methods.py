"""Methods on a table of features: linear projections, and classifiers to compare with."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mklearn.config.method_base import Deciding, Embedding, TradeOff, Tuned, TunedCount
from mklearn.contract.model import Slug


class FeatureMethod(Embedding):
    """What every method on features has."""

    bookkeeping: ClassVar[frozenset[str]] = Embedding.bookkeeping | {"descriptor"}
    takes = "features"

    descriptor: Slug = "pixels"
    """The descriptor whose features it takes."""


class PCA(FeatureMethod):
    """Principal components."""

    title = "PCA"
    reference = "Turk, Pentland 1991"
    implementation = "mklearn.subspace.pca:PCA"

    kind: Literal["pca"]


class MMC(FeatureMethod):
    """Maximum margin criterion."""

    title = "Maximum margin criterion"
    reference = "Li, Jiang, Zhang 2003"
    implementation = "mklearn.subspace.mmc:MMC"

    kind: Literal["mmc"]
    trade_off: TradeOff = 1.0
    """Weight of the within-class scatter, or the ratio of the traces of the two scatters."""


class Fisherface(FeatureMethod):
    """Linear discriminants after principal components."""

    title = "LDA (Fisherface)"
    reference = "Belhumeur, Hespanha, Kriegman 1997"
    implementation = "mklearn.subspace.fisherface:Fisherface"

    kind: Literal["fisherface"]
    n_pca: Literal["n-c", "all"] | Annotated[int, Field(ge=1)] = "n-c"
    """Principal components that come first."""
    scaling: Literal["total", "within", "unit", "orthonormal"] = "total"
    """Scale of the projection's columns: V'S_tV = I reproduces the papers' column, others differ by up to 50 points."""
    ridge: Annotated[float, Field(ge=0)] | Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)] = 0.0


class NullSpaceLDA(FeatureMethod):
    """Discriminants in the null space of the within-class scatter."""

    title = "Null-space LDA"
    reference = "Chen, Liao, Ko, Lin, Yu 2000"
    implementation = "mklearn.subspace.null_space_lda:NullSpaceLDA"

    kind: Literal["null_space_lda"]


class Classifier(Deciding):
    """What every classifier on features has."""

    bookkeeping: ClassVar[frozenset[str]] = Deciding.bookkeeping | {"descriptor"}
    takes = "features"

    descriptor: Slug = "pixels"


class NearestNeighbour(Classifier):
    """The nearest neighbour in the features themselves: what every embedding has to beat."""

    title = "1-nearest neighbour"
    reference = "Cover, Hart 1967"
    implementation = "sklearn.neighbors:KNeighborsClassifier"

    kind: Literal["nearest_neighbour"]
    n_neighbors: TunedCount = 1
    """How many decide; one, unless it is asked for more."""


class LedoitWolfLDA(Classifier):
    """Pooled covariance with Ledoit-Wolf shrinkage, cosine to the class means."""

    title = "Ledoit-Wolf LDA, cosine class means"
    reference = "Ledoit, Wolf 2004"
    implementation = "mklearn.classifiers.ledoit_wolf_lda:LedoitWolfLDA"

    kind: Literal["ledoit_wolf_lda"]
    rule: Literal["cosine", "euclidean"] = "cosine"


class ShrinkageLDA(Classifier):
    """scikit-learn's discriminant analysis with shrinkage of each class's own covariance."""

    title = "LDA with shrinkage (scikit-learn)"
    reference = "Ledoit, Wolf 2004"
    implementation = "mklearn.classifiers.shrinkage_lda:ShrinkageLDA"

    kind: Literal["shrinkage_lda"]
    solver: Literal["lsqr", "eigen"] = "lsqr"
    shrinkage: Literal["auto"] | Annotated[float, Field(ge=0, le=1)] = "auto"


class LinearSVC(Classifier):
    """One-vs-rest linear support vector machine."""

    title = "Linear SVC, one against the rest"
    reference = "Fan, Chang, Hsieh, Wang, Lin 2008"
    implementation = "mklearn.classifiers.linear_svc:linear_svc"

    kind: Literal["linear_svc"]
    C: Tuned = 10.0
    """For features whose mean squared distance between two training samples is 1."""
