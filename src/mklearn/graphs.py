"""Pairs of affinity graphs (W, W') as Laplacian operators.

Graph embedding methods see the data only through two symmetric affinities: ``W`` says which samples should come close,
``W'`` which should stay apart (or which scale is held fixed). With ``L = diag(W 1) - W`` and ``L'`` likewise they
minimise ``tr(A' K L K A)`` against ``tr(A' K L' K A)``, since for symmetric ``W``

    ``sum_ij W_ij (k_i - k_j)(k_i - k_j)' = 2 K L K``            (MKL-DR, Lin, Liu, Fuh 2008, equations (20)-(21)).

The factor 2 is left out here: it is common to both graphs. No Laplacian of a class graph is ever formed: with
``P`` the projector onto class means and ``J = 11'/n`` they are all ``a I + b P + c J``, applied in O(n p) from class
sums. Nearest-neighbour graphs are sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mklearn.errors import ConfigError, DataError, NotApplicable

Floats = NDArray[np.floating]
Counting = Literal["class", "global"]


# ----------------------------------------------------------------------------------------------------------- operators


@dataclass(frozen=True, eq=False)
class ClassStructure:
    """Which sample is of which class.

    Attributes
    ----------
    labels : array of shape (c,)
        The distinct labels, sorted.
    codes : int array of shape (n,)
        Position in ``labels`` of each sample's class.
    counts : int array of shape (c,)
        Samples per class.
    """

    labels: NDArray[Any]
    codes: NDArray[np.intp]
    counts: NDArray[np.intp]

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @cached_property
    def _averaging(self) -> sparse.csr_array:
        """The (c, n) matrix N_c^-1 H' that turns sample rows into class means."""
        weights = 1.0 / self.counts[self.codes]
        return sparse.csr_array((weights, (self.codes, np.arange(self.n))), shape=(self.n_classes, self.n))

    def indicator(self) -> Floats:
        """The one-hot matrix H of shape (n, c)."""
        return np.eye(self.n_classes)[self.codes]

    def means(self, Z: Floats) -> Floats:
        """Class means of the rows of Z: (n, p) -> (c, p), in the dtype of Z."""
        return self._averaging.astype(Z.dtype, copy=False) @ Z


class LaplacianOperator(ABC):
    """A symmetric (n, n) matrix known by its products."""

    n: int

    @property
    def structure(self) -> ClassStructure | None:
        """The classes the operator is built on, for those that are; None otherwise."""
        return None

    @abstractmethod
    def _apply(self, Z: Floats) -> Floats: ...

    def apply(self, Z: ArrayLike) -> Floats:
        """The product with Z.

        Parameters
        ----------
        Z : array of shape (n, p) or (n,)

        Returns
        -------
        array of the shape and floating dtype of Z

        Raises
        ------
        DataError
            When Z does not have n rows.
        """
        array = np.asarray(Z)
        if not np.issubdtype(array.dtype, np.floating):
            array = array.astype(np.float64)
        if array.ndim not in (1, 2) or array.shape[0] != self.n:
            raise DataError(f"Z has shape {array.shape}: the graph has {self.n} samples, so Z must be ({self.n}, p)")
        return self._apply(array[:, None])[:, 0] if array.ndim == 1 else self._apply(array)

    def toarray(self) -> Floats:
        """The dense (n, n) float64 matrix; for tests and small n."""
        return self.apply(np.eye(self.n))


@dataclass(frozen=True, eq=False)
class ClassOperator(LaplacianOperator):
    """``identity * I + means * P + total * J`` with P the class-mean projector and J = 11'/n.

    I - P is the within-class Laplacian, P - J the between-class one, I - J the total one.
    """

    n: int
    identity: float
    total: float
    means: float = 0.0
    classes: ClassStructure | None = None

    def __post_init__(self) -> None:
        if self.means and (self.classes is None or self.classes.n != self.n):
            raise DataError("a class-mean term needs the classes of the same samples")

    @property
    def structure(self) -> ClassStructure | None:
        """The classes, when there are any."""
        return self.classes

    def _apply(self, Z: Floats) -> Floats:
        out = Z * Z.dtype.type(self.identity)
        if self.means and self.classes is not None:
            out += (Z.dtype.type(self.means) * self.classes.means(Z))[self.classes.codes]
        if self.total:
            out += Z.dtype.type(self.total) * Z.mean(axis=0)
        return out


