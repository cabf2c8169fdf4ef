"""What each job asks for: memory, minutes, licences and its turn, by the plan and by the size of its input.

The arithmetic is that of :mod:`mklearn.plan.resources`; here it meets the rules.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklearn.kernels.costs import point_set_seconds_per_pair
from mklearn.plan import resources
from mklearn.plan.datasets import PlannedDataset
from mklearn.workflow import Targets

Wildcards = Any


class JobResources:
    """Resource functions of the rules: MB and minutes for an attempt, which is 1 at first."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def _n_samples(self, dataset: PlannedDataset) -> int:
        """As planned; of a user's own data as counted, once they are read."""
        samples = Path(self._targets.path(f"cache/data/{dataset.original}.npz"))
        return dataset.n_samples or resources.counted_samples(samples) or resources.UNKNOWN_SAMPLES

    def read_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_mb(resources.reading_mb(self._read_mb(wildcards, input)), attempt)

    def read_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_minutes(2 * self._read_mb(wildcards, input), attempt)

    def _read_mb(self, wildcards: Wildcards, input: Any) -> float:
        """Of what is read: a folder of images is no input of the rule."""
        return float(input.size_mb + resources.folder_mb(self._targets.read_spec(wildcards)))

    def images_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n = self._n_samples(self._targets.dataset(wildcards))
        return resources.asked_mb(resources.images_mb(input.size_mb, n), attempt)

    def images_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_minutes(resources.images_seconds(input.size_mb), attempt)

    def pairwise_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n = self._n_samples(self._targets.dataset(wildcards))
        return resources.asked_mb(resources.pairwise_mb(n, input.size_mb), attempt)

    def pairwise_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n = self._n_samples(self._targets.dataset(wildcards))
        seconds = resources.pairwise_seconds(n, input.size_mb)
        planned = self._targets.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure]
        if "rows" in planned.spec:  # between sets of points
            points = self._targets.descriptor_spec(wildcards)["parameters"]
            per_pair = point_set_seconds_per_pair(points["n_points"], points["n_components"])
            seconds = n**2 / 2 * per_pair / planned.n_blocks
        return resources.asked_minutes(seconds, attempt)

    def fit_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        fit = self._targets.planned_fit(wildcards)
        if not fit.kernel_set:
            return resources.asked_mb(resources.sample_fit_mb(input.size_mb), attempt)
        n, n_train = self._fit_samples(wildcards)
        matrices = self._targets.plan.kernel_sets[wildcards.dataset, fit.kernel_set]["pairwise"]
        data = resources.kernel_fit_mb(n, max(n_train), len(matrices), len(fit.spec.kernels))
        return resources.asked_mb(data, attempt)

    def fit_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        _, n_train = self._fit_samples(wildcards)
        protocol = self._targets.plan.protocols[wildcards.protocol]
        return resources.fit_minutes(self._targets.fit_spec(wildcards), protocol, n_train, attempt)

    def fit_priority(self, wildcards: Wildcards) -> float:
        """Less than that of the rules that fits wait for, which is 1."""
        _, n_train = self._fit_samples(wildcards)
        protocol = self._targets.plan.protocols[wildcards.protocol]
        return resources.fit_priority(self._targets.fit_spec(wildcards), protocol, n_train)

    def _fit_samples(self, wildcards: Wildcards) -> tuple[int, list[int]]:
        """All samples, and those of one split's training at each training size."""
        dataset = self._targets.planned_fit(wildcards).dataset
        n, protocol = self._n_samples(dataset), self._targets.plan.protocols[wildcards.protocol]
        return n, resources.training_samples(protocol, n, resources.number_of_classes(dataset.read))

    def licences(self, wildcards: Wildcards) -> int:
        spec = self._targets.fit_spec(wildcards)
        return resources.licences(spec["method"], len(spec.get("kernels", ())))
