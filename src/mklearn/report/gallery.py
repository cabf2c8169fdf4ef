"""Which figures a study has: every panel with its section of the page, and its charts for the page and for a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklearn.evaluation.reproduction import OTHER_DATA
from mklearn.kernels.identity_like import IDENTITY_LIKE_BELOW
from mklearn.report import figures, figures_of_classes, figures_of_fits, frames
from mklearn.report.charts import FILE, PAGE, Chart, specification
from mklearn.report.confusion import FEW_CLASSES, Confused, class_accuracies
from mklearn.report.frames import Results, Setting
from mklearn.report.picks import Picks
from mklearn.report.records import FitRecord
from mklearn.report.sections import figure_sections
from mklearn.report.wording import in_order, rule_title

if TYPE_CHECKING:
    import pandas as pd

MAX_SIZES = 6
"""Sizes of a method whose accuracy against iterations is shown; of more, the smallest, the largest and some between."""


@dataclass(frozen=True)
class Panel:
    """A chart.

    Attributes
    ----------
    slug : str
        Id within the page, and file name without its suffix; unique in a report.
    section : str
        The part of the page that it belongs to: "published", or a section of `figure_sections`.
    heading : str
        The setting that it shows.
    caption : str
        The setting and the method or rule that it shows.
    alt : str
        Description for readers who can't see the chart.
    page : dict
        Vega-Lite specification for the page.
    file : function without arguments
        Returns the specification for a file, which stands alone; not every panel becomes one.
    """

    slug: str
    section: str
    heading: str
    caption: str
    alt: str
    page: dict[str, Any]
    file: Callable[[], dict[str, Any]]


def panels(
    results: Results, published: pd.DataFrame, confused: Sequence[Confused], picks: Sequence[Picks]
) -> list[Panel]:
    """Draw all figures of a report: by section, and by setting within a section.

    Parameters
    ----------
    results : Results
    published : DataFrame
        The published cells with their z, see :class:`mklearn.report.published.Published`.
    confused : sequence of Confused
    picks : sequence of Picks
    """
    gallery = _Gallery(results)
    gallery.add_published(published)
    points = frames.embedding_points(results.fits)
    picked = {id(item.record) for item in picks}
    inner = results.inner_cv()
    for setting in results.settings:
        gallery.add_scores(setting, setting.of(results.scores), setting.of(inner))
        fits = setting.fits(results.fits)
        gallery.add_weights(setting.title, [record for record in fits if id(record) not in picked])
        gallery.add_fits(setting.title, fits, points)
        gallery.add_kernels(setting.title, fits)
    for item in confused:
        gallery.add_confusion(item)
    gallery.add_picks(picks)
    gallery.add_train_sizes(inner)
    gallery.add_train_times()
    order = ["published", *figure_sections()]
    return sorted(gallery.panels, key=lambda panel: order.index(panel.section))


class _Gallery:
    """The panels of a report while they are collected; each gets a slug of its own."""

    def __init__(self, results: Results) -> None:
        self.panels: list[Panel] = []
        self._results = results
        self._series = results.series
        self._slugs: set[str] = set()

    def add(
        self, section: str, heading: str, detail: str, alt: str, draw: Callable[..., Chart], *data: Any, **options: Any
    ) -> None:
        """Add the panel that ``draw(*data, canvas=..., **options)`` draws."""
        caption = f"{heading} · {detail}" if detail else heading
        text = f"{alt} {caption}."

        def file() -> dict[str, Any]:
            drawn = specification(draw(*data, canvas=FILE, **options), text)
            return drawn | {"title": drawn.get("title", {}) | {"text": caption}}  # without the page's headings

        page = specification(draw(*data, canvas=PAGE, **options), text)
        self.panels.append(Panel(self._slug(f"{section} {caption}"), section, heading, caption, text, page, file))

    def _slug(self, text: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100]
        slug, number = stem, 1
        while slug in self._slugs:
            number += 1
            slug = f"{stem}-{number}"
        self._slugs.add(slug)
        return slug

    def _label(self, record: FitRecord) -> str:
        return self._series.of_method(record.method, record.method_title)

    def add_published(self, published: pd.DataFrame) -> None:
        for title, cells in published.dropna(subset=["z"]).groupby("dataset_title", sort=False):
            alt = "Dots: published minus our accuracy of each method and training size, in units of split noise."
            other = " (another crop: not comparable)" if cells["verdict"].eq(OTHER_DATA).all() else ""
            self.add("published", str(title), "", alt, figures.split_noise_scores, cells, title=f"{title}{other}")

    def add_scores(self, setting: Setting, scores: pd.DataFrame, inner: pd.DataFrame) -> None:
        title, series = setting.title, self._series
        others = inner[inner["method"].ne(self._results.reference)]
        if others["difference"].notna().any():
            reference = self._results.reference_title
            alt = f"Dots with intervals: difference of the accuracy of each method to {reference}."
            options = {"reference_title": reference, "title": title}
            self.add("difference", title, "", alt, figures.differences, others, series, **options)
        curves = frames.curves(scores)
        for rule in _rules(curves[curves["dimension"].notna()]):
            alt, draw = "Lines: mean accuracy of each method at each dimension.", figures.accuracy_by_dimension
            self.add("dimension", title, rule_title(rule), alt, draw, curves, series, neighbour=rule)
        times = frames.fit_times(scores)
        if len(times):
            alt = "Dots on a logarithmic scale: seconds of each fit of each method."
            self.add("time", title, "", alt, figures.fit_times, times, series, title=title)
        self._add_iterations(title, frames.iterations(scores))

    def _add_iterations(self, title: str, curves: pd.DataFrame) -> None:
        alt, draw = "Lines: mean accuracy of each method after each iteration.", figures.accuracy_by_iteration
        rules = _rules(curves)
        for rule in rules:
            own = curves[curves["neighbour"].isin([rule, ""])]
            sizes = sorted({int(size) for size in own["dimension"]})
            steps = max(1, min(MAX_SIZES, len(sizes)) - 1)
            for size in dict.fromkeys(sizes[round(i * (len(sizes) - 1) / steps)] for i in range(steps + 1)):
                detail = f"size {size}" if len(rules) == 1 else f"size {size}, {rule_title(rule)}"
                shown = own[own["dimension"].eq(size)]
                self.add("iterations", title, detail, alt, draw, shown, self._series, title=detail)

    def add_weights(self, title: str, fits: Sequence[FitRecord]) -> None:
        """Add the weights of methods that learn them; all have the same axis."""
        frames_of = [(record, frames.weights(record)) for record in fits if record.weights is not None]
        learned = [(record, weights) for record, weights in frames_of if frames.vary(weights)]
        ends = [end for _, weights in learned for end in (weights["weight"].min(), weights["weight"].max())]
        domain = (min([0.0, *ends]), max([0.0, *ends]))
        alt, draw = "Ticks: weight of each kernel in each repeat, and their mean.", figures_of_fits.kernel_weights
        for record, weights in learned:
            label = self._label(record)
            self.add("weights", title, label, alt, draw, weights, self._series, label=label, domain=domain)

    def add_fits(self, title: str, fits: Sequence[FitRecord], points: int) -> None:
        """Add objectives, and embeddings of up to ``points`` points."""
        for record in fits:
            label = self._label(record)
            if record.history is not None and len(record.history):
                alt, draw = "Lines: objective after each half step, one for each repeat.", figures_of_fits.objective
                self.add("objective", title, label, alt, draw, record.history, self._series, label=label)
            if record.embedding is not None and len(record.embedding):
                alt = "Points: first two dimensions of the embedding, by class."
                shown = frames.embedding(record, points)
                self.add("embedding", title, label, alt, figures_of_fits.embedding, shown, label=label)

    def add_kernels(self, title: str, fits: Sequence[FitRecord]) -> None:
        info, curves = frames.kernel_info(fits), frames.spectra(fits)
        if info is not None and "off_diagonal_mass" in info and info["off_diagonal_mass"].notna().any():
            alt, draw = "Bars: off-diagonal mass of each kernel.", figures_of_fits.off_diagonal_mass
            self.add("kernels", title, "", alt, draw, info, threshold=IDENTITY_LIKE_BELOW)
        if len(curves):
            alt = "Lines on logarithmic scales: eigenvalues of each kernel against their rank, negative ones as rings."
            self.add("kernels", title, "eigenvalues", alt, figures_of_fits.kernel_spectra, curves)

    def add_confusion(self, found: Confused) -> None:
        title, names = found.setting.title, " and ".join(shown.label for shown in found.shown)
        if len(found.best.classes) <= FEW_CLASSES:
            for shown in found.shown:
                alt = "Squares in a grid: share of the test samples of each true class by predicted class."
                draw = figures_of_classes.confusion_map
                self.add("confusion", title, shown.label, alt, draw, shown, self._series)
            return
        accuracies = class_accuracies(found)
        alt, detail = f"Dots and rings: accuracy of every class by {names}, in the order of the first.", "All classes"
        by_rank = figures_of_classes.accuracy_by_rank
        self.add("confusion", title, detail.lower(), alt, by_rank, accuracies, self._series, title=detail)
        alt, detail = (
            f"Dots and rings: accuracy of the classes at both ends, by name, by {names}.",
            "Best and worst classes",
        )
        extremes = figures_of_classes.extreme_classes
        self.add("confusion", title, detail.lower(), alt, extremes, accuracies, self._series, title=detail)

    def add_picks(self, picks: Sequence[Picks]) -> None:
        """Add a panel for each method on each data set, with a row for each setting."""
        titles = {setting.dataset: setting.dataset_title for setting in self._results.settings}
        alt = "Numbers in a grid: how many repeats pick each kernel, a row for each setting."
        for dataset, method in dict.fromkeys((record.dataset, record.method) for record, _ in picks):
            own = [item for item in picks if (item.record.dataset, item.record.method) == (dataset, method)]
            label = self._label(own[0].record)
            draw = figures_of_fits.picked_kernels
            self.add("picks", titles.get(dataset, dataset), label, alt, draw, own, self._series, label=label)

    def add_train_sizes(self, inner: pd.DataFrame) -> None:
        alt, draw = "Lines: accuracy of each method at each training size.", figures.accuracy_by_train_size
        for _, rows in inner.groupby(["dataset", "family"], sort=False):
            known = rows.dropna(subset=["train_size", "mean"])
            if known["train_size"].nunique() < 2:
                continue
            title, dataset, family = (str(known[name].iloc[0]) for name in ("dataset_title", "dataset", "family"))
            heading = title if inner[inner["dataset"].eq(dataset)]["family"].nunique() == 1 else f"{title}, {family}"
            for rule in _rules(known):
                self.add("train-size", heading, rule_title(rule), alt, draw, known, self._series, neighbour=rule)

    def add_train_times(self) -> None:
        """Add a panel for each data set and protocol with several training sizes."""
        import pandas as pd

        alt = "Lines on a logarithmic scale: median seconds of a fit of each method at each training size."
        settings = self._results.settings
        keys = list(dict.fromkeys((setting.dataset, setting.family) for setting in settings))
        for key in keys:
            own = [s for s in settings if (s.dataset, s.family) == key and s.train_size is not None]
            times = [
                frames.fit_times(setting.of(self._results.scores)).assign(train_size=setting.train_size)
                for setting in own
            ]
            times = [frame for frame in times if len(frame)]
            if len(times) < 2:
                continue
            several = sum(dataset == key[0] for dataset, _ in keys) > 1
            title = f"{own[0].dataset_title}, {key[1]}" if several else own[0].dataset_title
            draw = figures.fit_time_by_train_size
            self.add("train-time", title, "", alt, draw, pd.concat(times), self._series, title=title)


def _rules(frame: pd.DataFrame) -> list[str]:
    """List the neighbour rules of a frame; that of methods with a rule of their own only if there is no other."""
    present = in_order(frame["neighbour"])
    return [rule for rule in present if rule] or present