@dataclass(frozen=True, eq=False)
class MatrixOperator(LaplacianOperator):
    """A symmetric matrix that is stored, sparse (neighbour graphs) or dense (an operator of your own)."""

    matrix: Any

    def __post_init__(self) -> None:
        m = self.matrix
        m = sparse.csr_array(m, dtype=np.float64) if sparse.issparse(m) else np.asarray(m, dtype=np.float64)
        if m.ndim != 2 or m.shape[0] != m.shape[1]:
            raise DataError(f"a Laplacian must be a square matrix, not of shape {m.shape}")
        data = m.data if sparse.issparse(m) else m
        if not np.isfinite(data).all():
            raise DataError("a Laplacian contains values that are not finite (NaN or infinity)")
        asymmetry = abs(m - m.T).max() if m.shape[0] else 0.0
        if asymmetry > 1e-10 * max(abs(m).max(), np.finfo(float).tiny):
            raise DataError(f"a Laplacian must be symmetric; this one differs from its transpose by {asymmetry:.3g}")
        object.__setattr__(self, "matrix", m)
        object.__setattr__(self, "n", m.shape[0])

    def _apply(self, Z: Floats) -> Floats:
        return self.matrix.astype(Z.dtype, copy=False) @ Z

    def toarray(self) -> Floats:
        """The dense (n, n) matrix."""
        return self.matrix.toarray() if sparse.issparse(self.matrix) else self.matrix.copy()


@dataclass(frozen=True, eq=False)
class GraphPair:
    """Two Laplacian operators on the same samples.

    Attributes
    ----------
    L, L_prime : LaplacianOperator
        Matrices, dense or sparse, are accepted and wrapped. ``L`` is what is minimised, ``L_prime`` what it is
        measured against.
    name : str
        Short name of the graph ("lda", "lde", ...).
    sense : {"minimise", "maximise"}
        "maximise" when L is an objective to be made large (the maximum margin criterion).

    Raises
    ------
    DataError
        The two have different numbers of samples, or a matrix is not square, symmetric and finite.
    """

    L: LaplacianOperator
    L_prime: LaplacianOperator
    name: str = "custom"
    sense: Literal["minimise", "maximise"] = "minimise"

    def __post_init__(self) -> None:
        for field in ("L", "L_prime"):
            operator = getattr(self, field)
            if not isinstance(operator, LaplacianOperator):
                object.__setattr__(self, field, MatrixOperator(operator))
        if self.L.n != self.L_prime.n:
            raise DataError(f"L has {self.L.n} samples and L_prime has {self.L_prime.n}: they must be the same samples")

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.L.n

    @property
    def lda_classes(self) -> ClassStructure | None:
        """The classes when the pair is exactly (I - P, I - J), else None.

        Then ``L' = L + GG' - J`` with G the (n, c) matrix of class indicators over root counts, and the A-step needs
        one Cholesky factorisation and c right-hand sides in place of an (n, n) eigenproblem.
        """
        a, b = self.L, self.L_prime
        if (
            isinstance(a, ClassOperator)
            and isinstance(b, ClassOperator)
            and (a.identity, a.means, a.total) == (1.0, -1.0, 0.0)
            and (b.identity, b.means, b.total) == (1.0, 0.0, -1.0)
        ):
            return a.classes
        return None


# -------------------------------------------------------------------------------------------------------- class graphs


def class_structure(y: ArrayLike, n: int | None = None) -> ClassStructure:
    """Read a vector of labels.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of any sortable type.
    n : int, optional
        The number of samples there must be.

    Raises
    ------
    DataError
        Not a vector, empty, of the wrong length or with missing labels.
    NotApplicable
        All samples are of one class: nothing can be discriminated.
    """
    array = np.asarray(y)
    if array.ndim != 1 or array.size == 0:
        raise DataError(f"y has shape {array.shape}: it must be a vector of one label per sample")
    if n is not None and array.size != n:
        raise DataError(f"y has {array.size} labels for {n} samples: there must be one label per sample")
    if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
        raise DataError("y contains labels that are missing or not finite")
    labels, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    if len(labels) < 2:
        raise NotApplicable(f"all {array.size} samples are of class {labels[0]!r}: a class graph needs two classes")
    return ClassStructure(labels, codes.reshape(-1), counts)


