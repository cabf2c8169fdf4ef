"""Tables of a model's predictions: labels, decision values, nearest training samples, and the embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mklearn.base.nearest_neighbour_prediction import NearestNeighbourPrediction
from mklearn.classifiers.nearest_neighbours import NearestNeighbours
from mklearn.errors import ConfigError, DataError
from mklearn.saved_models import SavedModel
from mklearn.study.prediction.new_samples import NewSamples


def prediction_frame(model: SavedModel, samples: NewSamples, neighbours: int | None = None) -> pd.DataFrame:
    """Predict new samples.

    Parameters
    ----------
    model : SavedModel
        With the array ``ids`` of the training samples.
    samples : NewSamples
    neighbours : int, optional
        Number of nearest training samples that are named; by default 1 of a method that predicts by neighbours.

    Returns
    -------
    frame : DataFrame
        Columns ``id`` and ``label``; ``probability_CLASS`` for each class where the method has probabilities, else
        ``decision_CLASS`` where it has decision values; ``neighbour_1``, ``distance_1``, ... of the nearest training
        samples, by Euclidean distance in the embedding or the features, where the method predicts by them.

    Raises
    ------
    ConfigError
        ``neighbours`` of a method that does not predict by neighbours.
    DataError
        Samples that lack a view, of a model that can't do without.
    """
    estimator = model.estimator
    columns: dict[str, Any] = {"id": samples.ids, "label": _applied(estimator.predict, samples)}
    for name, prefix in (("predict_proba", "probability"), ("decision_function", "decision")):
        if hasattr(estimator, name):
            values = np.asarray(_applied(getattr(estimator, name), samples))
            if values.ndim == 1:  # two classes: positive for the second
                values = np.stack([-values, values], axis=1)
            columns |= {f"{prefix}_{label}": values[:, place] for place, label in enumerate(estimator.classes_)}
            break
    if neighbours is None:
        neighbours = int(_predicts_by_neighbours(estimator))
    if neighbours:
        columns |= _neighbours(estimator, samples, model.arrays["ids"], neighbours)
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


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline; anything else as it is."""
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _predicts_by_neighbours(estimator: Any) -> bool:
    return isinstance(_last(estimator), NearestNeighbourPrediction | NearestNeighbours)


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
