"""Ensembles of nearest-neighbour classifiers, one per kernel: majority vote and multi-class boosting (SAMME).

Each kernel has its own embedding, by a Fisher or a local discriminant, with the first-nearest-neighbour rule. The
ensembles are the baselines of Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations",
NIPS 2008, section 4.4: KFD-Voting, KFD-SAMME, KLDE-Voting and KLDE-SAMME.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from mklearn.base.parameters import Positive, PositiveInt, RandomState, at_least, parameters
from mklearn.classifiers.class_scores import ClassScores
from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.errors import DataError, NotApplicable, warn
from mklearn.kernels.stack import KernelStack
from mklearn.nearest_neighbour import Rule, nearest_neighbour_indices
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.kfd import KernelFDA

Array = NDArray[np.floating[Any]]
Codes = NDArray[np.intp]
Discriminant = Literal["fisher", "local"]
BoostingStatus = Literal["exhausted", "chance", "max_iter", "fallback"]

_DISCRIMINANTS: dict[str, Any] = {"fisher": KernelFDA, "local": KernelLDE}
_ROUNDING = 1e-10  # error rates with a smaller difference count as equal


@parameters
class KernelEnsemble(KernelClassifier):
    """Base of classifiers with one embedding and the nearest-neighbour rule per kernel."""

    estimator: Discriminant = field(default="fisher", kw_only=False)
    ridge: Positive = 1e-3
    neighbour: Rule = "cosine"

    def _embedder(self, name: str, kernel: Array, codes: Codes) -> Any:
        """Fit the discriminant to one kernel."""
        try:
            return _DISCRIMINANTS[self.estimator](ridge=self.ridge).fit(kernel, codes)
        except (NotApplicable, DataError) as error:
            raise type(error)(f"kernel {name!r}: {error}") from error

    def _nearest(self, model: Any, codes: Codes, rows: Array) -> tuple[Array, Codes]:
        """Return the embedding of new samples, and the nearest training sample of each."""
        Z = np.asarray(model.transform(rows))
        return Z, nearest_neighbour_indices(model.embedding_, Z, self.neighbour, codes)


class KernelVoting(KernelEnsemble):
    """Majority vote of the first-nearest-neighbour classifiers in the embeddings of M kernels, KFD- or KLDE-Voting.

    While classes tie, the second nearest neighbour in every embedding votes too, then the third, and so on (r M votes
    after r neighbours), until one class leads alone.

    Parameters
    ----------
    estimator : {"fisher", "local"}
        Embedding fitted to each kernel: `mklearn.subspace.KernelFDA` or `mklearn.subspace.KernelLDE`.
    kernels
        As for `mklearn.subspace.KernelFDA`.
    ridge : float
        As for `mklearn.subspace.KernelFDA`.
    neighbour : {"cosine", "euclidean"}
        Nearest-neighbour rule; "cosine" is measured about the mean of the training embedding.

    Attributes
    ----------
    estimators_ : list of M fitted embeddings
    kernel_weights_ : array of shape (n_kernels,)
        1/M each.
    kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors, whose messages name the kernel.

    Notes
    -----
    If classes still tie when all training samples have voted, the first class in ``classes_`` among the leaders after
    one neighbour wins; the paper does not treat this case.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelVoting(kernels=["gaussian", {"kind": "gaussian", "bandwidth": 4.0}]).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    def _fit_kernels(self, stack: KernelStack, codes: Codes) -> None:
        self._codes = codes
        self.estimators_ = [self._embedder(name, K, codes) for name, K in zip(stack.ids, stack, strict=True)]
        self.kernel_weights_ = np.full(len(stack), 1.0 / len(stack))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels, shape (m,).

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        stack, _ = self._new_stack(X)
        models = zip(self.estimators_, stack, strict=True)
        neighbours = [self._nearest(model, self._codes, rows) for model, rows in models]
        nearest = np.stack([indices for _, indices in neighbours], axis=1)
        winners, depth = resolve_votes(self._codes[nearest][:, None, :], len(self.classes_))
        if (tied := np.flatnonzero(depth == 0)).size:  # only these need more than the nearest neighbour
            orders = [
                neighbour_order(model.embedding_, Z[tied], self.neighbour, indices[tied])
                for model, (Z, indices) in zip(self.estimators_, neighbours, strict=True)
            ]
            winners[tied], _ = resolve_votes(self._codes[np.stack(orders, axis=-1)], len(self.classes_))
        return self.classes_[winners]


