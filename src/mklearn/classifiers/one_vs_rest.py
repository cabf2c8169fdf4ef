"""Binary machines for several classes: one class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def one_vs_rest_signs(codes: NDArray[np.intp], n_classes: int) -> Array:
    """Return the labels -1 and 1 of each machine, shape (n_machines, n).

    Two classes have one machine, whose positive class is the second; more classes have one machine each.

    Parameters
    ----------
    codes : array of shape (n,)
        Classes as positions from 0 to ``n_classes - 1``.
    n_classes : int
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == code, 1.0, -1.0) for code in positive])


def decision_values(by_machine: Array) -> Array:
    """Return decision values in scikit-learn's form: (m,) of one machine, (m, n_machines) of several.

    Parameters
    ----------
    by_machine : array of shape (n_machines, m)
    """
    return by_machine[0] if len(by_machine) == 1 else np.ascontiguousarray(by_machine.T)
