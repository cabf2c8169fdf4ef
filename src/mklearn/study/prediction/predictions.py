"""Tables of a model's predictions: labels, decision values, nearest training samples, and the embedding."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.spatial.distance import cdist
from sklearn.base import is_regressor

from mklearn.base.nearest_neighbour_prediction import NearestNeighbourPrediction
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.saved_models import SavedModel, load_model
from mklearn.study.prediction.new_samples import NewSamples, read_new_samples
from mklearn.study.specs.model_card import ModelCard


def predict(model: str | os.PathLike[str], *sources: str | os.PathLike[str]) -> pd.DataFrame:
    """Predict new images or tables with the model of a study, as the command ``mklearn predict`` does.

    Parameters
    ----------
    model : path
        A model file, such as ``results/photos/model.mklearn``.
    sources : paths
        A folder of images (any depth) or one image; or one table, a folder of tables named as the views, or
        ``VIEW=FILE`` for each view.

    Returns
    -------
    frame : DataFrame
        See :func:`prediction_frame`.

    Raises
    ------
    DataError, ConfigError
        A model or samples that can't be used; the message names the file.
    """
    saved, card = load_study_model(model)
    return prediction_frame(saved, read_new_samples([os.fspath(source) for source in sources], card, saved.arrays))


def load_study_model(path: str | os.PathLike[str]) -> tuple[SavedModel, ModelCard]:
    """Load the model of a study, and its card.

    Raises
    ------
    DataError
        A file that is no model, damaged, or of another version.
    ConfigError
        A model that no study has made.
    """
    model = load_model(path)
    try:
        return model, ModelCard.model_validate(model.card)
    except ValidationError:
        raise ConfigError(
            f"{os.fspath(path)}: not a model of a study, so how new samples are read is not known; use "
            "`mklearn.saved_models.load_model`"
        ) from None


def prediction_frame(
    model: SavedModel, samples: NewSamples, neighbours: int | None = None, reject: float | None = None
) -> pd.DataFrame:
    """Predict new samples.

    Parameters
    ----------
    model : SavedModel
        With the array ``ids`` of the training samples.
    samples : NewSamples
    neighbours : int, optional
        Number of nearest training samples that are named; by default 1 of a method that predicts by neighbours.
    reject : float, optional
        Samples whose highest probability is below it are rejected.

    Returns
    -------
    frame : DataFrame
        Columns ``id`` and ``label``; ``probability_CLASS`` for each class where the method has probabilities, else
        ``decision_CLASS`` where it has decision values; ``neighbour_1``, ``distance_1``, ... of the nearest training
        samples, by Euclidean distance in the embedding or the features, where the method predicts by them. With
        ``reject`` the column ``rejected`` says which samples are rejected, and their labels are empty. Of a method
        that predicts numbers ``id``, ``predicted`` and, where it has ``predict_interval``, ``low_90`` and ``high_90``,
        the ends of an interval that holds nine of ten numbers. Images that can't be read are the last rows, and
        ``problem`` says why; without any there is no such column.

    Raises
    ------
    ConfigError
        ``neighbours`` of a method that does not predict by neighbours, or ``reject`` of one without probabilities.
    DataError
        Samples that lack a view, of a model that can't do without.
    """
    estimator = model.estimator
    if reject is not None and not hasattr(estimator, "predict_proba"):
        raise ConfigError(f"--reject: {type(_last(estimator)).__name__} has no probabilities")
    if is_regressor(estimator):
        if neighbours:
            raise ConfigError(f"--neighbours: {type(_last(estimator)).__name__} does not predict by neighbours")
        return _with_unread(_numbers(estimator, samples), samples)
    columns: dict[str, Any] = {"id": samples.ids, "label": _applied(estimator.predict, samples)}
    for name, prefix in (("predict_proba", "probability"), ("decision_function", "decision")):
        if hasattr(estimator, name):
            values = np.asarray(_applied(getattr(estimator, name), samples))
            if values.ndim == 1:  # two classes: positive for the second
                values = np.stack([-values, values], axis=1)
            if reject is not None:
                columns["rejected"] = values.max(axis=1) < reject
                columns["label"] = np.where(columns["rejected"], "", np.asarray(columns["label"], dtype=str))
            columns |= {f"{prefix}_{label}": values[:, place] for place, label in enumerate(estimator.classes_)}
            break
    if neighbours is None:
        neighbours = int(_predicts_by_neighbours(estimator))
    if neighbours:
        columns |= _neighbours(estimator, samples, model.arrays["ids"], neighbours)
    return _with_unread(pd.DataFrame(columns), samples)


def _with_unread(frame: pd.DataFrame, samples: NewSamples) -> pd.DataFrame:
    """Add a row for each image that can't be read."""
    if not samples.unread:
        return frame
    rows = pd.DataFrame({"id": list(samples.unread), "problem": list(samples.unread.values())})
    return pd.concat([frame, rows], ignore_index=True)


