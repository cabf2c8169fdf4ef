"""Base of the ensembles of nearest-neighbour classifiers, one per kernel.

Each kernel has its own embedding, of a Fisher or a local discriminant, and the first-nearest-neighbour rule in it. The
ensembles are the baselines of Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations",
NIPS 2008, section 4.4: KFD-Voting, KFD-SAMME, KLDE-Voting and KLDE-SAMME.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE, HasMethods, one_of
from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.stack import KernelStack
from mklearn.nearest_neighbour import Rule, nearest_neighbour_indices
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.kfd import KernelFDA

Array = NDArray[np.floating[Any]]
Codes = NDArray[np.intp]
Discriminant = Literal["fisher", "local"]

_DISCRIMINANTS: dict[str, Any] = {"fisher": KernelFDA, "local": KernelLDE}


class KernelEnsemble(KernelClassifier):
    """Base of classifiers with one embedding and the nearest-neighbour rule per kernel."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelsMixin._parameter_constraints,
        "estimator": [one_of(Discriminant), HasMethods(["fit", "transform"])],
        "ridge": [POSITIVE],
        "neighbour": [one_of(Rule)],
    }

    estimator: Any
    ridge: float
    neighbour: Rule

    def _fit_embeddings(
        self, stack: KernelStack, chosen: Iterable[int], codes: Codes
    ) -> tuple[list[BaseEstimator], list[Array]]:
        """Fit to each of the chosen kernels; return the estimators and the embeddings of the training samples."""
        fits = [self._fit_embedding(stack.ids[m], stack[int(m)], codes) for m in chosen]
        return [model for model, _ in fits], [embedding for _, embedding in fits]

    def _fit_embedding(self, name: str, kernel: Array, codes: Codes) -> tuple[Any, Array]:
        """Fit a clone of the estimator to one kernel; return it and its embedding of the samples."""
        named = isinstance(self.estimator, str)
        model = _DISCRIMINANTS[self.estimator](ridge=self.ridge) if named else clone(self.estimator)
        kernels = getattr(model, "kernels", "precomputed")
        if not (isinstance(kernels, str) and kernels == "precomputed"):
            raise ConfigError(
                f"estimator has kernels={kernels!r}: it is fitted to one computed kernel at a time and needs "
                f"kernels='precomputed'; name the kernels in {type(self).__name__}(kernels=...)"
            )
        try:
            model.fit(kernel, codes)
        except (NotApplicable, DataError) as error:
            raise type(error)(f"kernel {name!r}: {error}") from error
        stored = getattr(model, "embedding_", None)
        return model, np.asarray(model.transform(kernel) if stored is None else stored)

    def _embed_and_match(self, embedding: Array, codes: Codes, model: Any, rows: Array) -> tuple[Array, Codes]:
        """Return the embedding of new samples, and the nearest training sample of each."""
        Z = np.asarray(model.transform(rows))
        return Z, nearest_neighbour_indices(embedding, Z, self.neighbour, codes)
