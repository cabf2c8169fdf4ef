"""Functions that compute the metrics.

Their parameters are named after attributes of :class:`mklearn.study.evaluation.outputs.MethodOutput`: ``y_train`` and
``y`` are the targets of the training samples and of the m test samples, ``labels`` the predictions for the test
samples. A function raises `NotApplicable` if the metric is undefined. Functions import libraries locally, because every
fit imports this module for the accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import NotApplicable

Values = NDArray[np.float64]

# --- labels


def accuracy(y: Any, labels: Any) -> float:
    """Return the proportion of test samples that are predicted correctly."""
    return float(np.mean(labels == y))


def balanced_accuracy(y: Any, labels: Any) -> float:
    """Return the mean recall over the classes."""
    return mean_recall(y, labels, np.unique(y))


def minority_recall(y_train: Any, y: Any, labels: Any) -> float:
    """Return the recall of the class with the fewest training samples, averaged over classes that tie."""
    return mean_recall(y, labels, smallest_classes(y_train, y))


def smallest_classes(y_train: Any, y: Any) -> Any:
    """Return the classes with the fewest training samples."""
    classes, counts = np.unique(y_train, return_counts=True)
    fewest = classes[counts == counts.min()]
    missing = np.setdiff1d(fewest, y)
    if missing.size:
        raise NotApplicable(f"the recall of the smallest class needs test samples of it; class {missing[0]!s} has none")
    return fewest


def mean_recall(y: Any, labels: Any, classes: Any) -> float:
    return float(np.mean([np.mean(labels[y == code] == code) for code in classes]))


def macro_f1(y: Any, labels: Any) -> float:
    """Return the mean F1 score over the classes that occur among true or predicted labels."""
    from sklearn.metrics import f1_score

    return float(f1_score(y, labels, average="macro"))


def nmi(y: Any, labels: Any) -> float:
    """Return the mutual information of true and predicted classes over the geometric mean of their entropies.

    The normalisation is by Strehl and Ghosh (2002). Names of classes do not matter.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(y, labels, average_method="geometric"))


# --- probabilities and scores of classes


def log_loss(y: Any, probabilities: Any, classes: Any) -> float:
    """Return the mean negative logarithm of the probability that is predicted for the true class."""
    from sklearn.metrics import log_loss

    _refuse_unknown(y, classes, "the log loss needs a probability of every class")
    order = np.argsort(classes)  # scikit-learn expects the columns in sorted order of the classes
    return float(log_loss(y, probabilities[:, order], labels=np.asarray(classes)[order]))


def auc(y: Any, class_scores: Any, classes: Any) -> float:
    """Return the area under the ROC curve; for more than two classes, the mean of the one-vs-rest areas."""
    from sklearn.metrics import roc_auc_score

    _refuse_unknown(y, classes, "the area under the ROC curve needs a score of every class")
    present = np.isin(classes, y)
    if not present.all():
        raise NotApplicable(f"the area under the ROC curve needs test samples of every class; {classes[~present][0]!s}"
                            " has none")  # fmt: skip
    columns = class_columns(class_scores)
    of_classes = zip(classes[1:] if len(classes) == 2 else classes, columns, strict=True)
    return float(np.mean([roc_auc_score(y == code, each) for code, each in of_classes]))


def class_columns(class_scores: Any) -> list[Values]:
    """Return one array of scores (m,) per class; for two classes, only the scores of the second."""
    return [class_scores] if class_scores.ndim == 1 else list(class_scores.T[1 if class_scores.shape[1] == 2 else 0 :])


def equal_error_rate(y: Any, class_scores: Any, classes: Any) -> float:
    """Return the rate at which false positives and false negatives balance on the linearly interpolated ROC curve."""
    from sklearn.metrics import roc_curve

    if len(classes) != 2:
        raise NotApplicable(f"the equal error rate is defined for two classes; there are {len(classes)}")
    _refuse_unknown(y, classes, "the equal error rate is one of two classes")
    if len(np.unique(y)) < 2:
        raise NotApplicable("the equal error rate needs test samples of both classes")
    accepted, detected, _ = roc_curve(y == classes[1], class_columns(class_scores)[0], drop_intermediate=False)
    excess = accepted + detected - 1.0  # false acceptances minus false rejections: increases from -1 to 1
    place = int(np.argmax(excess >= 0))
    low, high = excess[place - 1], excess[place]
    share = -low / (high - low)
    return float(accepted[place - 1] + share * (accepted[place] - accepted[place - 1]))


def _refuse_unknown(y: Any, classes: Any, needs: str) -> None:
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise NotApplicable(f"{needs}; {unknown[0]!s} has no training sample")


def support_vector_share(n_support_vectors: int, n_train: int) -> float:
    """Return the proportion of training samples that are support vectors."""
    return float(n_support_vectors / n_train)


def kernel_share(share_of_kernels: float) -> float:
    """Return the proportion of kernels that a decision needs: those with a weight above 1/1000 of the largest."""
    return share_of_kernels


# --- numbers


def r2(y_train: Any, y: Any, labels: Any) -> float:
    """Return R² relative to the variance of the training targets.

    This is 1 - MSE / var(y_train), the Q² of Consonni, Ballabio, Todeschini (2009). The usual R² divides by the
    variance of the test targets, which is unstable on small folds and undefined for a single sample.
    """
    return float(1.0 - np.mean((labels - y) ** 2) / np.var(y_train))


def rmse(y: Any, labels: Any) -> float:
    """Return the root mean squared error, in the unit of the target."""
    return float(np.sqrt(np.mean((labels - y) ** 2)))


def mae(y: Any, labels: Any) -> float:
    """Return the mean absolute error, in the unit of the target."""
    return float(np.mean(np.abs(labels - y)))


def pearson(y: Any, labels: Any) -> float:
    """Return Pearson's correlation of predicted and true numbers."""
    return float(np.clip(np.mean(standardised(y) * standardised(labels)), -1.0, 1.0))


def spearman(y: Any, labels: Any) -> float:
    """Return Spearman's rank correlation of predicted and true numbers."""
    from scipy.stats import rankdata

    return pearson(rankdata(y), rankdata(labels))


def standardised(values: Any) -> Any:
    """Return the values standardised to mean 0 and variance 1."""
    if len(values) < 3:
        raise NotApplicable(f"a correlation needs three test samples or more; there are {len(values)}")
    centred = values - np.mean(values)
    spread = float(np.std(centred))
    if not spread > 1e-13 * float(np.abs(values).max()):
        raise NotApplicable("a correlation needs numbers that differ: they are the same for all test samples")
    return centred / spread
