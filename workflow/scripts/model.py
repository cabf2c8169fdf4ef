"""Fit the final method of a study to all samples, and write the model and its card."""

from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.atomic import read_parquet, write_parquet, write_text
from mklearn.saved_models import save_model, versions
from mklearn.study import final_model as final
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.importances import COLUMNS
from mklearn.study.evaluation.importances import importances as measured_importances
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.final_spec import FinalSpec


def model(
    summary: Path, samples: Path, splits: Path, sources: list[Path] | None = None, learned: list[Path] | None = None, *,
    model: Output, card: Output, importances: Output, spec: FinalSpec, record: Record,
) -> None:  # fmt: skip
    """Choose a method by the summary and its parameters by inner cross-validation on all samples; fit and save it.

    In a study with one given test set, the method is by default fitted to the other samples only.

    The ``splits`` belong to the protocol that gives the model's expected performance. If they keep groups together, so
    does the inner cross-validation. ``sources`` are the features of the views of ``spec.inputs``, and ``learned`` the
    arrays learned by descriptors. The card is readable text. The importances are the losses in the metric when a view
    or a feature is shuffled. Raise NotApplicable if no candidate has a value in the summary.
    """
    data = SampleSet.load(samples)
    drawn = Splits.load(splits, data.ids)
    groups = None if data.groups is None or drawn.n_dividing(data.groups) else data.groups
    labels = data.labels
    kept = np.flatnonzero(~np.isin(labels, spec.exclude_classes))
    outside = None if spec.include_test else final.outside_test_set(drawn.splits, spec)
    if outside is not None:
        kept = np.intersect1d(kept, outside)
    fit, title, expected = final.chosen_method(read_parquet(summary)[0], spec)
    expected["apart"] = outside is not None
    logger.info("%s: %s %.4f", fit.method.id, expected["metric"], expected["value"])
    files = dict(zip((view.name for view in spec.inputs.views), sources or [], strict=True))
    views = final.views_of_model(fit, data, samples, files)
    X, ids, y = views[kept], data.ids[kept], labels[kept]
    codes = np.unique(data.y[kept], return_inverse=True)[1] if data.target == "classes" else data.y[kept]
    problem = MethodOnViews(X, codes, fit.method, fit.kernels, None if groups is None else groups[kept])
    estimator, candidate, problem = final.final_model(problem, fit)
    logger.info("parameters: %s", candidate.parameters)
    every = np.arange(len(y))
    estimator.fit(X, y, **problem.fit_parameters(every, every[:0]))
    inputs, arrays = final.inputs_of_model(spec, fit, data, X, learned or [])
    description = final.model_card(
        spec, fit, title, expected, estimator, candidate, problem, inputs, ids, y, data.target, X
    )
    save_model(estimator, model, description, arrays | {"ids": ids})
    write_text(card, final.card_text(description, versions()))
    losses = pd.DataFrame(columns=COLUMNS)
    if spec.permutations and inputs.views:
        losses = measured_importances(
            estimator, views, inputs.views, labels, drawn.of_size(expected["train_size"]),
            permutations=spec.permutations, seed=fit.seed, groups=groups,
        )  # fmt: skip
    write_parquet(importances, losses, record)


if __name__ == "__main__":
    run_script(model, globals().get("snakemake"))
