"""Choice of landmarks among the training samples: random per class, or centres of k-means."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import NotApplicable
from mklearn.kernels.features import in_form_of

LandmarkRule = Literal["random_per_class", "kmeans"]


def check_number_of_landmarks(n_landmarks: int, n_samples: int) -> None:
    """Raise `NotApplicable` if more landmarks are asked for than there are training samples."""
    if n_landmarks > n_samples:
        raise NotApplicable(
            f"n_landmarks={n_landmarks}, but there are {n_samples} training samples: give at most {n_samples}"
        )


def check_landmarks_of_classes(n_landmarks: int, n_classes: int) -> None:
    """Raise `NotApplicable` for fewer landmarks than classes."""
    if n_landmarks < n_classes:
        raise NotApplicable(
            f"n_landmarks={n_landmarks}, but y has {n_classes} classes, and 'random_per_class' needs a landmark of "
            f"each: give at least {n_classes}, or choose the landmarks by 'kmeans'"
        )


def random_per_class(labels: NDArray[Any], n_landmarks: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw landmarks at random, of each class equally many as far as it has samples; return their positions.

    Fewer landmarks than classes, or more than samples, raise `NotApplicable`.
    """
    check_number_of_landmarks(n_landmarks, len(labels))
    classes, codes = np.unique(labels, return_inverse=True)
    check_landmarks_of_classes(n_landmarks, len(classes))
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]  # by class, at random within each
    sizes = np.bincount(codes)
    turns = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.argsort(turns, kind="stable")][:n_landmarks]


def kmeans_centres(features: Any, n_landmarks: int, seed: int) -> Any:
    """Compute the centres of scikit-learn's ``MiniBatchKMeans``, from one start by k-means++.

    `features`, (n, p), and the centres, (n_landmarks, p), are an array or a CSR array. Centres are equal to each other
    in part if fewer samples are different; more landmarks than samples raise `NotApplicable`.
    """
    check_number_of_landmarks(n_landmarks, features.shape[0])
    from sklearn.cluster import MiniBatchKMeans

    fitted = MiniBatchKMeans(n_landmarks, random_state=seed, n_init=1, compute_labels=False).fit(features)
    return in_form_of(fitted.cluster_centers_, features)
