"""Views that keep the kernels computed from them, for several estimators on the same samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import joblib

from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views

Value = TypeVar("Value")


def _columns_in(spec: Any) -> list[str]:
    """Return the columns of a kernel and of its factors as text: True == 1, but not as a choice of columns."""
    return [repr(part.get("columns")) for part in (spec, *spec.get("factors", ())) if isinstance(part, Mapping)]


class CachingViews(Views):
    """`Views`, not copied, that keep the kernels computed from them.

    An estimator computes the same kernels from them as from `Views`; an estimator that asks for the same again, or for
    some of several kernels, gets those that are there. So candidates of a grid search share kernels.

    `fits` are transforms that were fitted to these samples, with the training kernels; `new` are kernels between these
    samples and the training samples of transforms; `values` are others, see `kept`.
    """

    def __init__(self, views: Views) -> None:
        super().__init__({name: views[name] for name in views.names})
        self.fits: list[tuple[Any, KernelStack]] = []
        self.new: dict[Any, KernelStack] = {}
        self.values: dict[str, Any] = {}

    def _of_samples(self, rows: Any) -> CachingViews:
        some = CachingViews(super()._of_samples(rows))
        some.new = {transform: stack.rows(rows) for transform, stack in self.new.items()}
        return some

    def fitted(
        self, specs: Sequence[Any], spectra: bool, drop_constant: bool
    ) -> tuple[Any, list[int], KernelStack] | None:
        """Return a transform that was fitted to these samples and has kernels of these specs, with `spectra` if asked.

        One that has dropped a constant kernel among these does not serve where such a kernel is refused. Also returned
        are the positions of the specs among its kernels, and their training kernels.
        """
        for transform, stack in self.fits:
            if spectra and not transform.spectra:
                continue
            try:
                positions = [transform.specs.index(spec) for spec in specs]
            except ValueError:  # not one of them, or arrays in it, which can't be compared
                continue
            kept = (transform.specs[position] for position in positions)
            if [*map(_columns_in, kept)] != [*map(_columns_in, specs)]:
                continue
            if drop_constant or not any("constant" in transform.infos[position] for position in positions):
                return transform, positions, stack.select(positions)
        return None


def kept(X: Any, compute: Callable[[], Value], *key: Any) -> Value:
    """Return what a function computes from samples, once for each key where they are `CachingViews`."""
    if not isinstance(X, CachingViews):
        return compute()
    name = str(joblib.hash(key))
    if name not in X.values:
        X.values[name] = compute()
    value: Value = X.values[name]
    return value