def _numbers(estimator: Any, samples: NewSamples) -> pd.DataFrame:
    columns: dict[str, Any] = {"id": samples.ids, "predicted": np.ravel(_applied(estimator.predict, samples))}
    if hasattr(estimator, "predict_interval"):
        with suppress(NotApplicable):  # kernel ridge regression on landmarks has none
            low, high = _applied(partial(estimator.predict_interval, coverage=0.9), samples)
            columns |= {"low_90": np.ravel(low), "high_90": np.ravel(high)}
    return pd.DataFrame(columns)


def embedding_frame(model: SavedModel, samples: NewSamples) -> pd.DataFrame:
    """Embed new samples: columns ``id`` and ``component_1``, ``component_2``, ...

    Raises
    ------
    ConfigError
        The method has no embedding.
    """
    if not isinstance(_last(model.estimator), NearestNeighbourPrediction):
        raise ConfigError(f"{type(_last(model.estimator)).__name__} predicts labels and has no embedding")
    Z = _embedded(model.estimator, samples)
    return pd.DataFrame({"id": samples.ids} | {f"component_{k}": Z[:, k - 1] for k in range(1, Z.shape[1] + 1)})


def clipped_values(model: SavedModel, samples: NewSamples) -> dict[str, tuple[int, int]]:
    """Count, by view, the values of new samples that a model clips, and all of them; empty where it clips none."""
    count = getattr(model.estimator, "clipped_values", None)
    return {} if count is None else count(samples.X)


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline; anything else as it is."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _predicts_by_neighbours(estimator: Any) -> bool:
    last = _last(estimator)
    return isinstance(last, NearestNeighbourPrediction) or hasattr(last, "kneighbors")


def _neighbours(estimator: Any, samples: NewSamples, ids: NDArray[np.str_], count: int) -> dict[str, NDArray[Any]]:
    last = _last(estimator)
    if not _predicts_by_neighbours(estimator):
        raise ConfigError(f"--neighbours: {type(last).__name__} does not predict by neighbours")
    count = min(count, len(ids))
    if isinstance(last, NearestNeighbourPrediction):
        train = last.embedding_.reshape(len(last.embedding_), -1)
        squared = cdist(_embedded(estimator, samples), train, "sqeuclidean")
        nearest = np.argsort(squared, axis=1, kind="stable")[:, :count]
        distances = np.sqrt(np.take_along_axis(squared, nearest, axis=1))
    else:
        features = _applied(estimator[:-1].transform, samples) if last is not estimator else samples.X
        distances, nearest = last.kneighbors(features, n_neighbors=count)
    columns: dict[str, NDArray[Any]] = {}
    for k in range(count):
        columns |= {f"neighbour_{k + 1}": ids[nearest[:, k]], f"distance_{k + 1}": distances[:, k]}
    return columns


def _embedded(estimator: Any, samples: NewSamples) -> NDArray[np.floating[Any]]:
    Z = np.asarray(_applied(estimator.transform, samples))
    return Z.reshape(len(Z), -1)


def _applied(function: Any, samples: NewSamples) -> Any:
    """Apply a method of the estimator; if views are missing, say so where it can't do without them."""
    try:
        return function(samples.X)
    except DataError as error:
        if not samples.missing:
            raise
        lacking = ", ".join(f"{name!r} for {count} samples" for name, count in samples.missing.items())
        raise DataError(f"missing views: {lacking}; this model needs all views of each sample ({error})") from error
