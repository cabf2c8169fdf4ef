"""Metrics of decision values and probabilities of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.metrics as sk

from mklearn.errors import NotApplicable


def _refuse_unknown(y: Any, classes: Any, needs: str) -> None:
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise NotApplicable(f"{needs}; {unknown[0]!s} has no training sample")


def log_loss(y: Any, probabilities: Any, classes: Any) -> float:
    """Return the mean of minus the logarithm of the probability of each test sample's class."""
    _refuse_unknown(y, classes, "the log loss needs a probability of every class")
    if probabilities.shape != (len(y), len(classes)):
        raise NotApplicable(f"probabilities have shape {probabilities.shape}: expected one column for each class")
    order = np.argsort(classes)  # scikit-learn takes the columns in the order of the sorted classes
    return float(sk.log_loss(y, probabilities[:, order], labels=np.asarray(classes)[order]))


def auc(y: Any, class_scores: Any, classes: Any) -> float:
    """Return the area under the ROC curve; of more than two classes the mean over each against the others."""
    _refuse_unknown(y, classes, "the area under the ROC curve needs a score of every class")
    present = np.isin(classes, y)
    if not present.all():
        raise NotApplicable(f"the area under the ROC curve needs test samples of every class; {classes[~present][0]!s}"
                            " has none")  # fmt: skip
    if class_scores.ndim == 2 and class_scores.shape[1] == 2:
        class_scores = class_scores[:, 1]
    if len(classes) == 2 and class_scores.ndim == 1:
        return float(sk.roc_auc_score(y == classes[1], class_scores))
    if class_scores.shape != (len(y), len(classes)):
        raise NotApplicable(f"decision values have shape {class_scores.shape}: expected one column for each class")
    return float(np.mean([sk.roc_auc_score(y == code, class_scores[:, place]) for place, code in enumerate(classes)]))


def equal_error_rate(y: Any, class_scores: Any, classes: Any) -> float:
    """Return the error on the ROC curve where as many of either class are wrong; lines join its points."""
    if len(classes) != 2:
        raise NotApplicable(f"the equal error rate is one of two classes; there are {len(classes)}")
    _refuse_unknown(y, classes, "the equal error rate is one of two classes")
    if len(np.unique(y)) < 2:
        raise NotApplicable("the equal error rate needs test samples of both classes")
    values = class_scores[:, 1] if class_scores.ndim == 2 else class_scores
    accepted, detected, _ = sk.roc_curve(y == classes[1], values, drop_intermediate=False)
    excess = accepted + detected - 1.0  # false acceptances minus false rejections: increases from -1 to 1
    place = int(np.argmax(excess >= 0))
    low, high = excess[place - 1], excess[place]
    share = -low / (high - low)
    return float(accepted[place - 1] + share * (accepted[place] - accepted[place - 1]))
