"""The final model: one method of the study on all samples, with its card and what its predictions rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.views import Views
from mklearn.study.artefacts import read_arrays, read_table
from mklearn.study.data.readers.table_files import Table, array_of_view
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.final_model import FinalModel, final_model
from mklearn.study.evaluation.headline import headline_rows, winner
from mklearn.study.evaluation.importances import COLUMNS
from mklearn.study.evaluation.importances import importances as measured_importances
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.outputs import MethodOutput
from mklearn.study.evaluation.split import EXPECTED, folds_of_training
from mklearn.study.evaluation.sweeps import given_by
from mklearn.study.log import logger
from mklearn.study.provenance import array_digest, digest
from mklearn.study.specs.final_spec import BEST, FinalCandidate, FinalSpec, FinalView
from mklearn.study.specs.fit_spec import IMAGES, RULE, FitSpec
from mklearn.study.specs.model_card import (
    CardData,
    CardExpectation,
    CardImages,
    CardMethod,
    CardNumbers,
    CardView,
    ModelCard,
)

FOLDS = 5
"""In which methods are compared that choose their parameters by leaving one out."""


def on_samples(data: ModelSamples, fit: FitSpec, spec: FinalSpec) -> MethodOnViews:
    """Return a method on the samples that are kept."""
    features = {name: values for name, values in data.features.items() if name in fit.descriptors}
    y = data.y[data.kept]
    if not spec.target:
        y = np.unique(y, return_inverse=True)[1].astype(np.int64)
    groups = None if data.groups is None else data.groups[data.kept]
    views = Views(features or {IMAGES: _images_of(data)})[data.kept]
    return MethodOnViews(views, y, fit.method, fit.kernels, groups=groups)


def chosen_method(
    summary: pd.DataFrame, data: ModelSamples, splits: Sequence[Split], spec: FinalSpec
) -> tuple[ModelSamples, FinalCandidate, CardExpectation]:
    """Return the samples that the model learns from, its method, and what is expected of it."""
    single = spec.given_splits and len({(split.repeat, split.test.tobytes()) for split in splits}) == 1
    candidates = spec.candidates
    if single:
        known = np.concatenate([part for split in splits for role, part in split.parts if role != "test"])
        training = replace(data, kept=np.intersect1d(data.kept, known))
        candidates = [_best_on_training_samples(training, spec)]
        data = data if spec.include_test else training
    candidate, expected = _chosen_by_summary(summary, spec, candidates)
    return data, candidate, expected.model_copy(update={"apart": single and not spec.include_test})


def _best_on_training_samples(data: ModelSamples, spec: FinalSpec) -> FinalCandidate:
    """Return the candidate with the best mean of the metric over folds of the samples that are kept.

    Each is fitted and chosen in every fold as the model is.
    """
    if len(spec.candidates) == 1:
        return spec.candidates[0]
    metric, scores = metric_named(spec.metric), []
    for candidate in spec.candidates:
        fit = candidate.fit
        problem, n_folds = on_samples(data, fit, spec), fit.evaluation.inner_folds
        every = np.arange(len(problem.y))
        try:
            folds = folds_of_training(
                problem.y, every, every[:0], n_folds if isinstance(n_folds, int) else FOLDS, fit.seed, problem.groups
            )
            values = [_score_of(problem, fit, metric, *fold, completes=spec.tables is not None) for fold in folds]
        except EXPECTED as reason:
            logger.warning("%s: %s", fit.method.id, reason)
            values = [np.nan]
        scores.append(float(np.mean(values)) * (1.0 if metric.larger_is_better else -1.0))
        logger.info("%s: %s %.4f in the training samples", fit.method.id, metric.kind, abs(scores[-1]))
    if np.isnan(scores).all():
        raise NotApplicable(f"final.method: no value of {spec.metric} is known of any method in the training samples.")
    return spec.candidates[int(np.nanargmax(scores))]


def _score_of(
    problem: MethodOnViews, fit: FitSpec, metric: Metric, train: NDArray[np.intp], test: NDArray[np.intp], *,
    completes: bool,
) -> float:  # fmt: skip
    groups = None if problem.groups is None else problem.groups[train]
    known = replace(problem, views=problem.of(train), y=problem.y[train], groups=groups)
    every, asked = np.arange(len(train)), problem.of(test)
    model = final_model(known, fit, groups, completes=completes).estimator
    model.fit(known.of(every), known.y, **known.fit_parameters(every))
    given = given_by(model, len(train), asked)
    return metric.score(MethodOutput(known.y, problem.y[test], np.asarray(model.predict(asked)), given))


def importances_of(
    estimator: Any, views: Sequence[CardView], data: ModelSamples, splits: Sequence[Split], spec: FinalSpec, seed: int
) -> pd.DataFrame:
    """Measure what predictions rest on; no rows if that is not asked for, or for a method that takes whole images.

    Features of tables have names; of other views the whole is measured.
    """
    nothing = pd.DataFrame(columns=COLUMNS)
    if not spec.permutations or not views:
        return nothing
    names = {
        view.name: (view.columns or list(map(str, range(view.n_features)))) if view.kind == "table" else []
        for view in views
    }
    takes_groups = data.groups is not None and has_fit_parameter(estimator, "groups")
    beside = {"groups": np.asarray(data.groups)} if takes_groups else {}
    try:
        return measured_importances(
            estimator, {view.name: data.features[view.name] for view in views}, names, data.labels, splits,
            permutations=spec.permutations, seed=seed, fit_parameters=beside,
        )  # fmt: skip
    except EXPECTED as reason:
        logger.warning("importances: %s", reason)
        return pd.DataFrame([{"message": str(reason)}], columns=COLUMNS)


def _images_of(data: ModelSamples) -> NDArray[np.float64]:
    if data.images is None:
        raise DataError("the method takes images of one size; set resize for the data set")
    return data.images.astype(np.float64)


@dataclass(frozen=True)
class ModelSamples:
    """All samples of the data set, in the forms that candidates take."""

    ids: NDArray[np.str_]
    y: NDArray[Any]
    labels: NDArray[Any]
    """Names of the classes, or the numbers."""
    groups: NDArray[np.str_] | None
    kept: NDArray[np.intp]
    """Those that the model is fitted on."""
    features: Mapping[str, NDArray[Any]]
    """By the name of the view, as ``digests``."""
    digests: Mapping[str, str]
    columns: Mapping[str, list[str] | None]
    """Names of the columns of tables, by the name of the view."""
    learned: Mapping[str, Mapping[str, NDArray[Any]]]
    """What descriptors have learned, by the name of the view."""
    images: NDArray[Any] | None
    image_form: CardImages | None

    def learned_of(self, views: list[FinalView]) -> dict[str, NDArray[Any]]:
        """Return the learned arrays of some views as ``VIEW/NAME``."""
        return {
            f"{view.name}/{name}": array for view in views for name, array in self.learned.get(view.name, {}).items()
        }


def read_samples(
    labels: Path, sources: list[Path], learned: list[Path], images: Path | None, tables: list[Path], spec: FinalSpec
) -> ModelSamples:
    table, _ = read_table(labels)
    ids, y = table["id"].to_numpy(dtype=str), table["y"].to_numpy()
    names = y if spec.target else table["label"].to_numpy(dtype=str)
    features, digests = {}, {}
    for view, path in zip(spec.views, sources, strict=True):
        held = read_features(path, labels, ids)
        features[view.name], digests[view.name] = held["features"], str(held["sha256"])
    known: dict[str, dict[str, NDArray[Any]]] = {}
    for view, path in zip([view for view in spec.views if view.learns], learned, strict=True):
        held = read_arrays(path)
        known[view.name] = {str(name): held[str(name)] for name in held["names"]}
    columns: dict[str, list[str] | None] = {}
    for view, path in zip([view for view in spec.views if view.column_table is not None], tables, strict=True):
        columns[view.name] = _columns(path, view, spec, features[view.name].shape[1])
    pictures = None if images is None else SampleSet.load(images).images
    form = None
    if spec.images is not None and pictures is not None:
        regular = isinstance(pictures, np.ndarray)
        shape = list(pictures.shape[1:]) if isinstance(pictures, np.ndarray) else None
        form = spec.images.model_copy(update={"shape": shape, "dtype": str(pictures[0].dtype)})
        pictures = pictures if regular else None
    return ModelSamples(
        ids=ids, y=y, labels=names,
        groups=groups_of(table),
        kept=np.arange(len(y)) if spec.target else np.flatnonzero(~np.isin(names, spec.exclude_classes)),
        features=features, digests=digests,
        columns=columns, learned=known, images=pictures if isinstance(pictures, np.ndarray) else None, image_form=form,
    )  # fmt: skip


def _columns(path: Path, view: FinalView, spec: FinalSpec, width: int) -> list[str] | None:
    """Return the names of a table's features; None of an array without names."""
    assert spec.tables is not None
    table = Table(
        path, spec.tables.id_column, spec.tables.text_columns, array=array_of_view(path, view.table, view.column_array)
    )
    names = [str(name) for name in table.numbers().columns]
    return names if table.names_columns and len(names) == width else None


