"""Which figures a study has: every panel with its section of the page."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from mklearn.kernels.identity_like import IDENTITY_LIKE_BELOW
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.reproduction import OTHER_DATA
from mklearn.study.report import figures, figures_of_fits, figures_of_numbers, frames
from mklearn.study.report.charts import Chart
from mklearn.study.report.confusion import FEW_CLASSES, Confused, class_accuracies
from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.frames import Results, Setting
from mklearn.study.report.numbers import first_repeat, shown_numbers
from mklearn.study.report.parts import ReportPart
from mklearn.study.report.records import FitRecord
from mklearn.study.report.sections import figure_sections
from mklearn.study.report.wording import by_score, in_order, rule_title
from mklearn.study.specs.table_specs import ReportSpec

_logger = logging.getLogger(__name__)
REACH = 3
"""How far behind the reference a difference is drawn, in gains that matter."""
MAX_SIZES = 6
"""Sizes of a method whose accuracy against iterations is shown; of more, the smallest, the largest and some between."""


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


def panels(
    results: Results, study: ReportSpec, published: pd.DataFrame, confused: Sequence[Confused],
    names: FigureNames, parts: Sequence[ReportPart] = (),
) -> list[Panel]:  # fmt: skip
    """Draw all figures of a report: by section, and by setting within a section.

    A figure that can't be drawn has a panel that says why.
    """
    gallery = _Gallery(results, names)
    gallery.add_published(published, study.tolerance.noise)
    for setting in results.settings:
        fits = setting.fits(results.fits)
        gallery.add_scores(setting)
        gallery.add_weights(setting.title, fits)
        gallery.add_objectives(setting.title, fits)
        gallery.add_kernels(setting.title, fits)
        gallery.add_predictions(setting)
        gallery.add_calibration(setting, fits)
    for setting, record in frames.shown_embeddings(results):
        gallery.add_embedding(setting.title, record)
    for found in confused:
        gallery.add_confusion(found)
    gallery.add_train_sizes()
    for figure in (figure for part in parts for figure in part.figures):
        gallery.add("own", figure.caption, "", figure.alt, figure.draw)
    gallery.add_components(study)
    order = ["published", *figure_sections()]
    return sorted(gallery.panels, key=lambda panel: order.index(panel.section))


@dataclass
class _Gallery:
    """The panels of a report while they are collected."""

    results: Results
    names: FigureNames
    panels: list[Panel] = field(default_factory=list)

    def add(self, section: str, heading: str, detail: str, alt: str, draw: Callable[[], Chart]) -> None:
        """Add the figure that ``draw`` returns, with a unique slug; ``alt`` is for readers who can't see it."""
        caption = f"{heading} · {detail}" if detail else heading
        stem = re.sub(r"[^a-z0-9]+", "-", f"{section} {caption}".lower()).strip("-")[:100]
        slug, number, slugs = stem, 1, {panel.slug for panel in self.panels}
        while slug in slugs:
            number += 1
            slug = f"{stem}-{number}"
        chart, problem = None, ""
        try:
            drawn = self.names.inside(draw()) | {"description": f"{alt} {self.names(caption)}."}
            chart = json.loads(by_score(json.dumps(drawn, allow_nan=False), self.results.score.name))
        except Exception as error:  # one figure is lost, and the page says so in its place
            chart, problem = None, f"{type(error).__name__}: {error}"
            _logger.warning("figure %r can't be drawn: %s", caption, problem)
        self.panels.append(Panel(slug, section, heading, caption, chart, problem))

    def _label(self, record: FitRecord) -> str:
        return self.results.series.of_method(record.method, record.method_title)

    def add_published(self, published: pd.DataFrame, noise: float) -> None:
        alt = "Dots: published minus our value of each method and training size, in units of split noise."
        for (dataset, metric), cells in published.dropna(subset=["z"]).groupby(["dataset_title", "metric"], sort=False):
            title = dataset if metric == "accuracy" else f"{dataset}, {metric_named(str(metric)).title.lower()}"
            other = " (another crop: not comparable)" if cells["verdict"].eq(OTHER_DATA).all() else ""
            self.add(
                "published",
                str(title),
                "",
                alt,
                partial(figures.split_noise_scores, cells, noise=noise, title=f"{title}{other}"),
            )

    def add_scores(self, setting: Setting) -> None:
        title, series, scores = setting.title, self.results.series, setting.of(self.results.scores)
        inner = setting.of(self.results.inner_cv)
        others = inner[inner["method"].ne(self.results.reference)]
        if others["difference"].notna().any():
            reference = self.results.reference_title
            alt = f"Dots with intervals: difference of the accuracy of each method to {reference}."
            draw = partial(
                figures.differences, others, series, reference_title=reference, title=setting.chart_title,
                reach=REACH * self.results.matters, larger_is_better=self.results.score.larger_is_better,
            )  # fmt: skip
            self.add("difference", title, "", alt, draw)
        curves = frames.curves(scores)
        for rule in _rules(curves[curves["dimension"].notna()]):
            if curves.loc[curves["neighbour"].isin([rule, ""]), "dimension"].nunique() < 2:
                continue  # one dot, as of two classes
            alt = "Lines: mean accuracy of each method at each dimension."
            detail = rule_title(rule) if rule else ""
            draw = partial(
                figures.accuracy_by_dimension, curves, series, neighbour=rule, title=detail or setting.chart_title
            )
            self.add("dimension", title, detail, alt, draw)
        self._add_iterations(title, frames.iterations(scores))

    def _add_iterations(self, title: str, curves: pd.DataFrame) -> None:
        alt = "Lines: mean accuracy of each method after each iteration."
        rules = _rules(curves)
        for rule in rules:
            own = curves[curves["neighbour"].isin([rule, ""])]
            sizes = np.unique(own["dimension"].astype(int))
            for size in sizes[frames.spread(len(sizes), MAX_SIZES)]:
                detail = f"size {size}" if len(rules) == 1 else f"size {size}, {rule_title(rule)}"
                shown = own[own["dimension"].eq(size)]
                draw = partial(figures.accuracy_by_iteration, shown, self.results.series, title=detail)
                self.add("iterations", title, detail, alt, draw)

    def add_weights(self, title: str, fits: Sequence[FitRecord]) -> None:
        """Add the weights of methods that learn them; all have the same axis."""
        shown = [(record, frames.weights(record)) for record in fits if record.weights is not None]
        learned = [(record, weights) for record, weights in shown if frames.vary(weights)]
        ends = [0.0, *(end for _, weights in learned for end in (weights["weight"].min(), weights["weight"].max()))]
        alt = "Ticks: weight of each kernel in each split, and their mean."
        for record, weights in learned:
            label, domain = self._label(record), (min(ends), max(ends))
            draw = partial(figures_of_fits.kernel_weights, weights, self.results.series, label=label, domain=domain)
            self.add("weights", title, label, alt, draw)

    def add_objectives(self, title: str, fits: Sequence[FitRecord]) -> None:
        """Add objectives, those of methods whose optimum is known in one figure."""
        histories = [
            record.history.assign(label=self._label(record))
            for record in fits
            if record.history is not None and len(record.history)
        ]
        known = [history for history in histories if history["optimum"].notna().all()]
        shown = [history for history in histories if not history["optimum"].notna().all()]
        for history in [*([pd.concat(known)] if known else []), *shown]:
            labels = list(dict.fromkeys(history["label"]))
            detail = labels[0] if len(labels) == 1 else "distance from the optimum"
            alt = "Lines: objective after each step of an alternation, one for each split."
            draw = partial(figures_of_fits.objective, history, self.results.series, title=detail)
            self.add("objective", title, detail, alt, draw)

    def add_embedding(self, title: str, record: FitRecord) -> None:
        label = self._label(record)
        alt = "Points: first two dimensions of the embedding, by class."
        draw = partial(figures_of_fits.embedding, frames.embedding(record), label=label)
        self.add("embedding", title, label, alt, draw)

    def add_predictions(self, setting: Setting) -> None:
        """Add predicted against true numbers, and residuals, of the best method and the reference."""
        for record in shown_numbers(self.results, setting):
            label, rows = self._label(record), first_repeat(record)
            alt = "Points: the predicted number of each test sample against the true one, with the line of equal ones."
            draw = partial(figures_of_numbers.predicted_against_true, rows, self.results.series, label=label)
            self.add("predictions", setting.title, label, alt, draw)
            alt = "Points: predicted minus true number of each test sample against the predicted one."
            draw = partial(figures_of_numbers.residuals, rows, self.results.series, label=label)
            self.add("predictions", setting.title, f"{label}, residuals", alt, draw)

    def add_calibration(self, setting: Setting, fits: Sequence[FitRecord]) -> None:
        """Add how often predictions are right, by their probability, of methods that have probabilities."""
        known = [
            frames.calibration(record.probabilities).assign(label=self._label(record))
            for record in fits
            if record.probabilities is not None
        ]
        if known:
            alt = "Dots on lines: share of predictions that is right against their mean probability, by method."
            draw = partial(
                figures_of_fits.reliability, pd.concat(known), self.results.series, title=setting.chart_title
            )
            self.add("calibration", setting.title, "", alt, draw)

    def add_kernels(self, title: str, fits: Sequence[FitRecord]) -> None:
        info, curves = frames.kernel_info(fits), frames.spectra(fits)
        if info is not None and "off_diagonal_mass" in info and info["off_diagonal_mass"].notna().any():
            alt = "Bars: off-diagonal mass of each kernel."
            draw = partial(figures_of_fits.off_diagonal_mass, info, threshold=IDENTITY_LIKE_BELOW)
            self.add("kernels", title, "", alt, draw)
        if len(curves):
            alt = "Lines on logarithmic scales: eigenvalues of each kernel against their rank, negative ones as rings."
            self.add("kernels", title, "eigenvalues", alt, partial(figures_of_fits.kernel_spectra, curves))

    def add_confusion(self, found: Confused) -> None:
        """Add a map of a few classes for each method; of many the best and the worst recognised ones."""
        title, series = found.setting.title, self.results.series
        if len(found.best.classes) > FEW_CLASSES:
            labels, detail = " and ".join(shown.label for shown in found.shown), "Best and worst classes"
            alt = f"Dots and rings: accuracy of the classes at both ends, by name, by {labels}."
            draw = partial(figures_of_fits.extreme_classes, class_accuracies(found), series, title=detail)
            self.add("confusion", title, detail.lower(), alt, draw)
            return
        alt = "Squares in a grid: share of the test samples of each true class by predicted class."
        for shown in found.shown:
            self.add("confusion", title, shown.label, alt, partial(figures_of_fits.confusion_map, shown, series))

    def add_train_sizes(self) -> None:
        """Add the accuracy of each data set and protocol with several training sizes."""
        series, inner = self.results.series, self.results.inner_cv
        for heading, settings in self.results.families():
            known = pd.concat([setting.of(inner) for setting in settings]).dropna(subset=["train_size", "mean"])
            if known["train_size"].nunique() > 1:
                alt = "Lines: accuracy of each method at each training size."
                for rule in _rules(known):
                    detail = rule_title(rule) if rule else ""
                    draw = partial(
                        figures.accuracy_by_train_size, known, series, neighbour=rule, title=detail or heading
                    )
                    self.add("train-size", heading, detail, alt, draw)

    def add_components(self, study: ReportSpec) -> None:
        """Add accuracy against the principal components of pairs, where protocols have several numbers of them."""
        chosen = {
            (fit.dataset, setting.protocol): fit.pairs.components
            for fit in study.fits if fit.pairs is not None for setting in fit.settings
        }  # fmt: skip
        inner = self.results.by_one_rule
        places = zip(inner["dataset"], inner["protocol"], strict=True)
        known = inner.assign(components=pd.array([chosen.get(place) for place in places], dtype="Int64"))
        for heading, own in known.dropna(subset=["components", "mean"]).groupby("dataset_title", sort=False):
            several = own.groupby("label")["components"].transform("nunique").gt(1)
            if several.any():
                alt = "Lines: accuracy of each method at each number of principal components."
                shown, title = own[several].sort_values("components", kind="stable"), str(heading)
                draw = partial(figures.accuracy_by_components, shown, self.results.series, title=title)
                self.add("components", title, "", alt, draw)


def _rules(frame: pd.DataFrame) -> list[str]:
    """List the neighbour rules of a frame; that of methods with a rule of their own only if there is no other."""
    present = in_order(frame["neighbour"])
    return [rule for rule in present if rule] or present
