"""Resource functions of the rules: the arithmetic of :mod:`mklearn.study.resources`, applied to the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklearn.study import resources
from mklearn.study.expansion.datasets import PlannedDataset
from mklearn.study.expansion.kernels import number_of_matrices
from mklearn.study.targets import Targets

Wildcards = Any


class JobResources:
    """Memory in MB, run time in minutes, licences and priority of each job; the first attempt is 1."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def _n_samples(self, dataset: PlannedDataset) -> int:
        """Planned sample count; for a user's own data the counted one after reading."""
        samples = Path(self._targets.path("samples", dataset=dataset.original))
        return dataset.n_samples or resources.counted_samples(samples) or resources.UNKNOWN_SAMPLES

    def read_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        dataset = self._targets.dataset(wildcards)
        decoded = resources.decoded_mb(dataset.read, dataset.n_samples or 0)
        data = max(8 * self._read_mb(wildcards, input), 2 * decoded)  # archives grow two or three times
        return resources.asked_mb(data, attempt)

    def read_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_minutes(2 * self._read_mb(wildcards, input), attempt)

    def _read_mb(self, wildcards: Wildcards, input: Any) -> float:
        """Size of the files to read; a folder of images is no input of the rule."""
        return float(input.size_mb + resources.folder_mb(self._targets.dataset(wildcards).read))

    def images_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n = self._n_samples(self._targets.dataset(wildcards))
        return resources.asked_mb(resources.images_mb(input.size_mb, n), attempt)

    def images_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_minutes(2 * input.size_mb, attempt)  # two seconds for a million pixels

    def pairwise_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n = self._n_samples(self._targets.dataset(wildcards))
        return resources.asked_mb(resources.pairwise_mb(n, input.size_mb), attempt)

    def pairwise_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n = self._n_samples(self._targets.dataset(wildcards))
        seconds = resources.pairwise_seconds(n, input.size_mb)
        planned = self._targets.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure]
        if planned.spec.rows:  # between sets of points
            descriptor = self._targets.plan.descriptors[wildcards.dataset, wildcards.descriptor].config
            seconds = n**2 / 2 * descriptor.seconds_per_pair() / planned.n_blocks
        return resources.asked_minutes(seconds, attempt)

    def project_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_mb(resources.sample_fit_mb(input.size_mb), attempt)

    def project_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n_splits = resources.number_of_splits(self._targets.plan.protocols[wildcards.protocol])
        spec = self._targets.plan.projections[wildcards.dataset, wildcards.protocol, wildcards.descriptor]
        # 1 ns for a feature of a sample and component (measured: 0.2 ns)
        return resources.asked_minutes(n_splits * (input.size_mb * 2**20 / 4 * spec.components * 1e-9), attempt)

    def fit_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        fit = self._targets.planned_fit(wildcards)
        if not fit.spec.kernels:
            return resources.asked_mb(resources.sample_fit_mb(input.size_mb), attempt)
        n, n_train = self._fit_samples(wildcards)
        scalings = max(1, len(fit.spec.method.grid.get("feature_scaling", [])))  # the kernels of each are kept
        n_kernels = scalings * len(fit.spec.kernels)
        data = resources.kernel_fit_mb(n, max(n_train), number_of_matrices(fit.spec.kernels), n_kernels)
        if fit.spec.kernel_features:
            data += resources.sample_fit_mb(input.size_mb)
        return resources.asked_mb(data, attempt)

    def fit_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        _, n_train = self._fit_samples(wildcards)
        protocol = self._targets.plan.protocols[wildcards.protocol]
        return resources.fit_minutes(self._targets.planned_fit(wildcards).spec, protocol, n_train, attempt)

    def fit_priority(self, wildcards: Wildcards) -> float:
        """Priority below 1, which is that of the rules that fits wait for."""
        _, n_train = self._fit_samples(wildcards)
        protocol = self._targets.plan.protocols[wildcards.protocol]
        return resources.fit_priority(self._targets.planned_fit(wildcards).spec, protocol, n_train)

    def landmarks_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_mb(resources.sample_fit_mb(min(input.size_mb, 1000)), attempt)

    def landmarks_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_minutes(0.02 * input.size_mb + 60, attempt)

    def block_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        """Memory of a pass over one block: its features twice, and moments."""
        moments = resources.moments_mb(*self._moments(wildcards))
        return resources.asked_mb(2 * input.size_mb + 200 + moments, attempt)

    def block_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        dataset = self._targets.dataset(wildcards)
        n_features, _, n_splits = self._moments(wildcards)
        n = self._n_samples(dataset) / dataset.n_blocks
        return resources.asked_minutes(resources.pass_seconds(round(n), n_features, n_splits), attempt)

    def moments_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_mb(2 * input.size_mb + resources.moments_mb(*self._moments(wildcards)), attempt)

    def moments_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        n_features, n_folds, n_splits = self._moments(wildcards)
        return resources.asked_minutes(n_splits * n_folds * 20 * n_features**3 * 1e-10, attempt)

    def embeddings_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        return resources.asked_mb(8 * input.size_mb + 500, attempt)

    def _moments(self, wildcards: Wildcards) -> tuple[int, int, int]:
        """Landmark features, inner folds and splits of a landmark set, or of that of a fit."""
        spec = self._targets.landmark_set_spec(wildcards)
        protocol = self._targets.plan.protocols[wildcards.protocol]
        n_features = spec.landmarks.most * len(spec.kernels)
        return n_features, spec.inner_folds, resources.number_of_splits(protocol)

    def final_memory(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        final = self._targets.final
        n, fits = self._n_samples(final.dataset), [candidate.fit for candidate in final.spec.candidates]
        data = max(resources.final_fit_mb(fit, n) for fit in fits)
        return resources.asked_mb(data + resources.sample_fit_mb(input.size_mb), attempt)

    def final_minutes(self, wildcards: Wildcards, input: Any, attempt: int) -> int:
        """Run time of the longest candidate, on one split of all samples."""
        final = self._targets.final
        n, fits = self._n_samples(final.dataset), [candidate.fit for candidate in final.spec.candidates]
        protocol = self._targets.plan.protocols[final.protocol].model_copy(update={"parameters": {"repeats": 1}})
        return resources.asked_minutes(max(resources.final_fit_seconds(fit, protocol, n) for fit in fits), attempt)

    def _fit_samples(self, wildcards: Wildcards) -> tuple[int, list[int]]:
        """Number of samples, or of pairs, and of training samples of a split at each training size."""
        fit = self._targets.planned_fit(wildcards)
        n, protocol = self._n_samples(fit.dataset), self._targets.plan.protocols[wildcards.protocol]
        if fit.spec.pairs is not None:
            own = protocol.parameters.get("path")
            n = (resources.counted_pairs(own) if own else fit.dataset.n_pairs) or n
        n_classes = resources.number_of_classes(fit.dataset.read)
        return n, resources.training_samples(protocol, fit.settings, n, n_classes)

    def licences(self, wildcards: Wildcards) -> int:
        spec = self._targets.planned_fit(wildcards).spec
        return resources.licences(spec.method, len(spec.kernels))