def within_laplacian(y: ArrayLike | ClassStructure) -> ClassOperator:
    """``L_w = I - P``: K L_w K is the within-class scatter. Affinity 1/n_k inside class k."""
    classes = y if isinstance(y, ClassStructure) else class_structure(y)
    return ClassOperator(classes.n, identity=1.0, means=-1.0, total=0.0, classes=classes)


def between_laplacian(y: ArrayLike | ClassStructure) -> ClassOperator:
    """``L_b = P - J``: K L_b K is the between-class scatter. Affinity 1/n - 1/n_k inside class k, 1/n elsewhere."""
    classes = y if isinstance(y, ClassStructure) else class_structure(y)
    return ClassOperator(classes.n, identity=0.0, means=1.0, total=-1.0, classes=classes)


def total_laplacian(n: int) -> ClassOperator:
    """``L_t = I - J``: K L_t K is the total scatter. Affinity 1/n between all samples."""
    return ClassOperator(n, identity=1.0, total=-1.0)


def lda_graph(y: ArrayLike) -> GraphPair:
    """Linear discriminant analysis: L = I - P (within), L' = I - J (total).

    Parameters
    ----------
    y : array of shape (n,)

    Returns
    -------
    GraphPair
        With ``lda_classes`` set, so that the eigenproblem may be shortened.

    Raises
    ------
    DataError, NotApplicable
        See `class_structure`.

    Notes
    -----
    MKL-DR (Lin, Liu, Fuh 2008), equation (30): w_ij = 1/n_k within class k, w'_ij = 1/N for all pairs, those of one
    class included (the printed formula; only then is L' the total scatter).
    """
    classes = class_structure(y)
    return GraphPair(within_laplacian(classes), total_laplacian(classes.n), name="lda")


def mmc_graph(y: ArrayLike, weight: float = 1.0) -> GraphPair:
    """Maximum margin criterion: L = L_b - weight L_w, to be *maximised*, and L' = I (coefficients held to a norm).

    Parameters
    ----------
    y : array of shape (n,)
    weight : float
        What the within-class scatter counts (lambda); 1 in MKMMC (Gu, Zhou 2009), where L = 2P - J - I.

    Returns
    -------
    GraphPair
        With ``sense="maximise"``. L is indefinite.
    """
    if not np.isfinite(weight) or weight < 0:
        raise ConfigError(f"weight={weight!r}: must be a number >= 0")
    classes = class_structure(y)
    difference = ClassOperator(
        classes.n, identity=-float(weight), means=1.0 + float(weight), total=-1.0, classes=classes
    )
    return GraphPair(difference, ClassOperator(classes.n, identity=1.0, total=0.0), name="mmc", sense="maximise")


def pca_graph(n: int) -> GraphPair:
    """Principal components: L = 0, L' = I - J, so that with a ridge the smallest ratios have the largest variance.

    Parameters
    ----------
    n : int
        Number of samples, at least 2.

    Notes
    -----
    In MKL-DR's framework (its equation (4)) principal components minimise the norm of the projection against the total
    scatter. The norm is not of the form K L K: it is the ridge that methods put on both matrices, and without a ridge
    every direction has ratio 0. (L = I would not do: K I K and K (I - J) K agree but for the mean.)
    """
    if not isinstance(n, (int, np.integer)) or n < 2:
        raise DataError(f"n={n!r}: must be an integer of at least 2 samples")
    return GraphPair(ClassOperator(int(n), identity=0.0, total=0.0), total_laplacian(int(n)), name="pca")


# ---------------------------------------------------------------------------------------------------- neighbour graphs


def laplacian(W: Any) -> MatrixOperator:
    """``diag(W 1) - W`` of an affinity, dense or sparse; an asymmetric W is replaced by (W + W')/2.

    Raises
    ------
    DataError
        W is not square or not finite.
    """
    if not sparse.issparse(W):
        W = np.asarray(W, dtype=np.float64)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise DataError(f"an affinity must be a square matrix, not of shape {W.shape}")
    if sparse.issparse(W):
        symmetric = (sparse.csr_array(W) + sparse.csr_array(W).T) / 2
        return MatrixOperator(sparse.diags_array(np.asarray(symmetric.sum(axis=1))) - symmetric)
    symmetric = (W + W.T) / 2
    return MatrixOperator(np.diag(symmetric.sum(axis=1)) - symmetric)


