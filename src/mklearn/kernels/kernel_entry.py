"""Kernels of specs, fitted to their inputs, and pairwise measures that several kernels share."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mklearn.checks import Array, check_keys
from mklearn.errors import ConfigError, ConstantKernel, DataError, NotApplicable
from mklearn.kernels.completion import Mask, MeanCompletion
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.source import FEATURE_KEYS, Source, own_values
from mklearn.kernels.specs import declared, kernel_class
from mklearn.kernels.views import Pairwise, Views


class KernelEntry:
    """A kernel with its spec, see `mklearn.kernels.transform.StackTransform`, and its inputs.

    Attributes
    ----------
    parts : list of mappings
        The keys of the spec that choose features. A product has one mapping for each factor, in which the spec
        supplies the keys that the factor lacks.
    sources : list of Source
        One for each part; fitted by `read`.
    observed : (n,) bool array
        Mask of the training samples that have every view that the kernel reads. Set by `fit`.
    is_constant : bool
        Whether the kernel is zero: the training samples coincide in it, or fewer than two have its views.
    info : dict
        See `mklearn.kernels.transform.StackTransform.infos`.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.id, self.spec = spec["id"], spec
        with error_prefix(self.id):
            of_class = kernel_class(spec)
        parameters = declared(of_class)
        valid = tuple(dict.fromkeys(("id", "kind", "implementation", *FEATURE_KEYS, *parameters)))
        check_keys(spec, valid, f"kernel {self.id!r}")
        missing = [f"`{key}`" for key, each in parameters.items() if each.default is each.empty and key not in spec]
        if missing:
            raise ConfigError(f"kernel {self.id!r} needs a value for {', '.join(missing)}")
        with error_prefix(self.id):
            self.kernel = of_class(**{key: spec[key] for key in parameters if key in spec}, name=self.id)
            shared = {key: value for key, value in spec.items() if key in FEATURE_KEYS}
            self.parts: list[dict[str, Any]] = [{**shared, **factor} for factor in spec.get("factors", [{}])]
            self.sources = [Source(part) for part in self.parts]

    def read(self, table: Any, shared: dict[Any, Source], *, drop_constant: bool) -> None:
        """Fit the sources of the kernel to the training samples; `shared` are sources of other kernels, by key."""
        self.sources = []
        for part, (_, measure) in zip(self.parts, self.kernel.inputs, strict=True):
            view = part.get("view")
            if isinstance(table, Views):
                hint = "; say which one with `view`" if view is None else ""
                view = str(self.id if view is None else view)
                if view not in table.names:
                    raise DataError(f"X has no view {view!r}: its views are {', '.join(map(repr, table.names))}{hint}")
            elif view is not None:
                raise DataError(
                    f"it needs view {view!r}, but X is one table; pass a dict of tables or `mklearn.kernels.Views`"
                )
            if measure not in MEASURES and not isinstance(table if view is None else table[view], Pairwise):
                raise ConfigError(
                    f"measure {measure} can't be computed from features: its view must be mklearn.kernels.Pairwise; or "
                    "pass all kernels themselves with kernels='precomputed'"
                )
            source = Source(part, view)
            if source.key not in shared:
                shared[source.key] = source.fit(table, shared.get(source.selection), may_be_absent=drop_constant)
                shared.setdefault(source.selection, source)
            self.sources.append(shared[source.key])

    def fit(self, blocks: list[Array], *, overwrite: bool, drop_constant: bool) -> Array:
        """Fit the kernel to its measures, `blocks`, and return the completed training kernel.

        To save memory, `blocks` is emptied and the training kernel is not kept. For the other parameters see
        `mklearn.kernels.Kernel.fit` and `mklearn.kernels.transform.StackTransform`.
        """
        self.observed = np.logical_and.reduce([source.observed_ for source in self.sources])
        n, n_observed = len(self.observed), int(self.observed.sum())
        self.is_constant = n_observed < 2 <= n
        if self.is_constant and not drop_constant:
            raise NotApplicable(f"{n_observed} of the {n} training samples have its view; at least two are needed")
        training = []
        for block, source in zip(blocks, self.sources, strict=True):
            kept = self.observed[source.observed_]
            training.append(_part(block, kept, kept))
        blocks.clear()
        computed = not any(isinstance(source.train_, Pairwise) for source in self.sources)
        self._completion: MeanCompletion | None = None
        try:
            if not self.is_constant:
                self.kernel.fit(*training, measured=computed, overwrite=overwrite)
        except ConstantKernel:
            if not drop_constant:
                raise
            self.is_constant = True
        if self.is_constant:
            self.info: dict[str, Any] = {"id": self.id, "constant": True}
            return np.zeros((n, n), dtype=training[0].dtype)
        del training
        kernel, repair = self.kernel.kernel_train_, self.kernel.repair_
        self.info = {"id": self.id, **self.kernel.info_}
        if any(source.completes for source in self.sources):
            self.info["n_missing"] = n - n_observed
            self._completion = MeanCompletion.of(self.kernel, self.observed)
            kernel = self._completion.training_kernel(kernel)
        del self.kernel.kernel_train_  # not needed for new samples, nor is the kernel of the repair
        self.kernel.repair_ = replace(repair, kernel=np.empty((0, n_observed), dtype=repair.kernel.dtype))
        return kernel

    def rows(self, new: Sequence[tuple[Any, Mask]], blocks: Sequence[Array], dtype: Any) -> Array:
        """Return the completed kernel between new samples and the training samples, (m, n).

        `new` has the values and mask of `mklearn.kernels.source.Source.transform` for each part, `blocks` the measures
        of the kernel, (m_present, n_observed) each. `dtype` is used if no sample has the view.
        """
        present = np.logical_and.reduce([mask for _, mask in new])
        if self.is_constant:
            return np.zeros((len(present), len(self.observed)), dtype=dtype)
        kernel: Array = np.empty((0, int(self.observed.sum())), dtype=dtype)
        if present.any():
            rows = [
                _part(block, present[mask], self.observed[source.observed_])
                for (_, mask), source, block in zip(new, self.sources, blocks, strict=True)
            ]
            unit = self.kernel.normalise == "unit_diagonal"
            own = [_part(own_values(values), present[mask]) for values, mask in new] if unit else None
            kernel = self.kernel.transform(*rows, own=own)
        return kernel if self._completion is None else self._completion.rows(kernel, present)