@parameters
class KernelSAMME(ClassScores, KernelEnsemble):
    """Multi-class boosting (SAMME) of the first-nearest-neighbour classifiers in the embeddings of M kernels.

    Parameters
    ----------
    estimator, kernels, ridge, neighbour
        As for `KernelVoting`.
    cv : int
        Number of stratified, shuffled folds, at most the size of the smallest class. Each training sample is classified
        by a model fitted without its fold. Kernel specs are fitted to all training samples, without labels. The only
        sample of a class is never held out, and boosting leaves it out.
    max_iter : int
        Largest number of rounds; each kernel is picked at most once.
    random_state : int, RandomState or None
        Seed of the folds. They are drawn by position, so they depend on the order of the samples.

    Attributes
    ----------
    picks_, alphas_, errors_ : arrays of shape (n_rounds,)
        See `Boosting`. A learner is the classifier of one kernel; errors come from cross-validation.
    status_ : {"exhausted", "chance", "max_iter", "fallback"}
        See `Boosting`.
    n_iter_ : int
        Number of rounds.
    estimators_ : list of n_rounds fitted embeddings
        One per round, fitted to all training samples.
    cv_errors_ : array of shape (n_kernels,)
        Unweighted error rate of each kernel, by cross-validation.
    n_splits_ : int
        Number of folds used.
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Normalised alphas; 0 for kernels never picked.
    kernel_ids_, classes_, n_features_in_
        As for `KernelVoting`, as are the errors, and `NotApplicable` also if every class has only one sample.

    Warns
    -----
    UserWarning
        No kernel is better than chance; only the kernel with the smallest error is used ("fallback").

    References
    ----------
    Zhu, Zou, Rosset, Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2009, algorithm 2. Lin, Liu, Fuh,
    NIPS 2008, section 4.4 ("KFD-SAMME", "KLDE-SAMME").

    Notes
    -----
    A first-nearest-neighbour classifier makes no error on its own training samples, so boosting on training errors is
    undefined; the papers do not state their solution. Here the errors come from cross-validation and stay fixed:
    sample weights change which kernel is picked and the weight of its vote, not the embeddings. A kernel whose
    accuracy, averaged over classes and folds, is at most chance, 1 / (classes of two samples or more), is
    never picked: a kernel close to the identity predicts one class for all samples of a fold. A kernel without errors
    gets a finite weight (see `samme`).
    """

    cv: Annotated[int, at_least(2)] = 3
    max_iter: PositiveInt = 50
    random_state: RandomState = 0

    def _fit_kernels(self, stack: KernelStack, codes: Codes) -> None:
        self._codes = codes
        misses, eligible = self._cross_validate(stack, codes)
        boosting = samme(misses, len(self.classes_), eligible=eligible, max_iter=self.max_iter)
        if boosting.status == "fallback":
            warn(
                f"no kernel is better than chance in {self.n_splits_}-fold cross-validation; only kernel "
                f"{stack.ids[boosting.picks[0]]!r}, of smallest error, is used"
            )
        self.picks_, self.alphas_, self.errors_, self.status_ = boosting
        self.n_iter_ = len(boosting.picks)
        self.cv_errors_ = misses.mean(axis=1)
        self.estimators_ = [self._embedder(stack.ids[m], stack[int(m)], codes) for m in boosting.picks]
        totals = np.bincount(boosting.picks, weights=boosting.alphas, minlength=len(stack))
        self.kernel_weights_ = totals / totals.sum()

    def class_scores(self, X: Any) -> NDArray[np.float64]:
        """Compute the share of the alphas that vote for each class, (m, n_classes); X as for `KernelVoting.predict`."""
        stack, _ = self._new_stack(X)
        scores = np.zeros((stack.n_rows, len(self.classes_)))
        for m, model in sorted(zip(self.picks_.tolist(), self.estimators_, strict=True), key=lambda pair: pair[0]):
            _, nearest = self._nearest(model, self._codes, stack[m])
            scores[np.arange(len(scores)), self._codes[nearest]] += self.kernel_weights_[m]
        return scores

    def _cross_validate(self, stack: KernelStack, codes: Codes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return each kernel's misses on the left-out samples, and which kernels are better than chance."""
        counts = np.bincount(codes)
        repeated = np.flatnonzero(counts[codes] > 1)
        if not len(repeated):
            raise NotApplicable(
                "every class has one sample only: SAMME needs cross-validation errors, and so two samples of a class"
            )
        self.n_splits_ = min(self.cv, int(counts[counts > 1].min()))
        folds = StratifiedKFold(self.n_splits_, shuffle=True, random_state=check_random_state(self.random_state))
        tests = [repeated[test] for _, test in folds.split(repeated, codes[repeated])]
        misses = np.zeros((len(stack), stack.n_columns), dtype=bool)
        recalls = np.zeros(len(stack))
        for m, (name, kernel) in enumerate(zip(stack.ids, stack, strict=True)):
            for test in tests:
                train = np.setdiff1d(np.arange(len(codes)), test)
                model = self._embedder(name, kernel[np.ix_(train, train)], codes[train])
                _, nearest = self._nearest(model, codes[train], kernel[np.ix_(test, train)])
                hits = codes[train][nearest] == codes[test]
                misses[m, test] = ~hits
                recalls[m] += np.mean([hits[codes[test] == k].mean() for k in np.unique(codes[test])]) / len(tests)
        return misses[:, repeated], recalls > 1.0 / np.count_nonzero(counts > 1) + _ROUNDING


def neighbour_order(Z_train: Array, Z_test: Array, rule: Rule, nearest: Codes) -> Codes:
    """Rank the training samples from nearest to farthest for each test sample, (m, n); ties by position.

    For ``rule`` see `mklearn.nearest_neighbour`; ``nearest``, (m,), holds the nearest training samples by this rule.
    """
    train, test = np.asarray(Z_train, dtype=np.float64), np.asarray(Z_test, dtype=np.float64)
    if rule == "euclidean" or train.shape[1] == 1:
        distances = cdist(test, train, "sqeuclidean")
    else:
        centre = train.mean(axis=0)
        # The length of a test sample scales its whole row: it does not change the order.
        distances = -((test - centre) @ normalize(train - centre).T)
    distances[np.arange(len(test)), nearest] = -np.inf
    order: Codes = np.argsort(distances, axis=1, kind="stable")
    return order


def resolve_votes(votes: NDArray[np.integer], n_classes: int) -> tuple[Codes, NDArray[np.integer]]:
    """Count votes of more and more distant neighbours until one class leads alone.

    ``votes`` are the classes of the first, second, ..., r-th nearest neighbours in M embeddings, (m, r, M). Return the
    winners, (m,), and the number of neighbours q that decides: the first after which the q M votes have a single
    leader. Without such a q it is 0, and the winner is the leader of smallest index after one neighbour.
    """
    counts = np.zeros((len(votes), n_classes), dtype=np.intp)
    winners, depth = (np.zeros(len(votes), dtype=np.intp) for _ in range(2))
    open_rows = np.arange(len(votes))
    for q in range(votes.shape[1]):
        np.add.at(counts, (open_rows[:, None], votes[open_rows, q]), 1)
        leading = counts[open_rows]
        best = leading.argmax(axis=1)
        if q == 0:
            winners[:] = best
        single = (leading == leading.max(axis=1, keepdims=True)).sum(axis=1) == 1
        decided = open_rows[single]
        winners[decided], depth[decided] = best[single], q + 1
        open_rows = open_rows[~single]
    return winners, depth


class Boosting(NamedTuple):
    """Learner, weight in the vote and weighted error rate of each round of `samme`, and why boosting ended.

    "exhausted": no learner is left; "chance": none is better than chance on the reweighted samples; "max_iter": the
    limit of rounds is reached; "fallback": no learner was ever better than chance, and only the one with the smallest
    error is used.
    """

    picks: Codes
    alphas: Array
    errors: Array
    status: BoostingStatus


def samme(
    misses: NDArray[np.bool_], n_classes: int, *, eligible: NDArray[np.bool_] | None = None, max_iter: int = 50
) -> Boosting:
    """Boost a fixed set of weak learners by stagewise additive modelling with a multi-class exponential loss.

    Each round picks the learner of smallest weighted error err among those left (ties: the first), gives it
    alpha = log((1 - err)/err) + log(n_classes - 1), and multiplies the weight of every sample it misses by exp(alpha).
    Boosting ends when err >= (n_classes - 1)/n_classes.

    ``misses``, (M, n), are the samples that each learner misclassifies; ``eligible``, (M,), learners that may be
    picked. In alpha, err is at least 1/(2n), half a sample under equal weights: a learner without errors gets the
    finite weight log(2n - 1) + log(n_classes - 1) and boosting continues.
    """
    n_learners, n = misses.shape
    allowed = np.ones(n_learners, dtype=bool) if eligible is None else np.array(eligible, dtype=bool)
    weights = np.full(n, 1.0 / n)
    rounds: list[tuple[int, float, float]] = []
    status: BoostingStatus = "max_iter"
    while len(rounds) < max_iter:
        if not allowed.any():
            status = "exhausted"
            break
        rates = np.where(allowed, misses @ weights, np.inf)
        pick = int(np.argmax(rates <= rates.min() + _ROUNDING))  # the first of those equal up to rounding
        error = float(rates[pick])
        if error >= (n_classes - 1) / n_classes - _ROUNDING:
            status = "chance"
            break
        clipped = max(error, 1.0 / (2 * n))
        alpha = float(np.log((1.0 - clipped) / clipped) + np.log(n_classes - 1.0))
        rounds.append((pick, alpha, error))
        weights = weights * np.where(misses[pick], np.exp(alpha), 1.0)
        weights /= weights.sum()
        allowed[pick] = False
    if not rounds:
        rates = misses.mean(axis=1)
        rounds, status = [(int(np.argmin(rates)), 1.0, float(rates.min()))], "fallback"
    picks, alphas, errors = (np.array(values) for values in zip(*rounds, strict=True))
    return Boosting(picks, alphas, errors, status)