def kernel_squared_distances(K: ArrayLike) -> Floats:
    """Squared distances in the feature space of a kernel: K_ii + K_jj - 2 K_ij, shape (n, n), zero diagonal.

    For a Gaussian kernel they order neighbours as the distances it was made from do.
    """
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise DataError(f"a kernel among training samples must be a square matrix, not of shape {K.shape}")
    diagonal = np.diag(K)
    d2 = np.maximum(diagonal[:, None] + diagonal - (K + K.T), 0)
    np.fill_diagonal(d2, 0)
    return d2


def lde_graph(
    distances: Any,
    y: ArrayLike,
    k: int = 5,
    k_prime: int = 20,
    counting: Counting = "class",
    normalise: Literal["mean_degree", "none"] = "mean_degree",
) -> GraphPair:
    """Local discriminant embedding: W joins near samples of one class, W' near samples of different classes.

    Parameters
    ----------
    distances : list of arrays of shape (n, n), array of shape (M, n, n), or array of shape (n, d)
        A list (or 3-D array) holds distances, squared or not, one per descriptor; their graphs are averaged, so that
        affinities are multiples of 1/M. A 2-D array holds features, compared by Euclidean distance.
    y : array of shape (n,)
    k, k_prime : int
        Number of neighbours in W and in W'.
    counting : {"class", "global"}
        "class": the k nearest of the same class and the k' nearest of all other classes. "global": among the k (k')
        nearest of all samples, those of the same (of another) class.
    normalise : {"mean_degree", "none"}
        "mean_degree" divides each affinity by its mean degree, so that L and L' are on one scale whatever k and k'
        are: this changes results only through the ridge. "none" keeps the paper's 0/1 affinities.

    Returns
    -------
    GraphPair
        Sparse operators.

    Raises
    ------
    DataError
        Shapes that do not agree, values that are not finite, an asymmetric distance, or a single distance matrix
        passed without a list.
    ConfigError
        A parameter that is not legal.
    NotApplicable
        One class only, or one of the graphs has no edge at all.

    Notes
    -----
    MKL-DR (Lin, Liu, Fuh 2008), equations (31)-(32), after Chen, Chang, Liu (2005): w_ij = 1 when i is among the
    neighbours of j *or* j among those of i. The paper gives neither k nor k' and does not say among whom neighbours are
    counted; with few samples and many classes "global" leaves hardly any edge inside a class, hence the default.
    Where a class has at most k samples all its other members are neighbours (k is clipped per class, as is customary);
    a class of one sample has no edge in W. Equal distances are taken in the order of the samples.
    """
    if counting not in ("class", "global"):
        raise ConfigError(f"counting={counting!r}: must be 'class' or 'global'")
    if normalise not in ("mean_degree", "none"):
        raise ConfigError(f"normalise={normalise!r}: must be 'mean_degree' or 'none'")
    k, k_prime = _neighbour_count("k", k), _neighbour_count("k_prime", k_prime)
    stack = _distance_list(distances)
    n = stack[0].shape[0]
    codes = class_structure(y, n).codes
    same = codes[:, None] == codes
    outside = ~same
    inside = same.copy()
    np.fill_diagonal(inside, False)

    W = sparse.csr_array((n, n))
    W_prime = sparse.csr_array((n, n))
    for d in stack:
        if counting == "class":
            near, far = _nearest(d, inside, k), _nearest(d, outside, k_prime)
        else:
            others = ~np.eye(n, dtype=bool)
            near = _nearest(d, others, k) & inside
            far = _nearest(d, others, k_prime) & outside
        W = W + sparse.csr_array((near | near.T).astype(np.float64))
        W_prime = W_prime + sparse.csr_array((far | far.T).astype(np.float64))
    W, W_prime = W / len(stack), W_prime / len(stack)

    for affinity, what, name in ((W, "the same class", "k"), (W_prime, "different classes", "k_prime")):
        if affinity.nnz == 0:
            raise NotApplicable(
                f"no two samples of {what} are neighbours with counting={counting!r}: raise {name}, or use "
                "counting='class' and more than one sample per class"
            )
    if normalise == "mean_degree":
        W, W_prime = W * (n / W.sum()), W_prime * (n / W_prime.sum())
    return GraphPair(laplacian(W), laplacian(W_prime), name="lde")