def shared_blocks(
    entries: Sequence[KernelEntry], compute: Callable[[Source, str], Array]
) -> Iterator[tuple[KernelEntry, list[Array], bool]]:
    """Yield each kernel with its measures, and whether it may overwrite them.

    `compute` computes a measure from a source and the measure's name. A measure that several kernels share is computed
    once and dropped after the last one.
    """
    names = [
        [(source.key, measure) for source, (_, measure) in zip(entry.sources, entry.kernel.inputs, strict=True)]
        for entry in entries
    ]
    left = Counter(name for of_entry in names for name in of_entry)
    kept: dict[Any, Array] = {}
    for entry, of_entry in zip(entries, names, strict=True):
        taken = []
        with error_prefix(entry.id):
            for source, name in zip(entry.sources, of_entry, strict=True):
                if name not in kept:
                    kept[name] = compute(source, name[1])
                left[name] -= 1
                taken.append(kept[name] if left[name] else kept.pop(name))
        yield entry, taken, len(set(of_entry)) == len(of_entry) and not any(left[name] for name in of_entry)


@contextlib.contextmanager
def error_prefix(name: str) -> Iterator[None]:
    """Prefix the message of an error with the id of the kernel."""
    try:
        yield
    except (ConfigError, DataError, NotApplicable) as error:
        raise type(error)(f"kernel {name!r}: {error}") from error


def _part(block: Any, rows: Mask, columns: Mask | None = None) -> Any:
    """Return the masked rows and columns of a block, without a copy if all are chosen; None for None."""
    if block is None or (rows.all() and (columns is None or columns.all())):
        return block
    return block[rows] if columns is None else block[np.ix_(rows, columns)]
