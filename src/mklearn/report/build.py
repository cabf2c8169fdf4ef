"""Writes the report of a study: page, Markdown, CSV and figure files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.atomic import write_text
from mklearn.report import frames
from mklearn.report.confusion import FEW_CLASSES, confused, pairs_table
from mklearn.report.figure_files import FigureWriters
from mklearn.report.findings import Findings, findings
from mklearn.report.gallery import Panel, panels
from mklearn.report.page import PICKS_NOTE, Content, render, script_json
from mklearn.report.picks import picks_tables
from mklearn.report.published import Published, published_part
from mklearn.report.records import FitRecord
from mklearn.report.series import Series, series_of
from mklearn.report.stage_table import NOTE as STAGE_NOTE
from mklearn.report.stage_table import stage_table
from mklearn.report.tables import Table, escape_markdown, failure_table, kernel_table, markdown, result_table
from mklearn.report.theme import LIGHT, vega_config
from mklearn.report.thumbnails import data_uris
from mklearn.report.vega_bundle import VegaBundle
from mklearn.report.wording import enumeration, plural

if TYPE_CHECKING:
    import pandas as pd

MOST_EMBEDDING_FILES = 40
"""Of more embeddings than that none is written as a file: they would be most of the files, and most of the time."""
_DATA_KEYS = ("id", "title", "n_samples", "n_classes", "licence", "citation", "homepage", "note")
_FILE_KEYS = ("name", "sha256", "source", "bytes")
_LIST_KEYS = ("id", "title", "reference")


def build_report(
    out_dir: Path,
    *,
    study: Mapping[str, Any],
    scores: pd.DataFrame,
    summary: pd.DataFrame,
    fits: Sequence[FitRecord],
    data: Sequence[Mapping[str, Any]],
    run: Mapping[str, Any],
    figure_files: bool = True,
    threads: int = 1,
) -> list[Path]:
    """Write ``index.html``, ``summary.md``, ``summary.csv``, ``figures/*.svg|png`` and, with published values,
    ``reproduction.csv``.

    The same arguments give the same bytes: nothing in the report depends on when or where it is written.

    Parameters
    ----------
    out_dir : Path
        Made if it is missing; files of the same names are replaced, each as a whole.
    study : dict
        ``id`` and, optionally, ``title`` and ``description``.
    scores, summary : DataFrame
        The tidy score table, and :func:`mklearn.evaluation.summary.summarise` of it.
    fits : sequence of FitRecord
        What is known of the fitted methods; may be empty.
    data : sequence of dict
        ``id, title, n_samples, n_classes, licence, citation, homepage, note, files: [{name, sha256, source, bytes}]``
        and ``thumbnails``, uint8 of shape (k, height, width). Every key but ``id`` may be missing.
    run : dict
        ``versions: dict, machine, command, seed, utc, commit, config_text, reference`` (a method id, default "average")
        and ``descriptors, kernels, methods``: lists of ``{id, title, reference}``; ``calibration`` as in
        :func:`mklearn.evaluation.reproduction.compare_published`, ``remarks``: list of ``{methods, text}``,
        ``best_single``: ids of the methods that take the best single kernel; ``stages``: rows of
        :func:`mklearn.steps.stage_costs.stage_costs`; ``provenance``: the stamp that the page carries. Every key
        may be missing.
    figure_files : bool, default=True
        Whether to write ``figures/``. Embeddings are written where there are no more than ``MOST_EMBEDDING_FILES``.
    threads : int, default=1
        How many processes write them, while this one draws the next.

    Returns
    -------
    paths : list of Path
        The files written, ``index.html`` first.
    """
    with VegaBundle(beside=threads > 1) as vega:
        reference = str(run.get("reference") or "average")
        series = series_of(summary, reference)
        title = _reference_title(summary, reference)
        settings = frames.settings_of(summary)
        beside = [reference, *(run.get("best_single") or [])]
        published = published_part(summary, series, run.get("calibration"), run.get("remarks") or [], beside)
        found = findings(summary, settings, series, reference, title, published.alerts)
        mixed_up = confused(settings, summary, fits, series, reference)
        gallery = panels(settings, scores, summary, fits, series, reference, title, published.labelled, mixed_up)
        picks = frames.picks(fits)
        content = Content(
            title=str(study.get("title") or study.get("id") or "Study"),
            summary=_what_was_run(study, scores, settings, series, data, run),
            findings=found,
            results=[result_table(summary, setting, series, reference, title) for setting in settings],
            panels=gallery,
            kernel_tables=_kernel_tables(settings, fits),
            failures=failure_table(scores, settings, series),
            data=[_data_card(entry) for entry in data],
            run=_run_facts(run),
            series=series,
            published=published,
            picks=picks_tables(picks, summary, settings, series, beside),
            confused=[pairs_table(found) for found in mixed_up if len(found.best.classes) > FEW_CLASSES],
            stages=stage_table(run.get("stages") or []),
        )
        with FigureWriters(
            out_dir / "figures", vega_config(LIGHT, series.colours(LIGHT), file=True), threads
        ) as writers:
            for panel in _of_files(gallery) if figure_files else []:
                writers.add(panel.slug, panel.file())
            written = [
                _write(out_dir / "index.html", render(content, vega.script())),
                _write(out_dir / "summary.md", _markdown_report(content, found)),
                _write(out_dir / "summary.csv", _csv(summary)),
            ]
            if len(published.cells):
                written.append(_write(out_dir / "reproduction.csv", _csv(published.cells)))
    return written + writers.written


def _what_was_run(
    study: Mapping[str, Any],
    scores: pd.DataFrame,
    settings: Sequence[frames.Setting],
    series: Series,
    data: Sequence[Mapping[str, Any]],
    run: Mapping[str, Any],
) -> str:
    """One plain paragraph: what was compared, on what, how often."""
    titles = [str(entry.get("title") or entry["id"]) for entry in data] or sorted(set(scores["dataset"]))
    parts = [f"This report compares {plural(len(series.labels), 'method')} on {enumeration(titles)}"]
    kernels = run.get("kernels") or []
    if kernels:
        parts.append(f"with {plural(len(kernels), 'kernel')}")
        descriptors = run.get("descriptors") or []
        if descriptors:
            parts.append(f"of {plural(len(descriptors), 'descriptor')}")
    repeats = scores[["repeat", "fold"]].drop_duplicates()
    parts.append(f"over {plural(len(repeats), 'random split')}")
    if len(settings) > 1:
        parts.append(f"in {plural(len(settings), 'setting')}")
    description = str(study.get("description") or "").strip()
    return f"{description} {' '.join(parts)}.".strip()


def _kernel_tables(settings: Sequence[frames.Setting], fits: Sequence[FitRecord]) -> list[Table]:
    tables = []
    for setting in settings:
        info = frames.kernel_info(frames.records_of(setting, fits))
        if info is not None:
            tables.append(kernel_table(info, setting.title))
    return tables


def _data_card(entry: Mapping[str, Any]) -> dict[str, Any]:
    card: dict[str, Any] = {key: entry.get(key) for key in _DATA_KEYS}
    card["title"] = card["title"] or card["id"]
    card["files"] = [{key: file.get(key) for key in _FILE_KEYS} for file in entry.get("files") or []]
    thumbnails = entry.get("thumbnails")
    card["images"] = [] if thumbnails is None else data_uris(thumbnails)
    return card


def _run_facts(run: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {
        key: run.get(key) for key in ("machine", "command", "seed", "utc", "commit", "config_text")
    }
    stamp = json.dumps(run.get("provenance") or {}, sort_keys=True)  # a replayed job has its keys in another order
    facts["provenance"] = script_json(json.loads(stamp))
    facts["versions"] = {str(name): str(version) for name, version in (run.get("versions") or {}).items()}
    facts["lists"] = [
        (title, [{key: item.get(key) for key in _LIST_KEYS} for item in run.get(name) or []])
        for name, title in (("methods", "Methods"), ("kernels", "Kernels"), ("descriptors", "Descriptors"))
        if run.get(name)
    ]
    return facts


def _reference_title(summary: pd.DataFrame, reference: str) -> str:
    titles = summary.loc[summary["method"].eq(reference), "method_title"]
    return str(titles.iloc[0]) if len(titles) else reference


def _markdown_report(content: Content, found: Findings) -> str:
    """The findings and result tables as Markdown, for a repository's reports folder."""
    blocks = [f"# {escape_markdown(content.title)}", escape_markdown(content.summary)]
    blocks += [f"> **Not comparable.** {escape_markdown(alert)}" for alert in found.alerts]
    blocks.append(f"**{escape_markdown(found.headline)}**")
    blocks.append(
        "Inner CV: mean ± std over repeats, with dimension and parameters chosen by cross-validation inside the "
        "training samples. Oracle: the best dimension of the mean test curve, chosen on the test samples. Differences "
        "are paired; intervals are 95 % corrected resampled intervals (Nadeau and Bengio, 2003), bounded by the "
        "variance of a mean accuracy on the pool of samples where the test part is large, and not corrected for the "
        "number of comparisons."
    )
    blocks += _published_blocks(content.published)
    for table, (_, sentence) in zip(content.results, found.settings, strict=True):
        blocks += [f"## {escape_markdown(table.caption)}", escape_markdown(sentence), markdown(table).rstrip()]
    for table in content.picks:
        blocks += [f"## Picked kernels: {escape_markdown(table.caption)}", PICKS_NOTE, markdown(table).rstrip()]
    for table in content.kernel_tables:
        blocks += [f"## Kernels: {escape_markdown(table.caption)}", markdown(table).rstrip()]
    for table in content.confused:
        blocks += [f"## Most confused classes: {escape_markdown(table.caption)}", markdown(table).rstrip()]
    if content.failures.rows:
        blocks += [f"## {content.failures.caption}", markdown(content.failures).rstrip()]
    if content.stages is not None:
        blocks += [f"## {content.stages.caption}", STAGE_NOTE, markdown(content.stages).rstrip()]
    return "\n\n".join(blocks) + "\n"


def _published_blocks(published: Published) -> list[str]:
    """Published values as Markdown: the statement, each method over all cells, remarks, a table for each source."""
    blocks = [escape_markdown(text) for text in (published.statement, published.calibration, published.note) if text]
    if published.overview is not None:
        blocks += [markdown(published.overview).rstrip()]
    if published.remarks:
        blocks.append(
            "\n".join(f"- **{escape_markdown(who)}**: {escape_markdown(text)}" for who, text in published.remarks)
        )
    for table in published.tables:
        blocks += [f"### {escape_markdown(table.caption)}", markdown(table).rstrip()]
    return ["## Published values", *blocks] if blocks else []


def _csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _of_files(gallery: Sequence[Panel]) -> list[Panel]:
    """Panels that are written as files too: embeddings only where they are few."""
    many = sum(panel.section == "embedding" for panel in gallery) > MOST_EMBEDDING_FILES
    return [panel for panel in gallery if not (many and panel.section == "embedding")]


def _write(path: Path, text: str) -> Path:
    write_text(path, text)
    return path
