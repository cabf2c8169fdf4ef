"""Tables of predictions: labels with sets and probabilities or decision values, or numbers with intervals."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError
from sklearn.base import is_regressor

from mklearn.base.pipelines import last_step, predicts_survival, survival_functions
from mklearn.errors import ConfigError, DataError
from mklearn.saved_models import SavedModel, load_model
from mklearn.study.prediction.new_samples import NewSamples, read_new_samples
from mklearn.study.specs.final_spec import ModelInputs


def predict(model: str | os.PathLike[str], *sources: str | os.PathLike[str]) -> pd.DataFrame:
    """Predict new images or tables with the model of a study, as the command ``mklearn predict`` does.

    Parameters
    ----------
    model : path
        A model file, such as ``results/photos/model.mklearn``.
    sources : paths
        For a model on images: one image, or one folder with images at any depth. For a model on tables: one file with
        all views, a folder of files with the same names as in the study, or ``VIEW=FILE`` for each view. For a model on
        both: the images, then the tables.

    Returns
    -------
    frame : DataFrame
        For a classifier, columns ``id`` and ``label``; ``set_90``, the classes in the 90 % prediction set with ``|``
        between them, if it has ``predict_set``; and for each class ``probability_CLASS`` if the method has
        probabilities, else ``decision_CLASS`` if it has decision values. For a regressor, columns ``id`` and
        ``predicted``, and if it has ``predict_interval``, the bounds ``low_90`` and ``high_90`` of a 90 % prediction
        interval. For survival times, columns ``id`` and ``risk``, and ``survival_TIME``, the probability of surviving
        each of four times. Images that can't be read are the last rows, with the reason in the column ``problem``; this
        column exists only if there are any.

    Raises
    ------
    DataError, ConfigError
        The model or the samples can't be used; the message names the file.
    """
    saved, inputs = load_study_model(model)
    samples = read_new_samples([os.fspath(source) for source in sources], inputs, saved.arrays)
    return prediction_frame(saved.estimator, samples)


def load_study_model(path: str | os.PathLike[str]) -> tuple[SavedModel, ModelInputs]:
    """Load a study's model and its input specification; raise ConfigError if the model is not from a study."""
    model = load_model(path)
    try:
        return model, ModelInputs.model_validate(model.card.get("inputs"))
    except ValidationError:
        raise ConfigError(
            f"{os.fspath(path)}: not a model of a study, so it does not describe how to read new samples; use "
            "`mklearn.saved_models.load_model`"
        ) from None


def prediction_frame(estimator: Any, samples: NewSamples) -> pd.DataFrame:
    """Return the table of predictions for new samples; raise DataError if they lack a view that the model requires."""
    try:
        predicted = _risks if predicts_survival(estimator) else _numbers if is_regressor(estimator) else _labels
        columns = predicted(estimator, samples.X)
    except DataError as error:
        if not samples.notes:
            raise
        raise DataError(f"this model can't predict such samples ({error}): {'; '.join(samples.notes)}") from error
    frame = pd.DataFrame({"id": samples.ids} | columns)
    if not samples.unread:
        return frame
    rows = pd.DataFrame({"id": list(samples.unread), "problem": list(samples.unread.values())})
    return pd.concat([frame, rows], ignore_index=True)


def _labels(estimator: Any, X: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {"label": np.ravel(estimator.predict(X))}
    if hasattr(estimator, "predict_set"):
        names = np.array([f"{label}" for label in estimator.classes_])
        columns["set_90"] = ["|".join(names[chosen]) for chosen in estimator.predict_set(X, coverage=0.9)]
    for name, prefix in (("predict_proba", "probability"), ("decision_function", "decision")):
        if hasattr(estimator, name):
            values = np.asarray(getattr(estimator, name)(X))
            if values.ndim == 1:  # two classes: positive values mean the second
                values = np.stack([-values, values], axis=1)
            return columns | {f"{prefix}_{label}": values[:, place] for place, label in enumerate(estimator.classes_)}
    return columns


def _numbers(estimator: Any, X: Any) -> dict[str, Any]:
    columns = {"predicted": np.ravel(estimator.predict(X))}
    if hasattr(estimator, "predict_interval"):
        low, high = estimator.predict_interval(X, coverage=0.9)
        columns |= {"low_90": np.ravel(low), "high_90": np.ravel(high)}
    return columns


def _risks(estimator: Any, X: Any) -> dict[str, Any]:
    risk, times = estimator.predict(X), last_step(estimator).times_
    shown = np.unique(times[np.linspace(0, len(times) - 1, 5).astype(int)[1:]])
    survival = survival_functions(estimator, X, shown)
    return {"risk": risk} | {f"survival_{time:g}": column for time, column in zip(shown, survival.T, strict=True)}
