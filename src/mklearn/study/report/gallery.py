"""Which figures a study has: every panel with its section of the page."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pandas as pd

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.reproduction import OTHER_DATA
from mklearn.study.report import figures, figures_of_fits, frames
from mklearn.study.report.charts import Chart
from mklearn.study.report.confusion import FEW_CLASSES, Confused
from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.frames import Results, Setting
from mklearn.study.report.parts import ReportPart
from mklearn.study.report.records import FitRecord
from mklearn.study.report.sections import figure_sections
from mklearn.study.report.weights import learned_weights
from mklearn.study.report.wording import by_score

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Panel:
    """A figure: its slug (id on the page and name of its file), section, setting (heading), caption and chart."""

    slug: str
    section: str
    heading: str
    caption: str
    chart: Chart | None
    """None if it can't be drawn."""
    problem: str = ""
    """Why it can't be drawn."""


class _Figure(NamedTuple):
    """A figure before it is drawn; ``alt`` is for readers who can't see it."""

    section: str
    heading: str
    detail: str
    alt: str
    draw: Callable[[], Chart]


def panels(
    results: Results, published: pd.DataFrame, noise: float, confused: Sequence[Confused], names: FigureNames,
    parts: Sequence[ReportPart] = (),
) -> list[Panel]:  # fmt: skip
    """Draw all figures of a report: by section, and by setting within a section.

    A figure that can't be drawn has a panel that says why.
    """
    order = ["published", *figure_sections()]
    shown = [*_published(published, noise), *_of_results(results, confused)]
    shown += [_Figure("own", figure.caption, "", figure.alt, figure.draw) for part in parts for figure in part.figures]
    found: dict[str, Panel] = {}
    for figure in sorted(shown, key=lambda figure: order.index(figure.section)):
        caption = f"{figure.heading} · {figure.detail}" if figure.detail else figure.heading
        slug = stem = re.sub(r"[^a-z0-9]+", "-", f"{figure.section} {caption}".lower()).strip("-")[:100]
        number = 1
        while slug in found:
            number += 1
            slug = f"{stem}-{number}"
        chart, problem = None, ""
        try:
            drawn = names.inside(figure.draw()) | {"description": f"{figure.alt} {names(caption)}."}
            chart = json.loads(by_score(json.dumps(drawn, allow_nan=False), results.score.name))
        except Exception as error:  # one figure is lost, and the page says so in its place
            chart, problem = None, f"{type(error).__name__}: {error}"
            _logger.warning("figure %r can't be drawn: %s", caption, problem)
        found[slug] = Panel(slug, figure.section, figure.heading, caption, chart, problem)
    return list(found.values())


def _published(published: pd.DataFrame, noise: float) -> Iterator[_Figure]:
    alt = "Dots: published minus our value of each method and training size, in units of split noise."
    for (dataset, metric), cells in published.dropna(subset=["z"]).groupby(["dataset_title", "metric"], sort=False):
        title = dataset if metric == "accuracy" else f"{dataset}, {metric_named(str(metric)).title.lower()}"
        other = " (another crop: not comparable)" if cells["verdict"].eq(OTHER_DATA).all() else ""
        draw = partial(figures.split_noise_scores, cells, noise=noise, title=f"{title}{other}")
        yield _Figure("published", str(title), "", alt, draw)


def _of_results(results: Results, confused: Sequence[Confused]) -> Iterator[_Figure]:
    for setting in results.settings:
        yield from _scores(results, setting)
        yield from _weights(results, setting)
        yield from _objectives(results, setting)
        yield from _predictions(results, setting)
    for setting in results.largest_settings():
        yield from _embeddings(results, setting)
    for found in confused:
        yield from _confusion(results, found)
    for heading, settings in results.families():
        yield from _train_sizes(results, heading, settings)


