"""The plan of a study: data sets, everything computed from them, and the fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mklearn.contract.method import FixedCombination
from mklearn.contract.specs import KernelSetSpec, SplitSpec
from mklearn.errors import ConfigError
from mklearn.study.datasets import DatasetConfig
from mklearn.study.expansion.datasets import PlannedDataset, planned_dataset
from mklearn.study.expansion.descriptors import PlannedDescriptor, planned_descriptors
from mklearn.study.expansion.fits import PlannedFit, planned_fits
from mklearn.study.expansion.kernels import PlannedPairwise, planned_kernels
from mklearn.study.expansion.protocols import PlannedProtocol, planned_protocols
from mklearn.study.layout import Layout
from mklearn.study.model import Study


@dataclass(frozen=True)
class Plan:
    """Everything that a study makes, by key; made by :func:`plan_study`."""

    study: Study
    datasets: Mapping[str, PlannedDataset]
    descriptors: Mapping[tuple[str, str], PlannedDescriptor]
    """By data set and descriptor."""
    pairwise: Mapping[tuple[str, str, str], PlannedPairwise]
    """By data set, descriptor (or the user's matrix) and measure."""
    kernel_sets: Mapping[tuple[str, str], KernelSetSpec]
    """By data set and kernel set."""
    protocols: Mapping[str, SplitSpec]
    fits: Mapping[tuple[str, str, str], PlannedFit]
    """By data set, protocol and method."""

    @property
    def layout(self) -> Layout:
        """Where its artefacts lie."""
        return Layout(self.study.results, self.study.study)

    @property
    def reference(self) -> str:
        """The method that all others are compared with; empty if there is none."""
        named = self.study.evaluation.reference
        if named:
            return named
        for name, method in self.study.methods.items():
            uniform = isinstance(method, FixedCombination) and method.kernel_weights == "uniform"
            if uniform and getattr(method, "kernels", None) == "all":
                return name
        return ""


@dataclass(frozen=True)
class _DatasetPlan:
    """What a study makes of one data set."""

    dataset: PlannedDataset
    descriptors: list[PlannedDescriptor]
    pairwise: list[PlannedPairwise]
    fits: list[PlannedFit]


def plan_study(study: Study) -> Plan:
    """Expand a study.

    Raises
    ------
    ConfigError
        If a data set has none of the kernels that a method asks for, two kernels or methods would have one name, or a
        path does not exist.
    """
    protocols = planned_protocols(study.protocols, study.seed)
    parts = [_plan_dataset(study, name, config, protocols) for name, config in study.datasets.items()]
    fits = {(part.dataset.key, fit.protocol, fit.method): fit for part in parts for fit in part.fits}
    return Plan(
        study,
        datasets={part.dataset.key: part.dataset for part in parts},
        descriptors={(part.dataset.key, planned.key): planned for part in parts for planned in part.descriptors},
        pairwise={(part.dataset.key, p.source, p.spec.measure): p for part in parts for p in part.pairwise},
        kernel_sets={
            (dataset, fit.kernel_set): fit.kernel_set_spec
            for (dataset, _, _), fit in fits.items()
            if fit.kernel_set is not None and fit.kernel_set_spec is not None
        },
        protocols={protocol.key: protocol.spec for protocol in protocols},
        fits=fits,
    )


def _plan_dataset(
    study: Study, dataset_id: str, config: DatasetConfig, protocols: Iterable[PlannedProtocol]
) -> _DatasetPlan:
    dataset = planned_dataset(dataset_id, config, Layout(study.results, study.study), study.mirror)
    descriptors = planned_descriptors(dataset, config, study.descriptors, study.seed)
    kernels = planned_kernels(dataset, config, study.kernels, descriptors)
    _check_unique(f"datasets.{dataset_id}: kernels", [kernel.spec["id"] for kernel in kernels])
    chosen = [protocol for protocol in protocols if protocol.datasets is None or dataset_id in protocol.datasets]
    specs = [kernel.spec for kernel in kernels]
    by_id = {name: (planned.key, planned.config) for name, planned in descriptors.items()}
    fits = [
        fit
        for method_id, method in study.methods.items()
        for fit in planned_fits(
            dataset, method_id, method, specs, by_id, chosen, study.evaluation, study.seed
        )
    ]  # fmt: skip
    _check_unique(
        f"datasets.{dataset_id}: methods", [fit.method_id for fit in fits if fit.protocol == fits[0].protocol]
    )
    used = dict.fromkeys(descriptors[kernel.descriptor].key for kernel in kernels if kernel.descriptor is not None)
    used |= dict.fromkeys(name for fit in fits for name in fit.descriptors)
    by_key = {planned.key: planned for planned in descriptors.values()}
    pairwise = [kernel.pairwise for kernel in kernels if kernel.pairwise is not None]
    return _DatasetPlan(dataset, [by_key[name] for name in used], pairwise, fits)


def _check_unique(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{what}: more than one would have the name {', '.join(twice)}; rename one of them.")