def lpp_graph(d2: ArrayLike, k: int = 5, heat: float | Literal["mean"] | None = "mean") -> GraphPair:
    """Locality preserving projections: L = D - W on nearest neighbours, L' = D, the degrees.

    Parameters
    ----------
    d2 : array of shape (n, n)
        Squared distances among the samples.
    k : int
        Nearest neighbours of each sample; edges where either is a neighbour of the other. Clipped to n - 1.
    heat : float, "mean" or None
        t in w_ij = exp(-d2_ij / t), in units of squared distance; "mean" takes the mean of d2 over the edges, None
        gives every edge weight 1.

    Returns
    -------
    GraphPair
        Sparse L; L' is the diagonal matrix of degrees (the constraint A'KDKA = I of He and Niyogi 2003).

    Raises
    ------
    DataError, ConfigError
        Distances that are not square, symmetric, finite; k < 1 or heat <= 0.
    """
    k = _neighbour_count("k", k)
    (d,) = _distance_list([d2])
    n = d.shape[0]
    near = _nearest(d, ~np.eye(n, dtype=bool), k)
    rows, columns = np.nonzero(near | near.T)
    lengths = d[rows, columns]
    if heat is None:
        weights = np.ones(len(lengths))
    else:
        t = float(lengths.mean()) if heat == "mean" else heat
        if isinstance(t, str) or not np.isfinite(t) or t < 0 or (t == 0 and heat != "mean"):
            raise ConfigError(f"heat={heat!r}: must be a positive number in units of squared distance, 'mean' or None")
        weights = np.exp(-lengths / t) if t > 0 else np.ones(len(lengths))
    W = sparse.csr_array((weights, (rows, columns)), shape=(n, n))
    degrees = sparse.diags_array(np.asarray(W.sum(axis=1)))
    return GraphPair(laplacian(W), MatrixOperator(degrees), name="lpp")


def _neighbour_count(name: str, k: int) -> int:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ConfigError(f"{name}={k!r}: must be an integer of at least 1 neighbour")
    return int(k)


def _distance_list(distances: Any) -> list[Floats]:
    """One or more checked (n, n) distances from a list, a 3-D array or features."""
    if isinstance(distances, Sequence) and len(distances) == 0:
        raise DataError("the list of distances is empty: there must be at least one (n, n) distance")
    if isinstance(distances, (list, tuple)) and np.ndim(distances[0]) == 2:
        stack: list[Floats] = [np.asarray(d, dtype=np.float64) for d in distances]
    else:
        array = np.asarray(distances, dtype=np.float64)
        if array.ndim == 3:
            stack = list(array)
        elif array.ndim == 2:
            stack = [_feature_distances(array)]
        else:
            raise DataError(f"distances have shape {array.shape}: pass a list of (n, n) distances or (n, d) features")
    n = stack[0].shape[0]
    for i, d in enumerate(stack):
        if d.shape != (n, n) or n < 2:
            raise DataError(
                f"distance {i} has shape {d.shape}: every distance must be ({n}, {n}), with at least 2 samples"
            )
        if not np.isfinite(d).all():
            raise DataError(f"distance {i} contains values that are not finite (NaN or infinity)")
        if not np.allclose(d, d.T, rtol=1e-6, atol=1e-9 * np.abs(d).max()):
            raise DataError(
                f"distance {i} is not symmetric: pass the mean of it and its transpose, or another distance"
            )
    return stack


def _feature_distances(X: Floats) -> Floats:
    if not np.isfinite(X).all():
        raise DataError("the features contain values that are not finite (NaN or infinity)")
    if X.shape[0] == X.shape[1] and X.shape[0] > 1 and not np.diag(X).any() and np.array_equal(X, X.T):
        raise DataError(
            f"a single array of shape {X.shape} that is symmetric with a zero diagonal looks like a distance: "
            "pass distances in a list, [D], and features as (n, d)"
        )
    centred = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    gram = centred @ centred.T
    return np.maximum(norms[:, None] + norms - (gram + gram.T), 0)


def _nearest(d: Floats, allowed: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Row i marks the k nearest j among the allowed ones (all of them where there are fewer)."""
    n = d.shape[0]
    order = np.argsort(np.where(allowed, d, np.inf), axis=1, kind="stable")[:, : min(k, n)]
    marked = np.zeros((n, n), dtype=bool)
    marked[np.arange(n)[:, None], order] = True
    return marked & allowed
