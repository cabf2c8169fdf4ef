"""The model that a study ends with: the methods that it can be of, and the descriptors that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mklearn.errors import ConfigError
from mklearn.extras import require
from mklearn.study.datasets import FeatureTables, TableFile
from mklearn.study.final import final_protocol, unsuited
from mklearn.study.plan.datasets import PlannedDataset, PlannedProtocol
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.plan.kernels import PlannedDescriptor, kernels_on_features, unsuited_kernels
from mklearn.study.specs.final_spec import BEST, FinalCandidate, FinalSpec, ModelInputs, ModelView
from mklearn.study.specs.fit_spec import FitSpec, Setting
from mklearn.study.study import Study

GIVEN = ("given", "released")
"""Protocols whose splits are read, not drawn."""


@dataclass(frozen=True)
class PlannedFinal:
    """The job of the final model."""

    dataset: PlannedDataset
    protocol: str
    """Key of the protocol whose splits say what is expected."""
    descriptors: list[str]
    """Keys of the views of the specification."""
    spec: FinalSpec


def planned_final(
    study: Study,
    dataset: PlannedDataset,
    descriptors: Mapping[str, PlannedDescriptor],
    fits: Sequence[PlannedFit],
    protocols: Sequence[PlannedProtocol],
) -> PlannedFinal:
    """Plan the model of a study with the section ``final``, on its data set; descriptors are by key.

    Raise ConfigError for kernels that can't be computed from the features of a new sample, or no method to choose.
    """
    final = study.final
    assert final is not None
    require("skops")  # known now, not after the fits
    named = final_protocol(study)
    protocol = next(protocol for protocol in protocols if protocol.id == named)
    names = {key: planned.id for key, planned in descriptors.items()}
    config, candidates, reasons = study.datasets[dataset.id], [], []
    for fit in fits:
        if fit.protocol != protocol.key or final.method not in (BEST, fit.method_id):
            continue
        method = study.methods[fit.entry]
        reason = unsuited(method, study.evaluation.neighbours) or unsuited_kernels(fit.spec.kernels)
        foreign = [descriptors[key].id for key in fit.spec.descriptors if ":" in descriptors[key].config.kind]
        if foreign and not reason:
            reason = f"takes descriptor {foreign[0]!r} of another package, whose code a model file does not name"
        if reason:
            reasons.append(f"{fit.method_id} {reason}")
            continue
        named_fit = _on_named_features(fit.spec, names, completes=isinstance(config, FeatureTables))
        candidates.append(FinalCandidate(fit=named_fit, title=fit.label, kind=method.kind))
    if not candidates:
        what = "no method can be a model" if final.method == BEST else "this method can't be a model"
        listed = "; ".join(reasons) or f"{final.method!r} is not evaluated by protocol {named!r}"
        raise ConfigError(
            f"final.method: {what} of data set {dataset.id!r}: {listed}. A model needs kernels of one descriptor each "
            "that is a vector, or features."
        )
    used = {name for candidate in candidates for name in candidate.fit.descriptors}
    views = sorted((planned for planned in descriptors.values() if planned.id in used), key=lambda view: view.id)
    tables = config.tables if isinstance(config, FeatureTables) else {}
    spec = FinalSpec(
        study=study.study,
        dataset=dataset.id,
        title=dataset.title,
        method=final.method,
        metric=final.metric,
        candidates=candidates,
        inputs=ModelInputs(
            family=dataset.family,
            options=dataset.read["options"],
            resize=dataset.resize,
            views=[_view(planned, tables) for planned in views],
        ),
        exclude_classes=list(protocol.spec.parameters.get("exclude_classes") or []),
        given_splits=protocol.spec.kind in GIVEN,
        include_test=final.include_test,
        permutations=final.importances or 0,
    )
    return PlannedFinal(dataset, protocol.key, [planned.key for planned in views], spec)


def _on_named_features(spec: FitSpec, names: Mapping[str, str], *, completes: bool) -> FitSpec:
    """Return a fit on the views of the library; ``completes`` kernels of new samples that lack a view."""
    largest: Setting = max(spec.settings, key=lambda setting: setting.train_size or 0)
    completion = {"missing_views": "mean"} if completes else {}
    kernels = [kernel | {"view": names[kernel["view"]]} | completion for kernel in kernels_on_features(spec.kernels)]
    inputs = {
        name: entry.model_copy(update={"descriptors": [names[key] for key in entry.descriptors]})
        for name, entry in spec.method.inputs.items()
    }
    method = spec.method.model_copy(update={"inputs": inputs})
    return spec.model_copy(update={"kernels": kernels, "settings": [largest], "method": method})


def _view(descriptor: PlannedDescriptor, tables: Mapping[str, str | TableFile]) -> ModelView:
    spec = {name: value for name, value in descriptor.spec.items() if name != "implementation"}
    table = tables.get(str(spec["parameters"].get("table")))
    path = table.path if isinstance(table, TableFile) else table
    return ModelView(
        name=descriptor.id, **spec, learns=bool(descriptor.learning),
        file=path and Path(path).name, array=table.array if isinstance(table, TableFile) else None,
    )  # fmt: skip
