"""Principal components of a kernel that is a product of explicit features, from their scatter.

With K = Phi Theta Phi' and D = Theta^(1/2), the centred kernel H K H = (H Phi D)(H Phi D)' has the nonzero eigenvalues
of D S_T D, (D, D). From the eigenvectors u of this, D u are the directions of unit length in the feature space: the
centred features times D u are the principal components, with the eigenvalues as sums of squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.optimize.eigen import generalized_eigh

Array = NDArray[np.floating[Any]]


def landmark_components(total: Array, theta: Array, n_components: int | None) -> tuple[Array, Array]:
    """Compute the leading principal components of features.

    Parameters
    ----------
    total : array of shape (D, D)
        S_T, symmetric.
    theta : array of shape (D,)
        Kernel weights, repeated for the features of each kernel.
    n_components : int, optional
        p, 1 to D; by default D.

    Returns
    -------
    eigenvalues : array of shape (p,)
        Descending.
    directions : array of shape (D, p)
        D u: what the features of a sample are multiplied by.
    """
    root = np.sqrt(theta)
    values, vectors = generalized_eigh(root[:, None] * total * root, None, n_components, "largest")
    return values, root[:, None] * vectors
