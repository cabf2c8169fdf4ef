"""Which figures a study has: every panel with its place in the page and its charts, for the page and for a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mklearn.evaluation.reproduction import OTHER_DATA
from mklearn.kernels.identity_like import IDENTITY_LIKE_BELOW
from mklearn.report import figures, frames
from mklearn.report import picks as picked
from mklearn.report.canvas import FILE, PAGE, Chart, specification
from mklearn.report.confusion import FEW_CLASSES, Confused, class_accuracies
from mklearn.report.figure_confusion import accuracy_by_rank, confusion_map, extreme_classes
from mklearn.report.figure_iterations import accuracy_by_iteration
from mklearn.report.figure_published import split_noise_scores
from mklearn.report.figure_spectra import kernel_spectra, spectra
from mklearn.report.frames import Setting
from mklearn.report.records import FitRecord
from mklearn.report.series import Series
from mklearn.report.wording import in_order, rule_title

if TYPE_CHECKING:
    import pandas as pd

SECTIONS = (
    "published", "difference", "train-size", "dimension", "confusion", "iterations", "weights", "picks", "objective",
    "embedding", "train-time", "time", "kernels",
)  # fmt: skip
MAX_SIZES = 6
"""Sizes of a method whose accuracy against iterations is shown; of more, the smallest, the largest and some between."""


@dataclass(frozen=True)
class Panel:
    """One chart.

    Attributes
    ----------
    slug : str
        Id within the page, and file name without its ending; unique in a report.
    section : str
        One of ``SECTIONS``: the part of the page that it stands in.
    heading : str
        The setting that it shows.
    caption : str
        The setting and the method or rule that it shows.
    alt : str
        What a reader who can't see it should know.
    page : dict
        Vega-Lite specification.
    file : function without arguments
        Makes that of a file, which stands alone; not every panel becomes one.
    """

    slug: str
    section: str
    heading: str
    caption: str
    alt: str
    page: dict[str, Any]
    file: Callable[[], dict[str, Any]]


def panels(
    settings: Sequence[Setting],
    scores: pd.DataFrame,
    summary: pd.DataFrame,
    fits: Sequence[FitRecord],
    series: Series,
    reference: str,
    reference_title: str,
    published: pd.DataFrame,
    confused: Sequence[Confused] = (),
) -> list[Panel]:
    """All figures of a report: by section, and by setting within a section.

    ``published`` are the published cells with their z, see :class:`mklearn.report.published.Published`; ``confused``
    is what :func:`mklearn.report.confusion.confused` finds.
    """
    gallery = _Gallery()
    _of_published(gallery, published)
    labelled = frames.with_labels(summary, series)
    chosen = labelled[labelled["selection"].eq("inner_cv")]
    found = frames.picks(fits)
    points = frames.embedding_points(fits)
    for setting in settings:
        _of_scores(gallery, setting, setting.of(scores), setting.of(chosen), series, reference, reference_title)
        records = frames.records_of(setting, fits)
        _of_iterations(gallery, setting, setting.of(scores), series)
        mixing = [record for record in records if not _is_pick(record, found)]
        _of_fits(gallery, setting, mixing, records, series, points)
        _of_kernels(gallery, setting, frames.kernel_info(records), spectra(records))
    for item in confused:
        _of_confusion(gallery, item, series)
    _of_picks(gallery, found, labelled, series)
    _of_train_sizes(gallery, chosen, series)
    _of_train_times(gallery, settings, scores, series)
    return sorted(gallery.panels, key=lambda panel: SECTIONS.index(panel.section))


class _Gallery:
    """Collects panels and gives each a name of its own."""

    def __init__(self) -> None:
        self.panels: list[Panel] = []
        self._taken: set[str] = set()

    def add(self, section: str, heading: str, detail: str, alt: str, draw: Callable[..., Chart]) -> None:
        """Draw one panel; ``draw`` takes the canvas."""
        caption = f"{heading} · {detail}" if detail else heading
        text = f"{alt} {caption}."

        def file() -> dict[str, Any]:
            drawn = specification(draw(canvas=FILE), text)
            return drawn | {"title": drawn.get("title", {}) | {"text": caption}}  # without the page's headings

        page = specification(draw(canvas=PAGE), text)
        self.panels.append(Panel(self._slug(f"{section} {caption}"), section, heading, caption, text, page, file))

    def _slug(self, text: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100]
        slug, number = stem, 1
        while slug in self._taken:
            number += 1
            slug = f"{stem}-{number}"
        self._taken.add(slug)
        return slug


def _of_scores(
    gallery: _Gallery,
    setting: Setting,
    scores: pd.DataFrame,
    chosen: pd.DataFrame,
    series: Series,
    reference: str,
    reference_title: str,
) -> None:
    title = setting.title
    others = chosen[chosen["method"].ne(reference)]
    if others["difference"].notna().any():
        alt = f"Dots with intervals: difference of the accuracy of each method to {reference_title}."
        draw: Callable[..., Chart] = partial(
            figures.differences, others, series, reference_title=reference_title, title=title
        )
        gallery.add("difference", title, "", alt, draw)
    curves = frames.curves(scores, series)
    for rule in _rules(curves[curves["dimension"].notna()]):
        draw = partial(figures.accuracy_by_dimension, curves, series, neighbour=rule)
        gallery.add(
            "dimension", title, rule_title(rule), "Lines: mean accuracy of each method at each dimension.", draw
        )
    times = frames.fit_times(scores, series)
    if len(times):
        draw = partial(figures.fit_times, times, series, title=title)
        gallery.add("time", title, "", "Dots on a logarithmic scale: seconds of each fit of each method.", draw)


def _of_published(gallery: _Gallery, published: pd.DataFrame) -> None:
    for title, cells in published.dropna(subset=["z"]).groupby("dataset_title", sort=False):
        alt = "Dots: published minus our accuracy of each method and training size, in units of split noise."
        other = " (another crop: not comparable)" if cells["verdict"].eq(OTHER_DATA).all() else ""
        draw: Callable[..., Chart] = partial(split_noise_scores, cells, title=f"{title}{other}")
        gallery.add("published", str(title), "", alt, draw)


def _of_iterations(gallery: _Gallery, setting: Setting, scores: pd.DataFrame, series: Series) -> None:
    curves = frames.iterations(scores, series)
    rules = _rules(curves)
    for rule in rules:
        own = curves[curves["neighbour"].isin([rule, ""])]
        sizes = sorted({int(size) for size in own["dimension"]})
        steps = max(1, min(MAX_SIZES, len(sizes)) - 1)
        for size in dict.fromkeys(sizes[round(i * (len(sizes) - 1) / steps)] for i in range(steps + 1)):
            detail = f"size {size}" if len(rules) == 1 else f"size {size}, {rule_title(rule)}"
            draw: Callable[..., Chart] = partial(
                accuracy_by_iteration, own[own["dimension"].eq(size)], series, title=detail
            )
            alt = "Lines: mean accuracy of each method after each iteration."
            gallery.add("iterations", setting.title, detail, alt, draw)


def _is_pick(record: FitRecord, found: Sequence[tuple[FitRecord, dict[str, int]]]) -> bool:
    return any(record is other for other, _ in found)


def _of_picks(
    gallery: _Gallery, found: Sequence[tuple[FitRecord, dict[str, int]]], labelled: pd.DataFrame, series: Series
) -> None:
    """One panel for each method on each data set, with a row for each setting."""
    titles = dict(zip(labelled["dataset"], labelled["dataset_title"], strict=True))
    for dataset, method in dict.fromkeys((record.dataset, record.method) for record, _ in found):
        own = [item for item in found if (item[0].dataset, item[0].method) == (dataset, method)]
        label = series.of_method(method, own[0][0].method_title)
        draw: Callable[..., Chart] = partial(picked.picked_kernels, own, series, label=label)
        alt = "Numbers in a grid: how many repeats pick each kernel, a row for each setting."
        gallery.add("picks", str(titles.get(dataset, dataset)), label, alt, draw)


def _of_train_times(gallery: _Gallery, settings: Sequence[Setting], scores: pd.DataFrame, series: Series) -> None:
    """One panel for each data set with several training sizes."""
    import pandas as pd

    keys = list(dict.fromkeys((setting.dataset, setting.family) for setting in settings))
    for key in keys:
        own = [s for s in settings if (s.dataset, s.family) == key and s.train_size is not None]
        parts = [frames.fit_times(setting.of(scores), series).assign(train_size=setting.train_size) for setting in own]
        times = pd.concat([part for part in parts if len(part)]) if any(len(part) for part in parts) else None
        if times is None or times["train_size"].nunique() < 2:
            continue
        several = sum(dataset == key[0] for dataset, _ in keys) > 1
        title = f"{own[0].dataset_title}, {key[1]}" if several else own[0].dataset_title
        draw: Callable[..., Chart] = partial(figures.fit_time_by_train_size, times, series, title=title)
        alt = "Lines on a logarithmic scale: median seconds of a fit of each method at each training size."
        gallery.add("train-time", title, "", alt, draw)


def _of_fits(
    gallery: _Gallery,
    setting: Setting,
    mixing: Sequence[FitRecord],
    records: Sequence[FitRecord],
    series: Series,
    points: int,
) -> None:
    """Weights of the methods that mix kernels, and objective and embedding of all."""
    title = setting.title
    learned = [
        (record, weights)
        for record in mixing
        if record.weights is not None and frames.vary(weights := frames.weights(record))
    ]
    ends = [end for _, weights in learned for end in (weights["weight"].min(), weights["weight"].max())]
    for record, weights in learned:
        label = series.of_method(record.method, record.method_title)
        domain = (min(0.0, *ends), max(0.0, *ends))
        draw: Callable[..., Chart] = partial(figures.kernel_weights, weights, series, label=label, domain=domain)
        gallery.add("weights", title, label, "Ticks: weight of each kernel in each repeat, and their mean.", draw)
    for record in records:
        label = series.of_method(record.method, record.method_title)
        if record.history is not None and len(record.history):
            draw = partial(figures.objective, record.history, series, label=label)
            gallery.add("objective", title, label, "Lines: objective after each half step, one for each repeat.", draw)
        if record.embedding is not None and len(record.embedding):
            draw = partial(figures.embedding, frames.embedding(record, points), label=label)
            gallery.add("embedding", title, label, "Points: first two dimensions of the embedding, by class.", draw)


def _of_confusion(gallery: _Gallery, found: Confused, series: Series) -> None:
    title, names = found.setting.title, " and ".join(shown.label for shown in found.shown)
    if len(found.best.classes) <= FEW_CLASSES:
        for shown in found.shown:
            draw: Callable[..., Chart] = partial(confusion_map, shown, series)
            alt = "Squares in a grid: share of the test samples of each true class by predicted class."
            gallery.add("confusion", title, shown.label, alt, draw)
        return
    accuracies = class_accuracies(found)
    draw = partial(accuracy_by_rank, accuracies, series, title="All classes")
    alt = f"Dots and rings: accuracy of every class by {names}, in the order of the first."
    gallery.add("confusion", title, "all classes", alt, draw)
    draw = partial(extreme_classes, accuracies, series, title="Best and worst classes")
    alt = f"Dots and rings: accuracy of the classes at both ends, by name, by {names}."
    gallery.add("confusion", title, "best and worst classes", alt, draw)


def _of_kernels(gallery: _Gallery, setting: Setting, info: pd.DataFrame | None, curves: pd.DataFrame) -> None:
    if info is not None and "off_diagonal_mass" in info and info["off_diagonal_mass"].notna().any():
        draw = partial(figures.off_diagonal_mass, info, threshold=IDENTITY_LIKE_BELOW)
        gallery.add("kernels", setting.title, "", "Bars: off-diagonal mass of each kernel.", draw)
    if len(curves):
        alt = "Lines on logarithmic scales: eigenvalues of each kernel against their rank, negative ones as rings."
        gallery.add("kernels", setting.title, "eigenvalues", alt, partial(kernel_spectra, curves))


def _of_train_sizes(gallery: _Gallery, chosen: pd.DataFrame, series: Series) -> None:
    chosen = chosen.assign(family=frames.families(chosen))
    for _, rows in chosen.groupby(["dataset", "family"], sort=False):
        known = rows.dropna(subset=["train_size", "mean"])
        if known["train_size"].nunique() < 2:
            continue
        title, dataset, family = (str(known[name].iloc[0]) for name in ("dataset_title", "dataset", "family"))
        heading = title if chosen[chosen["dataset"].eq(dataset)]["family"].nunique() == 1 else f"{title}, {family}"
        for rule in _rules(known):
            draw = partial(figures.accuracy_by_train_size, known, series, neighbour=rule)
            alt = "Lines: accuracy of each method at each training size."
            gallery.add("train-size", heading, rule_title(rule), alt, draw)


def _rules(frame: pd.DataFrame) -> list[str]:
    """Neighbour rules that a frame has; that of methods with a rule of their own only if there is no other."""
    present = in_order(frame["neighbour"])
    return [rule for rule in present if rule] or present
