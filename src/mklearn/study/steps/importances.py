"""Step: the views and features that predictions of the final model's method rest on, measured on test samples."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import has_fit_parameter

from mklearn.atomic import csv_text, write_text
from mklearn.errors import DataError
from mklearn.feature_importances import FeatureImportance, feature_importances
from mklearn.kernels.column_groups import read_gmt
from mklearn.kernels.views import Views
from mklearn.saved_models import load_model
from mklearn.study.artefacts import read_table
from mklearn.study.data.samples import some
from mklearn.study.data.splits import Split, Splits
from mklearn.study.specs.final_spec import ImportancesSpec
from mklearn.study.specs.model_card import CardView, ModelCard
from mklearn.study.steps.final_model import groups_kept_together, groups_of, read_features
from mklearn.study.steps.log import logger

WHOLE = ""
"""Name of all features of a view together, as no column or group has."""
COLUMNS = ("view", "feature", "n_features", "measure", "loss", "low", "high", "splits", "permutations")


_VERSION = re.compile(r"(ENS[A-Z]*\d+)\.\d+")
"""An Ensembl id with its version."""
FeatureSets = list[tuple[str, list[int]]]
"""Names, and positions of the columns, of what is shuffled together."""


def importances(
    model: Path, labels: Path, splits: Path, importances: Path, *, spec: ImportancesSpec,
    sources: list[Path] | None = None, groups: list[Path] | None = None,
) -> None:  # fmt: skip
    """Fit the method of the final model on training samples, and shuffle views and features of the test samples.

    Parameters
    ----------
    model : Path
        Its parameters are those of the fits on the first ``spec.splits`` splits of its training size.
    labels, splits : Path
        Of the data set, and of the protocol that says what is expected of the model.
    importances : Path
        Written: a row for each view, without a feature, and for each feature or group of a table. No rows for a method
        that takes whole images.
    spec : ImportancesSpec
    sources : list of Path
        Features of each of ``spec.final.views``.
    groups : list of Path
        The GMT file ``spec.feature_groups``, if there is one.
    """
    saved = load_model(model)
    card = ModelCard.model_validate(saved.card)
    table, _ = read_table(labels)
    ids = table["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids).of_size(card.expected.train_size)[: spec.splits]
    paths = dict(zip([view.name for view in spec.final.views], sources or [], strict=True))
    features = {view.name: read_features(paths[view.name], labels, ids)["features"] for view in card.views}
    named = _named_sets(card.views, groups[0] if groups else None)
    found = _measured(saved.estimator, features, named, table, drawn, spec) if features else ()
    measure = "r2" if is_regressor(saved.estimator) else "accuracy"
    rows = [_row(each, named[each.view], measure, len(drawn), spec.permutations) for each in found]
    write_text(importances, csv_text(pd.DataFrame(rows, columns=COLUMNS)))
    logger.info("%d views and features", len(rows))


def _measured(
    estimator: Any, features: Mapping[str, NDArray[Any]], named: Mapping[str, FeatureSets], table: pd.DataFrame,
    drawn: list[Split], spec: ImportancesSpec,
) -> tuple[FeatureImportance, ...]:  # fmt: skip
    groups = groups_kept_together(drawn, groups_of(table))
    beside = {} if groups is None or not has_fit_parameter(estimator, "groups") else {"groups": groups}
    return feature_importances(
        estimator,
        Views(features),
        table["y"].to_numpy() if spec.final.target else table["label"].to_numpy(dtype=str),
        feature_groups={name: {str(k): columns for k, (_, columns) in enumerate(sets)} for name, sets in named.items()},
        cv=[(split.train, split.test) for split in drawn],
        n_permutations=spec.permutations,
        random_state=spec.seed,
        fit_parameters=beside,
    )


def _named_sets(views: Sequence[CardView], groups: Path | None) -> dict[str, FeatureSets]:
    """Return by view the whole view, and each feature or group of a table: features of images have no names."""
    sets = None if groups is None else read_gmt(groups)
    named: dict[str, FeatureSets] = {}
    for view in views:
        names = view.columns or list(map(str, range(view.n_features)))
        found = [(name, [place]) for place, name in enumerate(names)] if view.kind == "table" else []
        if sets is not None:
            found = columns_of_groups(sets, names) if found else []
        whole = (WHOLE, list(range(view.n_features)))
        named[view.name] = [whole, *((name, columns) for name, columns in found if columns)]
    if sets is not None and all(len(found) == 1 for found in named.values()):
        raise DataError(f"{groups}: its groups name no column of {some(list(named))}")
    return named


def columns_of_groups(sets: Mapping[str, Sequence[str]], names: Sequence[str]) -> FeatureSets:
    """Return the positions of the columns of each group; of an Ensembl id that is no column, without its version."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for known in dict.fromkeys((name, _stable(name))):
            places.setdefault(known, []).append(place)
    found = {name: [places.get(one, places.get(_stable(one), [])) for one in chosen] for name, chosen in sets.items()}
    return [(name, list(dict.fromkeys(itertools.chain.from_iterable(of)))) for name, of in found.items()]


def _stable(name: str) -> str:
    """Return an Ensembl id without its version; another name as it is."""
    versioned = _VERSION.fullmatch(name)
    return versioned[1] if versioned else name


def _row(
    found: FeatureImportance, sets: FeatureSets, measure: str, n_splits: int, permutations: int
) -> tuple[Any, ...]:
    lost, (name, columns) = found.permuted, sets[int(found.feature)]
    return found.view, name, len(columns), measure, lost.mean, lost.low, lost.high, n_splits, permutations
