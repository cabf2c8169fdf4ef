"""Step: the views and features that predictions of the final model's method rest on, measured on test samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import has_fit_parameter

from mklearn.atomic import csv_text, write_text
from mklearn.feature_importances import FeatureImportance, feature_importances
from mklearn.kernels.views import Views
from mklearn.saved_models import load_model
from mklearn.study.artefacts import read_table
from mklearn.study.data.splits import Split, Splits
from mklearn.study.specs.final_spec import ImportancesSpec
from mklearn.study.specs.model_card import CardView, ModelCard
from mklearn.study.steps.final_model import groups_kept_together, groups_of, read_features
from mklearn.study.steps.log import logger

WHOLE = "all"
"""Name of the group of all features of a view, among positions of features."""
COLUMNS = ("view", "feature", "measure", "loss", "low", "high", "splits", "permutations")


def importances(
    model: Path, labels: Path, splits: Path, importances: Path, *, spec: ImportancesSpec,
    sources: list[Path] | None = None, code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Fit the method of the final model on training samples, and shuffle views and features of the test samples.

    Parameters
    ----------
    model : Path
        Its parameters are those of the fits on the first ``spec.splits`` splits of its training size.
    labels, splits : Path
        Of the data set, and of the protocol that says what is expected of the model.
    importances : Path
        Written: a row for each view, without a feature, and for each feature of a table. No rows for a method that
        takes whole images.
    spec : ImportancesSpec
    sources : list of Path
        Features of each of ``spec.final.views``.
    """
    saved = load_model(model)
    card = ModelCard.model_validate(saved.card)
    table, _ = read_table(labels)
    ids = table["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids).of_size(card.expected.train_size)[: spec.splits]
    paths = dict(zip([view.name for view in spec.final.views], sources or [], strict=True))
    features = {view.name: read_features(paths[view.name], labels, ids)["features"] for view in card.views}
    found = _measured(saved.estimator, features, card, table, drawn, spec) if features else ()
    measure = "r2" if is_regressor(saved.estimator) else "accuracy"
    columns = {view.name: view.columns for view in card.views}
    rows = [_row(each, columns[each.view], measure, len(drawn), spec.permutations) for each in found]
    write_text(importances, csv_text(pd.DataFrame(rows, columns=COLUMNS)))
    logger.info("%d views and features", len(rows))


def _measured(
    estimator: Any, features: Mapping[str, NDArray[Any]], card: ModelCard, table: pd.DataFrame, drawn: list[Split],
    spec: ImportancesSpec,
) -> tuple[FeatureImportance, ...]:  # fmt: skip
    groups = groups_kept_together(drawn[0], groups_of(table))
    beside = {} if groups is None or not has_fit_parameter(estimator, "groups") else {"groups": groups}
    return feature_importances(
        estimator,
        Views(features),
        table["y"].to_numpy() if spec.final.target else table["label"].to_numpy(dtype=str),
        feature_groups={view.name: _feature_groups(view) for view in card.views},
        cv=[(split.train, split.test) for split in drawn],
        n_permutations=spec.permutations,
        random_state=spec.seed,
        fit_parameters=beside,
    )


def _feature_groups(view: CardView) -> dict[str, list[int]]:
    """Return the view as a group, and each feature of a table: features of images have no names, and are many."""
    every = list(range(view.n_features))
    return {WHOLE: every} | ({str(number): [number] for number in every} if view.kind == "table" else {})


def _row(
    found: FeatureImportance, columns: list[str] | None, measure: str, n_splits: int, permutations: int
) -> tuple[Any, ...]:
    lost = found.permuted
    name = "" if found.feature == WHOLE else columns[int(found.feature)] if columns else str(found.feature)
    return found.view, name, measure, lost.mean, lost.low, lost.high, n_splits, permutations
