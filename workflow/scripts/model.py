"""Fit the method that a study ends with to all samples, as a model that predicts, with its card."""

import dataclasses
import warnings
from pathlib import Path

import numpy as np

from mklearn.atomic import csv_text, write_text
from mklearn.saved_models import save_model, versions
from mklearn.study import final_model as final
from mklearn.study.artefacts import read_table
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.final_model import final_model
from mklearn.study.log import logger
from mklearn.study.prediction.new_samples import CENTRE
from mklearn.study.script import Output, run_script
from mklearn.study.specs.final_spec import FinalSpec

MEASURED = 5
"""The first splits, in which importances are measured: the fewest that have an interval."""


def model(
    summary: Path, labels: Path, splits: Path, sources: list[Path] | None = None, learned: list[Path] | None = None,
    images: Path | None = None, tables: list[Path] | None = None, *, model: Output, card: Output, importances: Output,
    spec: FinalSpec,
) -> None:  # fmt: skip
    """Choose a method by the summary, its parameters by inner cross-validation on all samples, fit it and save it.

    With a single given split the method is chosen by inner cross-validation on its training samples, and fitted to
    these alone unless the study includes the test samples.

    Parameters
    ----------
    summary, labels, splits : Path
        Of the study, the data set, and the protocol that says what is expected. Where its splits keep groups together,
        so does the inner cross-validation.
    sources, learned, tables : list of Path
        Of ``spec.views`` the features; of those that have any, what descriptors have learned, and the user's tables.
    images : Path
        The images at their final size.
    model, card, importances : Path
        Written: the model, the card for people, and what predictions lose where a view or a feature is shuffled.
    spec : FinalSpec

    Raises
    ------
    NotApplicable
        No candidate has a value in the summary.
    """
    data = final.read_samples(labels, sources or [], learned or [], images, tables or [], spec)
    drawn = Splits.load(splits, data.ids)
    data = dataclasses.replace(data, groups=final.groups_kept_together(drawn.splits, data.groups))
    data, candidate, expected = final.chosen_method(read_table(summary)[0], data, drawn.splits, spec)
    logger.info("%s: %s %.4f", candidate.fit.method.id, expected.metric, expected.value)
    kept, fit = data.kept, candidate.fit
    used = [view for view in spec.views if view.name in fit.descriptors]
    problem = final.on_samples(data, fit, spec)
    chosen = final_model(problem, fit, problem.groups, completes=spec.tables is not None)
    logger.info("parameters: %s", chosen.parameters)
    every = np.arange(len(kept))
    estimator = chosen.estimator.fit(problem.of(every), data.labels[kept], **problem.fit_parameters(every))
    arrays = {"ids": data.ids[kept]} | data.learned_of(used)
    centre = np.nanmedian if chosen.impute == "median" else np.nanmean
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of features that no sample has
        of_tables = [view.name for view in used if view.column_table is not None]
        arrays |= {f"{name}/{CENTRE}": centre(data.features[name][kept], axis=0) for name in of_tables}
    description = final.model_card(spec, candidate, expected, chosen, data, used)
    save_model(estimator, model, description.model_dump(mode="json"), arrays)
    write_text(card, description.as_markdown(versions()))
    measured = drawn.of_size(expected.train_size)[:MEASURED]
    losses = final.importances_of(estimator, description.views, data, measured, spec, fit.seed)
    write_text(importances, csv_text(losses))


if __name__ == "__main__":
    run_script(model, globals().get("snakemake"))