def _scores(results: Results, setting: Setting) -> Iterator[_Figure]:
    rows = setting.of(results.by_one_rule)
    others = rows[rows["method"].ne(results.reference)]
    if others["difference"].notna().any():
        reference = results.reference_title
        alt = f"Dots with intervals: difference of the accuracy of each method to {reference}."
        draw = partial(
            figures.differences, others, results.series, reference_title=reference, title=setting.title,
            metric=results.score, matters=results.matters,
        )  # fmt: skip
        yield _Figure("difference", setting.title, "", alt, draw)
    scores = setting.of(results.scores)
    curves = frames.curves(scores[scores["neighbour"].isin(results.one_rule)])
    if curves["dimension"].nunique() > 1:  # else one dot, as of two classes
        alt = "Lines: mean accuracy of each method at each dimension."
        draw = partial(
            figures.accuracy_by_dimension, curves, results.series, title=setting.title, metric=results.score,
            level=results.level_with_majority([setting]),
        )  # fmt: skip
        yield _Figure("dimension", setting.title, "", alt, draw)


def _train_sizes(results: Results, heading: str, settings: Sequence[Setting]) -> Iterator[_Figure]:
    known = pd.concat([setting.of(results.by_one_rule) for setting in settings]).dropna(subset=["train_size", "mean"])
    if known["train_size"].nunique() > 1:
        draw = partial(
            figures.accuracy_by_train_size, known, results.series, title=heading, metric=results.score,
            level=results.level_with_majority(settings),
        )  # fmt: skip
        yield _Figure("train-size", heading, "", "Lines: accuracy of each method at each training size.", draw)


def _weights(results: Results, setting: Setting) -> Iterator[_Figure]:
    learned = [*learned_weights(results, setting)]
    ends = [0.0, *(end for _, weights in learned for end in (weights.min().min(), weights.max().max()))]
    alt = "Ticks: weight of each kernel in each split, and their mean."
    for record, weights in learned:
        label, domain = _label(results, record), (min(ends), max(ends))
        draw = partial(figures_of_fits.kernel_weights, weights, results.series, label=label, domain=domain)
        yield _Figure("weights", setting.title, label, alt, draw)


def _objectives(results: Results, setting: Setting) -> Iterator[_Figure]:
    """Yield objectives, those of methods whose optimum is known in one figure."""
    histories = [
        record.history.assign(label=_label(results, record))
        for record in setting.fits(results.fits)
        if record.history is not None and len(record.history)
    ]
    known = [history for history in histories if history["optimum"].notna().all()]
    shown = [history for history in histories if not history["optimum"].notna().all()]
    alt = "Lines: objective after each step of an alternation, one for each split."
    for history in [*([pd.concat(known)] if known else []), *shown]:
        labels = list(dict.fromkeys(history["label"]))
        detail = labels[0] if len(labels) == 1 else "distance from the optimum"
        draw = partial(figures_of_fits.objective, history, results.series, title=detail)
        yield _Figure("objective", setting.title, detail, alt, draw)


def _embeddings(results: Results, setting: Setting) -> Iterator[_Figure]:
    alt = "Points: first two dimensions of the embedding, by class."
    for record in frames.shown_fits(results, setting, "embedding"):
        assert record.embedding is not None
        label, points = _label(results, record), frames.thinned(record.embedding).astype({"label": str, "role": str})
        yield _Figure(
            "embedding", setting.title, label, alt, partial(figures_of_fits.embedding, points, label=label)
        )  # fmt: skip


def _predictions(results: Results, setting: Setting) -> Iterator[_Figure]:
    alt = "Points: the predicted number of each test sample against the true one, with the line of equal ones."
    for record in frames.shown_fits(results, setting, "predicted"):
        assert record.predicted is not None
        label, first = _label(results, record), record.predicted["repeat"].eq(record.predicted["repeat"].min())
        rows = frames.thinned(record.predicted[first])
        draw = partial(figures_of_fits.predicted_against_true, rows, results.series, label=label)
        yield _Figure("predictions", setting.title, label, alt, draw)


def _confusion(results: Results, found: Confused) -> Iterator[_Figure]:
    """Yield a map for each method; many classes have a table."""
    alt = "Squares in a grid: share of the test samples of each true class by predicted class."
    for label, counts in found.counts.items() if found.n_classes <= FEW_CLASSES else ():
        draw = partial(figures_of_fits.confusion_map, counts, results.series, label=label)
        yield _Figure("confusion", found.setting.title, label, alt, draw)


def _label(results: Results, record: FitRecord) -> str:
    return results.series.of_method(record.method, record.method_title)
