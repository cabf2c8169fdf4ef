"""Tables of a model's predictions: labels with probabilities or decision values, or numbers with intervals."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError
from sklearn.base import is_regressor

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


def prediction_frame(model: SavedModel, samples: NewSamples) -> pd.DataFrame:
    """Predict new samples.

    Returns
    -------
    frame : DataFrame
        Columns ``id`` and ``label``; ``probability_CLASS`` for each class where the method has probabilities, else
        ``decision_CLASS`` where it has decision values. Of a method that predicts numbers ``id``, ``predicted`` and,
        where it has ``predict_interval``, ``low_90`` and ``high_90``, the ends of an interval that holds nine of ten
        numbers. Images that can't be read are the last rows, and ``problem`` says why; without any there is no such
        column.

    Raises
    ------
    DataError
        Samples that lack a view, of a model that can't do without.
    """
    estimator = model.estimator
    if is_regressor(estimator):
        return _with_unread(_numbers(estimator, samples), samples)
    columns: dict[str, Any] = {"id": samples.ids, "label": _applied(estimator.predict, samples)}
    for name, prefix in (("predict_proba", "probability"), ("decision_function", "decision")):
        if hasattr(estimator, name):
            values = np.asarray(_applied(getattr(estimator, name), samples))
            if values.ndim == 1:  # two classes: positive for the second
                values = np.stack([-values, values], axis=1)
            columns |= {f"{prefix}_{label}": values[:, place] for place, label in enumerate(estimator.classes_)}
            break
    return _with_unread(pd.DataFrame(columns), samples)


def _with_unread(frame: pd.DataFrame, samples: NewSamples) -> pd.DataFrame:
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


def clipped_values(model: SavedModel, samples: NewSamples) -> dict[str, tuple[int, int]]:
    """Count, by view, the values of new samples that a model clips, and all of them; empty where it clips none."""
    count = getattr(model.estimator, "clipped_values", None)
    return {} if count is None else count(samples.X)


def _applied(function: Any, samples: NewSamples) -> Any:
    try:
        return function(samples.X)
    except DataError as error:
        if not samples.missing:
            raise
        lacking = ", ".join(f"{name!r} for {count} samples" for name, count in samples.missing.items())
        raise DataError(f"missing views: {lacking}; this model needs all views of each sample ({error})") from error
