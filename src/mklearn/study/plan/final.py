"""The model that a study ends with: the methods that it can be of, and the descriptors that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mklearn.descriptors.table import TABLE
from mklearn.errors import ConfigError
from mklearn.extras import require
from mklearn.study.datasets import FeatureTables, TableFile
from mklearn.study.final import final_protocol, unsuited
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.descriptors import PlannedDescriptor
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.plan.landmarks import kernels_on_features, unsuited_kernels
from mklearn.study.plan.protocols import PlannedProtocol
from mklearn.study.specs.final_spec import BEST, FinalCandidate, FinalSpec, FinalView
from mklearn.study.specs.fit_spec import FitSpec, Setting
from mklearn.study.specs.model_card import CardImages, CardTables
from mklearn.study.study import Study

GIVEN = ("given", "released")
"""Protocols whose splits are read, not drawn."""


@dataclass(frozen=True)
class PlannedFinal:
    """The job of the final model."""

    dataset: PlannedDataset
    protocol: str
    """Key of the protocol whose splits say what is expected."""
    spec: FinalSpec


def planned_final(
    study: Study,
    dataset: PlannedDataset,
    descriptors: Mapping[str, PlannedDescriptor],
    fits: Sequence[PlannedFit],
    protocols: Sequence[PlannedProtocol],
) -> PlannedFinal:
    """Plan the model of a study with the section ``final``, on its data set; descriptors are by key.

    Raises
    ------
    ConfigError
        The method takes kernels that can't be computed from the features of a new sample, or no method can be chosen.
    MissingExtra
        skops is not installed: known now, not after the fits.
    """
    final = study.final
    assert final is not None
    require("skops")
    named = final_protocol(study)
    protocol = next(protocol for protocol in protocols if protocol.id == named)
    names = {key: planned.id for key, planned in descriptors.items()}
    candidates, reasons = [], []
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
        named_fit = _on_named_features(fit.spec, names)
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
    config = study.datasets[dataset.id]
    own_tables = config.tables if isinstance(config, FeatureTables) else {}
    options = dataset.read.options
    spec = FinalSpec(
        study=study.study,
        dataset=dataset.id,
        title=dataset.title,
        method=final.method,
        metric=final.metric,
        candidates=candidates,
        views=[_view(planned, own_tables) for planned in views],
        images=_images(dataset) if dataset.family == "images" else None,
        tables=_tables(config) if isinstance(config, FeatureTables) else None,
        exclude_classes=list(protocol.spec.parameters.get("exclude_classes") or []),
        given_splits=protocol.spec.kind in GIVEN,
        include_test=final.include_test,
        permutations=final.importances or 0,
        **({"target": str(options.get("target") or options["label_column"])} if dataset.target == "numbers" else {}),
    )
    return PlannedFinal(dataset, protocol.key, spec)


def _on_named_features(spec: FitSpec, names: Mapping[str, str]) -> FitSpec:
    largest: Setting = max(spec.settings, key=lambda setting: setting.train_size or 0)
    kernels = [kernel | {"view": names[kernel["view"]]} for kernel in kernels_on_features(spec.kernels)]
    inputs = {
        name: entry.model_copy(update={"descriptors": [names[key] for key in entry.descriptors]})
        for name, entry in spec.method.inputs.items()
    }
    method = spec.method.model_copy(update={"inputs": inputs})
    return spec.model_copy(update={"kernels": kernels, "settings": [largest], "method": method})


def _view(descriptor: PlannedDescriptor, own_tables: Mapping[str, str | TableFile]) -> FinalView:
    config = descriptor.config
    table = own_tables.get(str(config.table)) if config.kind == TABLE else None
    return FinalView(
        name=descriptor.id, descriptor=descriptor.key, kind=descriptor.spec.kind,
        parameters=descriptor.spec.parameters, learns=bool(descriptor.spec.learns),
        dtype=descriptor.spec.dtype,
        column_table=table.path if isinstance(table, TableFile) else table,
        column_array=table.array if isinstance(table, TableFile) else None,
    )  # fmt: skip


def _images(dataset: PlannedDataset) -> CardImages:
    resize = None if dataset.resize is None else dataset.resize.model_dump()
    return CardImages(colour=dataset.read.options.get("colour", "grey"), resize=resize)


def _tables(config: FeatureTables) -> CardTables:
    return CardTables(
        id_column=config.id_column, id_prefix=config.id_prefix, label_column=config.target or config.label_column,
        group_column=config.group_column, task=config.task_of_target, leave_out=config.leave_out,
        missing_labels=config.missing_labels,
    )  # fmt: skip