def groups_kept_together(splits: Sequence[Split], groups: NDArray[np.str_] | None) -> NDArray[np.str_] | None:
    """Return the groups if none has training and test samples in any split of the study, as the evaluation does."""
    if groups is None or any(np.isin(groups[split.test], groups[split.train]).any() for split in splits):
        return None
    return groups


def groups_of(table: pd.DataFrame) -> NDArray[np.str_] | None:
    """Return the group of each sample of a table of labels; None without groups."""
    return table["group"].to_numpy(dtype=str) if "group" in table else None


def read_features(path: Path, labels: Path, ids: NDArray[np.str_]) -> dict[str, NDArray[Any]]:
    """Read the features of a view, and their digest, of the samples that a table of labels has."""
    held = read_arrays(path, ("features", "ids", "sha256"))
    if not np.array_equal(held["ids"], ids):
        raise DataError(f"{path}: holds other samples than {labels}; delete both and run again.")
    return held


def _chosen_by_summary(
    rows: pd.DataFrame, spec: FinalSpec, candidates: Sequence[FinalCandidate]
) -> tuple[FinalCandidate, CardExpectation]:
    """Return the candidate that wins by the rows of the page's headline, and what is expected of it."""
    rows = headline_rows(rows, spec.metric, RULE)
    entries = [candidate.entry for candidate in candidates]
    found = winner(rows, spec.metric, spec.dataset, entries)
    if found is None:
        names = [entry.method for entry in entries]
        messages = rows.loc[rows["method"].isin(names) & rows["mean"].isna() & rows["message"].ne(""), "message"]
        reasons = "; ".join(dict.fromkeys(messages)) or "the summary says no reason"
        raise NotApplicable(f"final.method: no value of {spec.metric} is known of {', '.join(names)}: {reasons}.")
    entry, row = entries[found.position], found.row
    expected = CardExpectation(
        metric=spec.metric, value=float(row["mean"]), low=_number(row["ci_low"]), high=_number(row["ci_high"]),
        protocol=entry.protocol, train_size=entry.train_size, n_splits=int(row["n_repeats"]),
        chosen_among=found.among if spec.method == BEST else 1,
    )  # fmt: skip
    return candidates[found.position], expected


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def model_card(
    spec: FinalSpec, candidate: FinalCandidate, expected: CardExpectation, chosen: FinalModel, data: ModelSamples,
    used: list[FinalView],
) -> ModelCard:  # fmt: skip
    kept = data.labels[data.kept]
    ordered: Any = [] if spec.target else data.labels[np.argsort(data.y, kind="stable")]  # in the order of the classes
    names = list(dict.fromkeys(ordered))
    content = {
        "ids": array_digest(data.ids[data.kept]),
        "labels": array_digest(kept),
        "views": {view.name: data.digests[view.name] for view in used},
    }
    images = next(iter(candidate.fit.method.inputs.values())).kind == "images"
    views = [
        CardView(
            name=view.name, kind=view.kind, parameters=view.parameters,
            n_features=int(data.features[view.name].shape[1]), dtype=view.dtype,
            array=view.column_array, columns=data.columns.get(view.name),
            learned=sorted(data.learned_of([view])),
        )
        for view in used
    ]  # fmt: skip
    return ModelCard(
        study=spec.study,
        data=CardData(
            name=spec.dataset, title=spec.title, n_samples=len(kept), digest=digest(content),
            classes={str(name): int((kept == name).sum()) for name in names if (kept == name).any()},
            numbers=CardNumbers(
                name=spec.target, low=float(kept.min()), high=float(kept.max()), mean=float(kept.mean())
            ) if spec.target else None,
        ),
        views=views,
        images=data.image_form,
        tables=spec.tables,
        method=CardMethod(
            name=candidate.fit.method.id, title=candidate.title, kind=candidate.kind,
            input="images" if images else "views", kernels=chosen.kernels, parameters=chosen.parameters,
            feature_scaling=chosen.feature_scaling, impute=chosen.impute,
        ),
        expected=expected,
    )  # fmt: skip
