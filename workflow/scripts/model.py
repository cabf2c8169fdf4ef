"""Fit the method that a study ends with to all samples, as a model that predicts, with its card."""

from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.atomic import csv_text, write_text
from mklearn.kernels.views import Views
from mklearn.saved_models import save_model, versions
from mklearn.study import final_model as final
from mklearn.study.artefacts import read_table
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_files import read_views
from mklearn.study.evaluation.importances import COLUMNS
from mklearn.study.evaluation.importances import importances as measured_importances
from mklearn.study.log import logger
from mklearn.study.script import Output, run_script
from mklearn.study.specs.final_spec import FinalSpec


def model(
    summary: Path, samples: Path, splits: Path, sources: list[Path] | None = None, learned: list[Path] | None = None, *,
    model: Output, card: Output, importances: Output, spec: FinalSpec,
) -> None:  # fmt: skip
    """Choose a method by the summary, its parameters by inner cross-validation on all samples, fit it and save it.

    Parameters
    ----------
    summary, samples, splits : Path
        Of the study, the data set, and the protocol that says what is expected. Where its splits keep groups together,
        so does the inner cross-validation.
    sources, learned : list of Path
        Of the views of ``spec.inputs`` the features; of those that have any, what descriptors have learned.
    model, card, importances : Path
        Written: the model, the card for people, and what predictions lose where a view or a feature is shuffled.
    spec : FinalSpec

    Raises
    ------
    NotApplicable
        No candidate has a value in the summary.
    """
    data = SampleSet.load(samples)
    drawn = Splits.load(splits, data.ids)
    candidate, expected = final.chosen_method(read_table(summary)[0], spec)
    fit = candidate.fit
    logger.info("%s: %s %.4f", fit.method.id, expected["metric"], expected["value"])
    of_view = dict(zip((view.name for view in spec.inputs.views), sources or [], strict=True))
    images = [samples] * any(entry.kind == "images" for entry in fit.method.inputs.values())
    read = read_views(fit, [], [*images, *(of_view[name] for name in fit.descriptors)], data.ids)
    views = Views({name: read[name] for name in sorted(read.names)})
    labels = data.y if data.target == "numbers" else data.classes[data.y]
    kept = np.flatnonzero(~np.isin(labels, spec.exclude_classes))
    ids, fitted_to, y = data.ids[kept], views[kept], labels[kept]
    codes = y if data.target == "numbers" else np.unique(data.y[kept], return_inverse=True)[1]
    groups = final.groups_kept_together(drawn.splits, data.groups)
    problem = MethodOnViews(fitted_to, codes, fit.method, fit.kernels, None if groups is None else groups[kept])
    estimator, parameters = final.final_model(problem, fit)
    logger.info("parameters: %s", parameters)
    estimator.fit(fitted_to, y, **problem.fit_parameters(np.arange(len(y))))
    inputs, arrays = final.inputs_of_model(spec, fit, data, fitted_to, learned or [])
    description = final.model_card(spec, candidate, expected, estimator, parameters, inputs, ids, y, fitted_to)
    save_model(estimator, model, description, arrays | {"ids": ids})
    write_text(card, final.card_text(description, versions()))
    losses = pd.DataFrame(columns=COLUMNS)
    if spec.permutations and inputs.views:
        losses = measured_importances(
            estimator, views, inputs.views, labels, drawn.of_size(expected["train_size"]),
            permutations=spec.permutations, seed=fit.seed, groups=groups,
        )  # fmt: skip
    write_text(importances, csv_text(losses))


if __name__ == "__main__":
    run_script(model, globals().get("snakemake"))
