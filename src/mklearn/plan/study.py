"""The plan as a whole: data sets, what is computed from them, and the fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mklearn.config.study import Study
from mklearn.contract.model import Registered
from mklearn.errors import ConfigError
from mklearn.plan.datasets import PlannedDataset, planned_dataset
from mklearn.plan.descriptors import PlannedDescriptor, add_descriptor, descriptor_key, descriptors_of
from mklearn.plan.fits import PlannedFit, planned_fits
from mklearn.plan.kernels import PlannedPairwise, planned_kernels
from mklearn.plan.protocols import planned_protocols
from mklearn.registry import registered

Spec = dict[str, Any]


@dataclass
class Plan:
    """Everything that a study makes, by key. Built by :func:`plan_study`."""

    study: Study
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    descriptors: dict[tuple[str, str], PlannedDescriptor] = field(default_factory=dict)
    pairwise: dict[tuple[str, str, str], PlannedPairwise] = field(default_factory=dict)
    kernel_sets: dict[tuple[str, str], Spec] = field(default_factory=dict)
    protocols: dict[str, Spec] = field(default_factory=dict)
    fits: dict[tuple[str, str, str], PlannedFit] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        return Path(self.study.results) / "cache"

    @property
    def output(self) -> Path:
        return Path(self.study.results) / self.study.study

    @property
    def reference(self) -> str:
        """The method that all others are compared with."""
        named = self.study.evaluation.reference
        if named:
            return named
        for name, method in self.study.methods.items():
            uniform = getattr(method, "kernel_weights", None) == "uniform"
            if uniform and getattr(method, "kernels", None) == "all":
                return name
        return ""

    def titles(self) -> dict[str, dict[str, str]]:
        """Names as people read them, by id: for the report, and in no key."""
        return {
            "datasets": {dataset.id: dataset.title for dataset in self.datasets.values()},
            "methods": {fit.method_id: fit.label for fit in self.fits.values()},
        }

    def catalogue(self) -> dict[str, list[dict[str, str]]]:
        """What the study uses, with papers: for the report."""

        used = {
            "descriptors": {
                name.rsplit("-", 1)[0]: planned.spec["kind"] for (_, name), planned in self.descriptors.items()
            },
            "kernels": {k["id"]: k["kind"] for spec in self.kernel_sets.values() for k in spec["kernels"]},
            "methods": {name: method.kind for name, method in self.study.methods.items()},
        }
        return {what: [_entry(registered(what)[kind], name) for name, kind in found.items()]
                for what, found in used.items()}  # fmt: skip


def _entry(model: type[Registered], name: str) -> dict[str, str]:
    return {"id": name, "title": model.title, "reference": model.reference}


def plan_study(study: Study) -> Plan:
    """Spell a study out.

    Raises
    ------
    ConfigError
        If a data set has none of the kernels that a method asks for, two kernels or methods would have one name, or a
        path does not exist.
    """
    plan = Plan(study)
    protocols = list(planned_protocols(study))
    plan.protocols = {protocol.key: protocol.spec for protocol in protocols}
    for dataset_id, config in study.datasets.items():
        dataset = planned_dataset(study, dataset_id, config)
        plan.datasets[dataset.key] = dataset
        kernels = planned_kernels(plan, dataset, config)
        _no_twins(f"datasets.{dataset_id}: kernels", [kernel["id"] for kernel in kernels])
        chosen = [protocol for protocol in protocols if protocol.datasets is None or dataset_id in protocol.datasets]
        fit_ids: list[str] = []
        descriptors = {
            name: (descriptor_key(plan, name, model), model)
            for name, model in descriptors_of(plan, dataset, config).items()
        }
        for method_id, method in study.methods.items():
            fits = planned_fits(dataset, method_id, method, kernels, descriptors, chosen, study.evaluation, study.seed)
            fit_ids += dict.fromkeys(fit.method_id for fit in fits)
            for fit in fits:
                plan.fits[dataset.key, fit.protocol, fit.method] = fit
                if fit.kernel_set is not None and fit.kernel_set_spec is not None:
                    plan.kernel_sets[dataset.key, fit.kernel_set] = fit.kernel_set_spec
                for name, (descriptor, model) in descriptors.items():
                    if descriptor in fit.descriptors:
                        add_descriptor(plan, dataset, name, model)
        _no_twins(f"datasets.{dataset_id}: methods", fit_ids)
    return plan


def _no_twins(what: str, names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ConfigError(f"{what}: several of them would be called {', '.join(twins)}; rename one, or name it once.")
